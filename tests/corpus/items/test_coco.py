"""Caption annotations of COCO are references by image, and caption results are candidates by image."""

import json
from pathlib import Path
from typing import Any

import pytest

from textassay.corpus.item_set import Item, read_items
from textassay.errors import InputError

ANNOTATIONS: list[dict[str, Any]] = [
    {"id": 1, "image_id": 42, "caption": "a cat"},
    {"id": 2, "image_id": 7, "caption": "a dog"},
    {"id": 3, "image_id": 42, "caption": "the cat"},
]
RESULTS = [{"image_id": 7, "caption": "dog"}, {"image_id": "42", "caption": "cat"}, {"image_id": 7, "caption": "dogs"}]


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(name: str, document: Any) -> str:
    Path(name).write_text(json.dumps(document))
    return name


def test_annotations_and_results() -> None:
    items = read_items(write("val.json", {"annotations": ANNOTATIONS}), candidates=[write("mle.json", RESULTS)])
    assert items.items == (
        Item("42", ("a cat", "the cat"), {"mle": ("cat",)}),
        Item("7", ("a dog",), {"mle": ("dog", "dogs")}),
    )
    assert items.notes == ("1 of 2 items has one reference", "'mle' has 1 to 2 candidates per item")


def test_images_give_the_order_and_those_without_captions() -> None:
    write("val.json", {"info": {}, "images": [{"id": 7}, {"id": 8}], "annotations": ANNOTATIONS})
    Path("mle.jsonl").write_text("".join(json.dumps(result) + "\n" for result in RESULTS))
    items = read_items("val.json", candidates=["mle.jsonl"])
    assert [(item.id, item.references) for item in items.items] == [
        ("7", ("a dog",)),
        ("8", ()),
        ("42", ("a cat", "the cat")),
    ]
    assert items.notes[:2] == ("1 of 3 items has no candidates", "1 of 3 items has no reference")


def test_candidates_may_be_annotations_too() -> None:
    write("val.json", {"images": [{"id": 1}], "annotations": ANNOTATIONS})
    items = read_items("val.json", candidates={"same": "val.json"})
    assert [item.candidates for item in items.items] == [{}, {"same": ("a cat", "the cat")}, {"same": ("a dog",)}]


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ({"annotations": 3}, "val.json: 'annotations' is a number (3); wanted a list of objects"),
        ({"annotations": []}, "val.json: no items; wanted 'references' and 'candidates' of at least one"),
        ({"annotations": None}, "val.json: no items; wanted 'references' and 'candidates' of at least one"),
        ({"annotations": [], "images": {"id": 3}}, "val.json: 'images' is an object; wanted a list of objects"),
        ({"annotations": [], "images": [{"id": 3}]}, "no references in val.json; wanted a field 'references'"),
        ({"annotations": [], "images": [3]}, "val.json: image 1: a number (3); wanted an object with 'id'"),
        ({"annotations": ["a"]}, "val.json: annotation 1: a string; wanted an object with 'image_id'"),
        ({"annotations": [{"id": 1}]}, "val.json: annotation 1: no field 'image_id'; fields are 'id'"),
        (
            {"annotations": [*ANNOTATIONS, {"image_id": 1, "bbox": []}]},
            "val.json: annotation 4: no field 'caption'; fields are 'image_id', 'bbox'",
        ),
        (
            {"annotations": [{"image_id": 1, "caption": None}]},
            "val.json: annotation 1: 'caption' is null; wanted a string",
        ),
        (
            {"annotations": [{"image_id": None, "caption": "a"}]},
            "val.json: annotation 1: 'image_id' is null or blank; wanted a string or a whole number",
        ),
        (
            {"annotations": [{"image_id": 1.5, "caption": "a"}]},
            "val.json: annotation 1: the id is a number (1.5); wanted a string or a whole number",
        ),
        (
            {"annotations": [{"image_id": 1, "caption": "\ud800"}]},
            "val.json: annotation 1: 'caption': the text holds half a surrogate pair (\\ud800); "
            "wanted whole characters",
        ),
        (
            {"annotations": ANNOTATIONS},
            "no candidates in val.json; wanted a field 'candidates', or further files with candidates",
        ),
        (RESULTS, "val.json: a list of COCO captions has no references; wanted references first"),
    ],
)
def test_bad_annotations(document: Any, message: str) -> None:
    with pytest.raises(InputError) as raised:
        read_items(write("val.json", document))
    assert str(raised.value) == message


def test_a_result_of_an_image_that_is_not_there() -> None:
    write("val.json", {"annotations": ANNOTATIONS})
    write("mle.json", [*RESULTS, {"image_id": 9, "caption": "bird"}, {"image_id": 9, "caption": "birds"}])
    with pytest.raises(InputError, match=r"^mle.json: 1 id is not in val.json: '9'; wanted ids it has$"):
        read_items("val.json", candidates=["mle.json"])
