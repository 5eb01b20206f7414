"""What a HUSE study says of its own limits, and what it does not claim: few items, one rating each, odd contexts."""

import math
import re
from collections.abc import Callable
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from tests.rating_laws import rated_items
from textassay.corpus.ratings.rated_items import RatedItem, RatedItems, only_items
from textassay.studies.huse.result import HuseResult
from textassay.studies.huse.study import huse, on_size


def short(rated: RatedItems, **settings: object) -> HuseResult:
    """A study with few resamples."""
    chosen: dict[str, object] = {"n_resamples": 19, "stability": False, "k": 4, **settings}
    return huse(rated, **chosen)  # type: ignore[arg-type]


def with_contexts(rated: RatedItems, context: Callable[[int, RatedItem], str]) -> RatedItems:
    """The same with other contexts, by place and item."""
    items = tuple(replace(item, context=context(place, item)) for place, item in enumerate(rated.items))
    return replace(rated, items=items)


def said(found: HuseResult, start: str) -> list[str]:
    """The notes that begin so."""
    return [note for note in found.notes if note.startswith(start)]


class TestSize:
    def test_few_items_for_k_are_said(self) -> None:
        found = short(rated_items(32, seed=1, contexts=False), k=16)
        few = "32 items: with fewer than 100 items HUSE is too high, by about 0.1 in simulations"
        assert said(found, "32 items") == [few]
        (many,) = said(found, "k = 16 of 31 other items")
        assert many.endswith("compare with k = 5")

    @pytest.mark.parametrize(("n", "k"), [(100, 16), (200, 16), (200, 30)])
    def test_enough_items_are_not(self, n: int, k: int) -> None:
        assert list(on_size(n, k, most=1000)) == []

    def test_the_paper_s_k_is_large_for_less_than_78_items(self) -> None:
        blurred = [
            n for n in range(32, 200) if any("too many neighbours" in note for note in on_size(n, 16, most=1000))
        ]
        assert blurred == list(range(32, 78))

    def test_no_k_is_recommended_that_would_be_refused(self) -> None:
        assert list(on_size(10**6, 16, most=1000)) == ["with 1,000,000 items, k = 1000 has less bias than k = 16"]
        assert list(on_size(10**6, 1000, most=1000)) == []


class TestOneRatingEach:
    @staticmethod
    @cache
    def study() -> HuseResult:
        rated = rated_items(40, seed=1, ratings=1)
        return short(rated, n_resamples=39, stability=True)

    def test_what_more_ratings_would_bring_is_not_claimed(self) -> None:
        found = self.study()
        assert found.outlook
        for each in found.outlook:
            assert math.isnan(each.half_width_more_ratings)
            assert each.half_width_more_items < each.half_width
            assert "the effect of more ratings per item is not known" in each.worth

    def test_the_signature_names_only_what_was_drawn(self) -> None:
        for result in self.study().results:
            assert "|interval:bootstrap-contexts|" in result.signature
            assert result.interval is not None
            assert result.interval.method == "bootstrap-items"

    def test_with_more_ratings_it_names_those_and_who_gave_them(self) -> None:
        several = short(rated_items(40, seed=1, ratings=3), stability=True)
        assert "|interval:bootstrap-contexts+ratings+raters|" in several.results[0].signature
        assert several.outlook[0].half_width_more_ratings <= several.outlook[0].half_width
        alone = short(rated_items(40, seed=1, ratings=1, contexts=False))
        assert "|interval:bootstrap-items|" in alone.results[0].signature

    def test_one_rater_is_one(self) -> None:
        assert said(self.study(), "1 rater:")
        assert said(self.study(), "1 rating per item:")


class TestContexts:
    def test_contexts_that_pair_nothing_are_said(self) -> None:
        found = short(with_contexts(rated_items(40, seed=1), lambda place, _: f"its own {place}"))
        (note,) = [note for note in found.notes if "contexts" in note]
        assert note == "none of 40 contexts has texts of both sources: contexts are ignored, items resampled singly"

    def test_no_contexts_are_no_reason_for_a_note(self) -> None:
        found = short(rated_items(40, seed=1, contexts=False))
        assert not [note for note in found.notes if "context" in note]

    def test_few_contexts_with_both_sources_matter_only_where_they_hold_many_items(self) -> None:
        rated = rated_items(200, seed=1)
        few = with_contexts(rated, lambda place, _: f"{place // 2}" if place < 4 else f"its own {place}")
        assert not said(short(few), "2 contexts")
        assert said(short(few), "196 of 198 contexts have texts of one source only")
        half = with_contexts(rated, lambda place, _: f"{place % 4 // 2}" if place < 100 else f"its own {place}")
        assert said(short(half), "2 contexts: too few to include the differences")

    def test_one_context_is_one(self) -> None:
        rated = with_contexts(rated_items(40, seed=1), lambda place, _: "task" if place < 20 else f"its own {place}")
        assert said(short(rated), "1 context: too few to include the differences")


def shuffled(rated: RatedItems, seed: int) -> RatedItems:
    """The same items in another order of the file."""
    places = np.random.default_rng(seed).permutation(len(rated.items))
    items = tuple(rated.items[place] for place in places)
    return replace(rated, items=items, item_of=np.argsort(places)[rated.item_of])


def test_items_come_back_in_the_order_of_the_file_whatever_they_were_measured_in() -> None:
    rated = rated_items(60, seed=1)
    numbers = []
    for file in (rated, shuffled(rated, 1), shuffled(rated, 2)):
        found = short(file)
        assert [each.item.id for each in found.items] == [item.id for item in file.items]
        numbers.append({each.item.id: (each.rating, each.votes, each.kind) for each in found.items})
    assert numbers[0] == numbers[1] == numbers[2]
    again = HuseResult.from_json(short(rated).to_json())
    assert [each.item.id for each in again.items] == [item.id for item in rated.items]


@pytest.mark.parametrize("leave_out", [False, True])
def test_ratings_of_raters_add_up_to_those_that_were_measured(leave_out: bool) -> None:
    rated = only_items(rated_items(60, seed=1), lambda place: place % 2 == 0 or place < 40)
    found = short(rated, leave_out_flagged=leave_out)
    assert any("left out at random" in note for note in found.notes)
    assert found.agreement is not None
    counted = [rater for rater in found.agreement.raters if not (leave_out and rater.flagged)]
    assert sum(rater.n for rater in counted) == len(found.rated.ratings)


def test_leaving_out_flagged_raters_gives_the_scores_that_stand_beside_all_others() -> None:
    """Also where a source was cut: the same items are compared."""
    rated = only_items(rated_items(200, seed=5, ratings=6, apart=1.5), lambda place: place % 2 == 0 or place < 160)
    given = rated.ratings.copy()
    blind = rated.rater_of == 2
    given[blind] = np.random.default_rng(0).integers(1, 7, int(blind.sum()))
    rated = replace(rated, ratings=given)
    kept, left = short(rated), short(rated, leave_out_flagged=True)
    assert kept.agreement is not None
    assert [rater.name for rater in kept.agreement.raters if rater.flagged] == ["r2"]
    assert [result.estimate for result in left.results] == [result.estimate for result in kept.agreement.without]
    (said_once,) = said(left, "1 rater who may have answered")
    assert re.search(r"left out, with 160 ratings", said_once)
