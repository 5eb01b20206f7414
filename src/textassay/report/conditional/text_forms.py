"""A conditional study as Markdown, CSV, a data frame and in a notebook."""

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from textassay.inference.result import Result
from textassay.report import markdown
from textassay.report.conditional.content import (
    OTHER_TESTS,
    counts,
    heading,
    legend,
    missing_lines,
    p_at_most,
    part_sizes,
    power_lines,
    table_lines,
)
from textassay.report.conditional.items import Worst, worst_items
from textassay.report.csv_writer import csv_text, known
from textassay.report.page import fragment
from textassay.report.table import every_note, paired_rows
from textassay.studies.conditional.result import Conditional, SystemColumn
from textassay.studies.outcome import plain_row
from textassay.studies.wording import p_text

_TOP, _MOST_CONTESTS, _MOST_NOTES = 10, 60, 10


def render_markdown(conditional: Conditional) -> str:
    """One Markdown document."""
    names = [conditional.human.name, *(column.name for column in conditional.systems)]
    sections = {
        "": markdown.metric_table(table_lines(conditional), names, legend(conditional, chance=True)),
        "Combined p-values": _p_values(conditional),
        "Differences": _differences(conditional),
        "Power": markdown.bullets(power_lines(conditional)),
        "No number": markdown.bullets(missing_lines(conditional, ids=True)),
        "Items that differ most": [line for item in worst_items(conditional, _TOP) for line in _item(item)],
    }
    everyone = (conditional.human, *conditional.systems)
    return markdown.document(
        f"{markdown.cut(conditional.items.name)}: {heading(conditional)}",
        [
            *(f"Note: {markdown.cut(note)}" for note in every_note(conditional.items.notes, conditional.notes)),
            *map(_verdict, conditional.systems),
        ],
        sections,
        (r.signature for c in everyone for r in (*c.results, *c.at_baseline_size.values())),
    )


def _verdict(column: SystemColumn) -> str:
    verdict = column.verdict.sentence if column.verdict else "not tested"
    return f"**{markdown.cut(column.name)}**: {markdown.cut(verdict)} (items: {counts(column)})"


def _p(value: float) -> str:
    return markdown.escaped(p_text(value))


def _z(value: float) -> str:
    return "–" if math.isnan(value) else f"{value:.1f}"


def _p_values(conditional: Conditional) -> list[str]:
    """The combined test of every metric, and other ways to combine the p-values of items."""
    lines = [
        [markdown.cut(label), markdown.cut(column.name), markdown.escaped(p_at_most(result)),
         _p(result.parts.get("adjusted", math.nan)),
         _z(result.parts.get("z", math.nan)), *(_p(result.parts.get(name, math.nan)) for name in OTHER_TESTS),
         f"{result.n:,}"]
        for column in conditional.systems
        for label, result in zip(conditional.labels, column.results, strict=True)
        if result.p_value is not None
    ]  # fmt: skip
    head = ["metric", "system", "p", "adjusted p", "z", *(f"{words} p" for words in OTHER_TESTS.values()), "items"]
    return markdown.table(head, lines, right=2) if lines else []


def _differences(conditional: Conditional) -> list[str]:
    found = paired_rows(conditional, conditional.contests)
    lines = [
        [
            *(markdown.cut(text) for text in (one.contest.first, one.contest.second, one.contest.label)),
            markdown.starred(one.gap),
            markdown.escaped(one.p),
            markdown.cut(one.ahead),
        ]
        for one in found[:_MOST_CONTESTS]
    ]
    head = ["first", "second", "metric", "first minus second", "Holm-adjusted p", "better"]
    left_out = len(found) - len(lines)
    more = ["", f"{left_out:,} further differences are less clear."] if left_out else []
    return [*markdown.table(head, lines, right=3), *more] if lines else []


def _item(item: Worst) -> Iterator[str]:
    """Title, prompt, and the texts of both sides; all are shortened already."""
    yield f"### {markdown.escaped(item.system)} on {markdown.escaped(item.id)}: {item.how}"
    yield ""
    if item.prompt:
        yield from (f"Prompt: {markdown.escaped(item.prompt)}", "")
    sides = (
        [f"{'&gt; ' if central else ''}{markdown.escaped(left)}", markdown.escaped(right)]
        for central, left, right in item.lines()
    )
    yield from markdown.table(["references (&gt; marks the central one)", "candidates"], sides, right=2)
    yield ""


CSV_FIELDS = (
    "system", "item", "at", "n", "metric", "label", "options", "estimate", "low", "high", "level", "p_value",
    "p_adjusted", "z", "fisher", "simes", "chance", "miss", "undefined", "signature",
)  # fmt: skip


def csv_rows(conditional: Conditional) -> list[dict[str, Any]]:
    """One row per result, the human ones first: over all items, at the size of the human parts, then per item."""
    unadjusted = tuple(math.nan for _ in conditional.labels)
    found = _column(conditional, conditional.human, unadjusted)
    for system in conditional.systems:
        found += _column(conditional, system, conditional.adjusted_p_values(system))
    return found


def _column(conditional: Conditional, column: SystemColumn, adjusted: tuple[float, ...]) -> list[dict[str, Any]]:
    sizes = _sizes(conditional)
    is_human = column is conditional.human
    over_items = [
        _row(column, label, result, at=sizes[label] if is_human else "") | {"p_adjusted": known(p)}
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
    parts = {name: known(result.parts.get(name, math.nan)) for name in ("z", "fisher", "simes", "chance")}
    plain = {name: value for name, value in plain_row(result).items() if name in CSV_FIELDS}
    return plain | {"system": column.name, "item": "", "at": at, "label": label, "p_adjusted": None, "miss": ""} | parts


def render_csv(conditional: Conditional) -> str:
    """CSV text with a header."""
    return csv_text(CSV_FIELDS, csv_rows(conditional))


def render_notebook(conditional: Conditional) -> str:
    """An HTML fragment for a notebook's output cell."""
    return fragment(
        "conditional/notebook.html.j2",
        name=conditional.items.name,
        heading=heading(conditional),
        systems=[(system, counts(system)) for system in conditional.systems],
        columns=[conditional.human.name, *conditional.names],
        lines=table_lines(conditional),
        facts=[],
        legend=legend(conditional, chance=True),
        notes=every_note(conditional.items.notes, conditional.notes)[:_MOST_NOTES],
    )
