"""Shards: the files of a corpus by name, here or at addresses such as `s3://bucket/a.jsonl`, which fsspec opens."""

import os
import re
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from textassay.corpus.files.reading import Budget, failures_named, is_pattern, pattern_files
from textassay.corpus.printable import printable, shortened
from textassay.errors import InputError

_BLOCK = 1 << 22
_ADDRESS = re.compile(r"[a-z][a-z0-9+.-]+(::[a-z][a-z0-9+.-]+)*://", re.IGNORECASE)


def is_remote(path: str) -> bool:
    """Whether a path is an address with a protocol.

    >>> is_remote("s3://bucket/a.jsonl"), is_remote("C:/a.jsonl"), is_remote("a.jsonl")
    (True, False, False)
    """
    return _ADDRESS.match(path) is not None


def shard_files(patterns: Sequence[str]) -> dict[str, str]:
    """The files of shards by name, which is the path as it is given."""
    paths = [path for pattern in patterns for path in files_of(pattern)]
    if "-" in paths:
        raise InputError("a shard is a file; wanted no standard input")
    if not paths:
        raise InputError("no shard given; wanted at least one file")
    if len({path if is_remote(path) else os.path.realpath(path) for path in paths}) < len(paths):
        raise InputError("a shard is given twice; wanted every shard once")
    named = {path if is_remote(path) else os.path.normpath(path).replace(os.sep, "/"): path for path in paths}
    return dict(sorted(named.items()))


def files_of(pattern: str) -> list[str]:
    """The files of a path, an address or a pattern of either, sorted; an error if a pattern matches none."""
    if not is_remote(pattern):
        found = pattern_files(pattern)[0] if is_pattern(pattern) else [pattern]
    elif any(sign in pattern for sign in "*?["):
        with _failures_named(pattern):
            system, path = _opened(pattern)
            found = sorted(map(system.unstrip_protocol, system.glob(path)))
    else:
        found = [pattern]
    if not found:
        raise InputError(f"{shortened(pattern)}: no file matches this pattern")
    return found


def about_file(path: str) -> str:
    """What changes if a file does: its size and time of change."""
    if not is_remote(path):
        with failures_named(shortened(path)):
            about = os.stat(path)
        return f"{about.st_size} {about.st_mtime_ns}"
    with _failures_named(path):
        system, inner = _opened(path)
        info = system.info(inner)
    return " ".join(str(info.get(name)) for name in ("size", "mtime", "LastModified", "ETag", "created"))


@contextmanager
def fetched(path: str) -> Iterator[str]:
    """A file of this machine with the content of an address; a path is yielded as it is."""
    if not is_remote(path):
        yield path
        return
    with tempfile.TemporaryDirectory(prefix="textassay-") as folder:
        name = os.path.join(folder, os.path.basename(path) or "shard")
        with _failures_named(path):
            system, inner = _opened(path)
            with system.open(inner, "rb") as source, open(name, "wb") as target:
                budget = Budget.of_input()
                while block := source.read(_BLOCK):
                    budget.charge(len(block), shortened(path))
                    target.write(block)
        try:
            yield name
        except InputError as error:
            raise InputError(str(error).replace(name, printable(path))) from None


def _opened(path: str) -> tuple[Any, str]:
    try:
        from fsspec.core import url_to_fs
    except ModuleNotFoundError:
        raise InputError(f"{shortened(path)}: fsspec is not installed; get it with: pip install fsspec") from None
    found: tuple[Any, str] = url_to_fs(path)
    return found


@contextmanager
def _failures_named(path: str) -> Iterator[None]:
    where = shortened(path)
    try:
        with failures_named(where):
            yield
    except InputError:
        raise
    except ImportError as error:
        raise InputError(f"{where}: {shortened(str(error))}") from None
    except Exception as error:
        # Each protocol has errors of its own.
        raise InputError(f"{where}: cannot be read ({type(error).__name__}: {shortened(str(error), 120)})") from None
