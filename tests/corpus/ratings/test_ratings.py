"""Ratings come in from files with a row a rating and from files with a row an item, and mean the same."""

import io
import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from textassay.corpus.ratings.files import read_ratings
from textassay.corpus.ratings.rated_items import NOBODY, RatedItem, RatedItems

ROWS: list[dict[str, Any]] = [
    {"item": "h", "source": "human", "text": "a  cat", "log_prob": -4.5, "rater": "r1", "rating": 5},
    {"item": "m", "source": "gpt", "text": "the cat sat", "log_prob": -2, "rater": "r1", "rating": 2},
    {"item": "h", "source": "human", "text": "a  cat", "log_prob": -4.5, "rater": "r2", "rating": 3.5},
    {"item": "m", "source": "gpt", "text": "the cat sat", "log_prob": -2, "rater": "r3", "rating": 1},
]
ITEMS = (RatedItem("h", False, -4.5, 2, "a  cat"), RatedItem("m", True, -2.0, 3, "the cat sat"))


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(content: str, name: str = "r.csv") -> str:
    Path(name).write_text(content, encoding="utf-8", newline="")
    return name


def table(rows: list[dict[str, Any]], separator: str = ",") -> str:
    return "".join(separator.join(map(str, line)) + "\n" for line in [list(rows[0]), *[row.values() for row in rows]])


def check(rated: RatedItems) -> None:
    assert rated.items == ITEMS
    assert rated.raters == ("r1", "r2", "r3")
    assert rated.single
    assert rated.names_raters
    assert rated.item_of.tolist() == [0, 1, 0, 1]
    assert rated.rater_of.tolist() == [0, 0, 1, 2]
    assert rated.ratings.tolist() == [5, 2, 3.5, 1]
    assert rated.item_of.dtype == rated.rater_of.dtype == np.int64
    assert rated.scale == (1.0, 5.0)
    assert rated.model == "gpt"
    assert rated.notes == ()


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("r.csv", table(ROWS)),
        ("r.tsv", table(ROWS, "\t")),
        ("r.jsonl", "".join(json.dumps(row) + "\n" for row in ROWS)),
        ("r.json", json.dumps(ROWS)),
        ("r.dat", table(ROWS)),
        ("tabs", table(ROWS, "\t")),
        ("lines", "".join(json.dumps(row) + "\n" for row in ROWS)),
        ("list", json.dumps(ROWS)),
    ],
)
def test_files(name: str, content: str, monkeypatch: pytest.MonkeyPatch) -> None:
    read = read_ratings(write(content, name))
    check(read)
    assert read.name == Path(name).stem
    if "." not in name:
        monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(content.encode())))
        read = read_ratings("-")
        check(read)
        assert read.name == "stdin"


def test_files_of_a_pattern_are_one_below_the_other() -> None:
    write(table(ROWS[:3]), "r1.csv")
    reordered = [dict(reversed(row.items())) for row in ROWS[3:]]
    write(table(reordered), "r2.csv")
    check(read_ratings("r*.csv"))


@pytest.mark.parametrize("frame", [list, iter, pd.DataFrame, pl.DataFrame, pa.Table.from_pylist])
def test_objects(frame: Any) -> None:
    check(read_ratings(frame(ROWS)))


def test_read_ratings_takes_paths_and_rated_items() -> None:
    path = write(table(ROWS))
    rated = read_ratings(Path(path))
    check(rated)
    assert read_ratings(rated) == rated
    assert read_ratings(path).digest == rated.digest == read_ratings(ROWS).digest
    without = [{name: value for name, value in row.items() if name != "log_prob"} for row in ROWS]
    check(read_ratings(without, log_probs=path))
    write(table(without))
    check(read_ratings(path, log_probs=pd.DataFrame(ROWS)))


def test_missing_values_of_frames_are_blank() -> None:
    rows = [*ROWS, {**ROWS[0], "rater": "r4", "rating": None, "log_prob": float("nan")}]
    for frame in (pd.DataFrame(rows), pl.DataFrame(rows, strict=False), rows):
        assert read_ratings(frame).notes == ("1 blank rating left out",)
    numbered = [{**row, "item": np.int64(place % 2), "context": float(place % 2)} for place, row in enumerate(ROWS)]
    assert [(item.id, item.context) for item in read_ratings(numbered).items] == [("0", "0"), ("1", "1")]


