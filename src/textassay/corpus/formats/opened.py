"""Opened tables whose records a known tool wrote: recognised by the first record, read as records with a text."""

from collections.abc import Iterator, Mapping
from itertools import chain
from typing import Any

from textassay.corpus.files.reading import BLOCK
from textassay.corpus.formats.format import Format
from textassay.corpus.formats.recognise import possible_formats, recognise
from textassay.corpus.formats.record import (
    Reading,
    Record,
    Refusal,
    TextKind,
    from_cell,
    kept_records,
    with_prompts,
)
from textassay.corpus.printable import listed, many, quoted
from textassay.corpus.tables import TEXT_FIELD, OpenTable, Table
from textassay.corpus.values import python_values
from textassay.errors import InputError

# What a record takes besides its characters.
_RECORD = 300


def format_of(table: OpenTable) -> Format | None:
    """The format of a table, None where no tool is known that writes it, or where it has a field of plain texts."""
    head = table.head
    if not possible_formats(head.fields):
        return None
    if not len(head) and not table.is_once:
        # The types of the columns are known without a row, but what is in them decides.
        head = next(table.parts(None), head)
    first = next(row_mappings(head), None)
    if first is None:
        return None
    found = recognise(first) or (recognise(_unpacked(first)) if head.records is None else None)
    is_plain = isinstance(first.get(TEXT_FIELD), str)
    return found if found is not None and (not is_plain or found.text == TEXT_FIELD) else None


def records_of(
    table: OpenTable,
    form: Format,
    reading: Reading,
    *,
    text: TextKind = "answer",
    prompts: Mapping[str, str] | None = None,
) -> Iterator[list[Record]]:
    """The records with a text, in lists of some thousand; a file without generated texts is one error.

    `prompts` are those of requests by id, for records that have no prompt of their own.
    """
    raw = _raw_records(table, reading)
    first = next(raw, None)
    raw = raw if first is None else chain([first], raw)
    if first is not None and recognise(first) is not form:
        raw = map(_unpacked, raw)
    try:
        kept = kept_records(form.read(raw, reading), reading, text)
        kept = kept if prompts is None else with_prompts(kept, prompts, reading)
        yield from _chunks(kept)
    except Refusal as error:
        raise InputError(f"{table.head.where}: {form.name}: {error}") from None


def _raw_records(table: OpenTable, reading: Reading) -> Iterator[Mapping[str, Any]]:
    """The records with fields; strings and nulls between them are counted."""
    for part in table.parts(None):
        n_records = 0
        for record in row_mappings(part):
            n_records += 1
            yield record
        if n_records < len(part):
            reading.left_out["line or value without fields|lines or values without fields"] += len(part) - n_records


def _unpacked(row: Mapping[str, Any]) -> Mapping[str, Any]:
    """A row of a table without nested values: its cells hold them as JSON, or as Python writes them."""
    return {name: from_cell(value) for name, value in row.items()}


def _chunks(records: Iterator[Record]) -> Iterator[list[Record]]:
    """Lists of records that take some megabytes at the most."""
    chunk: list[Record] = []
    size = 0
    for record in records:
        chunk.append(record)
        size += _RECORD + len(record.text or "") + len(record.reasoning or "") + len(record.prompt or "")
        if size > BLOCK:
            yield chunk
            chunk, size = [], 0
    if chunk:
        yield chunk


def row_mappings(part: Table) -> Iterator[Mapping[str, Any]]:
    """The rows of a part with fields, as mappings."""
    if part.records is not None:
        yield from (record for record in part.records if isinstance(record, Mapping))
        return
    columns = [python_values(column) for column in part.columns]
    for cells in zip(*columns, strict=True):
        yield dict(zip(part.fields, cells, strict=True))


def format_note(form: Format, reading: Reading, n_texts: int) -> str:
    """What was read, from which field, and what was left out."""
    note = f"{form.name}: {many(n_texts, 'text')} read from {quoted(list(reading.fields) or [form.text])}"
    left = f"; left out: {shown_counts(reading.left_out)}" if reading.left_out else ""
    kept = f"; kept: {shown_counts(reading.kept)}" if reading.kept else ""
    return f"{note}{left}{kept}"


def shown_counts(counts: Mapping[str, int]) -> str:
    """Reasons with their counts; a reason is written as "singular|plural"."""
    return listed([many(count, *reason.split("|", 1)) for reason, count in counts.items()])
