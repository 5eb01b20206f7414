"""Joining log-probabilities of a separate file to items: by id where both have ids, otherwise by text."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from textassay.corpus.errors import InputError
from textassay.corpus.printable import quoted
from textassay.corpus.rating_cells import context_of, log_probs_of, name_of_cell, required, text_of, values_of
from textassay.corpus.rating_columns import Columns
from textassay.corpus.rating_facts import Facts
from textassay.corpus.rating_sources import sources_in

Key = tuple[Any, ...]


def with_log_probs(facts: Facts, columns: Columns, notes: list[str]) -> Facts:
    """The items with the log-probabilities of these columns beside their own, which must be the same."""
    columns.need("log_prob", "nll")
    parts = _parts(facts, columns)
    theirs = list(zip(*[_column(columns, part) for part in parts], strict=True))
    ours = list(zip(*[_fact(facts, part) for part in parts], strict=True))
    found = _by_key(theirs, log_probs_of(columns), columns)
    _note_strange(theirs, set(ours), columns, notes)
    log_probs = list(facts.log_probs)
    for item, key in enumerate(ours):
        if key not in found:
            continue
        value, row = found[key]
        own = log_probs[item]
        if own is not None and own != value:
            raise InputError(
                f"{columns.places[row]}: log_prob {value} of item {quoted([facts.ids[item]])}; "
                f"{facts.places[item]} says {own}; wanted one log_prob an item"
            )
        log_probs[item] = value
    return replace(facts, log_probs=log_probs)


def _parts(facts: Facts, columns: Columns) -> list[str]:
    """What to match by: as little as tells items apart, and all that both sides know about a text."""
    source = ["source"] if "source" in columns else []
    by_text = "text" in columns and any(text is not None for text in facts.texts)
    if "item" in columns and facts.given is not None:
        if source or not facts.shared:
            return ["item", *source]
        if by_text:
            return ["item", "text"]
        raise _unmatched(columns, "a column 'source', as people and model share ids of items")
    if not by_text:
        raise _unmatched(columns, "'item' in both files, or 'text' in both")
    by_context = "context" in columns and any(context is not None for context in facts.contexts)
    return ["text", *source, *(["context"] if by_context else [])]


def _unmatched(columns: Columns, wanted: str) -> InputError:
    seen = f"columns are {quoted(columns.header)}"
    return InputError(f"{columns.head}: nothing to match log-probabilities by; {seen}; wanted {wanted}")


def _column(columns: Columns, part: str) -> Sequence[Any]:
    if part == "item":
        return required(values_of(columns, "item", name_of_cell), columns, "item")
    if part == "source":
        return sources_in(columns)
    return values_of(columns, part, text_of if part == "text" else context_of)


def _fact(facts: Facts, part: str) -> Sequence[Any]:
    if part == "item":
        return facts.given or []
    return facts.sources if part == "source" else facts.texts if part == "text" else facts.contexts


def _by_key(keys: list[Key], values: Sequence[float | None], columns: Columns) -> dict[Key, tuple[float, int]]:
    """The log-probability of each key and the row that has it; rows may repeat each other, but not differ."""
    found: dict[Key, tuple[float, int]] = {}
    for row, (key, value) in enumerate(zip(keys, values, strict=True)):
        if value is None:
            continue
        known, first = found.setdefault(key, (value, row))
        if known != value:
            what = quoted([str(key[0])])
            raise InputError(
                f"{columns.places[row]}: log_prob {value} of {what}; {columns.places[first]} says {known}; wanted one"
            )
    return found


def _note_strange(theirs: list[Key], ours: set[Key], columns: Columns, notes: list[str]) -> None:
    strange = sum(key not in ours for key in theirs)
    if strange:
        rows = f"{strange:,} row{'s match' if strange > 1 else ' matches'}"
        notes.append(f"{columns.where}: {rows} no item and {'are' if strange > 1 else 'is'} left out")