def test_the_papers_items_file() -> None:
    content = "HumanJudgement, ModelProbability, Label, LengthOfUtterance\n4.25,-32.2418,False,8\n5.0,-17.5906,True,7\n"
    rated = read_ratings(write(content))
    assert rated.items == (RatedItem("1", False, -32.2418, 8), RatedItem("2", True, -17.5906, 7))
    assert not rated.single
    assert not rated.names_raters
    assert rated.rater_of.tolist() == [NOBODY, NOBODY]
    assert rated.ratings.tolist() == [4.25, 5.0]
    assert rated.scale == (4.25, 5.0)
    assert rated.model == "model"
    as_frame = pd.read_csv("r.csv")
    assert read_ratings(as_frame).items == rated.items


def test_real_files_hold_the_same_items(data: Path) -> None:
    single = read_ratings(data / "huse" / "summarization_ratings.csv")
    means = read_ratings(data / "huse" / "summarization_items.csv")
    for rated in (single, means):
        assert len(rated) == 200
        assert sum(item.is_model for item in rated.items) == 100
        assert rated.notes == ()
    assert (len(single.raters), len(single.ratings), single.scale) == (93, 4000, (1, 6))
    assert single.labels[6] == "Very Typical"
    assert list(single.labels) == [1, 2, 3, 4, 5, 6]
    assert len({item.context for item in single.items}) == 99
    mean = np.bincount(single.item_of, single.ratings) / np.bincount(single.item_of)
    # The items file has them in another order, and log-probabilities with the last digits of a sum.
    assert facts(single, mean) == facts(means, means.ratings)


def facts(rated: RatedItems, mean: Any) -> list[Any]:
    return sorted(
        (item.is_model, round(value, 9), item.length, round(item.log_prob, 6))
        for item, value in zip(rated.items, mean, strict=True)
    )


@pytest.mark.parametrize(
    "header",
    [
        "ITEM,Source,Text,Log-Prob,Rater ID,Rating",
        " item , source,text ,log prob,worker_id,Judgment",
        "id,label,utterance,log_likelihood,annotator,mean-rating",
    ],
)
def test_names_of_columns(header: str) -> None:
    body = table(ROWS).split("\n", 1)[1]
    check(read_ratings(write(f"{header}\n{body}")))


@pytest.mark.parametrize("human", ["human", "Reference", "REAL", "gold", "0", "false", " human "])
@pytest.mark.parametrize(("model", "called"), [("True", "model"), ("1", "model"), ("machine", "machine")])
def test_names_of_sources(human: str, model: str, called: str) -> None:
    rated = read_ratings(write(f"rating,source,log_prob,text\n3,{human},-1,a\n2,{model},-1,b\n"))
    assert [item.is_model for item in rated.items] == [False, True]
    assert rated.model == called


def test_one_of_several_models_is_chosen() -> None:
    other = {"item": "o", "source": "lstm", "text": "x", "log_prob": "nonsense", "rater": "r1", "rating": 9}
    path = write(table([*ROWS, other, other]))
    rated = read_ratings(path, model="gpt")
    assert rated.items == ITEMS
    assert rated.scale == (1.0, 5.0)
    assert rated.notes == ("2 rows of 'lstm' left out, because the model is 'gpt'",)


def test_ids_that_people_and_model_share_are_contexts() -> None:
    rows = [{**row, "item": 17} for row in ROWS]
    rated = read_ratings(write(table(rows)))
    assert [(item.id, item.context) for item in rated.items] == [("17/human", "17"), ("17/model", "17")]
    assert rated.notes == ("human and model texts share item ids, so an item id is used as the context of both",)
    rated = read_ratings([{**row, "context": "say cat"} for row in rows])
    assert [(item.id, item.context) for item in rated.items] == [("17/human", "say cat"), ("17/model", "say cat")]
    assert rated.notes == ()


