"""What classifiers of two samples read: n-grams or vectors of each text, the key of its words, and its group."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self

import numpy as np
from scipy.sparse import csr_array, hstack

from textassay.corpus.arrays import F32, F64, I64, U64
from textassay.corpus.hashed_ngrams import Incidence, Sequences, hash_words, mix, text_keys
from textassay.corpus.sample import Sample
from textassay.metrics.learned.leave_one_out import LeaveOneOut
from textassay.metrics.ngrams.counts import TextNgrams
from textassay.metrics.ngrams.overlap import text_traits
from textassay.metrics.vectors.vectors import Vectors
from textassay.metrics.views import Material, Memo

# The orders of n-grams that classifiers read, and the number of features that they are projected to.
ORDERS = (1, 2)
DIMENSION = 1024
# Each n-gram is added to this many features, with signs. More features per n-gram make collisions less harmful.
SPREAD = 2
# The spread of each trait. It is much larger than that of a hashed feature, so that traits are hardly penalised.
TRAITS = 0.5
_ROUNDING = 1e-9
_SIGN = np.uint64(63)


@dataclass(frozen=True, eq=False)
class LabelledTexts(Memo):
    """Texts of one sample for a classifier; `keys` are equal for copies, and `groups` is None without groups."""

    sequences: Sequences
    ngrams: TextNgrams
    keys: U64
    groups: U64 | None
    _made: dict[Hashable, Any] = field(default_factory=dict, repr=False)

    @classmethod
    def of(cls, material: Material, /) -> Self:
        """Hash the words of the texts of a sample."""
        sequences = material.view(Sequences)
        return cls(sequences, material.view(TextNgrams), text_keys(sequences), hashed_groups(material.sample))

    def merge(self, other: Self, /) -> Self:
        """These texts followed by the other texts."""
        return type(self)(
            self.sequences.merge(other.sequences),
            self.ngrams.merge(other.ngrams),
            np.concatenate((self.keys, other.keys)),
            joined_groups(self.groups, other.groups),
        )

    def features(self) -> csr_array:
        """Projected n-grams and traits of the texts; what they depend on is the same for both samples."""
        hashed = projected([self.ngrams.order(n) for n in ORDERS], len(self))
        traits = text_traits(self.sequences, self.ngrams)
        centred = traits - traits.mean(axis=0)
        spread = centred.std(axis=0)
        scaled = np.divide(TRAITS * centred, spread, out=np.zeros_like(centred), where=spread > _ROUNDING)
        return csr_array(hstack((hashed, csr_array(scaled))))

    def __len__(self) -> int:
        return len(self.keys)


@dataclass(frozen=True, eq=False)
class LabelledVectors(Memo):
    """Sentence vectors of one sample for a classifier; texts with the same vector are copies."""

    values: F32
    keys: U64
    groups: U64 | None
    _made: dict[Hashable, Any] = field(default_factory=dict, repr=False)

    reads: ClassVar[tuple[str, ...]] = ("encoder",)

    @classmethod
    def of(cls, material: Material, /) -> Self:
        """Encode the texts of a sample."""
        values = np.ascontiguousarray(material.view(Vectors).values)
        rows = values.view(np.uint32).astype(np.uint64)
        keys = mix((mix(rows + np.arange(rows.shape[1], dtype=np.uint64) * _STEP)).sum(axis=1, dtype=np.uint64))
        return cls(values, keys, hashed_groups(material.sample))

    def merge(self, other: Self, /) -> Self:
        """These texts followed by the other texts."""
        keys = np.concatenate((self.keys, other.keys))
        values = np.concatenate((self.values, other.values))
        return type(self)(values, keys, joined_groups(self.groups, other.groups))

    def features(self) -> F32:
        """The vectors."""
        return self.values

    def __len__(self) -> int:
        return len(self.keys)


@dataclass(frozen=True, eq=False)
class LabelledBoth(Memo):
    """Texts of one sample for a classifier, with their sentence vectors."""

    texts: LabelledTexts
    vectors: LabelledVectors
    _made: dict[Hashable, Any] = field(default_factory=dict, repr=False)

    reads: ClassVar[tuple[str, ...]] = ("tokenizer", "encoder")

    @classmethod
    def of(cls, material: Material, /) -> Self:
        """Hash the words of the texts of a sample, and encode the texts."""
        return cls(material.view(LabelledTexts), material.view(LabelledVectors))

    def merge(self, other: Self, /) -> Self:
        """These texts followed by the other texts."""
        return type(self)(self.texts.merge(other.texts), self.vectors.merge(other.vectors))


Labelled = LabelledTexts | LabelledVectors
_STEP = np.uint64(0x9E3779B97F4A7C15)


def hashed_groups(sample: Sample) -> U64 | None:
    """The hash of each text's group; None if the sample has no groups."""
    if sample.groups is None:
        return None
    coded = sample.groups.dictionary_encode()
    return hash_words(coded.dictionary)[np.asarray(coded.indices, dtype=np.int64)]


