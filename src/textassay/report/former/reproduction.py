"""Reproductions in the terminal and as Markdown: published and found side by side, then the numbers."""

import textwrap
from collections.abc import Iterator, Sequence
from urllib.parse import quote

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from textassay.corpus.printable import printable
from textassay.document.words import number, plus_minus
from textassay.metrics.registry import citation
from textassay.report.former.markdown import escaped, fenced, table
from textassay.report.former.terminal import plain_table
from textassay.reproduce.claims import Claim
from textassay.reproduce.result import Cell, Grid, Line, Matrix, Numbers, Panel, Reproduction, Row


def render(reproduction: Reproduction) -> RenderableType:
    """For the terminal."""
    parts: list[RenderableType] = [Text(reproduction.title, style="bold"), Text(citation(reproduction.paper), "dim")]
    parts += [Text(""), Text(reproduction.design), Text(""), _claims(reproduction)]
    parts += [Text(""), Text(reproduction.conclusion)]
    for grid in reproduction.grids:
        axes = f"across: {grid.across.what}; down: {grid.down.what}"
        parts += [Text(""), Text(grid.title, style="bold"), Text(axes, style="dim"), _grid(grid)]
    for numbers in _all_numbers(reproduction):
        parts += [Text(""), Text(numbers.title, style="bold"), _numbers(numbers)]
    parts += [Text(""), *(Text(f"differs: {line}", style="dim") for line in reproduction.differs)]
    parts += [Text(f"note: {printable(note)}", style="dim") for note in reproduction.notes]
    return Group(*parts)


def _all_numbers(reproduction: Reproduction) -> list[Numbers]:
    """The plain tables, and the curves and matrices as such tables."""
    curves = [_as_numbers(panel) for panel in reproduction.panels if panel.tabled]
    return [*reproduction.tables, *curves, *map(_matrix_numbers, reproduction.matrices)]


def _claims(reproduction: Reproduction) -> Table:
    shown = plain_table()
    for column, ratio in zip(_CLAIM_COLUMNS, (3, 4, 3, 1), strict=True):
        shown.add_column(column, ratio=ratio, no_wrap=column == "decision")
    for claim in reproduction.claims:
        *sentences, decision = _claim_cells(claim)
        shown.add_row(*map(Text, sentences), Text(decision, _STYLES[claim.decision]))
    return shown


_CLAIM_COLUMNS = ("the paper states", "found here", "holds if", "decision")
_STYLES = {"holds": "green", "fails": "bold red", "undecided": "yellow"}


def _claim_cells(claim: Claim) -> list[str]:
    return [claim.published, claim.found, claim.wanted, claim.decision]


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
        yield [row.name, *(_plain_number(value, numbers.digits) for value in row.numbers)]


def _plain_number(value: float | None, digits: int | None) -> str:
    if value is None:
        return "–"
    return number(value) if digits is None else f"{value:.{digits}f}"


def _as_numbers(panel: Panel) -> Numbers:
    """Curves as a table: one row per place on the axis, the value of each curve and, if it has one, its range."""
    places = sorted({point.x for line in panel.lines for point in line.points})
    columns = [title for line in panel.lines for title in (line.name, *(("from", "to") if _has_range(line) else ()))]
    rows = [
        Row(f"{panel.across} = {x:.3g}", tuple(value for line in panel.lines for value in _cells(line, x)))
        for x in places
    ]
    return Numbers(panel.title, tuple(columns), tuple(rows), 2 if any(map(_has_range, panel.lines)) else None)


def _has_range(line: Line) -> bool:
    return any(point.low is not None for point in line.points)


def _cells(line: Line, x: float) -> tuple[float | None, ...]:
    point = next((point for point in line.points if point.x == x), None)
    found = (None, None, None) if point is None else (point.mean, point.low, point.high)
    return found if _has_range(line) else found[:1]


