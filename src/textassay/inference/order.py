"""Tests of order: are neighbouring texts more alike than distant ones, and texts at the same place of two files?

Texts are as alike as the rarer words that they share. Random orders of the same texts give the null distribution, so
the tests are exact for independent texts, whatever the texts are.
"""

from collections.abc import Callable, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from scipy.sparse import csr_array

from textassay.corpus.arrays import F64, I64
from textassay.corpus.hashed_ngrams import Incidence, Sequences
from textassay.corpus.sample import Sample
from textassay.corpus.tokenizers import Tokenizer
from textassay.inference.p_values import p_value
from textassay.inference.rng import stream

# Random orders per test; fewer if this many of them already had a larger statistic than the observed one.
RESAMPLES, ENOUGH = 999, 10
# With fewer texts no order can be significant.
FEWEST = 10
# The order is judged on this many texts, in stretches of consecutive ones, and on the beginning of each text.
STRETCHES, STRETCH = 4, 512
CHARACTERS = 2000
# Texts up to this far apart are neighbours. For blocks of 2 to 20 texts, weights of 1 / distance give a signal at least
# 0.78 times as large, in standard deviations, as the best weights for that size of block.
REACH = 20
# Stretches of neighbours that are moved together: of this size, but at least this many of them.
BLOCK, BLOCKS = 40, 8
# Only the most similar texts of each text count. Words in more texts than these bounds do not count.
SIMILAR = 5
COMMON_SHARE, COMMON_TEXTS = 0.1, 100
_ROWS_AT_ONCE = 256


def order_test(sample: Sample, *, tokenizer: Tokenizer, seed: int = 0) -> tuple[float, int, float]:
    """P-value for alike neighbours; the distance at which texts are most alike beyond those, and its p-value.

    Both statistics are sums of the similarity of texts, over neighbours with weight 1 / distance and over pairs at one
    distance. They are compared with random orders of the same texts. NaN with too few texts or without common words.
    """
    nothing = float("nan"), 0, float("nan")
    if len(sample) < FEWEST:
        return nothing
    places, positions = _stretches(len(sample))
    first, second, similarity = _pairs(_rows(sample.texts.take(pa.array(places)), tokenizer))
    if not len(first):
        return nothing
    rng = stream(seed, "dependence", "order", sample.digest)
    weights = np.concatenate(([0.0], 1 / np.arange(1.0, REACH + 1), [0.0]))
    room = _room(len(places))
    usual = similarity.sum() / (len(places) * (len(places) - 1) / 2)

    def statistics(order: I64) -> tuple[float, F64]:
        apart = np.abs(order[first] - order[second])
        at = np.bincount(np.minimum(apart, len(room)), similarity, minlength=len(room) + 1)[:-1]
        periods = (at - usual * room)[REACH + 1 :] / np.sqrt(room[REACH + 1 :])
        return float(similarity @ weights[np.minimum(apart, REACH + 1)]), periods

    def both(order: I64) -> tuple[float, float]:
        beside, periods = statistics(order)
        return beside, float(periods.max(initial=-np.inf))

    periods = statistics(positions)[1]
    p_beside, p_period = _p_values(both(positions), lambda: both(rng.permutation(positions)))
    return p_beside, REACH + 1 + int(periods.argmax()) if len(periods) else 0, p_period


def _p_values(observed: Sequence[float], draw: Callable[[], Sequence[float]]) -> list[float]:
    """P-values of several statistics from the same random orders; no more are drawn once none can be small.

    Stopping after a fixed number of larger values leaves the p-value valid (Besag and Clifford 1991).
    """
    null: list[Sequence[float]] = []
    larger = np.zeros(len(observed))
    while len(null) < RESAMPLES and larger.min() < ENOUGH:
        null.append(draw())
        larger += np.array(null[-1]) >= observed
    columns = np.array(null).T
    return [p_value(value, column, exact=False) for value, column in zip(observed, columns, strict=True)]


def _stretches(n_texts: int) -> tuple[I64, I64]:
    """Places of the texts whose order is judged, and positions that keep different stretches out of reach."""
    if n_texts < STRETCHES * STRETCH:
        return np.arange(n_texts), np.arange(n_texts)
    begins = np.linspace(0, n_texts - STRETCH, STRETCHES).astype(np.int64)
    within = np.arange(STRETCH)
    places = (begins[:, None] + within).ravel()
    return places, (4 * STRETCH * np.arange(STRETCHES)[:, None] + within).ravel()


