"""The HUSE study: scores with uncertainty, what explains them, balancing, raters, notes and refusals."""

import math
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tests.rating_laws import plan, rated_items
from textassay.corpus.ratings.rated_items import RatedItem, RatedItems, balanced, only_items, without_raters
from textassay.errors import InputError
from textassay.inference.rated_scores import measure
from textassay.metrics.ratings.rating_view import Ratings
from textassay.metrics.registry import parse_requests
from textassay.studies.huse.item_votes import decision_map, kind_of, scores_by_k
from textassay.studies.huse.result import KINDS, HuseResult
from textassay.studies.huse.stability import item_steps, outlook, rating_steps, stability
from textassay.studies.huse.study import huse


def short(rated: RatedItems, **settings: object) -> HuseResult:
    """A study with few resamples."""
    chosen: dict[str, object] = {"n_resamples": 39, "stability": False, "k": 8, **settings}
    return huse(rated, **chosen)  # type: ignore[arg-type]


def test_the_papers_summaries(data: Path) -> None:
    for file in ("summarization_ratings.csv", "summarization_items.csv"):
        found = huse(str(data / "huse" / file), n_resamples=99, stability=False)
        assert [round(result.estimate, 2) for result in found.results] == [0.53, 0.58, 0.95]
        for result in found.results:
            assert result.interval is not None
            assert result.interval.low < result.estimate < result.interval.high
        assert [result.p_value for result in found.results] == [0.01, 0.01, None]
        assert found.verdict.decision == "differs"
        assert "human and model texts can be distinguished" in found.verdict.sentence


def test_chance_is_about_1_and_a_real_difference_is_below_it() -> None:
    found = short(rated_items(120, seed=1, apart=1.5), n_resamples=99)
    result = found.results[0]
    assert result.parts["chance"] == pytest.approx(1, abs=0.15)
    assert result.estimate < result.parts["chance_low"] < result.parts["chance"] < result.parts["chance_high"]
    assert result.p_value == 0.01


def test_nothing_to_tell_apart() -> None:
    found = short(rated_items(120, seed=3, apart=0.0), n_resamples=99)
    assert found.verdict.decision == "same"
    assert "would have been significant" in found.verdict.sentence


def test_a_model_that_copies_loses_diversity_only() -> None:
    """Texts as good as people's, and far more probable under the model than anything that people write."""
    rated = rated_items(200, seed=2, apart=0.0, ratings=10)
    copied = tuple(
        replace(item, log_prob=-0.5 * item.length if item.is_model else -20.0 * item.length) for item in rated.items
    )
    found = short(replace(rated, items=copied), n_resamples=99, k=16)
    huse_, quality, diversity = (result.estimate for result in found.results)
    assert quality > 0.8
    assert diversity < 0.3
    assert huse_ < 0.05
    assert "differ in diversity" in found.verdict.sentence
    assert "ratings alone do not distinguish them" in found.verdict.sentence
    assert Counter(item.kind for item in found.items)["diversity failure"] > 150


def test_kinds_follow_the_votes() -> None:
    found = short(rated_items(120, seed=1, apart=1.5))
    assert {item.kind for item in found.items} <= set(KINDS)
    for item in found.items:
        assert item.kind == kind_of(item.votes, item.votes_by_rating)
        own = item.share_model if item.item.is_model else 1 - item.share_model
        assert item.votes == pytest.approx(own)
        assert item.told == (item.share_model > 0.5) if item.item.is_model else item.told == (item.share_model <= 0.5)
    told = np.mean([item.told for item in found.items])
    assert found.results[0].estimate == pytest.approx(2 - 2 * told)


def test_scores_by_k_are_those_of_each_k_alone() -> None:
    view = Ratings.of(rated_items(80, seed=4))
    for at in scores_by_k(view, chosen=16, tied="released", per="token"):
        requests = parse_requests([f"{name}:k={at.k}" for name in ("huse", "huse_q", "huse_d")], on="ratings")
        assert [request.value(view) for request in requests] == pytest.approx([at.huse, at.huse_q, at.huse_d])


def test_the_map_is_red_where_the_model_is() -> None:
    view = Ratings.of(rated_items(200, seed=4, apart=5.0))
    drawn = decision_map(view, k=16, per="token")
    assert list(drawn.ratings) == sorted(drawn.ratings)
    assert drawn.ratings[0] < view.means.min() < view.means.max() < drawn.ratings[-1]
    # The model's texts are rated low and are probable under it.
    assert drawn.share_model[-1][0] > 0.9
    assert drawn.share_model[0][-1] < 0.1


