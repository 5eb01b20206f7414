"""Connections to a study's file: concurrent readers, one shared writer, and database errors in one line."""

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
from textassay.survey.store.schema import show_as_current


class StudyBusy(InputError):
    """Another process has locked the file for longer than the timeout. Retrying later may work."""


class StudyGone(InputError):
    """The file was deleted, moved or replaced, so what is written now would be lost. `time` counts such events."""

    def __init__(self, message: str, *, time: int) -> None:
        super().__init__(message)
        self.time = time


@contextmanager
def database_errors(where: str) -> Iterator[None]:
    """Turn errors of the database (a full disk, a lock, a damaged file, missing rights) into InputErrors.

    A violated constraint is a bug and is not changed.
    """
    try:
        yield
    except (sqlite3.IntegrityError, sqlite3.ProgrammingError):
        raise
    except sqlite3.DatabaseError as error:
        if getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_NOTADB:
            raise InputError(f"{where}: not an SQLite file; wanted a file made by textassay survey create") from None
        kind = StudyBusy if is_busy(error) else InputError
        damaged = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF == sqlite3.SQLITE_CORRUPT
        hint = "; textassay survey export --salvage writes the answers that can still be read" if damaged else ""
        raise kind(f"{where}: the study cannot be read or written ({error}){hint}") from error


def is_busy(error: sqlite3.Error) -> bool:
    """Whether another connection holds the lock."""
    code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF
    return code in {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}


def copy_error(error: BaseException) -> Exception:
    """A copy of the error of a shared transaction, because each thread must raise its own object."""
    if isinstance(error, StudyGone):
        return StudyGone(str(error), time=error.time)
    if isinstance(error, ValueError):
        return ValueError(*error.args)
    copy = sqlite3.OperationalError(*(error.args if isinstance(error, Exception) else ("interrupted",)))
    copy.sqlite_errorcode = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR)
    return copy


T = TypeVar("T")

# How long a command waits for a file that another process has locked. The web page waits for a shorter time.
_TIMEOUT_SECONDS = 30.0
# The wait after a timeout, until the file is free again: waiting requests must not add up.
_SHORT_MS = 100
# The delay after a commit until the write-ahead log is copied into the file.
_CHECKPOINT_SECONDS = 2.0
# SQLite's errors where it cannot create the files that it needs beside a study.
_NOT_WRITABLE = (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY)


