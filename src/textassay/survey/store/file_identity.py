"""File identity: new files that appear whole, copies, and whether an open file is still the one at its path."""

import os
import sqlite3
import stat
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from threading import Lock

from textassay.corpus.printable import printable
from textassay.errors import InputError
from textassay.survey.store.connections import StudyGone, connect, failures_named

# What SQLite keeps beside a file that is open. Another process would make these anew, and the two would not agree.
_JOURNALS = ("-wal", "-shm")


class InPlace:
    """The files of a study as they were when it was opened.

    Who has a file open can write into it when its name is long gone, or belongs to another file: nobody would ever find
    what was written. So that is looked for before anything is written, and once more before it is called saved.
    """

    def __init__(self, path: Path, where: str) -> None:
        self._path, self._where = path.absolute(), where
        self._file = _identity(str(self._path))
        # Beside the file itself, where the name that is known is a link to it.
        names = [os.path.realpath(path) + ending for ending in _JOURNALS]
        self._beside = {name: found for name in names if (found := _identity(name)) is not None}
        self._time = 0
        self._is_gone = False
        self._lock = Lock()

    def check(self) -> None:
        """StudyGone where one of the files is missing, or is another one."""
        wrong = self._wrong()
        if wrong:
            raise StudyGone(f"{self._where}: {wrong}", time=self._noted())
        self._is_gone = False

    def check_at_end(self) -> None:
        """StudyGone where that which was written is not in a file of the name; for when the study is closed."""
        if self._file_is_wrong():
            raise StudyGone(
                f"{self._where}: was deleted, moved or replaced while it was open; the answers that were taken until "
                "then are in that file, wherever it is now, and lost if it was deleted; none was taken after that",
                time=self._noted(),
            )

    def _wrong(self) -> str:
        if found := self._file_is_wrong():
            return f"{found} while it was open, so nothing can be saved until it is back"
        for name, identity in self._beside.items():
            if _identity(name) != identity:
                return (
                    f"{printable(os.path.basename(name))}, which belongs to it, was deleted or replaced while it was "
                    "open, so nothing can be saved; stop the program that has it open, which brings all into the file"
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
    """Which file has this name; None where there is none, or none that can be reached."""
    try:
        found = os.stat(name)
    except OSError:
        return None
    return found.st_dev, found.st_ino


def check_is_file(path: Path, where: str) -> None:
    """Refuse what SQLite would explain badly, without opening it: closing it again would drop the locks of others."""
    try:
        mode = os.stat(path).st_mode
    except (FileNotFoundError, NotADirectoryError, ValueError):
        raise InputError(f"{where}: no such file; make a study with textassay survey create") from None
    except OSError as error:
        raise InputError(f"{where}: cannot be read ({printable(error.strerror or str(error))})") from error
    if stat.S_ISDIR(mode):
        raise InputError(f"{where}: is a folder; wanted the file of a study")
    if not stat.S_ISREG(mode):
        raise InputError(f"{where}: is no regular file; wanted the file of a study")


# What SQLite keeps beside its file. One that was left behind would be taken for a part of the new file.
_ALL_JOURNALS = ("-wal", "-shm", "-journal")


@contextmanager
def new_database(path: Path) -> Iterator[Path]:
    """An empty file beside `path` to build in, for the owner's eyes only; at the end it takes the name `path`."""
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
        _flush_folder(path.absolute().parent)
    except FileExistsError:
        raise InputError(f"{where}: exists and is never overwritten; wanted a new file for the study") from None
    except (FileNotFoundError, NotADirectoryError):
        folder = printable(str(path.parent))
        raise InputError(f"{where}: the folder {folder} does not exist") from None
    except OSError as error:
        raise InputError(f"{where}: cannot be made ({printable(error.strerror or str(error))})") from error


def _check_free(path: Path, where: str) -> None:
    if os.path.lexists(path):
        raise FileExistsError
    for ending in _ALL_JOURNALS:
        if os.path.lexists(f"{path}{ending}"):
            left = printable(f"{path}{ending}")
            raise InputError(f"{where}: {left} is left of another study; wanted a name that nothing belongs to")


def _take_name(made: str, path: Path) -> None:
    """Give the file its name, unless somebody was faster."""
    try:
        os.link(made, path)
    except FileExistsError:
        raise
    except OSError:
        # A file system without hard links: the name is claimed by an empty file, which only its maker replaces.
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


def _flush_folder(folder: Path) -> None:
    """The new name on disk too, where folders can be flushed."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def copy_study(connection: sqlite3.Connection, path: Path) -> None:
    """All that is committed now, in a new file that appears whole or not at all; one that exists is never touched.

    Copying the file itself would leave out what is in the log beside it, and could catch it half written.
    """
    where = printable(str(path))
    with failures_named(where), new_database(path) as made, closing(connect(made)) as copy:
        connection.backup(copy)
        (found,) = copy.execute("PRAGMA quick_check(1)").fetchone()
        if found != "ok":
            raise InputError(f"{where}: the study is damaged, and so would be its copy ({printable(str(found))})")
