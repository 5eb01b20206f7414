"""Every command reads the same kinds of files, and Python calls the same kinds of objects."""

import io
import json
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.corpus.test_readers import StandInDataset
from textassay.cli.main import run
from textassay.corpus.item_set import read_items
from textassay.corpus.ratings.files import read_ratings
from textassay.corpus.readers import read_sample
from textassay.errors import InputError
from textassay.survey.create.records import read_records

TEXTS = [{"text": "a cat"}, {"text": "a dog"}]
ITEMS = [
    {"id": "x", "references": ["a cat", "one cat"], "candidates": ["a dog", "the dog"]},
    {"id": "y", "references": ["the sea"], "candidates": ["a sea", "no sea"]},
]
BY_SYSTEM = [
    {"id": "x", "references": ["a cat"], "candidates": {"mle": ["a dog"], "gan": ["dog"]}},
    {"id": "y", "references": ["the sea"], "candidates": {"mle": ["a sea"]}},
]
RATINGS = [
    {"source": source, "text": f"text {n} by {source}", "log_prob": -n - 1.5, "rating": n % 3}
    for source in ("human", "gpt")
    for n in range(4)
]
KINDS = ["lines.jsonl", "list.json", "lines.json", "file.parquet"]


def write(folder: Path, name: str, records: list[dict[str, Any]]) -> Path:
    path = folder / name
    if path.suffix == ".parquet":
        pq.write_table(pa.Table.from_pylist(records), path)
    elif name.startswith("list"):
        path.write_text(json.dumps(records, indent=1))
    else:
        path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


@pytest.mark.parametrize("name", KINDS)
def test_samples(tmp_path: Path, name: str) -> None:
    assert read_sample(write(tmp_path, name, TEXTS)).texts.to_pylist() == ["a cat", "a dog"]


@pytest.mark.parametrize("records", [ITEMS, BY_SYSTEM])
@pytest.mark.parametrize("name", KINDS)
def test_items(tmp_path: Path, name: str, records: list[dict[str, Any]]) -> None:
    expected = read_items(records)
    assert read_items(write(tmp_path, name, records)).items == expected.items


@pytest.mark.parametrize("name", KINDS)
def test_candidates_of_items(tmp_path: Path, name: str) -> None:
    references = [{"id": record["id"], "references": record["references"]} for record in ITEMS]
    candidates = [{"id": record["id"], "candidates": record["candidates"]} for record in ITEMS]
    read = read_items(write(tmp_path, "refs.jsonl", references), candidates={"mle": write(tmp_path, name, candidates)})
    assert [item.candidates["mle"] for item in read.items] == [("a dog", "the dog"), ("a sea", "no sea")]


@pytest.mark.parametrize("name", KINDS)
def test_ratings(tmp_path: Path, name: str) -> None:
    read = read_ratings(write(tmp_path, name, RATINGS))
    assert read.digest == read_ratings(RATINGS).digest
    assert read.notes == read_ratings(RATINGS).notes


@pytest.mark.parametrize("name", KINDS)
def test_log_probabilities_of_their_own(tmp_path: Path, name: str) -> None:
    ratings = [{key: row[key] for key in row if key != "log_prob"} for row in RATINGS]
    second = write(tmp_path, name, [{key: row[key] for key in row if key != "rating"} for row in RATINGS])
    read = read_ratings(write(tmp_path, "r.jsonl", ratings), log_probs=second)
    assert read.digest == read_ratings(RATINGS).digest


@pytest.mark.parametrize("name", KINDS)
def test_texts_of_a_survey(tmp_path: Path, name: str) -> None:
    rows = read_records(str(write(tmp_path, name, TEXTS))).rows
    assert [dict(row.fields) for row in rows] == TEXTS


