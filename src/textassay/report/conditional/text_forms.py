"""A conditional study as Markdown, CSV, a data frame and in a notebook."""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from textassay.corpus.printable import shortened
from textassay.inference.result import Result
from textassay.report.conditional.grid import missing_lines, paired_rows
from textassay.report.conditional.items import Worst, worst_items
from textassay.report.conditional.words import (
    OTHER_TESTS,
    all_notes,
    counts,
    heading,
    human_title,
    legend,
    part_sizes,
    power_lines,
)
from textassay.report.page import WORDS, environment
from textassay.report.table import ARROWS, MARK, NOTHING, Cell, cell, csv_text, fenced, markdown_escape, table
from textassay.studies.conditional.result import Conditional, SystemColumn, chance_of
from textassay.studies.conditional.verdict import p_at_most
from textassay.studies.outcome import plain_row
from textassay.studies.wording import number, p_text

# What stands where a number has its place in the row beneath.
ELSEWHERE = Cell(number(math.nan), "", False)


@dataclass(frozen=True)
class ItemRow:
    """One metric: the human cell, then one a system; `at` is set where all were measured on parts of these sizes.

    `group` is the distance it reads, or what else it reads: rows of one group stand together.
    `chances` says, cell by cell, what chance alone gives, NaN where not known.
    """

    label: str
    better: str
    group: str
    at: str
    cells: tuple[Cell, ...]
    chances: tuple[float, ...]


def item_rows(conditional: Conditional) -> list[ItemRow]:
    """One row a metric; where the human parts are smaller than the items, a second one with all at that size."""
    found = []
    level, adjusted = conditional.level, conditional.adjusted()
    for place, (label, human) in enumerate(zip(conditional.labels, conditional.human.results, strict=True)):
        results = [column.results[place] for column in conditional.systems]
        cells = [cell(result, p[place], level=level) for result, p in zip(results, adjusted, strict=True)]
        chances = (math.nan, *map(chance_of, results))
        again = [column.at_baseline_size.get(label) for column in conditional.systems]
        people = cell(human, level=level)
        group = str(human.options.get("distance", "vectors"))
        if not any(again):
            found.append(ItemRow(label, human.better, group, "", (people, *cells), chances))
            continue
        smaller = [NOTHING if result is None else cell(result, level=level) for result in again]
        unknown = tuple(math.nan for _ in chances)
        at = part_sizes(human, conditional.human_sizes)
        found.append(ItemRow(label, human.better, group, "", (ELSEWHERE, *cells), chances))
        found.append(ItemRow(label, human.better, group, at, (people, *smaller), unknown))
    return found


_TOP, _MOST_CONTESTS, _LONGEST = 10, 60, 400


def render_markdown(conditional: Conditional) -> str:
    """One Markdown document."""
    lines = [f"# {_cut(conditional.items.name)}: {heading(conditional)}", ""]
    lines += [f"- Note: {_cut(note)}" for note in all_notes(conditional)]
    lines += [line for column in conditional.systems for line in _verdict(column)]
    lines += [
        "",
        *_table(conditional),
        "",
        *(f"{markdown_escape(line)}  " for line in legend(conditional, chance=True)),
        "",
    ]
    sections = {
        "Combined p-values": _p_values(conditional),
        "Differences": _differences(conditional),
        "Power": [f"- {_cut(line)}" for line in power_lines(conditional)],
        "No number": [f"- {_cut(line)}" for line in missing_lines(conditional, ids=True)],
        "Worst items": [line for item in worst_items(conditional, _TOP) for line in _item(item)],
    }
    for title, content in sections.items():
        lines += [f"## {title}", "", *content, ""] if content else []
    everyone = (conditional.human, *conditional.systems)
    lines += fenced(r.signature for c in everyone for r in (*c.results, *c.at_baseline_size.values()))
    return "\n".join(lines) + "\n"


def _cut(text: str) -> str:
    return markdown_escape(shortened(text, _LONGEST))


def _verdict(column: SystemColumn) -> Iterator[str]:
    said = column.verdict.sentence if column.verdict else "not judged"
    yield f"- **{_cut(column.name)}**: {_cut(said)} (items: {counts(column)})"


def _table(conditional: Conditional) -> list[str]:
    names = [human_title(conditional), *(column.name for column in conditional.systems)]
    lines = [[_label(row), *_cells(row)] for row in item_rows(conditional)]
    return table(["metric", *map(_cut, names)], lines, right=1)


def _label(row: ItemRow) -> str:
    return f"{_cut(row.label)} " + (f"at {row.at}" if row.at else ARROWS[row.better])


def _cells(row: ItemRow) -> Iterator[str]:
    for shown, chance in zip(row.cells, row.chances, strict=True):
        yield _marked(str(shown)) + ("" if math.isnan(chance) else f" (chance {number(chance)})")


def _marked(text: str) -> str:
    return text.replace(MARK, f"\\{MARK}")


def _p(value: float) -> str:
    return markdown_escape(p_text(value))


def _z(value: float) -> str:
    return "–" if math.isnan(value) else f"{value:.1f}"


