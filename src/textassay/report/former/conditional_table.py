"""What all forms of a conditional report show: the metric table, counts, power, missing numbers, and the summary."""

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from textassay.corpus.printable import many, quoted, share, shortened
from textassay.document.words import listed, number, p_text
from textassay.inference.result import Result
from textassay.report.former.table import (
    MARK,
    Figure,
    Line,
    better_legend,
    figure,
    interval_legend,
    metric_lines,
    summary,
)
from textassay.studies.conditional.result import KIND_WORDS, Conditional, Sensitivity, SystemColumn, chance_of
from textassay.studies.outcome import ResultColumn

# What "closer is better" refers to.
TARGET = "the human value"
# Other ways to combine the p-values of items, which decide nothing.
OTHER_TESTS = {"harmonic_mean": "harmonic mean", "fisher": "Fisher", "simes": "Simes"}
DIFFERENCES = tuple(kind for kind in KIND_WORDS if kind not in ("same", "untested"))
_VERBS = {
    "collapsed": ("has collapsed", "have collapsed"),
    "differs": ("differs from the references", "differ from the references"),
    "same": ("shows no difference from the references", "show no difference from the references"),
    "untested": ("was not tested", "were not tested"),
}


def outcome_sentence(conditional: Conditional) -> str:
    """The outcome in one or two sentences."""
    systems = conditional.systems
    shares = _shares(systems[0]) if len(systems) == 1 else ""
    found = summary({system.name: system.verdict for system in systems}, _VERBS, what="systems")
    return f"{found} {shares}".strip()


def kind_counts(system: SystemColumn) -> dict[str, int]:
    """How many items there are of each known kind, in the order of the kinds."""
    counted = Counter(item.miss.kind for item in system.items)
    return {kind: counted[kind] for kind in KIND_WORDS}


def _shares(system: SystemColumn) -> str:
    counted = kind_counts(system)
    found = [(kind, counted[kind]) for kind in DIFFERENCES]
    shares = [f"{KIND_WORDS[kind]} on {share(count / len(system.items))}" for kind, count in found if count]
    return f"It is {listed(shares)} of the items." if shares else ""


def heading(conditional: Conditional) -> str:
    """How many items and systems there are, and how many texts per item."""
    items = conditional.items.items
    references = _count((len(item.references) for item in items), "reference")
    written = (len(item.candidates.get(column.name, ())) for item in items for column in conditional.systems)
    systems = f"{many(len(conditional.systems), 'system')} with {_count(written, 'candidate')} per item"
    return f"{many(len(items), 'item')} with {references}{' each' if len(items) > 1 else ''}; {systems}"


def _count(numbers: Iterable[int], what: str) -> str:
    """A number or a range with a noun: `5-6 references`."""
    known = list(numbers)
    low, high = min(known, default=0), max(known, default=0)
    return f"{low:,}{f'-{high:,}' if high > low else ''} {what}{'' if low == high == 1 else 's'}"


def sizes_text(candidates: float, references: float) -> str:
    """Sizes of two sides; means of them are rounded to a decimal.

    >>> sizes_text(2, 3), sizes_text(1.0, 4.003), sizes_text(1.5, 3)
    ('2 v 3', '1 v 4', '1.5 v 3')
    """
    return " v ".join(f"{size:.1f}".removesuffix(".0") for size in (candidates, references))


def part_sizes(human: Result, sizes: tuple[int, int]) -> str:
    """The sizes of the parts that a human result was measured on: its own if it has them, else those of most items."""
    return own_sizes(human) or (sizes_text(*sizes) if all(sizes) else "")


def own_sizes(result: Result) -> str:
    """The mean sizes of the items that a result was measured on; empty if they are not known."""
    own = [result.parts.get(name, math.nan) for name in ("candidates", "references")]
    return "" if any(map(math.isnan, own)) else sizes_text(*own)


def human_parts(conditional: Conditional) -> list[str]:
    """The sizes in the human column, each once."""
    known = [result for result in conditional.human.results if result.undefined is None]
    return list(dict.fromkeys(part_sizes(result, conditional.human_sizes) for result in known))


def counts(column: SystemColumn) -> str:
    """How many items there are of each kind; kinds without items are left out."""
    return " · ".join(f"{count:,} {KIND_WORDS[kind]}" for kind, count in kind_counts(column).items() if count)


