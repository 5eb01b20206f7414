"""ItemSet: items that each have references, candidates of one or more systems, and perhaps a prompt."""

import hashlib
import json
import os
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Self

from textassay.corpus.decoding import check_encoding, text_blocks
from textassay.corpus.errors import InputError
from textassay.corpus.fields import no_field
from textassay.corpus.jsonl import decode_json, json_lines, seen
from textassay.corpus.printable import quoted, shortened
from textassay.corpus.sources import Source, byte_blocks, name_of, sources_of
from textassay.corpus.strings import check_text

ONE_SYSTEM = "candidate"
_IDS = ("id", "_id")


@dataclass(frozen=True, slots=True)
class Item:
    """One input: what people wrote for it, and what each system wrote."""

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
    def of(cls, items: list[Item], *, name: str = "items", notes: tuple[str, ...] = ()) -> Self:
        """Build a set of items, with notes on blank texts and on systems that miss items."""
        return cls(name, _digest(items), tuple(items), (*notes, *_oddities(items)))


def read_items(source: str | os.PathLike[str], *, name: str | None = None, encoding: str = "utf-8") -> ItemSet:
    """Read items from `.jsonl` (an object a line) or `.json` (a list of objects), plain, `.gz` or `.zst`.

    An object has `references` and `candidates`, and may have a `prompt` and an `id` (or `_id`); items without an id are
    numbered from 1. Candidates are a list (of one system, called "candidate") or an object of lists, one a system.
    """
    path = os.fsdecode(source)
    notes: Counter[str] = Counter()
    encoding = check_encoding(encoding)
    items: list[Item] = []
    places: dict[str, str] = {}
    for file in sources_of(path):
        for place, record in _records(file, encoding, notes):
            item = _item(record, place, number=len(items) + 1)
            if item.id in places:
                raise InputError(f"{place}: id {quoted([item.id])} is also at {places[item.id]}; wanted one item an id")
            places[item.id] = place
            items.append(item)
    if not items:
        raise InputError(f"{shortened(path)}: no items; wanted objects with 'references' and 'candidates'")
    return ItemSet.of(items, name=name_of(path) if name is None else name, notes=tuple(notes))


def _records(file: Source, encoding: str, notes: Counter[str]) -> Iterator[tuple[str, Any]]:
    """Each record with its place, for messages."""
    if file.kind not in ("json", "jsonl", None):
        raise InputError(f"{file.where}: not JSON by its name; wanted items as .jsonl or .json")
    blocks = text_blocks(byte_blocks(file), file.where, encoding=encoding, notes=notes)
    if file.kind == "json":
        yield from _listed("".join(blocks), file.where)
        return
    number = blank = 0
    for block in blocks:
        for line in json_lines(block):
            number += 1
            if line.strip():
                yield f"{file.where}:{number}", decode_json(line, f"{file.where}:{number}")
            else:
                blank += 1
    if blank:
        notes[f"{file.where}: {blank} blank line{'s' if blank > 1 else ''} left out"] += 1


def _listed(text: str, where: str) -> Iterator[tuple[str, Any]]:
    if not text.strip():
        return
    records = decode_json(text, where)
    if not isinstance(records, list):
        raise InputError(f"{where}: {seen(records)}; wanted a list of objects")
    for number, record in enumerate(records, 1):
        yield f"{where}: item {number}", record


def _item(record: Any, place: str, *, number: int) -> Item:
    if not isinstance(record, dict):
        raise InputError(f"{place}: {seen(record)}; wanted an object with 'references' and 'candidates'")
    for field in ("references", "candidates"):
        if field not in record:
            raise no_field(list(record), place, field=field, hint="")
    candidates = record["candidates"]
    if not isinstance(candidates, dict):
        candidates = {ONE_SYSTEM: candidates}
    if not candidates:
        raise InputError(f"{place}: 'candidates' names no system; wanted at least one")
    systems = {
        check_text(system, f"{place}: a system's name"): _texts(texts, f"{place}: candidates of {quoted([system])}")
        for system, texts in candidates.items()
    }
    references = _texts(record["references"], f"{place}: 'references'")
    return Item(_id(record, place, number), references, systems, _prompt(record.get("prompt"), place))


def _texts(value: Any, where: str) -> tuple[str, ...]:
    """One string or a list of them, at least one."""
    texts = [value] if isinstance(value, str) else value
    if not isinstance(texts, list):
        raise InputError(f"{where}: {seen(value)}; wanted a list of strings")
    if not texts:
        raise InputError(f"{where}: an empty list; wanted at least one text")
    for number, text in enumerate(texts, 1):
        if not isinstance(text, str):
            raise InputError(f"{where}: text {number} is {seen(text)}; wanted a string")
        check_text(text, f"{where}: text {number}")
    return tuple(texts)


def _id(record: dict[str, Any], place: str, number: int) -> str:
    value = next((record[key] for key in _IDS if record.get(key) is not None), number)
    if isinstance(value, bool) or not isinstance(value, str | int):
        raise InputError(f"{place}: the id is {seen(value)}; wanted a string or a whole number")
    return check_text(str(value), f"{place}: the id")


def _prompt(value: Any, place: str) -> str | None:
    if value is None:
        return None
    if not isinstance(value, str):
        raise InputError(f"{place}: 'prompt' is {seen(value)}; wanted a string")
    return check_text(value, f"{place}: 'prompt'")


def _digest(items: list[Item]) -> str:
    content = [[item.id, item.references, list(item.candidates.items()), item.prompt] for item in items]
    return hashlib.blake2b(json.dumps(content).encode(), digest_size=8).hexdigest()


def _oddities(items: list[Item]) -> Iterator[str]:
    # Blank texts stay: a system that wrote nothing did answer, and leaving it out would flatter it.
    written = Counter(system for item in items for system in item.candidates)
    blank = sum(not text.strip() for item in items for texts in item.candidates.values() for text in texts)
    if blank:
        yield f"{blank} blank candidate{'s' if blank > 1 else ''} kept"
    blank = sum(not text.strip() for item in items for text in item.references)
    if blank:
        yield f"{blank} blank reference{'s' if blank > 1 else ''} kept"
    for system, count in written.items():
        if count < len(items):
            yield f"{quoted([system])} has candidates for {count} of {len(items)} items"
