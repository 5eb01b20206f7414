"""The laws over every metric that is measured on ratings, and the laws themselves on metrics that break them."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tests import rating_laws as laws
from textassay.metrics.ratings.rating_view import Ratings
from textassay.metrics.registry import Request, all_metrics, parse_requests


def variants() -> list[Request]:
    """Every metric with its defaults, with another k, and with each choice of each of its options."""
    specs = [
        ":".join([metric.name, *setting])
        for metric in all_metrics().values()
        if metric.on_ratings
        for setting in [[], ["k=5"], *([f"{o.name}={c}"] for o in metric.options.values() for c in o.choices)]
    ]
    return parse_requests(specs, on="ratings")


@pytest.mark.parametrize("law", laws.LAWS, ids=lambda law: law.__name__)
@pytest.mark.parametrize("request_", variants(), ids=lambda request: request.label.replace(" ", ":"))
def test_law(request_: Request, law: Callable[[Request], None]) -> None:
    law(request_)


def broken(function: Callable[..., Any], **changes: Any) -> Request:
    """HUSE with its function exchanged for one that is wrong."""
    (request,) = parse_requests(["huse"], on="ratings")
    return Request(replace(request.metric, function=function, parts=None, exchange=None, **changes), request.options)


def too_large(view: Ratings, **_: Any) -> float:
    return 7.0


def of_the_first_item(view: Ratings, **_: Any) -> float:
    return float(view.means[0])


def noisy(view: Ratings, **_: Any) -> float:
    return float(np.random.default_rng().random())


def never_moves(view: Ratings, **_: Any) -> float:
    return 0.5


def knows_the_order(view: Ratings, **_: Any) -> float:
    return float(np.abs(view.is_model - np.arange(len(view)) % 2).mean())


@pytest.mark.parametrize(
    ("law", "metric"),
    [
        (laws.within_bounds, broken(too_large)),
        (laws.order_does_not_matter, broken(of_the_first_item)),
        (laws.cut_and_merged_is_whole, broken(noisy)),
        (laws.interval_holds_the_estimate, broken(too_large)),
        (laws.same_seed_same_numbers, broken(noisy)),
        (laws.same_seed_same_numbers, broken(never_moves)),
        (laws.a_copy_is_not_significant, broken(knows_the_order)),
        (laws.too_few_items_are_refused, broken(never_moves, minimum=2)),
        (laws.undefined_is_nan, broken(never_moves)),
    ],
    ids=lambda value: (value.metric.function if isinstance(value, Request) else value).__name__,
)
def test_each_law_catches_a_broken_metric(law: Callable[[Request], None], metric: Request) -> None:
    with pytest.raises(AssertionError):
        law(metric)
