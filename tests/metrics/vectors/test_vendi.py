"""The Vendi score against its own package, at the edges, and under resampling."""

import math
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.metrics.vectors.test_frechet import resamples, vectors
from textassay.errors import InputError
from textassay.metrics.items.item_pool import all_masks
from textassay.metrics.registry import parse_requests
from textassay.metrics.vectors.vectors import Vectors
from textassay.metrics.vectors.vendi import exchange, leave_out, vendi
from textassay.metrics.views import Resamples

ORDERS = [0.1, 0.5, 0.9995, 1.0, 2.0, 30.0, math.inf]


def value(values: NDArray[Any], q: float = 1.0) -> float:
    return vendi(Vectors(values.astype(np.float32)), q=q)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("n", [2, 11, 12, 13, 100])
@pytest.mark.parametrize("q", [0.5, 1.0, 2.0, math.inf])
def test_equals_its_own_package(n: int, q: float) -> None:
    package = pytest.importorskip("vendi_score.vendi")
    values = vectors(1, n, shift=0.1).astype(np.float64)
    rows = values / np.linalg.norm(values, axis=1, keepdims=True)
    order = "inf" if math.isinf(q) else q
    assert value(vectors(1, n, shift=0.1), q) == pytest.approx(package.score_K(rows @ rows.T, q=order), rel=1e-6)
    if n > 12:
        assert value(vectors(1, n, shift=0.1), q) == pytest.approx(package.score_dual(rows, q=order), rel=1e-6)


@pytest.mark.parametrize("q", ORDERS)
def test_texts_alike_count_once_and_texts_apart_count_each(q: float) -> None:
    assert value(np.eye(5), q) == pytest.approx(5)
    assert value(np.repeat(3 * np.eye(5), 4, axis=0), q) == pytest.approx(5)
    assert value(np.tile(vectors(1, 1), (2, 1)), q) == pytest.approx(1)
    assert value(np.tile(vectors(1, 1), (40, 1)), q) == pytest.approx(1)
    assert value(np.eye(3)[:1], q) == pytest.approx(1)


@pytest.mark.parametrize("q", ORDERS)
def test_zero_vectors_are_a_kind_of_their_own(q: float) -> None:
    assert value(np.zeros((4, 3)), q) == pytest.approx(1)
    assert value(np.zeros((9, 3)), q) == pytest.approx(1)
    assert value(np.repeat(np.vstack((np.eye(3), np.zeros((1, 3)))), 2, axis=0), q) == pytest.approx(4)


def test_orders_fall_and_run_together_at_one() -> None:
    values = vectors(1, 50, shift=0.1)
    found = [value(values, q) for q in ORDERS]
    assert found == sorted(found, reverse=True)
    for edge in (1 - 1e-3, 1 + 1e-3, 1.0):
        assert value(values, edge * (1 - 1e-7)) == pytest.approx(value(values, edge * (1 + 1e-7)), rel=1e-6)
    assert value(values, 5000.0) == pytest.approx(value(values, math.inf), rel=1e-3)


def test_orders_out_of_range_are_refused() -> None:
    assert parse_requests(["vendi:q=inf"])[0].options == {"q": math.inf}
    for wrong in ("0", "-1", "nan", "two"):
        with pytest.raises(InputError, match=r"wanted a number from 0.1 to inf"):
            parse_requests([f"vendi:q={wrong}"])


@pytest.mark.parametrize("q", ORDERS)
@pytest.mark.parametrize("n", [8, 12, 13, 60])
def test_leaving_out_groups_is_measuring_anew(n: int, q: float) -> None:
    values, labels = vectors(1, n, shift=0.1), np.arange(n) % 4
    values[:2] = 0
    (found,) = leave_out(Vectors(values), labels=[labels], q=q)
    assert found == pytest.approx([value(values[labels != group], q) for group in range(4)], rel=1e-9)


def differences(pooled: NDArray[Any], chosen: Resamples, q: float) -> NDArray[np.float64]:
    return np.array([value(pooled[row], q) - value(pooled[~row], q) for row in chosen.masks[0][:, chosen.units]])


@pytest.mark.parametrize("q", ORDERS)
@pytest.mark.parametrize("d", [3, 40])
def test_all_exchanges_of_few_texts_at_once(d: int, q: float) -> None:
    pooled = vectors(1, 9, d, shift=0.1)
    pooled[5] = pooled[1]
    masks = all_masks(4, 5)
    chosen = Resamples(np.arange(9), (masks, ~masks))
    found = exchange(Vectors(pooled[:4]), Vectors(pooled[4:]), resamples=chosen, q=q)
    assert found == pytest.approx(differences(pooled, chosen, q), rel=1e-6, abs=1e-9)


@pytest.mark.parametrize("q", ORDERS)
@pytest.mark.parametrize(("d", "n", "m"), [(12, 100, 100), (12, 120, 60), (200, 80, 90), (12, 1301, 1203)])
def test_the_expansion_follows_the_difference(d: int, n: int, m: int, q: float) -> None:
    pooled = np.concatenate((vectors(1, n, d, shift=0.1), vectors(2, m, d, shift=0.1)))
    chosen = resamples((n, m), 40)
    found = exchange(Vectors(pooled[:n]), Vectors(pooled[n:]), resamples=chosen, q=q)
    assert np.corrcoef(found, differences(pooled, chosen, q))[0, 1] > 0.95


@pytest.mark.parametrize("q", ORDERS)
def test_exchanging_identical_texts_changes_nothing(q: float) -> None:
    for point in (np.zeros((1, 12), np.float32), vectors(1, 1)):
        for n, m in ((6, 8), (150, 90)):
            sides = [Vectors(np.repeat(point, size, axis=0)) for size in (n, m)]
            assert np.abs(exchange(*sides, resamples=resamples((n, m), 30), q=q)).max() < 1e-9
