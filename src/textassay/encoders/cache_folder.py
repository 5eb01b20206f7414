"""The cache folder: where vectors are kept, the files that hold them in segments, and the limit on its size."""

import errno
import os
import re
import stat
import struct
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from textassay.corpus.arrays import F32, I64, Bool
from textassay.corpus.files.reading import parse_size
from textassay.corpus.files.writing import flush_folder
from textassay.corpus.printable import shortened
from textassay.errors import InputError

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
        indices = np.flatnonzero(at < len(self.keys))
        indices = indices[self.keys[at[indices]] == keys[indices]]
        return indices, at[indices]

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
    sums = (crc32(row, crc32(heads[index * size : (index + 1) * size])) for index, row in enumerate(values))
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
    # Before the files that it replaces are removed.
    flush_folder(path.parent)
    return path


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


PLACE, LIMIT, OFF = "TEXTASSAY_CACHE", "TEXTASSAY_CACHE_LIMIT", "off"
DEFAULT_LIMIT = 4 * 2**30
NAME_FILE = "name.txt"
# Names of encoders contain paths; a longer file is not a name.
_LONGEST_NAME = 1 << 16

_FOLDER = re.compile(r"[0-9a-f]{32}")
# Segments of every version, so that those of other releases count towards the limit and can be removed.
_SEGMENT = re.compile(r"[0-9a-f]{32}\.v\d+")
_TEMPORARY = re.compile(rf"{PREFIX}\w+{re.escape(TEMPORARY)}")


@dataclass(frozen=True)
class Stored:
    """A file of the cache."""

    path: Path
    bytes: int
    used: float

    @property
    def is_segment(self) -> bool:
        """True for a file of vectors, false for a name file or a file of an interrupted run."""
        return _SEGMENT.fullmatch(self.path.name) is not None

    @property
    def is_name(self) -> bool:
        """True for the file with the encoder's name."""
        return self.path.name == NAME_FILE

    @property
    def is_temporary(self) -> bool:
        """True for a file that is being written, or whose process died while writing it."""
        return _TEMPORARY.fullmatch(self.path.name) is not None


def cache_root() -> Path | None:
    """The folder of the cache, None if it is switched off; raises `RuntimeError` without a home folder."""
    place = os.environ.get(PLACE, "")
    if place.casefold() == OFF:
        return None
    if place:
        return Path(place).expanduser().absolute()
    base = Path(os.environ.get("XDG_CACHE_HOME", ""))
    # The standard for this variable requires that a relative path is ignored.
    return (base if base.is_absolute() else Path.home() / ".cache") / "textassay"


def cache_limit() -> int:
    """The size limit of the cache in bytes."""
    given = os.environ.get(LIMIT, "")
    if not given:
        return DEFAULT_LIMIT
    try:
        return parse_size(given)
    except (ValueError, OverflowError):
        wanted = "bytes, or a size such as 500M or 4G"
        raise InputError(f"{LIMIT} is '{shortened(given, 60)}'; wanted {wanted}") from None


def encoder_folder(root: Path, encoder: str) -> Path:
    """The folder with the vectors of an encoder."""
    return root / digest_of(encoder).hex()


def encoder_folders(root: Path) -> list[Path]:
    """The folders in the cache with the name of an encoder's folder, without links."""
    return [root / e.name for e in _entries(root) if _FOLDER.fullmatch(e.name) and e.is_dir(follow_symlinks=False)]


def encoder_name(folder: Path) -> str | None:
    """The name of a folder's encoder; None if the name file is missing or belongs to another folder."""
    with suppress(OSError, UnicodeDecodeError):
        content, _ = read_start(folder / NAME_FILE, _LONGEST_NAME)
        name = content.decode("utf-8", "surrogatepass").removesuffix("\n")
        if digest_of(name).hex() == folder.name:
            return name
    return None


def cache_files(folder: Path) -> list[Stored]:
    """The files in an encoder's folder with names of the cache, without links, folders and other files."""
    return [stored for stored in map(_stored, _entries(folder)) if stored is not None]


def own_files(folder: Path) -> list[Stored]:
    """The files that the cache wrote, by their content.

    The name file contains the name whose digest is the name of the folder, and segments have a header. The content of
    a file of an interrupted run proves nothing: it counts where another file shows that the folder is an encoder's.
    """
    files = cache_files(folder)
    own = [stored for stored in files if stored.is_name and encoder_name(folder) is not None]
    own += [stored for stored in files if stored.is_segment and is_own_segment(stored.path)]
    return [*own, *(stored for stored in files if stored.is_temporary)] if own else []


def entry_count(folder: Path) -> int:
    """The number of entries in a folder."""
    return len(_entries(folder))


def remove(path: Path) -> bool:
    """Remove a file if it still exists and permissions allow it."""
    with suppress(OSError):
        path.unlink()
        return True
    return False


def keep_within(root: Path, limit: int) -> int:
    """Remove the least recently used segments until the rest fits; return the number of removed segments."""
    segments = sorted(_segments(root), key=lambda stored: (stored.used, stored.path))
    excess, removed = sum(stored.bytes for stored in segments) - limit, 0
    for stored in segments:
        if excess <= 0:
            break
        if is_own_segment(stored.path) and remove(stored.path):
            excess -= stored.bytes
            removed += 1
    return removed


def _segments(root: Path) -> Iterator[Stored]:
    for folder in encoder_folders(root):
        yield from (stored for stored in cache_files(folder) if stored.is_segment)


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    """The entries of a folder in order; none if the folder is missing or not readable."""
    with suppress(OSError), os.scandir(folder) as entries:
        return sorted(entries, key=lambda entry: entry.name)
    return []


def _stored(entry: os.DirEntry[str]) -> Stored | None:
    known = entry.name == NAME_FILE or _SEGMENT.fullmatch(entry.name) or _TEMPORARY.fullmatch(entry.name)
    with suppress(OSError):  # another process may have removed it in the meantime
        about = entry.stat(follow_symlinks=False)
        if known and stat.S_ISREG(about.st_mode):
            return Stored(Path(entry.path), about.st_size, about.st_mtime)
    return None
