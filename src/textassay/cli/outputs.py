"""Output files: checked before the work starts, written whole or not at all."""

import os
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path

from textassay.corpus.errors import InputError
from textassay.corpus.printable import printable

STANDARD_OUTPUT = "-"


def check_writable(targets: Iterable[str | None]) -> None:
    """Refuse targets that could not be written, before any time is spent."""
    given = [target for target in targets if target is not None]
    if given.count(STANDARD_OUTPUT) > 1:
        raise InputError("two outputs ask for standard output (-); wanted at most one")
    for target in given:
        if target == STANDARD_OUTPUT:
            continue
        path, folder = Path(target), Path(target).parent
        shown = printable(target)
        if path.is_dir():
            raise InputError(f"{shown}: is a directory; wanted a file to write")
        if not folder.is_dir():
            raise InputError(f"{shown}: the folder {printable(str(folder))} does not exist")
        if not os.access(folder, os.W_OK) or (path.exists() and not os.access(path, os.W_OK)):
            raise InputError(f"{shown}: cannot be written (permission denied)")


def write(target: str, text: str) -> None:
    """Write to standard output, or to a file through a temporary one beside it, so that it is never half written."""
    if target == STANDARD_OUTPUT:
        sys.stdout.write(text if text.endswith("\n") else f"{text}\n")
        return
    path = Path(target)
    handle, temporary = tempfile.mkstemp(prefix=f".{path.name[:40]}.", dir=path.parent)
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
        os.chmod(temporary, 0o666 & ~_umask())
        os.replace(temporary, path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
