"""Which fields of a record hold the text, its group, its context and its id."""

from collections.abc import Callable
from dataclasses import dataclass

from textassay.corpus.errors import InputError
from textassay.corpus.printable import quoted

DEFAULT = "text"
# What a text was written for, and what it is known by, wherever records carry them under a usual name.
CONTEXTS = ("prompt", "instruction", "question", "context", "input")
IDS = ("id", "uid")


@dataclass(frozen=True, slots=True)
class Wanted:
    """The fields asked for: of the text (None leaves the choice to the reader) and of its group (None for no groups).

    With `beside`, contexts and ids are read too where there are any.
    """

    text: str | None = None
    group: str | None = None
    beside: bool = True


@dataclass(frozen=True, slots=True)
class Layout:
    """The fields that are read from one source."""

    text: str
    group: str | None = None
    contexts: tuple[str, ...] = ()
    id: str | None = None

    @property
    def names(self) -> list[str]:
        """Every field that is read, once."""
        several = (self.text, self.group, *self.contexts, self.id)
        return list(dict.fromkeys(name for name in several if name is not None))


def layout_of(names: list[str], where: str, wanted: Wanted, *, textual: Callable[[], list[str]]) -> Layout:
    """The fields to read from a source with these names; the group's field is never taken for the text.

    >>> layout_of(["id", "prompt", "output"], "x.csv:1", Wanted(group="prompt"), textual=lambda: ["prompt", "output"])
    Layout(text='output', group='prompt', contexts=('prompt',), id='id')
    """
    group = wanted.group
    if group is not None:
        _check_group(names, where, wanted)
    left = [name for name in names if name != group]
    text = pick_field(left, where, field=wanted.text, textual=lambda: [name for name in textual() if name != group])
    if not wanted.beside:
        return Layout(text, group)
    others = [name for name in names if name != text and names.count(name) == 1]
    contexts = tuple(name for name in CONTEXTS if name in others)
    return Layout(text, group, contexts, next((name for name in IDS if name in others), None))


def pick_field(names: list[str], where: str, *, field: str | None, textual: Callable[[], list[str]]) -> str:
    """The wanted field; by default `text`, else the only one that holds strings (`textual` finds those), else an error.

    >>> pick_field(["id", "caption"], "real.csv:1", field=None, textual=lambda: ["caption"])
    'caption'
    """
    wanted = DEFAULT if field is None else field
    _check_once(names, where, wanted)
    if wanted in names:
        return wanted
    candidates = textual() if field is None else []
    if len(candidates) != 1 or names.count(candidates[0]) > 1:
        raise no_field(names, where, field=wanted)
    return candidates[0]


def no_field(names: list[str], where: str, *, field: str, hint: str = " (use --field)") -> InputError:
    """The error for a record that lacks a field, which lists those it has."""
    seen = f"fields are {quoted(names)}{hint}" if names else "there are no fields"
    return InputError(f"{where}: no field {quoted([field])}; {seen}")


def no_groups(where: str, group: str, *, seen: str) -> InputError:
    """The error for texts that come without fields where groups are asked for."""
    records = "records: .jsonl, .json, .csv, .tsv or .parquet, dicts, a data frame or a dataset"
    return InputError(f"{where}: {seen}, so there is no field {quoted([group])} for the groups; wanted {records}")


def _check_group(names: list[str], where: str, wanted: Wanted) -> None:
    group = wanted.group or ""
    if group == wanted.text:
        raise InputError(f"{where}: {quoted([group])} is asked for as text and as group; wanted two fields")
    if group not in names:
        raise no_field(names, where, field=group, hint="; wanted the field of the groups")
    _check_once(names, where, group)


def _check_once(names: list[str], where: str, name: str) -> None:
    if names.count(name) > 1:
        raise InputError(f"{where}: {names.count(name)} fields are called {quoted([name])}; wanted one")
