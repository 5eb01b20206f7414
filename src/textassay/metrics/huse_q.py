"""HUSE-Q: twice the error of telling human from model text by ratings alone."""

from collections.abc import Mapping
from typing import cast

import numpy as np
from numpy.typing import NDArray

from textassay.metrics.declare import metric
from textassay.views.ratings import Ratings
from textassay.views.votes import MOST_NEIGHBOURS, Tied, mistaken


def parts(ratings: Ratings, /, *, k: int, variant: Tied) -> Mapping[str, float]:
    """The share told rightly, and the mean rating of each source."""
    share = ratings.own_votes(quality_only=True, k=k, tied=variant, per="token")
    return {
        "accuracy": float(1 - mistaken(share, ratings.is_model, variant).mean()),
        "rating_human": float(ratings.means[~ratings.is_model].mean()),
        "rating_model": float(ratings.means[ratings.is_model].mean()),
    }


def exchange(ratings: Ratings, is_model: NDArray[np.bool_], /, *, k: int, variant: Tied) -> NDArray[np.float64]:
    """The score with the sources named otherwise, one value a column."""
    return 2 * ratings.errors_as(is_model, quality_only=True, k=k, tied=variant, per="token")


@metric(
    "huse_q",
    family="human",
    aspect="quality",
    better="higher",
    bounds=(0.0, 2.0),
    interval="bootstrap:ratings",
    test="permutation",
    paper="hashimoto2019",
    undefined="the mean ratings of all items are the same",
    minimum=lambda k, **_: 2 * cast(int, k),
    parts=parts,
    exchange=exchange,
    limits={"k": (1, MOST_NEIGHBOURS)},
)
def huse_q(ratings: Ratings, /, *, k: int = 16, variant: Tied = "released") -> float:
    r"""Twice the error of telling human from model text by its mean rating alone: the quality part of HUSE.

    .. math:: \mathrm{HUSE\text{-}Q} = 2 - 2\,\mathrm{accuracy}, \qquad \phi(x, y) = [\mathrm{HJ}(x, y)]

    As `huse`, without the model's probability: what people who read one text at a time can tell. 1 is a model that
    writes as well as people do.

    It misleads about diversity: a model that copies its training texts scores 1. Mean ratings of a few people take few
    values, so whole groups of items tie and the rule for ties matters; `chance` says what sources exchanged at random
    score on the same ratings, which can be well above 1. See `huse` for the variants.
    """
    if not ratings.points()[:, 0].any():
        return float("nan")
    share = ratings.own_votes(quality_only=True, k=k, tied=variant, per="token")
    return float(2 * mistaken(share, ratings.is_model, variant).mean())
