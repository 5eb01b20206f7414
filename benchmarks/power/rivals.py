"""Rivals of the overall test, all on the same draw: classifiers with a held-out half, and kernel tests on vectors.

The kernel tests share their exchanges. With `a` the 0-1 vector of the texts that an exchange puts into the candidate,
and `K` the matrix of kernel values without its diagonal, all sums within and between samples follow from `a' K a` and
`a' K 1`, so that many exchanges are one matrix product.
"""

import warnings
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from corpora import Draw
from numpy.typing import NDArray
from scipy.spatial.distance import pdist, squareform
from scipy.special import logsumexp
from scipy.stats import binomtest
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression

from textassay.corpus.sample import stream
from textassay.inference.p_values import p_value

F32 = NDArray[np.float32]
Floats = NDArray[np.float64]

LEVEL = 0.05
EXCHANGES = 499
BANDWIDTHS = 10
# Steps of the bisection of MMDAgg, as in its paper.
BISECTIONS = 50


def classifiers(sample: Draw) -> dict[str, float]:
    """p-values of logistic regressions: trained on half of the texts, exact binomial test on the other half."""
    labels = np.repeat([1, 0], sample.n)
    order = stream(sample.seed, "halves").permutation(2 * sample.n)
    train, test = order[: sample.n], order[sample.n :]
    words = TfidfVectorizer(token_pattern=r"[\w']+", ngram_range=(1, 2))
    seen = words.fit_transform([sample.texts[place] for place in train])
    unseen = words.transform([sample.texts[place] for place in test])
    vectors = sample.vectors
    return {
        "classifier_tfidf": _held_out(seen, labels[train], unseen, labels[test], strength=10.0),
        "classifier_vectors": _held_out(vectors[train], labels[train], vectors[test], labels[test], strength=1.0),
    }


def _held_out(seen: object, known: object, unseen: object, truth: NDArray[np.int64], *, strength: float) -> float:
    model = LogisticRegression(C=strength, max_iter=300).fit(seen, known)
    right = int((model.predict(unseen) == truth).sum())
    return float(binomtest(right, len(truth), 0.5, alternative="greater").pvalue)


@dataclass(frozen=True, eq=False)
class Exchanges:
    """0-1 rows: which texts form the candidate. The first row is what was observed."""

    rows: F32

    @classmethod
    def of(cls, sample: Draw, count: int) -> "Exchanges":
        rng = stream(sample.seed, "rival exchanges")
        observed = np.repeat(np.array([1, 0], np.float32), sample.n)
        return cls(np.stack([observed, *(rng.permutation(observed) for _ in range(count))]))

    def mmd(self, kernel: F32) -> Floats:
        """Unbiased squared MMD of every row, for samples of one size; the diagonal of the kernel must be 0."""
        n = self.rows.shape[1] // 2
        inner = np.einsum("ij,ij->i", self.rows @ kernel, self.rows, dtype=np.float64)
        sums = kernel.sum(axis=1, dtype=np.float64)
        touching = self.rows @ sums
        across = touching - inner
        other = sums.sum() - 2 * across - inner
        return (inner + other) / (n * (n - 1)) - 2 * across / n**2


def kernel_tests(sample: Draw, *, aggregated: bool = True) -> dict[str, float]:
    """p-values of MMD and energy, and with `aggregated` of MMD-FUSE and MMDAgg.

    MMDAgg only decides at one level, so that its p-value here is 0 or 1.
    """
    squared = squareform(pdist(sample.vectors.astype(np.float32), "sqeuclidean")).astype(np.float32)
    distances = np.sqrt(squared)
    exchanges = Exchanges.of(sample, 2 * EXCHANGES if aggregated else EXCHANGES)
    first = Exchanges(exchanges.rows[: EXCHANGES + 1])
    median = float(np.median(distances[np.triu_indices_from(distances, 1)]))
    found = {
        "mmd": _p(first.mmd(_without_diagonal(np.exp(squared / np.float32(-2 * median**2))))),
        "energy": _p(first.mmd(-distances)),
    }
    if aggregated:
        kernels = list(_collection(distances, sample.vectors))
        statistics = np.stack([exchanges.mmd(kernel) for kernel in kernels])
        scales = np.array([np.sqrt((kernel.astype(np.float64) ** 2).sum()) for kernel in kernels])
        observed_first = statistics[:, : EXCHANGES + 1]
        found["mmd_fuse"] = _p(fuse(observed_first, scales, n=sample.n))
        found["mmd_agg"] = 1.0 - float(aggregate(observed_first, statistics[:, EXCHANGES + 1 :]))
    return found


