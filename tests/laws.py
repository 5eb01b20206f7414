"""Laws that every metric must obey, as functions that raise AssertionError; run over all metrics and broken ones."""

import math
from collections.abc import Mapping, Sequence
from functools import reduce
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from tests.conftest import material
from textassay.corpus.sample import stream
from textassay.inference.intervals import group_labels, leave_groups_out
from textassay.inference.measure import Measured, measure
from textassay.inference.plan import Plan, Silent
from textassay.metrics.effects import EFFECTS
from textassay.metrics.registry import Request
from textassay.metrics.views import Material, Pool, Resamples, needs_encoder

WORDS = [f"w{i}" for i in range(40)]
PLAN = Plan(n_resamples=99)


def corpus(seed: int, size: int, *, words: Sequence[str] = WORDS) -> list[str]:
    """Texts of Zipf-distributed words, some of them copies, some very short."""
    rng = np.random.default_rng(seed)
    weights = 1 / np.arange(1, len(words) + 1)
    weights /= weights.sum()
    texts = [" ".join(rng.choice(words, rng.integers(5, 14), p=weights)) for _ in range(size)]
    texts[0], texts[1] = texts[2], words[0]
    return texts


def roles(candidate: list[str], reference: list[str]) -> dict[str, Material]:
    train = material(corpus(99, 50) + corpus(1, 30)[:3])
    return {"candidate": material(candidate), "reference": material(reference), "train": train}


def run(request: Request, candidate: list[str], reference: list[str], plan: Plan = PLAN) -> Measured:
    return measure([request], roles(candidate, reference), plan=plan)


def estimate(request: Request, materials: Mapping[str, Material]) -> float:
    return measure([request], materials, plan=Plan(n_resamples=0)).results[0].estimate


def within_bounds(request: Request) -> None:
    low, high = request.metric.bounds_for(request.options)
    pairs = [(corpus(1, 30), corpus(2, 30)), (["a b c d e"] * 6, corpus(3, 30)), (corpus(4, 30), ["z y x w v"] * 6)]
    for candidate, reference in pairs:
        value = estimate(request, roles(candidate, reference))
        assert math.isnan(value) or low - 1e-12 <= value <= high + 1e-12, (value, low, high)


def order_does_not_matter(request: Request) -> None:
    candidate, reference = corpus(1, 30), corpus(2, 25)
    value = estimate(request, roles(candidate, reference))
    shuffled = estimate(request, roles(candidate[::-1], reference[7:] + reference[:7]))
    rounding = 1e-9 if adds_floats(request) else 1e-12
    assert np.isclose(value, shuffled, rtol=rounding, atol=0), (value, shuffled)


def adds_floats(request: Request) -> bool:
    """Counts add up exactly in any order; sums of vectors do so up to rounding."""
    return any(needs_encoder(kind) for kind in request.metric.views)


def cut_and_merge_is_the_whole(request: Request, cuts: Sequence[int] = (0, 1, 7, 20, 30)) -> None:
    """A view merged from any parts gives the metric the same bytes as the view of the whole.

    Moments of vectors are sums of floating-point numbers, so they agree up to rounding only.
    """
    materials = roles(corpus(1, 30), corpus(2, 25))
    kinds: list[tuple[str, Any]] = list(zip(request.metric.roles, request.metric.views, strict=True))
    whole = request.value(*(materials[role].view(kind) for role, kind in kinds))
    merged: list[Any] = []
    for role, kind in kinds:
        texts = materials[role].sample.texts.to_pylist()
        bounds = [*(cut for cut in cuts if cut < len(texts)), len(texts)]
        parts = [material(texts[a:b]).view(kind) for a, b in pairwise(bounds)]
        merged.append(reduce(lambda one, other: one.merge(other), parts))
    if adds_floats(request):
        assert np.isclose(request.value(*merged), whole, rtol=1e-9, atol=0)
    else:
        assert np.float64(request.value(*merged)).tobytes() == np.float64(whole).tobytes()


def interval_holds_the_estimate(request: Request) -> None:
    for candidate, reference in [(corpus(1, 60), corpus(2, 60)), (corpus(1, 60), corpus(1, 60))]:
        result = run(request, candidate, reference).results[0]
        if request.metric.interval is not None:
            assert result.interval is not None, "an interval is declared but none came"
            assert result.estimate in result.interval, (result.estimate, result.interval)


def same_seed_same_result(request: Request) -> None:
    first, second = (run(request, corpus(1, 40), corpus(2, 40)).results[0] for _ in range(2))
    for result in (first, second):
        object.__setattr__(result, "seconds", 0.0)
    assert first == second


