"""Items that are in memory: sets, items, dicts and data frames mean what the same file would."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from textassay.corpus.item_set import Item, ItemSet, read_items
from textassay.errors import InputError

RECORDS: list[dict[str, Any]] = [
    {"id": 3, "references": ["a", "b"], "candidates": {"mle": ["x"], "gan": ["y", "z"]}, "prompt": "p"},
    {"id": 4, "references": ["c", "d"], "candidates": {"mle": ["x"], "gan": []}, "prompt": None},
]
ITEMS = (
    Item("3", ("a", "b"), {"mle": ("x",), "gan": ("y", "z")}, "p"),
    Item("4", ("c", "d"), {"mle": ("x",), "gan": ()}),
)
COLUMNS: dict[str, list[Any]] = {
    "id": [3, 4],
    "references": [["a", "b"], ["c", "d"]],
    "candidates.mle": ["x", "x"],
    "candidates.gan": [["y", "z"], []],
    "prompt": ["p", None],
}


def test_sets_paths_items_and_dicts(tmp_path: Path) -> None:
    whole = ItemSet.of(ITEMS, name="pets")
    assert read_items(whole) is whole
    path = tmp_path / "pets.jsonl"
    path.write_text("".join(json.dumps(record) + "\n" for record in RECORDS))
    assert read_items(path) == read_items(str(path)) == whole
    assert read_items(ITEMS, name="pets") == read_items(iter(RECORDS), name="pets") == whole
    assert read_items(RECORDS).name == "items"
    assert read_items([RECORDS[0], ITEMS[1]], name="pets") == whole


def test_arrays_tuples_and_numbers_of_other_libraries() -> None:
    record = {
        "id": np.int64(3),
        "references": np.array(["a", "b"]),
        "candidates": {"mle": ("x",), "gan": pl.Series(["y", "z"])},
        "prompt": "p",
    }
    assert read_items([record]).items == ITEMS[:1]
    record = {"references": pa.array(["a", "b"]).to_pylist(), "candidates": pd.Series(["x"]), "prompt": float("nan")}
    assert read_items([record]).items == (Item("1", ("a", "b"), {"candidate": ("x",)}),)


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame, pa.table])
def test_frames(frame: Any) -> None:
    assert read_items(frame(COLUMNS)).items == ITEMS
    long = {"id": [3, 3, 4, 4], "source": ["reference", "mle"] * 2, "text": ["a", "x", "c", "y"]}
    assert [item.candidates for item in read_items(frame(long)).items] == [{"mle": ("x",)}, {"mle": ("y",)}]


def test_missing_cells_of_frames() -> None:
    columns = {"id": ["a", pd.NA], "references": [["a", "b"], np.nan], "candidates": [None, "x"], "prompt": pd.NaT}
    items = read_items(pd.DataFrame(columns))
    assert items.items == (Item("a", ("a", "b"), {}), Item("2", (), {"candidate": ("x",)}))
    frame = pl.DataFrame({"references": [["a", "b"], None], "candidates": [["x"], None]})
    assert read_items(frame).items == (Item("1", ("a", "b"), {"candidate": ("x",)}), Item("2", (), {}))


def test_a_frame_from_a_file_means_what_the_file_does(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text('id,references,candidates.mle\n7,"[""a"", ""b""]",x\n8,c,"[""y"", ""z""]"\n')
    assert read_items(pd.read_csv(path)).items == read_items(pl.read_csv(path)).items == read_items(path).items


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ([*RECORDS, 3], "items: record 3: a number (3); wanted a dict with 'references' and 'candidates'"),
        (["a"], "items: record 1: a string; wanted a dict with 'references' and 'candidates'"),
        ([object()], "items: record 1: object; wanted a dict with 'references' and 'candidates'"),
        (RECORDS * 2, "items: record 3: id '3' is also at items: record 1; wanted one item per id"),
        ([{"references": {"a"}}], "items: record 1: 'references': set; wanted a list of strings"),
        ([{"references": [b"a"]}], "items: record 1: 'references': text 1 is bytes; wanted a string"),
        (
            [{"references": ["a", float("nan")]}],
            "items: record 1: 'references': text 2 is a number (nan); wanted a string",
        ),
        ([{"candidates": {3: ["a"]}}], "items: record 1: a system's name is a number (3); wanted a string"),
        ([{"id": 1.5}], "items: record 1: the id is a number (1.5); wanted a string or a whole number"),
        ([], "items: no items; wanted 'references' and 'candidates' of at least one"),
        (
            [{"references": "a", "output": "b"}],
            "no candidates in items (fields are 'references', 'output'); wanted a field 'candidates'",
        ),
        ([{"candidates": "a"}], "no references in items (fields are 'candidates'); wanted a field 'references'"),
        ({"a": 1}, "items: a dict ('a'); wanted one of its values, or a list of dicts"),
        (b"x.jsonl", "items: bytes; wanted a path, a list of dicts, a data frame or a dataset"),
        (3, "items: a number (3); wanted a path, a list of dicts, a data frame or a dataset"),
        (pl.LazyFrame({"references": ["a"]}), "items: a lazy frame; wanted it collected"),
        (
            pd.DataFrame({"a": [1]}),
            "items: no field 'references'; fields are 'a'; wanted 'references', or 'id', 'source' and 'text'",
        ),
        (
            pd.DataFrame([["a", "b"]], columns=["references"] * 2),
            "items: 2 fields have the name 'references'; wanted one",
        ),
        (
            pl.DataFrame({"references": ["a"], "candidates": [3]}),
            "items: row 1: candidates of 'candidate': a number (3); wanted a list of strings",
        ),
        (
            pd.DataFrame({"references": ["[a"]}),
            "items: row 1: 'references': not valid JSON: Expecting value (column 2); "
            "wanted a list of strings where a cell begins with '['",
        ),
        (
            pd.DataFrame({"id": [1], "source": [3], "text": ["a"]}),
            "items: row 1: no source; wanted 'reference' or the name of a system",
        ),
    ],
)
def test_bad_objects(value: Any, message: str) -> None:
    with pytest.raises(InputError) as raised:
        read_items(value)
    assert str(raised.value) == message


def test_the_name_stands_in_messages() -> None:
    with pytest.raises(InputError, match=r"^p\\x1b: no items; wanted 'references' and 'candidates' of at least one$"):
        read_items([], name="p\x1b")
