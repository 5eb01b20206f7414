"""BLEU pair by pair, with NLTK as oracle."""

import warnings
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.distances.pairs import caption_table, captions, made, pool, scores_of

bleu_score = pytest.importorskip("nltk.translate.bleu_score")
TEXTS = st.lists(st.lists(st.sampled_from("abcd"), max_size=9).map(" ".join), min_size=1, max_size=6, unique=True)


def oracle(hypothesis: list[str], reference: list[str]) -> float:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        smoothed = bleu_score.SmoothingFunction(epsilon=0.1).method1
        return float(bleu_score.sentence_bleu([reference], hypothesis, smoothing_function=smoothed))


def test_captions_score_as_in_nltk(data: Path) -> None:
    table = caption_table(data)
    distance = made("bleu", table)
    for item in captions(data)[:150]:
        _, numbers = pool(table, item)
        words = [table.words(number) for number in numbers]
        wanted = [[oracle(one, other) for other in words] for one in words]
        np.testing.assert_allclose(distance.scores(numbers), wanted, atol=1e-12)


@settings(max_examples=100, deadline=None)
@given(texts=TEXTS)
def test_any_texts_score_as_in_nltk(texts: list[str]) -> None:
    wanted = [[oracle(one.split(), other.split()) for other in texts] for one in texts]
    np.testing.assert_allclose(scores_of("bleu", texts), wanted, atol=1e-12)


def test_short_texts_score_below_one_against_themselves() -> None:
    scores = scores_of("bleu", ["a cat", "a cat sat down", ""])
    assert scores[0, 0] == pytest.approx(0.1**0.5)
    assert scores[1, 1] == 1.0
    assert not scores[2].any()
    assert not scores[:, 2].any()
