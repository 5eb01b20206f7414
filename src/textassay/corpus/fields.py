"""Which field of a record holds the text."""

from collections.abc import Callable

from textassay.corpus.errors import InputError
from textassay.corpus.printable import quoted

DEFAULT = "text"


def pick_field(names: list[str], where: str, *, field: str | None, textual: Callable[[], list[str]]) -> str:
    """The wanted field; by default `text`, else the only one that holds strings (`textual` finds those), else an error.

    >>> pick_field(["id", "caption"], "real.csv:1", field=None, textual=lambda: ["caption"])
    'caption'
    """
    wanted = DEFAULT if field is None else field
    if names.count(wanted) > 1:
        raise InputError(f"{where}: {names.count(wanted)} fields are called {quoted([wanted])}; wanted one")
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
