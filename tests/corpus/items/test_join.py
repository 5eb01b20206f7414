"""Candidate files are put to the references by id or by order, and what does not fit is refused by name and number."""

import gzip
import io
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from textassay.corpus.item_set import read_items
from textassay.errors import InputError

WITH_IDS = [{"id": "a", "references": ["a", "b"]}, {"id": "b", "references": ["c", "d"]}]
WITHOUT = [{"references": ["a", "b"]}, {"references": ["c", "d"]}]


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def lines(name: str, records: list[Any]) -> str:
    Path(name).parent.mkdir(exist_ok=True)
    Path(name).write_text("".join(json.dumps(record) + "\n" for record in records))
    return name


def text(name: str, content: str) -> str:
    Path(name).parent.mkdir(exist_ok=True)
    Path(name).write_bytes(content.encode())
    return name


def written(references: list[Any], *names: str) -> list[Any]:
    """The candidates of each item, as lists."""
    items = read_items(lines("refs.jsonl", references), candidates=names).items
    return [{system: list(texts) for system, texts in item.candidates.items()} for item in items]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("mle.jsonl", '{"id": "b", "candidates": ["y"]}\n{"_id": "a", "candidate": "x"}'),
        ("mle.json", '[{"id": "b", "candidate": {"own": "y"}}, {"id": "a", "candidates": {"own": ["x"]}}]'),
        ("mle.csv", "candidate,id\ny,b\nx,a\n"),
        ("mle.tsv", 'id\tcandidates.own\r\nb\t["y"]\r\na\tx\r\n'),
        ("mle.csv", "id,source,text\nb,sys,y\na,sys,x\n"),
        ("mle.json", '[{"image_id": "b", "caption": "y"}, {"image_id": "a", "caption": "x"}]'),
        ("mle.txt", "x\ny\n"),
        ("mle.txt", "\ufeffx\r\ny"),
        ("mle", "x\ny\n"),
        ("mle", '{"id": "b", "candidates": ["y"]}\n{"id": "a", "candidates": ["x"]}'),
    ],
)
def test_each_form_of_a_candidate_file(name: str, content: str) -> None:
    text(name, content)
    if name.endswith("csv"):
        Path(f"{name}.gz").write_bytes(gzip.compress(content.encode()))
        name = f"{name}.gz"
    assert written(WITH_IDS, name) == [{"mle": ["x"]}, {"mle": ["y"]}]


def test_by_order_where_ids_are_missing_on_a_side() -> None:
    lines("ids.jsonl", [{"id": "b", "candidates": "x"}, {"id": "a", "candidates": "y"}])
    lines("none.jsonl", [{"candidates": "x"}, {"candidates": ["y", "z"]}])
    assert written(WITHOUT, "ids.jsonl", "none.jsonl") == [
        {"ids": ["x"], "none": ["x"]},
        {"ids": ["y"], "none": ["y", "z"]},
    ]
    assert read_items("refs.jsonl", candidates=["ids.jsonl"]).notes == (
        "ids.jsonl: matched by order, because refs.jsonl has no ids",
    )
    assert written(WITH_IDS, "none.jsonl") == [{"none": ["x"]}, {"none": ["y", "z"]}]
    assert read_items("refs.jsonl", candidates=["none.jsonl"]).notes == ("'none' has 1 to 2 candidates per item",)


def test_rows_of_one_id_gather_where_a_row_is_a_text() -> None:
    text("mle.csv", "id,source,text\na,sys,x\nb,sys,y\na,sys,z\na,reference,r\n")
    assert written(WITH_IDS, "mle.csv") == [{"mle": ["x", "z"]}, {"mle": ["y"]}]
    notes = read_items("refs.jsonl", candidates=["mle.csv"]).notes
    assert notes == ("mle.csv: its references left out", "'mle' has 1 to 2 candidates per item")


def test_missed_items_and_blank_lines_are_noted() -> None:
    lines("mle.jsonl", [{"id": "b", "candidates": ["y"]}])
    text("gan.txt", "\n\n")
    assert written(WITH_IDS, "mle.jsonl", "gan.txt") == [{"gan": [""]}, {"mle": ["y"], "gan": [""]}]
    assert read_items("refs.jsonl", candidates=["mle.jsonl", "gan.txt"]).notes == (
        "2 blank candidates kept",
        "'mle' has candidates for 1 of 2 items",
    )


def test_systems_behind_those_of_the_first_file() -> None:
    references = [{**record, "candidates": {"vlp": ["v"]}} for record in WITH_IDS]
    assert written(references, text("mle.txt", "x\ny")) == [{"vlp": ["v"], "mle": ["x"]}, {"vlp": ["v"], "mle": ["y"]}]


def test_names_of_systems() -> None:
    lines("refs.jsonl", WITH_IDS)
    for name in ("a/mle.txt", "b/mle.txt", "b/mle.jsonl.txt", "mle.txt", "gan.txt"):
        text(name, "x\ny")
    paths: list[str | Path] = ["a/mle.txt", "b/mle.txt", "mle.txt", "a/mle.txt", Path("gan.txt"), "b/mle.jsonl.txt"]
    items = read_items("refs.jsonl", candidates=paths, name="pets")
    assert items.systems == ("a/mle", "b/mle", "mle", "a/mle (2)", "gan", "mle.jsonl")
    assert items.name == "pets"
    assert read_items("refs.jsonl", candidates={"own \x1b": "gan.txt"}).systems == ("own \x1b",)
    assert read_items("refs.jsonl", candidates="gan.txt").systems == ("gan",)


