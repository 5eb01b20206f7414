"""Calls that users write first: they work, or give one InputError that names the right call."""

import re
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pandas as pd
import pytest

import textassay as ta
from textassay.engines import progress_bar

REAL = ["a cat sat on the mat", "a dog ran in the park", "the sun is up"] * 8
MODEL = ["a cat sat", "a dog ran", "the sun"] * 8
ITEMS = [{"references": ["a cat sat", "a cat sits"], "candidates": ["a cat"]}] * 3
RATINGS = [
    {"item": i, "source": ("model", "human")[i % 2], "rating": 3 + i % 3, "rater": r, "log_prob": -5.0 - i, "length": 4}
    for i in range(12)
    for r in range(2)
]
BARE: dict[str, Any] = {"n_resamples": 0}
# For calls that a type checker refuses.
untyped: Any = ta


@pytest.mark.parametrize(
    "call",
    [
        lambda: ta.compare(REAL, MODEL, metrics="distinct", **BARE),
        lambda: ta.compare(REAL, [MODEL, MODEL], metrics="distinct,cnd", **BARE),
        lambda: ta.compare(pd.Series(REAL), pd.DataFrame({"text": MODEL}), metrics=["distinct"], **BARE),
        lambda: ta.compare(ta.Sample.of(REAL), ta.read_sample(ta.Sample.of(MODEL)), families="ngram", **BARE),
        lambda: ta.compare(REAL, MODEL, metrics="distinct", engine="local:2", **BARE),
        lambda: ta.conditional(ITEMS, distances="rouge_l", engine="local:2", **BARE),
        lambda: ta.conditional(ta.read_items(ITEMS), distances=["rouge_l"], **BARE),
        lambda: ta.huse(RATINGS, metrics="huse", k=3, engine="local:2", **BARE),
        lambda: ta.metrics.distinct(REAL, n=2, **BARE),
    ],
)
def test_it_works(call: Callable[[], object]) -> None:
    assert call() is not None


@pytest.mark.parametrize(
    ("call", "wanted"),
    [
        (lambda: untyped.Sample.of(pd.DataFrame({"text": REAL})), "a data frame; wanted one of its columns"),
        (lambda: untyped.Sample.of({"text": REAL}), "a dict ('text'); wanted a list of texts"),
        (lambda: untyped.Sample.of(None), "sample: NoneType; wanted a list of texts"),
        (lambda: untyped.Sample.of(b"text"), "sample: bytes; wanted a list of texts"),
        (lambda: untyped.compare(REAL, None), "candidate: null; wanted a path, a list of texts"),
        (lambda: untyped.compare({"text": REAL}, MODEL), "reference: a dict ('text'); wanted one of its values"),
        (lambda: untyped.compare(REAL, MODEL, engine="remote"), "no engine 'remote'; there are: local, local:N"),
        (lambda: untyped.compare(REAL, MODEL, engine=2), "no engine 2; there are: local, local:N"),
        (lambda: untyped.compare(REAL, MODEL, metrics=3), "3 in a list of names; wanted strings such as 'bleu:n=4'"),
        (lambda: untyped.compare(REAL, MODEL, metrics=[("bleu", 4)]), "('bleu', 4) in a list of names; wanted strings"),
        (lambda: untyped.compare(REAL, MODEL, metrics="distinkt"), "no metric 'distinkt'; did you mean 'distinct'?"),
        (lambda: untyped.compare(REAL, MODEL, tokenizer=3), "tokenizer=3; wanted one of words, "),
        (lambda: untyped.compare(REAL, MODEL, tokenizer=["words"]), "tokenizer=['words']; wanted one of words, "),
        (lambda: untyped.compare(REAL, MODEL, encoder=3), "encoder=3; wanted a name such as 'lsa', or an encoder"),
        (lambda: untyped.conditional(ITEMS, encoder=[]), "encoder=[]; wanted a name such as 'lsa', or an encoder"),
        (lambda: untyped.conditional(ITEMS, engine="remote"), "no engine 'remote'"),
        (lambda: untyped.huse(RATINGS, engine="remote"), "no engine 'remote'"),
        (lambda: untyped.huse(None), "ratings: null; wanted a path, a list of dicts, a data frame or a dataset"),
        (lambda: untyped.read_items(["a text"]), "items: record 1: a string; wanted a dict with 'references'"),
        (lambda: untyped.Comparison.from_json("{}"), "not the JSON of textassay compare"),
        (lambda: untyped.Conditional.from_json("{}"), "not the JSON of textassay conditional"),
        (lambda: untyped.HuseResult.from_json("{}"), "not the JSON of textassay huse"),
        (lambda: untyped.metrics.distinct("a cat sat"), "a string is a path; pass texts as a list"),
    ],
)
def test_it_is_one_error(call: Callable[[], object], wanted: str) -> None:
    with pytest.raises(ta.InputError, match=re.escape(wanted)) as refused:
        call()
    assert "\n" not in str(refused.value)


