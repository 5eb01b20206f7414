"""History: how do metrics move over runs, checkpoints or dates, and when did the first of them change?"""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from scipy.special import ndtri

from textassay.corpus.sample import stream
from textassay.errors import InputError, Setting
from textassay.inference.plan import Plan
from textassay.inference.result import Result
from textassay.studies.history.change_points import Step, common_errors, first_step
from textassay.studies.history.result import CHANGED, UNCHANGED, UNTESTED, Change, History, Run, Source
from textassay.studies.history.runs import Found, read_runs
from textassay.studies.history.verdict import judge
from textassay.studies.outcome import settings_of

# Fewer values than this are no series.
_FEWEST = 2


def history(
    results: Any,
    *,
    candidate: str | None = None,
    metrics: str | Sequence[str] = (),
    order: str = "natural",
    level: float = 0.95,
    seed: int = 0,
) -> History:
    """Follow metrics over runs, checkpoints or dates, and find the first change that is significant.

    Parameters
    ----------
    results
        JSON files that `compare` wrote, or comparisons, one per run; a mapping from names to these; or one file, whose
        candidates are then the runs. All must have the same reference, settings, version and number of texts.
    candidate : str, optional
        The candidate to follow, where results have several.
    metrics : str or sequence of str
        The labels of the metrics to follow, such as "cnd-2,self_bleu-4". By default all that every run has. Fewer
        metrics need less correction.
    order : {"natural", "date", "given"}
        By the dates in the names if all have one, otherwise by name with numbers by their value; by date, with an error
        for a name without one; or as given.
    level : float
        The confidence level of the changes, for all metrics and places together.
    seed : int
        The seed of the simulations behind p-values.

    Returns
    -------
    History
        `first_change` is the first change or None, `changes` has one entry per metric.

    Examples
    --------
    >>> import textassay as ta
    >>> def texts(run):
    ...     return [f"text {number // (1 if run < 5 else 20)} of run {run}" for number in range(60)]
    >>> options = {"metrics": "repetition", "n_resamples": 19}
    >>> runs = {f"run-{run}": ta.compare(texts(0), texts(run), **options) for run in range(1, 7)}
    >>> ta.history(runs).first_change.at
    'run-5'
    """
    Plan(level, 999, seed).checked()
    found, ordered = read_runs(results, candidate=candidate, order=order)
    labels, missing = _labels(found, metrics)
    real = _by_label(found[-1].comparison.labels, found[-1].comparison.real.results)
    runs = [_run(each, labels) for each in found]
    changes = tuple(
        change_of(
            label,
            {run.name: run.results[index] for run in runs},
            real[label],
            level=level,
            n_tests=len(labels),
            seed=seed,
        )
        for index, label in enumerate(labels)
    )
    if all(change.decision == UNTESTED for change in changes):
        raise InputError(
            f"no metric has an interval at two runs ({changes[0].reason}); wanted comparisons with ",
            Setting("n_resamples"), " of 19 or more",
        )  # fmt: skip
    reference = found[-1].comparison.reference
    settings = {name: value for name, value in found[-1].comparison.settings.items() if name not in ("version", "seed")}
    return History(
        runs=tuple(runs),
        changes=changes,
        reference=Source(reference.name, reference.n, reference.digest),
        real=tuple(real[label] for label in labels),
        order=ordered,
        verdict=judge(changes, tuple(run.name for run in runs), level, missing=missing),
        level=level,
        labels=labels,
        notes=(),
        settings={**settings, **settings_of(Plan(level, 0, seed), seed=seed)},
    )


def _by_label(labels: Sequence[str], results: Sequence[Result]) -> dict[str, Result]:
    return dict(zip(labels, results, strict=True))


def _labels(found: Sequence[Found], metrics: str | Sequence[str]) -> tuple[tuple[str, ...], dict[str, list[str]]]:
    """The metrics that every run has, or those that were asked for; and the runs that lack any other one."""
    known = dict.fromkeys(label for each in found for label in each.comparison.labels)
    common = [label for label in known if all(label in each.comparison.labels for each in found)]
    wanted = [name.strip() for name in (metrics.split(",") if isinstance(metrics, str) else metrics) if name.strip()]
    for name in wanted:
        if name not in common:
            raise InputError(f"no metric {name!r:.60} in all runs; wanted any of {', '.join(common) or 'none'}")
    if not common:
        raise InputError("no metric that all runs have; wanted comparisons with the same metrics")
    if wanted:
        return tuple(dict.fromkeys(wanted)), {}
    left_out = [label for label in known if label not in common]
    return tuple(common), {
        label: [each.name for each in found if label not in each.comparison.labels] for label in left_out
    }


def _run(found: Found, labels: Sequence[str]) -> Run:
    column = found.column
    results = _by_label(found.comparison.labels, column.results)
    separable = column.overall.separable if column.overall else None
    return Run(
        found.name,
        found.date,
        column.n,
        column.digest,
        column.verdict.decision if column.verdict else "untested",
        (separable.grade if separable else None) or "",
        tuple(results[label] for label in labels),
    )


def change_of(
    label: str, results: Mapping[str, Result], real: Result, *, level: float, n_tests: int, seed: int
) -> Change:
    """Whether a metric changed, from its results by run, over the runs at which it has an interval."""
    known = [name for name, result in results.items() if _error(result) is not None]
    if len(known) < _FEWEST:
        undefined = next((result.undefined for result in results.values() if result.undefined), None)
        return Change(label, UNTESTED, math.nan, reason=undefined or "no interval")
    values = np.array([results[name].estimate for name in known])
    errors = common_errors(np.array([_error(results[name]) for name in known], dtype=np.float64))
    if not errors.min() > 0:
        return Change(label, UNTESTED, math.nan, reason="its intervals have no width")
    found = first_step(values, errors, level=level, n_tests=n_tests, rng=stream(seed, "history"))
    if not isinstance(found, Step):
        return Change(label, UNCHANGED, found)
    at, start, end, previous = (known[index] for index in (found.at, found.start, found.end, found.at - 1))
    way = _way(results[known[0]], real, found)
    return Change(label, CHANGED, found.p, at, start, end, found.before, found.after, way, previous=previous)


def _error(result: Result) -> float | None:
    """The standard error that the longer side of an interval stands for; None without an interval."""
    interval = result.interval
    if interval is None or not math.isfinite(result.estimate):
        return None
    side = max(interval.high - result.estimate, result.estimate - interval.low)
    return side / float(ndtri(0.5 + interval.level / 2))


def _way(result: Result, real: Result, step: Step) -> str:
    """Whether the metric is better or worse after the change; empty where real text's value is needed and missing."""
    if result.better != "closer":
        return "better" if (step.after > step.before) == (result.better == "higher") else "worse"
    if not math.isfinite(real.estimate) or real.n != result.n:
        return ""
    nearer = abs(step.after - real.estimate) < abs(step.before - real.estimate)
    return "better" if nearer else "worse"
