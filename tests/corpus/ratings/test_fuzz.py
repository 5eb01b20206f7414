"""Whatever bytes come in, the outcome is rated items or one line; what is written in any form is read as the same."""

import csv
import io
import json
import tempfile
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from textassay.corpus.printable import printable
from textassay.corpus.ratings.files import read_ratings
from textassay.corpus.ratings.rated_items import NOBODY, RatedItems
from textassay.errors import InputError

MODEST = settings(max_examples=80, deadline=None)


def outcome(read: Callable[[], RatedItems]) -> RatedItems | str:
    """What reading ends in: rated items, or the line of an error."""
    try:
        return read()
    except InputError as error:
        return str(error)


def of_file(content: bytes, name: str, **options: Any) -> RatedItems | str:
    """What reading a file with this content ends in."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        path.write_bytes(content)
        return outcome(lambda: read_ratings(path, **options))


def faults(found: RatedItems | str) -> list[str]:
    """What is wrong with an outcome: an error of more than one printable line, or laws that rated items break."""
    if isinstance(found, str):
        return [] if found and found == printable(found) else [f"not one printable line: {found!r}"]
    return [law for law, holds in laws(found).items() if not holds]


def laws(rated: RatedItems) -> dict[str, bool]:
    """What must hold for all rated items, and whether it does."""
    answers = list(zip(rated.item_of.tolist(), rated.rater_of.tolist(), strict=True))
    return {
        "texts of people and of a model": {item.is_model for item in rated.items} == {False, True},
        "ids of their own": len({item.id for item in rated.items}) == len(rated),
        "possible log-probs and lengths": all(item.log_prob <= 0 and item.length >= 1 for item in rated.items),
        "ratings of every item": {item for item, _ in answers} == set(range(len(rated))),
        "raters who rated": {rater for _, rater in answers}
        == (set(range(len(rated.raters))) if rated.single else {NOBODY}),
        "a rating an answer": len(answers) == len(rated.ratings),
        "ratings that are numbers": bool(np.isfinite(rated.ratings).all()),
        "ratings on the scale": bool(rated.scale[0] <= rated.ratings.min() <= rated.ratings.max() <= rated.scale[1]),
        "one rating an item and rater": not rated.single or len(set(answers)) == len(answers),
        "notes of one printable line": all(note == printable(note) for note in rated.notes),
    }


FRAGMENTS = [
    b"rating,source,log_prob,length\n",
    b"HumanJudgement, ModelProbability, Label, LengthOfUtterance\n",
    b"item,source,text,log_prob,rater,rating\n",
    b"3,human,-1,4\n",
    b"2,gpt,-inf,4\n",
    b"2,-1,True,4\n",
    b"2,-1,False,4\n",
    b"1,human,a,-1,r1,3\n",
    b"1,gpt,b,-1,r1,4\n",
    b'{"rating": 3, "source": "human", "text": "a", "log_prob": -1}\n',
    b'{"rating": 3, "source": "m", "text": "a", "nll": 1}\n',
    b'{"rating": 3, "source": 1, "text": "\\ud800", "log_prob": "-inf"}\n',
    *(b"[", b"]", b"{", b",", b"\n", b"\r\n", b"\r", b'"', b"\t", b"\xef\xbb\xbf", b"\xff", b"\x00"),
]
means = st.lists(st.sampled_from([b"3,human,-1,4\n", b"2,gpt,-inf,4\n", b"1,gpt,-2,0\n", b"\n", b"\r\n"]), max_size=6)
released = st.lists(st.sampled_from([b"2,-1,True,4\n", b"2,-1.5,False,4\n", b" 3, -2, True, 1\n"]), max_size=6)
content = (
    st.binary(max_size=100)
    | st.lists(st.sampled_from(FRAGMENTS), max_size=8).map(b"".join)
    | means.map(lambda rows: b"".join([FRAGMENTS[0], *rows]))
    | released.map(lambda rows: b"".join([FRAGMENTS[1], *rows]))
)


@given(content=content, extension=st.sampled_from(["csv", "dat", "json", "jsonl", "tsv", "csv.gz", "jsonl.zst"]))
@settings(max_examples=400, deadline=None)
def test_any_bytes(content: bytes, extension: str) -> None:
    assert faults(of_file(content, f"r.{extension}")) == []


scalars = st.none() | st.booleans() | st.integers(-3, 3) | st.floats(allow_nan=False, allow_infinity=False)
odd = (
    scalars
    | st.text(max_size=3)
    | st.lists(st.integers(), max_size=1)
    | st.dictionaries(st.text(max_size=1), st.none())
)
wanted = {
    "rating": st.integers(1, 6),
    "source": st.sampled_from(["human", "gpt", True, 0]),
    "log_prob": st.integers(-2, 0) | st.sampled_from(["-inf", "-1.0"]),
    "text": st.sampled_from(["a", "a b", "", "\x1b"]),
}
perhaps = {
    "item": st.integers(0, 5),
    "rater": st.uuids().map(str),
    "context": st.sampled_from(["x", "y", 1]),
    "length": st.integers(0, 3),
    "rating_label": st.text(max_size=2),
}
# Half of them near what is wanted, so that reading also gets to its end.
near = st.lists(st.fixed_dictionaries(wanted), min_size=2, max_size=4) | st.lists(
    st.fixed_dictionaries({**wanted, "rater": perhaps["rater"], "item": st.uuids().map(str)}), min_size=2, max_size=4
)
far = st.lists(
    st.fixed_dictionaries(
        {field: values | odd for field, values in wanted.items()},
        optional={field: values | odd for field, values in perhaps.items()} | {"Judgment": odd},
    ),
    max_size=6,
)
records = near | far


@given(records=records, model=st.sampled_from([None, "gpt", "1"]), scale=st.sampled_from([None, (1.0, 6.0)]))
@settings(max_examples=400, deadline=None)
def test_any_records_in_memory_or_in_a_file(
    records: list[dict[str, Any]], model: str | None, scale: tuple[float, float] | None
) -> None:
    read = of_file(json.dumps(records).encode(), "r.json", model=model, scale=scale)
    held = outcome(lambda: read_ratings(records, model=model, scale=scale))
    assert (faults(read), faults(held)) == ([], [])
    if isinstance(read, RatedItems) and isinstance(held, RatedItems):
        assert (held.digest, held.items) == (read.digest, read.items)
    else:
        assert (type(held), type(read)) == (str, str)


word = st.text(st.characters(exclude_categories=["Cs", "Zs", "Cc"]), min_size=1, max_size=4).filter(str.strip)
texts = st.lists(word, min_size=1, max_size=4).map(" ".join)
name = st.text("abcäß-_.#/", min_size=1, max_size=4)
log_probs = st.floats(-1e6, 0) | st.just(float("-inf"))
ratings = st.dictionaries(st.sampled_from(["r1", "r2", "r3"]), st.floats(-5, 5), min_size=1)
# Who wrote each of two to five texts: people some of them, a model the others.
kinds = st.sampled_from([row for n in range(2, 6) for row in product([False, True], repeat=n) if len(set(row)) == 2])


def items(is_model: bool) -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries({"text": texts, "log_prob": log_probs, "context": texts, "model": st.just(is_model)})


studies = kinds.flatmap(lambda row: st.tuples(*(st.tuples(items(is_model), ratings) for is_model in row)))


def rows_of(study: tuple[Any, ...], names: list[str]) -> list[dict[str, Any]]:
    """One row a rating, as anybody would write them down; -inf as JSON can hold it."""
    return [
        {
            "item": given_name,
            "source": "gpt" if item["model"] else "human",
            "text": item["text"],
            "context": item["context"],
            "log_prob": str(item["log_prob"]),
            "rater": rater,
            "rating": rating,
        }
        for (item, given_ratings), given_name in zip(study, names, strict=True)
        for rater, rating in given_ratings.items()
    ]


def delimited(rows: list[dict[str, Any]], delimiter: str) -> bytes:
    file = io.StringIO(newline="")
    writer = csv.DictWriter(file, list(rows[0]), delimiter=delimiter, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return file.getvalue().encode()


@given(
    study=studies, names=st.lists(name, min_size=5, max_size=5, unique=True), random=st.randoms(use_true_random=False)
)
@MODEST
def test_forms_and_orders_mean_the_same(study: tuple[Any, ...], names: list[str], random: Any) -> None:
    rows = rows_of(study, names[: len(study)])
    rated = read_ratings(rows)
    assert faults(rated) == []
    assert [item.id for item in rated.items] == names[: len(study)]
    assert [item.text for item in rated.items] == [item["text"] for item, _ in study]
    assert [item.log_prob for item in rated.items] == [item["log_prob"] for item, _ in study]
    assert rated.ratings.tolist() == [rating for _, given_ratings in study for rating in given_ratings.values()]
    random.shuffle(rows)
    lines = "".join(json.dumps(row) + "\n" for row in rows).encode()
    for content, extension in ((lines, "jsonl"), (delimited(rows, ","), "csv"), (delimited(rows, "\t"), "tsv")):
        read = of_file(content, f"r.{extension}")
        assert faults(read) == []
        assert isinstance(read, RatedItems), read
        assert read.digest == rated.digest
    without = [{field: value for field, value in row.items() if field != "log_prob"} for row in rows]
    second = [{"item": row["item"], "log_prob": row["log_prob"]} for row in rows]
    assert read_ratings(without, log_probs=second).digest == rated.digest
