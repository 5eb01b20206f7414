"""Answers to one prompt: collapse comes first, systems are compared on the same prompts, and odd input is named."""

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

from textassay import Answers, InputError, answers, conditional, metrics
from textassay.metrics.vectors.meanings import meaning_classes

ANIMALS = ("cat", "dog", "cow", "hen", "pig", "fox", "owl", "bat", "rat", "elk")
Records = list[dict[str, Any]]


def records(model: str, prompts: int, *, varied: int, n: int = 4) -> Records:
    """Answers of a model that gives different ones to the first `varied` prompts and a single one to the others."""
    return [
        {
            "model": model,
            "prompt": f"prompt {at}",
            "text": f"the {ANIMALS[k if at < varied else 0]} sees {ANIMALS[at % 10]}",
        }
        for at in range(prompts)
        for k in range(n)
    ]


def run(given: Any, **options: Any) -> Answers:
    chosen: dict[str, Any] = {"metrics": "wordings,distinct", "n_resamples": 199} | options
    return answers(given, **chosen)


def test_one_answer_is_the_first_sentence_whatever_else_holds() -> None:
    found = run([*records("a", 20, varied=13, n=10), *records("b", 20, varied=20, n=10)])
    assert [system.verdict.decision for system in found.systems] == ["repeats", "varied"]
    assert found["a"].verdict.reasons[0] == "one answer, ten times, on 7 of 20 prompts"
    assert run(records("c", 20, varied=10)).systems[0].verdict.decision == "collapsed"
    assert found.document().summary.sentence.startswith("a: one answer, ten times, on 7 of 20 prompts.")


def test_means_are_those_of_the_single_prompts() -> None:
    found = run(records("a", 12, varied=5))
    assert found["a"]["wordings"].estimate == pytest.approx((5 * 4 + 7) / 12)
    interval = found["a"]["wordings"].interval
    assert interval is not None
    assert interval.low < 27 / 12 < interval.high
    own = [metrics.distinct(texts, n_resamples=0).estimate for texts in _texts(records("a", 12, varied=5))]
    assert found["a"]["distinct"].estimate == pytest.approx(np.mean(own))


def _texts(given: Records) -> list[list[str]]:
    groups = itertools.groupby(given, key=lambda record: record["prompt"])
    return [[record["text"] for record in group] for _, group in groups]


def test_systems_are_compared_on_the_prompts_that_both_answered() -> None:
    found = run([*records("a", 30, varied=10), *records("b", 22, varied=22)])
    contest = next(contest for contest in found.contests if contest.label == "wordings")
    assert contest.estimate == pytest.approx(np.mean([0.0] * 10 + [-3.0] * 12))
    (behind,) = [finding for finding in found["a"].verdict.findings if finding.kind == "less varied"]
    assert (behind.names, behind.n) == (("b",), (22,))
    assert any("not answered by all systems: 8 prompts" in note for note in found.notes)


def test_equal_systems_do_not_differ() -> None:
    found = run([*records("a", 20, varied=10), *records("b", 20, varied=10)])
    assert {contest.p_value for contest in found.contests} == {1.0}
    assert found.document().summary.ties


def test_the_most_varied_system_is_named_only_where_it_is_told_apart() -> None:
    tied = run([*records("a", 20, varied=20), *records("b", 20, varied=20)]).document().summary
    assert tied.ties == ("a and b: no difference in wordings found (p = 1.00)",)
    assert tied.sentence.startswith("a: ")
    assert "most varied" not in tied.sentence
    given = [*records("a", 20, varied=20, n=6), *records("b", 20, varied=20, n=3), *records("b", 20, varied=0, n=3)]
    given[-60:] = [{**record, "text": f"{record['text']} again"} for record in given[-60:]]
    apart = run(given).document().summary
    assert not apart.ties
    assert apart.sentence.startswith("a is the most varied: ")


def test_meanings_are_named_only_where_they_are_measured() -> None:
    given = [*records("a", 12, varied=6), *records("b", 12, varied=12)]
    for options, words in (
        ({}, "several wordings"),
        ({"metrics": "meanings", "encoder": "static"}, "several meanings"),
    ):
        found = run(given, **options)
        for page in (found.to_html(), found.to_markdown()):
            assert words in page
            assert ({"several wordings", "several meanings"} - {words}).pop() not in page


