"""The comparison as a whole: sizes, baseline, verdicts, JSON and the ways a sample can go wrong."""

import json
import math
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.laws import corpus
from textassay import Comparison, InputError, Sample, compare
from textassay.metrics.registry import parse_requests

FAST: dict[str, Any] = {"n_resamples": 199, "tokenizer": "whitespace"}


@pytest.fixture(scope="module")
def comparison() -> Comparison:
    candidates = {
        "same": corpus(2, 200),
        "other words": corpus(3, 200, words=[f"v{i}" for i in range(40)]),
        "collapsed": corpus(4, 4) * 50,
    }
    return compare(corpus(1, 200), candidates, **FAST)


def verdicts(comparison: Comparison) -> dict[str, str]:
    return {column.name: column.verdict.decision for column in comparison.candidates if column.verdict}


def test_verdicts_tell_same_different_and_collapsed(comparison: Comparison) -> None:
    assert verdicts(comparison) == {"same": "same", "other words": "differs", "collapsed": "collapsed"}
    collapsed = comparison.candidates[2].verdict
    assert collapsed is not None
    assert "collapsed: 100 % of texts repeat another one, 100 % word for word" in collapsed.sentence
    assert "different texts of 200" in collapsed.sentence


def test_json_has_the_documented_form_and_reads_back_equal(comparison: Comparison) -> None:
    text = comparison.to_json()
    plain = json.loads(text)
    assert list(plain) == ["textassay", "reference", "candidates", "details"]
    assert set(plain["reference"]) == {"name", "n", "digest"}
    assert set(plain["candidates"][0]) == {"name", "n", "digest", "overall", "results"}
    assert set(plain["candidates"][0]["results"][0]) == {
        "metric", "options", "estimate", "better", "aspect", "interval", "p_value", "parts", "undefined", "signature",
        "seconds",
    }  # fmt: skip
    assert set(plain["candidates"][0]["results"][1]["interval"]) == {"low", "high", "level", "method"}
    assert Comparison.from_json(text) == comparison


def test_undefined_results_are_null_in_json_and_read_back_equal() -> None:
    found = compare(["a b", "c d", "e f"], {"x": ["a b", "a c", "b d"]}, metrics=["distinct:n=5", "copying"], **FAST)
    assert all(math.isnan(result.estimate) and result.undefined for result in found.candidates[0].results)
    assert json.loads(found.to_json())["candidates"][0]["results"][0]["estimate"] is None
    assert Comparison.from_json(found.to_json()) == found


def test_the_number_of_threads_does_not_change_a_result() -> None:
    from textassay.engines.local import LocalEngine

    def run(workers: int) -> Any:
        found = compare(corpus(1, 80), {"a": corpus(2, 80), "b": corpus(3, 80)}, engine=LocalEngine(workers), **FAST)
        return re.sub(r'"seconds": [^,}]*', "", found.to_json())

    assert run(1) == run(3)


def test_size_match_cuts_to_the_smallest_and_says_so() -> None:
    found = compare(corpus(1, 50), {"a": corpus(2, 30), "b": corpus(3, 40)}, n_resamples=0)
    assert [found.reference.n, *(column.n for column in found.candidates)] == [30, 30, 30]
    assert any("estimates use 30 texts of each sample" in note for note in found.notes)
    whole = compare(corpus(1, 50), {"a": corpus(2, 30)}, n_resamples=0, size="all")
    assert [whole.reference.n, whole.candidates[0].n] == [50, 30]
    assert compare(corpus(1, 50), {"a": corpus(2, 30)}, n_resamples=0, size=20).reference.n == 20


def test_the_baseline_uses_spare_reference_texts_at_full_size() -> None:
    spare = compare(corpus(1, 100), {"a": corpus(2, 40)}, n_resamples=0, explain=True)
    assert {result.n for result in spare.real.results} == {40}
    halves = compare(corpus(1, 60), {"a": corpus(2, 60)}, n_resamples=0, explain=True)
    by_metric = {result.metric: result.n for result in halves.real.results}
    assert (by_metric["cnd"], by_metric["distinct"]) == (30, 60)


