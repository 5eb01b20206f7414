"""What a HUSE study takes in Python and on the command line, what it refuses, and what its signature fixes."""

import csv
import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import textassay
from tests.rating_laws import rated_items
from textassay.corpus.ratings.rated_items import RatedItems, only_items
from textassay.errors import InputError
from textassay.metrics.registry import parse_requests
from textassay.studies.huse.result import HuseResult


def short(ratings: Any, **settings: Any) -> HuseResult:
    return textassay.huse(ratings, **{"n_resamples": 0, "stability": False, "k": 4, **settings})


def rows_of(rated: RatedItems, *, model: str = "net") -> list[dict[str, Any]]:
    """A row a rating."""
    return [
        {
            "item": rated.items[item].id,
            "source": model if rated.items[item].is_model else "human",
            "text": rated.items[item].text,
            "length": rated.items[item].length,
            "log_prob": rated.items[item].log_prob,
            "rater": rated.raters[rater],
            "rating": rating,
        }
        for item, rater, rating in zip(rated.item_of, rated.rater_of, rated.ratings.tolist(), strict=True)
    ]


def without(rows: list[dict[str, Any]], *names: str) -> list[dict[str, Any]]:
    return [{name: value for name, value in row.items() if name not in names} for row in rows]


def estimates(found: HuseResult) -> list[float]:
    return [result.estimate for result in found.results]


@pytest.fixture
def rated() -> RatedItems:
    """Few items without contexts, rated by five."""
    return rated_items(24, seed=1, contexts=False)


class TestRatingsAlone:
    """HUSE-Q reads no probabilities, so none are needed for it."""

    @pytest.mark.parametrize("left_out", [("log_prob",), ("log_prob", "length"), ("log_prob", "length", "text")])
    def test_huse_q_is_the_same_without_log_probabilities(self, rated: RatedItems, left_out: tuple[str, ...]) -> None:
        rows = rows_of(rated)
        alone = textassay.metrics.huse_q(without(rows, *left_out), k=4, n_resamples=99)
        whole = textassay.metrics.huse_q(rows, k=4, n_resamples=99)
        assert alone.estimate == whole.estimate
        # Resamples follow the order of the items, to which texts belong.
        assert "text" in left_out or (alone.interval, alone.p_value) == (whole.interval, whole.p_value)
        found = short(without(rows, *left_out), metrics="huse_q", n_resamples=99)
        assert found.results[0].estimate == whole.estimate
        assert any("no log-probabilities" in note for note in found.notes)
        assert not {item.kind for item in found.items} & {"diversity failure"}
        assert HuseResult.from_json(found.to_json()) == found
        for text in (found.to_html(), found.to_markdown(), str(found), found.to_csv()):
            assert "HUSE-Q" in text or "votes_by_rating" in text
        assert len(found.to_frame()) == 1

    def test_what_needs_log_probabilities_asks_for_them(self, rated: RatedItems) -> None:
        bare = without(rows_of(rated), "log_prob")
        for metrics in ((), "huse", "huse_q,huse_d"):
            with pytest.raises(InputError, match=r"no column 'log_prob' or 'nll'.*log_probs"):
                short(bare, metrics=metrics)
        alone = textassay.read_ratings(bare, needs_log_probs=False)
        with pytest.raises(InputError, match=r"no log-probabilities; wanted .*metrics='huse_q' needs none"):
            short(alone)
        some = replace(alone, items=(replace(alone.items[0], log_prob=-1.0), *alone.items[1:]))
        with pytest.raises(InputError, match="23 items of 24 have no log_prob"):
            short(some, metrics="huse_q")


def test_means_per_token_are_recognised(data: Path) -> None:
    """Of the paper's summaries, and of made-up texts; sums are not called means."""
    rows = pd.read_csv(data / "huse" / "summarization_items.csv", skipinitialspace=True)
    made_up = pd.DataFrame(rows_of(rated_items(120, seed=3)))
    for frame, log_prob, length in (
        (rows, "ModelProbability", "LengthOfUtterance"), (made_up, "log_prob", "length")
    ):  # fmt: skip
        for per_token in (False, True):
            sums = frame[log_prob].clip(upper=0)
            given = frame.assign(**{log_prob: sums / frame[length] if per_token else sums})
            assert any("look like means per token" in note for note in short(given).notes) == per_token


