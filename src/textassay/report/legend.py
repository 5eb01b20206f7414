"""Legends: the marks and names of the layers of a plot."""

from collections.abc import Iterator

from markupsafe import Markup

from textassay.document.blocks import REAL
from textassay.document.plot import Area, Bars, Discs, Dots, Layer, Line, Marks, Plot
from textassay.report.layers import class_of, line_class
from textassay.report.svg import colour_class, element, framed_key, key, mark, path, rectangle


def legend(plot: Plot) -> list[tuple[Markup, str]]:
    """The marks and names of the layers that have a name, each once; a mark explains an area of the same name."""
    if not plot.legend:
        return []
    # In the order of the layers; of two entries of one name the last, because areas are drawn first.
    found = [entry for layer in plot.layers for entry in _legend_of(layer)]
    return list({name: (drawn, name) for drawn, name in found if name}.values())


def _legend_of(layer: Layer) -> Iterator[tuple[Markup, str]]:
    match layer:
        case Line():
            stroke = path([(1.0, 8.0), (15.0, 8.0)], f"curve {line_class(layer)}")
            drawn = framed_key(stroke + mark(layer.candidate, 8.0, 8.0, r=4.0, tone=layer.tone))
            yield (drawn if layer.marked else framed_key(stroke)), layer.name
        case Marks():
            first = layer.points[0] if layer.points else None
            if first:
                yield key(first.candidate, first.tone, is_open=first.open), layer.name
        case Dots():
            # Real text is a ring elsewhere, and a grey point here.
            yield (key(None, "quiet") if layer.candidate == REAL else key(layer.candidate, layer.tone)), layer.name
        case Discs():
            shown = {disc.tone for disc in layer.discs}
            for tone, name in layer.names:
                if tone in shown:
                    yield framed_key(_disc_key(tone)), name
        case Area():
            yield framed_key(rectangle(2.0, 2.0, 12.0, 12.0, f"area {class_of(layer)}")), layer.name
        case Bars():
            for tone, name in zip(layer.tones, layer.names, strict=False):
                yield framed_key(rectangle(2.0, 2.0, 12.0, 12.0, f"fill {colour_class(None, tone)}")), name


def _disc_key(tone: str) -> Markup:
    """Two circles as in the map: the filled one is larger where there are too many."""
    have, wanted = {"more": (7.0, 3.5), "less": (3.5, 7.0)}.get(tone, (6.0, 6.0))
    circles = [element("circle", cx=8.0, cy=8.0, r=have, class_=class_) for class_ in ("disc", "have")]
    circles.append(element("circle", cx=8.0, cy=8.0, r=wanted, class_="wanted"))
    return element("g", *circles, class_=colour_class(None, tone))