def test_without_ids_text_source_and_context_make_an_item() -> None:
    rows = [{name: value for name, value in row.items() if name != "item"} for row in ROWS]
    rated = read_ratings(rows)
    assert [(item.id, item.text) for item in rated.items] == [("1", "a  cat"), ("2", "the cat sat")]
    assert rated.item_of.tolist() == [0, 1, 0, 1]
    apart = read_ratings([{**row, "context": place // 2} for place, row in enumerate(rows)])
    assert apart.item_of.tolist() == [0, 1, 2, 3]


def test_unknown_raters() -> None:
    for rows in (
        [{**row, "rater": None} for row in ROWS],
        [{**row, "rater": ""} for row in ROWS],
    ):
        rated = read_ratings(rows)
        assert rated.raters == ("?1", "?2")
        assert rated.rater_of.tolist() == [0, 0, 1, 1]
        assert not rated.names_raters
        assert rated.notes == ("raters are not named, so single raters cannot be assessed",)
    slip = read_ratings([{**row, "rater": ""} for row in ROWS[:3]])
    assert slip.notes[0].endswith("so single raters cannot be assessed; 1 of 2 items has one rating only")


def test_raters_whose_names_look_like_nobody_are_known() -> None:
    rated = read_ratings([{**row, "rater": f"?{row['rater']}"} for row in ROWS])
    assert rated.raters == ("?r1", "?r2", "?r3")
    assert rated.names_raters
    assert rated.notes == ()


def test_the_digest_knows_who_gave_which_rating_but_no_names_and_no_order() -> None:
    rated = read_ratings(ROWS)
    renamed = [
        {**row, "item": f"{row['item']}x", "rater": {"r1": "z", "r2": "b", "r3": "a"}[row["rater"]]} for row in ROWS
    ]
    assert read_ratings(renamed[::-1]).digest == rated.digest
    # The same ratings of each item, but the first rater has now given the 3.5.
    other = [
        {**row, "rater": {"r1": "r2", "r2": "r1"}[row["rater"]] if row["item"] == "h" else row["rater"]} for row in ROWS
    ]
    assert read_ratings(other).digest != rated.digest
    nobody = [{**row, "rater": None} for row in ROWS]
    assert read_ratings(nobody).digest == read_ratings(nobody[::-1]).digest != rated.digest


def test_the_digest_tells_items_apart_that_differ_only_in_their_raters() -> None:
    """Two texts twice each, rated alike: in one study a rater has seen both copies of a text, in the other one each."""

    def digest(first: str, second: str, third: str, fourth: str) -> str:
        by = zip(("h", "h", "m", "m"), (first, second, third, fourth), strict=True)
        rows = [
            {"item": f"{side}{place}", "source": {"h": "human", "m": "gpt"}[side], "text": side, "log_prob": -1,
             "rater": rater, "rating": 3}
            for place, (side, rater) in enumerate(by)
        ]  # fmt: skip
        return read_ratings(rows).digest

    assert digest("a", "a", "b", "b") != digest("a", "b", "a", "b")
    assert digest("a", "b", "a", "b") == digest("b", "a", "a", "b")
    assert digest("a", "a", "b", "b") == digest("b", "b", "a", "a")


def test_repeated_texts_without_ids_and_raters_are_said() -> None:
    rows = [{"source": source, "text": "a", "log_prob": -1, "rating": 3} for source in ("human", "m", "m", "m")]
    rated = read_ratings(rows)
    assert len(rated) == 4
    assert rated.notes == (
        "2 rows repeat a text; each row counts as an item (a column 'item' or 'rater' would join them)",
    )
    assert read_ratings(rows[:2]).notes == ()


def test_blank_cells_are_filled_by_other_rows() -> None:
    rows = [dict(row) for row in ROWS]
    for name in ("text", "log_prob"):
        rows[0][name] = rows[3][name] = ""
    check(read_ratings(write(table(rows))))


def test_blank_ratings_and_items_without_one_are_left_out_and_said() -> None:
    gone = {**ROWS[0], "item": "gone", "log_prob": "", "rating": ""}
    rows = [gone, *ROWS, {**ROWS[0], "rater": "r9", "rating": " "}, {**ROWS[1], "rating": ""}]
    rated = read_ratings(write(table(rows)))
    assert rated.items == ITEMS
    assert rated.raters == ("r1", "r2", "r3")
    assert rated.item_of.tolist() == [0, 1, 0, 1]
    assert rated.notes == ("3 blank ratings left out", "1 item without a rating left out")
    means = "item,rating,source,log_prob,length\na,,human,,3\nb,2,human,-1,3\nc,3,m,-1,3\n"
    rated = read_ratings(write(means))
    assert [item.id for item in rated.items] == ["b", "c"]
    assert rated.item_of.tolist() == [0, 1]
    assert rated.notes == ("1 item without a rating left out",)


def test_scale_and_labels() -> None:
    rows = [{**row, "rating_label": f" called {row['rating']}"} for row in ROWS]
    rated = read_ratings([*rows[:3], {**rows[3], "rating_label": ""}], scale=(0, 6))
    assert rated.scale == (0.0, 6.0)
    assert list(rated.labels.items()) == [(2.0, "called 2"), (3.5, "called 3.5"), (5.0, "called 5")]


def test_blank_lines_and_byte_order_marks_are_said() -> None:
    content = table(ROWS).replace("\n", "\n\n", 2)
    rated = read_ratings(write("\ufeff\n" + content))
    assert rated.items == ITEMS
    assert rated.notes == ("byte order mark removed", "r.csv: 3 blank lines left out")
    Path("latin.csv").write_bytes(table([{**row, "text": "é"} for row in ROWS]).encode("latin-1"))
    assert read_ratings("latin.csv", encoding="latin-1").items[0].text == "é"
