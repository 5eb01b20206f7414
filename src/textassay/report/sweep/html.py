"""The HTML report of a sweep."""

from typing import Any

from textassay.report.page import MOST_BYTES, Page
from textassay.report.sweep import content
from textassay.report.sweep.charts import lines, metric_chart, plane
from textassay.report.table import ASPECTS, guide
from textassay.studies.sweep.result import Sweep

# The most charts of metrics and the most signatures; the first that keeps the page under its limit is used.
_LADDER = ((60, 500), (24, 100), (8, 20), (0, 0))


def render_html(found: Sweep) -> str:
    """The report as one self-contained HTML page of at most 1.5 MB; charts and signatures are left out first."""
    page = Page.of("sweep.html.j2", styles=("page.css",), scripts=("page.js",), filters={})
    shared = _shared(found)
    text, _ = page.first_within(MOST_BYTES, (_content(found, shared, *limits) for limits in _LADDER))
    return text


def _shared(found: Sweep) -> dict[str, Any]:
    """What does not depend on the limits."""
    drawn = plane(found)
    sections = [
        ("best", "Best settings"),
        *([("plane", "Quality and diversity")] if drawn else []),
        ("metrics", "Metric by metric"),
        ("settings", "All settings"),
        ("reading", "How to read this"),
        ("signatures", "Signatures"),
    ]
    return {
        "f": found,
        "sections": sections,
        "heading": content.heading(found),
        "rows": content.best_rows(found),
        "head": content.HEAD,
        "plane": drawn,
        "lines": [(at, line.name) for at, line in enumerate(lines(found)) if line.name],
        "values": content.value_rows(found),
        "tested": content.is_tested(found),
        "legend": content.legend(found),
        "facts": content.settings(found),
        "guide": guide(found.real.results, target="real text"),
        "among": content.AMONG,
        "signatures": [
            (column.name, result.signature) for column in (found.real, *found.swept) for result in column.results
        ],
    }


def _content(found: Sweep, shared: dict[str, Any], most: int, most_signatures: int) -> dict[str, Any]:
    charts = [metric_chart(found, place) for place in range(min(len(found.labels), most))]
    groups = [(title, [chart for chart in charts if chart.aspect == aspect]) for aspect, title in ASPECTS.items()]
    return shared | {
        "charts": [(title, drawn) for title, drawn in groups if drawn],
        "left_out": len(found.labels) - len(charts),
        "most_signatures": most_signatures,
    }
