"""The law of contamination: d(P, (1-e)P + eQ) = e² d(P, Q), and what it predicts for samples."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from tests.laws import corpus
from textassay import metrics
from textassay.corpus.sample import Sample
from textassay.corpus.tokenizers import get_tokenizer
from textassay.encoders.lsa import fit_lsa
from textassay.metrics.registry import parse_requests
from textassay.metrics.views import Material, Settings
from textassay.studies.stress.contamination import Shift, measure_shifts

WORDS = [f"w{number}" for number in range(24)]
OTHERS = [f"w{number}" for number in range(16, 40)]
STRENGTHS = (0.2, 0.6)


@pytest.mark.parametrize("strength", [0.25, 0.5, 1.0])
def test_the_law_holds_exactly_for_whole_distributions(strength: float) -> None:
    """Copies make a sample whose distribution is the mixture itself."""
    rng = np.random.default_rng(0)
    real, other = rng.normal(size=(12, 3)), rng.normal(1, 2, size=(12, 3))
    shares = round(4 * (1 - strength)), round(4 * strength)
    mixture = np.concatenate([real] * shares[0] + [other] * shares[1])
    whole = metrics.energy(other, real, n_resamples=0).estimate
    assert metrics.energy(mixture, real, n_resamples=0).estimate == pytest.approx(strength**2 * whole, rel=1e-6)
    real_texts, other_texts = ["a b c d", "b c a a"], ["a d d e", "e c b a"]
    mixed = real_texts * shares[0] + other_texts * shares[1]
    whole = metrics.cnd(other_texts, real_texts, n_resamples=0).estimate
    assert metrics.cnd(mixed, real_texts, n_resamples=0).estimate == pytest.approx(strength**2 * whole, rel=1e-9)


@pytest.fixture(scope="module")
def sources() -> tuple[list[str], list[str], Settings]:
    real, other = corpus(1, 900, words=WORDS), corpus(2, 900, words=OTHERS)
    # Longer texts: the shares of n-grams and of texts differ.
    other = [f"{text} {text}" for text in other]
    return real, other, Settings(get_tokenizer(), fit_lsa([*real, *other], dimension=8))


def _material(texts: Sequence[str], settings: Settings) -> Material:
    return Material(Sample.of(texts), settings)


@pytest.mark.parametrize("metric", ["cnd", "cnd:variant=unbiased", "mmd", "mmd:variant=u", "energy"])
def test_one_measurement_predicts_what_brute_force_measures(
    metric: str, sources: tuple[list[str], list[str], Settings]
) -> None:
    real, other, settings = sources
    [request] = parse_requests([metric])
    size, runs = 60, 40
    sides = _material(real[:500], settings), _material(other[:500], settings)
    shifts = measure_shifts(request, *sides, strengths=STRENGTHS, sizes=[size])
    rng = np.random.default_rng(0)
    values = {strength: np.empty(runs) for strength in (0.0, *STRENGTHS)}
    for run in range(runs):
        order, foreign = rng.permutation(len(real)), rng.permutation(len(other))
        kind = request.metric.views[0]
        reference: Any = _material([real[place] for place in order[:size]], settings).view(kind)
        for strength, row in values.items():
            count = round(strength * size)
            mine = [real[place] for place in order[size : 2 * size - count]] + [other[p] for p in foreign[:count]]
            row[run] = request.value(_material(mine, settings).view(kind), reference)
    for strength in STRENGTHS:
        moved = values[strength].mean() - values[0.0].mean()
        error = np.hypot(values[strength].std(), values[0.0].std()) / np.sqrt(runs)
        own_error = shifts[size, strength].deviation * np.sqrt(size / 500)
        assert abs(moved - shifts[size, strength].mean) < 3.5 * np.hypot(error, own_error)
        predicted = np.hypot(values[0.0].std(), shifts[size, strength].deviation)
        assert predicted == pytest.approx(values[strength].std(), rel=0.5)


def test_power_is_the_level_without_contamination_and_1_far_away() -> None:
    undamaged = np.arange(100.0)
    assert Shift(0.0, 0.0).power(undamaged, 94.0) == pytest.approx(0.05)
    assert Shift(1000.0, 10.0).power(undamaged, 94.0) == pytest.approx(1.0)
    assert 0.05 < Shift(20.0, 5.0).power(undamaged, 94.0) < 0.5
