"""Rows of texts: which fields of a source are read as texts, groups, prompts, ids and systems, and their columns."""

import json
import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from textassay.corpus.formats.format import Format
from textassay.corpus.formats.opened import format_of, records_of, row_mappings
from textassay.corpus.formats.paths import Step, has_strings, parse_path, shown_paths, values_at
from textassay.corpus.formats.record import Reading, Record, TextKind
from textassay.corpus.printable import many, quoted
from textassay.corpus.sample import TEXT, is_not_blank
from textassay.corpus.tables import (
    RECORDS,
    TEXT_FIELD,
    OpenTable,
    Table,
)
from textassay.corpus.values import Column, check_text, column_values, kind_of, plain_value, text_column
from textassay.errors import InputError, Setting

# The usual names of the fields with the prompt of a text and with its id.
CONTEXTS = ("prompt", "instruction", "question", "context", "input")
IDS = ("id", "uid")
# The field with the reason why a generated text ended.
FINISH = "finish_reason"
# The usual name of the field with the system, of which a note tells the values where nobody asked for it, if they are
# so few.
MODEL = "model"
_MOST_MODELS = 20


@dataclass(frozen=True, slots=True)
class Wanted:
    """The fields asked for: of the text (None: the reader chooses), of its group and of its system (None: none).

    `kind` is the answer or the reasoning, in files that have both; `prompts` are those of requests by id.
    """

    text: str | None = None
    group: str | None = None
    system: str | None = None
    kind: TextKind = "answer"
    prompts: Mapping[str, str] | None = None

    @property
    def names(self) -> list[str]:
        """The fields that were asked for by name."""
        return [name for name in (self.text, self.group, self.system) if name is not None]


@dataclass(eq=False)
class Found:
    """What a reader found over the files of one source: the format, what it left out, and the field that it chose."""

    notes: Counter[str]
    form: Format | None = None
    reading: Reading = field(default_factory=Reading)
    chosen: tuple[str, str] | None = None
    n_files: int = 0

    def enter(self, form: Format | None, where: str) -> None:
        """Note the format of the next file; all files of a source have one."""
        if self.n_files and form is not self.form:
            first, other = (f"a file of the format {one.name}" if one else "plain records" for one in (self.form, form))
            raise InputError(f"{where}: {other}, after {first}; wanted files of one format")
        self.form, self.n_files = form, self.n_files + 1


@dataclass(frozen=True, slots=True)
class Layout:
    """The fields that are read from one source."""

    text: str
    group: str | None = None
    contexts: tuple[str, ...] = ()
    id: str | None = None
    finish: str | None = None
    system: str | None = None
    model: str | None = None

    @property
    def names(self) -> list[str]:
        """Every field that is read, once."""
        several = (self.text, self.group, *self.contexts, self.id, self.finish, self.system, self.model)
        return list(dict.fromkeys(name for name in several if name is not None))


def layout_of(names: list[str], where: str, wanted: Wanted, *, textual: Callable[[], list[str]]) -> Layout:
    """The fields to read from a source with these names; the group's field is never taken for the text.

    >>> layout_of(["id", "prompt", "output"], "x.csv:1", Wanted(group="prompt"), textual=lambda: ["prompt", "output"])
    Layout(text='output', group='prompt', contexts=('prompt',), id='id', finish=None, system=None, model=None)
    """
    group, system = wanted.group, wanted.system
    for name, of in ((group, "group"), (system, "system")):
        if name is not None:
            _check_other(names, where, name, text=wanted.text, of=of)
    left = [name for name in names if name not in (group, system)]
    text = pick_field(left, where, field=wanted.text, textual=lambda: [name for name in textual() if name in left])
    others = [name for name in names if name != text and names.count(name) == 1]
    contexts = tuple(name for name in CONTEXTS if name in others)
    identity = next((name for name in IDS if name in others), None)
    finish, model = (name if name in others else None for name in (FINISH, MODEL))
    return Layout(text, group, contexts, identity, finish, system, model if system is None else None)


def pick_field(names: list[str], where: str, *, field: str | None, textual: Callable[[], list[str]]) -> str:
    """The wanted field; by default `text`, else the only one that holds strings (`textual` finds those), else an error.

    >>> pick_field(["id", "caption"], "real.csv:1", field=None, textual=lambda: ["caption"])
    'caption'
    """
    wanted = TEXT_FIELD if field is None else field
    _check_once(names, where, wanted)
    if wanted in names:
        return wanted
    candidates = textual() if field is None else []
    if len(candidates) != 1 or names.count(candidates[0]) > 1:
        raise no_field(names, where, field=wanted)
    return candidates[0]


