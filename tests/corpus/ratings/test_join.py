"""Log-probabilities of a second file are put to the items of the first, by id or by text."""

import json
from pathlib import Path

import pytest

from textassay.corpus.ratings.files import read_ratings
from textassay.corpus.ratings.rated_items import RatedItem
from textassay.errors import InputError

RATED = "item,source,text,rater,rating\nh,human,a  cat,r1,5\nm,gpt,the cat sat,r1,2\nh,human,a  cat,r2,3\n"
ITEMS = (RatedItem("h", False, -4.5, 2, "a  cat"), RatedItem("m", True, -2.0, 3, "the cat sat"))


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(content: str, name: str = "r.csv") -> str:
    Path(name).write_text(content, encoding="utf-8", newline="")
    return name


@pytest.mark.parametrize(
    ("second", "notes"),
    [
        ("item,log_prob\nm,-2\nh,-4.5\n", ()),
        (
            "id,source,nll\nm,gpt,2\nh,human,4.5\nm,other,7\n",
            ("p.csv: 1 row matches no item and is left out", "p.csv: 'nll' read as minus the log-probability"),
        ),
        ("text,logprob\na  cat,-4.5\nthe cat sat,-2\n", ()),
        (
            "text,source,log_prob\na  cat,real,-4.5\nthe cat sat,gpt,-2\na  cat,gpt,-3\n",
            ("p.csv: 1 row matches no item and is left out",),
        ),
        ("item,log_prob,rating\nm,-2,1\nh,-4.5,2\nm,-2.0,3\nh,,4\n", ()),
    ],
)
def test_log_probs_from_a_second_file(second: str, notes: tuple[str, ...]) -> None:
    rated = read_ratings(write(RATED), log_probs=write(second, "p.csv"))
    assert rated.items == ITEMS
    assert rated.notes == notes


def test_a_second_file_fills_what_the_first_lacks() -> None:
    first = "item,source,text,log_prob,rating\nh,human,a  cat,,5\nm,gpt,the cat sat,-2,2\n"
    rated = read_ratings(write(first), log_probs=write("item,log_prob\nh,-4.5\nx,-1\ny,\n", "p.csv"))
    assert rated.items == ITEMS
    assert rated.notes == ("p.csv: 2 rows match no item and are left out",)


def test_lengths_are_taken_from_the_second_file() -> None:
    second = write("item,log_prob,tokens\nm,-2,5\nh,-4.5,4\nm,,5\n", "p.csv")
    rated = read_ratings(write(RATED), log_probs=second)
    assert [(item.length, item.text) for item in rated.items] == [(4, "a  cat"), (5, "the cat sat")]
    by_text = write("text,log_prob,length\nthe cat sat,-2,5\na  cat,-4.5,4\n", "p.csv")
    assert [item.length for item in read_ratings("r.csv", log_probs=by_text).items] == [4, 5]


def test_lengths_and_texts_may_be_in_the_second_file_alone() -> None:
    bare = "item,source,rater,rating\nh,human,r1,5\nm,gpt,r1,2\n"
    rated = read_ratings(write(bare), log_probs=write("item,log_prob,length\nm,-2,5\nh,-4.5,4\n", "p.csv"))
    assert [(item.length, item.text) for item in rated.items] == [(4, None), (5, None)]
    texts = write("item,log_prob,text\nm,-2,the cat sat\nh,-4.5,a  cat\n", "p.csv")
    assert read_ratings("r.csv", log_probs=texts).items == ITEMS


def test_a_second_file_about_other_items_brings_no_texts() -> None:
    write("item,source,log_prob,rating\nh,human,-1,5\nm,gpt,-2,2\n")
    with pytest.raises(InputError, match=r"^r\.csv:1: no column 'text' or 'length'; columns are"):
        read_ratings("r.csv", log_probs=write("item,log_prob,text\nx,-2,b\n", "p.csv"))


def test_shared_ids_are_joined_by_source_or_text() -> None:
    write("item,source,text,rating\n1,human,a,5\n1,gpt,b,2\n")
    for second in ("item,source,log_prob\n1,gpt,-2\n1,human,-4.5\n", "item,text,log_prob\n1,b,-2\n1,a,-4.5\n"):
        rated = read_ratings("r.csv", log_probs=write(second, "p.csv"))
        assert [item.log_prob for item in rated.items] == [-4.5, -2]


