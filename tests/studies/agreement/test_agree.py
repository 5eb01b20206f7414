"""The agreement study: reading results, gold standards, dominance, and bad input."""

import json
import math
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import textassay as ta
from textassay.errors import InputError
from textassay.studies.agreement.result import Agreement
from textassay.studies.agreement.study import agree, dominated_shares, dominates

WORDS = ["red", "blue", "old", "new", "cat", "dog", "cow", "hen", "runs", "sits", "eats", "sleeps", "here", "there"]


def texts(n: int, seed: int, words: int = 14) -> list[str]:
    rng = np.random.default_rng(seed)
    return [" ".join(rng.choice(WORDS[:words], 5)) for _ in range(n)]


@cache
def comparison(metrics: str = "cnd,ms_jaccard:n=2,bleu:n=2,distinct,self_bleu:n=2") -> ta.Comparison:
    systems = {f"w{words}": texts(60, words, words) for words in (14, 10, 7, 4, 2)}
    return ta.compare(texts(120, 0), systems, metrics=metrics, n_resamples=19)


ORDER = "w14>w10>w7>w4>w2"


def test_metrics_are_turned_so_that_higher_is_better() -> None:
    found = agree(comparison(), ORDER)
    assert found.names == ("cnd-2", "ms_jaccard-2", "bleu-2", "distinct-2", "self_bleu-2")
    assert found["cnd-2"]["kendall"].estimate == 1.0
    assert found["ms_jaccard-2"]["kendall"].estimate == 1.0
    assert found["distinct-2"]["kendall"].estimate > 0.5  # closer to real text is better
    assert found["cnd-2"]["kendall"].p_value == pytest.approx(2 / math.factorial(5))
    assert found.matrix[0][1] > 0.5


def test_p_values_are_corrected_for_all_metrics() -> None:
    found = agree(comparison(), ORDER)
    assert found.adjusted_p_values(found["cnd-2"])[0] >= 4 * 2 / math.factorial(5)
    frame = found.to_frame()
    assert list(frame["label"])[:3] == ["kendall", "spearman", "pearson"]
    assert len(frame) == 15


def test_an_outcome_is_read_back_equal(tmp_path: Path) -> None:
    file = tmp_path / "results.json"
    file.write_text(comparison().to_json())
    found = agree(file, ORDER)
    assert Agreement.from_json(found.to_json()) == found
    assert found["cnd-2"] == agree(comparison(), ORDER)["cnd-2"]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("order.txt", "w14\nw10\nw7\nw4\nw2\n"),
        ("scores.csv", "system,score\nw2,0.1\nw4,0.2\nw7,0.3\nw10,0.4\nw14,0.5\n"),
        ("ranks.jsonl", "\n".join(json.dumps({"name": n, "rank": r}) for r, n in enumerate(ORDER.split(">"), 1))),
    ],
)
def test_gold_standards_from_files(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text)
    found = agree(comparison(), str(tmp_path / name))
    assert found["cnd-2"]["kendall"].estimate == 1.0
    assert found.is_order == (name != "scores.csv")


def test_gold_standards_from_python_and_from_a_metric() -> None:
    quantity = {"w14": 5.0, "w10": 4.0, "w7": 3.0, "w4": 2.0, "w2": 1.0}
    assert agree(comparison(), quantity)["cnd-2"]["kendall"].estimate == 1.0
    assert agree(comparison(), ORDER.split(">"))["cnd-2"]["kendall"].estimate == 1.0
    by_metric = agree(comparison(), "ms_jaccard-2")
    assert "ms_jaccard-2" not in by_metric.names
    assert by_metric["cnd-2"]["kendall"].estimate == 1.0


def test_ties_in_the_gold_order_are_allowed() -> None:
    found = agree(comparison(), "w14 > w10 = w7 > w4 = w2")
    kendall = found["cnd-2"]["kendall"]
    assert kendall.estimate == pytest.approx(8 / math.sqrt(10 * 8))
    assert kendall.p_value == pytest.approx(2 * 4 / math.factorial(5))


def test_systems_that_the_gold_order_does_not_name_are_left_out() -> None:
    found = agree(comparison(), "w14>w7>w2")
    assert found.notes == ("2 systems left out, which the gold standard does not name",)
    assert found["cnd-2"]["kendall"].n == 3


def test_files_with_different_metrics_are_joined() -> None:
    found = agree([comparison("cnd"), comparison("bleu:n=2,nrr")], ORDER)
    assert set(found.names) == {"cnd-2", "bleu-2", "nrr-2"}
    assert len(found.systems) == 5


def test_a_metric_without_the_value_of_real_text_has_a_reason() -> None:
    systems = {name: texts(40, at) for at, name in enumerate("abc")}
    found = agree(ta.compare(texts(60, 9), systems, metrics="distinct,cnd", n_resamples=0), "a>b>c")
    assert math.isnan(found["distinct-2"]["kendall"].estimate)
    assert "no value of real text" in (found["distinct-2"]["kendall"].undefined or "")


def test_dominance_between_points_and_sweeps() -> None:
    one, other = np.array([[0.9, 0.1], [0.5, 0.5]]), np.array([[0.4, 0.4], [0.9, 0.05], [0.1, 0.9]])
    np.testing.assert_array_equal(dominates(one, other), [[False, True, False], [True, False, False]])
    np.testing.assert_allclose(dominated_shares([one, other]), np.array([[0.0, 2 / 3], [0.0, 0.0]]))
    assert not dominates(one[:1], one[:1]).any()


