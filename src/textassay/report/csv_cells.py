"""CSV that is safe to open: no text in it runs as a formula or steers a terminal."""

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from textassay.corpus.printable import printable


def csv_text(fields: Sequence[str], rows: Iterable[Mapping[str, Any]]) -> str:
    """CSV with a header; texts are made tame, numbers stay as they are."""
    out = io.StringIO()
    writer = csv.DictWriter(out, fields, lineterminator="\n")
    writer.writeheader()
    writer.writerows({name: tame(value) for name, value in row.items()} for row in rows)
    return out.getvalue()


def tame(value: Any) -> Any:
    """A text that begins like a formula would run in a spreadsheet; an apostrophe makes it text. Numbers are none.

    Control characters are made visible: a table may be shown in a terminal, and its rows are lines.

    >>> tame("=1+1"), tame(-1.5), tame("two lines")
    ("'=1+1", -1.5, 'two lines')
    """
    if not isinstance(value, str):
        return value
    text = printable(value)
    return f"'{text}" if text[:1] in ("=", "+", "-", "@") else text
