"""Entries of item files: what one file gives for one item, checked field by field."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from textassay.corpus.json_lines import kind_of
from textassay.corpus.printable import quoted
from textassay.corpus.values import check_text
from textassay.errors import InputError

# What a file is read for, and the field it must have.
Side = Literal["references", "candidates"]

ONE_SYSTEM = "candidate"
REFERENCES = ("references", "reference")
CANDIDATES = ("candidates", "candidate")
IDS = ("id", "_id")


@dataclass(frozen=True, slots=True)
class Entry:
    """One item of one file. `place` is its place in messages; `id` is None where the file gives none."""

    place: str
    id: str | None
    references: tuple[str, ...] = ()
    candidates: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    prompt: str | None = None


def entry_of(record: Any, place: str) -> Entry:
    """The entry of a JSON object; a missing field, null or an empty list means no texts and is not an error.

    >>> entry_of({"_id": 7, "reference": "a cat", "candidates": {"mle": ["cat", "dog"]}}, "x.jsonl:1").candidates
    {'mle': ('cat', 'dog')}
    """
    if not isinstance(record, Mapping):
        raise InputError(f"{place}: {kind_of(record)}; wanted an object with 'references' and 'candidates'")
    name, references = _field(record, REFERENCES, place)
    return Entry(
        place,
        id_of(record, place),
        texts_of(references, f"{place}: {quoted([name])}"),
        _systems(record, place),
        _prompt(record.get("prompt"), place),
    )


def id_of(record: Mapping[str, Any], place: str, *, names: tuple[str, ...] = IDS) -> str | None:
    """The id as a string; None where there is none, or a blank one."""
    value = next((record[name] for name in names if record.get(name) is not None), None)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, str | int):
        raise InputError(f"{place}: the id is {kind_of(value)}; wanted a string or a whole number")
    return check_text(str(value), f"{place}: the id") if str(value).strip() else None


def texts_of(value: Any, where: str) -> tuple[str, ...]:
    """A list of strings, one string alone, or null for none."""
    if value is None:
        return ()
    texts = [value] if isinstance(value, str) else value
    if not isinstance(texts, list):
        raise InputError(f"{where}: {kind_of(value)}; wanted a list of strings")
    for number, text in enumerate(texts, 1):
        if not isinstance(text, str):
            raise InputError(f"{where}: text {number} is {kind_of(text)}; wanted a string")
        check_text(text, f"{where}: text {number}")
    return tuple(texts)


def system_of(name: Any, where: str) -> str:
    """The name of a system: any string that is not blank."""
    if not isinstance(name, str):
        raise InputError(f"{where}: a system's name is {kind_of(name)}; wanted a string")
    if not name.strip():
        raise InputError(f"{where}: a system's name is blank; wanted a name")
    return check_text(name, f"{where}: a system's name")


def check_unique(ids: list[str], places: list[str]) -> None:
    """An error that names both places of the first id that comes twice."""
    known: dict[str, str] = {}
    for id_, place in zip(ids, places, strict=True):
        if id_ in known:
            raise InputError(f"{place}: id {quoted([id_])} is also at {known[id_]}; wanted one item per id")
        known[id_] = place


def _systems(record: Mapping[str, Any], place: str) -> dict[str, tuple[str, ...]]:
    name, written = _field(record, CANDIDATES, place)
    if isinstance(written, Mapping):
        return {
            system_of(system, place): texts_of(texts, f"{place}: candidates of {quoted([str(system)])}")
            for system, texts in written.items()
        }
    texts = texts_of(written, f"{place}: {quoted([name])}")
    # No text names no system: beside items with named systems, this one would be a stranger.
    return {ONE_SYSTEM: texts} if texts else {}


def _field(record: Mapping[str, Any], names: tuple[str, str], place: str) -> tuple[str, Any]:
    """The plural or the singular field, and what it holds."""
    there = [name for name in names if record.get(name) is not None]
    if len(there) > 1:
        raise InputError(f"{place}: both {quoted(there[:1])} and {quoted(there[1:])}; wanted one of them")
    return (there[0], record[there[0]]) if there else (names[0], None)


def _prompt(value: Any, place: str) -> str | None:
    if value is None:
        return None
    if not isinstance(value, str):
        raise InputError(f"{place}: 'prompt' is {kind_of(value)}; wanted a string")
    return check_text(value, f"{place}: 'prompt'")
