"""The folder of the vector cache: its location, size limit and files, and the removal of files."""

import os
import re
import stat
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from textassay.corpus.budget import parse_size
from textassay.corpus.printable import shortened
from textassay.encoders.segments import PREFIX, TEMPORARY, digest_of, is_own_segment, read_start
from textassay.errors import InputError

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
