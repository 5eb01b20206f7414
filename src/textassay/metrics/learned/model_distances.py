"""Distances of two models from the log-probabilities that both give to texts of each of them.

:math:`P` is the model of the reference (an oracle) and :math:`Q` that of the candidate. All distances depend on the log
ratios :math:`r(x) = \\ln q(x) - \\ln p(x)` of texts of :math:`P` and of texts of :math:`Q` only, and each is a function
of one mean over the texts of :math:`P` and one over the texts of :math:`Q`.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from textassay.corpus.arrays import F64
from textassay.corpus.printable import many
from textassay.errors import InputError

# A mean depends on a few texts if its terms are worth fewer equal terms than this.
FEWEST_EFFECTIVE = 30
_TINY = np.finfo(np.float64).tiny
_OWN_ZERO = "a text has probability 0 under the model that it should be a sample of"
_DISJOINT = "no text of one model is possible under the other: the distance is infinite"
_INFINITE = "a text of one model has probability 0 under the other: the divergence is infinite"


@dataclass(frozen=True, eq=False, slots=True)
class TwoLogProbs:
    """Natural log-probabilities of the same texts under the oracle (`log_p`) and under the candidate's model (`log_q`).

    Minus infinity is a probability of 0.
    """

    log_p: F64
    log_q: F64

    def __post_init__(self) -> None:
        if self.log_p.shape != self.log_q.shape or self.log_p.ndim != 1:
            seen = f"{self.log_p.shape} and {self.log_q.shape}"
            raise InputError(f"log-probabilities of shapes {seen}; wanted one number per text from each model")
        for name in ("log_p", "log_q"):
            values = getattr(self, name)
            if np.isnan(values).any() or np.isposinf(values).any():
                raise InputError(f"{name}: a log-probability that is not a number; wanted numbers or minus infinity")

    def __len__(self) -> int:
        return len(self.log_p)

    @property
    def n_zero(self) -> int:
        """The number of texts with probability 0 under at least one of the models."""
        return int((np.isneginf(self.log_p) | np.isneginf(self.log_q)).sum())

    @property
    def ratios(self) -> F64:
        """The log ratios; 0 for texts that neither model can generate."""
        both = np.isneginf(self.log_p) & np.isneginf(self.log_q)
        return np.subtract(self.log_q, self.log_p, out=np.zeros(len(self)), where=~both)


@dataclass(frozen=True)
class Distance:
    """A distance of two models and how well it is known.

    `error` is its Monte-Carlo standard error. `effective` is the number of equal terms that would vary as much as the
    terms of the mean, the smaller one of both means, and `largest_share` the largest share that one text has in a mean;
    both concern means of positive terms only. `n_zero` counts texts with probability 0 under one of the models. If
    there is no number, `undefined` is the reason, and the estimate is NaN.
    """

    estimate: float
    error: float
    effective: float
    largest_share: float
    n_zero: int
    undefined: str | None = None

    @property
    def warning(self) -> str | None:
        """A sentence if a few texts dominate the estimate."""
        if self.undefined is not None or not self.effective < FEWEST_EFFECTIVE:
            return None
        return (
            f"a few texts dominate: the estimate is worth {many(round(self.effective), 'text')}, the largest share of"
            f" one text is {self.largest_share:.0%}, and its error may be much larger than stated; use more texts"
        )


@dataclass(frozen=True, eq=False)
class Form:
    """How a distance is computed from log ratios: a term per text of each side, and a function of both means.

    `scale` is subtracted from exponents, so that large ones do not overflow; the function of the means adds it again.
    """

    of_reference: Callable[[F64, float], F64]
    of_candidate: Callable[[F64, float], F64]
    combine: Callable[[F64, F64, float], F64]
    slopes: Callable[[float, float], tuple[float, float]]
    scales: Callable[[F64], tuple[float, float]] = lambda _: (0.0, 0.0)
    is_mean_of_weights: bool = False


def _half_exponentials(ratios: F64, scale: float) -> F64:
    return np.exp(ratios / 2 - scale)


def _largest_exponents(ratios: F64) -> tuple[float, float]:
    """The largest exponents of the terms of the reference and of the candidate."""
    return float(ratios.max(initial=-np.inf)) / 2, -float(ratios.min(initial=np.inf)) / 2


FORMS: dict[str, Form] = {
    "bhattacharyya": Form(
        _half_exponentials,
        lambda ratios, scale: _half_exponentials(-ratios, scale),
        lambda mine, theirs, scale: -(np.log(np.maximum(mine, _TINY)) + np.log(np.maximum(theirs, _TINY)) + scale) / 2,
        lambda mine, theirs: (-0.5 / mine, -0.5 / theirs),
        _largest_exponents,
        is_mean_of_weights=True,
    ),
    # The overlap of P and Q is the mean of sqrt(pq) / m over texts of the mixture m = (p + q) / 2, at most 1 each.
    "hellinger": Form(
        lambda ratios, _: 1 / np.cosh(np.clip(ratios / 2, -700, 700)),
        lambda ratios, _: 1 / np.cosh(np.clip(ratios / 2, -700, 700)),
        lambda mine, theirs, _: 1 - (mine + theirs) / 2,
        lambda *_: (-0.5, -0.5),
    ),
    "symmetric_kl": Form(
        lambda ratios, _: -ratios,
        lambda ratios, _: ratios,
        lambda mine, theirs, _: mine + theirs,
        lambda *_: (1.0, 1.0),
    ),
    "oracle_dd": Form(
        lambda ratios, _: -np.sign(ratios),
        lambda ratios, _: np.sign(ratios),
        lambda mine, theirs, _: (mine + theirs) / 2,
        lambda *_: (0.5, 0.5),
    ),
}


def bhattacharyya_distance(reference: TwoLogProbs, candidate: TwoLogProbs) -> Distance:
    r"""The Bhattacharyya distance, equation 3 of Montahaei et al. (2019), in log space.

    .. math:: B = -\frac{1}{2} \left( \ln \frac{1}{N} \sum_{x \sim P} \sqrt{q(x) / p(x)}
              + \ln \frac{1}{M} \sum_{x \sim Q} \sqrt{p(x) / q(x)} \right)

    `reference` are the log-probabilities of texts of P, and `candidate` those of texts of Q.

    >>> same = TwoLogProbs(np.log([0.5, 0.5]), np.log([0.5, 0.5]))
    >>> bhattacharyya_distance(same, same).estimate
    0.0
    """
    return _distance("bhattacharyya", reference, candidate)


def squared_hellinger(reference: TwoLogProbs, candidate: TwoLogProbs) -> Distance:
    r"""The squared Hellinger distance, 0 for equal models and 1 for models without a common text.

    .. math:: H^2 = 1 - \sum_x \sqrt{p(x) q(x)}

    The terms of the estimate are at most 1, so that no text dominates.
    """
    return _distance("hellinger", reference, candidate)


def symmetric_kl(reference: TwoLogProbs, candidate: TwoLogProbs) -> Distance:
    r"""The sum of the Kullback-Leibler divergences in both directions.

    .. math:: J = \sum_x (p(x) - q(x)) (\ln p(x) - \ln q(x))
    """
    return _distance("symmetric_kl", reference, candidate)


def oracle_discrepancy(reference: TwoLogProbs, candidate: TwoLogProbs) -> Distance:
    r"""Distributional Discrepancy of two known models, equation 2 of Cai et al.; ties count 0.

    .. math:: \mathrm{DD} = \frac{1}{2} \left( \mathrm{mean}_{x \sim P}\, \mathrm{sign}(\ln p(x) - \ln q(x))
              + \mathrm{mean}_{x \sim Q}\, \mathrm{sign}(\ln q(x) - \ln p(x)) \right)
    """
    return _distance("oracle_dd", reference, candidate)


def _distance(name: str, reference: TwoLogProbs, candidate: TwoLogProbs) -> Distance:
    for side, what in ((reference, "reference"), (candidate, "candidate")):
        if len(side) < 2:
            raise InputError(f"log-probabilities of {many(len(side), 'text')} of the {what}; wanted 2 or more")
    n_zero = reference.n_zero + candidate.n_zero
    reason = why_undefined(name, reference, candidate)
    if reason is not None:
        return Distance(math.nan, math.nan, 0.0, 0.0, n_zero, reason)
    form, ratios = FORMS[name], (reference.ratios, candidate.ratios)
    scales = form.scales(ratios[0])[0], form.scales(ratios[1])[1]
    terms = form.of_reference(ratios[0], scales[0]), form.of_candidate(ratios[1], scales[1])
    means = float(terms[0].mean()), float(terms[1].mean())
    slopes = form.slopes(*means)
    variance = sum(slope**2 * float(side.var(ddof=1)) / len(side) for slope, side in zip(slopes, terms, strict=True))
    estimate = float(form.combine(np.array(means[0]), np.array(means[1]), sum(scales)))
    # Equal models have a distance of 0, not of -0.
    return Distance(estimate + 0.0, math.sqrt(variance), *_dominance(form, terms), n_zero)


def why_undefined(name: str, reference: TwoLogProbs, candidate: TwoLogProbs) -> str | None:
    """Why a distance has no finite value for these log-probabilities; None if it has one.

    `oracle_dd` always has one: a text that neither model can generate is a tie.
    """
    if name == "oracle_dd":
        return None
    if np.isneginf(reference.log_p).any() or np.isneginf(candidate.log_q).any():
        return _OWN_ZERO
    others = np.isneginf(reference.log_q), np.isneginf(candidate.log_p)
    if name == "bhattacharyya" and any(other.all() for other in others):
        return _DISJOINT
    return _INFINITE if name == "symmetric_kl" and any(other.any() for other in others) else None


def _dominance(form: Form, terms: tuple[F64, F64]) -> tuple[float, float]:
    """The effective number of texts and the largest share of one text in a mean."""
    if not form.is_mean_of_weights:
        return float(min(map(len, terms))), 1 / min(map(len, terms))
    return min(map(_effective, terms)), max(map(_largest, terms))


def _effective(weights: F64) -> float:
    """The number of equal weights whose mean would vary as much (Kish)."""
    return float(weights.sum() ** 2 / (weights**2).sum())


def _largest(weights: F64) -> float:
    return float(weights.max() / weights.sum())
