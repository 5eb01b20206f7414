"""ItemSet: items that each have references, candidates of one or more systems, and perhaps a prompt."""

import hashlib
import json
import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

from textassay.corpus.decoding import check_encoding
from textassay.corpus.errors import InputError
from textassay.corpus.item_files import ItemFile, read_entries
from textassay.corpus.item_join import AnyPath, check_stdin_once, joined, system_paths
from textassay.corpus.item_notes import has_candidates, odd_about
from textassay.corpus.item_objects import object_entries
from textassay.corpus.item_records import check_unique
from textassay.corpus.printable import shortened
from textassay.corpus.sources import name_of

_BEHIND = "give candidate files behind it, or a field 'candidates'"
_FIELD = "wanted a field 'candidates'"


@dataclass(frozen=True, slots=True)
class Item:
    """One input: what people wrote for it, and what each system wrote. Either may be nothing."""

    id: str
    references: tuple[str, ...]
    candidates: dict[str, tuple[str, ...]]
    prompt: str | None = None


@dataclass(frozen=True, slots=True)
class ItemSet:
    """Items with a name and a digest of their content; `notes` says what is odd about them.

    >>> item = Item("1", ("a cat", "the cat"), {"mle": ("a cat",), "gan": ("cat cat",)})
    >>> ItemSet.of([item], name="pets").systems
    ('mle', 'gan')
    """

    name: str
    digest: str
    items: tuple[Item, ...]
    notes: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.items)

    @property
    def systems(self) -> tuple[str, ...]:
        """The systems in the order they appear."""
        return tuple(dict.fromkeys(system for item in self.items for system in item.candidates))

    @classmethod
    def of(cls, items: Sequence[Item], *, name: str = "items", notes: tuple[str, ...] = ()) -> Self:
        """Build a set of items, with notes on what is missing, on blank texts and on unequal numbers of candidates."""
        return cls(name, _digest(items), tuple(items), (*notes, *odd_about(items)))


ItemSource = ItemSet | str | os.PathLike[str] | Iterable[Any]


def read_items(
    source: AnyPath,
    *,
    candidates: Sequence[AnyPath] | Mapping[str, AnyPath] = (),
    name: str | None = None,
    encoding: str = "utf-8",
) -> ItemSet:
    """Read items from a file with references, and perhaps candidates, and from further files with a system each.

    The first file, plain, `.gz` or `.zst`, is one of

    - `.jsonl` (one object per line) or `.json` (a list of objects, or JSON Lines): `references` and `candidates`,
      perhaps `prompt` and `id` (or `_id`). References are a list or one string. Candidates are too (of one system,
      called "candidate"), or an object with a list for each system.
    - `.csv`, `.tsv` or `.parquet`, one row per item: the columns `references` and `candidates`, or `candidates.NAME`
      for each system, perhaps `id` and `prompt`. A cell that begins with `[` is a JSON list of strings, any other is
      one text, also an empty one. Cells of Parquet may be lists.
    - `.csv`, `.tsv` or `.parquet`, one row per text: the columns `id`, `source` (`reference` or the name of a system)
      and `text`.
    - COCO's caption annotations: an object with `annotations`, whose captions are references by image.

    `candidates` are further files by the name of their system, or a list of them, named by their stems: any of these
    forms with candidates, a list of COCO results (`image_id` and `caption`), or `.txt` with one candidate a line. They
    are matched by id where both files have ids, otherwise by order. Items without an id are numbered from 1.
    """
    path = os.fsdecode(source)
    encoding = check_encoding(encoding)
    paths = system_paths(candidates)
    check_stdin_once([path, *paths.values()])
    notes: Counter[str] = Counter()
    base = read_entries(path, side="references", encoding=encoding, notes=notes)
    systems = {
        system: read_entries(further, side="candidates", encoding=encoding, notes=notes)
        for system, further in paths.items()
    }
    return _item_set(base, systems, name=name_of(path) if name is None else name, notes=notes)


def as_items(value: ItemSource, *, name: str | None = None) -> ItemSet:
    """Items from a set of them, a path, items, dicts with the fields of a JSON object, or a data frame.

    A data frame has the columns of a `.csv` file, a cell being a list or a string; also here a string that begins with
    `[` must be a JSON list, so that a frame that was read from such a file means the same.

    >>> as_items([{"references": ["a cat", "the cat"], "candidates": ["a dog"]}]).items[0].candidates
    {'candidate': ('a dog',)}
    """
    if isinstance(value, ItemSet):
        return value
    if isinstance(value, str | os.PathLike):
        return read_items(value, name=name)
    called = "items" if name is None else name
    return _item_set(object_entries(value, shortened(called)), {}, name=called, notes=Counter(), wanted=_FIELD)


def _item_set(
    base: ItemFile, systems: Mapping[str, ItemFile], *, name: str, notes: Counter[str], wanted: str = _BEHIND
) -> ItemSet:
    """The items of a first file and of candidates by system; `wanted` is said where there are no candidates at all."""
    if not base.entries:
        raise InputError(f"{base.where}: no items; wanted 'references' and 'candidates' of at least one")
    if not any(entry.references for entry in base.entries):
        raise InputError(f"no references in {base.where}{base.seen_fields}; wanted a field 'references'")
    ids = [str(number) if entry.id is None else entry.id for number, entry in enumerate(base.entries, 1)]
    check_unique(ids, [entry.place for entry in base.entries])
    entries = joined(base, systems, notes)
    if not any(has_candidates(entry) for entry in entries):
        raise InputError(f"no candidates in {base.where}{base.seen_fields}; {wanted}")
    items = [
        Item(id_, entry.references, dict(entry.candidates), entry.prompt)
        for id_, entry in zip(ids, entries, strict=True)
    ]
    told = tuple(note if count == 1 else f"{note} ({count} files)" for note, count in notes.items())
    return ItemSet.of(items, name=name, notes=told)


def _digest(items: Sequence[Item]) -> str:
    content = [[item.id, item.references, list(item.candidates.items()), item.prompt] for item in items]
    return hashlib.blake2b(json.dumps(content).encode(), digest_size=8).hexdigest()
