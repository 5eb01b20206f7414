"""What the vector cache holds, encoder by encoder, for whoever wants to see or to empty it."""

import time
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from textassay.corpus.printable import printable, quoted
from textassay.encoders.cache.folder import Stored, cache_files, encoder_folders, encoder_name, foreign_count, remove
from textassay.encoders.cache.segments import DamagedFile, read_count
from textassay.errors import InputError

# The last part of the name under which the token counts of an encoder are kept.
TOKENS_NAME = "tokens"


@dataclass(frozen=True)
class Contents:
    """What one encoder has in the cache."""

    folder: Path
    name: str | None
    vectors: int
    widths: tuple[int, ...]
    bytes: int
    used: float
    damaged_files: int

    @property
    def shown_name(self) -> str:
        """The encoder's name, or what its folder is called where the name is lost; fit for a terminal."""
        return self.folder.name if self.name is None else printable(self.name)

    @property
    def dimensions(self) -> str:
        """How long the vectors are."""
        return ", ".join(map(str, self.widths)) or "-"

    @property
    def last_used(self) -> str:
        """The day on which a vector was last taken or added."""
        return time.strftime("%Y-%m-%d", time.localtime(self.used)) if self.used else "-"


@dataclass(frozen=True)
class Removed:
    """What went, how many of the cache's files could not go, and how much in its folders is not the cache's."""

    files: int
    bytes: int
    refused: int
    foreign: int


def contents(root: Path) -> list[Contents]:
    """Every encoder's, by name."""
    return sorted(map(_of_folder, encoder_folders(root)), key=lambda one: one.shown_name)


def chosen(found: list[Contents], encoder: str | None) -> list[Contents]:
    """Those of one encoder, by the name that is shown, with its token counts; or all."""
    if encoder is None:
        return found
    beside = f"{encoder}/{TOKENS_NAME}"
    named = [one for one in found if encoder in (one.name, one.shown_name, one.folder.name) or one.name == beside]
    if not named:
        known = quoted([one.shown_name for one in found]) or "none"
        raise InputError(f"no encoder '{printable(encoder)}' in the cache; there are: {known}")
    return named


def remove_contents(found: Iterable[Contents]) -> Removed:
    """Remove the cache's own files, and the folders that are empty then."""
    removed: list[Stored] = []
    refused = foreign = 0
    for one in found:
        files = cache_files(one.folder)
        gone = [stored for stored in files if remove(stored.path)]
        removed += gone
        refused += len(files) - len(gone)
        foreign += foreign_count(one.folder)
        with suppress(OSError):  # not empty
            one.folder.rmdir()
    return Removed(len(removed), sum(stored.bytes for stored in removed), refused, foreign)


def shown_size(size: int) -> str:
    """A size for people.

    >>> shown_size(77), shown_size(4 * 2**30), shown_size(31_500_000)
    ('77 B', '4.0 GiB', '30.0 MiB')
    """
    amount, units = float(size), ["KiB", "MiB", "GiB", "TiB"]
    if size < 1024:
        return f"{size} B"
    while amount >= 1024 and units:
        amount, unit = amount / 1024, units.pop(0)
    return f"{amount:.1f} {unit}"


def _of_folder(folder: Path) -> Contents:
    files = cache_files(folder)
    segments = [stored for stored in files if stored.is_segment]
    vectors, damaged, widths = 0, 0, set()
    for stored in segments:
        try:
            count, dimension = read_count(stored.path)
        except DamagedFile:
            damaged += 1
        except OSError:  # removed meanwhile, or closed to us
            continue
        else:
            vectors += count
            widths.add(dimension)
    size, used = sum(stored.bytes for stored in files), max((stored.used for stored in segments), default=0.0)
    return Contents(folder, encoder_name(folder), vectors, tuple(sorted(widths)), size, used, damaged)
