"""ROUGE-L pair by pair, with the COCO caption evaluation as oracle, and common subsequences against the textbook."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.distances.pairs import caption_table, captions, made, pool, scores_of
from textassay.distances.packed_texts import PackedTexts

WORDS = st.lists(st.lists(st.integers(0, 3), max_size=12), max_size=6)


def test_captions_score_as_in_the_oracle(data: Path) -> None:
    oracle = pytest.importorskip("pycocoevalcap.rouge.rouge").Rouge()
    table = caption_table(data)
    distance = made("rouge_l", table)
    pairs = 0
    for item in captions(data)[:200]:
        _, numbers = pool(table, item)
        texts = [" ".join(table.words(number)) for number in numbers]
        wanted = [[oracle.calc_score([one], [other]) for other in texts] for one in texts]
        np.testing.assert_allclose(distance.scores(numbers), wanted, atol=1e-12)
        pairs += len(texts) ** 2
    assert pairs > 5000


def common(one: list[int], other: list[int]) -> int:
    """The textbook algorithm."""
    row = [0] * (len(other) + 1)
    for word in one:
        before, row = row, [0]
        for place, another in enumerate(other):
            row.append(before[place] + 1 if word == another else max(row[-1], before[place + 1]))
    return row[-1]


@settings(max_examples=200, deadline=None)
@given(texts=WORDS)
def test_common_subsequences_are_those_of_the_textbook(texts: list[list[int]]) -> None:
    wanted = [[common(one, other) for other in texts] for one in texts]
    assert PackedTexts.of(texts).common_subsequences().tolist() == wanted


def test_long_texts() -> None:
    rng = np.random.default_rng(0)
    texts = [rng.integers(0, 5, size=n).tolist() for n in (300, 1, 130, 64)]
    wanted = [[common(one, other) for other in texts] for one in texts]
    assert PackedTexts.of(texts).common_subsequences().tolist() == wanted


def test_recall_has_more_weight_and_empty_texts_match_each_other() -> None:
    scores = scores_of("rouge_l", ["a b c d", "a b", "", " "])
    precise, complete = scores[1, 0], scores[0, 1]
    assert precise == pytest.approx(2.44 * 0.5 / (0.5 + 1.44))
    assert complete == pytest.approx(2.44 * 0.5 / (1 + 1.44 * 0.5))
    assert precise < complete
    assert scores[2, 3] == 1.0
    assert not scores[:2, 2:].any()
    assert not scores[2:, :2].any()
