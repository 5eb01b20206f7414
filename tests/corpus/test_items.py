"""Items come in from JSON lines and JSON lists, and a bad one is refused by its place."""

import gzip
import json
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from textassay.corpus.errors import InputError
from textassay.corpus.items import Item, ItemSet, read_items
from textassay.corpus.printable import printable

RECORDS: list[dict[str, Any]] = [
    {"id": "a", "prompt": "say cat", "references": ["a cat", "the cat"], "candidates": {"mle": ["cat"], "gan": "dog"}},
    {"references": "one cat", "candidates": {"mle": ["cat", "cats"], "gan": ["cat"]}, "split": "validate"},
]
ITEMS = (
    Item("a", ("a cat", "the cat"), {"mle": ("cat",), "gan": ("dog",)}, "say cat"),
    Item("2", ("one cat",), {"mle": ("cat", "cats"), "gan": ("cat",)}),
)


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write_lines(name: str, records: list[Any]) -> str:
    Path(name).write_text("".join(json.dumps(record) + "\n" for record in records))
    return name


def test_lines_list_and_packed_are_the_same() -> None:
    lines = read_items(write_lines("pets.jsonl", RECORDS))
    Path("pets.json").write_text("\ufeff" + json.dumps(RECORDS, indent=1), encoding="utf-8")
    Path("pets.ndjson.gz").write_bytes(gzip.compress(Path("pets.jsonl").read_bytes()))
    assert lines.items == read_items("pets.json").items == read_items(Path("pets.ndjson.gz")).items == ITEMS
    assert lines.digest == read_items("pets.json").digest
    assert (lines.name, lines.notes, len(lines), lines.systems) == ("pets", (), 2, ("mle", "gan"))
    assert read_items("pets.json").notes == ("byte order mark removed",)
    assert read_items("pets.json", name="zoo").name == "zoo"


def test_the_form_of_the_caption_data() -> None:
    record = {
        "_id": 404464,
        "split": "validate",
        "candidates": ["black and white photo of a man"],
        "media_path": "COCO_val2014_000000404464.jpg",
        "references": [" Persons skating in the rink.", "A snowboard sliding very gently."],
    }
    Path("coco.json").write_text(json.dumps([record]))
    (item,) = read_items("coco.json").items
    assert item.id == "404464"
    assert item.references == tuple(record["references"])  # type: ignore[arg-type]
    assert item.candidates == {"candidate": ("black and white photo of a man",)}
    assert item.prompt is None


@pytest.mark.parametrize(
    "change",
    [
        {"id": "b"},
        {"references": ["a cat the cat"]},
        {"prompt": None},
        {"candidates": {"mle": ["cat"], "gam": "dog"}},
        {"candidates": {"mle": ["cat", "dog"], "gan": []}},
    ],
)
def test_the_digest_tells_items_apart(change: dict[str, Any]) -> None:
    fields: dict[str, Any] = {
        "id": "a",
        "references": ("a cat", "the cat"),
        "candidates": {"mle": ("cat",), "gan": ("dog",)},
        "prompt": "say cat",
    }
    assert ItemSet.of([Item(**fields)]).digest != ItemSet.of([Item(**{**fields, **change})]).digest
    assert ItemSet.of([Item(**fields)]).digest == ItemSet.of([ITEMS[0]], name="other").digest


def test_what_is_odd_is_noted_and_kept() -> None:
    records = [
        {"references": ["a", " "], "candidates": {"mle": ["", "b"], "gan": ["c"]}},
        {"references": ["a"], "candidates": {"mle": [" "]}},
    ]
    Path("x.jsonl").write_text("\n\n".join(json.dumps(record) for record in records))
    items = read_items("x.jsonl")
    assert items.items[0].candidates["mle"] == ("", "b")
    assert items.notes == (
        "x.jsonl: 1 blank line left out",
        "2 blank candidates kept",
        "1 blank reference kept",
        "'gan' has candidates for 1 of 2 items",
    )


