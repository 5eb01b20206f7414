"""The nearest others of each point in order of distance: exact, with every tie at the end of the list."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

F64 = NDArray[np.float64]
I64 = NDArray[np.int64]

# A tree may round a distance in another way than we do; lists end where the next distance is larger by more than this.
_SAFE = 1e-9
_CELLS_AT_ONCE = 2**22
_COPIES = 4


@dataclass(frozen=True, eq=False)
class Cells:
    """Points that coincide, as one: `cell_of` each point, and the place of each cell."""

    cell_of: I64
    places: F64

    def __len__(self) -> int:
        return len(self.places)


@dataclass(frozen=True, eq=False)
class Nearest:
    """For some points: the cells around each, nearest first, their distances, and how many others are in them.

    Counts leave out the point itself and its copies. `points` says which points the rows are for.
    """

    points: I64
    cells: I64
    distances: F64
    human: F64
    model: F64


def cells_of(points: F64) -> Cells:
    """Group points that are exactly the same."""
    # Sorting columns is several times faster here than sorting rows as a whole, which is NumPy's way.
    order = np.lexsort(points.T[::-1])
    ordered = points[order]
    first = np.ones(len(points), dtype=bool)
    first[1:] = (ordered[1:] != ordered[:-1]).any(axis=1)
    cell_of = np.empty(len(points), dtype=np.int64)
    cell_of[order] = np.cumsum(first) - 1
    return Cells(cell_of, ordered[first])


def nearest(points: F64, is_model: NDArray[np.bool_], *, most: int, slack: float, origin: I64) -> Iterator[Nearest]:
    """Lists that hold each point's `most` nearest others and all that tie with the last of them, in blocks of points.

    Others at a distance within `slack` of another's count as tied.
    """
    from scipy.spatial import cKDTree

    cells = cells_of(points)
    scene = _Scene(cells, cKDTree(cells.places), is_model, _twins(origin))
    # Points of one cell stand together; one more to see where ties end, and a few for copies, which do not count.
    pending, width = np.argsort(cells.cell_of, kind="stable"), most + 2 + (0 if scene.twins is None else _COPIES)
    while len(pending):
        width = min(width, len(cells))
        short = []
        for rows in _blocks(pending, width):
            found = scene.look_up(rows, width)
            whole = _is_whole(found, most, slack) | (width == len(cells))
            short.append(rows[~whole])
            yield found if whole.all() else _only(found, whole)
        pending, width = np.concatenate(short), 2 * width


@dataclass(frozen=True, eq=False)
class _Scene:
    """The cells, a tree of them, who is in them, and which points are copies of which."""

    cells: Cells
    tree: Any
    is_model: NDArray[np.bool_]
    twins: tuple[I64, I64] | None

    @cached_property
    def inside(self) -> list[F64]:
        """How many texts of people and of the model are in each cell."""
        sides = [side.astype(np.float64) for side in (~self.is_model, self.is_model)]
        counts = [np.bincount(self.cells.cell_of, weights=side, minlength=len(self.cells)) for side in sides]
        return [np.asarray(each, dtype=np.float64) for each in counts]

    def look_up(self, rows: I64, width: int) -> Nearest:
        """The nearest cells of some points; points of one cell must stand together."""
        here, row_of = np.unique(self.cells.cell_of[rows], return_inverse=True)
        _, found = self.tree.query(self.cells.places[here], k=np.arange(1, width + 1))
        distances = _distances(self.cells.places, here, found)
        _sort_rows(found, distances)
        if len(here) < len(rows):
            found, distances = found[row_of], distances[row_of]
        human, model = (counts[found] for counts in self.inside)
        self._leave_out(rows, found, distances, (human, model))
        return Nearest(rows, found, distances, human, model)

    def _leave_out(self, rows: I64, found: I64, distances: F64, counts: tuple[F64, F64]) -> None:
        """Take each point and its copies out of the counts around it."""
        own = self.is_model[rows]
        for side, mine in zip(counts, (~own, own), strict=True):
            # No two cells are at one place, so the own one comes first.
            side[:, 0] -= mine
        if self.twins is None:
            return
        row_of = np.full(len(self.is_model), -1)
        row_of[rows] = np.arange(len(rows))
        row, copy = row_of[self.twins[0]], self.twins[1]
        listed = row >= 0
        row, copy = row[listed], copy[listed]
        # Few copies are near enough to be in the list.
        gaps = self.cells.places[self.cells.cell_of[copy]] - self.cells.places[found[row, 0]]
        near = np.abs(gaps).max(axis=1) <= distances[row, -1] * (1 + _SAFE)
        row, copy = row[near], copy[near]
        pair, column = np.nonzero(found[row] == self.cells.cell_of[copy][:, None])
        for side, wanted in zip(counts, (False, True), strict=True):
            chosen = self.is_model[copy[pair]] == wanted
            np.subtract.at(side, (row[pair[chosen]], column[chosen]), 1.0)


def _distances(places: F64, here: I64, found: I64) -> F64:
    """From each place to those found for it, column by column: summing over a short last axis is slow."""
    gaps = [column[found] - column[here][:, None] for column in places.T]
    # In one dimension the square root of a square may not give the distance back to the last digit.
    return np.abs(gaps[0]) if len(gaps) == 1 else np.sqrt(sum(gap * gap for gap in gaps))


def _sort_rows(found: I64, distances: F64) -> None:
    """Put in order, in place, the few rows where the tree has rounded in another way."""
    wrong = np.flatnonzero((distances[:, 1:] < distances[:, :-1]).any(axis=1))
    order = np.argsort(distances[wrong], axis=1, kind="stable")
    found[wrong] = np.take_along_axis(found[wrong], order, axis=1)
    distances[wrong] = np.take_along_axis(distances[wrong], order, axis=1)


def _twins(origin: I64) -> tuple[I64, I64] | None:
    """All pairs of a point and another copy of it; None where no point has another copy."""
    order = np.argsort(origin, kind="stable")
    _, starts, sizes = np.unique(origin[order], return_index=True, return_counts=True)
    if sizes.max(initial=1) == 1:
        return None
    size_of = np.repeat(sizes, sizes)
    firsts = np.repeat(order, size_of)
    offsets = np.arange(int(size_of.sum())) - np.repeat(np.cumsum(size_of) - size_of, size_of)
    seconds = order[np.repeat(np.repeat(starts, sizes), size_of) + offsets]
    different = firsts != seconds
    return firsts[different], seconds[different]


def _is_whole(found: Nearest, most: int, slack: float) -> NDArray[np.bool_]:
    """Whether a list has `most` others and goes on beyond all that tie with the last of them."""
    reached = np.cumsum(found.human + found.model, axis=1) >= most
    last = np.take_along_axis(found.distances, np.argmax(reached, axis=1)[:, None], axis=1)[:, 0]
    beyond = found.distances[:, -1] > last * (1 + _SAFE) + slack
    whole: NDArray[np.bool_] = reached.any(axis=1) & beyond
    return whole


def _only(found: Nearest, chosen: NDArray[np.bool_]) -> Nearest:
    return Nearest(
        found.points[chosen], found.cells[chosen], found.distances[chosen], found.human[chosen], found.model[chosen]
    )


def _blocks(rows: I64, width: int) -> Iterator[I64]:
    at_once = max(1, _CELLS_AT_ONCE // max(width, 1))
    for start in range(0, len(rows), at_once):
        yield rows[start : start + at_once]
