"""Findings on format, split by whether they reach the metrics of this run."""

from textassay.report.cells import NO_EFFECT
from textassay.studies.comparison import Column, Finding


def telling(column: Column) -> list[Finding]:
    """Findings that move the metrics, to be mended before anything else is read."""
    return [finding for finding in column.findings if not finding.fix.startswith(NO_EFFECT)]


def hidden(column: Column) -> list[Finding]:
    """Findings that the tokenizer hides."""
    return [finding for finding in column.findings if finding.fix.startswith(NO_EFFECT)]
