"""Whatever is written reads back equal, and whatever bytes come in, the outcome is a Sample or one line."""

import csv
import gzip
import json
import tempfile
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from textassay.corpus.files import reading as sources
from textassay.corpus.printable import printable
from textassay.corpus.readers import read_sample
from textassay.corpus.sample import Sample
from textassay.errors import InputError

MODEST = settings(max_examples=50, deadline=None)

# Any characters but line breaks and surrogates; the second kind is rich in what CSV and TSV must quote.
characters = st.characters(exclude_categories=["Cs"], exclude_characters="\r\n")
texts = st.lists(
    st.text(characters, min_size=1).filter(str.strip) | st.text("ab ,\"'\t", min_size=1).map("y".__add__), min_size=1
)


def write_csv(path: Path, values: list[str], delimiter: str = ",") -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, delimiter=delimiter)
        writer.writerow(["id", "text"])
        writer.writerows(enumerate(values))


def write_lines(path: Path, values: list[str]) -> None:
    path.write_bytes("".join(value + "\n" for value in values).encode())


def write_jsonl(path: Path, values: list[str]) -> None:
    # Escaped and plain characters take turns, and so do records and bare strings.
    lines = [
        json.dumps(value if place % 3 == 0 else {"text": value}, ensure_ascii=place % 2 == 0)
        for place, value in enumerate(values)
    ]
    path.write_bytes("\n".join(lines).encode())


def write_parquet(path: Path, values: list[str]) -> None:
    pq.write_table(pa.table({"id": range(len(values)), "text": values}), path, row_group_size=3)


WRITERS: dict[str, Callable[[Path, list[str]], None]] = {
    "txt": write_lines,
    "jsonl": write_jsonl,
    "csv": write_csv,
    "tsv": lambda path, values: write_csv(path, values, "\t"),
    "parquet": write_parquet,
}


def zstd(data: bytes) -> bytes:
    packed: bytes = pa.compress(data, codec="zstd", asbytes=True)
    return packed


def packed(path: Path, extension: str) -> Path:
    if not extension:
        return path
    result = path.with_name(path.name + extension)
    result.write_bytes((gzip.compress if extension == ".gz" else zstd)(path.read_bytes()))
    return result


FORMATS = [
    (kind, extension) for kind in WRITERS for extension in ("", ".gz", ".zst") if kind != "parquet" or not extension
]


@pytest.mark.parametrize(("kind", "extension"), FORMATS)
@given(values=texts, rows=st.integers(1, 7), block=st.sampled_from([1, 7, 1 << 22]))
@MODEST
def test_what_is_written_reads_back(kind: str, extension: str, values: list[str], rows: int, block: int) -> None:
    assume(not values[0].startswith("\ufeff"))
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(sources, "BLOCK", block)
        path = Path(folder) / f"mle.{kind}"
        WRITERS[kind](path, values)
        path = packed(path, extension)
        assert read_sample(path) == Sample.of(values, name="mle")
        patch.setattr("textassay.corpus.tables._ROWS", rows)
        assert read_sample(path, field="text" if kind != "jsonl" else None).texts.to_pylist() == values


@given(
    lines=st.lists(st.text("a \r\t\x0b\x1c\u2028\ufeff"), max_size=8),
    ending=st.sampled_from(["\n", "\r\n"]),
    last=st.booleans(),
)
@MODEST
def test_lines_are_those_of_a_plain_split(lines: list[str], ending: str, last: bool) -> None:
    content = ending.join(lines) + (ending if last else "")
    expected = content.removeprefix("\ufeff").replace("\r\n", "\n").split("\n")
    expected = expected[:-1] if expected[-1] == "" else expected
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "x.txt"
        path.write_bytes(content.encode())
        try:
            read = read_sample(path).texts.to_pylist()
        except InputError:
            read = []
    assert read == [line for line in expected if line.strip()]


def outcome(path: Path, *, field: str | None = None) -> str:
    """Reading must end in a sample with texts or in an error of one printable line."""
    try:
        sample = read_sample(path, field=field)
    except InputError as error:
        message = str(error)
        assert message == printable(message)
        assert message.startswith(path.name) or f"/{path.name}" in message
        return "refused"
    assert len(sample) > 0
    sample.texts.validate(full=True)
    return "read"


EXTENSIONS = ["txt", "dat", "jsonl", "csv", "tsv", "parquet", "txt.gz", "jsonl.zst", "csv.gz", "parquet.gz", "json"]
fragments = st.sampled_from(
    [
        b'{"text": "a"}',
        b'"a"',
        b"\n",
        b",",
        b'"',
        b"\xef\xbb\xbf",
        b"\xff",
        b"\x00",
        b"{",
        b"NaN",
        b"\\ud800",
        b"text",
        b"\r",
        b"PAR1",
    ]
)


@pytest.mark.parametrize("extension", EXTENSIONS)
@given(content=st.binary(max_size=200) | st.lists(fragments).map(b"".join), field=st.sampled_from([None, "text"]))
@MODEST
def test_any_bytes_give_a_sample_or_one_line(extension: str, content: bytes, field: str | None) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"x.{extension}"
        path.write_bytes(content)
        assert outcome(path, field=field) in ("read", "refused")


@pytest.mark.parametrize(
    ("kind", "extension"), [("txt", ".gz"), ("txt", ".zst"), ("jsonl", ""), ("csv", ""), ("parquet", "")]
)
@given(data=st.data())
@MODEST
def test_damaged_files_give_a_sample_or_one_line(kind: str, extension: str, data: st.DataObject) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"x.{kind}"
        WRITERS[kind](path, ["a cat sat", "un café", "a dog ran"] * 5)
        path = packed(path, extension)
        content = bytearray(path.read_bytes())
        for place in data.draw(st.lists(st.integers(0, len(content) - 1), max_size=3)):
            content[place] = data.draw(st.integers(0, 255))
        del content[data.draw(st.integers(0, len(content))) or len(content) :]
        path.write_bytes(content)
        assert outcome(path) in ("read", "refused")
