"""The forms of a comparison that are plain text: terminal table, Markdown and CSV."""

import math
import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.console import Console

from tests.report.builders import HOSTILE, candidate, compare_result, comparison, hostile_comparison, phrase
from tests.studies.compare.test_verdict import DIFFERS, SETTING, SHARE, overall
from textassay.inference.effect_size import Separable
from textassay.inference.format_check import Finding
from textassay.inference.overall.test import Overall
from textassay.inference.result import Interval
from textassay.report.former.compare import legend_lines, render_markdown, render_terminal
from textassay.report.former.table import figure
from textassay.report.former.terminal import fitted_names
from textassay.studies.compare.result import Comparison
from textassay.studies.compare.verdict import judge
from textassay.studies.finding import Verdict

TWINS = ("model-temperature-0.7-topk-run-1", "model-temperature-0.7-topk-run-2")


def on_screen(found: Comparison, width: int) -> str:
    """The terminal table as text."""
    console = Console(width=width, force_terminal=False, color_system=None)
    with console.capture() as capture:
        console.print(render_terminal(found, width=width))
    return capture.get()


def smaller(found: Comparison, *places: int) -> Comparison:
    """The candidates at these places measured again at half their size."""
    again = {"cr-2": compare_result("cr", 0.777, n=250, p=0.5)}
    columns = [replace(c, at_baseline_size=again) if i in places else c for i, c in enumerate(found.candidates)]
    return replace(found, candidates=tuple(columns))


@pytest.mark.parametrize(
    ("estimate", "low", "high", "shown"),
    [
        (0.0, 0.0, 0.0152, "0 [0, 0.015]"),
        (0.3, 0.2941, 0.3059, "0.300 ±0.0059"),
        (0.3, 0.29, 0.3102, "0.300 ±0.010"),
        (0.3, 0.29, 0.313, "0.300 [0.290, 0.313]"),
        (0.998, 0.9812, 0.99976, "0.998 [0.981, 1.000]"),
        (2100.0, 2000.0, 3000.0, "2,100 [2,000, 3,000]"),
        (-0.0001, -0.00001, 0.02, "-0.000100 [0.000, 0.020]"),
        (2e-6, 1e-6, 4e-6, "2.00e-06 [1.00e-06, 4.00e-06]"),
        (0.5, 0.5, 0.5, "0.500 ±0"),
        (0.6, 0.5, 0.5, "0.600 [0.500, 0.500]"),
        (0.1, 0.0, math.inf, "0.100 [0, ∞]"),
        (math.inf, 1.0, math.inf, "∞ [1.00, ∞]"),
    ],
)
def test_half_a_width_stands_only_for_an_even_interval(estimate: float, low: float, high: float, shown: str) -> None:
    uneven = replace(compare_result("cr", estimate), interval=Interval(low, high, 0.95, "jackknife"))
    assert figure(uneven, level=0.95).short == shown
    assert figure(uneven, 0.01, level=0.95).short == f"{shown}*"


@pytest.mark.parametrize(("level", "shown", "chance"), [(0.999, "99.9 %", "0.001"), (0.9725, "97.25 %", "0.0275")])
def test_the_legend_gives_the_level_as_it_is(level: float, shown: str, chance: str) -> None:
    lines = legend_lines(comparison(level=level))
    assert lines[0].startswith(f"± half the width of the {shown} interval")
    assert "[low, high] its bounds" in lines[0]
    assert f"permutation test with p <= {chance}, adjusted" in lines[1]


UNKNOWN = Separable(None, None, 0.95, "", None, None, "too few groups", "")


@pytest.mark.parametrize(
    ("test", "explained"),
    [
        (DIFFERS, ["separable share"]),
        (overall(0.001, separable=UNKNOWN), []),
        (overall(0.4, separable=SHARE.judged(differs=False)), ["four of five"]),
    ],
)
def test_the_legend_explains_only_the_shares_that_a_verdict_names(test: Overall, explained: list[str]) -> None:
    found = comparison(("only",))
    column = replace(found.candidates[0], overall=test, verdict=judge([], test, setting=SETTING))
    lines = legend_lines(replace(found, candidates=(column,)))
    more = [line for line in lines if line not in legend_lines(found)]
    assert [words in line for words, line in zip(explained, more, strict=True)] == [True] * len(explained)


