"""Edit distances against the textbook algorithm."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.distances.pairs import scores_of
from textassay import InputError, conditional
from textassay.distances.packed_texts import PackedTexts

WORDS = st.lists(st.lists(st.integers(0, 3), max_size=12), max_size=6)


def edits(one: list[int], other: list[int]) -> int:
    """The textbook algorithm."""
    row = list(range(len(other) + 1))
    for number, word in enumerate(one, 1):
        before, row = row, [number]
        for place, another in enumerate(other):
            row.append(min(before[place] + (word != another), before[place + 1] + 1, row[-1] + 1))
    return row[-1]


@settings(max_examples=300, deadline=None)
@given(texts=WORDS)
def test_edit_distances_are_those_of_the_textbook(texts: list[list[int]]) -> None:
    assert PackedTexts.of(texts).edit_distances().tolist() == [[edits(one, other) for other in texts] for one in texts]


def test_long_texts() -> None:
    rng = np.random.default_rng(0)
    texts = [rng.integers(0, 5, size=n).tolist() for n in (300, 1, 130, 64, 0)]
    assert PackedTexts.of(texts).edit_distances().tolist() == [[edits(one, other) for other in texts] for one in texts]


def test_scores_are_shares_of_the_longer_text() -> None:
    scores = scores_of("edit", ["a cat sat", "the cat sat down", "", " ", "x"])
    assert scores[0, 1] == scores[1, 0] == 0.5
    assert scores[0, 2] == scores[4, 0] == 0.0
    assert scores[2, 3] == 1.0


def test_items_of_very_many_words_are_refused_at_once() -> None:
    long = "a b " * 25_000
    with pytest.raises(InputError, match=r"edit distance among \d texts with 1\d\d,\d+ words; wanted at most 100,000"):
        conditional([{"references": [long, f"c {long}"], "candidates": [f"d {long}"]}], distances="edit", n_resamples=0)
