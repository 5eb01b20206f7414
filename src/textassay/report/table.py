"""The terminal table: one row a metric, one column a candidate, the yardstick beside them, the verdicts below."""

from collections.abc import Iterator, Sequence

from rich import box
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from textassay.corpus.printable import printable
from textassay.inference.result import Result
from textassay.report.cells import Cell, cell, legend, reasons
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
    for column in comparison.candidates:
        for finding in column.findings:
            line = Text.assemble(("format ", "bold yellow"), (_name(column), "bold"), f": {printable(finding.message)}")
            line.append(f" ({printable(finding.fix)})", style="dim")
            yield line
    if any(column.findings for column in comparison.candidates):
        yield Text("")


def _heading(comparison: Comparison) -> Text:
    reference = comparison.reference
    return Text.assemble("reference ", (_name(reference), "bold"), f" ({reference.n:,} texts)")


def _tables(comparison: Comparison, width: int) -> Iterator[Table]:
    """As many tables as the width asks for, each with the yardstick, so that no cell is ever cut."""
    real = [cell(result, level=comparison.level) for result in comparison.real.results]
    columns = [
        [cell(result, p, level=comparison.level) for result, p in zip(column.results, adjusted, strict=True)]
        for column, adjusted in zip(comparison.candidates, comparison.adjusted(), strict=True)
    ]
    names = [_name(column) for column in comparison.candidates]
    fixed = max(map(len, comparison.labels), default=0) + 2 + _PADDING + _width(comparison.real.name, real)
    block: list[int] = []
    used = fixed
    for place, cells in enumerate(columns):
        needed = _width(names[place], cells)
        if block and used + needed > width:
            yield _table(comparison, real, [(names[i], columns[i]) for i in block])
            block, used = [], fixed
        block.append(place)
        used += needed
    yield _table(comparison, real, [(names[i], columns[i]) for i in block])


def _width(name: str, cells: Sequence[Cell]) -> int:
    return max(len(name), *(len(str(item)) for item in cells), 0) + _PADDING if cells else len(name) + _PADDING


def _table(comparison: Comparison, real: list[Cell], columns: list[tuple[str, list[Cell]]]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, header_style="bold")
    table.add_column("metric", no_wrap=True)
    table.add_column(comparison.real.name, justify="right", no_wrap=True, style="cyan")
    for name, _ in columns:
        table.add_column(Text(name), justify="right", no_wrap=True)
    previous = ""
    for place, (label, result) in enumerate(zip(comparison.labels, comparison.real.results, strict=True)):
        if previous and previous != result.aspect:
            table.add_section()
        previous = result.aspect
        table.add_row(
            _label(label, result), _text(real[place]), *(_text(cells[place]) for _, cells in columns)
        )  # fmt: skip
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
