"""The laws over every declared metric and option, and the laws themselves on metrics that break them."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tests import laws
from textassay.metrics.learned.model_texts import model_name
from textassay.metrics.ngrams.counts import distinct
from textassay.metrics.registry import Metric, Request, all_metrics, parse_requests
from textassay.metrics.vectors.mmd import mmd
from textassay.models.ngrams.ngram import train

# Models for options that need one, by the name of the option. They are similar, so that texts may be from both.
TRAINED = {name: train(laws.corpus(seed, 600), order=2) for seed, name in enumerate(("model", "oracle"), 70)}
MODELS = {name: model_name(model) for name, model in TRAINED.items()}


def variants() -> list[Request]:
    """Every metric with its defaults and with each choice of each of its options.

    Options that need a model have a small one.
    """
    specs = [
        ":".join([metric.name, *setting, *(f"{name}={MODELS[name]}" for name in under(metric, setting).required)])
        for metric in all_metrics().values()
        if metric.on_samples
        for setting in [[], *([f"{o.name}={c}"] for o in metric.options.values() for c in o.choices)]
    ]
    return parse_requests(specs)


def under(metric: Metric, settings: list[str]) -> Metric:
    return metric.under(dict(setting.split("=") for setting in settings))


def requests() -> list[Any]:
    """The variants; training networks takes long."""
    slow = {"cnn", "lstm"}
    return [
        pytest.param(
            request,
            id=request.label.replace(" ", ":"),
            marks=[pytest.mark.slow] if slow & set(map(str, request.options.values())) else [],
        )
        for request in variants()
    ]


@pytest.mark.parametrize("law", laws.LAWS, ids=lambda law: law.__name__)
@pytest.mark.parametrize("request_", requests())
def test_law(request_: Request, law: Callable[[Request], None]) -> None:
    law(request_)


def broken(name: str, function: Callable[..., Any], **changes: Any) -> Request:
    """A declared metric with a wrong function in place of its own."""
    request = parse_requests([name])[0]
    return Request(replace(request.metric, function=function, **changes), request.options)


def too_large(candidate: Any, reference: Any, *, n: int, variant: str, weight: str) -> Any:
    return 3.0 + 0 * candidate.n_texts


def first_text_only(candidate: Any, /, *, n: int) -> float:
    return float(candidate.lengths[0] / 100 + len(candidate))


def knows_how_it_was_cut(candidate: Any, /, *, n: int) -> float:
    return float("merge" in candidate._count.__qualname__)


def noisy(candidate: Any, /, *, n: int) -> Any:
    return np.random.default_rng().random() + 0 * candidate.n_texts


def without_singles(candidate: Any, /, *, n: int) -> Any:
    table = candidate.table(n)
    return (table.counts > 0).sum(axis=-1) / table.total


def sized(candidate: Any, reference: Any, *, n: int, variant: str, weight: str) -> Any:
    table = candidate.table(n)
    return (table.counts * reference.table(n).counts).sum(axis=-1)


def forgets_the_labels(candidate: Any, reference: Any, /, *, resamples: Any, kernel: str, variant: str) -> Any:
    return np.full(len(resamples.masks[0]), 0.1)


@pytest.mark.parametrize(
    ("law", "request_"),
    [
        (laws.a_rise_is_as_declared, broken("distinct", distinct, rise="less diverse")),
        (laws.within_bounds, broken("cnd", too_large)),
        (laws.order_does_not_matter, broken("self_bleu", first_text_only)),
        (laws.cut_and_merge_is_the_whole, broken("self_bleu", knows_how_it_was_cut)),
        (laws.interval_holds_the_estimate, broken("distinct", noisy, bounds=(0.0, 0.2))),
        (laws.same_seed_same_result, broken("distinct", noisy)),
        (laws.a_copy_is_not_significant, broken("cnd", sized)),
        (laws.resampling_is_counting_anew, broken("distinct", without_singles)),
        (laws.exchanging_is_measuring_anew, broken("mmd", mmd, exchange=forgets_the_labels)),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_each_law_catches_a_broken_metric(law: Callable[[Request], None], request_: Request) -> None:
    with pytest.raises(AssertionError):
        law(request_)
