"""Combined p-values against other arithmetic, published thresholds, simulation and at the edges."""

import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from scipy.integrate import trapezoid
from scipy.optimize import brentq

from textassay.inference.p_values import fisher, harmonic_mean, mean_log_p, mean_p, raw_harmonic_mean, simes, survival

COMBINE = [harmonic_mean, fisher, simes]
P_VALUES = st.lists(st.floats(1e-12, 1.0), min_size=1, max_size=40)

# By mpmath with 40 digits and more from the integral of e^(-t log t - x t) sin(pi t) / t, split at every swing.
LANDAU = {
    -3.5: 0.99999943467167,
    -3.0: 0.999914078733748,
    -2.0: 0.985905642065851,
    -1.0: 0.886385358945977,
    0.0: 0.713167119874582,
    1.0: 0.548981907180474,
    5.0: 0.226973220057164,
    20.0: 0.0565373531487429,
    37.5: 0.0290221466528518,
    100.0: 0.0104289708367102,
    1e4: 0.000100087941392205,
    1e6: 1.00001339288955e-6,
}


@pytest.mark.parametrize(("x", "known"), LANDAU.items())
def test_landau_law_equals_its_integral_in_many_digits(x: float, known: float) -> None:
    assert survival(x) == pytest.approx(known, rel=1e-13)


def test_landau_law_equals_the_swinging_integral() -> None:
    m = pytest.importorskip("mpmath")
    with m.mp.workdps(30):
        for x in (-1.5, 0.7, 12.0):
            swings = [m.mpf(k) for k in range(40)] + ([m.inf] if x > 0 else [])
            known = m.quad(lambda t, x=x: m.exp(-t * m.log(t) - x * t) * m.sin(m.pi * t) / t, swings) / m.pi
            assert survival(x) == pytest.approx(float(known), rel=1e-12)


def test_landau_law_far_out() -> None:
    assert survival(-5.0) == pytest.approx(1.0, abs=1e-13)
    assert survival(-700.0) == pytest.approx(1.0, abs=1e-13)
    assert survival(1e16) == pytest.approx(1e-16, rel=1e-10)
    assert survival(1e300) == pytest.approx(1e-300, rel=1e-10)
    found = [survival(x) for x in np.linspace(-4, 200, 2000)]
    assert (np.diff(found) < 0).all()


def test_landau_law_equals_scipy_on_its_scale() -> None:
    if not hasattr(stats, "landau"):
        pytest.skip("this scipy has no Landau law")
    for x in (-2.0, 0.0, 3.0, 60.0):
        theirs = stats.landau.sf((x - math.log(math.pi / 2)) * 2 / math.pi)
        assert survival(x) == pytest.approx(float(theirs), rel=1e-9)


@pytest.mark.parametrize(("tests", "threshold"), [(10, 0.040), (100, 0.036), (1000, 0.034)])
def test_harmonic_mean_at_five_percent_is_at_the_published_threshold(tests: int, threshold: float) -> None:
    """Wilson (2019), table 1: harmonic means of so many p-values are significant at 5 % below this."""
    found = brentq(lambda p: harmonic_mean(np.full(tests, p)) - 0.05, 1e-3, 0.05)
    assert found == pytest.approx(threshold, abs=0.0005)


def test_harmonic_mean_is_wilsons_integral() -> None:
    p = np.array([0.003, 0.2, 0.5, 0.04, 0.9])
    place, scale = math.log(5) + 1 - np.euler_gamma + math.log(math.pi / 2), math.pi / 2
    assert place - math.log(5) == pytest.approx(0.874367040387922, abs=1e-14)
    z = ((1 / p).mean() - place) / scale
    # In his parametrisation, integrated anew.
    t = np.linspace(1e-9, 12, 2_000_001)
    known = trapezoid(np.exp(-t * z - 2 / np.pi * t * np.log(t)) * np.sin(2 * t) / t, t) / np.pi
    assert harmonic_mean(p) == pytest.approx(known, rel=1e-7)


