"""The stemmer against NLTK's in its default mode, on many words."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from nltk.stem import PorterStemmer

from textassay.distances.meteor import IRREGULAR, STEP_2, STEP_3, STEP_4, stem

NLTK = PorterStemmer()
ENDINGS = [
    *(*STEP_2, *STEP_3, *STEP_4, "s", "es", "ies", "ied", "eed", "ed", "ing", "y", "ly", "e", "ll", "l", "sses", "ss"),
    *("at", "bl", "iz", "ated", "bling", "izing"),
]
# Letters in the rules, other letters, and capitals whose lower case has more characters.
LETTERS = "aeiouybltswxzrmAYÉéßσΣİ日'-1\u0301"
FILES = ["coco/test.txt", "news/valid.txt", "news/test.txt"]


@pytest.mark.parametrize("name", FILES)
def test_real_words_as_nltk(data: Path, name: str) -> None:
    words = set((data / name).read_text(encoding="utf-8").split())
    assert len(words) > 1000
    assert {word: stem(word) for word in words} == {word: NLTK.stem(word) for word in words}


@settings(max_examples=1000, deadline=None)
@given(st.text(LETTERS, max_size=6), st.lists(st.sampled_from(ENDINGS), max_size=3))
def test_made_words_as_nltk(start: str, endings: list[str]) -> None:
    word = start + "".join(endings)
    assert stem(word) == NLTK.stem(word)


@settings(max_examples=300, deadline=None)
@given(st.text(st.characters(exclude_characters="*"), max_size=8))
def test_any_text_as_nltk(word: str) -> None:
    assert stem(word) == NLTK.stem(word)


@pytest.mark.parametrize(
    "word", [*IRREGULAR, "", "y", "by", "yy", "yyy", "sayyy", "y" * 3000, "ied", "ies", "tied", "aed"]
)
def test_odd_words_as_nltk(word: str) -> None:
    assert stem(word) == NLTK.stem(word)
    assert stem(word.upper()) == NLTK.stem(word)


# Porter (1980), the examples of steps 1 to 5, where the extensions change nothing.
PUBLISHED = """caresses caress, ponies poni, cats cat, feed feed, agreed agre, plastered plaster, bled bled,
motoring motor, sing sing, conflated conflat, troubled troubl, sized size, hopping hop, tanned tan, falling fall,
hissing hiss, fizzed fizz, failing fail, filing file, happy happi, sky sky, relational relat, conditional condit,
vietnamization vietnam, triplicate triplic, hopeful hope, goodness good, revival reviv, airliner airlin,
replacement replac, adoption adopt, homologous homolog, bowdlerize bowdler, probate probat, rate rate, cease ceas,
controll control, roll roll"""


def test_published_examples() -> None:
    pairs = dict(pair.split() for pair in PUBLISHED.split(","))
    assert {word: stem(word) for word in pairs} == pairs
