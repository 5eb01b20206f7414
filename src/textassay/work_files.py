"""Work files: what a long run has finished, kept so that a stopped run continues where it ended.

A work file is JSON Lines. The first line is the header: the format with its version, the command, and everything that
the finished work depends on. Every other line is one finished piece of work with its key and a digest. A line is
appended in one write; the incomplete line of a killed process is removed by the next run. A file without this header is
refused and stays as it is.

A lock keeps a second run from the same file. It is a file of its own (`NAME.lock`), because a training state is
replaced as a whole and a lock on it would be lost with the old file.
"""

import hashlib
import json
import os
import stat
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

from textassay.corpus.files.reading import read_whole
from textassay.corpus.files.writing import write_failures_named
from textassay.corpus.printable import shortened
from textassay.errors import InputError

AnyPath = str | os.PathLike[str]
# A JSON value that identifies a piece of work, such as a number or a list of settings.
Key = str | int | tuple[str | int | float, ...]
_FORMAT, _VERSION = "textassay work file", 2
# The beginnings of work files before there was a common header.
_EARLIER = (b'{"format": "textassay sweep', b'{"requests": "', b'{"stress": {')
# Seconds between two requests to the system to write to the disk. A killed process loses nothing either way.
_SYNC_EVERY = 1.0
# Bytes that tell a work file from others.
_BEGINNING = 64


@dataclass(eq=False)
class WorkFile:
    """Finished work by key, in memory and, with a descriptor, in a file. Threads may share it."""

    where: str = ""
    _descriptor: int | None = None
    _known: dict[str, Any] = field(default_factory=dict)
    _size: int = 0
    _synced: float = 0.0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def __contains__(self, key: Key) -> bool:
        return json.dumps(key) in self._known

    def __getitem__(self, key: Key) -> Any:
        return self._known[json.dumps(key)]

    def __len__(self) -> int:
        return len(self._known)

    def values(self) -> list[Any]:
        """What is finished, in the order of the file."""
        return list(self._known.values())

    def add(self, key: Key, value: Any) -> None:
        """Keep a finished piece of work; `value` has a JSON form."""
        content = json.dumps([key, value])
        with self._lock:
            self.append({"work": json.loads(content), "digest": _digest(content)})
            # Memory has what the file would give back, so that a continued run has the same numbers.
            self._known[json.dumps(key)] = json.loads(content)[1]

    def append(self, line: Mapping[str, Any]) -> None:
        """Append a line completely or not at all."""
        if self._descriptor is None:
            return
        content = f"{json.dumps(line)}\n".encode()
        with write_failures_named(self.where):
            try:
                _write_all(self._descriptor, content)
            except BaseException:
                os.ftruncate(self._descriptor, self._size)
                raise
            self._size += len(content)
            if time.monotonic() - self._synced > _SYNC_EVERY:
                os.fsync(self._descriptor)
                self._synced = time.monotonic()


def _write_all(descriptor: int, content: bytes) -> None:
    """Write in one call; the system may split what it cannot take at once."""
    left = memoryview(content)
    while left:
        left = left[os.write(descriptor, left) :]


@contextmanager
def work_file(
    path: AnyPath | None,
    kind: str,
    identity: Mapping[str, Any] | None = None,
    *,
    check: Callable[[Any], object] = lambda value: value,
) -> Iterator[WorkFile]:
    """The work that a file has already, and a way to add more; without a path in memory only.

    Parameters
    ----------
    path
        The file. A new one is made; one that is not a work file of this kind and identity is refused.
    kind
        The command, such as "sweep".
    identity
        Everything that the finished work depends on and its keys do not name, as JSON values.
    check
        Called with every value that is read; it raises `ValueError`, `KeyError` or `TypeError` for one that cannot be.
    """
    if path is None:
        yield WorkFile()
        return
    where, facts = shortened(os.fsdecode(path)), {"kind": kind, "identity": dict(identity or {})}
    _check_regular(path, where)
    with locked(path):
        with write_failures_named(where):
            descriptor = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | getattr(os, "O_BINARY", 0), 0o666)
        try:
            _check_beginning(os.read(descriptor, _BEGINNING), where, kind)
            yield _restored(descriptor, read_whole(path), where, facts, check)
        finally:
            with suppress(OSError):
                os.fsync(descriptor)
            os.close(descriptor)


