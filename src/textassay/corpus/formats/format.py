"""Format: how the files of one tool are recognised and read."""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from textassay.corpus.formats.record import Reading, Record, Refusal

Raw: TypeAlias = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Format:
    """The files of one tool.

    `fields` are sets of fields at the top of a record of which it has at least one whole set, and `column` is a pattern
    that one of its fields has; `matches` looks deeper.
    `text` is the path of the texts, for notes. `prompt`, `prompt_id` and `system` are the tool's own names for the
    fields of the prompt, of its id and of the system, by which groups and systems can be asked for besides `prompt`,
    `prompt_id` and `model`. `lists` are the paths of
    keys at which one JSON document has all records; of a long document they are read in parts.
    """

    name: str
    text: str
    fields: tuple[frozenset[str], ...]
    matches: Callable[[Raw], bool]
    read: Callable[[Iterator[Raw], Reading], Iterator[Record]]
    prompt: tuple[str, ...] = ()
    prompt_id: tuple[str, ...] = ()
    system: tuple[str, ...] = ()
    column: re.Pattern[str] | None = None
    lists: tuple[str, ...] = ()

    def may_have(self, present: set[str]) -> bool:
        """Whether a record with these fields may be of this format."""
        if self.column is not None and not any(map(self.column.fullmatch, present)):
            return False
        return any(needed <= present for needed in self.fields)

    def group_of(self, name: str) -> Callable[[Record], str | None] | None:
        """The group of a record by the name of a field; None where records have no such field."""
        if name in ("prompt", *self.prompt):
            return _prompt
        if name in ("prompt_id", *self.prompt_id):
            return _prompt_name
        return _system if self.is_system(name) else None

    def is_system(self, name: str) -> bool:
        """Whether a field of this name has the system of a text."""
        return name in ("system", "model", *self.system)


def _prompt(record: Record) -> str | None:
    return record.prompt if record.prompt is not None else record.prompt_id


def _prompt_name(record: Record) -> str | None:
    return record.prompt_name


def _system(record: Record) -> str | None:
    return record.system


def needs(*names: str) -> frozenset[str]:
    """A set of fields that a record of a format has."""
    return frozenset(names)


def any_record(_: Raw) -> bool:
    """Whether a record that has the fields of a format is of this format: always."""
    return True


def without_texts(name: str, fields: frozenset[str], matches: Callable[[Raw], bool], seen: str) -> Format:
    """A format that has no generated texts, so that its files are refused by what they are."""

    def read(_records: Iterator[Raw], _reading: Reading) -> Iterator[Record]:
        raise Refusal(seen)

    return Format(name, "", (fields,), matches, read)
