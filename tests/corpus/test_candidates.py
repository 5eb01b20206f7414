"""Candidates by name, from texts, paths, samples, and several of these."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from textassay.corpus.readers import named_candidates, read_sample
from textassay.corpus.sample import Sample
from textassay.errors import InputError

TEXTS = ["a cat sat", "a dog ran", "see notes.txt"]


@pytest.mark.parametrize(
    "texts",
    [
        TEXTS,
        tuple(TEXTS),
        pd.Series(TEXTS),
        pd.Series(TEXTS, name=" "),
        pd.Series(TEXTS, index=["a.txt", "b.txt", "c.txt"]),
        pl.Series(TEXTS),
        pa.array(TEXTS),
        np.array(TEXTS),
        pd.DataFrame({"text": TEXTS}),
        [{"text": text} for text in TEXTS],
        iter(TEXTS),
    ],
    ids=lambda texts: type(texts).__name__,
)
def test_texts_are_one_candidate_and_never_looked_up(texts: Any) -> None:
    named = named_candidates(texts)
    assert list(named) == ["candidate"]
    assert read_sample(named["candidate"]).texts.to_pylist() == TEXTS


def test_paths_are_named_by_their_files(tmp_path: Path) -> None:
    assert named_candidates("runs/mle.txt") == {"mle": "runs/mle.txt"}
    assert named_candidates(Path("runs/mle.jsonl.gz")) == {"mle": Path("runs/mle.jsonl.gz")}
    assert named_candidates(["a/mle.txt", "b/mle.txt", "GAN.PARQUET"]) == {
        "a/mle": "a/mle.txt",
        "b/mle": "b/mle.txt",
        "GAN": "GAN.PARQUET",
    }
    assert named_candidates([Path("a"), "b"]) == {"a": "a", "b": "b"}
    assert named_candidates(["runs/*.txt", "x.csv.zst"]) == {"runs/*.txt": "runs/*.txt", "x": "x.csv.zst"}


def test_several_samples() -> None:
    first, second = Sample.of(["a"], name="mle"), Sample.of(["b"], name="mle")
    assert named_candidates([first, second]) == {"mle": first, "mle (2)": second}
    assert named_candidates(first) == {"mle": first}
    pairs = [("a.jsonl", "x"), ("b.jsonl", "x"), ("b.jsonl", "y")]
    assert named_candidates(pairs) == {"a": pairs[0], "b": pairs[1], "y": pairs[2]}
    assert named_candidates([["a"], ("b",)]) == {"candidate 1": ["a"], "candidate 2": ("b",)}
    assert list(named_candidates([pd.Series(["a"]), first])) == ["candidate 1", "mle"]
    named = named_candidates([pd.Series(["a"], name="mle"), pl.Series("gan", ["a"]), ("x.csv", "text"), first])
    assert list(named) == ["mle", "gan", "text", "mle (2)"]
    assert list(named_candidates(pd.Series(["a"], name="mle"))) == ["mle"]


def test_mappings_keep_their_names() -> None:
    assert named_candidates({"mle": TEXTS, "gan": "gan.txt"}) == {"mle": TEXTS, "gan": "gan.txt"}


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ([], "no candidate given; wanted at least one sample"),
        ({3: TEXTS}, "candidates: a name is a number .3.; wanted a string"),
        ({" ": TEXTS}, "candidates: a name is ' '; wanted a string that is not blank"),
        ([Path("a.txt"), ["a cat"]], "a list of paths and other things"),
    ],
)
def test_what_cannot_be_named(given: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        named_candidates(given)
