"""What a digest counts: every statistic of a corpus that the overall test and the n-gram metrics need, by block.

Every statistic is a sum over texts of whole numbers, so that shards give the same digest in any cut and any order.
Numbers that are not whole are multiplied by a power of 2 and rounded, text by text, before they are added.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from textassay.corpus.arrays import F64, I64, U64
from textassay.corpus.hashed_ngrams import Incidence, Sequences, mix, text_keys
from textassay.corpus.markup import Markup
from textassay.digests.block_table import BlockTable, sketched
from textassay.digests.vectors import tables_of_vectors, vector_widths
from textassay.metrics.ngrams.counts import TextNgrams
from textassay.metrics.ngrams.overlap import TextEdges
from textassay.metrics.vectors.vectors import Vectors
from textassay.metrics.views import Material

# Orders of n-grams that are counted, as far as the default metrics need them; and of openings and endings. A sketch
# has those that the overall test and the metrics that are sums of products need.
ORDERS, EDGES = (1, 2, 3, 4), (1, 2)
_SKETCHED_ORDERS, _SKETCHED_EDGES = (1, 2), (1,)
# Numbers that are not whole are stored in units of 2 to minus this power.
FRACTION = 20
# Counters of the classifier's features, and of its features in a sketch.
FEATURES, FEW_FEATURES = 65_536, 4_096
# In a sketch the sums by block have fewer counters than the sums of the whole corpus.
BY_BLOCK = 16
# Different texts whose copies are counted: those with the smallest hashes. So many are enough for a share.
MOST_DIFFERENT = 32_768
# Steps of the histogram of lengths per doubling of the length.
STEPS = 4


@dataclass(frozen=True)
class Layout:
    """How a digest is laid out: its number of blocks, the counters of its sketches (0: exact tables), and the numbers
    of a vector (0: no vectors).
    """

    n_blocks: int = 40
    sketch: int = 0
    dimension: int = 0

    @property
    def orders(self) -> tuple[int, ...]:
        """The orders of n-grams that are counted."""
        return _SKETCHED_ORDERS if self.sketch else ORDERS

    @property
    def edges(self) -> tuple[int, ...]:
        """The orders of openings and endings that are counted."""
        return _SKETCHED_EDGES if self.sketch else EDGES

    @property
    def features(self) -> int:
        """The number of counters of the classifier's features."""
        return FEW_FEATURES if self.sketch else FEATURES


def tables_of(material: Material, blocks: NDArray[np.int64], layout: Layout) -> Mapping[str, BlockTable]:
    """The statistics of some texts by name; `blocks` has the block of each text."""
    sequences, ngrams = material.view(Sequences), material.view(TextNgrams)
    edges = material.view(TextEdges)
    found = dict(_sizes(sequences, ngrams, edges, blocks, layout))
    for n in layout.orders:
        found |= _grams(f"grams/{n}", ngrams.order(n), blocks, layout)
    for n in layout.edges:
        found |= _grams(f"edges/{n}", edges.order(n), blocks, layout)
    words = ngrams.order(1)
    found["texts with"] = _narrow(BlockTable.of_incidence(words, blocks, np.ones_like(words.counts)), layout)
    found["form"] = BlockTable.of_texts(material.view(Markup).shown, blocks, layout.n_blocks)
    found["features"] = _features(ngrams, blocks, layout.features)
    found["copies"] = fewest(BlockTable.of(text_keys(sequences), blocks))
    if layout.dimension:
        vectors = material.view(Vectors).values
        found |= tables_of_vectors(vectors, blocks, layout.n_blocks, by_block=not layout.sketch)
    return found