def no_field(names: list[str], where: str, *, field: str, hint: str | None = None) -> InputError:
    """The error for a record that lacks a field, which lists those it has."""
    seen = f"{where}: no field {quoted([field])}; {f'fields are {quoted(names)}' if names else 'there are no fields'}"
    if names and hint is None:
        return InputError(f"{seen} (use ", Setting("field"), ")")
    return InputError(f"{seen}{(hint or '') if names else ''}")


def _check_other(names: list[str], where: str, name: str, *, text: str | None, of: str) -> None:
    if name == text:
        raise InputError(f"{where}: {quoted([name])} is asked for as text and as {of}; wanted two fields")
    if name not in names:
        raise no_field(names, where, field=name, hint=f"; wanted the field of the {of}s")
    _check_once(names, where, name)


def _check_once(names: list[str], where: str, name: str) -> None:
    if names.count(name) > 1:
        raise InputError(f"{where}: {names.count(name)} fields have the name {quoted([name])}; wanted one")


@dataclass(frozen=True, slots=True)
class Rows:
    """A run of texts; the other columns have one value per text, null where a record gives none."""

    texts: pa.Array
    groups: pa.Array | None = None
    contexts: pa.Array | None = None
    ids: pa.Array | None = None
    finishes: pa.Array | None = None
    systems: pa.Array | None = None
    partition: pa.Array | None = None
    prompt_field: str | None = None
    id_field: str | None = None
    # True for lines of text files, which have no fields.
    are_lines: bool = False

    def __len__(self) -> int:
        return len(self.texts)


# The columns of rows beside the texts.
COLUMNS = ("groups", "contexts", "ids", "finishes", "systems", "partition")


def _rows(texts: pa.Array, layout: Layout, part: Table) -> Rows:
    groups = None
    if layout.group is not None:
        groups = _labels_of(part, layout.group)
        check_groups(texts, groups, layout.group, part.place)
    contexts = [_labels_of(part, name) for name in layout.contexts]
    ids = None if layout.id is None else _labels_of(part, layout.id)
    finishes = None if layout.finish is None else _labels_of(part, layout.finish)
    systems = None if layout.system is None else _labels_of(part, layout.system)
    prompt = next(iter(layout.contexts), None)
    return Rows(texts, groups, _together(contexts), ids, finishes, systems, None, prompt, layout.id)


def _labels_of(part: Table, field: str) -> pa.Array:
    return labels(column_values(part.column(field)))


def concat_rows(parts: Iterable[Rows]) -> Rows:
    """Several runs as one; a column that only some of them have is null in the others."""
    texts = _Texts()
    columns: dict[str, list[tuple[pa.Array | None, int]]] = {name: [] for name in COLUMNS}
    prompt_field = id_field = None
    are_lines = False
    for part in parts:
        texts.append(part.texts)
        for name, found in columns.items():
            found.append((getattr(part, name), len(part)))
        prompt_field, id_field = prompt_field or part.prompt_field, id_field or part.id_field
        are_lines = are_lines or part.are_lines
    joined = {name: _concat(found) for name, found in columns.items()}
    return Rows(texts.array(), **joined, prompt_field=prompt_field, id_field=id_field, are_lines=are_lines)


class _Texts:
    """The texts of many runs, each copied once, so that a run is freed before the next one is read."""

    def __init__(self) -> None:
        self._content, self._ends = bytearray(), [np.zeros(1, np.int64)]

    def append(self, texts: pa.Array) -> None:
        _, offsets, content = texts.buffers()
        bounds = np.frombuffer(offsets, np.int64, len(texts) + 1, 8 * texts.offset) if len(texts) else np.zeros(1, int)
        self._ends.append(bounds[1:] - bounds[0] + len(self._content))
        if content is not None:
            self._content += memoryview(content)[bounds[0] : bounds[-1]]

    def array(self) -> pa.Array:
        ends = np.concatenate(self._ends)
        return pa.Array.from_buffers(TEXT, len(ends) - 1, [None, pa.py_buffer(ends), pa.py_buffer(self._content)])


def labels(values: Column) -> pa.Array:
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
    # Half a surrogate pair makes a text unusable, but labels stay distinct without it.
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


def check_groups(texts: pa.Array, groups: pa.Array, field: str, place: Callable[[int], str]) -> None:
    """Refuse a text without a group."""
    # A blank text is left out together with its group, so it needs none.
    bare = pc.index(pc.and_(is_not_blank(texts), pc.is_null(groups)), pa.scalar(True)).as_py()
    if bare >= 0:
        raise InputError(f"{place(bare)}: field {quoted([field])} is missing or blank; wanted the group of each text")


def _concat(columns: list[tuple[pa.Array | None, int]]) -> pa.Array | None:
    if all(column is None for column, _ in columns):
        return None
    return pa.concat_arrays([pa.nulls(size, TEXT) if column is None else column for column, size in columns])