def joined_groups(candidate: U64 | None, reference: U64 | None) -> U64 | None:
    """The groups of two samples; None unless both have groups."""
    return None if candidate is None or reference is None else np.concatenate((candidate, reference))


def pooled(candidate: Labelled | LabelledBoth, reference: Labelled | LabelledBoth) -> Any:
    """Both samples as one, the candidate first; merged once and kept with the candidate."""
    both, owner = candidate.once(
        ("pooled", id(reference)),
        lambda: (candidate.merge(reference), reference),  # type: ignore[arg-type]
    )
    assert owner is reference
    return both


def leave_one_out(candidate: Labelled, reference: Labelled) -> LeaveOneOut:
    """The leave-one-out classifier of two samples, prepared once and kept with the candidate."""
    both = pooled(candidate, reference)
    found: LeaveOneOut = both.once("leave one out", lambda: LeaveOneOut.of(both.features(), both.keys, both.groups))
    return found


def projected(orders: Sequence[Incidence], n_texts: int, *, dimension: int = DIMENSION) -> csr_array:
    """N-grams of each text as a unit vector of a fixed number of features.

    An n-gram in at least two texts weighs as much as it is rare (the logarithm of its inverse document frequency), once
    per text. It is added with a sign to a few features; feature and sign depend on its hash only.
    """
    parts = [_entries(incidence, n_texts, dimension) for incidence in orders]
    texts, columns, values = (np.concatenate(column) for column in zip(*parts, strict=True))
    matrix = csr_array((values, (texts, columns)), shape=(n_texts, dimension))
    matrix.sum_duplicates()
    lengths = np.sqrt(np.asarray(matrix.multiply(matrix).sum(axis=1)).reshape(-1))
    matrix.data /= np.repeat(np.where(lengths > 0, lengths, 1.0), np.diff(matrix.indptr))
    return matrix


def _entries(incidence: Incidence, n_texts: int, dimension: int) -> tuple[I64, I64, F64]:
    """Texts, features and values of the n-grams of one order."""
    runs = np.diff(incidence.starts)
    shared = runs > 1
    columns, signs = hashed_features(incidence.keys[shared], dimension)
    weights = signs * rarity(runs[shared], n_texts)
    texts = incidence.texts[np.repeat(shared, runs)].astype(np.int64)
    runs = runs[shared]
    return np.tile(texts, SPREAD), np.repeat(columns, runs, axis=1).ravel(), np.repeat(weights, runs, axis=1).ravel()


def rarity(n_holders: I64, n_texts: int) -> F64:
    """The weight of n-grams that are in this many of the texts."""
    return np.log(n_texts / n_holders) + 1


def hashed_features(keys: U64, dimension: int = DIMENSION) -> tuple[I64, F64]:
    """The features of n-grams and their signs: one row for each of the features that an n-gram is added to."""
    steps = np.arange(1, SPREAD + 1, dtype=np.uint64)[:, None] * _STEP
    hashes = mix(keys + steps)
    columns = (hashes % np.uint64(dimension)).astype(np.int64)
    return columns, np.where(hashes >> _SIGN, 1.0, -1.0)
