"""The CSV form of all studies."""

import csv
import io
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from textassay.corpus.printable import begins_like_formula, printable


def csv_text(fields: Sequence[str], rows: Iterable[Mapping[str, Any]]) -> str:
    """CSV with a header; texts are made safe for spreadsheets, numbers are not changed."""
    out = io.StringIO()
    writer = csv.DictWriter(out, fields, lineterminator="\n")
    writer.writeheader()
    writer.writerows({name: _safe(value) for name, value in row.items()} for row in rows)
    return out.getvalue()


def _safe(value: Any) -> Any:
    """A text that a spreadsheet would run as a formula gets an apostrophe; control characters become visible.

    >>> _safe("=1+1"), _safe(-1.5), _safe("two lines")
    ("'=1+1", -1.5, 'two lines')
    """
    if not isinstance(value, str):
        return value
    text = printable(value)
    return f"'{text}" if begins_like_formula(text) else text


def known(value: float) -> float | None:
    """The value, or None for NaN, so that the field stays empty."""
    return None if math.isnan(value) else value