def test_texts_of_several_contexts_are_joined_by_context() -> None:
    rows = [
        {"source": "human" if place % 2 else "m", "text": "a", "context": place, "rating": 3, "rater": "r"}
        for place in range(4)
    ]
    second = "".join(
        json.dumps({"text": "a", "context": str(place), "log_prob": -place}) + "\n" for place in reversed(range(4))
    )
    rated = read_ratings(rows, log_probs=write(second, "p.jsonl"))
    assert [item.log_prob for item in rated.items] == [0, -1, -2, -3]


@pytest.mark.parametrize(
    ("second", "message"),
    [
        (
            "item,log_prob\nx,-4\n",
            "r.csv:2: item 'h' has no log_prob, nor has 1 more of 2; wanted one for each item (p.csv has none for it)",
        ),
        (
            "item,log_prob\nh,-4\n",
            "r.csv:3: item 'm' has no log_prob; wanted one for each item (p.csv has none for it)",
        ),
        ("item,log_prob\nh,-4\nm,-1\nh,-5\n", "p.csv:4: log_prob -5.0 of 'h'; p.csv:2 has -4.0; wanted one"),
        ("item,log_prob\nh,0.5\n", "p.csv:2: log_prob 0.5 is above 0; wanted a natural logarithm of a probability"),
        ("item,p\nh,0.5\n", "p.csv:1: no column 'log_prob' or 'nll'; columns are 'item', 'p'"),
        ("item,log_prob\nh,\n", "p.csv:1: nothing in the column 'log_prob'; wanted values"),
        (
            "key,log_prob\nh,-4\n",
            "p.csv:1: no column to match log-probabilities by; columns are 'key', 'log_prob'; "
            "wanted 'item' in both files, or 'text' in both",
        ),
        ("item,log_prob\n,-4\nh,-1\n", "p.csv:2: nothing in 'item'; wanted one in each row"),
        ("item,source,log_prob\nh,,-4\nm,gpt,-1\n", "p.csv:2: nothing in 'source'; wanted one in each row"),
        ("", "p.csv: empty; wanted one row per item"),
        (
            "item,text,log_prob\nm,the cat sat,-2\nh,the cat sat,-4.5\n",
            "p.csv:3: text 'the cat sat' of item 'h'; r.csv:2 has 'a  cat'; wanted one text per item",
        ),
        (
            "item,text,log_prob\nm,the cat sat,-2\nh,a  cat,-4.5\nh,a dog,-4.5\n",
            "p.csv:4: text 'a dog' of 'h'; p.csv:3 has 'a  cat'; wanted one",
        ),
        ("item,log_prob,length\nm,-2,3\nh,-4.5,3\nh,-4.5,4\n", "p.csv:4: length 4 of 'h'; p.csv:3 has 3; wanted one"),
        ("item,log_prob,length\nm,-2,3.5\n", "p.csv:2: length is 3.5; wanted a whole number of tokens"),
        (
            "item,log_prob,length\nm,-2,3\nh,-4.5,\n",
            "r.csv:2: item 'h' has no length, but others have; wanted a length for all or for none",
        ),
    ],
)
def test_what_cannot_be_joined(second: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        read_ratings(write(RATED), log_probs=write(second, "p.csv"))
    assert str(caught.value) == message


def test_files_that_contradict_each_other() -> None:
    write("item,source,text,log_prob,rating\nh,human,a,-1,5\nm,gpt,b,-2,2\n")
    with pytest.raises(InputError, match=r"^p\.csv:2: log_prob -3\.0 of item 'm'; r\.csv:3 has -2\.0; wanted one"):
        read_ratings("r.csv", log_probs=write("item,log_prob\nm,-3\n", "p.csv"))
    write("item,source,length,rating\nh,human,2,5\nm,gpt,4,2\n")
    with pytest.raises(
        InputError, match=r"^p\.csv:3: length 5 of item 'm'; r\.csv:3 has 4; wanted one length per item"
    ):
        read_ratings("r.csv", log_probs=write("item,log_prob,length\nh,-1,2\nm,-3,5\n", "p.csv"))


def test_shared_ids_without_source_and_text() -> None:
    write("item,source,length,rating\n1,human,3,5\n1,gpt,3,2\n")
    with pytest.raises(InputError, match="wanted a column 'source', because human and model texts share item ids"):
        read_ratings("r.csv", log_probs=write("item,log_prob\n1,-2\n", "p.csv"))


def test_standard_input_is_read_once() -> None:
    with pytest.raises(InputError, match="given 2 times; wanted at most one"):
        read_ratings("-", log_probs="-")
