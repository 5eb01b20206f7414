"""Files of texts: paths, patterns, standard input, compression, encodings, lines, and the limit on what is read."""

import codecs
import glob
import lzma
import math
import os
import re
import stat
import sys
from collections import Counter, deque
from collections.abc import Container, Iterable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass
from io import BufferedReader
from itertools import chain
from typing import Any, BinaryIO

import numpy as np
import pyarrow as pa

from textassay.corpus.files.writing import AnyPath, one_line
from textassay.corpus.printable import many, printable, shortened
from textassay.corpus.sample import TEXT
from textassay.errors import InputError, PythonHint, Setting

DEFAULT_LIMIT = 2 * 2**30
# Repetitive texts compress well, so that the ratio counts only for files that expand to more than this.
RATIO, RATIO_FROM = 100, 256 * 2**20
# What a line, a record and a value of a JSON document take besides their characters.
PER_LINE, PER_RECORD, PER_VALUE = 32, 128, 64
# The limit that the user has chosen; None for the default.
_chosen: ContextVar[int | None] = ContextVar("max_input", default=None)


@contextmanager
def reading_limit(max_input: str | int | None) -> Iterator[None]:
    """Limit the memory that the texts of one input may take, for all files that are read inside the `with` block.

    Parameters
    ----------
    max_input
        A number of bytes, or a size such as "500M" or "8G". The default is 2G, and a compressed file may then expand
        to 256 MiB or 100 times its size, whichever is larger. A limit given here replaces both.

    Returns
    -------
    context manager
        The limit holds inside its `with` block.

    Examples
    --------
    >>> import textassay as ta
    >>> with ta.reading_limit("8G"):
    ...     sample = ta.read_sample(["a cat sat", "a dog ran"])
    """
    token = _chosen.set(None if max_input is None else _parsed(max_input))
    try:
        yield
    finally:
        _chosen.reset(token)


def _parsed(max_input: str | int) -> int:
    try:
        size = parse_size(str(max_input))
    except (ValueError, OverflowError):
        size = 0
    if size <= 0:
        wanted = "; wanted a number of bytes, or a size such as 500M or 8G"
        raise InputError(Setting("max_input", shortened(str(max_input), 60)), wanted)
    return size


@dataclass(eq=False)
class Budget:
    """The memory that one input may take, and what it has taken so far."""

    limit: int
    has_ratio: bool
    taken: int = 0

    @classmethod
    def of_input(cls) -> "Budget":
        """A new budget with the limit that is set."""
        chosen = _chosen.get()
        return cls(DEFAULT_LIMIT, True) if chosen is None else cls(chosen, False)

    def charge(self, amount: int, where: str) -> None:
        """Count memory that is about to be taken; beyond the limit it is an error."""
        self.taken += amount
        if self.taken > self.limit:
            seen = f"{where}: takes more than {shown_size(self.limit)} of memory"
            raise InputError(f"{seen}; wanted a smaller input, or ", *_larger(2 * self.limit))

    def of_packed(self, size: int) -> "PackedBudget":
        """The budget of a compressed file of this size."""
        most = max(RATIO_FROM, RATIO * size) if self.has_ratio else math.inf
        return PackedBudget(self, size, self.taken + most)


@dataclass(frozen=True, eq=False)
class PackedBudget:
    """The budget of a compressed file: that of its input, and at most a multiple of the size of the file."""

    budget: Budget
    size: int
    most: float

    def charge(self, amount: int, where: str) -> None:
        """Count memory that is about to be taken; beyond one of the limits it is an error."""
        self.budget.charge(amount, where)
        if self.budget.taken > self.most:
            seen = f"{where}: {shown_size(self.size)} that expand to more than {RATIO} times their size"
            raise InputError(f"{seen}; wanted a file that expands less, or ", *_larger(self.budget.limit))


def _larger(limit: int) -> tuple[Setting, PythonHint]:
    gigabytes = math.ceil(limit / 2**30)
    return Setting("max_input", f"{gigabytes}G"), PythonHint(" in textassay.reading_limit")


_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([kmgt]?)(i?b)?", re.IGNORECASE)


def parse_size(text: str) -> int:
    """The number of bytes of a size; a single letter and `iB` use steps of 1024, `B` alone steps of 1000.

    >>> parse_size("500M"), parse_size("1.5 KiB"), parse_size("2 GB"), parse_size("77")
    (524288000, 1536, 2000000000, 77)
    """
    found = _SIZE.fullmatch(text.strip())
    if found is None:
        raise ValueError(text)
    step = 1000 if (found[3] or "").casefold() == "b" and found[2] else 1024
    return int(float(found[1]) * step ** " kmgt".index(found[2].casefold() or " "))


