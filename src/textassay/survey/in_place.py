"""Whether the file of an open study is still the one that others find under its name."""

import os
from pathlib import Path
from threading import Lock

from textassay.corpus.printable import printable
from textassay.survey.failures import StudyGone

# What SQLite keeps beside a file that is open. Another process would make these anew, and the two would not agree.
_BESIDE = ("-wal", "-shm")


class InPlace:
    """The files of a study as they were when it was opened.

    Who has a file open can write into it when its name is long gone, or belongs to another file: nobody would ever find
    what was written. So that is looked for before anything is written, and once more before it is called saved.
    """

    def __init__(self, path: Path, where: str) -> None:
        self._path, self._where = path.absolute(), where
        self._file = _identity(str(self._path))
        # Beside the file itself, where the name that is known is a link to it.
        names = [os.path.realpath(path) + ending for ending in _BESIDE]
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
