"""Dependence: signs that the texts of a comparison are not independent.

Tests and intervals take every text for a separate draw. Several texts per prompt or document break that, and so do the
same prompts on both sides. Four checks look for signs of it: values that prompts or ids share, the order of the texts
within a sample, the order of one sample beside that of the other, and near-duplicates.

None of them sees texts of one prompt in shuffled order that have no field for the prompt and differ in their wording.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from textassay.corpus.arrays import F64, I64
from textassay.corpus.hashed_ngrams import Incidence, Sequences
from textassay.corpus.printable import share
from textassay.corpus.sample import Sample, stream
from textassay.corpus.tokenizers import Tokenizer
from textassay.inference.p_values import is_significant, p_value
from textassay.inference.record_design import SHARED_SHARE, ids_of, prompts_of, repeated_share, shared_share
from textassay.metrics.ngrams.duplicates import NearDuplicates

PAIR, GROUP = "pair", "group"
# What stands for the name of a field that nobody has found yet.
_FIELD = "FIELD"

# Five tests per comparison at this chance each: at most 1 % of independent comparisons are flagged by them.
CHANCE = 0.002
# Smaller shares of near-duplicates are not worth a warning.
CLUSTER_SHARE, CLUSTERS = 0.05, 3
CLUSTER_TEXTS = 10_000
SIMILARITY, SHINGLE = 0.5, 2

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


@dataclass(frozen=True)
class DependenceWarning:
    """A sign that texts are not independent; `option` is what to use, None where no option helps, and `field` for what.

    `about` is what shows it: the `candidate`, the `reference`, or `both` beside each other.
    """

    kind: str
    message: str
    option: str | None
    about: str = "both"
    field: str = _FIELD


def _use(option: str, field: str | None = None) -> str:
    """How to set an option, on the command line and in Python.

    >>> _use(PAIR, "instruction")
    'use --pair instruction (in Python pair="instruction")'
    """
    field = field or _FIELD
    return f'use --{option} {field} (in Python {option}="{field}")'


def check_dependence(
    candidate: Sample, reference: Sample, *, tokenizer: Tokenizer, seed: int = 0
) -> tuple[DependenceWarning, ...]:
    """Signs that texts are not independent; none where the samples already name their groups.

    Give the samples as they were read: a sample cut to a smaller size has lost most of its neighbours.

    >>> from textassay.corpus.tokenizers import get_tokenizer
    >>> prompts = pa.array([f"prompt {number // 2}" for number in range(20)])
    >>> one, other = (Sample.of([f"{name} {n}" for n in range(20)], contexts=prompts) for name in ("a", "b"))
    >>> [(found.kind, found.option) for found in check_dependence(one, other, tokenizer=get_tokenizer())]
    [('shared_prompts', 'pair')]
    """
    if candidate.groups is not None or reference.groups is not None:
        return ()
    sides = {"candidate": candidate, "reference": reference}
    declared = tuple(_declared(sides))
    if declared:
        return declared
    field = _common_field(candidate.prompt_field, reference.prompt_field)
    by = {role: sorted_by(sample) for role, sample in sides.items()}
    orders = {
        role: order_test(sample, tokenizer=tokenizer, seed=seed) for role, sample in sides.items() if by[role] is None
    }
    ordered = tuple(_ordered(sides, orders, field))
    aligned = math.nan
    if len(orders) == 2:
        aligned = alignment_test(candidate, reference, tokenizer=tokenizer, together=bool(ordered), seed=seed)
    clusters = own_clusters(candidate, reference, tokenizer=tokenizer, seed=seed)
    return *_sorted(sides, by), *ordered, *_aligned(aligned, field), *_clustered(sides, clusters, field)


def check_order(role: str, sample: Sample, *, tokenizer: Tokenizer, seed: int = 0) -> tuple[DependenceWarning, ...]:
    """Signs in the order of one sample, whatever its groups are: for a sample whose records name no prompts.

    >>> from textassay.corpus.tokenizers import get_tokenizer
    >>> check_order("reference", Sample.of([f"text {n}" for n in range(9)]), tokenizer=get_tokenizer())
    ()
    """
    sides, by = {role: sample}, sorted_by(sample)
    if by is not None:
        return tuple(_sorted(sides, {role: by}))
    order = order_test(sample, tokenizer=tokenizer, seed=seed)
    return tuple(_ordered(sides, {role: order}, sample.prompt_field))


def _named(role: str, sides: Mapping[str, Sample]) -> str:
    return f"the {role} {sides[role].name!r}"


def _common_field(*fields: str | None) -> str | None:
    """The field of both samples; None if they have none, or two."""
    return fields[0] if len(set(fields)) == 1 else None


# Prompts and ids


def _declared(sides: Mapping[str, Sample]) -> Iterator[DependenceWarning]:
    """Warnings from the prompts or ids that came with the texts; prompts first, and ids only without any of those."""
    samples = list(sides.values())
    for noun, values, fields in (
        ("prompt", [prompts_of(sample) for sample in samples], [sample.prompt_field for sample in samples]),
        ("id", [ids_of(sample) for sample in samples], [sample.id_field for sample in samples]),
    ):
        both = [value for value in values if value is not None]
        if len(both) == 2 and shared_share(*both) >= SHARED_SHARE:
            yield DependenceWarning(
                f"shared_{noun}s",
                f"{share(shared_share(*both))} of the texts have a {noun} that occurs in both samples: texts of one "
                f"{noun} are not independent; {_use(PAIR, _common_field(*fields))}",
                PAIR,
                field=_common_field(*fields) or _FIELD,
            )
            return
        repeated = {role: repeated_share(value) for role, value in zip(sides, values, strict=True) if value is not None}
        repeated = {role: part for role, part in repeated.items() if part >= SHARED_SHARE}
        for role, part in repeated.items():
            yield DependenceWarning(
                f"several_per_{noun}",
                f"{_named(role, sides)}: {share(part)} of the texts share their {noun} with another text of the "
                f"sample: they are not independent; {_use(GROUP, _common_field(*fields))}",
                GROUP,
                role,
                _common_field(*fields) or _FIELD,
            )
        if repeated:
            return


# Order


def sorted_by(sample: Sample) -> str | None:
    """What the texts are sorted by, if they are: "text" or "length"; equal values count as sorted either way.

    >>> sorted_by(Sample.of([f"text {letter}" for letter in "abcdefghijkl"]))
    'text'
    """
    if len(sample) < FEWEST:
        return None
    beginnings = pc.utf8_slice_codeunits(sample.texts, 0, 64)
    lengths, words = pc.utf8_length(sample.texts), pc.count_substring(sample.texts, " ")
    lower = pc.utf8_lower(beginnings)
    for name, values in (("text", beginnings), ("text", lower), ("length", lengths), ("length", words)):
        up, down = (pc.all(rule(values[:-1], values[1:])).as_py() for rule in (pc.less_equal, pc.greater_equal))
        if up != down:
            return name
    return None


def _sorted(sides: Mapping[str, Sample], by: Mapping[str, str | None]) -> Iterator[DependenceWarning]:
    for role, what in by.items():
        if what is not None:
            yield DependenceWarning(
                "sorted",
                f"{_named(role, sides)}: the texts are sorted by {what}, so their order cannot show whether they are "
                "independent",
                None,
                role,
            )


def _ordered(
    sides: Mapping[str, Sample], orders: Mapping[str, tuple[float, int, float]], field: str | None
) -> Iterator[DependenceWarning]:
    """A warning for each sample whose order is not a random one, given what `order_test` found for each."""
    for role, (beside, distance, chance) in orders.items():
        if is_significant(beside, 1 - CHANCE):
            yield DependenceWarning(
                "order",
                f"{_named(role, sides)}: neighbouring texts are more alike than distant ones: if they come from the "
                f"same prompts or documents, {_use(GROUP, field)}; the file may also be sorted",
                GROUP,
                role,
            )
        elif is_significant(chance, 1 - CHANCE):
            yield DependenceWarning(
                "period",
                f"{_named(role, sides)}: texts that are {distance} places apart are more alike than others: if the "
                f"same prompts or documents return in the same order, {_use(GROUP, field)}",
                GROUP,
                role,
            )


# One order beside the other


def _aligned(p: float, field: str | None) -> Iterator[DependenceWarning]:
    if is_significant(p, 1 - CHANCE):
        yield DependenceWarning(
            "aligned",
            "texts at the same place in both samples are more alike than others: if both sides answer the same "
            f"prompts in the same order, {_use(PAIR, field)}",
            PAIR,
        )


# Near-duplicates


@dataclass(frozen=True)
class Clusters:
    """Near-duplicates of one sample that have none in the other: share of its texts, share by chance, and how many."""

    share: float
    by_chance: float
    number: int


def _clustered(
    sides: Mapping[str, Sample], clusters: tuple[Clusters, Clusters], field: str | None
) -> Iterator[DependenceWarning]:
    for role, other, who, found in zip(sides, reversed(list(sides)), ("generator", "source"), clusters, strict=True):
        if found.number >= CLUSTERS and found.share - found.by_chance >= CLUSTER_SHARE:
            yield DependenceWarning(
                "near_duplicates",
                f"{_named(role, sides)}: {share(found.share)} of the texts are near-duplicates of each other, in "
                f"{found.number:,} clusters that {_named(other, sides)} does not have; if the texts of a cluster come "
                f"from the same prompt or document, {_use(GROUP, field)}; otherwise the {who} repeats itself",
                GROUP,
                role,
            )


def own_clusters(
    candidate: Sample, reference: Sample, *, tokenizer: Tokenizer, seed: int = 0
) -> tuple[Clusters, Clusters]:
    """Clusters of near-duplicates that only one sample has, for each of the two.

    Independent samples of one source repeat the same texts: a cluster of s texts is on one side alone with the chance
    that all its texts fall there. What exceeds that are groups, or a sample that repeats what the other does not have.
    """
    parts = [
        sample.cut(CLUSTER_TEXTS, stream(seed, "dependence", "clusters", sample.digest)).texts
        for sample in (candidate, reference)
    ]
    texts = pc.utf8_slice_codeunits(pa.concat_arrays(parts), 0, CHARACTERS)
    near = NearDuplicates.from_sequences(Sequences.from_tokens(tokenizer(texts)))
    alike = near.neighbours(SHINGLE, SIMILARITY)
    shape = (len(near.sizes), len(near.sizes))
    _, cluster_of = connected_components(csr_array((np.ones(len(alike)), alike.T), shape=shape), directed=False)
    clusters = cluster_of[near.class_of]
    cut = len(parts[0])
    counts = [np.bincount(side, minlength=len(near.sizes)) for side in (clusters[:cut], clusters[cut:])]
    return _own(counts[0], counts[1]), _own(counts[1], counts[0])


def _own(mine: I64, theirs: I64) -> Clusters:
    total, n_texts = mine + theirs, mine.sum()
    own = mine[(mine > 1) & (theirs == 0)]
    sizes = total[total > 1]
    expected = (sizes * (n_texts / total.sum()) ** sizes).sum()
    return Clusters(float(own.sum() / n_texts), float(expected / n_texts), len(own))


# Tests of order. Texts are as alike as the rarer words that they share. Random orders of the same texts give the null
# distribution, so the tests are exact for independent texts, whatever the texts are.


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
    begin, number = int(rng.integers(size)), max(1, size // width)
    # Where each stretch is in the new order; the first ones are longer by a text if the size does not divide evenly.
    index = np.argsort(rng.permutation(number))
    lengths = size // number + (np.arange(number) < size % number)
    return (np.argsort(np.repeat(index, lengths), kind="stable") - begin) % size


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
