"""Votes of nearest neighbours: the share of model texts around each point, with ties handled exactly."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from textassay.corpus.arrays import F64, I64, Bool

# Which points vote. `released`: all whose distance is at most the k-th, compared as floating-point numbers; `exact`:
# the same up to rounding; `fair`: the points that tie with the k-th share the remaining votes.
Tied = Literal["released", "exact", "fair"]
# The recommended k, 16 (n / 200)^(2/3), reaches this at about 99,000 items.
MOST_NEIGHBOURS = 1000
# Distances are in standard deviations; smaller differences are rounding.
_ROUNDING = 1e-9


def votes_at(points: F64, is_model: Bool, *, ks: Sequence[int], tied: Tied, origin: I64 | None = None) -> list[F64]:
    """The share of model texts among each point's neighbours, one array for each k; no point votes on itself."""
    origin = np.arange(len(points)) if origin is None else origin
    shares = np.full((len(ks), len(points)), np.nan)
    for listed in nearest(points, is_model, most=max(ks), slack=slack_of(tied), origin=origin):
        for row, k in enumerate(ks):
            found = reach(listed, k, tied)
            with np.errstate(invalid="ignore", divide="ignore"):
                shares[row, listed.points] = found.model / found.total
    return list(shares)


def mistaken(share_model: F64, is_model: Bool, tied: Tied) -> F64:
    """The error of each point's vote: 0 or 1, and 0.5 for an even vote under the rule `fair`.

    Under the other rules an even vote counts as human, as in the authors' program.
    """
    even = np.abs(share_model - 0.5) <= _ROUNDING
    wrong: F64 = np.where(even, is_model, (share_model > 0.5) != is_model).astype(np.float64)
    return np.where(even, 0.5, wrong) if tied == "fair" else wrong


@dataclass(frozen=True, eq=False)
class VoteSets:
    """Who votes on each point. `reached` is the share of each cell that votes on it, `own` that of its own cell."""

    reached: Any
    members: Any
    own: F64
    total: F64

    @classmethod
    def of(cls, points: F64, *, k: int, tied: Tied) -> "VoteSets":
        """The voters of each point; they do not depend on the labels."""
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
        """The share of model texts among each point's voters, one column per labelling."""
        labels = is_model.astype(np.float64)
        # A point is in its own cell but does not vote on itself.
        votes: F64 = self.reached @ (self.members @ labels) - self.own[:, None] * labels
        return votes / self.total[:, None]


def share_around(places: F64, points: F64, is_model: Bool, *, k: int) -> F64:
    """The share of model texts among the k points nearest to each place, for drawing; ties are broken arbitrarily."""
    from scipy.spatial import cKDTree

    _, found = cKDTree(points).query(places, k=min(k, len(points)))
    return np.asarray(is_model[found.reshape(len(places), -1)].mean(axis=1), dtype=np.float64)


# The tree may round a distance differently; a list is complete if the next distance is larger by more than this share.
_SAFE = 1e-9
_CELLS_AT_ONCE = 2**22
_COPIES = 4


@dataclass(frozen=True, eq=False)
class Cells:
    """Groups of equal points: the cell of each point, and the coordinates of each cell."""

    cell_of: I64
    places: F64

    def __len__(self) -> int:
        return len(self.places)


@dataclass(frozen=True, eq=False)
class Nearest:
    """For some points (`points`, one row each): the nearest cells, their distances, and how many texts are in them.

    The counts leave out the point itself and its copies.
    """

    points: I64
    cells: I64
    distances: F64
    human: F64
    model: F64


@dataclass(frozen=True, eq=False)
class Reach:
    """The share of each listed cell that belongs to the neighbours, from 0 to 1, one row per point."""

    listed: Nearest
    part: F64

    @property
    def model(self) -> F64:
        """The number of neighbours from the model."""
        return np.einsum("ij,ij->i", self.part, self.listed.model)

    @property
    def total(self) -> F64:
        """The number of all neighbours."""
        return self.model + np.einsum("ij,ij->i", self.part, self.listed.human)


def reach(listed: Nearest, k: int, tied: Tied) -> Reach:
    """The neighbours of each point: the k nearest others, and those that tie with the k-th under the rule for ties."""
    others = listed.human + listed.model
    gathered = np.cumsum(others, axis=1)
    last = np.argmax(gathered >= k, axis=1)
    # If there are fewer than k others, all are neighbours.
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
    """The largest difference at which distances count as tied."""
    return 0.0 if tied == "released" else _ROUNDING


def cells_of(points: F64) -> Cells:
    """Group equal points."""
    # Several times faster here than `np.unique(points, axis=0)`.
    order = np.lexsort(points.T[::-1])
    ordered = points[order]
    first = np.ones(len(points), dtype=bool)
    first[1:] = (ordered[1:] != ordered[:-1]).any(axis=1)
    cell_of = np.empty(len(points), dtype=np.int64)
    cell_of[order] = np.cumsum(first) - 1
    return Cells(cell_of, ordered[first])


