"""Vendi score: the effective number of different texts, from the eigenvalues of their cosine similarities."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from textassay.corpus.arrays import F32, F64, Bool
from textassay.metrics.registry import metric
from textassay.metrics.vectors.vectors import SLICE, SMALL_POOL, Vectors, chosen_places, joint, rows_of_one_size
from textassay.metrics.views import Resamples


def leave_out(candidate: Vectors, /, *, labels: Sequence[NDArray[np.int64]], q: float) -> tuple[F64]:
    """The score with each group of texts left out."""
    return (np.array([float(effective_number(spectrum(matrix), q)) for matrix in _without(candidate, labels[0])]),)


def exchange(candidate: Vectors, reference: Vectors, /, *, resamples: Resamples, q: float) -> F64:
    """The difference of the two scores under exchanged labels: exact in small pools, otherwise to first order.

    The expansion is around the pooled sample, which no exchange changes: each text adds its influence to its sample.
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
    # If every text has the same influence, the differences are rounding, and all exchanges must tie.
    rounding = 1e-12 * np.abs(influences).mean()
    return np.where(np.abs(one - other) > rounding, one - other, 0.0)


@metric(
    "vendi",
    family="embedding",
    aspect="diversity",
    better="closer",
    rise="more diverse",
    bounds=(1.0, np.inf),
    interval="jackknife",
    test="permutation:first-order",
    paper="friedman2023",
    leave_out=leave_out,
    exchange=exchange,
    limits={"q": (0.1, np.inf)},
    length_moves=True,
)
def vendi(candidate: Vectors, /, *, q: float = 1.0) -> float:
    r"""Vendi score: the effective number of different texts, from the cosine similarities of their vectors.

    .. math:: \exp H_q, \quad H_1 = -\sum_i \lambda_i \log \lambda_i, \quad \lambda = \text{eigenvalues of } K / n

    K is the matrix of cosine similarities. The score is 1 if all texts are the same and n if all are orthogonal. `q` is
    the order of the Renyi entropy: below 1 rare kinds of text count more, above 1 frequent ones, and `q=inf` uses the
    most frequent kind alone. Vectors are scaled to length 1; zero vectors count as one kind of their own.

    It sees how many different kinds of text a sample contains.

    Misleading when higher is read as better: noise scores highest. It grows with the sample, up to the dimension of the
    vectors, and may not have converged below about 20,000 texts, so compare it only with the reference's value at the
    same size, as in the table of `textassay compare`.

    The test uses the exact difference in pools of up to 150 texts, and in larger pools its first-order expansion around
    the pooled sample.

    It is always defined for two or more texts.
    """
    few = len(candidate) <= candidate.dimension
    return float(effective_number(spectrum((similarities if few else second_moment)(candidate.values)), q))


_EPS = float(np.finfo(np.float64).eps)
# For orders this close to 1 the general formula would divide by almost 0.
_NEAR_ONE = 1e-3


def directions(values: F32) -> F64:
    """The vectors scaled to length 1, with one more column for the direction that all zero vectors share.

    A zero vector has no cosine with other vectors, so it counts as equal to other zero vectors and orthogonal to the
    rest.
    """
    rows = np.zeros((len(values), values.shape[1] + 1))
    rows[:, :-1] = values
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    rows[:, -1] = lengths[:, 0] == 0
    return rows / np.where(lengths > 0, lengths, 1.0)


def second_moment(values: F32) -> F64:
    """The summed outer products of the directions: it has the eigenvalues of the similarities, and is additive."""
    total = np.zeros((values.shape[1] + 1, values.shape[1] + 1))
    for rows in _slices(values):
        total += rows.T @ rows
    return total


def _slices(values: F32) -> Iterator[F64]:
    return (directions(values[start : start + SLICE]) for start in range(0, len(values), SLICE))


def similarities(values: F32) -> F64:
    """The cosines of all pairs of vectors, for small samples."""
    rows = directions(values)
    return rows @ rows.T


