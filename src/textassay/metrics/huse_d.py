"""HUSE-D: what the model's probabilities add to ratings in telling human from model text."""

from collections.abc import Mapping
from typing import cast

from textassay.metrics import huse as both
from textassay.metrics import huse_q as quality
from textassay.metrics.declare import metric
from textassay.views.ratings import Per, Ratings
from textassay.views.votes import MOST_NEIGHBOURS, Tied


def parts(ratings: Ratings, /, *, k: int, variant: Tied, per: Per) -> Mapping[str, float]:
    """The share told rightly with both features, and with the rating alone."""
    return {
        "accuracy": 1 - both.huse(ratings, k=k, variant=variant, per=per) / 2,
        "accuracy_by_rating": 1 - quality.huse_q(ratings, k=k, variant=variant) / 2,
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
    parts=parts,
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
    return 1 + both.huse(ratings, k=k, variant=variant, per=per) - quality.huse_q(ratings, k=k, variant=variant)
