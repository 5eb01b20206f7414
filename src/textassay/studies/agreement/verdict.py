"""What an agreement study shows: the metrics closest to the gold standard, pairs that they invert, and dominance."""

import math
from collections.abc import Iterator, Sequence
from itertools import combinations

from textassay.inference.p_values import is_significant
from textassay.studies.agreement.result import Agreement, MetricColumn
from textassay.studies.finding import Finding

# With fewer systems than this, only a nearly perfect order can be significant.
_FEW_SYSTEMS = 8
_MOST_DOMINATED = 12


def ranked(found: Agreement) -> list[MetricColumn]:
    """The highest tau-b first, metrics without a number last."""
    return sorted(found.metrics, key=lambda metric: _rank(metric.results[0].estimate))


def _rank(tau: float) -> float:
    return math.inf if math.isnan(tau) else -tau


def ranks(found: Agreement) -> dict[str, int]:
    """The rank of each metric with a tau-b; equal values share one."""
    known = {metric.name: metric.results[0].estimate for metric in found.metrics}
    known = {name: tau for name, tau in known.items() if not math.isnan(tau)}
    return {name: 1 + sum(other > tau for other in known.values()) for name, tau in known.items()}


def decision_of(metric: MetricColumn, adjusted_p: float, level: float) -> str:
    """Whether a metric agrees with the gold standard or contradicts it, by more than chance explains."""
    tau = metric.results[0].estimate
    if math.isnan(tau):
        return "untested"
    if not is_significant(adjusted_p, level):
        return "not shown"
    return "agrees" if tau > 0 else "contradicts"


def closest(found: Agreement) -> Finding:
    """The metrics that agree best with the gold standard."""
    known = [metric for metric in ranked(found) if not math.isnan(metric.results[0].estimate)]
    if not known:
        return Finding("no correlation")
    best = known[0].results[0].estimate
    first = tuple(metric.name for metric in known if metric.results[0].estimate == best)
    adjusted = dict(zip(found.names, found.adjusted, strict=True))
    n_agreeing = sum(decision_of(metric, adjusted[metric.name], found.level) == "agrees" for metric in known)
    parts = {"tests": len(known), "agreeing": n_agreeing}
    return Finding("closest to gold", value=best, adjusted_p=adjusted[first[0]], names=first, parts=parts)


def inverted(found: Agreement, metric: MetricColumn) -> Finding | None:
    """The two systems that the gold standard has furthest apart among those that the metric orders the other way."""
    both = zip(found.systems, found.gold_values, metric.goodness, strict=True)
    known = [(name, gold, own) for name, gold, own in both if math.isfinite(gold) and math.isfinite(own)]
    pairs = [(a, b) if a[1] > b[1] else (b, a) for a, b in combinations(known, 2) if a[1] != b[1]]
    wrong = [(better, worse) for better, worse in pairs if better[2] < worse[2]]
    if not wrong:
        return None
    better, worse = max(wrong, key=lambda pair: pair[0][1] - pair[1][1])
    return Finding("inverts", metric=metric.name, value=len(wrong), names=(worse[0], better[0]), n=(len(pairs),))


def cautions(found: Agreement) -> Iterator[Finding]:
    """What may make the answer wrong, and why metrics have no number."""
    n_systems = sum(map(math.isfinite, found.gold_values))
    if n_systems < _FEW_SYSTEMS:
        yield Finding("few systems", n=(n_systems,))
    reasons: dict[str, list[str]] = {}
    for metric in found.metrics:
        if metric.results[0].undefined is not None:
            reasons.setdefault(metric.results[0].undefined, []).append(metric.name)
    for reason, names in reasons.items():
        yield Finding("no number", names=tuple(names), text=reason)


def dominance(found: Agreement) -> Iterator[Finding]:
    """Which systems and which sweeps dominate others."""
    plane = found.dominance
    if plane is None:
        return
    free = tuple(point.system for point in plane.points if not point.by)
    yield Finding("not dominated", metric=plane.quality, text=plane.diversity, names=free)
    for point in [point for point in plane.points if point.by][:_MOST_DOMINATED]:
        yield Finding("dominated", text=point.system, names=point.by)
    yield from _between_sweeps(plane.sweeps, plane.shares)


def _between_sweeps(sweeps: Sequence[str], shares: Sequence[Sequence[float]]) -> Iterator[Finding]:
    for i, row in enumerate(shares):
        for j, value in enumerate(row):
            if i != j and value > 0:
                yield Finding("dominates sweep", value=value, names=(sweeps[i], sweeps[j]))
