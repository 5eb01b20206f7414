"""Bad input is one InputError on one line: what, where, what was seen and what was wanted."""

import gzip
import io
import os
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from textassay.corpus.files import reading as sources
from textassay.corpus.printable import printable
from textassay.corpus.readers import read_sample
from textassay.corpus.sample import Sample
from textassay.errors import InputError

HINT = " (a string is a path; pass texts as a list)"


def refusal(source: Any, **options: Any) -> str:
    """The message with which the source is refused, also when its rows are read one at a time."""
    with pytest.raises(InputError) as whole:
        read_sample(source, **options)
    message = str(whole.value)
    assert message == printable(message)
    if isinstance(source, str | Path) and source != "-":
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("textassay.corpus.tables._ROWS", 1)
            with pytest.raises(InputError) as in_parts:
                read_sample(source, **options)
        assert str(in_parts.value) == message
    return message


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty working directory, so that messages name files as a user at a prompt would see them."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_missing_file_fails_before_anything_is_read(here: Path) -> None:
    assert refusal("real.txt") == f"real.txt: no such file{HINT}"
    assert refusal(Path("real.txt")) == "real.txt: no such file"
    assert refusal("A cat sat.") == f"A cat sat.: no such file{HINT}"
    assert refusal("Did it sit?") == f"Did it sit?: no file matches this pattern{HINT}"
    with pytest.raises(InputError) as caught:
        read_sample("real.txt")
    assert caught.value.with_options() == "real.txt: no such file"


def test_name_that_cannot_be_a_file(here: Path) -> None:
    assert refusal("a\x00b").startswith("a\\x00b: cannot be read")
    assert refusal("some text, not a path. " * 500).startswith("some text, not a path. some text")
    assert len(refusal("some text, not a path. " * 500)) < 400


def test_directory(here: Path) -> None:
    (here / "data").mkdir()
    assert refusal("data") == "data: a directory; wanted a file or a pattern such as '*.txt' in quotes"


def test_pattern_without_match(here: Path) -> None:
    (here / "x.txt").mkdir()
    assert refusal("*.txt") == f"*.txt: no file matches this pattern{HINT}"


def test_permission(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(path: str, mode: str) -> io.BytesIO:
        raise PermissionError(13, "Permission denied", path)

    (here / "x.txt").write_text("a\n")
    monkeypatch.setattr(sources, "open", refuse, raising=False)
    assert refusal("x.txt") == "x.txt: permission denied; wanted a file that can be read"


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may read everything")
def test_permission_of_the_real_file_system(here: Path) -> None:
    (here / "x.txt").write_text("a\n")
    (here / "x.txt").chmod(0)
    assert refusal("x.txt") == "x.txt: permission denied; wanted a file that can be read"


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("x.txt", b"", "x.txt: empty; wanted one text per line"),
        ("x.txt", b"\xef\xbb\xbf", "x.txt: empty; wanted one text per line"),
        ("x.txt.gz", gzip.compress(b"", mtime=0), "x.txt.gz: empty; wanted one text per line"),
        ("x.txt", b"\n \n\t\n", "x.txt: 3 lines, all blank; wanted one text per line"),
        ("x.txt", b"\n", "x.txt: 1 line, blank; wanted one text per line"),
        ("x.jsonl", b'{"text": ""}\n{"text": null}\n', "x.jsonl: 2 lines, all blank; wanted one text per line"),
        ("x.csv", b"", "x.csv: empty; wanted one text per row"),
        ("x.csv", b"text\n", "x.csv: empty; wanted one text per row"),
        ("x.csv", b"\n\n\n", "x.csv: empty; wanted one text per row"),
        ("x.csv", b"id,text\n1,\n2,\n", "x.csv: 2 rows, all blank; wanted one text per row"),
    ],
)
def test_nothing_to_read(here: Path, name: str, content: bytes, message: str) -> None:
    (here / name).write_bytes(content)
    assert refusal(name) == message