def _matrix_numbers(matrix: Matrix) -> Numbers:
    rows = tuple(Row(name, values) for name, values in zip(matrix.names, matrix.values, strict=True))
    return Numbers(matrix.title, matrix.names, rows)


def _rows(grid: Grid, between: str) -> Iterator[list[str]]:
    for row, cells in zip(grid.down.labels, grid.cells, strict=True):
        yield [row, *(_number(cell, between) for cell in cells)]


def _number(cell: Cell, between: str) -> str:
    if cell.interval is None:
        return number(cell.estimate)
    return f"{number(cell.estimate)}{between}±{plus_minus((cell.interval.high - cell.interval.low) / 2)}"


def render_markdown(reproduction: Reproduction, *, picture: str | None = None) -> str:
    """One Markdown document; `picture` is where the drawing is, seen from it."""
    lines = [f"# {escaped(reproduction.title)}", "", *_wrapped(escaped(citation(reproduction.paper))), ""]
    return "\n".join([*lines, *_section(reproduction, picture, "##")]) + "\n"


def render_page(paper: str, found: Sequence[Reproduction], missing: Sequence[tuple[str, str]]) -> str:
    """The page of a paper: every reproduction, and what cannot be made again with its reason.

    Drawings are expected beside the page, as NAME.svg.
    """
    # Authors have initials, but the title is always followed by the place and year of publication.
    title = citation(paper).split(". ")[-2]
    lines = [f"# Reproduced: {escaped(title)}", "", *_wrapped(escaped(citation(paper))), ""]
    rows = [[f"[{made.name}](#{made.name})", _agreeing(made), escaped(made.conclusion)] for made in found]
    lines += [*table(["reproduction", "statements that hold", "conclusion"], rows, right=3), ""]
    if missing:
        lines += ["Not made again here:", "", *(f"- {escaped(what)}: {reason}." for what, reason in missing), ""]
    for made in found:
        picture = f"{made.name}.svg" if made.has_figure else None
        lines += [f"## {made.name}", "", f"**{escaped(made.title)}**", "", *_section(made, picture, "###"), ""]
    return "\n".join(lines).rstrip() + "\n"


def _agreeing(reproduction: Reproduction) -> str:
    return f"{reproduction.n_agreeing} of {len(reproduction.claims)}"


def _section(reproduction: Reproduction, picture: str | None, level: str) -> list[str]:
    data = " --data FOLDER" if reproduction.files else ""
    options = "".join(f" --{name} {value}" for name, value in reproduction.options.items())
    lines = ["```sh", f"textassay reproduce {reproduction.name}{data}{options}", "```", ""]
    lines += [*_wrapped(escaped(reproduction.design)), "", *_wrapped(f"**{escaped(reproduction.conclusion)}**"), ""]
    claims = [[escaped(cell) for cell in _claim_cells(claim)] for claim in reproduction.claims]
    lines += [*table(list(_CLAIM_COLUMNS), claims, right=4), ""]
    if picture is not None:
        lines += [f"![{escaped(reproduction.title)}]({quote(picture)})", ""]
    for grid in reproduction.grids:
        lines += [f"{level} {escaped(grid.title)}", ""]
        lines += [f"Across: {escaped(grid.across.what)}; down: {escaped(grid.down.what)}.", ""]
        lines += [*table(["", *grid.across.labels], _rows(grid, " "), right=1), ""]
    for numbers in _all_numbers(reproduction):
        cells = [[escaped(name), *rest] for name, *rest in _plain_rows(numbers)]
        lines += [f"{level} {escaped(numbers.title)}", ""]
        lines += [*table(["", *map(escaped, numbers.columns)], cells, right=1), ""]
    lines += ["What differs from the paper:", "", *_listed(reproduction.differs), ""]
    lines += ["Notes:", "", *_listed(reproduction.notes), ""] if reproduction.notes else []
    return [*lines, *fenced([reproduction.signature])]


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