def test_a_pattern_is_one_system() -> None:
    lines("part1.jsonl", [{"id": "b", "candidates": ["y"]}])
    lines("part2.jsonl", [{"id": "a", "candidates": ["x"]}])
    assert written(WITH_IDS, "part*.jsonl") == [{"part*.jsonl": ["x"]}, {"part*.jsonl": ["y"]}]


def test_standard_input_once(monkeypatch: pytest.MonkeyPatch) -> None:
    lines("refs.jsonl", WITH_IDS)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"x\ny\n")))
    assert read_items("refs.jsonl", candidates=["-"]).systems == ("stdin",)
    with pytest.raises(InputError, match=r"^stdin: given 2 times; wanted at most one '-'$"):
        read_items("-", candidates=["-"])


def test_numbers_that_differ_are_said_with_both_names() -> None:
    lines("refs.jsonl", WITHOUT * 500)
    lines("sys.jsonl", [{"candidates": "x"}] * 999)
    with pytest.raises(InputError) as raised:
        read_items("refs.jsonl", candidates=["sys.jsonl"])
    assert str(raised.value) == "sys.jsonl: 999 items; refs.jsonl has 1,000; wanted as many, or ids in both"


ODD = {"id": "a", "candidates": "x"}


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("s.txt", "x", "s.txt: 1 item; refs.jsonl has 2; wanted as many, or ids in both"),
        ("s.txt", "", "no candidates in s.txt; wanted a field 'candidates', or one per line in .txt"),
        ("s.jsonl", "", "no candidates in s.jsonl; wanted a field 'candidates', or one per line in .txt"),
        (
            "s.jsonl",
            '{"id": "a", "output": "x"}',
            "no candidates in s.jsonl (fields are 'id', 'output'); "
            "wanted a field 'candidates', or one per line in .txt",
        ),
        (
            "s.csv",
            "id,output\na,x\n",
            "s.csv:1: no field 'candidates'; fields are 'id', 'output'; "
            "wanted 'candidates', or 'id', 'source' and 'text'",
        ),
        (
            "s.jsonl",
            "".join(json.dumps({"id": i, "candidates": "x"}) + "\n" for i in ("a", 1, 2, "\x1b", 4, 5)),
            "s.jsonl: 5 ids are not in refs.jsonl: '1', '2', '\\x1b' and 2 more; wanted ids it has",
        ),
        (
            "s.json",
            json.dumps([ODD, ODD]),
            "s.json: record 2: id 'a' is also at s.json: record 1; wanted one item per id",
        ),
        ("s.csv", "id,candidate\na,x\na,y\n", "s.csv:3: id 'a' is also at s.csv:2; wanted one item per id"),
        (
            "s.jsonl",
            json.dumps(ODD) + '\n{"candidates": "y"}',
            "s.jsonl:2: no id, but other items have one; wanted ids in all or in none",
        ),
        (
            "s.csv",
            "id,source,text\na,mle,x\na,g\x1b,y\n",
            "s.csv: candidates of 'mle', 'g\\x1b'; wanted one system in each candidate file",
        ),
        ("s.json", "[3]", "s.json: record 1: a number (3); wanted an object with 'references' and 'candidates'"),
        (
            "s.parquet",
            "",
            "s.parquet: cannot be read, damaged or not what its name says: Parquet file size is 0 bytes",
        ),
        ("s\x1b.txt", "x", "s\\x1b.txt: 1 item; refs.jsonl has 2; wanted as many, or ids in both"),
    ],
)
def test_candidate_files_that_do_not_fit(name: str, content: str, message: str) -> None:
    text(name, content)
    with pytest.raises(InputError) as raised:
        written(WITH_IDS, name)
    assert str(raised.value) == message


def test_one_system_in_two_places() -> None:
    references = [{**record, "candidates": {"m\x1b": ["v"]}} for record in WITH_IDS]
    lines("refs.jsonl", references)
    text("mle.txt", "x\ny")
    with pytest.raises(
        InputError, match=r"^mle.txt: system 'm\\x1b' is also in refs.jsonl; wanted each system in one place$"
    ):
        read_items("refs.jsonl", candidates={"m\x1b": "mle.txt"})


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("", "candidates: a system's name is blank; wanted a name"),
        (3, "candidates: a system's name is a number (3); wanted a string"),
    ],
)
def test_bad_names_of_systems(name: Any, message: str) -> None:
    lines("refs.jsonl", WITH_IDS)
    with pytest.raises(InputError) as raised:
        read_items("refs.jsonl", candidates={name: text("mle.txt", "x\ny")})
    assert str(raised.value) == message


def test_missing_candidate_file() -> None:
    with pytest.raises(InputError, match=r"^mle.txt: no such file$"):
        written(WITH_IDS, "mle.txt")
