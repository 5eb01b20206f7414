"""Unit sums: pair sums of exchanged labels, where texts of a unit move together.

Every labelling is a quadratic form of one matrix, the kernel sums between units, so all of them are one matrix product.
"""

import numpy as np
from scipy.sparse import csc_array, csr_array

from textassay.views.kernel_tiles import company, kernel_tiles
from textassay.views.kernels import F64, Kernel, Places, with_itself
from textassay.views.material import Resamples
from textassay.views.pair_sums import PairSums
from textassay.views.quadratic import quadratic_forms
from textassay.views.slices import members, texts_by_slice
from textassay.views.vectors import Joint

_ROWS_AT_ONCE = 512
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


def unit_sums(joint: Joint, kernel: Kernel, units: Places, n_units: int) -> F64:
    """The matrix of sums between units; those of kernels computed along with this one wait until they are asked for."""
    waiting = joint.once("unit sums", dict[Kernel, tuple[Places, F64]])
    if kernel in waiting:
        seen, found = waiting.pop(kernel)
        if len(found) == n_units and np.array_equal(seen, units):
            return found
    made = _sum_units(joint, company(joint, kernel), units, n_units)
    waiting.update({other: (units, sums) for other, sums in made.items() if other != kernel})
    return made[kernel]


def _sum_units(joint: Joint, kernels: tuple[Kernel, ...], units: Places, n_units: int) -> dict[Kernel, F64]:
    made = {kernel: np.zeros((n_units, n_units)) for kernel in kernels}
    for texts in members(joint):
        in_order = texts[np.argsort(units[texts], kind="stable")]
        for rows, columns, tiles in kernel_tiles(joint, kernels, in_order):
            for sums, tile in zip(made.values(), tiles, strict=True):
                _add(sums, tile, units[rows], units[columns], mirrored=rows is not columns)
    return made


def _add(sums: F64, tile: F64, rows: Places, columns: Places, *, mirrored: bool) -> None:
    """Add a tile whose rows and columns are in order of their units."""
    here, tile = _summed(tile, rows)
    there, turned = _summed(tile.T, columns)
    sums[_index(here, there)] += turned.T
    if mirrored:
        sums[_index(there, here)] += turned


def _summed(tile: F64, units: Places) -> tuple[Places, F64]:
    """The units in a tile and its rows summed by unit; a sparse product is ten times quicker than `np.add.reduceat`."""
    starts = np.flatnonzero(np.diff(units, prepend=-1))
    if len(starts) == len(units):
        return units, tile
    ends = np.append(starts, len(units))
    return units[starts], csr_array((np.ones(len(units)), np.arange(len(units)), ends)) @ tile


def _index(rows: Places, columns: Places) -> tuple[slice | Places, slice | Places]:
    """The rectangle of these units; of consecutive units a plain one, many times quicker for large tiles."""
    if _consecutive(rows) and _consecutive(columns):
        return slice(rows[0], rows[-1] + 1), slice(columns[0], columns[-1] + 1)
    return rows[:, None], columns


def _consecutive(units: Places) -> bool:
    return bool(units[-1] - units[0] == len(units) - 1)
