"""Joining item files: candidates of several systems put to the references, by id where both have ids, else by order."""

import os
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from textassay.corpus.files import STDIN, name_of
from textassay.corpus.items.entries import Entry, check_unique, system_of
from textassay.corpus.items.item_files import ItemFile
from textassay.corpus.printable import many, printable, quoted
from textassay.errors import InputError

AnyPath = str | os.PathLike[str]

_LISTED = 3


def system_paths(candidates: Sequence[AnyPath] | Mapping[str, AnyPath] | AnyPath) -> dict[str, str]:
    """Candidate files by the name of their system; files of one name are told apart by their folder, then by number.

    >>> system_paths(["runs/mle.txt", "a/gan.jsonl", "b/gan.jsonl"])
    {'mle': 'runs/mle.txt', 'a/gan': 'a/gan.jsonl', 'b/gan': 'b/gan.jsonl'}
    """
    if isinstance(candidates, Mapping):
        return {system_of(name, "candidates"): os.fsdecode(path) for name, path in candidates.items()}
    if isinstance(candidates, str | os.PathLike):
        candidates = [candidates]
    paths = [os.fsdecode(path) for path in candidates]
    counts = Counter(map(name_of, paths))
    named: dict[str, str] = {}
    for path in paths:
        name = name_of(path)
        folder = printable(Path(path).parent.name)
        if counts[name] > 1 and folder:
            name = f"{folder}/{name}"
        unique, number = name, 2
        while unique in named:
            unique, number = f"{name} ({number})", number + 1
        named[unique] = path
    return named


def check_stdin_once(paths: list[str]) -> None:
    """Standard input can be read once only."""
    if paths.count(STDIN) > 1:
        raise InputError(f"stdin: given {paths.count(STDIN)} times; wanted at most one '-'")


def joined(base: ItemFile, systems: Mapping[str, ItemFile], notes: Counter[str]) -> list[Entry]:
    """The entries of the first file with the candidates of each further file under its system's name."""
    if not systems:
        return base.entries
    taken = {system for entry in base.entries for system in entry.candidates}
    columns: dict[str, list[tuple[str, ...] | None]] = {}
    for system, file in systems.items():
        if system in taken:
            raise InputError(
                f"{file.where}: system {quoted([system])} is also in {base.where}; wanted one place a system"
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
        notes[f"{file.where}: matched by order, as {base.where} has no ids"] += 1
    return list(texts)


def _texts(file: ItemFile, notes: Counter[str]) -> list[tuple[str, ...]]:
    """The candidates of the one system of a file, entry by entry."""
    names = list(dict.fromkeys(system for entry in file.entries for system in entry.candidates))
    if len(names) > 1:
        raise InputError(f"{file.where}: candidates of {quoted(names)}; wanted one system in each candidate file")
    texts = [next(iter(entry.candidates.values()), ()) for entry in file.entries]
    if not any(texts):
        raise InputError(
            f"no candidates in {file.where}{file.seen_fields}; wanted a field 'candidates', or one a line in .txt"
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
