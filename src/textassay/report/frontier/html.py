"""The HTML report of a frontier study."""

from typing import Any

from textassay.report.frontier import content
from textassay.report.frontier.charts import planes, probability_chart, step_charts
from textassay.report.page import MOST_BYTES, Page
from textassay.studies.frontier.result import Frontier

# The most charts of planes; the first number that keeps the page under its limit is used.
_LADDER = (60, 12, 0)


def render_html(found: Frontier) -> str:
    """The report as one self-contained HTML page of at most 1.5 MB; charts are left out first."""
    page = Page.of(
        "frontier.html.j2", styles=("page.css",), scripts=("page.js",), filters={"without_level": _without_level}
    )
    text, _ = page.first_within(MOST_BYTES, (_content(found, most) for most in _LADDER))
    return text


def _without_level(sentence: str) -> str:
    """A verdict behind its level, which the page shows as a badge."""
    return sentence.removeprefix("compatible: ").removeprefix("incompatible ").removeprefix("not decided: ")


def _content(found: Frontier, most: int) -> dict[str, Any]:
    used = content.used_columns(found)
    charts = {
        "planes": planes(found, most=most),
        "steps": step_charts(found),
        "probabilities": probability_chart(found),
    }
    theory = content.theory_lines(found)
    sections = [
        ("verdicts", "Verdicts"),
        *([("planes", "Quality and diversity")] if charts["planes"] else []),
        *([("optimisation", "Optimisation")] if charts["steps"] else []),
        *([("probabilities", "Probabilities")] if charts["probabilities"] else []),
        *([("theory", "Theory")] if theory else []),
        ("reading", "How to read this"),
        ("signatures", "Signatures"),
    ]
    return charts | {
        "f": found,
        "sections": sections,
        "summary": content.outcome_sentence(found),
        "settings": content.settings(found),
        "head": [content.HEAD[place] for place in used],
        "rows": [(row, [row.cells[place] for place in used]) for row in content.rows(found)],
        "legend": content.legend(found),
        "theory": theory,
        "signatures": [
            (f"{source.name} {analysis.pair}", analysis.result.signature)
            for source in found.sources
            for analysis in source.analyses
        ],
    }
