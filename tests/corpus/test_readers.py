"""Every kind of source gives the same texts, whole and in batches."""

import csv
import glob
import gzip
import io
import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from textassay.corpus.files.reading import pattern_files
from textassay.corpus.readers import read_sample
from textassay.corpus.sample import Sample
from textassay.corpus.tables import Expected, open_source

TEXTS = ["a cat sat", "un café, s'il vous plaît", "שלום עולם", 'she said "no", twice', "👩‍🚀 e\u0301"]


def as_csv(delimiter: str = ",") -> bytes:
    stream = io.StringIO()
    writer = csv.writer(stream, delimiter=delimiter)
    writer.writerows([["id", "text"], *enumerate(TEXTS)])
    return stream.getvalue().encode()


CONTENTS: dict[str, bytes] = {
    "txt": "\n".join(TEXTS).encode(),
    "dat": "\r\n".join([*TEXTS, ""]).encode(),
    "jsonl": "".join(json.dumps({"id": 3, "text": text}) + "\n" for text in TEXTS).encode(),
    "ndjson": "\n".join(json.dumps(text, ensure_ascii=False) for text in TEXTS).encode(),
    "json": json.dumps([{"id": 3, "text": text} for text in TEXTS], indent=1).encode(),
    "csv": as_csv(),
    "tsv": as_csv("\t"),
}
PACKERS: dict[str, Callable[[bytes], bytes]] = {
    "": lambda data: data,
    ".gz": gzip.compress,
    ".zst": lambda data: pa.compress(data, codec="zstd", asbytes=True),
    # Log shippers append: a file of several members is one file.
    ".GZ": lambda data: gzip.compress(data[:20]) + gzip.compress(b"") + gzip.compress(data[20:]),
}


def write(path: Path, content: str | bytes) -> Path:
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def texts_of(sample: Sample) -> list[str]:
    texts: list[str] = sample.texts.to_pylist()
    return texts


@pytest.mark.parametrize("packer", PACKERS)
@pytest.mark.parametrize("extension", CONTENTS)
def test_text_formats_plain_and_packed(tmp_path: Path, extension: str, packer: str) -> None:
    path = write(tmp_path / f"mle.{extension}{packer}", PACKERS[packer](CONTENTS[extension]))
    sample = read_sample(path)
    assert texts_of(sample) == TEXTS
    assert (sample.name, sample.notes) == ("mle", ())
    assert sample == read_sample(str(path)) == Sample.of(TEXTS, name="mle")
    assert sample.texts.type == pa.large_string()


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.dictionary(pa.int32(), pa.string())])
def test_parquet(tmp_path: Path, kind: pa.DataType) -> None:
    table = pa.table({"id": range(5), "text": pa.array(TEXTS).cast(kind)})
    pq.write_table(table, tmp_path / "mle.parquet", row_group_size=2)
    assert read_sample(tmp_path / "mle.parquet") == Sample.of(TEXTS, name="mle")


def test_parquet_column_whose_name_holds_a_dot(tmp_path: Path) -> None:
    pq.write_table(pa.table({"a.b": ["flat"], "a": [{"b": "nested"}]}), tmp_path / "x.parquet")
    assert texts_of(read_sample(tmp_path / "x.parquet", field="a.b")) == ["flat"]


@pytest.mark.parametrize(
    "line",
    [
        "nul \x00 byte",
        "\x1b[31mred\x1b[0m",
        "left \u202eright-to-left",
        "one\u2028still one\u2029and\x85here\x0b\x0ctoo",
        "progress 10%\rprogress 20%",
        "half a line\r",
        "x" * 1_000_000,
        " leading and trailing ",
    ],
)
def test_whatever_is_on_a_line_is_text(tmp_path: Path, line: str) -> None:
    path = write(tmp_path / "x.txt", f"first\n{line}\r\nlast\n")
    assert texts_of(read_sample(path)) == ["first", line, "last"]


