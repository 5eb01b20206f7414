"""Items that are in memory: sets, items, dicts and data frames mean what the same file would."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from textassay.corpus.items.item_set import Item, ItemSet, as_items
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
    assert as_items(whole) is whole
    path = tmp_path / "pets.jsonl"
    path.write_text("".join(json.dumps(record) + "\n" for record in RECORDS))
    assert as_items(path) == as_items(str(path)) == whole
    assert as_items(ITEMS, name="pets") == as_items(iter(RECORDS), name="pets") == whole
    assert as_items(RECORDS).name == "items"
    assert as_items([RECORDS[0], ITEMS[1]], name="pets") == whole


def test_arrays_tuples_and_numbers_of_other_libraries() -> None:
    record = {
        "id": np.int64(3),
        "references": np.array(["a", "b"]),
        "candidates": {"mle": ("x",), "gan": pl.Series(["y", "z"])},
        "prompt": "p",
    }
    assert as_items([record]).items == ITEMS[:1]
    record = {"references": pa.array(["a", "b"]).to_pylist(), "candidates": pd.Series(["x"]), "prompt": float("nan")}
    assert as_items([record]).items == (Item("1", ("a", "b"), {"candidate": ("x",)}),)


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame, pa.table])
def test_frames(frame: Any) -> None:
    assert as_items(frame(COLUMNS)).items == ITEMS
    long = {"id": [3, 3, 4, 4], "source": ["reference", "mle"] * 2, "text": ["a", "x", "c", "y"]}
    assert [item.candidates for item in as_items(frame(long)).items] == [{"mle": ("x",)}, {"mle": ("y",)}]


def test_missing_cells_of_frames() -> None:
    columns = {"id": ["a", pd.NA], "references": [["a", "b"], np.nan], "candidates": [None, "x"], "prompt": pd.NaT}
    items = as_items(pd.DataFrame(columns))
    assert items.items == (Item("a", ("a", "b"), {}), Item("2", (), {"candidate": ("x",)}))
    frame = pl.DataFrame({"references": [["a", "b"], None], "candidates": [["x"], None]})
    assert as_items(frame).items == (Item("1", ("a", "b"), {"candidate": ("x",)}), Item("2", (), {}))


def test_a_frame_from_a_file_means_what_the_file_does(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text('id,references,candidates.mle\n7,"[""a"", ""b""]",x\n8,c,"[""y"", ""z""]"\n')
    assert as_items(pd.read_csv(path)).items == as_items(pl.read_csv(path)).items == as_items(path).items


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ([*RECORDS, 3], "item 3: a number (3); wanted an Item, or a dict with 'references' and 'candidates'"),
        (["a"], "item 1: a string; wanted an Item, or a dict with 'references' and 'candidates'"),
        ([object()], "item 1: object; wanted an Item, or a dict with 'references' and 'candidates'"),
        (RECORDS * 2, "item 3: id '3' is also at item 1; wanted one item an id"),
        ([{"references": {"a"}}], "item 1: 'references': set; wanted a list of strings"),
        ([{"references": [b"a"]}], "item 1: 'references': text 1 is bytes; wanted a string"),
        ([{"references": ["a", float("nan")]}], "item 1: 'references': text 2 is a number (nan); wanted a string"),
        ([{"candidates": {3: ["a"]}}], "item 1: a system's name is a number (3); wanted a string"),
        ([{"id": 1.5}], "item 1: the id is a number (1.5); wanted a string or a whole number"),
        ([], "items: no items; wanted 'references' and 'candidates' of at least one"),
        (
            [{"references": "a", "output": "b"}],
            "no candidates in items (fields are 'references', 'output'); wanted a field 'candidates'",
        ),
        ([{"candidates": "a"}], "no references in items (fields are 'candidates'); wanted a field 'references'"),
        ({"a": 1}, "items: an object; wanted a path, a list of items or of dicts, or a data frame"),
        (b"x.jsonl", "items: bytes; wanted a path, a list of items or of dicts, or a data frame"),
        (3, "items: a number (3); wanted a path, a list of items or of dicts, or a data frame"),
        (pl.LazyFrame({"references": ["a"]}), "items: a lazy frame; wanted it collected"),
        (
            pd.DataFrame({"a": [1]}),
            "items: no field 'references'; fields are 'a' (nor are there 'id', 'source' and 'text')",
        ),
        (pd.DataFrame([["a", "b"]], columns=["references"] * 2), "items: 2 fields are called 'references'; wanted one"),
        (
            pl.DataFrame({"references": ["a"], "candidates": [3]}),
            "row 1: candidates of 'candidate': a number (3); wanted a list of strings",
        ),
        (
            pd.DataFrame({"references": ["[a"]}),
            "row 1: 'references': not valid JSON: Expecting value (column 2); "
            "wanted a list of strings where a cell begins with '['",
        ),
        (
            pd.DataFrame({"id": [1], "source": [3], "text": ["a"]}),
            "row 1: no source; wanted 'reference' or the name of a system",
        ),
    ],
)
def test_bad_objects(value: Any, message: str) -> None:
    with pytest.raises(InputError) as raised:
        as_items(value)
    assert str(raised.value) == message


def test_the_name_stands_in_messages() -> None:
    with pytest.raises(InputError, match=r"^p\\x1b: no items; wanted 'references' and 'candidates' of at least one$"):
        as_items([], name="p\x1b")
