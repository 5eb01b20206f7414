"""CIDEr-D as a distance: 10 less the score."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from textassay.corpus.errors import InputError
from textassay.corpus.printable import shortened
from textassay.views.distances import F64, Surroundings
from textassay.views.sequences import Sequences
from textassay.views.text_distances.document_frequencies import ORDERS, DocumentFrequencies
from textassay.views.text_distances.frequency_files import read_frequencies
from textassay.views.text_distances.text_counts import TextCounts, WeightedCounts
from textassay.views.text_table import Numbers, TextTable

SIGMA = 6.0
# With fewer documents than this, hardly any n-gram can be told to be rare.
FEW_DOCUMENTS = 10


@dataclass(frozen=True, eq=False)
class Cider:
    r"""CIDEr-D of one text against one reference, from 0 to 10: clipped tf-idf cosines of n-grams, n = 1 to 4.

    .. math:: 10 \cdot \frac{1}{4} \sum_{n=1}^4 e^{-(l_h - l_r)^2 / 72}
              \frac{\min(h_n, r_n) \cdot r_n}{\lVert h_n \rVert \lVert r_n \rVert}

    The mean over several references is the CIDEr-D of the COCO caption evaluation. Document frequencies come from the
    references of all items of the run, or from a file: with few items the score says little, and with one nothing.
    A text of fewer than four words, or one whose words are in every document, scores below 10 even against itself; its
    distance from itself is 0 all the same. A text without words scores 0.
    """

    table: TextTable
    counts: WeightedCounts
    norms: F64
    documents: int
    digest: str

    name: ClassVar[str] = "cider"
    top: ClassVar[float] = 10.0

    @property
    def signature(self) -> str:
        """The name, with the number of documents and the digest of their frequencies."""
        return f"cider/df:{self.documents}docs-{self.digest}"

    @property
    def notes(self) -> tuple[str, ...]:
        """What to know about these document frequencies before the scores are believed."""
        if self.documents <= 1:
            return ("CIDEr-D means nothing with one item: every n-gram is in every document, and all scores are 0",)
        if self.documents < FEW_DOCUMENTS:
            return (
                f"CIDEr-D is unreliable with document frequencies of {self.documents} items: "
                f"wanted {FEW_DOCUMENTS} or more, or a file of document frequencies",
            )
        return ()

    def scores(self, numbers: Numbers, /) -> F64:
        """CIDEr-D of each text against each other one."""
        norms = self.norms[numbers].T
        cosines = self.counts.overlaps(numbers)
        lengths = norms[:, :, None] * norms[:, None, :]
        cosines /= np.where(lengths > 0, lengths, 1.0)
        # The length of the COCO evaluation: a text's number of bigrams.
        bigrams = np.maximum(self.table.tokens.lengths[numbers] - 1, 0)
        apart = (bigrams[:, None] - bigrams).astype(np.float64)
        scores: F64 = 10.0 * np.exp(-(apart**2) / (2 * SIGMA**2)) * cosines.mean(axis=0)
        return scores

    def same(self, numbers: Numbers, /) -> Numbers:
        """Texts with the same tokens are one."""
        return self.table.alike[numbers]


def make(surroundings: Surroundings) -> Cider:
    """CIDEr-D among the texts of a run."""
    table = surroundings.table
    frequencies = _frequencies(surroundings)
    counts = TextCounts.of(Sequences.from_tokens(table.tokens), ORDERS)
    weighted = counts.weighted(frequencies.rarity(counts.keys) ** 2)
    return Cider(table, weighted, np.sqrt(weighted.squares()), frequencies.documents, frequencies.digest)


def _frequencies(surroundings: Surroundings) -> DocumentFrequencies:
    path, table = surroundings.document_frequencies, surroundings.table
    if path is None:
        return DocumentFrequencies.of(table)
    frequencies = read_frequencies(path)
    if frequencies.tokenizer != table.tokenizer.signature:
        raise InputError(
            f"{shortened(path)}: frequencies of tokens of {shortened(repr(frequencies.tokenizer), 60)}; "
            f"wanted {table.tokenizer.signature!r}, the tokenizer of this run"
        )
    return frequencies