class TestOptionsOfTheCommandLine:
    @pytest.mark.parametrize("kind", [list, pd.DataFrame])
    def test_one_of_several_models_log_probs_apart_and_a_scale(self, rated: RatedItems, kind: Any) -> None:
        rows = rows_of(rated)
        others = [row | {"source": "old", "item": f"old {row['item']}"} for row in rows if row["source"] == "net"]
        bare, apart = without(rows + others, "log_prob", "length"), without(rows, "rater", "rating", "source", "text")
        with pytest.raises(InputError, match="'source' has 2 models: 'net', 'old'; wanted one"):
            short(kind(bare), log_probs=kind(apart))
        found = short(kind(bare), log_probs=kind(apart), model="net", scale=(0, 10))
        assert estimates(found) == estimates(short(rated))
        assert (found.rated.model, found.rated.scale) == ("net", (0.0, 10.0))

    def test_a_path_with_log_probs_in_memory(self, rated: RatedItems, tmp_path: Path) -> None:
        rows = rows_of(rated)
        path = tmp_path / "headlines.jsonl"
        path.write_text("".join(json.dumps(row) + "\n" for row in without(rows, "log_prob")), encoding="utf-8")
        found = short(path, log_probs=without(rows, "rater", "rating"))
        assert estimates(found) == estimates(short(rated))
        assert found.rated.name == "headlines"

    @pytest.mark.parametrize(
        ("options", "words"),
        [
            ({"model": "net"}, "RatedItems are complete; wanted no model with them"),
            ({"scale": (1, 6)}, "RatedItems are complete; wanted no scale with them"),
            ({"log_probs": []}, "RatedItems are complete; wanted no log_probs with them"),
        ],
    )
    def test_rated_items_have_all_that_already(self, rated: RatedItems, options: dict[str, Any], words: str) -> None:
        with pytest.raises(InputError, match=words):
            short(rated, **options)

    def test_too_few_items_are_said_of_the_file(self, rated: RatedItems, tmp_path: Path) -> None:
        path = tmp_path / "few.csv"
        rows = rows_of(rated)
        with path.open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, list(rows[0]))
            writer.writeheader()
            writer.writerows(rows)
        with pytest.raises(InputError) as refusal:
            short(path, k=20)
        assert str(refusal.value).startswith(f"{path}: 24 items, as many of both sources; wanted at least 40")

    def test_names_that_begin_like_those_of_nobody_are_names(self, rated: RatedItems) -> None:
        found = short([row | {"rater": f"?{row['rater']}"} for row in rows_of(rated)])
        assert found.agreement is not None
        assert {rater.name for rater in found.agreement.raters} == {f"?{name}" for name in rated.raters}

    def test_raters_that_nobody_named_stay_unknown_in_json(self, rated: RatedItems) -> None:
        nobody = HuseResult.from_json(short(without(rows_of(rated), "rater")).to_json())
        assert not nobody.rated.names_raters
        assert HuseResult.from_json(short(rated).to_json()).rated.names_raters


