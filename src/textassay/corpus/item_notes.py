"""Notes on items: what is missing, what is blank, and systems with unequal numbers of candidates."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Protocol

from textassay.corpus.counting import many
from textassay.corpus.printable import quoted

_LISTED = 12


class Written(Protocol):
    """An item, or an entry that is to become one."""

    @property
    def references(self) -> tuple[str, ...]: ...

    @property
    def candidates(self) -> Mapping[str, tuple[str, ...]]: ...


def has_candidates(item: Written) -> bool:
    """Whether any system wrote anything."""
    return any(item.candidates.values())


def odd_about(items: Sequence[Written]) -> Iterator[str]:
    """One sentence for each thing that is odd; none of them is an error."""
    yield from _missing(items)
    # Blank texts stay: a system that wrote nothing did answer, and leaving it out would flatter it.
    blank = sum(not text.strip() for item in items for texts in item.candidates.values() for text in texts)
    if blank:
        yield f"{many(blank, 'blank candidate')} kept"
    blank = sum(not text.strip() for item in items for text in item.references)
    if blank:
        yield f"{many(blank, 'blank reference')} kept"
    yield from _uneven(items)


def _missing(items: Sequence[Written]) -> Iterator[str]:
    counts = {
        "no candidates": sum(not has_candidates(item) for item in items),
        "no reference": sum(not item.references for item in items),
        "one reference": sum(len(item.references) == 1 for item in items),
    }
    for what, count in counts.items():
        if count:
            yield f"{count:,} of {len(items):,} items {'has' if count == 1 else 'have'} {what}"


def _uneven(items: Sequence[Written]) -> Iterator[str]:
    """Systems that miss items which others have, and numbers of candidates that are not the same everywhere."""
    sizes: dict[str, list[int]] = {}
    for item in items:
        for system, texts in item.candidates.items():
            sizes.setdefault(system, []).extend([len(texts)] if texts else [])
    answered = sum(map(has_candidates, items))
    for system, counts in sizes.items():
        if len(counts) < answered:
            yield f"{quoted([system])} has candidates for {len(counts):,} of {many(len(items), 'item')}"
    spans = {system: _span(counts) for system, counts in sizes.items() if counts}
    if len(set(spans.values())) > 1:
        listed = [f"{quoted([system])} {span}" for system, span in spans.items()]
        rest = f" and {many(len(listed) - _LISTED, 'more system')}" if len(listed) > _LISTED else ""
        yield f"candidates an item: {', '.join(listed[:_LISTED])}{rest}"
    elif any(len(set(counts)) > 1 for counts in sizes.values()):
        system, span = next(iter(spans.items()))
        yield f"{quoted([system]) if len(spans) == 1 else 'each system'} has {span} candidates an item"


def _span(counts: Sequence[int]) -> str:
    low, high = min(counts), max(counts)
    return str(low) if low == high else f"{low} to {high}"