def test_fisher_and_simes_equal_scipy() -> None:
    p = np.random.default_rng(0).random(30) ** 2
    assert fisher(p) == pytest.approx(stats.combine_pvalues(p, method="fisher").pvalue, rel=1e-12)
    assert simes(p) == pytest.approx(stats.false_discovery_control(p).min(), rel=1e-12)


@pytest.mark.parametrize("combine", COMBINE)
def test_edges(combine: Callable[..., float]) -> None:
    assert math.isnan(combine([]))
    assert math.isnan(combine([math.nan, math.nan]))
    assert combine([0.0, 0.5, 0.9]) == 0.0
    assert combine([1.0] * 10) == pytest.approx(1.0, abs=0.06)
    assert combine([0.2, math.nan, 0.03]) == combine([0.03, 0.2])
    assert combine([0.03]) == pytest.approx(0.03, rel=1e-14)
    assert 0 <= combine([1e-300] * 5) < 1e-299
    assert 0 <= combine([5e-324, 0.5]) < 1e-300


@pytest.mark.parametrize("combine", COMBINE)
@given(p=P_VALUES, smaller=st.floats(0.01, 0.9))
def test_combined_value_is_a_probability_and_falls_with_each_p(
    combine: Callable[..., float], p: list[float], smaller: float
) -> None:
    found = combine(p)
    assert 0 <= found <= 1
    assert combine(p[::-1]) == pytest.approx(found, rel=1e-9, abs=1e-300)
    assert combine([p[0] * smaller, *p[1:]]) <= found * (1 + 1e-9)


@pytest.mark.parametrize("tests", [2, 5, 10, 100, 1000])
def test_harmonic_mean_rejects_five_percent_of_true_nulls(tests: int) -> None:
    rng = np.random.default_rng(tests)
    rejected = [harmonic_mean(rng.random(tests)) <= 0.05 for _ in range(10_000)]
    # The standard error is 0.2 %; at two tests the law is off by half a percent.
    assert 0.04 < np.mean(rejected) < 0.06


def test_the_plain_harmonic_mean_would_reject_too_often() -> None:
    rng = np.random.default_rng(0)
    p = rng.random((4000, 1000))
    plain = 1 / (1 / p).mean(axis=1)
    assert (plain <= 0.05).mean() > 0.065


def test_harmonic_mean_does_not_add_up_what_fisher_does() -> None:
    middling = np.full(1000, 0.2)
    assert harmonic_mean(middling) > 0.9
    assert simes(middling) == pytest.approx(0.2)
    assert fisher(middling) < 1e-50


def test_p_values_in_steps_are_conservative() -> None:
    rng = np.random.default_rng(0)
    p = rng.integers(1, 127, size=(2000, 50)) / 126
    for combine in COMBINE:
        assert np.mean([combine(row) <= 0.05 for row in p]) < 0.05


def test_dependent_tests_upset_fisher_and_not_the_harmonic_mean() -> None:
    rng = np.random.default_rng(0)
    z = 0.7 * rng.standard_normal((2000, 1)) + math.sqrt(0.51) * rng.standard_normal((2000, 100))
    p = stats.norm.cdf(z)
    assert 0.03 < np.mean([harmonic_mean(row) <= 0.05 for row in p]) < 0.075
    assert np.mean([fisher(row) <= 0.05 for row in p]) > 0.2


def test_plain_means_are_what_they_are_called_and_leave_out_what_is_no_number() -> None:
    p = [0.2, 0.01, 0.6, math.nan]
    assert raw_harmonic_mean(p) == pytest.approx(stats.hmean([0.2, 0.01, 0.6]))
    assert mean_p(p) == pytest.approx(0.27)
    assert mean_log_p(p) == pytest.approx(math.log(stats.gmean([0.2, 0.01, 0.6])))
    for how in (raw_harmonic_mean, mean_p, mean_log_p):
        assert math.isnan(how([math.nan]))
