"""The outcome of a HUSE study as JSON: what is documented, nothing that is not JSON, and back without a loss."""

import json
import math
from dataclasses import asdict, replace

import numpy as np
import pytest

from tests.report.builders import huse_study, undefined
from textassay.errors import InputError
from textassay.studies.huse.result import HuseResult
from textassay.version import __version__


def test_the_documented_keys_come_first() -> None:
    plain = huse_study().to_dict()
    assert list(plain) == ["textassay", "results", "details"]
    assert plain["textassay"] == __version__
    assert [result["metric"] for result in plain["results"]] == ["huse", "huse_q", "huse_d"]
    assert set(plain["results"][0]) == {
        "metric", "options", "estimate", "better", "aspect", "interval", "p_value", "parts", "undefined", "signature",
        "seconds",
    }  # fmt: skip
    assert plain["details"]["items"][0]["id"] == "human-000"
    assert plain["details"]["items"][0]["place"] == 0


@pytest.mark.parametrize("raters", [True, False])
@pytest.mark.parametrize("hostile", [True, False])
def test_what_was_written_reads_back(raters: bool, hostile: bool) -> None:
    found = huse_study(raters=raters, hostile=hostile)
    text = found.to_json()
    read = HuseResult.from_json(text)
    assert read.to_json() == text
    assert (read.results, read.labels, read.verdict, read.level) == (
        found.results,
        found.labels,
        found.verdict,
        found.level,
    )
    assert read.items == found.items
    assert (read.by_k, read.stability, read.decision_map) == (found.by_k, found.stability, found.decision_map)
    assert (read.cloud, read.notes) == (found.cloud, found.notes)
    assert (read.agreement is None) == (not raters)


def test_the_ratings_read_back_with_their_kinds() -> None:
    rated = huse_study().rated
    read = HuseResult.from_dict(huse_study().to_dict()).rated
    assert (read.name, read.items, read.raters, read.scale, read.model) == (
        rated.name,
        rated.items,
        rated.raters,
        rated.scale,
        rated.model,
    )
    assert read.labels == rated.labels
    assert all(isinstance(rating, float) for rating in read.labels)
    for name in ("item_of", "rater_of", "ratings"):
        assert np.array_equal(getattr(read, name), getattr(rated, name))
    kinds = [str(values.dtype) for values in (read.item_of, read.rater_of, read.ratings)]
    assert kinds == ["int64", "int64", "float64"]
    assert read.digest == rated.digest


def test_what_is_not_a_number_is_null_and_comes_back() -> None:
    found = huse_study()
    items = (replace(found.items[0], votes=math.nan), *found.items[1:])
    found = replace(
        found,
        results=(undefined(found.results[0], "too few items"), *found.results[1:]),
        items=items,
        cloud=((math.nan, 0.5),),
        by_k=(replace(found.by_k[0], huse=math.nan),),
    )
    plain = json.loads(found.to_json())
    assert plain["results"][0]["estimate"] is None
    assert plain["details"]["items"][0]["votes"] is None
    read = HuseResult.from_json(found.to_json())
    assert read.results == found.results
    assert math.isnan(read.items[0].votes)
    assert math.isnan(read.cloud[0][0])
    assert math.isnan(read.by_k[0].huse)
    assert read.agreement is not None
    assert math.isnan(read.agreement.raters[-1].agreement)


def test_a_text_the_model_cannot_write_keeps_its_probability() -> None:
    found = huse_study()
    never = replace(found.rated.items[0], log_prob=-math.inf)
    rated = replace(found.rated, items=(never, *found.rated.items[1:]))
    found = replace(found, rated=rated, items=(replace(found.items[0], item=never), *found.items[1:]))
    assert json.loads(found.to_json())["details"]["rated"]["items"][0]["log_prob"] is None
    read = HuseResult.from_json(found.to_json())
    assert read.items[0].item == never
    assert read.rated.digest == rated.digest


def test_items_of_one_name_are_told_apart() -> None:
    found = huse_study()
    same = tuple(replace(item, id="x") for item in found.rated.items)
    items = tuple(replace(each, item=item) for each, item in zip(found.items, same, strict=True))
    found = replace(found, rated=replace(found.rated, items=same), items=items[::-1])
    assert HuseResult.from_json(found.to_json()).items == items[::-1]


def test_raters_and_their_results_read_back() -> None:
    found = huse_study().agreement
    read = HuseResult.from_dict(huse_study().to_dict()).agreement
    assert found is not None
    assert read is not None
    assert read.interval == found.interval
    assert read.without == found.without
    assert [asdict(rater) for rater in read.raters[:-1]] == [asdict(rater) for rater in found.raters[:-1]]


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", "null", '"huse"', '{"results": [], "details": {}}', '{"details": 3, "results": 1}']
)
def test_what_is_something_else_is_refused_in_one_line(text: str) -> None:
    with pytest.raises(InputError, match="not the JSON of textassay huse") as caught:
        HuseResult.from_json(text)
    assert "\n" not in str(caught.value)
