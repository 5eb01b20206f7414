"""Exact expectations on the small space against sums over all texts, and lower bounds by optimisation."""

import numpy as np
import pytest
from nltk.translate.bleu_score import corpus_bleu as nltk_corpus_bleu

from textassay.studies.frontier.small_space import (
    all_texts,
    bleu_pair,
    bleu_tensor,
    coverage_pair,
    lower_bound,
    ngram_counts,
    oracle_distribution,
    starting_points,
)


def test_all_texts_are_there_once() -> None:
    texts = all_texts()
    assert texts.shape == (64, 3)
    assert len(np.unique(texts, axis=0)) == 64


@pytest.mark.parametrize("sigma", [0.5, 1.0, 2.0])
def test_the_oracle_is_a_distribution_that_is_sharper_with_larger_weights(sigma: float) -> None:
    p = oracle_distribution(sigma, 0)
    assert p.sum() == pytest.approx(1.0, abs=1e-12)
    assert (p > 0).all()
    flatter = oracle_distribution(sigma / 4, 0)
    assert -(p * np.log(p)).sum() < -(flatter * np.log(flatter)).sum()
    np.testing.assert_array_equal(p, oracle_distribution(sigma, 0))


@pytest.mark.parametrize("n", [1, 2, 3])
def test_bleu_of_one_text_against_two_is_that_of_nltk(n: int) -> None:
    texts, tensor = all_texts(), bleu_tensor(all_texts(), n)
    for c, r, s in np.random.default_rng(n).integers(64, size=(60, 3)).tolist():
        if tensor[c, r, s] == 0:
            counts = [ngram_counts(texts, order) for order in range(1, n + 1)]
            assert any(not np.minimum(one[c], np.maximum(one[r], one[s])).any() for one in counts)
            continue
        words = [[str(word) for word in texts[place]] for place in (c, r, s)]
        expected = nltk_corpus_bleu([[words[1], words[2]]], [words[0]], weights=[1 / n] * n)
        assert tensor[c, r, s] == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("n", [1, 2, 3])
def test_expected_bleu_is_the_sum_over_all_triples(n: int) -> None:
    rng = np.random.default_rng(0)
    real, q = rng.dirichlet(np.ones(64), 2)
    tensor, pair = bleu_tensor(all_texts(), n), bleu_pair(real, n)
    quality = sum(q[c] * real[r] * real[s] * tensor[c, r, s] for c in range(64) for r in range(64) for s in range(64))
    assert pair.quality(q)[0] == pytest.approx(quality, abs=1e-12)
    assert pair.diversity(q)[0] == pytest.approx(-np.einsum("crs,c,r,s", tensor, q, q, q), abs=1e-12)


@pytest.mark.parametrize("make", [bleu_pair, coverage_pair])
def test_gradients_equal_finite_differences(make: object) -> None:
    rng = np.random.default_rng(1)
    real, q, direction = *rng.dirichlet(np.ones(64), 2), rng.normal(size=64)
    pair = make(real, 2)  # type: ignore[operator]
    for side in (pair.quality, pair.diversity):
        step = 1e-6
        numerical = (side(q + step * direction)[0] - side(q - step * direction)[0]) / (2 * step)
        assert side(q)[1] @ direction == pytest.approx(numerical, rel=1e-6)


def test_coverage_uses_the_distribution_of_ngrams() -> None:
    rng = np.random.default_rng(2)
    real, q = rng.dirichlet(np.ones(64), 2)
    own, reference = np.zeros(16), np.zeros(16)
    for text, one, other in zip(all_texts(), q, real, strict=True):
        for place in range(2):
            gram = 4 * text[place] + text[place + 1]
            own[gram] += one / 2
            reference[gram] += other / 2
    pair = coverage_pair(real, 2)
    assert pair.quality(q)[0] == pytest.approx(own @ reference)
    assert pair.diversity(q)[0] == pytest.approx(-own @ own)


@pytest.mark.parametrize(("sigma", "n", "least"), [(0.5, 1, 0.01), (1.0, 2, 0.01), (2.0, 1, 0.005)])
def test_bleu_has_a_positive_lower_bound(sigma: float, n: int, least: float) -> None:
    real = oracle_distribution(sigma, 0)
    found = lower_bound(bleu_pair(real, n), real, n_starts=2)
    assert least < found.qdisc < 0.05
    assert found.best_diversity >= found.diversity
    assert found.best.sum() == pytest.approx(1.0)
    assert (found.best >= 0).all()
    assert 0.01 < found.drate < 0.15
    assert found.steps


@pytest.mark.parametrize("n", [1, 2, 3])
def test_the_same_optimiser_finds_nothing_better_under_cr_and_nrr(n: int) -> None:
    real = oracle_distribution(1.0, 0)
    assert 0 <= lower_bound(coverage_pair(real, n), real, n_starts=3).qdisc < 1e-9


def test_starts_are_distributions_and_the_real_one_is_first() -> None:
    real = oracle_distribution(1.0, 0)
    starts = starting_points(real, 9, np.random.default_rng(0))
    np.testing.assert_allclose(starts[0], real)
    assert len(starts) == 9
    np.testing.assert_allclose([start.sum() for start in starts], 1.0)
