"""BLEU pair by pair, with NLTK as oracle."""

import warnings
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.distances.pairs import caption_table, captions, made, pool, scores_of
from textassay import InputError, Item, conditional
from textassay import metrics as ta_metrics

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


@settings(max_examples=60, deadline=None)
@given(texts=TEXTS)
def test_without_smoothing_it_is_nltks_plain_bleu(texts: list[str]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        wanted = [[bleu_score.sentence_bleu([other.split()], one.split()) for other in texts] for one in texts]
    # NLTK multiplies by the smallest number instead of 0.
    np.testing.assert_allclose(scores_of("bleu smoothing=none", texts), np.where(np.array(wanted) < 1e-50, 0, wanted))


def test_smoothing_is_an_option_of_the_distance() -> None:
    """Alone and jointly, in a specification, as a distance, and in the signature."""
    references = ["a man rides a brown horse on the sand", "the man is riding a horse", "a rider on a horse"]
    candidates = ["a man rides a horse", "the horse is on a brown man"]
    items = [Item(str(place), tuple(references), {"s": tuple(candidates)}) for place in range(2)]
    metrics = ["score:distance=bleu:smoothing=none:over=joint", "score:distance=bleu:over=joint", "trm:distance=bleu"]
    plain, smoothed, _ = conditional(items, metrics=metrics, n_resamples=0).systems[0].results
    words = [text.split() for text in references]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        wanted = np.mean([bleu_score.sentence_bleu(words, candidate.split()) for candidate in candidates])
    assert plain.estimate == pytest.approx(wanted)
    assert plain.estimate < smoothed.estimate
    assert "dist:bleu/smoothing=none" in plain.signature
    assert "smoothing" not in smoothed.signature
    chosen = conditional(items, distances="bleu:smoothing=none", metrics="score:over=joint", n_resamples=0)
    assert chosen.systems[0].results[0].estimate == plain.estimate
    alone = ta_metrics.score(candidates, references, distance="bleu:smoothing=none", over="joint", n_resamples=0)
    assert alone.estimate == plain.estimate
    for wrong in ("score:distance=bleu:smoothing=most", "score:distance=edit:smoothing=none"):
        with pytest.raises(InputError, match="smoothing"):
            conditional(items, metrics=[wrong])


def test_short_texts_score_below_one_against_themselves() -> None:
    scores = scores_of("bleu", ["a cat", "a cat sat down", ""])
    assert scores[0, 0] == pytest.approx(0.1**0.5)
    assert scores[1, 1] == 1.0
    assert not scores[2].any()
    assert not scores[:, 2].any()
