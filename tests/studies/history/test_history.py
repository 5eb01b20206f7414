"""Histories: runs and their order, the first change, and results that cannot be compared."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tests.laws import corpus
from textassay import Comparison, History, InputError, compare, history, read_results

FAST: dict[str, Any] = {"metrics": "cnd,distinct,repetition", "n_resamples": 19, "tokenizer": "whitespace"}


def texts(run: int, n: int = 60) -> list[str]:
    """Texts of a run: from the fifth on, a third of them repeat others."""
    mine = corpus(run, n)
    return mine if run < 5 else [*mine[: n - n // 3], *mine[: n // 3]]


@cache
def comparison(run: int, **changed: Any) -> Comparison:
    return compare(corpus(100, 60), {"model": texts(run)}, **FAST | changed)


@cache
def found() -> History:
    """Eight runs, of which the fifth is the first with repeated texts."""
    return history({f"run-{run}": comparison(run) for run in range(1, 9)})


def test_the_first_change_is_found_and_placed() -> None:
    first = found().first_change
    assert first is not None
    assert first.at == "run-5"
    assert found().verdict.decision == "differs"
    changed = {change.label for change in found().changes if change.decision == "changed"}
    assert "repetition" in changed
    assert "at run-5, after run-4" in found().verdict.sentence
    assert found()["run-5"]["repetition"].estimate == pytest.approx(2 / 3)


def test_without_a_change_the_clearest_one_has_a_p_value() -> None:
    same = history([comparison(run) for run in range(1, 5)])
    assert same.first_change is None
    assert same.verdict.decision == "same"
    assert "no change found in 3 metrics over 4 runs" in same.verdict.sentence
    assert all(change.adjusted_p > 0.05 for change in same.changes)


def test_a_history_is_read_back(tmp_path: Path) -> None:
    path = tmp_path / "history.json"
    path.write_text(found().to_json(), encoding="utf-8")
    assert read_results(path) == found()
    head, *rows = found().to_csv().splitlines()
    assert head.startswith("date,candidate")
    assert len(rows) == 8 * 3


@pytest.fixture
def saved(tmp_path: Path) -> Callable[..., list[str]]:
    """Writes comparisons to files of these names."""

    def write(names: Sequence[str], *comparisons: Comparison) -> list[str]:
        for name, each in zip(names, comparisons, strict=True):
            (tmp_path / name).parent.mkdir(exist_ok=True)
            (tmp_path / name).write_text(each.to_json(), encoding="utf-8")
        return [str(tmp_path / name) for name in names]

    return write


def test_runs_are_ordered_by_date_or_by_the_numbers_in_their_names(saved: Callable[..., list[str]]) -> None:
    runs = [comparison(run) for run in (1, 2, 3)]
    numbered = history(saved(["step-900.json", "step-1000.json", "step-90.json"], *runs))
    assert (numbered.names, numbered.order) == (("step-90", "step-900", "step-1000"), "by name")
    dated = saved(["b-20260301.json", "2026-01-31/b.json", "c_2026-02-01.json"], *runs)
    by_date = history(dated)
    assert [run.date for run in by_date.runs] == [
        "2026-01-31",
        "2026-02-01",
        "2026-03-01",
    ] or by_date.order == "by name"
    as_given = history(dated, order="given")
    assert as_given.names[0] == "b-20260301"


def test_folders_name_files_of_one_name(saved: Callable[..., list[str]]) -> None:
    paths = saved(["2026-02-01/found.json", "2026-01-31/found.json"], comparison(1), comparison(2))
    made = history(paths)
    assert made.names == ("2026-01-31/found", "2026-02-01/found")
    assert made.order == "by date"


def test_the_candidates_of_one_file_are_runs() -> None:
    several = compare(corpus(100, 60), {f"step-{run}": texts(run) for run in (1, 2, 10)}, **FAST)
    assert history(several).names == ("step-1", "step-2", "step-10")
    with pytest.raises(InputError, match="wanted one series, chosen with candidate="):
        history([several, several])
    chosen = history([several, several], candidate="step-2")
    assert chosen.names == ("run-1", "run-2")
    with pytest.raises(InputError, match="no candidate 'other'"):
        history([several, several], candidate="other")


def test_a_metric_that_a_run_lacks_is_named_on_the_first_screen() -> None:
    runs = {"run-1": comparison(1), "run-2": comparison(2), "run-3": comparison(3, metrics="cnd")}
    made = history(runs)
    assert made.labels == ("cnd-2",)
    shown = " ".join(str(made).split())
    assert "! Not followed: " in shown
    assert "which not all runs have (missing in run-3)" in shown
    assert "Not followed" not in str(history(runs, metrics="cnd-2"))


def test_chosen_metrics_are_corrected_for_alone() -> None:
    runs = {f"run-{run}": comparison(run) for run in range(1, 9)}
    alone = history(runs, metrics="cnd-2")
    assert alone.labels == ("cnd-2",)
    p = {change.label: change.adjusted_p for change in found().changes}
    assert alone.changes[0].adjusted_p <= p["cnd-2"]
    with pytest.raises(InputError, match="no metric 'bleu-4' in all runs"):
        history(runs, metrics="bleu-4")


@pytest.mark.parametrize(
    ("results", "message"),
    [
        (lambda: [comparison(1)], "1 run; wanted 2 to"),
        (list, "0 runs; wanted 2 to"),
        (lambda: [comparison(1), compare(corpus(101, 60), {"model": texts(2)}, **FAST)], "same reference"),
        (lambda: [comparison(1), comparison(2, tokenizer="words")], "tokenizer of run-2: words"),
        (lambda: [comparison(1), older(comparison(2))], "version of run-2: 0.4.0"),
        (lambda: [comparison(1), compare(corpus(100, 60), {"model": texts(2, 45)}, **FAST)], "reference|45 texts"),
        (lambda: [comparison(1, n_resamples=0), comparison(2, n_resamples=0)], "no metric has an interval"),
        (lambda: [comparison(1), comparison(2, metrics="bleu")], "no metric that all runs have"),
        (lambda: [comparison(1), "missing.json"], "missing.json"),
    ],
)
def test_results_that_cannot_be_compared_are_refused(results: Callable[[], Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        history(results())


def older(found: Comparison) -> Comparison:
    return replace(found, settings={**found.settings, "version": "0.4.0"})


def test_other_files_and_orders_are_refused(saved: Callable[..., list[str]], tmp_path: Path) -> None:
    paths = saved(["a.json", "b.json"], comparison(1), comparison(2))
    with pytest.raises(InputError, match="given twice"):
        history([paths[0], paths[0]])
    with pytest.raises(InputError, match="no date in 'a', 'b'"):
        history(paths, order="date")
    with pytest.raises(InputError, match="wanted one of natural, date, given"):
        history(paths, order="size")
    (tmp_path / "history.json").write_text(found().to_json(), encoding="utf-8")
    with pytest.raises(InputError, match="results of history; wanted the JSON file of textassay compare"):
        history([paths[0], str(tmp_path / "history.json")])


def test_a_metric_without_a_value_at_some_runs_is_tested_on_the_others() -> None:
    runs = [comparison(run) for run in (1, 2, 3)]
    column = runs[1].candidates[0]
    gone = replace(column.results[0], estimate=float("nan"), interval=None, undefined="too few words")
    runs[1] = replace(runs[1], candidates=(replace(column, results=(gone, *column.results[1:])),))
    made = history(runs)
    assert made.changes[0].decision == "no change found"
    assert "No number" in made.to_markdown()
    only = history([replace_first(comparison(run), gone) for run in (1, 2, 3)])
    assert (only.changes[0].decision, only.changes[0].reason) == ("untested", "too few words")
    assert "too few words" in str(only)


def test_a_change_is_after_the_last_run_with_an_interval() -> None:
    """The metric has no interval at run-4, so it is not known whether it changed there."""
    runs = {f"run-{run}": comparison(run) for run in range(1, 9)}
    column = runs["run-4"].candidates[0]
    results = tuple(replace(result, interval=None) for result in column.results)
    runs["run-4"] = replace(runs["run-4"], candidates=(replace(column, results=results),))
    made = history(runs)
    first = made.first_change
    assert first is not None
    assert (first.previous, first.at) == ("run-3", "run-5")
    assert "at run-5, after run-3" in made.verdict.sentence
    assert "run-4" not in made.verdict.sentence


def test_metrics_that_are_not_tested_have_their_own_reasons() -> None:
    column = comparison(1).candidates[0]
    reasons = ("too few words", "no vectors")
    gone = [
        replace(result, estimate=float("nan"), interval=None, undefined=reason)
        for result, reason in zip(column.results, reasons, strict=False)
    ]
    runs = []
    for run in (1, 2, 3):
        found, own = comparison(run), comparison(run).candidates[0]
        runs.append(replace(found, candidates=(replace(own, results=(*gone, *own.results[2:])),)))
    made = history(runs)
    cautions = [finding for finding in made.verdict.findings if finding.kind == "untested series"]
    assert [(finding.names, finding.text) for finding in cautions] == [
        ((label,), reason) for label, reason in zip(made.labels, reasons, strict=False)
    ]


def replace_first(found: Comparison, result: Any) -> Comparison:
    column = found.candidates[0]
    return replace(found, candidates=(replace(column, results=(result, *column.results[1:])),))
