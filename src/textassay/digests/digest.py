"""A digest: what a corpus counts by block of texts, with everything that two digests must agree on to be compared.

A digest has no texts. It adds up: digests of shards, made anywhere and in any order, merge to the same bytes as the
digest of all shards together.
"""

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Self, TypeVar, cast

import numpy as np
import pyarrow as pa

from textassay.corpus.arrays import I64, U64
from textassay.corpus.hashed_ngrams import Sequences, hash_words, mix
from textassay.corpus.markdown import stripped
from textassay.corpus.printable import many, printable, quoted, shortened
from textassay.corpus.sample import TEXT, Sample
from textassay.digests.block_table import BlockTable
from textassay.digests.statistics import Layout, block_numbers, merged_table, merged_tables, tables_of
from textassay.digests.tables import KeptTables, Tables, count_parts
from textassay.errors import InputError
from textassay.metrics.views import Material, Settings, View

V = TypeVar("V", bound=View)

# Texts that are counted at a time, without and with vectors.
_TEXTS_AT_ONCE, _VECTORS_AT_ONCE = 262_144, 32_768
# Shards that a description lists.
_MOST_SHOWN = 20
VERSION = 4


@dataclass(frozen=True, order=True)
class Shard:
    """A part of the corpus: its name, its number of texts, and the digest of its texts in any order."""

    name: str
    n: int
    digest: str


@dataclass(frozen=True)
class Header:
    """What two digests must agree on: the tokens, the markup that was taken out, the layout and the key of the blocks.

    `key` is a hash of the key that deals texts into blocks; with `private` it also hashes words, so that nobody without
    it can look up whether a word occurs.
    """

    tokenizer: str
    strip: str | None = None
    layout: Layout = field(default_factory=Layout)
    key: str = ""
    private: bool = False
    # The name of the encoder whose vectors are summed.
    encoder: str | None = None
    version: int = VERSION

    def difference(self, other: Self) -> str | None:
        """What differs from another header in words, None if nothing does."""
        named = (
            ("version", self.version, other.version),
            ("tokenizer", self.tokenizer, other.tokenizer),
            ("removed markup", self.strip or "none", other.strip or "none"),
            ("encoder", self.encoder or "none", other.encoder or "none"),
            ("number of blocks", self.layout.n_blocks, other.layout.n_blocks),
            ("width of the sketch", self.layout.sketch or "exact", other.layout.sketch or "exact"),
            ("numbers of a vector", self.layout.dimension, other.layout.dimension),
            ("hashed words", "yes" if self.private else "no", "yes" if other.private else "no"),
            ("key", self.key[:8] or "none", other.key[:8] or "none"),
        )
        found = [
            f"{name} {shortened(str(mine), 60)} and {shortened(str(theirs), 60)}"
            for name, mine, theirs in named
            if mine != theirs
        ]
        return ", ".join(found) or None


