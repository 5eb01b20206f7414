"""The reading budget: inputs that would take too much memory are one error, before the memory is taken."""

import bz2
import gzip
import io
import lzma
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import textassay as ta
from textassay.corpus.files import reading as budget
from textassay.corpus.item_set import read_items
from textassay.corpus.readers import read_sample
from textassay.errors import InputError

MEGABYTE = 1 << 20


def zstd(data: bytes) -> bytes:
    stream = pa.BufferOutputStream()
    with pa.CompressedOutputStream(stream, "zstd") as packed:
        packed.write(data)
    whole: bytes = stream.getvalue().to_pybytes()
    return whole


PACKERS: dict[str, Callable[[bytes], bytes]] = {
    "gz": gzip.compress,
    "bz2": bz2.compress,
    "xz": lzma.compress,
    "zst": zstd,
}


@pytest.mark.parametrize("extension", PACKERS)
def test_compressed_files_are_read(tmp_path: Path, extension: str) -> None:
    path = tmp_path / f"x.jsonl.{extension}"
    path.write_bytes(PACKERS[extension](b'{"text": "a cat"}\n{"text": "a dog"}\n'))
    assert read_sample(path).texts.to_pylist() == ["a cat", "a dog"]
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(InputError, match=r"x.jsonl.* cannot be read, damaged or not what its name says: "):
        read_sample(path)


