"""The divergence frontier of two histograms: its area (MAUVE) and its integral.

Both are functions of sums over clusters. A summary keeps the two steps apart, because clusters with the same counts
add the same: many pairs of histograms then cost one table of what each kind of cluster adds.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

F64 = NDArray[np.float64]

# Weights of the candidate in the mixtures at which mauve-text evaluates the frontier.
MIXTURES = np.linspace(1e-6, 1 - 1e-6, 25)


@dataclass(frozen=True)
class Summary:
    """What shares p and q of a cluster add (one column a sum), and the value as a function of the sums.

    A smooth summary sees shares smoothed by Krichevsky and Trofimov, who count half a text more in every cluster.
    """

    adds: Callable[[F64, F64], F64]
    value: Callable[[F64], F64]
    smooth: bool = False

    def of_counts(self, candidate: F64, reference: F64) -> F64:
        """The value for each row of two tables of counts, one column per cluster; a table of one row serves all."""
        sizes = np.stack(np.broadcast_arrays(candidate.sum(axis=1), reference.sum(axis=1)), axis=1)
        if (sizes == sizes[0]).all():
            return self._of_one_size(candidate, reference)
        kinds, which = np.unique(sizes, axis=0, return_inverse=True)
        # Groups of texts of different sizes may have changed places: the rows of each pair of totals together.
        found = np.empty(len(sizes))
        tables = [np.broadcast_to(counts, (len(sizes), counts.shape[1])) for counts in (candidate, reference)]
        for kind in range(len(kinds)):
            rows = which.ravel() == kind
            found[rows] = self._of_one_size(tables[0][rows], tables[1][rows])
        return found

    def _of_one_size(self, candidate: F64, reference: F64) -> F64:
        k = candidate.shape[1]
        rows = max(len(candidate), len(reference))
        more = 0.5 if self.smooth else 0.0
        totals = [float(counts[0].sum()) + more * k for counts in (candidate, reference)]
        base = int(reference.max()) + 1
        kinds, which = np.unique((candidate * base + reference).astype(np.int64), return_inverse=True)
        p, q = ((counts + more) / total for counts, total in zip(np.divmod(kinds, base), totals, strict=True))
        cells = np.arange(rows).repeat(k) * len(kinds) + which.ravel()
        times = np.bincount(cells, minlength=rows * len(kinds)).reshape(rows, len(kinds))
        return self.value(times @ self.adds(p, q))


def area(*, scaling: float, smooth: bool = False) -> Summary:
    """Area under the curve of exp(-c KL(q, r)) and exp(-c KL(p, r)) over the mixtures r of p and q: MAUVE."""
    return Summary(_divergences, lambda sums: _area(sums, scaling), smooth)


def integral(*, smooth: bool = False) -> Summary:
    """Twice the divergence to the mixture, averaged over all mixtures: 0 for equal histograms, 1 for disjoint ones."""
    return Summary(_bend, lambda sums: sums[..., 0], smooth)


def _divergences(p: F64, q: F64) -> F64:
    """What a cluster adds to the divergence of q from each mixture, then of p."""
    mixtures = np.multiply.outer(p, MIXTURES) + np.multiply.outer(q, 1 - MIXTURES)
    sides = [share[:, None] * np.log(np.where(share > 0, share, 1)[:, None] / _used(mixtures)) for share in (q, p)]
    return np.concatenate(sides, axis=1)


def _used(mixtures: F64) -> F64:
    """Clusters that neither sample uses add nothing."""
    return np.where(mixtures > 0, mixtures, 1)


def _area(sums: F64, scaling: float) -> F64:
    """The curve falls from (0, 1) to (1, 0), so that the area over one axis is the area over the other."""
    # Rounding may leave a divergence a hair below 0.
    closeness = np.exp(-scaling * np.maximum(sums, 0))
    across, up = np.split(closeness, 2, axis=-1)
    ends = np.ones((*sums.shape[:-1], 1))
    across = np.concatenate((ends, across, 0 * ends), axis=-1)
    up = np.concatenate((0 * ends, up, ends), axis=-1)
    heights = (up[..., 1:] + up[..., :-1]) / 2
    return (heights * (across[..., :-1] - across[..., 1:])).sum(axis=-1)


def _bend(p: F64, q: F64) -> F64:
    """What a cluster adds to the integral.

    With m = (p + q) / 2 and d = |p - q| / (p + q) that is m (1 - (1 - d²) artanh(d) / d): the published closed form
    without its cancellation where p and q are close.
    """
    both = p + q
    d = np.abs(p - q) / np.where(both > 0, both, 1)
    near, far = d < 0.01, d >= 1
    inner = np.where(near | far, 0.5, d)
    bend = 1 - (1 - inner**2) * np.arctanh(inner) / inner
    series = d**2 * (2 / 3 + d**2 * (2 / 15 + d**2 * (2 / 35)))
    return (both / 2 * np.where(far, 1.0, np.where(near, series, bend)))[:, None]
