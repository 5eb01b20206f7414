"""What must not move a HUSE study or fool it: the order of a file, names, odd contexts, certainty, rounding, tastes."""

import math
import random
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tests.rating_laws import rated_items
from textassay.corpus.ratings.rated_items import RatedItems, in_one_order
from textassay.errors import InputError
from textassay.inference.p_values import is_significant, p_value
from textassay.inference.rated_scores import Groups, at_least
from textassay.metrics.ratings import huse as both
from textassay.metrics.ratings.rating_view import Ratings
from textassay.studies.huse.result import HuseResult
from textassay.studies.huse.study import huse


def short(rated: RatedItems, **settings: Any) -> HuseResult:
    return huse(rated, **{"n_resamples": 59, "stability": False, "k": 8, **settings})


def shuffled(rated: RatedItems, seed: int = 0) -> RatedItems:
    """The same study with its items, raters and ratings in another order."""
    mix = random.Random(seed)
    items, raters = list(range(len(rated.items))), list(range(len(rated.raters)))
    mix.shuffle(items)
    mix.shuffle(raters)
    order = list(range(len(rated.ratings)))
    mix.shuffle(order)
    return replace(
        rated,
        items=tuple(rated.items[place] for place in items),
        raters=tuple(rated.raters[place] for place in raters),
        item_of=np.argsort(items)[rated.item_of][order],
        rater_of=np.argsort(raters)[rated.rater_of][order],
        ratings=rated.ratings[order],
    )


def numbers(found: HuseResult) -> list[Any]:
    known = [(r.metric, r.estimate, r.interval, r.p_value, dict(r.parts), r.signature) for r in found.results]
    return [*known, found.agreement and (found.agreement.alpha, found.agreement.interval)]


