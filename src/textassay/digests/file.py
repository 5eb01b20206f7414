"""Digest files: Arrow IPC with a versioned header, written completely or not at all, read as a whole or in parts.

Every statistic is one record batch, or one per part of the n-grams; each has its own checksum. A file that is too large
for memory is read part by part.
"""

import hashlib
import json
import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from io import BytesIO
from pathlib import Path
from typing import Any, BinaryIO, Self

import numpy as np
import pyarrow as pa
import pyarrow.ipc

from textassay.corpus.files.reading import PER_VALUE, Budget, PackedBudget, open_regular
from textassay.corpus.files.writing import replaced_file
from textassay.corpus.printable import printable, shortened
from textassay.digests.arrow_sizes import ArrowBlocks, batch_bytes, read_blocks
from textassay.digests.block_table import BlockTable
from textassay.digests.digest import VERSION, Digest, Header, Shard
from textassay.digests.statistics import BY_BLOCK, Layout, is_signed, table_widths
from textassay.digests.tables import KeptTables, is_in_parts
from textassay.digests.vectors import LARGEST_DIMENSION, rows_of_products
from textassay.errors import InputError

ENDING = ".digest"
_MAGIC = b"ARROW1"
_HEADER = b"textassay digest"
_CHECKSUM = "checksum"
# The values of the header by name.
_KINDS: Mapping[str, Any] = {
    "tokenizer": str,
    "strip": str | None,
    "key": str,
    "private": bool,
    "encoder": str | None,
    "version": int,
}
_CONTENT = re.compile("[0-9a-f]{16}")
# Blocks are numbered with 16 bits.
MOST_BLOCKS = 4096
LARGEST_SKETCH = 1 << 24
# Smaller files are read and checked at once, and larger ones part by part.
KEPT_BYTES = 64 << 20
_SCHEMA = pa.schema(
    [
        ("statistic", pa.dictionary(pa.int16(), pa.string())),
        ("key", pa.uint64()),
        ("block", pa.uint16()),
        ("value", pa.int64()),
    ]
)
_READ_ERRORS = (OSError, ValueError, KeyError, TypeError, IndexError, AttributeError, pa.ArrowException, OverflowError)


def digest_bytes(digest: Digest) -> bytes:
    """The file as bytes: the same for the same digest."""
    sink = BytesIO()
    _write(digest, sink)
    return sink.getvalue()


def write_digest(digest: Digest, path: str | os.PathLike[str]) -> None:
    """Write a digest by replacing the file, so that it is never incomplete; one part is in memory at a time."""
    with replaced_file(path) as sink:
        _write(digest, sink)


def _write(digest: Digest, sink: BinaryIO) -> None:
    n_parts, names = digest.n_parts, sorted(digest.tables)
    counts = {name: n_parts if is_in_parts(name) else 1 for name in names}
    header = json.dumps(_plain(digest, counts), sort_keys=True, separators=(",", ":")).encode()
    options = pa.ipc.IpcWriteOptions(compression="zstd", use_threads=False)
    about = {_HEADER: header, _CHECKSUM: _checksum_of_header(header)}
    with pa.ipc.new_file(sink, _SCHEMA.with_metadata(about), options=options) as writer:
        for number, name in enumerate(names):
            for part in range(counts[name]):
                table = digest.tables.part(name, part, counts[name])
                codes = pa.array(np.full(len(table), number, dtype=np.int16))
                statistic = pa.DictionaryArray.from_arrays(codes, pa.array(names, pa.string()))
                columns = [statistic, pa.array(table.keys), pa.array(table.blocks), pa.array(table.values)]
                batch = pa.record_batch(columns, schema=_SCHEMA)
                writer.write_batch(batch, custom_metadata={_CHECKSUM: _checksum(name, table)})


def is_digest(path: object) -> bool:
    """Whether a path names a file that begins as Arrow files do and ends as those of digests are named."""
    return isinstance(path, str | os.PathLike) and str(path).endswith(ENDING) and Path(path).is_file()