def _p(values: Floats) -> float:
    return p_value(float(values[0]), values[1:], exact=False)


def _without_diagonal(kernel: F32) -> F32:
    np.fill_diagonal(kernel, 0.0)
    return kernel


def _collection(distances: F32, vectors: F32) -> Iterator[F32]:
    """Gaussian and Laplace kernels, as in both papers: Euclidean and city-block distances, ten bandwidths each.

    Bandwidths are evenly spaced from half the 5 % quantile to twice the 95 % quantile of the distances.
    """
    blocks = squareform(pdist(vectors, "cityblock")).astype(np.float32)
    for kind, gaps in (("gaussian", distances), ("laplace", blocks)):
        low, high = np.quantile(gaps[np.triu_indices_from(gaps, 1)], [0.05, 0.95])
        for width in np.linspace(max(low, 1e-6) / 2, 2 * high, BANDWIDTHS):
            scaled = gaps / np.float32(width)
            yield _without_diagonal(
                np.exp(-scaled * scaled / 2) if kind == "gaussian" else np.exp(-np.sqrt(2.0) * scaled)
            )


def fuse(statistics: Floats, scales: Floats, *, n: int) -> Floats:
    r"""MMD-FUSE of every exchange (Biggs, Schrab and Gretton 2023).

    .. math:: \frac1\lambda \log \operatorname{mean}_k \exp(\lambda\,\mathrm{MMD}^2_k / \sqrt{N_k}), \quad
              N_k = \frac{1}{n(n-1)} \sum_{i \ne j} k(z_i, z_j)^2, \quad \lambda = \sqrt{n(n-1)}

    `statistics` has one row per kernel and one column per exchange. `scales` are the roots of the sums in
    :math:`N_k`, which exchanging does not change.
    """
    power = np.sqrt(n * (n - 1))
    normalised = statistics / (scales[:, None] / power)
    return logsumexp(power * normalised, axis=0, b=1 / len(scales)) / power


def aggregate(first: Floats, second: Floats) -> bool:
    """Whether MMDAgg rejects at the level (Schrab et al. 2023), with equal weights.

    Every kernel rejects above its quantile 1 - u/K among the `first` exchanges, whose first column was observed. The
    largest `u` for which at most 5 % of the `second` exchanges are rejected by any kernel is found by bisection.
    """
    count = len(first)
    ordered = np.sort(first, axis=1)
    low, high = 0.0, float(count)
    for _ in range(BISECTIONS):
        middle = (low + high) / 2
        rejected = (second > _quantiles(ordered, middle / count)).any(axis=0).mean()
        low, high = (middle, high) if rejected <= LEVEL else (low, middle)
    return bool((first[:, :1] > _quantiles(ordered, low / count)).any())


def _quantiles(ordered: Floats, tail: float) -> Floats:
    size = ordered.shape[1]
    place = min(max(int(np.ceil(size * (1 - tail))) - 1, 0), size - 1)
    return ordered[:, place : place + 1]


def hyppo_tests(sample: Draw) -> dict[str, float]:
    """p-values of hyppo's MMD and energy, by its chi-squared approximation: its permutations take minutes."""
    from hyppo.ksample import MMD, Energy

    candidate, reference = np.split(sample.vectors.astype(np.float64), 2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return {
            "hyppo_mmd": float(MMD().test(candidate, reference, auto=True)[1]),
            "hyppo_energy": float(Energy().test(candidate, reference, auto=True)[1]),
        }
