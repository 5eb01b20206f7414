"""Items come in from JSON lines and JSON lists, and a bad one is refused by its place."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from textassay.corpus.item_set import Item, ItemSet, read_items
from textassay.errors import InputError

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
    notes = ("1 of 2 items has one reference", "candidates per item: 'mle' 1 to 2, 'gan' 1")
    assert (lines.name, lines.notes, len(lines), lines.systems) == ("pets", notes, 2, ("mle", "gan"))
    assert read_items("pets.json").notes == ("byte order mark removed", *notes)
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


def test_singular_fields_are_the_same() -> None:
    plural = read_items(write_lines("x.jsonl", [{"references": ["a", "b"], "candidates": ["c"]}]))
    singular = read_items(write_lines("y.jsonl", [{"reference": ["a", "b"], "candidate": "c"}]))
    assert plural.items == singular.items == (Item("1", ("a", "b"), {"candidate": ("c",)}),)


def test_line_breaks_of_windows_and_blank_ids() -> None:
    lines = [json.dumps({**record, "id": ""}) for record in RECORDS]
    Path("x.jsonl").write_bytes("\r\n".join(lines).encode() + b"\r\n")
    assert [item.id for item in read_items("x.jsonl").items] == ["1", "2"]


def test_duplicate_ids_name_both_lines() -> None:
    records = [{**RECORDS[1], "id": number} for number in (3, 4, "3")]
    write_lines("x.jsonl", records)
    with pytest.raises(InputError, match=r"^x.jsonl:3: id '3' is also at x.jsonl:1; wanted one item per id$"):
        read_items("x.jsonl")
    Path("x.json").write_text(json.dumps(records))
    with pytest.raises(
        InputError, match=r"^x.json: record 3: id '3' is also at x.json: record 1; wanted one item per id$"
    ):
        read_items("x.json")


def test_an_id_that_is_the_number_of_another_item() -> None:
    write_lines("x.jsonl", [{**RECORDS[1], "id": "2"}, RECORDS[1]])
    with pytest.raises(InputError, match=r"^x.jsonl:2: id '2' is also at x.jsonl:1; wanted one item per id$"):
        read_items("x.jsonl")


def test_hostile_ids_cannot_steer_the_terminal() -> None:
    write_lines("x.jsonl", [{**RECORDS[1], "id": "\x1b[2J\nid"}] * 2)
    with pytest.raises(InputError) as raised:
        read_items("x.jsonl")
    assert str(raised.value) == r"x.jsonl:2: id '\x1b[2J\nid' is also at x.jsonl:1; wanted one item per id"


GOOD = {"references": ["a"], "candidates": ["b"]}


@pytest.mark.parametrize(
    ("record", "problem"),
    [
        (["a"], "an array; wanted an object with 'references' and 'candidates'"),
        ({**GOOD, "references": 3}, "'references': a number (3); wanted a list of strings"),
        ({"reference": False}, "'reference': a boolean; wanted a list of strings"),
        ({**GOOD, "reference": "a"}, "both 'references' and 'reference'; wanted one of them"),
        ({**GOOD, "candidate": "a"}, "both 'candidates' and 'candidate'; wanted one of them"),
        ({**GOOD, "references": ["a", None]}, "'references': text 2 is null; wanted a string"),
        ({**GOOD, "candidates": [["a"]]}, "'candidates': text 1 is an array; wanted a string"),
        ({**GOOD, "candidates": {"mle": {"a": 1}}}, "candidates of 'mle': an object; wanted a list of strings"),
        ({**GOOD, "candidates": {"m\x1b": 1.5}}, "candidates of 'm\\x1b': a number (1.5); wanted a list of strings"),
        ({**GOOD, "candidates": {" ": ["a"]}}, "a system's name is blank; wanted a name"),
        (
            {**GOOD, "candidates": {"\udc80": ["a"]}},
            "a system's name: the text holds half a surrogate pair (\\udc80); wanted whole characters",
        ),
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


NO_ITEMS = "no items; wanted 'references' and 'candidates' of at least one"
NOT_ITEMS = "lines of text have no fields; wanted .jsonl, .json, .csv, .tsv or .parquet"
NOT_PARQUET = (
    "cannot be read, damaged or not what its name says: "
    "Parquet file size is 1 bytes, smaller than the minimum file footer (8 bytes)"
)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("x.jsonl", "", f"x.jsonl: {NO_ITEMS}"),
        ("x.jsonl", "\n \n", f"x.jsonl: {NO_ITEMS}"),
        ("x.json", "[]", f"x.json: {NO_ITEMS}"),
        ("x.json", "", f"x.json: {NO_ITEMS}"),
        ("x.json", "{}", "no references in x.json; wanted a field 'references'"),
        (
            "x.json",
            "[\n{]",
            "x.json: not valid JSON: Expecting property name enclosed in double quotes (line 2, column 2)",
        ),
        ("x.jsonl", "\n{\n", "x.jsonl:2: not valid JSON: Expecting property name enclosed in double quotes (column 2)"),
        ("x.parquet", "a", f"x.parquet: {NOT_PARQUET}"),
        ("x.txt", "a", f"x.txt: {NOT_ITEMS}"),
        (
            "x.jsonl",
            '{"references": ["a"], "output": "b"}',
            "no candidates in x.jsonl (fields are 'references', 'output'); "
            "wanted a field 'candidates', or further files with candidates",
        ),
        (
            "x.jsonl",
            '{"references": ["a"], "candidates": {"mle": []}}',
            "no candidates in x.jsonl (fields are 'references', 'candidates'); "
            "wanted a field 'candidates', or further files with candidates",
        ),
        (
            "x.json",
            '[{"candidates": "b"}]',
            "no references in x.json (fields are 'candidates'); wanted a field 'references'",
        ),
        ("x.json", "[{}]", "no references in x.json; wanted a field 'references'"),
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


def test_the_caption_sample(data: Path) -> None:
    items = read_items(data / "captions" / "coco_val_sample.json")
    assert (len(items), items.systems, items.notes) == (1000, ("candidate",), ())
    assert {len(item.references) for item in items.items} == {5, 6}
    assert {len(item.candidates["candidate"]) for item in items.items} == {1}
    assert (items.items[0].id, items.items[0].prompt) == ("404464", None)
