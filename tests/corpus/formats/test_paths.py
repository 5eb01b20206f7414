"""Paths to nested fields, and the field that is read where none is asked for."""

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from textassay.corpus.readers import read_sample, read_systems
from textassay.errors import InputError

RECORDS = [
    {
        "id": n,
        "prompt": f"Q{n}",
        "reply": {"choices": [{"text": f"A {n}"}, {"text": f"B {n}"}]},
        "all": [f"x{n}", f"y{n}"],
    }
    for n in range(2)
]


@pytest.mark.parametrize(
    ("path", "texts"),
    [
        ("reply.choices[0].text", ["A 0", "A 1"]),
        ("reply.choices[-1].text", ["B 0", "B 1"]),
        ("reply.choices[*].text", ["A 0", "B 0", "A 1", "B 1"]),
        ("all[*]", ["x0", "y0", "x1", "y1"]),
    ],
)
def test_paths(path: str, texts: list[str], tmp_path: Path) -> None:
    file = tmp_path / "x.jsonl"
    file.write_text("".join(json.dumps(record) + "\n" for record in RECORDS), encoding="utf-8")
    for source in (file, RECORDS, pa.Table.from_pylist(RECORDS)):
        sample = read_sample(source, field=path, group="prompt")
        assert sample.texts.to_pylist() == texts
        assert sample.groups is not None
        assert sample.groups.to_pylist() == [f"Q{text[-1]}" for text in texts]
        assert sample.ids is not None
        assert sample.ids.to_pylist() == [text[-1] for text in texts]


def test_a_field_with_a_dot_in_its_name_comes_before_a_path() -> None:
    assert read_sample([{"a.b": "A cat.", "a": {"b": "A dog."}}], field="a.b").texts.to_pylist() == ["A cat."]


def test_several_models_in_one_sample_are_told() -> None:
    """In records of no known tool a field called model may be anything, so they are read and a note names it."""
    records = [{"model": model, "text": f"{model} {n}"} for n in range(10) for model in ("a", "b")]
    note = "texts of 2 models ('a', 'b') in one sample: --by model (in Python by=\"model\")"
    assert read_sample(records).notes == (note,)
    assert read_sample(records[::2]).notes == ()
    assert read_sample([{**record, "model": str(n)} for n, record in enumerate(records * 2)]).notes == ()
    assert note not in read_systems(records)["a"].notes


def test_records_without_the_path_are_counted() -> None:
    sample = read_sample([{"a": {"b": "A cat."}}, {"a": None}, {"a": {"b": None}}], field="a.b")
    assert sample.texts.to_pylist() == ["A cat."]
    assert sorted(sample.notes) == ["1 blank text left out", "1 record without 'a.b' left out"]


@pytest.mark.parametrize(
    ("path", "seen"),
    [
        ("reply.choices[0].content", "fields are prompt ('Q0'), reply.choices[0].text ('A 0'), all[0] ('x0')"),
        ("reply.choices", "is an array; wanted a string ('reply.choices[*]' reads all of its values)"),
        ("reply.choices[0]", "is an object; wanted a string"),
    ],
)
def test_wrong_paths(path: str, seen: str) -> None:
    with pytest.raises(InputError) as caught:
        read_sample(RECORDS, field=path)
    assert seen in str(caught.value)


def test_the_field_that_was_chosen_is_named() -> None:
    assert read_sample([{"id": 1, "output": "A cat."}]).notes == ("texts read from the field 'output'",)


@pytest.mark.parametrize("values", [["3"] * 10, ["A", "B"] * 40])
def test_a_chosen_field_that_hardly_varies_is_refused(values: list[str], tmp_path: Path) -> None:
    records: list[dict[str, Any]] = [{"id": n, "target": value} for n, value in enumerate(values)]
    with pytest.raises(InputError) as caught:
        read_sample(records)
    assert "'target'" in str(caught.value)
    assert "--field" in caught.value.with_options()
    assert len(read_sample(records, field="target")) == len(values)
    # A file with one field has no other to choose.
    assert len(read_sample([{"target": value} for value in values])) == len(values)