class TestBalance:
    def test_the_larger_source_is_cut_and_that_is_said(self) -> None:
        rated = rated_items(60, seed=1)
        more = only_items(rated, lambda place: place % 2 == 0 or place < 40)
        found = balanced(more, seed=0)
        assert Counter(item.is_model for item in found.items) == {True: 20, False: 20}
        cut = "30 human items and 20 items of the other source: 10 were left out at random"
        assert any(cut in note for note in found.notes)

    def test_items_without_a_counterpart_go_first(self) -> None:
        rated = rated_items(60, seed=1)
        found = balanced(only_items(rated, lambda place: place % 2 == 0 or place < 40), seed=0)
        contexts = Counter(item.context for item in found.items)
        assert set(contexts.values()) == {2}

    def test_ratings_follow_their_items(self) -> None:
        rated = rated_items(60, seed=1)
        found = balanced(only_items(rated, lambda place: place % 2 == 0 or place < 40), seed=0)
        before = {item.id: rated.ratings[rated.item_of == place].tolist() for place, item in enumerate(rated.items)}
        for place, item in enumerate(found.items):
            assert sorted(found.ratings[found.item_of == place].tolist()) == sorted(before[item.id])

    def test_one_source_only_is_refused(self) -> None:
        with pytest.raises(InputError, match="made up: all items are human ones; wanted model ones too"):
            balanced(only_items(rated_items(10, seed=1), lambda place: place % 2 == 0), seed=0)

    def test_contexts_with_one_source_are_said(self) -> None:
        rated = only_items(rated_items(40, seed=1), lambda place: place not in (0, 3))
        assert any("2 of 20 contexts have texts of one source only" in note for note in short(rated).notes)


class TestRaters:
    @staticmethod
    def with_random_rater(n: int = 60) -> RatedItems:
        rated = rated_items(n, seed=5, ratings=6, apart=1.5)
        rng = np.random.default_rng(0)
        given = rated.ratings.copy()
        given[rated.rater_of == 2] = rng.integers(1, 7, n)
        return replace(rated, ratings=given)

    def test_random_ones_are_flagged_and_results_given_without_them(self) -> None:
        found = short(self.with_random_rater(200))
        assert found.agreement is not None
        assert [rater.name for rater in found.agreement.raters if rater.flagged] == ["r2"]
        assert [result.metric for result in found.agreement.without] == ["huse", "huse_q", "huse_d"]
        assert found.agreement.without[0].estimate != found.results[0].estimate
        assert 0 < found.agreement.alpha < 1

    def test_they_can_be_left_out_of_everything(self) -> None:
        rated = self.with_random_rater(200)
        found = short(rated, leave_out_flagged=True)
        (said,) = [note for note in found.notes if "may have answered at random" in note]
        assert said.startswith("1 rater who may have answered at random left out, with 200 ratings; ")
        assert "lowers scores and raises alpha" in said
        assert len(found.rated.ratings) == len(rated.ratings) - 200
        kept = short(rated)
        assert kept.agreement is not None
        assert found.results[0].estimate == kept.agreement.without[0].estimate

    def test_items_that_lose_all_their_ratings_go(self) -> None:
        rated = rated_items(10, seed=1, ratings=2)
        lone = (rated.item_of != 0) | (rated.rater_of == 1)
        rated = replace(rated, item_of=rated.item_of[lone], rater_of=rated.rater_of[lone], ratings=rated.ratings[lone])
        assert [item.id for item in without_raters(rated, ["r1"]).items] == [f"i{n}" for n in range(1, 10)]


class TestStability:
    def test_parts_of_all_are_the_whole(self) -> None:
        view = Ratings.of(rated_items(80, seed=6))
        requests = parse_requests(["huse:k=8"], on="ratings")
        points = stability(view, requests, plan(), most_k=8)
        for along, n in (("items", 80), ("ratings", 5)):
            (last,) = [point for point in points if (point.along, point.n) == (along, n)]
            assert last.mean == pytest.approx(requests[0].value(view))
        assert all(point.low <= point.mean <= point.high for point in points)

    def test_fewer_ratings_are_noisier_and_score_higher(self) -> None:
        view = Ratings.of(rated_items(200, seed=6, ratings=20, apart=1.2))
        points = stability(view, parse_requests(["huse"], on="ratings"), plan(), most_k=16)
        curve = {point.n: point.mean for point in points if point.along == "ratings"}
        assert curve[1] > curve[20] + 0.1

    def test_the_outlook_says_what_more_would_bring(self) -> None:
        rated = rated_items(120, seed=6, ratings=6, apart=1.2)
        requests, view = parse_requests(["huse"], on="ratings"), Ratings.of(rated)
        scores = measure(rated, requests, plan(99))
        points = stability(view, requests, plan(99), most_k=16)
        (found,) = outlook(view, requests, scores, points)
        assert found.half_width_more_items == pytest.approx(found.half_width / math.sqrt(2))
        assert found.half_width_more_items < found.half_width_more_ratings <= found.half_width
        assert "720 more ratings" in found.worth
        assert "; an interval of ±0.05 needs about" in found.worth
        assert "with 3 of the 6 ratings per item the score is" in found.worth

    def test_steps(self) -> None:
        assert item_steps(200, 32) == [32, 52, 74, 96, 116, 136, 158, 180, 200]
        assert all(step % 2 == 0 for step in item_steps(199, 32)[:-1])
        assert item_steps(32, 32) == [32]
        assert rating_steps(1) == []
        assert rating_steps(2) == [1, 2]


