"""What can be wrong with a study's file while it is in use, each as an error of one line."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

from textassay.corpus.errors import InputError


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
