"""Vendi score: the effective number of different texts in a sample."""

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from textassay.metrics.declare import metric
from textassay.views.material import Mask, Resamples
from textassay.views.spectra import effective_number, influence, second_moment, similarities, spectrum
from textassay.views.vectors import SMALL_POOL, Vectors, joint, rows_of_one_size

Floats = NDArray[np.float64]

_NUMBERS_AT_ONCE = 2**23


def leave_out(candidate: Vectors, /, *, labels: Sequence[NDArray[np.int64]], q: float) -> tuple[Floats]:
    """The score with each group of texts left out."""
    return (np.array([float(effective_number(spectrum(matrix), q)) for matrix in _without(candidate, labels[0])]),)


def _without(candidate: Vectors, labels: NDArray[np.int64]) -> Iterator[Floats]:
    groups = range(int(labels.max()) + 1)
    if len(candidate) <= candidate.dimension:
        matrix = similarities(candidate.values)
        yield from (matrix[np.ix_(labels != group, labels != group)] for group in groups)
        return
    total = second_moment(candidate.values)
    yield from (total - second_moment(candidate.values[labels == group]) for group in groups)


def exchange(candidate: Vectors, reference: Vectors, /, *, resamples: Resamples, q: float) -> Floats:
    """The difference of the two scores under exchanged labels: exact in small pools, else to first order.

    The expansion is around the pooled sample, which no exchange changes: each text adds its influence to its side.
    """
    pooled = joint(candidate, reference).values
    if len(pooled) <= SMALL_POOL:
        matrix = similarities(pooled)
        one, other = (_exact(matrix, mask[:, resamples.units], q) for mask in resamples.masks)
        return one - other
    texts = np.bincount(resamples.units, minlength=resamples.n_units)
    influences = influence(pooled, q)
    sums = np.bincount(resamples.units, weights=influences, minlength=resamples.n_units)
    one, other = ((mask @ sums) / (mask @ texts) for mask in resamples.masks)
    # Where every text has the same influence, what is left of the difference is rounding, and all exchanges are ties.
    rounding = 1e-12 * np.abs(influences).mean()
    return np.where(np.abs(one - other) > rounding, one - other, 0.0)


def _exact(matrix: Floats, mask: Mask, q: float) -> Floats:
    found = np.empty(len(mask))
    for rows in rows_of_one_size(mask):
        places = np.nonzero(mask[rows])[1].reshape(len(rows), -1)
        step = max(1, _NUMBERS_AT_ONCE // places.shape[1] ** 2)
        for start in range(0, len(places), step):
            part = places[start : start + step]
            stack = matrix[part[:, :, None], part[:, None, :]]
            found[rows[start : start + step]] = effective_number(spectrum(stack), q)
    return found


@metric(
    "vendi",
    family="embedding",
    aspect="diversity",
    better="closer",
    bounds=(1.0, np.inf),
    interval="jackknife",
    test="permutation:first-order",
    paper="friedman2023",
    leave_out=leave_out,
    exchange=exchange,
    limits={"q": (0.1, np.inf)},
)
def vendi(candidate: Vectors, /, *, q: float = 1.0) -> float:
    r"""Vendi score: the effective number of different texts, from the cosine similarities of their vectors.

    .. math:: \exp H_q, \quad H_1 = -\sum_i \lambda_i \log \lambda_i, \quad \lambda = \text{eigenvalues of } K / n

    It is 1 when all texts are alike and n when no two have anything in common. `q` is the order of the (Renyi) entropy:
    below 1 rare kinds count more, above 1 frequent ones, and `q=inf` looks at the most frequent alone. Vectors are
    brought to length 1; zero vectors count as one kind of their own. It misleads when higher is taken for better:
    noise scores highest. It grows with the sample, up to the dimension of the vectors, and may not have converged below
    about 20,000 texts, so it has no meaning by itself: read it beside the reference's value at the same size only, as
    the table of `textassay compare` shows it.

    The test looks at the exact difference in pools of up to 150 texts, and in larger ones at its first-order expansion
    around the pooled sample.
    """
    few = len(candidate) <= candidate.dimension
    return float(effective_number(spectrum((similarities if few else second_moment)(candidate.values)), q))
