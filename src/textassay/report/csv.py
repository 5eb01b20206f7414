"""The comparison as CSV: one row a result, so that it reads straight into a data frame."""

import math
from dataclasses import replace
from typing import Any

from textassay.inference.result import Result
from textassay.report.csv_cells import csv_text
from textassay.studies.comparison import Column, Comparison

FIELDS = (
    "candidate", "n", "metric", "label", "options", "estimate", "low", "high", "level", "method", "p_value",
    "p_adjusted", "better", "aspect", "undefined", "signature",
)  # fmt: skip


def rows(comparison: Comparison) -> list[dict[str, Any]]:
    """One plain row a result, the yardstick first; after a candidate's rows those at the yardstick's own size."""
    found = []
    for column in (comparison.real, *comparison.candidates):
        for label, result, p in zip(comparison.labels, column.results, column.adjusted, strict=True):
            found.append(_row(column, label, result, p))
        for label, result in column.at_real_size.items():
            # Only the whole sample is tested.
            found.append(_row(column, label, replace(result, p_value=None), math.nan))
    return found


def _row(column: Column, label: str, result: Result, adjusted: float) -> dict[str, Any]:
    interval = result.interval
    return {
        "candidate": column.name,
        "n": result.n,
        "metric": result.metric,
        "label": label,
        "options": " ".join(f"{name}={value}" for name, value in result.options.items()),
        "estimate": None if math.isnan(result.estimate) else result.estimate,
        "low": interval.low if interval else None,
        "high": interval.high if interval else None,
        "level": interval.level if interval else None,
        "method": interval.method if interval else None,
        "p_value": result.p_value,
        "p_adjusted": None if math.isnan(adjusted) else adjusted,
        "better": result.better,
        "aspect": result.aspect,
        "undefined": result.undefined,
        "signature": result.signature,
    }


def render_csv(comparison: Comparison) -> str:
    """CSV text with a header."""
    return csv_text(FIELDS, rows(comparison))
