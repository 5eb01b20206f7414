"""Pictures: plots as an SVG file of their own, with titles and legends, for a notebook, a paper or a repository."""

import base64
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from markupsafe import Markup

from textassay.corpus.printable import printable
from textassay.document.plot import Plot
from textassay.report.canvas import SMALL_FORM, WIDE, Form, canvas_of
from textassay.report.charts import draw, legend
from textassay.report.html import asset
from textassay.report.svg import element, fitted, plain, rectangle, text_width, words

_MARGIN, _GAP, _TITLE, _LEGEND_ROW = 14.0, 22.0, 24.0, 20.0
_TITLE_FONT, _PANEL_FONT, _NAME_FONT = 15.0, 13.0, 12.0
_PANEL = Form("panel", 400.0, 300.0)


@dataclass(frozen=True)
class Picture:
    """A drawing; a notebook shows it, `svg` is its text, and `save` writes it to a file."""

    title: str
    svg: str

    def save(self, path: str | Path) -> None:
        """Write the drawing as an SVG file."""
        Path(path).write_text(self.svg, encoding="utf-8")

    def _repr_html_(self) -> str:
        return str(image(self.svg, self.title))


def image(svg: str, title: str) -> Markup:
    """A drawing as an image, so that its style and its ids do not reach the page around it."""
    data = base64.b64encode(svg.encode()).decode()
    form = Markup('<img alt="{}" src="data:image/svg+xml;base64,{}" style="max-width:100%;height:auto">')
    return form.format(printable(title), data)


def picture(plots: Sequence[Plot], *, title: str, summary: str = "") -> Picture:
    """The plots below each other, small ones in two columns, as one drawing."""
    panels = [_Panel.of(plot, alone=len(plots) == 1) for plot in plots]
    n_columns = 1 if len(panels) == 1 or any(panel.form is WIDE for panel in panels) else 2
    rows = [panels[start : start + n_columns] for start in range(0, len(panels), n_columns)]
    widths = [max(row[at].width for row in rows if at < len(row)) for at in range(min(n_columns, len(panels)))]
    width = sum(widths) + _GAP * (len(widths) - 1) + 2 * _MARGIN
    is_titled = len(panels) > 1 or title != panels[0].plot.title
    y = _MARGIN + (_TITLE if is_titled else 0.0)
    parts = [words(fitted(title, width - 2 * _MARGIN, _TITLE_FONT), _MARGIN, 24.0, "file-title")] if is_titled else []
    for at, row in enumerate(rows):
        for column, panel in enumerate(row):
            x = _MARGIN + sum(widths[:column]) + _GAP * column
            parts += panel.drawn(x, y, id_=f"p{at}-{column}")
        y += max(panel.height for panel in row) + _GAP
    height = y - _GAP + _MARGIN
    style = element("style", asset("chart.css"))
    whole = element(
        "svg",
        element("title", title),
        element("desc", summary or "; ".join(panel.plot.summary for panel in panels if panel.plot.summary)),
        style,
        rectangle(0.0, 0.0, width, height, "paper"),
        *parts,
        xmlns="http://www.w3.org/2000/svg",
        viewBox=f"0 0 {plain(width)} {plain(height)}",
        width=plain(width),
        height=plain(height),
        role="img",
        class_="plot",
    )
    return Picture(title, f"{whole}\n")


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
        rows = max((row for *_, row in self._entries()), default=-1) + 1
        return _TITLE + self.inner + (6.0 + _LEGEND_ROW * rows if rows else 0.0)

    def drawn(self, x: float, y: float, *, id_: str) -> list[Markup]:
        """The panel at this place."""
        shown = words(fitted(self.plot.title, self.width, _PANEL_FONT), 0.0, 14.0, "panel-title")
        parts = [shown, _moved(draw(self.plot, self.form, id_=id_), 0.0, _TITLE)]
        for drawn, name, left, row in self._entries():
            line = _TITLE + self.inner + 6.0 + _LEGEND_ROW * row
            key = element("svg", drawn, x=left, y=line, width=14.0, height=14.0, viewBox="0 0 16 16")
            parts += [key, words(name, left + 19.0, line + 11.5, "key-name")]
        return [_moved(Markup("").join(parts), x, y)]

    def _entries(self) -> Iterator[tuple[Markup, str, float, int]]:
        """The marks and names of the legend, each with its left end and its row."""
        left, row = 0.0, 0
        for drawn, name in self.legend:
            shown = fitted(name, self.width - 24.0, _NAME_FONT)
            room = text_width(shown, _NAME_FONT) + 34.0
            if left and left + room - 14.0 > self.width:
                left, row = 0.0, row + 1
            yield drawn, shown, left, row
            left += room


def _moved(drawn: Markup, x: float, y: float) -> Markup:
    return element("g", drawn, transform=f"translate({plain(x)} {plain(y)})")
