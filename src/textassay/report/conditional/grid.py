"""The metric table of a conditional study, missing results, and differences between systems."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from textassay.corpus.printable import many, quoted, shortened
from textassay.inference.p_values import holm, is_significant
from textassay.inference.result import Result
from textassay.report.conditional.words import OTHER_TESTS, part_sizes
from textassay.report.table import ARROWS, MARK, TITLES, cell, clarity, level_text, spread
from textassay.studies.conditional.result import Conditional, ItemOutcome, SystemColumn, chance_of
from textassay.studies.conditional.verdict import p_at_most
from textassay.studies.outcome import Contest
from textassay.studies.wording import number, p_text

BETTER = {"higher": "higher is better", "lower": "lower is better", "closer": "closer to human is better"}


@dataclass(frozen=True)
class Figure:
    """A cell as shown: `detail` is brought up by a pointer, `note` is the number of a footnote or 0."""

    estimate: str
    spread: str = ""
    p: str = ""
    marked: bool = False
    chance: str = ""
    items: str = ""
    detail: str = ""
    note: int = 0


@dataclass(frozen=True)
class Line:
    """A metric's row; `better` is empty in the row beneath it, of parts as small as the human ones."""

    label: str
    sign: str
    better: str
    human: Figure
    figures: tuple[Figure, ...]


@dataclass(frozen=True)
class Combined:
    """The combined test of one metric and system, and other ways to combine the items' p-values."""

    label: str
    system: str
    p: float
    p_words: str
    adjusted: float
    z: float
    others: tuple[float, ...]
    items: float


@dataclass(frozen=True)
class ItemGrid:
    """The whole table: rows by aspect, footnotes in order, and what it has at all."""

    groups: tuple[tuple[str, tuple[Line, ...]], ...]
    notes: tuple[str, ...]
    combined: tuple[Combined, ...]
    intervals: bool
    again: bool


def item_grid(conditional: Conditional) -> ItemGrid:
    """The table, quality first, then diversity, then what joins both."""
    notes: dict[str, int] = {}
    adjusted = conditional.adjusted()
    groups = []
    for aspect, title in TITLES.items():
        places = [place for place, result in enumerate(conditional.human.results) if result.aspect == aspect]
        lines = [line for place in places for line in _lines(conditional, place, adjusted, notes)]
        groups += [(title, tuple(lines))] if lines else []
    return ItemGrid(
        groups=tuple(groups),
        notes=tuple(notes),
        combined=tuple(_combined(conditional, adjusted)),
        intervals=any(result.interval is not None for s in conditional.systems for result in s.results),
        again=any(system.at_baseline_size for system in conditional.systems),
    )


def _lines(
    conditional: Conditional, place: int, adjusted: tuple[tuple[float, ...], ...], notes: dict[str, int]
) -> list[Line]:
    label, human = conditional.labels[place], conditional.human.results[place]
    people = _figure(human, math.nan, conditional.human, notes, level=conditional.level)
    whole = Line(
        label=shortened(label, 60),
        sign=ARROWS.get(human.better, ""),
        better=BETTER.get(human.better, human.better),
        # Each reference stands on both sides in turn: by chance people score what they score.
        human=replace(people, chance=""),
        figures=tuple(
            _figure(system.results[place], p[place], system, notes, level=conditional.level)
            for system, p in zip(conditional.systems, adjusted, strict=True)
        ),
    )
    again = [system.at_baseline_size.get(label) for system in conditional.systems]
    if not any(again):
        return [whole]
    smaller = [
        Figure("") if result is None else _figure(result, math.nan, system, notes, level=conditional.level)
        for system, result in zip(conditional.systems, again, strict=True)
    ]
    # Of the row beneath only the size differs: what was said above is not said again.
    bare = tuple(replace(figure, chance="", items="") for figure in smaller)
    size = part_sizes(human, conditional.human_sizes)
    return [replace(whole, human=Figure("")), Line(f"at {size}", "", "", whole.human, bare)]


def _figure(result: Result, adjusted: float, column: SystemColumn, notes: dict[str, int], *, level: float) -> Figure:
    shown = cell(result, adjusted, level=level)
    measured = result.parts.get("items", math.nan)
    p = (math.nan if result.p_value is None else result.p_value) if math.isnan(adjusted) else adjusted
    return Figure(
        estimate=shown.estimate,
        spread=shown.spread,
        p="" if math.isnan(p) else p_text(p),
        marked=shown.marked,
        chance="" if math.isnan(chance_of(result)) else number(chance_of(result)),
        items=f"{measured:,.0f}" if measured < len(column.items) else "",
        detail=_detail(result, level),
        note=0 if result.undefined is None else _noted(f"No number: {shortened(result.undefined, 160)}.", notes),
    )


def _detail(result: Result, level: float) -> str:
    said = []
    if result.interval is not None and result.undefined is None:
        said.append(f"{level_text(level)} interval {number(result.interval.low)} to {number(result.interval.high)}")
    if result.p_value is not None:
        said.append(f"p {p_at_most(result)} before adjustment")
    return ", ".join(said)


def _noted(reason: str, notes: dict[str, int]) -> int:
    """The number of a footnote; the same reason is written once."""
    return notes.setdefault(reason, len(notes) + 1)


def _combined(conditional: Conditional, adjusted: tuple[tuple[float, ...], ...]) -> list[Combined]:
    return [
        Combined(
            shortened(label, 60),
            system.name,
            result.p_value,
            p_at_most(result),
            p[place],
            _part(result.parts, "z"),
            tuple(_part(result.parts, name) for name in OTHER_TESTS),
            _part(result.parts, "items"),
        )
        for place, label in enumerate(conditional.labels)
        for system, p in zip(conditional.systems, adjusted, strict=True)
        if (result := system.results[place]).p_value is not None
    ]


def _part(parts: Mapping[str, float], name: str) -> float:
    return parts.get(name, math.nan)


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


@dataclass(frozen=True)
class Paired:
    """A contest, its p-value adjusted over all contests, and who does better where that is significant."""

    contest: Contest
    adjusted: float
    marked: bool
    ahead: str

    @property
    def gap(self) -> str:
        """The difference with its interval and mark, as text."""
        shown = spread(self.contest.estimate, low=self.contest.low, high=self.contest.high)
        return f"{number(self.contest.estimate)} {shown}{MARK if self.marked else ''}"


def paired_rows(conditional: Conditional) -> list[Paired]:
    """All contests: the smallest adjusted p-value first, then the clearest; those without a number last."""
    better = dict(zip(conditional.labels, (result.better for result in conditional.human.results), strict=True))
    adjusted = holm([contest.p_value for contest in conditional.contests])
    rows = [
        _row(contest, p, better.get(contest.label, ""), level=conditional.level)
        for contest, p in zip(conditional.contests, adjusted, strict=True)
    ]
    return sorted(rows, key=_rank)


def _rank(row: Paired) -> tuple[float, float]:
    return (math.inf if math.isnan(row.adjusted) else row.adjusted), -clarity(row.contest)


def _row(contest: Contest, adjusted: float, better: str, *, level: float) -> Paired:
    marked = is_significant(adjusted, level)
    ahead = contest.first if (contest.estimate > 0) == (better == "higher") else contest.second
    known = marked and contest.estimate != 0 and better in ("higher", "lower")
    return Paired(contest, adjusted, marked, ahead if known else "")
