"""Curves with their bands in panels side by side, as one SVG file that stands alone."""

from collections.abc import Iterator, Sequence

from markupsafe import Markup

from textassay.report.axis import Axis, axis
from textassay.report.svg import as_file, drawing, element, line, marker, rectangle, text_width
from textassay.studies.reproduced import Line, Panel

_WIDE, _TALL, _GAP = 380.0, 280.0, 34.0
_LEFT, _TOP, _BOTTOM = 44.0, 76.0, 46.0
_SURROUNDINGS = Markup("""
svg { --page: #ffffff; --ink: #1b1f24; --quiet: #565e67; --rule: #d7dce1; --k0: #1f6fb2; --k1: #b5541c; }
@media (prefers-color-scheme: dark) {
  svg { --page: #1b1f23; --ink: #e6e8ea; --quiet: #a7aeb6; --rule: #3a4148; --k0: #79b8ee; --k1: #f0a06c; }
}
text { font: 13px system-ui, -apple-system, "Segoe UI", Roboto, Arial, sans-serif; fill: var(--ink); }
.page { fill: var(--page); } .name { font-size: 15px; font-weight: 650; } .tick, .axis { fill: var(--quiet); }
.tick { font-size: 12px; } .rule { stroke: var(--rule); }
.curve { fill: none; stroke-width: 2; } .band { opacity: 0.18; }
.curve.k0 { stroke: var(--k0); } .curve.k1 { stroke: var(--k1); }
.band.k0, .mark.k0 { fill: var(--k0); } .band.k1, .mark.k1 { fill: var(--k1); }
""")


def curve_panels(panels: Sequence[Panel], *, title: str, summary: str) -> str:
    """The panels, with one scale upwards for all of them."""
    heights = [v for panel in panels for each in panel.lines for p in each.points for v in (p.low, p.mean, p.high)]
    up = axis([0.0, 1.0, *heights], _TOP + _TALL, _TOP, about=6)
    width = _LEFT + len(panels) * (_WIDE + _GAP)
    height = _TOP + _TALL + _BOTTOM
    names = [each.name for each in panels[0].lines]
    body = [part for place, panel in enumerate(panels) for part in _panel(panel, _LEFT + place * (_WIDE + _GAP), up)]
    picture = drawing(
        element("style", _SURROUNDINGS),
        rectangle(0.0, 0.0, width, height, "page"),
        element("text", title, x=_LEFT, y=22.0, class_="name"),
        *_legend(names),
        *body,
        width=width,
        height=height,
        key="curves",
        title=title,
        summary=summary,
    )
    return as_file(picture, width=width, height=height)


def _legend(names: Sequence[str]) -> Iterator[Markup]:
    x = _LEFT + 6
    for place, name in enumerate(names):
        yield marker(place, x, 41.0, 4.5)
        yield element("text", name, x=x + 10, y=45.0)
        x += 40 + text_width(name, 13)


def _panel(panel: Panel, left: float, up: Axis) -> Iterator[Markup]:
    places = sorted({point.x for each in panel.lines for point in each.points})
    across = axis(places, left + 6, left + _WIDE - 6, about=6)
    bottom = _TOP + _TALL
    yield element("text", panel.title, x=left, y=_TOP - 10)
    for tick in up.ticks:
        yield line(left, up(tick), left + _WIDE, up(tick), "rule")
        yield element("text", f"{tick:g}", x=left - 6, y=up(tick) + 4, class_="tick", text_anchor="end")
    for tick in across.ticks:
        yield element("text", f"{tick:g}", x=across(tick), y=bottom + 18, class_="tick", text_anchor="middle")
    yield element("text", panel.across, x=left + _WIDE / 2, y=bottom + 38, class_="axis", text_anchor="middle")
    for place, each in enumerate(panel.lines):
        yield _band(place, each, across, up)
    for place, each in enumerate(panel.lines):
        yield _curve(place, each, across, up)
        yield from (marker(place, across(point.x), up(point.mean), 3.5) for point in each.points)


def _band(place: int, each: Line, across: Axis, up: Axis) -> Markup:
    there = [(across(point.x), up(point.high)) for point in each.points]
    back = [(across(point.x), up(point.low)) for point in reversed(each.points)]
    return element("polygon", points=_points([*there, *back]), class_=f"band k{place}")


def _curve(place: int, each: Line, across: Axis, up: Axis) -> Markup:
    middle = [(across(point.x), up(point.mean)) for point in each.points]
    return element("polyline", points=_points(middle), class_=f"curve k{place}")


def _points(places: Sequence[tuple[float, float]]) -> str:
    return " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
