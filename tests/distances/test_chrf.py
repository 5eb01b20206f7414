"""chrF pair by pair, with sacrebleu as oracle."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.distances.pairs import caption_table, captions, made, pool, scores_of, table_of
from textassay.distances.base import pooled_scores

TEXTS = st.lists(st.text("ab é😀\t,", max_size=14), min_size=1, max_size=6, unique=True)


def oracle(texts: list[str]) -> list[list[float]]:
    chrf = pytest.importorskip("sacrebleu.metrics").CHRF()
    return [[chrf.sentence_score(one, [other]).score / 100 for other in texts] for one in texts]


def test_captions_score_as_in_sacrebleu(data: Path) -> None:
    table = caption_table(data, "whitespace")
    distance = made("chrf", table)
    for item in captions(data)[:40]:
        texts, numbers = pool(table, item)
        np.testing.assert_allclose(distance.scores(numbers), oracle(texts), atol=1e-12)


@settings(max_examples=100, deadline=None)
@given(texts=TEXTS, tokenizer=st.sampled_from(["whitespace", "words", "char"]))
def test_any_texts_score_as_in_sacrebleu(texts: list[str], tokenizer: str) -> None:
    np.testing.assert_allclose(scores_of("chrf", texts, tokenizer), oracle(texts), atol=1e-12)


def test_texts_with_the_same_characters_are_equal() -> None:
    distance = made("chrf", table_of([["a way", "away", "x", "", " "]]))
    numbers = np.arange(5)
    assert distance.same(numbers).tolist() == [0, 0, 2, 3, 3]
    _, distances = pooled_scores(distance, numbers)
    assert distances[0, 1] == distances[3, 4] == 0.0
    assert distances[3, 0] == distances[2, 3] == 1.0
