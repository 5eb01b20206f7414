"""Laws that every metric on ratings must keep, and rated items to try them on."""

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from textassay.corpus.ratings.rated_items import RatedItem, RatedItems
from textassay.engines.local import LocalEngine
from textassay.inference.plan import Silent
from textassay.inference.rated_scores import RatedPlan, measure
from textassay.metrics.ratings.rating_view import Ratings
from textassay.metrics.registry import Request


def rated_items(n: int, *, seed: int, apart: float = 0.8, ratings: int = 5, contexts: bool = True) -> RatedItems:
    """As many texts of people as of a model, the latter rated lower by `apart` and more probable under it."""
    rng = np.random.default_rng(seed)
    items = []
    for number in range(n):
        is_model = number % 2 == 1
        length = int(rng.integers(3, 12))
        log_prob = float(length * (-3 + apart * is_model + rng.normal()))
        context = f"context {number // 2}" if contexts else None
        items.append(RatedItem(f"i{number}", is_model, log_prob, length, f"text {number}", context))
    centre = np.array([4.3 - apart * item.is_model for item in items]) + rng.normal(0, 0.6, n)
    given = np.clip(np.round(centre[:, None] + rng.normal(0, 1.2, (n, ratings))), 1, 6)
    raters = tuple(f"r{number}" for number in range(ratings))
    item_of, rater_of = np.repeat(np.arange(n), ratings), np.tile(np.arange(ratings), n)
    return RatedItems("made up", tuple(items), raters, item_of, rater_of, given.reshape(-1), (1.0, 6.0))


def plan(n_resamples: int = 39, *, workers: int = 1, seed: int = 0) -> RatedPlan:
    """A short plan."""
    return RatedPlan(0.95, n_resamples, seed, LocalEngine(workers), Silent())


def within_bounds(request: Request) -> None:
    """The value lies in the declared range, whatever the items are like."""
    low, high = request.metric.bounds_for(request.options)
    for seed, apart in [(0, 0.0), (1, 0.8), (2, 50.0), (3, -50.0)]:
        value = request.value(Ratings.of(rated_items(40, seed=seed, apart=apart)))
        assert low <= value <= high, f"{request.label}: {value} is outside of {low} to {high}"


def order_does_not_matter(request: Request) -> None:
    """Items and ratings may come in any order."""
    rated = rated_items(60, seed=4)
    rng = np.random.default_rng(0)
    wanted = request.value(Ratings.of(rated))
    for _ in range(5):
        places, order = rng.permutation(60), rng.permutation(len(rated.ratings))
        again = RatedItems(
            rated.name,
            tuple(rated.items[place] for place in places),
            rated.raters,
            np.argsort(places)[rated.item_of][order],
            rated.rater_of[order],
            rated.ratings[order],
            rated.scale,
        )
        assert request.value(Ratings.of(again)) == wanted, f"{request.label}: another order, another value"


def cut_and_merged_is_whole(request: Request) -> None:
    """A view put together from parts gives the same value."""
    whole = Ratings.of(rated_items(50, seed=5))
    parts = whole.take(np.arange(17)).merge(whole.take(np.arange(17, 50)))
    assert request.value(parts) == request.value(whole), f"{request.label}: not the value of the whole"


def interval_holds_the_estimate(request: Request) -> None:
    """An interval contains what it is an interval for."""
    for seed, apart in [(0, 0.0), (1, 0.8), (2, 50.0)]:
        (result,) = measure(rated_items(40, seed=seed, apart=apart), [request], plan()).results
        assert result.interval is not None
        assert result.estimate in result.interval, f"{request.label}: {result.estimate} is not in {result.interval}"


def same_seed_same_numbers(request: Request) -> None:
    """Neither a second run nor the number of workers changes a result; another seed changes the resampling."""
    rated = rated_items(40, seed=6)
    runs = [
        measure(rated, [request], plan(workers=workers, seed=seed)).results[0]
        for workers, seed in [(1, 0), (1, 0), (3, 0), (1, 1)]
    ]
    found = [(run.estimate, run.interval, run.p_value) for run in runs]
    assert found[0] == found[1] == found[2], f"{request.label}: not the same numbers again"
    assert found[3] != found[0], f"{request.label}: the seed changes nothing"


def a_copy_is_not_significant(request: Request) -> None:
    """Where each model text has the ratings and the probability of the human one, nothing tells them apart."""
    rated = rated_items(60, seed=7, apart=0.0)
    twins = tuple(
        replace(item, log_prob=other.log_prob, length=other.length)
        for item, other in zip(rated.items, [each for each in rated.items[::2] for _ in range(2)], strict=True)
    )
    each = len(rated.raters)
    given = rated.ratings.reshape(30, 2, each)[:, :1].repeat(2, axis=1).reshape(-1)
    copied = RatedItems("copies", twins, rated.raters, rated.item_of, rated.rater_of, given, rated.scale)
    (result,) = measure(copied, [request], plan(199)).results
    assert result.p_value is None or result.p_value > 0.05, f"{request.label}: a copy has p = {result.p_value}"


def too_few_items_are_refused(request: Request) -> None:
    """A metric says how many items it needs, and it is more than the neighbours that it asks."""
    assert request.metric.minimum_for(request.options) >= 2 * request.options["k"], request.label


def undefined_is_nan(request: Request) -> None:
    """Without any difference between items there is no number, rather than a made-up one."""
    rated = rated_items(40, seed=8)
    same = tuple(RatedItem(item.id, item.is_model, -6.0, 3, item.text, item.context) for item in rated.items)
    flat = RatedItems("flat", same, rated.raters, rated.item_of, rated.rater_of, np.full(200, 3.0), rated.scale)
    (result,) = measure(flat, [request], plan()).results
    assert math.isnan(result.estimate), f"{request.label}: {result.estimate} from nothing"
    assert result.undefined
    assert result.interval is None


LAWS: tuple[Callable[[Request], None], ...] = (
    within_bounds,
    order_does_not_matter,
    cut_and_merged_is_whole,
    interval_holds_the_estimate,
    same_seed_same_numbers,
    a_copy_is_not_significant,
    too_few_items_are_refused,
    undefined_is_nan,
)