def a_copy_is_not_significant(request: Request) -> None:
    texts = corpus(1, 40)
    p = run(request, texts, list(texts)).results[0].p_value
    assert (p is None) == (request.metric.test is None), "a test is declared but no p-value came"
    assert p is None or p > 0.05, p


def resampling_is_counting_anew(request: Request) -> None:
    """The fast jackknife gives the values of the metric on the remaining texts."""
    method = request.metric.interval_method
    if method is None or not method.jackknifed or method.fixed:
        pytest.skip("has no jackknife, or one that keeps something fixed and has its own test")
    kind: Any = request.metric.views[0]
    for seed in range(2):
        texts = [corpus(seed, 45, words=WORDS[:12]), corpus(seed + 50, 30)]
        pool = Pool((material(texts[0]), material(texts[1])))
        found = leave_groups_out([request], pool, seed=0, progress=Silent())[request]
        for part, values in enumerate(found.by_sample):
            labels = group_labels(len(pool.parts[part].sample), stream(0, "groups", part))
            for group, value in enumerate(values):
                left = [*texts]
                left[part] = [text for text, label in zip(texts[part], labels, strict=True) if label != group]
                views = [material(side).view(kind) for side in left]
                plain = request.value(*views[: len(request.metric.roles)])
                assert np.isclose(value, plain, rtol=1e-9, atol=1e-15), (value, plain)


def exchanging_is_measuring_anew(request: Request) -> None:
    """The fast permutation test gives the values of the metric on the exchanged texts.

    A test of an expansion of the metric (`permutation:...`) must have nearly the same order of exchanges.
    """
    if request.metric.exchange is None:
        pytest.skip("has no fast permutation test")
    for sizes in ((60, 50), (100, 90)):
        _exchanges_agree(request, [corpus(1, sizes[0]), corpus(2, sizes[1])])


def _exchanges_agree(request: Request, texts: list[list[str]]) -> None:
    first, pooled_size = len(texts[0]), len(texts[0]) + len(texts[1])
    kind: Any = request.metric.views[0]
    sides = [material(side).view(kind) for side in texts]
    assert request.metric.exchange is not None
    rng = np.random.default_rng(0)
    # Texts move in pairs, so that units of more than one text are tested as well.
    units = np.arange(pooled_size) // 2
    # Values that must be equal need few exchanges; a correlation needs more.
    n_exchanges = 8 if request.metric.test == "permutation" else 60
    masks = np.array([rng.permutation(pooled_size // 2) < first // 2 for _ in range(n_exchanges)])
    masks[0] = np.arange(pooled_size // 2) < first // 2
    quick = request.metric.exchange(*sides, resamples=Resamples(units, (masks, ~masks)), **request.options)
    pooled = np.array(texts[0] + texts[1], dtype=object)
    plain = []
    for mask in masks[:, units]:
        one, other = (material(pooled[rows]).view(kind) for rows in (mask, ~mask))
        plain.append(
            request.value(one, other) if request.metric.compares else request.value(one) - request.value(other)
        )
    if request.metric.test == "permutation":
        assert np.allclose(quick, plain, rtol=1e-6, atol=1e-9), np.abs(quick - np.array(plain)).max()
    else:
        # The extrapolated variant uses the expansion of the plain value, which is only similar.
        least = 0.9 if request.options.get("variant") == "extrapolated" else 0.99
        assert float(np.corrcoef(quick, plain)[0, 1]) > least


def a_rise_is_as_declared(request: Request) -> None:
    """A sample of low quality, low diversity or many copies has a value on the side that the declared effect says."""
    if request.metric.compares and request.metric.required:
        pytest.skip("measures a model, whatever the texts are")
    rise = request.metric.rise
    healthy, reference = corpus(1, 60), corpus(2, 60)
    rng = np.random.default_rng(7)
    strange = [" ".join(rng.choice(WORDS[20:], 9)) for _ in range(60)]
    collapsed = ["w0 w1 w0 w2 w0 w1"] * 40 + healthy[:1] * 20
    copied = corpus(99, 50)[:40] + healthy[:20]
    loses_diversity = "diverse" in rise or rise in ("more repeats", "more coverage", "reference less likely")
    worse = copied if rise == "more copies" else collapsed if loses_diversity else strange
    values = [estimate(request, roles(candidate, reference)) for candidate in (healthy, worse)]
    assert (values[1] - values[0]) * EFFECTS[rise] < 0, (rise, values)


LAWS = [
    a_rise_is_as_declared,
    within_bounds,
    order_does_not_matter,
    cut_and_merge_is_the_whole,
    interval_holds_the_estimate,
    same_seed_same_result,
    a_copy_is_not_significant,
    resampling_is_counting_anew,
    exchanging_is_measuring_anew,
]
