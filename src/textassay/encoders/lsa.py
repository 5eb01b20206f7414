"""Vectors without a model: counts of words, and LSA (TF-IDF and a truncated singular value decomposition)."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from textassay.corpus.arrays import F32, F64, I64
from textassay.corpus.hashed_ngrams import hash_words
from textassay.corpus.process_settings import single_threaded_products
from textassay.corpus.sample import TEXT, Sample, as_text_array, digest_of
from textassay.corpus.tokenizers import IDEOGRAPH, Tokens, get_tokenizer, text_bytes
from textassay.encoders.base import WORD_PATTERNS
from textassay.errors import InputError

# Thai, Lao, Burmese and Khmer, which the tokenizer does not split: an unsplit phrase would hardly ever occur again.
UNBROKEN = r"\x{0e01}-\x{0eff}\x{1000}-\x{109f}\x{1780}-\x{17ff}"
_UNBROKEN_CHARACTER = rf"[{UNBROKEN}]\pM*"
_WITHOUT_SPACES = rf"^[{IDEOGRAPH}{UNBROKEN}]"
# Letters, digits and emoji, but not punctuation: a final full stop is a matter of formatting.
_MEANINGFUL = r"[\pL\pN\p{So}]"

# Counting needs about fifty times the memory of the text, so it runs slice by slice. A text counts as its bytes plus
# a constant.
SLICE_BYTES = 1 << 21
_TEXT_BYTES = 64


def slices(texts: pa.Array) -> Iterator[pa.Array]:
    """The texts in runs of bounded size; a text larger than that is a run of its own."""
    _, begins = text_bytes(texts)
    run = (begins[:-1] + _TEXT_BYTES * np.arange(len(texts))) // SLICE_BYTES
    cuts = np.flatnonzero(np.diff(run)) + 1
    return (texts[start:stop] for start, stop in zip([0, *cuts], [*cuts, len(texts)], strict=True))


def count_terms(texts: Iterable[str] | pa.Array) -> tuple[Any, pa.Array]:
    """The count of each term in each text, as a sparse matrix with one row per text, and the terms of its columns.

    A term is a word. In Chinese, Japanese, Thai, Lao, Burmese and Khmer it is a character or a pair of adjacent ones.
    Punctuation counts only in a text that has nothing else.

    >>> counts, terms = count_terms(["The cat, the dog.", "...", "日本語"])
    >>> terms.to_pylist()
    ['the', 'cat', ',', 'dog', '.', '日', '本', '語', '日本', '本語']
    >>> counts.toarray().tolist()[0]
    [2.0, 1.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]
    """
    from scipy.sparse import coo_array

    array = pc.replace_substring_regex(as_text_array(texts, "texts"), _UNBROKEN_CHARACTER, r" \0 ")
    tokens = get_tokenizer("words", lowercase=True)(array)
    owner = np.repeat(np.arange(len(array)), tokens.lengths)
    counted = _counted(tokens, owner)
    seconds, pairs = _pairs(tokens, owner)
    rows = np.concatenate((owner[counted], owner[seconds]))
    columns = np.concatenate((tokens.ids[counted], len(tokens.vocabulary) + np.asarray(pairs.indices, np.int64)))
    terms = pa.concat_arrays([tokens.vocabulary.cast(TEXT), pairs.dictionary])
    shape = (len(array), len(terms))
    return coo_array((np.ones(len(rows)), (rows, columns)), shape=shape).tocsr(), terms


def in_pairs(terms: pa.Array) -> bool:
    """True if some of the terms come from text without spaces."""
    return bool(pc.any(pc.match_substring_regex(terms, _WITHOUT_SPACES)).as_py())


def _counted(tokens: Tokens, owner: I64) -> NDArray[np.bool_]:
    """Which tokens count: letters, digits and emoji, and all tokens of a text that has none of these."""
    meaningful = np.asarray(pc.match_substring_regex(tokens.vocabulary, _MEANINGFUL), dtype=bool)[tokens.ids]
    has_some = np.bincount(owner, weights=meaningful, minlength=len(tokens.lengths)) > 0
    return meaningful | ~has_some[owner]


def _pairs(tokens: Tokens, owner: I64) -> tuple[I64, pa.DictionaryArray]:
    """Adjacent characters of a script without spaces: the position of the second of each pair, and the pairs."""
    single = np.asarray(pc.match_substring_regex(tokens.vocabulary, _WITHOUT_SPACES), dtype=bool)[tokens.ids]
    seconds = 1 + np.flatnonzero(single[1:] & single[:-1] & (owner[1:] == owner[:-1]))
    left, right = (
        tokens.vocabulary.take(pa.array(tokens.ids[indices])).cast(TEXT) for indices in (seconds - 1, seconds)
    )
    return seconds, pc.binary_join_element_wise(left, right, pa.scalar("", TEXT)).dictionary_encode()


# Limits for the time and memory of a fit. Further texts are encoded like all others, but do not influence the fit.
MOST_TEXTS = 20_000
MOST_TERMS = 50_000
# Directions and projections below this are rounding errors: the weights of a text are at least 1.
_ROUNDING = 1e-7
# The search for the leading directions: additional random directions, and rounds of refinement.
_SPARE, _ROUNDS = 32, 5


@dataclass(frozen=True, eq=False)
class Lsa:
    """A fit; the vector of a text is the sum of its terms' `loadings`, times 1 + log of each count, scaled to length 1.

    A text without any known term has the zero vector.
    """

    name: str
    terms: pa.Array = field(repr=False)
    loadings: F64 = field(repr=False)

    sees: ClassVar[str] = WORD_PATTERNS

    @property
    def dimension(self) -> int:
        """Columns."""
        return self.loadings.shape[1]

    def encode(self, texts: Sequence[str], /) -> F32:
        """One row per text."""
        values = np.empty((len(texts), self.dimension), np.float32)
        begin = 0
        for part in slices(as_text_array(texts, "lsa")):
            rows = _dampened(_aligned(*count_terms(part), terms=self.terms)) @ self.loadings
            lengths = np.linalg.norm(rows, axis=1, keepdims=True)
            values[begin : begin + len(part)] = np.where(lengths > _ROUNDING, rows / np.maximum(lengths, _ROUNDING), 0)
            begin += len(part)
        return values


@dataclass(frozen=True, eq=False)
class BagOfWords:
    """Counts of the most frequent terms: the vector of a text is how often it has each of `terms`.

    A text without any of them has the zero vector.
    """

    name: str
    terms: pa.Array = field(repr=False)

    sees: ClassVar[str] = WORD_PATTERNS

    @property
    def dimension(self) -> int:
        """Columns."""
        return len(self.terms)

    def encode(self, texts: Sequence[str], /) -> F32:
        """One row per text."""
        values = np.empty((len(texts), self.dimension), np.float32)
        begin = 0
        for part in slices(as_text_array(texts, "bow")):
            values[begin : begin + len(part)] = _aligned(*count_terms(part), terms=self.terms).toarray()
            begin += len(part)
        return values


def bag_of_words(reference: Sample, candidates: Iterable[Sample] = (), *, n_words: int = 5000) -> BagOfWords:
    """The encoder of a comparison: the terms that occur in most texts of all samples, at most `n_words` of them.

    >>> encoder = bag_of_words(Sample.of(["a cat sat", "a cat ran", "a cat, a cat"]), n_words=2)
    >>> encoder.terms.to_pylist(), encoder.encode(["the cat", "a cat, a dog"]).tolist()
    (['a', 'cat'], [[0.0, 1.0], [2.0, 1.0]])
    """
    chosen = _chosen([text for sample in (reference, *candidates) for text in sample.texts.to_pylist()])
    terms, counts = _leading_terms(chosen)
    texts_with = np.bincount(counts.indices, minlength=len(terms))
    kept = np.sort(np.argsort(-texts_with, kind="stable")[:n_words])
    if not len(kept):
        raise InputError("bow: no words in the texts; wanted at least one")
    return BagOfWords(f"bow/d={len(kept)}/{digest_of(chosen)}", terms.take(pa.array(kept)))


def lsa(reference: Sample, candidates: Iterable[Sample] = (), *, dimension: int = 128) -> Lsa:
    """The encoder of a comparison: fitted on the reference and all candidates together.

    If the encoder were fitted on the reference alone, words that occur only in a candidate would be unknown, and any
    second sample would look different: a permutation test at 5 % rejects every pair of samples of 100 or 1,000 real
    captions. A joint fit does not depend on which sample a text belongs to. Exchanging texts between samples does not
    change the vectors, and tests keep their level at all sample sizes. Omit the candidates only if nothing is tested.
    """
    texts = [text for sample in (reference, *candidates) for text in sample.texts.to_pylist()]
    return fit_lsa(texts, dimension=dimension)


def fit_lsa(texts: Sequence[str], *, dimension: int = 128) -> Lsa:
    """Fit on the distinct texts in any order; if there are very many, on those with the smallest hashes.

    The weight of a term in a text is :math:`(1 + \\log c)\\,(1 + \\log\\frac{1 + N}{1 + N_t})` for :math:`c`
    occurrences in the text and :math:`N_t` of :math:`N` texts with the term. Rows are scaled to length 1. Texts are
    projected on the leading right singular vectors of these weights; their number is at most the number of texts and
    of terms.

    >>> encoder = fit_lsa(["a cat sat", "a cat ran", "the sun rose"], dimension=2)
    >>> encoder.name
    'lsa/d=2/f317e67f37983a28'
    >>> cat, other, sun, unknown = encoder.encode(["a cat", "it ran", "the sun", "unheard of"])
    >>> round(float(cat @ other), 2), round(float(cat @ sun), 2), unknown.tolist()
    (1.0, 0.0, [0.0, 0.0])
    """
    if dimension < 1:
        raise InputError(f"lsa: dimension is {dimension}; wanted at least 1")
    chosen = _chosen(texts)
    if not len(chosen):
        raise InputError("lsa: no texts; wanted at least one to fit on")
    terms, counts = _leading_terms(chosen)
    loadings = _loadings(counts, dimension)
    pairs = "+pairs" if in_pairs(terms) else ""
    return Lsa(f"lsa{pairs}/d={loadings.shape[1]}/{digest_of(chosen)}", terms, loadings)


def _chosen(texts: Sequence[str]) -> pa.Array:
    """The distinct texts in sorted order, at most `MOST_TEXTS`."""
    distinct = pc.unique(as_text_array(texts, "lsa"))
    if len(distinct) > MOST_TEXTS:
        distinct = distinct.take(pa.array(np.argsort(hash_words(distinct), kind="stable")[:MOST_TEXTS]))
    return distinct.take(pc.sort_indices(distinct))


def _leading_terms(texts: pa.Array) -> tuple[pa.Array, Any]:
    """The terms that occur in most texts, in sorted order, and their counts."""
    from scipy.sparse import vstack

    counted = [count_terms(part) for part in slices(texts)]
    # A term that no text counts is punctuation in texts with words.
    terms = pc.unique(pa.concat_arrays([found.take(pa.array(np.unique(counts.indices))) for counts, found in counted]))
    terms = terms.take(pc.sort_indices(terms))
    counts = vstack([_aligned(counts, found, terms=terms) for counts, found in counted], format="csr")
    texts_with = np.bincount(counts.indices, minlength=len(terms))
    kept = np.sort(np.argsort(-texts_with, kind="stable")[:MOST_TERMS])
    return terms.take(pa.array(kept)), counts[:, kept]


def _aligned(counts: Any, found: pa.Array, *, terms: pa.Array) -> Any:
    """The counts with these terms as columns, without other terms."""
    from scipy.sparse import coo_array

    column = np.asarray(pc.fill_null(pc.index_in(found, value_set=terms), -1), dtype=np.int64)
    entries = counts.tocoo()
    known = column[entries.col] >= 0
    places = (entries.row[known], column[entries.col[known]])
    aligned = coo_array((entries.data[known], places), shape=(counts.shape[0], len(terms))).tocsr()
    # Sums run along a row. The fixed order makes a vector independent of the texts encoded with it.
    aligned.sort_indices()
    return aligned


def _dampened(counts: Any) -> Any:
    weights = counts.copy()
    weights.data = 1 + np.log(weights.data)
    return weights


def _loadings(counts: Any, dimension: int) -> F64:
    """The weight of each term times its coordinate in each of the leading directions."""
    rarity = 1 + np.log((1 + counts.shape[0]) / (1 + np.bincount(counts.indices, minlength=counts.shape[1])))
    weights = _dampened(counts).multiply(rarity[None, :]).tocsr()
    lengths = np.sqrt(weights.multiply(weights).sum(axis=1))
    weights.data /= np.repeat(lengths, np.diff(weights.indptr))
    directions = _leading_directions(weights, min(dimension, *weights.shape))
    return directions * rarity[:, None]


def _leading_directions(weights: Any, dimension: int) -> F64:
    """Right singular vectors, the largest entry of each positive; a single zero vector if there are no terms."""
    if dimension == 0:
        return np.zeros((weights.shape[1], 1))
    from sklearn.utils.extmath import randomized_svd

    # Several threads take ten times as long if other processes are busy, and their number would change the last bits.
    with single_threaded_products():
        _, sizes, rows = randomized_svd(
            weights, dimension, n_oversamples=_SPARE, n_iter=_ROUNDS, power_iteration_normalizer="LU", random_state=0
        )
    directions: F64 = rows[sizes > _ROUNDING * sizes[0]].T
    # Among entries that differ only by rounding, the first one decides.
    heights = np.abs(directions)
    peaks = np.argmax(heights > (1 - _ROUNDING) * heights.max(axis=0), axis=0)
    return directions * np.sign(directions[peaks, np.arange(directions.shape[1])])