def table_rows(table: OpenTable, wanted: Wanted, found: Found) -> Iterator[Rows]:
    """The texts of a table, part by part, with the columns beside them.

    The first record with fields decides which are read, and which tool wrote the file. Strings among records are
    texts, and nulls are blank texts, which are counted later.
    """
    form = format_of(table) if wanted.text is None else None
    found.enter(form, table.head.where)
    if form is not None:
        yield from _format_rows(table, form, wanted, found)
        return
    if wanted.prompts is not None:
        found.notes["no prompts of requests joined: not the file of a known tool"] = 1
    if wanted.kind != "answer":
        seen = f"{table.head.where}: no format that tells reasoning from answers; "
        raise InputError(seen, Setting("text", wanted.kind), " is for the files of known tools")
    steps = None if wanted.text is None or wanted.text in table.head.fields else parse_path(wanted.text)
    if steps is not None and (table.head.fields or table.head.records is not None):
        yield from _path_rows(table, steps, wanted, found)
        return
    layout = _layout(table.head, wanted)
    total, first = 0, None
    models: dict[str | None, None] = {}
    for part in table.parts(None if layout is None else layout.names):
        total += len(part)
        first = part if first is None else first
        layout = layout or _layout(part, wanted)
        if wanted.text is None and layout is not None and layout.text != TEXT_FIELD:
            found.chosen = (layout.text, part.where) if len(part.fields) > 1 or part.records is None else None
            found.notes[f"texts read from the field {quoted([layout.text])}"] = 1
        texts = _texts(part, layout, wanted)
        if layout is not None and layout.model is not None and len(models) <= _MOST_MODELS:
            models |= dict.fromkeys(pc.unique(_labels_of(part, layout.model)).to_pylist())
        yield _rows(texts, layout or Layout(TEXT_FIELD), part)
    if 1 < len(models) <= _MOST_MODELS:
        several = quoted([name or "none" for name in models])
        found.notes[f'texts of {len(models)} models ({several}) in one sample: --by model (in Python by="model")'] = 1
    if total == 1 and first is not None and found.chosen is not None:
        _check_flat(first, found.chosen[0])


def _check_flat(part: Table, chosen: str) -> None:
    """Refuse a single record with values inside values: a document of an unknown tool has its texts deeper."""
    record = next(row_mappings(part), {})
    if any(has_strings(value) for value in record.values() if isinstance(value, Mapping | list)):
        seen = f"{part.head}: one record of no known format; its only field with a string is {quoted([chosen])}"
        fields = f"all fields with strings are {shown_paths(record)}"
        raise InputError(f"{seen}; {fields}; name the field of the texts with ", Setting("field"))


def _format_rows(table: OpenTable, form: Format, wanted: Wanted, found: Found) -> Iterator[Rows]:
    """The records of a file that a known tool wrote."""
    where = table.head.where
    group = None if wanted.group is None else form.group_of(wanted.group)
    if wanted.group is not None and group is None:
        known = quoted(["prompt", "prompt_id", *form.prompt, *form.prompt_id])
        seen = f"{where}: {form.name}: no field {quoted([wanted.group])} for the groups; wanted one of {known}, or "
        raise InputError(seen, Setting("field"))
    if wanted.system is not None and not form.is_system(wanted.system):
        known = quoted(list(dict.fromkeys((MODEL, *form.system))))
        seen = f"{where}: {form.name}: no system is read from {quoted([wanted.system])}; wanted one of {known}, or "
        raise InputError(seen, Setting("field"))
    for chunk in records_of(table, form, found.reading, text=wanted.kind, prompts=wanted.prompts):
        groups = None if group is None else [group(record) for record in chunk]
        if groups is not None and None in groups:
            seen = f"{where}: {form.name}: text {groups.index(None) + 1} has no {quoted([wanted.group or ''])}"
            raise InputError(f"{seen}; wanted the group of each text")
        yield Rows(
            _valid_texts([_text_of(record, wanted.kind) for record in chunk], where),
            None if groups is None else labels(groups),
            labels([record.prompt for record in chunk]),
            labels([record.prompt_id for record in chunk]),
            labels([record.finish for record in chunk]),
            labels([record.system for record in chunk]),
            labels([record.partition for record in chunk]),
            "prompt",
            "prompt_id",
        )


def _text_of(record: Record, kind: TextKind) -> str:
    return (record.text if kind == "answer" else record.reasoning) or ""


def _valid_texts(texts: list[str], where: str) -> pa.Array:
    try:
        return pa.array(texts, type=TEXT)
    except (UnicodeEncodeError, pa.ArrowInvalid):
        for number, text in enumerate(texts, 1):
            check_text(text, f"{where}: text {number}")
        raise