def nearest(points: F64, is_model: NDArray[np.bool_], *, most: int, slack: float, origin: I64) -> Iterator[Nearest]:
    """Lists with each point's `most` nearest others and all that tie with the last of them, in blocks of points.

    Distances that differ by at most `slack` count as tied.
    """
    from scipy.spatial import cKDTree

    cells = cells_of(points)
    search = _Search(cells, cKDTree(cells.places), is_model, _copy_pairs(origin))
    # Points of one cell are adjacent. One more cell shows where ties end; a few more replace copies, which do not vote.
    pending, width = np.argsort(cells.cell_of, kind="stable"), most + 2 + (0 if search.copies is None else _COPIES)
    while len(pending):
        width = min(width, len(cells))
        short = []
        for rows in _blocks(pending, width):
            found = search.look_up(rows, width)
            whole = _is_whole(found, most, slack) | (width == len(cells))
            short.append(rows[~whole])
            yield _only(found, whole)
        pending, width = np.concatenate(short), 2 * width


@dataclass(frozen=True, eq=False)
class _Search:
    """The cells, a search tree of them, their members, and the pairs of points that are copies of one item."""

    cells: Cells
    tree: Any
    is_model: NDArray[np.bool_]
    copies: tuple[I64, I64] | None

    @cached_property
    def inside(self) -> list[F64]:
        """The numbers of human and of model texts in each cell."""
        sides = [side.astype(np.float64) for side in (~self.is_model, self.is_model)]
        counts = [np.bincount(self.cells.cell_of, weights=side, minlength=len(self.cells)) for side in sides]
        return [np.asarray(each, dtype=np.float64) for each in counts]

    def look_up(self, rows: I64, width: int) -> Nearest:
        """The nearest cells of some points; points of one cell must be adjacent."""
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
        """Subtract each point and its copies from the counts around it."""
        own = self.is_model[rows]
        for side, mine in zip(counts, (~own, own), strict=True):
            # Cells differ in position, so a point's own cell is first.
            side[:, 0] -= mine
        if self.copies is None:
            return
        row_of = np.full(len(self.is_model), -1)
        row_of[rows] = np.arange(len(rows))
        row, copy = row_of[self.copies[0]], self.copies[1]
        listed = row >= 0
        row, copy = row[listed], copy[listed]
        # Few copies are near enough to be listed.
        gaps = self.cells.places[self.cells.cell_of[copy]] - self.cells.places[found[row, 0]]
        near = np.abs(gaps).max(axis=1) <= distances[row, -1] * (1 + _SAFE)
        row, copy = row[near], copy[near]
        pair, column = np.nonzero(found[row] == self.cells.cell_of[copy][:, None])
        for side, wanted in zip(counts, (False, True), strict=True):
            chosen = self.is_model[copy[pair]] == wanted
            np.subtract.at(side, (row[pair[chosen]], column[chosen]), 1.0)


def _distances(places: F64, here: I64, found: I64) -> F64:
    """Distances from each place to those found for it, by columns: summing over a short last axis is slow."""
    gaps = [column[found] - column[here][:, None] for column in places.T]
    # In one dimension the root of the square may differ from the distance in the last digit.
    return np.abs(gaps[0]) if len(gaps) == 1 else np.sqrt(sum(gap * gap for gap in gaps))


def _sort_rows(found: I64, distances: F64) -> None:
    """Sort, in place, the few rows in which the tree rounded differently."""
    wrong = np.flatnonzero((distances[:, 1:] < distances[:, :-1]).any(axis=1))
    order = np.argsort(distances[wrong], axis=1, kind="stable")
    found[wrong] = np.take_along_axis(found[wrong], order, axis=1)
    distances[wrong] = np.take_along_axis(distances[wrong], order, axis=1)


def _copy_pairs(origin: I64) -> tuple[I64, I64] | None:
    """All pairs of a point and another copy of it; None if there are no copies."""
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
    """Whether a list has `most` others and continues beyond all that tie with the last of them."""
    reached = np.cumsum(found.human + found.model, axis=1) >= most
    last = np.take_along_axis(found.distances, np.argmax(reached, axis=1)[:, None], axis=1)[:, 0]
    beyond = found.distances[:, -1] > last * (1 + _SAFE) + slack
    whole: NDArray[np.bool_] = reached.any(axis=1) & beyond
    return whole


def _only(found: Nearest, chosen: NDArray[np.bool_]) -> Nearest:
    """The chosen rows of a list."""
    if chosen.all():
        return found
    return Nearest(
        found.points[chosen], found.cells[chosen], found.distances[chosen], found.human[chosen], found.model[chosen]
    )


def _blocks(rows: I64, width: int) -> Iterator[I64]:
    at_once = max(1, _CELLS_AT_ONCE // max(width, 1))
    for start in range(0, len(rows), at_once):
        yield rows[start : start + at_once]
