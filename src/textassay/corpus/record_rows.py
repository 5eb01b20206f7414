"""Records as rows: JSON objects, Python dicts, and bare strings among them."""

from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from typing import Any

from textassay.corpus.errors import InputError
from textassay.corpus.fields import Layout, Wanted, layout_of, no_field
from textassay.corpus.item_records import kind_of
from textassay.corpus.jsonl import decode_json, decode_line, has_json_lines, json_lines
from textassay.corpus.printable import quoted
from textassay.corpus.rows import Rows, rows_of
from textassay.corpus.strings import string_array


def json_line_rows(blocks: Iterable[str], where: str, wanted: Wanted) -> Iterator[Rows]:
    """The rows of JSON lines. Blank lines become blank texts."""
    return record_rows(_decoded(blocks, where), f"{where}:", wanted)


def json_rows(text: str, where: str, wanted: Wanted) -> Iterator[Rows]:
    """The rows of a `.json` file: an array of objects or strings, or JSON lines."""
    if has_json_lines(text):
        return json_line_rows([text], where, wanted)
    document = decode_json(text, where) if text.strip() else []
    # One line of JSON lines is a document too.
    records = document if isinstance(document, list) else [document]
    return record_rows([records], f"{where}: record ", wanted)


def json_rows_or_lines(blocks: Iterator[str], where: str, wanted: Wanted) -> Iterator[Rows]:
    """The rows of JSON without a name that tells an array from lines; lines are never held whole."""
    first = next(blocks, "")
    if first.lstrip().startswith("["):
        return json_rows("".join((first, *blocks)), where, wanted)
    return json_line_rows(chain([first] if first else [], blocks), where, wanted)


def record_rows(chunks: Iterable[Iterable[Any]], prefix: str, wanted: Wanted) -> Iterator[Rows]:
    """The rows of each chunk of records; messages name a record by `prefix` and its number over all chunks, from 1.

    The first record decides which fields are read. Nulls become blank texts, which are counted further on.
    """
    layout: Layout | None = None
    start = 1
    for chunk in chunks:
        texts: list[str] = []
        records: list[Any] = []
        for number, record in enumerate(chunk, start):
            if layout is None and isinstance(record, Mapping):
                layout = _layout(record, f"{prefix}{number}", wanted)
            text = record.get(layout.text) if layout is not None and type(record) is dict else None
            texts.append(text if type(text) is str else _careful(record, layout, wanted, f"{prefix}{number}"))
            records.append(record)
        yield _rows(texts, records, layout or Layout(""), prefix, start)
        start += len(records)


def _decoded(blocks: Iterable[str], where: str) -> Iterator[Iterator[Any]]:
    start = 1
    for block in blocks:
        lines = json_lines(block)
        # Not a list: a record is checked before the next line is decoded, so that the first fault is the one named.
        yield (decode_line(line, where, number) for number, line in enumerate(lines, start))
        start += len(lines)


def _rows(texts: list[str], records: list[Any], layout: Layout, prefix: str, start: int) -> Rows:
    array = string_array(texts, prefix, start=start)
    return rows_of(array, layout, lambda name: _column(records, name), lambda index: f"{prefix}{start + index}")


def _layout(record: Mapping[str, Any], where: str, wanted: Wanted) -> Layout:
    textual = [name for name, value in record.items() if isinstance(value, str)]
    return layout_of([str(name) for name in record], where, wanted, textual=lambda: textual)


def _column(records: list[Any], name: str) -> list[Any]:
    # The type is asked first, as an `isinstance` of an abstract class is slow.
    return [record.get(name) if type(record) is dict or isinstance(record, Mapping) else None for record in records]


def _careful(record: Any, layout: Layout | None, wanted: Wanted, where: str) -> str:
    """The text of a record that is not a plain one with a string where it belongs, or an error."""
    if layout is not None and isinstance(record, Mapping):
        return _field_text(record, where, layout.text)
    if record is None:
        return ""
    asked = [name for name in (wanted.text, wanted.group) if name is not None]
    if isinstance(record, str) and not asked:
        return record
    fields = f"an object with the field{'s' if len(asked) > 1 else ''} {quoted(asked)}"
    raise InputError(f"{where}: {kind_of(record)}; wanted {fields if asked else 'an object or a string'}")


def _field_text(record: Mapping[str, Any], where: str, field: str) -> str:
    if field not in record:
        raise no_field([str(name) for name in record], where, field=field)
    value = record[field]
    if value is None or isinstance(value, str):
        return value or ""
    raise InputError(f"{where}: field {quoted([field])} is {kind_of(value)}; wanted a string")
