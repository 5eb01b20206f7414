"""Raters: agreement by hand, who is flagged and who is not, simulated and real ratings, and the edges."""

import csv
import math
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import pearsonr

from textassay.inference.raters import FEWEST_RATINGS, RaterFigures, rater_facts

F64 = NDArray[np.float64]
I64 = NDArray[np.int64]
Study = tuple[I64, I64, F64]


def honest(quality: F64, rng: np.random.Generator) -> F64:
    """Ratings 1 to 6, with the noise and the differences between raters that those of paper 004 have."""
    keen = math.exp(rng.normal(0, 0.34))
    spread = 1.6 / math.sqrt(1 + 0.59 * keen**2)
    latent = 4 + rng.normal(0, 0.6) + spread * (keen * quality + rng.normal(size=len(quality)))
    return np.clip(np.round(latent), 1, 6)


def blind(quality: F64, rng: np.random.Generator) -> F64:
    answers = [np.arange(1, 7), np.array([3, 4, 5]), np.array([2, 4, 4, 5, 5, 6])][rng.integers(3)]
    return rng.choice(answers, size=len(quality)).astype(np.float64)


def study(rng: np.random.Generator, n_raters: int, n: int, *, an_item: int = 10, n_blind: int = 0) -> Study:
    """Each rater has n ratings, each item as many as told; the first raters are blind."""
    n_items = n_raters * n // an_item
    item_of = np.concatenate([rng.permutation(n_items) for _ in range(an_item)])
    rater_of = np.repeat(np.arange(n_raters), n)
    quality = rng.choice([-0.6, 0.6], size=n_items) + rng.normal(0, 0.5, size=n_items)
    return (
        item_of,
        rater_of,
        np.concatenate(
            [(blind if k < n_blind else honest)(quality[item_of[k * n : (k + 1) * n]], rng) for k in range(n_raters)]
        ),
    )


def facts(ratings: Study, n_raters: int, *, seed: int = 0, n_resamples: int = 999) -> list[RaterFigures]:
    return rater_facts(*ratings, n_raters, seed=seed, n_resamples=n_resamples)


def n_flagged(found: list[RaterFigures]) -> int:
    return sum(bool(rater.reason) for rater in found)


def test_figures_are_those_by_hand() -> None:
    item_of, rater_of, ratings = study(np.random.default_rng(0), 12, 40, an_item=6)
    found = facts((item_of, rater_of, ratings), 12, n_resamples=4999)
    for place, rater in enumerate(found):
        own = np.flatnonzero(rater_of == place)
        others = [ratings[(item_of == item_of[k]) & (rater_of != place)].mean() for k in own]
        by_hand = pearsonr(ratings[own], others, alternative="greater")
        assert (rater.rater, rater.n) == (place, 40)
        assert rater.mean == pytest.approx(ratings[own].mean())
        assert rater.agreement == pytest.approx(by_hand.statistic, abs=1e-12)
        assert rater.p_value == pytest.approx(by_hand.pvalue, abs=0.03)


def test_order_and_scale_do_not_matter() -> None:
    rng = np.random.default_rng(1)
    item_of, rater_of, ratings = study(rng, 30, 50, n_blind=8)
    found = facts((item_of, rater_of, ratings), 30)
    assert n_flagged(found) > 2
    order = rng.permutation(len(ratings))
    assert facts((item_of[order], rater_of[order], ratings[order]), 30) == found
    stretched = facts((item_of, rater_of, ratings * 2.0**-20), 30)
    assert [(rater.agreement, rater.p_value, rater.reason) for rater in stretched] == [
        (rater.agreement, rater.p_value, rater.reason) for rater in found
    ]


def test_p_value_is_uniform_for_blind_raters() -> None:
    found = facts(study(np.random.default_rng(2), 200, 20, n_blind=200), 200, n_resamples=199)
    p_values = np.array([rater.p_value for rater in found])
    for level in (0.1, 0.5, 0.9):
        assert (p_values <= level).mean() == pytest.approx(level, abs=0.11)
    # Nobody agrees with anybody, so that nobody can be told from a typical rater.
    assert n_flagged(found) == 0


def test_honest_raters_are_not_flagged_and_blind_ones_are() -> None:
    rng = np.random.default_rng(3)
    assert n_flagged(facts(study(rng, 200, 25), 200, n_resamples=499)) <= 4
    many = facts(study(rng, 40, 200, n_blind=8), 40, n_resamples=499)
    assert n_flagged(many[:8]) >= 7
    assert n_flagged(many[8:]) <= 1
    told = next(rater for rater in many if rater.reason)
    assert told.reason == f"does not agree with the others (r = {told.agreement:.2f} on 200 items)"
    some = facts(study(rng, 100, 25, n_blind=30), 100, n_resamples=499)
    assert n_flagged(some[:30]) >= 4
    assert n_flagged(some[30:]) <= 3


def test_nothing_is_said_of_few_ratings_and_of_items_that_hardly_differ() -> None:
    rng = np.random.default_rng(4)
    item_of, rater_of, ratings = study(rng, 40, 100, n_blind=1)
    assert facts((item_of, rater_of, ratings), 40)[0].reason
    few = np.ones(len(ratings), dtype=bool)
    few[FEWEST_RATINGS - 1 : 100] = False
    assert not facts((item_of[few], rater_of[few], ratings[few]), 40)[0].reason
    middling = np.abs(np.bincount(item_of, ratings) / np.bincount(item_of) - 4)
    alike = (rater_of > 0) | np.isin(item_of, np.argsort(middling)[:120])
    found = facts((item_of[alike], rater_of[alike], ratings[alike]), 40)[0]
    assert found.n >= FEWEST_RATINGS
    assert not found.reason


