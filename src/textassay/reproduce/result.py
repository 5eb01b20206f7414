"""The outcome of a reproduction: numbers to print and to draw, and each published claim beside what was found here."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Self, TypeVar

from textassay.errors import InputError
from textassay.inference.plan import Progress
from textassay.inference.result import Interval
from textassay.reproduce.claims import Claim, conclude
from textassay.studies.codec import from_fields
from textassay.studies.compare.result import Comparison
from textassay.version import __version__

# Seconds for a check, minutes on a laptop, and the sizes of the paper.
SCALES = ("smoke", "laptop", "paper")

T = TypeVar("T")


@dataclass(frozen=True)
class Run:
    """How a reproduction is made: its name, scale and seed, and the number of items or texts that it takes.

    `work` is a folder for parts of a long run, which continues from them.
    """

    name: str
    scale: str
    n_items: int
    seed: int
    progress: Progress
    work: Path | None = None

    @property
    def options(self) -> dict[str, int | str]:
        """The options of the command line that repeat this run."""
        return {"scale": self.scale, "items": self.n_items, "seed": self.seed}

    def by_scale(self, smoke: T, laptop: T, paper: T) -> T:
        """The setting of this run's scale."""
        return dict(zip(SCALES, (smoke, laptop, paper), strict=True))[self.scale]


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
    """A plain table, such as a published one beside ours. `digits` are decimals; None is three significant digits."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[Row, ...]
    digits: int | None = 2


@dataclass(frozen=True)
class CurveAt:
    """A value at x, and if it is a mean, the range that holds most of what it is the mean of."""

    x: float
    mean: float
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class Line:
    """One curve and its name; without `joined`, its points alone."""

    name: str
    points: tuple[CurveAt, ...]
    joined: bool = True


@dataclass(frozen=True)
class NamedPoint:
    """A point with its name beside it, such as real text in a plane."""

    name: str
    x: float
    y: float


@dataclass(frozen=True)
class Area:
    """A shaded polygon; areas of one name have one colour."""

    name: str
    corners: tuple[tuple[float, float], ...]


@dataclass(frozen=True)
class Panel:
    """Curves, points and areas over two axes.

    Vertical axes with `limits` cover these, and panels with limits and the same quantity upwards have the same axis.
    `dashed` are straight lines. Without `tabled`, curves are drawn but not printed as a table.
    """

    title: str
    across: str
    up: str
    lines: tuple[Line, ...]
    points: tuple[NamedPoint, ...] = ()
    areas: tuple[Area, ...] = ()
    dashed: tuple[tuple[tuple[float, float], tuple[float, float]], ...] = ()
    limits: tuple[float, float] | None = None
    tabled: bool = True


def by_model(title: str, up: str, names: Sequence[str], sides: Mapping[str, Sequence[float | None]]) -> Panel:
    """Bars of a paper as points: one place per model, one series per side; a side without a value has no point."""
    across = "model: " + ", ".join(f"{index} {name}" for index, name in enumerate(names, 1))
    lines = tuple(
        Line(side, tuple(CurveAt(index, y) for index, y in enumerate(values, 1) if y is not None), joined=False)
        for side, values in sides.items()
    )
    return Panel(title, across, up, lines, tabled=False)


@dataclass(frozen=True)
class Matrix:
    """A square of correlations between named things; None where there is none."""

    title: str
    names: tuple[str, ...]
    values: tuple[tuple[float | None, ...], ...]


@dataclass(frozen=True)
class Reproduction:
    """A table or figure of a paper, made again. `design` is what is done, `differs` how that departs from the paper.

    `options` are the ones that it was made with, as on the command line; `notes` are further remarks. `files` are the
    names of the data files. Where this agrees with the paper and where not follows from the claims alone.
    `scores` are the values of metrics for single systems. The JSON form has them under the keys that `compare` uses, so
    that `agree` reads it.
    """

    name: str
    title: str
    paper: str
    design: str
    differs: tuple[str, ...]
    claims: tuple[Claim, ...]
    options: Mapping[str, int | str]
    signature: str
    grids: tuple[Grid, ...] = ()
    notes: tuple[str, ...] = ()
    tables: tuple[Numbers, ...] = ()
    panels: tuple[Panel, ...] = ()
    matrices: tuple[Matrix, ...] = ()
    files: tuple[str, ...] = ()
    scores: Comparison | None = None

    @property
    def conclusion(self) -> str:
        """Where this agrees with the paper and where not, by the claims."""
        return conclude(self.claims)

    @property
    def n_agreeing(self) -> int:
        """How many of the published claims agree with what was found."""
        return sum(claim.agrees for claim in self.claims)

    @property
    def has_figure(self) -> bool:
        """Whether there is something to draw."""
        return bool(self.grids or self.panels or self.matrices)

    def to_json(self, *, indent: int | None = None) -> str:
        """JSON text with every number."""
        plain = {"textassay": __version__, **asdict(replace(self, scores=None)), "options": dict(self.options)}
        del plain["scores"]
        plain["conclusion"] = self.conclusion
        plain["claims"] = [{**asdict(claim), **claim.to_dict()} for claim in self.claims]
        if self.scores is not None:
            plain |= self.scores.to_dict()
        return json.dumps(plain, indent=indent, ensure_ascii=False, allow_nan=False)

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Read the text that `to_json` has written."""
        try:
            plain = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise cls._unreadable(error) from None
        return cls.from_dict(plain)

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> Self:
        """Read the values of this JSON text."""
        try:
            found = from_fields(cls, {**plain, "scores": None})
            return replace(found, scores=Comparison.from_dict(plain)) if "candidates" in plain else found
        except (KeyError, TypeError, ValueError) as error:
            raise cls._unreadable(error) from None

    @classmethod
    def _unreadable(cls, error: Exception) -> InputError:
        return InputError(f"no reproduction in JSON: {error}; wanted a file that textassay reproduce wrote")