def table_widths(layout: Layout) -> dict[str, int | None]:
    """The statistics of a digest by name, with the number of their keys where they are numbered; None for hashes."""
    narrow, wide = (layout.sketch // BY_BLOCK, layout.sketch) if layout.sketch else (None, None)
    found: dict[str, int | None] = {"texts": 1, "lengths": 4, "form": len(Markup.traits), "features": layout.features}
    found |= {"histogram": None, "copies": None, "texts with": narrow}
    for kind, orders in (("grams", layout.orders), ("edges", layout.edges)):
        found |= {f"{kind} {name}": len(orders) for name in ("sizes", "size squares", "own squares")}
        found |= {f"{kind}/{n}": narrow for n in orders}
        found |= {f"{kind}/{n} whole": wide for n in orders if layout.sketch}
    if layout.dimension:
        found |= vector_widths(layout.n_blocks, layout.dimension, by_block=not layout.sketch)
    return found


def is_signed(name: str, layout: Layout) -> bool:
    """Whether the sums of a statistic may be negative: those of features, of vectors, and the counters of sketches."""
    is_sketch = bool(layout.sketch) and (name == "texts with" or name.startswith(("grams/", "edges/")))
    return is_sketch or name.startswith(("features", "vector "))


def _sizes(
    sequences: Sequences, ngrams: TextNgrams, edges: TextEdges, blocks: I64, layout: Layout
) -> Iterator[tuple[str, BlockTable]]:
    """Numbers of texts and n-grams, their squares, and the moments and the histogram of the logarithm of lengths."""

    def by_block(*columns: NDArray[np.integer]) -> BlockTable:
        return BlockTable.of_texts(np.stack(columns, axis=1), blocks, layout.n_blocks)

    yield "texts", by_block(np.ones(len(blocks), dtype=np.int64))
    for name, counted, orders in (("grams", ngrams, layout.orders), ("edges", edges, layout.edges)):
        yield f"{name} sizes", by_block(*(counted.sizes(n) for n in orders))
        yield f"{name} size squares", by_block(*(counted.size_squares(n) for n in orders))
        yield f"{name} own squares", by_block(*(counted.own_squares(n).astype(np.int64) for n in orders))
    lengths = np.log1p(sequences.lengths)
    yield "lengths", by_block(*(fixed(lengths**power) for power in (1, 2, 3, 4)))
    steps = np.floor(STEPS * np.log2(1 + sequences.lengths)).astype(np.uint64)
    yield "histogram", BlockTable.of(steps, blocks)


def fixed(values: F64) -> I64:
    """Numbers in units of 2 to the power of minus `FRACTION`, rounded one by one."""
    return np.rint(np.ldexp(values, FRACTION)).astype(np.int64)


def _grams(name: str, incidence: Incidence, blocks: I64, layout: Layout) -> dict[str, BlockTable]:
    """The counts of one order; in a sketch those of the whole corpus, and narrower ones by block."""
    table = BlockTable.of_incidence(incidence, blocks)
    if not layout.sketch:
        return {name: table}
    whole = BlockTable.of(table.keys, np.zeros(len(table), dtype=np.int64), table.values)
    return {name: _narrow(table, layout), f"{name} whole": sketched(whole, layout.sketch)}


def _narrow(table: BlockTable, layout: Layout) -> BlockTable:
    return sketched(table, layout.sketch // BY_BLOCK) if layout.sketch else table


def _features(ngrams: TextNgrams, blocks: I64, width: int) -> BlockTable:
    """The texts' words and word pairs as features of a classifier: log(1 + count), with length 1 per text."""
    orders = [ngrams.order(n) for n in (1, 2)]
    # The logarithm of each count that occurs, as most are 1.
    logarithms = np.log1p(np.arange(1 + max(int(each.counts.max(initial=0)) for each in orders)))
    weights = [logarithms[each.counts] for each in orders]
    squares = [np.bincount(each.texts, w * w, len(ngrams)) for each, w in zip(orders, weights, strict=True)]
    lengths = np.sqrt(squares[0] + squares[1])
    tables = [
        BlockTable.of_incidence(each, blocks, fixed(w / lengths[each.texts]))
        for each, w in zip(orders, weights, strict=True)
    ]
    return sketched(BlockTable.joined(tables), width)


def fewest(table: BlockTable) -> BlockTable:
    """The entries of the keys with the smallest hashes, so that a large corpus keeps a random part of its texts.

    A key that is among the smallest of the whole is among those of every part that has it, so its counts are complete.
    """
    hashes = mix(table.keys ^ np.uint64(0x5851F42D4C957F2D))
    different = np.unique(hashes)
    if len(different) <= MOST_DIFFERENT:
        return table
    return table.where(hashes <= different[MOST_DIFFERENT - 1])


def merged_tables(tables: list[Mapping[str, BlockTable]]) -> dict[str, BlockTable]:
    """The sums of several corpora by name; the order does not matter."""
    names = sorted({name for each in tables for name in each})
    return {name: merged_table(name, [each[name] for each in tables if name in each]) for name in names}


def merged_table(name: str, tables: list[BlockTable]) -> BlockTable:
    """The sums of one statistic; of copies, those of the texts that are kept."""
    found = BlockTable.merged(tables)
    return fewest(found) if name == "copies" else found


def block_numbers(keys: U64, n_blocks: int) -> I64:
    """The block of each text from the hash of its id or position."""
    return (mix(keys.copy()) % np.uint64(n_blocks)).astype(np.int64)