class TestUnequalSizes:
    """`--size all` keeps every text; whatever is set beside real text is still measured on equally many."""

    def test_real_text_of_another_size_is_not_called_different(self) -> None:
        for sizes in ((400, 60), (60, 400), (250, 200)):
            # The first three texts of such a corpus are made to differ: a copy and a single word.
            real, other = corpus(1, sizes[0] + 3)[3:], corpus(2, sizes[1] + 3)[3:]
            found = compare(real, {"x": other}, size="all", tokenizer="whitespace")
            assert verdicts(found) == {"x": "same"}, found.candidates[0].verdict

    def test_repeats_in_a_smaller_sample_are_seen(self) -> None:
        found = compare(corpus(1, 800), {"x": corpus(2, 60) * 2}, size="all", metrics=["distinct"])
        assert found.candidates[0].results[0].p_value is not None
        assert found.candidates[0].results[0].p_value < 0.05

    def test_every_result_beside_the_baseline_has_its_size(self) -> None:
        found = compare(
            corpus(1, 300), {"a": corpus(2, 60), "b": corpus(3, 120)}, size="all", n_resamples=0, explain=True
        )
        for column in found.candidates:
            for label, result, real in zip(found.labels, column.results, found.real.results, strict=True):
                assert column.beside_real(label, result).n == real.n == 60, label

    def test_contests_compare_equally_many_texts(self) -> None:
        found = compare(corpus(1, 300), {"a": corpus(2, 60), "b": corpus(3, 240)}, size="all", tokenizer="whitespace")
        contest = next(contest for contest in found.contests if contest.label == "distinct-2")
        assert contest.p_value > 0.001

    def test_phrases_of_unequal_samples_are_not_noise(self, data: Path) -> None:
        lines = (data / "coco" / "test.txt").read_text(encoding="utf-8").split("\n")
        found = compare(
            lines[:6000], {"x": lines[6000:6060]}, size="all", n_resamples=0, explain=True, metrics=["distinct"]
        )
        assert (found.candidates[0].over, found.candidates[0].under) == ((), ())


@pytest.mark.parametrize(
    ("reference", "candidate", "settings", "reason"),
    [
        (corpus(1, 60), corpus(2, 60), {"n_resamples": 0}, "estimates only"),
        (corpus(1, 3), corpus(2, 3), {}, "too few for any test"),
        (corpus(1, 6), corpus(2, 6), {}, "6 and 6 texts); needs at least 20 texts per sample"),
        (["a"] * 2, ["b"] * 2, {"metrics": ["distinct:n=1"]}, "too few for any test"),
    ],
)
def test_what_was_not_tested_is_not_called_the_same(
    reference: list[str], candidate: list[str], settings: dict[str, Any], reason: str
) -> None:
    verdict = compare(reference, {"x": candidate}, **settings).candidates[0].verdict
    assert verdict is not None
    assert verdict.decision == "untested"
    assert reason in verdict.sentence


@pytest.mark.parametrize("metrics", [["self_bleu"], ["distinct:n=4"], ["cnd"]])
def test_the_overall_test_does_not_depend_on_the_metrics_asked_for(metrics: list[str]) -> None:
    found = compare(["a"] * 30, {"x": ["b"] * 30, "y": ["a"] * 30}, metrics=metrics, **FAST)
    assert [column.differs(found.level) for column in found.candidates] == [True, False]


def test_a_total_difference_is_not_called_slight() -> None:
    found = compare(corpus(1, 60), {"x": ["zz yy"] * 60}, tokenizer="whitespace")
    verdict = found.candidates[0].verdict
    assert verdict is not None
    assert "slightly" not in verdict.sentence


def test_a_candidate_called_reference_does_not_hide_the_notes_of_the_reference() -> None:
    found = compare([*corpus(1, 30), " "], {"reference": corpus(2, 30)}, n_resamples=0)
    assert "reference: 1 blank text left out" in found.notes


