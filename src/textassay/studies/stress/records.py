"""Records: what a study has measured so far, by key, in a file that survives an interruption at any moment.

The file has one JSON object per line. The first line identifies the study: what is measured, on which texts, with which
seed. Every other line is one finished piece of work. A line is written as a whole and flushed; a line without its end
is what a killed process left, and it is cut off before the next one is written.
"""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from threading import Lock
from typing import Any

from textassay.corpus.printable import printable, shortened
from textassay.errors import InputError

Key = tuple[str | int | float, ...]
Record = Mapping[str, Any]


class Records:
    """Finished pieces of work by key, in memory and, with a path, in a file."""

    def __init__(self, identity: Mapping[str, Any], path: str | os.PathLike[str] | None = None) -> None:
        self._known: dict[Key, Record] = {}
        self._lock = Lock()
        self._path = None if path is None else Path(path)
        if self._path is not None:
            self._open(self._path, {"stress": dict(identity)})

    def __contains__(self, key: Key) -> bool:
        return key in self._known

    def __getitem__(self, key: Key) -> Record:
        return self._known[key]

    def __len__(self) -> int:
        return len(self._known)

    def put(self, key: Key, record: Record) -> None:
        """Keep a finished piece of work."""
        # What is kept in memory is what the file would give back, so that a resumed run has the same numbers.
        line = json.dumps({"key": list(key), **record}, allow_nan=False)
        with self._lock:
            if self._path is not None:
                with self._path.open("ab") as file:
                    file.write(f"{line}\n".encode())
            self._known[key] = json.loads(line)

    def _open(self, path: Path, identity: dict[str, Any]) -> None:
        """Read the records of an earlier run of this study, or begin a file."""
        content = path.read_bytes() if path.exists() else b""
        whole = content[: content.rfind(b"\n") + 1]
        if content and not whole and not b'{"stress"'.startswith(content[:9]):
            raise self._foreign(path)
        head, *lines = whole.decode(errors="replace").splitlines() or [json.dumps(identity)]
        try:
            seen = dict(json.loads(head)["stress"])
            records = [json.loads(line) for line in lines]
            self._known = {tuple(record["key"]): record for record in records}
        except (ValueError, KeyError, TypeError, RecursionError):
            raise self._foreign(path) from None
        self._check(path, seen, identity["stress"])
        if whole != content:
            os.truncate(path, len(whole))
        if not whole:
            path.write_text(f"{json.dumps(identity)}\n", encoding="utf-8")

    def _check(self, path: Path, theirs: Mapping[str, Any], identity: Mapping[str, Any]) -> None:
        """Refuse the records of another study, and name the first setting in which it differs."""
        ours = json.loads(json.dumps(identity))
        for name in dict.fromkeys([*ours, *theirs]):
            if theirs.get(name) != ours.get(name):
                found, asked = (shortened(str(side.get(name)), 60) for side in (theirs, ours))
                raise InputError(
                    f"{printable(str(path))}: records of another study ({name} is {found}, here {asked}); "
                    "wanted a new file, or the same texts and settings"
                )

    def _foreign(self, path: Path) -> InputError:
        return InputError(
            f"{printable(str(path))}: not a file of records; wanted a new file, or one of textassay stress"
        )
