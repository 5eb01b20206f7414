"""Charts of an agreement study: the matrix of correlations and the plane of quality and diversity."""

import math
from collections.abc import Iterator

from markupsafe import Markup

from textassay.corpus.printable import shortened
from textassay.report.agreement.content import coefficient, correlated
from textassay.report.charts.curves import Trace, curve_chart
from textassay.report.charts.figures import diverging
from textassay.report.charts.svg import drawing, element, fitted
from textassay.studies.agreement.result import Agreement
from textassay.studies.wording import number

_CELL, _LABEL, _FONT = 44.0, 150.0, 12.0


def matrix_chart(found: Agreement, *, most: int = 30) -> Markup | None:
    """Pearson's correlation of every two metrics that have one, at most this many (Figure 4 of Montahaei et al.)."""
    places = correlated(found)[:most]
    if len(places) < 2:
        return None
    names = [shortened(found.metrics[place].name, 40) for place in places]
    size = _CELL * len(places)
    cells = [
        part
        for down, i in enumerate(places)
        for across, j in enumerate(places)
        for part in _cell(found.matrix[i][j], _LABEL + _CELL * across, _CELL * down)
    ]
    return drawing(
        *cells,
        *_labels(names, size),
        width=_LABEL + size + 4,
        height=size + _LABEL,
        key="matrix",
        own_size=True,
        title="Correlation of metrics",
        summary=f"Pearson's correlation of {', '.join(names)}",
    )


def _cell(value: float, x: float, y: float) -> Iterator[Markup]:
    if math.isnan(value):
        return
    fill, ink = diverging(value)
    yield element("rect", x=x + 1, y=y + 1, width=_CELL - 2, height=_CELL - 2, fill=fill)
    middle = x + _CELL / 2
    class_ = "on-dark" if ink == "#ffffff" else "on-light"
    yield element("text", coefficient(value), x=middle, y=y + _CELL / 2 + 4, text_anchor="middle", class_=class_)


def _labels(names: list[str], size: float) -> Iterator[Markup]:
    for place, name in enumerate(names):
        at = _CELL * (place + 0.5)
        short = fitted(name, _LABEL - 12, _FONT)
        yield element("text", short, x=_LABEL - 8, y=at + 4, text_anchor="end")
        turned = f"translate({_LABEL + at + 4:.0f} {size + 8:.0f}) rotate(-90)"
        yield element("text", short, transform=turned, text_anchor="end")


def plane_chart(found: Agreement) -> tuple[Markup, list[tuple[int, str]]] | None:
    """The systems in the plane; the systems of one sweep are joined if there are several sweeps."""
    plane = found.dominance
    if plane is None:
        return None
    if len(plane.sweeps) > 1:
        groups = {name: [point for point in plane.points if point.sweep == name] for name in plane.sweeps}
    else:
        groups = {point.system: [point] for point in plane.points}
    traces = [
        Trace(shortened(name, 40), sorted((point.quality, point.diversity) for point in group), place)
        for place, (name, group) in enumerate(groups.items())
    ]
    chart = curve_chart(
        traces,
        across=f"more quality → ({shortened(plane.quality, 30)})",
        up=f"more diversity → ({shortened(plane.diversity, 30)})",
        key="plane",
        title="Quality and diversity of the systems",
        summary="; ".join(f"{p.system}: {number(p.quality)} and {number(p.diversity)}" for p in plane.points),
    )
    return chart, [(trace.index, trace.name) for trace in traces]
