"""Digest files: Arrow IPC with a versioned header, written completely or not at all."""

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.ipc

from textassay.corpus.files import open_regular, replace_file
from textassay.corpus.printable import printable, shortened
from textassay.digests.block_table import BlockTable
from textassay.digests.digest import VERSION, Digest, Header, Shard
from textassay.digests.statistics import Layout
from textassay.errors import InputError

ENDING = ".digest"
_MAGIC = b"ARROW1"
_HEADER = b"textassay digest"
# Blocks are numbered with 16 bits.
MOST_BLOCKS = 4096
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
    header = json.dumps(_plain(digest), sort_keys=True, separators=(",", ":")).encode()
    names = sorted(digest.tables)
    sink = pa.BufferOutputStream()
    options = pa.ipc.IpcWriteOptions(compression="zstd", use_threads=False)
    with pa.ipc.new_file(sink, _SCHEMA.with_metadata({_HEADER: header}), options=options) as writer:
        for number, name in enumerate(names):
            table = digest.tables[name]
            codes = pa.array(np.full(len(table), number, dtype=np.int16))
            statistic = pa.DictionaryArray.from_arrays(codes, pa.array(names, pa.string()))
            columns = [statistic, pa.array(table.keys), pa.array(table.blocks), pa.array(table.values)]
            writer.write_batch(pa.record_batch(columns, schema=_SCHEMA))
    return bytes(sink.getvalue())


def write_digest(digest: Digest, path: str | os.PathLike[str]) -> None:
    """Write a digest by replacing the file, so that it is never incomplete."""
    replace_file(path, digest_bytes(digest))


def is_digest(path: object) -> bool:
    """Whether a path names a file that begins as Arrow files do and ends as those of digests are named."""
    return isinstance(path, str | os.PathLike) and str(path).endswith(ENDING) and Path(path).is_file()


def read_digest(path: str | os.PathLike[str]) -> Digest:
    """Read a digest; a file that is none, or of another version, is an error."""
    where = printable(str(path))
    with open_regular(path) as file:
        if file.read(len(_MAGIC)) != _MAGIC:
            raise InputError(f"{where}: not a digest; wanted a file that `textassay digest` wrote")
        try:
            reader = pa.ipc.open_file(file)
            plain = json.loads((reader.schema.metadata or {})[_HEADER])
            if plain["version"] != VERSION:
                raise InputError(
                    f"{where}: a digest of version {plain['version']}; this program reads version {VERSION}"
                )
            tables = _tables(reader.read_all())
            digest = _digest(plain, tables, Path(path).name.removesuffix(ENDING))
            _check(digest, plain["checksum"])
        except _READ_ERRORS as error:
            if isinstance(error, InputError):
                raise
            raise InputError(f"{where}: not a digest, or a damaged one ({shortened(str(error))})") from None
    return digest


def _plain(digest: Digest) -> dict[str, Any]:
    header = asdict(digest.header)
    return {
        **header,
        "skipped": digest.n_skipped,
        "checksum": _checksum(digest.tables),
        "shards": [[each.name, each.n, each.digest] for each in digest.shards],
    }


def _digest(plain: Mapping[str, Any], tables: Mapping[str, BlockTable], name: str) -> Digest:
    names = ("tokenizer", "strip", "key", "private", "version")
    header = Header(layout=Layout(**plain["layout"]), **{name: plain[name] for name in names})
    shards = tuple(Shard(str(name), int(n), str(content)) for name, n, content in plain["shards"])
    return Digest(name, header, shards, tables, int(plain["skipped"]))


def _tables(table: pa.Table) -> dict[str, BlockTable]:
    if not table.schema.equals(_SCHEMA):
        raise ValueError("other columns")
    found: dict[str, BlockTable] = {}
    for batch in table.to_batches():
        if not len(batch):
            continue
        name = batch.column(0)[0].as_py()
        columns = [batch.column(k).to_numpy() for k in (1, 2, 3)]
        part = BlockTable(*columns)
        found[name] = BlockTable.merged([found[name], part]) if name in found else part
    return found


def _checksum(tables: Mapping[str, BlockTable]) -> str:
    hasher = hashlib.blake2b(digest_size=8)
    for name in sorted(tables):
        hasher.update(name.encode())
        for column in (tables[name].keys, tables[name].blocks, tables[name].values):
            hasher.update(np.ascontiguousarray(column).data)
    return hasher.hexdigest()


def _check(digest: Digest, checksum: str) -> None:
    """Raise an error for numbers that no digest has: what is read later must not be trusted otherwise."""
    layout = digest.header.layout
    if _checksum(digest.tables) != checksum:
        raise ValueError("the numbers are not those that were written")
    if not (isinstance(layout.n_blocks, int) and 2 <= layout.n_blocks <= MOST_BLOCKS):
        raise ValueError(f"{layout.n_blocks!r} blocks")
    if digest.n != sum(shard.n for shard in digest.shards) or digest.n < 1:
        raise ValueError("the number of texts does not agree")
    for name, table in digest.tables.items():
        is_sorted = (table.keys[1:] > table.keys[:-1]) | (
            (table.keys[1:] == table.keys[:-1]) & (table.blocks[1:] > table.blocks[:-1])
        )
        if not is_sorted.all() or (len(table) and int(table.blocks.max()) >= layout.n_blocks):
            raise ValueError(f"{name} is not in order")
