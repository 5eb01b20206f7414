"""A conditional study as Markdown: verdicts, tables, the worst items. What is not ours is escaped."""

import math
from collections.abc import Iterator

from textassay.corpus.printable import shortened
from textassay.report.cells import ARROWS, MARK
from textassay.report.items_missing import missing_lines
from textassay.report.items_paired import paired_rows
from textassay.report.items_rows import ItemRow, item_rows
from textassay.report.items_words import OTHER_TESTS, all_notes, counts, heading, human_title, legend, power_lines
from textassay.report.items_worst import Worst, worst_items
from textassay.report.markdown_text import escape, fenced, table
from textassay.studies.conditional_verdict import p_at_most
from textassay.studies.conditioned import Conditional, SystemColumn
from textassay.studies.wording import number, p_text

_TOP, _MOST_CONTESTS, _LONGEST = 10, 60, 400


def render_items_markdown(conditional: Conditional) -> str:
    """One Markdown document."""
    lines = [f"# {_cut(conditional.items.name)}: {heading(conditional)}", ""]
    lines += [f"- Note: {_cut(note)}" for note in all_notes(conditional)]
    lines += [line for column in conditional.systems for line in _verdict(column)]
    lines += ["", *_table(conditional), "", *(f"{escape(line)}  " for line in legend(conditional, chance=True)), ""]
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
    lines += fenced(r.signature for c in everyone for r in (*c.results, *c.at_human_size.values()))
    return "\n".join(lines) + "\n"


def _cut(text: str) -> str:
    return escape(shortened(text, _LONGEST))


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
    for cell, chance in zip(row.cells, row.chances, strict=True):
        yield _marked(str(cell)) + ("" if math.isnan(chance) else f" (chance {number(chance)})")


def _marked(text: str) -> str:
    return text.replace(MARK, f"\\{MARK}")


def _p(value: float) -> str:
    return escape(p_text(value))


def _z(value: float) -> str:
    return "–" if math.isnan(value) else f"{value:.1f}"


def _p_values(conditional: Conditional) -> list[str]:
    """The combined test of every metric, and other ways to combine the items' p-values."""
    columns = zip((conditional.human, *conditional.systems), ((), *conditional.adjusted()), strict=True)
    lines = [
        [_cut(label), _cut(column.name), escape(p_at_most(result)), _p(adjusted[place]) if adjusted else "",
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
            escape(p_text(one.adjusted)),
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
    yield f"### {escape(item.system)} on {escape(item.id)}: {item.how}"
    yield ""
    if item.prompt:
        yield from (f"Prompt: {escape(item.prompt)}", "")
    sides = ([f"{'&gt; ' if central else ''}{escape(left)}", escape(right)] for central, left, right in item.lines())
    yield from table(["references (&gt; the central one)", "candidates"], sides, right=2)
    yield ""
