"""Pictures: plots as an SVG file of their own, with titles and legends, for a notebook, a paper or a repository."""

import base64
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from markupsafe import Markup

from textassay.corpus.printable import printable
from textassay.document.plot import Plot
from textassay.report.canvas import SMALL_FORM, WIDE, Form, canvas_of
from textassay.report.charts import draw
from textassay.report.figure import figure
from textassay.report.html import asset
from textassay.report.legend import legend
from textassay.report.svg import element, fitted, plain, rectangle, text_width, words

_MARGIN, _GAP, _TITLE, _LEGEND_ROW = 14.0, 22.0, 24.0, 20.0
_TITLE_FONT, _PANEL_FONT, _NAME_FONT = 15.0, 13.0, 12.0
_PANEL = Form("panel", 400.0, 300.0)


@dataclass(frozen=True, repr=False)
class Picture:
    """A drawing; a notebook shows it, `svg` is its text, `save` writes it to a file, `figure` is for matplotlib."""

    title: str
    svg: str
    plots: tuple[Plot, ...] = ()

    def save(self, path: str | Path) -> None:
        """Write the drawing as an SVG file."""
        Path(path).write_text(self.svg, encoding="utf-8")

    def figure(self) -> Any:
        """The same plots as a matplotlib figure, where matplotlib is installed: `found.plot().figure()`."""
        return figure(self.plots)

    def __repr__(self) -> str:
        return f"Picture({self.title!r}, {len(self.svg):,} characters of SVG)"

    def _repr_html_(self) -> str:
        return str(image(self.svg, self.title))


def image(svg: str, title: str) -> Markup:
    """A drawing as an image, so that its style and its ids do not reach the page around it."""
    data = base64.b64encode(svg.encode()).decode()
    form = Markup('<img alt="{}" src="data:image/svg+xml;base64,{}" style="max-width:100%;height:auto">')
    return form.format(printable(title), data)


def picture(plots: Sequence[Plot], *, title: str, summary: str = "") -> Picture:
    """The plots below each other, small ones in two columns, as one drawing; one legend if all have the same."""
    panels = [_Panel.of(plot, alone=len(plots) == 1) for plot in plots]
    shared = panels[0].legend if len({panel.legend for panel in panels}) == 1 and len(panels) > 1 else ()
    panels = [replace(panel, legend=()) if shared else panel for panel in panels]
    n_columns = 1 if len(panels) == 1 or any(panel.form is WIDE for panel in panels) else 2
    rows = [panels[start : start + n_columns] for start in range(0, len(panels), n_columns)]
    widths = [max(row[at].width for row in rows if at < len(row)) for at in range(min(n_columns, len(panels)))]
    width = sum(widths) + _GAP * (len(widths) - 1) + 2 * _MARGIN
    is_titled = len(panels) > 1 or title != panels[0].plot.title
    width = max(width, min(1.05 * text_width(title, _TITLE_FONT) + 2 * _MARGIN, WIDE.width) if is_titled else 0.0)
    y = _MARGIN + (_TITLE if is_titled else 0.0)
    parts = [words(fitted(title, width - 2 * _MARGIN, _TITLE_FONT), _MARGIN, 24.0, "file-title")] if is_titled else []
    for at, row in enumerate(rows):
        for column, panel in enumerate(row):
            x = _MARGIN + sum(widths[:column]) + _GAP * column
            parts.append(panel.drawn(x, y, id_=f"p{at}-{column}"))
        y += max(panel.height for panel in row) + _GAP
    parts.append(_moved(_keys(shared, width - 2 * _MARGIN), _MARGIN, y))
    height = y + (_keys_height(shared, width - 2 * _MARGIN) if shared else _MARGIN - _GAP)
    whole = element(
        "svg",
        element("title", title),
        element("desc", summary or "; ".join(panel.plot.summary for panel in panels if panel.plot.summary)),
        element("style", asset("chart.css")),
        rectangle(0.0, 0.0, width, height, "paper"),
        *parts,
        xmlns="http://www.w3.org/2000/svg",
        viewBox=f"0 0 {plain(width)} {plain(height)}",
        width=plain(width),
        height=plain(height),
        role="img",
        class_="plot",
    )
    return Picture(title, f"{whole}\n", tuple(plots))


@dataclass(frozen=True)
class _Panel:
    """One plot with its title above it and its legend below it."""

    plot: Plot
    form: Form
    width: float
    inner: float
    legend: tuple[tuple[Markup, str], ...]

    @classmethod
    def of(cls, plot: Plot, *, alone: bool) -> "_Panel":
        form = WIDE if plot.size == "large" else _PANEL if alone or plot.size == "small" else SMALL_FORM
        canvas = canvas_of(plot, form)
        width = max(canvas.width, min(text_width(plot.title, _PANEL_FONT), form.width))
        return cls(plot, form, width, canvas.height, tuple(legend(plot)))

    @property
    def height(self) -> float:
        """With title and legend."""
        keys = _keys_height(self.legend, self.width)
        return _TITLE + self.inner + (6.0 + keys if keys else 0.0)

    def drawn(self, x: float, y: float, *, id_: str) -> Markup:
        """The panel at this place."""
        title = words(fitted(self.plot.title, self.width, _PANEL_FONT), 0.0, 14.0, "panel-title")
        keys = _moved(_keys(self.legend, self.width), 0.0, _TITLE + self.inner + 6.0)
        return _moved(title + _moved(draw(self.plot, self.form, id_=id_), 0.0, _TITLE) + keys, x, y)


def _keys(entries: Sequence[tuple[Markup, str]], width: float) -> Markup:
    """The marks and names of a legend, in as many rows as they need."""
    parts = []
    for drawn, name, left, top in _key_places(entries, width):
        key = element("svg", drawn, x=left, y=top, width=14.0, height=14.0, viewBox="0 0 16 16")
        parts += [key, words(name, left + 19.0, top + 11.5, "key-name")]
    return Markup("").join(parts)


def _keys_height(entries: Sequence[tuple[Markup, str]], width: float) -> float:
    return max((top + _LEGEND_ROW for *_, top in _key_places(entries, width)), default=0.0)


def _key_places(entries: Sequence[tuple[Markup, str]], width: float) -> Iterator[tuple[Markup, str, float, float]]:
    """Each mark with its name, its left end and its top."""
    left = top = 0.0
    for drawn, name in entries:
        shown = fitted(name, width - 24.0, _NAME_FONT)
        room = text_width(shown, _NAME_FONT) + 34.0
        if left and left + room - 14.0 > width:
            left, top = 0.0, top + _LEGEND_ROW
        yield drawn, shown, left, top
        left += room


def _moved(drawn: Markup, x: float, y: float) -> Markup:
    return element("g", drawn, transform=f"translate({plain(x)} {plain(y)})")
