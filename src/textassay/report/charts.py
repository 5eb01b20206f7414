"""The drawing of plots: their layers on a canvas, and labels beside their marks."""

import math
from collections.abc import Iterator, Sequence

from markupsafe import Markup

from textassay.document.plot import Plot
from textassay.report.canvas import FONT, LINE, SMALL, Canvas, Form, axes, canvas_of
from textassay.report.labels import Place, Spot, place_labels
from textassay.report.layers import DRAWN, Label, group
from textassay.report.svg import Box, element, fitted, line, plain, text_width, words


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


# Labels.


def _labels(labels: Sequence[Label], boxes: Sequence[Box], canvas: Canvas) -> Iterator[Markup]:
    """The labels that have a place: names of lines first, then those of marks, then texts that are centred."""
    longest, taken = 0.28 * canvas.width, list(boxes)
    for label in labels:
        if label.kind == "line":
            yield _beside_line(label, taken, canvas)
    beside = [label for label in labels if label.kind == "mark"]
    # A second line would be cut where a chart is narrow.
    n_lines = 1 if canvas.form.is_narrow else 2
    shown = [_fitted_lines(label.text, longest, n_lines) for label in beside]
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


def _fitted_lines(text: str, longest: float, n: int) -> list[str]:
    return [fitted(each, longest, FONT) for each in text.split("\n")[:n]]


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