def connect(path: Path, *, read_only: bool = False, timeout: float | None = None) -> sqlite3.Connection:
    """A connection to an existing file, for any one thread at a time, with explicit transactions.

    With `read_only` nothing can be written, and the file may be in a place without write access, such as a read-only
    disk. The connection waits up to `timeout` seconds for a lock.
    """
    wait = _TIMEOUT_SECONDS if timeout is None else timeout
    if not read_only:
        return _connected(path, "mode=rw", wait)
    try:
        return _connected(path, "mode=rw", wait, "PRAGMA query_only = ON", "PRAGMA schema_version")
    except sqlite3.OperationalError as error:
        # The lowest byte is the primary error code.
        if error.sqlite_errorcode & 0xFF not in _NOT_WRITABLE:
            raise
        log = f"{os.path.realpath(path)}-wal"
        if os.path.lexists(log):
            raise InputError(
                f"{printable(str(path))}: its folder is not writable, and {printable(log)} contains a part of the "
                "study; copy both files to a writable folder"
            ) from None
        # No process has the file open, or there would be a log; so it does not change while it is read.
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
    """A pool of reading connections. A thread takes one, reads in one consistent transaction, and returns it."""

    def __init__(
        self,
        path: Path,
        where: str,
        *,
        check: Callable[[], None],
        read_only: bool = False,
        timeout: float | None = None,
    ) -> None:
        self._path = path
        self._where = where
        self._read_only = read_only
        self._timeout = timeout
        self._check = check
        self._idle: deque[sqlite3.Connection] = deque()
        self._closed = False

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """A connection inside a transaction that sees the study as of its first read."""
        if self._closed:
            raise ValueError("the study is closed")
        with database_errors(self._where):
            self._check()
            connection = self._take()
            try:
                connection.execute("BEGIN")
                yield connection
            finally:
                self._put_back(connection)

    def close(self) -> None:
        """Close the idle connections now, and the others when they are returned."""
        self._closed = True
        while self._idle:
            self._idle.pop().close()

    def _take(self) -> sqlite3.Connection:
        try:
            return self._idle.pop()
        except IndexError:
            connection = connect(self._path, read_only=self._read_only, timeout=self._timeout)
            try:
                if self._read_only:
                    show_as_current(connection)
                connection.execute("PRAGMA query_only = ON")
                # The connection was opened by name, which may belong to another file since the last check.
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
    """The writing connection. Jobs that wait while one transaction is flushed to disk share the next one.

    The thread that gets the lock runs all waiting jobs in their order, commits once, and gives each job its result. No
    job succeeds before the commit. Committed data is safe in the write-ahead log and is copied into the file soon
    after. `check` raises if the file was moved or replaced. It is called before writing, and after the commit, because
    answers written to a file that was removed in between are lost.
    """

    def __init__(self, connection: sqlite3.Connection, where: str, *, check: Callable[[], None]) -> None:
        self._connection = connection
        self._where = where
        self._check = check
        self._lock = Lock()
        self._waiting: deque[tuple[Callable[[sqlite3.Connection], Any], Future[Any]]] = deque()
        self._closed = False
        self._has_written = False
        (self._timeout_ms,) = connection.execute("PRAGMA busy_timeout").fetchone()
        self._is_held = False
        self._checkpoint_timer: Timer | None = None

    def run(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Run `work` and return its result once its writes are on disk; if it raises, its writes are rolled back."""
        promise: Future[T] = Future()
        self._waiting.append((work, promise))
        with self._lock:
            if not promise.done():
                self._commit_waiting()
        with database_errors(self._where):
            return promise.result(timeout=0)  # already set, by this thread or another

    def close(self) -> None:
        """Finish the current transaction, copy the log into the file, and close."""
        with self._lock:
            if self._checkpoint_timer is not None:
                self._checkpoint_timer.cancel()
            if self._has_written and not self._closed:
                with suppress(sqlite3.Error):
                    # A short wait: the data is safe in the log, and the last process to close copies it again.
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
            self._schedule_checkpoint()
            self._check()
        except BaseException as error:
            if not self._closed and self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
            for _, promise in jobs or self._take_waiting():
                promise.set_exception(copy_error(error))
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
        """Begin a write transaction; wait less if the previous one timed out."""
        before = self._is_held
        try:
            self._connection.execute("BEGIN IMMEDIATE")
            self._is_held = False
        except sqlite3.Error as error:
            self._is_held = is_busy(error)
            raise
        finally:
            if self._is_held != before:
                wait = _SHORT_MS if self._is_held else self._timeout_ms
                self._connection.execute(f"PRAGMA busy_timeout = {wait}")

    def _schedule_checkpoint(self) -> None:
        """Copy the log into the file after a delay, once for everything written until then."""
        if self._checkpoint_timer is None:
            self._checkpoint_timer = Timer(_CHECKPOINT_SECONDS, self._checkpoint)
            self._checkpoint_timer.daemon = True
            # If no thread can be started, SQLite copies the log itself once it has grown long.
            with suppress(RuntimeError):
                self._checkpoint_timer.start()

    def _checkpoint(self) -> None:
        with self._lock:
            self._checkpoint_timer = None
            if not self._closed:
                with suppress(sqlite3.Error):
                    self._connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()

    def _attempt(self, work: Callable[[sqlite3.Connection], Any]) -> tuple[Any, Exception | None]:
        """Run one job of a shared transaction. If it fails, only its own writes are rolled back."""
        self._connection.execute("SAVEPOINT job")
        try:
            outcome: tuple[Any, Exception | None] = (work(self._connection), None)
        except Exception as error:
            # If SQLite has rolled back the whole transaction, this fails too, and with it all jobs.
            self._connection.execute("ROLLBACK TO job")
            outcome = (None, error)
        self._connection.execute("RELEASE job")
        return outcome
