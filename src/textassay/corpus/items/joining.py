"""Joining item files: candidates of several systems put to the references, by id where both have ids, else by order."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace

from textassay.corpus.items.entries import Entry, check_unique
from textassay.corpus.items.item_files import ItemFile
from textassay.corpus.printable import many, quoted
from textassay.errors import InputError

_LISTED = 3


def joined(base: ItemFile, systems: Mapping[str, ItemFile], notes: Counter[str]) -> list[Entry]:
    """The entries of the first file with the candidates of each further file under its system's name."""
    if not systems:
        return base.entries
    taken = {system for entry in base.entries for system in entry.candidates}
    columns: dict[str, list[tuple[str, ...] | None]] = {}
    for system, file in systems.items():
        if system in taken:
            raise InputError(
                f"{file.where}: system {quoted([system])} is also in {base.where}; wanted each system in one place"
            )
        columns[system] = _matched(base, file, notes)
    return [
        replace(
            entry,
            candidates={
                **entry.candidates,
                **{system: texts for system, column in columns.items() if (texts := column[place]) is not None},
            },
        )
        for place, entry in enumerate(base.entries)
    ]


def _matched(base: ItemFile, file: ItemFile, notes: Counter[str]) -> list[tuple[str, ...] | None]:
    """A system's texts for each entry of the first file, None where it has nothing."""
    texts = _texts(file, notes)
    known = [entry.id is not None for entry in base.entries]
    given = [entry.id is not None for entry in file.entries]
    ids = [entry.id for entry in file.entries if entry.id is not None]
    check_unique(ids, [entry.place for entry in file.entries if entry.id is not None])
    if all(known) and all(given):
        by_id = dict(zip(ids, texts, strict=True))
        _check_known(base, file, ids)
        return [by_id.get(entry.id or "") for entry in base.entries]
    if any(known) and any(given):
        lacking = next(entry for entry in (*base.entries, *file.entries) if entry.id is None)
        raise InputError(f"{lacking.place}: no id, but other items have one; wanted ids in all or in none")
    if len(texts) != len(known):
        raise InputError(
            f"{file.where}: {many(len(texts), 'item')}; {base.where} has {len(known):,}; wanted as many, or ids in both"
        )
    if ids:
        notes[f"{file.where}: matched by order, because {base.where} has no ids"] += 1
    return list(texts)


def _texts(file: ItemFile, notes: Counter[str]) -> list[tuple[str, ...]]:
    """The candidates of the one system of a file, entry by entry."""
    names = list(dict.fromkeys(system for entry in file.entries for system in entry.candidates))
    if len(names) > 1:
        raise InputError(f"{file.where}: candidates of {quoted(names)}; wanted one system in each candidate file")
    texts = [next(iter(entry.candidates.values()), ()) for entry in file.entries]
    if not any(texts):
        raise InputError(
            f"no candidates in {file.where}{file.seen_fields}; wanted a field 'candidates', or one per line in .txt"
        )
    if any(entry.references for entry in file.entries):
        notes[f"{file.where}: its references left out"] += 1
    return texts


def _check_known(base: ItemFile, file: ItemFile, ids: list[str]) -> None:
    known = {entry.id for entry in base.entries}
    strange = [id_ for id_ in ids if id_ not in known]
    if strange:
        seen = f"{many(len(strange), 'id')} {'are' if len(strange) > 1 else 'is'}"
        raise InputError(f"{file.where}: {seen} not in {base.where}: {quoted(strange, _LISTED)}; wanted ids it has")
