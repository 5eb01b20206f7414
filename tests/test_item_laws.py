"""The laws over every metric that is measured on items, and the laws themselves on metrics that break them."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tests import item_laws as laws
from textassay.metrics.registry import Request, all_metrics, parse_requests
from textassay.studies.conditional import verdict


def variants() -> list[Request]:
    """Every metric with its defaults and with each choice of each of its options, on a distance of plain words."""
    specs = [
        ":".join([metric.name, *([_distance(setting)] if "distance" in metric.options else []), *setting])
        for metric in all_metrics().values()
        if metric.on_items
        for setting in [[], *([f"{o.name}={c}"] for o in metric.options.values() for c in o.choices)]
    ]
    return parse_requests(specs, on="items")


def _distance(setting: list[str]) -> str:
    """One way to join references is for one distance."""
    only = {"over=coco": "rouge_l", "over=joint": "bleu"}
    return f"distance={only.get(''.join(setting), 'edit')}"


@pytest.mark.parametrize("law", laws.LAWS, ids=lambda law: law.__name__)
@pytest.mark.parametrize("request_", variants(), ids=lambda request: request.label.replace(" ", ":"))
def test_law(request_: Request, law: Callable[[Request], None]) -> None:
    law(request_)


def broken(item: Callable[..., Any]) -> Request:
    """The plain score with its function exchanged for one that is wrong."""
    request = parse_requests(["score:distance=edit"], on="items")[0]
    metric = replace(request.metric, item=item, bounds=(0.0, 1.0), better="lower", parts=None)
    return Request(metric, request.options)


def test_the_law_of_verdicts_catches_a_verdict_that_ignores_the_direction(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(verdict, "is_worse", lambda difference, _: difference > 0)
    (request,) = parse_requests(["mauve"], on="items")
    with pytest.raises(AssertionError, match="beside_people"):
        laws.better_values_are_never_judged_worse(request)


def too_large(pool: Any, labels: Any, **_: Any) -> Any:
    return np.full(len(labels), 3.0)


def first_candidate_only(pool: Any, labels: Any, **_: Any) -> Any:
    return pool.scores["edit"][0] @ labels.reference.T


def noisy(pool: Any, labels: Any, **_: Any) -> Any:
    return np.random.default_rng().random(len(labels))


def knows_its_own(pool: Any, labels: Any, **_: Any) -> Any:
    return labels.candidate[:, : pool.sizes[0]].sum(axis=1).astype(float)


def forgets_the_labels(pool: Any, labels: Any, **_: Any) -> Any:
    return np.full(len(labels), pool.scores["edit"].mean())


@pytest.mark.parametrize(
    ("law", "item"),
    [
        (laws.within_bounds, too_large),
        (laws.order_does_not_matter, noisy),
        (laws.same_seed_same_result, noisy),
        (laws.a_copy_is_not_significant, knows_its_own),
        (laws.a_lone_labelling_is_certain, knows_its_own),
        (laws.labelling_is_measuring_anew, forgets_the_labels),
        (laws.labelling_is_measuring_anew, first_candidate_only),
        (laws.sees_another_source, forgets_the_labels),
    ],
    ids=lambda value: value.__name__,
)
def test_each_law_catches_a_broken_metric(law: Callable[[Request], None], item: Callable[..., Any]) -> None:
    with pytest.raises(AssertionError):
        law(broken(item))
