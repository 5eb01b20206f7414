"""The tables of a conditional study: metrics, kinds of items, combined tests, power, and numbers that are missing."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from textassay.corpus.printable import many, quoted, share, shortened
from textassay.document.blocks import REAL, Cell, Head, Row, Table
from textassay.document.results import ARROWS, Unit, better_legend, interval_legend, result_cell, unit_of, why_missing
from textassay.document.words import number, p_text
from textassay.inference.result import Result
from textassay.metrics.registry import all_metrics
from textassay.studies.conditional.result import (
    KIND_WORDS,
    Conditional,
    Sensitivity,
    SystemColumn,
    chance_of,
    kind_counts,
    part_sizes,
)

# What "closer is better" refers to.
TARGET = "the human value"
# Other ways to combine the p-values of items, which decide nothing.
OTHER_TESTS = {"harmonic_mean": "harmonic mean", "fisher": "Fisher", "simes": "Simes"}
_EMPTY = Cell("")


def counted(numbers: Iterable[int], what: str) -> str:
    """A number or a range with a noun.

    >>> counted([5, 6], "reference"), counted([1], "candidate")
    ('5-6 references', '1 candidate')
    """
    known = list(numbers)
    low, high = min(known, default=0), max(known, default=0)
    return f"{low:,}{f'-{high:,}' if high > low else ''} {what}{'' if low == high == 1 else 's'}"


def metric_table(found: Conditional) -> Table:
    """A row per metric, the human value first; a second one where the systems were measured at its sizes."""
    heads = (
        Head("metric"),
        Head(found.human.name, numeric=True, candidate=REAL),
        *(Head(system.name, numeric=True, candidate=index) for index, system in enumerate(found.systems)),
    )
    rows = tuple(row for index in range(len(found.labels)) for row in _metric_rows(found, index))
    return Table(heads, rows, footnotes=tuple(_legend(found)))


def _metric_rows(found: Conditional, index: int) -> Iterator[Row]:
    label, human = found.labels[index], found.human.results[index]
    again = [system.at_baseline_size.get(label) for system in found.systems]
    results = [system.results[index] for system in found.systems]
    unit = unit_of(result.estimate for result in (human, *results, *(each for each in again if each)))
    cells = [_system_cell(found, system, index, unit) for system in found.systems]
    name = Cell(unit.behind(f"{shortened(label, 60)} {ARROWS.get(human.better, '')}".rstrip()))
    section, sizes = str(human.options.get("distance", "vectors")), part_sizes(human, found.human_sizes)
    real = result_cell(human, level=found.level, unit=unit)
    notes = _why_missing(human.metric, results)
    if not any(again):
        own = replace(real, small=(sizes,)) if sizes and human.undefined is None else real
        yield Row((name, own, *cells), section, notes=notes)
        return
    yield Row((name, _EMPTY, *cells), section, notes=notes)
    parts = (_EMPTY if each is None else result_cell(each, level=found.level, unit=unit) for each in again)
    yield Row((Cell(f"  at {sizes}"), real, *parts), section, quiet=True)


def _system_cell(found: Conditional, system: SystemColumn, index: int, unit: Unit) -> Cell:
    """The value with its p-value, what chance gives, and on how many items it has a number if not on all."""
    result = system.results[index]
    adjusted, chance = result.parts.get("adjusted", math.nan), chance_of(result)
    unadjusted = "" if result.p_value is None else p_at_most(result)
    p = (math.nan if result.p_value is None else result.p_value) if math.isnan(adjusted) else adjusted
    measured = result.parts.get("items", math.nan)
    small = (
        "" if math.isnan(p) else f"p {p_text(p)}",
        "" if math.isnan(chance) else f"chance {number(unit.factor * chance)}",
        many(round(measured), "item") if 0 < measured < len(system.items) else "",
    )
    cell = result_cell(result, adjusted, level=found.level, unadjusted=unadjusted, unit=unit)
    return replace(cell, small=tuple(filter(None, small)))


def _why_missing(name: str, results: Sequence[Result]) -> tuple[str, ...]:
    """Why a metric has no interval or no test, where other metrics could have them."""
    metric = all_metrics().get(name)
    is_known = metric is not None and any(result.interval or result.p_value is not None for result in results)
    return why_missing(metric) if metric is not None and is_known else ()


def _legend(found: Conditional) -> Iterator[str]:
    """How to read the table of metrics."""
    results = [result for system in found.systems for result in system.results]
    yield from interval_legend(results, found.level, of="the mean over items")
    if any(result.p_value is not None for result in results):
        yield (
            f"* differs from the references: labels exchanged within items, p ≤ {1 - found.level:g},"
            " adjusted over the whole table"
        )
    if any(system.at_baseline_size for system in found.systems):
        yield (
            f"at {_repeated_sizes(found)}: measured with only this many candidates v references per item, as in the"
            " human column; only these rows are comparable with it"
        )
    yield (
        f"{found.human.name}: references against references, with the sizes (candidates v references);"
        " compare a system with it only at the same sizes"
    )
    if any(not math.isnan(chance_of(result)) for result in results):
        yield "chance: the mean value if the texts of each item are divided into candidates and references at random"
    yield better_legend(results, target=TARGET)


def _repeated_sizes(found: Conditional) -> str:
    """The sizes in the rows of smaller parts, each once."""
    rows = zip(found.labels, found.human.results, strict=True)
    again = {label for system in found.systems for label in system.at_baseline_size}
    sizes = dict.fromkeys(part_sizes(human, found.human_sizes) for label, human in rows if label in again)
    return " and ".join(sizes)


def kinds_table(found: Conditional) -> Table:
    """How many items of each system are of each kind; kinds without items are left out."""
    counts = [kind_counts(system) for system in found.systems]
    kinds = [kind for kind in KIND_WORDS if any(count[kind] for count in counts)]
    rows = tuple(
        Row(
            (
                Cell(system.name, candidate=index),
                *(_count_cell(count[kind], len(system.items)) for kind in kinds),
            )
        )
        for index, (system, count) in enumerate(zip(found.systems, counts, strict=True))
    )
    heads = (Head("system"), *(Head(KIND_WORDS[kind], numeric=True) for kind in kinds))
    return Table(heads, rows, caption=f"Items by kind, of {many(len(found.items), 'item')}.")


def _count_cell(n: int, total: int) -> Cell:
    return Cell(f"{n:,}", n, small=(share(n / total),) if n and total else ())


def p_at_most(result: Result) -> str:
    """The p-value of a combined test; it is an upper bound ("≤") if no draw was as extreme as the observed value."""
    p, draws = result.p_value, result.parts.get("draws", math.nan)
    if p is None:
        return p_text(math.nan)
    is_bound = not math.isnan(draws) and p <= 1.000001 / (draws + 1)
    return f"≤ {p:.2g}" if is_bound else p_text(p)


def combined_table(found: Conditional) -> Table:
    """The combined test of every metric and system, and other ways to combine the p-values of items."""
    heads = ("p", "adjusted p", "z", *(f"{words} p" for words in OTHER_TESTS.values()), "items")
    rows = tuple(
        Row((Cell(shortened(label, 60)), Cell(system.name, candidate=place), *_combined_cells(result, system)))
        for index, label in enumerate(found.labels)
        for place, system in enumerate(found.systems)
        if (result := system.results[index]).p_value is not None
    )
    return Table((Head("metric"), Head("system"), *(Head(head, numeric=True) for head in heads)), rows)


def _combined_cells(result: Result, system: SystemColumn) -> Iterator[Cell]:
    parts, z = result.parts, result.parts.get("z", math.nan)
    yield Cell(p_at_most(result), result.p_value)
    yield _p_cell(parts.get("adjusted", math.nan))
    yield Cell("–" if math.isnan(z) else f"{z:.1f}", z)
    yield from (_p_cell(parts.get(name, math.nan)) for name in OTHER_TESTS)
    items = parts.get("items", math.nan)
    yield Cell("–" if math.isnan(items) else f"{items:,.0f} of {len(system.items):,}", items)


def _p_cell(p: float) -> Cell:
    return Cell(p_text(p), p)


# Power.


def needs_table(curve: Sensitivity) -> Table:
    """The fewest texts per item that each metric needs for the wanted power."""
    rows = []
    for label, fewest in curve.needed.items():
        points = [point for point in curve.points if point.label == label]
        largest = max(points, key=lambda point: (point.candidates, point.references), default=None)
        powers = (largest.power, largest.item_power) if largest else (math.nan, math.nan)
        counts = (_needed_cell(fewest.get(side)) for side in ("candidates", "references"))
        cells = (Cell("–" if math.isnan(power) else share(power), power) for power in powers)
        rows.append(Row((Cell(shortened(label, 60)), *counts, *cells)))
    heads = ("candidates", "references", "power with all", "item power")
    return Table(
        (Head("metric"), *(Head(head, numeric=True) for head in heads)),
        tuple(rows),
        title=f"{shortened(curve.system, 60)}: fewest texts per item for {share(curve.power)} power",
        caption=f"At p ≤ {1 - curve.level:.3g}; “more”: even all texts are too few.",
    )


def _needed_cell(n: int | None) -> Cell:
    return Cell("more", math.inf) if n is None else Cell(f"{n:,}", n)


def power_lines(curve: Sensitivity) -> Iterator[str]:
    """How many texts the wanted power needs, one line per metric."""
    for label, fewest in curve.needed.items():
        points = [point for point in curve.points if point.label == label]
        if points:
            most = max(point.candidates for point in points), max(point.references for point in points)
            yield f"{curve.system}: {label}: {_power(f'{share(curve.power)} power', fewest, most)}"
        else:
            yield f"{curve.system}: {label}: power unknown, because no item could be tested"


def _power(power: str, fewest: Mapping[str, int | None], most: tuple[int, int]) -> str:
    """The fewest texts of one side, given all texts of the other."""
    candidates, references = counted([most[0]], "candidate"), counted([most[1]], "reference")
    ways = [
        f"from {counted([least], side)} ({others})"
        for side, others in (("candidate", references), ("reference", candidates))
        if (least := fewest.get(f"{side}s")) is not None
    ]
    return f"{power} {' and '.join(ways)}" if ways else f"no {power} even with {candidates} and {references}"


def points_table(curve: Sensitivity, *, most: int) -> Table:
    """The first points of a curve."""
    heads = ("candidates", "references", "items", "p", "power", "item power")
    rows = tuple(
        Row(
            (
                Cell(shortened(point.label, 60)),
                *(Cell(f"{n:,}", n) for n in (point.candidates, point.references, point.items)),
                Cell(number(point.p_value), point.p_value),
                *(Cell("–" if math.isnan(x) else share(x), x) for x in (point.power, point.item_power)),
            )
        )
        for point in curve.points[:most]
    )
    total = len(curve.points) if len(curve.points) > most else None
    return Table((Head("metric"), *(Head(head, numeric=True) for head in heads)), rows, total=total)


# Numbers that are missing.

_MOST_IDS, _MOST_LINES = 5, 12


@dataclass(frozen=True)
class Missing:
    """Items without a number for one reason, and the metrics it holds for, by column (systems, human)."""

    reason: str
    ids: tuple[str, ...]
    labels: Mapping[str, tuple[str, ...]]


def missing(found: Conditional) -> list[Missing]:
    """Why items have no number, each reason once, the most frequent first."""
    ids: dict[str, dict[str, None]] = {}
    labels: dict[str, dict[str, list[str]]] = {}
    for column in (found.human, *found.systems):
        for index, label in enumerate(found.labels):
            for reason, own in _by_reason(column, index).items():
                ids.setdefault(reason, {}).update(dict.fromkeys(own))
                labels.setdefault(reason, {}).setdefault(column.name, []).append(label)
    entries = [
        Missing(reason, tuple(own), {name: tuple(of) for name, of in labels[reason].items()})
        for reason, own in ids.items()
    ]
    return sorted(entries, key=lambda entry: -len(entry.ids))


def _by_reason(column: SystemColumn, index: int) -> dict[str, list[str]]:
    """The items without a number by reason; none of them for a reason that only the number over all items has."""
    found: dict[str, list[str]] = {}
    for item in column.items:
        reason = item.results[index].undefined
        if reason is not None:
            found.setdefault(reason, []).append(item.id)
    whole = column.results[index].undefined
    if whole is not None:
        found.setdefault(whole, [])
    return found


def missing_lines(found: Conditional) -> list[str]:
    """One line per reason with some of the items, the most frequent first. Further reasons are counted."""
    entries = missing(found)
    lines = [_line(entry, found) for entry in entries[:_MOST_LINES]]
    if len(entries) > _MOST_LINES:
        lines.append(f"no number for {many(len(entries) - _MOST_LINES, 'further reason')}")
    return lines


def _line(entry: Missing, found: Conditional) -> str:
    """The reason, how many items it holds for, the columns and metrics where these are not all, and some items."""
    where, n = _scope(entry, found), len(entry.ids)
    count = f" on {n:,} of {many(len(found.items), 'item')}" if entry.ids else ""
    ids = f": {quoted(list(entry.ids), _MOST_IDS)}" if 0 < n < len(found.items) else ""
    return f"no number{count}{f' ({where})' if where else ''}: {entry.reason}{ids}"


def _scope(entry: Missing, found: Conditional) -> str:
    """The metrics of each column, columns with the same metrics together."""
    columns: dict[tuple[str, ...], list[str]] = {}
    for name, labels in entry.labels.items():
        columns.setdefault(labels, []).append(name)
    everywhere = len(entry.labels) == 1 + len(found.systems)
    parts = []
    for labels, names in columns.items():
        which = [] if everywhere and len(columns) == 1 else [", ".join(names)]
        which += [] if len(labels) == len(found.labels) else [", ".join(labels)]
        parts += [": ".join(which)] if which else []
    return "; ".join(parts)
