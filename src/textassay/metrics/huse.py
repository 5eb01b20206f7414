"""HUSE: twice the error of telling human from model text by ratings and model probabilities together."""

from collections.abc import Mapping
from typing import cast

import numpy as np
from numpy.typing import NDArray

from textassay.metrics.declare import metric
from textassay.views.ratings import Per, Ratings
from textassay.views.votes import MOST_NEIGHBOURS, Tied, mistaken


def parts(ratings: Ratings, /, *, k: int, variant: Tied, per: Per) -> Mapping[str, float]:
    """How many items of each source are told rightly."""
    share = ratings.own_votes(quality_only=False, k=k, tied=variant, per=per)
    right = 1 - mistaken(share, ratings.is_model, variant)
    return {
        "accuracy": float(right.mean()),
        "accuracy_human": float(right[~ratings.is_model].mean()),
        "accuracy_model": float(right[ratings.is_model].mean()),
    }


def exchange(
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
    parts=parts,
    exchange=exchange,
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