def test_a_family_without_default_metrics_brings_all_of_them() -> None:
    labels = [request.label for request in parse_requests(families=["learned"])]
    assert labels == ["lm_score", "reverse_lm_score", "dd", "separable"]
    assert "dd" not in [request.label for request in parse_requests()]
    assert "frontier_integral" not in [request.label for request in parse_requests(families=["embedding"])]


def test_a_family_brings_no_metric_that_cannot_be_answered() -> None:
    found = compare(corpus(1, 30), {"x": corpus(2, 30)}, families=["ngram"], metrics=["bleu:n=2"], n_resamples=0)
    assert "copying" not in found.labels


def test_parts_and_contests_that_are_not_numbers_read_back_equal() -> None:
    texts = {"x": ["a b c d"] * 30, "y": ["a b c e"] * 30}
    found = compare(corpus(1, 30), texts, metrics=["ms_jaccard:n=50", "copying", "distinct"], train=["a b"], **FAST)
    assert Comparison.from_json(found.to_json()) == found


def test_a_signature_fixes_the_p_value_too() -> None:
    """A describing metric is tested against the reference: another reference, another signature."""
    found = [compare(corpus(i, 40), {"x": corpus(9, 40)}, metrics=["distinct"], **FAST) for i in (1, 2)]
    one, other = (comparison.candidates[0].results[0].signature for comparison in found)
    assert one != other
    assert "test:" not in found[0].real.results[0].signature


def test_a_copy_of_the_reference_is_named_and_not_flagged() -> None:
    texts = corpus(1, 100)
    found = compare(texts, {"copy": list(texts)}, **FAST)
    assert any("same texts as the reference" in note for note in found.notes)
    assert verdicts(found) == {"copy": "copied"}
    overall = found.candidates[0].overall
    assert overall is not None
    assert overall.p_value is not None
    assert overall.p_value > 0.5
    assert all(p > 0.05 for p in found.candidates[0].adjusted if not math.isnan(p))


def test_blank_texts_are_counted() -> None:
    found = compare(corpus(1, 30), {"a": [*corpus(2, 30), " ", ""]}, n_resamples=0)
    assert any("2 blank texts left out" in note for note in found.notes)


def test_a_large_table_gets_the_resamples_that_its_correction_needs() -> None:
    """Otherwise twenty candidates that differ would all be called the same."""
    candidates = {f"c{i}": corpus(i, 30, words=[f"v{j}" for j in range(40)]) for i in range(20)}
    found = compare(corpus(1, 30), candidates, metrics=["cnd", "cr"], n_resamples=19, tokenizer="whitespace")
    assert any(
        "raised to 479 resamples, because correcting for 20 candidates at level 0.95" in note for note in found.notes
    )
    assert set(verdicts(found).values()) == {"differs"}


def test_contests_compare_candidates_with_each_other(comparison: Comparison) -> None:
    contest = next(
        c for c in comparison.contests if (c.first, c.second, c.label) == ("same", "collapsed", "distinct-2")
    )
    assert contest.low > 0
    assert contest.p_value < 0.001


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"metrics": ["blue"]}, "did you mean 'bleu'"),
        ({"metrics": ["bleu:m=2"]}, "no option of bleu 'm'"),
        ({"metrics": ["bleu:n=x"]}, "wanted a whole number"),
        ({"metrics": ["cnd:variant=unbased"]}, "did you mean 'unbiased'"),
        ({"metrics": ["repetition:similarity=nan"]}, "wanted a number from 0.5 to 1"),
        ({"metrics": ["repetition:similarity=2"]}, "wanted a number from 0.5 to 1"),
        ({"families": ["ngrams"]}, "did you mean 'ngram'"),
        ({"tokenizer": "word"}, "words"),
        ({"size": "5x"}, "size='5x'; wanted"),
        ({"size": 500}, "size=500 needs as many"),
        ({"level": 1.5}, "level=1.5; wanted"),
        ({"n_resamples": 5}, "n_resamples=5; wanted"),
        ({"seed": -1}, "seed=-1; wanted"),
    ],
)
def test_wrong_settings_say_what_is_wrong(change: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message) as caught:
        compare(corpus(1, 20), {"a": corpus(2, 20)}, **change)
    assert "\n" not in str(caught.value)