def _room(n_places: int) -> F64:
    """How many pairs of positions there are at each distance, up to half a stretch; distance 0 has none."""
    stretches, length = (STRETCHES, STRETCH) if n_places == STRETCHES * STRETCH else (1, n_places)
    room = stretches * (length - np.arange(length // 2 + 1, dtype=np.float64))
    room[0] = 0.0
    return room


def alignment_test(
    candidate: Sample, reference: Sample, *, tokenizer: Tokenizer, together: bool = False, seed: int = 0
) -> float:
    """P-value for texts that are more alike at the same place of two files; NaN where nothing can be compared.

    Places are scaled to the sizes of the samples, so that ten candidates per reference are at its place. Random orders
    of the candidates give the null. Where neighbours within a sample are alike, random orders of single texts vary too
    little: with `together`, stretches of neighbours are moved instead. The p-value is 1 unless the same place also fits
    better than every shift of one file along the other.
    """
    largest = max(len(candidate), len(reference))
    used = min(1.0, STRETCHES * STRETCH / largest)
    sizes = [round(used * len(sample)) for sample in (candidate, reference)]
    if candidate.digest == reference.digest or min(sizes) < FEWEST:
        return float("nan")
    beginnings = [sample.texts.slice(0, size) for sample, size in zip((candidate, reference), sizes, strict=True)]
    rows = _rows(pa.concat_arrays(beginnings), tokenizer)
    mine, theirs, similarity = _most_similar((rows[: sizes[0]] @ rows[sizes[0] :].T).tocsr())
    if not len(mine):
        return float("nan")
    # In units of the smaller sample's places: then groups of several texts are at one place.
    scale = min(sizes) / np.array(sizes)
    places, target = np.arange(sizes[0]) * scale[0], theirs * scale[1]
    weights = np.concatenate((1 / np.arange(1.0, REACH + 1), [0.0]))

    def fit(order: F64) -> float:
        apart = np.abs(np.floor(order[mine]) - np.floor(target)).astype(np.int64)
        return float(similarity @ weights[np.minimum(apart, REACH)])

    observed = fit(places)
    shifts = np.unique(np.linspace(0, sizes[0], RESAMPLES, endpoint=False).astype(np.int64))
    far = shifts[np.minimum(shifts, sizes[0] - shifts) * scale[0] > min(REACH, min(sizes) // 4)]
    if any(fit(np.roll(places, shift)) >= observed for shift in far):
        return 1.0
    rng = stream(seed, "dependence", "aligned", candidate.digest, reference.digest)
    width = max(1, min(BLOCK, sizes[0] // BLOCKS)) if together else 1
    return _p_values([observed], lambda: [fit(places[_moved(sizes[0], width, rng)])])[0]


def _moved(size: int, width: int, rng: np.random.Generator) -> I64:
    """A random order of stretches of `width` neighbours; where the first stretch begins is random too."""
    blocks = np.array_split(np.roll(np.arange(size), int(rng.integers(size))), max(1, size // width))
    return np.concatenate([blocks[at] for at in rng.permutation(len(blocks))])


def _rows(texts: pa.Array, tokenizer: Tokenizer) -> csr_array:
    """One row per text: its different words, weighted by rarity, at length 1.

    Words that are too common, or in no other text, are left out after that.
    """
    sequences = Sequences.from_tokens(tokenizer(pc.utf8_slice_codeunits(texts, 0, CHARACTERS)))
    incidence = Incidence.from_ngrams(*sequences.ngrams(1))
    frequency = np.diff(incidence.starts)
    weights = np.repeat(np.log(len(texts) / np.maximum(frequency, 1)), frequency)
    lengths = np.sqrt(np.bincount(incidence.texts, weights**2, minlength=len(texts)))
    bound = max(2.0, min(COMMON_SHARE * len(texts), COMMON_TEXTS))
    used = np.repeat((frequency > 1) & (frequency <= bound) & (frequency < len(texts)), frequency)
    words, rows = np.repeat(np.arange(len(frequency)), frequency)[used], incidence.texts[used]
    return csr_array((weights[used] / lengths[rows], (rows, words)), shape=(len(texts), len(frequency)))


def _most_similar(products: csr_array) -> tuple[I64, I64, F64]:
    """Row, column and value of the largest entries of each row; equal ones are all kept, so that no order decides."""
    found = []
    for begin in range(0, products.shape[0], _ROWS_AT_ONCE):
        block = products[begin : begin + _ROWS_AT_ONCE].toarray()
        rest = block.copy()
        # A few passes over a row are far faster than a partial sort of one that is mostly zeros.
        for _ in range(min(SIMILAR, block.shape[1]) - 1):
            rest[np.arange(len(rest)), rest.argmax(axis=1)] = 0.0
        rows, columns = np.nonzero((block >= rest.max(axis=1, initial=0.0)[:, None]) & (block > 0))
        found.append((rows + begin, columns, block[rows, columns]))
    rows, columns, values = (np.concatenate(parts) for parts in zip(*found, strict=True))
    return rows, columns, values


def _pairs(rows: csr_array) -> tuple[I64, I64, F64]:
    """Pairs of texts of which one is among the most similar of the other, each once."""
    products = rows @ rows.T
    products.setdiag(0.0)
    one, other, similarity = _most_similar(products)
    first, second = np.minimum(one, other), np.maximum(one, other)
    _, kept = np.unique(first * rows.shape[0] + second, return_index=True)
    return first[kept], second[kept], similarity[kept]
