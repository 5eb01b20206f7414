"""What is odd about items is kept and noted: missing and blank texts, unequal numbers of candidates."""

import json
from pathlib import Path
from typing import Any

import pytest

from textassay.corpus.item_set import Item, ItemSet, read_items


def test_what_is_odd_is_noted_and_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    records = [
        {"references": ["a", " "], "candidates": {"mle": ["", "b"], "gan": ["c"]}},
        {"references": ["a"], "candidates": {"mle": [" "]}},
    ]
    Path("x.jsonl").write_text("\n\n".join(json.dumps(record) for record in records))
    items = read_items("x.jsonl")
    assert items.items[0].candidates["mle"] == ("", "b")
    assert items.notes == (
        "x.jsonl: 1 blank line left out",
        "1 of 2 items has one reference",
        "2 blank candidates kept",
        "1 blank reference kept",
        "'gan' has candidates for 1 of 2 items",
        "candidates per item: 'mle' 1 to 2, 'gan' 1",
    )


def test_nothing_is_no_error_but_a_note(tmp_path: Path) -> None:
    records: list[dict[str, Any]] = [
        {"references": ["a", "b"], "candidates": {"mle": ["c"]}},
        {"references": ["a", "b"]},
        {"references": ["a"], "candidates": None},
        {"references": [], "candidates": []},
        {"references": None, "candidates": {}},
        {"candidates": {"mle": None}},
    ]
    path = tmp_path / "x.json"
    path.write_text(json.dumps(records))
    items = read_items(path)
    assert [item.candidates for item in items.items] == [{"mle": ("c",)}, {}, {}, {}, {}, {"mle": ()}]
    assert [len(item.references) for item in items.items] == [2, 2, 1, 0, 0, 0]
    assert items.systems == ("mle",)
    assert items.notes == (
        "5 of 6 items have no candidates",
        "3 of 6 items have no reference",
        "1 of 6 items has one reference",
    )


@pytest.mark.parametrize(
    ("sizes", "notes"),
    [
        ([{"vlp": 2}, {"vlp": 2}], ()),
        ([{"vlp": 5}, {"vlp": 10}, {"vlp": 7}], ("'vlp' has 5 to 10 candidates per item",)),
        ([{"vlp": 1, "mle": 3}, {"vlp": 3, "mle": 1}], ("each system has 1 to 3 candidates per item",)),
        ([{"vlp": 2, "mle": 3}, {"vlp": 2, "mle": 3}], ("candidates per item: 'vlp' 2, 'mle' 3",)),
        ([{"vlp": 2, "mle": 0}, {"vlp": 2, "mle": 0}], ("'mle' has candidates for 0 of 2 items",)),
        (
            [{f"s{number}": number + 1 for number in range(14)}],
            (
                "candidates per item: 's0' 1, 's1' 2, 's2' 3, 's3' 4, 's4' 5, 's5' 6, 's6' 7, 's7' 8, 's8' 9, 's9' 10, "
                "'s10' 11, 's11' 12 and 2 more systems",
            ),
        ),
    ],
)
def test_unequal_numbers_of_candidates(sizes: list[dict[str, int]], notes: tuple[str, ...]) -> None:
    items = [
        Item(str(place), ("a", "b"), {system: ("c",) * count for system, count in row.items()})
        for place, row in enumerate(sizes)
    ]
    assert ItemSet.of(items).notes == notes