@contextmanager
def locked(path: AnyPath | None) -> Iterator[None]:
    """Keep other runs from a file until the block ends; without a path nothing."""
    if path is None:
        yield
        return
    from filelock import FileLock, Timeout

    where, name = shortened(os.fsdecode(path)), f"{os.path.realpath(path)}.lock"
    lock = FileLock(name, blocking=False)
    with write_failures_named(where):
        os.stat(os.path.dirname(name))  # filelock would make the folder
        try:
            lock.acquire()
        except Timeout:
            wanted = "wait until it ends, or choose another file"
            raise InputError(f"{where}: another run is using this file; {wanted}") from None
    try:
        yield
    finally:
        # Removed while the lock is held: a run that opens the old file in this moment sees that it has no name.
        with suppress(OSError):
            os.unlink(name)
        lock.release()


def _check_regular(path: AnyPath, where: str) -> None:
    """Refuse pipes, devices and folders before they are opened: reading them may never end."""
    with write_failures_named(where), suppress(FileNotFoundError):
        if not stat.S_ISREG(os.stat(path).st_mode):
            raise InputError(f"{where}: not a regular file; wanted a work file, or the name of a new file")


def _check_beginning(content: bytes, where: str, kind: str) -> None:
    """Refuse a file that begins in another way before all of it is read."""
    wanted = json.dumps({_FORMAT: _VERSION}).encode()[: len(_FORMAT) + 5]
    if not wanted.startswith(content[: len(wanted)]):
        raise _foreign(where, content, kind)


def _restored(
    descriptor: int, content: bytes, where: str, facts: dict[str, Any], check: Callable[[Any], object]
) -> WorkFile:
    """The work in a file, whose incomplete last line is removed; a new file gets its header."""
    header = {_FORMAT: _VERSION, **facts}
    whole = content[: content.rfind(b"\n") + 1]
    begun = json.dumps(header).encode() if not whole else b'{"work": ['
    rest = content[len(whole) :]
    if whole:
        _check_header(whole[: whole.index(b"\n")], where, header)
    is_begun = rest[: len(begun)] == begun[: len(rest)] and (whole or not rest or len(rest) > len(_FORMAT))
    if not is_begun:
        raise _foreign(where, rest, facts["kind"])
    lines = whole.splitlines()[1:]
    known = dict(_read_line(line, f"{where}:{number}", check) for number, line in enumerate(lines, 2))
    if rest:
        os.ftruncate(descriptor, len(whole))
    found = WorkFile(where, descriptor, known, len(whole))
    if not whole:
        found.append(header)
    return found


def _check_header(line: bytes, where: str, header: Mapping[str, Any]) -> None:
    """Refuse a file of something else, of another version, of another command, or of a run with other settings."""
    kind = header["kind"]
    try:
        seen = json.loads(line)
        version, seen_kind, identity = seen[_FORMAT], seen["kind"], dict(seen["identity"])
    except (ValueError, KeyError, TypeError, RecursionError):
        raise _foreign(where, line, kind) from None
    if version != _VERSION:
        wanted = f"this textassay reads version {_VERSION}; wanted a new file"
        raise InputError(f"{where}: a work file of version {version!r:.20}; {wanted}")
    if seen_kind != kind:
        raise InputError(f"{where}: a work file of textassay {seen_kind!r:.20}; wanted one of {kind}, or a new file")
    ours = json.loads(json.dumps(header["identity"]))
    for name in dict.fromkeys([*ours, *identity]):
        if identity.get(name) != ours.get(name):
            found, asked = (shortened(str(side.get(name)), 60) for side in (identity, ours))
            wanted = "wanted the same texts and settings, or a new file"
            raise InputError(f"{where}: the work of another run ({name} is {found}, here {asked}); {wanted}")


def _foreign(where: str, seen: bytes, kind: str) -> InputError:
    if seen.startswith(_EARLIER):
        return InputError(f"{where}: a work file of an earlier version of textassay; wanted a new file")
    return InputError(f"{where}: not a work file of textassay {kind}; wanted one, or the name of a new file")


def _read_line(line: bytes, where: str, check: Callable[[Any], object]) -> tuple[str, Any]:
    try:
        plain = json.loads(line)
        key, value = plain["work"]
        if plain["digest"] != _digest(json.dumps([key, value])):
            raise ValueError
        check(value)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        wanted = "wanted the work file as it was written, or a new file"
        raise InputError(f"{where}: altered or damaged; {wanted}") from None
    return json.dumps(key), value


def _digest(content: str) -> str:
    return hashlib.blake2b(content.encode(), digest_size=8).hexdigest()
