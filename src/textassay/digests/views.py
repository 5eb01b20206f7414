"""Views of digests: what metrics and tests read, with one row per block of texts in place of one row per text."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import reduce
from typing import Any, Self, TypeVar
from weakref import WeakKeyDictionary

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from textassay.corpus.arrays import F32, F64, I64, Bool
from textassay.corpus.hashed_ngrams import Incidence
from textassay.corpus.sample import TEXT, Sample
from textassay.digests.block_table import BlockTable
from textassay.digests.digest import Digest
from textassay.digests.tables import GroupedTables
from textassay.digests.vectors import features_of_block, products_of_block, vectors_of_block
from textassay.engines.partitions import EVERYTHING, Part, Tally
from textassay.errors import InputError
from textassay.metrics.ngrams.counts import Ngrams, Table, TextNgrams, whole_sum
from textassay.metrics.ngrams.overlap import Edges, TextEdges
from textassay.metrics.registry import Request
from textassay.metrics.vectors.features import GROUPS, FeatureSums
from textassay.metrics.vectors.vectors import Batch, Moments, Scatter, Vectors
from textassay.metrics.views import Material, Settings, View

V = TypeVar("V", bound=View)


@dataclass(frozen=True, eq=False)
class BlockSizes:
    """Per block and order: the number of n-grams, the sums of the squares per text, and the texts of each block."""

    orders: tuple[int, ...]
    texts: I64
    sizes: I64
    size_squares: I64
    own_squares: I64

    @classmethod
    def of(cls, digest: Digest, counted: str) -> Self:
        """Those of n-grams (`grams`) or of openings and endings (`edges`)."""
        layout = digest.header.layout
        orders = layout.orders if counted == "grams" else layout.edges
        found = [
            digest.tables[f"{counted} {name}"].rows(layout.n_blocks, len(orders))
            for name in ("sizes", "size squares", "own squares")
        ]
        return cls(orders, digest.block_texts, *found)

    def merge(self, other: Self) -> Self:
        """The blocks of both, one after the other."""
        pairs = zip(self._columns, other._columns, strict=True)
        return type(self)(self.orders, *(np.concatenate(pair) for pair in pairs))

    def where(self, mask: Bool) -> Self:
        """Only the blocks under the mask."""
        return type(self)(self.orders, *(column[mask] for column in self._columns))

    @property
    def _columns(self) -> tuple[I64, I64, I64, I64]:
        return self.texts, self.sizes, self.size_squares, self.own_squares


@dataclass(frozen=True, eq=False)
class BlockNgrams(TextNgrams):
    """The n-grams of each block. In a sketch, the counters of a count-sketch stand in place of the n-grams."""

    about: BlockSizes = field(kw_only=True)
    is_sketch: bool = field(kw_only=True, default=False)
    # The n-grams are those of one part; all sums per block are those of the whole.
    part: Part = EVERYTHING
    tally: Tally = whole_sum

    @classmethod
    def of_digest(cls, digest: Digest, counted: str, part: Part = EVERYTHING, tally: Tally = whole_sum) -> Self:
        """Those of n-grams (`grams`) or of openings and endings (`edges`)."""
        about = BlockSizes.of(digest, counted)
        return cls(
            about.sizes[:, 0],
            lambda n: part_of(digest, f"{counted}/{n}", part).incidence(),
            about=about,
            is_sketch=bool(digest.header.layout.sketch),
            part=part,
            tally=tally,
        )

    @property
    def summed(self) -> Tally:
        """What sums over n-grams go through."""
        return self.tally

    @property
    def words_at_once(self) -> int:
        """About how many words are counted in this part."""
        return int(self.lengths.sum()) // self.part.of

    def merge(self, other: TextNgrams, /) -> Self:
        """The blocks of both, one after the other."""
        assert isinstance(other, BlockNgrams)
        about = self.about.merge(other.about)

        def joined(n: int) -> Incidence:
            return self.order(n).merge(other.order(n), len(self))

        return replace(self, lengths=about.sizes[:, 0], _count=joined, about=about, _orders={}, _kept=_nothing_kept())

    def where(self, mask: Bool) -> Self:
        """Only the blocks under the mask."""
        about = self.about.where(mask)
        return replace(
            self,
            lengths=about.sizes[:, 0],
            _count=lambda n: self.order(n).where(mask),
            about=about,
            _orders={},
            _kept=_nothing_kept(),
        )

    def sizes(self, n: int) -> I64:
        """The number of n-grams of each block."""
        return self.about.sizes[:, self._column(n)]

    def size_squares(self, n: int) -> I64:
        """The sum over the texts of each block of their squared number of n-grams."""
        return self.about.size_squares[:, self._column(n)]

    def own_squares(self, n: int) -> F64:
        """The sum over the texts of each block of the squared counts of their n-grams."""
        return self.about.own_squares[:, self._column(n)].astype(np.float64)

    @property
    def row_texts(self) -> I64:
        """The number of texts of each block."""
        return self.about.texts

    def common(self, n: int) -> Bool:
        """Which n-grams are counted: all counters of a sketch, and otherwise what occurs more than once."""
        return np.ones(len(self.order(n).keys), dtype=bool) if self.is_sketch else super().common(n)

    def _column(self, n: int) -> int:
        return self.about.orders.index(n)


def _nothing_kept() -> WeakKeyDictionary[TextNgrams, dict[tuple[str, int], Any]]:
    return WeakKeyDictionary()


def part_of(digest: Digest, name: str, part: Part) -> BlockTable:
    """The entries of a statistic in one part of the n-grams."""
    if part.number is None:
        return BlockTable.of_rows(np.zeros((1, 0), dtype=np.int64))
    return digest.tables.part(name, part.number, part.of)


@dataclass(frozen=True, slots=True, eq=False)
class DigestSample(Sample):
    """A sample whose texts are not known: their number and their digest."""

    n_texts: int = 0

    def __len__(self) -> int:
        return self.n_texts


@dataclass(frozen=True, eq=False)
class BlockMaterial(Material):
    """A digest as metrics read it; `keep` are the blocks that count, all without it."""

    digest: Digest = field(kw_only=True)
    part: Part = EVERYTHING
    tally: Tally = whole_sum

    @classmethod
    def of(cls, digest: Digest, settings: Settings, part: Part = EVERYTHING, tally: Tally = whole_sum) -> Self:
        """The material of a digest, with the n-grams of one part."""
        nothing = pa.array([], TEXT)
        # Some of the blocks have fewer texts than the digest that they are of.
        sample = DigestSample(nothing, digest.name, digest.content, n_texts=int(digest.block_texts.sum()))
        return cls(sample, settings, digest=digest, part=part, tally=tally)

    @property
    def n_blocks(self) -> int:
        """The number of blocks, which are the rows of its views."""
        return self.digest.header.layout.n_blocks

    def view(self, kind: type[V], /) -> V:
        """The view of this kind; an error for one that needs the texts."""
        if kind not in self._views:
            self._views[kind] = self._made(kind)
        found: V = self._views[kind]
        return found

    def _made(self, kind: type[Any]) -> Any:
        if kind in (TextNgrams, TextEdges):
            counted = "grams" if kind is TextNgrams else "edges"
            return BlockNgrams.of_digest(self.digest, counted, self.part, self.tally)
        if kind is Moments:
            return BlockMoments.of_digest(self.digest)
        if kind is Vectors:
            return feature_sums(self.digest)
        if kind in (Ngrams, Edges):
            texts = self.view(kind.source)
            if not self.digest.header.layout.sketch:
                return kind.of_texts(texts)
            return kind(texts.row_texts.sum(), lambda n: self._sketched(texts, n))
        raise InputError(f"{kind.__name__} needs the texts, which a digest does not have")

    def _sketched(self, texts: Any, n: int) -> Table:
        """The counters of the whole corpus, which are more than those by block; without them, those by block."""
        tables = self.digest.tables
        name = f"grams/{n} whole" if f"grams/{n} whole" in tables else f"grams/{n}"
        incidence = part_of(self.digest, name, self.part).incidence()
        return Table(
            keys=incidence.keys,
            counts=incidence.totals(),
            total=texts.sizes(n).sum(),
            own_squares=np.int64(texts.own_squares(n).sum()),
            size_squares=texts.size_squares(n).sum(),
            singles=np.int64(0),
            summed=self.tally,
        )


@dataclass(frozen=True, eq=False)
class BlockMoments(Moments):
    """The mean and the scatter of vectors that are not known; scatters by block where the digest has them."""

    by_block: tuple[Scatter, ...] = field(kw_only=True)

    @classmethod
    def of_digest(cls, digest: Digest) -> Self:
        """Those of the vectors of a digest."""
        layout, tables = digest.header.layout, digest.tables
        sums = vectors_of_block(tables["vector sums"], layout.n_blocks, layout.dimension)
        counts = digest.block_texts
        if "vector products" in tables:
            products = products_of_block(tables["vector products"], layout.n_blocks, layout.dimension)
            parts = tuple(_scatter(n, rows, both) for n, rows, both in zip(counts, sums, products, strict=True))
            whole = products.sum(axis=0)
        else:
            whole, parts = products_of_block(tables["vector products whole"], 1, layout.dimension)[0], ()
        total = _scatter(counts.sum(), sums.sum(axis=0), whole)
        return cls(layout.dimension, (Batch(total.count, _no_vectors),), {"total": total}, by_block=parts)

    @property
    def few(self) -> bool:
        """Always the scatter: there are no vectors."""
        return False

    @property
    def has_vectors(self) -> bool:
        """There are none."""
        return False

    def left_out(self, labels: I64) -> Iterator[Self]:
        """The moments with each fold of blocks left out in turn."""
        for fold in range(int(labels.max()) + 1):
            left = [each for each, label in zip(self.by_block, labels, strict=True) if label == fold]
            total = self.total.without(reduce(lambda a, b: a.merge(b), left)) if left else self.total
            yield replace(self, batches=(Batch(total.count, _no_vectors),), _made={"total": total}, by_block=())


def _scatter(count: int, sums: F64, products: F64) -> Scatter:
    mean = sums / max(count, 1)
    return Scatter(int(count), mean, products - count * np.outer(mean, mean))


def _no_vectors() -> F32:
    raise InputError("a digest has no vectors of single texts")


def feature_sums(digest: Digest) -> FeatureSums:
    """The random features of the vectors of a digest."""
    layout, tables = digest.header.layout, digest.tables
    moments = BlockMoments.of_digest(digest) if has_products(digest) else None
    blocks = features_of_block(tables["vector features"], layout.n_blocks, 1, layout.dimension)
    has_whole = "vector features whole" in tables
    whole = features_of_block(tables["vector features whole"], 1, GROUPS, layout.dimension)[0] if has_whole else None
    sums = vectors_of_block(tables["vector sums"], layout.n_blocks, layout.dimension)
    texts = digest.block_texts.astype(np.float64)
    return FeatureSums(
        np.zeros((0, layout.dimension), np.float32),
        texts=texts,
        blocks=blocks,
        whole=blocks.sum(axis=0) if whole is None else whole,
        # Vectors without products have length 1, as those of most encoders.
        squares=texts.sum() if moments is None else _squares(moments),
        sums=sums.sum(axis=0),
    )


def _squares(moments: Moments) -> float:
    total = moments.total
    return float(np.trace(total.cross) + total.count * (total.mean @ total.mean))


def has_products(digest: Digest) -> bool:
    """Whether a digest has the products of the numbers of its vectors, by block or of all of them."""
    return any(name in digest.tables for name in ("vector products", "vector products whole"))


def why_left_out(request: Request, digest: Digest, n_parts: int = 1) -> str | None:
    """Why a metric cannot be measured on this digest, None if it can be."""
    layout = digest.header.layout
    orders: dict[type, tuple[int, ...]] = {Ngrams: layout.orders, Edges: layout.edges}
    if set(request.metric.views) & {Vectors, Moments}:
        return _why_vectors_left_out(request, digest)
    if not set(request.metric.views) <= set(orders):
        return "needs the texts"
    n = request.options.get("n", 1)
    if any(n not in orders[view] for view in request.metric.views):
        return f"digests count n-grams up to order {layout.orders[-1]}"
    if layout.sketch and not request.metric.reads_sketch(request.options):
        return "needs exact counts, and this digest is a sketch"
    if not request.metric.adds_up and n_parts > 1:
        return "reads all n-grams at once, and this digest is too large for that"
    return None


# The metrics on vectors that sums are enough for, with the options that they are enough for.
_ON_VECTORS: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "frechet": {"variant": ("plugin",)},
    "mmd": {"kernel": ("rbf",), "variant": ("v", "u")},
}


def _why_vectors_left_out(request: Request, digest: Digest) -> str | None:
    if not digest.header.layout.dimension:
        return "needs vectors, and this digest was made without an encoder"
    wanted = _ON_VECTORS.get(request.metric.name)
    if wanted is None or any(request.options[option] not in values for option, values in wanted.items()):
        return "needs the vectors of single texts"
    return None


def as_answered(request: Request, digest: Digest) -> Request:
    """The request with the interval and the test that digests of this kind allow."""
    if request.metric.name != "frechet":
        return request
    by_block = "vector products" in digest.tables
    interval = request.metric.interval if by_block else None
    return replace(request, metric=replace(request.metric, interval=interval, test=None))


def joined_blocks(digest: Digest, group_of_block: NDArray[np.int64]) -> Digest:
    """The digest with blocks joined: block b is a part of block `group_of_block[b]`, or left out below 0."""
    n_blocks = int(group_of_block.max()) + 1
    names = tuple(digest.tables)
    whole = frozenset(name for name in names if name.endswith(" whole"))
    if (group_of_block < 0).any():
        # Sums of the whole corpus are not those of some of its blocks.
        names, whole = tuple(name for name in names if name not in whole), frozenset()
    tables = GroupedTables(digest.tables, group_of_block, names, whole)
    layout = replace(digest.header.layout, n_blocks=n_blocks)
    return replace(digest, header=replace(digest.header, layout=layout), tables=tables)
