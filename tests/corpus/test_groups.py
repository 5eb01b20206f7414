"""Groups, contexts and ids beside the texts of a sample."""

import gzip
import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.corpus.test_readers import StandInDataset
from textassay.corpus.readers import read_sample
from textassay.corpus.rows import labels
from textassay.errors import InputError

RECORDS: list[dict[str, Any]] = [
    {"prompt": "sea", "output": "waves roll"},
    {"prompt": "sea", "output": ""},
    {"prompt": "sky", "output": "clouds\ndrift"},
    {"prompt": "7", "output": "seven"},
]
TEXTS = ["waves roll", "clouds\ndrift", "seven"]
GROUPS = ["sea", "sky", "7"]
CSV = 'prompt,output\nsea,waves roll\nsea,\nsky,"clouds\ndrift"\n\n7,seven\n'


def refusal(source: Any, **options: Any) -> str:
    with pytest.raises(InputError) as caught:
        read_sample(source, **options)
    return str(caught.value)


def jsonl(records: list[Any]) -> str:
    return "".join(json.dumps(record) + "\n" for record in records)


def check(source: Any, **options: Any) -> None:
    """The group is read beside the text, which is found although it is not named."""
    sample = read_sample(source, group="prompt", **options)
    assert sample.texts.to_pylist() == TEXTS
    assert sample.groups is not None
    assert sample.groups.to_pylist() == GROUPS
    assert sample.groups.type == pa.large_string()
    assert sample.contexts is not None
    assert sample.contexts.to_pylist() == GROUPS
    assert any("left out" in note for note in sample.notes)


def test_text_files(tmp_path: Path) -> None:
    contents = {
        "x.jsonl": jsonl(RECORDS),
        "x.json": json.dumps(RECORDS, indent=1),
        "lines.json": jsonl(RECORDS),
        "x.csv": CSV,
        "x.tsv": CSV.replace(",", "\t"),
    }
    for name, content in contents.items():
        (tmp_path / name).write_text(content)
        check(tmp_path / name)
        (tmp_path / f"{name}.gz").write_bytes(gzip.compress(content.encode()))
        check(tmp_path / f"{name}.gz")
        check(tmp_path / name, field="output")


def test_parquet(tmp_path: Path) -> None:
    table = pa.Table.from_pylist([{"n": 1, **record} for record in RECORDS])
    for kind in (pa.string(), pa.dictionary(pa.int8(), pa.string())):
        at = table.schema.get_field_index("prompt")
        pq.write_table(
            table.set_column(at, "prompt", table["prompt"].cast(kind)), tmp_path / "x.parquet", row_group_size=2
        )
        check(tmp_path / "x.parquet")


def test_patterns_and_batches_of_any_size(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number, record in enumerate(RECORDS):
        (tmp_path / f"{number}.jsonl").write_text(jsonl([record]))
    check(str(tmp_path / "*.jsonl"))
    monkeypatch.setattr("textassay.corpus.files.reading.BLOCK", 7)
    monkeypatch.setattr("textassay.corpus.tables._ROWS", 2)
    (tmp_path / "x.csv").write_text(CSV)
    (tmp_path / "x.jsonl").write_text(jsonl(RECORDS))
    check(tmp_path / "x.csv")
    check(tmp_path / "x.jsonl")


@pytest.mark.parametrize("field", ["output", None])
def test_standard_input_holds_records_where_a_group_is_asked_for(
    field: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(jsonl(RECORDS).encode())))
    check("-", field=field)


def test_objects() -> None:
    table = pa.Table.from_pylist(RECORDS)
    sources: list[Any] = [
        RECORDS,
        iter(RECORDS),
        table,
        table.to_batches()[0],
        pd.DataFrame(RECORDS),
        pd.DataFrame(RECORDS, index=[7, 7, 7, 7]).astype({"prompt": "category"}),
        pl.DataFrame(RECORDS),
        StandInDataset(table, [0, 1, 2, 3]),
    ]
    for source in sources:
        check(source)


def test_a_real_dataset_if_installed() -> None:
    datasets = pytest.importorskip("datasets")
    check(datasets.Dataset.from_list(RECORDS))


@pytest.mark.parametrize(
    ("groups", "expected"),
    [
        ([1, 2], ["1", "2"]),
        ([1.0, 2.5], ["1", "2.5"]),
        ([True, False], ["true", "false"]),
        ([[{"role": "user", "content": "é"}], "x"], ['[{"content": "é", "role": "user"}]', "x"]),
        (["a", 3], ["a", "3"]),
    ],
)
def test_numbers_and_lists_become_strings(tmp_path: Path, groups: list[Any], expected: list[str]) -> None:
    records = [{"text": f"text {place}", "who": group} for place, group in enumerate(groups)]
    (tmp_path / "x.jsonl").write_text(jsonl(records))
    sources: list[Any] = [tmp_path / "x.jsonl", records, pd.DataFrame(records)]
    if len({type(group) for group in groups}) == 1:
        sources += [pl.DataFrame(records), pa.Table.from_pylist(records)]
    for source in sources:
        sample = read_sample(source, group="who")
        assert sample.groups is not None
        assert sample.groups.to_pylist() == expected


