"""Inputs of extreme shape finish, or are refused before anything is measured."""

import numpy as np
import pytest

import textassay as ta
from textassay.errors import InputError

VOCABULARY = np.array([f"w{number}" for number in range(2000)])


def long_texts(n: int, words: int, *, vocabulary: int = 2000) -> list[str]:
    rng = np.random.default_rng(n)
    return [" ".join(f"w{word}" for word in rng.integers(0, vocabulary, size=words).tolist()) for _ in range(n)]


def test_items_of_many_words_are_refused_where_time_is_quadratic(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("textassay.studies.conditional.study._MOST_PAIRS", 10**8)
    one, two, three = long_texts(3, 1000)
    items = [{"references": [one, two], "candidates": [three]}] * 12
    wanted = r"items: 1e\+08 pairs of words .* wanted shorter texts, or another distance than rouge_l and edit"
    with pytest.raises(InputError, match=wanted):
        ta.conditional(items, distances="rouge_l,edit", n_resamples=0)
    found = ta.conditional(items[:11], distances="edit", n_resamples=0)
    assert 0 < found["candidate"]["score"].estimate < 1


def test_items_of_many_different_words_are_refused_where_each_takes_a_column() -> None:
    """The bits of the words would take 5 GB."""
    one, two = long_texts(2, 100_000, vocabulary=10**7)
    items = [{"id": "x", "references": [one], "candidates": [two]}]
    with pytest.raises(InputError, match=r"item 'x': 200,000 words, 19\d,\d{3} of them different, which takes more"):
        ta.conditional(items, distances="edit", n_resamples=0)


def test_items_of_fifty_thousand_words_finish_under_chrf() -> None:
    one, two = long_texts(2, 50_000)
    found = ta.conditional([{"references": [one], "candidates": [two]}], distances="chrf", n_resamples=0)
    assert 0 < found["candidate"]["score"].estimate < 1


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["identical", "one word"])
def test_samples_of_many_short_texts_finish(kind: str) -> None:
    rng = np.random.default_rng(0)
    if kind == "identical":
        samples = [["the same text every time"] * 50_000] * 2
    else:
        samples = [rng.choice(VOCABULARY, 50_000).tolist() for _ in range(2)]
    found = ta.compare(*samples, encoder="lsa", n_resamples=99)
    overall = found["candidate"].overall
    assert overall is not None
    assert overall.p_value > 0.01