def test_a_list_of_paths_is_a_list_of_candidates(tmp_path: Path) -> None:
    paths = [tmp_path / "real.txt", tmp_path / "a.txt", tmp_path / "b.txt"]
    for path in paths:
        path.write_text("\n".join(REAL))
    found = ta.compare(str(paths[0]), [str(path) for path in paths[1:]], metrics="distinct", **BARE)
    assert list(found.names) == ["a", "b"]


def test_columns_of_a_frame_have_their_names() -> None:
    frame = pd.DataFrame({"human": REAL, "model": MODEL, "other": REAL})
    options: dict[str, Any] = {"metrics": "distinct", **BARE}
    found = ta.compare(frame["human"], frame["model"], **options)
    assert (found.reference.name, found.names) == ("human", ("model",))
    assert ta.compare(frame["human"], [frame["model"], frame["other"]], **options).names == ("model", "other")
    assert ta.compare(frame["model"], frame["model"], **options).reference.name == "reference"
    assert ta.compare(REAL, [MODEL, frame["other"]], **options).names == ("candidate 1", "other")


def test_fields_of_a_file_have_their_names(tmp_path: Path) -> None:
    path = str(tmp_path / "data.csv")
    pd.DataFrame({"human": REAL, "model": MODEL, "other": REAL}).to_csv(path, index=False)
    found = ta.compare((path, "human"), [(path, "model"), (path, "other")], metrics="distinct", **BARE)
    assert found.names == ("model", "other")
    assert ta.compare((path, "human"), (path, "model"), metrics="distinct", **BARE)["model"].n == len(MODEL)


def test_what_a_comparison_has_is_short_to_print() -> None:
    found = ta.compare(REAL, {"m": MODEL}, metrics="distinct,cnd", n_resamples=99)
    column = found["m"]
    for part in (column, column["cnd"], column.verdict, column.overall, found.plot()):
        assert len(repr(part)) < 200
        assert "\n" not in repr(part)
    assert (
        repr(column) == f"Column(m: distinct-2 {column['distinct'].estimate:.4g}, cnd-2 {column['cnd'].estimate:.4g})"
    )
    assert f"{column['cnd'].p_value:.3g}" in repr(column["cnd"])


class StandInNotebook(ModuleType):
    """As much of IPython as a progress bar uses; `shown` is what the cell showed, in order."""

    kernel = "a kernel"

    def __init__(self) -> None:
        super().__init__("IPython")
        self.shown: list[str] = []

    def get_ipython(self) -> "StandInNotebook":
        return self

    def display(self, shown: Any, *, display_id: bool) -> "StandInNotebook":
        assert display_id
        self.update(shown)
        return self

    def update(self, shown: Any) -> None:
        self.shown.append(shown._repr_html_())


def test_a_progress_bar_in_a_notebook(monkeypatch: pytest.MonkeyPatch) -> None:
    notebook = StandInNotebook()
    for name in ("IPython", "IPython.display"):
        monkeypatch.setitem(sys.modules, name, notebook)
    for name in ("_DELAY", "_PAUSE"):
        monkeypatch.setattr(progress_bar, name, 0.0)
    found = ta.compare(REAL, MODEL, metrics="distinct", n_resamples=99, progress=True)
    silent = ta.compare(REAL, MODEL, metrics="distinct", n_resamples=99)
    assert found.to_json(timings=False) == silent.to_json(timings=False)
    *bars, last = notebook.shown
    assert bars
    assert all("<progress" in bar for bar in bars)
    assert last == ""
    # After an error too, nothing stays.
    with pytest.raises(ta.InputError):
        ta.conditional(ITEMS, distances="rouge_l", level=95, progress=True)


def test_a_progress_bar_that_nobody_sees(capsys: pytest.CaptureFixture[str]) -> None:
    ta.compare(REAL, MODEL, metrics="distinct", progress=True, **BARE)
    assert capsys.readouterr() == ("", "")
