"""Intervals where samples hold little: shares of a few texts, and texts that repeat."""

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import binom

from textassay.corpus.sample import Sample
from textassay.inference.jackknife import different_texts, enough_texts
from textassay.inference.measure import Plan, measure
from textassay.inference.request import parse_requests
from textassay.inference.result import Result
from textassay.inference.wilson import modified_wilson, wilson
from textassay.views.material import Material

F64 = NDArray[np.float64]


def coverage(n: int, shares: F64, *, modified: bool) -> F64:
    """How often the interval of a share holds it, exactly."""
    how = modified_wilson if modified else wilson
    limits = np.array([how(hits / n, n, 0.95) for hits in range(n + 1)])
    chances = binom.pmf(np.arange(n + 1), n, shares[:, None])
    return np.asarray((chances * ((limits[:, 0] <= shares[:, None]) & (shares[:, None] <= limits[:, 1]))).sum(axis=1))


@pytest.mark.parametrize("n", [20, 50, 51, 100, 500])
def test_modified_wilson_covers_rare_and_common_shares(n: int) -> None:
    rare = np.exp(np.linspace(np.log(0.01 / n), np.log(0.5), 800))
    shares = np.concatenate((rare, 1 - rare))
    assert coverage(n, shares, modified=False).min() < 0.85
    assert coverage(n, shares, modified=True).min() > 0.91


@pytest.mark.parametrize("n", [7, 50, 100])
@pytest.mark.parametrize("level", [0.5, 0.9, 0.99])
def test_modified_wilson_holds_wilsons_interval(n: int, level: float) -> None:
    for hits in range(n + 1):
        low, high = modified_wilson(hits / n, n, level)
        plain = wilson(hits / n, n, level)
        assert 0 <= low <= plain[0] <= hits / n <= plain[1] <= high <= 1
        if 3 < hits < n - 3:
            assert (low, high) == plain


def measured(spec: str, candidate: list[str], reference: list[str], train: list[str] | None = None) -> Result:
    texts = {"candidate": candidate, "reference": reference} | ({"train": train} if train else {})
    roles = {role: Material(Sample.of(each, name=role)) for role, each in texts.items()}
    return measure(parse_requests([spec]), roles, plan=Plan(n_resamples=1), test=False).results[0]


def sentences(n: int, seed: int) -> list[str]:
    rng = np.random.default_rng(seed)
    return [" ".join(rng.choice(list("abcdefgh"), 8)) + f" {seed} {number}" for number in range(n)]


def test_copying_has_the_modified_interval() -> None:
    texts = sentences(60, 1)
    found = measured("copying", texts, sentences(60, 2), train=texts[:1])
    assert found.interval is not None
    assert found.interval.method == "wilson:modified"
    assert (found.interval.low, found.interval.high) == modified_wilson(1 / 60, 60, 0.95)
    assert found.interval.low < wilson(1 / 60, 60, 0.95)[0]


@pytest.mark.parametrize("metric", ["bleu", "reverse_bleu"])
def test_bleu_has_no_interval_where_few_different_texts_carry_it(metric: str) -> None:
    """Half of the texts are one text, so that they count as fewer than four different ones."""
    reference = sentences(60, 2)
    repeated = [*sentences(30, 1), *sentences(1, 3) * 30]
    assert measured(metric, sentences(60, 1), reference).interval is not None
    assert measured(metric, repeated, reference).interval is None
    assert measured(metric, reference, repeated).interval is None
    assert not np.isnan(measured(metric, repeated, reference).estimate)
    assert measured("self_bleu", repeated, reference).interval is not None


def test_texts_that_repeat_count_for_less() -> None:
    each_twice = Sample.of(sentences(20, 1) * 2)
    assert different_texts(each_twice) == 20
    assert enough_texts("jackknife:different-texts", each_twice)
    assert not enough_texts("jackknife:different-texts", Sample.of([*sentences(19, 1), *sentences(19, 1)]))
    assert enough_texts("jackknife", Sample.of(["a"] * 20))
    assert not enough_texts("jackknife", Sample.of(["a"] * 19))
    assert not enough_texts("jackknife:fixed-clusters:logit", Sample.of(sentences(49, 1)))
    one_in_half = Sample.of([*sentences(30, 1), *sentences(1, 3) * 30])
    assert different_texts(one_in_half) == pytest.approx(60**2 / (30 + 30**2))
