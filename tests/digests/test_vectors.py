"""Vectors in digests: sums that merge to the same bytes, and frechet, mmd and the overall test from them."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import textassay as ta
from tests.laws import corpus
from textassay.corpus.arrays import F32
from textassay.corpus.hashed_ngrams import hash_words
from textassay.corpus.sample import Sample
from textassay.digests.build import Recipe
from textassay.digests.digest import Digest, digest_sample, merge_digests
from textassay.digests.file import digest_bytes, read_digest, write_digest
from textassay.digests.statistics import Layout
from textassay.errors import InputError
from textassay.metrics.vectors.features import BANDWIDTHS, kernel_weights
from textassay.metrics.views import Settings

LAYOUTS = [Layout(16), Layout(16, 4096)]


@dataclass(frozen=True)
class Words:
    """The mean of fixed random vectors of the words of a text, scaled to length 1."""

    name: str = "words of a text"
    dimension: int = 24

    def encode(self, texts: Sequence[str], /) -> F32:
        return np.stack([self._of(text) for text in texts]) if texts else np.zeros((0, self.dimension), np.float32)

    def _of(self, text: str) -> F32:
        seeds = hash_words(pa.array(text.split())).tolist()
        total = np.sum([np.random.default_rng(seed).standard_normal(self.dimension) for seed in seeds], axis=0)
        return np.asarray(total / np.linalg.norm(total), dtype=np.float32)


def made(texts: list[str], name: str, layout: Layout, first: int = 0) -> Digest:
    ids = pa.array([f"id {first + k}" for k in range(len(texts))])
    return digest_sample(Sample.of(texts, name=name, ids=ids), Settings(encoder=Words()), layout=layout)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_vectors_of_parts_add_up_to_the_bytes_of_the_whole(layout: Layout, tmp_path: Path) -> None:
    texts, cuts = corpus(1, 90), [0, 11, 50, 90]
    parts = [made(texts[a:b], f"part {a}", layout, a) for a, b in pairwise(cuts)]
    assert len({digest_bytes(merge_digests(order)) for order in (parts, parts[::-1])}) == 1
    whole, merged = made(texts, "whole", layout), merge_digests(parts)
    for name in whole.tables:
        for column in ("keys", "blocks", "values"):
            assert np.array_equal(getattr(whole.tables[name], column), getattr(merged.tables[name], column)), name
    write_digest(merged, tmp_path / "a.digest")
    read = read_digest(tmp_path / "a.digest")
    assert (read.header, "words of a text" in read.described()) == (merged.header, True)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_frechet_and_mmd_are_those_of_the_vectors(layout: Layout) -> None:
    real, mine = corpus(1, 400), [text.replace("w1", "w2") for text in corpus(2, 400)]
    outcome = ta.compare(made(real, "real", layout), {"a": made(mine, "a", layout)}, n_resamples=99)
    found, baseline = outcome["a"], {result.metric: result for result in outcome.real.results}
    assert baseline["mmd"].undefined is None
    assert ("summed over all blocks" in (baseline["frechet"].undefined or "")) == bool(layout.sketch)
    exact = ta.compare(real, {"a": mine}, metrics=["frechet", "mmd"], encoder=Words(), n_resamples=0)["a"]
    assert found["frechet"].estimate == pytest.approx(exact["frechet"].estimate, rel=1e-3)
    assert found["mmd"].estimate == pytest.approx(exact["mmd"].estimate, rel=0.05)
    assert found["mmd"].parts["bandwidth"] == pytest.approx(exact["mmd"].parts["bandwidth"], rel=0.05)
    assert found["mmd"].p_value == pytest.approx(0.01)
    assert found["mmd"].interval is not None
    assert (found["frechet"].interval is None) == bool(layout.sketch)
    assert "words of a text" in found["frechet"].signature
    members = {member.name for member in found.overall.members}
    assert {"mmd", "ridge"} <= members
    assert "words of a text" in found.overall.signature


def test_same_source_is_not_told_apart_by_vectors() -> None:
    sides = [made(corpus(seed, 400), str(seed), LAYOUTS[1]) for seed in (1, 2)]
    found = ta.compare(sides[0], {"a": sides[1]}, n_resamples=99)["a"]
    assert found["mmd"].p_value is not None
    assert found["mmd"].p_value > 0.05
    assert found.overall.p_value is not None
    assert found.overall.p_value > 0.05


def test_interval_of_frechet_is_near_that_of_the_texts() -> None:
    real, mine = corpus(1, 600), [text.replace("w1", "w2") for text in corpus(2, 600)]
    found = ta.compare(made(real, "real", Layout(20)), {"a": made(mine, "a", Layout(20))}, metrics="frechet")["a"][
        "frechet"
    ]
    exact = ta.compare(real, {"a": mine}, metrics="frechet", encoder=Words())["a"]["frechet"]
    widths = [each.interval.high - each.interval.low for each in (found, exact)]
    assert widths[0] == pytest.approx(widths[1], rel=0.6)


@pytest.mark.parametrize("bandwidth", [0.35, 0.5, 0.63, 0.8])
def test_kernels_are_interpolated(bandwidth: float) -> None:
    distances = np.linspace(0, 1.5, 50)
    kernels = np.stack([np.exp(-(distances**2) / 2 / each**2) for each in BANDWIDTHS])
    exact = np.exp(-(distances**2) / 2 / bandwidth**2)
    assert np.abs(kernel_weights(bandwidth) @ kernels - exact).max() < 0.01


def test_other_encoders_and_options_are_refused() -> None:
    texts = corpus(1, 50)
    with_vectors, without = (
        made(texts, "a", LAYOUTS[0]),
        digest_sample(Sample.of(texts, name="b"), Settings(), layout=LAYOUTS[0]),
    )
    with pytest.raises(InputError, match="encoder words of a text and none"):
        ta.compare(with_vectors, {"b": without})
    other = digest_sample(Sample.of(texts, name="b"), Settings(encoder=Words("other")), layout=LAYOUTS[0])
    with pytest.raises(InputError, match="encoder words of a text and other"):
        merge_digests([with_vectors, other])
    with pytest.raises(InputError, match="mmd kernel=energy: needs the vectors of single texts"):
        ta.compare(with_vectors, {"a": with_vectors.named("a")}, metrics="mmd:kernel=energy")
    with pytest.raises(InputError, match="frechet: needs vectors, and this digest was made without an encoder"):
        ta.compare(without, {"a": without.named("a")}, metrics="frechet")
    for name in ("lsa", "bow:50", "vectors:a.npz"):
        with pytest.raises(InputError, match="depends on all texts of a run"):
            Recipe(encoder=name).checked()


def test_vectors_that_are_too_long_are_refused() -> None:
    @dataclass(frozen=True)
    class Long(Words):
        def encode(self, texts: Sequence[str], /) -> F32:
            return super().encode(texts) * np.float32(1000)

    with pytest.raises(InputError, match="numbers beyond 16"):
        digest_sample(Sample.of(corpus(1, 20), name="a"), Settings(encoder=Long()), layout=LAYOUTS[0])
