"""Records by prompt: the texts of each system gathered to items, from files of known tools and plain records."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, islice

import pyarrow as pa

from textassay.corpus.formats.opened import format_of
from textassay.corpus.item_files import (
    ANNOTATIONS,
    BY_SYSTEM,
    CANDIDATES,
    CAPTION,
    IMAGE,
    REFERENCES,
    SOURCE,
    TEXT,
    Entry,
    ItemFile,
    Side,
    item_file,
    open_items,
)
from textassay.corpus.printable import many, quoted
from textassay.corpus.readers import opened_rows
from textassay.corpus.rows import MODEL, Found, Rows, Wanted
from textassay.corpus.tables import AnySource, Opened, OpenTable
from textassay.errors import InputError, Setting


def read_records_or_items(
    source: AnySource, *, side: Side, name: str | None, encoding: str, notes: Counter[str], records: Wanted
) -> tuple[ItemFile, str]:
    """The items of a source, or its records gathered to items where it has no items; and its name.

    `records` are the fields of the records; where one is named, the source is read as records.
    """
    opened = open_items(source, side=side, name=name, encoding=encoding, notes=notes)
    first = list(islice(opened.tables, 1))
    opened = replace(opened, tables=chain(first, opened.tables))
    # A file without records is refused by the reader of items.
    if not records.names and all(not table.head.fields or _is_of_items(table) for table in first):
        if records.kind != "answer":
            seen = f"{opened.where}: items, which do not tell reasoning from answers; "
            raise InputError(seen, Setting("text", records.kind), " is for the files of known tools")
        if records.prompts is not None:
            notes["no prompts of requests joined: not the file of a known tool"] = 1
        return item_file(opened, side=side), opened.name
    return _record_file(opened, records, first, notes), opened.name


def _is_of_items(table: OpenTable) -> bool:
    """Whether a table has items: references alone may also be those that a known tool wrote beside a text."""
    names = set(table.head.fields)
    if names & {*REFERENCES} and not _has_items(names - {*REFERENCES}) and format_of(table) is not None:
        return False
    return _has_items(names)


def _has_items(names: set[str]) -> bool:
    """Whether these are fields of items, or of COCO captions."""
    is_wide = {*REFERENCES, *CANDIDATES, ANNOTATIONS} & names or any(name.startswith(BY_SYSTEM) for name in names)
    return bool(is_wide) or {SOURCE, TEXT} <= names or {IMAGE, CAPTION} <= names


def _record_file(opened: Opened, records: Wanted, first: Sequence[OpenTable], notes: Counter[str]) -> ItemFile:
    """Records with one text each, gathered by prompt; without a prompt they are an error."""
    found = Found(notes)
    fields = list(first[0].head.fields) if first else []
    if records.system is None and MODEL in fields:
        records = replace(records, system=MODEL)
    rows = opened_rows(opened, records, found)
    by_id = rows.ids if found.form is not None and rows.ids is not None and not rows.ids.null_count else None
    keys = next((column for column in (by_id, rows.contexts, rows.ids) if column is not None), None)
    if keys is None or keys.null_count == len(keys):
        seen = f" (fields are {quoted(fields)})" if fields else ""
        raise InputError(f"{opened.where}: texts without prompts{seen}; wanted the field 'prompt', or 'id'")
    if keys.null_count:
        notes[f"{opened.where}: {many(keys.null_count, 'text')} without a prompt left out"] += 1
    if keys is by_id:
        keys = _told_apart(keys, rows.contexts, rows.systems)
    lost = tuple(found.reading.lost.items())
    return ItemFile(opened.where, _gathered(rows, keys, opened), fields, are_records=True, lost=lost)


def _told_apart(ids: pa.Array, prompts: pa.Array | None, systems: pa.Array | None) -> pa.Array:
    """The ids, with the prompt where one system has several prompts of one id: logs of several tasks number each.

    Systems may have different prompts of one id, since each has a chat template of its own.
    """
    if prompts is None:
        return ids
    rows = list(zip(_values(systems, len(ids)), ids.to_pylist(), prompts.to_pylist(), strict=True))
    pairs = {(system, id_, prompt) for system, id_, prompt in rows if prompt is not None}
    counts = Counter((system, id_) for system, id_, _ in pairs)
    several = {id_ for (_, id_), count in counts.items() if count > 1}
    return pa.array([_with_prompt(id_, prompt) if id_ in several else id_ for _, id_, prompt in rows], ids.type)


def _with_prompt(id_: str, prompt: str | None) -> str:
    return id_ if prompt is None else f"{id_}: {prompt}"


def _gathered(rows: Rows, keys: pa.Array, opened: Opened) -> list[Entry]:
    """One entry per prompt, in the order in which prompts and texts appear."""
    texts: dict[str, dict[str, list[str]]] = {}
    classes: dict[str, dict[str, list[str]]] = {}
    prompts: dict[str, str | None] = {}
    columns = (rows.texts, rows.contexts, rows.systems, rows.partition)
    each = zip(keys.to_pylist(), *(_values(column, len(rows)) for column in columns), strict=True)
    for key, text, prompt, system, part in each:
        if key is None:
            continue
        prompts.setdefault(key, prompt)
        name = opened.name if system is None else system
        texts.setdefault(key, {}).setdefault(name, []).append(text or "")
        if part is not None:
            classes.setdefault(key, {}).setdefault(name, []).append(part)
    return [
        Entry(
            f"{opened.where}: prompt {number}",
            key,
            candidates={system: tuple(found) for system, found in written.items()},
            prompt=prompts[key],
            partitions={
                system: tuple(found)
                for system, found in classes.get(key, {}).items()
                if len(found) == len(written[system])
            },
        )
        for number, (key, written) in enumerate(texts.items(), 1)
    ]


def _values(column: pa.Array | None, size: int) -> list[str | None]:
    return [None] * size if column is None else column.to_pylist()


def united(base: ItemFile, further: Mapping[str, ItemFile]) -> list[Entry]:
    """The entries of several files with records, by prompt; a prompt need not be in all of them.

    A file with one system whose name another file has as well gives it its own name. Where one file has several prompts
    of one id, the id is told apart by the prompt in all of them.
    """
    told_apart = {entry.id for file in (base, *further.values()) for entry in file.entries}
    known = {entry.id: entry for entry in _renamed(base.entries, told_apart)}
    taken = _systems_of(base)
    for name, file in further.items():
        systems = _systems_of(file)
        new = {system: name if len(systems) == 1 and system in taken else system for system in systems}
        if twice := [system for system in new.values() if system in taken]:
            raise InputError(
                f"{file.where}: system {quoted(twice[:1])} is also in another file; wanted different names"
            )
        taken |= dict.fromkeys(new.values())
        for entry in _renamed(file.entries, told_apart):
            own = known.setdefault(entry.id, replace(entry, candidates={}, partitions={}))
            known[entry.id] = replace(
                own,
                candidates={**own.candidates, **{new[s]: texts for s, texts in entry.candidates.items()}},
                partitions={**own.partitions, **{new[s]: classes for s, classes in entry.partitions.items()}},
            )
    return list(known.values())


def _renamed(entries: Sequence[Entry], ids: set[str | None]) -> Iterator[Entry]:
    """The entries, with the prompt in the id where another file has it there."""
    for entry in entries:
        id_ = None if entry.id is None else _with_prompt(entry.id, entry.prompt)
        yield replace(entry, id=id_) if id_ in ids else entry


def _systems_of(file: ItemFile) -> dict[str, None]:
    return dict.fromkeys(system for entry in file.entries for system in entry.candidates)