def test_the_group_is_not_taken_for_the_text(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("text,caption\na,one cat\nb,two cats\n")
    sample = read_sample(tmp_path / "x.csv", group="text")
    assert sample.texts.to_pylist() == ["one cat", "two cats"]
    assert sample.groups is not None
    assert sample.groups.to_pylist() == ["a", "b"]


@pytest.mark.parametrize("missing", [None, "", " \t"])
def test_a_text_without_a_group_is_refused_with_its_place(tmp_path: Path, missing: str | None) -> None:
    records = [*RECORDS, {"prompt": missing, "output": "lost"}]
    message = "field 'prompt' is missing or blank; wanted the group of each text"
    (tmp_path / "x.jsonl").write_text("\n" + jsonl(records))
    assert refusal(tmp_path / "x.jsonl", group="prompt") == f"{tmp_path}/x.jsonl:6: {message}"
    (tmp_path / "x.csv").write_text(CSV + f"{missing or ''},lost\n")
    assert refusal(tmp_path / "x.csv", group="prompt") == f"{tmp_path}/x.csv:8: {message}"
    pq.write_table(pa.Table.from_pylist(records), tmp_path / "x.parquet")
    assert refusal(tmp_path / "x.parquet", group="prompt") == f"{tmp_path}/x.parquet: row 5: {message}"
    assert refusal(pd.DataFrame(records), group="prompt") == f"sample: row 5: {message}"
    assert refusal(records, group="prompt") == f"sample: record 5: {message}"
    del records[4]["prompt"]
    assert refusal(records, group="prompt") == f"sample: record 5: {message}"


def test_a_missing_number_is_a_missing_group() -> None:
    frame = pd.DataFrame({"text": ["a", "b"], "author": [1.0, np.nan]})
    assert "sample: row 2: field 'author' is missing" in refusal(frame, group="author")


def test_sources_without_fields_are_refused(tmp_path: Path) -> None:
    (tmp_path / "x.txt").write_text("a\nb\n")
    wanted = "so there is no field 'prompt' for the groups; wanted records: .jsonl, .json, .csv, .tsv or .parquet"
    for source in (tmp_path / "x.txt", ["a", "b"], pd.Series(["a"]), pa.array(["a"]), np.array(["a"])):
        assert wanted in refusal(source, group="prompt")
    (tmp_path / "x.jsonl").write_text('"a"\n')
    assert refusal(tmp_path / "x.jsonl", group="prompt").endswith(
        "x.jsonl:1: a string; wanted an object with the field 'prompt'"
    )


def test_a_field_that_is_not_there_or_is_the_text(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text(CSV)
    assert refusal(tmp_path / "x.csv", group="author").endswith(
        "x.csv:1: no field 'author'; fields are 'prompt', 'output'; wanted the field of the groups"
    )
    assert "asked for as text and as group" in refusal(RECORDS, group="output", field="output")
    (tmp_path / "twice.csv").write_text("text,who,who\na,b,c\n")
    assert "2 fields have the name 'who'" in refusal(tmp_path / "twice.csv", group="who")


def test_contexts_and_ids_are_found_without_being_asked_for(tmp_path: Path) -> None:
    records = [
        {"id": 1, "text": "a", "instruction": "Add", "input": "1 and 2"},
        {"id": "two", "text": "b", "instruction": "Add", "input": ""},
        {"text": "c", "instruction": None, "input": {"x": 1}},
    ]
    (tmp_path / "x.jsonl").write_text(jsonl(records))
    for source in (tmp_path / "x.jsonl", records, pd.DataFrame(records)):
        sample = read_sample(source)
        assert sample.ids is not None
        assert sample.ids.to_pylist() == ["1", "two", None]
        assert sample.contexts is not None
        assert sample.contexts.to_pylist() == ["Add\n1 and 2", "Add", '{"x": 1}']
        assert sample.groups is None


def test_contexts_never_stop_a_sample_from_being_read(tmp_path: Path) -> None:
    (tmp_path / "x.jsonl").write_text('{"text": "a", "prompt": "\\ud800"}\n"b"\n{"text": "c", "prompt": [[]]}\n')
    sample = read_sample(tmp_path / "x.jsonl")
    assert sample.texts.to_pylist() == ["a", "b", "c"]
    assert sample.contexts is not None
    assert sample.contexts.to_pylist() == ["\\ud800", None, "[[]]"]
    broken = pa.Array.from_buffers(pa.string(), 1, pa.array([b"\xff"]).buffers())
    frame = pd.DataFrame({"text": ["a", "b"], "id": [object(), pd.NA], "uid": [1, 2]})
    assert len(read_sample(pa.table({"text": ["a"], "prompt": broken}))) == 1
    assert len(read_sample(frame)) == 2


def test_the_context_field_may_be_the_text() -> None:
    sample = read_sample([{"prompt": "a", "id": 1}], field="prompt")
    assert (sample.texts.to_pylist(), sample.contexts) == (["a"], None)


def test_only_files_with_the_columns_have_them(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("id,text\n1,one\n")
    (tmp_path / "b.csv").write_text("text\ntwo\n")
    sample = read_sample(str(tmp_path / "*.csv"))
    assert sample.ids is not None
    assert (sample.ids.to_pylist(), sample.contexts) == (["1", None], None)


def test_the_digest_depends_on_the_texts_only() -> None:
    assert read_sample(RECORDS, group="prompt").digest == read_sample(TEXTS).digest


values = st.one_of(st.none(), st.text(), st.integers(), st.floats(), st.booleans(), st.lists(st.integers(), max_size=2))


@given(st.lists(values))
def test_any_values_become_labels(drawn: list[Any]) -> None:
    found = labels(drawn)
    assert (len(found), found.type) == (len(drawn), pa.large_string())
    for value, label in zip(drawn, found.to_pylist(), strict=True):
        if isinstance(value, str) and value.strip() and value.isascii():
            assert label == value


def test_records_in_python_are_read_as_in_json() -> None:
    assert read_sample([{"caption": "a cat", "n": 1}, "bare", None]).texts.to_pylist() == ["a cat", "bare"]
    assert refusal([{"a": "x", "b": "y"}]) == "sample: record 1: no field 'text'; fields are 'a', 'b' (use field=...)"
    assert refusal([{"text": 3}]) == "sample: record 1: field 'text' is a number (3); wanted a string"
