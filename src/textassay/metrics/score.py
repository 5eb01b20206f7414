"""Score: how well the candidates of an item match its references, pair by pair."""

from collections.abc import Mapping
from typing import Literal

import numpy as np

from textassay.metrics.declare import metric
from textassay.views.item_pool import F64, ItemPool, Labels
from textassay.views.pair_means import best_shares, pair_means
from textassay.views.text_distances.rouge_l import BETA

Over = Literal["mean", "max", "coco"]


def under_labels(pool: ItemPool, labels: Labels, /, *, distance: str, over: Over) -> F64:
    """The value under each labelling."""
    if over == "coco":
        precision, recall = (pool.scores[f"{distance} {share}"] for share in ("precision", "recall"))
        return best_shares(precision, recall, labels, beta=BETA)
    return pair_means(pool.scores[distance], labels, over=over)


def parts(item: ItemPool, /, *, distance: str, over: Over) -> Mapping[str, float]:
    """The score of the weakest and of the strongest candidate."""
    n, m = item.sizes
    if n == 0 or m == 0:
        return {"weakest": float("nan"), "strongest": float("nan")}
    # One labelling a candidate, with all references.
    alone = Labels(np.eye(n, n + m, dtype=bool), np.repeat(item.observed.reference, n, axis=0))
    each = under_labels(item, alone, distance=distance, over=over)
    return {"weakest": float(each.min()), "strongest": float(each.max())}


@metric(
    "score",
    family="conditional",
    aspect="quality",
    better="higher",
    bounds=(-float("inf"), float("inf")),
    interval="bootstrap:items",
    test="permutation",
    paper="chan2022",
    undefined="the item has no candidates or no references",
    minimum=1,
    parts=parts,
    item=under_labels,
)
def score(item: ItemPool, /, *, distance: str = "meteor", over: Over = "mean") -> float:
    r"""Mean score of the candidates against the references, under a pairwise score such as METEOR or CIDEr-D.

    .. math:: \frac{1}{n} \sum_{c} S(c, R), \qquad
        S(c, R) = \frac{1}{m} \sum_{r} S(c, r) \quad \text{or} \quad \max_{r} S(c, r)

    Equation 1 of the paper. `over` is how the references are joined: `mean` with `distance=cider` is CIDEr-D as it is
    published, `max` with `distance=meteor` is METEOR with several references as NLTK has it. `coco`, for
    `distance=rouge_l` only, is ROUGE-L as the COCO caption tools have it: an F-score of a candidate's best precision
    and best recall, which may come from two references. `distance` names the score: it is what the distance of that
    name is made from, on that score's own scale.

    It misleads about spread. The best value goes to the one safest text written every time, so a system that
    repeats itself beats one that varies as the references do; read it beside `trm`. With `max` more references mean
    higher values, so only items with equally many compare. References score against each other well below a perfect
    match: the human row says what can be reached.
    """
    return float(under_labels(item, item.observed, distance=distance, over=over)[0])
