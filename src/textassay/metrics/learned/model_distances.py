"""Distances of two models from the log-probabilities that both give to texts of each of them.

:math:`P` is the model of the reference (an oracle) and :math:`Q` that of the candidate. All distances depend on the log
ratios :math:`r(x) = \\ln q(x) - \\ln p(x)` of texts of :math:`P` and of texts of :math:`Q` only, and each is a function
of one mean over the texts of :math:`P` and one over the texts of :math:`Q`.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from textassay.corpus.arrays import F64, I64
from textassay.corpus.printable import many
from textassay.errors import InputError
from textassay.metrics.learned.likelihood import model_remarks
from textassay.metrics.learned.model_texts import (
    DECODING_LIMITS,
    ModelTexts,
    model_name,
    ratio_under,
    ratio_without_folds,
    share_unknown,
)
from textassay.metrics.registry import Value, metric
from textassay.metrics.views import Resamples

# A mean depends on a few texts if its terms are worth fewer equal terms than this.
FEWEST_EFFECTIVE = 30
# Texts are no sample of a model if their mean log ratio has the wrong sign by more than this many standard errors.
_MOST_ERRORS = 4
_TINY = np.finfo(np.float64).tiny
_OWN_ZERO = "a text has probability 0 under the model that it should be a sample of"
_NOT_A_SAMPLE = "the texts of a side are more probable under the other model, so that they are no sample of their own"
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
        """The log ratios; 0 for texts that neither model can generate, which are in no sample of one of them."""
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
        return None if self.undefined is not None else dominance_warning(self.effective, self.largest_share)


def dominance_warning(effective: float, largest_share: float) -> str | None:
    """A sentence if a mean is worth few texts."""
    if not effective < FEWEST_EFFECTIVE:
        return None
    return (
        f"a few texts dominate: the estimate is worth {many(round(effective), 'text')}, the largest share of one text"
        f" is {largest_share:.0%}, and its error may be much larger than stated; use more texts"
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
        lambda reference, candidate, scale: (
            -(np.log(np.maximum(reference, _TINY)) + np.log(np.maximum(candidate, _TINY)) + scale) / 2
        ),
        lambda reference, candidate: (-0.5 / reference, -0.5 / candidate),
        _largest_exponents,
        is_mean_of_weights=True,
    ),
    # The overlap of P and Q is the mean of sqrt(pq) / m over texts of the mixture m = (p + q) / 2, at most 1 each.
    "hellinger": Form(
        lambda ratios, _: 1 / np.cosh(np.clip(ratios / 2, -700, 700)),
        lambda ratios, _: 1 / np.cosh(np.clip(ratios / 2, -700, 700)),
        lambda reference, candidate, _: 1 - (reference + candidate) / 2,
        lambda *_: (-0.5, -0.5),
    ),
    "symmetric_kl": Form(
        lambda ratios, _: -ratios,
        lambda ratios, _: ratios,
        lambda reference, candidate, _: reference + candidate,
        lambda *_: (1.0, 1.0),
    ),
    "oracle_dd": Form(
        lambda ratios, _: -np.sign(ratios),
        lambda ratios, _: np.sign(ratios),
        lambda reference, candidate, _: (reference + candidate) / 2,
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
    """Why a distance has no finite value for these log-probabilities; None if it has one."""
    if np.isneginf(reference.log_p).any() or np.isneginf(candidate.log_q).any():
        return _OWN_ZERO
    is_sample = is_sample_of_first(-reference.ratios) and is_sample_of_first(candidate.ratios)
    if name in ("bhattacharyya", "hellinger") and not is_sample:
        return _NOT_A_SAMPLE
    others = np.isneginf(reference.log_q), np.isneginf(candidate.log_p)
    if name == "bhattacharyya" and any(other.all() for other in others):
        return _DISJOINT
    return _INFINITE if name == "symmetric_kl" and any(other.any() for other in others) else None


def is_sample_of_first(ratios: F64) -> bool:
    """Whether texts can be a sample of a model, given their log ratios to another one.

    The mean log ratio of a sample is a Kullback-Leibler divergence, which is never negative.
    """
    finite = ratios[np.isfinite(ratios)]
    if len(finite) < 2:
        return True
    return bool(finite.mean() >= -_MOST_ERRORS * finite.std(ddof=1) / math.sqrt(len(finite)))


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


Variant = Literal["paper", "hellinger", "symmetric_kl"]
_NAMES = {"paper": "bhattacharyya", "hellinger": "hellinger", "symmetric_kl": "symmetric_kl"}


@dataclass(frozen=True, eq=False)
class _Pair:
    """The log-probabilities of both samples under both models."""

    candidate: TwoLogProbs
    reference: TwoLogProbs
    unknown: tuple[float, float]

    @property
    def shares(self) -> dict[str, float]:
        """The shares of texts with unknown words."""
        return dict(zip(("share_unknown", "share_unknown_reference"), self.unknown, strict=True))

    def distance(self, name: str) -> Distance:
        return _distance(name, self.reference, self.candidate)

    def without_folds(self, name: str, labels: Sequence[I64]) -> tuple[F64, F64]:
        """The distance without each group of texts of the candidate, and of the reference."""
        form, ratios = FORMS[name], (self.reference.ratios, self.candidate.ratios)
        scales = form.scales(ratios[0])[0], form.scales(ratios[1])[1]
        reference, candidate = form.of_reference(ratios[0], scales[0]), form.of_candidate(ratios[1], scales[1])
        means = np.array(reference.mean()), np.array(candidate.mean())
        fewer = [
            ratio_without_folds(t, np.ones(len(t)), f) for t, f in zip((candidate, reference), labels, strict=True)
        ]
        return form.combine(means[0], fewer[0], sum(scales)), form.combine(fewer[1], means[1], sum(scales))

    def exchanged(self, name: str, resamples: Resamples) -> F64:
        """The distance under every exchange of texts between the samples.

        Infinite ratios count as the largest finite ones: any value that does not depend on the labels gives a valid
        test.
        """
        form, ratios = FORMS[name], np.concatenate((self.candidate.ratios, self.reference.ratios))
        finite = ratios[np.isfinite(ratios)]
        ratios = np.clip(ratios, finite.min(initial=-1.0), finite.max(initial=1.0))
        scales = form.scales(ratios)
        ones = np.ones(len(ratios))
        candidate = ratio_under(form.of_candidate(ratios, scales[1]), ones, resamples, 0)
        reference = ratio_under(form.of_reference(ratios, scales[0]), ones, resamples, 1)
        return form.combine(reference, candidate, sum(scales))


def _pair(
    candidate: ModelTexts,
    reference: ModelTexts,
    *,
    model: str,
    oracle: str,
    temperature: float = 1.0,
    top_k: int = 0,
    top_p: float = 1.0,
) -> _Pair:
    scores = [(side.scores(oracle), side.scores(model, temperature, top_k, top_p)) for side in (candidate, reference)]
    mine, theirs = (TwoLogProbs(p.log_probs, q.log_probs) for p, q in scores)
    return _Pair(mine, theirs, (share_unknown(*scores[0]), share_unknown(*scores[1])))


def bhattacharyya_parts(
    candidate: ModelTexts,
    reference: ModelTexts,
    /,
    *,
    variant: Variant,
    **models: Any,
) -> Mapping[str, float]:
    """All three distances with their Monte-Carlo errors, how many texts the value is worth, and zero probabilities."""
    pair = _pair(candidate, reference, **models)
    found = {name: pair.distance(form) for name, form in _NAMES.items()}
    chosen = found[variant]
    return {
        "error": chosen.error,
        "effective_texts": chosen.effective,
        "largest_share": chosen.largest_share,
        "zero_probability": float(chosen.n_zero),
        **pair.shares,
        "bhattacharyya": found["paper"].estimate,
        "bhattacharyya_error": found["paper"].error,
        "squared_hellinger": found["hellinger"].estimate,
        "squared_hellinger_error": found["hellinger"].error,
        "symmetric_kl": found["symmetric_kl"].estimate,
        "symmetric_kl_error": found["symmetric_kl"].error,
    }


def bhattacharyya_leave_out(
    candidate: ModelTexts,
    reference: ModelTexts,
    /,
    *,
    labels: Sequence[I64],
    variant: Variant,
    **models: Any,
) -> tuple[F64, F64]:
    """The distance without each group of texts."""
    pair = _pair(candidate, reference, **models)
    return pair.without_folds(_NAMES[variant], labels)


def bhattacharyya_exchange(
    candidate: ModelTexts,
    reference: ModelTexts,
    /,
    *,
    resamples: Resamples,
    variant: Variant,
    **models: Any,
) -> F64:
    """The distance under each row of exchanged labels."""
    pair = _pair(candidate, reference, **models)
    return pair.exchanged(_NAMES[variant], resamples)


def dominance_remarks(parts: Mapping[str, float]) -> list[str]:
    """Sentences if texts have probability 0 or a few texts dominate."""
    warning = None
    if math.isfinite(parts.get("error", math.nan)):
        warning = dominance_warning(parts["effective_texts"], parts["largest_share"])
    return [*model_remarks(parts), *([warning] if warning else [])]


@metric(
    "bhattacharyya",
    family="learned",
    aspect="both",
    better="lower",
    rise="farther",
    bounds=(-math.inf, math.inf),
    interval="jackknife",
    test="permutation",
    paper="montahaei2019",
    undefined="a text has probability 0 under its own model, texts are no sample of it, or the distance is infinite",
    in_default=False,
    parts=bhattacharyya_parts,
    leave_out=bhattacharyya_leave_out,
    exchange=bhattacharyya_exchange,
    variant_bounds={"hellinger": (0.0, 1.0)},
    limits=DECODING_LIMITS,
    opens={"model": model_name, "oracle": model_name},
    remarks=dominance_remarks,
)
def bhattacharyya(
    candidate: ModelTexts,
    reference: ModelTexts,
    /,
    *,
    model: str = "",
    oracle: str = "",
    variant: Variant = "paper",
    temperature: float = 1.0,
    top_k: int = 0,
    top_p: float = 1.0,
) -> Value:
    r"""Bhattacharyya distance between the candidate's model and an oracle, from texts of both.

    .. math:: B = -\frac{1}{2} \left( \ln \frac{1}{N} \sum_{x \in R} \sqrt{\frac{q(x)}{p(x)}}
              + \ln \frac{1}{M} \sum_{x \in C} \sqrt{\frac{p(x)}{q(x)}} \right)

    The reference must be a sample of the oracle p (`oracle=FILE`), and the candidate one of the model q (`model=FILE`)
    under its decoding setting (`temperature`, `top_k` with 0 for all tokens, `top_p`). All sums are computed from
    log-probabilities. `variant=hellinger` is the squared Hellinger distance, 1 minus the sum of the root of p(x) q(x)
    over all texts, estimated from terms of at most 1; `variant=symmetric_kl` is the sum of both Kullback-Leibler
    divergences. The parts have all three with their Monte-Carlo errors.

    It sees every difference between the two distributions, texts that are missing and texts that are too many alike.

    Misleading if a few texts dominate a sum: the distance is then too high, and its error is too low. A note reports
    this, and the part `effective_texts` has the number of equal terms that would vary as much. The squared Hellinger
    distance has no such terms, but is close to 1 for most pairs of models of long texts. Texts that the models were
    trained on are not a sample of them.

    It is undefined if a text has probability 0 under its own model, if the texts of a side are more probable under the
    other model and so are no sample of their own (the case of two samples of real text), or if the distance is infinite
    because no text of one model is possible under the other (with `symmetric_kl`, because a text is not). The parts
    `share_unknown` and `share_unknown_reference` are the shares of texts with unknown words.
    """
    pair = _pair(candidate, reference, model=model, oracle=oracle, temperature=temperature, top_k=top_k, top_p=top_p)
    return pair.distance(_NAMES[variant]).estimate


def oracle_dd_parts(
    candidate: ModelTexts,
    reference: ModelTexts,
    /,
    **models: Any,
) -> Mapping[str, float]:
    """The Monte-Carlo error, the number of texts with probability 0, and the shares with unknown words."""
    pair = _pair(candidate, reference, **models)
    found = pair.distance("oracle_dd")
    return {"error": found.error, "zero_probability": float(found.n_zero), **pair.shares}


def oracle_dd_leave_out(
    candidate: ModelTexts,
    reference: ModelTexts,
    /,
    *,
    labels: Sequence[I64],
    **models: Any,
) -> tuple[F64, F64]:
    """Oracle DD without each group of texts."""
    pair = _pair(candidate, reference, **models)
    return pair.without_folds("oracle_dd", labels)


def oracle_dd_exchange(
    candidate: ModelTexts,
    reference: ModelTexts,
    /,
    *,
    resamples: Resamples,
    **models: Any,
) -> F64:
    """Oracle DD under each row of exchanged labels."""
    pair = _pair(candidate, reference, **models)
    return pair.exchanged("oracle_dd", resamples)


@metric(
    "oracle_dd",
    family="learned",
    aspect="both",
    better="lower",
    rise="farther",
    bounds=(-1.0, 1.0),
    interval="jackknife",
    test="permutation",
    paper="cai2020",
    undefined=_OWN_ZERO,
    in_default=False,
    parts=oracle_dd_parts,
    leave_out=oracle_dd_leave_out,
    exchange=oracle_dd_exchange,
    limits=DECODING_LIMITS,
    opens={"model": model_name, "oracle": model_name},
    remarks=model_remarks,
)
def oracle_dd(
    candidate: ModelTexts,
    reference: ModelTexts,
    /,
    *,
    model: str = "",
    oracle: str = "",
    temperature: float = 1.0,
    top_k: int = 0,
    top_p: float = 1.0,
) -> Value:
    r"""Oracle DD: the Distributional Discrepancy between the candidate's model and an oracle, from both probabilities.

    .. math:: \mathrm{DD} = \frac{1}{2} \left( \frac{1}{N} \sum_{x \in R} \mathrm{sign} \ln \frac{p(x)}{q(x)}
              + \frac{1}{M} \sum_{x \in C} \mathrm{sign} \ln \frac{q(x)}{p(x)} \right)

    It is the value that `dd` would have with the best possible classifier: half of the sum of |p(x) - q(x)| over all
    texts. The reference must be a sample of the oracle p (`oracle=FILE`), and the
    candidate one of the model q (`model=FILE`) under its decoding setting (`temperature`, `top_k` with 0 for all
    tokens, `top_p`). Texts with the same probability under both models count 0.

    It sees every difference between the two distributions, and no text dominates it.

    Misleading for models of long texts: small differences in every word add up, and the value is close to 1 for models
    that no reader could separate. Texts that the models were trained on are not a sample of them.

    It is undefined if a text has probability 0 under the model that it should be a sample of. A text with probability 0
    under the other model, such as one with a word that this model does not have, is certainly not from it. The parts
    `share_unknown` and `share_unknown_reference` are the shares of texts with unknown words.
    """
    pair = _pair(candidate, reference, model=model, oracle=oracle, temperature=temperature, top_k=top_k, top_p=top_p)
    return pair.distance("oracle_dd").estimate
