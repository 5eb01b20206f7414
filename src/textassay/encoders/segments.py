"""Segments: files of vectors that are written atomically, with one checksum per row that is verified on reading."""

import errno
import os
import stat
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
_OWNER = struct.calcsize("<8sIIQ")  # where the digest of the encoder's name begins
_SEAL = struct.Struct("<I")
_BLOCK = 4096  # rows at a time, which fit into a processor's cache
_START = 64  # the content after the header is aligned to the size of a key


class DamagedFile(ValueError):
    """A file that is not a complete segment of this encoder."""


def digest_of(text: str) -> bytes:
    """The key of a text, or the identifier of an encoder's name in headers and folder names."""
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=KEY.itemsize).digest()


def keys_of(texts: Iterable[str]) -> Keys:
    """One key per text."""
    return np.frombuffer(b"".join(map(digest_of, texts)), KEY)


@dataclass(frozen=True, eq=False)
class Segment:
    """An open segment: sorted keys in memory, vectors mapped and not yet read."""

    path: Path
    keys: Keys
    values: F32
    checksums: NDArray[np.uint32]
    damaged: int = 0
    """The number of damaged rows of the file, which are left out."""

    def find(self, keys: Keys) -> tuple[I64, I64]:
        """Indices of the keys that this segment has, and their rows."""
        at = np.searchsorted(self.keys, keys)
        places = np.flatnonzero(at < len(self.keys))
        places = places[self.keys[at[places]] == keys[places]]
        return places, at[places]

    def take(self, rows: I64) -> tuple[F32, Bool]:
        """The vectors of the rows, and which of them match their checksums."""
        values = np.ascontiguousarray(self.values[rows])
        return values, row_checksums(self.keys[rows], values) == self.checksums[rows]

    def copy(self, rows: I64, values: F32, places: I64) -> Bool:
        """Copy the vectors of the rows to their places in `values`; return which ones matched their checksums."""
        good = np.zeros(len(rows), bool)
        for begin in range(0, len(rows), _BLOCK):
            part = slice(begin, begin + _BLOCK)
            taken, good[part] = self.take(rows[part])
            values[places[part][good[part]]] = taken[good[part]]
        return good


def row_checksums(keys: Keys, values: F32) -> NDArray[np.uint32]:
    """One checksum per row, over key and vector, so that a vector cannot be mistaken for that of another text."""
    heads, size = keys.tobytes(), KEY.itemsize
    sums = (crc32(row, crc32(heads[place * size : (place + 1) * size])) for place, row in enumerate(values))
    return np.fromiter(sums, np.uint32, len(keys))


def write_segment(folder: Path, keys: Keys, values: F32, *, encoder: bytes, used: float | None = None) -> Path:
    """Write distinct keys and their vectors; `used` is the time of their last use, by default now.

    The file name is a digest of the content, so that processes that write the same rows write the same file.
    """
    order = np.argsort(keys)
    keys, values = keys[order], np.ascontiguousarray(values[order], "<f4")
    sums = row_checksums(keys, values).astype("<u4").tobytes()
    name = blake2b(encoder + keys.tobytes() + sums, digest_size=16).hexdigest() + SUFFIX
    header = _HEADER.pack(_MAGIC, _VERSION, values.shape[1], len(keys), encoder, crc32(keys.tobytes()))
    sealed = (header + _SEAL.pack(crc32(header))).ljust(_START, b"\0")
    return write_whole(folder / name, (sealed, keys.tobytes(), values.tobytes(), sums), used=used)


def write_whole(path: Path, blocks: Iterable[bytes], *, used: float | None = None) -> Path:
    """Write a temporary file in the same folder, flush it to disk and rename it."""
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
    """Flush the new entry of a folder to disk before the files that it replaces are removed."""
    with suppress(OSError):  # some systems cannot open a folder and do not need this
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def read_start(path: Path, size: int) -> tuple[bytes, int]:
    """At most `size` bytes from the beginning of a regular file, and its length; an `OSError` for anything else.

    A link is not followed, and opening does not wait: a name in the cache may be a pipe, or lead to an endless device.
    """
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    with open(os.open(path, flags), "rb") as file:
        about = os.fstat(file.fileno())
        if not stat.S_ISREG(about.st_mode):
            raise OSError(errno.EINVAL, "not a regular file")
        return file.read(size), about.st_size


def read_count(path: Path) -> tuple[int, int]:
    """Rows and dimension in a segment's header, if the length of the file agrees with it."""
    count, dimension, _, _ = _header(*read_start(path, _START))
    return count, dimension


def is_own_segment(path: Path) -> bool:
    """Whether the beginning of a file shows that the cache wrote it, in any version, even if a part is damaged.

    A beginning of zeros, or none, is what a crash of the system leaves, so that it counts as damaged.
    """
    try:
        block, _ = read_start(path, _HEADER.size)
    except OSError:
        return False
    owner = slice(_OWNER, _OWNER + KEY.itemsize)
    return not block.strip(b"\0") or block.startswith(_MAGIC) or block[owner].hex() == path.parent.name


def read_segment(path: Path, *, encoder: bytes, dimension: int) -> Segment:
    """Open a segment; if its keys are damaged, only the rows that match their checksums."""
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
    """The rows of a damaged segment that match their checksums, sorted by key."""
    rows = np.flatnonzero(segment.take(np.arange(len(segment.keys)))[1])
    rows = rows[np.argsort(segment.keys[rows])]
    damaged = len(segment.keys) - len(rows)
    return Segment(segment.path, segment.keys[rows], segment.values[rows], segment.checksums[rows], damaged)


def _header(block: bytes, size: int) -> tuple[int, int, bytes, int]:
    """Count, dimension, encoder and the keys' checksum, or an error if the file does not agree with them."""
    if len(block) < _START:
        raise DamagedFile("the file is too short for a header")
    magic, version, dimension, count, encoder, seal = _HEADER.unpack_from(block)
    sealed = _SEAL.pack(crc32(block[: _HEADER.size]))
    if (magic, version) != (_MAGIC, _VERSION) or block[_HEADER.size :] != sealed.ljust(_START - _HEADER.size, b"\0"):
        raise DamagedFile("the header is damaged or foreign")
    if size != _START + count * (KEY.itemsize + 4 * dimension + 4):
        raise DamagedFile("the length of the file does not agree with its header")
    return count, dimension, encoder, seal