def test_systems_with_more_answers_are_cut_to_the_fewest() -> None:
    found = run([*records("a", 12, varied=12, n=4), *records("b", 12, varied=12, n=8)])
    assert found["a"]["wordings"].estimate == found["b"]["wordings"].estimate == 4
    assert any("different numbers of answers to 12 prompts" in note for note in found.notes)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ([{"prompt": "p", "text": "a"}, {"prompt": "q", "text": "b"}], "one answer to each of 2 prompts"),
        ([{"text": "a"}, {"text": "b"}], "texts without prompts .*wanted the field 'prompt'"),
        ([{"prompt": "p", "text": " "}, {"prompt": "p", "text": ""}], "all blank"),
    ],
)
def test_what_has_no_several_answers_is_one_line(given: Records, message: str) -> None:
    with pytest.raises(InputError, match=message) as caught:
        answers(given)
    assert "\n" not in str(caught.value)


def test_single_and_blank_answers_are_counted_and_named() -> None:
    given = [*records("a", 12, varied=12), {"prompt": "alone", "text": "a cat", "model": "a"}]
    given += [{"prompt": "blank", "text": text, "model": "a"} for text in ("", " ", "")]
    found = run(given)
    assert [prompt.id for prompt in found["a"].prompts if prompt.kind == "collapsed"] == ["blank"]
    assert any("a single answer of a system to 1 prompt ('alone')" in note for note in found.notes)
    assert "3 blank candidates kept" in found.notes
    assert any("single answer" in caveat for caveat in found.document().summary.caveats)


def test_one_prompt_has_no_interval() -> None:
    found = run(records("a", 1, varied=1))
    assert found["a"]["wordings"].interval is None
    assert found["a"].verdict.reasons[0] == "4.00 wordings per 4 answers on average"


def test_conditional_without_references_measures_the_answers_alone() -> None:
    items = [{"prompt": "p", "candidates": ["a cat", "a cat"]}, {"prompt": "q", "candidates": ["a cat", "no dog"]}]
    found: Any = conditional(items, metrics="wordings", n_resamples=0)
    assert isinstance(found, Answers)
    with_references = [item | {"references": ["a cow", "a hen"]} for item in items]
    left_out: Any = conditional(with_references, references=False, metrics="wordings", n_resamples=0)
    assert isinstance(left_out, Answers)
    assert [system.results[0].estimate for system in left_out.systems] == [1.5]
    with pytest.raises(InputError, match="it needs references"):
        conditional(items, sensitivity=True)


def test_a_metric_that_compares_is_refused() -> None:
    with pytest.raises(InputError, match="'bleu' does not describe answers alone"):
        answers(records("a", 2, varied=1), metrics="bleu")


def test_meanings_are_the_components_of_close_vectors_in_any_order() -> None:
    rng = np.random.default_rng(0)
    centres = np.eye(4, 12, dtype=np.float32)
    values = np.repeat(centres, (3, 1, 4, 2), axis=0) + rng.normal(0, 0.02, (10, 12)).astype(np.float32)
    expected = np.repeat(np.arange(4), (3, 1, 4, 2))
    for order in (np.arange(10), rng.permutation(10)):
        assert adjusted_rand_score(expected[order], meaning_classes(values[order])) == 1
    assert metrics.meanings(values, n_resamples=0).estimate == 4
    assert metrics.meanings(np.ones((5, 3), np.float32), n_resamples=0).estimate == 1


def test_wordings_count_near_duplicates_as_one() -> None:
    text = "the quick brown fox jumps over the lazy dog near the old river bank"
    assert metrics.wordings([text, text, f"{text} today", "a cat"], n_resamples=0).estimate == 2


def test_the_real_file_of_novelty_bench(data: Path) -> None:
    found = answers(data / "formats/novelty_bench/scores_first40.jsonl", encoder="lsa", n_resamples=0)
    (system,) = found.systems
    assert system.verdict.reasons[0] == "one answer, ten times, on 11 of 40 prompts"
    classes = system.file_classes
    assert classes is not None
    assert (classes.n, classes.file) == (40, 1.625)
    assert "0.62" in str(found)  # the file's `distinct` is classes minus one
    shown = str(found)
    assert "Name a Spanish speaking country." in shown
    assert "[10 ×] Mexico" in shown


def test_records_without_an_answer_are_in_the_answer() -> None:
    replies = [
        {"custom_id": f"p{n % 4}", "response": {"body": {"choices": [
            {"message": {"content": f"{word} {n}"}} for word in ("A", "Some", "The")
        ]}}}
        for n in range(4)
    ]  # fmt: skip
    failed = [{"custom_id": f"q{n}", "response": None, "error": {"code": "x"}} for n in range(3)]
    found = answers([*replies, *failed], metrics="wordings", n_resamples=0)
    assert "Left out: 3 errors, of 15 records." in " ".join(str(found).split())
    assert Answers.from_json(found.to_json()) == found
