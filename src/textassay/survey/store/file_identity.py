"""Files of a study: creation and copies that appear completely or not at all, and whether an open file was replaced."""

import os
import sqlite3
import stat
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from threading import Lock

from textassay.corpus.files.writing import flush_folder
from textassay.corpus.printable import printable
from textassay.errors import InputError
from textassay.survey.store.connections import StudyGone, connect, database_errors

# SQLite's files beside an open file. If they are deleted, another process creates new ones, which damages the study.
_JOURNALS = ("-wal", "-shm")


class FileIdentity:
    """The identity of a study's files when the study was opened.

    A process can write to an open file after its name was removed or given to another file; what it writes is then
    lost. So the identity is checked before anything is written, and again before an answer is called saved.
    """

    def __init__(self, path: Path, where: str) -> None:
        self._path, self._where = path.absolute(), where
        self._file = _identity(str(self._path))
        # Beside the file itself, in case the path is a symbolic link.
        names = [os.path.realpath(path) + ending for ending in _JOURNALS]
        self._beside = {name: found for name in names if (found := _identity(name)) is not None}
        self._time = 0
        self._is_gone = False
        self._lock = Lock()

    def check(self) -> None:
        """Raise StudyGone if one of the files is missing or was replaced."""
        wrong = self._wrong()
        if wrong:
            raise StudyGone(f"{self._where}: {wrong}", time=self._noted())
        self._is_gone = False

    def check_at_end(self) -> None:
        """Raise StudyGone if the file at the path is not the one that was written; for use after closing."""
        if self._file_is_wrong():
            raise StudyGone(
                f"{self._where}: was deleted, moved or replaced while it was open. Answers given before that are in "
                "the original file (lost if it was deleted); later answers were not accepted",
                time=self._noted(),
            )

    def _wrong(self) -> str:
        if found := self._file_is_wrong():
            return f"{found} while it was open, so nothing can be saved until it is moved back"
        for name, identity in self._beside.items():
            if _identity(name) != identity:
                return (
                    f"{printable(os.path.basename(name))}, which belongs to it, was deleted or replaced while it was "
                    "open, so nothing can be saved; stop the program that has it open, which saves all answers to the "
                    "file"
                )
        return ""

    def _file_is_wrong(self) -> str:
        now = _identity(str(self._path))
        if now is None:
            return "was deleted or moved away"
        return "" if now == self._file else "was replaced by another file"

    def _noted(self) -> int:
        with self._lock:
            self._time += not self._is_gone
            self._is_gone = True
            return self._time


def _identity(name: str) -> tuple[int, int] | None:
    """The device and inode of the file with this name; None if it does not exist or cannot be accessed."""
    try:
        found = os.stat(name)
    except OSError:
        return None
    return found.st_dev, found.st_ino


def check_is_file(path: Path, where: str) -> None:
    """Refuse paths that are not regular files. They are not opened, because closing would release existing locks."""
    try:
        mode = os.stat(path).st_mode
    except (FileNotFoundError, NotADirectoryError, ValueError):
        raise InputError(f"{where}: no such file; make a study with textassay survey create") from None
    except OSError as error:
        raise InputError(f"{where}: cannot be read ({printable(error.strerror or str(error))})") from error
    if stat.S_ISDIR(mode):
        raise InputError(f"{where}: is a folder; wanted the file of a study")
    if not stat.S_ISREG(mode):
        raise InputError(f"{where}: is not a regular file; wanted the file of a study")


# SQLite's files beside a database. A leftover one would be read as a part of a new file with the same name.
_ALL_JOURNALS = ("-wal", "-shm", "-journal")


@contextmanager
def new_database(path: Path) -> Iterator[Path]:
    """A new empty file, readable only by its owner, that is renamed to `path` at the end."""
    where = printable(str(path))
    try:
        _check_free(path, where)
        descriptor, name = tempfile.mkstemp(prefix=".textassay-", dir=path.absolute().parent)
        os.close(descriptor)
        try:
            yield Path(name)
            _flush(name)
            _take_name(name, path)
        finally:
            for leftover in ("", *_ALL_JOURNALS):
                with suppress(FileNotFoundError):
                    os.unlink(name + leftover)
        flush_folder(path.absolute().parent)
    except FileExistsError:
        raise InputError(f"{where}: exists and is not overwritten; wanted a new file for the study") from None
    except (FileNotFoundError, NotADirectoryError):
        folder = printable(str(path.parent))
        raise InputError(f"{where}: the folder {folder} does not exist") from None
    except OSError as error:
        raise InputError(f"{where}: cannot be created ({printable(error.strerror or str(error))})") from error


def _check_free(path: Path, where: str) -> None:
    if os.path.lexists(path):
        raise FileExistsError
    for ending in _ALL_JOURNALS:
        if os.path.lexists(f"{path}{ending}"):
            left = printable(f"{path}{ending}")
            raise InputError(f"{where}: {left} is left over from another study; wanted another name")


def _take_name(made: str, path: Path) -> None:
    """Give the file its name, unless another process has created a file of that name."""
    try:
        os.link(made, path)
    except FileExistsError:
        raise
    except OSError:
        # A file system without hard links: reserve the name with an empty file, then replace it.
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        try:
            os.replace(made, path)
        except OSError:
            os.unlink(path)
            raise


def _flush(name: str) -> None:
    descriptor = os.open(name, os.O_RDWR)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def copy_study(connection: sqlite3.Connection, path: Path) -> None:
    """Copy all committed data to a new file, completely or not at all; an existing file is never overwritten.

    A plain copy of the file would lack the data in the write-ahead log, and could be inconsistent.
    """
    where = printable(str(path))
    with database_errors(where), new_database(path) as made, closing(connect(made)) as copy:
        connection.backup(copy)
        (found,) = copy.execute("PRAGMA quick_check(1)").fetchone()
        if found != "ok":
            raise InputError(f"{where}: not created, because the study is damaged ({printable(str(found))})")