def test_results_at_the_size_of_the_baseline_follow_their_column() -> None:
    found = smaller(comparison(metrics=[("cr", 2), ("nrr", 2)], real_n=250), 0)
    listed = [(row["candidate"], row["label"], row["n"]) for row in found.csv_rows()]
    assert listed == [
        ("real v real", "cr-2", 250),
        ("real v real", "nrr-2", 250),
        ("small", "cr-2", 500),
        ("small", "nrr-2", 500),
        ("small", "cr-2", 250),
        ("large", "cr-2", 500),
        ("large", "nrr-2", 500),
    ]
    again = list(found.csv_rows())[4]
    assert (again["estimate"], again["p_value"], again["p_adjusted"]) == (0.777, None, None)
    assert "small,250,cr,cr-2,n=2,0.777," in found.to_csv()


def test_a_data_frame_has_one_row_per_candidate_and_metric() -> None:
    pytest.importorskip("pandas")
    found = smaller(comparison(metrics=[("cr", 2), ("nrr", 2)], real_n=250), 0)
    frame = found.to_frame()
    assert list(zip(frame["candidate"], frame["label"], strict=True)) == [
        ("small", "cr-2"),
        ("small", "nrr-2"),
        ("large", "cr-2"),
        ("large", "nrr-2"),
    ]
    assert frame["baseline"].tolist() == [result.estimate for result in found.real.results] * 2
    assert found.to_pandas().equals(frame)


@pytest.mark.parametrize("places", [(0, 1), (1,)])
def test_a_second_row_keeps_every_number_in_its_column(places: tuple[int, ...]) -> None:
    found = smaller(comparison(metrics=[("cr", 2)], real_n=250), *places)
    first = "0.777 ±0.020" if 0 in places else ""
    assert f"| cr-2 at n = 250 | 0.300 ±0.020 | {first} | 0.777 ±0.020 |" in render_markdown(found)
    (line,) = (line for line in on_screen(found, 100).splitlines() if "at n = 250" in line)
    assert line.count("±") == 2 + (0 in places)
    assert line.rstrip().endswith("0.777 ±0.020")


def test_markdown_says_what_differs_and_which_way_is_better() -> None:
    many = tuple(phrase(f"number {i}", more=1000 + i) for i in range(1, 12))
    found = comparison(["only"])
    page = render_markdown(replace(found, candidates=(replace(found.candidates[0], over=many),)))
    section = page.partition("## What differs")[2].partition("## Notes")[0]
    assert (
        "**only** uses too often, per 1,000 words (candidate v reference): “number 1” 100 v 0.200, “number 2”"
        in section
    )
    assert "“number 8” 101 v 0.200\n" in section
    assert "number 9" not in section
    assert "**only** uses too rarely, per 1,000 words (candidate v reference): “of it” 0.100 v 3.00" in section
    assert "| cr-2 ↑ |" in page
    assert "| nrr-2 ≈ |" in page
    assert "↑ higher is better, ↓ lower is better, ≈ closer" in page


def test_markdown_escapes_phrases_and_leaves_out_the_section_without_any() -> None:
    section = render_markdown(hostile_comparison()).partition("## What differs")[2].partition("## Notes")[0]
    assert "\\<script\\>alert(1)" in section
    assert not re.search(r"(?<!\\)[<|]", section)
    assert max(len(found) for found in re.findall("“(.*?)”", section)) < 120
    assert all(control not in section for control in "\x00\x1b\x85\u2028\u202e")
    quiet = comparison(["only"])
    assert "What differs" not in render_markdown(
        replace(quiet, candidates=(replace(quiet.candidates[0], over=(), under=()),))
    )