def test_strings_in_a_json_list(tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text('["a cat", "a dog"]')
    assert read_sample(tmp_path / "x.json").texts.to_pylist() == ["a cat", "a dog"]
    assert [row.fields["text"] for row in read_records(str(tmp_path / "x.json")).rows] == ["a cat", "a dog"]


def test_a_json_list_on_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    def pipe(records: list[dict[str, Any]]) -> None:
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(json.dumps(records).encode())))

    pipe(TEXTS)
    assert read_sample("-", field="text").texts.to_pylist() == ["a cat", "a dog"]
    pipe(ITEMS)
    assert read_items("-").items == read_items(ITEMS).items
    pipe(RATINGS)
    assert read_ratings("-").digest == read_ratings(RATINGS).digest


def test_a_packed_or_empty_parquet_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x.parquet.gz").write_bytes(b"")
    pq.write_table(pa.table({"rating": pa.array([], pa.int64())}), tmp_path / "none.parquet")
    for read in (read_sample, read_items, read_ratings):
        with pytest.raises(InputError, match="a compressed Parquet file"):
            read(tmp_path / "x.parquet.gz")
    with pytest.raises(InputError, match=r"none\.parquet: a header and no rows; wanted one row per rating"):
        read_ratings(tmp_path / "none.parquet")
    with pytest.raises(InputError, match="none"):
        read_items(tmp_path / "none.parquet")


def frames(records: list[dict[str, Any]]) -> list[Any]:
    table = pa.Table.from_pylist(records)
    return [pd.DataFrame(records), pl.DataFrame(records), table, table.to_batches()[0], table.to_reader()]


def test_frames_of_items() -> None:
    for records in (ITEMS, BY_SYSTEM):
        for frame in frames(records):
            assert read_items(frame).items == read_items(records).items


def test_frames_of_ratings() -> None:
    for frame in frames(RATINGS):
        assert read_ratings(frame).digest == read_ratings(RATINGS).digest


def test_datasets() -> None:
    for dataset, read, records in (
        (StandInDataset(pa.Table.from_pylist(ITEMS), [0, 1]), read_items, ITEMS),
        (StandInDataset(pa.Table.from_pylist(RATINGS), list(range(8))), read_ratings, RATINGS),
    ):
        assert read(dataset).digest == read(records).digest


def test_one_row_per_text_in_every_format(tmp_path: Path) -> None:
    rows = [
        {"id": item["id"], "source": source, "text": text}
        for item in ITEMS
        for source, field in (("reference", "references"), ("candidate", "candidates"))
        for text in item[field]
    ]
    for source in (*(write(tmp_path, name, rows) for name in KINDS), rows, *frames(rows)):
        assert read_items(source).items == read_items(ITEMS).items


def test_candidates_of_items_in_memory(tmp_path: Path) -> None:
    references = [{"references": record["references"]} for record in ITEMS]
    texts = ["a dog", "a sea"]
    (tmp_path / "mle.json").write_text(json.dumps(texts))
    write(tmp_path, "gan.jsonl", [{"text": text} for text in texts])
    systems = {
        "list": texts,
        "column": pd.Series(texts),
        "json": tmp_path / "mle.json",
        "jsonl": tmp_path / "gan.jsonl",
    }
    for item, text in zip(read_items(references, candidates=systems).items, texts, strict=True):
        assert item.candidates == dict.fromkeys(systems, (text,))


def test_a_table_on_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    def pipe(content: str) -> None:
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(content.encode())))

    pipe("id\ttext\n1\ta cat, two\n")
    assert read_sample("-", field="text").texts.to_pylist() == ["a cat, two"]
    pipe("references,candidates\na cat,a dog\n")
    assert read_items("-").items == read_items([{"references": "a cat", "candidates": "a dog"}]).items


@pytest.mark.parametrize("name", KINDS)
def test_commands(tmp_path: Path, name: str, capsys: pytest.CaptureFixture[str]) -> None:
    texts = [{"text": f"a text number {n % 7} of {n}"} for n in range(40)]
    for command, records in (("compare", texts), ("conditional", ITEMS), ("huse", RATINGS * 10)):
        path = str(write(tmp_path, name, records))
        options = ["--resamples", "0", "--quiet", *(["--family", "ngram"] if command == "compare" else [])]
        assert run([command, *([path] * (2 if command == "compare" else 1)), *options]) == 0, capsys.readouterr().err
