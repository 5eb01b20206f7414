"""HUSE, HUSE-Q and HUSE-D: the error of classifying texts as human or model by ratings and probabilities."""

from collections.abc import Mapping
from typing import cast

import numpy as np
from numpy.typing import NDArray

from textassay.metrics.ratings.rating_view import Per, Ratings
from textassay.metrics.ratings.votes import MOST_NEIGHBOURS, Tied, mistaken
from textassay.metrics.registry import metric


def huse_parts(ratings: Ratings, /, *, k: int, variant: Tied, per: Per) -> Mapping[str, float]:
    """The accuracy over all items, and over those of each source."""
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
    """The score under exchanged sources, one value per column."""
    return 2 * ratings.errors_as(is_model, quality_only=False, k=k, tied=variant, per=per)


@metric(
    "huse",
    family="human",
    aspect="both",
    better="higher",
    rise="less distinguishable",
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
    r"""HUSE: twice the error of classifying texts as human or model by their rating and model probability.

    .. math:: \mathrm{HUSE} = 2 - 2\,\mathrm{accuracy}, \qquad
        \phi(x, y) = \left[ \frac{\log p_{\mathrm{model}}(y \mid x)}{\mathrm{len}(y)},\ \mathrm{HJ}(x, y) \right]

    HJ is the mean rating. Each item is classified by a vote of its k nearest neighbours among all other items (leave
    one out), by Euclidean distance between the two features, each divided by its standard deviation. The score is 1 if
    the features cannot separate the sources and 0 if they separate them fully. With enough items it is at least 1 minus
    the total variation distance between human and model text.

    `variant` is the rule for ties. `released` is the authors' program, which gives the paper's table: all items as far
    away as the k-th vote too, and an even vote counts as human. It compares distances as floating-point numbers, so
    rounding may break exact ties; `exact` keeps them, which changes HUSE-Q of the paper's summaries from 0.58 to 0.60.
    `fair` divides the remaining votes equally among the items that tie with the k-th, and an even vote is half an
    error. `per="text"` uses the log-probability of the whole text instead of the mean per token.

    It sees both low quality (through ratings) and a lack of diversity (through probabilities).

    Misleading if the log-probabilities are not those of the distribution that was sampled: temperature, top-p and beam
    search change it, and so does a different tokenizer for the lengths. It is an upper bound: a low value proves that
    the texts can be distinguished, a high value does not prove that they cannot. Noisy ratings raise it. A small k
    raises it too, by about 0.04 at k = 16 from 200 items on, and more with fewer: if the value itself matters, let k
    grow with the number of items as :math:`16\,(n / 200)^{2/3}`. Leaving one out is biased if many items tie, so read
    it beside `chance`, the score of randomly exchanged sources.

    It is undefined if all ratings and all log-probabilities are the same.
    """
    points = ratings.points(per)
    if not points.any():
        return float("nan")
    share = ratings.own_votes(quality_only=False, k=k, tied=variant, per=per)
    return float(2 * mistaken(share, ratings.is_model, variant).mean())


def huse_q_parts(ratings: Ratings, /, *, k: int, variant: Tied) -> Mapping[str, float]:
    """The accuracy, and the mean rating of each source."""
    share = ratings.own_votes(quality_only=True, k=k, tied=variant, per="token")
    return {
        "accuracy": float(1 - mistaken(share, ratings.is_model, variant).mean()),
        "rating_human": float(ratings.means[~ratings.is_model].mean()),
        "rating_model": float(ratings.means[ratings.is_model].mean()),
    }


def huse_q_exchange(ratings: Ratings, is_model: NDArray[np.bool_], /, *, k: int, variant: Tied) -> NDArray[np.float64]:
    """The score under exchanged sources, one value per column."""
    return 2 * ratings.errors_as(is_model, quality_only=True, k=k, tied=variant, per="token")


@metric(
    "huse_q",
    family="human",
    aspect="quality",
    better="higher",
    rise="less distinguishable",
    bounds=(0.0, 2.0),
    interval="bootstrap:ratings",
    test="permutation",
    paper="hashimoto2019",
    undefined="the mean ratings of all items are the same",
    minimum=lambda k, **_: 2 * cast(int, k),
    parts=huse_q_parts,
    exchange=huse_q_exchange,
    limits={"k": (1, MOST_NEIGHBOURS)},
    needs_log_probs=False,
)
def huse_q(ratings: Ratings, /, *, k: int = 16, variant: Tied = "released") -> float:
    r"""HUSE-Q: twice the error of classifying texts as human or model by their mean rating; the quality part of HUSE.

    .. math:: \mathrm{HUSE\text{-}Q} = 2 - 2\,\mathrm{accuracy}, \qquad \phi(x, y) = [\mathrm{HJ}(x, y)]

    As `huse`, without the model's probability. See `huse` for the variants.

    It sees the differences that people notice in single texts; 1 means that the model's ratings are those of people's
    texts.

    Misleading about diversity: a model that copies its training texts scores 1. Mean ratings of a few people have few
    different values, so many items tie and the rule for ties matters; `chance` is the score of randomly exchanged
    sources on the same ratings, which can be well above 1.

    It is undefined if the mean ratings of all items are the same.
    """
    if not ratings.points()[:, 0].any():
        return float("nan")
    share = ratings.own_votes(quality_only=True, k=k, tied=variant, per="token")
    return float(2 * mistaken(share, ratings.is_model, variant).mean())


def huse_d_parts(ratings: Ratings, /, *, k: int, variant: Tied, per: Per) -> Mapping[str, float]:
    """The accuracy with both features, and with the rating alone."""
    return {
        "accuracy": 1 - huse(ratings, k=k, variant=variant, per=per) / 2,
        "accuracy_by_rating": 1 - huse_q(ratings, k=k, variant=variant) / 2,
    }


@metric(
    "huse_d",
    family="human",
    aspect="diversity",
    better="higher",
    rise="less distinguishable",
    bounds=(-1.0, 3.0),
    interval="bootstrap:ratings",
    test=None,
    paper="hashimoto2019",
    why_no_test="no exchange of sources removes only the difference in diversity; read the interval",
    undefined="HUSE-Q is not defined, or the log-probabilities are all the same",
    parts=huse_d_parts,
    minimum=lambda k, **_: 2 * cast(int, k),
    limits={"k": (1, MOST_NEIGHBOURS)},
)
def huse_d(ratings: Ratings, /, *, k: int = 16, variant: Tied = "released", per: Per = "token") -> float:
    r"""HUSE-D: 1 + HUSE - HUSE-Q, below 1 if model probabilities identify texts that ratings do not.

    .. math:: \mathrm{HUSE\text{-}D} = 1 + \mathrm{HUSE} - \mathrm{HUSE\text{-}Q}

    The losses add up: (1 - HUSE-D) + (1 - HUSE-Q) = 1 - HUSE.

    It sees a lack of diversity, through what the model's probabilities show beyond the ratings. It is 1 if people and
    model write texts of the same probability, and falls if people write texts that the model hardly ever would, or the
    reverse.

    Misleading above 1, where the excess is noise: the vote was less accurate with both features than with one. It is
    the difference of two scores on the same items, so its interval is wider than theirs. If the probabilities belong to
    another temperature than the texts, the model appears more or less diverse than it is.

    It is undefined if HUSE-Q is, or if all log-probabilities are the same.
    """
    if not ratings.points(per)[:, 1].any():
        return float("nan")
    return 1 + huse(ratings, k=k, variant=variant, per=per) - huse_q(ratings, k=k, variant=variant)
