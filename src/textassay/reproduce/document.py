"""The document of a reproduction, the page of a paper with all of its reproductions, and their figures as plots."""

from collections.abc import Iterator, Sequence

from textassay.document.blocks import (
    Block,
    Cell,
    Chart,
    Document,
    Facts,
    Head,
    Notes,
    Section,
    Signatures,
    Summary,
    Table,
    Text,
    sections_of,
)
from textassay.document.blocks import Row as TableRow
from textassay.document.plot import Area, Cells, Marks, Plot, Point, Rule, Scale
from textassay.document.plot import Line as Curve
from textassay.document.words import number, plus_minus
from textassay.metrics.registry import citation
from textassay.reproduce.claims import Claim
from textassay.reproduce.result import Cell as GridCell
from textassay.reproduce.result import Grid, Line, Matrix, Numbers, Panel, Reproduction, Row, Steps


def document(found: Reproduction, *, picture: str = "") -> Document:
    """What a reproduction states; `picture` is where its figure is, for a form without drawings."""
    return Document(
        kind="reproduction",
        title=found.title,
        summary=Summary(
            question=found.title,
            context=f"{citation(found.paper)} {_agreeing(found)} statements hold.",
            sentence=found.conclusion,
        ),
        sections=sections_of(
            Section("design", "What is done", (Text((found.design,)),), "screen"),
            Section("claims", "Statements", (_claims(found),), "screen"),
            Section("figure", "Figure", tuple(_charts(found, picture))),
            Section("numbers", "Numbers", tuple(_tables(found)), "screen"),
            Section("differs", "What differs from the paper", (Notes(found.differs),), "screen"),
            Section("repeat", "How to repeat it", (_how(found),)),
            Section("signatures", "Signature", (Signatures(((found.name, found.signature),)),)),
        ),
        notes=found.notes,
    )


def page(paper: str, found: Sequence[Reproduction], missing: Sequence[tuple[str, str]]) -> Document:
    """The page of a paper: every reproduction, and what cannot be made again with its reason.

    Figures are expected beside the page, as NAME.svg.
    """
    # Authors have initials, but the title is always followed by the place and year of publication.
    title = citation(paper).split(". ")[-2]
    return Document(
        kind="reproductions",
        title=f"Reproduced: {title}",
        summary=Summary(f"Reproduced: {title}", citation(paper), _agreement(found)),
        sections=sections_of(
            Section("overview", "Overview", (_overview(found),)),
            Section("missing", "Not made again here", (Facts(tuple((what, reason) for what, reason in missing)),))
            if missing
            else None,
            *(Section(each.name, each.name, tuple(_whole(each))) for each in found),
        ),
    )


def _agreement(found: Sequence[Reproduction]) -> str:
    n, total = sum(each.n_agreeing for each in found), sum(len(each.claims) for each in found)
    return f"{n} of {total} statements of the paper hold here."


def _agreeing(found: Reproduction) -> str:
    return f"{found.n_agreeing} of {len(found.claims)}"


def _overview(found: Sequence[Reproduction]) -> Table:
    heads = (Head("reproduction"), Head("statements that hold"), Head("conclusion"))
    rows = [TableRow((Cell(each.name), Cell(_agreeing(each)), Cell(each.conclusion))) for each in found]
    return Table(heads, tuple(rows))


def _whole(found: Reproduction) -> Iterator[Block]:
    """One reproduction among others."""
    yield Text((found.title, found.design, found.conclusion))
    yield _claims(found)
    yield from _charts(found, f"{found.name}.svg")
    yield from _tables(found)
    yield Text(("What differs from the paper:",))
    yield Notes(found.differs)
    if found.notes:
        yield Text(("Notes:",))
        yield Notes(found.notes)
    yield _how(found)
    yield Signatures(((found.name, found.signature),))


def _how(found: Reproduction) -> Facts:
    data = " --data FOLDER" if found.files else ""
    options = "".join(f" --{name} {value}" for name, value in found.options.items())
    return Facts((("Command", f"textassay reproduce {found.name}{data}{options}"),))


def _claims(found: Reproduction) -> Table:
    heads = ("the paper states", "found here", "holds if", "decision")
    return Table(tuple(map(Head, heads)), tuple(map(_claim_row, found.claims)))


def _claim_row(claim: Claim) -> TableRow:
    return TableRow(tuple(map(Cell, (claim.published, claim.found, claim.wanted, claim.decision))))


def _charts(found: Reproduction, picture: str) -> Iterator[Chart]:
    """One chart per plot; the picture has all of them, so the first one names it."""
    for at, plot in enumerate(plots(found)):
        yield Chart(plot, plot.title, file="" if at else picture)


def _tables(found: Reproduction) -> Iterator[Table]:
    """The grids and plain tables, and the curves and matrices as tables."""
    yield from map(_grid_table, found.grids)
    curves = (_curve_numbers(panel) for panel in found.panels if panel.tabled)
    yield from map(_number_table, (*found.tables, *curves, *map(_matrix_numbers, found.matrices)))


def _grid_table(grid: Grid) -> Table:
    heads = (Head(""), *(Head(label, numeric=True) for label in grid.across.labels))
    rows = zip(grid.down.labels, grid.cells, strict=True)
    caption = f"Across: {grid.across.what}; down: {grid.down.what}."
    return Table(
        heads,
        tuple(TableRow((Cell(label), *map(_grid_cell, cells))) for label, cells in rows),
        title=grid.title,
        caption=caption,
    )


def _grid_cell(cell: GridCell) -> Cell:
    return Cell(number(cell.estimate), cell.estimate, _half_width(cell))