def test_names_that_differ_at_their_end_stay_apart_on_screen() -> None:
    shown = on_screen(comparison(TWINS), 150)
    (head,) = (line for line in shown.splitlines() if line.lstrip().startswith("metric"))
    assert "run-1" in head
    assert "run-2" in head
    assert re.search(r"≠ \S*run-2 ", shown)
    assert re.search(r"run-2 too often", shown)


WIDE = ("漢字の名前がここに並んでいる長い長い名前その一", "漢字の名前がここに並んでいる長い長い名前その二")


@pytest.mark.parametrize("width", [40, 60, 80, 150])
@pytest.mark.parametrize("names", [TWINS, WIDE, ("a", "b"), [f"model-{i}" for i in range(12)]])
def test_no_number_is_ever_cut(width: int, names: tuple[str, ...]) -> None:
    found = comparison(names, real_n=250)
    bounds = Interval(0.0000731, 0.000104, 0.95, "jackknife")
    results = [replace(r, estimate=0.0000774, interval=bounds) for r in found.candidates[0].results]
    columns = tuple(replace(c, results=tuple(results)) for c in found.candidates)
    real = replace(found.real, results=tuple(replace(r, interval=bounds) for r in found.real.results))
    found = replace(found, candidates=columns, real=real)
    shown = on_screen(found, width)
    assert max(map(cell_len, shown.splitlines())) <= width
    tables = shown.partition("± half")[0]
    assert tables.count("[0.000073, 0.000104]") >= len(results) * (len(names) + 1)
    assert tables.count("0.0000774") == len(results) * len(names)
    assert "[0.000073, …" not in shown


@given(
    st.lists(st.text("ab漢\u0301-", max_size=40), min_size=1, max_size=12, unique=True),
    st.sampled_from(["", "a-long-beginning-that-all-share-"]),
    st.sampled_from(["", "-a-long-end-that-all-share"]),
    st.integers(6, 30),
)
def test_fitted_names_fit_and_stay_distinct(middles: list[str], start: str, end: str, width: int) -> None:
    names = [f"{start}{middle}{end}" for middle in middles]
    fitted = fitted_names(names, width)
    assert len(set(fitted)) == len(names)
    assert all(cell_len(name) <= width for name in fitted)
    if all(cell_len(name) <= width for name in names):
        assert fitted == names


def test_a_harmless_finding_is_known_by_its_field() -> None:
    loud = Finding("blank", "blank texts", 0.5, 0.0, "no effect is what it sounds like")
    quiet = Finding("white_space", "stray spaces", 0.5, 0.0, "whatever is said", harmless=True)
    found = replace(comparison(["only"]), candidates=(candidate("only", comparison(["x"]).candidates[0].results),))
    found = replace(found, candidates=(replace(found.candidates[0], findings=(loud, quiet)),))
    shown = on_screen(found, 150)
    assert "format only: blank texts; no effect is what it sounds like" in shown
    assert "format differences that this tokenizer removes: only: white space" in shown
    assert "stray spaces" not in shown
    assert Comparison.from_json(found.to_json()).candidates[0].findings == (loud, quiet)


def test_what_was_not_tested_has_its_own_sign() -> None:
    found = comparison(["only"], half=None, p=None)
    judged = replace(found.candidates[0], verdict=Verdict.of("untested", "estimates only: no test was run"))
    assert "? only estimates only: no test was run" in on_screen(replace(found, candidates=(judged,)), 100)


def test_hostile_names_leave_the_table_in_one_piece() -> None:
    shown = on_screen(hostile_comparison(), 60)
    assert not set(shown) & set("\x00\x1b\x7f\x85\u2028\u202e")
    assert shown.count("metric ") >= len(HOSTILE) // 3


def test_format_differences_with_one_remedy_share_a_line() -> None:
    findings = tuple(
        Finding(kind, f"{kind} differ", 0.5, 0.0, fix) for kind, fix in (("a", "x"), ("b", "y"), ("c", "x"))
    )
    found = comparison(["only"])
    shown = on_screen(replace(found, candidates=(replace(found.candidates[0], findings=findings),)), 120)
    assert "format only: a differ, c differ; x" in shown
    assert "format only: b differ; y" in shown
