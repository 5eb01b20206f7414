"""Findings on format, split by whether they reach the metrics of this run."""

from textassay.studies.comparison import Column, Finding


def telling(column: Column) -> list[Finding]:
    """Findings that move the metrics, to be mended before anything else is read."""
    return [finding for finding in column.findings if not finding.harmless]


def hidden(column: Column) -> list[Finding]:
    """Findings that the tokenizer hides."""
    return [finding for finding in column.findings if finding.harmless]
