"""Contents of the vector cache by encoder, to list and to remove."""

import time
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from textassay.corpus.printable import printable, quoted
from textassay.encoders.cache_folder import (
    DamagedFile,
    Stored,
    encoder_folders,
    encoder_name,
    entry_count,
    own_files,
    read_count,
    remove,
)
from textassay.errors import InputError

# The last part of the name under which the token counts of an encoder are stored.
TOKENS_NAME = "tokens"


@dataclass(frozen=True)
class Contents:
    """The files of one encoder in the cache."""

    folder: Path
    name: str | None
    vectors: int
    widths: tuple[int, ...]
    bytes: int
    used: float
    damaged_files: int

    @property
    def shown_name(self) -> str:
        """The encoder's name in printable form, or the name of its folder if the name is lost."""
        return self.folder.name if self.name is None else printable(self.name)

    @property
    def dimensions(self) -> str:
        """The lengths of the vectors."""
        return ", ".join(map(str, self.widths)) or "-"

    @property
    def last_used(self) -> str:
        """The day on which a vector was last read or added."""
        return time.strftime("%Y-%m-%d", time.localtime(self.used)) if self.used else "-"


@dataclass(frozen=True)
class Removed:
    """Removed files and bytes, files that could not be removed, and files that do not belong to the cache."""

    files: int
    bytes: int
    refused: int
    foreign: int


def contents(root: Path) -> list[Contents]:
    """The contents of all encoders, sorted by name."""
    found = (_of_folder(folder, own_files(folder)) for folder in encoder_folders(root))
    return sorted((one for one in found if one is not None), key=lambda one: one.shown_name)


def chosen(found: list[Contents], encoder: str | None) -> list[Contents]:
    """The contents of the encoder with this name, including its token counts; all if the name is None."""
    if encoder is None:
        return found
    counts_name = f"{encoder}/{TOKENS_NAME}"
    named = [one for one in found if encoder in (one.name, one.shown_name, one.folder.name) or one.name == counts_name]
    if not named:
        known = quoted([one.shown_name for one in found]) or "none"
        raise InputError(f"no encoder '{printable(encoder)}' in the cache; there are: {known}")
    return named


def remove_contents(found: Iterable[Contents]) -> Removed:
    """Remove the files of the cache, and then the empty folders."""
    removed: list[Stored] = []
    refused = foreign = 0
    for one in found:
        files = own_files(one.folder)
        foreign += entry_count(one.folder) - len(files)
        gone = [stored for stored in files if remove(stored.path)]
        removed += gone
        refused += len(files) - len(gone)
        with suppress(OSError):  # not empty
            one.folder.rmdir()
    return Removed(len(removed), sum(stored.bytes for stored in removed), refused, foreign)


def _of_folder(folder: Path, files: list[Stored]) -> Contents | None:
    """The contents of a folder; None if the cache wrote none of its files."""
    if not files:
        return None
    segments = [stored for stored in files if stored.is_segment]
    vectors, damaged, widths = 0, 0, set()
    for stored in segments:
        try:
            count, dimension = read_count(stored.path)
        except DamagedFile:
            damaged += 1
        except OSError:  # removed in the meantime, or not readable
            continue
        else:
            vectors += count
            widths.add(dimension)
    size, used = sum(stored.bytes for stored in files), max((stored.used for stored in segments), default=0.0)
    return Contents(folder, encoder_name(folder), vectors, tuple(sorted(widths)), size, used, damaged)
