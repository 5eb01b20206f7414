"""What is said of each item and of each k: kinds that agree with the scores, and no number where there is none."""

import math
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tests.rating_laws import plan, rated_items
from textassay.corpus.ratings.rated_items import RatedItems
from textassay.inference.rated_scores import Corrected
from textassay.inference.result import Result
from textassay.metrics.ratings.rating_view import Ratings
from textassay.studies.huse.item_list import KINDS_EXPLAINED
from textassay.studies.huse.item_votes import judged_items, kinds_by_chance, scores_by_k
from textassay.studies.huse.result import KINDS
from textassay.studies.huse.study import huse
from textassay.studies.huse.verdict import judge


def with_log_probs(rated: RatedItems, values: list[float]) -> RatedItems:
    """The same items with other log-probabilities."""
    return replace(
        rated, items=tuple(replace(item, log_prob=value) for item, value in zip(rated.items, values, strict=True))
    )


def test_each_kind_is_what_its_explanation_states(data: Path) -> None:
    """Clear from the rating alone, only with the probability, or not clear; on the paper's own summaries."""
    found = huse(data / "huse" / "summarization_ratings.csv", n_resamples=0)
    for item in found.items:
        by_rating, by_both = item.votes_by_rating >= 0.75, item.votes >= 0.75
        stated = "source clear from the rating alone" if by_rating else "source clear only with the probability"
        assert KINDS_EXPLAINED[item.kind] == (stated if by_rating or by_both else "source not clear")
    assert Counter(item.kind for item in found.items) == dict(zip(KINDS, (53, 59, 88), strict=True))
    kinds = {item.item.id: item.kind for item in found.items}
    # The paper's example of a diversity failure, and a text whose rating tells nothing.
    assert kinds["human-027"] == kinds["human-052"] == "diversity failure"


def test_what_the_probability_tells_is_no_failure_of_quality() -> None:
    """Half of people's texts are ones that the model would never write; ratings know nothing of the source."""
    rated = rated_items(400, seed=1, apart=0.0, ratings=8)
    lost = np.random.default_rng(5).random(400) < 0.5
    values = [
        item.log_prob - 4 * item.length * bool(gone and not item.is_model)
        for item, gone in zip(rated.items, lost, strict=True)
    ]
    told = with_log_probs(rated, values)
    items = judged_items(told, Ratings.of(told), k=16, tied="exact", per="token")
    kinds = [item.kind for item in items if item.votes >= 0.75]
    assert len(kinds) > 100
    assert kinds.count("diversity failure") > 0.9 * len(kinds)


@pytest.mark.parametrize("seed", range(3))
def test_kinds_by_chance_are_counted_by_the_same_rule(seed: int) -> None:
    rated = rated_items(60, seed=seed, apart=0.0)
    expected = kinds_by_chance(Ratings.of(rated), plan(100), k=4, tied="exact", per="token")
    assert sum(expected) == pytest.approx(60)
    rng = np.random.default_rng(seed)
    counts = np.zeros(3)
    for _ in range(100):
        swap = rng.random(30) < 0.5
        labels = [item.is_model != bool(swap[place // 2]) for place, item in enumerate(rated.items)]
        items = tuple(replace(item, is_model=is_model) for item, is_model in zip(rated.items, labels, strict=True))
        exchanged = replace(rated, items=items)
        judged = judged_items(exchanged, Ratings.of(exchanged), k=4, tied="exact", per="token")
        kinds = [item.kind for item in judged]
        counts += [kinds.count(kind) for kind in ("quality failure", "diversity failure", "indistinguishable")]
    assert expected == pytest.approx(counts / 100, abs=1.5)


def test_no_score_of_any_k_where_its_feature_is_the_same_everywhere() -> None:
    rated = rated_items(40, seed=1)
    same_rating = replace(rated, ratings=np.full(len(rated.ratings), 3.0))
    for at in scores_by_k(Ratings.of(same_rating), chosen=4, tied="released", per="token"):
        assert math.isfinite(at.huse)
        assert math.isnan(at.huse_q)
        assert math.isnan(at.huse_d)
    same_log_prob = with_log_probs(rated, [-2.0 * item.length for item in rated.items])
    for at in scores_by_k(Ratings.of(same_log_prob), chosen=4, tied="released", per="token"):
        assert math.isfinite(at.huse_q)
        assert math.isnan(at.huse_d)
    nothing = replace(same_log_prob, ratings=same_rating.ratings)
    assert all(math.isnan(at.huse) for at in scores_by_k(Ratings.of(nothing), chosen=4, tied="released", per="token"))


def test_lengths_are_not_taken_for_probabilities() -> None:
    rated = with_log_probs(rated_items(40, seed=1), [-math.inf] * 40)
    assert len({item.length for item in rated.items}) > 1
    found = huse(rated, k=4, n_resamples=0)
    assert found.results[2].undefined is not None
    assert any("all items have probability 0 under the model" in note for note in found.notes)
    assert not any("widens the range" in note for note in found.notes)


@pytest.mark.parametrize(("level", "p"), [(0.95, 0.05), (0.9, 0.1), (0.99, 0.01)])
def test_a_p_value_at_the_level_is_significant(level: float, p: float) -> None:
    def at(value: float) -> str:
        result = Result("huse", {}, 0.8, "higher", "both", None, value, {}, None, "", 0.0, n=40)
        return judge([result], Corrected.of([result], level), level=level, n_resamples=999).decision

    assert at(p) == "differs"
    assert at(p * 1.01) == "same"
