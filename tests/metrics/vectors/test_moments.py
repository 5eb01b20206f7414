"""Moments add up however a sample is cut or read, and lead back to the vectors."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import reduce
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from tests.conftest import ToyEncoder, material
from tests.laws import corpus
from textassay.encoders.remembered import Remembered
from textassay.metrics.vectors import vectors as moments_file
from textassay.metrics.vectors.vectors import Moments, Scatter, Vectors, hash_vectors
from textassay.metrics.views import Material, Pool, Resamples, Settings
from textassay.studies.compare.study import compare

TEXTS = [f"w{i % 7} w{i * i % 11} w{i}" for i in range(40)]


@dataclass(frozen=True)
class Counting:
    """The toy encoder, noting how many texts each call had."""

    calls: list[int] = field(default_factory=list)
    dimension: int = 12
    name: str = "toy"

    def encode(self, texts: Sequence[str], /) -> NDArray[np.float32]:
        self.calls.append(len(texts))
        return ToyEncoder().encode(texts)


def vectors(seed: int, n: int, d: int = 6) -> NDArray[np.float32]:
    rng = np.random.default_rng(seed)
    return (rng.standard_normal((n, d)) * np.arange(1, d + 1) + rng.standard_normal(d)).astype(np.float32)


def covariance(values: NDArray[np.float32]) -> Any:
    return np.atleast_2d(np.cov(values.T.astype(np.float64), bias=True))


@pytest.mark.parametrize("known", [True, False])
@settings(max_examples=40, deadline=None)
@given(cuts=st.lists(st.integers(0, 30), max_size=5), seed=st.integers(0, 99))
def test_any_cut_adds_up_to_the_whole(known: bool, cuts: list[int], seed: int) -> None:
    values = vectors(seed, 30)
    parts = [Moments.of_values(values[a:b]) for a, b in pairwise([0, *sorted(cuts), 30])]
    if known:
        assert sum(part.total.count for part in parts) == 30
    whole = reduce(lambda a, b: a.merge(b), parts)
    assert len(whole) == whole.total.count == 30
    np.testing.assert_allclose(whole.mean, values.astype(np.float64).mean(axis=0), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(whole.total.cross / 30, covariance(values), rtol=1e-11, atol=1e-11)
    np.testing.assert_array_equal(whole.rows(), values)


def test_a_large_mean_costs_no_digits() -> None:
    values = vectors(0, 500) + np.float32(20_000)
    centred = values.astype(np.float64) - 20_000
    expected = np.cov(centred.T, bias=True)
    parts = [Scatter.of(values[i : i + 100]) for i in range(0, 500, 100)]
    np.testing.assert_allclose(reduce(lambda a, b: a.merge(b), parts).cross / 500, expected, rtol=1e-10)
    rest = Scatter.of(values).without(parts[0])
    np.testing.assert_allclose(rest.cross / 400, np.cov(centred[100:].T, bias=True), rtol=1e-10)


@pytest.mark.parametrize("n", [5, 6, 7, 40])
def test_leaving_out_a_group_is_counting_anew(n: int) -> None:
    values, labels = vectors(1, n), np.arange(n) % 3
    for group, rest in enumerate(Moments.of_values(values).left_out(labels)):
        left = values[labels != group]
        assert len(rest) == len(left)
        np.testing.assert_allclose(rest.mean, left.astype(np.float64).mean(axis=0), atol=1e-12)
        np.testing.assert_allclose(rest.total.cross / len(left), covariance(left), atol=1e-11)


def test_many_texts_are_read_in_batches_and_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    held = material(TEXTS).view(Moments)
    monkeypatch.setattr(moments_file, "MOST_KEPT", 16)
    encoder = Counting()
    whole = Material(material(TEXTS).sample, Settings(encoder=encoder))
    streamed = whole.view(Moments)
    assert encoder.calls == [16, 16, 8]
    assert Vectors not in whole._views
    np.testing.assert_allclose(streamed.total.cross, held.total.cross, rtol=1e-12, atol=1e-12)
    assert encoder.calls == [16, 16, 8], "the moments are known without reading again"
    labels = np.arange(40) % 4
    for one, other in zip(streamed.left_out(labels), held.left_out(labels), strict=True):
        np.testing.assert_allclose(one.total.cross, other.total.cross, rtol=1e-12, atol=1e-12)
        np.testing.assert_array_equal(one.rows(), other.rows())
    assert max(encoder.calls) == 16


def test_vectors_that_are_there_are_not_made_again(monkeypatch: pytest.MonkeyPatch) -> None:
    encoder = Counting()
    few = Material(material(TEXTS).sample, Settings(encoder=encoder))
    assert len(few.view(Moments)) == len(few.view(Vectors)) == 40
    assert encoder.calls == [40]
    monkeypatch.setattr(moments_file, "MOST_KEPT", 16)
    many = Material(material(TEXTS).sample, Settings(encoder=encoder))
    many.view(Vectors)
    assert many.view(Moments).total.count == 40
    assert encoder.calls == [40, 40]


def test_buckets_depend_on_the_vectors_only_and_are_even() -> None:
    values = vectors(2, 43)
    values[10:26] = values[0]
    shuffle = np.random.default_rng(0).permutation(43)
    sides = [Moments.of_values(v).without_buckets(8) for v in (values, values[shuffle])]
    assert {len(rest) for rest in sides[0]} == {37, 38}
    for one, other in zip(*sides, strict=True):
        np.testing.assert_allclose(one.total.cross, other.total.cross, rtol=1e-10, atol=1e-10)
        copies = int((hash_vectors(one.rows().astype(np.float32)) == hash_vectors(values[:1])).sum())
        assert copies in (14, 15), "copies of one text are dealt out evenly"


def test_resampling_gives_the_chosen_texts() -> None:
    pool = Pool((material(TEXTS[:25]), material(TEXTS[25:])))
    units = np.arange(40) // 2
    mask = np.random.default_rng(0).random((3, 20)) < 0.5
    everything = ToyEncoder().encode(TEXTS)
    rows = list(pool.resample(Moments, Resamples(units, (mask, ~mask))))
    for views, row in zip(rows, mask, strict=True):
        for view, chosen in zip(views, (row, ~row), strict=True):
            np.testing.assert_array_equal(view.rows(), everything[chosen[units]])


def test_a_comparison_reads_the_vectors_of_large_samples_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """The overall test holds the vectors of all texts; moments use these and do not ask for them at each resample."""
    texts, counts, encode = corpus(0, 120), [], Remembered.encode
    read: list[int] = []

    def counted(self: Remembered, texts: Sequence[str], /) -> NDArray[np.float32]:
        read.append(len(texts))
        return encode(self, texts)

    monkeypatch.setattr(Remembered, "encode", counted)
    for most in (1000, 16):
        monkeypatch.setattr(moments_file, "MOST_KEPT", most)
        read.clear()
        compare(texts[:60], texts[60:], metrics="frechet", encoder=ToyEncoder(), n_resamples=19, explain=False)
        counts.append(sum(read))
    assert counts[0] == counts[1] > 0
