r"""Contamination: squared distances at every strength and sample size, from one measurement.

CND, MMD and the energy distance are squared distances :math:`d(Q, P) = |\mu_Q - \mu_P|^2` between means of texts in
some space, so a sample in which a share e of the texts comes from another source Q has

.. math:: d(P, (1 - e) P + e Q) = e^2 d(P, Q).

For CND the shares are those of n-grams, not of texts: with L n-grams per text on average, e becomes
:math:`e L_Q / ((1 - e) L_P + e L_Q)`. What a metric estimates from n texts per sample differs from this in two ways,
which the same measurement gives:

- the estimates that use each text with itself are too large by the variance of a text divided by n, on each side;
- around its mean a value varies like that of undamaged samples, plus a normal part with variance
  :math:`4 \operatorname{Var} f / n` on each side, where f is the inner product of a text with
  :math:`\mu_Q - \mu_P` (the linear part of a U-statistic, which is 0 without damage).

So the power follows from the values of undamaged draws: the chance that such a value, moved by the mean and widened by
the normal part, exceeds the critical value.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array
from scipy.special import ndtr

from textassay.corpus.arrays import F64
from textassay.metrics.ngrams.counts import TextNgrams
from textassay.metrics.registry import Request
from textassay.metrics.vectors.vectors import Vectors, squared_distances
from textassay.metrics.views import Material

# The one measurement uses at most this many texts of each source: the mean over pairs does not depend on their number.
MOST_TEXTS = 500
# Texts from which the bandwidth of a mixture is computed.
_BANDWIDTH_TEXTS = 400
_UNBIASED = ("u", "unbiased")


def follows_the_law(request: Request) -> bool:
    """Whether the metric is a squared distance between means that does not change with the texts.

    >>> from textassay.metrics.registry import parse_requests
    >>> [r.label for r in parse_requests(["cnd", "cnd:weight=sqrt", "mmd", "mauve"]) if follows_the_law(r)]
    ['cnd-2', 'mmd']
    """
    name, options = request.metric.name, request.options
    if name == "cnd":
        return bool(options["weight"] == "none")
    if name == "mmd":
        return options["kernel"] in ("rbf", "energy") and options["variant"] in ("v", "u")
    return name == "energy"


@dataclass(frozen=True)
class Shift:
    """What contamination adds to the value of a metric: to its mean, and the deviation of the normal part."""

    mean: float
    deviation: float

    def power(self, undamaged: F64, critical: float) -> float:
        """The chance that a value exceeds the critical value, over the values of undamaged draws."""
        distances = undamaged + self.mean - critical
        if self.deviation == 0:
            return float((distances > 0).mean())
        return float(ndtr(distances / self.deviation).mean())


def measure_shifts(
    request: Request, real: Material, other: Material, *, strengths: Sequence[float], sizes: Sequence[int]
) -> dict[tuple[int, float], Shift]:
    """The shift at each size and strength, from the inner products of the texts of two samples."""
    products = _text_products(request, real, other)
    biased = not any(value in _UNBIASED for value in map(str, request.options.values()))
    n = len(real.sample)
    undamaged = products(0.0)
    zero = _Sums.of(*undamaged, n)
    found = {}
    for strength in strengths:
        mixed = products(strength)
        # Only the bandwidth of `mmd` depends on the share.
        sums = zero if mixed[0] is undamaged[0] else _Sums.of(*mixed, n)
        for size in sizes:
            # The share that a sample of this size really has.
            share = round(strength * size) / size
            mean, deviation = sums.moments(share, size, biased=biased)
            found[size, strength] = Shift(mean - zero.moments(0.0, size, biased=biased)[0], deviation)
    return found


Products = Callable[[float], tuple[F64, F64]]


def _text_products(request: Request, real: Material, other: Material) -> Products:
    """For a share of contamination, the inner products of all texts (real first), and the weight of each text."""
    if request.metric.name == "cnd":
        found = _ngram_products(real, other, int(request.options["n"]))
        return lambda _: found
    squares = _squared_distances(real, other)
    ones = np.ones(len(squares))
    if request.metric.name == "energy" or request.options["kernel"] == "energy":
        kernel = -np.sqrt(squares)
        return lambda _: (kernel, ones)
    n = len(real.sample)
    return lambda share: (np.exp(squares * (-0.5 / _bandwidth(squares, n, share) ** 2)), ones)


def _squared_distances(real: Material, other: Material) -> F64:
    """Squared distances between all vectors, computed once for both kernels."""

    def make() -> F64:
        values = np.concatenate([part.view(Vectors).values for part in (real, other)]).astype(np.float64)
        values -= values.mean(axis=0)
        return squared_distances(values, values)

    return real.view(Vectors).once(("contamination", id(other)), make)


def _ngram_products(real: Material, other: Material, n: int) -> tuple[F64, F64]:
    """Products of counts of n-grams; the weight of a text is its number of n-grams."""
    texts = real.view(TextNgrams).merge(other.view(TextNgrams))
    grams = texts.order(n)
    counts = csr_array(
        (grams.counts.astype(np.float64), grams.texts, grams.starts), shape=(len(grams.keys), len(texts))
    )
    return (counts.T @ counts).toarray(), texts.sizes(n).astype(np.float64)


def _bandwidth(squares: F64, n: int, share: float) -> float:
    """Half the median distance among texts of a contaminated candidate and a reference together, as in `mmd`."""
    size = min(_BANDWIDTH_TEXTS, n)
    foreign = min(round(size * share / 2), len(squares) - n)
    chosen = np.concatenate((np.arange(size - foreign), n + np.arange(foreign)))
    pairs = squares[np.ix_(chosen, chosen)][np.triu_indices(len(chosen), 1)]
    return float(np.sqrt(np.median(pairs))) / 2


@dataclass(frozen=True, eq=False)
class _Sums:
    """Means of the products of texts: by text with each source, over pairs of sources, and of a text with itself."""

    with_real: F64
    with_other: F64
    own: F64
    weights: F64
    n: int

    @classmethod
    def of(cls, products: F64, weights: F64, n: int) -> "_Sums":
        """Means over pairs of different texts; `n` is the number of real texts."""
        m = len(products) - n
        own = np.diag(products).copy()
        with_real, with_other = products[:, :n].sum(axis=1), products[:, n:].sum(axis=1)
        with_real[:n] -= own[:n]
        with_other[n:] -= own[n:]
        with_real /= np.where(np.arange(n + m) < n, n - 1, n)
        with_other /= np.where(np.arange(n + m) < n, m, m - 1)
        return cls(with_real, with_other, own, weights, n)

    def moments(self, share: float, size: int, *, biased: bool) -> tuple[float, float]:
        """Mean and deviation of the normal part of the estimate, at this share and sample size."""
        weight = (1 - share) * self.weights[: self.n].mean() + share * self.weights[self.n :].mean()
        plain = self.weights[: self.n].mean()
        # Candidate and reference means as combinations of the means of the two sources, each divided by its weight.
        mine, theirs = np.array([(1 - share) / weight, share / weight]), np.array([1 / plain, 0.0])
        gap = mine - theirs
        gram = self._gram()
        mean = float(gap @ gram @ gap)
        if biased:
            mean += self._bias(mine, gram, share, weight, size) + self._bias(theirs, gram, 0.0, plain, size)
        variance = self._variance(gap, mine, gram, share, weight) + self._variance(gap, theirs, gram, 0.0, plain)
        return mean, float(np.sqrt(4 * variance / size))

    def _gram(self) -> F64:
        """Inner products of the means of the two sources."""
        across = float(self.with_other[: self.n].mean())
        real, other = float(self.with_real[: self.n].mean()), float(self.with_other[self.n :].mean())
        return np.array([[real, across], [across, other]])

    def _bias(self, centre: F64, gram: F64, share: float, weight: float, size: int) -> float:
        """The variance of a text around the mean of its source, divided by the number of texts.

        A text counts as its difference from the sample's mean times its weight: a longer text moves the n-gram shares
        only as far as its n-grams are others.
        """
        with_centre = centre[0] * self.with_real + centre[1] * self.with_other
        length = float(centre @ gram @ centre)
        squares = self.own - 2 * self.weights * with_centre + self.weights**2 * length
        total = 0.0
        for part, weighs, source in self._parts(share):
            mean = source - self.weights[part].mean() * centre
            total += weighs * (float(squares[part].mean()) - float(mean @ gram @ mean))
        return total / (size * weight**2)

    def _variance(self, gap: F64, centre: F64, gram: F64, share: float, weight: float) -> float:
        """The variance of the inner products of texts with the gap, within their source."""
        products = gap[0] * self.with_real + gap[1] * self.with_other - self.weights * float(centre @ gram @ gap)
        return sum(weighs * float(products[part].var()) for part, weighs, _ in self._parts(share)) / weight**2

    def _parts(self, share: float) -> tuple[tuple[slice, float, F64], tuple[slice, float, F64]]:
        """The texts of each source, their share, and their mean as a combination of the two means."""
        real, other = slice(0, self.n), slice(self.n, None)
        return (real, 1 - share, np.array([1.0, 0.0])), (other, share, np.array([0.0, 1.0]))
