"""Negative log-likelihood of texts under a model, and the entropy of a model."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from textassay.corpus.arrays import F64, I64
from textassay.corpus.printable import many
from textassay.errors import InputError
from textassay.metrics.learned.model_texts import (
    DECODING_LIMITS,
    ModelTexts,
    model_name,
    ratio_under,
    ratio_without_folds,
    share_unknown,
    totals,
)
from textassay.metrics.registry import Value, metric
from textassay.metrics.views import Resamples
from textassay.models.base import Scores

Per = Literal["text", "token"]
ZERO = (
    "a text has probability 0 under the model, such as one with a word that the model does not have: the negative"
    " log-likelihood is infinite"
)


@dataclass(frozen=True)
class Likelihood:
    """A mean negative log-likelihood in nats, its standard error, and the number of texts with probability 0.

    If there is such a text, the mean is infinite: `undefined` is the reason, and the estimate is NaN. `possible` is the
    mean over the other texts; it is NaN if there is none.
    """

    estimate: float
    error: float
    n_zero: int
    possible: float
    undefined: str | None = None


def mean_nll(scores: Scores, *, per: Per = "text") -> Likelihood:
    """The mean negative log-likelihood per text, or per token (the sum over all texts divided by all tokens).

    On texts that the model itself has generated, it is the Monte-Carlo estimate of the entropy of the model.

    >>> mean_nll(Scores(np.array([-2.0, -4.0]), np.array([1, 3])), per="token").estimate
    1.5
    """
    if len(scores) < 2:
        raise InputError(f"log-probabilities of {many(len(scores), 'text')}; wanted 2 or more")
    found = ~np.isneginf(scores.log_probs)
    costs = -scores.log_probs[found]
    tokens = scores.n_tokens[found].astype(np.float64) if per == "token" else np.ones(len(costs))
    possible = float(costs.sum() / tokens.sum()) if len(costs) else math.nan
    if scores.n_zero:
        return Likelihood(math.nan, math.nan, scores.n_zero, possible, ZERO)
    # The standard error of a ratio of means, to first order.
    residuals = (costs - possible * tokens) / tokens.mean()
    return Likelihood(possible, float(residuals.std(ddof=1)) / math.sqrt(len(costs)), 0, possible)


def model_remarks(parts: Mapping[str, float]) -> list[str]:
    """Sentences if texts have probability 0 or unknown words."""
    count = int(parts.get("zero_probability", 0))
    found = [f"{many(count, 'text')} with probability 0 under a model"] if count else []
    shares = {"texts": "share_unknown", "reference's texts": "share_unknown_reference"}
    seen = [f"{100 * parts[name]:.3g} % of the {whose}" for whose, name in shares.items() if parts.get(name, 0) > 0]
    meaning = "unknown words (<unk>, or words that a model does not have)"
    return [*found, *([f"{' and '.join(seen)} have {meaning}"] if seen else [])]


def _parts(scores: Scores, per: Per) -> dict[str, float]:
    found = mean_nll(scores, per=per)
    return {
        "zero_probability": float(found.n_zero),
        "mean_of_others": found.possible,
        "share_unknown": share_unknown(scores),
        "lower_bound": mean_nll(Scores(scores.class_log_probs, scores.n_tokens), per=per).estimate,
    }


def _without_folds(scores: Scores, per: Per, folds: I64) -> F64:
    return ratio_without_folds(*totals(scores, per), folds)


def _exchanged(candidate: Scores, reference: Scores, resamples: Resamples, per: Per) -> F64:
    """The difference of the means of both sides under every exchange.

    A text with probability 0 counts as the least probable of the others: any value that does not depend on the labels
    gives a valid test.
    """
    both = [totals(side, per) for side in (candidate, reference)]
    costs, sizes = (np.concatenate(column) for column in zip(*both, strict=True))
    finite = np.isfinite(costs)
    costs = np.where(finite, costs, costs[finite].max(initial=0.0))
    return ratio_under(costs, sizes, resamples, 0) - ratio_under(costs, sizes, resamples, 1)


def oracle_nll_parts(candidate: ModelTexts, /, *, oracle: str, per: Per) -> Mapping[str, float]:
    """Texts with probability 0, the mean over the others, the share with unknown words, and a lower bound."""
    return _parts(candidate.scores(oracle), per)


def oracle_nll_leave_out(candidate: ModelTexts, /, *, labels: Sequence[I64], oracle: str, per: Per) -> tuple[F64]:
    """The mean without each group of texts."""
    return (_without_folds(candidate.scores(oracle), per, labels[0]),)


def oracle_nll_exchange(
    candidate: ModelTexts, reference: ModelTexts, /, *, resamples: Resamples, oracle: str, per: Per
) -> F64:
    """The difference of both samples under each row of exchanged labels."""
    return _exchanged(candidate.scores(oracle), reference.scores(oracle), resamples, per)


@metric(
    "oracle_nll",
    family="learned",
    aspect="quality",
    better="lower",
    rise="less likely",
    bounds=(0.0, math.inf),
    interval="jackknife",
    test="permutation",
    paper="montahaei2019",
    undefined=ZERO,
    in_default=False,
    parts=oracle_nll_parts,
    leave_out=oracle_nll_leave_out,
    exchange=oracle_nll_exchange,
    opens={"oracle": model_name},
    remarks=model_remarks,
)
def oracle_nll(candidate: ModelTexts, /, *, oracle: str = "", per: Per = "text") -> Value:
    r"""Oracle NLL: the mean negative log-likelihood of the candidate's texts under an oracle, in nats.

    .. math:: \mathrm{NLL}_{oracle} = -\frac{1}{M} \sum_{x \in C} \ln p(x)

    The oracle p is used as the distribution of real text: a model whose samples were the training texts of the
    generator, or any other trained model (`oracle=FILE`, `oracle=oracle:DIR`). `per=token` divides by all tokens in
    place of texts; tokens include the end of a text if the oracle has one.

    It sees texts that the oracle finds improbable.

    Misleading as a measure of both quality and diversity: repeating the most probable text gives the lowest value. The
    oracle's own texts are not at 0 but at its entropy, so compare with the value of the reference. Longer texts have
    higher values per text.

    It is undefined if a text has probability 0 under the oracle, such as one with a word that the oracle does not have;
    the parts have the number of such texts and the mean over the others. The part `share_unknown` is the share of texts
    with unknown words, and `lower_bound` is the value with one unknown word in place of all of them. Only models with
    the same vocabulary can be compared by it.
    """
    return mean_nll(candidate.scores(oracle), per=per).estimate


def entropy_parts(candidate: ModelTexts, /, *, per: Per, **model: Any) -> Mapping[str, float]:
    """Texts with probability 0, the mean over the others, the share with unknown words, and a lower bound."""
    return _parts(candidate.scores(**model), per)


def entropy_leave_out(
    candidate: ModelTexts,
    /,
    *,
    labels: Sequence[I64],
    per: Per,
    **model: Any,
) -> tuple[F64]:
    """The mean without each group of texts."""
    return (_without_folds(candidate.scores(**model), per, labels[0]),)


def entropy_exchange(
    candidate: ModelTexts,
    reference: ModelTexts,
    /,
    *,
    resamples: Resamples,
    per: Per,
    **model: Any,
) -> F64:
    """The difference of both samples under each row of exchanged labels."""
    return _exchanged(candidate.scores(**model), reference.scores(**model), resamples, per)


@metric(
    "model_entropy",
    family="learned",
    aspect="diversity",
    better="closer",
    rise="more diverse",
    bounds=(0.0, math.inf),
    interval="jackknife",
    test="permutation",
    paper="montahaei2019",
    undefined=ZERO,
    in_default=False,
    parts=entropy_parts,
    leave_out=entropy_leave_out,
    exchange=entropy_exchange,
    limits=DECODING_LIMITS,
    opens={"model": model_name},
    remarks=model_remarks,
)
def model_entropy(
    candidate: ModelTexts,
    /,
    *,
    model: str = "",
    per: Per = "text",
    temperature: float = 1.0,
    top_k: int = 0,
    top_p: float = 1.0,
) -> Value:
    r"""Model entropy: the entropy of the candidate's model, estimated on its own texts, in nats.

    .. math:: H = -\frac{1}{M} \sum_{x \in C} \ln q(x)

    Here q is the model that generated the candidate (`model=FILE`) under its decoding setting (`temperature`, `top_k`
    with 0 for all tokens, `top_p`). The candidate must be a sample of it: the value is then a Monte-Carlo estimate of
    the entropy. `per=token` divides by all tokens in place of texts.

    It sees how much probability is on few texts. The value of real text is its cross-entropy under the same model; a
    model that fits has an entropy equal to it.

    Misleading as a measure of quality: noise has the highest entropy. Texts that another model or another decoding
    setting generated give a cross-entropy, which is higher.

    It is undefined if a text has probability 0 under the model; the parts have the number of such texts, the share of
    texts with unknown words and a lower bound, as those of `oracle_nll`.
    """
    return mean_nll(candidate.scores(model, temperature, top_k, top_p), per=per).estimate


def nll_parts(
    candidate: ModelTexts,
    reference: ModelTexts,
    /,
    *,
    per: Per,
    **model: Any,
) -> Mapping[str, float]:
    """Texts with probability 0, the mean over the others, the share with unknown words, and a lower bound."""
    return _parts(reference.scores(**model), per)


def nll_leave_out(
    candidate: ModelTexts,
    reference: ModelTexts,
    /,
    *,
    labels: Sequence[I64],
    per: Per,
    **model: Any,
) -> tuple[F64, F64]:
    """The mean without each group of texts; the candidate's texts change nothing."""
    scores = reference.scores(**model)
    unchanged = np.full(int(labels[0].max()) + 1, mean_nll(scores, per=per).estimate)
    return unchanged, _without_folds(scores, per, labels[1])


