"""The triangle-rank metric against loops and fractions, on random items with ties, and by cases done by hand."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from tests.metrics.items import brute_triangles as brute
from tests.metrics.items.brute_triangles import item
from textassay.inference.p_values import p_value
from textassay.metrics.items import trm as triangles
from textassay.metrics.items.item_pool import Labels, all_masks, random_masks
from textassay.metrics.items.trm import Direction, Variant, parts, trm, under_labels
from textassay.metrics.registry import all_metrics

VARIANTS: tuple[Variant, ...] = ("paper", "exclusive", "split", "squared", "released")
DIRECTIONS: tuple[Direction, ...] = ("both", "references", "candidates")
Matrix = list[list[float]]
OPTIONS: dict[str, Any] = {"distance": "own", "variant": "paper", "direction": "both"}


@st.composite
def matrices(draw: st.DrawFn, n_texts: int) -> Matrix:
    """Small whole distances, so that ties abound; symmetric or not, 0 only surely on the diagonal."""
    largest = draw(st.integers(1, 6))
    rows = draw(
        st.lists(
            st.lists(st.integers(0, largest), min_size=n_texts, max_size=n_texts), min_size=n_texts, max_size=n_texts
        )
    )
    symmetric = draw(st.booleans())
    pairs = [[(min(i, j), max(i, j)) if symmetric else (i, j) for j in range(n_texts)] for i in range(n_texts)]
    return [[0.0 if i == j else float(rows[i][j]) for i, j in row] for row in pairs]


def points(n_texts: int, *, dimensions: int = 2, seed: int = 0) -> NDArray[np.float64]:
    x = np.random.default_rng(seed).standard_normal((n_texts, dimensions))
    return np.asarray(np.sqrt(((x[:, None] - x) ** 2).sum(axis=2)))


@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize("variant", VARIANTS)
@given(st.data())
@settings(max_examples=12, deadline=None)
def test_statistic_and_exact_p_are_those_of_loops_and_fractions(
    variant: Variant, direction: Direction, data: st.DataObject
) -> None:
    n, m = data.draw(st.sampled_from([(2, 2), (2, 3), (3, 2), (3, 3), (2, 4), (3, 4), (4, 3)]))
    distances = data.draw(matrices(n + m))
    pool, options = item(distances, n), OPTIONS | {"variant": variant, "direction": direction}
    wanted = brute.statistic(distances, range(n), range(n, n + m), variant=variant, direction=direction)
    assert wanted is not None
    assert trm(pool, **options) == pytest.approx(float(wanted), abs=1e-12)
    null = under_labels(pool, Labels.partitions(all_masks(n, m)), **options)
    found = p_value(trm(pool, **options), null, exact=True)
    assert found == pytest.approx(float(brute.exact_p(distances, n, variant=variant, direction=direction)), abs=1e-12)


@pytest.mark.parametrize("variant", VARIANTS)
@given(st.data())
@settings(max_examples=15, deadline=None)
def test_texts_that_are_neither_take_no_part(variant: Variant, data: st.DataObject) -> None:
    n_texts = data.draw(st.integers(4, 8))
    distances = data.draw(matrices(n_texts))
    order = data.draw(st.permutations(range(n_texts)))
    n = data.draw(st.integers(2, n_texts - 2))
    m = data.draw(st.integers(2, n_texts - n))
    candidates, references = order[:n], order[n : n + m]
    masks = np.zeros((2, 1, n_texts), dtype=bool)
    masks[0, 0, candidates] = masks[1, 0, references] = True
    values = under_labels(item(distances, n), Labels(*masks), distance="own", variant=variant, direction="both")
    wanted = brute.statistic(distances, candidates, references, variant=variant, direction="both")
    assert wanted is not None
    assert values.tolist() == pytest.approx([float(wanted)], abs=1e-12)


@pytest.mark.parametrize("variant", VARIANTS)
@given(matrices(7))
@settings(max_examples=15, deadline=None)
def test_profile_is_that_of_loops(variant: Variant, distances: Matrix) -> None:
    found = parts(item(distances, 3), distance="own", variant=variant, direction="both")
    sides = {"references": (range(3), range(3, 7)), "candidates": (range(3, 7), range(3))}
    for side, (apexes, base) in sides.items():
        means = brute.shares(distances, apexes, base, variant)
        assert means is not None
        for rank, mean in zip(("shorter", "between", "longer"), means, strict=True):
            if variant == "released" and rank == "longer":
                assert f"{side}_{rank}" not in found
            else:
                assert found[f"{side}_{rank}"] == pytest.approx(float(mean), abs=1e-12)


def test_real_sized_item_equals_loops_on_some_partitions() -> None:
    distances = np.round(points(15, seed=4), 1)
    pool, masks = item(distances, 5), all_masks(5, 10)
    values = under_labels(pool, Labels.partitions(masks), **OPTIONS)
    assert len(values) == 3003
    for row in (0, 1, 1234, 3002):
        chosen, rest = np.flatnonzero(masks[row]).tolist(), np.flatnonzero(~masks[row]).tolist()
        wanted = brute.statistic(distances.tolist(), chosen, rest, variant="paper", direction="both")
        assert wanted is not None
        assert values[row] == pytest.approx(float(wanted), abs=1e-12)


@pytest.mark.parametrize("variant", VARIANTS)
def test_blocks_and_kept_labellings_change_nothing(variant: Variant, monkeypatch: pytest.MonkeyPatch) -> None:
    pool, labels = item(np.round(points(14), 1), 6), Labels.partitions(random_masks(6, 8, rows=500, seed=0))
    whole = triangles.shares(pool, labels, distance="own", variant=variant)
    again = triangles.shares(item(np.round(points(14), 1), 6), labels, distance="own", variant=variant)
    for name, value in (("_BASES", 1), ("_FEWEST_ROWS", 7), ("_RANKS", 1), ("_KEPT", 0)):
        monkeypatch.setattr(triangles, name, value)
    in_blocks = triangles.shares(pool, labels, distance="own", variant=variant)
    assert whole.tobytes() == again.tobytes() == in_blocks.tobytes()


def test_many_texts_count_exactly() -> None:
    distances = np.ones((300, 300)) - np.eye(300)
    pool = item(distances, 130)
    wanted: dict[Variant, float] = {"split": 1 / 3, "paper": 1.0, "released": 1 / 3}
    for variant, third in wanted.items():
        found = triangles.shares(pool, pool.observed, distance="own", variant=variant)
        assert found[0, :, :2].tolist() == [[third] * 2] * 2


@pytest.mark.parametrize(
    ("sizes", "defined"),
    [
        ((1, 4), {"references"}),
        ((4, 1), {"candidates"}),
        ((1, 1), set()),
        ((0, 5), set()),
        ((5, 0), set()),
        ((2, 2), set(DIRECTIONS)),
        ((2, 1), {"candidates"}),
        ((200, 101), set()),
    ],
)
def test_has_a_number_only_where_there_are_triangles(sizes: tuple[int, int], defined: set[str]) -> None:
    pool = item(points(sum(sizes)), sizes[0])
    found = {d: trm(pool, distance="own", direction=d) for d in DIRECTIONS}
    assert {direction for direction, value in found.items() if not math.isnan(value)} == defined


def line(places: list[float]) -> NDArray[np.float64]:
    x = np.array(places)
    return np.abs(x[:, None] - x)


def test_profile_tells_narrow_wide_and_elsewhere_apart() -> None:
    narrow = parts(item(line([0, 0.01, 0.03, -5, 7, 11, -8]), 3), **OPTIONS)
    assert narrow["candidates_shorter"] == 1.0
    assert narrow["references_longer"] > 0.5
    wide = parts(item(line([-5, 7, 11, -8, 0, 0.01, 0.03]), 4), **OPTIONS)
    assert wide["references_shorter"] == 1.0
    assert wide["candidates_longer"] > 0.5
    elsewhere = parts(item(line([0, 0.1, 0.3, 9, 9.2, 9.5]), 3), **OPTIONS)
    assert elsewhere["candidates_shorter"] == elsewhere["references_shorter"] == 1.0
    assert trm(item(line([0, 0.1, 0.3, 9, 9.2, 9.5]), 3), distance="own") == pytest.approx(8 / 3)


@pytest.mark.parametrize(("variant", "value"), [("paper", 4), ("exclusive", 8 / 3), ("split", 0), ("released", 0)])
def test_texts_that_are_all_the_same_tie(variant: Variant, value: float) -> None:
    pool = item(np.zeros((6, 6)), 3)
    assert trm(pool, distance="own", variant=variant) == pytest.approx(value, abs=1e-12)
    declared = all_metrics()["trm"].bounds_for({"variant": variant})
    assert 0.0 <= value <= declared[1] + 1e-12


@pytest.mark.parametrize("variant", VARIANTS)
@given(matrices(6))
@settings(max_examples=20, deadline=None)
def test_stays_within_its_bounds(variant: Variant, distances: Matrix) -> None:
    low, high = all_metrics()["trm"].bounds_for({"variant": variant})
    values = under_labels(item(distances, 3), Labels.partitions(all_masks(3, 3)), **(OPTIONS | {"variant": variant}))
    assert values.min() >= low
    assert values.max() <= high + 1e-12


@given(matrices(7))
@settings(max_examples=20, deadline=None)
def test_only_the_order_of_distances_matters(distances: Matrix) -> None:
    labels = Labels.partitions(all_masks(3, 4))
    stretched = (np.array(distances) ** 3 * 17).tolist()
    values = [under_labels(item(matrix, 3), labels, **OPTIONS) for matrix in (distances, stretched)]
    assert values[0].tolist() == values[1].tolist()


def test_without_ties_the_tie_rules_agree() -> None:
    pool = item(points(11), 5)
    assert len({trm(pool, distance="own", variant=variant) for variant in VARIANTS[:3]}) == 1


@pytest.mark.parametrize("variant", VARIANTS)
def test_stock_replies_on_both_sides_do_not_change_the_level(variant: Variant) -> None:
    """Half of the texts are three that repeat, so that many distances are 0 and most triangles have ties."""
    rng = np.random.default_rng(0)
    labels = Labels.partitions(all_masks(4, 4))
    found = []
    for _ in range(400):
        places = rng.standard_normal((8, 2))
        stock = rng.random(8) < 0.5
        places[stock] = np.array([[3.0, 0.0], [0.0, 3.0], [-3.0, 0.0]])[rng.integers(3, size=int(stock.sum()))]
        apart = np.linalg.norm(places[:, None] - places, axis=2)
        values = under_labels(item(apart.tolist(), 4), labels, distance="own", variant=variant, direction="both")
        low, high = all_metrics()["trm"].bounds_for({**OPTIONS, "variant": variant})
        assert ((values >= low - 1e-12) & (values <= high + 1e-12)).all()
        found.append(p_value(float(values[0]), values, exact=True))
    for level in (0.06, 0.2, 0.5):
        # Four standard errors; ties make steps coarser, but leave something of every level.
        assert np.mean(np.array(found) <= level) <= level + 4 * math.sqrt(level * (1 - level) / 400)
        assert np.mean(np.array(found) <= level) >= 0.25 * level


def test_with_ties_split_is_the_mean_over_ways_to_break_them() -> None:
    """Three texts at one place on each side: every edge is 0, every rank is as likely, and nothing differs."""
    same = item([[0.0] * 6 for _ in range(6)], 3)
    assert trm(same, **(OPTIONS | {"variant": "split"})) == pytest.approx(0.0, abs=1e-12)
    assert trm(same, **OPTIONS) == pytest.approx(4.0)
