"""Strips: a small chart a metric, each candidate's interval on one axis beside what real text reaches."""

from textassay.corpus.printable import shortened
from textassay.report.axis import Axis
from textassay.report.guide import BETTER
from textassay.report.remarks import STRETCHED, beside_real, size_remark
from textassay.report.strip_chart import Bar, Strip, Yardstick, strip_axis, strip_chart
from textassay.studies.comparison import Comparison


def strip(comparison: Comparison, place: int) -> Strip:
    """The strip of the metric at this place."""
    real = comparison.real.results[place]
    bars = [Bar(column.name, beside_real(comparison, column, place)) for column in comparison.candidates]
    label = shortened(comparison.labels[place], 60)
    scale = strip_axis(real, bars)
    yardstick = Yardstick("real", "real text", Bar(comparison.real.name, real))
    title = f"{label} of each candidate"
    chart = strip_chart(yardstick, bars, scale, key=f"strip-{place}", title=title, level=comparison.level)
    return Strip(label, real.aspect, BETTER.get(real.better, real.better), chart, _remarks(scale, comparison, place))


def _remarks(scale: Axis, comparison: Comparison, place: int) -> tuple[str, ...]:
    found = (STRETCHED if scale.bend else "", size_remark(comparison, place))
    return tuple(remark[0].upper() + remark[1:] for remark in found if remark)
