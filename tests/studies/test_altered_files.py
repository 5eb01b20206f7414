"""Altered files of results: each is read and can be shown in every form, or is refused in one line."""

import copy
import json
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.rating_laws import rated_items
from tests.studies.agreement.test_agree import ORDER, comparison
from tests.studies.history.test_history import found as series
from tests.studies.test_outcome import WORDS, outcome
from textassay import InputError, agree, frontier, huse_plane, stress
from textassay.studies.outcome import Outcome

JUNK: list[Any] = [
    *(None, True, -1, 0, 0.5, 7, 1e308, 10**400, 1e-320),
    *("", "x", "\x1b[31m", "inf", [], [1], ["a", "b"], [[]], {}, {"a": 1}),
]
KINDS = ("answers", "compare", "conditional", "huse", "sweep", "agreement", "frontier", "stress", "plane", "history")


@cache
def found(kind: str) -> Outcome:
    """A small outcome of each study."""
    if kind == "history":
        return series()
    if kind == "ordered":
        return comparison()
    if kind == "agreement":
        return agree([comparison()], ORDER)
    if kind == "frontier":
        return frontier([0.5, 0.3, 0.2], n_points=3)
    if kind == "stress":
        rng = np.random.default_rng(0)
        texts = [" ".join(rng.choice(WORDS, 6)) for _ in range(110)]
        quick = {"damages": "truncate", "metrics": "distinct", "sizes": 20, "strengths": [1], "n_runs": 2}
        return stress(texts, n_draws=19, **quick)  # type: ignore[arg-type]
    if kind == "plane":
        rated = {f"t={apart:g}": rated_items(30, seed=1, apart=apart) for apart in (0.0, 2.0)}
        return huse_plane(rated, k=4, n_resamples=19)
    return outcome(kind)


@cache
def plain(kind: str) -> str:
    """Its JSON, with tables of numbers cut: most places would be in them."""
    return found(kind).to_json()


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The path of everything in a JSON value; of a long list only the first and the last values."""
    if path:
        yield path
    keys = list(value) if isinstance(value, dict) else list(range(len(value))) if isinstance(value, list) else []
    for key in keys if len(keys) < 30 else [*keys[:2], keys[-1]]:
        yield from places(value[key], (*path, key))


@cache
def all_places(kind: str) -> list[tuple[Any, ...]]:
    return list(places(json.loads(plain(kind))))


@st.composite
def altered(draw: st.DrawFn, kind: str) -> str:
    """The JSON of an outcome with one place removed, repeated, emptied by one, or replaced."""
    value = json.loads(plain(kind))
    *path, key = draw(st.sampled_from(all_places(kind)))
    inside = value
    for step in path:
        inside = inside[step]
    how = draw(st.sampled_from(["remove", "repeat", "shorten", "replace", "replace"]))
    if how == "remove":
        del inside[key]
    elif how == "repeat" and isinstance(inside, list):
        inside.append(copy.deepcopy(inside[key]))
    elif how == "shorten" and isinstance(inside[key], list) and inside[key]:
        inside[key].pop()
    else:
        inside[key] = draw(st.sampled_from(JUNK))
    return json.dumps(value)


def in_every_form(read: Outcome) -> None:
    for form in (str, repr, type(read).to_json, type(read).to_csv, type(read).to_markdown, type(read).to_frame):
        form(read)
    read.to_html()


def assert_a_value_or_one_line(use: Callable[[], object], *, shown: bool) -> None:
    """A value, which every form then shows, or an input error in one line."""
    message = ""
    try:
        read = use()
        if shown and isinstance(read, Outcome):
            in_every_form(read)
    except InputError as error:
        message = str(error)
    assert len(message.splitlines()) <= 1
    assert "\x1b" not in message


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=60, derandomize=True, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_an_altered_outcome_is_read_and_shown_or_refused(kind: str, data: st.DataObject) -> None:
    text = data.draw(altered(kind))
    assert_a_value_or_one_line(lambda: type(found(kind)).from_json(text), shown=True)


@pytest.mark.parametrize(
    ("kind", "path", "value"),
    [
        ("sweep", ("best", 0, "unknown"), "x"),
        ("sweep", ("verdict", "findings"), []),
        ("sweep", ("details", "settings", "resamples"), -1),
        ("compare", ("details", "resamples"), -1),
        ("compare", ("details", "real", "results"), []),
    ],
)
def test_fields_that_do_not_agree_are_refused(kind: str, path: tuple[Any, ...], value: Any) -> None:
    inside = whole = json.loads(plain(kind))
    for step in path[:-1]:
        inside = inside[step]
    inside[path[-1]] = value
    with pytest.raises(InputError, match=f"not the JSON of textassay {kind}"):
        type(found(kind)).from_json(json.dumps(whole))


@settings(max_examples=60, derandomize=True, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_agree_reads_altered_files_or_refuses_them(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    kind = data.draw(st.sampled_from(["ordered", "conditional", "huse", "sweep"]))
    file = tmp_path_factory.mktemp("agree") / "results.json"
    file.write_text(data.draw(altered(kind)))
    assert_a_value_or_one_line(lambda: agree([file], ORDER), shown=True)
