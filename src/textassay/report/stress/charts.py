"""Charts of a stress study: how far the values of metrics move with the strength of a damage."""

import math

from markupsafe import Markup

from textassay.corpus.printable import shortened
from textassay.report.charts.curves import Trace, curve_chart
from textassay.report.charts.svg import COLOURS
from textassay.report.stress.content import POPULAR, mean_power
from textassay.studies.stress.result import DamageInfo, Stress, StressColumn
from textassay.studies.wording import number

# Beyond this many standard deviations a difference is plain to see; longer axes would flatten all other curves.
FARTHEST = 20.0


def shown_metrics(found: Stress, size: int) -> list[StressColumn]:
    """The metrics of the charts: some of those in wide use, and those with the highest mean power."""
    others = sorted(found.metrics[1:], key=lambda metric: -mean_power(metric, size))
    known = [metric for metric in others if metric.metric in POPULAR]
    chosen = dict.fromkeys([metric.name for metric in [*known[:4], *others]][:])
    return [metric for metric in others if metric.name in list(chosen)[:COLOURS]]


def curve_charts(found: Stress, size: int) -> list[tuple[str, Markup]]:
    """One chart per damage."""
    metrics = shown_metrics(found, size)
    return [(damage.title, _chart(found, damage, metrics, size)) for damage in found.damages]


def _chart(found: Stress, damage: DamageInfo, metrics: list[StressColumn], size: int) -> Markup:
    traces = [
        Trace(shortened(metric.name, 40), points(found, metric, damage.name, size), place)
        for place, metric in enumerate(metrics)
    ]
    return curve_chart(
        traces,
        across="strength →",
        up="deviations from real text",
        key=f"curve-{damage.name}",
        title=f"Values by strength: {damage.title}",
        summary="; ".join(
            f"{trace.name}: {', '.join(number(y) for _, y in trace.points)}" for trace in traces if trace.points
        ),
    )


def points(found: Stress, metric: StressColumn, damage: str, size: int) -> list[tuple[float, float]]:
    """Strength, and the change of the value in standard deviations of undamaged values, within limits.

    Upwards is worse for metrics that are better in one direction, and a higher value for others.
    """
    cell, deviation = metric.cell(damage, size), metric.deviations[found.sizes.index(size)]
    sign = -1.0 if metric.better == "higher" else 1.0
    if not deviation > 0:
        return []
    moved = [sign * (value - cell.values[0]) / deviation for value in cell.values]
    pairs = zip((0.0, *found.strengths), moved, strict=True)
    return [(x, min(max(y, -FARTHEST), FARTHEST)) for x, y in pairs if not math.isnan(y)]
