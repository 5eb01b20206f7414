"""Vocabularies: order of ids, limits, unknown words, and the way from texts to ids and back."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from textassay.errors import InputError
from textassay.models.storage import ModelFile
from textassay.models.vocabulary import BEGIN, END, UNK, Vocabulary, framed

PETS = ["A cat sat.", "A dog sat.", "A dog ran, didn't it?"]


def test_ids_are_by_falling_count_and_alphabet() -> None:
    vocabulary = Vocabulary.learn(["b a a", "c b"])
    assert vocabulary.words == ("", "", "<unk>", "a", "b", "c")
    assert vocabulary.counts.tolist() == [0, 0, 0, 2, 2, 1]
    assert vocabulary.id("c") == 5
    assert vocabulary.id("z") == UNK


def test_rare_words_and_words_beyond_the_limit_are_unknown() -> None:
    by_count = Vocabulary.learn(PETS, min_count=2)
    assert by_count.words[3:] == ("A", ".", "dog", "sat")
    assert by_count.counts.tolist() == [0, 0, 8, 3, 2, 2, 2]
    by_size = Vocabulary.learn(PETS, max_words=1)
    assert by_size.words[3:] == ("A",)
    assert by_size.counts.sum() == by_count.counts.sum()


@pytest.mark.parametrize("tokenizer", ["words", "whitespace"])
def test_the_unknown_word_survives_the_round_trip(tokenizer: str) -> None:
    vocabulary = Vocabulary.learn(["a <unk> sat", "a cat sat"], tokenizer=tokenizer)
    assert vocabulary.words[3:] == ("a", "sat", "cat")
    ids, offsets = vocabulary.encode(["a bird sat", "a <unk> sat"])
    assert ids.tolist() == [3, UNK, 4] * 2
    assert vocabulary.decode(ids, np.diff(offsets)) == ["a <unk> sat"] * 2


@given(st.lists(st.text(alphabet="ab_1.,'-$\" é日", max_size=12), min_size=1, max_size=6), st.integers(1, 3))
@settings(deadline=None, max_examples=100)
def test_decoded_texts_have_the_same_ids(texts: list[str], min_count: int) -> None:
    vocabulary = Vocabulary.learn([*texts, "a"], min_count=min_count)
    ids, offsets = vocabulary.encode(texts)
    again, bounds = vocabulary.encode(vocabulary.decode(ids, np.diff(offsets)))
    assert again.tolist() == ids.tolist()
    assert bounds.tolist() == offsets.tolist()


def test_lower_case_is_applied_to_every_text() -> None:
    vocabulary = Vocabulary.learn(PETS, lowercase=True)
    ids, offsets = vocabulary.encode(["A CAT sat."])
    assert vocabulary.decode(ids, np.diff(offsets)) == ["a cat sat."]


def test_framed_puts_each_text_between_begin_and_end() -> None:
    ids = np.array([3, 4, 5])
    assert framed(ids, np.array([0, 2, 2, 3])).tolist() == [BEGIN, 3, 4, END, BEGIN, END, BEGIN, 5, END]


def test_arrays_and_settings_restore_the_vocabulary() -> None:
    first = Vocabulary.learn(PETS, min_count=2, lowercase=True)
    again = Vocabulary.restored(ModelFile("a file", "ngram", first.config(), first.tensors()))
    assert (again.words, again.tokenizer.signature) == (first.words, "words+lower")
    ids, offsets = first.encode(PETS)
    assert again.encode(PETS)[0].tolist() == ids.tolist()
    assert again.decode(ids, np.diff(offsets)) == first.decode(ids, np.diff(offsets))


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"min_count": 0}, "min_count=0; wanted a whole number of 1 or more"),
        ({"max_words": 0}, "max_words=0; wanted a whole number of 1 or more"),
        ({"tokenizer": "treebank"}, "tokenizer='treebank'; a word model needs one of words, whitespace"),
    ],
)
def test_bad_limits_are_errors(options: dict[str, int], problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        Vocabulary.learn(PETS, **options)  # type: ignore[arg-type]


def test_no_text_is_an_error() -> None:
    with pytest.raises(InputError, match="no text to learn from"):
        Vocabulary.learn(["", "  "])
