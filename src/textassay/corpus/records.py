"""Records as rows: which fields hold the text, its group, its context and its id."""

import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, TypeAlias

import pyarrow as pa
import pyarrow.compute as pc

from textassay.corpus.json_lines import decode_json, decode_line, has_json_lines, json_lines, kind_of
from textassay.corpus.printable import quoted
from textassay.corpus.sample import TEXT, is_not_blank
from textassay.corpus.values import string_array
from textassay.errors import InputError

DEFAULT = "text"
# What a text was written for, and what it is known by, wherever records carry them under a usual name.
CONTEXTS = ("prompt", "instruction", "question", "context", "input")
IDS = ("id", "uid")


@dataclass(frozen=True, slots=True)
class Wanted:
    """The fields asked for: of the text (None leaves the choice to the reader) and of its group (None for no groups).

    With `beside`, contexts and ids are read too where there are any.
    """

    text: str | None = None
    group: str | None = None
    beside: bool = True


@dataclass(frozen=True, slots=True)
class Layout:
    """The fields that are read from one source."""

    text: str
    group: str | None = None
    contexts: tuple[str, ...] = ()
    id: str | None = None

    @property
    def names(self) -> list[str]:
        """Every field that is read, once."""
        several = (self.text, self.group, *self.contexts, self.id)
        return list(dict.fromkeys(name for name in several if name is not None))


def layout_of(names: list[str], where: str, wanted: Wanted, *, textual: Callable[[], list[str]]) -> Layout:
    """The fields to read from a source with these names; the group's field is never taken for the text.

    >>> layout_of(["id", "prompt", "output"], "x.csv:1", Wanted(group="prompt"), textual=lambda: ["prompt", "output"])
    Layout(text='output', group='prompt', contexts=('prompt',), id='id')
    """
    group = wanted.group
    if group is not None:
        _check_group(names, where, wanted)
    left = [name for name in names if name != group]
    text = pick_field(left, where, field=wanted.text, textual=lambda: [name for name in textual() if name != group])
    if not wanted.beside:
        return Layout(text, group)
    others = [name for name in names if name != text and names.count(name) == 1]
    contexts = tuple(name for name in CONTEXTS if name in others)
    return Layout(text, group, contexts, next((name for name in IDS if name in others), None))


def pick_field(names: list[str], where: str, *, field: str | None, textual: Callable[[], list[str]]) -> str:
    """The wanted field; by default `text`, else the only one that holds strings (`textual` finds those), else an error.

    >>> pick_field(["id", "caption"], "real.csv:1", field=None, textual=lambda: ["caption"])
    'caption'
    """
    wanted = DEFAULT if field is None else field
    _check_once(names, where, wanted)
    if wanted in names:
        return wanted
    candidates = textual() if field is None else []
    if len(candidates) != 1 or names.count(candidates[0]) > 1:
        raise no_field(names, where, field=wanted)
    return candidates[0]


def no_field(names: list[str], where: str, *, field: str, hint: str = " (use --field)") -> InputError:
    """The error for a record that lacks a field, which lists those it has."""
    seen = f"fields are {quoted(names)}{hint}" if names else "there are no fields"
    return InputError(f"{where}: no field {quoted([field])}; {seen}")


def no_groups(where: str, group: str, *, seen: str) -> InputError:
    """The error for texts that come without fields where groups are asked for."""
    records = "records: .jsonl, .json, .csv, .tsv or .parquet, dicts, a data frame or a dataset"
    return InputError(f"{where}: {seen}, so there is no field {quoted([group])} for the groups; wanted {records}")


def _check_group(names: list[str], where: str, wanted: Wanted) -> None:
    group = wanted.group or ""
    if group == wanted.text:
        raise InputError(f"{where}: {quoted([group])} is asked for as text and as group; wanted two fields")
    if group not in names:
        raise no_field(names, where, field=group, hint="; wanted the field of the groups")
    _check_once(names, where, group)


def _check_once(names: list[str], where: str, name: str) -> None:
    if names.count(name) > 1:
        raise InputError(f"{where}: {names.count(name)} fields are called {quoted([name])}; wanted one")


# An Arrow array, chunked or not, or a sequence of Python values.
Values: TypeAlias = Any


@dataclass(frozen=True, slots=True)
class Rows:
    """A run of texts; the other columns have one value per text, null where a record gives none."""

    texts: pa.Array
    groups: pa.Array | None = None
    contexts: pa.Array | None = None
    ids: pa.Array | None = None

    def __len__(self) -> int:
        return len(self.texts)