def read_digest(path: str | os.PathLike[str], *, keep: bool = True) -> Digest:
    """Read a digest; a file that is none, or of another version, is an error.

    The tables of a large file stay in it, and so do those of any file without `keep`.
    """
    with _opened(path) as batches:
        reader = batches.reader
        plain = _read_header(batches)
        for name, kind in _KINDS.items():
            if not isinstance(plain[name], kind):
                raise ValueError(f"{name} {plain[name]!r}")
        if plain["version"] != VERSION:
            raise InputError(
                f"{printable(str(path))}: a digest of version {plain['version']}; this program reads version {VERSION}"
            )
        if reader.schema.metadata.get(_CHECKSUM.encode()) != _checksum_of_header(reader.schema.metadata[_HEADER]):
            raise ValueError("the header is not the one that was written")
        if not reader.schema.equals(_SCHEMA):
            raise ValueError("other columns")
        layout = Layout(**plain["layout"])
        _check_layout(layout, plain["encoder"])
        n_rows = rows_of_products(layout.n_blocks, by_block=not layout.sketch)
        Budget.of_input().charge(8 * n_rows * layout.dimension**2, batches.where)
        stored = StoredTables(os.path.abspath(path), dict(plain["tables"]), layout)
        if sum(stored.counts.values()) != reader.num_record_batches:
            raise ValueError("another number of tables")
        if stored.counts.keys() != table_widths(layout).keys():
            raise ValueError("other tables than its settings give")
        is_kept = keep and os.path.getsize(path) <= KEPT_BYTES
        if is_kept:
            batches.charge(*range(reader.num_record_batches))
        tables = KeptTables({name: stored[name] for name in stored}, stored) if is_kept else stored
        digest = _digest(plain, tables, Path(path).name.removesuffix(ENDING))
        _check(digest, counts=stored.counts)
    return digest


@dataclass(frozen=True)
class _Batches:
    """The record batches of an open file, whose memory is charged to a budget before they are read."""

    file: BinaryIO
    reader: Any
    blocks: ArrowBlocks
    budget: Budget
    packed: PackedBudget
    where: str

    @classmethod
    def of(cls, file: BinaryIO, where: str) -> Self:
        """Those of a file; its dictionaries are charged at once, since they are read with the first batch."""
        budget = Budget.of_input()
        blocks = read_blocks(file, lambda size: budget.charge(2 * size, where))
        packed = budget.of_packed(os.fstat(file.fileno()).st_size)
        for block in blocks.dictionaries:
            packed.charge(batch_bytes(file, block, is_dictionary=True), where)
        return cls(file, pa.ipc.open_file(file), blocks, budget, packed, where)

    def charge(self, *numbers: int) -> None:
        for number in numbers:
            self.packed.charge(batch_bytes(self.file, self.blocks.batches[number]), self.where)

    def read(self, number: int) -> tuple[pa.RecordBatch, Any]:
        """A batch, and its metadata."""
        self.charge(number)
        found: tuple[pa.RecordBatch, Any] = self.reader.get_batch_with_custom_metadata(number)
        return found


def _read_header(batches: _Batches) -> dict[str, Any]:
    """The header, with its values within the budget."""
    content = (batches.reader.schema.metadata or {})[_HEADER]
    batches.budget.charge(PER_VALUE * sum(map(content.count, (b"[", b"{", b","))), batches.where)
    plain: dict[str, Any] = json.loads(content)
    return plain


def _check_layout(layout: Layout, encoder: object) -> None:
    """Raise an error for numbers that no digest has: what is read later must not be trusted otherwise."""
    whole = {"blocks": layout.n_blocks, "sketch": layout.sketch, "dimension": layout.dimension}
    for name, value in whole.items():
        if not isinstance(value, int) or isinstance(value, bool):
            raise ValueError(f"{name} {value!r}")
    if not 2 <= layout.n_blocks <= MOST_BLOCKS:
        raise ValueError(f"{layout.n_blocks:,} blocks")
    if layout.sketch % BY_BLOCK or not 0 <= layout.sketch <= LARGEST_SKETCH:
        raise ValueError(f"a sketch with {layout.sketch:,} counters")
    if not 0 <= layout.dimension <= LARGEST_DIMENSION or (layout.dimension > 0) != isinstance(encoder, str):
        raise ValueError(f"vectors of {layout.dimension:,} numbers")


@contextmanager
def _opened(path: str | os.PathLike[str]) -> Iterator[_Batches]:
    """The record batches of a digest, with errors that name the file."""
    where = printable(str(path))
    with open_regular(path) as file:
        if file.read(len(_MAGIC)) != _MAGIC:
            raise InputError(f"{where}: not a digest; wanted a file that `textassay digest` wrote")
        try:
            yield _Batches.of(file, where)
        except _READ_ERRORS as error:
            if isinstance(error, InputError):
                raise
            raise InputError(f"{where}: not a digest, or a damaged one ({shortened(str(error))})") from None