def table_lines(conditional: Conditional) -> list[Line]:
    """The rows of the metric table, the human column first in each; rows of one distance belong together."""
    human = conditional.human
    sizes = [part_sizes(result, conditional.human_sizes) for result in human.results]
    lines = metric_lines(
        conditional.labels,
        human,
        conditional.systems,
        adjusted=[conditional.adjusted_p_values(column) for column in conditional.systems],
        cell=lambda column, result, adjusted: _cell(conditional, column, result, adjusted),
        size=lambda result: part_sizes(result, conditional.human_sizes),
        section=lambda result: str(result.options.get("distance", "vectors")),
    )
    # Sizes are in the human cell, if that has a number: a row without `at` has its systems at other sizes.
    rows = iter(zip(human.results, sizes, strict=True))
    for place, line in enumerate(lines):
        if not line.at:
            result, shown = next(rows)
            first, *others = line.figures
            known = first.estimate and result.undefined is None
            lines[place] = replace(line, size="", figures=(replace(first, size=shown if known else ""), *others))
    return lines


def _cell(conditional: Conditional, column: ResultColumn, result: Result, adjusted: float) -> Figure:
    if column is conditional.human:
        # Its estimate is a mean over splits, but its p-value is that of one split, so they do not belong together.
        return figure(result, level=conditional.level)
    unadjusted = "" if result.p_value is None else p_at_most(result)
    measured = result.parts.get("items", math.nan)
    total = len(column.items) if isinstance(column, SystemColumn) else 0
    p = (math.nan if result.p_value is None else result.p_value) if math.isnan(adjusted) else adjusted
    chance = chance_of(result)
    return replace(
        figure(result, adjusted, level=conditional.level, unadjusted=unadjusted),
        p="" if math.isnan(p) else p_text(p),
        chance="" if math.isnan(chance) else number(chance),
        items=f"{measured:,.0f}" if 0 < measured < total else "",
    )


def legend(conditional: Conditional, *, chance: bool) -> list[str]:
    """How to read the table; `chance` is True if its cells show what chance gives."""
    results = [result for column in conditional.systems for result in column.results]
    repeated = _repeated_sizes(conditional)
    lines = interval_legend(results, conditional.level, of="the mean over items")
    if any(result.p_value is not None for result in results):
        lines.append(
            f"{MARK} differs from the references: labels exchanged within items, p <= {1 - conditional.level:g},"
            " adjusted over the whole table"
        )
    if any(column.at_baseline_size for column in conditional.systems):
        lines.append(
            f"at {repeated}: measured with only this many candidates v references per item, as in the human column;"
            " only these rows are comparable with it"
        )
    if any(line.figures[0].size for line in table_lines(conditional)):
        lines.append(
            f"{conditional.human.name}: references against references, with the sizes (candidates v references);"
            " compare a system with it only at the same sizes"
        )
    if chance and not all(math.isnan(chance_of(result)) for result in results):
        lines.append(
            "chance: the mean value if the texts of each item are divided into candidates and references at random"
        )
    return lines + better_legend(results, target=TARGET)


def _repeated_sizes(conditional: Conditional) -> str:
    """The sizes in the rows of smaller parts, each once."""
    rows = zip(conditional.labels, conditional.human.results, strict=True)
    again = {label for column in conditional.systems for label in column.at_baseline_size}
    sizes = dict.fromkeys(part_sizes(human, conditional.human_sizes) for label, human in rows if label in again)
    return " and ".join(sizes)


def combined(label: str, column: SystemColumn, place: int, adjusted: float) -> str:
    """The numbers behind a cell: all combined p-values, the items with a number, and chance; may be empty."""
    result = column.results[place]
    parts = result.parts
    found = []
    if result.p_value is not None:
        found.append(f"p {p_at_most(result)}")
        found += [] if math.isnan(adjusted) else [f"adjusted {p_text(adjusted)}"]
        found += [f"z {parts['z']:.1f}"] if not math.isnan(parts.get("z", math.nan)) else []
        found += [f"{words} {p_text(parts[name])}" for name, words in OTHER_TESTS.items() if name in parts]
    if "items" in parts and not math.isnan(parts["items"]):
        found.append(f"{parts['items']:,.0f} of {many(len(column.items), 'item')}")
    if not math.isnan(chance_of(result)):
        found.append(f"chance {number(chance_of(result))}")
    return f"{label}, {column.name}: {', '.join(found)}" if found and result.undefined is None else ""


@dataclass(frozen=True)
class CombinedTest:
    """The combined test of one metric and system, and other ways to combine the p-values of items."""

    label: str
    system: str
    p: float
    p_words: str
    adjusted: float
    z: float
    others: tuple[float, ...]
    items: float


def combined_tests(conditional: Conditional) -> list[CombinedTest]:
    """The combined tests of all metrics and systems."""
    return [
        CombinedTest(
            shortened(label, 60),
            system.name,
            result.p_value,
            p_at_most(result),
            _part(result.parts, "adjusted"),
            _part(result.parts, "z"),
            tuple(_part(result.parts, name) for name in OTHER_TESTS),
            _part(result.parts, "items"),
        )
        for place, label in enumerate(conditional.labels)
        for system in conditional.systems
        if (result := system.results[place]).p_value is not None
    ]


