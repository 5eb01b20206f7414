"""The bank of tests behind the overall test: one statistic per member, prepared once and computed for any exchanges.

Most members are sums over pairs of texts (`pair_matrix.py`). Such sums average over everything. Words, traits of form
and neighbourhoods of vectors are therefore tested by sums of fourth powers as well, in which a few large differences
count.
"""

from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from textassay.corpus.arrays import F64, Bool
from textassay.corpus.hashed_ngrams import Incidence, Sequences
from textassay.corpus.markup import Markup
from textassay.inference.overall.pair_matrix import (
    ROUNDING,
    Units,
    gram_counts,
    kernel_sums,
    phrase_products,
    ridge,
    ridge_on_units,
    sums_by_unit,
    unit_sizes,
)
from textassay.inference.permutation import Design, off_centre
from textassay.metrics.ngrams.counts import TextNgrams
from textassay.metrics.ngrams.duplicates import NearDuplicates
from textassay.metrics.ngrams.overlap import TextEdges, text_traits
from textassay.metrics.vectors.kernels import bandwidth, centred, count_slices
from textassay.metrics.vectors.pair_sums import exchanged
from textassay.metrics.vectors.vectors import Joint, Vectors, joint, squared_distances
from textassay.metrics.views import Material, Pool, Resamples

# Weight of an n-gram: its pooled count to minus this power, so that the commonest n-grams do not drown all others.
POWER = 0.5
_NUMBERS_AT_ONCE = 4_000_000
# A word in fewer texts than this can hardly be unevenly divided by more than chance; so for a trait of form.
FEWEST_TEXTS = 4
# Neighbourhoods of texts: how many are looked at, and their bandwidth as a share of that of MMD.
_MOST_PLACES, _NARROW = 2000, 0.6

# The values of a member for each row of labels. Some members have several numbers per row, on leading axes.
Statistic = Callable[[Bool], F64]


def _as_it_is(values: F64) -> F64:
    return values


@dataclass(frozen=True, eq=False)
class Member:
    """One test of the bank: what is prepared from a pool, and how the values of all rows become a statistic.

    Larger is more. The tails of all statistics fall about exponentially, as those of sums of squares do: roots of
    fourth powers, squares of differences. The combination extends tails beyond the rows in that way.
    """

    name: str
    label: str
    prepare: Callable[[Pool, Units], Statistic]
    finish: Callable[[F64], F64] = _as_it_is
    reads_vectors: bool = False


@dataclass(frozen=True)
class Term:
    """One summand of a part: one member, or several whose evidence is added first; and its weight."""

    members: tuple[str, ...]
    weight: float


@dataclass(frozen=True)
class Part:
    """Terms that are combined first, so that adding one costs the other parts nothing; and the weight of the whole."""

    terms: tuple[Term, ...]
    weight: float


