"""A new file that appears whole or not at all, and never in place of another one."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from textassay.corpus.errors import InputError
from textassay.corpus.printable import printable

# What SQLite keeps beside its file. One that was left behind would be taken for a part of the new file.
_BESIDE = ("-wal", "-shm", "-journal")


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
            for leftover in ("", *_BESIDE):
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
    for ending in _BESIDE:
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
