"""Files of items: JSON, tables, Parquet, COCO captions and lines of text, each as entries with their places."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from textassay.corpus.coco_captions import ANNOTATIONS, annotation_entries, caption_entries, is_caption
from textassay.corpus.counting import many
from textassay.corpus.decoding import text_blocks
from textassay.corpus.delimited import delimited_rows, wrong_width
from textassay.corpus.errors import InputError
from textassay.corpus.frames import parquet_columns, plain_cell
from textassay.corpus.item_records import ONE_SYSTEM, Entry, Side, entry_of
from textassay.corpus.item_table import Row, table_entries
from textassay.corpus.jsonl import decode_json, has_json_lines, json_lines, seen
from textassay.corpus.lines import line_texts
from textassay.corpus.printable import quoted
from textassay.corpus.sources import Source, byte_blocks, name_of, sources_of

_DELIMITERS = {"csv": ",", "tsv": "\t"}


@dataclass(frozen=True, slots=True)
class ItemFile:
    """The entries of a file, or of the files of a pattern; `fields` are those of the first record."""

    where: str
    entries: list[Entry]
    fields: list[str]

    @property
    def seen_fields(self) -> str:
        """The fields in brackets, for a message."""
        return f" (fields are {quoted(self.fields)})" if self.fields else ""


def read_entries(path: str, *, side: Side, encoding: str, notes: Counter[str]) -> ItemFile:
    """What a path or a pattern holds; `side` says what bare captions and lines are."""
    files = sources_of(path)
    read = [_read(file, side, encoding, notes) for file in files]
    where = files[0].where if len(files) == 1 else name_of(path)
    entries = [entry for file in read for entry in file.entries]
    return ItemFile(where, entries, next((file.fields for file in read if file.fields), []))


def _read(file: Source, side: Side, encoding: str, notes: Counter[str]) -> ItemFile:
    if file.kind == "lines" and side == "references":
        wanted = ".jsonl, .json, .csv, .tsv or .parquet"
        raise InputError(f"{file.where}: not a file of items by its name; wanted {wanted}")
    if file.kind == "parquet":
        return _parquet(file, side)
    text = "".join(text_blocks(byte_blocks(file), file.where, encoding=encoding, notes=notes))
    if file.kind in _DELIMITERS:
        return _table(text, file, side, notes)
    # Standard input has no extension to tell records from lines, but its first character does.
    start = text.lstrip()[:1] if file.kind is None else ""
    if (file.kind == "json" and not has_json_lines(text)) or start == "[":
        return _document(text, file.where, side)
    if file.kind == "lines" or (file.kind is None and side == "candidates" and start != "{"):
        return ItemFile(file.where, _lines(text, file.where), [])
    return _records(list(_json_lines(text, file.where, notes)), file.where, side)


def _lines(text: str, where: str) -> list[Entry]:
    """One candidate a line; blank lines are blank candidates, as the place of a line says whose it is."""
    texts = [line for lines in line_texts([text] if text else []) for line in lines.to_pylist()]
    return [Entry(f"{where}:{number}", None, candidates={ONE_SYSTEM: (line,)}) for number, line in enumerate(texts, 1)]


def _document(text: str, where: str, side: Side) -> ItemFile:
    document = decode_json(text, where) if text.strip() else []
    if isinstance(document, dict) and ANNOTATIONS in document:
        return ItemFile(where, annotation_entries(document, where, side=side), [])
    if not isinstance(document, list | dict):
        raise InputError(f"{where}: {seen(document)}; wanted a list of objects, or an object with COCO's 'annotations'")
    # One line of JSON lines is a document too.
    records = [document] if isinstance(document, dict) else document
    places = [(f"{where}: item {number}", record) for number, record in enumerate(records, 1)]
    return _records(places, where, side)


def _records(places: list[tuple[str, Any]], where: str, side: Side) -> ItemFile:
    first = places[0][1] if places else None
    if is_caption(first):
        if side == "references":
            raise InputError(f"{where}: a list of COCO captions is candidates; wanted references first")
        return ItemFile(where, caption_entries(places, side=side), [])
    entries = [entry_of(record, place) for place, record in places]
    return ItemFile(where, entries, list(first) if isinstance(first, dict) else [])


def _json_lines(text: str, where: str, notes: Counter[str]) -> Iterator[tuple[str, Any]]:
    blank = 0
    for number, line in enumerate(json_lines(text) if text else [], 1):
        if line.strip():
            yield f"{where}:{number}", decode_json(line, f"{where}:{number}")
        else:
            blank += 1
    _note_blank(blank, where, notes)


def _table(text: str, file: Source, side: Side, notes: Counter[str]) -> ItemFile:
    where = file.where
    rows = list(delimited_rows([text], where, _DELIMITERS[file.kind or ""]))
    full = [(line, row) for line, row in rows if row]
    _note_blank(len(rows) - len(full), where, notes)
    if not full:
        return ItemFile(where, [], [])
    (line, header), *body = full
    entries = table_entries(header, _even(body, header, where), f"{where}:{line}", side=side)
    return ItemFile(where, entries, header)


def _parquet(file: Source, side: Side) -> ItemFile:
    header, columns = parquet_columns(file)
    rows = (
        (f"{file.where}: row {number}", [plain_cell(cell) for cell in cells])
        for number, cells in enumerate(zip(*columns, strict=True), 1)
    )
    return ItemFile(file.where, table_entries(header, rows, file.where, side=side), header)


def _even(rows: Iterable[tuple[int, list[str]]], header: list[str], where: str) -> Iterator[Row]:
    """Rows with their places, each as long as the header."""
    for line, row in rows:
        if len(row) != len(header):
            raise wrong_width(f"{where}:{line}", row, header)
        yield f"{where}:{line}", row


def _note_blank(count: int, where: str, notes: Counter[str]) -> None:
    if count:
        notes[f"{where}: {many(count, 'blank line')} left out"] += 1
