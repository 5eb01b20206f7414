"""Preparation of training texts: every limit, unknown words in place, and splits that do not overlap."""

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from textassay.corpus.tokenizers import get_tokenizer
from textassay.errors import InputError
from textassay.models.neural.training_texts import prepare_texts, repeated_across, split_texts

PETS = ["A cat sat.", "A  dog sat.", "A dog ran, didn't it?", "A dog sat.", "A dog sat."]


def prepared(**options: Any) -> list[str]:
    texts: list[str] = prepare_texts(PETS, **options).texts.to_pylist()
    return texts


def test_without_limits_texts_stay_as_they_are() -> None:
    assert prepared() == PETS


def test_unknown_words_are_replaced_in_place() -> None:
    assert prepared(min_count=2) == [
        "A <unk> sat.",
        "A  dog sat.",
        "A dog <unk><unk> <unk><unk><unk> <unk><unk>",
        "A dog sat.",
        "A dog sat.",
    ]
    assert prepare_texts(["a <unk> cat", "a dog"], max_words=1).texts.to_pylist() == ["a <unk> <unk>", "a <unk>"]


def test_texts_with_unknown_words_can_be_left_out() -> None:
    made = prepare_texts(PETS, min_count=2, unknown="drop")
    assert made.texts.to_pylist() == ["A  dog sat.", "A dog sat.", "A dog sat."]
    assert made.notes == ("2 texts with unknown words left out",)
    assert prepared(min_count=2, max_unknown=1)[0] == "A <unk> sat."
    assert len(prepared(min_count=2, max_unknown=1)) == 4


def test_lengths_are_counted_in_words() -> None:
    assert prepared(min_length=5) == ["A dog ran, didn't it?"]
    assert len(prepared(max_length=4)) == 4
    made = prepare_texts(PETS, max_length=4, unique=True)
    assert made.notes == ("1 text with more than 4 words left out", "1 repeated text left out")


def test_lower_case_comes_first() -> None:
    assert prepare_texts(["A cat", "a cat"], lowercase=True, min_count=2).texts.to_pylist() == ["a cat", "a cat"]


@given(st.lists(st.text(alphabet="ab_1.,'-$\" é日<unk>", max_size=14), min_size=1, max_size=6), st.integers(1, 3))
@settings(deadline=None, max_examples=30)
def test_known_words_and_white_space_stay(texts: list[str], min_count: int) -> None:
    texts = [*texts, "a", "a", "a"]
    made = prepare_texts(texts, min_count=min_count)
    ids, _ = made.vocabulary.encode([text for text in texts if text.strip()])
    again, _ = made.vocabulary.encode(made.texts)
    assert ids.tolist() == again.tolist()
    if min_count == 1:
        assert made.texts.to_pylist() == [text for text in texts if len(get_tokenizer()([text]).ids)]


def test_parts_do_not_overlap_and_keep_their_order() -> None:
    texts = pa.array([str(n) for n in range(100)])
    made = split_texts(texts, {"train": 0.7, "validation": 10, "test": 0.1}, rng=np.random.default_rng(0))
    numbers = {name: [int(text) for text in part.to_pylist()] for name, part in made.items()}
    assert [len(part) for part in numbers.values()] == [70, 10, 10]
    assert all(part == sorted(part) for part in numbers.values())
    assert len({n for part in numbers.values() for n in part}) == 90
    assert numbers["train"] != list(range(70))
    again = split_texts(texts, {"train": 0.7, "validation": 10, "test": 0.1}, rng=np.random.default_rng(0))
    assert again == made


def test_repeated_texts_in_two_parts_are_noted() -> None:
    parts = {"train": pa.array(["a", "b"]), "test": pa.array(["b"])}
    assert repeated_across(parts) == ["1 text in both train and test; --unique leaves out repeated texts"]


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"unknown": "keep"}, "unknown='keep'; wanted one of replace, drop"),
        ({"min_length": -1}, "min_length=-1; wanted a whole number of 0 or more"),
        ({"min_count": 0}, "min_count=0"),
        ({"min_length": 50}, r"no text is left \(5 texts with less than 50 words left out\)"),
    ],
)
def test_bad_limits_are_errors(options: dict[str, Any], problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        prepared(**options)


@pytest.mark.parametrize(
    ("parts", "problem"),
    [
        ({"train": 5, "test": 0.5}, "parts of 7 texts in all, but there are 5"),
        ({"train": 0.0}, "part 'train' has size 0.0; wanted a number of texts"),
        ({"train": 0.01}, "part 'train' would be empty"),
        ({"train": 1.5}, "part 'train' has size 1.5"),
    ],
)
def test_bad_parts_are_errors(parts: dict[str, float], problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        split_texts(pa.array(PETS), parts, rng=None)