def test_one_text_is_too_few() -> None:
    with pytest.raises(InputError, match="at least 2"):
        compare(["only one"], {"a": corpus(1, 5)})


def test_no_candidate_is_an_error() -> None:
    with pytest.raises(InputError, match="no candidate"):
        compare(corpus(1, 5), {})


def test_a_sample_can_be_given_ready_made() -> None:
    found = compare(Sample.of(corpus(1, 30), name="real"), {"a": Sample.of(corpus(2, 30))}, n_resamples=0)
    assert (found.reference.name, found.candidates[0].name) == ("real", "a")


def shuffle_words(texts: list[str], rng: np.random.Generator) -> list[str]:
    return [" ".join(rng.permutation(text.split())) for text in texts]


FUNCTION_WORDS = {"a", "an", "the", "of", "on", "in", "at", "to", "and", "with", "is", "are", "by", "for", "from"}


@pytest.mark.parametrize("damage", ["none", "shuffled", "doubled", "function words", "collapsed"])
def test_damage_to_500_captions_is_caught_and_real_text_is_not(data: Path, damage: str) -> None:
    lines = (data / "coco" / "test.txt").read_text(encoding="utf-8").split("\n")[:1000]
    rng = np.random.default_rng(0)
    other = lines[500:]
    damaged = {
        "none": other,
        "shuffled": shuffle_words(other, rng),
        "doubled": [f"{text} {text}" for text in other],
        "function words": [" ".join(w for w in text.split() if w not in FUNCTION_WORDS) for text in other],
        "collapsed": other[:20] * 25,
    }[damage]
    found = compare(lines[:500], {damage: damaged})
    assert verdicts(found)[damage] == {"none": "same", "collapsed": "collapsed"}.get(damage, "differs")


def test_the_models_of_the_ladder(data: Path) -> None:
    folder = data / "coco_models"
    found = compare(folder / "real_train.txt", {"textgan": folder / "textgan.txt"}, n_resamples=99)
    verdict = found.candidates[0].verdict
    assert verdict is not None
    assert verdict.decision == "collapsed"
    # The file has 9,984 lines of which 319 are different; four of the lines, and one of the different ones, are blank.
    assert "318 different texts of 9,980" in verdict.sentence
    assert "textgan: 4 blank texts left out" in found.notes


def phrases(data: Path, candidate: str) -> list[str]:
    folder = data / "coco_models"
    found = compare(
        folder / "real_train.txt", {"x": folder / candidate}, n_resamples=0, explain=True, metrics=["cnd"]
    ).candidates[0]
    return [word for phrase in (*found.over, *found.under) for word in phrase.text.split()]


def test_a_punctuation_shift_shows_up_in_what_differs(data: Path) -> None:
    """SeqGAN ends fewer captions with a full stop (62 % against 79 %)."""
    assert "." in phrases(data, "seqgan.txt")


def test_the_topic_shift_between_the_two_real_files_shows_up(data: Path) -> None:
    """They differ in what the pictures show; final full stops stand in 78.8 % and 77.5 % of the captions."""
    assert {"bathroom", "toilet", "skateboard", "horse"} <= set(phrases(data, "real_test.txt"))