@dataclass(frozen=True, eq=False)
class StoredTables(Mapping[str, BlockTable]):
    """The tables in a digest file, and into how many parts each of them is divided."""

    path: str
    counts: Mapping[str, int]
    layout: Layout
    _kept: dict[str, BlockTable] = field(default_factory=dict, repr=False)
    # The last part that was read: ranges of a part are asked for one after the other.
    _last: dict[str, tuple[int, BlockTable]] = field(default_factory=dict, repr=False)

    def __reduce__(self) -> tuple[Any, ...]:
        return StoredTables, (self.path, dict(self.counts), self.layout)

    def __getitem__(self, name: str) -> BlockTable:
        if name not in self._kept:
            found = self.part(name, 0, 1)
            if is_in_parts(name):
                return found
            self._kept[name] = found
        return self._kept[name]

    def __iter__(self) -> Iterator[str]:
        return iter(sorted(self.counts))

    def __len__(self) -> int:
        return len(self.counts)

    def __contains__(self, name: object) -> bool:
        return name in self.counts

    def part(self, name: str, number: int, of: int) -> BlockTable:
        """The entries of a statistic with keys in one of `of` equal ranges."""
        stored = self.counts[name]
        # As many ranges as there are, or fewer: whole parts; more: a range of a part.
        first, last = number * stored // of, max((number + 1) * stored // of, number * stored // of + 1)
        kept = self._last.get(name)
        if of > stored and kept is not None and kept[0] == first:
            return kept[1].part(number, of)
        with _opened(self.path) as batches:
            begin = sum(self.counts[other] for other in self if other < name)
            parts = [self._read(batches, begin + k, name) for k in range(first, last)]
        whole = parts[0] if len(parts) == 1 else BlockTable.joined(parts)
        if of <= stored:
            return whole
        self._last.clear()
        self._last[name] = first, whole
        return whole.part(number, of)

    def _read(self, batches: _Batches, number: int, name: str) -> BlockTable:
        batch, metadata = batches.read(number)
        table = BlockTable(*(batch.column(k).to_numpy() for k in (1, 2, 3)))
        if metadata is None or metadata[_CHECKSUM].decode() != _checksum(name, table):
            raise ValueError(f"the numbers of {name} are not those that were written")
        is_sorted = (table.keys[1:] > table.keys[:-1]) | (
            (table.keys[1:] == table.keys[:-1]) & (table.blocks[1:] > table.blocks[:-1])
        )
        if not is_sorted.all() or (len(table) and int(table.blocks.max()) >= self.layout.n_blocks):
            raise ValueError(f"{name} is not in order")
        width = table_widths(self.layout)[name]
        if width is not None and len(table) and int(table.keys[-1]) >= width:
            raise ValueError(f"{name} has more than {width:,} keys")
        if not is_signed(name, self.layout) and len(table) and int(table.values.min()) < 1:
            raise ValueError(f"{name} has counts below 1")
        return table


def _plain(digest: Digest, counts: Mapping[str, int]) -> dict[str, Any]:
    return {
        **asdict(digest.header),
        "skipped": digest.n_skipped,
        "tables": counts,
        "shards": [[each.name, each.n, each.digest] for each in digest.shards],
    }


def _digest(plain: Mapping[str, Any], tables: Any, name: str) -> Digest:
    header = Header(layout=Layout(**plain["layout"]), **{name: plain[name] for name in _KINDS})
    shards = tuple(_shard(*each) for each in plain["shards"])
    if len({shard.name for shard in shards}) < len(shards):
        raise ValueError("a shard is listed twice")
    return Digest(name, header, shards, tables, _count(plain["skipped"]))


def _shard(name: Any, n: Any, content: Any) -> Shard:
    if not isinstance(name, str) or not isinstance(content, str) or not _CONTENT.fullmatch(content):
        raise ValueError(f"the shard {name!r} with the content {content!r}")
    return Shard(name, _count(n), content)


def _count(value: Any) -> int:
    """A number of texts or shards that a sum of 64 bits can have."""
    if type(value) is not int or not 0 <= value < 1 << 63:
        raise ValueError(f"the number {value!r:.40}")
    return value


def _checksum_of_header(header: bytes) -> bytes:
    return hashlib.blake2b(header, digest_size=8).hexdigest().encode()


def _checksum(name: str, table: BlockTable) -> str:
    hasher = hashlib.blake2b(name.encode(), digest_size=8)
    for column in (table.keys, table.blocks, table.values):
        hasher.update(np.ascontiguousarray(column).data)
    return hasher.hexdigest()


def _check(digest: Digest, *, counts: Mapping[str, int]) -> None:
    """Raise an error for numbers of texts and parts that no digest has."""
    if digest.n != sum(shard.n for shard in digest.shards) or digest.n < 1:
        raise ValueError("the number of texts does not agree")
    if counts != {name: digest.n_parts if is_in_parts(name) else 1 for name in counts}:
        raise ValueError("another number of parts")
