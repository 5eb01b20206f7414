"""Paths to nested fields: `response.body.choices[0].message.content`, and `generations[*]` for all of a list."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from textassay.corpus.printable import listed, shortened

_STEP = re.compile(r"\.?([^.\[\]]+)|\[(-?\d+|\*)\]")
# A list is shown by its first value, and only so many paths of a record are listed.
_SHOWN = 12


@dataclass(frozen=True, slots=True)
class All:
    """Every value of a list: `[*]`."""


Step = str | int | All


def parse_path(path: str) -> tuple[Step, ...] | None:
    """The steps of a path, or None if a name is not one.

    >>> parse_path("choices[0].message"), parse_path("generations[*]"), parse_path("a b")
    (('choices', 0, 'message'), ('generations', All()), None)
    """
    if "." not in path and "[" not in path:
        return None
    steps: list[Step] = []
    end = 0
    for found in _STEP.finditer(path):
        if found.start() != end:
            return None
        end = found.end()
        steps.append(found[1] if found[1] is not None else All() if found[2] == "*" else int(found[2]))
    return tuple(steps) if steps and end == len(path) and isinstance(steps[0], str) else None


def values_at(record: Any, steps: Sequence[Step]) -> list[Any]:
    """The values at a path: one, several where the path has `[*]`, none where it leads nowhere.

    >>> values_at({"a": [{"b": 1}, {"b": 2}]}, ("a", All(), "b"))
    [1, 2]
    """
    found = [record]
    for step in steps:
        found = [inner for value in found for inner in _inner(value, step)]
    return found


def _inner(value: Any, step: Step) -> list[Any]:
    if isinstance(step, str):
        return [value[step]] if isinstance(value, Mapping) and step in value else []
    if not isinstance(value, list):
        return []
    if isinstance(step, All):
        return value
    return [value[step]] if -len(value) <= step < len(value) else []


def shown_paths(record: Any) -> str:
    """The paths of a record to strings, each with its value, for a message.

    >>> print(shown_paths({"id": 1, "choices": [{"text": "A cat."}, {"text": "A dog."}]}))
    choices[0].text ('A cat.')
    """
    found = [f"{shortened(path, 80)} ('{shortened(text, 30)}')" for path, text in _texts(record, "", depth=0)]
    return listed(found, _SHOWN) if found else "no field with a string"


def has_strings(value: Any) -> bool:
    """Whether a value holds a string, at any depth that messages show."""
    return next(_texts(value, "", depth=0), None) is not None


def _texts(value: Any, path: str, *, depth: int) -> Iterator[tuple[str, str]]:
    if isinstance(value, str):
        yield path, value
    elif depth > 12:
        return
    elif isinstance(value, Mapping):
        for name, inner in value.items():
            yield from _texts(inner, f"{path}.{name}" if path else str(name), depth=depth + 1)
    elif isinstance(value, list) and value:
        yield from _texts(value[0], f"{path}[0]", depth=depth + 1)
