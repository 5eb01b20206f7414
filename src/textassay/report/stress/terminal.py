"""The terminal view of a stress study."""

from collections.abc import Callable, Iterator

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from textassay.corpus.printable import shortened
from textassay.report.stress import content
from textassay.report.terminal import column_blocks, cut, dim, joined, named_lines, notes, plain_table
from textassay.studies.stress.result import Stress

# Metrics whose failures are listed without `why`.
_FEW = 6
_NAME = 18
_STYLES = ("red", "red", "yellow", "yellow", "green", "bold green")


def render_terminal(found: Stress, *, width: int, why: bool = False) -> RenderableType:
    """The matrix of the largest size, advice and failures; with `why` all sizes, powers and monotonicity."""
    last = found.sizes[-1]
    failures = list(content.failures(found, last))
    parts: list[list[RenderableType]] = [
        [Text.assemble("stress ", (cut(content.heading(found)), "bold")), *notes(found.notes)],
        [*_matrix(found, last, width, lambda entry: entry.found), *map(dim, content.legend(found))],
        [Text(cut(content.outcome_sentence(found, last)), style="bold")],
        [Text("Use for", style="bold"), _lines(content.advice(found, last))],
        [Text("Failures", style="bold"), _lines(iter(failures if why else failures[:_FEW]))] if failures else [],
    ]
    if why:
        parts += list(_details(found, width))
    return joined(parts)


def _details(found: Stress, width: int) -> Iterator[list[RenderableType]]:
    for size in found.sizes[:-1]:
        yield list(_matrix(found, size, width, lambda entry: entry.found))
    strengths = ", ".join(f"{strength:g}" for strength in found.strengths)
    for size in found.sizes:
        head = Text(f"power at {size:,} texts and strengths {strengths}", style="bold")
        yield [head, *_matrix(found, size, width, lambda entry: entry.powers)]
    for size in found.sizes:
        head = Text(f"Kendall's tau of value and strength at {size:,} texts", style="bold")
        yield [head, *_matrix(found, size, width, lambda entry: entry.tau)]
    yield [Text("Damages", style="bold"), _lines(iter(content.damage_lines(found)))]


def _lines(pairs: Iterator[tuple[str, str]]) -> Table:
    rows = [(Text(shortened(name, 30)), Text(cut(line))) for name, line in pairs]
    return named_lines(rows, width=max((name.cell_len for name, _ in rows), default=0) + 1)


def _matrix(found: Stress, size: int, width: int, text: Callable[[content.Entry], str]) -> Iterator[Table]:
    """Tables of at most this width, with the metrics in each."""
    shown = content.rows(found, size)
    names = [damage.name for damage in found.damages]
    widths = [max(len(name), *(len(text(row.entries[place])) for row in shown)) + 1 for place, name in enumerate(names)]
    label = max(_NAME, *(len(row.metric.name) for row in shown))
    ends = [("alarms", [row.alarms for row in shown]), ("s", [row.seconds for row in shown])]
    tail = sum(max(len(head), *map(len, cells)) + 1 for head, cells in ends)
    blocks = list(column_blocks(widths, width - min(label, 30) - 2 - tail))
    for block in blocks:
        table = plain_table(gap=1)
        table.add_column(f"{size:,} texts", width=min(label, 30))
        for place in block:
            table.add_column(names[place], justify="right", no_wrap=True, width=widths[place] - 1)
        for head, _ in ends if block is blocks[0] else ():
            table.add_column(head, justify="right", no_wrap=True)
        for number, row in enumerate(shown):
            cells = [Text(text(row.entries[place]), style=_STYLES[row.entries[place].step]) for place in block]
            more = [Text(values[number], style="dim") for _, values in ends] if block is blocks[0] else []
            table.add_row(Text(shortened(row.metric.name, 30), style="" if number else "bold"), *cells, *more)
        yield table
