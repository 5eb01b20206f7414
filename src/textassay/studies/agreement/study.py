"""Agreement: which metrics rank systems as a gold standard does?"""

import hashlib
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from textassay.corpus.arrays import F64, Bool
from textassay.corpus.printable import many, quoted
from textassay.errors import InputError, Setting
from textassay.inference.plan import Plan
from textassay.inference.result import Interval, Result, signature
from textassay.studies.agreement.correlation import (
    correlation_matrix,
    pearson,
    spearman,
    tau_b,
    tau_p_value,
    z_interval,
)
from textassay.studies.agreement.gold import read_gold
from textassay.studies.agreement.result import Agreement, Dominance, MetricColumn, PlanePoint
from textassay.studies.agreement.scores import MetricScores, Scores, read_scores
from textassay.studies.planes import plane_indexes
from textassay.version import __version__

_FEWEST = 3
_TOO_FEW = f"fewer than {_FEWEST} systems have both values"
_NO_REAL = "close to real text is better, and the results have no value of real text (measured with resamples only)"
_CONSTANT = "all systems have the same value"


def agree(results: Any, gold: Any, *, plane: str | Sequence[str] | None = None, level: float = 0.95) -> Agreement:
    """Correlate every metric with a gold standard, and every two metrics with each other.

    Parameters
    ----------
    results
        The JSON file of `compare`, `conditional`, `sweep`, `huse` or `reproduce dd-table-3`, an outcome of one of the
        first four, or a list of these. A system may be in several files with different metrics. All files must have the
        same reference.
    gold
        The right order, best first: `"a>b=c>d"` or a list of names; or a quantity per system: a dict, or a file with
        `system` and `score` (higher is better) or `rank`; or a file with one system per line, best first; or the label
        of a metric, such as `"oracle_nll"`. Systems that the gold standard does not name are left out.
    plane
        A quality and a diversity metric for the plane in which dominance is checked, such as `"bleu-4,self_bleu-4"`.
        By default `cr` and `nrr`, `bleu` and `self_bleu`, or the first of each kind.
    level
        The confidence level of intervals.

    Returns
    -------
    Agreement
        `found["bleu-4"]["kendall"]` is Kendall's tau-b with its interval and exact p-value.

    Examples
    --------
    >>> from textassay import compare
    >>> real = [f"a {colour} {animal}" for colour in ("red", "blue", "old") for animal in ("cat", "dog", "cow", "hen")]
    >>> systems = {"good": real, "narrow": real[:4] * 3, "bad": ["no no no"] * 12}
    >>> found = agree(compare(real, systems, metrics="cnd", n_resamples=0), "good>narrow>bad")
    >>> found["cnd-2"]["kendall"].estimate
    1.0
    """
    Plan(level).checked()
    scores = read_scores(results)
    standard = read_gold(gold, scores)
    notes = list(scores.notes)
    left_out = [system for system in scores.systems if system not in standard.goodness]
    if left_out:
        notes.append(f"{many(len(left_out), 'system')} left out, which the gold standard does not name")
    if len(standard.goodness) < _FEWEST:
        seen = many(len(standard.goodness), "system")
        raise InputError(f"the gold standard has {seen}; wanted at least {_FEWEST}")
    values = [standard.goodness.get(system, math.nan) for system in scores.systems]
    columns = tuple(_column(metric, values, level) for metric in scores.metrics if metric.label != standard.name)
    matrix = correlation_matrix(np.array([column.goodness for column in columns]).reshape(len(columns), -1))
    return Agreement(
        metrics=columns,
        gold=standard.name,
        gold_values=tuple(values),
        is_order=standard.is_order,
        systems=scores.systems,
        matrix=tuple(tuple(row) for row in matrix.tolist()),
        dominance=_dominance(scores, plane),
        level=level,
        notes=tuple(notes),
        settings={"version": __version__},
    )


def _column(metric: MetricScores, gold: Sequence[float], level: float) -> MetricColumn:
    both = [(x, y) for x, y in zip(metric.goodness, gold, strict=True) if math.isfinite(x) and math.isfinite(y)]
    x, y = [pair[0] for pair in both], [pair[1] for pair in both]
    undefined = _why_undefined(metric, x, y)
    p, method = tau_p_value(x, y) if undefined is None else (math.nan, "")
    results = []
    for name, function in (("kendall", tau_b), ("spearman", spearman), ("pearson", pearson)):
        value = function(x, y) if undefined is None else math.nan
        interval = z_interval(name, value, len(both), level)
        own_p = p if name == "kendall" and undefined is None else None
        results.append(_result(name, metric, value, interval, own_p, undefined, both, method))
    return MetricColumn(
        metric.label,
        metric.result.metric,
        metric.result.aspect,
        metric.result.better,
        tuple(results),
        metric.values,
        metric.goodness,
    )


