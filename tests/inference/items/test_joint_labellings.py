"""The combined test over items against brute force, against its moments, at its level, and at the edges."""

import math
from itertools import product

import numpy as np
import pytest
from numpy.typing import NDArray

from textassay.inference.items.joint_labellings import DRAWS, Tally, Unit, plan_drawing, summed, towards_worse
from textassay.inference.items.labellings import labellings_of, sampled_indices

F64 = NDArray[np.float64]


def tally(values: list[F64], *, draws: int = 999, seed: int = 0, listed: bool = True) -> Tally:
    drawing = plan_drawing([Unit(str(i), len(v), listed) for i, v in enumerate(values)], draws=draws, seed=seed)
    found = summed([Tally.of(v, drawing.rows(str(i))) for i, v in enumerate(values)])
    assert found is not None
    return found


def brute(values: list[F64]) -> list[float]:
    """The sum under every joint labelling."""
    return [math.fsum(one) for one in product(*values)]


def test_few_joint_labellings_are_all_listed_and_the_p_value_is_exact() -> None:
    rng = np.random.default_rng(0)
    values = [np.round(rng.normal(size=n), 1) for n in (3, 5, 4)]
    every = brute(values)
    found = tally(values)
    assert len(found.drawn) == 59
    assert sorted([found.observed, *found.drawn]) == pytest.approx(sorted(every))
    assert found.p_value("higher") == pytest.approx(np.mean([x >= every[0] - 1e-9 for x in every]))
    assert found.p_value("lower") == pytest.approx(np.mean([x <= every[0] + 1e-9 for x in every]))
    off = np.abs(np.array(every) - np.mean(every))
    assert found.p_value("both") == pytest.approx(np.mean(off >= off[0] - 1e-9))
    assert found.smallest_p("higher") == pytest.approx(np.mean(np.isclose(every, max(every))))


def test_moments_are_those_of_all_joint_labellings() -> None:
    rng = np.random.default_rng(1)
    values = [rng.normal(size=n) for n in (3, 5, 4)]
    every, found = np.array(brute(values)), tally(values)
    assert found.chance == pytest.approx(every.mean())
    assert found.variance == pytest.approx(every.var())
    assert found.z == pytest.approx((every[0] - every.mean()) / every.std())
    assert math.isnan(tally([np.ones(3), np.ones(4)]).z)


def test_drawn_sums_have_the_moments_of_all() -> None:
    rng = np.random.default_rng(2)
    found = tally([rng.exponential(size=10) for _ in range(40)], draws=DRAWS)
    assert found.drawn.mean() == pytest.approx(found.chance, abs=4 * math.sqrt(found.variance / DRAWS))
    assert found.drawn.var() == pytest.approx(found.variance, rel=0.1)


def test_a_single_unit_takes_each_row_once() -> None:
    values = np.random.default_rng(3).normal(size=5000)
    assert tally([values], draws=99).p_value("higher") == np.mean(values >= values[0])
    assert len(tally([values], draws=99, listed=False).drawn) == 4999


def test_rows_depend_on_the_key_alone() -> None:
    units = [Unit(name, 126, listed=True) for name in "abcdef"]
    forth, back = (plan_drawing(some, draws=99, seed=7) for some in (units, units[::-1]))
    assert all((forth.rows(u.key) == back.rows(u.key)).all() for u in units)
    assert (forth.rows("a") != forth.rows("b")).any()
    assert (forth.rows("a") != plan_drawing(units, draws=99, seed=8).rows("a")).any()


def test_samples_never_draw_the_observed_row() -> None:
    drawing = plan_drawing([Unit("a", 20, listed=False), Unit("b", 20, listed=False)], draws=999, seed=0)
    assert set(drawing.rows("a").tolist()) == set(range(1, 20))


@pytest.mark.parametrize(("sizes", "rows"), [pytest.param((1, 4), 5, marks=pytest.mark.slow), ((2, 3), 10)])
def test_many_items_of_few_labellings_are_tested_at_the_level_and_found(sizes: tuple[int, int], rows: int) -> None:
    """No p-value of an item is below 1 in 10, so no combination of them could find anything."""
    rng = np.random.default_rng(4)
    labels = labellings_of(*sizes, most=100, n_resamples=0, seed=0).labels.candidate
    assert len(labels) == rows
    level: list[bool] = []
    power: list[bool] = []
    for seed in range(400):
        points = rng.normal(size=(25, sum(sizes)))
        for shift, found in ((0.0, level), (1.0, power)):
            points[:, : sizes[0]] += shift
            means = [labels @ each / sizes[0] for each in points]
            found.append(tally(means, draws=499, seed=seed).p_value("higher") <= 0.05)
    assert 0.02 <= np.mean(level) <= 0.08
    assert np.mean(power) > 0.8


def test_towards_worse() -> None:
    assert [towards_worse(better) for better in ("higher", "lower", "closer")] == ["lower", "higher", "both"]


def test_nothing_is_summed_to_nothing() -> None:
    assert summed([]) is None
    assert plan_drawing([], draws=99, seed=0).n == 0


@pytest.mark.parametrize(("n", "m"), [(1, 4), (3, 5), (6, 2)])
def test_places_of_sampled_labellings_are_those_in_the_list(n: int, m: int) -> None:
    listed = labellings_of(n, m, most=10**6, n_resamples=0, seed=0).labels.candidate
    sample = labellings_of(n, m, most=0, n_resamples=50, seed=3).labels.candidate
    assert (listed[sampled_indices(n, m, n_resamples=50, seed=3)] == sample).all()
