"""The overall test on digests: the members of the bank that need no texts, under exchanges of blocks.

Blocks are random parts of a corpus, so two corpora of one source may exchange them, if all blocks have about as many
texts. Blocks of the smaller corpus are joined for that. What is lost: members that read single texts (how common the
words of a text are, the regions of vectors), and the pairs of texts within a block.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from math import ceil

import numpy as np

from textassay.corpus.arrays import F64, I64, Bool
from textassay.corpus.markup import Markup
from textassay.corpus.sample import stream
from textassay.digests.block_table import BlockTable
from textassay.digests.digest import Digest
from textassay.digests.statistics import FRACTION, fewest
from textassay.digests.vectors import vectors_of_block
from textassay.digests.views import feature_sums, joined_blocks, part_of
from textassay.engines.base import Engine
from textassay.engines.local import LocalEngine
from textassay.engines.partitions import EVERYTHING, Part, Tally, over_parts
from textassay.inference.effect_size import Separable
from textassay.inference.overall.bank import (
    BANK,
    FEWEST_TEXTS,
    POWER,
    Exchanged,
    Statistic,
    copy_counts,
    fourth_powers,
    gaps_in_different,
    hotelling,
    repeated_gaps,
)
from textassay.inference.overall.pair_matrix import PairMatrix, inner_products, ridge_on_units
from textassay.inference.overall.test import Overall, OverallPlan, exchanged_until_sure, member_results
from textassay.inference.p_values import is_significant
from textassay.inference.permutation import Design
from textassay.inference.result import signature
from textassay.metrics.interval_methods import NEWCOMBE
from textassay.metrics.vectors.features import feature_bandwidth, kernel_sums, kernel_weights

# Blocks of both corpora have the same number of texts up to this share.
_ALIKE = 0.05
# Fewer blocks than this give too few exchanges for several candidates.
FEWEST_BLOCKS = 8
_WHY_NO_SHARE = "a digest has no texts that could be classified"


def alike(candidate: Digest, reference: Digest, *, seed: int) -> tuple[Digest, Digest] | None:
    """Both digests with blocks joined so that all have about as many texts; None if that leaves too few blocks."""
    sizes = candidate.n / candidate.header.layout.n_blocks, reference.n / reference.header.layout.n_blocks
    most = [each.header.layout.n_blocks // FEWEST_BLOCKS for each in (candidate, reference)]
    ways = [
        (mine, theirs)
        for mine in range(1, most[0] + 1)
        for theirs in range(1, most[1] + 1)
        if abs(mine * sizes[0] / (theirs * sizes[1]) - 1) <= _ALIKE
    ]
    if not ways:
        return None
    mine, theirs = min(ways, key=sum)
    return _joined(candidate, mine, seed), _joined(reference, theirs, seed)


def _joined(digest: Digest, size: int, seed: int) -> Digest:
    """The digest with random blocks joined, `size` of them each; what is left over is left out."""
    if size == 1:
        return digest
    n_blocks = digest.header.layout.n_blocks
    order = stream(seed, "join blocks").permutation(n_blocks)
    groups = np.full(n_blocks, -1, dtype=np.int64)
    kept = order[: n_blocks // size * size]
    groups[kept] = np.arange(len(kept)) // size
    return joined_blocks(digest, groups)


def fewest_blocks_text(candidate: Digest, reference: Digest) -> str:
    """Why two digests cannot exchange blocks, and how many blocks would do."""
    larger, smaller = sorted((candidate.n, reference.n), reverse=True)
    wanted = ceil(FEWEST_BLOCKS * larger / smaller)
    return (
        f"{candidate.n:,} and {reference.n:,} texts: blocks of the same size would be too few; "
        f"wanted digests of about the same number of texts, or of {wanted:,} blocks or more"
    )


def design_of_blocks(candidate: Digest, reference: Digest) -> Design:
    """Any block may be exchanged with any other."""
    blocks = candidate.header.layout.n_blocks, reference.header.layout.n_blocks
    n = sum(blocks)
    size = round(candidate.n / blocks[0])
    return Design("independent", np.arange(n), np.zeros(n, dtype=np.int64), np.arange(n) < blocks[0], size)


def digest_test(
    candidate: Digest,
    reference: Digest,
    *,
    plan: OverallPlan,
    n_parts: int | None = None,
    engine: Engine | None = None,
) -> Overall:
    """Test whether the corpora of two digests are distributed alike, by the members of the bank that need no text.

    N-grams are read in parts, as many as the larger digest has, on the engine.
    """
    found = alike(candidate, reference, seed=plan.seed)
    nothing = Overall(
        p_value=None,
        adjusted=None,
        members=(),
        design="independent",
        n=(candidate.n, reference.n),
        n_groups=(0, 0),
        n_resamples=0,
        floor=1.0,
        undefined=fewest_blocks_text(candidate, reference),
        signature="",
    )
    if found is None:
        return nothing
    design = design_of_blocks(*found)
    n_parts = n_parts or max(candidate.n_parts, reference.n_parts)
    prepared = dict(_statistics(*found, n_parts, engine or LocalEngine(1)))
    members = tuple(member for member in BANK if member.name in prepared)
    exchanged = Exchanged(members, tuple(prepared[member.name] for member in members))
    masks, exchanged, p, _ = exchanged_until_sure(exchanged, design, plan)
    n_resamples = len(masks) - 1
    share = Separable(None, None, plan.level, NEWCOMBE, None, None, _WHY_NO_SHARE, "")
    return replace(
        nothing,
        undefined=None,
        p_value=p,
        adjusted=p,
        members=member_results(members, exchanged.statistics()),
        n_resamples=n_resamples,
        floor=max(design.smallest_p(n_resamples), 1 / len(masks)),
        separable=share.judged(differs=is_significant(p, plan.level)),
        signature=_signature(candidate, reference, design, [member.name for member in members], plan, n_resamples),
    )


def _signature(
    candidate: Digest, reference: Digest, design: Design, members: list[str], plan: OverallPlan, n_resamples: int
) -> str:
    header = candidate.header
    settings = {"tok": header.tokenizer} | ({"strip": header.strip} if header.strip else {})
    settings |= {"enc": header.encoder} if header.encoder else {}
    counts = {"counts": f"sketch-{header.layout.sketch}" if header.layout.sketch else "exact"}
    resampling = {"level": plan.level, "candidates": plan.n_candidates, "resamples": n_resamples, "design": design.kind}
    return signature(
        "overall",
        {"bank": "+".join(members), "combined": "fisher+half-cauchy"},
        settings=settings | counts,
        data={name: f"{each.n}/{each.content}" for name, each in (("candidate", candidate), ("reference", reference))},
        resampling=resampling | {"block": design.block, "blocks": design.n_units, "seed": plan.seed},
    )


def _statistics(candidate: Digest, reference: Digest, n_parts: int, engine: Engine) -> Iterator[tuple[str, Statistic]]:
    """The members' statistics by name, prepared for rows of labels of the blocks."""
    texts = np.concatenate((candidate.block_texts, reference.block_texts)).astype(np.float64)
    layout = candidate.header.layout
    is_sketch, pair = bool(layout.sketch), _Pair(candidate, reference)
    texts_with = pair.table("texts with")
    words = texts_with.by_key(len(texts))
    if not is_sketch:
        words = words[np.flatnonzero(texts_with.totals() >= FEWEST_TEXTS)]
    yield "words", fourth_powers(words, texts)
    bigrams, edges = over_parts(partial(_products, pair), n_parts, engine)
    yield "bigrams", PairMatrix.of(bigrams, texts).distances
    yield "edges", PairMatrix.of(edges, texts).distances
    rows = pair.table("features").rows(len(texts), layout.features) / 2.0**FRACTION
    yield "phrases", ridge_on_units(rows @ rows.T, texts).agreements
    if not is_sketch:
        sizes = np.concatenate([_sizes(each)[:, layout.orders.index(2)] for each in (candidate, reference)])
        tokens = sizes.astype(np.float64)

        def different(masks: Bool) -> F64:
            gaps = over_parts(partial(_gaps, pair, masks), n_parts, engine)
            return np.stack((gaps, masks @ tokens - ~masks @ tokens))

        yield "different", different
    copies = fewest(pair.table("copies")).by_key(len(texts))
    kept = np.asarray(copies.sum(axis=0)).ravel()
    repeated = copies[np.flatnonzero(np.asarray(copies.sum(axis=1)).ravel() > 1)]
    yield "repeats", repeated_gaps(copy_counts(repeated), kept)
    yield "length", _lengths(pair.table("lengths").rows(len(texts), 4) / 2.0**FRACTION, texts)
    shown = pair.table("form").rows(len(texts), len(Markup.traits))
    varied = np.minimum(shown.sum(axis=0), texts.sum() - shown.sum(axis=0)) >= FEWEST_TEXTS
    yield "form", fourth_powers(shown[:, varied].T.astype(np.float64), texts)
    if layout.dimension:
        yield from _vector_statistics(candidate, reference, texts)