class TestGroups:
    """Texts of one prompt or document: `group` and `pair`, from fields, in samples and in reports."""

    @staticmethod
    def records(seed: int, prompts: Sequence[str], per_prompt: int) -> list[dict[str, str]]:
        """Several texts per prompt, each with the prompt's own word."""
        made = corpus(seed, len(prompts) * per_prompt + 3)[3:]
        names = [prompt for prompt in prompts for _ in range(per_prompt)]
        return [{"prompt": name, "text": f"{text} {name}"} for name, text in zip(names, made, strict=True)]

    def test_whole_groups_are_exchanged_and_reported(self) -> None:
        real = self.records(1, [f"a{i}" for i in range(25)], 4)
        made = self.records(2, [f"b{i}" for i in range(25)], 4)
        plain = compare([r["text"] for r in real], {"x": [r["text"] for r in made]}, **FAST)
        assert plain["x"].differs(plain.level)
        found = compare(real, {"x": made}, group="prompt", metrics="cnd,distinct", n_resamples=99)
        overall = found["x"].overall
        assert overall is not None
        assert (overall.design, overall.n_groups) == ("grouped", (25, 25))
        assert not found["x"].differs(found.level)
        assert "design:grouped" in found["x"]["cnd"].signature
        assert found["x"]["distinct"].interval is not None
        assert "exchanged as a whole" in found.to_html()
        assert Comparison.from_json(found.to_json()) == found

    def test_pairs_use_shared_groups_and_equally_many_texts_of_each(self) -> None:
        real = self.records(1, [f"p{i}" for i in range(30)], 3)
        made = self.records(2, [f"p{i}" for i in range(5, 40)], 2)
        found = compare(real, {"x": made}, pair="prompt", metrics="cnd,distinct", n_resamples=99)
        assert (found.reference.n, found["x"].n) == (50, 50)
        overall = found["x"].overall
        assert overall is not None
        assert (overall.design, overall.n) == ("paired", (50, 75))
        assert any("their group is not in every sample: reference 15 (" in n and "; x 20 (" in n for n in found.notes)
        assert Comparison.from_json(found.to_json()) == found

    def test_groups_are_part_of_the_signature(self) -> None:
        real, made = self.records(1, [f"a{i}" for i in range(20)], 2), self.records(2, [f"b{i}" for i in range(20)], 2)
        other = [record | {"prompt": f"c{place // 4}"} for place, record in enumerate(made)]
        one, two = (compare(real, {"x": many}, group="prompt", metrics="cnd", n_resamples=19) for many in (made, other))
        assert one["x"]["cnd"].signature != two["x"]["cnd"].signature

    def test_too_few_groups_leave_everything_untested(self) -> None:
        real, made = self.records(1, ["a", "b"], 20), self.records(2, ["c", "d"], 20)
        found = compare(real, {"x": made}, group="prompt", metrics="cnd", n_resamples=99)
        verdict = found["x"].verdict
        assert verdict is not None
        assert verdict.decision == "untested"
        assert "needs at least 4 groups per sample" in verdict.sentence
        assert found["x"]["cnd"].interval is None
        assert any("jackknife intervals need at least 20" in note for note in found.notes)

    @pytest.mark.parametrize(
        ("settings", "message"),
        [
            ({"pair": "prompt", "group": "prompt"}, "both pair and group given"),
            ({"group": "author"}, "author"),
            ({"pair": "prompt"}, "no group is in all samples"),
        ],
    )
    def test_bad_groups_are_one_clear_error(self, settings: dict[str, Any], message: str) -> None:
        real, made = self.records(1, ["a", "b"], 5), self.records(2, ["c", "d"], 5)
        with pytest.raises(InputError, match=message):
            compare(real, {"x": made}, **settings)
        with pytest.raises(InputError):
            compare(["a b", "c d"], {"x": ["a", "b"]}, group="prompt")


@pytest.mark.parametrize(
    ("groups", "message"),
    [(["a"], "1 groups for 2 texts"), (["a", None], "text 2 has no group")],
)
def test_groups_of_a_sample_are_checked(groups: list[str | None], message: str) -> None:
    assert Sample.of(["a b", "c d"], groups=[1, 2]).groups is not None
    with pytest.raises(InputError, match=message):
        Sample.of(["a b", "c d"], groups=groups)


@pytest.mark.parametrize(
    ("size", "expected"), [("match", (60, (60, 90))), ("all", (90, (60, 90))), (20, (20, (20, 20)))]
)
def test_sizes_of_pairs(size: str | int, expected: tuple[int, tuple[int, int]]) -> None:
    real = TestGroups.records(1, [f"p{i}" for i in range(30)], 3)
    made = TestGroups.records(2, [f"p{i}" for i in range(30)], 2)
    found = compare(real, {"x": made}, pair="prompt", metrics="cnd", n_resamples=19, size=size)
    overall = found["x"].overall
    assert overall is not None
    assert (found.reference.n, overall.n) == expected
    with pytest.raises(InputError, match="hold 60 texts"):
        compare(real, {"x": made}, pair="prompt", metrics="cnd", n_resamples=19, size=5000)
    with pytest.raises(InputError, match="enough for 2 groups"):
        compare(real, {"x": made}, pair="prompt", metrics="cnd", n_resamples=19, size=2)


