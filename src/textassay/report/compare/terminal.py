"""The terminal view of a comparison."""

from collections.abc import Iterator

from rich.cells import cell_len
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from textassay.corpus.printable import printable
from textassay.report.compare.meaning import meaning_lines
from textassay.report.compare.text_forms import Row, table_rows
from textassay.report.page import hidden, telling
from textassay.report.table import (
    ARROWS,
    MARK,
    MOST_NAME,
    BlockLine,
    Cell,
    block_tables,
    fits_in_pieces,
    fitted_names,
    legend,
    reasons,
)
from textassay.studies.compare.result import Comparison


def metric_tables(comparison: Comparison, width: int) -> Iterator[Table]:
    """Tables of at most this width, each with the yardstick beside the candidates, or before them if it must be."""
    lines = _lines(comparison, stacked=False)
    if not fits_in_pieces(lines, width):
        lines = _lines(comparison, stacked=True)
    names = [comparison.real.name, *(printable(column.name) for column in comparison.candidates)]
    yield from block_tables(lines, names, width)


def _lines(comparison: Comparison, *, stacked: bool) -> list[BlockLine]:
    return [
        BlockLine(_label(row), tuple(_text(item, stacked=stacked) for item in row.cells), row.aspect)
        for row in table_rows(comparison)
    ]


def _label(row: Row) -> Text:
    if row.size is not None:
        return Text(f"  at n = {row.size:,}", style="dim")
    return Text.assemble(printable(row.label), (f" {ARROWS[row.better]}", "dim"))


def _text(item: Cell, *, stacked: bool) -> Text:
    """A cell in one line, or with its interval below the estimate."""
    mark = (MARK if item.marked else " ", "bold yellow")
    estimate = (item.estimate, "bold" if item.marked else "")
    if not item.spread:
        return Text.assemble(estimate, mark)
    if stacked:
        return Text.assemble(estimate, mark, "\n", (item.spread, "not bold dim"), " ")
    return Text.assemble(estimate, (f" {item.spread}", "not bold dim"), mark)


_STYLES = {"same": "green", "differs": "yellow", "collapsed": "bold red", "copied": "yellow", "untested": "dim"}
_SIGNS = {"same": "=", "differs": "≠", "collapsed": "!", "copied": "≈", "untested": "?"}


def render_terminal(comparison: Comparison, *, width: int, why: bool = False) -> RenderableType:
    """Everything a reader of the terminal needs, format findings first."""
    names = fitted_names([printable(column.name) for column in comparison.candidates], MOST_NAME)
    parts: list[RenderableType] = [*_findings(comparison, names), _heading(comparison)]
    parts += metric_tables(comparison, width)
    parts += [Text(line, style="dim") for line in legend(comparison)]
    parts += [Text(""), *_verdicts(comparison, names), *_differences(comparison, names)]
    if comparison.notes:
        parts += [Text(""), *(Text(f"note: {printable(note)}", style="dim") for note in comparison.notes)]
    if why:
        parts += [Text(""), *(Text(printable(line), style="dim") for line in reasons(comparison))]
    return Group(*parts)


def _findings(comparison: Comparison, names: list[str]) -> Iterator[Text]:
    """What changes the metrics, line by line; what this tokenizer evens out, in one line."""
    harmless: dict[str, None] = {}
    for column, name in zip(comparison.candidates, names, strict=True):
        for finding in telling(column):
            line = Text.assemble(("format ", "bold yellow"), (name, "bold"), f": {printable(finding.message)}")
            line.append(f"; {printable(finding.fix)}", style="dim")
            yield line
        harmless |= dict.fromkeys(f"{name}: {printable(finding.kind).replace('_', ' ')}" for finding in hidden(column))
    if harmless:
        yield Text(f"format differences without effect under this tokenizer: {'; '.join(harmless)}", style="dim")
    if any(column.findings for column in comparison.candidates):
        yield Text("")


def _heading(comparison: Comparison) -> Text:
    reference = comparison.reference
    name, *_ = fitted_names([printable(reference.name)], MOST_NAME)
    return Text.assemble("reference ", (name, "bold"), f" ({reference.n:,} texts)")


def _verdicts(comparison: Comparison, names: list[str]) -> Iterator[Table]:
    width = max(map(cell_len, names), default=0)
    for column, name in zip(comparison.candidates, names, strict=True):
        if column.verdict is None:
            continue
        style, sign = _STYLES[column.verdict.level], _SIGNS[column.verdict.level]
        reasons = Table.grid(padding=(0, 1))
        reasons.add_column(width=width + 2, no_wrap=True)
        reasons.add_column()
        for place, reason in enumerate(column.verdict.reasons):
            head = Text(f"{sign} {name}", style=style) if place == 0 else Text("")
            reasons.add_row(head, Text(printable(reason)))
        yield reasons


def _differences(comparison: Comparison, names: list[str]) -> Iterator[Text]:
    if any(column.over or column.under or column.meaning for column in comparison.candidates):
        yield Text("")
    for column, name in zip(comparison.candidates, names, strict=True):
        for word, phrases in (("too often", column.over), ("too rarely", column.under)):
            if phrases:
                shown = ", ".join(
                    f"“{printable(phrase.text)}” {phrase.candidate_count:,} v {phrase.reference_count:,}"
                    for phrase in phrases[:4]
                )
                yield Text.assemble((name, "bold"), (f" {word}: ", "dim"), shown)
        for word, regions in meaning_lines(column, comparison.level):
            yield Text.assemble((name, "bold"), (f" {word}: ", "dim"), printable(regions))
