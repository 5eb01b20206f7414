"""Charts of a frontier study: planes (Figures 1, 2, 4), steps of the optimiser (5) and probabilities (7)."""

from dataclasses import dataclass

from markupsafe import Markup

from textassay.corpus.printable import share, shortened
from textassay.report.charts.curves import Spotted, Trace, curve_chart
from textassay.report.frontier.content import axis_names
from textassay.studies.frontier.result import Analysis, Frontier, SourceColumn
from textassay.studies.wording import number


@dataclass(frozen=True)
class Chart:
    """A drawing with its title, the names of its curves and a remark below it."""

    title: str
    drawing: Markup
    names: tuple[tuple[int, str], ...]
    remark: str = ""


def planes(found: Frontier, *, most: int) -> list[Chart]:
    """The plane of each source and pair that has a curve, at most this many."""
    several = len(found.sources) > 1
    drawn = [
        _plane(source, analysis, f"plane-{place}-{at}", several=several)
        for place, source in enumerate(found.sources)
        for at, analysis in enumerate(source.analyses)
        if any(len(curve.points) > 1 for curve in analysis.curves)
    ]
    return drawn[:most]


def _plane(source: SourceColumn, analysis: Analysis, key: str, *, several: bool) -> Chart:
    quality, diversity = axis_names(analysis.pair)
    traces = [
        Trace(curve.name, [(x, y) for _, x, y in curve.points], place) for place, curve in enumerate(analysis.curves)
    ]
    name = "real distribution" if analysis.method == "exact" else "real text"
    gap = f"QDisc {number(analysis.result.estimate)}"
    title = f"{analysis.pair} on {shortened(source.name, 40)}" if several else analysis.pair
    drawing = curve_chart(
        traces,
        spots=[Spotted(name, analysis.quality, analysis.diversity)],
        across=f"{shortened(quality, 40)} →",
        up=f"{shortened(diversity, 40)} →",
        key=key,
        title=f"Quality and diversity: {title}",
        summary=f"{name}: quality {number(analysis.quality)}, diversity {number(analysis.diversity)}; {gap}",
    )
    drate = analysis.result.parts.get("drate")
    remark = gap if drate is None else f"{gap}, {share(max(drate, 0.0))} of the range of quality"
    return Chart(title, drawing, tuple((trace.index, trace.name) for trace in traces), remark)


def step_charts(found: Frontier) -> list[Chart]:
    """The gain in quality along the best optimisation of each pair, one chart per source."""
    charts = []
    for place, source in enumerate(found.sources):
        stepped = [each for each in source.analyses if len(each.steps) > 1]
        traces = [Trace(each.pair, each.steps, at) for at, each in enumerate(stepped)]
        if not traces:
            continue
        drawing = curve_chart(
            traces,
            across="step of the optimiser",
            up="gain in quality at the same diversity",
            key=f"steps-{place}",
            title=f"Optimisation on {shortened(source.name, 40)}",
            summary="; ".join(f"{each.pair}: {number(each.steps[-1][1])}" for each in stepped),
        )
        charts.append(Chart(shortened(source.name, 40), drawing, tuple((t.index, t.name) for t in traces)))
    return charts


def probability_chart(found: Frontier) -> Chart | None:
    """The log-probabilities of all sources that have them, in descending order."""
    traces = [
        Trace(shortened(source.name, 40), [(float(rank), value) for rank, value in enumerate(source.log_probs, 1)], at)
        for at, source in enumerate(found.sources)
        if len(source.log_probs) > 1
    ]
    if not traces:
        return None
    drawing = curve_chart(
        traces,
        across="rank",
        up="log-probability",
        key="probabilities",
        title="Log-probabilities in descending order",
        summary="; ".join(f"{trace.name}: {number(trace.points[0][1])} at rank 1" for trace in traces),
    )
    return Chart("Log-probabilities", drawing, tuple((trace.index, trace.name) for trace in traces))
