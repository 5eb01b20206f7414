"""A sweep as Markdown, CSV and in a notebook."""

from collections.abc import Iterator
from typing import Any

from textassay.report import markdown
from textassay.report.csv_writer import csv_text, known
from textassay.report.page import fragment
from textassay.report.sweep import content
from textassay.studies.outcome import plain_row
from textassay.studies.sweep.result import Sweep


def render_markdown(found: Sweep) -> str:
    """One Markdown document."""
    best = [
        [f"{markdown.cut(row.label)} {row.arrow}", *(markdown.cut(cell) for cell in row.cells)]
        for row in content.best_rows(found)
    ]
    tested = content.is_tested(found)
    head = ["setting", *map(markdown.cut, found.labels), *(["overall p"] if tested else [])]
    values = [
        [
            markdown.cut(row.name),
            *(f"{figure}{content.AMONG if mine else ''}" for figure, mine in zip(row.figures, row.among, strict=True)),
            *([row.p] if tested else []),
        ]
        for row in content.value_rows(found)
    ]
    legend = [f"{markdown.escaped(line)}  " for line in content.legend(found)]
    sections = {
        "Best settings": markdown.table(["metric", *content.HEAD], best, right=5),
        "All settings": [*markdown.table(head, values, right=1), "", *legend],
        "Notes": markdown.bullets(found.notes),
    }
    signatures = (result.signature for column in found.swept for result in column.results)
    top = markdown.bullets(found.verdict.reasons)
    return markdown.document(f"Sweep: {markdown.cut(content.heading(found))}", top, sections, signatures)


CSV_FIELDS = (
    "setting", "model", "temperature", "top_k", "top_p", "metric", "label", "options", "n", "estimate", "low", "high",
    "level", "method", "baseline", "is_best", "among_best", "overall_p", "better", "aspect", "undefined", "signature",
)  # fmt: skip


def render_csv(found: Sweep) -> str:
    """CSV with one row per setting and metric."""
    return csv_text(CSV_FIELDS, _csv_rows(found))


def _csv_rows(found: Sweep) -> Iterator[dict[str, Any]]:
    for column in found.swept:
        decoding = column.decoding
        same = {
            "setting": column.name,
            "model": column.model,
            "temperature": decoding.temperature,
            "top_k": decoding.top_k,
            "top_p": decoding.top_p,
            "overall_p": None if column.overall is None else column.overall.adjusted,
        }
        for best, result, real in zip(found.best, column.results, found.real.results, strict=True):
            row = plain_row(result)
            del row["p_value"]
            yield (
                same
                | row
                | {
                    "label": best.label,
                    "baseline": known(real.estimate),
                    "is_best": column.name == best.setting,
                    "among_best": column.name in best.among,
                }
            )


def render_notebook(found: Sweep) -> str:
    """An HTML fragment for a notebook's output cell."""
    return fragment(
        "sweep/notebook.html.j2",
        heading=content.heading(found),
        study=found,
        columns=content.HEAD,
        rows=content.best_rows(found),
        facts=[],
        legend=content.legend(found),
        notes=found.notes,
    )
