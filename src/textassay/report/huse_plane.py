"""The plane of HUSE-D and HUSE-Q (Figure 3): the model, lines of equal HUSE, and the paper's own models."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from textassay.inference.result import Result
from textassay.report.axis import Axis, axis, drawable, reach
from textassay.report.huse_facts import model_name
from textassay.report.huse_words import interval_text, score
from textassay.report.placing import Place, Spot, place_labels
from textassay.report.svg import Box, dots, drawing, element, fitted, line, marker, text_width
from textassay.studies.judged import Judged

_FONT, _SMALL, _LINE = 12.0, 10.5, 14.0
# Table 1 of Hashimoto et al. 2019: HUSE-D and HUSE-Q; t is the temperature of sampling.
LANDMARKS = (
    ("Summarization t=1.0", 0.95, 0.58),
    ("Summarization t=0.7", 0.34, 0.92),
    ("Story t=1.0", 0.91, 0.15),
    ("Story retrieval", 0.53, 0.47),
    ("Dialogue t=1.0", 1.00, 0.56),
    ("Dialogue t=0.7", 0.57, 0.92),
    ("Language model", 1.02, 0.88),
)
# The same names where there is little room.
_SHORTER = (("Summarization", "Summaries"), (" t=", " "))
_LINES = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)


@dataclass(frozen=True)
class Canvas:
    """A size to draw at, and the longest label it has room for."""

    key: str
    width: float
    height: float
    longest: float

    def landmark(self, name: str) -> str:
        """A model of the paper by the name that fits."""
        for long, short in _SHORTER if self is _NARROW else ():
            name = name.replace(long, short)
        return name

    @property
    def frame(self) -> Box:
        """Where the data goes."""
        return Box(46.0, 14.0, self.width - 46.0, self.height - 46.0)


_WIDE = Canvas("huse-plane-wide", 760.0, 560.0, 170.0)
_NARROW = Canvas("huse-plane-narrow", 360.0, 380.0, 96.0)


@dataclass(frozen=True)
class Plane:
    """Two drawings of one plane, for wide and for narrow pages, and how many resamples the cloud has."""

    wide: Markup
    narrow: Markup
    cloud: int


@dataclass(frozen=True)
class _Here:
    """The model's own point."""

    name: str
    quality: Result
    diversity: Result
    cloud: Sequence[tuple[float, float]]


def draw_plane(found: Judged, *, most: int) -> Plane | None:
    """The plane with at most so many resamples, or None where one of both scores has no number."""
    quality, diversity = found.result("huse_q"), found.result("huse_d")
    if quality is None or diversity is None or not (drawable(quality) and drawable(diversity)):
        return None
    cloud = [(x, y) for x, y in found.cloud if math.isfinite(x) and math.isfinite(y)]
    every = math.ceil(len(cloud) / most) if cloud and most else 1
    here = _Here(model_name(found), quality, diversity, cloud[::every] if most else [])
    return Plane(_draw(here, _WIDE), _draw(here, _NARROW), len(here.cloud))


def _draw(here: _Here, canvas: Canvas) -> Markup:
    frame = canvas.frame
    across = [*reach(here.diversity), *(x for x, _ in here.cloud), *(x for _, x, _ in LANDMARKS), 0.0, 1.1]
    upright = [*reach(here.quality), *(y for _, y in here.cloud), *(y for *_, y in LANDMARKS), 0.0, 1.1]
    about = 10 if canvas is _WIDE else 5
    x, y = axis(across, frame.left, frame.right, about=about), axis(upright, frame.bottom, frame.top, about=about)
    return drawing(
        *_ground(x, y, frame),
        *_equal(x, y, frame),
        dots([(x(a), y(b)) for a, b in here.cloud], "cloud"),
        *(element("circle", cx=x(a), cy=y(b), r=3.5, class_="landmark") for _, a, b in LANDMARKS),
        *_point(here, x, y),
        *_labels(here, canvas, x, y),
        *_names(frame),
        width=canvas.width,
        height=canvas.height,
        key=canvas.key,
        title="HUSE-D and HUSE-Q",
        summary=_said(here),
    )


def _said(here: _Here) -> str:
    values = [
        f"{name} {score(result.estimate)} {interval_text(result.interval)}"
        for name, result in (("HUSE-D", here.diversity), ("HUSE-Q", here.quality))
    ]
    others = ", ".join(f"{name} {x:.2f} and {y:.2f}" for name, x, y in LANDMARKS)
    return f"{here.name}: {', '.join(value.strip() for value in values)}. The paper's models: {others}."


def _ground(x: Axis, y: Axis, frame: Box) -> Iterator[Markup]:
    for tick in x.ticks:
        yield line(x(tick), frame.top, x(tick), frame.bottom, "grid")
        yield element("text", f"{tick:g}", x=x(tick), y=frame.bottom + 16, text_anchor="middle", class_="tick")
    for tick in y.ticks:
        yield line(frame.left, y(tick), frame.right, y(tick), "grid")
        yield element("text", f"{tick:g}", x=frame.left - 6, y=y(tick) + 4, text_anchor="end", class_="tick")