def _path_rows(table: OpenTable, steps: Sequence[Step], wanted: Wanted, found: Found) -> Iterator[Rows]:
    """The texts at a path; a record may have several, and one in which the path leads nowhere has none."""
    missing, seen, first = 0, 0, ""
    for part in table.parts(None):
        texts: list[str] = []
        others: list[list[Any]] = []
        n_records = 0
        for row, record in enumerate(row_mappings(part)):
            n_records += 1
            values = values_at(record, steps)
            first = first or shown_paths(record)
            missing, seen = missing + (not values), seen + len(values)
            texts += [_string_at(value, wanted.text or "", part.place(row)) for value in values]
            others += [_beside(record, wanted)] * len(values)
        missing += len(part) - n_records
        columns = list(zip(*others, strict=True)) or [()] * 5
        groups, contexts, ids, finishes, systems = (labels(list(column)) for column in columns)
        valid = _valid_texts(texts, part.where)
        if wanted.group is not None:
            check_groups(valid, groups, wanted.group, lambda row: f"{table.head.where}: text {row + 1}")
        yield Rows(valid, groups if wanted.group else None, contexts, ids, finishes, systems if wanted.system else None)
    if not seen:
        raise InputError(f"{table.head.where}: no field {quoted([wanted.text or ''])}; fields are {first}")
    if missing:
        found.notes[f"{many(missing, 'record')} without {quoted([wanted.text or ''])} left out"] += 1


def _string_at(value: Any, path: str, place: str) -> str:
    if value is None or isinstance(value, str):
        return value or ""
    several = f" ('{path}[*]' reads all of its values)" if isinstance(value, list) else ""
    raise InputError(f"{place}: field {quoted([path])} is {kind_of(value)}; wanted a string{several}")


def _beside(record: Mapping[str, Any], wanted: Wanted) -> list[Any]:
    """Group, context, id, finish and system of a record."""
    group, system = (None if name is None else _value_at(record, name) for name in (wanted.group, wanted.system))
    contexts = [label for name in CONTEXTS if record.get(name) is not None and (label := _label(record[name]))]
    identity = next((record[name] for name in IDS if name in record), None)
    return [group, "\n".join(contexts) or None, identity, record.get(FINISH), system]


def _value_at(record: Mapping[str, Any], name: str) -> Any:
    if name in record:
        return record[name]
    found = values_at(record, parse_path(name) or (name,))
    return found[0] if found else None


def _layout(table: Table, wanted: Wanted) -> Layout | None:
    has_fields = table.fields or any(isinstance(record, Mapping) for record in table.records or ())
    return layout_of(list(table.fields), table.head, wanted, textual=table.text_fields) if has_fields else None


def _texts(part: Table, layout: Layout | None, wanted: Wanted) -> pa.Array:
    if part.texts is not None:
        if wanted.group is not None:
            missing = f"there is no field {quoted([wanted.group])} for the groups"
            raise InputError(f"{part.where}: texts without fields, so {missing}; wanted {RECORDS}")
        return part.texts
    if part.records is not None:
        return _record_texts(part, part.records, layout, wanted)
    name = layout.text if layout is not None else TEXT_FIELD
    column = part.column(name)
    if isinstance(column, list):
        return pa.array(column, type=TEXT)
    return text_column(column, part.where, field=name, start=part.numbers[0] if len(part) else 1)


def _record_texts(part: Table, records: list[Any], layout: Layout | None, wanted: Wanted) -> pa.Array:
    texts = records if layout is None else part.column(layout.text)
    if set(map(type, texts)) != {str} or (layout is None and wanted.names):
        texts = [
            text
            if type(text) is str and type(record) is dict
            else _record_text(record, layout, wanted, part.place(row))
            for row, (record, text) in enumerate(zip(records, texts, strict=True))
        ]
    try:
        return pa.array(texts, type=TEXT)
    except (UnicodeEncodeError, pa.ArrowInvalid):
        for row, text in enumerate(texts):
            check_text(text, part.place(row))
        raise


def _record_text(record: Any, layout: Layout | None, wanted: Wanted, place: str) -> str:
    """The text of a record that is not a dict with a string in the field, or an error."""
    if record is None:
        return ""
    if isinstance(record, str):
        if not wanted.names:
            return record
        several = "s" if len(wanted.names) > 1 else ""
        raise InputError(f"{place}: a string; wanted an object with the field{several} {quoted(wanted.names)}")
    field = layout.text if layout is not None else TEXT_FIELD
    if field not in record:
        raise no_field([str(name) for name in record], place, field=field)
    value = plain_value(record[field])
    if value is None or isinstance(value, str):
        return value or ""
    raise InputError(f"{place}: field {quoted([field])} is {kind_of(value)}; wanted a string")
