"""Joining log-probabilities of a separate file to items, by id or by text, with its lengths and texts."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from textassay.corpus.printable import quoted
from textassay.corpus.ratings.columns import (
    Columns,
    Facts,
    context_of,
    length_of,
    log_probs_of,
    name_of_cell,
    required,
    shown,
    sources_in,
    text_of,
    values_of,
)
from textassay.errors import InputError

T = TypeVar("T")
Key = tuple[Any, ...]


def with_log_probs(facts: Facts, columns: Columns, notes: list[str]) -> Facts:
    """The items with the log-probabilities, lengths and texts of these columns beside their own.

    What both know must be the same: a text that differs shows that ids were matched that do not belong together.
    """
    columns.need("log_prob", "nll")
    parts = _parts(facts, columns)
    theirs = list(zip(*[_column(columns, part) for part in parts], strict=True))
    ours = list(zip(*[_fact(facts, part) for part in parts], strict=True))
    _note_strange(theirs, set(ours), columns, notes)
    join = _Join(facts, columns, theirs, ours)
    lengths, texts = facts.lengths, facts.texts
    # Texts are compared first: after a wrong join the numbers differ too, but a text shows the mistake best.
    if "text" in columns and "text" not in parts:
        texts = join.filled(texts, values_of(columns, "text", text_of), "text")
    if "length" in columns:
        lengths = join.filled(lengths, values_of(columns, "length", length_of), "length")
    log_probs = join.filled(facts.log_probs, log_probs_of(columns), "log_prob")
    return replace(facts, texts=texts, lengths=lengths, log_probs=log_probs)


@dataclass(frozen=True, eq=False)
class _Join:
    """The key of each row of the second file, and of each item."""

    facts: Facts
    columns: Columns
    theirs: list[Key]
    ours: list[Key]

    def filled(self, known: Sequence[T | None], values: Sequence[T | None], what: str) -> list[T | None]:
        """What is known of each item, with the values of its rows where nothing is; an error where they differ."""
        found = self._by_key(values, what)
        filled = list(known)
        for item, key in enumerate(self.ours):
            if key not in found:
                continue
            value, row = found[key]
            own = filled[item]
            if own is not None and own != value:
                raise InputError(
                    f"{self.columns.places[row]}: {what} {shown(value)} of item {quoted([self.facts.ids[item]])}; "
                    f"{self.facts.places[item]} has {shown(own)}; wanted one {what} per item"
                )
            filled[item] = value
        return filled

    def _by_key(self, values: Sequence[T | None], what: str) -> dict[Key, tuple[T, int]]:
        """The value of each key and the row that has it; rows may repeat each other, but not differ."""
        found: dict[Key, tuple[T, int]] = {}
        places = self.columns.places
        for row, (key, value) in enumerate(zip(self.theirs, values, strict=True)):
            if value is None:
                continue
            known, first = found.setdefault(key, (value, row))
            if known != value:
                raise InputError(
                    f"{places[row]}: {what} {shown(value)} of {quoted([str(key[0])])}; "
                    f"{places[first]} has {shown(known)}; wanted one"
                )
        return found


def _parts(facts: Facts, columns: Columns) -> list[str]:
    """What to match by: as little as tells items apart, and all that both sides know about a text."""
    source = ["source"] if "source" in columns else []
    by_text = "text" in columns and any(text is not None for text in facts.texts)
    if "item" in columns and facts.given is not None:
        if source or not facts.shared:
            return ["item", *source]
        if by_text:
            return ["item", "text"]
        raise _unmatched(columns, "a column 'source', because human and model texts share item ids")
    if not by_text:
        raise _unmatched(columns, "'item' in both files, or 'text' in both")
    by_context = "context" in columns and any(context is not None for context in facts.contexts)
    return ["text", *source, *(["context"] if by_context else [])]


def _unmatched(columns: Columns, wanted: str) -> InputError:
    seen = f"columns are {quoted(columns.header)}"
    return InputError(f"{columns.head}: no column to match log-probabilities by; {seen}; wanted {wanted}")


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


def _note_strange(theirs: list[Key], ours: set[Key], columns: Columns, notes: list[str]) -> None:
    strange = sum(key not in ours for key in theirs)
    if strange:
        rows = f"{strange:,} row{'s match' if strange > 1 else ' matches'}"
        notes.append(f"{columns.where}: {rows} no item and {'are' if strange > 1 else 'is'} left out")
