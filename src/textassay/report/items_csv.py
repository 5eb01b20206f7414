"""A conditional study as CSV: one row a result, over all items and for each, to be read straight into a data frame."""

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from textassay.inference.result import Result
from textassay.report.csv_cells import csv_text
from textassay.report.items_words import part_sizes
from textassay.studies.conditioned import Conditional, SystemColumn

FIELDS = (
    "system", "item", "at", "n", "metric", "label", "options", "estimate", "low", "high", "level", "p_value",
    "p_adjusted", "z", "fisher", "simes", "chance", "miss", "undefined", "signature",
)  # fmt: skip


def rows(conditional: Conditional) -> list[dict[str, Any]]:
    """One plain row a result, the human ones first: over all items, at the human parts' size, then an item."""
    unadjusted = tuple(math.nan for _ in conditional.labels)
    found = _column(conditional, conditional.human, unadjusted)
    for system, adjusted in zip(conditional.systems, conditional.adjusted(), strict=True):
        found += _column(conditional, system, adjusted)
    return found


def _column(conditional: Conditional, column: SystemColumn, adjusted: tuple[float, ...]) -> list[dict[str, Any]]:
    sizes = _sizes(conditional)
    is_human = column is conditional.human
    over_items = [
        _row(column, label, result, at=sizes[label] if is_human else "") | {"p_adjusted": _known(p)}
        for label, result, p in zip(conditional.labels, column.results, adjusted, strict=True)
    ]
    # Only whole items are tested.
    smaller = [
        _row(column, label, replace(result, p_value=None), at=sizes.get(label, ""))
        for label, result in column.at_human_size.items()
    ]
    return [*over_items, *smaller, *_items(conditional, column, sizes if is_human else {})]


def _items(conditional: Conditional, column: SystemColumn, sizes: dict[str, str]) -> Iterator[dict[str, Any]]:
    for outcome in column.items:
        for label, result in zip(conditional.labels, outcome.results, strict=True):
            yield _row(column, label, result, at=sizes.get(label, "")) | {"item": outcome.id, "miss": outcome.miss.kind}


def _sizes(conditional: Conditional) -> dict[str, str]:
    """The sizes of the human parts, by label."""
    human = zip(conditional.labels, conditional.human.results, strict=True)
    return {label: part_sizes(result, conditional.human_sizes) for label, result in human}


def _row(column: SystemColumn, label: str, result: Result, *, at: str) -> dict[str, Any]:
    interval = result.interval
    return {
        "system": column.name,
        "item": "",
        "at": at,
        "n": result.n,
        "metric": result.metric,
        "label": label,
        "options": " ".join(f"{name}={value}" for name, value in result.options.items()),
        "estimate": _known(result.estimate),
        "low": interval.low if interval else None,
        "high": interval.high if interval else None,
        "level": interval.level if interval else None,
        "p_value": result.p_value,
        "p_adjusted": None,
        "z": _known(result.parts.get("z", math.nan)),
        "fisher": _known(result.parts.get("fisher", math.nan)),
        "simes": _known(result.parts.get("simes", math.nan)),
        "chance": _known(result.parts.get("chance", math.nan)),
        "miss": "",
        "undefined": result.undefined,
        "signature": result.signature,
    }


def _known(value: float) -> float | None:
    return None if math.isnan(value) else value


def render_items_csv(conditional: Conditional) -> str:
    """CSV text with a header."""
    return csv_text(FIELDS, rows(conditional))
