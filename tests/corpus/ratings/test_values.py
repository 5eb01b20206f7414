"""Log-probabilities, lengths and tokens of rated items."""

import math
from pathlib import Path

import pytest

from textassay.corpus.ratings.files import read_ratings


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(content: str) -> str:
    Path("r.csv").write_text(content)
    return "r.csv"


def test_log_probs_of_all_kinds() -> None:
    rated = read_ratings(write("rating,source,log_prob,length\n1,human,-inf,1\n2,m,-0.0,1\n3,m,0,1\n"))
    assert [item.log_prob for item in rated.items] == [-math.inf, 0.0, 0.0]
    assert math.copysign(1, rated.items[1].log_prob) == 1
    rated = read_ratings(write("rating,source,NLL,length\n1,human,inf,1\n2,m,2.5,1\n3,m,0,1\n"))
    assert [item.log_prob for item in rated.items] == [-math.inf, -2.5, 0.0]
    assert math.copysign(1, rated.items[2].log_prob) == 1
    assert rated.notes == ("r.csv: 'NLL' read as minus the log-probability",)


@pytest.mark.parametrize(("text", "length"), [("a", 1), ("a  b ", 2), ("a\tb\u00a0c", 1), ("one two three", 3)])
def test_tokens_are_what_stands_between_spaces(text: str, length: int) -> None:
    rows = [{"source": source, "text": text, "log_prob": -1, "rating": 1} for source in ("human", "m")]
    assert [item.length for item in read_ratings(rows).items] == [length, length]
    given = read_ratings([{**row, "length": "7.0"} for row in rows])
    assert [item.length for item in given.items] == [7, 7]


def test_empty_texts_have_one_token() -> None:
    rows = [{"source": source, "text": text, "log_prob": -1, "rating": 1} for source, text in (("0", ""), ("1", "a b"))]
    rated = read_ratings(rows)
    assert [(item.text, item.length) for item in rated.items] == [("", 1), ("a b", 2)]
    assert rated.notes == ("1 item has a blank text, which counts as 1 token",)
    rated = read_ratings([{**row, "length": place} for place, row in enumerate(rows)])
    assert [item.length for item in rated.items] == [1, 1]
    assert rated.notes == ("1 item has a length of 0, which counts as 1 token",)
