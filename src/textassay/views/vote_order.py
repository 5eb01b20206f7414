"""The nearest others of each point in order of distance: exact, with every tie at the end of the list."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

F64 = NDArray[np.float64]
I64 = NDArray[np.int64]

# A tree may round a distance in another way than we do; lists end where the next distance is larger by more than this.
_SAFE = 1e-9
_CELLS_AT_ONCE = 2**22


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
    places, cell_of = np.unique(points, axis=0, return_inverse=True)
    return Cells(cell_of.reshape(-1).astype(np.int64), places)


def nearest(points: F64, is_model: NDArray[np.bool_], *, most: int, slack: float, origin: I64) -> Iterator[Nearest]:
    """Lists that hold each point's `most` nearest others and all that tie with the last of them, in blocks of points.

    Others at a distance within `slack` of another's count as tied.
    """
    from scipy.spatial import cKDTree

    cells = cells_of(points)
    tree = cKDTree(cells.places)
    twins = _twins(origin)
    inside = [np.bincount(cells.cell_of[chosen], minlength=len(cells)) for chosen in (~is_model, is_model)]
    pending, width = np.arange(len(points)), most + 2
    while len(pending):
        width = min(width, len(cells))
        short = []
        for rows in _blocks(pending, width):
            found = _look_up(rows, width, cells, tree, inside, is_model, twins)
            whole = _is_whole(found, most, slack) | (width == len(cells))
            short.append(rows[~whole])
            yield _only(found, whole)
        pending, width = np.concatenate(short), 2 * width


def _look_up(
    rows: I64,
    width: int,
    cells: Cells,
    tree: object,
    inside: list[I64],
    is_model: NDArray[np.bool_],
    twins: tuple[I64, I64] | None,
) -> Nearest:
    here, row_of = np.unique(cells.cell_of[rows], return_inverse=True)
    _, found = tree.query(cells.places[here], k=np.arange(1, width + 1))  # type: ignore[attr-defined]
    gaps = cells.places[found] - cells.places[here][:, None, :]
    # In one dimension the square root of a square may not give the distance back to the last digit.
    distances = np.abs(gaps[:, :, 0]) if gaps.shape[2] == 1 else np.sqrt((gaps * gaps).sum(axis=2))
    order = np.argsort(distances, axis=1, kind="stable")
    found, distances = np.take_along_axis(found, order, axis=1), np.take_along_axis(distances, order, axis=1)
    row_of = row_of.reshape(-1)
    human, model = (counts[found][row_of].astype(np.float64) for counts in inside)
    found = found[row_of]
    _leave_out(rows, found, cells, human, model, is_model, twins)
    return Nearest(rows, found, distances[row_of], human, model)


def _leave_out(
    rows: I64,
    found: I64,
    cells: Cells,
    human: F64,
    model: F64,
    is_model: NDArray[np.bool_],
    twins: tuple[I64, I64] | None,
) -> None:
    """Take each point and its copies out of the counts around it."""
    place = np.full(int(rows.max(initial=-1)) + 1, -1)
    place[rows] = np.arange(len(rows))
    if twins is None:
        mine, others = np.arange(len(rows)), rows
    else:
        known = twins[0] < len(place)
        known[known] = place[twins[0][known]] >= 0
        mine, others = place[twins[0][known]], twins[1][known]
    row, column = np.nonzero(found[mine] == cells.cell_of[others][:, None])
    for counts, wanted in ((human, False), (model, True)):
        chosen = is_model[others[row]] == wanted
        np.subtract.at(counts, (mine[row[chosen]], column[chosen]), 1.0)


def _twins(origin: I64) -> tuple[I64, I64] | None:
    """All pairs (point, copy of it), the point itself among its copies; None where no point has another copy."""
    order = np.argsort(origin, kind="stable")
    _, starts, sizes = np.unique(origin[order], return_index=True, return_counts=True)
    if sizes.max(initial=1) == 1:
        return None
    size_of = np.repeat(sizes, sizes)
    firsts = np.repeat(order, size_of)
    offsets = np.arange(int(size_of.sum())) - np.repeat(np.cumsum(size_of) - size_of, size_of)
    seconds = order[np.repeat(np.repeat(starts, sizes), size_of) + offsets]
    return firsts, seconds


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
