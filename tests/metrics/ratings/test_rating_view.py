"""The ratings view: merging, means, clipped log-probabilities, scaling."""

import math
from dataclasses import replace

import numpy as np
import pytest

from tests.rating_laws import rated_items
from textassay.corpus.ratings.rated_items import RatedItem, RatedItems
from textassay.metrics.ratings.rating_view import Ratings, deviation, in_deviations


def test_cut_and_merged_is_the_whole() -> None:
    whole = Ratings.of(rated_items(30, seed=1))
    for cut in (0, 7, 29):
        again = whole.take(np.arange(cut)).merge(whole.take(np.arange(cut, 30)))
        for name in ("is_model", "log_prob", "length", "context", "origin", "counts", "ratings", "raters", "means"):
            np.testing.assert_array_equal(getattr(again, name), getattr(whole, name))


def test_the_parts_of_a_file_know_each_others_contexts() -> None:
    items = tuple(RatedItem(f"i{n}", n == 1, -2.0, 2, text="a b", context="the same") for n in range(2))
    parts = [RatedItems("f", (item,), ("r",), np.array([0]), np.array([0]), np.array([3.0]), (1, 6)) for item in items]
    first, second = map(Ratings.of, parts)
    assert first.context == second.context
    assert first.origin != second.origin


def test_impossible_texts_get_a_finite_number_below_all_others() -> None:
    view = Ratings.of(rated_items(10, seed=0))
    log_prob = view.log_prob.copy()
    log_prob[3] = -math.inf
    changed = replace(view, log_prob=log_prob)
    assert changed.log_probs("text")[3] == -1000
    log_prob[4] = -5000.0
    assert changed.log_probs("text")[3] == -5000
    assert changed.log_probs("token")[5] == log_prob[5] / view.length[5]


def test_a_deviation_does_not_depend_on_the_order() -> None:
    rng = np.random.default_rng(0)
    values = rng.integers(20, 121, 500) / 20
    assert len({deviation(rng.permutation(values)) for _ in range(50)}) == 1
    assert deviation(values) == pytest.approx(values.std(), rel=1e-14)


def test_what_is_the_same_everywhere_is_no_feature() -> None:
    assert in_deviations(np.full(5, 3.3)).tolist() == [0.0] * 5
    assert in_deviations(np.zeros(0)).tolist() == []


def test_an_item_needs_a_rating() -> None:
    items = (RatedItem("a", False, -1.0, 1), RatedItem("b", True, -1.0, 1))
    with pytest.raises(AssertionError, match="without a rating"):
        Ratings.of(RatedItems("f", items, ("r",), np.array([0]), np.array([0]), np.array([3.0]), (1, 6)))