class TestNotes:
    def test_impossible_texts_are_counted(self) -> None:
        rated = rated_items(60, seed=1)
        items = (replace(rated.items[0], log_prob=-math.inf), *rated.items[1:])
        start = "1 item with probability 0 under the model: the log-probability, minus infinity, is replaced by -"
        assert any(note.startswith(start) for note in short(replace(rated, items=items)).notes)

    def test_few_ratings_and_many_items(self) -> None:
        notes = short(rated_items(900, seed=1, ratings=2), n_resamples=19).notes
        assert any(note.startswith("2 ratings per item") for note in notes)
        assert any("k = 44 has less bias than k = 8" in note for note in notes)

    def test_ties_that_rounding_breaks_are_said(self, data: Path) -> None:
        found = huse(str(data / "huse" / "summarization_ratings.csv"), n_resamples=19, stability=False)
        assert any(
            "HUSE-Q is 0.58 with the rounding of the authors' program (variant released) and 0.60 with exact ties"
            in note
            for note in found.notes
        )

    def test_means_alone_are_said(self) -> None:
        rated = rated_items(60, seed=1, ratings=1)
        bare = replace(rated, raters=(), rater_of=np.full(60, -1))
        found = short(bare)
        assert any("only mean ratings" in note for note in found.notes)
        assert found.agreement is None
        assert found.results[0].interval is not None
        assert found.results[0].interval.method == "bootstrap-items"


def test_estimates_alone() -> None:
    found = short(rated_items(60, seed=1), n_resamples=0)
    assert [result.interval for result in found.results] == [None] * 3
    assert [result.p_value for result in found.results] == [None] * 3
    assert found.verdict.decision == "untested"
    assert found.cloud == ()


def test_k_and_variant_hold_for_metrics_that_do_not_say_otherwise() -> None:
    found = short(rated_items(60, seed=1), metrics=["huse:k=4", "huse_q"], k=6, variant="fair")
    assert [(result.options["k"], result.options["variant"]) for result in found.results] == [(4, "fair"), (6, "fair")]
    assert found.labels == ("huse k=4 variant=fair", "huse_q k=6 variant=fair")


def test_too_few_items_are_refused() -> None:
    with pytest.raises(
        InputError, match=r"made up: 30 items, as many of both sources; wanted at least 32, two for each"
    ):
        huse(rated_items(30, seed=1))


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"k": 0}, "k=0; wanted a whole number from 1 to 1000"),
        ({"variant": "plain"}, "no variant 'plain'"),
        ({"metrics": ["bleu"]}, "'bleu' is measured on whole samples: use textassay compare"),
        ({"metrics": ["trm"]}, "'trm' is measured on items: use textassay conditional"),
        ({"level": 2.0}, "level=2.0"),
    ],
)
def test_bad_settings_are_refused(settings: dict[str, object], words: str) -> None:
    with pytest.raises(InputError) as refusal:
        short(rated_items(60, seed=1), **settings)
    assert words in str(refusal.value)


def test_metrics_on_ratings_are_refused_elsewhere() -> None:
    with pytest.raises(InputError, match="'huse' is measured on ratings: use textassay huse"):
        parse_requests(["huse"])


def test_the_signature_fixes_items_and_ratings_whatever_their_order_and_names() -> None:
    rated = rated_items(60, seed=1)
    renamed = replace(rated, raters=tuple(f"someone {n}" for n in range(5)), name="elsewhere")
    assert short(rated).results[0].signature == short(renamed).results[0].signature
    other = replace(rated, ratings=np.where(np.arange(300) == 7, 1.0, rated.ratings))
    if (other.ratings != rated.ratings).any():
        assert short(rated).results[0].signature != short(other).results[0].signature


def test_plain_rows_are_enough() -> None:
    rng = np.random.default_rng(0)
    log_probs = (-rng.gamma(5, size=40)).tolist()
    rows = [
        {"item": f"{n}", "source": "model" if n % 2 else "human", "text": "a b c", "log_prob": log_probs[n],
         "rater": f"r{r}", "rating": int(rng.integers(1, 7))}
        for n in range(40) for r in range(3)
    ]  # fmt: skip
    found = huse(rows, k=5, n_resamples=19, stability=False)
    assert len(found.items) == 40
    assert isinstance(found.items[0].item, RatedItem)
