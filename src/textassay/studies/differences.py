"""What differs: the n-grams that a candidate writes too often or too rarely, few enough to read."""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from textassay.corpus.errors import InputError
from textassay.studies.comparison import Phrase
from textassay.studies.excerpts import excerpt, joined
from textassay.studies.grams import Gram, holders, with_words
from textassay.studies.log_odds import LEAST_Z, Floats, clustering, log_odds_z
from textassay.studies.redundancy import telling
from textassay.views.hashing import U64, union
from textassay.views.material import Material
from textassay.views.ngrams import Ngrams, Table, spread
from textassay.views.text_ngrams import TextNgrams

Counts = NDArray[np.int64]

# So many of the strongest grams are looked at for each phrase that may be listed.
_DEPTH = 25
# Grams scored at once, and texts looked at for different examples.
_BLOCK, _MOST_HOLDERS = 1 << 20, 100


def what_differs(
    candidate: Material, reference: Material, *, orders: Sequence[int] = (1, 2, 3), top: int = 12, examples: int = 2
) -> tuple[tuple[Phrase, ...], tuple[Phrase, ...]]:
    """The phrases that the candidate over-produces and those that it under-produces, the clearest first.

    Grams are ranked by the z-score of their log-odds with a prior, so that rare words do not float to the top. Only
    those of |z| >= 4 are listed, and only if that still holds when the variance is taken over texts: one long text that
    repeats a name is no habit of the sample. A gram whose shift is that of a listed one which it contains, is part of
    or overlaps is left out. Each phrase has up to `examples` different texts of the sample that has more of it.

    >>> from textassay.corpus.sample import Sample
    >>> made = Material(Sample.of(["the cat sat on a mat", "my dog sat on a mat"] * 50))
    >>> real = Material(Sample.of(["the cat lay on a rug", "my dog ran up a hill"] * 50))
    >>> over, under = what_differs(made, real)
    >>> [(phrase.text, phrase.candidate_count, phrase.reference_count) for phrase in over]
    [('on a mat', 100, 0), ('sat', 100, 0)]
    """
    if any(n < 1 for n in orders):
        raise InputError(f"orders: {tuple(orders)} given; wanted whole numbers of at least 1")
    over, under = _strongest(candidate, reference, orders=sorted(set(orders)), most=_DEPTH * top)
    over, under = _listed(over, candidate, reference, top), _listed(under, reference, candidate, top)
    return (
        tuple(Phrase(_text(g, candidate), g.n, g.more, g.less, g.z, _examples(g, candidate, examples)) for g in over),
        tuple(Phrase(_text(g, reference), g.n, g.less, g.more, -g.z, _examples(g, reference, examples)) for g in under),
    )


def _strongest(
    candidate: Material, reference: Material, *, orders: Sequence[int], most: int
) -> tuple[list[Gram], list[Gram]]:
    """The significant grams of all orders, those with the largest z first: over-produced and under-produced."""
    over: list[Gram] = []
    under: list[Gram] = []
    for n in orders:
        keys, counts, others, z = _significant(candidate.view(Ngrams).table(n), reference.view(Ngrams).table(n))
        best, worst = np.lexsort((keys, -z))[:most], np.lexsort((keys, z))[:most]
        over += [Gram(n, keys[i], int(counts[i]), int(others[i]), float(z[i])) for i in best if z[i] > 0]
        under += [Gram(n, keys[i], int(others[i]), int(counts[i]), -float(z[i])) for i in worst if z[i] < 0]
    over.sort(key=lambda gram: -gram.z)
    under.sort(key=lambda gram: -gram.z)
    return over[:most], under[:most]


def _significant(candidate: Table, reference: Table) -> tuple[U64, Counts, Counts, Floats]:
    """Keys, counts in both samples and z-scores of the significant grams; a block at a time, to spare memory."""
    keys = union(candidate.keys, reference.keys)
    counts, others = spread(candidate, keys), spread(reference, keys)
    totals = int(candidate.total), int(reference.total)
    z = np.zeros(len(keys))
    if min(totals):
        for begin in range(0, len(keys), _BLOCK):
            block = slice(begin, begin + _BLOCK)
            z[block] = log_odds_z(counts[block], others[block], totals=totals)
    kept = np.flatnonzero(np.abs(z) >= LEAST_Z)
    return keys[kept], counts[kept], others[kept], z[kept]


def _listed(grams: list[Gram], more: Material, less: Material, top: int) -> list[Gram]:
    solid = [gram for gram in grams if _is_solid(gram, more, less)]
    return telling(with_words(solid, more), more, less, top=top)


def _is_solid(gram: Gram, more: Material, less: Material) -> bool:
    """Is it still significant when texts, not words, are what was sampled?"""
    tables = [material.view(Ngrams).table(gram.n) for material in (more, less)]
    inflation = tuple(_inflation(gram, *pair) for pair in zip((more, less), tables, strict=True))
    totals = int(tables[0].total), int(tables[1].total)
    z = log_odds_z(np.array([gram.more]), np.array([gram.less]), totals=totals, inflation=(inflation[0], inflation[1]))
    return bool(z[0] >= LEAST_Z)


def _inflation(gram: Gram, material: Material, table: Table) -> float:
    texts, counts = holders(gram, material)
    sizes = material.view(TextNgrams).lengths[texts] - (gram.n - 1)
    return clustering(counts, sizes, total=int(table.total), size_squares=int(table.size_squares))


def _text(gram: Gram, material: Material) -> str:
    return joined(gram.words, material.settings.tokenizer)


def _examples(gram: Gram, material: Material, most: int) -> tuple[str, ...]:
    """Different texts that hold the gram, from all over the sample."""
    texts, _ = holders(gram, material)
    few = min(len(texts), _MOST_HOLDERS)
    chosen = material.sample.texts.take(pa.array(texts[np.arange(few) * len(texts) // few])).unique()
    return tuple(excerpt(text, gram.words, material.settings.tokenizer) for text in chosen[:most].to_pylist())
