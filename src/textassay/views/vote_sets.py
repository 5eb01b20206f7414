"""Who votes on whom, worked out once: votes under many labellings, and votes anywhere in the plane."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from textassay.views.vote_order import cells_of, nearest
from textassay.views.votes import Tied, reach, slack_of

F64 = NDArray[np.float64]
I64 = NDArray[np.int64]
Bool = NDArray[np.bool_]


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