def shown_size(size: int) -> str:
    """A size in a readable unit.

    >>> shown_size(77), shown_size(4 * 2**30), shown_size(31_500_000)
    ('77 B', '4.0 GiB', '30.0 MiB')
    """
    amount, units = float(size), ["KiB", "MiB", "GiB", "TiB"]
    if size < 1024:
        return f"{size} B"
    while amount >= 1024 and units:
        amount, unit = amount / 1024, units.pop(0)
    return f"{amount:.1f} {unit}"


BLOCK = 1 << 22
STDIN = "-"
_CODECS = {".gz": "gzip", ".zst": "zstd", ".bz2": "bz2", ".xz": "xz"}
_KINDS = {
    ".txt": "lines",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "json",
    ".csv": "csv",
    ".tsv": "tsv",
    ".parquet": "parquet",
    ".eval": "eval",
}


@dataclass(frozen=True, slots=True)
class Source:
    """One file, or standard input. `kind` is None where the extension is not known."""

    path: str
    kind: str | None
    codec: str | None
    # The number of the span that is read, None for the whole file.
    span: int | None = None

    @property
    def where(self) -> str:
        """How messages call it."""
        called = "stdin" if self.path == STDIN else shortened(self.path)
        return f"{called} (part {self.span + 1})" if self.span else called


# Lines that begin within this many bytes are a span.
SPAN_BYTES = 1 << 24


@dataclass(frozen=True)
class Span:
    """A part of a file: the lines that begin in its stretch of `SPAN_BYTES` bytes, or a row group of a Parquet file."""

    path: str
    number: int

    def __fspath__(self) -> str:
        return self.path

    def bytes(self) -> tuple[int, int]:
        """Where its lines begin and end in a file of lines."""
        with open_regular(self.path) as file:
            return _line_from(file, self.number * SPAN_BYTES), _line_from(file, (self.number + 1) * SPAN_BYTES)

    def is_empty(self) -> bool:
        """Whether no line begins in it, in a file of lines."""
        begin, end = self.bytes()
        return begin >= end


def _line_from(file: BinaryIO, place: int) -> int:
    """Where the first line begins that does not begin before this place."""
    if place == 0:
        return 0
    file.seek(place - 1)
    file.readline()
    return file.tell()


def is_cut_by_lines(path: str) -> bool:
    """Whether a file has one text or record per line and can be read from any line on."""
    source = _source(path)
    return source.codec is None and source.kind in ("lines", "jsonl")


