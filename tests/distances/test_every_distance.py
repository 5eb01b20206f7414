"""Laws of every built-in distance: no distance from itself, finite, bounded, and dependent only on the two texts."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.distances.pairs import made, table_of
from textassay.corpus.arrays import I64
from textassay.distances.base import BUILT_IN, Distance, pooled_scores

WORD = st.sampled_from(
    ["a", "cat", "cats", "dog", "the", "A", "é", "日本", "😀", ".", ",", "...", "can't", "\u0301", "_"]
)
TEXT = st.one_of(
    st.lists(WORD, max_size=8).map(" ".join),
    st.sampled_from(["", " ", "\t\n", ".", "!?!", "a a a a a a", "cat. cat.", "ca t", "Don't!", "a" * 300]),
    st.lists(WORD, min_size=1, max_size=4).map(lambda words: " ".join(words * 40)),
    st.text(max_size=12),
)
TEXTS = st.lists(TEXT, min_size=1, max_size=7)
NAMES = pytest.mark.parametrize("name", BUILT_IN)
LAW = settings(max_examples=40, deadline=None)


def run(name: str, texts: list[str], documents: int = 2) -> tuple[Distance, I64]:
    """The distance in a run whose first texts are the references of `documents` items, and the texts' numbers."""
    table = table_of([texts[i : i + 2] for i in range(documents)], texts)
    return made(name, table), np.array([table.number_of[text] for text in texts])


@NAMES
@LAW
@given(texts=TEXTS, documents=st.integers(0, 4))
def test_distances_are_finite_not_negative_and_exactly_0_from_itself(
    name: str, texts: list[str], documents: int
) -> None:
    distance, numbers = run(name, texts, documents)
    scores, distances = pooled_scores(distance, numbers)
    assert scores.shape == distances.shape == (len(texts), len(texts))
    assert np.isfinite(scores).all()
    assert np.isfinite(distances).all()
    assert (distances >= 0).all()
    assert (scores <= distance.top + 1e-9).all()
    assert (np.diag(distances) == 0).all()


@NAMES
@LAW
@given(texts=TEXTS, data=st.data())
def test_a_score_depends_only_on_the_two_texts(name: str, texts: list[str], data: st.DataObject) -> None:
    """The scores depend neither on the order of the texts nor on the other texts, to the last bit."""
    distance, numbers = run(name, texts)
    different = np.unique(numbers)
    whole = distance.scores(different)
    places = np.array(data.draw(st.lists(st.sampled_from(range(len(different))), min_size=1, unique=True)))
    np.testing.assert_array_equal(distance.scores(different[places]), whole[np.ix_(places, places)])
    assert (distance.same(different[places]) == distance.same(different)[places]).all()


@NAMES
@LAW
@given(texts=TEXTS, data=st.data())
def test_texts_that_repeat_tie_exactly(name: str, texts: list[str], data: st.DataObject) -> None:
    distance, numbers = run(name, texts)
    again = np.array(data.draw(st.lists(st.sampled_from(range(len(texts))), min_size=1, max_size=4)))
    once = pooled_scores(distance, numbers)
    twice = pooled_scores(distance, np.concatenate((numbers, numbers[again])))
    places = np.concatenate((np.arange(len(texts)), again))
    for mine, wanted in zip(twice, once, strict=True):
        np.testing.assert_array_equal(mine, wanted[np.ix_(places, places)])


@NAMES
@LAW
@given(texts=TEXTS)
def test_texts_that_a_distance_cannot_tell_apart_are_equally_far_from_all_others(name: str, texts: list[str]) -> None:
    distance, numbers = run(name, [*texts, *(f" {text}  " for text in texts)])
    _, distances = pooled_scores(distance, numbers)
    _, first, groups = np.unique(distance.same(numbers), return_index=True, return_inverse=True)
    np.testing.assert_array_equal(distances, distances[first[groups]])
    np.testing.assert_array_equal(distances, distances[:, first[groups]])


@NAMES
def test_empty_texts_are_equal_and_score_0_against_words(name: str) -> None:
    distance, numbers = run(name, ["", " \t", "a cat", "the dog sat on"])
    scores, distances = pooled_scores(distance, numbers)
    assert distances[0, 1] == distances[1, 0] == 0.0
    assert not scores[:2, 2:].any()
    assert not scores[2:, :2].any()


@NAMES
def test_names_and_signatures(name: str) -> None:
    distance, _ = run(name, ["a cat", "a dog"])
    assert distance.name == name
    assert distance.signature.startswith(name)
    assert not set(distance.signature) & set(" |\n\t")


@NAMES
def test_a_text_among_thousands_of_others(name: str) -> None:
    """The scores of two texts are the same in a run with two thousand other texts."""
    pair = ["a black cat on the mat", "the black cat sat on a mat"]
    filler = [f"text {i} of many" for i in range(2000)]
    documents = [["a cat", "the dog"], ["a mat"], ["the cat"]]
    alone = table_of(documents, pair)
    wanted = made(name, alone).scores(np.array([alone.number_of[text] for text in pair]))
    for others in ([*pair, *filler], [*filler, *pair]):
        table = table_of(documents, others)
        numbers = np.array([table.number_of[text] for text in pair])
        np.testing.assert_array_equal(made(name, table).scores(numbers), wanted)
