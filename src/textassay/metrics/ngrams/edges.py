"""Openings and endings of texts: their counts, and the distance between those of two samples."""

from typing import ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from textassay.corpus.arrays import U64
from textassay.corpus.hashed_ngrams import Incidence, Sequences, chain, mix
from textassay.metrics.ngrams.counts import Ngrams, TextNgrams
from textassay.metrics.ngrams.overlap import weighted_distance
from textassay.metrics.registry import Value, metric
from textassay.metrics.views import Material


class TextEdges(TextNgrams):
    """The openings and endings of each text: for order n, the first and last k words for every k from 1 to n."""

    @classmethod
    def of(cls, material: Material, /) -> Self:
        """Extract the openings and endings of the texts of a sample."""
        sequences = material.view(Sequences).without_marks()
        return cls(sequences.lengths, lambda n: Incidence.from_ngrams(*hashed_edges(sequences, n)))

    def sizes(self, n: int) -> NDArray[np.int64]:
        """The number of edges of each text: two for each length up to its own."""
        return 2 * np.minimum(self.lengths, n)


class Edges(Ngrams):
    """Counts of openings and endings, as n-gram tables."""

    source: ClassVar[type[TextNgrams]] = TextEdges


@metric(
    "edges",
    family="ngram",
    aspect="both",
    better="lower",
    bounds=(0.0, float("inf")),
    interval="jackknife",
    test="permutation",
    paper="li2020",
    undefined="one of the samples has no words",
)
def edges(candidate: Edges, reference: Edges, /, *, n: int = 2) -> Value:
    r"""Distance between openings and endings: the first and the last 1 to n words of every text.

    .. math:: \sum_e \frac{(Q_e - P_e)^2}{\sqrt{R_e}}

    Here P and Q are the shares of each opening or ending e among all openings and endings of the two samples, and R is
    its share in both samples together. This is CND on the edges of texts, with the weights of `cnd:weight=sqrt`. Texts
    of fewer than n words have shorter edges only; a text of one word is its own opening and ending.

    It sees truncated texts and stock openings, which n-grams of whole texts hardly show.

    It misleads if the texts of one sample were cut to a fixed length, or include a prompt or a signature: the
    difference is real, but it is one of format. The value of two samples from one source is above 0 and falls with
    size, so compare with real v real.

    It is undefined if one of the samples has no words.
    """
    return weighted_distance(candidate.table(n), reference.table(n), weight="sqrt")


# The opening "the" differs from the ending "the" and from the opening "the the".
_OPENING, _ENDING = 0xD6E8FEB86659FD93, 0xA0761D6478BD642F


def hashed_edges(sequences: Sequences, n: int) -> tuple[U64, NDArray[np.int32]]:
    """The hash of every edge of up to n words, and the text it belongs to, sorted by text.

    A text of one word has one opening and one ending, both that word.
    """
    keys: list[U64] = []
    texts: list[NDArray[np.int32]] = []
    for length in range(1, n + 1):
        long_enough = np.flatnonzero(sequences.lengths >= length).astype(np.int32)
        for begin, place in (
            (sequences.offsets[:-1][long_enough], _OPENING),
            (sequences.offsets[1:][long_enough] - length, _ENDING),
        ):
            gram = sequences.words[begin]
            for k in range(1, length):
                gram = chain(gram, sequences.words[begin + k])
            keys.append(mix(gram + np.uint64(place * length % 2**64)))
            texts.append(long_enough)
    order = np.argsort(np.concatenate(texts), kind="stable")
    return np.concatenate(keys)[order], np.concatenate(texts)[order]