def _vector_statistics(candidate: Digest, reference: Digest, texts: F64) -> Iterator[tuple[str, Statistic]]:
    """The members on vectors: the distance by random features, and the classifier on the mean vectors of blocks."""
    one, other = feature_sums(candidate), feature_sums(reference)
    blocks = np.concatenate((one.blocks, other.blocks))
    between = kernel_sums(blocks, blocks, kernel_weights(feature_bandwidth(one, other)))
    yield "mmd", PairMatrix.of(between, texts).distances
    rows = np.concatenate([_vector_sums(each) for each in (candidate, reference)])
    yield "ridge", ridge_on_units(rows @ rows.T, texts).agreements


def _vector_sums(digest: Digest) -> F64:
    layout = digest.header.layout
    return vectors_of_block(digest.tables["vector sums"], layout.n_blocks, layout.dimension)


@dataclass(frozen=True, eq=False)
class _Pair:
    """Two digests, the blocks of the reference numbered on."""

    candidate: Digest
    reference: Digest

    @property
    def n_blocks(self) -> int:
        """The blocks of both."""
        return self.candidate.header.layout.n_blocks + self.reference.header.layout.n_blocks

    def table(self, name: str, part: Part = EVERYTHING) -> BlockTable:
        """One statistic of both."""
        candidate, reference = (part_of(each, name, part) for each in (self.candidate, self.reference))
        shift = np.uint16(self.candidate.header.layout.n_blocks)
        return BlockTable.merged([candidate, BlockTable(reference.keys, reference.blocks + shift, reference.values)])


