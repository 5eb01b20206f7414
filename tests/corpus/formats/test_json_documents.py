"""JSON documents in parts: whatever the cuts and the window, the values of the document, none twice."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.corpus.formats.examples import EXAMPLES
from textassay.corpus.files.reading import Budget
from textassay.corpus.formats import json_documents
from textassay.corpus.formats.json_documents import document_parts
from textassay.corpus.formats.recognise import FORMATS, recognise
from textassay.corpus.readers import read_sample
from textassay.corpus.values import decode_json
from textassay.errors import InputError

SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
KEYS = st.sampled_from(["a", "b", "rows", "é\n"])
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=6) | st.dictionaries(KEYS, inner, max_size=4), max_leaves=30
)


def pieces(text: str, size: int) -> Iterator[str]:
    return iter([text[start : start + size] for start in range(0, len(text), size)])


def parts_of(text: str, size: int, window: int, lists: frozenset[tuple[str, ...]] = frozenset()) -> list[Any]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(json_documents, "WINDOW", window)
        found = document_parts(
            pieces(text, size), "x.json", Budget.of_input(), lists=lists, has_list=lambda _, path: path in lists
        )
        return list(found)


@given(VALUES, st.integers(1, 40), st.integers(1, 60), st.sampled_from([None, 1]))
def test_a_document_is_the_same_in_any_pieces(value: Any, size: int, window: int, indent: int | None) -> None:
    found = parts_of(json.dumps(value, indent=indent), size, window)
    if isinstance(value, list):
        assert [one for part in found for one in part] == value
        assert all(found) or found == [[]]
    else:
        assert found == [value]


@given(
    st.lists(st.dictionaries(KEYS, SCALARS, max_size=3), max_size=12),
    st.dictionaries(st.sampled_from(["x", "y"]), VALUES, max_size=2),
    st.dictionaries(st.sampled_from(["u", "v"]), VALUES, max_size=2),
    st.integers(1, 40),
    st.integers(1, 60),
)
def test_no_record_is_in_two_parts(
    rows: list[Any], before: dict[str, Any], after: dict[str, Any], size: int, window: int
) -> None:
    document = {**before, "in": {"rows": rows, "more": [1, 2]}, **after}
    found = parts_of(json.dumps(document), size, window, frozenset({("in", "rows")}))
    assert [row for part in found for row in part["in"].get("rows", ())] == rows
    assert {key: found[-1][key] for key in after} == after
    # What stands before the records is with every part of them.
    assert all(part[key] == value for part in found for key, value in before.items())
    if not all(part["in"].get("rows") for part in found):
        assert len(found) == 1
        assert not rows


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[1, 2",
        "[1,, 2]",
        "[1, 2,]",
        '{"a": 1,}',
        '{"a": 1 "b": 2}',
        '{"a": 1, "a": 2}',
        '{"a" 1}',
        "{1: 2}",
        '["a\nb"]',
        '["\\x"]',
        "[nul]",
        '{"a": 1} {"a": 2}',
        '{"a": [1,\n2],\n"b": ]}',
        "[" * 100_000,
        "[1]]",
    ],
)
@pytest.mark.parametrize("window", [1, 10, 10_000])
def test_what_is_no_json_is_the_same_line_in_any_window(text: str, window: int) -> None:
    if not text:
        assert parts_of(text, 3, window) == []
        return
    with pytest.raises(InputError) as whole:
        decode_json(text, "x.json")
    with pytest.raises(InputError, match=r"x\.json: not valid JSON: ") as caught:
        parts_of(text, 3, window)
    assert "\n" not in str(caught.value)
    if window == 10_000 and len(text) < 100:
        assert str(caught.value).partition("; the file ends")[0] == str(whole.value)


def test_documents_on_lines_of_their_own_follow_each_other() -> None:
    assert parts_of('{"a": 1}\n{"a": 2}\n', 3, 4) == [{"a": 1}, {"a": 2}]
    with pytest.raises(InputError, match=r"Extra data \(line 2, column 3\)"):
        parts_of('{"a":\n1}{"a": 2}', 3, 4)


LISTS = {
    name: example
    for name, example in EXAMPLES.items()
    if len(example.records) == 1 and (form := recognise(example.records[0])) is not None and form.lists
}


def test_every_format_with_a_list_has_an_example() -> None:
    found = {recognise(example.records[0]) for example in LISTS.values()}
    assert {form.name for form in FORMATS if form.lists} == {form.name for form in found if form is not None}


@pytest.mark.parametrize("name", LISTS)
def test_the_records_of_a_format_are_the_same_in_parts(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "x.json"
    path.write_text(json.dumps(LISTS[name].records[0]), encoding="utf-8")
    whole = read_sample(path)
    monkeypatch.setattr(json_documents, "WINDOW", 1)
    parted = read_sample(path)
    assert parted == whole
    assert parted.notes == whole.notes
    assert parted.contexts == whole.contexts
    assert parted.ids == whole.ids