def test_the_plane_uses_the_wanted_metrics_and_turns_self_bleu() -> None:
    plane = agree(comparison(), ORDER, plane="bleu-2,self_bleu-2").dominance
    assert plane is not None
    assert (plane.quality, plane.diversity) == ("bleu-2", "self_bleu-2")
    values = comparison()["w2"]["self_bleu"].estimate
    assert next(point for point in plane.points if point.system == "w2").diversity == -values


def test_each_file_is_a_sweep() -> None:
    first = comparison("cr,nrr")
    systems = {f"v{words}": texts(60, words + 50, words) for words in (9, 5)}
    second = ta.compare(texts(120, 0), systems, metrics="cr,nrr", n_resamples=0)
    plane = agree([first, second], "w14>w10>v9>w7>v5>w4>w2").dominance
    assert plane is not None
    assert plane.sweeps == ("compare", "compare (2)")
    assert len(plane.shares) == 2


def test_systems_of_one_name_with_other_values_are_named_after_their_file(tmp_path: Path) -> None:
    reference = texts(80, 0)
    for file, shift in (("one.json", 0), ("two.json", 5)):
        systems = {"low": texts(40, 1 + shift, 6), "high": texts(40, 2 + shift, 12)}
        (tmp_path / file).write_text(ta.compare(reference, systems, metrics="cnd", n_resamples=0).to_json())
    files = [tmp_path / "one.json", tmp_path / "two.json"]
    found = agree(files, "one: high>two: high>one: low>two: low")
    assert found.systems == ("one: low", "one: high", "two: low", "two: high")
    assert "are named after their file: 'low', 'high'" in found.notes[0]


def test_results_of_different_versions_are_marked(tmp_path: Path) -> None:
    plain = json.loads(comparison("cnd").to_json())
    (tmp_path / "old.json").write_text(json.dumps(plain | {"textassay": "0.1.0"}))
    found = agree([comparison("bleu:n=2"), tmp_path / "old.json"], ORDER)
    assert found.notes[0].startswith("results of different versions: ")


def test_conditional_results_are_read() -> None:
    items = [
        {
            "references": [f"a red cat {n}", f"a cat {n}"],
            "candidates": {"a": [f"a red cat {n}", "a cat"], "b": ["a dog", "two dogs"], "c": ["no", "no no"]},
        }
        for n in range(6)
    ]
    found = agree(ta.conditional(items, metrics="score", distances="rouge_l", n_resamples=0), "a>b>c")
    assert len(found.names) == 1
    assert found.metrics[0].results[0].n == 3


def test_huse_results_of_several_models_are_read() -> None:
    rng = np.random.default_rng(0)
    found = []
    for shift, model in enumerate(("a", "b", "c")):
        rows = [
            {
                "source": source,
                "text": f"{source} {n}",
                "log_prob": -5.0 - shift * is_model + rng.normal(),
                "rating": 3.0 - shift * is_model + rng.normal(),
            }
            for n in range(30)
            for source, is_model in (("human", 0), (model, 1))
        ]
        found.append(ta.huse(rows, metrics="huse", k=5, n_resamples=0, stability=False))
    agreement = agree(found, "a>b>c")
    assert agreement.systems == ("a", "b", "c")
    assert agreement["huse k=5"]["kendall"].estimate == 1.0


@pytest.mark.parametrize(
    ("gold", "message"),
    [
        ("w14>w99", "the gold order names 'w99'; the results have 'w14', 'w10', 'w7', 'w4', 'w2'"),
        ("w14>w10>w14", "names 'w14' twice"),
        ("w14>>w10", "has an empty name"),
        ("w14>w10", "the gold standard has 2 systems; wanted at least 3"),
        ("nothing", "'nothing' is neither an order nor a file nor a metric"),
    ],
)
def test_bad_gold_orders_are_refused(gold: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        agree(comparison(), gold)


def test_bad_results_are_refused(tmp_path: Path) -> None:
    other = ta.compare(texts(90, 7), {"w14": texts(30, 8)}, metrics="cnd", n_resamples=0)
    with pytest.raises(InputError, match="results of different references"):
        agree([comparison("cnd"), other], ORDER)
    for text, message in (("{", "not valid JSON"), ("[1]", "not results of textassay"), ('{"a": 1}', "not results of")):
        (tmp_path / "bad.json").write_text(text)
        with pytest.raises(InputError, match=message):
            agree(tmp_path / "bad.json", ORDER)
    with pytest.raises(InputError, match=r"no\.json: no such file"):
        agree(tmp_path / "no.json", ORDER)
    with pytest.raises(InputError, match="wanted a quality and a diversity metric"):
        agree(comparison(), ORDER, plane="bleu-2")


def test_bad_files_of_gold_are_refused(tmp_path: Path) -> None:
    for text, message in (
        ("system,score\nw14,1\nw14,2\n", r"gold\.csv:3: system 'w14' is there twice"),
        ("system,note\nw14,good\n", "wanted 'system' and 'score'"),
        ("system,score\nw14,good\n", r"gold\.csv:2: score is 'good'; wanted a number"),
    ):
        (tmp_path / "gold.csv").write_text(text)
        with pytest.raises(InputError, match=message):
            agree(comparison(), tmp_path / "gold.csv")