def _half_width(cell: GridCell) -> str:
    return f"±{plus_minus((cell.interval.high - cell.interval.low) / 2)}" if cell.interval else ""


def _number_table(numbers: Numbers) -> Table:
    return Table(
        (Head(""), *(Head(column, numeric=True) for column in numbers.columns)),
        tuple(
            TableRow((Cell(row.name), *(Cell(_plain_number(value, numbers.digits), value) for value in row.numbers)))
            for row in numbers.rows
        ),
        title=numbers.title,
    )


def _plain_number(value: float | None, digits: int | None) -> str:
    if value is None:
        return "–"
    return number(value) if digits is None else f"{value:.{digits}f}"


def _curve_numbers(panel: Panel) -> Numbers:
    """Curves as a table: one row per place on the axis, the value of each curve and, if it has one, its range."""
    places = sorted({point.x for line in panel.lines for point in line.points})
    columns = [title for line in panel.lines for title in (line.name, *(("from", "to") if _has_range(line) else ()))]
    rows = [
        Row(f"{panel.across} = {x:.3g}", tuple(value for line in panel.lines for value in _values_at(line, x)))
        for x in places
    ]
    return Numbers(panel.title, tuple(columns), tuple(rows), 2 if any(map(_has_range, panel.lines)) else None)


def _has_range(line: Line) -> bool:
    return any(point.low is not None for point in line.points)


def _values_at(line: Line, x: float) -> tuple[float | None, ...]:
    point = next((point for point in line.points if point.x == x), None)
    found = (None, None, None) if point is None else (point.mean, point.low, point.high)
    return found if _has_range(line) else found[:1]


def _matrix_numbers(matrix: Matrix) -> Numbers:
    rows = tuple(Row(name, values) for name, values in zip(matrix.names, matrix.values, strict=True))
    return Numbers(matrix.title, matrix.names, rows)


def plots(found: Reproduction) -> tuple[Plot, ...]:
    """The parts of the figure; none of a reproduction that is a table."""
    names = list(dict.fromkeys(name for panel in found.panels for name in _series(panel)))
    return (
        *(_grid_plot(grid, found.design) for grid in found.grids),
        *(_panel_plot(panel, found.panels, names, found.design) for panel in found.panels),
        *(_matrix_plot(matrix, found.design) for matrix in found.matrices),
    )


def _series(panel: Panel) -> list[str]:
    return [*(line.name for line in panel.lines), *(area.name for area in panel.areas)]


def _grid_plot(grid: Grid, summary: str) -> Plot:
    """A heat map, the first row at the bottom, as on an axis."""
    low, high = grid.extremes
    worst, best = (high, low) if grid.better == "lower" else (low, high)
    reach = (worst - best) or 1.0
    rows = list(reversed(grid.cells))
    return Plot(
        f"{grid.title} (lighter is better)",
        Scale(_named(grid.across), names=tuple(map(str, grid.across.values))),
        Scale(_named(grid.down), names=tuple(map(str, reversed(grid.down.values)))),
        (
            Cells(
                tuple(tuple((cell.estimate - best) / reach for cell in row) for row in rows),
                tuple(tuple(f"{number(c.estimate)}\n{_half_width(c)}".rstrip() for c in row) for row in rows),
            ),
        ),
        summary=summary,
        size="large",
    )


def _named(steps: Steps) -> str:
    return f"{steps.what} ({steps.symbol})"


def _panel_plot(panel: Panel, panels: Sequence[Panel], names: Sequence[str], summary: str) -> Plot:
    """Curves, points and areas; `names` are the series of all panels, so that each looks the same in all of them."""
    return Plot(
        panel.title,
        Scale(panel.across),
        Scale(panel.up, limits=_limits(panel, panels)),
        (
            *(Area(area.corners, names.index(area.name), area.name) for area in panel.areas),
            *(Rule(start, end) for start, end in panel.dashed),
            *(_curve(line, names.index(line.name)) for line in panel.lines),
            *(Marks((Point(p.x, p.y, label=p.name, tone="best"),)) for p in panel.points),
        ),
        summary=summary,
    )


def _curve(line: Line, index: int) -> Curve | Marks:
    limits = tuple(None if p.low is None or p.high is None else (p.low, p.high) for p in line.points)
    if not line.joined:
        both = zip(line.points, limits, strict=True)
        return Marks(tuple(Point(p.x, p.mean, y_ends=ends, candidate=index) for p, ends in both), line.name)
    return Curve(tuple((p.x, p.mean) for p in line.points), limits if any(limits) else (), index, line.name)


def _limits(panel: Panel, panels: Sequence[Panel]) -> tuple[float, float] | None:
    """What the vertical axis must cover: also the other panels of this quantity if the panel has limits."""
    if panel.limits is None:
        return None
    values = [value for each in panels if each.limits and each.up == panel.up for value in _heights(each)]
    return min(values), max(values)


def _heights(panel: Panel) -> Iterator[float]:
    yield from panel.limits or ()
    yield from (
        value for line in panel.lines for p in line.points for value in (p.low, p.mean, p.high) if value is not None
    )
    yield from (y for area in panel.areas for _, y in area.corners)
    yield from (point.y for point in panel.points)


def _matrix_plot(matrix: Matrix, summary: str) -> Plot:
    texts = tuple(tuple("" if value is None else f"{value:.2f}" for value in row) for row in matrix.values)
    names = Scale(names=matrix.names)
    return Plot(matrix.title, names, names, (Cells(matrix.values, texts),), summary=summary, size="large")
