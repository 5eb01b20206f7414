"""A bar as long as all items, a piece a kind."""

from collections.abc import Iterable

from markupsafe import Markup

from textassay.report.svg import element, rectangle

_WIDTH, _HEIGHT, _GAP = 600.0, 26.0, 1.5


def piece_bar(counts: Iterable[tuple[str, int]]) -> Markup:
    """The pieces, each with its class and how many items it stands for; the numbers stand beside it as text."""
    known = list(counts)
    total = sum(count for _, count in known) or 1
    pieces, at = [], 0.0
    for class_, count in known:
        width = _WIDTH * count / total
        if count:
            pieces.append(rectangle(at, 0.0, max(width - _GAP, 1.0), _HEIGHT, class_))
        at += width
    view = f"0 0 {_WIDTH:.0f} {_HEIGHT:.0f}"
    return element("svg", *pieces, viewBox=view, preserveAspectRatio="none", class_="kind-bar", aria_hidden="true")
