"""Negative log-likelihood of texts under a model, and the entropy of a model."""

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np

from textassay.corpus.printable import many
from textassay.errors import InputError
from textassay.models.base import Scores

Per = Literal["text", "token"]
ZERO = "a text has probability 0 under the model: the negative log-likelihood is infinite"


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