def _products(pair: _Pair, part: Part, tally: Tally) -> tuple[F64, F64]:
    """Products of word pairs, and of openings and endings, between blocks."""
    bigrams, edges = (tally(_weighted_products(pair.table(name, part), pair.n_blocks)) for name in _PRODUCTS)
    return bigrams, edges


_PRODUCTS = ("grams/2", "edges/1")


def _gaps(pair: _Pair, masks: Bool, part: Part, tally: Tally) -> F64:
    """How many more different word pairs the candidate has, of every row."""
    present = pair.table("grams/2", part).by_key(pair.n_blocks).T.tocsr()
    return np.asarray(tally(gaps_in_different(present)(masks)))


def _sizes(digest: Digest) -> I64:
    layout = digest.header.layout
    return digest.tables["grams sizes"].rows(layout.n_blocks, len(layout.orders))


def _weighted_products(table: BlockTable, n_blocks: int) -> F64:
    """Products of counts between blocks, each n-gram weighed by its pooled count to minus a power."""
    by_gram = table.by_key(n_blocks)
    # Counters of a sketch may be negative; of exact counts the absolute value is the count.
    totals = np.asarray(abs(by_gram).sum(axis=1)).ravel()
    shared = np.flatnonzero(np.diff(by_gram.indptr) > 1)
    weighted = by_gram[shared].multiply((totals[shared] ** (-POWER / 2))[:, None]).tocsr()
    return inner_products(weighted)


def _lengths(powers: F64, texts: F64) -> Statistic:
    """Means and spreads of the logarithm of lengths, from the sums of its first four powers by block."""
    n = texts.sum()
    first, second, third, fourth = powers.sum(axis=0)
    mean = first / n
    spread = second - mean * first
    cubes = third - 3 * mean * second + 3 * mean**2 * first - mean**3 * n
    fourths = fourth - 4 * mean * third + 6 * mean**2 * second - 4 * mean**3 * first + mean**4 * n
    cross = np.array([[spread, cubes], [cubes, fourths - spread**2 / n]])
    squares = powers[:, 1] - 2 * mean * powers[:, 0] + mean**2 * texts
    sums = np.stack((powers[:, 0] - mean * texts, squares - spread / n * texts), axis=1)
    return hotelling(lambda scale: sums @ scale, cross, texts)