def _part(parts: Mapping[str, float], name: str) -> float:
    return parts.get(name, math.nan)


def p_at_most(result: Result) -> str:
    """The p-value of a combined test; it is an upper bound ("≤") if no draw was as extreme as the observed value."""
    p, draws = result.p_value, _part(result.parts, "draws")
    if p is None:
        return p_text(math.nan)
    is_bound = not math.isnan(draws) and p <= 1.000001 / (draws + 1)
    return f"≤ {p:.2g}" if is_bound else p_text(p)


def power_lines(conditional: Conditional) -> list[str]:
    """How many texts the wanted power needs, one line per system and metric with a sensitivity curve."""
    return [line for curve in conditional.sensitivity for line in _needed(curve)]


def _needed(curve: Sensitivity) -> Iterator[str]:
    for label, fewest in curve.needed.items():
        points = [point for point in curve.points if point.label == label]
        if points:
            most = max(point.candidates for point in points), max(point.references for point in points)
            yield f"{curve.system}: {label}: {_power(f'{share(curve.power)} power', fewest, most)}"
        else:
            yield f"{curve.system}: {label}: power unknown, because no item could be tested"


def _power(power: str, fewest: Mapping[str, int | None], most: tuple[int, int]) -> str:
    """The fewest texts of one side, given all texts of the other."""
    candidates, references = _count([most[0]], "candidate"), _count([most[1]], "reference")
    ways = [
        f"from {_count([least], side)} ({others})"
        for side, others in (("candidate", references), ("reference", candidates))
        if (least := fewest.get(f"{side}s")) is not None
    ]
    return f"{power} {' and '.join(ways)}" if ways else f"no {power} even with {candidates} and {references}"


_MOST_IDS, _MOST_LINES = 5, 12


@dataclass(frozen=True)
class Missing:
    """Items without a number for one reason, and the metrics it holds for, by column (systems, human)."""

    reason: str
    ids: tuple[str, ...]
    labels: Mapping[str, tuple[str, ...]]


def missing(conditional: Conditional) -> list[Missing]:
    """Why items have no number, each reason once, the most frequent first."""
    ids: dict[str, dict[str, None]] = {}
    labels: dict[str, dict[str, list[str]]] = {}
    for column in (conditional.human, *conditional.systems):
        for place, label in enumerate(conditional.labels):
            for reason, found in _by_reason(column, place).items():
                ids.setdefault(reason, {}).update(dict.fromkeys(found))
                labels.setdefault(reason, {}).setdefault(column.name, []).append(label)
    entries = [
        Missing(reason, tuple(found), {name: tuple(of) for name, of in labels[reason].items()})
        for reason, found in ids.items()
    ]
    return sorted(entries, key=lambda entry: -len(entry.ids))


def _by_reason(column: SystemColumn, place: int) -> dict[str, list[str]]:
    """The items without a number by reason; none of them for a reason that only the number over all items has."""
    found: dict[str, list[str]] = {}
    for item in column.items:
        reason = item.results[place].undefined
        if reason is not None:
            found.setdefault(reason, []).append(item.id)
    whole = column.results[place].undefined
    if whole is not None:
        found.setdefault(whole, [])
    return found


def missing_lines(conditional: Conditional, *, ids: bool) -> list[str]:
    """One line per reason, the most frequent first; with `ids`, some of the items. Further reasons are counted."""
    entries = missing(conditional)
    lines = [_line(entry, conditional, ids=ids) for entry in entries[:_MOST_LINES]]
    if len(entries) > _MOST_LINES:
        lines.append(f"no number for {many(len(entries) - _MOST_LINES, 'further reason')}")
    return lines


def _line(entry: Missing, conditional: Conditional, *, ids: bool) -> str:
    """The reason, how many items it holds for, the columns and metrics where these are not all, and some items."""
    where = _scope(entry, conditional)
    count = f" on {len(entry.ids):,} of {many(len(conditional.items.items), 'item')}" if entry.ids else ""
    listed = (
        f": {quoted(list(entry.ids), _MOST_IDS)}" if ids and 0 < len(entry.ids) < len(conditional.items.items) else ""
    )
    return f"no number{count}{f' ({where})' if where else ''}: {entry.reason}{listed}"


def _scope(entry: Missing, conditional: Conditional) -> str:
    """The metrics of each column, columns with the same metrics together."""
    columns: dict[tuple[str, ...], list[str]] = {}
    for name, labels in entry.labels.items():
        columns.setdefault(labels, []).append(name)
    everywhere = len(entry.labels) == 1 + len(conditional.systems)
    parts = []
    for labels, names in columns.items():
        which = [] if everywhere and len(columns) == 1 else [", ".join(names)]
        which += [] if len(labels) == len(conditional.labels) else [", ".join(labels)]
        parts += [": ".join(which)] if which else []
    return "; ".join(parts)