@dataclass(frozen=True, eq=False)
class Digest:
    """Statistics by name, each by key and block, and the shards that they come from.

    `n_skipped` is the number of shards that could not be read and were left out.
    """

    name: str
    header: Header
    shards: tuple[Shard, ...]
    tables: Tables
    n_skipped: int = 0

    @property
    def n(self) -> int:
        """The number of texts."""
        return int(self.block_texts.sum())

    @property
    def n_parts(self) -> int:
        """The number of parts that its n-grams are divided into."""
        return count_parts(self.tables, is_sketch=bool(self.header.layout.sketch))

    @property
    def content(self) -> str:
        """The digest of all texts, whatever their order and their division into shards."""
        total = sum(int(shard.digest, 16) for shard in self.shards) % 2**64
        return f"{total:016x}"

    @property
    def block_texts(self) -> I64:
        """The number of texts of each block."""
        return self.tables["texts"].rows(self.header.layout.n_blocks, 1)[:, 0]

    @property
    def repeated(self) -> float:
        """The share of texts that repeat another one word for word; of a large corpus, among the texts it keeps."""
        counts = self.tables["copies"].totals()
        return float(counts[counts > 1].sum() / counts.sum()) if len(counts) else 0.0

    @property
    def n_different(self) -> int | None:
        """The number of different texts; None for a corpus of which only some are kept."""
        counts = self.tables["copies"].totals()
        return len(counts) if counts.sum() == self.n else None

    def named(self, name: str) -> Self:
        """The same digest under another name."""
        return replace(self, name=name)

    def described(self) -> str:
        """What it is, line by line."""
        header, layout = self.header, self.header.layout
        counts = f"sketches with {layout.sketch:,} counters" if layout.sketch else "exact"
        pairs = [
            ("texts", f"{self.n:,} in {many(len(self.shards), 'shard')}"),
            ("left out", many(self.n_skipped, "shard") if self.n_skipped else "nothing"),
            ("content", self.content),
            ("tokenizer", shortened(header.tokenizer)),
            ("removed markup", shortened(header.strip or "none")),
            ("blocks", f"{layout.n_blocks:,} with {self.block_texts.min():,} to {self.block_texts.max():,} texts"),
            ("counts", f"{counts}, n-grams up to order {layout.orders[-1]}"),
            ("vectors", shortened(header.encoder or "none")),
            ("words", f"hashed with a secret ({printable(header.key[:8])})" if header.private else "hashed"),
        ]
        shards = [
            f"  {shortened(shard.name)}  {shard.n:,} texts  {shard.digest}" for shard in self.shards[:_MOST_SHOWN]
        ]
        more = [f"  and {len(self.shards) - _MOST_SHOWN:,} more"] if len(self.shards) > _MOST_SHOWN else []
        return "\n".join([*(f"{name}: {value}" for name, value in pairs), "shards:", *shards, *more])


def digest_sample(
    sample: Sample, settings: Settings, *, layout: Layout | None = None, shard: str | None = None, key: str = ""
) -> Digest:
    """The digest of a sample, which is one shard.

    Parameters
    ----------
    sample
        The texts. Where it has ids, they deal its texts into blocks, otherwise the name of the shard and the position.
    settings
        The tokenizer, the markup that is taken out, and the encoder; without one, the digest has no vectors.
    layout
        The number of blocks, and the width of the sketch.
    shard
        The name of the shard; by default that of the sample. A digest counts a shard once.
    key
        A secret that deals texts into blocks and hashes words, so that a digest can be given away without the words.

    Returns
    -------
    Digest
        What the texts count.
    """
    layout, shard = layout or Layout(), sample.name if shard is None else shard
    sample, encoder = stripped(sample, settings.strip), settings.encoder
    layout = replace(layout, dimension=0 if encoder is None else encoder.dimension)
    name = None if encoder is None else encoder.name
    header = Header(settings.tokenizer.signature, settings.strip, layout, _key_digest(key), bool(key), name)
    places = _places(sample, shard, key)
    blocks = block_numbers(places, layout.n_blocks)
    size = _TEXTS_AT_ONCE if encoder is None else _VECTORS_AT_ONCE
    starts = range(0, max(len(sample), 1), size)
    parts = [_tables(sample, settings, blocks, slice(begin, begin + size), layout, key) for begin in starts]
    about = Shard(_hashed_name(shard, key), len(sample), _content(sample.texts, key))
    return Digest(sample.name, header, (about,), KeptTables(merged_tables(parts)))


def _tables(
    sample: Sample, settings: Settings, blocks: I64, chosen: slice, layout: Layout, key: str
) -> Mapping[str, BlockTable]:
    texts = sample.texts[chosen]
    part = Sample.of(texts, name=sample.name)
    if len(part) != len(texts):
        raise InputError(f"{printable(sample.name)}: has blank texts; wanted texts that are read by read_sample")
    material = _SecretMaterial(part, settings, secret=_secret_number(key)) if key else Material(part, settings)
    return tables_of(material, blocks[chosen], layout)