@pytest.mark.parametrize("extension", ["txt", "jsonl", "csv"])
def test_lines_longer_than_a_block(tmp_path: Path, extension: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("textassay.corpus.files.reading.BLOCK", 3)
    path = write(tmp_path / f"x.{extension}", CONTENTS[extension].replace(b"\n", b"\r\n").replace(b"\r\r", b"\r"))
    assert texts_of(read_sample(path)) == TEXTS


def test_texts_of_a_megabyte_in_csv_and_jsonl(tmp_path: Path) -> None:
    text = "word " * 200_000
    assert texts_of(read_sample(write(tmp_path / "x.csv", f"id,text\n1,{text}\n"))) == [text]
    assert texts_of(read_sample(write(tmp_path / "x.jsonl", json.dumps(text)))) == [text]


def test_csv_texts_may_hold_line_breaks(tmp_path: Path) -> None:
    path = write(tmp_path / "x.csv", 'text\n"one\r\ntwo\nthree\rfour"\n\nfive\n')
    sample = read_sample(path)
    assert texts_of(sample) == ["one\r\ntwo\nthree\rfour", "five"]
    assert sample.notes == (f"{path}: 1 blank line left out",)


@pytest.mark.parametrize("encoding", ["latin-1", "utf-16", "utf-16-be", "utf-32", "cp1252"])
@pytest.mark.parametrize("extension", ["txt", "jsonl", "csv"])
def test_other_encodings(tmp_path: Path, encoding: str, extension: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("textassay.corpus.files.reading.BLOCK", 5)
    line = {"txt": "café\nthé\n", "jsonl": '"café"\n"thé"\n', "csv": "text\ncafé\nthé\n"}[extension]
    path = write(tmp_path / f"x.{extension}", line.encode(encoding))
    assert texts_of(read_sample(path, encoding=encoding)) == ["café", "thé"]


@pytest.mark.parametrize("encoding", ["utf-8", "UTF8", "utf-8-sig"])
@pytest.mark.parametrize("extension", ["txt", "jsonl", "csv"])
def test_byte_order_mark_is_removed_and_noted(tmp_path: Path, extension: str, encoding: str) -> None:
    sample = read_sample(write(tmp_path / f"x.{extension}", b"\xef\xbb\xbf" + CONTENTS[extension]), encoding=encoding)
    assert texts_of(sample) == TEXTS
    assert sample.notes == ("byte order mark removed",)


def test_only_a_leading_mark_is_a_mark(tmp_path: Path) -> None:
    assert texts_of(read_sample(write(tmp_path / "x.txt", "a\n\ufeffb\n"))) == ["a", "\ufeffb"]


@pytest.mark.parametrize(
    ("name", "content", "notes"),
    [
        ("x.txt", "a\n\n \t\nb\n\n", ["3 blank texts left out"]),
        (
            "x.jsonl",
            '{"text": "a"}\n\n{"text": null}\nnull\n{"text": "b"}\n',
            ["{path}: 1 blank line left out", "2 blank texts left out"],
        ),
        ("x.csv", "\ntext,id\na,1\n\n,2\nb,3\n", ["{path}: 2 blank lines left out", "1 blank text left out"]),
    ],
)
def test_blank_texts_are_left_out_counted_and_noted(tmp_path: Path, name: str, content: str, notes: list[str]) -> None:
    path = write(tmp_path / name, content)
    sample = read_sample(path)
    assert texts_of(sample) == ["a", "b"]
    assert sample.notes == tuple(note.format(path=path) for note in notes)
    assert sample.texts.null_count == 0


def test_nulls_of_columns_count_as_blank(tmp_path: Path) -> None:
    pq.write_table(pa.table({"text": ["a", None, "", "b"]}), tmp_path / "x.parquet")
    columns: list[Any] = [
        tmp_path / "x.parquet",
        pa.array(["a", None, "", "b"]),
        pl.Series(["a", None, "", "b"]),
        pd.Series(["a", None, np.nan, "b"], dtype=object),
        pd.Series(["a", None, "", "b"], dtype="category"),
    ]
    for column in columns:
        sample = read_sample(column)
        assert (texts_of(sample), sample.notes) == (["a", "b"], ("2 blank texts left out",))


@pytest.mark.parametrize(
    ("name", "content", "field"),
    [
        ("x.jsonl", '{"text": "A", "output": "B"}\n', "output"),
        ("x.jsonl", '{"id": 1, "output": "B", "n": [2]}\n{"id": 2, "output": null}\n', None),
        ("x.jsonl", ' {"text": "B"} \n', None),
        ("x.csv", "id,caption\n1,B\n", None),
        ("x.csv", "year,caption\n,\n1984,B\n", None),
        ("x.csv", "caption\nB\n", None),
        ("x.tsv", "text\toutput\nA\tB\n", "output"),
        ("x.dat", '{"text": "A", "output": "B"}\n', "output"),
        ("x.txt", "B\n", "output"),
    ],
)
def test_which_field_is_read(tmp_path: Path, name: str, content: str, field: str | None) -> None:
    assert texts_of(read_sample(write(tmp_path / name, content), field=field)) == ["B"]


def test_the_guess_of_a_csv_column_sees_more_than_the_first_row(tmp_path: Path) -> None:
    path = write(tmp_path / "x.csv", "id,caption\n1,7\n2,8\n3,a cat\n")
    assert texts_of(read_sample(path)) == ["7", "8", "a cat"]


@pytest.mark.parametrize(
    ("file", "name"),
    [
        ("mle.txt", "mle"),
        ("mle.TXT", "mle"),
        ("mle.v2.txt.gz", "mle.v2"),
        ("mle.log", "mle"),
        ("t0.7", "t0.7"),
        ("mle", "mle"),
    ],
)
def test_default_names(tmp_path: Path, file: str, name: str) -> None:
    content = gzip.compress(b"a\n") if file.endswith("gz") else b"a\n"
    assert read_sample(write(tmp_path / file, content)).name == name
    assert read_sample(tmp_path / file, name="given").name == "given"


def test_a_pattern_reads_each_file_once(tmp_path: Path) -> None:
    """Two links to a folder above them give every file 2 to the power of 40 names."""
    folder = tmp_path / "b" / "deep"
    folder.mkdir(parents=True)
    write(tmp_path / "b" / "one.txt", "one")
    write(folder / "two.txt", "two")
    for name in ("a", "z"):
        (folder / name).symlink_to(tmp_path)
    (tmp_path / "a-link").symlink_to(folder)
    (tmp_path / "a.txt").symlink_to(folder / "two.txt")
    (folder / "hard.txt").hardlink_to(tmp_path / "b" / "one.txt")
    (tmp_path / ".hidden").mkdir()
    write(tmp_path / ".hidden" / "three.txt", "three")
    pattern = f"{tmp_path}/**/*.txt"
    sample = read_sample(pattern)
    assert texts_of(sample) == ["one", "two"]
    assert sample.notes == (f"{pattern}: 5 duplicates left out (another name of a file or folder)",)


@pytest.mark.parametrize("pattern", ["**", "**/*.txt", "*/**", "a/**/x/*.txt", "**/x/**/*.txt", "[ab]/**/?.txt"])
@pytest.mark.parametrize("start", ["", "tree/", "{}/tree/", "./tree//"])
def test_patterns_match_the_names_that_glob_matches(
    tmp_path: Path, pattern: str, start: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("a/1.txt", "a/x/2.txt", "a/y/x/3.txt", "b/.h/4.txt", "b/.5.txt", "[a]/x/x/6.txt", "7.txt"):
        path = tmp_path / "tree" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    monkeypatch.chdir(tmp_path if start else tmp_path / "tree")
    whole = start.format(tmp_path) + pattern
    # `glob` finds a name twice where two `**` lead to it.
    expected = {os.path.normpath(name) for name in glob.glob(whole, recursive=True) if not os.path.isdir(name)}
    assert [os.path.normpath(name) for name in pattern_files(whole)[0]] == sorted(expected)


def test_a_pattern_reads_its_files_in_sorted_order(tmp_path: Path) -> None:
    (tmp_path / "sub.txt").mkdir()
    for name, text in [
        ("b.txt", "two\n"),
        ("a.txt", "\ufeffone"),
        ("c.txt", ""),
        ("d.txt", "\ufeffthree"),
        ("e.md", "no"),
    ]:
        write(tmp_path / name, text)
    sample = read_sample(str(tmp_path / "*.txt"))
    assert texts_of(sample) == ["one", "two", "three"]
    assert sample.name == str(tmp_path / "*.txt")
    assert sample.notes == ("byte order mark removed (2 files)", "empty file")


def test_a_name_with_brackets_is_a_file_when_there_is_one(tmp_path: Path) -> None:
    write(tmp_path / "x[1].txt", "brackets")
    write(tmp_path / "x1.txt", "pattern")
    sample = read_sample(tmp_path / "x[1].txt")
    assert (texts_of(sample), sample.name) == (["brackets"], "x[1]")
    (tmp_path / "x[1].txt").unlink()
    assert texts_of(read_sample(tmp_path / "x[1].txt")) == ["pattern"]


def test_a_file_name_that_is_not_unicode(tmp_path: Path) -> None:
    path = os.fsencode(tmp_path) + b"/m\xff.txt"
    try:
        Path(os.fsdecode(path)).write_text("a\n")
    except OSError:
        pytest.skip("this file system takes Unicode names only")
    sample = read_sample(os.fsdecode(path))
    assert (texts_of(sample), sample.name) == (["a"], "m\\udcff")


@pytest.mark.parametrize(
    ("piped", "field"), [("a\nb\n", None), ('{"output": "a"}\n{"output": "b"}\n', "output"), ("\ufeffa\r\nb", None)]
)
def test_standard_input(piped: str, field: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    # The terminal's own encoding must not matter, so it is a wrong one here.
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(piped.encode()), encoding="ascii"))
    sample = read_sample("-", field=field)
    assert (texts_of(sample), sample.name) == (["a", "b"], "stdin")
    assert not sys.stdin.closed


def test_objects_that_hold_texts() -> None:
    sources: list[Any] = [
        TEXTS,
        tuple(TEXTS),
        iter(TEXTS),
        np.array(TEXTS),
        pa.array(TEXTS),
        pa.array(["x", *TEXTS])[1:],
        pa.array(TEXTS).dictionary_encode(),
        pa.chunked_array([TEXTS[:2], TEXTS[2:]]),
        pd.Series(TEXTS),
        pd.Series(TEXTS, dtype=object, index=[7, 7, 7, 7, 7]),
        pd.Series(TEXTS, dtype="category"),
        pl.Series(TEXTS),
        pl.Series(TEXTS, dtype=pl.Categorical),
        io.StringIO("\n".join(TEXTS)),
    ]
    for source in sources:
        assert read_sample(source) == Sample.of(TEXTS)
    assert read_sample(TEXTS, name="mle", field="ignored").name == "mle"


class OnlyAStream:
    """An object that offers the Arrow stream protocol and nothing else."""

    def __init__(self, column: pa.ChunkedArray) -> None:
        self.column = column

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self.column.__arrow_c_stream__(requested_schema)


@pytest.mark.skipif(not hasattr(pa.ChunkedArray, "__arrow_c_stream__"), reason="this pyarrow has no streams of arrays")
def test_arrow_streams() -> None:
    views = pa.array(TEXTS).cast(pa.string_view())
    categories = pa.DictionaryArray.from_arrays(pa.array(range(5)), views)
    for column in (pa.array(TEXTS), views, categories):
        assert read_sample(OnlyAStream(pa.chunked_array([column]))) == Sample.of(TEXTS)  # type: ignore[arg-type]


def test_frames_and_tables() -> None:
    columns = {"id": range(5), "caption": TEXTS, "text": ["other"] * 5}
    frames: list[Any] = [
        pd.DataFrame(columns),
        pl.DataFrame(columns),
        pa.table(columns),
        pa.table(columns).to_batches()[0],
    ]
    for frame in [*frames, pa.table(columns).to_reader()]:
        assert texts_of(read_sample(frame, field="caption")) == TEXTS
    for frame in frames:
        assert texts_of(read_sample(frame)) == ["other"] * 5
    del columns["text"]
    for frame in (pd.DataFrame(columns), pl.DataFrame(columns), pa.table(columns)):
        assert texts_of(read_sample(frame)) == TEXTS
    assert texts_of(read_sample(pd.DataFrame([[1, "a"], [2, "b"]]))) == ["a", "b"]
    assert texts_of(read_sample(pd.DataFrame({"odd": [object()], "caption": ["a"]}))) == ["a"]


class StandInDataset:
    """What a Hugging Face dataset offers and the reader uses; rows are picked by indices over a table."""

    def __init__(self, table: pa.Table, indices: list[int], form: str | None = None) -> None:
        self.data, self.indices, self.form = table, indices, form
        self.column_names = table.column_names

    def __iter__(self) -> Iterator[Any]:
        return iter(self.data.take(self.indices).to_pylist())

    def with_format(self, form: str) -> "StandInDataset":
        return StandInDataset(self.data, self.indices, form)

    def select_columns(self, names: list[str]) -> "StandInDataset":
        return StandInDataset(self.data.select(names), self.indices, self.form)

    def iter(self, batch_size: int) -> Iterator[pa.Table]:
        assert self.form == "arrow"
        for start in range(0, len(self.indices), batch_size):
            yield self.data.take(self.indices[start : start + batch_size])


def test_a_dataset_is_read_as_it_was_shuffled() -> None:
    dataset = StandInDataset(pa.table({"id": range(5), "caption": TEXTS}), [3, 0])
    assert texts_of(read_sample(dataset)) == [TEXTS[3], TEXTS[0]]
    assert texts_of(read_sample(dataset, field="caption")) == [TEXTS[3], TEXTS[0]]


def test_a_real_dataset_if_installed() -> None:
    datasets = pytest.importorskip("datasets")
    dataset = datasets.Dataset.from_dict({"id": range(5), "caption": TEXTS})
    assert texts_of(read_sample(dataset)) == TEXTS
    assert texts_of(read_sample(dataset.select([3, 0]), field="caption")) == [TEXTS[3], TEXTS[0]]
    assert texts_of(read_sample(dataset.to_iterable_dataset(), field="caption")) == TEXTS
    assert texts_of(read_sample(dataset["caption"])) == TEXTS


@pytest.mark.parametrize(("name", "line"), [("x.txt", "a text"), ("x.jsonl", '"a text"'), ("x.csv", "a text")])
def test_files_are_read_in_parts(tmp_path: Path, name: str, line: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """After two parts, only the blocks under them have been read."""
    asked: list[int] = []

    class Counted(io.BytesIO):
        def read(self, size: int | None = -1, /) -> bytes:
            asked.append(0 if size is None else size)
            return super().read(size)

    content = f"{line}\n".encode() * 100_000
    monkeypatch.setattr("textassay.corpus.files.reading.open", lambda path, mode: Counted(content), raising=False)
    monkeypatch.setattr("textassay.corpus.files.reading.BLOCK", 1000)
    monkeypatch.setattr("textassay.corpus.tables._ROWS", 100)
    path = write(tmp_path / name, content)
    options: dict[str, Any] = {"name": None, "kind": "sample", "encoding": "utf-8", "notes": Counter()}
    parts = next(open_source(path, Expected(texts=True), **options).tables).parts(None)
    assert len(next(parts)) > 0
    assert len(next(parts)) > 0
    assert 0 < sum(asked) <= 5000
    assert min(asked) > 0


def test_reading_needs_neither_pandas_nor_polars_nor_datasets(tmp_path: Path) -> None:
    write(tmp_path / "x.jsonl", CONTENTS["jsonl"])
    pq.write_table(pa.table({"text": TEXTS}), tmp_path / "x.parquet")
    code = (
        "import sys\n"
        "class Absent:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name.partition('.')[0] in ('pandas', 'polars', 'datasets'):\n"
        "            raise ModuleNotFoundError(name)\n"
        "sys.meta_path.insert(0, Absent())\n"
        "from textassay.corpus.readers import read_sample\n"
        "lengths = {len(read_sample(path)) for path in sys.argv[1:]} | {len(read_sample(list('abcde')))}\n"
        "sys.exit(lengths != {5})\n"
    )
    paths = [str(tmp_path / "x.jsonl"), str(tmp_path / "x.parquet")]
    subprocess.run([sys.executable, "-c", code, *paths], check=True, timeout=300)


ANSWER = "Here is a list:\n\n- one\n- two\n\n1. three\n\nThat is all."


def test_texts_of_several_lines_in_a_file_of_lines_are_noticed(tmp_path: Path) -> None:
    texts = [f"{ANSWER} {number}" for number in range(20)]
    (tmp_path / "x.txt").write_text("\n".join(texts))
    (tmp_path / "x.jsonl").write_text("\n".join(json.dumps({"text": text}) for text in texts))
    [_, note] = read_sample(tmp_path / "x.txt").notes
    assert note.startswith("38 % of the lines are blank and 38 % begin like items of lists")
    assert "write them to a .jsonl, .csv or .parquet file" in note
    assert read_sample(tmp_path / "x.jsonl").notes == ()
    (tmp_path / "y.txt").write_text("\n".join(["a plain text", "another - one"] * 20))
    assert read_sample(tmp_path / "y.txt").notes == ()