def _equal(x: Axis, y: Axis, frame: Box) -> Iterator[Markup]:
    """Lines of equal HUSE: HUSE-D + HUSE-Q - 1, labelled where they leave the frame at the right or below."""
    clear = -math.inf
    for huse in _LINES:
        left, right = max(x.low, 1 + huse - y.high), min(x.high, 1 + huse - y.low)
        if left >= right:
            continue
        yield line(x(left), y(1 + huse - left), x(right), y(1 + huse - right), "equal")
        end = y(1 + huse - right)
        text = f"HUSE {huse:g}" if huse in (0.0, 1.0) else f"{huse:g}"
        if right == x.high:
            yield element("text", text, x=frame.right + 4, y=end + 4, class_="equal-name")
        elif huse == _LINES[0]:
            # On the far side of its line, where no other one's name is.
            at = x(right) - 6
            yield element("text", text, x=at, y=frame.bottom - 5, text_anchor="end", class_="equal-name")
        elif x(right) + 6 > clear:
            yield element("text", text, x=x(right) + 6, y=frame.bottom - 5, class_="equal-name")
            clear = x(right) + 12 + text_width(text, _SMALL)


def _point(here: _Here, x: Axis, y: Axis) -> Iterator[Markup]:
    across, up = x(here.diversity.estimate), y(here.quality.estimate)
    left_right, top_bottom = ([scale(v) for v in reach(r)] for scale, r in ((x, here.diversity), (y, here.quality)))
    yield element(
        "g",
        element("title", _said(here)),
        line(min(left_right), up, max(left_right), up, "bar k0"),
        line(across, min(top_bottom), across, max(top_bottom), "bar k0"),
        marker(0, across, up, 6.5),
    )


def _labels(here: _Here, canvas: Canvas, x: Axis, y: Axis) -> Iterator[Markup]:
    """The model's name first: labels of other people's models give way to it."""
    marks = [(here.name, x(here.diversity.estimate), y(here.quality.estimate), _FONT)]
    marks += [(canvas.landmark(name), x(a), y(b), _SMALL) for name, a, b in LANDMARKS]
    texts = [fitted(name, canvas.longest, size) for name, _, _, size in marks]
    spots = [
        Spot(a, b, text_width(text, m[3]), _LINE) for text, m in zip(texts, marks, strict=True) for _, a, b, _ in [m]
    ]
    covered = [Box(spot.x - 5, spot.y - 5, spot.x + 5, spot.y + 5) for spot in spots] + _bars(here, x, y)
    for at, (text, spot, place) in enumerate(
        zip(texts, spots, place_labels(spots, covered, canvas.frame), strict=True)
    ):
        if place is not None:
            yield _label(text, spot, place, "landmark-name" if at else "name")


def _bars(here: _Here, x: Axis, y: Axis) -> list[Box]:
    """What the model's intervals cover."""
    across, up = x(here.diversity.estimate), y(here.quality.estimate)
    left_right, top_bottom = ([scale(v) for v in reach(r)] for scale, r in ((x, here.diversity), (y, here.quality)))
    return [
        Box(min(left_right), up - 2, max(left_right), up + 2),
        Box(across - 2, min(top_bottom), across + 2, max(top_bottom)),
    ]


def _label(text: str, spot: Spot, place: Place, class_: str) -> Markup:
    # Anchored at the side that faces the mark: the real width of the text is only guessed.
    box = place.box
    anchor, at = "middle", (box.left + box.right) / 2
    if box.left > spot.x:
        anchor, at = "start", box.left
    elif box.right < spot.x:
        anchor, at = "end", box.right
    name = element("text", text, x=at, y=box.bottom - 4, text_anchor=anchor, class_=class_)
    if not place.leader:
        return name
    x, y = min(max(spot.x, box.left), box.right), min(max(spot.y, box.top), box.bottom)
    # The line starts at the edge of the mark, not under it.
    start = min(6 / (math.hypot(x - spot.x, y - spot.y) or 1.0), 1.0)
    return line(spot.x + start * (x - spot.x), spot.y + start * (y - spot.y), x, y, "leader") + name


def _names(frame: Box) -> Iterator[Markup]:
    middle, centre = (frame.top + frame.bottom) / 2, (frame.left + frame.right) / 2
    style = {"text_anchor": "middle", "class_": "axis-name"}
    yield element("text", "HUSE-D: more diversity →", x=centre, y=frame.bottom + 36, **style)
    turned = f"translate(13 {middle:.0f}) rotate(-90)"
    yield element("text", "HUSE-Q: more quality →", transform=turned, **style)