@pytest.mark.parametrize(
    ("content", "encoding", "message"),
    [
        (b"a\nb\xff\n", "utf-8", "x.txt:2: byte 0xff is not valid utf-8; try encoding='latin-1'"),
        (b"a\n\nb\n\xc3\n\xa9", "utf-8", "x.txt:4: byte 0xc3 is not valid utf-8; try encoding='latin-1'"),
        (b"a\n\xe2\x82", "utf-8", "x.txt:2: byte 0xe2 is not valid utf-8; try encoding='latin-1'"),
        (b"\xed\xa0\x80", "utf-8", "x.txt:1: byte 0xed is not valid utf-8; try encoding='latin-1'"),
        ("é\né".encode(), "ascii", "x.txt:1: byte 0xc3 is not valid ascii; try encoding='latin-1'"),
        (
            "a\nb\n".encode("utf-16-le") + b"\x00\xd8a\x00",
            "utf-16-le",
            "x.txt:3: byte 0x00 is not valid utf-16-le; try encoding='latin-1'",
        ),
        (b"a\\ud800", "unicode_escape", None),
    ],
)
@pytest.mark.parametrize("block", [1, 3, 1 << 20])
def test_bytes_that_do_not_decode(
    here: Path, content: bytes, encoding: str, message: str | None, block: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The line is right wherever the blocks are cut."""
    monkeypatch.setattr(sources, "BLOCK", block)
    (here / "x.txt").write_bytes(content)
    seen = refusal("x.txt", encoding=encoding)
    assert seen == message if message else seen.startswith("x.txt:1: not valid unicode-escape: ")


def test_utf_16_is_recognised(here: Path) -> None:
    (here / "x.txt").write_text("é", encoding="utf-16")
    byte = (here / "x.txt").read_bytes()[0]
    wanted = f"x.txt:1: byte 0x{byte:02x} is not valid utf-8; try encoding='utf-16'"
    assert refusal("x.txt") == wanted


def test_the_command_line_names_the_option_for_the_encoding(here: Path) -> None:
    (here / "x.txt").write_bytes(b"\xff")
    with pytest.raises(InputError) as caught:
        read_sample("x.txt")
    assert caught.value.with_options() == "x.txt:1: byte 0xff is not valid utf-8; try --encoding latin-1"


@pytest.mark.parametrize("encoding", ["utf-9", "", "base64", "rot13", "undefined", "utf\x008", "\x1b[31m"])
def test_unknown_encoding(here: Path, encoding: str) -> None:
    (here / "x.txt").write_text("a\n")
    wanted = "wanted one such as utf-8, latin-1 or utf-16"
    assert refusal("x.txt", encoding=encoding) == f"unknown encoding '{printable(encoding)}'; {wanted}"


@pytest.mark.parametrize(
    ("line", "field", "problem"),
    [
        ('{"prompt": "a", "output": "b"}', None, "no field 'text'; fields are 'prompt', 'output' (use field=...)"),
        ('{"id": 3}', None, "no field 'text'; fields are 'id' (use field=...)"),
        ("{}", None, "no field 'text'; there are no fields"),
        ('{"a\\u001b": "a"}', "text", "no field 'text'; fields are 'a\\x1b' (use field=...)"),
        ('{"text": 3.5}', None, "field 'text' is a number (3.5); wanted a string"),
        ('{"text": true}', None, "field 'text' is a boolean; wanted a string"),
        ('{"text": ["a"]}', None, "field 'text' is an array; wanted a string"),
        ('{"text": {}}', None, "field 'text' is an object; wanted a string"),
        ('["a"]', None, "an array; wanted an object or a string"),
        ("7", None, "a number (7); wanted an object or a string"),
        ('"a"', "text", "a string; wanted an object with the field 'text'"),
        ('{"text": "a"', None, "not valid JSON: Expecting ',' delimiter (column 13)"),
        ('{"text": "a"} x', None, "not valid JSON: Extra data (column 15)"),
        ("a cat", None, "not valid JSON: Expecting value (column 1)"),
        ('{"text": "a", "text": "b"}', None, "not valid JSON: the key 'text' appears twice"),
        ('"a\x00b"', None, "not valid JSON: Invalid control character at (column 3)"),
        ("[" * 100_000, None, "not valid JSON: nested too deeply"),
        ('"\\ud800"', None, "the text holds half a surrogate pair (\\ud800); wanted whole characters"),
    ],
)
def test_json_lines(here: Path, line: str, field: str | None, problem: str) -> None:
    (here / "real.jsonl").write_text(f'\n{line}\n"last"\n', newline="")
    assert refusal("real.jsonl", field=field) == f"real.jsonl:2: {problem}"


def test_line_numbers_go_on_over_blocks_and_field_is_kept(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sources, "BLOCK", 20)
    (here / "real.jsonl").write_text('{"text": "a"}\n' * 16 + '{"prompt": "a", "output": "b"}\n')
    assert refusal("real.jsonl") == "real.jsonl:17: no field 'text'; fields are 'prompt', 'output' (use field=...)"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("id,text\n1,a\n2,b,c\n", "x.csv:3: 3 fields; wanted 2 as in the header ('id', 'text')"),
        ('id,text\n1,"a\nb"\n2\n', "x.csv:4: 1 field; wanted 2 as in the header ('id', 'text')"),
        ("id,a,b\n1,x,y\n", "x.csv:1: no field 'text'; fields are 'id', 'a', 'b' (use field=...)"),
        ("\nid,n\n1,2\n", "x.csv:2: no field 'text'; fields are 'id', 'n' (use field=...)"),
        ("text,text\na,b\n", "x.csv:1: 2 fields have the name 'text'; wanted one"),
        ('text\na\n"open\nb\n', "x.csv:3: a broken row: unexpected end of data"),
        ('text\n"a"b\n', "x.csv:2: a broken row: ',' expected after '\"'"),
    ],
)
def test_csv(here: Path, content: str, message: str) -> None:
    (here / "x.csv").write_text(content)
    assert refusal("x.csv") == message


def test_json_documents(here: Path) -> None:
    (here / "x.json").write_text('{"texts": [\n"a"\n]}\n')
    assert refusal("x.json") == "x.json: record 1: no field 'text'; fields are 'texts' (use field=...)"
    (here / "x.json").write_text('["a", 3]')
    assert refusal("x.json") == "x.json: record 2: a number (3); wanted an object or a string"
    (here / "x.json").write_text('["a",\n')
    assert refusal("x.json").startswith("x.json: not valid JSON: ")
    (here / "x.json").write_text('{"text": "a"}\n{"text": 3}\n')
    assert refusal("x.json") == "x.json:2: field 'text' is a number (3); wanted a string"
    (here / "x.json").write_text("[]")
    assert refusal("x.json") == "x.json: empty; wanted one text per record"


DAMAGE = "cannot be read, damaged or not what its name says: "


@pytest.mark.parametrize("name", ["x.txt.gz", "x.jsonl.gz", "x.txt.zst", "x.csv.zst"])
def test_damaged_archives(here: Path, name: str) -> None:
    content = os.urandom(3000).hex().encode()
    packed = gzip.compress(content) if name.endswith("gz") else pa.compress(content, codec="zstd", asbytes=True)
    for damaged in (packed[:-20], packed[:3], content, packed + b"trailing bytes"):
        (here / name).write_bytes(damaged)
        assert refusal(name).startswith(f"{name}: {DAMAGE}")
    if name == "x.txt.gz":
        (here / name).write_bytes(packed[:-20])
        assert refusal(name) == f"{name}: {DAMAGE}Truncated compressed stream"


def test_damaged_parquet(here: Path) -> None:
    pq.write_table(pa.table({"text": ["a cat sat"] * 1000}), "x.parquet")
    content = (here / "x.parquet").read_bytes()
    for damaged in (content[:-5], content[:8], b"", b"not Parquet at all", content[:4] + b"\xff" * 40 + content[44:]):
        (here / "x.parquet").write_bytes(damaged)
        assert refusal("x.parquet").startswith(f"x.parquet: {DAMAGE}")


def test_parquet_fields(here: Path) -> None:
    pq.write_table(pa.table({"id": [1], "a": ["x"], "b": ["y"]}), "x.parquet")
    assert refusal("x.parquet") == "x.parquet: no field 'text'; fields are 'id', 'a', 'b' (use field=...)"
    assert refusal("x.parquet", field="id") == "x.parquet: field 'id': a column of type int64; wanted strings"
    pq.write_table(pa.table({"text": pa.array([], pa.string())}), "x.parquet")
    assert refusal("x.parquet") == "x.parquet: empty; wanted one text per row"
    (here / "x.parquet.gz").write_bytes(gzip.compress((here / "x.parquet").read_bytes()))
    assert refusal("x.parquet.gz").startswith("x.parquet.gz: a compressed Parquet file; wanted it decompressed")


def test_parquet_strings_that_are_not_utf8(here: Path) -> None:
    odd = pa.array([b"a", b"b\xff"]).view(pa.string())
    pq.write_table(pa.table({"text": odd}), "x.parquet")
    assert refusal("x.parquet") == "x.parquet: field 'text', row 2: byte 0xff is not valid utf-8; wanted strings"
    assert refusal(odd) == "sample, row 2: byte 0xff is not valid utf-8; wanted strings"


def test_file_names_cannot_steer_the_terminal(here: Path) -> None:
    assert refusal("\x1b]0;\u202etxt.\n") == "\\x1b]0;\\u202etxt.\\n: no such file" + HINT


def test_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"a\n\xff\n")))
    assert refusal("-").startswith("stdin:2: byte 0xff is not valid utf-8")
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"")))
    assert refusal("-") == "stdin: empty; wanted one text per line"
    monkeypatch.setattr("sys.stdin", None)
    assert refusal("-") == "stdin: closed or without bytes; wanted text piped in"


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ([], "sample: empty; wanted at least one text"),
        ([" ", ""], "sample: 2 texts, all blank; wanted at least one text"),
        (["a", 5], "sample: text 2 is int (5); wanted a string"),
        (["a", None], "sample: text 2 is NoneType (None); wanted a string"),
        (["a", "\ud800"], "sample: text 2: the text holds half a surrogate pair (\\ud800); wanted whole characters"),
        (5, "sample: a number (5); wanted a path, a list of texts or of dicts, a column, a data frame or a dataset"),
        (
            {"train": ["a"], "test": ["b"]},
            "sample: a dict ('train', 'test'); wanted one of its values, or a list of dicts",
        ),
        (pa.array([1, 2]), "sample: a column of type int64; wanted strings"),
        (pl.Series([1, 2]), "sample: a column of type int64; wanted strings"),
        (pd.Series(["a", None, 3], dtype=object), "sample: text 3 is int (3); wanted a string"),
        (
            pd.Series(["a", "\ud800"], dtype=object),
            "sample: text 2: the text holds half a surrogate pair (\\ud800); wanted whole characters",
        ),
        (pl.Series([{"a": "x"}]), "sample: a column of records; wanted strings"),
        (pl.LazyFrame({"text": ["a"]}), "sample: a lazy frame; wanted it collected"),
        (pl.DataFrame({"text": [1]}), "sample: field 'text': a column of type int64; wanted strings"),
        (pd.DataFrame({"a": ["x"], "b": ["y"]}), "sample: no field 'text'; fields are 'a', 'b' (use field=...)"),
        (pd.DataFrame([["x", "y"]], columns=["text", "text"]), "sample: 2 fields have the name 'text'; wanted one"),
        (pa.table({"a": ["x"], "b": ["y"]}), "sample: no field 'text'; fields are 'a', 'b' (use field=...)"),
    ],
)
def test_objects(source: Any, message: str) -> None:
    assert refusal(source) == message


def test_places_go_on_over_the_pieces_of_a_long_list() -> None:
    assert refusal([*["a"] * 10_500, 7], name="mle") == "mle: text 10501 is int (7); wanted a string"


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        ("a cat", "sample: one string given; wanted a list of texts"),
        ({"real": ["a"]}, "sample: a dict ('real'); wanted a list of texts, such as one of its values"),
        (
            pd.DataFrame({"text": ["a"]}),
            "sample: a data frame; wanted one of its columns, or read_sample(frame, field=...)",
        ),
        (
            pl.DataFrame({"text": ["a"]}),
            "sample: a data frame; wanted one of its columns, or read_sample(frame, field=...)",
        ),
    ],
)
def test_samples_of_other_things_than_texts(texts: Any, message: str) -> None:
    with pytest.raises(InputError) as caught:
        Sample.of(texts)
    assert str(caught.value) == message