class TestSettings:
    @pytest.mark.parametrize(
        ("settings", "message"),
        [
            ({"k": 5000}, "k=5000; wanted a whole number from 1 to 1000"),
            ({"k": 16.5}, "k=16.5; wanted a whole number from 1 to 1000"),
            ({"k": "2-5"}, "k='2-5'; wanted a whole number from 1 to 1000"),
            ({"k": True}, "k=True; wanted a whole number from 1 to 1000"),
            ({"metrics": "huse:k=5000"}, "metric 'huse:k=5000': k is '5000'; wanted 1 to 1000"),
            ({"metrics": "huse:k=9-8"}, "metric 'huse:k=9-8': k is '9-8'; wanted 1 to 1000, ascending"),
            ({"variant": "fair:k=9"}, "no variant 'fair:k=9'; did you mean 'fair'?"),
            ({"level": "a"}, "level='a'; wanted a number, such as 0.95"),
            ({"level": math.nan}, "level=nan; wanted at least 0.5 and below 1, such as 0.95"),
            ({"n_resamples": 99.5}, "n_resamples=99.5; wanted a whole number"),
            ({"n_resamples": None}, "n_resamples=None; wanted a whole number"),
            ({"seed": 0.0}, "seed=0.0; wanted a whole number"),
            ({"seed": True}, "seed=True; wanted a whole number"),
        ],
    )
    def test_bad_ones_are_refused_in_one_line(self, rated: RatedItems, settings: dict[str, Any], message: str) -> None:
        with pytest.raises(InputError) as refusal:
            short(rated, **settings)
        assert str(refusal.value) == message

    def test_numbers_of_numpy_are_numbers(self, rated: RatedItems) -> None:
        odd = {"k": np.int32(4), "level": np.float32(0.5), "n_resamples": np.int64(19), "seed": np.uint8(3)}
        plain = {"k": 4, "level": 0.5, "n_resamples": 19, "seed": 3}
        found = short(rated, **odd)
        assert [result.signature for result in found.results] == [r.signature for r in short(rated, **plain).results]
        assert HuseResult.from_json(found.to_json()).level == 0.5

    def test_settings_hold_where_a_metric_does_not_say_otherwise(self) -> None:
        requests = parse_requests(["huse", "huse_q:k=3-4"], on="ratings", settings={"k": 9, "variant": "fair"})
        assert [(request.options["k"], request.options["variant"]) for request in requests] == [
            (9, "fair"), (3, "fair"), (4, "fair"),
        ]  # fmt: skip


class TestItemsMadeByHand:
    @pytest.mark.parametrize(
        ("fields", "message"),
        [
            ({"log_prob": math.nan}, "1 item of 24 has no log_prob, 'i0' first; wanted one for all or for none"),
            ({"log_prob": math.inf}, "item 'i0': log_prob is inf; wanted the logarithm of a probability"),
            ({"log_prob": None}, "item 'i0': log_prob is null; wanted the logarithm of a probability"),
            ({"log_prob": -1e31}, "item 'i0': log_prob -1e+31 is too large a number; wanted a smaller one"),
            ({"length": 0}, "item 'i0': length is 0; wanted a whole number of tokens, 1 or more"),
            ({"length": 2.5}, "item 'i0': length is 2.5; wanted a whole number of tokens, 1 or more"),
            ({"text": 3}, "item 'i0': text is a number (3); wanted a string or None"),
            ({"context": 3}, "item 'i0': context is a number (3); wanted a string or None"),
            ({"id": 3}, "item '3': id is a number (3); wanted a string"),
            ({"is_model": "yes"}, "item 'i0': is_model is a string; wanted true or false"),
            ({"id": "i1"}, "several items have the id 'i1'; wanted one"),
        ],
    )
    def test_bad_items(self, rated: RatedItems, fields: dict[str, Any], message: str) -> None:
        with pytest.raises(InputError) as refusal:
            short(replace(rated, items=(replace(rated.items[0], **fields), *rated.items[1:])))
        assert str(refusal.value) == f"made up: {message}"

    @pytest.mark.parametrize(
        ("fields", "message"),
        [
            ({"items": ()}, "no items; wanted those of people and of a model"),
            ({"items": ("text",) * 24}, "an item is a string; wanted RatedItem"),
            ({"ratings": np.full(120, math.nan)}, "ratings[0] is nan; wanted a finite number"),
            ({"ratings": np.full(120, 1e31)}, "rating 1e+31 is too large a number; wanted a smaller one"),
            ({"ratings": ["a"] * 120}, "ratings are no list of numbers; wanted one"),
            ({"ratings": np.ones(119)}, "119 ratings, 120 in item_of and 120 in rater_of; wanted as many of each"),
            ({"item_of": np.ones(120)}, "item_of is no list of whole numbers; wanted one for each rating"),
            ({"item_of": np.full(120, 24)}, "item_of has 24; wanted places among the 24 items, 0 to 23"),
            ({"rater_of": np.full(120, -1)}, "rater_of has -1; wanted places among the 5 raters, 0 to 4"),
            ({"raters": ()}, "rater_of names raters, but there are none; wanted -1 for each"),
            (
                {"raters": (), "rater_of": np.full(120, -1)},
                "several ratings per item, but no raters; wanted raters or one mean each",
            ),
            (
                {"rater_of": np.zeros(120, dtype=int)},
                "rater 'r0' has rated item 'i0' 5 times; wanted one rating per rater and item",
            ),
        ],
    )
    def test_bad_ratings(self, rated: RatedItems, fields: dict[str, Any], message: str) -> None:
        with pytest.raises(InputError) as refusal:
            short(replace(rated, **fields))
        assert str(refusal.value) == f"made up: {message}"

    def test_items_without_a_rating(self, rated: RatedItems) -> None:
        for gone, many in (([3], "1 item has no rating, 'i3' first"), ([3, 5], "2 items have no rating, 'i3' first")):
            kept = ~np.isin(rated.item_of, gone)
            arrays = {name: getattr(rated, name)[kept] for name in ("item_of", "rater_of", "ratings")}
            with pytest.raises(InputError, match=f"^made up: {many}; wanted one or more for each$"):
                short(replace(rated, **arrays))

    def test_lists_and_numbers_of_numpy_mean_the_same(self, rated: RatedItems) -> None:
        kinds: dict[str, Any] = {"is_model": np.bool_, "log_prob": np.float64, "length": np.int32}
        items = tuple(
            replace(item, **{name: kind(getattr(item, name)) for name, kind in kinds.items()}) for item in rated.items
        )
        arrays = {name: getattr(rated, name).tolist() for name in ("item_of", "rater_of", "ratings")}
        found = short(replace(rated, items=items, **arrays))
        assert [result.signature for result in found.results] == [result.signature for result in short(rated).results]
        assert HuseResult.from_json(found.to_json()).rated.items == found.rated.items


