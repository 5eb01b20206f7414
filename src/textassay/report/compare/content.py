"""What all forms of a comparison's report show: the metric table, its legend, missing numbers, and the summary."""

from textassay.corpus.printable import shortened
from textassay.metrics.registry import all_metrics
from textassay.report.table import (
    MARK,
    Line,
    better_legend,
    figure,
    interval_legend,
    metric_lines,
    summary,
)
from textassay.studies.compare.result import Column, Comparison, Finding

# What "closer is better" refers to.
TARGET = "real text"
_VERBS = {
    "collapsed": ("has collapsed", "have collapsed"),
    "differs": ("differs from the reference", "differ from the reference"),
    "copied": ("contains texts copied from the reference", "contain texts copied from the reference"),
    "same": ("was not found to differ from the reference", "were not found to differ from the reference"),
    "untested": ("was not tested against the reference", "were not tested against the reference"),
}


def outcome_sentence(comparison: Comparison) -> str:
    """The outcome in one sentence."""
    verdicts = {column.name: column.verdict for column in comparison.candidates}
    if [verdict and verdict.level for verdict in verdicts.values()] == ["same"]:
        return f"No difference between {shortened(comparison.candidates[0].name, 60)} and the reference was found."
    return summary(verdicts, _VERBS, what="candidates")


def table_lines(comparison: Comparison) -> list[Line]:
    """The rows of the metric table, real v real first in each."""
    level, floor = comparison.level, comparison.floor
    return metric_lines(
        comparison,
        comparison.real,
        adjusted=[comparison.adjusted_p_values(column) for column in comparison.columns],
        cell=lambda _, result, adjusted: figure(result, adjusted, level=level, floor=floor),
        size=lambda real: f"n = {real.n:,}",
        section=lambda real: real.aspect,
    )


def legend(comparison: Comparison) -> list[str]:
    """How to read the table."""
    results = [result for column in comparison.candidates for result in column.results]
    distances = _distance_legend(comparison)
    lines = interval_legend(results, comparison.level, of="the expected value at this sample size")
    if any(result.p_value is not None for result in results):
        lines.append(
            f"{MARK} differs from the reference: permutation test with p <= {1 - comparison.level:g}, adjusted for all"
            " metrics and never smaller than the p-value of the overall test"
        )
    return [*lines, *distances, *better_legend(results, target="the value of real text")]


_DISTANCES = {
    "word-pair distance": "0 for equal distributions, 1 if no word pair is shared",
    "vector distance": "0 for equal distributions, about 0.2 between captions and news",
}


def _distance_legend(comparison: Comparison) -> list[str]:
    """How to read the distances that the verdicts name."""
    verdicts = [column.verdict for column in comparison.candidates if column.verdict is not None]
    said = " ".join(reason for verdict in verdicts for reason in verdict.reasons)
    shown = [f"{name}: {meaning}" for name, meaning in _DISTANCES.items() if name in said]
    return ["; ".join(shown)] if shown else []


def missing_lines(comparison: Comparison) -> list[str]:
    """Why a number, an interval or a test is missing, one line per metric, or per metric and candidate."""
    lines = []
    metrics = all_metrics()
    for place, label in enumerate(comparison.labels):
        for column in (comparison.real, *comparison.candidates):
            result = column.results[place]
            if result.undefined is not None:
                lines.append(f"{label}, {column.name}: no number: {result.undefined}")
        metric = metrics.get(comparison.candidates[0].results[place].metric)
        if metric is not None and metric.why_no_test:
            lines.append(f"{label}: no test: {metric.why_no_test}")
        if metric is not None and metric.why_no_interval:
            lines.append(f"{label}: no interval: {metric.why_no_interval}")
    return lines


def format_findings(column: Column, *, harmless: bool) -> list[Finding]:
    """Differences in format that change the metrics, or those that the tokenizer removes."""
    return [finding for finding in column.findings if finding.harmless == harmless]
