"""What stands for sources and kinds of items in a HUSE report: a shape and a colour each."""

from collections.abc import Iterable, Sequence

from markupsafe import Markup

from textassay.report.piece_bar import piece_bar
from textassay.report.svg import SHAPES, element, marker, stamps
from textassay.studies.judged import KINDS

_CLASSES = {
    "quality failure": "quality-kind",
    "diversity failure": "diversity-kind",
    "indistinguishable": "alike-kind",
}
_SHAPES = {"quality failure": "down", "diversity failure": "diamond", "indistinguishable": "hexagon"}
# As in the paper: squares are people's, circles the model's.
_SOURCE_SHAPES = ("square", "circle")
SOURCE_CLASSES = ("human-source", "model-source")


def kind_class(kind: str) -> str:
    """The class that colours a kind; an unknown one looks like those that cannot be told."""
    return _CLASSES.get(kind, _CLASSES["indistinguishable"])


def kind_key(kind: str) -> Markup:
    """The mark of a kind, to stand before its name."""
    return _key(_SHAPES.get(kind, "hexagon"), kind_class(kind))


def source_key(is_model: bool) -> Markup:
    """The mark of a source, to stand before its name."""
    return _key(_SOURCE_SHAPES[is_model], SOURCE_CLASSES[is_model])


def _key(shape: str, class_: str) -> Markup:
    mark = element("g", marker(SHAPES.index(shape), 8.0, 8.0, 5.0), class_=class_)
    return element("svg", mark, viewBox="0 0 16 16", class_="key", aria_hidden="true")


def source_marks(is_model: bool, places: Iterable[tuple[float, float]], r: float) -> Markup:
    """The mark of a source at many places; circles are thick dots, which need a larger one behind to have an edge."""
    marks = stamps(SHAPES.index(_SOURCE_SHAPES[is_model]), places, r)
    behind = [element("g", marks, class_="edge")] if is_model else []
    return element("g", *behind, marks, class_=SOURCE_CLASSES[is_model])


def kind_bar(counts: Sequence[int]) -> Markup:
    """A bar as long as all items, a piece a kind; the numbers stand beside it as text."""
    return piece_bar((kind_class(kind), count) for kind, count in zip(KINDS, counts, strict=True))