class TestSignatures:
    """Two results of one signature are one number."""

    @staticmethod
    def outcome(found: HuseResult) -> list[Any]:
        return [(result.signature, result.estimate, result.interval, result.p_value) for result in found.results]

    def test_who_gave_which_rating_of_an_item_is_in_it(self) -> None:
        """Raters with tastes, and the same ratings of every item dealt out anew among those who rated it."""
        rng = np.random.default_rng(0)
        rated = rated_items(60, seed=3, contexts=False)
        source = np.array([item.is_model for item in rated.items])[rated.item_of]
        given = np.clip(np.round(rated.ratings + (rng.normal(size=5) * 2)[rated.rater_of] * source), 1, 6)
        rated = replace(rated, ratings=given)
        dealt = replace(rated, rater_of=np.concatenate([rng.permutation(5) for _ in rated.items]))
        one, other = (short(each, n_resamples=59, k=8) for each in (rated, dealt))
        assert estimates(one) == estimates(other)
        assert [r.interval for r in one.results] != [r.interval for r in other.results]
        assert all(a.signature != b.signature for a, b in zip(one.results, other.results, strict=True))

    def test_items_that_were_left_out_leave_nothing_behind(self) -> None:
        """A study that was cut to as many of both sources is the study of what was left, raters included."""
        rng = np.random.default_rng(1)
        rated = rated_items(60, seed=3, contexts=False, ratings=3)
        raters = np.concatenate([rng.permutation(12)[:3] for _ in rated.items])
        taste = rng.normal(size=12) * 2
        source = np.array([item.is_model for item in rated.items])[rated.item_of]
        ratings = np.clip(np.round(rated.ratings + taste[raters] * source), 1, 6)
        rated = replace(rated, raters=tuple(f"r{n}" for n in range(12)), rater_of=raters, ratings=ratings)
        cut = short(only_items(rated, lambda place: place % 2 == 0 or place < 40), n_resamples=59)
        again = short(cut.rated, n_resamples=59)
        assert len(cut.rated) == 40
        assert self.outcome(cut) == self.outcome(again)
