"""Whether there is a file to open as a study, said in one line where there is none."""

import os
import stat
from pathlib import Path

from textassay.corpus.errors import InputError
from textassay.corpus.printable import printable


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
