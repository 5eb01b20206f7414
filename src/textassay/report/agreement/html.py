"""The HTML report of an agreement study."""

from typing import Any

from textassay.report.agreement import content
from textassay.report.agreement.charts import matrix_chart, plane_chart
from textassay.report.page import COMMON_SETTINGS, MOST_BYTES, Page, setting_rows
from textassay.studies.agreement.result import Agreement

# The most metrics of the matrix; the first number that keeps the page under its limit is used.
_LADDER = (30, 12, 0)


def render_html(found: Agreement) -> str:
    """The report as one self-contained HTML page of at most 1.5 MB."""
    page = Page.of("agreement.html.j2", styles=("page.css",), scripts=("page.js",), filters={})
    text, _ = page.first_within(MOST_BYTES, (_content(found, most) for most in _LADDER))
    return text


def _content(found: Agreement, most: int) -> dict[str, Any]:
    matrix, plane, dominance = matrix_chart(found, most=most), plane_chart(found), content.dominance_lines(found)
    sections = [
        ("table", "Agreement"),
        *([("matrix", "Metric by metric")] if matrix else []),
        *([("plane", "Quality and diversity")] if dominance else []),
        ("reading", "How to read this"),
        ("signatures", "Signatures"),
    ]
    known = zip(found.systems, found.gold_values, strict=True)
    return {
        "f": found,
        "sections": sections,
        "summary": content.outcome_sentence(found),
        "heading": content.heading(found),
        "head": content.HEAD,
        "rows": content.rows(found),
        "legend": content.legend(found),
        "notes": [*found.notes, *content.missing_lines(found)],
        "gold": sorted((pair for pair in known if pair[1] == pair[1]), key=lambda pair: -pair[1]),
        "matrix": matrix,
        "left_out": max(len(found.metrics) - most, 0),
        "plane": plane,
        "dominance": dominance,
        "settings": setting_rows(found, COMMON_SETTINGS),
        "signatures": [(metric.name, result.signature) for metric in found.metrics for result in metric.results],
    }
