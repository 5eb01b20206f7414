"""A frontier study as Markdown, CSV and in a notebook."""

from collections.abc import Iterator
from typing import Any

from textassay.report import markdown
from textassay.report.csv_writer import csv_text, known
from textassay.report.frontier import content
from textassay.report.page import fragment
from textassay.studies.frontier.result import Frontier


def render_markdown(found: Frontier) -> str:
    """One Markdown document."""
    used = content.used_columns(found)
    head = ["source", "pair", *(content.HEAD[place] for place in used), "verdict"]
    lines = [
        [
            markdown.cut(row.source.name),
            markdown.cut(row.analysis.pair),
            *(row.cells[place] for place in used),
            markdown.cut(row.analysis.verdict.sentence),
        ]
        for row in content.rows(found)
    ]
    legend = [f"{markdown.escaped(line)}  " for line in content.legend(found)]
    sections = {
        "": [*markdown.table(head, lines, right=2), "", *legend],
        "Theory": [f"- **{markdown.cut(pair)}**: {markdown.cut(line)}" for pair, line in content.theory_lines(found)],
        "Notes": markdown.bullets(found.notes),
    }
    signatures = (result.signature for source in found.sources for result in source.results)
    top = [markdown.cut(content.outcome_sentence(found))]
    return markdown.document(f"Frontier: {markdown.cut(content.heading(found))}", top, sections, signatures)


CSV_FIELDS = (
    "source", "pair", "method", "curve", "parameter", "value", "quality", "diversity", "divergence", "qdisc", "drate",
    "verdict",
)  # fmt: skip


def render_csv(found: Frontier) -> str:
    """CSV with one row per point of a curve, and one for each real distribution (its curve is `real`)."""
    return csv_text(CSV_FIELDS, _csv_rows(found))


def _csv_rows(found: Frontier) -> Iterator[dict[str, Any]]:
    for row in content.rows(found):
        analysis = row.analysis
        same = {"source": row.source.name, "pair": analysis.pair, "method": analysis.method}
        yield same | {
            "curve": "real",
            "quality": known(analysis.quality),
            "diversity": known(analysis.diversity),
            "qdisc": known(analysis.result.estimate),
            "drate": analysis.result.parts.get("drate"),
            "verdict": analysis.verdict.level,
        }
        for curve in analysis.curves:
            divergences = analysis.divergences or (None,) * len(curve.points)
            for (value, quality, diversity), divergence in zip(curve.points, divergences, strict=True):
                own = {"curve": curve.name, "parameter": curve.parameter, "value": value}
                yield same | own | {"quality": quality, "diversity": diversity, "divergence": divergence}


def render_notebook(found: Frontier) -> str:
    """An HTML fragment for a notebook's output cell."""
    used = content.used_columns(found)
    return fragment(
        "frontier/notebook.html.j2",
        heading=content.heading(found),
        study=found,
        columns=["Pair", *(content.HEAD[place] for place in used)],
        rows=[(row, [row.cells[place] for place in used]) for row in content.rows(found)],
        facts=[],
        legend=content.legend(found),
        notes=found.notes,
    )
