"""Conclusions follow from numbers: with random ones in their place, no reproduction concludes that a paper agrees."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tests.conftest import ROOT
from textassay.corpus.ratings.files import read_ratings
from textassay.corpus.ratings.rated_items import RatedItems
from textassay.inference.items.labellings import Figures
from textassay.reproduce import huse_paper
from textassay.reproduce.catalogue import REPRODUCTIONS, reproduce
from textassay.reproduce.claims import Check, Claim, Measured, conclude, exact_steps, steps
from textassay.reproduce.result import Reproduction
from textassay.reproduce.triangles import images

COMMITTED = ROOT / "docs" / "reproductions"
DRAWS = 500


def sizes(claims: Sequence[Claim]) -> list[float]:
    """The sizes of all numbers of some claims."""
    checks = [check for claim in claims for check in claim.checks]
    numbers = [number for check in checks for number in (check.measured.estimate, check.target) if number]
    return [abs(number) for number in numbers] + [claim.margin for claim in claims]


def with_random_numbers(claim: Claim, largest: float, rng: np.random.Generator) -> Claim:
    """The claim with random numbers, each with the interval that was measured around it."""

    def drawn(check: Check) -> Check:
        old, new = check.measured, float(rng.uniform(-largest, largest))
        ends = (
            None if end is None or old.estimate is None else new + end - old.estimate for end in (old.low, old.high)
        )
        return replace(check, measured=Measured(new, *ends))

    return replace(claim, checks=tuple(map(drawn, claim.checks)))


@pytest.mark.parametrize("name", REPRODUCTIONS)
def test_no_conclusion_of_agreement_survives_random_numbers(name: str) -> None:
    claims = Reproduction.from_json((COMMITTED / f"{name}.json").read_text(encoding="utf-8")).claims
    largest, rng = 2 * max(sizes(claims)), np.random.default_rng(7)
    agreeing = sum(all(with_random_numbers(claim, largest, rng).agrees for claim in claims) for _ in range(DRAWS))
    assert agreeing <= DRAWS // 100, "too few or too weak numbers for a conclusion"


@pytest.mark.parametrize("name", REPRODUCTIONS)
def test_a_claim_states_its_margin_and_where_its_uncertainty_comes_from(name: str) -> None:
    found = Reproduction.from_json((COMMITTED / f"{name}.json").read_text(encoding="utf-8"))
    assert found.claims
    for claim in found.claims:
        assert claim.checks, claim.published
        assert claim.margin >= 0
        assert claim.basis
        assert not claim.published.endswith(".")
        assert len({check.what for check in claim.checks}) == len(claim.checks)
        # A number that only rounding separates from the limit of a strict rule shows nothing.
        assert claim.rule != "within" or claim.margin > 0


def measured(low: float, high: float) -> Measured:
    return Measured.between((low + high) / 2, low, high)


@pytest.mark.parametrize(
    ("rule", "margin", "number", "decision"),
    [
        ("within", 0.1, measured(0.95, 1.05), "holds"),
        ("within", 0.1, measured(0.85, 1.05), "undecided"),
        ("within", 0.1, measured(1.2, 1.3), "fails"),
        ("within", 0.1, Measured.exact(1.2), "fails"),
        ("within", 0.1, Measured(1.0, None, None), "undecided"),
        ("above", 0.0, Measured.exact(1.0), "fails"),
        ("above", 0.0, measured(1.01, 1.02), "holds"),
        ("above", 0.05, measured(1.01, 1.02), "fails"),
        ("above", 0.0, measured(0.9, 1.5), "undecided"),
        ("below", 0.0, measured(0.1, 0.2), "holds"),
        ("below", 0.0, measured(0.9, 1.1), "undecided"),
        ("below", 0.0, measured(1.1, 1.2), "fails"),
        ("below", 0.0, Measured.exact(float("nan")), "undecided"),
    ],
)
def test_a_number_is_decided_by_its_whole_interval(rule: str, margin: float, number: Measured, decision: str) -> None:
    claim = Claim("x", (Check("x", number, 1.0),), rule, margin, "chosen here")  # type: ignore[arg-type]
    assert claim.decision == decision
    assert claim.agrees is (decision == "holds")


def test_one_failure_fails_a_claim_and_one_doubt_leaves_it_undecided() -> None:
    good, doubtful, bad = (
        Check(name, number)
        for name, number in zip("abc", (measured(1, 2), measured(-1, 2), measured(-2, -1)), strict=True)
    )
    decisions = [
        Claim("x", checks, "above", 0.0, "y").decision for checks in ((good,), (good, doubtful), (good, doubtful, bad))
    ]
    assert decisions == ["holds", "undecided", "fails"]


def test_the_conclusion_lists_every_claim_by_its_decision() -> None:
    claims = [
        Claim(name, (Check("value", number),), "above", 0.0, "y")
        for name, number in (("first", measured(1, 2)), ("second", measured(-2, -1)), ("third", measured(-1, 1)))
    ]
    assert conclude(claims) == "Holds here: first. Does not hold here: second. Undecided here: third."
    assert [claim.found for claim in claims[:2]] == ["value 1.50 (1.00 to 2.00)", "value -1.50 (-2.00 to -1.00)"]


def test_intervals_cover_a_known_mean() -> None:
    rng = np.random.default_rng(0)
    covered = 0
    for _ in range(400):
        values = rng.normal(3.0, 2.0, size=6)
        found = Measured.over([*values, float("nan")])
        assert found.low is not None
        assert found.high is not None
        covered += found.low <= 3.0 <= found.high
    assert 360 <= covered <= 395
    # The jackknife of a mean is the interval of the mean, but for its quantile.
    values = rng.normal(size=50)
    by_fold = Measured.jackknife(values.mean(), [np.delete(values, place).mean() for place in range(50)])
    by_hand = Measured.give_or_take(values.mean(), values.std(ddof=1) / np.sqrt(50))
    assert (by_fold.low, by_fold.high) == pytest.approx((by_hand.low, by_hand.high))


def test_a_few_equal_values_claim_no_certainty() -> None:
    assert Measured.over([0.75] * 3) == Measured(0.75, None, None)
    assert Measured.over([0.8] * 10).low == pytest.approx(0.8)


def test_a_difference_has_the_uncertainty_of_both_sides() -> None:
    found = Measured.between(1.0, 0.7, 1.3).less(Measured.between(0.5, 0.1, 0.9))
    assert (found.estimate, found.low, found.high) == pytest.approx((0.5, 0.0, 1.0))
    assert Measured.exact(1.0).less(Measured(0.5, None, None)) == Measured(0.5, None, None)
    assert Measured.exact(float("nan")).less(Measured.exact(0.0)) == Measured(None, None, None)


def test_steps_pair_replicates() -> None:
    (only,) = steps("x", "ab", [[1.0, 5.0, 9.0], [2.0, 6.0, 10.5]])
    assert only == Check("x, a to b", Measured.over([1.0, 1.0, 1.5]))
    assert exact_steps("x", "ab", [1.0, 3.0]) == (Check("x, a to b", Measured.exact(2.0)),)


@pytest.fixture
def random_ratings(monkeypatch: pytest.MonkeyPatch) -> None:

    def shuffled(path: str) -> RatedItems:
        rated = read_ratings(path)
        return replace(rated, ratings=np.random.default_rng(1).integers(1, 7, size=len(rated.ratings)).astype(float))

    monkeypatch.setattr(huse_paper, "read_ratings", shuffled)


@pytest.mark.parametrize("name", ["huse-table-1", "huse-table-2", "huse-figure-3", "huse-figure-4"])
def test_random_ratings_agree_with_nothing(name: str, data: Path, random_ratings: None) -> None:
    found = reproduce(name, data=str(data), scale="smoke")
    assert found.n_agreeing < len(found.claims)
    assert "Does not hold here" in found.conclusion


def test_random_p_values_agree_with_no_table_of_captions(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(2)

    def drawn(_request: object, _pool: object, every: object) -> Iterator[object]:
        values = rng.random(len(every.labels))  # type: ignore[attr-defined]
        return Figures(float(values[0]), float((values >= values[0]).mean())), values  # type: ignore[return-value]

    monkeypatch.setattr(images, "measure_item", drawn)
    for name in ("trm-table-1", "trm-table-3", "trm-table-4", "trm-figure-3", "trm-figure-7"):
        found = reproduce(name, data=str(data), scale="smoke", n_items=60)
        assert found.n_agreeing < len(found.claims), name
        assert "more sensitive" not in found.conclusion.partition("Does not hold")[0].partition("Undecided")[0], name