def spectrum(matrix: F64) -> F64:
    """Eigenvalues, as shares, of a matrix of similarities or second moments (or a stack of them); noise is set to 0.

    >>> spectrum(np.eye(2)).tolist()
    [0.5, 0.5]
    """
    return _shares(np.linalg.eigvalsh(matrix))


def _shares(sizes: NDArray[np.floating[Any]]) -> F64:
    noise = sizes.shape[-1] * _EPS * sizes.max(axis=-1, keepdims=True)
    kept: F64 = np.where(sizes > noise, sizes, 0.0)
    return kept / kept.sum(axis=-1, keepdims=True)


def effective_number(shares: F64, q: float) -> F64:
    """The number of equal shares that have the same Renyi entropy of order q: from 1 to the number of shares above 0.

    >>> effective_number(np.array([0.25, 0.25, 0.25, 0.25, 0.0]), 2.0).tolist()
    4.0
    """
    largest = shares.max(axis=-1)
    if np.isinf(q):
        return np.asarray(1 / largest)
    if abs(q - 1) < _NEAR_ONE:
        logs = np.log(np.where(shares > 0, shares, 1.0))
        # To first order in q - 1, so that the value is continuous where the general formula begins.
        entropy = -(shares * logs).sum(axis=-1)
        spread = (shares * (logs + entropy[..., None]) ** 2).sum(axis=-1)
        return np.asarray(np.maximum(np.exp(entropy - (q - 1) / 2 * spread), 1.0))
    # Divided by the largest share first, so that high orders do not underflow.
    powers = np.where(shares > 0, (shares / largest[..., None]) ** q, 0.0).sum(axis=-1)
    return np.asarray(np.maximum(np.exp((q * np.log(largest) + np.log(powers)) / (1 - q)), 1.0))


def slopes(shares: F64, q: float) -> F64:
    """The derivative of the effective number by each share, up to a constant, which has no effect."""
    largest = shares.max()
    held = shares > 0
    if np.isinf(q):
        relative = -np.where(shares >= largest * (1 - 1e-9), 1 / largest, 0.0)
    elif abs(q - 1) < _NEAR_ONE:
        relative = -np.log(np.where(held, shares, 1.0))
    else:
        powers = np.where(held, shares / largest, 1.0) ** (q - 1)
        relative = q / (1 - q) * powers / (np.where(held, powers * shares, 0.0).sum())
    return np.where(held, relative, 0.0) * effective_number(shares, q)


def influence(values: F32, q: float) -> F64:
    """The derivative of the effective number by the weight of each vector."""
    if len(values) <= values.shape[1]:
        sizes, places = np.linalg.eigh(similarities(values))
        shares = _shares(sizes)
        return np.asarray(len(values) * places**2 @ (shares * slopes(shares, q)))
    sizes, axes = np.linalg.eigh(second_moment(values))
    weights = slopes(_shares(sizes), q)
    return np.concatenate([(rows @ axes) ** 2 @ weights for rows in _slices(values)])


_NUMBERS_AT_ONCE = 2**23


def _without(candidate: Vectors, labels: NDArray[np.int64]) -> Iterator[F64]:
    groups = range(int(labels.max()) + 1)
    if len(candidate) <= candidate.dimension:
        matrix = similarities(candidate.values)
        yield from (matrix[np.ix_(labels != group, labels != group)] for group in groups)
        return
    total = second_moment(candidate.values)
    yield from (total - second_moment(candidate.values[labels == group]) for group in groups)


def _exact(matrix: F64, mask: Bool, q: float) -> F64:
    found = np.empty(len(mask))
    for rows in rows_of_one_size(mask):
        places = chosen_places(mask[rows])
        step = max(1, _NUMBERS_AT_ONCE // places.shape[1] ** 2)
        for start in range(0, len(places), step):
            part = places[start : start + step]
            stack = matrix[part[:, :, None], part[:, None, :]]
            found[rows[start : start + step]] = effective_number(spectrum(stack), q)
    return found
