"""Which tool wrote a file: every format that is known, recognised by the structure of its first record."""

from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any

from textassay.corpus.formats import batches, chat, harnesses, promptfoo, traces, trainers
from textassay.corpus.formats.format import Format

# The first that matches counts, so formats with more particular fields come first.
FORMATS: tuple[Format, ...] = tuple(
    chain(harnesses.FORMATS, batches.FORMATS, promptfoo.FORMATS, traces.FORMATS, trainers.FORMATS, chat.FORMATS)
)

# The paths where documents of these formats have their records.
LISTS = frozenset(tuple(path.split(".")) for form in FORMATS for path in form.lists)


def has_list(document: Mapping[str, Any], path: tuple[str, ...]) -> bool:
    """Whether a document, or its beginning, is of a format that has its records at this path."""
    form = recognise(document)
    return form is not None and ".".join(path) in form.lists


def possible_formats(names: Sequence[str]) -> list[Format]:
    """The formats whose records may have these fields."""
    present = set(names)
    return [form for form in FORMATS if form.may_have(present)]


def recognise(record: Mapping[str, Any]) -> Format | None:
    """The format of a file with this first record, or None if no tool is known that writes it."""
    possible = possible_formats([str(name) for name in record])
    return next((form for form in possible if form.matches(record)), None)
