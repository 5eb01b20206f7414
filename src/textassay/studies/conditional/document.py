"""The document of a conditional study: which systems write like the references, and on which items they do not."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from textassay.corpus.printable import many, share, shortened
from textassay.document.blocks import (
    Badge,
    Block,
    Cell,
    Chart,
    Details,
    Document,
    Entry,
    Facts,
    Legend,
    Notes,
    Section,
    Summary,
    SummaryRow,
    Text,
    sections_of,
)
from textassay.document.plot import Plot
from textassay.document.results import COMMON_SETTINGS, better_words, metric_guide, setting_pairs, signature_section
from textassay.document.words import level_text, listed, listed_some, number, sentence, span
from textassay.studies.conditional import tables
from textassay.studies.conditional.item_list import are_ranked, items_block
from textassay.studies.conditional.plots import (
    kinds_plot,
    metric_plot,
    p_value_plot,
    placed,
    shares_text,
    spread_plot,
)
from textassay.studies.conditional.ranking import beside_people, loss_of, not_comparable, ranking_index
from textassay.studies.conditional.result import (
    DIFFERENCES,
    KIND_WORDS,
    Conditional,
    Sensitivity,
    SystemColumn,
    chance_of,
    kind_tone,
    part_sizes,
)
from textassay.studies.contests import contest_table, paired

# Reasons of a system and caveats in the summary, charts of each kind, and points of a curve.
_MOST_WHY, _MOST_CAVEATS, _MOST_STRIPS, _MOST_SPREADS, _MOST_POINTS = 3, 5, 60, 12, 80
_SETTINGS = {"distances": "Distances", "tokenizer": "Tokens", "encoder": "Encoder", "test": "Tests"}


def document(found: Conditional) -> Document:
    """What a conditional study states."""
    notes = list(dict.fromkeys((*found.items.notes, *found.notes)))
    return Document(
        kind="conditional",
        title=f"Items of {shortened(found.items.name, 40)}",
        summary=_summary(found, notes[:_MOST_CAVEATS]),
        sections=sections_of(
            Section("kinds", "How items differ", tuple(_kinds(found)), "table"),
            Section("spread", "Spread and place of each item", tuple(_spreads(found))),
            Section("metrics", "All metrics", (tables.metric_table(found),), "table"),
            Section("strips", "Metric by metric", tuple(_strips(found))),
            Section("items", "Items", (items_block(found),), "why"),
            Section("differences", "Systems against each other and people", tuple(_contests(found)), "table"),
            Section("sensitivity", "Sensitivity", tuple(map(tables.needs_table, found.sensitivity)), "screen"),
            Section("curves", "Power and p-values by number of texts", tuple(_curves(found))),
            Section("combined", "Combined tests", tuple(_combined(found)), "why"),
            Section("missing", "Without a number", (Notes(tuple(tables.missing_lines(found))),), "table")
            if tables.missing_lines(found)
            else None,
            Section("reading", "How to read this", _reading(found)),
            Section("settings", "Settings", (_facts(found),)),
            signature_section(_signed(found)),
        ),
        names=found.names,
        real=found.human.name,
        level=found.level,
        notes=tuple(notes[_MOST_CAVEATS:]),
    )


# The summary.


def _summary(found: Conditional, notes: Sequence[str]) -> Summary:
    index = ranking_index(found)
    rows = tuple(_rows(found, index))
    several = len(found.systems) > 1
    return Summary(
        question="Which system writes like the references do?"
        if several
        else f"Does {shortened(found.names[0], 60)} write like the references do?",
        context=_sizes(found),
        reading="".join(_columns_explained(found)),
        sentence=sentence("; ".join(_outcome(found, rows))),
        columns=tuple(head for head, _ in _columns(found)),
        rows=rows,
        ties=tuple(_ties(found, rows, index)),
        caveats=tuple(map(sentence, (*notes, *([] if are_ranked(found) else [NOT_RANKED])))),
        hints=("All metrics: --table", "Items: --why", "Report: --report FILE.html"),
        picture=_picture(found, [row.candidate for row in rows], index),
        noun="system",
    )


NOT_RANKED = (
    "how single items differ was not measured: that needs resamples, the metric trm, and two candidates and two"
    " references per item"
)


def _decision(system: SystemColumn) -> str:
    return system.verdict.decision if system.verdict else "untested"


def _direction(system: SystemColumn) -> str:
    """The kind of difference over all items, the grade of a system that differs."""
    direction = system.verdict.find("too narrow", "too wide", "off target", "too close") if system.verdict else None
    return "" if direction is None else "elsewhere" if direction.kind == "off target" else direction.kind


def _rows(found: Conditional, index: int | None) -> Iterator[SummaryRow]:
    """The systems, the closest first; those that give one answer come last and have no rank."""
    losses = {system.name: loss_of(found, system, index) for system in found.systems}
    ranked = [losses[system.name] for system in found.systems if _decision(system) != "collapsed"]
    for system in sorted(found.systems, key=lambda each: (_decision(each) == "collapsed", losses[each.name])):
        loss = losses[system.name]
        has_rank = loss < math.inf and _decision(system) != "collapsed"
        yield SummaryRow(
            system.name,
            found.names.index(system.name),
            _decision(system),
            grade=_direction(system),
            rank=1 + sum(other < loss for other in ranked) if has_rank else None,
            cells=tuple(make(system) for _, make in _columns(found)),
            stands_out=shares_text(system) if len(found.systems) > 1 else "",
            why=system.verdict.reasons[:_MOST_WHY] if system.verdict else (),
        )


def _columns(found: Conditional) -> list[tuple[str, "_MakeCell"]]:
    """The columns that apply: the items that differ, quality by the first score, and diversity by the spread."""
    columns: list[tuple[str, _MakeCell]] = []
    if any(item.miss.kind != "untested" for system in found.systems for item in system.items):
        columns.append(("items that differ", _MakeCell(found, "items")))
    if _quality_index(found) is not None:
        columns.append(("quality", _MakeCell(found, "quality")))
    if any(math.isfinite(mean_spread(system)) for system in found.systems):
        columns.append(("diversity", _MakeCell(found, "diversity")))
    return columns


@dataclass(frozen=True)
class _MakeCell:
    """Makes the cell of a system in a column of the summary."""

    found: Conditional
    column: str

    def __call__(self, system: SystemColumn) -> Cell:
        if self.column == "items":
            return _items_cell(system)
        return _quality_cell(self.found, system) if self.column == "quality" else _diversity_cell(system)


def _items_cell(system: SystemColumn) -> Cell:
    """The share of items that were found to differ; a dash where none could be tested and none has one answer."""
    n, total = sum(system.count(kind) for kind in DIFFERENCES), len(system.items)
    if not n and system.count("untested") == total:
        return Cell("–", detail="no item has enough texts for a test")
    return Cell(share(n / total), n / total, detail=f"{n:,} of {many(total, 'item')}")


def _quality_index(found: Conditional) -> int | None:
    """The first metric of quality that has a number for people and for a system at the same sizes."""
    indexes = (index for index, human in enumerate(found.human.results) if human.aspect == "quality")
    return next((index for index in indexes if any(_is_comparable(found, s, index) for s in found.systems)), None)


def _is_comparable(found: Conditional, system: SystemColumn, index: int) -> bool:
    values = (beside_people(found, system, index).estimate, found.human.results[index].estimate)
    return all(map(math.isfinite, values)) and not not_comparable(found, index)


def _quality_cell(found: Conditional, system: SystemColumn) -> Cell:
    """How much better the score is than that of people."""
    index = _quality_index(found)
    if index is None or not _is_comparable(found, system, index):
        return Cell("–")
    human, value = found.human.results[index], beside_people(found, system, index).estimate
    gap = (value - human.estimate) * (-1 if human.better == "lower" else 1)
    detail = f"{found.labels[index]} {number(value)}, people {number(human.estimate)}"
    return Cell(f"{'+' if gap > 0 else ''}{number(gap)}", gap, detail=detail)


def mean_spread(system: SystemColumn) -> float:
    """The mean over items of how much more alike candidates are than references; NaN if it was not measured."""
    known = [item.miss.spread for item in system.items if math.isfinite(item.miss.spread)]
    return sum(known) / len(known) if known else math.nan


def _diversity_cell(system: SystemColumn) -> Cell:
    spread = mean_spread(system)
    return Cell("–") if math.isnan(spread) else Cell(f"{-spread:+.2f}", -spread)


def _columns_explained(found: Conditional) -> Iterator[str]:
    heads, index = [head for head, _ in _columns(found) if head in ("quality", "diversity")], _quality_index(found)
    label = "" if index is None else f" ({shortened(found.labels[index], 40)})"
    if heads:
        yield f"{listed(heads).replace('quality', f'quality{label}')}: 0 is like the references"


def _outcome(found: Conditional, rows: Sequence[SummaryRow]) -> Iterator[str]:
    """The outcome in a sentence."""
    if len(rows) == 1:
        yield _outcome_of_one(rows[0], shares_text(found.systems[0]))
        return
    by_decision: dict[str, list[str]] = {}
    for row in rows:
        by_decision.setdefault(row.decision, []).append(shortened(row.name, 40))
    if "collapsed" in by_decision:
        yield f"one answer to most items: {listed_some(by_decision['collapsed'], 4)}"
    same = len(by_decision.get("same", []))
    if same:
        yield f"{same} of {len(rows)} systems {'was' if same == 1 else 'were'} not found to differ from the references"
    elif "differs" in by_decision:
        yield f"{len(by_decision['differs'])} of {len(rows)} systems differ from the references"
    if rows[0].rank is not None:
        yield f"closest: {shortened(rows[0].name, 40)}"
    if "untested" in by_decision:
        yield f"not tested: {listed_some(by_decision['untested'], 4)}"


_ANSWERS = {
    "same": "no difference from the references was found",
    "differs": "no: it differs from the references",
    "collapsed": "no: it gives one answer to most items",
}


def _outcome_of_one(row: SummaryRow, shares: str) -> str:
    answer = _ANSWERS.get(row.decision, "it was not tested")
    return f"{answer} ({shares} of the items)" if shares and row.decision != "untested" else answer


def _ties(found: Conditional, rows: Sequence[SummaryRow], index: int | None) -> Iterator[str]:
    """Neighbours of the ranking that do not differ in its metric."""
    if index is None:
        return
    label = found.labels[index]
    differ = {
        frozenset((one.contest.first, one.contest.second))
        for one in paired(found, found.contests)
        if one.contest.label == label and one.marked
    }
    compared = {frozenset((each.first, each.second)) for each in found.contests if each.label == label}
    ranked = [row for row in rows if row.rank is not None]
    for first, second in pairwise(ranked):
        pair = frozenset((first.name, second.name))
        if pair in compared and pair not in differ:
            yield f"{first.rank} and {second.rank} do not differ in {shortened(label, 40)}"


def _picture(found: Conditional, order: Sequence[int], index: int | None) -> Plot | None:
    """The kinds of items of each system in this order; the metric that ranks them where no item could be tested.

    That all candidates of an item are one text is seen without a test.
    """
    kinds = {item.miss.kind for system in found.systems for item in system.items}
    if index is not None and kinds <= {"untested", "collapsed"}:
        return metric_plot(found, index)
    return kinds_plot([found.systems[place] for place in order]) if kinds - {"untested"} else None


def _sizes(found: Conditional) -> str:
    """How many items there are, and how many texts per item."""
    items = found.items.items
    references = tables.counted((len(item.references) for item in items), "reference")
    written = (len(item.candidates.get(system.name, ())) for item in items for system in found.systems)
    name = "" if found.items.name == "items" else f"{shortened(found.items.name, 40)}: "
    each = " each" if len(items) > 1 else ""
    return f"{name}{many(len(items), 'item')} with {references} and {tables.counted(written, 'candidate')}{each}"


# The sections.


def _kinds(found: Conditional) -> Iterator[Block]:
    """How many items of each system are of each kind, and what else verdicts state."""
    yield tables.kinds_table(found)
    more = [(system.name, system.verdict.reasons[_MOST_WHY:]) for system in found.systems if system.verdict]
    lines = tuple(f"{name}: {'; '.join(reasons)}" for name, reasons in more if reasons)
    if lines:
        yield Notes(lines)


_SPREAD = (
    "One mark per item. The vertical axis compares how much the two sides vary: high where the candidates are more"
    " alike than the references (too narrow), low where they are less alike (too wide). The horizontal axis shows how"
    " far apart the sides are: to the right, candidates and references form separate groups. Chance alone gives 0 on"
    " both axes; both end at about −2 and 2. Coloured marks are items whose own test is significant."
)


def _spreads(found: Conditional) -> Iterator[Block]:
    plots = [(system, plot) for system in found.systems[:_MOST_SPREADS] if (plot := spread_plot(system))]
    if not plots:
        return
    yield Text((_SPREAD,))
    for system, plot in plots:
        n = len(system.items) - sum(len(placed(system, kind)) for kind in KIND_WORDS)
        remark = f"{many(n, 'item')} could not be tested for spread and place." if n else ""
        yield Chart(plot, remarks=(remark,) if remark else ())
    left_out = len(found.systems) - _MOST_SPREADS
    if left_out > 0:
        yield Notes((f"{many(left_out, 'more system')} without a chart",))


def _strips(found: Conditional) -> Iterator[Block]:
    """One chart per metric under the distance that it uses."""
    drawn = [(index, plot) for index in range(len(found.labels)) if (plot := metric_plot(found, index))]
    sizes = {
        part_sizes(found.human.results[index], found.human_sizes): None for index, _ in drawn if _is_cut(found, index)
    }
    if sizes:
        yield Text((f"{_AT_SIZE.format(' or '.join(sizes))}",))
    for index, plot in drawn[:_MOST_STRIPS]:
        caption = better_words(found.human.results[index].better, target="the human value")
        yield Chart(plot, caption, tuple(map(sentence, _strip_remarks(found, index))))
    left_out = len(drawn) - _MOST_STRIPS
    if left_out > 0:
        yield Notes((f"{many(left_out, 'more metric')} without a chart; the table has all of them",))


_AT_SIZE = (
    "Systems are drawn at the largest sizes with a human value, {} texts per item; the table also has whole items."
)


def _is_cut(found: Conditional, index: int) -> bool:
    """Whether the systems are drawn on parts of the items."""
    return any(beside_people(found, system, index) is not system.results[index] for system in found.systems)


def _strip_remarks(found: Conditional, index: int) -> Iterator[str]:
    reason, human = not_comparable(found, index), found.human.results[index]
    if reason or human.undefined is not None:
        yield f"Without the human value: {reason or shortened(human.undefined or '', 160)}"
    if any(not math.isnan(chance_of(beside_people(found, system, index))) for system in found.systems):
        yield "The open mark is chance"


_CONTESTS = (
    "First minus second on the same items and with the same number of texts, with the interval over items. They are"
    " tested by flipping the signs of the items' differences, the table by exchanging labels within items, so the two"
    " can disagree."
)


def _contests(found: Conditional) -> Iterator[Block]:
    """The differences in the metric that ranks the systems, then all of them."""
    table, index = contest_table(found, found.contests, title=""), ranking_index(found)
    if table is None:
        return
    yield Text((_CONTESTS,))
    own = None if index is None else contest_table(found, found.contests, title="", label=found.labels[index])
    if own is None or len(own.rows) == len(table.rows):
        yield table
    else:
        yield own
        yield Details("All metrics", (table,), quiet=many(table.total or len(table.rows), "difference"))


def _curves(found: Conditional) -> Iterator[Block]:
    if found.sensitivity:
        yield Text((_CURVES,))
    for curve in found.sensitivity:
        yield from _curve(curve)


_CURVES = (
    "How the p-value of the combined test decreases with more candidates per item, at all references. Below the dashed"
    " line the difference is significant. The smallest possible p-value is 0.001, because each comes from 999 draws."
    " Power is the share of resampled sets of items for which the test is significant, item power the share of single"
    " items."
)


def _curve(curve: Sensitivity) -> Iterator[Block]:
    plot = p_value_plot(curve)
    if plot is not None:
        yield Chart(plot, shortened(curve.system, 60))
    yield Notes(tuple(tables.power_lines(curve)))
    points = tables.points_table(curve, most=_MOST_POINTS)
    if points.rows:
        yield Details(f"All points of {shortened(curve.system, 60)}", (points,))


_COMBINED = (
    "p is the share of random labellings of all items whose mean is at least as extreme as the observed one. z is the"
    " distance of the observed mean from the mean over all labellings, in standard deviations. The adjusted p decides:"
    " it is corrected over the metrics of a system (Westfall and Young) and then over systems (Holm). The other"
    " p-values combine those of single items in other ways, for comparison only."
)


def _combined(found: Conditional) -> Iterator[Block]:
    table = tables.combined_table(found)
    if table.rows:
        yield Text((_COMBINED,))
        yield table


def _facts(found: Conditional) -> Facts:
    items = found.items.items
    human = {part_sizes(result, found.human_sizes): None for result in found.human.results if result.undefined is None}
    pairs = [
        ("Items", f"{shortened(found.items.name, 60)}, {many(len(items), 'item')}"),
        ("References per item", span(len(item.references) for item in items)),
        *(
            (
                f"Candidates per item of {shortened(system.name, 40)}",
                span(len(i.candidates.get(system.name, ())) for i in items),
            )
            for system in found.systems[:12]
        ),
        *([("Human column", f"{' or '.join(human)} references")] if human else []),
        ("Interval level", level_text(found.level)),
        *setting_pairs(found.settings, _SETTINGS | COMMON_SETTINGS),
    ]
    return Facts(tuple(pairs))


def _signed(found: Conditional) -> Iterator[tuple[str, str]]:
    for column in (found.human, *found.systems):
        yield from ((column.name, result.signature) for result in (*column.results, *column.at_baseline_size.values()))


# How to read it.

_KIND_TEXTS: Mapping[str, str] = {
    "collapsed": "All candidates of the item are the same text, while its references are not. This comes before all"
    " other kinds, because a single answer has no spread, and a place by chance.",
    "too narrow": "The candidates of an item are more alike than its references: the system says one thing where"
    " people say several. In the triangles of the item, edges between candidates are short and edges between"
    " references are long.",
    "too wide": "The opposite: the candidates of an item vary more than its references.",
    "elsewhere": "Candidates are close to candidates and references to references, so they form separate groups: the"
    " system writes about other things than people do.",
    "too close": "Candidates are nearer to the references than another sample of human texts would be, for example"
    " because they are copies.",
    "differs": "Other metrics than the triangles found a difference; they do not show its direction.",
    "same": "The test of this item found no difference. That does not prove that there is none, because one item has"
    " few texts.",
    "untested": "The item has so few texts that even the most extreme labelling would not be significant.",
}


def _reading(found: Conditional) -> tuple[Block, ...]:
    kinds = tuple(Entry("", text, badge=Badge(KIND_WORDS[kind], kind_tone(kind))) for kind, text in _KIND_TEXTS.items())
    alpha = 1 - found.level
    return (
        Legend(kinds),
        Text(
            (
                "Spread and place are the two numbers behind these words. The texts of a side are close if, in"
                " triangles with a text of the other side, the edge between two of them is more often the shortest than"
                " the longest, beyond what chance gives. Spread is the closeness of the candidates minus that of the"
                " references; place is the sum of both. The size of an item's difference is the larger of place and the"
                " absolute value of spread. Diversity in the summary is minus the mean spread.",
                "The p-value of an item is the share of all labellings of its texts as candidates and references that"
                " are at least as extreme as the observed one, or of a random sample of labellings where there are too"
                f" many. The kind of difference is named if the p-value of the triangle test is at most {alpha:.3g}."
                f" About {level_text(alpha)} of the items without any difference are therefore named as well.",
                "Chance is the mean over all labellings of the same texts: the value to expect if candidates and"
                " references had the same source. With few texts per item it is far from 0, so compare with chance"
                " instead of 0. It is not a measure of quality: for that, compare with the human column.",
                "The human column compares part of an item's references with the others. Each row shows the sizes"
                " (candidates v references). Compare a system with it only at the same sizes. The rows “at” such sizes"
                " measure the systems on parts of the items as small as those.",
                "The combined test asks whether the mean over items could be due to chance. Labels are exchanged at"
                " random within every item, in all items at once, and the mean is measured again. The p-value is the"
                " share of these draws whose mean is at least as extreme as the observed one. Small differences on many"
                " items give a small p-value, even if no single item is significant. Items that share texts are"
                " exchanged together.",
                "Intervals come from resampling items: they show how much the mean would change with other items like"
                " these.",
                "The central reference of an item is the one nearest to all its other references.",
            )
        ),
        metric_guide(found.human.results, target="the human value"),
    )