def _p_values(conditional: Conditional) -> list[str]:
    """The combined test of every metric, and other ways to combine the items' p-values."""
    columns = zip((conditional.human, *conditional.systems), ((), *conditional.adjusted()), strict=True)
    lines = [
        [_cut(label), _cut(column.name), markdown_escape(p_at_most(result)), _p(adjusted[place]) if adjusted else "",
         _z(result.parts.get("z", math.nan)), *(_p(result.parts.get(name, math.nan)) for name in OTHER_TESTS),
         f"{result.n:,}"]
        for column, adjusted in columns
        for place, (label, result) in enumerate(zip(conditional.labels, column.results, strict=True))
        if result.p_value is not None
    ]  # fmt: skip
    head = ["metric", "system", "p", "adjusted p", "z", *(f"{words} p" for words in OTHER_TESTS.values()), "items"]
    return table(head, lines, right=2) if lines else []


def _differences(conditional: Conditional) -> list[str]:
    found = paired_rows(conditional)
    lines = [
        [
            *(_cut(text) for text in (one.contest.first, one.contest.second, one.contest.label)),
            _marked(one.gap),
            markdown_escape(p_text(one.adjusted)),
            _cut(one.ahead),
        ]
        for one in found[:_MOST_CONTESTS]
    ]
    head = ["first", "second", "metric", "first minus second", "Holm-adjusted p", "ahead"]
    left_out = len(found) - len(lines)
    more = ["", f"{left_out:,} further differences are less clear."] if left_out else []
    return [*table(head, lines, right=3), *more] if lines else []


def _item(item: Worst) -> Iterator[str]:
    """Title, prompt, and the texts of both sides; the names are shortened already."""
    yield f"### {markdown_escape(item.system)} on {markdown_escape(item.id)}: {item.how}"
    yield ""
    if item.prompt:
        yield from (f"Prompt: {markdown_escape(item.prompt)}", "")
    sides = (
        [f"{'&gt; ' if central else ''}{markdown_escape(left)}", markdown_escape(right)]
        for central, left, right in item.lines()
    )
    yield from table(["references (&gt; the central one)", "candidates"], sides, right=2)
    yield ""


CSV_FIELDS = (
    "system", "item", "at", "n", "metric", "label", "options", "estimate", "low", "high", "level", "p_value",
    "p_adjusted", "z", "fisher", "simes", "chance", "miss", "undefined", "signature",
)  # fmt: skip


def csv_rows(conditional: Conditional) -> list[dict[str, Any]]:
    """One plain row a result, the human ones first: over all items, at the human parts' size, then an item."""
    unadjusted = tuple(math.nan for _ in conditional.labels)
    found = _column(conditional, conditional.human, unadjusted)
    for system, adjusted in zip(conditional.systems, conditional.adjusted(), strict=True):
        found += _column(conditional, system, adjusted)
    return found


def _column(conditional: Conditional, column: SystemColumn, adjusted: tuple[float, ...]) -> list[dict[str, Any]]:
    sizes = _sizes(conditional)
    is_human = column is conditional.human
    over_items = [
        _row(column, label, result, at=sizes[label] if is_human else "") | {"p_adjusted": _known(p)}
        for label, result, p in zip(conditional.labels, column.results, adjusted, strict=True)
    ]
    # Only whole items are tested.
    smaller = [
        _row(column, label, replace(result, p_value=None), at=sizes.get(label, ""))
        for label, result in column.at_baseline_size.items()
    ]
    return [*over_items, *smaller, *_items(conditional, column, sizes if is_human else {})]


def _items(conditional: Conditional, column: SystemColumn, sizes: dict[str, str]) -> Iterator[dict[str, Any]]:
    for outcome in column.items:
        for label, result in zip(conditional.labels, outcome.results, strict=True):
            yield _row(column, label, result, at=sizes.get(label, "")) | {"item": outcome.id, "miss": outcome.miss.kind}


def _sizes(conditional: Conditional) -> dict[str, str]:
    """The sizes of the human parts, by label."""
    human = zip(conditional.labels, conditional.human.results, strict=True)
    return {label: part_sizes(result, conditional.human_sizes) for label, result in human}


def item_csv_rows(conditional: Conditional) -> list[dict[str, Any]]:
    """One row per system, item and metric."""
    return [row for system in conditional.systems for row in _items(conditional, system, {})]


def _row(column: SystemColumn, label: str, result: Result, *, at: str) -> dict[str, Any]:
    parts = {name: _known(result.parts.get(name, math.nan)) for name in ("z", "fisher", "simes", "chance")}
    plain = {name: value for name, value in plain_row(result).items() if name in CSV_FIELDS}
    return plain | {"system": column.name, "item": "", "at": at, "label": label, "p_adjusted": None, "miss": ""} | parts


def _known(value: float) -> float | None:
    return None if math.isnan(value) else value


def render_csv(conditional: Conditional) -> str:
    """CSV text with a header."""
    return csv_text(CSV_FIELDS, csv_rows(conditional))


# A sign a verdict beside the word, and never colour alone: notebooks are light or dark without telling.
_SIGNS = {"same": "=", "differs": "≠", "collapsed": "✕", "untested": "?"}


def render_notebook(conditional: Conditional) -> str:
    """An HTML fragment for a notebook's output cell."""
    template = environment().get_template("items_notebook.html.j2")
    return template.render(
        c=conditional,
        heading=heading(conditional),
        human=human_title(conditional),
        counts=counts,
        words=WORDS,
        signs=_SIGNS,
        arrows=ARROWS,
        rows=item_rows(conditional),
        notes=all_notes(conditional)[:10],
        legend=legend(conditional, chance=True),
    )
