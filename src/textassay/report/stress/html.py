"""The HTML report of a stress study."""

from typing import Any

from textassay.report.page import COMMON_SETTINGS, MOST_BYTES, Page, setting_rows
from textassay.report.stress import content
from textassay.report.stress.charts import curve_charts, shown_metrics
from textassay.studies.stress.result import Stress

_SETTINGS = {"tokenizer": "Tokenizer", "encoder": "Encoder", **COMMON_SETTINGS}


def render_html(found: Stress) -> str:
    """The report as one self-contained HTML page of at most 1.5 MB; charts are left out first."""
    page = Page.of("stress.html.j2", styles=("page.css", "stress.css"), scripts=("page.js",), filters={})
    text, _ = page.first_within(MOST_BYTES, (_content(found, with_charts=charts) for charts in (True, False)))
    return text


def _content(found: Stress, *, with_charts: bool) -> dict[str, Any]:
    last = found.sizes[-1]
    failures = list(content.failures(found, last))
    sections = [
        ("use", "Use for"),
        ("matrix", "Matrix"),
        *([("failures", "Failures")] if failures else []),
        *([("curves", "Curves")] if with_charts else []),
        ("damages", "Damages"),
        ("reading", "How to read this"),
        ("signatures", "Signatures"),
    ]
    return {
        "f": found,
        "sections": sections,
        "summary": content.outcome_sentence(found, last),
        "heading": content.heading(found),
        "advice": list(content.advice(found, last)),
        "matrices": [
            (size, content.rows(found, size), content.alarm_range(found, size)) for size in reversed(found.sizes)
        ],
        "legend": content.legend(found),
        "failures": failures,
        "charts": curve_charts(found, last) if with_charts else [],
        "chart_names": [(place, metric.name) for place, metric in enumerate(shown_metrics(found, last))],
        "damages": content.damage_lines(found),
        "settings": [*_counts(found), *setting_rows(found, _SETTINGS)],
        "signatures": [(metric.name, metric.signature) for metric in found.metrics],
    }


def _counts(found: Stress) -> list[tuple[str, str]]:
    return [
        ("Runs per damage, strength and size", f"{found.n_runs:,}"),
        ("Undamaged draws per size", f"2 × {found.n_draws:,}"),
        ("Strengths", ", ".join(f"{strength:g}" for strength in found.strengths)),
    ]