@pytest.mark.parametrize("extension", PACKERS)
def test_a_compressed_file_that_expands_too_far_is_refused(
    tmp_path: Path, extension: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(budget, "RATIO_FROM", MEGABYTE // 4)
    path = tmp_path / f"x.txt.{extension}"
    path.write_bytes(PACKERS[extension](b"a text that repeats\n" * 100_000))
    wanted = r"x.txt.*: .* that expand to more than 100 times their size; wanted .*, or max_input='2G'"
    with pytest.raises(InputError, match=wanted):
        read_sample(path)
    with ta.reading_limit("2G"):
        assert len(read_sample(path)) == 100_000


def blank_lines(path: Path) -> Path:
    path.write_bytes(b"a text\n" + b"\n" * MEGABYTE)
    return path


def line_without_end(path: Path) -> Path:
    path.write_bytes(b"x" * (30 * MEGABYTE))
    return path


def json_of_empty_lists(path: Path) -> Path:
    path = path.with_suffix(".json")
    path.write_bytes(b"[" + b"[]," * 200_000 + b"[]]")
    return path


def csv_with_a_long_header(path: Path) -> Path:
    path = path.with_suffix(".csv")
    path.write_bytes(b"text" + b"," * (9 * MEGABYTE) + b"\na\n")
    return path


def parquet_of_one_long_text(path: Path) -> Path:
    path = path.with_suffix(".parquet")
    pq.write_table(pa.table({"text": ["x" * MEGABYTE] * 100}), path)
    return path


def parquet_of_long_pages(path: Path) -> Path:
    path = path.with_suffix(".parquet")
    table = pa.table({"text": [f"{number:06}" * 100 for number in range(100_000)]})
    pq.write_table(table, path, use_dictionary=False, compression="zstd")
    return path


def parquet_without_values(path: Path) -> Path:
    path = path.with_suffix(".parquet")
    pq.write_table(pa.table({"text": pa.nulls(2 * MEGABYTE, pa.string())}), path)
    return path


@pytest.mark.parametrize(
    "make",
    [
        blank_lines,
        line_without_end,
        json_of_empty_lists,
        csv_with_a_long_header,
        parquet_of_one_long_text,
        parquet_of_long_pages,
        parquet_without_values,
    ],
)
def test_an_input_beyond_the_limit_is_refused(tmp_path: Path, make: Callable[[Path], Path]) -> None:
    path = make(tmp_path / "x.txt")
    limit = 12 * MEGABYTE if path.suffix == ".json" else 20 * MEGABYTE
    wanted = rf"x{path.suffix}: takes more than .* MiB of memory; wanted a smaller input, or max_input='1G'"
    with ta.reading_limit(limit), pytest.raises(InputError, match=wanted):
        read_sample(path)


def test_the_limit_counts_all_files_of_a_pattern(tmp_path: Path) -> None:
    for number in range(5):
        (tmp_path / f"{number}.txt").write_bytes(b"a text\n" * 1000)
    with ta.reading_limit(100_000), pytest.raises(InputError, match=r"2\.txt: takes more than 97\.7 KiB of memory"):
        read_sample(f"{tmp_path}/*.txt")
    with ta.reading_limit("400k"):
        assert len(read_sample(f"{tmp_path}/*.txt")) == 5000


def test_columns_that_are_not_read_do_not_count(tmp_path: Path) -> None:
    table = pa.table({"text": ["a", "b"], "text.long": ["x" * MEGABYTE] * 2})
    pq.write_table(table, tmp_path / "x.parquet", use_dictionary=False)
    with ta.reading_limit("100k"):
        assert len(read_sample(tmp_path / "x.parquet", field="text")) == 2


@pytest.mark.parametrize(
    "kind", [pa.string(), pa.large_string(), pa.string_view(), pa.dictionary(pa.int8(), pa.string())]
)
def test_all_kinds_of_strings_in_parquet(tmp_path: Path, kind: pa.DataType) -> None:
    path = tmp_path / "x.parquet"
    pq.write_table(pa.table({"text": pa.array(["a cat", None, "a dog"]).cast(kind)}), path)
    assert read_sample(path).texts.to_pylist() == ["a cat", "a dog"]


def test_nested_strings_in_parquet(tmp_path: Path) -> None:
    items = [
        {"references": ["a cat", "b"], "candidates": {"a": ["c"], "b": [None, "d"][1:]}},
        {"references": ["a cat"]},
    ]
    pq.write_table(pa.Table.from_pylist(items), tmp_path / "x.parquet")
    found = read_items(tmp_path / "x.parquet")
    assert [item.references for item in found.items] == [("a cat", "b"), ("a cat",)]


@pytest.mark.parametrize("given", ["much", "-1", "0", ""])
def test_a_limit_that_is_no_size(given: str) -> None:
    wanted = r"max_input=.*; wanted a number of bytes, or a size such as 500M or 8G"
    with pytest.raises(InputError, match=wanted), ta.reading_limit(given):
        pass


def test_a_file_that_grows_is_read_up_to_its_first_size(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each block that is read makes the file longer, so that its end never comes."""
    path = tmp_path / "x.txt"
    path.write_bytes(b"a text\n" * 100)

    class Growing(io.FileIO):
        def read(self, size: int | None = -1, /) -> bytes:
            with path.open("ab") as file:
                file.write(b"another\n" * 200)
            return super().read(size)

    monkeypatch.setattr("textassay.corpus.files.reading.open", lambda path, mode: Growing(path), raising=False)
    monkeypatch.setattr("textassay.corpus.files.reading.BLOCK", 100)
    sample = read_sample(path)
    assert sample.texts.to_pylist() == ["a text"] * 100
    assert sample.notes == (f"{path}: changed while it was read; the last text may be incomplete",)


RUN_LIMITED = """
import resource, sys
resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))
from textassay.cli.main import run
real, *bombs = sys.argv[1:]
codes = [run(["compare", real, bomb, "-q"]) for bomb in bombs]
codes.append(run(["compare", real, "/dev/zero", "-q", "--max-input", "200M"]))
peak = next(line for line in open("/proc/self/status") if line.startswith("VmHWM"))
print(codes, int(peak.split()[1]) // 1024)
"""


def test_small_files_that_expand_to_gigabytes(tmp_path: Path) -> None:
    """Each took from three to five gigabytes.

    The peak is read from Linux, because `getrusage` counts the memory of the process that started this one, too.
    """
    real, bomb, column = tmp_path / "real.txt", tmp_path / "bomb.txt.gz", tmp_path / "bomb.parquet"
    real.write_bytes(b"a text\nanother\n" * 20)
    with gzip.open(bomb, "wb", compresslevel=1) as file:
        for _ in range(300):
            file.write(b"\n" * MEGABYTE)
    repeated = pa.DictionaryArray.from_arrays(pa.array([0] * 3000, pa.int32()), ["x" * MEGABYTE])
    pq.write_table(pa.table({"text": repeated}), column)
    command = [sys.executable, "-c", RUN_LIMITED, str(real), str(bomb), str(column)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=True)
    codes, peak = done.stdout.rsplit(" ", 1)
    assert codes == "[2, 2, 2]"
    assert int(peak) < 1500
    first, second, third = done.stderr.splitlines()
    assert "bomb.txt.gz: 1.3 MiB that expand to more than 100 times their size" in first
    assert "bomb.parquet: " in second
    assert "/dev/zero: a device; wanted a file" in third


@pytest.mark.parametrize(
    ("command", "advice"), [("compare", "--size N for smaller samples"), ("huse", "fewer or shorter texts")]
)
def test_the_advice_for_too_little_memory_fits_the_command(
    command: str, advice: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from textassay.cli.main import run

    def too_large(*_: object, **__: object) -> None:
        raise MemoryError

    monkeypatch.setattr("textassay.cli.outputs.check_writable", too_large)
    assert run([command, "a.txt", *(["b.txt"] if command == "compare" else [])]) == 70
    assert capsys.readouterr().err == f"textassay: out of memory; use {advice}\n"
