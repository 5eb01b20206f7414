"""Votes of nearest neighbours: the share of model texts around each point, with ties handled exactly."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from textassay.corpus.arrays import F64, I64, Bool

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


# `released`: all whose distance is no larger than the k-th as a floating-point number; `exact`: nor larger than it by
# rounding; `fair`: of those that tie with the k-th, as much of each as there are places left.
Tied = Literal["released", "exact", "fair"]
# What is recommended, 16 (n / 200)^(2/3), reaches it at about 99,000 items.
MOST_NEIGHBOURS = 1000
# Distances are in standard deviations; less than this is rounding.
_ROUNDING = 1e-9


@dataclass(frozen=True, eq=False)
class Reach:
    """How much of each cell of a list is among the neighbours, from 0 to 1, one row a point."""

    listed: Nearest
    part: F64

    @property
    def model(self) -> F64:
        """Neighbours from the model."""
        return np.einsum("ij,ij->i", self.part, self.listed.model)

    @property
    def total(self) -> F64:
        """All neighbours."""
        return self.model + np.einsum("ij,ij->i", self.part, self.listed.human)


def votes_at(points: F64, is_model: Bool, *, ks: Sequence[int], tied: Tied, origin: I64 | None = None) -> list[F64]:
    """The share of the model among each point's neighbours, one array for each k; points do not vote on themselves."""
    origin = np.arange(len(points)) if origin is None else origin
    shares = np.full((len(ks), len(points)), np.nan)
    for listed in nearest(points, is_model, most=max(ks), slack=slack_of(tied), origin=origin):
        for row, k in enumerate(ks):
            found = reach(listed, k, tied)
            with np.errstate(invalid="ignore", divide="ignore"):
                shares[row, listed.points] = found.model / found.total
    return list(shares)


def reach(listed: Nearest, k: int, tied: Tied) -> Reach:
    """The neighbours of each point: the nearest k others and, by the rule for ties, those as far as the k-th."""
    others = listed.human + listed.model
    gathered = np.cumsum(others, axis=1)
    last = np.argmax(gathered >= k, axis=1)
    # Where there are fewer than k others, all of them.
    last[gathered[:, -1] < k] = listed.distances.shape[1] - 1
    edge = np.take_along_axis(listed.distances, last[:, None], axis=1)
    within = listed.distances <= edge + slack_of(tied)
    if tied != "fair":
        return Reach(listed, within.astype(np.float64))
    nearer = listed.distances < edge - slack_of(tied)
    before = np.where(nearer, others, 0.0).sum(axis=1)
    ties = np.where(within & ~nearer, others, 0.0).sum(axis=1)
    left = np.clip((k - before) / np.where(ties > 0, ties, 1.0), 0.0, 1.0)
    return Reach(listed, np.where(nearer, 1.0, np.where(within, left[:, None], 0.0)))


def slack_of(tied: Tied) -> float:
    """By how much distances may differ and still count as tied."""
    return 0.0 if tied == "released" else _ROUNDING


def mistaken(share_model: F64, is_model: Bool, tied: Tied) -> F64:
    """How far each point's vote is wrong: 0 or 1, and for an even vote what the rule says.

    An even vote names people, as in the authors' program; under `fair` it is half a mistake for both sources.
    """
    even = np.abs(share_model - 0.5) <= _ROUNDING
    wrong: F64 = np.where(even, is_model, (share_model > 0.5) != is_model).astype(np.float64)
    return np.where(even, 0.5, wrong) if tied == "fair" else wrong


@dataclass(frozen=True, eq=False)
class VoteSets:
    """`reached` has for each point how much of each cell votes on it; `own` is how much of its own cell does."""

    reached: Any
    members: Any
    own: F64
    total: F64

    @classmethod
    def of(cls, points: F64, *, k: int, tied: Tied) -> "VoteSets":
        """The voters of each point, whatever the labels."""
        from scipy.sparse import csr_array

        n = len(points)
        cells = cells_of(points)
        rows, columns, parts = [], [], []
        own, total = np.zeros(n), np.zeros(n)
        nobody, everyone = np.zeros(n, dtype=bool), np.arange(n)
        for listed in nearest(points, nobody, most=k, slack=slack_of(tied), origin=everyone):
            found = reach(listed, k, tied)
            row, column = np.nonzero(found.part)
            rows.append(listed.points[row])
            columns.append(listed.cells[row, column])
            parts.append(found.part[row, column])
            total[listed.points] = found.total
            mine = (listed.cells == cells.cell_of[listed.points][:, None]) * found.part
            own[listed.points] = mine.sum(axis=1)
        ids = (np.concatenate(rows), np.concatenate(columns))
        reached = csr_array((np.concatenate(parts), ids), shape=(n, len(cells)))
        members = csr_array((np.ones(n), (cells.cell_of, everyone)), shape=(len(cells), n))
        return cls(reached, members, own, total)

    def shares(self, is_model: Bool) -> F64:
        """The share of the model among each point's voters, one column a labelling."""
        labels = is_model.astype(np.float64)
        # A point is in its own cell but does not vote on itself.
        votes: F64 = self.reached @ (self.members @ labels) - self.own[:, None] * labels
        return votes / self.total[:, None]


def share_around(places: F64, points: F64, is_model: Bool, *, k: int) -> F64:
    """The share of the model among the k points nearest to each place, for drawing; ties fall as they may."""
    from scipy.spatial import cKDTree

    _, found = cKDTree(points).query(places, k=min(k, len(points)))
    return np.asarray(is_model[found.reshape(len(places), -1)].mean(axis=1), dtype=np.float64)
