"""Connections to a study's file: concurrent readers, one shared writer, and errors of the file in one line."""

import os
import sqlite3
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Lock, Timer
from typing import Any, TypeVar

from textassay.corpus.printable import printable
from textassay.errors import InputError


class StudyBusy(InputError):
    """Another process holds the file for longer than one was ready to wait. Later it may work."""


class StudyGone(InputError):
    """The file is not where it was, so what is written now would be lost. `time` counts how often that came about."""

    def __init__(self, message: str, *, time: int) -> None:
        super().__init__(message)
        self.time = time


@contextmanager
def failures_named(where: str) -> Iterator[None]:
    """What a full disk, a lock that does not end, a damaged file or missing rights look like to the caller: one line.

    A broken constraint is a mistake of ours and stays what it is.
    """
    try:
        yield
    except (sqlite3.IntegrityError, sqlite3.ProgrammingError):
        raise
    except sqlite3.DatabaseError as error:
        if getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_NOTADB:
            raise InputError(f"{where}: is no SQLite file; wanted a file made by textassay survey create") from None
        kind = StudyBusy if is_busy(error) else InputError
        raise kind(f"{where}: the study cannot be read or written ({error})") from error


def is_busy(error: sqlite3.Error) -> bool:
    """Whether another connection has what was wanted."""
    code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF
    return code in {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}


def copy_of(error: BaseException) -> Exception:
    """The failure of a shared transaction for one of those who share it: each thread raises an object of its own."""
    if isinstance(error, StudyGone):
        return StudyGone(str(error), time=error.time)
    if isinstance(error, ValueError):
        return ValueError(*error.args)
    copy = sqlite3.OperationalError(*(error.args if isinstance(error, Exception) else ("interrupted",)))
    copy.sqlite_errorcode = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR)
    return copy


__all__ = ["Readers", "StudyBusy", "Writer", "connect", "failures_named"]

T = TypeVar("T")

# How long a command waits for another process that holds the file; a page should not let people wait so long.
_PATIENCE_SECONDS = 30.0
# And how long once that was in vain, until the file can be had again: those who come then must not wait in a row.
_SHORT_MS = 100
# How long after a commit its pages go from the log into the file itself.
_TIDY_SECONDS = 2.0
# What SQLite says where it cannot make the files beside a study that it needs to read it.
_NOTHING_WRITTEN = (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY)


def connect(path: Path, *, read_only: bool = False, patience: float | None = None) -> sqlite3.Connection:
    """A connection to a file that exists, for any thread but only for one at a time; transactions are said in full.

    With `read_only` nothing can be written, and a study can be read where nothing can be written, such as on a disk
    that is mounted so. While another process holds the file, it waits for `patience` seconds.
    """
    wait = _PATIENCE_SECONDS if patience is None else patience
    if not read_only:
        return _connected(path, "mode=rw", wait)
    try:
        return _connected(path, "mode=rw", wait, "PRAGMA query_only = ON", "PRAGMA schema_version")
    except sqlite3.OperationalError as error:
        # The lowest byte says what went wrong, the others in which way.
        if error.sqlite_errorcode & 0xFF not in _NOTHING_WRITTEN:
            raise
        log = f"{os.path.realpath(path)}-wal"
        if os.path.lexists(log):
            raise InputError(
                f"{printable(str(path))}: nothing can be written beside it, and {printable(log)} holds a part of it; "
                "copy both to where you can write"
            ) from None
        # Nobody has it open, or there would be a log; so it does not change while it is read.
        return _connected(path, "mode=ro&immutable=1", wait, "PRAGMA query_only = ON", "PRAGMA schema_version")


def _connected(path: Path, how: str, wait: float, *first: str) -> sqlite3.Connection:
    address = f"{path.absolute().as_uri()}?{how}"
    connection = sqlite3.connect(address, uri=True, timeout=wait, isolation_level=None, check_same_thread=False)
    try:
        for statement in ("PRAGMA foreign_keys = ON", "PRAGMA synchronous = FULL", *first):
            connection.execute(statement).fetchall()
    except BaseException:
        connection.close()
        raise
    return connection


class Readers:
    """Connections that only read: taken by a thread, used for one consistent look at the study, and put back."""

    def __init__(
        self,
        path: Path,
        where: str,
        *,
        check: Callable[[], None],
        read_only: bool = False,
        patience: float | None = None,
    ) -> None:
        self._path = path
        self._where = where
        self._read_only = read_only
        self._patience = patience
        self._check = check
        self._idle: deque[sqlite3.Connection] = deque()
        self._closed = False

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """A connection inside a transaction that sees the study as it is at the first look."""
        if self._closed:
            raise ValueError("the study is closed")
        with failures_named(self._where):
            self._check()
            connection = self._take()
            try:
                connection.execute("BEGIN")
                yield connection
            finally:
                self._put_back(connection)

    def close(self) -> None:
        """Close those that are idle now, and the others when they are put back."""
        self._closed = True
        while self._idle:
            self._idle.pop().close()

    def _take(self) -> sqlite3.Connection:
        try:
            return self._idle.pop()
        except IndexError:
            connection = connect(self._path, read_only=self._read_only, patience=self._patience)
            try:
                connection.execute("PRAGMA query_only = ON")
                # It was opened by its name, which may have come to mean another file since the last look.
                self._check()
            except BaseException:
                connection.close()
                raise
            return connection

    def _put_back(self, connection: sqlite3.Connection) -> None:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        self._idle.append(connection)
        if self._closed:
            self.close()


