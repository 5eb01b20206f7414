"""Every file is opened by a bounded reader: devices, sockets and endless pipes are one line, whatever reads them."""

import ast
import os
import socket
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import ROOT
from textassay import InputError, agree, get_model, read_sample, reading_limit
from textassay.corpus.files.reading import open_regular, read_whole
from textassay.corpus.values import read_json
from textassay.distances.cider import read_frequencies
from textassay.distances.wordnet import map_file
from textassay.encoders.precomputed import kind_of, npz_blocks, parquet_block
from textassay.work_files import work_file

SOURCE = ROOT / "src" / "textassay"
# Calls that open or read a file, and the functions that may make them.
READERS = {"open", "read_text", "read_bytes", "load", "fdopen", "mmap", "memmap", "safe_open", "fromfile", "urlopen"}
ALLOWED = {
    # The bounded readers.
    "corpus/files/reading.py": {"_open", "_is_terminal_or_null", "_unpacked"},
    "corpus/files/writing.py": {"replaced_file", "flush_folder"},
    "encoders/cache_folder.py": {"read_start", "read_segment", "write_whole"},
    "work_files.py": {"work_file"},
    # Libraries, with a file that `open_regular` has let pass.
    "distances/wordnet.py": {"map_file"},
    "encoders/precomputed.py": {"npy_block", "npz_blocks"},
    "models/storage.py": {"read"},
    # Replies of a server, which have limits of their own.
    "models/http_client.py": {"_content"},
    # Files at addresses, by fsspec; what is copied of them is read by the bounded readers.
    "digests/shards.py": {"fetched"},
    # The first MiB of a regular file.
    "cli/configuration.py": {"_names_us"},
    # Files of the program itself.
    "metrics/registry.py": {"citations"},
    "report/html.py": {"asset"},
    "studies/demo_corpus.py": {"_speeches"},
    "survey/messages/tables.py": {"source_of"},
    "survey/web/pages.py": {"static_files"},
    # Files that are written, folders that are flushed, and the null device in place of a closed stream.
    "cli/gate/outputs.py": {"write_for_github"},
    "cli/main.py": {"_flushed"},
    "cli/outputs.py": {"_write_to"},
    "cli/streams.py": {"flush", "replace_closed_streams"},
    "survey/links.py": {"write_links"},
    "survey/store/file_identity.py": {"_take_name", "_flush"},
}
# Methods of this program that only have such a name.
OWN = {"Store.open", "IndexFile.open", "self.load", "load"}


def calls(tree: ast.AST, inside: str = "") -> Iterator[tuple[str, str]]:
    """Every call that opens or reads a file, with the function that makes it."""
    for node in ast.iter_child_nodes(tree):
        here = node.name if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) else inside
        if isinstance(node, ast.Call):
            name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            owner = ast.unparse(node.func)
            if name in READERS and owner not in OWN:
                yield here, owner
        yield from calls(node, here)


def test_only_bounded_readers_open_files() -> None:
    found = {
        (str(file.relative_to(SOURCE)), function, call)
        for file in SOURCE.rglob("*.py")
        for function, call in calls(ast.parse(file.read_text(encoding="utf-8")))
    }
    unknown = sorted(each for each in found if each[1] not in ALLOWED.get(each[0], set()))
    assert not unknown, "open files with byte_blocks, read_whole, read_json or open_regular of the corpus"


def fifo(path: Path) -> Path:
    os.mkfifo(path)
    return path


def listening(path: Path) -> Path:
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(os.path.relpath(path))  # the name of a socket may have about 100 bytes
    return path


def folder(path: Path) -> Path:
    path.mkdir()
    return path


SPECIAL: dict[str, tuple[Callable[[Path], Path], str]] = {
    "device": (lambda _: Path("/dev/zero"), "a device"),
    "socket": (listening, "a socket"),
    "folder": (folder, "a directory"),
}
# Readers of one pass, which take pipes too, and readers that need a regular file.
ONE_PASS: dict[str, Callable[[str], object]] = {
    "texts": read_sample,
    "bytes": read_whole,
    "json": read_json,
    "agree": lambda path: agree([path], gold="a>b"),
    "frequencies": read_frequencies,
}
REGULAR: dict[str, Callable[[str], Any]] = {
    "open": lambda path: open_regular(path).close(),
    "model": get_model,
    "vectors": kind_of,
    "npz": lambda path: npz_blocks(path, ["a"]),
    "parquet": parquet_block,
    "wordnet": lambda path: map_file(Path(path)),
    "work": lambda path: work_file(path, "sweep").__enter__(),
}


@pytest.mark.parametrize("kind", SPECIAL)
@pytest.mark.parametrize("reader", [*ONE_PASS, *REGULAR])
def test_what_is_no_file_is_refused_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, reader: str, kind: str
) -> None:
    monkeypatch.chdir(tmp_path)
    make, seen = SPECIAL[kind]
    path = str(make(tmp_path / "x.safetensors"))
    with pytest.raises(InputError, match=seen if reader != "work" else "not a regular file") as caught:
        (ONE_PASS | REGULAR)[reader](path)
    assert len(str(caught.value).splitlines()) == 1


@pytest.mark.parametrize("reader", REGULAR)
def test_a_pipe_is_not_waited_for_where_a_file_is_needed(tmp_path: Path, reader: str) -> None:
    with pytest.raises(InputError, match=r"a pipe|not a regular file"):
        REGULAR[reader](str(fifo(tmp_path / "x.safetensors")))


@pytest.mark.parametrize("reader", ONE_PASS)
def test_an_endless_pipe_stops_at_the_limit(tmp_path: Path, reader: str) -> None:
    path = fifo(tmp_path / "endless")

    def feed() -> None:
        with path.open("wb") as pipe:
            try:
                while True:
                    pipe.write(b" " * 65536)
            except BrokenPipeError:
                pass

    feeding = threading.Thread(target=feed)
    feeding.start()
    with reading_limit("3M"), pytest.raises(InputError, match=r"takes more than 3\.0 MiB"):
        ONE_PASS[reader](str(path))
    feeding.join(timeout=30)
    assert not feeding.is_alive()


def test_a_document_of_empty_values_stops_at_the_limit(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text(f"[{'[],' * 200_000}1]")
    with reading_limit("8M"), pytest.raises(InputError, match="takes more than"):
        read_json(tmp_path / "a.json")
