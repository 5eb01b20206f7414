"""The terminal table: one row a metric, one column a candidate, the yardstick beside them, the verdicts below."""

from collections.abc import Iterator
from dataclasses import dataclass

from rich import box
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from textassay.corpus.printable import printable
from textassay.inference.result import Result
from textassay.report.cells import NO_EFFECT, NOTHING, Cell, cell, legend, reasons
from textassay.studies.comparison import Column, Comparison

_STYLES = {"same": "green", "differs": "yellow", "collapsed": "bold red"}
_SIGNS = {"same": "=", "differs": "≠", "collapsed": "!"}
_ARROWS = {"higher": "↑", "lower": "↓", "closer": "≈"}
# Room for the widest name and for its cell, with padding.
_MOST_NAME, _PADDING = 24, 3


def render(comparison: Comparison, *, width: int, why: bool = False) -> RenderableType:
    """Everything a reader of the terminal needs, format findings first."""
    parts: list[RenderableType] = [*_findings(comparison), _heading(comparison), *_tables(comparison, width)]
    parts += [Text(line, style="dim") for line in (*legend(comparison), _arrow_legend())]
    parts += [Text(""), *_verdicts(comparison), *_differences(comparison)]
    if comparison.notes:
        parts += [Text(""), *(Text(f"note: {printable(note)}", style="dim") for note in comparison.notes)]
    if why:
        parts += [Text(""), *(Text(printable(line), style="dim") for line in reasons(comparison))]
    return Group(*parts)


def _findings(comparison: Comparison) -> Iterator[Text]:
    """What changes the metrics, line by line; what this tokenizer evens out, in one line."""
    harmless: dict[str, None] = {}
    for column in comparison.candidates:
        for finding in column.findings:
            if finding.fix.startswith(NO_EFFECT):
                harmless[f"{_name(column)}: {finding.kind.replace('_', ' ')}"] = None
                continue
            line = Text.assemble(("format ", "bold yellow"), (_name(column), "bold"), f": {printable(finding.message)}")
            line.append(f"; {printable(finding.fix)}", style="dim")
            yield line
    if harmless:
        yield Text(f"format differences without effect under this tokenizer: {'; '.join(harmless)}", style="dim")
    if any(column.findings for column in comparison.candidates):
        yield Text("")


def _heading(comparison: Comparison) -> Text:
    reference = comparison.reference
    return Text.assemble("reference ", (_name(reference), "bold"), f" ({reference.n:,} texts)")


@dataclass(frozen=True)
class _Row:
    label: Text
    aspect: str
    cells: list[Cell]


def _rows(comparison: Comparison) -> list[_Row]:
    """One row a metric; where the yardstick had fewer texts, a second one with all columns at that size."""
    found = []
    level, adjusted = comparison.level, comparison.adjusted()
    for place, (label, real) in enumerate(zip(comparison.labels, comparison.real.results, strict=True)):
        results = [column.results[place] for column in comparison.candidates]
        cells = [cell(result, p[place], level=level) for result, p in zip(results, adjusted, strict=True)]
        again = [column.at_real_size.get(label) for column in comparison.candidates]
        yardstick = cell(real, level=level)
        smaller = [cell(result, level=level) for result in again if result is not None]
        found.append(_Row(_label(label, real), real.aspect, [NOTHING if smaller else yardstick, *cells]))
        if smaller:
            found.append(_Row(Text(f"  at n = {real.n:,}", style="dim"), real.aspect, [yardstick, *smaller]))
    return found


def _tables(comparison: Comparison, width: int) -> Iterator[Table]:
    """As many tables as the width asks for, each with the yardstick, so that no cell is ever cut."""
    rows = _rows(comparison)
    names = [comparison.real.name, *(_name(column) for column in comparison.candidates)]
    widths = [max(len(name), *(len(str(row.cells[i])) for row in rows)) + _PADDING for i, name in enumerate(names)]
    fixed = max(len(row.label) for row in rows) + _PADDING + widths[0]
    block: list[int] = []
    for place in range(1, len(names)):
        if block and fixed + sum(widths[i] for i in block) + widths[place] > width:
            yield _table(rows, names, block)
            block = []
        block.append(place)
    yield _table(rows, names, block)


def _table(rows: list[_Row], names: list[str], block: list[int]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, header_style="bold")
    table.add_column("metric", no_wrap=True)
    table.add_column(names[0], justify="right", no_wrap=True, style="cyan")
    for place in block:
        table.add_column(Text(names[place]), justify="right", no_wrap=True)
    previous = rows[0].aspect if rows else ""
    for row in rows:
        if row.aspect != previous:
            table.add_section()
        previous = row.aspect
        table.add_row(row.label, *(_text(row.cells[place]) for place in (0, *block)))
    return table


def _label(label: str, result: Result) -> Text:
    return Text.assemble(label, (f" {_ARROWS[result.better]}", "dim"))


def _text(item: Cell) -> Text:
    text = Text(item.estimate, style="bold" if item.marked else "")
    if item.spread:
        text.append(f" ±{item.spread}", style="not bold dim")
    text.append("*" if item.marked else " ", style="bold yellow")
    return text


def _verdicts(comparison: Comparison) -> Iterator[Table]:
    width = max((len(_name(column)) for column in comparison.candidates), default=0)
    for column in comparison.candidates:
        if column.verdict is None:
            continue
        style, sign = _STYLES[column.verdict.level], _SIGNS[column.verdict.level]
        reasons = Table.grid(padding=(0, 1))
        reasons.add_column(width=width + 2, no_wrap=True)
        reasons.add_column()
        for place, reason in enumerate(column.verdict.reasons):
            head = Text(f"{sign} {_name(column)}", style=style) if place == 0 else Text("")
            reasons.add_row(head, Text(printable(reason)))
        yield reasons


def _differences(comparison: Comparison) -> Iterator[Text]:
    if any(column.over or column.under for column in comparison.candidates):
        yield Text("")
    for column in comparison.candidates:
        for word, phrases in (("too often", column.over), ("too rarely", column.under)):
            if phrases:
                shown = ", ".join(
                    f"“{printable(phrase.text)}” {phrase.candidate_count:,} v {phrase.reference_count:,}"
                    for phrase in phrases[:4]
                )
                yield Text.assemble((_name(column), "bold"), (f" {word}: ", "dim"), shown)


def _arrow_legend() -> str:
    return "↑ higher is better, ↓ lower is better, ≈ closer to real text's own value is better"


def _name(column: Column) -> str:
    name = printable(column.name)
    return name if len(name) <= _MOST_NAME else f"{name[: _MOST_NAME - 1]}…"
