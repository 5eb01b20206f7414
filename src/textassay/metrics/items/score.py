"""Score: how well the candidates of an item match its references under a pairwise score."""

from collections.abc import Iterator, Mapping
from typing import Literal

import numpy as np

from textassay.corpus.arrays import F64
from textassay.distances.bleu import JointCounts
from textassay.distances.rouge_l import BETA
from textassay.metrics.items.item_pool import ItemPool, Labels
from textassay.metrics.registry import metric

Over = Literal["mean", "max", "coco", "joint"]


def under_labels(pool: ItemPool, labels: Labels, /, *, distance: str, over: Over) -> F64:
    """The score under each labelling."""
    if over == "coco":
        precision, recall = (pool.scores[f"{distance} {share}"] for share in ("precision", "recall"))
        return best_shares(precision, recall, labels, beta=BETA)
    if over == "joint":
        return joint_means(pool.joint[distance], labels)
    return pair_means(pool.scores[distance], labels, over=over)


def parts(item: ItemPool, /, *, distance: str, over: Over) -> Mapping[str, float]:
    """The lowest and the highest score of a single candidate."""
    n, m = item.sizes
    if n == 0 or m == 0:
        return {"weakest": float("nan"), "strongest": float("nan")}
    # One labelling per candidate, each with all references.
    alone = Labels(np.eye(n, n + m, dtype=bool), np.repeat(item.observed.reference, n, axis=0))
    each = under_labels(item, alone, distance=distance, over=over)
    return {"weakest": float(each.min()), "strongest": float(each.max())}


@metric(
    "score",
    family="conditional",
    aspect="quality",
    better="higher",
    rise="closer",
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

    This is equation 1 of the paper. `distance` names the pairwise score S, on its own scale: the score from which the
    distance of that name is derived. `over` combines the references: `mean` with `distance=cider` is CIDEr-D as
    published, `max` with `distance=meteor` is METEOR with several references as in NLTK. `coco`, for `distance=rouge_l`
    only, is ROUGE-L as in the COCO caption tools: an F-score of a candidate's best precision and best recall, which may
    come from two references. `joint`, for `distance=bleu` only, is BLEU against all references together, as it was
    defined: counts are clipped to the largest count in any reference, and the closest length counts (NLTK's
    `sentence_bleu` with several references). `distance=bleu` has an option of its own: `smoothing=none` is BLEU without
    smoothing, which is 0 if any order has no match.

    It sees how close single candidates are to the references.

    Misleading about spread: writing the safest text every time scores best, so a system that repeats itself beats one
    that varies as the references do. Read it beside `trm`. With `max`, more references give higher values, so only
    items with the same number of references can be compared. References score well below a perfect match against each
    other: the human column shows what is attainable.

    It is undefined if the item has no candidates or no references.
    """
    return float(under_labels(item, item.observed, distance=distance, over=over)[0])


PairOver = Literal["mean", "max"]
# Pairs of a candidate and a reference in one block.
_PAIRS = 1 << 17


def pair_means(scores: F64, labels: Labels, *, over: PairOver) -> F64:
    """The mean over candidates of their mean or best score against the references, one value per labelling.

    >>> scores = np.array([[1.0, 0.2, 0.6], [0.2, 1.0, 0.4], [0.6, 0.4, 1.0]])
    >>> pair_means(scores, Labels.partitions(np.array([[True, False, False]])), over="max").tolist()
    [0.6]
    """
    n, m = labels.sizes
    if n == 0 or m == 0:
        return np.full(len(labels), np.nan)
    if over == "mean":
        sums: F64 = ((labels.candidate @ scores) * labels.reference).sum(axis=1)
        return sums / (n * m)
    return np.concatenate([best.mean(axis=1) for best in _best(scores, labels)])


def joint_means(counts: JointCounts, labels: Labels) -> F64:
    """The mean over candidates of their BLEU against all references together, one value per labelling."""
    if 0 in labels.sizes:
        return np.full(len(labels), np.nan)
    widest = max(len(counts.lengths) ** 2, *(table.shape[1] for table in counts.occurrences))
    step = max(1, _PAIRS // widest)
    found = []
    for start in range(0, len(labels), step):
        rows = slice(start, start + step)
        scores = counts.scores(labels.reference[rows])
        found.append((scores * labels.candidate[rows]).sum(axis=1) / labels.sizes[0])
    return np.concatenate(found)


def best_shares(precision: F64, recall: F64, labels: Labels, *, beta: float) -> F64:
    """The mean over candidates of an F-score of their best precision and their best recall over the references.

    The two may come from different references, as in the COCO caption tools' ROUGE-L.
    """
    if 0 in labels.sizes:
        return np.full(len(labels), np.nan)
    found = []
    for p, r in zip(_best(precision, labels), _best(recall, labels), strict=True):
        below = r + beta**2 * p
        found.append(((1 + beta**2) * p * r / np.where(below == 0, 1.0, below)).mean(axis=1))
    return np.concatenate(found)


def _best(values: F64, labels: Labels) -> Iterator[F64]:
    """The largest value of each candidate over the references: some labellings at a time, one row per labelling."""
    candidates, references = labels.places()
    step = max(1, _PAIRS // (candidates.shape[1] * references.shape[1]))
    for start in range(0, len(labels), step):
        rows = slice(start, start + step)
        yield values[candidates[rows, :, None], references[rows, None, :]].max(axis=2)
