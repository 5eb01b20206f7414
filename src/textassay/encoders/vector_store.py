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
from textassay.encoders.cache_folder import (
    NAME_FILE,
    PLACE,
    SUFFIX,
    DamagedFile,
    Keys,
    Segment,
    Stored,
    cache_files,
    cache_limit,
    cache_root,
    digest_of,
    encoder_folder,
    encoder_name,
    is_own_segment,
    keep_within,
    read_segment,
    remove,
    salvaged,
    write_segment,
    write_whole,
)

LARGEST = 64 * 2**20
_MOST_SMALL = 16


def batches(segments: Sequence[Stored], *, damaged: Collection[str], limit: int) -> Iterator[list[Stored]]:
    """Groups of segments to merge: damaged ones, and all small ones if there are many.

    Segments that were last used at similar times are merged, so that vectors used together are removed together.
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
    """The distinct keys of segments, their vectors, and the number of damaged rows that were left out."""
    rows = [segment.take(np.arange(len(segment.keys))) for segment in segments]
    keys = np.concatenate([segment.keys[good] for segment, (_, good) in zip(segments, rows, strict=True)])
    values = np.concatenate([values[good] for values, good in rows])
    keys, first = np.unique(keys, return_index=True)
    return keys, values[first], sum(int((~good).sum()) for _, good in rows)


_TRIES = 5
_ABANDONED = 3600.0  # seconds after which the process of a temporary file is assumed to be dead


@dataclass(eq=False)
class Store:
    """The vectors of one encoder. Disk errors are reported in `notes`, not raised."""

    root: Path | None
    encoder: str
    dimension: int
    limit: int
    trouble: str = ""
    """The reason why nothing is written any more."""
    _open: dict[str, Segment] = field(default_factory=dict, repr=False)
    _ignored: set[str] = field(default_factory=set, repr=False)
    _used: set[str] = field(default_factory=set, repr=False)
    _damaged: int = 0
    _damaged_files: int = 0
    _closed_files: int = 0
    _foreign_files: int = 0
    _lock: RLock = field(default_factory=RLock, repr=False)

    @property
    def notes(self) -> tuple[str, ...]:
        """Messages for the user, one sentence each."""
        notes = []
        if self._damaged:
            notes.append(f"{_count(self._damaged, 'damaged entry', 'damaged entries')} ignored and will be replaced")
        if self._damaged_files:
            notes.append(f"{_count(self._damaged_files, 'damaged file', 'damaged files')} ignored and will be replaced")
        if self._closed_files:
            notes.append(f"{_count(self._closed_files, 'file', 'files')} not read (could not be opened)")
        if self._foreign_files:
            notes.append(f"{_count(self._foreign_files, 'file', 'files')} not read (not written by the cache)")
        if self.trouble:
            notes.append(
                f"the vector cache cannot be written ({self.trouble}): further vectors of this run are not stored"
            )
        return tuple(notes)

    def fill(self, keys: Keys, values: F32) -> Bool:
        """Write the known vectors into `values`, which has one row per key; return which keys are known."""
        with self._lock:
            self._refresh()
            found = np.zeros(len(keys), bool)
            for segment in list(self._open.values()):
                wanted = np.flatnonzero(~found)
                indices, rows = segment.find(keys[wanted])
                if not len(rows):
                    continue
                indices = wanted[indices]
                good = segment.copy(rows, values, indices)
                found[indices[good]] = True
                if not good.all():
                    self._admit(salvaged(segment))
                self._mark_used(segment)
            return found

    def put(self, keys: Keys, values: F32) -> None:
        """Store the vectors of distinct keys. On return they are on disk, or `trouble` states why not."""
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
        """Merge small segments, rewrite damaged ones, remove files of dead processes, and enforce the size limit."""
        with self._lock:
            if self.root is None:
                return
            self._refresh()
            known = [stored for stored in self._segments() if stored.path.name in self._open]
            damaged = [name for name, segment in self._open.items() if segment.damaged]
            with suppress(OSError):  # no space to merge: nothing changes
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
        """Open new segments and close removed ones."""
        for _ in range(_TRIES):
            present = {stored.path.name: stored.path for stored in self._segments()}
            self._open = {name: segment for name, segment in self._open.items() if name in present}
            new = [path for name, path in present.items() if name not in self._open and name not in self._ignored]
            # A file that vanishes between listing and opening was merged: its content is in a new file.
            if all(self._opened(path) for path in new):
                return

    def _segments(self) -> list[Stored]:
        if self.root is None:
            return []
        return [stored for stored in cache_files(self._folder) if stored.is_segment and stored.path.suffix == SUFFIX]

    def _opened(self, path: Path) -> bool:
        """Open a segment; return false if it has vanished."""
        try:
            self._admit(read_segment(path, encoder=digest_of(self.encoder), dimension=self.dimension))
        except FileNotFoundError:
            return False
        except DamagedFile:
            self._ignored.add(path.name)
            if is_own_segment(path):
                self._damaged_files += 1
                remove(path)
            else:
                self._foreign_files += 1
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
            with suppress(OSError):  # the file has vanished, or the cache is read-only
                os.utime(segment.path)

    def _write(self, keys: Keys, values: F32) -> None:
        assert self.root is not None
        _make_folder(self.root)
        if self._folder.is_symlink():  # files behind a link would be neither counted nor removed
            raise NotADirectoryError("a link exists in place of a folder")
        _make_folder(self._folder)
        if encoder_name(self._folder) != self.encoder:
            write_whole(self._folder / NAME_FILE, [f"{self.encoder}\n".encode("utf-8", "surrogatepass")])
        path = write_segment(self._folder, keys, values, encoder=digest_of(self.encoder))
        # It may replace a damaged file of the same name, which has to be opened again.
        self._ignored.discard(path.name)
        self._open.pop(path.name, None)

    def _rewrite(self, batch: Sequence[Stored]) -> None:
        """Merge several segments into one; remove the old ones after the new one is on disk."""
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
    """Make a folder that other users cannot read; an existing folder is not changed."""
    with suppress(FileExistsError):
        folder.mkdir(mode=0o700, parents=True)
    if not folder.is_dir():
        raise NotADirectoryError("a file exists in place of a folder")


def open_store(encoder: Encoder) -> Store | None:
    """The store of an encoder, as set by the environment; None if the cache is off."""
    limit = cache_limit()
    try:
        root = cache_root()
    except RuntimeError:
        return Store(None, encoder.name, encoder.dimension, limit, f"no home folder; set {PLACE} to a folder")
    return None if root is None else Store(root, encoder.name, encoder.dimension, limit)


def sub_store(store: Store | None, what: str, dimension: int) -> Store | None:
    """A store of `dimension` further numbers per text, under the name of the encoder and `what` they are."""
    if store is None:
        return None
    return Store(store.root, f"{store.encoder}/{what}", dimension, store.limit, store.trouble)


def _count(number: int, one: str, many: str) -> str:
    return f"{number:,} {one} of the vector cache was" if number == 1 else f"{number:,} {many} of the vector cache were"