def test_duplicate_ids_name_both_lines() -> None:
    records = [{**RECORDS[1], "id": number} for number in (3, 4, "3")]
    write_lines("x.jsonl", records)
    with pytest.raises(InputError, match=r"^x.jsonl:3: id '3' is also at x.jsonl:1; wanted one item an id$"):
        read_items("x.jsonl")
    Path("x.json").write_text(json.dumps(records))
    with pytest.raises(InputError, match=r"^x.json: item 3: id '3' is also at x.json: item 1; wanted one item an id$"):
        read_items("x.json")


GOOD = {"references": ["a"], "candidates": ["b"]}


@pytest.mark.parametrize(
    ("record", "problem"),
    [
        ({"references": ["a"], "output": 1}, "no field 'candidates'; fields are 'references', 'output'"),
        ({"candidates": ["a"]}, "no field 'references'; fields are 'candidates'"),
        (["a"], "an array; wanted an object with 'references' and 'candidates'"),
        ({**GOOD, "references": []}, "'references': an empty list; wanted at least one text"),
        ({**GOOD, "references": 3}, "'references': a number (3); wanted a list of strings"),
        ({**GOOD, "references": ["a", None]}, "'references': text 2 is null; wanted a string"),
        ({**GOOD, "candidates": {}}, "'candidates' names no system; wanted at least one"),
        ({**GOOD, "candidates": {"mle": []}}, "candidates of 'mle': an empty list; wanted at least one text"),
        ({**GOOD, "candidates": {"mle": {"a": 1}}}, "candidates of 'mle': an object; wanted a list of strings"),
        ({**GOOD, "prompt": 3}, "'prompt' is a number (3); wanted a string"),
        ({**GOOD, "id": 1.5}, "the id is a number (1.5); wanted a string or a whole number"),
        ({**GOOD, "id": True}, "the id is a boolean; wanted a string or a whole number"),
        (
            {**GOOD, "references": ["\ud800"]},
            "'references': text 1: the text holds half a surrogate pair (\\ud800); wanted whole characters",
        ),
    ],
)
def test_bad_items_are_refused_by_their_line(record: Any, problem: str) -> None:
    write_lines("x.jsonl", [GOOD, record])
    with pytest.raises(InputError) as raised:
        read_items("x.jsonl")
    assert str(raised.value) == f"x.jsonl:2: {problem}"


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("x.jsonl", "", "x.jsonl: no items; wanted objects with 'references' and 'candidates'"),
        ("x.json", "[]", "x.json: no items; wanted objects with 'references' and 'candidates'"),
        ("x.json", "", "x.json: no items; wanted objects with 'references' and 'candidates'"),
        ("x.json", "{}", "x.json: an object; wanted a list of objects"),
        (
            "x.json",
            "[\n{]",
            "x.json: not valid JSON: Expecting property name enclosed in double quotes (line 2, column 2)",
        ),
        ("x.jsonl", "\n{\n", "x.jsonl:2: not valid JSON: Expecting property name enclosed in double quotes (column 2)"),
        ("x.csv", "a", "x.csv: not JSON by its name; wanted items as .jsonl or .json"),
        ("x.txt", "a", "x.txt: not JSON by its name; wanted items as .jsonl or .json"),
    ],
)
def test_bad_files(name: str, content: str, message: str) -> None:
    Path(name).write_text(content)
    with pytest.raises(InputError) as raised:
        read_items(name)
    assert str(raised.value) == message


def test_missing_file() -> None:
    with pytest.raises(InputError, match=r"^x.jsonl: no such file$"):
        read_items("x.jsonl")


values = st.recursive(
    st.none() | st.booleans() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(["mle", "gan", "\x1b"]), inner, max_size=2)
    ),
    max_leaves=5,
)
records = st.lists(
    st.fixed_dictionaries({"references": values, "candidates": values}, optional={"id": values, "prompt": values})
)


@given(records=records, extension=st.sampled_from(["json", "jsonl"]))
@settings(max_examples=60, deadline=None)
def test_any_json_gives_items_or_one_line(records: list[Any], extension: str) -> None:
    content = json.dumps(records) if extension == "json" else "".join(json.dumps(record) + "\n" for record in records)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"x.{extension}"
        path.write_text(content)
        try:
            items = read_items(path)
        except InputError as error:
            message = str(error)
            assert message == printable(message)
        else:
            assert len(items) == len({item.id for item in items.items}) == len(records)
