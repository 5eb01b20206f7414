"""Charts of the scores: the plane of HUSE-D and HUSE-Q, and curves over neighbours, items and ratings."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from markupsafe import Markup

from textassay.corpus.printable import share
from textassay.document.words import p_text
from textassay.inference.result import Result
from textassay.metrics.registry import all_metrics
from textassay.report.former.charts.label_placement import Place, Spot, place_labels
from textassay.report.former.charts.strips import by_chance, gauge_axis, score_gauge
from textassay.report.former.charts.svg import (
    COLOURS,
    Axis,
    Box,
    axis,
    dots,
    drawable,
    drawing,
    element,
    fitted,
    line,
    marker,
    reach,
    text_width,
)
from textassay.report.former.huse_scores import model_name, score
from textassay.report.former.table import level_text
from textassay.studies.huse.result import TITLES, HuseResult, titled

_FONT, _SMALL_PLANE, _LINE = 12.0, 10.5, 14.0
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
# The same names where there is little space.
_SHORTER = (("Summarization", "Summaries"), (" t=", " "))
_LINES = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)


@dataclass(frozen=True)
class Canvas:
    """A size to draw at, and the longest label that fits."""

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
    described: str


def draw_plane(found: HuseResult, shown: Mapping[str, str], *, most: int) -> Plane | None:
    """The plane with at most this many resamples, or None if one of both scores has no number.

    `shown` has each score with its interval as text, by metric.
    """
    first = {result.metric: result for result in reversed(found.results)}
    quality, diversity = first.get("huse_q"), first.get("huse_d")
    if quality is None or diversity is None or not (drawable(quality) and drawable(diversity)):
        return None
    cloud = [(x, y) for x, y in found.cloud if math.isfinite(x) and math.isfinite(y)]
    every = math.ceil(len(cloud) / most) if cloud and most else 1
    name = model_name(found)
    described = _plane_label(name, shown)
    here = _Here(name, quality, diversity, cloud[::every] if most else [], described)
    return Plane(_draw(here, _WIDE), _draw(here, _NARROW), len(here.cloud))


def _draw(here: _Here, canvas: Canvas) -> Markup:
    frame = canvas.frame
    across = [*reach(here.diversity), *(x for x, _ in here.cloud), *(x for _, x, _ in LANDMARKS), 0.0, 1.1]
    upright = [*reach(here.quality), *(y for _, y in here.cloud), *(y for *_, y in LANDMARKS), 0.0, 1.1]
    about = 10 if canvas is _WIDE else 5
    x, y = axis(across, frame.left, frame.right, about=about), axis(upright, frame.bottom, frame.top, about=about)
    return drawing(
        *_plane_ground(x, y, frame),
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
        summary=here.described,
    )


def _plane_label(name: str, shown: Mapping[str, str]) -> str:
    values = ", ".join(f"{TITLES[metric]} {shown[metric]}" for metric in ("huse_d", "huse_q"))
    others = ", ".join(f"{model} {x:.2f} and {y:.2f}" for model, x, y in LANDMARKS)
    return f"{name}: {values}. The paper's models: {others}."


def _plane_ground(x: Axis, y: Axis, frame: Box) -> Iterator[Markup]:
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
            # On the other side of its line, where there is no other name.
            at = x(right) - 6
            yield element("text", text, x=at, y=frame.bottom - 5, text_anchor="end", class_="equal-name")
        elif x(right) + 6 > clear:
            yield element("text", text, x=x(right) + 6, y=frame.bottom - 5, class_="equal-name")
            clear = x(right) + 12 + text_width(text, _SMALL_PLANE)


def _point(here: _Here, x: Axis, y: Axis) -> Iterator[Markup]:
    across, up = x(here.diversity.estimate), y(here.quality.estimate)
    left_right, top_bottom = ([scale(v) for v in reach(r)] for scale, r in ((x, here.diversity), (y, here.quality)))
    yield element(
        "g",
        element("title", here.described),
        line(min(left_right), up, max(left_right), up, "bar k0"),
        line(across, min(top_bottom), across, max(top_bottom), "bar k0"),
        marker(0, across, up, 6.5),
    )


def _labels(here: _Here, canvas: Canvas, x: Axis, y: Axis) -> Iterator[Markup]:
    """The model's name first: the labels of the paper's models are placed around it."""
    marks = [(here.name, x(here.diversity.estimate), y(here.quality.estimate), _FONT)]
    marks += [(canvas.landmark(name), x(a), y(b), _SMALL_PLANE) for name, a, b in LANDMARKS]
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
    # Anchored at the side that faces the mark: the width of the text is only estimated.
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


_WIDTH, _HEIGHT = 420.0, 300.0
_FRAME = Box(46.0, 14.0, _WIDTH - 14.0, _HEIGHT - 44.0)
_SMALL_CURVE = 11.0
METRICS = tuple(TITLES)


@dataclass(frozen=True)
class Step:
    """A place on a line: how many of what, the score, and the ends of its band (the score itself without one)."""

    n: float
    mean: float
    low: float
    high: float


@dataclass(frozen=True)
class Curves:
    """A chart, and its numbers as rows for a table: how many, then a text for each score; `shown` are the main rows."""

    chart: Markup
    metrics: tuple[str, ...]
    rows: tuple[tuple[str, tuple[str, ...]], ...]
    shown: frozenset[str]


@dataclass(frozen=True)
class _Plan:
    """What a chart is of: its key, title and axis, values that its vertical axis must cover, and a number to mark."""

    key: str
    title: str
    across: str
    held: tuple[float, ...] = ()
    marked: int | None = None
    doubling: bool = False

    def place(self, n: float) -> float:
        """The place of a number along the axis: doublings are equally far apart, or all steps are."""
        return math.log2(n) if self.doubling else n


Lines = dict[str, list[Step]]


def k_curves(found: HuseResult, chosen: int | None) -> Curves | None:
    """The scores by the number of neighbours, the chosen one marked."""
    lines = {m: [Step(p.k, v, v, v) for p in found.by_k for v in [getattr(p, m)] if math.isfinite(v)] for m in METRICS}
    title = "Scores by the number of neighbours"
    plan = _Plan("k-curves", title, "neighbours k (doubling scale)", marked=chosen, doubling=True)
    return _curves(lines, plan)


def stability_curves(found: HuseResult) -> list[tuple[str, Curves]]:
    """The scores on random parts of the ratings with their bands, along items and along ratings, at one scale."""
    names = {"items": "items of both sources together", "ratings": "ratings per item"}
    lines = {along: _stability(found, along) for along in names}
    held = tuple(v for own in lines.values() for steps in own.values() for s in steps for v in (s.low, s.high))
    drawn = [
        (along, _curves(lines[along], _Plan(f"stability-{along}", f"Scores by the number of {name}", name, held)))
        for along, name in names.items()
    ]
    return [(along, curves) for along, curves in drawn if curves is not None]


def _stability(found: HuseResult, along: str) -> Lines:
    """The steps of each score; points have the label of their metric with its options."""
    labels = {result.metric: label for label, result in reversed(list(zip(found.labels, found.results, strict=True)))}
    return {
        metric: sorted(
            (
                Step(point.n, point.mean, point.low, point.high)
                for point in found.stability
                if point.along == along and point.metric == labels.get(metric) and math.isfinite(point.mean)
            ),
            key=lambda step: step.n,
        )
        for metric in METRICS
    }


def _curves(lines: Lines, plan: _Plan) -> Curves | None:
    steps = [step for own in lines.values() for step in own]
    if not steps:
        return None
    ns = sorted({step.n for step in steps})
    x = axis([plan.place(n) for n in ns], _FRAME.left + 6, _FRAME.right - 6, about=6)
    values = [v for s in steps for v in (s.mean, s.low, s.high)]
    y = axis([*values, *plan.held, 0.0, 1.0], _FRAME.bottom, _FRAME.top, about=8)
    centre = (_FRAME.left + _FRAME.right) / 2
    doublings = {2.0**power for power in range(20)} | {plan.marked, ns[0], ns[-1]}
    chart = drawing(
        *_curve_ground(x, y, [n for n in ns if n in doublings] if plan.doubling else ns, plan),
        *_marked(x, plan),
        *(_band(at, lines[m], x, y, plan) for at, m in enumerate(METRICS) if _banded(lines[m])),
        *(_line(at, lines[m], x, y, plan) for at, m in enumerate(METRICS) if lines[m]),
        element("text", plan.across, x=centre, y=_FRAME.bottom + 36, text_anchor="middle", class_="axis-name"),
        width=_WIDTH,
        height=_HEIGHT,
        key=plan.key,
        title=plan.title,
        summary="; ".join(_curve_label(metric, own) for metric, own in lines.items() if own),
    )
    shown = frozenset(f"{n:,g}" for n in ns if n in doublings)
    return Curves(chart, tuple(m for m in METRICS if lines[m]), tuple(_rows(lines, ns)), shown)


def _curve_label(metric: str, steps: Sequence[Step]) -> str:
    first, last = steps[0], steps[-1]
    return f"{TITLES[metric]} {score(first.mean)} at {first.n:g} and {score(last.mean)} at {last.n:g}"


def _rows(lines: Lines, ns: Sequence[float]) -> Iterator[tuple[str, tuple[str, ...]]]:
    for n in ns:
        at = {metric: next((step for step in own if step.n == n), None) for metric, own in lines.items()}
        yield f"{n:,g}", tuple(_cell(step) for metric, step in at.items() if lines[metric])


def _cell(step: Step | None) -> str:
    if step is None:
        return "–"
    mean, low, high = score(step.mean), score(step.low), score(step.high)
    if low == high:
        return mean
    # In a narrow cell the band moves below its score as a whole.
    band = f"({low} to {high})".replace(" ", "\N{NO-BREAK SPACE}")
    return f"{mean} {band}"


def _curve_ground(x: Axis, y: Axis, ns: Sequence[float], plan: _Plan) -> Iterator[Markup]:
    end = -math.inf
    for n in ns:
        at, half = x(plan.place(n)), text_width(f"{n:,g}", _SMALL_CURVE) / 2
        if at - half > end:
            yield line(at, _FRAME.top, at, _FRAME.bottom, "grid")
            yield element("text", f"{n:,g}", x=at, y=_FRAME.bottom + 16, text_anchor="middle", class_="tick")
            end = at + half + 6
    for tick in y.ticks:
        yield line(_FRAME.left, y(tick), _FRAME.right, y(tick), "zero" if tick == 1 else "grid")
        yield element("text", f"{tick:g}", x=_FRAME.left - 6, y=y(tick) + 4, text_anchor="end", class_="tick")


def _marked(x: Axis, plan: _Plan) -> Iterator[Markup]:
    if plan.marked is not None:
        at = x(plan.place(plan.marked))
        yield line(at, _FRAME.top, at, _FRAME.bottom, "real")
        yield element("text", f"k = {plan.marked}", x=at + 5, y=_FRAME.bottom - 6, class_="real-name")


def _banded(steps: Sequence[Step]) -> bool:
    return any(step.low < step.high for step in steps)


def _band(index: int, steps: Sequence[Step], x: Axis, y: Axis, plan: _Plan) -> Markup:
    known = [step for step in steps if math.isfinite(step.low) and math.isfinite(step.high)]
    there = [(x(plan.place(step.n)), y(step.high)) for step in known]
    back = [(x(plan.place(step.n)), y(step.low)) for step in reversed(known)]
    d = "M" + "L".join(f"{a:.1f} {b:.1f}" for a, b in there + back) + "z"
    return element("path", d=d, class_=f"spread-band fill k{index % COLOURS}")


def _line(index: int, steps: Sequence[Step], x: Axis, y: Axis, plan: _Plan) -> Markup:
    pixels = [(x(plan.place(step.n)), y(step.mean)) for step in steps]
    path = "M" + "L".join(f"{a:.1f} {b:.1f}" for a, b in pixels)
    # With dozens of steps, marks would cover the line.
    marks = pixels if len(pixels) <= 16 else [pixels[0], pixels[-1]]
    return element(
        "g",
        element("title", _curve_label(METRICS[index], steps)),
        element("path", d=path, class_=f"bar curve k{index % COLOURS}"),
        *(marker(index, a, b, 4.0) for a, b in marks),
    )


@dataclass(frozen=True)
class Card:
    """A card: everything but the drawing is plain text, empty if it is not known."""

    title: str
    aspect: str
    estimate: str
    interval: str
    p_value: str
    untested: str
    chance: str
    meaning: str
    undefined: str
    gauge: Markup | None


_ASPECTS = {
    "huse": "quality and diversity together",
    "huse_q": "quality: what ratings alone show",
    "huse_d": "diversity: below 1 if the probability shows more than ratings",
}


def score_cards(found: HuseResult) -> list[Card]:
    """A card per result, in the order HUSE, HUSE-Q, HUSE-D, then results with other options."""
    first = {result.metric: place for place, result in reversed(list(enumerate(found.results)))}
    order = [first[metric] for metric in TITLES if metric in first]
    order += [place for place in range(len(found.results)) if place not in order]
    untested = _untested_reasons(found)
    cards = [_card(found, place, untested) for place in order]
    scale = gauge_axis(found.results)
    return [
        replace(card, gauge=_card_gauge(found, place, scale)) if not card.undefined else card
        for place, card in zip(order, cards, strict=True)
    ]


def _card_gauge(found: HuseResult, place: int, scale: Axis) -> Markup:
    result = found.results[place]
    name = TITLES.get(result.metric, result.metric)
    low, high = by_chance(result)
    band = "; the band shows chance" if low <= high else ""
    summary = f"{name} {score(result.estimate)}, {_card_interval(result) or 'no interval'}{band}"
    return score_gauge(result, scale, key=f"gauge-{place}", title=name, summary=summary)


def _card(found: HuseResult, place: int, untested: Mapping[str, str]) -> Card:
    result = found.results[place]
    return Card(
        title=titled(found.labels[place]),
        aspect=_ASPECTS.get(result.metric, ""),
        estimate=score(result.estimate),
        interval=_card_interval(result),
        p_value="" if result.p_value is None else p_text(result.p_value),
        untested=untested.get(result.metric, ""),
        chance=_card_chance(result, found.level),
        meaning=_card_meaning(result),
        undefined="" if math.isfinite(result.estimate) else result.undefined or "unknown reason",
        gauge=None,
    )


def _card_interval(result: Result) -> str:
    interval = result.interval
    if interval is None or not math.isfinite(result.estimate):
        return ""
    return f"{score(interval.low)} to {score(interval.high)}, {level_text(interval.level)} interval"


def _card_chance(result: Result, level: float) -> str:
    """What indistinguishable texts score at this size."""
    mean, low, high = (result.parts.get(name, math.nan) for name in ("chance", "chance_low", "chance_high"))
    if not math.isfinite(result.estimate + mean):
        return ""
    text = f"Indistinguishable texts would score {score(mean)}"
    return f"{text}, {score(low)} to {score(high)} in {level_text(level)} of cases." if low <= high else f"{text}."


def _card_meaning(result: Result) -> str:
    """One sentence; the implied error of the best discriminator is half the score."""
    if not math.isfinite(result.estimate):
        return ""
    if result.metric == "huse_d":
        return _diversity(result)
    features = "the rating alone" if result.metric == "huse_q" else "rating and probability"
    error = result.estimate / 2
    if error >= 0.5:
        return f"By {features}, the nearest neighbours identify the source no better than a random guess."
    wrong = f"the nearest neighbours assign the wrong source to {share(error)} of texts"
    return f"By {features}, {wrong}; guessing would give 50 %."


def _diversity(result: Result) -> str:
    """The loss of diversity in words, and a caution if the interval includes no loss."""
    if result.estimate >= 1:
        noise = " A value above 1 is noise." if result.estimate > 1 else ""
        return f"The model's probability adds nothing to the ratings: no lack of diversity was found.{noise}"
    more = share((1 - result.estimate) / 2)
    text = f"With the model's probability as well, the source of a further {more} of texts is identified"
    if result.interval is not None and result.interval.high < 1:
        return f"{text}: the model does not write some of what people write."
    return f"{text}. This may be chance, because the interval includes 1."


def _untested_reasons(found: HuseResult) -> dict[str, str]:
    """Why a metric has no p-value, by its name."""
    known = all_metrics()
    return {
        result.metric: known[result.metric].why_no_test or ""
        for result in found.results
        if result.metric in known and result.p_value is None
    }
