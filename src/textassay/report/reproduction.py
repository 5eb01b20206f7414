"""A reproduction in the terminal and as Markdown: published and found side by side, then the numbers."""

import textwrap
from collections.abc import Iterator
from urllib.parse import quote

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from textassay.corpus.printable import printable
from textassay.metrics.registry import citation
from textassay.report.markdown import escaped, fenced, table
from textassay.report.terminal import plain_table
from textassay.reproduce.result import Cell, Claim, CurveAt, Grid, Numbers, Panel, Reproduction, Row
from textassay.studies.wording import number, plus_minus


def render(reproduction: Reproduction) -> RenderableType:
    """For the terminal."""
    parts: list[RenderableType] = [Text(reproduction.title, style="bold"), Text(citation(reproduction.paper), "dim")]
    parts += [Text(""), Text(reproduction.design), Text(""), _claims(reproduction)]
    for grid in reproduction.grids:
        axes = f"across: {grid.across.what}; down: {grid.down.what}"
        parts += [Text(""), Text(grid.title, style="bold"), Text(axes, style="dim"), _grid(grid)]
    for numbers in (*reproduction.tables, *map(_as_numbers, reproduction.panels)):
        parts += [Text(""), Text(numbers.title, style="bold"), _numbers(numbers)]
    parts += [Text(""), *(Text(f"differs: {line}", style="dim") for line in reproduction.differs)]
    parts += [Text(f"note: {printable(note)}", style="dim") for note in reproduction.notes]
    return Group(*parts)


def _claims(reproduction: Reproduction) -> Table:
    shown = plain_table()
    shown.add_column("published", ratio=2)
    shown.add_column("found here", ratio=5)
    shown.add_column("agrees", no_wrap=True)
    for claim in reproduction.claims:
        shown.add_row(
            Text(claim.published), Text(claim.found), Text(_agrees(claim), "green" if claim.agrees else "bold red")
        )
    return shown


def _agrees(claim: Claim) -> str:
    return "yes" if claim.agrees else "no"


def _grid(grid: Grid) -> Table:
    shown = plain_table()
    shown.add_column("", no_wrap=True)
    for column in grid.across.labels:
        shown.add_column(column, justify="right", no_wrap=True)
    for name, *cells in _rows(grid, "\n"):
        shown.add_row(name, *cells)
    return shown


def _numbers(numbers: Numbers) -> Table:
    shown = plain_table()
    shown.add_column("")
    for column in numbers.columns:
        shown.add_column(Text(column), justify="right")
    for name, *cells in _plain_rows(numbers):
        shown.add_row(Text(name), *cells)
    return shown


def _plain_rows(numbers: Numbers) -> Iterator[list[str]]:
    for row in numbers.rows:
        yield [row.name, *("–" if value is None else f"{value:.2f}" for value in row.numbers)]


def _as_numbers(panel: Panel) -> Numbers:
    """Curves as a table: one row a place on the axis, mean and range of each curve."""
    places = sorted({point.x for line in panel.lines for point in line.points})
    columns = [title for line in panel.lines for title in (line.name, "from", "to")]
    found = {(line.name, point.x): point for line in panel.lines for point in line.points}
    rows = [
        Row(f"{panel.across} = {x:g}", tuple(v for line in panel.lines for v in _cells(found.get((line.name, x)))))
        for x in places
    ]
    return Numbers(panel.title, tuple(columns), tuple(rows))


def _cells(point: CurveAt | None) -> tuple[float | None, float | None, float | None]:
    return (None, None, None) if point is None else (point.mean, point.low, point.high)


def _rows(grid: Grid, between: str) -> Iterator[list[str]]:
    for row, cells in zip(grid.down.labels, grid.cells, strict=True):
        yield [row, *(_number(cell, between) for cell in cells)]


def _number(cell: Cell, between: str) -> str:
    if cell.interval is None:
        return number(cell.estimate)
    return f"{number(cell.estimate)}{between}±{plus_minus((cell.interval.high - cell.interval.low) / 2)}"


def render_markdown(reproduction: Reproduction, *, picture: str | None = None) -> str:
    """One Markdown document; `picture` is where the drawing lies, seen from it."""
    lines = [
        f"# {escaped(reproduction.title)}",
        "",
        *_wrapped(escaped(citation(reproduction.paper))),
        "",
    ]
    options = "".join(f" --{name} {value}" for name, value in reproduction.options.items())
    lines += ["```sh", f"textassay reproduce {reproduction.name} --data FOLDER{options}", "```", ""]
    lines += [*_wrapped(escaped(reproduction.design)), "", "## Published and found", ""]
    claims = [[escaped(claim.published), escaped(claim.found), _agrees(claim)] for claim in reproduction.claims]
    lines += [*table(["published", "found here", "agrees"], claims, right=3), ""]
    if picture is not None:
        lines += [f"![{escaped(reproduction.title)}]({quote(picture)})", ""]
    for grid in reproduction.grids:
        lines += [
            f"## {escaped(grid.title)}",
            "",
            f"Across: {escaped(grid.across.what)}; down: {escaped(grid.down.what)}.",
            "",
        ]
        lines += [*table(["", *grid.across.labels], _rows(grid, " "), right=1), ""]
    for numbers in (*reproduction.tables, *map(_as_numbers, reproduction.panels)):
        cells = [[escaped(name), *rest] for name, *rest in _plain_rows(numbers)]
        lines += [
            f"## {escaped(numbers.title)}",
            "",
            *table(["", *map(escaped, numbers.columns)], cells, right=1),
            "",
        ]
    lines += ["## What differs from the paper", "", *_listed(reproduction.differs), ""]
    lines += ["## Notes", "", *_listed(reproduction.notes), ""] if reproduction.notes else []
    return "\n".join([*lines, *fenced([reproduction.signature])]) + "\n"


def _listed(sentences: tuple[str, ...]) -> list[str]:
    return [line for sentence in sentences for line in _wrapped(escaped(sentence), "- ")]


def _wrapped(text: str, bullet: str = "") -> list[str]:
    # Words stay whole: a hyphen at the end of a line would become a blank in it.
    return textwrap.wrap(
        text,
        118,
        initial_indent=bullet,
        subsequent_indent=" " * len(bullet),
        break_on_hyphens=False,
        break_long_words=False,
    )
