"""What all outcomes share: copies, hashes, JSON that can be compared byte by byte, frames and look-up."""

import copy
import json
import pickle
from functools import cache
from typing import Any, cast

import numpy as np
import pytest

from textassay import InputError, Result, answers, compare, conditional, huse, sweep, train_model
from textassay.studies.outcome import Outcome

KINDS = ("answers", "compare", "conditional", "huse", "sweep")
WORDS = ("red", "blue", "green", "small", "big", "old", "new", "fast", "slow", "calm")


@cache
def outcome(kind: str, attempt: int = 0) -> Outcome:
    """A small outcome with an undefined result, and so with NaN; each attempt is a run of its own."""
    rng = np.random.default_rng(0)
    if kind == "compare":
        samples = [[" ".join(rng.choice(WORDS, 6)) for _ in range(20)] for _ in range(2)]
        return compare(*samples, metrics="cr,copying,bleu:n=2,distinct", n_resamples=19)
    if kind == "answers":
        records = [{"prompt": word, "text": f"{word} {other}"} for word in WORDS for other in ("", *WORDS[:3])]
        return answers(records, metrics="wordings,distinct:n=3", n_resamples=19)
    if kind == "sweep":
        texts = [" ".join(rng.choice(WORDS, 6)) for _ in range(40)]
        model = train_model("ngram:order=2", texts)
        return sweep(model, texts, temperature="0.5,1", metrics="cr,distinct:n=100,bleu:n=2", n=20, n_resamples=19)
    if kind == "conditional":
        items = [{"references": ["a red dog", "the dog"], "candidates": [f"a {word} cat"]} for word in WORDS]
        return conditional(items, metrics="score:distance=edit,trm:distance=edit", n_resamples=19)
    rows = [
        {
            "item": f"{source}{place}",
            "source": source,
            "length": 8,
            "log_prob": -(place * 7 % 23 + 5.0),
            "rating": int(rating),
        }
        for source in ("human", "model")
        for place in range(20)
        for rating in rng.integers(1, 6, 2)
    ]
    return huse(rows, k=4, n_resamples=19, stability=False)


@pytest.mark.parametrize("kind", KINDS)
def test_copies_equal_the_original(kind: str) -> None:
    found = outcome(kind)
    for copied in (pickle.loads(pickle.dumps(found)), copy.deepcopy(found), type(found).from_json(found.to_json())):
        assert copied == found
        assert hash(copied) == hash(found)
        assert len({copied, found}) == 1


@pytest.mark.parametrize("kind", KINDS)
def test_results_are_hashed_and_pickled(kind: str) -> None:
    results = [result for column in outcome(kind).columns for result in column.results]
    assert len(set(results)) == len(results)
    assert pickle.loads(pickle.dumps(results)) == results


@pytest.mark.parametrize("kind", KINDS)
def test_json_without_timings_is_the_same_for_the_same_run(kind: str) -> None:
    first, second = (outcome(kind, attempt).to_json(timings=False) for attempt in (1, 2))
    assert first == second
    assert '"seconds": null' in first
    assert set(json.loads(first)) == set(json.loads(outcome(kind).to_json()))
    assert type(outcome(kind)).from_json(first).columns[0].results[0].seconds == 0.0


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("text", ["", "{}", "[]", "null", '{"details": 3}'])
def test_other_json_is_refused_in_one_line(kind: str, text: str) -> None:
    with pytest.raises(InputError, match=f"not the JSON of textassay {kind}"):
        type(outcome(kind)).from_json(text)


@pytest.mark.parametrize("kind", ["compare", "sweep"])
def test_a_file_of_0_5_0_is_read_without_its_effect_sizes(kind: str) -> None:
    plain = json.loads(outcome(kind).to_json())

    def former(value: Any) -> Any:
        if isinstance(value, list):
            return [former(each) for each in value]
        if not isinstance(value, dict):
            return value
        new = {"separable", "shared_pairs", "overall_without_markup", "equal_lengths", "is_markup", "candidate_rate"}
        new |= {"reference_rate", *(["findings"] if "reasons" in value else [])}
        old = {"distance": 0.3, "detectable": 0.2, "vector_distance": None} if "floor" in value else {}
        return {name: former(each) for name, each in value.items() if name not in new} | old

    read = type(outcome(kind)).from_json(json.dumps(former(plain)))
    first = cast("Any", read.columns[0])
    assert first.overall.p_value == cast("Any", outcome(kind).columns[0]).overall.p_value
    assert first.overall.separable is None
    assert str(read)
    assert read.to_html()


@pytest.mark.parametrize("kind", KINDS)
def test_results_are_looked_up_by_name(kind: str) -> None:
    found = outcome(kind)
    name = found.names[0]
    assert list(found) == list(found.names)
    assert len(found) == len(found.columns)
    column = found[name]
    assert column[column.results[0].metric].metric == column.results[0].metric
    with pytest.raises(KeyError, match="there are"):
        found["no such name"]
    with pytest.raises(KeyError, match="there are"):
        column["no such metric"]


@pytest.mark.parametrize("kind", KINDS)
def test_a_frame_has_one_row_per_candidate_and_metric(kind: str) -> None:
    pytest.importorskip("pandas")
    found = outcome(kind)
    frame = found.to_frame()
    assert len(frame) == len(found.columns) * len(found.labels)
    assert frame["label"].tolist() == list(found.labels) * len(found.columns)


@pytest.mark.parametrize("kind", KINDS)
def test_print_shows_the_table_and_repr_is_short(kind: str) -> None:
    found = outcome(kind)
    assert len(repr(found)) < 200
    assert "\n" not in repr(found)
    assert str(found).count("\n") > 5
    assert "--report" not in str(found).splitlines()[-1]
    assert found.to_markdown().startswith("#")
    assert found.to_csv().count("\n") > 1


def test_print_displays_nothing_else_in_a_notebook(monkeypatch: pytest.MonkeyPatch) -> None:
    displayed: list[object] = []
    monkeypatch.setattr("rich.console._is_jupyter", lambda: True)
    monkeypatch.setattr("rich.jupyter.display", lambda *parts: displayed.append(parts))
    assert str(outcome("compare")).strip()
    assert displayed == []


def test_an_infinite_option_survives_json() -> None:
    result = Result("vendi", {"q": float("inf")}, 2.0, "closer", "diversity", None, None, {}, None, "s", 0.0, n=5)
    text = json.dumps(result.to_dict(), allow_nan=False)
    assert Result.from_dict(json.loads(text), n=5) == result


def test_json_has_no_characters_that_steer_a_terminal() -> None:
    samples = [f"a {word} \x9b31m dog \x7f \u202e end" for word in WORDS]
    text = compare(
        samples, [sample.replace("dog", "cat") for sample in samples], metrics="cr", n_resamples=19
    ).to_json()
    assert not {"\x9b", "\x7f", "\u202e"} & set(text)
    assert json.loads(text)["candidates"][0]["n"] == len(WORDS)


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "compare"])
def test_the_summary_is_a_frame_of_the_answer(kind: str) -> None:
    pytest.importorskip("pandas", reason="needs pandas")
    found = outcome(kind)
    answer = found.document().summary
    frame = found.summary
    assert list(frame.columns) == ["rank", answer.noun, "decision", "grade", *answer.columns, "stands_out"]
    assert frame[answer.noun].tolist() == [row.name for row in answer.rows]
    first = [f"{cell.text} {cell.spread}".strip() for cell in answer.rows[0].cells]
    assert frame.iloc[0][list(answer.columns[: len(first)])].tolist() == first