def _why_undefined(metric: MetricScores, x: Sequence[float], y: Sequence[float]) -> str | None:
    if len(x) < _FEWEST:
        known = sum(map(math.isfinite, metric.values))
        return _NO_REAL if metric.result.better == "closer" and known >= _FEWEST else _TOO_FEW
    return _CONSTANT if len(set(x)) == 1 or len(set(y)) == 1 else None


def _result(
    name: str,
    metric: MetricScores,
    value: float,
    interval: Interval | None,
    p: float | None,
    undefined: str | None,
    both: Sequence[tuple[float, float]],
    method: str,
) -> Result:
    digest = hashlib.blake2b(np.array(both, dtype="<f8").tobytes(), digest_size=8).hexdigest()
    settings = {"p": method} if p is not None else {}
    data = {"systems": f"{len(both)}/{digest}"}
    return Result(
        metric=name,
        options={},
        estimate=value,
        better="higher",
        aspect=metric.result.aspect,
        interval=interval,
        p_value=p,
        parts={},
        undefined=undefined,
        signature=signature(name, {"metric": metric.label}, settings=settings, data=data, resampling={}),
        seconds=0.0,
        n=len(both),
    )


def _dominance(scores: Scores, plane: str | Sequence[str] | None) -> Dominance | None:
    """The plane of two metrics, each turned so that higher is more; None without a metric of each kind."""
    axes = _axes(scores, plane)
    if axes is None:
        return None
    sides = [np.array(axis.values) * (-1 if axis.falls else 1) for axis in axes]
    points = np.stack(sides, axis=-1)
    known = np.flatnonzero(np.isfinite(points).all(axis=1)).tolist()
    if len(known) < 2:
        return None
    beats = dominates(points[known], points[known])
    systems = [scores.systems[index] for index in known]
    drawn = tuple(
        PlanePoint(
            scores.systems[index],
            scores.files[index],
            float(points[index, 0]),
            float(points[index, 1]),
            tuple(system for system, better in zip(systems, beats[:, at].tolist(), strict=True) if better),
        )
        for at, index in enumerate(known)
    )
    return _with_sweeps(drawn, axes)


def _with_sweeps(points: tuple[PlanePoint, ...], axes: Sequence[MetricScores]) -> Dominance:
    sweeps = tuple(dict.fromkeys(point.sweep for point in points))
    groups: list[F64] = [
        np.array([[point.quality, point.diversity] for point in points if point.sweep == sweep]) for sweep in sweeps
    ]
    shares = dominated_shares(groups) if len(sweeps) > 1 else np.zeros((0, 0))
    rows = tuple(tuple(row) for row in shares.tolist())
    return Dominance(axes[0].label, axes[1].label, points, sweeps, rows)


def _axes(scores: Scores, plane: str | Sequence[str] | None) -> tuple[MetricScores, MetricScores] | None:
    if plane is None or not len(plane):
        places = plane_indexes({index: metric.result for index, metric in enumerate(scores.metrics)})
        return None if places is None else (scores.metrics[places[0]], scores.metrics[places[1]])
    names = [name.strip() for name in (plane.split(",") if isinstance(plane, str) else plane)]
    by_label = {metric.label: metric for metric in scores.metrics}
    missing = [name for name in names if name not in by_label]
    if len(names) != 2 or missing:
        seen = f"metrics are {quoted(list(by_label))}"
        raise InputError(Setting("plane", ",".join(names)), f"; wanted a quality and a diversity metric ({seen})")
    return by_label[names[0]], by_label[names[1]]


def dominates(points: F64, others: F64) -> Bool:
    """Whether each point (row) dominates each other one (column): at least as good on both axes, better on one."""
    at_least = (points[:, None, :] >= others[None, :, :]).all(axis=-1)
    better = (points[:, None, :] > others[None, :, :]).any(axis=-1)
    return np.asarray(at_least & better)


def dominated_shares(sweeps: Sequence[F64]) -> F64:
    """For each sweep (row) the share of the points of each other sweep (column) that one of its points dominates."""
    return np.array(
        [[float(dominates(one, other).any(axis=0).mean()) for other in sweeps] for one in sweeps], dtype=np.float64
    ).reshape(len(sweeps), len(sweeps))
