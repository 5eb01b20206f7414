"""Connections to a study's file: readers that never wait for writers, and one writer that many threads share."""

import sqlite3
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from pathlib import Path
from threading import Lock
from typing import Any, TypeVar

from textassay.corpus.errors import InputError

T = TypeVar("T")

# How long to wait for another process, such as an export, that holds the file.
_PATIENCE_SECONDS = 30.0


def connect(path: Path) -> sqlite3.Connection:
    """A connection to a file that exists, for any thread but only for one at a time; transactions are said in full."""
    address = f"{path.absolute().as_uri()}?mode=rw"
    connection = sqlite3.connect(
        address, uri=True, timeout=_PATIENCE_SECONDS, isolation_level=None, check_same_thread=False
    )
    try:
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute("PRAGMA synchronous = FULL")
    except BaseException:
        connection.close()
        raise
    return connection


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
        raise InputError(f"{where}: the study cannot be read or written ({error})") from error


class Readers:
    """Connections that only read: taken by a thread, used for one consistent look at the study, and put back."""

    def __init__(self, path: Path, where: str) -> None:
        self._path = path
        self._where = where
        self._idle: deque[sqlite3.Connection] = deque()
        self._closed = False

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """A connection inside a transaction that sees the study as it is at the first look."""
        if self._closed:
            raise ValueError("the study is closed")
        with failures_named(self._where):
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
            connection = connect(self._path)
            connection.execute("PRAGMA query_only = ON")
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
    each of them; nobody hears of success before the commit.
    """

    def __init__(self, connection: sqlite3.Connection, where: str) -> None:
        self._connection = connection
        self._where = where
        self._lock = Lock()
        self._waiting: deque[tuple[Callable[[sqlite3.Connection], Any], Future[Any]]] = deque()
        self._closed = False

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
        """Wait for the transaction at hand, then close."""
        with self._lock:
            self._closed = True
            self._connection.close()

    def _commit_waiting(self) -> None:
        jobs = [self._waiting.popleft() for _ in range(len(self._waiting))]
        try:
            if self._closed:
                raise ValueError("the study is closed")
            self._connection.execute("BEGIN IMMEDIATE")
            outcomes = [self._attempt(work) for work, _ in jobs]
            self._connection.execute("COMMIT")
        except BaseException as error:
            if not self._closed and self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
            for _, promise in jobs:
                promise.set_exception(_copy(error))
            if not isinstance(error, Exception):
                raise
        else:
            for (_, promise), (value, failure) in zip(jobs, outcomes, strict=True):
                if failure is None:
                    promise.set_result(value)
                else:
                    promise.set_exception(failure)

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


def _copy(error: BaseException) -> Exception:
    """The failure of a shared transaction for one of those who share it: each thread raises an object of its own."""
    if isinstance(error, ValueError):
        return ValueError(*error.args)
    if isinstance(error, Exception):
        return sqlite3.OperationalError(*error.args)
    return sqlite3.OperationalError("interrupted")