def test_tests_use_all_texts_and_estimates_equally_many(data: Path) -> None:
    lines = (data / "coco" / "train.txt").read_text(encoding="utf-8").split("\n")[:4200]
    made = (data / "coco_models" / "mle.txt").read_text(encoding="utf-8").split("\n")
    candidate = lines[3000:3140] + made[:60]
    found = compare(lines[:3000], candidate, metrics="cnd", families="", n_resamples=199)
    overall = found["candidate"].overall
    assert overall is not None
    assert overall.n == (200, 3000)
    assert found.reference.n == found["candidate"].n == 200
    assert "tested-reference:3000/" in found["candidate"]["cnd"].signature


def test_results_are_found_by_name() -> None:
    found = compare(corpus(1, 40), {"a": corpus(2, 40)}, metrics="cnd:n=1-2,distinct", n_resamples=0)
    assert found["a"]["distinct"].metric == "distinct"
    assert found["a"]["cnd-2"].options["n"] == 2
    with pytest.raises(KeyError, match="cnd-1, cnd-2"):
        found["a"]["cnd"]
    weighted = compare(corpus(1, 40), {"a": corpus(2, 40)}, metrics="cnd,cnd:weight=sqrt", n_resamples=0)
    assert weighted["a"]["cnd-2 weight=sqrt"].options["weight"] == "sqrt"
    assert weighted["a"]["cnd-2"].options["weight"] == "none"
    with pytest.raises(KeyError, match="there are: a"):
        found["b"]


def test_the_overall_test_uses_an_encoder_that_was_named() -> None:
    """Whatever metrics are asked for."""
    sides = corpus(1, 60), {"x": corpus(2, 60)}
    found = [compare(*sides, metrics=names, encoder="lsa", n_resamples=49) for names in ("distinct", "distinct,energy")]
    overalls = [one["x"].overall for one in found]
    assert overalls[0] == overalls[1]
    assert overalls[0] is not None
    assert "mmd" in [member.name for member in overalls[0].members]


def test_capitals_are_no_diversity() -> None:
    """Words with capitals are other words for the tokenizer, and texts are no more diverse for that."""
    rng = np.random.default_rng(0)
    texts = [" ".join(word.title() if rng.random() < 0.5 else word for word in text.split()) for text in corpus(1, 300)]
    lower = [text.lower() for text in corpus(2, 300)]
    for mine, real in ((texts, lower), (lower, texts)):
        verdict = compare(real, {"x": mine}, metrics="distinct,entropy,cr", n_resamples=99)["x"].verdict
        assert verdict is not None
        kinds = {finding.kind for finding in verdict.findings}
        assert {"differs", "format differs"} <= kinds
        assert not kinds & {"more diverse", "less diverse", "fewer common phrases", "diversity unclear"}


@pytest.mark.parametrize("marks", [["!!!", "...", "?!", "😀", "--"], ["**", "---", "# ", "- ", "> "]])
@pytest.mark.parametrize("strip", [None, "markdown"])
def test_samples_without_any_word_are_compared(marks: list[str], strip: str | None) -> None:
    """Only marks or only markup on one side: a difference, no error, and no mean length of words that are not there."""
    real, empty = corpus(1, 100), marks * 20
    for reference, candidate in ((real, empty), (empty, real)):
        found = compare(reference, {"x": candidate}, families="ngram", n_resamples=99, strip=strip)
        verdict = found["x"].verdict
        assert verdict is not None
        assert verdict.decision in ("differs", "collapsed")
        kinds = {finding.kind for finding in found["x"].findings}
        assert "no_words" in kinds
        assert not kinds & {"mean_length", "cut_off"}