def rows_of(texts: pa.Array, layout: Layout, column: Callable[[str], Values], place: Callable[[int], str]) -> Rows:
    """Texts with the columns of a layout; `column` gives a field's values, `place` names a row by its index."""
    groups = None
    if layout.group is not None:
        groups = labels(column(layout.group))
        _check_groups(texts, groups, layout.group, place)
    contexts = [labels(column(name)) for name in layout.contexts]
    ids = None if layout.id is None else labels(column(layout.id))
    return Rows(texts, groups, _together(contexts), ids)


def concat_rows(parts: Sequence[Rows]) -> Rows:
    """Several runs as one; a column that only some of them have is null in the others."""
    return Rows(
        pa.concat_arrays([part.texts for part in parts]),
        _concat([(part.groups, len(part)) for part in parts]),
        _concat([(part.contexts, len(part)) for part in parts]),
        _concat([(part.ids, len(part)) for part in parts]),
    )


def labels(values: Values) -> pa.Array:
    """Any values as strings, null where one is missing or blank: 7 and 7.0 become "7", lists and objects JSON.

    >>> labels(["a", 7, 7.0, None, " ", [1, 2]]).to_pylist()
    ['a', '7', '7', None, None, '[1, 2]']
    """
    if isinstance(values, pa.ChunkedArray):
        return pa.concat_arrays([labels(chunk) for chunk in values.chunks] or [pa.array([], TEXT)])
    strings = _from_arrow(values) if isinstance(values, pa.Array) else _from_list(values)
    return pc.if_else(is_not_blank(strings), strings, pa.scalar(None, TEXT))


def _from_arrow(column: pa.Array) -> pa.Array:
    if pa.types.is_dictionary(column.type):
        return _from_arrow(column.dictionary).take(column.indices)
    if pa.types.is_floating(column.type):
        return _from_list(column.to_pylist())
    try:
        strings = column.cast(TEXT)
        # Neither Arrow nor Parquet checks on the way in that what is declared a string is one.
        strings.validate(full=True)
    except pa.ArrowException:
        return _from_list(_plain(column))
    return strings


def _plain(column: pa.Array) -> list[Any]:
    try:
        return list(column.to_pylist())
    except UnicodeDecodeError:
        return [value.decode(errors="replace") for value in column.cast(pa.large_binary()).to_pylist()]


def _from_list(values: Sequence[Any]) -> pa.Array:
    # Nearly every column holds strings only or whole numbers only, which Arrow converts without a Python loop.
    kinds = set(map(type, values)) - {type(None)}
    try:
        if len(kinds) == 1 and kinds <= {str, int}:
            return pa.array(values, type=TEXT if kinds == {str} else pa.int64()).cast(TEXT)
    except (pa.ArrowException, UnicodeEncodeError, OverflowError):
        pass
    strings = [value if value is None else _label(value) for value in values]
    # Half a surrogate pair makes a text unusable, but two labels are told apart without it.
    return pa.array([value and value.encode(errors="backslashreplace").decode() for value in strings], type=TEXT)


def _label(value: Any) -> str | None:
    if isinstance(value, float):
        if math.isnan(value):
            return None
        return str(int(value)) if value.is_integer() else repr(float(value))
    if isinstance(value, str):
        return str(value)
    try:
        return json.dumps(value, ensure_ascii=False, sort_keys=True, default=str)
    except (TypeError, ValueError, RecursionError):
        return repr(type(value))


def _together(columns: list[pa.Array]) -> pa.Array | None:
    """Contexts of several fields as one: an instruction and its input are one prompt."""
    if len(columns) < 2:
        return columns[0] if columns else None
    joined = pc.binary_join_element_wise(*columns, pa.scalar("\n", TEXT), null_handling="skip")
    return pc.if_else(is_not_blank(joined), joined, pa.scalar(None, TEXT))


def _check_groups(texts: pa.Array, groups: pa.Array, field: str, place: Callable[[int], str]) -> None:
    # A blank text is left out together with its group, so it needs none.
    bare = pc.index(pc.and_(is_not_blank(texts), pc.is_null(groups)), pa.scalar(True)).as_py()
    if bare >= 0:
        raise InputError(f"{place(bare)}: field {quoted([field])} is missing or blank; wanted the group of each text")


def _concat(columns: list[tuple[pa.Array | None, int]]) -> pa.Array | None:
    if all(column is None for column, _ in columns):
        return None
    return pa.concat_arrays([pa.nulls(size, TEXT) if column is None else column for column, size in columns])


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
