"""Files that are written whole or not at all. Nothing here needs Arrow, so that a server of ratings starts at once."""

import os
import stat
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import BinaryIO

from textassay.corpus.printable import shortened
from textassay.errors import InputError

AnyPath = str | os.PathLike[str]


@contextmanager
def write_failures_named(where: str) -> Iterator[None]:
    """Turn what the operating system raises while a file is written into one line that names the file."""
    try:
        yield
    except OSError as error:
        reason = "the folder does not exist" if isinstance(error, FileNotFoundError) else error.strerror or str(error)
        raise InputError(f"{where}: cannot be written ({one_line(reason).lower()})") from None


def replace_file(path: AnyPath, content: bytes | Iterable[bytes]) -> None:
    """Write a file completely or not at all: a temporary file beside it takes its place. Links are followed."""
    with replaced_file(path) as file:
        file.writelines([content] if isinstance(content, bytes) else content)


@contextmanager
def replaced_file(path: AnyPath) -> Iterator[BinaryIO]:
    """A temporary file beside a file, which takes its place if the `with` block ends without an error."""
    target = os.path.realpath(os.path.expanduser(path))
    folder, name = os.path.split(target)
    with write_failures_named(shortened(os.fsdecode(path))):
        handle, temporary = tempfile.mkstemp(prefix=f".{name[:40]}.", dir=folder)
        try:
            with os.fdopen(handle, "wb") as file:
                yield file
            os.chmod(temporary, _mode_of(target))
            os.replace(temporary, target)
        except BaseException:
            with suppress(FileNotFoundError):
                os.unlink(temporary)
            raise


def flush_folder(folder: AnyPath) -> None:
    """Flush the names of new files to disk, on systems where a folder can be opened; others do not need this."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _mode_of(path: str) -> int:
    """The mode of the file, so that a private file stays private; for a new file, the default under the umask."""
    try:
        return stat.S_IMODE(os.stat(path).st_mode)
    except FileNotFoundError:
        mask = os.umask(0)
        os.umask(mask)
        return 0o666 & ~mask


def one_line(message: str) -> str:
    """What the operating system says, on one line and not long."""
    return shortened(" ".join(message.split()))