class TestOrderAndNames:
    @pytest.mark.parametrize("contexts", [True, False])
    def test_the_order_of_a_file_moves_nothing(self, contexts: bool) -> None:
        rated = rated_items(60, seed=1, contexts=contexts)
        one, other = short(rated), short(shuffled(rated))
        assert numbers(one) == numbers(other)
        assert one.agreement is not None
        assert other.agreement is not None
        assert set(one.agreement.raters) == set(other.agreement.raters)

    def test_nor_who_is_left_out(self) -> None:
        rated = rated_items(60, seed=1, contexts=False)
        kept = [place for place, item in enumerate(rated.items) if item.is_model or place < 40]
        chosen = np.isin(rated.item_of, kept)
        fewer = replace(
            rated,
            items=tuple(rated.items[place] for place in kept),
            item_of=np.searchsorted(kept, rated.item_of[chosen]),
            rater_of=rated.rater_of[chosen],
            ratings=rated.ratings[chosen],
        )
        one, other = short(fewer), short(shuffled(fewer))
        assert {item.id for item in one.rated.items} == {item.id for item in other.rated.items}
        assert numbers(one) == numbers(other)

    @pytest.mark.parametrize("contexts", [True, False])
    def test_nor_do_names(self, contexts: bool) -> None:
        rated = rated_items(60, seed=1, contexts=contexts)
        items = tuple(replace(item, id=f"z{item.id[::-1]}") for item in rated.items)
        renamed = replace(
            rated, items=items, raters=tuple(f"{name} x" for name in reversed(rated.raters)), name="other"
        )
        assert numbers(short(rated)) == numbers(short(renamed))

    def test_one_order_keeps_every_rating_with_its_item_and_rater(self) -> None:
        def said(rated: RatedItems) -> set[tuple[str, str, float]]:
            triples = zip(rated.item_of, rated.rater_of, rated.ratings, strict=True)
            return {(rated.items[item].id, rated.raters[rater], float(rating)) for item, rater, rating in triples}

        rated = rated_items(30, seed=2)
        assert said(in_one_order(shuffled(rated))) == said(rated)

    def test_nor_the_order_of_items_that_differ_only_in_their_raters(self) -> None:
        """One text twice, rated alike by different people: which copy comes first must not move an interval."""
        rng = np.random.default_rng(0)
        rated, taste = rated_items(80, seed=1, contexts=False), 2 * rng.normal(size=12)
        raters, ratings = [], []
        for pair in range(40):
            first = rng.permutation(12)[:5]
            given = np.clip(np.round(3.5 + taste[first] * (pair % 2) + 0.3 * rng.normal(size=5)), 1, 6)
            raters += [first, rng.permutation(12)[:5]]
            ratings += [given, given]
        items = tuple(
            replace(item, text=None, log_prob=-1.0 - place // 2, length=2, is_model=place // 2 % 2 == 1)
            for place, item in enumerate(rated.items)
        )
        names = tuple(f"r{number}" for number in range(12))
        twins = replace(
            rated, items=items, raters=names, rater_of=np.concatenate(raters), ratings=np.concatenate(ratings)
        )
        assert numbers(short(twins)) == numbers(short(shuffled(twins)))


class TestContexts:
    def test_one_context_for_all_leaves_an_interval_over_items(self) -> None:
        rated = rated_items(100, seed=3, ratings=1)
        items = tuple(replace(item, context="the same prompt") for item in rated.items)
        found = short(replace(rated, items=items))
        interval = found.results[0].interval
        assert interval is not None
        assert interval.high - interval.low > 0.1
        assert any("all items have the same context" in note for note in found.notes)

    def test_exchanges_stay_within_contexts_whatever_their_balance(self) -> None:
        """Contexts of 2 + 1 and of 1 + 2 texts that differ in probability; within one the source is arbitrary."""
        rng = np.random.default_rng(1)
        is_model = np.array([[False, False, True]] * 20 + [[False, True, True]] * 20).reshape(-1)
        context = np.arange(120) // 3
        p_values = []
        for _ in range(40):
            log_prob = -20 + np.where(context < 20, -1.5, 1.5) + rng.normal(size=120)
            ratings = np.sort(np.clip(np.round(3.5 + rng.normal(size=(120, 10))), 1, 6)).reshape(-1)
            many = np.full(120, 10)
            view = Ratings(is_model, log_prob, np.full(120, 4), context, np.arange(120), many, ratings, many.repeat(10))
            labels = Groups.of(view).exchanged(is_model, 99, rng)
            null = both.huse_exchange(view, labels, k=16, variant="released", per="token")
            p_values.append(p_value(-both.huse(view), -null, exact=False))
        assert np.mean(np.array(p_values) <= 0.05) <= 0.15

    def test_few_contexts_are_said(self) -> None:
        rated = rated_items(40, seed=3)
        items = tuple(replace(item, context=f"c{place // 4}") for place, item in enumerate(rated.items))
        assert any(note.startswith("10 contexts: too few") for note in short(replace(rated, items=items)).notes)


class TestCertainty:
    def test_telling_all_of_40_rightly_is_not_certainty(self) -> None:
        found = short(rated_items(40, seed=1, apart=60.0))
        scores = {result.metric: result for result in found.results}
        assert (scores["huse"].estimate, scores["huse_d"].estimate) == (0, 1)
        # Of 40 items 0 are told wrongly: up to 9 % may be.
        assert scores["huse"].interval is not None
        assert scores["huse"].interval.high == pytest.approx(0.175, abs=0.01)
        assert scores["huse_d"].interval is not None
        assert scores["huse_d"].interval.low < 0.9
        assert scores["huse_d"].interval.high > 1.1

    def test_the_floor_of_an_interval_never_narrows_it(self) -> None:
        wide = at_least(0.5, (0.1, 0.9), {"accuracy": 0.75}, 100, 0.95)
        assert wide == (0.1, 0.9)
        low, high = at_least(0.5, (0.5, 0.5), {"accuracy": 0.75}, 100, 0.95)
        assert low < 0.4
        assert high > 0.6
        assert at_least(0.5, (0.5, 0.5), {}, 100, 0.95) == (0.5, 0.5)


class TestVerdicts:
    def test_too_few_resamples_for_any_test_is_said(self) -> None:
        found = short(rated_items(120, seed=1, apart=2.0), n_resamples=19)
        assert found.verdict.decision == "untested"
        assert "at least 39 are needed" in found.verdict.sentence
        assert short(rated_items(120, seed=1, apart=2.0), n_resamples=39).verdict.decision == "differs"

    @pytest.mark.parametrize("metrics", [["huse"], ["huse", "huse_q"]])
    def test_the_threshold_is_that_of_the_test(self, metrics: list[str]) -> None:
        found = short(rated_items(100, seed=4, apart=0.0), metrics=metrics, n_resamples=199)
        (result, *_) = found.results
        assert result.p_value is not None
        told = is_significant(result.p_value * len(metrics), 0.95)
        assert told == (result.estimate < result.parts["told_below"])
        assert ("after correction for 2 tests" in found.verdict.sentence) == (len(metrics) == 2)

    def test_a_missing_test_has_its_true_reason(self) -> None:
        assert "HUSE-D has none" in short(rated_items(60, seed=1), metrics=["huse_d"]).verdict.sentence
        rated = rated_items(60, seed=1)
        items = tuple(replace(item, log_prob=-6.0, length=3) for item in rated.items)
        flat = replace(rated, items=items, ratings=np.full(300, 3.0))
        assert "no score is defined" in short(flat).verdict.sentence


class TestOddNumbers:
    def test_equal_log_probabilities_prove_no_diversity(self) -> None:
        rated = rated_items(60, seed=1)
        items = tuple(replace(item, log_prob=-2.0 * item.length) for item in rated.items)
        found = short(replace(rated, items=items))
        assert found.results[2].undefined
        assert any("all log-probabilities per token are the same" in note for note in found.notes)

    def test_equal_ratings_that_are_no_binary_fractions_are_equal(self) -> None:
        rated = rated_items(60, seed=1, ratings=8)
        kept = rated.rater_of <= rated.item_of % 7
        rated = replace(
            rated, item_of=rated.item_of[kept], rater_of=rated.rater_of[kept], ratings=np.full(kept.sum(), 0.1)
        )
        assert math.isnan(short(rated).results[1].estimate)

    def test_tiny_scales_do_not_matter_and_huge_ones_are_refused(self) -> None:
        rated = rated_items(60, seed=1)
        tiny = replace(rated, ratings=rated.ratings * 2.0**-700)
        assert [r.estimate for r in short(tiny).results] == [r.estimate for r in short(rated).results]
        huge = replace(rated, items=tuple(replace(item, log_prob=item.log_prob * 1e305) for item in rated.items))
        with pytest.raises(InputError, match="too large a number"):
            short(huge)


@pytest.mark.slow
def test_raters_of_different_taste_widen_the_interval() -> None:
    """Five raters who rate everything, some of whom dislike the model's style: others would give other scores."""
    estimates, halves = [], []
    for seed in range(10):
        rng = np.random.default_rng(seed)
        rated = rated_items(200, seed=seed, apart=0.0)
        taste = -0.7 + rng.normal(size=5)
        source = np.array([item.is_model for item in rated.items])[rated.item_of]
        ratings = np.clip(np.round(rated.ratings + taste[rated.rater_of] * source), 1, 6)
        (result,) = short(replace(rated, ratings=ratings), metrics=["huse_q"], k=16).results
        assert result.interval is not None
        estimates.append(result.estimate)
        halves.append((result.interval.high - result.interval.low) / 2)
    assert np.mean(halves) > 0.75 * 1.96 * np.std(estimates)