@dataclass(frozen=True, eq=False)
class _SecretMaterial(Material):
    """A sample whose words are hashed with a secret; the words of two samples with the same secret still match."""

    secret: U64 = field(kw_only=True)

    def _shared(self, kind: type[V]) -> V:
        """The view of this kind, not shared with materials that have another secret or none."""
        found = kind.of(self)
        if isinstance(found, Sequences):
            words = mix(found.words * np.uint64(0x9E3779B97F4A7C15) + self.secret)
            return cast(V, Sequences(words, found.offsets, found.marks))
        return found


def _secret_number(key: str) -> U64:
    return np.frombuffer(hashlib.blake2b(key.encode(), digest_size=8, person=b"words").digest(), dtype="<u8")


def _key_digest(key: str) -> str:
    return hashlib.blake2b(key.encode(), digest_size=8, person=b"header").hexdigest() if key else ""


def _hashed_name(name: str, key: str) -> str:
    return name if not key else hashlib.blake2b(name.encode(), key=_secret(key), digest_size=8).hexdigest()


def _secret(key: str) -> bytes:
    return hashlib.blake2b(key.encode(), digest_size=32).digest()


def _places(sample: Sample, shard: str, key: str) -> U64:
    """A hash per text of its id, or of the shard and its position."""
    start = hashlib.blake2b(shard.encode(), key=_secret(key), digest_size=8).digest()
    if sample.ids is not None:
        salted = np.frombuffer(hashlib.blake2b(b"ids", key=_secret(key), digest_size=8).digest(), dtype="<u8")
        return mix(hash_words(sample.ids.cast(TEXT)) + salted)
    return mix(np.frombuffer(start, dtype="<u8") + np.arange(1, len(sample) + 1, dtype=np.uint64))


def _content(texts: pa.Array, key: str) -> str:
    """The sum of hashes of all texts: the same in any order. With a key, the sum tells nothing about single texts."""
    hashes = hash_words(texts)
    if key:
        hashes = mix(hashes + np.frombuffer(_secret(key)[:8], dtype="<u8"))
    return f"{int(mix(hashes).sum(dtype=np.uint64)):016x}"


def merge_digests(digests: Iterable[Digest], *, name: str | None = None) -> Digest:
    """The digest of several digests together; a shard that two of them have is an error, for it would count twice."""
    parts = list(digests)
    if not parts:
        raise InputError("no digest given; wanted at least one")
    first = parts[0]
    for other in parts[1:]:
        difference = first.header.difference(other.header)
        if difference is not None:
            raise InputError(
                f"{printable(other.name)} cannot be merged with {printable(first.name)}: {difference}; "
                "wanted digests made with the same settings"
            )
    shards = sorted(shard for part in parts for shard in part.shards)
    twice = [one.name for one, other in pairwise(shards) if one.name == other.name]
    if twice:
        raise InputError(f"two digests have the shard {quoted(twice[:1])}; wanted every shard once")
    skipped = sum(part.n_skipped for part in parts)
    return Digest(name or first.name, first.header, tuple(shards), _sums([part.tables for part in parts]), skipped)


def _sums(tables: Sequence[Tables]) -> Tables:
    """The sums of tables: in memory if all of them are, and otherwise computed when they are read."""
    if all(isinstance(each, KeptTables) for each in tables):
        return KeptTables(merged_tables([{name: each[name] for name in each} for each in tables]))
    return MergedTables(tuple(tables))


@dataclass(frozen=True, eq=False)
class MergedTables(Mapping[str, BlockTable]):
    """The sums of several tables, computed for one part at a time."""

    parts: tuple[Tables, ...]

    def __getitem__(self, name: str) -> BlockTable:
        return self.part(name, 0, 1)

    def __iter__(self) -> Iterator[str]:
        return iter(sorted({name for each in self.parts for name in each}))

    def __len__(self) -> int:
        return len(list(iter(self)))

    def __contains__(self, name: object) -> bool:
        return any(name in each for each in self.parts)

    def part(self, name: str, number: int, of: int) -> BlockTable:
        """The entries of a statistic with keys in one of `of` equal ranges."""
        return merged_table(name, [each.part(name, number, of) for each in self.parts if name in each])