@pytest.mark.parametrize(
    ("n_same", "change", "reason"),
    [
        (25, None, "the same answer to 25 of 25 items"),
        (24, 5.0, "the same answer to 24 of 25 items"),
        (20, 5.0, ""),
    ],
)
def test_the_same_answer(n_same: int, change: float | None, reason: str) -> None:
    rng = np.random.default_rng(5)
    item_of, rater_of, ratings = study(rng, 40, 25)
    ratings[:25] = 4.0
    # Exceptions that fit nothing: high for the items that others rate as most are.
    quality = np.bincount(item_of[25:], ratings[25:]) / np.bincount(item_of[25:])
    middle = np.argsort(np.abs(quality[item_of[:25]] - np.median(quality[item_of[:25]])))
    ratings[middle[: 25 - n_same]] = 4.0 if change is None else change
    found = facts((item_of, rater_of, ratings), 40)[0]
    assert "same" not in found.reason if not reason else found.reason == reason
    assert math.isnan(found.agreement) == (n_same == 25)
    assert math.isnan(found.p_value) == (n_same == 25)


def test_the_same_answer_is_fine_where_others_give_it_or_the_exceptions_fit() -> None:
    item_of, rater_of = np.tile(np.arange(40), 10), np.repeat(np.arange(10), 40)
    ratings = np.full((10, 40), 5.0)
    for rater in range(1, 10):
        ratings[rater, rater * 4 : rater * 4 + 3] = 2.0
    assert n_flagged(facts((item_of, rater_of, ratings.ravel()), 10)) == 0
    rng = np.random.default_rng(6)
    ratings = np.clip(np.round(rng.normal(4, 1, size=(10, 40))), 2, 6)
    ratings[:, :2] = 1.0
    ratings[0] = [1.0] * 2 + [5.0] * 38
    assert not facts((item_of, rater_of, ratings.ravel()), 10)[0].reason


def test_without_anyone_to_agree_with() -> None:
    item_of, rater_of, ratings = study(np.random.default_rng(7), 20, 30)
    lonely = (
        np.append(item_of, np.arange(1000, 1020)),
        np.append(rater_of, np.full(20, 20)),
        np.append(ratings, [3.0] * 20),
    )
    *others, alone, missing = facts(lonely, 22)
    assert others == facts((item_of, rater_of, ratings), 20)
    assert (alone.n, alone.mean, alone.reason) == (20, 3.0, "")
    assert math.isnan(alone.agreement)
    assert math.isnan(alone.p_value)
    assert (missing.n, missing.reason) == (0, "")
    assert math.isnan(missing.mean)
    nothing = np.empty(0, dtype=np.int64)
    assert facts((nothing, nothing, np.empty(0)), 0) == []
    assert [rater.n for rater in facts((nothing, nothing, np.empty(0)), 2)] == [0, 0]


def test_without_resamples() -> None:
    ratings = study(np.random.default_rng(8), 20, 30)
    with_them, without = facts(ratings, 20), facts(ratings, 20, n_resamples=0)
    assert [rater.agreement for rater in without] == [rater.agreement for rater in with_them]
    assert all(math.isnan(rater.p_value) and not rater.reason for rater in without)


def test_ratings_of_paper_004(data: Path) -> None:
    with (data / "huse" / "summarization_ratings.csv").open(encoding="utf-8", newline="") as lines:
        rows = list(csv.DictReader(lines))
    items, item_of = np.unique([row["item"] for row in rows], return_inverse=True)
    names, rater_of = np.unique([row["rater"] for row in rows], return_inverse=True)
    found = facts((item_of, rater_of, np.array([float(row["rating"]) for row in rows])), len(names))
    assert (len(items), len(names)) == (200, 93)
    flagged = {names[rater.rater]: rater for rater in found if rater.reason}
    assert flagged["r011"].reason == "the same answer to 175 of 200 items"
    assert flagged["r012"].reason == "the same answer to 25 of 25 items"
    assert flagged["r014"].reason == "does not agree with the others (r = -0.09 on 200 items)"
    assert {"r006", "r019", "r040", "r055"} < flagged.keys()
    # The paper holds up to a fifth of the data to be of low quality.
    assert 13 <= len(flagged) <= 20
    assert 0.2 <= sum(rater.n for rater in flagged.values()) / len(rows) <= 0.35
    assert all(rater.agreement < 0.15 for rater in flagged.values() if not math.isnan(rater.agreement))


@pytest.mark.slow
@pytest.mark.parametrize(("n", "least"), [(25, 0.2), (100, 0.75), (200, 0.93)])
def test_shares_that_are_flagged(n: int, least: float) -> None:
    rng = np.random.default_rng(n)
    found = [facts(study(rng, 100, n, n_blind=20), 100, seed=run) for run in range(5)]
    assert sum(n_flagged(raters[:20]) for raters in found) / 100 >= least
    assert sum(n_flagged(raters[20:]) for raters in found) / 400 <= 0.015
