"""The outcome of a reproduction: grids of numbers, and each published claim beside what was found here."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass

from textassay.inference.result import Interval
from textassay.version import __version__


@dataclass(frozen=True)
class Cell:
    """A mean over items and its interval."""

    estimate: float
    interval: Interval | None = None


@dataclass(frozen=True)
class Steps:
    """What goes along one side of a grid, its symbol, and the values it takes."""

    what: str
    symbol: str
    values: tuple[int, ...]

    @property
    def labels(self) -> list[str]:
        """The values as equations, such as `m = 3`."""
        return [f"{self.symbol} = {value}" for value in self.values]


@dataclass(frozen=True)
class Grid:
    """One metric over two axes, one row of cells for each value that goes down."""

    title: str
    better: str
    across: Steps
    down: Steps
    cells: tuple[tuple[Cell, ...], ...]

    @property
    def extremes(self) -> tuple[float, float]:
        """The lowest and the highest number of the grid."""
        estimates = [cell.estimate for row in self.cells for cell in row]
        return min(estimates), max(estimates)


@dataclass(frozen=True)
class Row:
    """One row of a plain table: its name, and a number or None for each column."""

    name: str
    numbers: tuple[float | None, ...]


@dataclass(frozen=True)
class Numbers:
    """A plain table of numbers with two decimals, such as a published one beside ours."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[Row, ...]


@dataclass(frozen=True)
class CurveAt:
    """A mean at x, and the range that holds most of what it is the mean of."""

    x: float
    mean: float
    low: float
    high: float


@dataclass(frozen=True)
class Line:
    """One curve and its name."""

    name: str
    points: tuple[CurveAt, ...]


@dataclass(frozen=True)
class Panel:
    """Curves over one axis."""

    title: str
    across: str
    up: str
    lines: tuple[Line, ...]


@dataclass(frozen=True)
class Claim:
    """What was published, what was found here, and whether that agrees."""

    published: str
    found: str
    agrees: bool


@dataclass(frozen=True)
class Reproduction:
    """A table or figure of a paper, made again. `design` is what is done, `differs` how that departs from the paper.

    `options` are the ones that it was made with, as on the command line; `notes` are further remarks.
    """

    name: str
    title: str
    paper: str
    design: str
    differs: tuple[str, ...]
    claims: tuple[Claim, ...]
    grids: tuple[Grid, ...]
    notes: tuple[str, ...]
    options: Mapping[str, int]
    signature: str
    tables: tuple[Numbers, ...] = ()
    panels: tuple[Panel, ...] = ()

    def to_json(self, *, indent: int | None = None) -> str:
        """JSON text with every number."""
        plain = {"textassay": __version__, **asdict(self), "options": dict(self.options)}
        return json.dumps(plain, indent=indent, ensure_ascii=False, allow_nan=False)
