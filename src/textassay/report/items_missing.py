"""Which items have no number, and why: a reason is said once, however many metrics and systems it meets."""

from collections.abc import Sequence
from dataclasses import dataclass

from textassay.corpus.counting import many
from textassay.corpus.printable import quoted
from textassay.studies.conditioned import Conditional, ItemOutcome, SystemColumn

_MOST_IDS, _MOST_LINES = 5, 12


@dataclass(frozen=True)
class Missing:
    """Items without a number for one reason, by the metrics and columns (systems, human) it holds for."""

    reason: str
    ids: tuple[str, ...]
    labels: tuple[str, ...]
    columns: tuple[str, ...]


def missing(conditional: Conditional) -> list[Missing]:
    """Why items have no number, the reasons that meet most items first."""
    met: dict[tuple[str, tuple[str, ...]], dict[str, list[str]]] = {}
    for column in (conditional.human, *conditional.systems):
        for place, label in enumerate(conditional.labels):
            for reason, found in _by_reason(column.items, place).items():
                met.setdefault((reason, tuple(found)), {}).setdefault(column.name, []).append(label)
    merged: dict[tuple[str, tuple[str, ...], tuple[str, ...]], list[str]] = {}
    for (reason, ids), columns in met.items():
        for name, labels in columns.items():
            merged.setdefault((reason, ids, tuple(labels)), []).append(name)
    entries = [Missing(reason, ids, labels, tuple(names)) for (reason, ids, labels), names in merged.items()]
    return sorted(entries, key=lambda entry: -len(entry.ids))


def _by_reason(items: Sequence[ItemOutcome], place: int) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for item in items:
        reason = item.results[place].undefined
        if reason is not None:
            found.setdefault(reason, []).append(item.id)
    return found


def missing_lines(conditional: Conditional, *, ids: bool) -> list[str]:
    """One line a reason; with `ids`, some of the items it meets. The most frequent come first, the rest are counted."""
    entries = missing(conditional)
    lines = [_line(entry, conditional, ids=ids) for entry in entries[:_MOST_LINES]]
    if len(entries) > _MOST_LINES:
        lines.append(f"no number for {len(entries) - _MOST_LINES} further reasons")
    return [
        *lines,
        *(line for column in (conditional.human, *conditional.systems) for line in _whole(column, conditional)),
    ]


def _line(entry: Missing, conditional: Conditional, *, ids: bool) -> str:
    where = []
    if len(entry.columns) < 1 + len(conditional.systems):
        where.append(", ".join(entry.columns))
    if len(entry.labels) < len(conditional.labels):
        where.append(", ".join(entry.labels))
    scope = f" ({': '.join(where)})" if where else ""
    listed = f": {quoted(list(entry.ids), _MOST_IDS)}" if ids else ""
    return f"no number on {len(entry.ids):,} of {many(len(conditional.items), 'item')}{scope}: {entry.reason}{listed}"


def _whole(column: SystemColumn, conditional: Conditional) -> list[str]:
    """Metrics without a number over all items."""
    return [
        f"{label}, {column.name}: no number: {result.undefined}"
        for label, result in zip(conditional.labels, column.results, strict=True)
        if result.undefined is not None
    ]