def test_nothing_is_left_of_texts_that_are_only_markup() -> None:
    why = r"candidate x: 0 texts \(30 texts left out that had no words beside Markdown\); comparing needs at least 2"
    with pytest.raises(InputError, match=why):
        compare(corpus(1, 30), {"x": ["---", "# ", "- "] * 10}, strip="markdown", n_resamples=19)


def test_a_split_of_too_few_texts_names_how_many_it_needs() -> None:
    other = corpus(3, 10, words=[f"v{i}" for i in range(40)])
    found = compare(corpus(1, 100), {"x": other}, metrics="distinct", n_resamples=99)
    overall = found["x"].overall
    assert overall is not None
    assert overall.separable is not None
    assert overall.separable.undefined == "10 texts in the candidate; needs 20 or more"
    assert found["x"].verdict is not None
    assert "needs 20 or more" in found["x"].verdict.sentence


def test_a_baseline_of_too_few_texts_has_its_own_size() -> None:
    """12 texts make two parts of 6, which are not those of the candidate."""
    found = compare(corpus(1, 12), {"x": corpus(2, 15)}, metrics="separable", n_resamples=99)
    why = "no baseline: two parts of the reference with 6 texts each; needs 20 or more"
    assert found.real["separable"].undefined == why
    assert found["x"]["separable"].undefined == "12 texts in the candidate; needs 20 or more"


def test_only_samples_of_different_texts_are_called_copies() -> None:
    options: dict[str, Any] = {"metrics": "distinct", "n_resamples": 19}
    for texts, copied in ((["yes"] * 40, False), (["yes", "no"] * 20, True)):
        notes = compare(texts, {"x": list(texts)}, **options).notes
        assert any("it is a copy" in note for note in notes) is copied


def test_half_of_the_reference_is_a_copy_of_no_known_share() -> None:
    """A classifier has read what is held out, as the other sample's text, so its share is no bound."""
    texts = [" ".join(np.random.default_rng(seed).choice(2000, 30).astype(str)) for seed in range(200)]
    found = compare(texts, {"half": texts[:100]}, metrics="distinct", n_resamples=199)["half"]
    assert found.verdict is not None
    assert found.verdict.decision == "copied"
    assert found.overall is not None
    assert found.overall.separable is not None
    assert (found.overall.separable.low, found.overall.separable.undefined) == (
        None,
        "100 % of them are copies of reference texts",
    )
    assert "of its texts are unlike the reference's is not known" in found.verdict.sentence or not found.differs(0.95)


def test_lines_of_longer_texts_are_in_the_answer(tmp_path: Path) -> None:
    path = tmp_path / "x.txt"
    path.write_text("\n".join(f"{text}:\n\n- {text}\n- b" for text in corpus(1, 30)))
    found = compare(corpus(2, 60), {"x": path}, metrics="distinct", n_resamples=19)
    assert "Lines of “x” look like parts of longer texts" in " ".join(str(found).split())


def test_records_without_a_text_are_in_the_answer() -> None:
    """Errors and empty replies make what is left another sample, so they are said first; copies do not."""
    texts = [f"a {word} at {n}" for n, word in enumerate(["cat", "dog", "cow"] * 20)]
    replies = [
        {"custom_id": str(n), "response": {"body": {"choices": [{"message": {"content": text}}]}}}
        for n, text in enumerate(texts)
    ]
    failed = [{"custom_id": str(n), "response": None, "error": {"code": "x"}} for n in range(60, 70)]
    options: dict[str, Any] = {"metrics": "distinct", "n_resamples": 19, "pair": False}
    found = compare([*texts, " "], {"m": [*replies, *failed]}, **options)
    lost = [finding for finding in found.cautions if finding.kind == "lost"]
    assert [(finding.names, finding.n) for finding in lost] == [(("reference",), (1, 61)), (("m",), (10, 70))]
    assert "left out of “m”: 10 errors, of 70 records" in " ".join(str(found).lower().split())
    assert type(found).from_json(found.to_json()) == found
    copies = compare(texts, {"m": [*replies, *replies]}, **options)
    assert not [finding for finding in copies.cautions if finding.kind == "lost"]
