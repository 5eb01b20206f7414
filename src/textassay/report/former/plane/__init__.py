"""The report of several models in the plane of HUSE-D and HUSE-Q: page, terminal view, Markdown and CSV."""

import math

from markupsafe import Markup
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from textassay.corpus.printable import printable, shortened
from textassay.document.words import listed, p_text
from textassay.report.former import markdown
from textassay.report.former.charts.curves import Spotted, Trace, curve_chart
from textassay.report.former.huse_scores import score, with_interval
from textassay.report.former.table import level_text, setting_rows
from textassay.report.former.templates.page import Page, fragment
from textassay.report.former.terminal import (
    MOST_NAME,
    cut,
    dim,
    fitted_names,
    joined,
    notes,
    plain_table,
    verdict_lines,
)
from textassay.studies.huse.plane import HusePlane, PlaneModel
from textassay.studies.huse.result import titled

_SETTINGS = {"interval": "Intervals", "test": "Tests", "resamples": "Resamples", "seed": "Seed", "version": "Version"}


def summary(found: HusePlane) -> str:
    """Which models are dominated, and which are not."""
    ahead = [shortened(model.name, 40) for model in found.models if not model.dominated]
    behind = [shortened(model.name, 40) for model in found.models if model.dominated]
    return (
        f"Not dominated in quality and diversity: {listed(ahead)}{f'; dominated: {listed(behind)}' if behind else ''}."
    )


def legend_lines(found: HusePlane) -> list[str]:
    """How to read the table."""
    lines = [
        "HUSE is 1 if people and model are indistinguishable and 0 if they can always be distinguished; "
        "HUSE = HUSE-Q + HUSE-D - 1",
        "dominated: the estimates of HUSE-Q and HUSE-D of another model are at least as high",
    ]
    if any(result.interval for model in found.models for result in model.results):
        lines.append(f"[ ]: {level_text(found.level)} interval over items and raters; p: corrected for all models")
    return lines


def _cells(model: PlaneModel) -> list[str]:
    p = [result.parts["adjusted"] for result in model.results if "adjusted" in result.parts]
    values = [with_interval(result.estimate, result.interval) for result in model.results]
    return [*values, p_text(p[0]) if p else "–", "yes" if model.dominated else "no"]


def _head(found: HusePlane) -> list[str]:
    return [*map(titled, found.labels), "p", "dominated"]


def plane_chart(found: HusePlane) -> Markup:
    """HUSE-D across, HUSE-Q up, models by name, and the dominated region."""
    edge = Trace("dominated region", found.boundary, 0, [(0.0, q) for _, q in found.boundary])
    spots = [
        Spotted(shortened(model.name, 20), *model.point)
        for model in found.models
        if all(map(math.isfinite, model.point))
    ]
    return curve_chart(
        [edge] if found.boundary else [],
        spots=spots,
        across="HUSE-D (diversity) →",
        up="HUSE-Q (quality) →",
        key="plane",
        title="Models in the plane of diversity and quality",
        summary="; ".join(f"{spot.name}: HUSE-D {score(spot.x)}, HUSE-Q {score(spot.y)}" for spot in spots),
    )


def render_html(found: HusePlane) -> str:
    """The report as one self-contained HTML page."""
    page = Page.of("plane.html.j2", styles=("page.css",), scripts=("page.js",))
    content = {
        "f": found,
        "sections": [("models", "Models"), ("chart", "Quality and diversity"), ("signatures", "Signatures")],
        "summary": summary(found),
        "settings": setting_rows(found, _SETTINGS),
        "head": _head(found),
        "rows": [(model, _cells(model)) for model in found.models],
        "legend": legend_lines(found),
        "chart": plane_chart(found),
        "signatures": [(model.name, result.signature) for model in found.models for result in model.results],
    }
    return page.render(content)


def render_terminal(found: HusePlane, *, width: int, why: bool = False, top: int = 0) -> RenderableType:
    """The table, the verdict on each model, and notes."""
    del width, why, top  # the table is narrow; texts are in the studies of single models
    names = fitted_names([printable(model.name) for model in found.models], MOST_NAME)
    no_lines: tuple[Text, ...] = ()
    verdicts = [(name, model.verdict, no_lines) for name, model in zip(names, found.models, strict=True)]
    return joined(
        [
            [Text(cut(f"HUSE of {len(found.models)} models"), style="bold"), *notes(found.notes)],
            [_table(found, names), *map(dim, legend_lines(found))],
            [Text(cut(summary(found))), *verdict_lines(verdicts)],
        ]
    )


def _table(found: HusePlane, names: list[str]) -> Table:
    table = plain_table(gap=2)
    table.add_column("model")
    for head in _head(found):
        table.add_column(head, justify="right")
    for name, model in zip(names, found.models, strict=True):
        table.add_row(Text(name), *map(Text, _cells(model)))
    return table


def render_markdown(found: HusePlane) -> str:
    """One Markdown document."""
    lines = [
        [markdown.cut(model.name), *map(markdown.escaped, _cells(model)), markdown.cut(model.verdict.sentence)]
        for model in found.models
    ]
    legend = [f"{markdown.escaped(line)}  " for line in legend_lines(found)]
    table = markdown.table(["model", *_head(found), "verdict"], lines, right=1)
    sections = {"": [*table, "", *legend], "Notes": markdown.bullets(found.notes)}
    signatures = (result.signature for model in found.models for result in model.results)
    title = f"HUSE of {len(found.models)} models"
    return markdown.document(title, [markdown.cut(summary(found))], sections, signatures)


def render_notebook(found: HusePlane) -> str:
    """An HTML fragment for a notebook's output cell."""
    return fragment(
        "plane_notebook.html.j2",
        heading=summary(found),
        study=found,
        columns=_head(found),
        rows=[(model, _cells(model)) for model in found.models],
        facts=[],
        legend=legend_lines(found),
        notes=found.notes,
    )
