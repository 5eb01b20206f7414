"""Edges: the openings and endings of texts, as n-grams that know at which end of a text they are."""

from typing import ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from textassay.views.hashing import U64, chain, mix
from textassay.views.material import Material
from textassay.views.ngrams import Ngrams
from textassay.views.sequences import Sequences
from textassay.views.text_ngrams import Incidence, TextNgrams

# "the" as a first word is another edge than "the" as a last word, and than the opening "the the".
_OPENING, _ENDING = 0xD6E8FEB86659FD93, 0xA0761D6478BD642F


class TextEdges(TextNgrams):
    """The openings and endings of each text: under order n, the first and the last one to n words."""

    @classmethod
    def of(cls, material: Material, /) -> Self:
        """Cut the edges off the texts of a sample."""
        sequences = material.view(Sequences).without_marks()
        return cls(sequences.lengths, lambda n: Incidence.from_ngrams(*edges(sequences, n)))

    def sizes(self, n: int) -> NDArray[np.int64]:
        """How many edges each text has: two of each length that it reaches."""
        return 2 * np.minimum(self.lengths, n)


class Edges(Ngrams):
    """Counts of openings and endings, as n-gram tables."""

    source: ClassVar[type[TextNgrams]] = TextEdges


def edges(sequences: Sequences, n: int) -> tuple[U64, NDArray[np.int32]]:
    """The hash of every edge of up to n words and the text it belongs to, text by text.

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
