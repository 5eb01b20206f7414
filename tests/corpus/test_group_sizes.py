"""Samples whose groups have different sizes: equally many texts per group are compared and tested."""

import numpy as np
import pytest

from textassay import Sample
from textassay.corpus.sizes import cut_samples
from textassay.inference.overall.test import OverallPlan, overall_test
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
