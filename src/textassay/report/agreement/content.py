"""What all forms of an agreement report share: rows, sentences and legends."""

import math
from dataclasses import dataclass

from textassay.corpus.printable import many, share, shortened
from textassay.inference.p_values import is_significant
from textassay.inference.result import Result
from textassay.report.table import level_text
from textassay.studies.agreement.result import Agreement, MetricColumn
from textassay.studies.wording import cited_p, listed, p_text

HEAD = ("tau-b", "interval", "p", "Spearman", "Pearson", "systems")


@dataclass(frozen=True)
class Row:
    """A metric as text; `marked` is whether tau-b is significant after correction for all metrics."""

    metric: MetricColumn
    cells: tuple[str, ...]
    marked: bool


def rows(found: Agreement) -> list[Row]:
    """One row per metric: the highest tau-b first, those without a number last."""
    both = zip(found.metrics, found.adjusted, strict=True)
    ranked = sorted(both, key=lambda pair: _rank(pair[0].results[0]))
    return [_row(metric, adjusted, found.level) for metric, adjusted in ranked]


def _rank(result: Result) -> float:
    return math.inf if math.isnan(result.estimate) else -result.estimate


def _row(metric: MetricColumn, adjusted: float, level: float) -> Row:
    kendall, spearman, pearson = metric.results
    interval = kendall.interval
    cells = (
        coefficient(kendall.estimate),
        f"{interval.low:.2f} to {interval.high:.2f}" if interval else "",
        p_text(adjusted),
        coefficient(spearman.estimate),
        coefficient(pearson.estimate),
        f"{kendall.n}",
    )
    return Row(metric, cells, is_significant(adjusted, level))


def coefficient(value: float) -> str:
    """A correlation with two digits.

    >>> coefficient(0.8366), coefficient(-1.0), coefficient(math.nan)
    ('0.84', '-1.00', '–')
    """
    return "–" if math.isnan(value) else f"{value:.2f}"


def heading(found: Agreement) -> str:
    """What was compared."""
    known = sum(map(math.isfinite, found.gold_values))
    return f"{many(len(found.metrics), 'metric')} on {many(known, 'system')} against {shortened(found.gold, 60)}"


def outcome_sentence(found: Agreement) -> str:
    """The metrics that agree best with the gold standard."""
    known = [row for row in rows(found) if not math.isnan(row.metric.results[0].estimate)]
    if not known:
        return "No metric has a correlation with the gold standard."
    best = known[0].metric.results[0].estimate
    first = [row.metric.name for row in known if row.metric.results[0].estimate == best]
    adjusted = dict(zip(found.names, found.adjusted, strict=True))
    p = cited_p(adjusted[first[0]], n_tests=len(known))
    tied = f"{listed([shortened(name, 40) for name in first[:6]])}{' and others' if len(first) > 6 else ''}"
    return f"Closest to the gold standard: {tied} (tau-b {coefficient(best)}, {p})."


def legend(found: Agreement) -> list[str]:
    """How to read the table."""
    lines = [
        "tau-b: Kendall's rank correlation with the gold standard; every metric is turned so that higher is better",
        f"interval: {level_text(found.level)}, by Fisher's transform; p: exact, adjusted for all metrics (Holm)",
        "with few systems only a nearly perfect order can be significant",
    ]
    if found.is_order:
        lines.append("the gold standard is an order: Pearson's correlation is with the places in it")
    return lines


def missing_lines(found: Agreement) -> list[str]:
    """Why metrics have no number, one line per reason."""
    reasons: dict[str, list[str]] = {}
    for metric in found.metrics:
        if metric.results[0].undefined is not None:
            reasons.setdefault(metric.results[0].undefined, []).append(shortened(metric.name, 40))
    return [f"no number for {listed(names)}: {reason}" for reason, names in reasons.items()]


def dominance_lines(found: Agreement) -> list[str]:
    """Which systems and which sweeps dominate others."""
    plane = found.dominance
    if plane is None:
        return []
    free = [shortened(point.system, 40) for point in plane.points if not point.by]
    axes = f"{shortened(plane.quality, 40)} and {shortened(plane.diversity, 40)}"
    lines = [f"in the plane of {axes}, no other system dominates {listed(free[:12])}"]
    beaten = [(point.system, point.by) for point in plane.points if point.by]
    lines += [
        f"{shortened(system, 40)} is dominated by {listed([shortened(name, 40) for name in by[:4]])}"
        + (f" and {len(by) - 4} more" if len(by) > 4 else "")
        for system, by in beaten[:12]
    ]
    for i, row in enumerate(plane.shares):
        for j, value in enumerate(row):
            if i != j and value > 0:
                names = shortened(plane.sweeps[i], 40), shortened(plane.sweeps[j], 40)
                lines.append(f"sweep {names[0]} dominates {share(value)} of the systems of sweep {names[1]}")
    return lines


def correlated(found: Agreement) -> list[int]:
    """The places of the metrics that have a correlation with another metric."""
    return [
        place
        for place, row in enumerate(found.matrix)
        if any(math.isfinite(value) for other, value in enumerate(row) if other != place)
    ]
