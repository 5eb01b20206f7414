"""Lines of the three scores: over the number of neighbours, of items and of ratings an item (Figure 5)."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from textassay.report.axis import Axis, axis
from textassay.report.huse_words import score
from textassay.report.svg import COLOURS, Box, drawing, element, line, marker, text_width
from textassay.studies.judged import TITLES, Judged

_WIDTH, _HEIGHT = 420.0, 300.0
_FRAME = Box(46.0, 14.0, _WIDTH - 14.0, _HEIGHT - 44.0)
_SMALL = 11.0
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
    """What a chart is of: its key, title and axis, values its upright axis must hold, and a number to mark."""

    key: str
    title: str
    across: str
    held: tuple[float, ...] = ()
    marked: int | None = None
    doubling: bool = False

    def place(self, n: float) -> float:
        """Where a number is along the axis: doublings are equally far apart, or all steps are."""
        return math.log2(n) if self.doubling else n


Lines = dict[str, list[Step]]


def k_curves(found: Judged, chosen: int | None) -> Curves | None:
    """The scores by the number of neighbours, the chosen one marked."""
    lines = {m: [Step(p.k, v, v, v) for p in found.by_k for v in [getattr(p, m)] if math.isfinite(v)] for m in METRICS}
    title = "Scores by the number of neighbours"
    plan = _Plan("k-curves", title, "neighbours k (doubling scale)", marked=chosen, doubling=True)
    return _curves(lines, plan)


def stability_curves(found: Judged) -> list[tuple[str, Curves]]:
    """The scores on random parts of the ratings with their bands, along items and along ratings, at one scale."""
    names = {"items": "items of both sources together", "ratings": "ratings an item"}
    lines = {along: _stability(found, along) for along in names}
    held = tuple(v for own in lines.values() for steps in own.values() for s in steps for v in (s.low, s.high))
    drawn = [
        (along, _curves(lines[along], _Plan(f"stability-{along}", f"Scores by the number of {name}", name, held)))
        for along, name in names.items()
    ]
    return [(along, curves) for along, curves in drawn if curves is not None]


def _stability(found: Judged, along: str) -> Lines:
    """The steps of each score; points bear the label of their metric, with its options where it has any."""
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
        *_ground(x, y, [n for n in ns if n in doublings] if plan.doubling else ns, plan),
        *_marked(x, plan),
        *(_band(at, lines[m], x, y, plan) for at, m in enumerate(METRICS) if _banded(lines[m])),
        *(_line(at, lines[m], x, y, plan) for at, m in enumerate(METRICS) if lines[m]),
        element("text", plan.across, x=centre, y=_FRAME.bottom + 36, text_anchor="middle", class_="axis-name"),
        width=_WIDTH,
        height=_HEIGHT,
        key=plan.key,
        title=plan.title,
        summary="; ".join(_said(metric, own) for metric, own in lines.items() if own),
    )
    shown = frozenset(f"{n:,g}" for n in ns if n in doublings)
    return Curves(chart, tuple(m for m in METRICS if lines[m]), tuple(_rows(lines, ns)), shown)


def _said(metric: str, steps: Sequence[Step]) -> str:
    first, last = steps[0], steps[-1]
    return f"{TITLES[metric]} {score(first.mean)} at {first.n:g} and {score(last.mean)} at {last.n:g}"


def _rows(lines: Lines, ns: Sequence[float]) -> Iterator[tuple[str, tuple[str, ...]]]:
    for n in ns:
        at = {metric: next((step for step in own if step.n == n), None) for metric, own in lines.items()}
        yield f"{n:,g}", tuple(_cell(step) for metric, step in at.items() if lines[metric])


def _cell(step: Step | None) -> str:
    if step is None:
        return "–"
    # Where there is little room, the band goes below its score as a whole.
    band = f"({score(step.low)} to {score(step.high)})".replace(" ", "\N{NO-BREAK SPACE}")
    return f"{score(step.mean)} {band}" if step.low < step.high else score(step.mean)


def _ground(x: Axis, y: Axis, ns: Sequence[float], plan: _Plan) -> Iterator[Markup]:
    end = -math.inf
    for n in ns:
        at, half = x(plan.place(n)), text_width(f"{n:,g}", _SMALL) / 2
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
    # Dozens of steps are a line; marks would hide it.
    marks = pixels if len(pixels) <= 16 else [pixels[0], pixels[-1]]
    return element(
        "g",
        element("title", _said(METRICS[index], steps)),
        element("path", d=path, class_=f"bar curve k{index % COLOURS}"),
        *(marker(index, a, b, 4.0) for a, b in marks),
    )