@metric(
    "nll",
    family="learned",
    aspect="diversity",
    better="lower",
    rise="reference less likely",
    bounds=(0.0, math.inf),
    interval="jackknife",
    test=None,
    why_no_test="it reads the texts of the reference only, so that there is nothing to exchange",
    paper="montahaei2019",
    undefined=ZERO,
    in_default=False,
    parts=nll_parts,
    leave_out=nll_leave_out,
    limits=DECODING_LIMITS,
    opens={"model": model_name},
    remarks=model_remarks,
)
def nll(
    candidate: ModelTexts,
    reference: ModelTexts,
    /,
    *,
    model: str = "",
    per: Per = "text",
    temperature: float = 1.0,
    top_k: int = 0,
    top_p: float = 1.0,
) -> Value:
    r"""NLL: the mean negative log-likelihood of real text under the candidate's model, in nats.

    .. math:: \mathrm{NLL} = -\frac{1}{N} \sum_{x \in R} \ln q(x)

    Here q is the model that generated the candidate (`model=FILE`) under its decoding setting (`temperature`, `top_k`
    with 0 for all tokens, `top_p`). The texts of the candidate are not read. `per=token` divides by all tokens in place
    of texts.

    It sees real text that the model does not generate.

    Misleading as a measure of quality: a model that also generates nonsense loses little. The reference must not have
    been training text of the model.

    It is undefined if a text of the reference has probability 0 under the model, as is common with `top_k` and `top_p`
    and with words that the model does not have; the parts have the number of such texts and the mean over the others.
    The part `share_unknown` is the share of texts with unknown words, and `lower_bound` is the value with one unknown
    word in place of all of them. Only models with the same vocabulary can be compared by it.
    """
    return mean_nll(reference.scores(model, temperature, top_k, top_p), per=per).estimate
