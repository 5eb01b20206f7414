"""The vector store: vectors of one encoder on disk, shared by all processes."""

import os
import time
from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from threading import RLock

import numpy as np

from textassay.corpus.arrays import F32, Bool
from textassay.encoders.base import Encoder
from textassay.encoders.cache.folder import (
    NAME_FILE,
    PLACE,
    Stored,
    cache_files,
    cache_limit,
    cache_root,
    encoder_folder,
    encoder_name,
    keep_within,
    remove,
)
from textassay.encoders.cache.segments import (
    SUFFIX,
    DamagedFile,
    Keys,
    Segment,
    digest_of,
    read_segment,
    salvaged,
    write_segment,
    write_whole,
)

LARGEST = 64 * 2**20
_MOST_SMALL = 16


def batches(segments: Sequence[Stored], *, damaged: Collection[str], limit: int) -> Iterator[list[Stored]]:
    """Which segments to make one of: those damaged, and all small ones where there are many.

    Neighbours in time of use go together, so that what is used together is kept or let go together.
    """
    largest = min(LARGEST, limit // 8)
    small = {stored.path.name for stored in segments if stored.bytes < largest // 2}
    names = set(damaged) | (small if len(small) > _MOST_SMALL else set())
    batch: list[Stored] = []
    for stored in sorted(segments, key=lambda stored: (stored.used, stored.path)):
        if stored.path.name not in names:
            continue
        if batch and sum(earlier.bytes for earlier in batch) + stored.bytes > largest:
            yield batch
            batch = []
        batch.append(stored)
    if len(batch) > 1 or any(stored.path.name in damaged for stored in batch):
        yield batch


def merged(segments: Sequence[Segment]) -> tuple[Keys, F32, int]:
    """The distinct keys of segments and their vectors, and how many rows were left out because they are damaged."""
    rows = [segment.take(np.arange(len(segment.keys))) for segment in segments]
    keys = np.concatenate([segment.keys[good] for segment, (_, good) in zip(segments, rows, strict=True)])
    values = np.concatenate([values[good] for values, good in rows])
    keys, first = np.unique(keys, return_index=True)
    return keys, values[first], sum(int((~good).sum()) for _, good in rows)


_TRIES = 5
_ABANDONED = 3600.0  # seconds after which a temporary file belongs to a process that died


@dataclass(eq=False)
class Store:
    """The vectors of one encoder. Never raises for what the disk does: it finds less, keeps less, and notes why."""

    root: Path | None
    encoder: str
    dimension: int
    limit: int
    trouble: str = ""
    """Why nothing is written any more."""
    _open: dict[str, Segment] = field(default_factory=dict, repr=False)
    _ignored: set[str] = field(default_factory=set, repr=False)
    _used: set[str] = field(default_factory=set, repr=False)
    _damaged: int = 0
    _damaged_files: int = 0
    _closed_files: int = 0
    _lock: RLock = field(default_factory=RLock, repr=False)

    @property
    def notes(self) -> tuple[str, ...]:
        """What a user should know, one sentence each."""
        notes = []
        if self._damaged:
            notes.append(
                f"{_count(self._damaged, 'damaged entry', 'damaged entries')} set aside, made anew where needed"
            )
        if self._damaged_files:
            notes.append(
                f"{_count(self._damaged_files, 'damaged file', 'damaged files')} set aside, made anew where needed"
            )
        if self._closed_files:
            notes.append(f"{_count(self._closed_files, 'file', 'files')} not read (could not be opened)")
        if self.trouble:
            notes.append(
                f"the vector cache cannot be written ({self.trouble}): further vectors of this run are not kept"
            )
        return tuple(notes)

    def fill(self, keys: Keys, values: F32) -> Bool:
        """Write the vectors that are known into `values`, a row a key; which ones they are."""
        with self._lock:
            self._refresh()
            found = np.zeros(len(keys), bool)
            for segment in list(self._open.values()):
                wanted = np.flatnonzero(~found)
                places, rows = segment.find(keys[wanted])
                if not len(rows):
                    continue
                places = wanted[places]
                good = segment.copy(rows, values, places)
                found[places[good]] = True
                if not good.all():
                    self._admit(salvaged(segment))
                self._mark_used(segment)
            return found

    def put(self, keys: Keys, values: F32) -> None:
        """Keep the vectors of distinct keys; when this returns they outlive the process, or there is trouble."""
        with self._lock:
            if self.root is None or self.trouble or not len(keys):
                return
            try:
                self._write(keys, values)
            except OSError as error:
                self.trouble = (error.strerror or str(error)).lower()
                return
            self.tidy()

    def tidy(self) -> None:
        """Merge small segments, rewrite damaged ones, clear what dead processes left, keep within the limit."""
        with self._lock:
            if self.root is None:
                return
            self._refresh()
            known = [stored for stored in self._segments() if stored.path.name in self._open]
            damaged = [name for name, segment in self._open.items() if segment.damaged]
            with suppress(OSError):  # no room to merge: everything stays as it is
                for batch in batches(known, damaged=damaged, limit=self.limit):
                    self._rewrite(batch)
            for stored in cache_files(self._folder):
                if stored.is_temporary and time.time() - stored.used > _ABANDONED:
                    remove(stored.path)
            keep_within(self.root, self.limit)

    @property
    def _folder(self) -> Path:
        assert self.root is not None
        return encoder_folder(self.root, self.encoder)

    def _refresh(self) -> None:
        """Open the segments that came since the last look, forget those that went."""
        for _ in range(_TRIES):
            present = {stored.path.name: stored.path for stored in self._segments()}
            self._open = {name: segment for name, segment in self._open.items() if name in present}
            new = [path for name, path in present.items() if name not in self._open and name not in self._ignored]
            # A file that vanishes between the two was merged: what it held is in a file listed only now.
            if all(self._opened(path) for path in new):
                return

    def _segments(self) -> list[Stored]:
        if self.root is None:
            return []
        return [stored for stored in cache_files(self._folder) if stored.is_segment and stored.path.suffix == SUFFIX]

    def _opened(self, path: Path) -> bool:
        """Open a segment; false where it has vanished."""
        try:
            self._admit(read_segment(path, encoder=digest_of(self.encoder), dimension=self.dimension))
        except FileNotFoundError:
            return False
        except DamagedFile:
            self._damaged_files += 1
            self._ignored.add(path.name)
            remove(path)
        except OSError:
            self._closed_files += 1
            self._ignored.add(path.name)
        return True

    def _admit(self, segment: Segment) -> None:
        self._damaged += segment.damaged
        self._open[segment.path.name] = segment

    def _mark_used(self, segment: Segment) -> None:
        name = segment.path.name
        if name not in self._used:
            self._used.add(name)
            with suppress(OSError):  # vanished, or a cache that may only be read
                os.utime(segment.path)

    def _write(self, keys: Keys, values: F32) -> None:
        assert self.root is not None
        _make_folder(self.root)
        if self._folder.is_symlink():  # what is behind it would neither be counted nor cleared
            raise NotADirectoryError("a link stands where a folder should be")
        _make_folder(self._folder)
        if encoder_name(self._folder) != self.encoder:
            write_whole(self._folder / NAME_FILE, [f"{self.encoder}\n".encode("utf-8", "surrogatepass")])
        path = write_segment(self._folder, keys, values, encoder=digest_of(self.encoder))
        # It may stand in the place of a damaged file with this content, which is to be looked at anew.
        self._ignored.discard(path.name)
        self._open.pop(path.name, None)

    def _rewrite(self, batch: Sequence[Stored]) -> None:
        """One segment out of several; the old ones go once the new one is safe."""
        keys, values, damaged = merged([self._open[stored.path.name] for stored in batch])
        self._damaged += damaged
        used = max(stored.used for stored in batch)
        new = (
            write_segment(self._folder, keys, values, encoder=digest_of(self.encoder), used=used) if len(keys) else None
        )
        for stored in batch:
            self._open.pop(stored.path.name)
            if stored.path != new:
                remove(stored.path)


def _make_folder(folder: Path) -> None:
    """Make a folder that is closed to others; one that is there stays as it is."""
    with suppress(FileExistsError):
        folder.mkdir(mode=0o700, parents=True)
    if not folder.is_dir():
        raise NotADirectoryError("a file stands where a folder should be")


def open_store(encoder: Encoder) -> Store | None:
    """The store of an encoder where the environment wants it; None where the cache is off."""
    limit = cache_limit()
    try:
        root = cache_root()
    except RuntimeError:
        return Store(None, encoder.name, encoder.dimension, limit, f"no home folder; set {PLACE} to a folder")
    return None if root is None else Store(root, encoder.name, encoder.dimension, limit)


def beside(store: Store | None, what: str, dimension: int) -> Store | None:
    """A store of so many further numbers per text of the same encoder, under the encoder's name and what they are."""
    if store is None:
        return None
    return Store(store.root, f"{store.encoder}/{what}", dimension, store.limit, store.trouble)


def _count(number: int, one: str, many: str) -> str:
    return f"{number:,} {one} of the vector cache was" if number == 1 else f"{number:,} {many} of the vector cache were"
