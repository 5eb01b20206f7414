"""Segments: files of vectors that are there whole or not at all, and whose every row proves itself when it is read."""

import os
import struct
import tempfile
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from textassay.corpus.arrays import F32, I64, Bool

Keys = NDArray[np.bytes_]

KEY = np.dtype("S16")
SUFFIX = ".v1"
PREFIX, TEMPORARY = "textassay-", ".tmp"
_MAGIC, _VERSION = b"TAVECTOR", 1
# Magic, version, dimension, count, digest of the encoder's name, checksum of all keys; then a checksum of these.
_HEADER = struct.Struct("<8sIIQ16sI")
_SEAL = struct.Struct("<I")
_BLOCK = 4096  # rows at a time, which a processor's cache can hold
_START = 64  # what follows the header lies on a multiple of the keys' size


class DamagedFile(ValueError):
    """A file that is no whole segment of this encoder."""


def digest_of(text: str) -> bytes:
    """What stands for a text among the keys, and for an encoder's name in headers and names of folders."""
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=KEY.itemsize).digest()


def keys_of(texts: Iterable[str]) -> Keys:
    """A key a text."""
    return np.frombuffer(b"".join(map(digest_of, texts)), KEY)


@dataclass(frozen=True, eq=False)
class Segment:
    """An open segment: keys in memory and in order, vectors mapped and not yet read."""

    path: Path
    keys: Keys
    values: F32
    checksums: NDArray[np.uint32]
    damaged: int = 0
    """Rows of the file that are left out here."""

    def find(self, keys: Keys) -> tuple[I64, I64]:
        """Places of those of the keys that this segment has, and the rows they are in."""
        at = np.searchsorted(self.keys, keys)
        places = np.flatnonzero(at < len(self.keys))
        places = places[self.keys[at[places]] == keys[places]]
        return places, at[places]

    def take(self, rows: I64) -> tuple[F32, Bool]:
        """The vectors of the rows, and which of them are what was once written."""
        values = np.ascontiguousarray(self.values[rows])
        return values, row_checksums(self.keys[rows], values) == self.checksums[rows]

    def copy(self, rows: I64, values: F32, places: I64) -> Bool:
        """Copy the vectors of the rows to their places in `values`; which ones were what was once written, and went."""
        good = np.zeros(len(rows), bool)
        for begin in range(0, len(rows), _BLOCK):
            part = slice(begin, begin + _BLOCK)
            taken, good[part] = self.take(rows[part])
            values[places[part][good[part]]] = taken[good[part]]
        return good


def row_checksums(keys: Keys, values: F32) -> NDArray[np.uint32]:
    """One checksum a row, over key and vector, so that a vector cannot pass for another text's."""
    heads, size = keys.tobytes(), KEY.itemsize
    sums = (crc32(row, crc32(heads[place * size : (place + 1) * size])) for place, row in enumerate(values))
    return np.fromiter(sums, np.uint32, len(keys))


def write_segment(folder: Path, keys: Keys, values: F32, *, encoder: bytes, used: float | None = None) -> Path:
    """Write distinct keys and their vectors; `used` is when they were last used, now where it is not given.

    The name is a digest of the content, so that processes that write the same rows write the same file.
    """
    order = np.argsort(keys)
    keys, values = keys[order], np.ascontiguousarray(values[order], "<f4")
    sums = row_checksums(keys, values).astype("<u4").tobytes()
    name = blake2b(encoder + keys.tobytes() + sums, digest_size=16).hexdigest() + SUFFIX
    header = _HEADER.pack(_MAGIC, _VERSION, values.shape[1], len(keys), encoder, crc32(keys.tobytes()))
    sealed = (header + _SEAL.pack(crc32(header))).ljust(_START, b"\0")
    return write_whole(folder / name, (sealed, keys.tobytes(), values.tobytes(), sums), used=used)


def write_whole(path: Path, blocks: Iterable[bytes], *, used: float | None = None) -> Path:
    """Write a file through a temporary one beside it; its bytes are on the disk before it gets its name."""
    handle, temporary = tempfile.mkstemp(suffix=TEMPORARY, prefix=PREFIX, dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.writelines(blocks)
            file.flush()
            os.fsync(file.fileno())
        if used is not None:
            os.utime(temporary, (used, used))
        os.replace(temporary, path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
    _settle(path.parent)
    return path


def _settle(folder: Path) -> None:
    """Have the folder's new entry on the disk, before any file is removed that it stands for."""
    with suppress(OSError):  # some systems cannot open a folder, and then do not need this
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def read_count(path: Path) -> tuple[int, int]:
    """Rows and dimension that a segment's header promises, where the file is as long as it promises."""
    with path.open("rb") as file:
        count, dimension, _, _ = _header(file.read(_START), os.fstat(file.fileno()).st_size)
    return count, dimension


def read_segment(path: Path, *, encoder: bytes, dimension: int) -> Segment:
    """Open a segment; of one whose keys are damaged only the rows that still prove themselves."""
    if not path.stat().st_size:
        raise DamagedFile("the file is empty")
    mapped = np.asarray(np.memmap(path, np.uint8, "r"))
    count, width, owner, seal = _header(mapped[:_START].tobytes(), len(mapped))
    if (owner, width) != (encoder, dimension):
        raise DamagedFile("the file belongs to another encoder")
    at_values, at_sums = _START + count * KEY.itemsize, len(mapped) - count * 4
    block = mapped[_START:at_values].tobytes()
    keys = np.frombuffer(block, KEY)
    values = mapped[at_values:at_sums].view("<f4").reshape(count, dimension)
    whole = Segment(path, keys, values, mapped[at_sums:].view("<u4"))
    return whole if crc32(block) == seal else salvaged(whole)


def salvaged(segment: Segment) -> Segment:
    """The rows of a damaged segment that still prove themselves, in order even where a key was damaged."""
    rows = np.flatnonzero(segment.take(np.arange(len(segment.keys)))[1])
    rows = rows[np.argsort(segment.keys[rows])]
    damaged = len(segment.keys) - len(rows)
    return Segment(segment.path, segment.keys[rows], segment.values[rows], segment.checksums[rows], damaged)


def _header(block: bytes, size: int) -> tuple[int, int, bytes, int]:
    """Count, dimension, encoder and the keys' checksum, or an error where the file is not what they promise."""
    if len(block) < _START:
        raise DamagedFile("the file is too short for a header")
    magic, version, dimension, count, encoder, seal = _HEADER.unpack_from(block)
    sealed = _SEAL.pack(crc32(block[: _HEADER.size]))
    if (magic, version) != (_MAGIC, _VERSION) or block[_HEADER.size :] != sealed.ljust(_START - _HEADER.size, b"\0"):
        raise DamagedFile("the header is damaged or foreign")
    if size != _START + count * (KEY.itemsize + 4 * dimension + 4):
        raise DamagedFile("the file is not as long as its header says")
    return count, dimension, encoder, seal