def count_spans(path: str, encoding: str = "utf-8") -> int:
    """The number of spans of a file, which depends on nothing but the file; 1 if it can only be read as a whole."""
    source = _source(path)
    if source.codec is None and source.kind == "parquet":
        import pyarrow.parquet as pq

        with failures_named(source.where), open_regular(path) as handle:
            return max(1, int(pq.ParquetFile(handle).metadata.num_row_groups))
    if not is_cut_by_lines(path) or check_encoding(encoding) not in ("utf-8", "ascii"):
        return 1
    return max(1, -(-os.path.getsize(path) // SPAN_BYTES))


def sources_of(path: str, notes: Counter[str]) -> list[Source]:
    """The files of a path or a pattern, in sorted order; an error when there is none."""
    if path == STDIN:
        return [Source(STDIN, None, None)]
    if is_pattern(path):
        found, repeated = pattern_files(path)
        if not found:
            raise InputError(f"{shortened(path)}: no file matches this pattern")
        if repeated:
            notes[f"{printable(path)}: {many(repeated, 'duplicate')} left out (another name of a file or folder)"] += 1
        return [_source(name) for name in found]
    if os.path.isdir(path):
        raise InputError(f"{shortened(path)}: a directory; wanted a file or a pattern such as '*.txt' in quotes")
    with failures_named(shortened(path)):
        # Looked at before anything is read, so that a wrong name fails at once and not in the middle of a run.
        os.stat(path)
    return [_source(path)]


def is_stream(path: str) -> bool:
    """Whether a path is standard input, a pipe or a terminal, which can be read only once."""
    if path == STDIN:
        return True
    try:
        return not stat.S_ISREG(os.stat(path).st_mode)
    except OSError:
        return False


def is_pattern(path: str) -> bool:
    """Whether a path is a pattern. A file may have a bracket in its name: an existing name is never a pattern."""
    return glob.has_magic(path) and not os.path.lexists(path)


def pattern_files(pattern: str) -> tuple[list[str], int]:
    """The files that match a pattern, each once and sorted, and the number of names that were left out.

    Files and folders are the same if device and inode are: a link may lead to a folder that contains it, so that the
    same file has any number of names. Names without links are preferred.
    """
    repeated: set[str] = set()
    found: dict[object, str] = {}
    for name in sorted(_matches(pattern, repeated), key=lambda name: (os.path.islink(name), name)):
        if not os.path.isdir(name) and found.setdefault(_identity(name), name) != name:
            repeated.add(name)
    return sorted(found.values()), len(repeated)


def _matches(pattern: str, repeated: set[str]) -> set[str]:
    """The names that match a pattern, as `glob.glob` finds them, but with each folder of a `**` visited once."""
    parts = pattern.split(os.sep)
    if "**" not in parts:
        return set(glob.glob(pattern))
    index = parts.index("**")
    head, tail = os.sep.join((*parts[:index], "")), os.sep.join(parts[index + 1 :]) or "*"
    tops = {os.path.join(top.rstrip(os.sep), "") for top in glob.glob(head)} if head else {""}
    folders = [folder for top in sorted(tops) for folder in _folders_under(top, repeated)]
    return {name for folder in folders for name in _matches(os.path.join(glob.escape(folder), tail), repeated)}


def _folders_under(top: str, repeated: set[str]) -> Iterator[str]:
    """A folder and all folders under it except hidden ones; those behind links follow at the end."""
    seen: set[object] = set()
    folders, links = deque([top]), deque[str]()
    while folders or links:
        folder = folders.popleft() if folders else links.popleft()
        if (identity := _identity(folder or os.curdir)) in seen:
            repeated.add(folder)
            continue
        seen.add(identity)
        yield folder
        with suppress(OSError), os.scandir(folder or os.curdir) as entries:  # a folder that cannot be read
            for entry in sorted(entries, key=lambda entry: entry.name):
                if entry.is_dir() and not entry.name.startswith("."):
                    (links if entry.is_symlink() else folders).append(os.path.join(folder, entry.name))


def _identity(name: str) -> object:
    """Device and inode of what a name leads to; the name itself where it leads nowhere."""
    try:
        about = os.stat(name)
    except OSError:
        return name
    return about.st_dev, about.st_ino


def name_of(path: str) -> str:
    """The name of a sample that was read from here: a file's stem, `stdin`, or the pattern.

    >>> name_of("runs/mle.jsonl.gz"), name_of("-"), name_of("runs/*.txt"), name_of("temperature0.7")
    ('mle', 'stdin', 'runs/*.txt', 'temperature0.7')
    """
    if path == STDIN:
        return "stdin"
    if is_pattern(path):
        return printable(path)
    stem, _, extension = _split(path)
    # What follows the dot of `temperature0.7` is part of the setting, not an extension.
    return printable(os.path.basename(stem + extension if extension[1:].isdigit() else stem))


def named_paths(paths: Iterable[AnyPath]) -> dict[str, str]:
    """Paths by the names of their files; files with the same name get the name of their folder, then by a number.

    >>> named_paths(["runs/mle.txt", "a/gan.jsonl", "b/gan.jsonl"])
    {'mle': 'runs/mle.txt', 'a/gan': 'a/gan.jsonl', 'b/gan': 'b/gan.jsonl'}
    """
    decoded = [os.fsdecode(path) for path in paths]
    counts = Counter(map(name_of, decoded))
    named: dict[str, str] = {}
    for path in decoded:
        name = name_of(path)
        folder = printable(os.path.basename(os.path.dirname(path)))
        named[unused_name(f"{folder}/{name}" if counts[name] > 1 and folder else name, named)] = path
    return named


def unused_name(name: str, taken: Container[str]) -> str:
    """The name itself, or with the first number that makes it different from those taken.

    >>> unused_name("mle", {"mle", "mle (2)"})
    'mle (3)'
    """
    unused, number = name, 2
    while unused in taken:
        unused, number = f"{name} ({number})", number + 1
    return unused


def check_stdin_once(sources: Iterable[object]) -> None:
    """Refuse `-` given twice, because standard input can be read only once."""
    count = sum(isinstance(source, str) and source == STDIN for source in sources)
    if count > 1:
        raise InputError(f"stdin: given {count} times; wanted at most one '-'")


def has_known_extension(path: str) -> bool:
    """Whether a name ends as a file does that can be read; nothing is looked up.

    >>> has_known_extension("runs/*.jsonl.gz"), has_known_extension("A cat sat.")
    (True, False)
    """
    return _split(path)[2].lower() in {*_KINDS, ".digest"}


def byte_blocks(source: Source, budget: Budget, *, per_line: int, notes: Counter[str]) -> Iterator[bytes]:
    """The content, unpacked, in blocks of a few megabytes; `per_line` is what a line takes besides its characters."""
    if source.path == STDIN:
        with failures_named(source.where):
            yield from _charged(_blocks(_standard_input()), budget, per_line, source.where)
        return
    if source.span is not None and source.codec is None:
        begin, end = Span(source.path, source.span).bytes()
        with failures_named(source.where), open_regular(source.path) as file:
            file.seek(begin)
            yield from _charged(_blocks(file, end - begin), budget, per_line, source.where)
        return
    with failures_named(source.where), _open(source.path, source.where) as file:
        size = os.path.getsize(source.path)
        if source.codec is None:
            # A file may grow while it is read. The files of some systems have no size, as those of devices.
            yield from _charged(_blocks(file, size or math.inf), budget, per_line, source.where)
        else:
            yield from _charged(_blocks(_unpacked(file, source.codec)), budget.of_packed(size), per_line, source.where)
    with suppress(OSError):
        if size and os.path.getsize(source.path) != size:
            notes[f"{source.where}: changed while it was read; the last text may be incomplete"] += 1


def read_whole(path: AnyPath, *, budget: Budget | None = None) -> bytes:
    """The content of a file that is needed as a whole, within the reading budget."""
    source = Source(os.fsdecode(path), None, None)
    return b"".join(byte_blocks(source, budget or Budget.of_input(), per_line=0, notes=Counter()))


def open_regular(path: AnyPath) -> BufferedReader:
    """A regular file, open for reading by a library that needs to seek in it or to map it into memory.

    Anything else is refused before it is opened: a pipe may wait for its other end for ever, and a device has no end.
    """
    name = os.path.expanduser(os.fsdecode(path))
    with failures_named(shortened(name)):
        return _open(name, shortened(name), pipes=False)


def _open(path: str, where: str, *, pipes: bool = True) -> BufferedReader:
    """A file, pipe or terminal, open for reading; other devices, which may have no end, and sockets are refused."""
    about = os.stat(path)
    is_stream = stat.S_ISFIFO(about.st_mode) or _is_terminal_or_null(path, about)
    if stat.S_ISREG(about.st_mode) or stat.S_ISDIR(about.st_mode) or (pipes and is_stream):
        return open(path, "rb")
    kinds = {stat.S_ISFIFO: "a pipe", stat.S_ISSOCK: "a socket"}
    kind = next((name for is_kind, name in kinds.items() if is_kind(about.st_mode)), "a device")
    raise InputError(f"{where}: {kind}; wanted a file")


def _is_terminal_or_null(path: str, about: os.stat_result) -> bool:
    """Whether a path leads to a terminal or to the null device, which is empty."""
    with suppress(OSError):
        if os.path.samestat(about, os.stat(os.devnull)):
            return True
    if not stat.S_ISCHR(about.st_mode):
        return False
    with suppress(OSError):
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NOCTTY", 0) | getattr(os, "O_NONBLOCK", 0))
        try:
            return os.isatty(descriptor)
        finally:
            os.close(descriptor)
    return False


def _charged(blocks: Iterable[bytes], budget: Budget | PackedBudget, per_line: int, where: str) -> Iterator[bytes]:
    for block in blocks:
        budget.charge(len(block) + per_line * block.count(b"\n"), where)
        yield block


def _unpacked(file: BinaryIO, codec: str) -> Any:
    return lzma.open(file) if codec == "xz" else pa.input_stream(file, compression=codec)


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
    except (OSError, EOFError, ValueError, lzma.LZMAError, pa.ArrowException) as error:
        seen = getattr(error, "strerror", None) or str(error)
        raise InputError(f"{where}: cannot be read, damaged or not what its name says: {one_line(seen)}") from None


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


def _blocks(stream: BinaryIO, most: float = math.inf) -> Iterator[bytes]:
    """Blocks of a stream, with at most this many bytes in all."""
    while most > 0 and (block := stream.read(int(min(BLOCK, most)))):
        most -= len(block)
        yield block


MARK = "\ufeff"
MARK_NOTE = "byte order mark removed"


def check_encoding(encoding: str) -> str:
    """The codec's own name, or an error when there is no such text encoding.

    >>> check_encoding("UTF8"), check_encoding("latin-1")
    ('utf-8', 'iso8859-1')
    """
    try:
        # Encoding nothing refuses codecs such as base64 and rot13, which a look-up alone lets through.
        "".encode(encoding)
        name = codecs.lookup(encoding).name
        codecs.getincrementaldecoder(name)
    except (LookupError, ValueError):
        wanted = "one such as utf-8, latin-1 or utf-16"
        raise InputError(f"unknown encoding '{shortened(encoding, 60)}'; wanted {wanted}") from None
    # Plain UTF-8 leaves the mark in the text, so that it can be removed and noted in one place.
    return "utf-8" if name == "utf-8-sig" else name


def decoded_blocks(blocks: Iterable[bytes], where: str, *, encoding: str, notes: Counter[str]) -> Iterator[str]:
    """Decoded text in pieces, without a byte order mark."""
    texts = _decoded(blocks, where, encoding)
    first = next((text for text in texts if text), "")
    if first.startswith(MARK):
        notes[MARK_NOTE] += 1
    return chain([first.removeprefix(MARK)], texts)


def whole_lines(texts: Iterable[str]) -> Iterator[str]:
    """Text in other pieces: each but the last ends with a line break, so that no line is ever in two pieces."""
    # A line longer than many blocks is joined once, at its end: adding block to block would be quadratic.
    pending: list[str] = []
    for text in texts:
        cut = text.rfind("\n") + 1
        if cut:
            yield "".join((*pending, text[:cut]))
            pending = [text[cut:]]
        else:
            pending.append(text)
    if rest := "".join(pending):
        yield rest


def _decoded(blocks: Iterable[bytes], where: str, encoding: str) -> Iterator[str]:
    decoder = codecs.getincrementaldecoder(encoding)()
    line = 1
    for block, last in chain(((block, False) for block in blocks), [(b"", True)]):
        state = decoder.getstate()
        try:
            text = decoder.decode(block, last)
            if encoding != "utf-8":
                # Some codecs (utf-7, unicode_escape) can give lone surrogates, which are not text.
                text.encode()
        except UnicodeDecodeError as error:
            decoder.setstate(state)
            line += decoder.decode(block[: max(0, error.start - len(state[0]))]).count("\n")
            raise _bad_byte(error, f"{where}:{line}", encoding) from None
        except UnicodeError as error:
            raise InputError(f"{where}:{line}: not valid {encoding}: {shortened(str(error))}") from None
        line += text.count("\n")
        yield text


def _bad_byte(error: UnicodeDecodeError, where: str, encoding: str) -> InputError:
    seen = error.object[error.start]
    guess = "utf-16" if error.object[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE) else "latin-1"
    return InputError(f"{where}: byte 0x{seen:02x} is not valid {encoding}; try ", Setting("encoding", guess))


def line_texts(blocks: Iterable[str]) -> Iterator[pa.Array]:
    """The lines of each block of whole lines."""
    for block in blocks:
        yield _lines(unix_breaks(block))


def unix_breaks(block: str) -> str:
    r"""Line breaks as ``\n`` only.

    A lone ``\r`` stays: generated text and progress bars hold it in mid-line, and the line numbers of our messages must
    be those of `sed`, `grep -n` and `wc -l`, none of which break there. U+2028 and the like stay for the same reason.

    >>> unix_breaks("one\r\ntwo\rstill two\n")
    'one\ntwo\rstill two\n'
    """
    return block.replace("\r\n", "\n")


def _lines(block: str) -> pa.Array:
    data = block.encode()
    if not data.endswith(b"\n"):
        data += b"\n"
    breaks = np.flatnonzero(np.frombuffer(data, dtype=np.uint8) == ord("\n"))
    # Arrow wants the texts back to back: without the breaks, the end of line i moves left by the i breaks before it.
    offsets = np.zeros(len(breaks) + 1, dtype=np.int64)
    offsets[1:] = breaks - np.arange(len(breaks))
    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(data.replace(b"\n", b""))]
    return pa.Array.from_buffers(TEXT, len(breaks), buffers)
