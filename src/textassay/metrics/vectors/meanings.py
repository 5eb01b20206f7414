"""Meanings: how many different meanings a few texts have, by clusters of their sentence vectors."""

import numpy as np
from scipy.cluster.hierarchy import fcluster, linkage

from textassay.corpus.arrays import F32, I64
from textassay.metrics.registry import metric
from textassay.metrics.vectors.vectors import Vectors, canonical_order
from textassay.metrics.vectors.vendi import similarities

# Texts of two clusters have a mean cosine below this. Chosen on every second prompt of NoveltyBench's sample, for the
# vectors of MiniLM given the prompt (see docs/answers.md).
SIMILARITY = 0.5
# The distances of all pairs are in memory at once.
_MOST_TEXTS = 5_000
# Cosines of equal vectors differ from 1 by rounding.
_ROUNDING = 1e-6


def meaning_classes(values: F32, *, similarity: float = SIMILARITY) -> I64:
    """The class of each vector, numbered in the order in which classes first appear.

    Clusters are joined while the mean cosine between their members is at least `similarity` (average linkage). The
    classes do not depend on the order of the vectors.

    >>> meaning_classes(np.array([[1, 0], [0, 1], [0.9, 0.1]], np.float32)).tolist()
    [0, 1, 0]
    """
    if len(values) < 2:
        return np.zeros(len(values), dtype=np.int64)
    order = canonical_order(values)
    distances = np.clip(1 - similarities(values[order]), 0.0, None)
    upper = distances[np.triu_indices(len(values), 1)]
    joined = fcluster(linkage(upper, "average"), 1 - similarity + _ROUNDING, "distance")
    classes = np.empty(len(values), dtype=np.int64)
    classes[order] = joined
    _, first, numbers = np.unique(classes, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[numbers]


@metric(
    "meanings",
    family="embedding",
    aspect="diversity",
    better="closer",
    rise="more diverse",
    bounds=(1.0, np.inf),
    interval=None,
    why_no_interval="a number of clusters grows with the sample; over many prompts, conditional gives one",
    test=None,
    why_no_test="a number of clusters grows with the sample; over many prompts, conditional compares systems",
    paper="zhang2025",
    in_default=False,
    undefined=f"more than {_MOST_TEXTS:,} texts: it is for the answers to one prompt",
    limits={"similarity": (-1.0, 1.0)},
)
def meanings(candidate: Vectors, /, *, similarity: float = SIMILARITY) -> float:
    r"""Meanings: the number of different meanings of the texts, by clusters of their sentence vectors.

    Clusters are joined, the closest first, while the mean cosine between the texts of one and of the other is at least
    `similarity` (average linkage). Two texts of one meaning may be worded differently, and two answers with the same
    words but for a name may have two.

    .. math:: \bigl|\{C_1, \ldots, C_k\}\bigr|, \quad
        \frac{1}{|C_i| |C_j|} \sum_{x \in C_i, y \in C_j} \cos(x, y) < s \text{ for all } i \ne j

    It sees how many different things a model answers to one prompt.

    Misleading across numbers of texts, with which it grows, and across encoders: the default similarity was chosen for
    the vectors of MiniLM. Answers of one word that belong to one topic, such as two names of actors, may count as one
    meaning.

    It is undefined for more than 5,000 texts.
    """
    if len(candidate) > _MOST_TEXTS:
        return float("nan")
    return float(meaning_classes(candidate.values, similarity=similarity).max() + 1)
