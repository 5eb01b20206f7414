"""METEOR as NLTK has it, for whole items at once; a text scores 1 against itself.

Words in lower case are matched by themselves, then by their stems, then by the synonyms of their stems where WordNet is
installed.

NLTK takes half of the cube of chunks per matched word off every score, so that identical texts of m words score
1 - 0.5 / m^3 there: 0.5 for one word. Here identical texts (the same tokens in lower case) score 1. Every other pair
scores what it does in NLTK, also one whose words all match as stems or synonyms: `stop` scores 0.5 against `stopped`.

Lavie, A. and Agarwal, A. (2007). METEOR: an automatic metric for MT evaluation with high levels of correlation with
human judgments. Proceedings of the Second Workshop on Statistical Machine Translation.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import combinations
from math import isqrt

import numpy as np
from numpy.typing import NDArray

from textassay.views.distances import Surroundings
from textassay.views.text_distances.meteor_alignment import Ints, WordRows, align
from textassay.views.text_distances.meteor_lexicon import Lexicon
from textassay.views.text_distances.wordnet import VARIABLES, find_wordnet
from textassay.views.text_table import Numbers, TextTable

F64 = NDArray[np.float64]

# Weight of precision against recall, and weight and power of the penalty for chunks. The paper's tuned values are
# others; these are NLTK's.
ALPHA = 0.9
GAMMA = 0.5
BETA = 3
# Words times texts that are aligned in one go: bounds memory on items of many or long texts.
CELLS = 1 << 22
NO_WORDNET = (
    "meteor: no WordNet found, so words match as they are and by stem, not by synonym; "
    f"install Debian's wordnet-base or set {VARIABLES[0]} to a folder with WordNet's files"
)


@dataclass(frozen=True, eq=False)
class Meteor:
    """METEOR among the texts of a table."""

    table: TextTable
    lexicon: Lexicon
    rows: WordRows = field(repr=False)
    name: str = "meteor"
    top: float = 1.0

    @property
    def signature(self) -> str:
        """Which stemmer, and which WordNet."""
        wordnet = self.lexicon.wordnet
        return f"meteor/porter/{f'wordnet-{wordnet.version}' if wordnet else 'no-wordnet'}"

    @property
    def notes(self) -> tuple[str, ...]:
        """What a user should know before reading the numbers."""
        return () if self.lexicon.wordnet else (NO_WORDNET,)

    def same(self, numbers: Numbers, /) -> Numbers:
        """Texts with the same tokens are one."""
        return self.table.alike[numbers]

    def scores(self, numbers: Numbers, /) -> F64:
        """Scores among the texts: row i, column j is text i as hypothesis against text j as reference.

        >>> table = TextTable.of([["the cat sat on the mat", "on the mat sat a cat", "The cats sat on the mat"]])
        >>> meteor = make(Surroundings(table))
        >>> meteor.scores(np.arange(3)).round(4).tolist()
        [[1.0, 0.7433, 0.9977], [0.7433, 1.0, 0.7433], [0.9977, 0.7433, 1.0]]
        """
        scores = np.empty((len(numbers), len(numbers)))
        for part in self._parts(numbers):
            rows = self.rows.take(numbers[part])
            scores[np.ix_(part, part)] = meteor_scores(*align(rows, self.lexicon), np.diff(rows.bounds))
        return scores

    def _parts(self, numbers: Numbers) -> Iterator[Ints]:
        """Places of texts that are aligned together, so that every two texts are together at least once."""
        places = np.arange(len(numbers))
        longest = int((self.rows.bounds[numbers + 1] - self.rows.bounds[numbers]).max(initial=1))
        half = max(1, isqrt(CELLS // longest) // 2)
        if len(numbers) <= 2 * half:
            yield places
            return
        for one, other in combinations(np.split(places, places[half::half]), 2):
            yield np.concatenate((one, other))


def meteor_scores(n_equal: Ints, n_matched: Ints, n_chunks: Ints, lengths: Ints) -> F64:
    """Scores from equal words, matched words, chunks and the lengths of the texts; rows are hypotheses.

    .. math:: \\frac{PR}{\\alpha P + (1 - \\alpha) R} (1 - \\gamma (c / m)^\\beta)

    with m matched words in c chunks, P and R their share of the hypothesis and of the reference; 1 for identical texts.
    """
    matched = np.maximum(n_matched, 1)
    precision = matched / np.maximum(lengths, 1)[:, None]
    recall = matched / np.maximum(lengths, 1)
    # Products, not a power: a power's last digit differs between machines.
    penalty = GAMMA * np.prod([n_chunks / matched] * BETA, axis=0)
    scores = precision * recall / (ALPHA * precision + (1 - ALPHA) * recall) * (1 - penalty)
    is_identical = (n_equal == lengths[:, None]) & (n_equal == lengths) & (n_chunks <= 1)
    return np.where(is_identical, 1.0, np.where(n_matched > 0, scores, 0.0))


def make(surroundings: Surroundings) -> Meteor:
    """METEOR for the texts of a run."""
    table = surroundings.table
    numbers: dict[str, int] = {}
    lower = np.array([numbers.setdefault(word.lower(), len(numbers)) for word in table.vocabulary], dtype=np.int64)
    rows = WordRows.of(lower[table.tokens.ids], np.asarray(table.tokens.offsets, dtype=np.int64))
    return Meteor(table, Lexicon.of(list(numbers), find_wordnet()), rows)
