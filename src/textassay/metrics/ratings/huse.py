"""HUSE, HUSE-Q and HUSE-D: errors of telling human from model text by ratings and probabilities."""

from collections.abc import Mapping
from typing import cast

import numpy as np
from numpy.typing import NDArray

from textassay.metrics.ratings.rating_view import Per, Ratings
from textassay.metrics.ratings.votes import MOST_NEIGHBOURS, Tied, mistaken
from textassay.metrics.registry import metric


def huse_parts(ratings: Ratings, /, *, k: int, variant: Tied, per: Per) -> Mapping[str, float]:
    """How many items of each source are told rightly."""
    share = ratings.own_votes(quality_only=False, k=k, tied=variant, per=per)
    right = 1 - mistaken(share, ratings.is_model, variant)
    return {
        "accuracy": float(right.mean()),
        "accuracy_human": float(right[~ratings.is_model].mean()),
        "accuracy_model": float(right[ratings.is_model].mean()),
    }


def huse_exchange(
    ratings: Ratings, is_model: NDArray[np.bool_], /, *, k: int, variant: Tied, per: Per
) -> NDArray[np.float64]:
    """The score with the sources named otherwise, one value a column."""
    return 2 * ratings.errors_as(is_model, quality_only=False, k=k, tied=variant, per=per)


@metric(
    "huse",
    family="human",
    aspect="both",
    better="higher",
    bounds=(0.0, 2.0),
    interval="bootstrap:ratings",
    test="permutation",
    paper="hashimoto2019",
    undefined="ratings and log-probabilities are all the same",
    minimum=lambda k, **_: 2 * cast(int, k),
    parts=huse_parts,
    exchange=huse_exchange,
    limits={"k": (1, MOST_NEIGHBOURS)},
)
def huse(ratings: Ratings, /, *, k: int = 16, variant: Tied = "released", per: Per = "token") -> float:
    r"""Twice the error of telling human from model text by its rating and its probability under the model.

    .. math:: \mathrm{HUSE} = 2 - 2\,\mathrm{accuracy}, \qquad
        \phi(x, y) = \left[ \frac{\log p_{\mathrm{model}}(y \mid x)}{\mathrm{len}(y)},\ \mathrm{HJ}(x, y) \right]

    Each item is told by a vote of its k nearest neighbours among all others (leave one out), by Euclidean distance
    between the two features, each divided by its standard deviation; HJ is the mean rating. The score is 1 where
    nothing tells the sources apart and 0 where everything does; with enough items it is 1 less the total variation
    distance between people and model, or more.

    `variant` says what happens to ties. `released` is the authors' program, with which the paper's table comes out: all
    others as far as the k-th vote too, and an even vote names people. It compares distances as floating-point numbers,
    so ties that are equal in exact arithmetic may be broken by rounding; `exact` takes those as the ties they are, and
    moves HUSE-Q of the paper's summaries from 0.58 to 0.60. `fair` gives those that tie with the k-th an equal part of
    the places left, and an even vote is half a mistake. `per="text"` takes the log-probability of the whole text in
    place of that a token.

    It misleads where the log-probabilities are not those of the distribution that was sampled (temperature, top-p and
    beam search change it; so does the tokenizer that lengths are counted by). It is an upper bound: features that do
    not see a difference cannot show it, so a low value proves that texts can be told apart and a high one does not
    prove that they cannot. Noisy ratings raise it. So does a small k, by about 0.04 at k = 16 however many items there
    are: let k grow with the items, as :math:`16\,(n / 200)^{2/3}`, where the value itself matters. Leaving one out
    has a bias of its own where many items tie, so read it beside `chance`, the score of sources exchanged at random.
    """
    points = ratings.points(per)
    if not points.any():
        return float("nan")
    share = ratings.own_votes(quality_only=False, k=k, tied=variant, per=per)
    return float(2 * mistaken(share, ratings.is_model, variant).mean())


def huse_q_parts(ratings: Ratings, /, *, k: int, variant: Tied) -> Mapping[str, float]:
    """The share told rightly, and the mean rating of each source."""
    share = ratings.own_votes(quality_only=True, k=k, tied=variant, per="token")
    return {
        "accuracy": float(1 - mistaken(share, ratings.is_model, variant).mean()),
        "rating_human": float(ratings.means[~ratings.is_model].mean()),
        "rating_model": float(ratings.means[ratings.is_model].mean()),
    }


def huse_q_exchange(ratings: Ratings, is_model: NDArray[np.bool_], /, *, k: int, variant: Tied) -> NDArray[np.float64]:
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
    parts=huse_q_parts,
    exchange=huse_q_exchange,
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


def huse_d_parts(ratings: Ratings, /, *, k: int, variant: Tied, per: Per) -> Mapping[str, float]:
    """The share told rightly with both features, and with the rating alone."""
    return {
        "accuracy": 1 - huse(ratings, k=k, variant=variant, per=per) / 2,
        "accuracy_by_rating": 1 - huse_q(ratings, k=k, variant=variant) / 2,
    }


@metric(
    "huse_d",
    family="human",
    aspect="diversity",
    better="higher",
    bounds=(-1.0, 3.0),
    interval="bootstrap:ratings",
    test=None,
    paper="hashimoto2019",
    why_no_test="no exchange of sources leaves quality as it is and takes away diversity only; read the interval",
    undefined="HUSE-Q is not defined, or the log-probabilities are all the same",
    parts=huse_d_parts,
    minimum=lambda k, **_: 2 * cast(int, k),
    limits={"k": (1, MOST_NEIGHBOURS)},
)
def huse_d(ratings: Ratings, /, *, k: int = 16, variant: Tied = "released", per: Per = "token") -> float:
    r"""The diversity part of HUSE: how little the model's probabilities add to ratings in telling texts apart.

    .. math:: \mathrm{HUSE\text{-}D} = 1 + \mathrm{HUSE} - \mathrm{HUSE\text{-}Q}

    Losses add up: (1 - HUSE-D) + (1 - HUSE-Q) = 1 - HUSE. It is 1 where people write what the model would, and falls as
    they write what it hardly ever would, and it what they seldom do.

    It misleads above 1, which is noise: the vote has found less with both features than with one. It is the difference
    of two scores on the same items, so its interval is wider than theirs. A model whose probabilities are those of
    another temperature than it was sampled at looks less diverse than it is, or more.
    """
    if not ratings.points(per)[:, 1].any():
        return float("nan")
    return 1 + huse(ratings, k=k, variant=variant, per=per) - huse_q(ratings, k=k, variant=variant)