class Writer:
    """The connection that writes. Those who wait while one transaction is flushed to disk share the next one.

    Whoever gets the lock first does the work of all who wait, in the order in which they came, commits once and tells
    each of them; nobody hears of success before the commit. What is committed is safe in the log beside the file; soon
    after it goes into the file itself. `check` fails where the file is no longer in its place: it is asked before
    anything is written, and after the commit, since a file that went in between has taken the answers with it.
    """

    def __init__(self, connection: sqlite3.Connection, where: str, *, check: Callable[[], None]) -> None:
        self._connection = connection
        self._where = where
        self._check = check
        self._lock = Lock()
        self._waiting: deque[tuple[Callable[[sqlite3.Connection], Any], Future[Any]]] = deque()
        self._closed = False
        self._has_written = False
        (self._patience_ms,) = connection.execute("PRAGMA busy_timeout").fetchone()
        self._is_held = False
        self._tidying: Timer | None = None

    def run(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """What `work` returns, once all that it wrote is safe on disk; if it raises, nothing that it wrote stays."""
        promise: Future[T] = Future()
        self._waiting.append((work, promise))
        with self._lock:
            if not promise.done():
                self._commit_waiting()
        with failures_named(self._where):
            return promise.result(timeout=0)  # settled by now, by this thread or another

    def close(self) -> None:
        """Wait for the transaction at hand, then close; the file then holds all, even where others still read it."""
        with self._lock:
            if self._tidying is not None:
                self._tidying.cancel()
            if self._has_written and not self._closed:
                with suppress(sqlite3.Error):
                    # Not for long: all is safe in the log too, and whoever closes last tries again.
                    self._connection.execute("PRAGMA busy_timeout = 1000")
                    self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
            self._closed = True
            self._connection.close()

    def _commit_waiting(self) -> None:
        jobs: list[tuple[Callable[[sqlite3.Connection], Any], Future[Any]]] = []
        try:
            if self._closed:
                raise ValueError("the study is closed")
            self._check()
            self._begin()
            jobs = self._take_waiting()
            outcomes = [self._attempt(work) for work, _ in jobs]
            self._connection.execute("COMMIT")
            self._has_written = True
            self._tidy_later()
            self._check()
        except BaseException as error:
            if not self._closed and self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
            for _, promise in jobs or self._take_waiting():
                promise.set_exception(copy_of(error))
            if not isinstance(error, Exception):
                raise
        else:
            for (_, promise), (value, failure) in zip(jobs, outcomes, strict=True):
                if failure is None:
                    promise.set_result(value)
                else:
                    promise.set_exception(failure)

    def _take_waiting(self) -> list[tuple[Callable[[sqlite3.Connection], Any], Future[Any]]]:
        return [self._waiting.popleft() for _ in range(len(self._waiting))]

    def _begin(self) -> None:
        """Take the file for writing, with less patience where somebody has just waited for it in vain."""
        before = self._is_held
        try:
            self._connection.execute("BEGIN IMMEDIATE")
            self._is_held = False
        except sqlite3.Error as error:
            self._is_held = is_busy(error)
            raise
        finally:
            if self._is_held != before:
                wait = _SHORT_MS if self._is_held else self._patience_ms
                self._connection.execute(f"PRAGMA busy_timeout = {wait}")

    def _tidy_later(self) -> None:
        """Bring the log into the file in a while, once for all that is written until then."""
        if self._tidying is None:
            self._tidying = Timer(_TIDY_SECONDS, self._tidy)
            self._tidying.daemon = True
            # No thread to be had: SQLite does it by itself when the log has grown long.
            with suppress(RuntimeError):
                self._tidying.start()

    def _tidy(self) -> None:
        with self._lock:
            self._tidying = None
            if not self._closed:
                with suppress(sqlite3.Error):
                    self._connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()

    def _attempt(self, work: Callable[[sqlite3.Connection], Any]) -> tuple[Any, Exception | None]:
        """One job of a shared transaction: its failure takes back what it wrote, and nothing of the others."""
        self._connection.execute("SAVEPOINT job")
        try:
            outcome: tuple[Any, Exception | None] = (work(self._connection), None)
        except Exception as error:
            # Where SQLite has given up the whole transaction, this fails too, and with it all jobs.
            self._connection.execute("ROLLBACK TO job")
            outcome = (None, error)
        self._connection.execute("RELEASE job")
        return outcome
