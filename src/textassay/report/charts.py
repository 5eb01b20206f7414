"""The drawing of plots: their layers on a canvas, labels beside their marks, legends, and files of drawings."""

import math
from collections.abc import Iterator, Sequence

from markupsafe import Markup

from textassay.document.blocks import REAL
from textassay.document.plot import Area, Bars, Discs, Dots, Layer, Line, Marks, Plot
from textassay.report.canvas import (
    FONT,
    LINE,
    NARROW,
    PICTURE,
    PICTURE_NARROW,
    SMALL,
    SMALL_FORM,
    STRIP,
    WIDE,
    Canvas,
    Form,
    axes,
    canvas_of,
)
from textassay.report.labels import Place, Spot, place_labels
from textassay.report.layers import DRAWN, Label, class_of, group, line_class
from textassay.report.svg import (
    Box,
    colour_class,
    element,
    fitted,
    framed_key,
    key,
    line,
    mark,
    path,
    plain,
    rectangle,
    text_width,
    words,
)


def draw(plot: Plot, form: Form, *, id_: str) -> Markup:
    """The plot as an inline drawing; `id_` makes its ids unique on the page."""
    canvas = canvas_of(plot, form)
    pieces = [piece for layer in plot.layers for piece in DRAWN[type(layer)](layer, canvas)]
    labels = [piece for piece in pieces if isinstance(piece, Label)]
    boxes = [piece for piece in pieces if isinstance(piece, Box)]
    return element(
        "svg",
        element("title", plot.title, id=f"{id_}-title"),
        element("desc", plot.summary, id=f"{id_}-desc"),
        *axes(canvas),
        *(piece for piece in pieces if isinstance(piece, Markup)),
        *_labels(labels, boxes, canvas),
        width=plain(canvas.width),
        height=plain(canvas.height),
        viewBox=f"0 0 {plain(canvas.width)} {plain(canvas.height)}",
        role="img",
        aria_labelledby=f"{id_}-title {id_}-desc",
        class_=f"plot {form.name}",
    )


def forms_of(plot: Plot, *, is_picture: bool = False) -> tuple[Form, ...]:
    """The sizes at which a page has this plot: one, or one for wide and one for narrow screens."""
    if is_picture:
        return PICTURE, PICTURE_NARROW
    if plot.size == "large":
        return WIDE, NARROW
    return (STRIP if plot.size == "strip" else SMALL_FORM,)


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


# Labels.


def _labels(labels: Sequence[Label], boxes: Sequence[Box], canvas: Canvas) -> Iterator[Markup]:
    """The labels that have a place: names of lines first, then those of marks, then texts that are centred."""
    longest, taken = 0.28 * canvas.width, list(boxes)
    for label in labels:
        if label.kind == "line":
            yield _beside_line(label, taken, canvas)
    beside = [label for label in labels if label.kind == "mark"]
    shown = [_fitted_lines(label.text, longest) for label in beside]
    spots = [
        Spot(label.x, label.y, max(text_width(each, FONT) for each in lines), LINE * len(lines))
        for label, lines in zip(beside, shown, strict=True)
    ]
    places = place_labels(spots, taken, canvas.frame)
    for label, lines, spot, place in zip(beside, shown, spots, places, strict=True):
        if place:
            taken.append(place.box)
            yield _label(label, lines, spot, place)
    for label in labels:
        if label.kind == "centred":
            yield from _centred(label, taken, canvas, longest)


def _beside_line(label: Label, taken: list[Box], canvas: Canvas) -> Markup:
    """The name of a level line, above or below it, at the end where it covers the least."""
    frame, shown = canvas.frame, fitted(label.text, 0.7 * canvas.width, SMALL)
    width = text_width(shown, SMALL)
    right = min(label.x, frame.right) - 2.0
    boxes = [
        Box(left, top, left + width, top + LINE - 1.0)
        for left in (right - width, frame.left + 4.0, (frame.left + right - width) / 2)
        for top in (label.y - LINE, label.y + 2.0)
    ]
    inside = [box for box in boxes if box.overlap(frame) > 0.98 * box.area] or boxes
    best = min(inside, key=lambda box: round(sum(box.overlap(other) for other in taken)))
    taken.append(best)
    return words(shown, best.left, best.bottom - 3.5, "real-name")


def _fitted_lines(text: str, longest: float) -> list[str]:
    return [fitted(each, longest, FONT) for each in text.split("\n")[:2]] or [""]


def _label(label: Label, lines: Sequence[str], spot: Spot, place: Place) -> Markup:
    box = place.box
    # Anchored at the side that faces the mark: the width of the text is only estimated.
    anchor, x = "middle", (box.left + box.right) / 2
    if box.left > spot.x:
        anchor, x = "start", box.left
    elif box.right < spot.x:
        anchor, x = "end", box.right
    parts = [
        words(each, x, box.top + LINE * (at + 1) - 4.0, "label-small" if at else "label", anchor=anchor)
        for at, each in enumerate(lines)
    ]
    if place.leader:
        end = min(max(spot.x, box.left), box.right), min(max(spot.y, box.top), box.bottom)
        # The line starts at the edge of the mark, not under it.
        part = min(7 / (math.hypot(end[0] - spot.x, end[1] - spot.y) or 1.0), 1.0)
        start = spot.x + part * (end[0] - spot.x), spot.y + part * (end[1] - spot.y)
        parts.insert(0, line(*start, *end, "leader"))
    return group(label.candidate, parts)


def _centred(label: Label, taken: list[Box], canvas: Canvas, longest: float) -> Iterator[Markup]:
    shown = fitted(label.text, longest, SMALL)
    half = text_width(shown, SMALL) / 2
    box = Box(label.x - half, label.y - 8.0, label.x + half, label.y + 7.0)
    if box.overlap(canvas.frame) > 0.98 * box.area and not any(box.overlap(other) > 4.0 for other in taken):
        taken.append(box)
        yield words(shown, label.x, label.y + 4.0, "aside", anchor="middle")
