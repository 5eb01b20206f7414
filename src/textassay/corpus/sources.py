"""Where texts come from: files (plain, gzip or zstd), patterns of files and standard input, as blocks of bytes."""

import glob
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import BinaryIO

import pyarrow as pa

from textassay.corpus.errors import InputError
from textassay.corpus.printable import printable, shortened

BLOCK = 1 << 22
STDIN = "-"
_CODECS = {".gz": "gzip", ".zst": "zstd"}
_KINDS = {
    ".txt": "lines",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "json",
    ".csv": "csv",
    ".tsv": "tsv",
    ".parquet": "parquet",
}


@dataclass(frozen=True, slots=True)
class Source:
    """One file, or standard input. `kind` is None where the extension says nothing."""

    path: str
    kind: str | None
    codec: str | None

    @property
    def where(self) -> str:
        """How messages call it."""
        return "stdin" if self.path == STDIN else shortened(self.path)


def sources_of(path: str) -> list[Source]:
    """The files a path or a pattern stands for, in sorted order; an error when there is none."""
    if path == STDIN:
        return [Source(STDIN, None, None)]
    # A file may have a bracket in its name, so an existing name is never taken for a pattern.
    if glob.has_magic(path) and not os.path.lexists(path):
        found = sorted(name for name in glob.glob(path, recursive=True) if not os.path.isdir(name))
        if not found:
            raise InputError(f"{shortened(path)}: no file matches this pattern")
        return [_source(name) for name in found]
    if os.path.isdir(path):
        raise InputError(f"{shortened(path)}: a directory; wanted a file or a pattern such as '*.txt' in quotes")
    with failures_named(shortened(path)):
        # Looked at before anything is read, so that a wrong name fails at once and not in the middle of a run.
        os.stat(path)
    return [_source(path)]


def name_of(path: str) -> str:
    """The name of a sample that was read from here: a file's stem, `stdin`, or the pattern.

    >>> name_of("runs/mle.jsonl.gz"), name_of("-"), name_of("runs/*.txt"), name_of("temperature0.7")
    ('mle', 'stdin', 'runs/*.txt', 'temperature0.7')
    """
    if path == STDIN:
        return "stdin"
    if glob.has_magic(path) and not os.path.lexists(path):
        return printable(path)
    stem, _, extension = _split(path)
    # What follows the dot of `temperature0.7` is part of the setting, not an extension.
    return printable(os.path.basename(stem + extension if extension[1:].isdigit() else stem))


def has_known_extension(path: str) -> bool:
    """Whether a name ends as a file does that can be read; nothing is looked up.

    >>> has_known_extension("runs/*.jsonl.gz"), has_known_extension("A cat sat.")
    (True, False)
    """
    return _split(path)[2].lower() in _KINDS


def byte_blocks(source: Source) -> Iterator[bytes]:
    """The content, unpacked, in blocks of a few megabytes."""
    if source.path == STDIN:
        with failures_named(source.where):
            yield from _blocks(_standard_input())
        return
    with failures_named(source.where), open(source.path, "rb") as file:
        yield from _blocks(file if source.codec is None else pa.input_stream(file, compression=source.codec))


@contextmanager
def failures_named(where: str) -> Iterator[None]:
    """Turn what the operating system and Arrow raise while a file is read into one line that names the file."""
    try:
        yield
    except InputError:
        raise
    except FileNotFoundError:
        raise InputError(f"{where}: no such file") from None
    except IsADirectoryError:
        raise InputError(f"{where}: a directory; wanted a file") from None
    except PermissionError:
        raise InputError(f"{where}: permission denied; wanted a file that can be read") from None
    except (OSError, ValueError, pa.ArrowException) as error:
        seen = getattr(error, "strerror", None) or str(error)
        raise InputError(f"{where}: cannot be read, damaged or not what its name says: {_one_line(seen)}") from None


def _source(path: str) -> Source:
    _, codec, extension = _split(path)
    return Source(path, _KINDS.get(extension.lower()), codec)


def _split(path: str) -> tuple[str, str | None, str]:
    """Path without extensions, codec, extension."""
    stem, extension = os.path.splitext(path)
    codec = _CODECS.get(extension.lower())
    if codec is not None:
        stem, extension = os.path.splitext(stem)
    return stem, codec, extension


def _standard_input() -> BinaryIO:
    # Read as bytes: the locale of the terminal must not decide how a piped file is decoded.
    stream: BinaryIO | None = getattr(sys.stdin, "buffer", None)
    if stream is None:
        raise InputError("stdin: closed or without bytes; wanted text piped in")
    return stream


def _blocks(stream: BinaryIO) -> Iterator[bytes]:
    while block := stream.read(BLOCK):
        yield block


def _one_line(message: str) -> str:
    return shortened(" ".join(message.split()))
