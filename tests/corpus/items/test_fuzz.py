"""Whatever bytes come in, the outcome is items or one line."""

import json
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from textassay.corpus.item_files import is_caption
from textassay.corpus.item_set import ItemSet, read_items
from textassay.corpus.printable import printable
from textassay.errors import InputError

MODEST = settings(max_examples=80, deadline=None)

scalars = st.none() | st.booleans() | st.integers(0, 3) | st.floats(allow_nan=False, allow_infinity=False)
names = st.sampled_from(["mle", "gan", "", "\x1b", "candidate"])
values = st.recursive(
    scalars | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(names, inner, max_size=2),
    max_leaves=5,
)
texts = st.lists(st.text(max_size=3), max_size=3) | st.text(max_size=3)
often = texts | values
records = st.lists(
    st.dictionaries(
        st.sampled_from(
            ["references", "reference", "candidates", "candidate", "id", "_id", "prompt", "image_id", "caption"]
        ),
        often,
        max_size=4,
    )
    | st.fixed_dictionaries({"references": texts, "candidates": texts | st.dictionaries(names, texts, max_size=2)})
    | st.fixed_dictionaries({"image_id": st.integers(0, 2), "caption": st.text(max_size=2)}),
    max_size=4,
)
# Near what is wanted, so that reading also gets to its end.
near = st.lists(
    st.fixed_dictionaries(
        {"references": texts, "candidates": texts | st.dictionaries(st.sampled_from(["m", "\x1b"]), texts)},
        optional={"id": st.uuids().map(str)},
    ),
    min_size=1,
    max_size=3,
)
near_candidates = st.lists(
    st.fixed_dictionaries({"id": st.integers(0, 2), "candidate": texts}),
    max_size=3,
    unique_by=lambda record: str(record["id"]),
) | st.lists(st.fixed_dictionaries({"candidates": texts}), min_size=3, max_size=3)
coco = st.fixed_dictionaries({"annotations": records | values}, optional={"images": values | records})


def outcome(folder: Path, names: list[str]) -> ItemSet | None:
    """Reading must end in items or in an error of one printable line; None is the latter."""
    try:
        items = read_items(folder / names[0], candidates=[folder / name for name in names[1:]])
    except InputError as error:
        message = str(error)
        assert message == printable(message)
        return None
    assert len(items) == len({item.id for item in items.items}) > 0
    assert all(note == printable(note) for note in items.notes)
    return items


def has_both_sides(items: ItemSet) -> bool:
    """Some item has a reference and some item a candidate: without either, a file is refused."""
    written = [texts for item in items.items for texts in item.candidates.values()]
    return any(item.references for item in items.items) and any(written)


def dump(document: Any, extension: str) -> bytes:
    if extension == "json" or not isinstance(document, list):
        return json.dumps(document).encode()
    return "".join(json.dumps(record) + "\n" for record in document).encode()


@given(document=near | records | coco | values, extension=st.sampled_from(["json", "jsonl"]))
@MODEST
def test_any_json(document: Any, extension: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / f"x.{extension}").write_bytes(dump(document, extension))
        read = outcome(Path(folder), [f"x.{extension}"])
    assert read is None or has_both_sides(read)


@given(records=near | records.filter(lambda found: not (found and is_caption(found[0]))))
@MODEST
def test_objects_are_read_as_the_file_is(records: list[Any]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "x.jsonl").write_bytes(dump(records, "jsonl"))
        read = outcome(Path(folder), ["x.jsonl"])
    if read is None:
        with pytest.raises(InputError):
            read_items(records)
    else:
        assert read_items(records).items == read.items


REFERENCES = [{"id": number, "references": ["a", "b"]} for number in range(3)]


@given(
    document=near_candidates | records | coco | values,
    extension=st.sampled_from(["json", "jsonl"]),
    numbered=st.booleans(),
)
@MODEST
def test_any_json_as_candidates(document: Any, extension: str, numbered: bool) -> None:
    references = REFERENCES if numbered else [{"references": "a"}] * 3
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "refs.jsonl").write_bytes(dump(references, "jsonl"))
        (Path(folder) / f"sys.{extension}").write_bytes(dump(document, extension))
        items = outcome(Path(folder), ["refs.jsonl", f"sys.{extension}"])
    assert items is None or (len(items) == 3 and items.systems == ("sys",))


FRAGMENTS = [
    b"references,candidates\n",
    b"id,references,candidates.mle,prompt\n",
    b"id,source,text\n",
    b"1,reference,a\n",
    b"1,mle,b\n",
    b"a,b\n",
    b'["a"],b\n',
    b'{"references": ["a"], "candidates": ["b"]}\n',
    b'{"id": 1, "candidates": "b"}\n',
    b"[",
    b"]",
    b"{",
    b",",
    b"\n",
    b"\r\n",
    b"\r",
    b'"',
    b"\t",
    b"\xef\xbb\xbf",
    b"\xff",
    b"\x00",
    b"\\ud800",
]
content = st.binary(max_size=100) | st.lists(st.sampled_from(FRAGMENTS), max_size=8).map(b"".join)


@pytest.mark.parametrize("extension", ["json", "jsonl", "csv", "tsv", "csv.gz", "jsonl.zst", "dat"])
@given(content=content)
@MODEST
def test_any_bytes(extension: str, content: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / f"x.{extension}").write_bytes(content)
        read = outcome(Path(folder), [f"x.{extension}"])
    assert read is None or has_both_sides(read)


@pytest.mark.parametrize("extension", ["json", "jsonl", "csv", "txt", "dat"])
@given(content=content)
@MODEST
def test_any_bytes_as_candidates(extension: str, content: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "refs.jsonl").write_bytes(dump(REFERENCES, "jsonl"))
        (Path(folder) / f"sys.{extension}").write_bytes(content)
        items = outcome(Path(folder), ["refs.jsonl", f"sys.{extension}"])
    assert items is None or (len(items) == 3 and items.systems == ("sys",))
