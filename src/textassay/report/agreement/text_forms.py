"""An agreement study as Markdown, CSV and in a notebook."""

from collections.abc import Iterator
from typing import Any

from textassay.report import markdown
from textassay.report.agreement import content
from textassay.report.csv_writer import csv_text, known
from textassay.report.page import fragment
from textassay.report.table import MARK
from textassay.studies.agreement.result import Agreement


def render_markdown(found: Agreement) -> str:
    """One Markdown document."""
    lines = [
        [markdown.cut(row.metric.name), f"{row.cells[0]}{markdown.starred(MARK) if row.marked else ''}", *row.cells[1:]]
        for row in content.rows(found)
    ]
    legend = [f"{markdown.escaped(line)}  " for line in content.legend(found)]
    places = content.correlated(found)
    names = [markdown.cut(found.metrics[place].name) for place in places]
    matrix = [
        [name, *(content.coefficient(found.matrix[place][other]) for other in places)]
        for name, place in zip(names, places, strict=True)
    ]
    sections = {
        "": [*markdown.table(["metric", *content.HEAD], lines, right=1), "", *legend],
        "Metric by metric (Pearson)": markdown.table(["", *names], matrix, right=1) if matrix else [],
        "Quality and diversity": markdown.bullets(content.dominance_lines(found)),
        "Notes": markdown.bullets((*found.notes, *content.missing_lines(found))),
    }
    signatures = (result.signature for metric in found.metrics for result in metric.results)
    top = [markdown.cut(content.outcome_sentence(found))]
    return markdown.document(f"Agreement: {markdown.cut(content.heading(found))}", top, sections, signatures)


CSV_FIELDS = (
    "metric", "aspect", "better", "coefficient", "estimate", "low", "high", "p_value", "p_adjusted", "systems",
    "undefined",
)  # fmt: skip


def render_csv(found: Agreement) -> str:
    """CSV with one row per metric and coefficient."""
    return csv_text(CSV_FIELDS, _csv_rows(found))


def _csv_rows(found: Agreement) -> Iterator[dict[str, Any]]:
    for metric in found.metrics:
        for result, adjusted in zip(metric.results, found.adjusted_p_values(metric), strict=True):
            yield {
                "metric": metric.name,
                "aspect": metric.aspect,
                "better": metric.better,
                "coefficient": result.metric,
                "estimate": known(result.estimate),
                "low": result.interval.low if result.interval else None,
                "high": result.interval.high if result.interval else None,
                "p_value": result.p_value,
                "p_adjusted": known(adjusted),
                "systems": result.n,
                "undefined": result.undefined,
            }


def render_notebook(found: Agreement) -> str:
    """An HTML fragment for a notebook's output cell."""
    return fragment(
        "agreement/notebook.html.j2",
        heading=content.heading(found),
        columns=content.HEAD,
        rows=content.rows(found),
        facts=[("Best", content.outcome_sentence(found))],
        legend=content.legend(found),
        notes=found.notes,
    )
