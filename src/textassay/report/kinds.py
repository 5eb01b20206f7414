"""How candidates miss, drawn: a colour and a shape for each kind, the bar of their counts, and their marks."""

from collections.abc import Iterable, Sequence

from markupsafe import Markup

from textassay.report.piece_bar import piece_bar
from textassay.report.svg import SHAPES, element, marker, stamps
from textassay.studies.conditioned import KIND_WORDS, KINDS

# Names of classes; the shapes point the way: inwards for narrow, outwards for wide.
CLASSES = {
    "too narrow": "narrow-kind",
    "too wide": "wide-kind",
    "elsewhere": "elsewhere-kind",
    "too close": "close-kind",
    "same": "same-kind",
    "untested": "untested-kind",
}
_SHAPES = {
    "too narrow": "down",
    "too wide": "triangle",
    "elsewhere": "square",
    "too close": "hexagon",
    "same": "circle",
    "untested": "diamond",
}


def kind_class(kind: str) -> str:
    """The class that colours a kind; an unknown one looks untested."""
    return CLASSES.get(kind, CLASSES["untested"])


def kind_word(kind: str) -> str:
    """What people read for a kind."""
    return KIND_WORDS.get(kind, kind)


def kind_key(kind: str) -> Markup:
    """The mark of a kind, to stand before its name."""
    mark = element("g", marker(_shape(kind), 8.0, 8.0, 5.0), class_=kind_class(kind))
    return element("svg", mark, viewBox="0 0 16 16", class_="key", aria_hidden="true")


def kind_marks(kind: str, places: Iterable[tuple[float, float]], r: float) -> Markup:
    """The mark of a kind at many places."""
    return element("g", stamps(_shape(kind), places, r), class_=kind_class(kind))


def _shape(kind: str) -> int:
    return SHAPES.index(_SHAPES.get(kind, "diamond"))


def kind_bar(counts: Sequence[int]) -> Markup:
    """A bar as long as all items, a piece a kind; the numbers stand beside it as text."""
    return piece_bar((kind_class(kind), count) for kind, count in zip(KINDS, counts, strict=True))
