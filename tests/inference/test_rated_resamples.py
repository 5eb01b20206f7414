"""Resamples of ratings: what is drawn together, what stays balanced, and how wide intervals are."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.rating_laws import rated_items
from textassay.inference.rated_scores import (
    Groups,
    interval_around,
    resampled,
    with_fewer_ratings,
    with_other_raters,
    with_other_ratings,
)
from textassay.metrics.ratings.rating_view import Ratings


def unpaired(n: int) -> Ratings:
    return Ratings.of(rated_items(n, seed=2, contexts=False))


@given(st.integers(0, 1000), st.integers(5, 30))
def test_a_resample_has_as_many_of_both_sources_and_whole_contexts(seed: int, pairs: int) -> None:
    view = Ratings.of(rated_items(2 * pairs, seed=1, ratings=3))
    drawn = resampled(view, Groups.of(view), np.random.default_rng(seed))
    assert len(drawn) == 2 * pairs
    assert drawn.is_model.sum() == pairs
    for context in np.unique(drawn.context):
        here = drawn.is_model[drawn.context == context]
        assert 2 * here.sum() == len(here)


def test_without_contexts_each_source_is_drawn_by_itself() -> None:
    view = unpaired(40)
    groups = Groups.of(view)
    assert not groups.mixed
    for seed in range(20):
        places = groups.draw(np.random.default_rng(seed))
        assert view.is_model[places].sum() == 20
        assert len(set(places.tolist())) < 40


def test_a_context_with_one_source_only_is_drawn_item_by_item() -> None:
    places = np.array([*range(10), 10, 13])
    view = Ratings.of(rated_items(20, seed=1)).take(places)
    groups = Groups.of(view)
    assert sorted(len(group) for group in groups.mixed) == [2] * 5
    assert sorted(groups.rest.tolist()) == [10, 11]
    assert sorted(len(stratum) for stratum in groups.strata) == [1, 1, 5]


def test_contexts_of_unequal_numbers_are_drawn_by_their_kind_and_exchanged_within() -> None:
    view = replace(Ratings.of(rated_items(36, seed=1)), context=np.arange(36) // 3)
    groups = Groups.of(view)
    assert sorted(len(stratum) for stratum in groups.strata) == [6, 6]
    for seed in range(10):
        drawn = view.take(groups.draw(np.random.default_rng(seed)))
        assert (len(drawn), drawn.is_model.sum()) == (36, 18)
    labels = groups.exchanged(view.is_model, 50, np.random.default_rng(0))
    before = view.is_model.reshape(12, 3).sum(axis=1)
    assert (labels.reshape(12, 3, 50).sum(axis=1) == before[:, None]).all()


def test_one_context_for_all_is_none() -> None:
    view = replace(Ratings.of(rated_items(40, seed=1)), context=np.zeros(40, dtype=np.int64))
    groups = Groups.of(view)
    assert not groups.mixed
    assert len(set(groups.draw(np.random.default_rng(0)).tolist())) < 40


def test_raters_are_drawn_with_all_their_ratings() -> None:
    view = Ratings.of(rated_items(30, seed=1, ratings=6))
    drawn = with_other_raters(view, np.random.default_rng(3))
    # Everybody rated everything, so each item has the same raters, some of them more than once.
    given = drawn.raters.reshape(30, 6)
    assert (np.sort(given, axis=1) == np.sort(given[0])).all()
    assert len(set(given[0].tolist())) < 6
    assert drawn.counts.tolist() == [6] * 30


def test_an_item_without_any_of_the_drawn_raters_keeps_its_ratings() -> None:
    view = Ratings.of(rated_items(40, seed=1, ratings=1))
    alone = replace(view, raters=np.arange(40))
    drawn = with_other_raters(alone, np.random.default_rng(0))
    assert (drawn.counts >= 1).all()
    assert drawn.means.tolist() == view.means.tolist()


def test_copies_draw_their_ratings_each_for_itself() -> None:
    view = Ratings.of(rated_items(10, seed=1, ratings=20))
    copies = with_other_ratings(view.take(np.zeros(200, dtype=np.int64)), np.random.default_rng(0))
    assert len(set(copies.means.tolist())) > 20
    assert copies.means.mean() == pytest.approx(view.means[0], abs=0.1)
    assert copies.means.std() == pytest.approx(view.ratings[:20].std() / np.sqrt(20), rel=0.25)


def test_single_ratings_have_nothing_to_draw() -> None:
    view = Ratings.of(rated_items(10, seed=1, ratings=1))
    assert with_other_ratings(view, np.random.default_rng(0)) is view


@given(st.integers(1, 8), st.integers(0, 100))
def test_fewer_ratings_are_some_of_the_items_own(n: int, seed: int) -> None:
    view = Ratings.of(rated_items(12, seed=3, ratings=5))
    part = with_fewer_ratings(view, n, np.random.default_rng(seed))
    assert part.counts.tolist() == [min(n, 5)] * 12
    for place in range(12):
        own = view.ratings[5 * place : 5 * place + 5].tolist()
        for rating in part.ratings[part.starts[place] : part.starts[place] + part.counts[place]].tolist():
            own.remove(rating)


@pytest.mark.parametrize("contexts", [True, False])
def test_an_exchange_keeps_the_numbers_of_each_group(contexts: bool) -> None:
    view = Ratings.of(rated_items(40, seed=1, contexts=contexts))
    groups = Groups.of(view)
    labels = groups.exchanged(view.is_model, 400, np.random.default_rng(0))
    assert (labels.sum(axis=0) == 20).all()
    for group in groups.mixed:
        assert (labels[group].sum(axis=0) == 1).all()
    # Every item is now and then the one and the other, about equally often.
    assert np.abs(labels.mean(axis=1) - 0.5).max() < 0.12


def test_contexts_of_several_texts_are_exchanged_as_a_whole() -> None:
    view = Ratings.of(rated_items(16, seed=1))
    four = replace(view, context=np.arange(16) // 4)
    labels = Groups.of(four).exchanged(four.is_model, 200, np.random.default_rng(0))
    assert (labels.reshape(4, 4, 200).sum(axis=1) == 2).all()
    assert len({tuple(column) for column in labels[:4].T.tolist()}) == 6


@given(st.lists(st.floats(0, 2), min_size=20, max_size=50), st.floats(0, 2))
def test_an_interval_holds_its_estimate_within_the_bounds(values: list[float], estimate: float) -> None:
    low, high = interval_around(estimate, np.array(values), level=0.9, bounds=(0.0, 2.0))
    assert 0 <= low <= estimate <= high <= 2


def test_an_interval_is_as_wide_as_the_resamples_wherever_they_lie() -> None:
    values = np.linspace(0.4, 0.8, 401)
    low, high = interval_around(0.5, values, level=0.9, bounds=(0.0, 2.0))
    assert (low, high) == pytest.approx((0.32, 0.68), abs=1e-3)


def test_parts_have_about_the_wanted_size_and_both_sources() -> None:
    for view in (Ratings.of(rated_items(60, seed=1)), unpaired(60)):
        groups = Groups.of(view)
        for n in (10, 32, 60):
            places = groups.part(n, np.random.default_rng(1))
            assert len(set(places.tolist())) == len(places) == n
            assert view.is_model[places].sum() == n // 2