def _rows_at_once(masks: Bool, numbers_per_row: int) -> Iterator[slice]:
    """The rows in blocks that keep what is computed from them small."""
    at_once = max(1, _NUMBERS_AT_ONCE // max(numbers_per_row, 1))
    return (slice(begin, begin + at_once) for begin in range(0, len(masks), at_once))


def _words(pool: Pool, units: Units) -> Statistic:
    """How unevenly single words are divided between the samples, by the texts that have them."""
    incidence = pool.merged(TextNgrams).order(1)
    texts_with = np.diff(incidence.starts)
    frequent = texts_with >= FEWEST_TEXTS
    kept = np.repeat(frequent, texts_with)
    starts = np.concatenate(([0], np.cumsum(texts_with[frequent])))
    columns = units.units[incidence.texts[kept]]
    texts = csr_array((np.ones(len(columns)), columns, starts), shape=(len(starts) - 1, units.n_units))
    texts.sum_duplicates()
    return fourth_powers(texts, unit_sizes(units))


def _form(pool: Pool, units: Units) -> Statistic:
    """How unevenly traits of form are divided: markup, openings and endings of a kind, marks of punctuation."""
    shown = pool.merged(Markup).shown
    texts_with = shown.sum(axis=0)
    varied = np.minimum(texts_with, len(shown) - texts_with) >= FEWEST_TEXTS
    return fourth_powers(sums_by_unit(shown[:, varied].astype(np.float64), units).T, unit_sizes(units))


def fourth_powers(features: csr_array | F64, sizes: F64) -> Statistic:
    """The sum over features of the fourth power of each one's standardised difference, of every row.

    `features` has one row per feature and one column per unit: a sum over the texts of the unit. The fourth power lets
    a few large differences outweigh many small ones, which squares add up to noise.
    """
    rates = np.asarray(features.sum(axis=1)).ravel() / sizes.sum()
    squares = np.asarray((features * features).sum(axis=1)).ravel()
    spread = squares - 2 * rates * (features @ sizes) + rates**2 * (sizes @ sizes)
    varied = spread > ROUNDING * squares
    chosen, rates = features[np.flatnonzero(varied)], rates[varied]
    scales = 1 / np.sqrt(spread[varied])

    def of(masks: Bool) -> F64:
        mine, found = masks @ sizes, np.zeros(len(masks))
        for rows in _rows_at_once(masks, len(rates)):
            gaps = chosen @ np.ascontiguousarray(masks[rows].T, dtype=np.float64)
            gaps -= np.outer(rates, mine[rows])
            gaps *= scales[:, None]
            gaps *= gaps
            found[rows] = np.einsum("ij,ij->j", gaps, gaps)
        return found

    return of


def _bigrams(pool: Pool, units: Units) -> Statistic:
    return _gram_distances(pool.merged(TextNgrams).order(2), units)


def _edges(pool: Pool, units: Units) -> Statistic:
    return _gram_distances(pool.merged(TextEdges).order(1), units)


def _gram_distances(incidence: Incidence, units: Units) -> Statistic:
    return gram_counts(incidence, units, power=POWER).distances


def _phrases(pool: Pool, units: Units) -> Statistic:
    """Agreement of the labels with a classifier on words and word pairs."""
    ngrams = pool.merged(TextNgrams)
    products = phrase_products([ngrams.order(n) for n in (1, 2)], len(ngrams), units)
    return ridge_on_units(products, unit_sizes(units)).agreements


def _different(pool: Pool, units: Units) -> Statistic:
    """How far apart the numbers of different bigrams are, and the numbers of all bigrams."""
    incidence = pool.merged(TextNgrams).order(2)
    owners = units.units[incidence.texts]
    grams = np.repeat(np.arange(len(incidence.keys)), np.diff(incidence.starts))
    present = csr_array((np.ones(len(owners), np.float32), (owners, grams)), shape=(units.n_units, len(incidence.keys)))
    present.sum_duplicates()
    tokens = np.bincount(units.units, pool.merged(TextNgrams).sizes(2), units.n_units).astype(np.float64)
    return different_grams(present, tokens)


def different_grams(present: csr_array, tokens: F64) -> Statistic:
    """The gaps between the samples in different n-grams and in all n-grams, of every row.

    `present` has an entry for each unit (row) and n-gram (column) in it; `tokens` are the n-grams of each unit.
    """
    gaps = gaps_in_different(present)
    return lambda masks: np.stack((gaps(masks), masks @ tokens - ~masks @ tokens))


def gaps_in_different(present: csr_array) -> Statistic:
    """How many more different n-grams the candidate has, of every row; n-grams may be given in parts that add up."""
    present.data[:] = 1.0
    spread = np.bincount(present.indices, minlength=present.shape[1])
    # Bigrams of one unit move with it; only the others need to be looked up for every row.
    alone = np.asarray(present[:, spread == 1].sum(axis=1), dtype=np.float64).ravel()
    shared = present[:, spread > 1]
    total = np.asarray(shared.sum(axis=0)).ravel()
    turned = shared.T.tocsr()

    def of(masks: Bool) -> F64:
        gaps: F64 = masks @ alone - ~masks @ alone
        for rows in _rows_at_once(masks, shared.shape[1]):
            counts = turned @ np.ascontiguousarray(masks[rows].T, dtype=np.float32)
            gaps[rows] += (counts > 0).sum(axis=0) - (counts < total[:, None]).sum(axis=0)
        return gaps

    return of


def beyond_length(values: F64) -> F64:
    """The square of what is left of the first row when what goes with the second is taken out by regression."""
    gaps, other = values
    centred = other - other.mean()
    length = float(centred @ centred)
    if length > 0:
        left = gaps - centred * (centred @ gaps / length)
        gaps = np.where(np.abs(left) <= 1e-9 * np.abs(gaps).max(initial=0.0), 0.0, left)
    return squared_gap(gaps)


def squared_gap(values: F64) -> F64:
    return off_centre(values) ** 2


def _repeats(pool: Pool, units: Units) -> Statistic:
    """How far apart the shares of texts are that repeat another text of their own sample."""
    return repeated_gaps(text_counts(pool, units), unit_sizes(units))


def repeated_gaps(counted: "Counted", texts: F64) -> Statistic:
    """The gap between the shares of texts that repeat another one of their sample; `texts` are those of each unit."""

    def of(masks: Bool) -> F64:
        sizes, gaps = masks @ texts, np.empty(len(masks))
        for rows, candidate, reference in counted(masks):
            repeated = [(counts * (counts > 1)).sum(axis=0) for counts in (candidate, reference)]
            gaps[rows] = repeated[0] / sizes[rows] - repeated[1] / (texts.sum() - sizes[rows])
        return gaps

    return of


# Rows of labels, and for each repeated text how often the candidate and the reference have it under each of them.
Counted = Callable[[Bool], Iterator[tuple[slice, F64, F64]]]


def text_counts(pool: Pool, units: Units) -> Counted:
    """For each text with a copy in the pool and each labelling, how often the candidate and the reference have it."""
    near = pool.merged(NearDuplicates)
    repeated = near.sizes > 1
    number = np.cumsum(repeated) - 1
    kept = repeated[near.class_of]
    classes, owners = number[near.class_of[kept]], units.units[kept]
    return copy_counts(csr_array((np.ones(len(owners)), (classes, owners)), shape=(int(repeated.sum()), units.n_units)))


def copy_counts(owned: csr_array) -> Counted:
    """The counts of repeated texts under labellings, from how often each unit (column) has each of them (row).

    Some labellings at a time: a corpus may have many repeated texts.
    """
    total = np.asarray(owned.sum(axis=1)).reshape(-1, 1)

    def of(masks: Bool) -> Iterator[tuple[slice, F64, F64]]:
        for rows in _rows_at_once(masks, len(total)):
            mine = np.asarray(owned @ np.ascontiguousarray(masks[rows].T, dtype=np.float64))
            yield rows, mine, total - mine

    return of


def _traits_of(pool: Pool) -> F64:
    return pool.once("traits", lambda: text_traits(pool.merged(Sequences), pool.merged(TextNgrams)))


def _traits(pool: Pool, units: Units) -> Statistic:
    return _mean_gaps(_traits_of(pool), units)


def _lengths(pool: Pool, units: Units) -> Statistic:
    """How far apart the means and the spreads of the lengths are, on a logarithmic scale."""
    lengths = np.log1p(pool.merged(TextNgrams).lengths)
    centred = lengths - lengths.mean()
    return _mean_gaps(np.stack((centred, centred**2), axis=1), units)


def _mean_gaps(values: F64, units: Units) -> Statistic:
    centred = values - values.mean(axis=0)
    return hotelling(lambda scale: sums_by_unit(centred @ scale, units), centred.T @ centred, unit_sizes(units))


def hotelling(sums_of: Callable[[F64], F64], cross: F64, texts: F64) -> Statistic:
    """How far apart the means of a few numbers per text are, in units of their spread (Hotelling's T squared).

    `cross` sums the outer products of the centred numbers over all texts, and `sums_of` sums the numbers over the texts
    of each unit after they were multiplied by a matrix; `texts` are those of each unit.
    """
    spreads, directions = np.linalg.eigh(cross / texts.sum())
    kept = spreads > max(1e-9 * float(spreads.max()), 1e-12)
    if not kept.any():
        return lambda masks: np.zeros(len(masks))
    sums = sums_of(directions[:, kept] / np.sqrt(spreads[kept]))

    def of(masks: Bool) -> F64:
        candidate = masks @ texts
        reference = texts.sum() - candidate
        gaps = (masks @ sums) / candidate[:, None] - (~masks @ sums) / reference[:, None]
        return (gaps * gaps).sum(axis=1) / (1 / candidate + 1 / reference)

    return of


def _mmd(pool: Pool, units: Units) -> Statistic:
    """Squared maximum mean discrepancy, Gaussian kernel, half the median distance as bandwidth."""
    pair = pooled_vectors(pool)
    if count_slices(len(pair.values)) > 1:
        return lambda masks: exchanged(pair, "rbf", Resamples(units.units, (masks, ~masks))).discrepancy(unbiased=True)
    return kernel_sums(pair, "rbf", units).distances


def _regions(pool: Pool, units: Units) -> Statistic:
    """How unevenly the neighbourhoods of texts are divided between the samples, by a narrow Gaussian kernel.

    Neighbourhoods of at most `_MOST_PLACES` texts, evenly spaced in an order that depends on the vectors only. Texts of
    the same unit are left out of a neighbourhood: they count as divided like all others.
    """
    pair = pooled_vectors(pool)
    n, n_units = len(pair.values), units.n_units
    indices = pair.order[np.arange(min(n, _MOST_PLACES)) * n // min(n, _MOST_PLACES)]
    by_unit = csr_array((np.ones(n), (np.arange(n), units.units)), shape=(n, n_units))
    around = np.zeros((len(indices), n_units))
    middles, narrow = centred(pair, indices), -0.5 / (_NARROW * bandwidth(pair)) ** 2
    at_once = max(1, _NUMBERS_AT_ONCE // len(indices))
    for begin in range(0, n, at_once):
        texts = np.arange(begin, min(begin + at_once, n))
        around += np.exp(squared_distances(middles, centred(pair, texts)) * narrow) @ by_unit[texts]
    own = np.arange(len(indices)), units.units[indices]
    around[own] = 0.0
    sizes = unit_sizes(units)[own[1]]
    around[own] = around.sum(axis=1) * sizes / np.maximum(n - sizes, 1.0)
    return fourth_powers(around, unit_sizes(units))


def _ridge(pool: Pool, units: Units) -> Statistic:
    return ridge(pooled_vectors(pool).values, units).agreements


def pooled_vectors(pool: Pool) -> Joint:
    """The sentence vectors of both samples."""
    return joint(*(part.view(Vectors) for part in pool.parts))


BANK = (
    Member("words", "words", _words, np.sqrt),
    Member("bigrams", "word pairs", _bigrams),
    Member("phrases", "classifier on words and word pairs", _phrases),
    Member("edges", "openings and endings", _edges),
    Member("different", "number of different word pairs", _different, beyond_length),
    Member("repeats", "repeated texts", _repeats, squared_gap),
    Member("length", "length", _lengths),
    Member("traits", "length and commonness of words", _traits),
    Member("form", "markup and punctuation", _form, np.sqrt),
    Member("mmd", "sentence vectors", _mmd, reads_vectors=True),
    Member("regions", "regions of the sentence vectors", _regions, np.sqrt, reads_vectors=True),
    Member("ridge", "classifier on sentence vectors", _ridge, reads_vectors=True),
)

# Chosen on development draws of captions, news and outputs of language models (design note 6). Vectors see lost topics
# and texts of a language model better than words do. On long texts they see little, so they are a part of their own:
# it costs the words a fifth of the error rate. Members without any variation, such as repeats, cost nothing.
PARTS = (
    Part(
        (
            Term(("words",), 1.0),
            Term(("bigrams",), 0.25),
            Term(("phrases",), 1.0),
            Term(("edges",), 0.5),
            Term(("repeats",), 1.0),
            Term(("length",), 1.0),
            Term(("traits",), 1.0),
            Term(("traits", "different"), 1.0),
            Term(("form",), 1.0),
        ),
        4.0,
    ),
    Part((Term(("mmd",), 3.0), Term(("regions",), 2.0), Term(("words", "ridge"), 1.0)), 1.0),
)


def bank_description(*, vectors: bool = True) -> str:
    """The parts, terms and weights of the overall test in one line, so that results of two banks are not mixed.

    >>> bank_description(vectors=False)[:48]
    '4: 1 words + 0.25 bigrams + 1 phrases + 0.5 edge'
    """
    used = {member.name for member in BANK if vectors or not member.reads_vectors}
    described = []
    for part in PARTS:
        terms = [(term.weight, "&".join(name for name in term.members if name in used)) for term in part.terms]
        named = " + ".join(f"{weight:g} {names}" for weight, names in terms if names)
        if any(set(term.members) <= used for term in part.terms):
            described.append(f"{part.weight:g}: {named}")
    return "; ".join(described)


def views_of_bank(material: Material) -> tuple[type[Any], ...]:
    """The views of a material that the members of the bank read."""
    vectors = () if material.settings.encoder is None else (Vectors,)
    return (Sequences, TextNgrams, TextEdges, NearDuplicates, Markup, *vectors)


def merge_views(pool: Pool) -> None:
    """Count the traits, the n-grams, the openings and endings and the repeated texts of both samples together."""
    _traits_of(pool)
    for n in (1, 2):
        pool.merged(TextNgrams).order(n)
    pool.merged(TextEdges).order(1)
    for kind in (NearDuplicates, Markup):
        pool.merged(kind)


@dataclass(frozen=True, eq=False)
class Exchanged:
    """The members' values under the exchanges so far. More exchanges are added without repeating any."""

    members: tuple[Member, ...]
    prepared: tuple[Statistic, ...]
    values: tuple[F64, ...] = ()

    @classmethod
    def of(cls, pool: Pool, units: Units, members: Iterable[Member]) -> "Exchanged":
        """Prepare members; there are no exchanges yet."""
        chosen = tuple(members)
        return cls(chosen, tuple(member.prepare(pool, units) for member in chosen))

    def add(self, masks: Bool) -> "Exchanged":
        """With these rows of labels as well."""
        with np.errstate(divide="ignore", invalid="ignore"):
            more = [statistic(masks) for statistic in self.prepared]
        joined = (
            (np.concatenate(pair, axis=-1) for pair in zip(self.values, more, strict=True)) if self.values else more
        )
        return Exchanged(self.members, self.prepared, tuple(joined))

    def only(self, names: Container[str]) -> "Exchanged":
        """The members with these names."""
        kept = [k for k, member in enumerate(self.members) if member.name in names]
        prepared, values = tuple(self.prepared[k] for k in kept), tuple(self.values[k] for k in kept)
        return Exchanged(tuple(self.members[k] for k in kept), prepared, values)

    def statistics(self) -> F64:
        """One row of statistics per member, one column per labelling."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.stack([m.finish(values) for m, values in zip(self.members, self.values, strict=True)])


def bank_statistics(pool: Pool, design: Design, masks: Bool, *, members: Sequence[Member]) -> F64:
    """One row of statistics per member, one column per labelling."""
    return Exchanged.of(pool, design, members).add(masks).statistics()
