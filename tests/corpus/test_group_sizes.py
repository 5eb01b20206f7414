"""Samples whose groups have different sizes: equally many texts per group are compared and tested."""

import math
from typing import Any

import numpy as np
import pytest

from textassay import Sample, compare
from textassay.corpus.sizes import cut_pairs, cut_samples
from textassay.inference.overall.test import OverallPlan, overall_test
from textassay.inference.result import Result
from textassay.metrics.views import Material


def grouped(sizes: list[int], *, seed: int = 0, prefix: str = "g", spread: float = 0.8) -> Sample:
    """Texts whose words depend on their group: each group prefers a few of fifty words."""
    rng = np.random.default_rng([seed, *prefix.encode()])
    texts, groups = [], []
    for group, size in enumerate(sizes):
        weights = rng.gamma(1 - spread + 0.1, size=50)
        texts += [" ".join(f"w{k}" for k in rng.choice(50, 12, p=weights / weights.sum())) for _ in range(size)]
        groups += [f"{prefix}{group}"] * size
    return Sample.of(texts, name=prefix, groups=groups)


@pytest.mark.parametrize(
    ("mine", "real", "texts", "groups"),
    [
        ([10] * 20, [1] * 20, 20, 20),
        ([1] * 60, [5] * 60, 60, 60),
        ([5] * 30, [10] * 30, 150, 30),
        # One small group does not decide for all others.
        ([10] * 30 + [1], [5] * 30, 150, 30),
    ],
)
def test_equally_many_texts_per_group(mine: list[int], real: list[int], texts: int, groups: int) -> None:
    cut = cut_samples(grouped(real, prefix="r"), {"c": grouped(mine, prefix="c")}, size="match", seed=0)
    for sample in (cut.reference, cut.candidates["c"], *cut.tested["c"]):
        assert len(sample) == texts
        assert sample.count_independent() == groups
    assert any("drawn from each group" in note for note in cut.notes)


def test_groups_of_one_distribution_stay_whole() -> None:
    rng = np.random.default_rng(0)
    sizes = [rng.integers(1, 12, 40).tolist() for _ in range(2)]
    cut = cut_samples(grouped(sizes[0], prefix="r"), {"c": grouped(sizes[1], prefix="c")}, size="all", seed=0)
    assert [len(side) for side in cut.tested["c"]] == [sum(sizes[1]), sum(sizes[0])]
    assert cut.notes == ()


def test_texts_of_a_shared_prompt_exchange_whatever_their_numbers() -> None:
    real, candidate = grouped([1] * 20), grouped([10] * 20, seed=1)
    cut = cut_samples(real, {"c": candidate}, size="match", seed=0)
    assert [len(side) for side in cut.tested["c"]] == [200, 20]
    assert [len(cut.candidates["c"]), len(cut.reference)] == [20, 20]


@pytest.mark.parametrize(("mine", "real"), [(5, 1), (1, 5), (10, 5)])
def test_the_level_is_kept_with_groups_of_unequal_sizes(mine: int, real: int) -> None:
    rejected = 0
    for seed in range(40):
        sides = grouped([mine] * 30, seed=seed, prefix="c"), grouped([real] * 30, seed=seed, prefix="r")
        tested = cut_samples(sides[1], {"c": sides[0]}, size="match", seed=seed).tested["c"]
        parts = [Material(side) for side in tested]
        found = overall_test(parts[0], parts[1], plan=OverallPlan(n_resamples=99))
        rejected += found.p_value is not None and found.p_value <= 0.05
    # Without even groups 8 and 12 of 40 are rejected where one side has one text per group.
    assert rejected <= 7


@pytest.mark.parametrize("together", [True, False])
def test_groups_that_all_have_different_sizes_are_compared(together: bool) -> None:
    """As drawn where the sizes of both samples are alike; equally many texts per group where one has larger groups."""
    mine, real = ([*range(1, 60, 2)], [*range(2, 61, 2)]) if together else ([*range(1, 31)], [*range(31, 61)])
    rejected = 0
    for seed in range(30):
        sides = grouped(mine, seed=seed, prefix="c"), grouped(real, seed=seed, prefix="r")
        cut = cut_samples(sides[1], {"c": sides[0]}, size="match", seed=seed)
        assert together is not any("drawn from each group" in note for note in cut.notes)
        parts = [Material(side) for side in cut.tested["c"]]
        found = overall_test(parts[0], parts[1], plan=OverallPlan(n_resamples=99))
        assert found.p_value is not None
        rejected += found.p_value <= 0.05
    assert rejected <= 5


def baseline(real: Sample, candidate: Sample, **fields: Any) -> dict[str, Result]:
    found = compare(real, {"c": candidate}, metrics="edges,distinct,bleu", n_resamples=19, **fields)
    return {result.metric: result for result in found.baseline} | {"c": found["c"]["bleu"]}


def test_one_text_of_one_more_group_hardly_moves_the_baseline() -> None:
    """Real texts of the same groups compare with each other, and the one that has no fellow is left out."""
    one = baseline(grouped([4] * 30), grouped([2] * 30, seed=1), pair="g")
    other = baseline(grouped([4] * 30 + [1]), grouped([2] * 30 + [1], seed=1), pair="g")
    for name in ("edges", "bleu"):
        assert other[name].estimate == pytest.approx(one[name].estimate, rel=0.15)
    assert other["bleu"].n == 60


@pytest.mark.parametrize("fields", [{"pair": "g"}, {"group": "g"}])
def test_without_real_texts_of_the_same_groups_there_is_no_baseline(fields: dict[str, Any]) -> None:
    real, candidate = grouped([1] * 40), grouped([1] * 40, seed=1)
    found = compare(real, {"c": candidate}, metrics="edges,distinct,bleu,cr", n_resamples=99, **fields)
    by_name = {result.metric: result for result in found.baseline}
    assert math.isfinite(by_name["distinct"].estimate)
    for name in ("edges", "bleu", "cr"):
        assert "no baseline: " in (by_name[name].undefined or "")
        assert "different groups" in (by_name[name].undefined or "")
    assert any(note.startswith("no baseline for metrics that compare: ") for note in found.notes)
    assert not found["c"].at_baseline_size
    assert "real v real" not in found["c"].verdict.sentence
    assert type(found).from_json(found.to_json()) == found
    assert found.to_html()


def test_candidates_at_the_size_of_the_baseline_come_from_the_same_groups() -> None:
    """Two parts of three real texts have one text of each group, not all texts of a third of the groups."""
    real, candidate = grouped([3] * 30), grouped([3] * 30, seed=1)
    cut = cut_pairs(real, {"c": candidate}, size="match", seed=0)
    for part in (cut.held_out, cut.base, cut.like_held_out["c"]):
        assert (len(part), part.count_independent()) == (30, 30)
