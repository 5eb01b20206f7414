"""METEOR against NLTK, with WordNet and without, and the different rule for identical texts."""

import json
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from nltk.translate.meteor_score import single_meteor_score
from numpy.typing import NDArray

from tests.distances.conftest import Both
from tests.distances.small_wordnet import write_wordnet
from textassay.corpus.item_set import TextTable
from textassay.corpus.tokenizers import get_tokenizer
from textassay.distances import meteor, wordnet
from textassay.distances.base import Surroundings, get_distance, pooled_scores
from textassay.distances.meteor import Meteor, make
from textassay.distances.wordnet import WordNet

F64 = NDArray[np.float64]
TOLERANCE = 1e-12
# Few words, so that they repeat; words with common stems, and synonyms of words and of stems in both directions.
SYNONYMS = ["go", "goes", "going", "run", "runs", "pass", "lead", "get", "gets", "getting"]
WORDS = [
    *[
        "a",
        "A",
        "the",
        "ran",
        "runner",
        "car",
        "cars",
        "auto",
        "autos",
        "machine",
        "automobile",
        "bike",
        "bikes",
        "wheel",
    ],
    *["picture", "pictures", "photo", "photos", "photograph", "image", "pic", "film", "flick", "baby", "infant", "."],
    *SYNONYMS,
]
TEXTS = st.lists(st.lists(st.sampled_from(WORDS), max_size=12), min_size=2, max_size=5)
CLOSE_TEXTS = st.lists(st.lists(st.sampled_from(SYNONYMS), max_size=9), min_size=2, max_size=4)


class NoSynonyms:
    """An empty WordNet for NLTK."""

    def synsets(self, word: str) -> list[Any]:
        return []


def made(texts: Sequence[Sequence[str]], words: WordNet | None, *, name: str = "whitespace") -> Meteor:
    table = TextTable.of([], others=[" ".join(text) for text in texts], tokenizer=get_tokenizer(name))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(meteor, "find_wordnet", lambda: words)
        return make(Surroundings(table))


def expected(hypothesis: list[str], reference: list[str], reader: Any) -> float:
    """NLTK's score, but 1 for identical texts."""
    if [word.lower() for word in hypothesis] == [word.lower() for word in reference]:
        return 1.0
    return float(single_meteor_score(reference, hypothesis, wordnet=reader))


def assert_as_nltk(texts: Sequence[Sequence[str]], words: WordNet | None, reader: Any) -> None:
    distance = made(texts, words)
    tokens = [distance.table.words(number) for number in range(len(distance.table))]
    scores = distance.scores(np.arange(len(tokens)))
    wanted = np.array([[expected(hypothesis, reference, reader) for reference in tokens] for hypothesis in tokens])
    np.testing.assert_allclose(scores, wanted, rtol=0, atol=TOLERANCE)
    assert (scores[wanted == 1] == 1).all()


@pytest.fixture(scope="module")
def captions(data: Path) -> list[list[list[str]]]:
    """Every twentieth item of the real captions, with one reference of another image."""
    items = json.loads((data / "captions" / "coco_val_sample.json").read_text(encoding="utf-8"))
    tokenizer = get_tokenizer("words")
    texts = [[*a["references"], *a["candidates"], b["references"][0]] for a, b in pairwise(items)]
    return [[TextTable.of([[text]], tokenizer=tokenizer).words(0) for text in item] for item in texts[::20]]


def test_real_captions_as_nltk(both: Both, captions: list[list[list[str]]]) -> None:
    for item in captions:
        assert_as_nltk(item, both.ours, both.theirs)


def test_real_captions_as_nltk_without_synonyms(captions: list[list[list[str]]]) -> None:
    for item in captions:
        assert_as_nltk(item, None, NoSynonyms())


@settings(max_examples=200, deadline=None)
@given(texts=TEXTS | CLOSE_TEXTS)
def test_made_texts_as_nltk(both: Both, texts: list[list[str]]) -> None:
    assert_as_nltk(texts, both.ours, both.theirs)


@settings(max_examples=200, deadline=None)
@given(texts=TEXTS)
def test_made_texts_as_nltk_without_synonyms(texts: list[list[str]]) -> None:
    assert_as_nltk(texts, None, NoSynonyms())


def test_synonyms_matter(both: Both) -> None:
    texts = [["an", "auto"], ["a", "car"]]
    assert made(texts, both.ours).scores(np.arange(2))[0, 1] == pytest.approx(0.25)
    assert made(texts, None).scores(np.arange(2))[0, 1] == 0


@pytest.mark.parametrize(
    ("hypothesis", "reference", "nltk"),
    [("stop", "stopped", 0.5), ("a dog runs", "a dogs run", 0.9814814814814815), ("stop", "stop", None)],
)
def test_only_identical_texts_have_no_distance(hypothesis: str, reference: str, nltk: float | None) -> None:
    """Texts whose words match only as stems have NLTK's values."""
    distance = made([hypothesis.split(), reference.split()], None)
    numbers = np.array([distance.table.number_of[text] for text in (hypothesis, reference)])
    scores, distances = pooled_scores(distance, numbers)
    assert scores[0, 1] == pytest.approx(1.0 if nltk is None else nltk, abs=TOLERANCE)
    assert distances[0, 1] == pytest.approx(0.0 if nltk is None else 1 - nltk, abs=TOLERANCE)


def test_published_example(both: Both) -> None:
    # The example in NLTK's documentation of single_meteor_score.
    hypothesis = "It is a guide to action which ensures that the military always obeys the commands of the party"
    reference = "It is a guide to action that ensures that the military will forever heed Party commands"
    scores = made([hypothesis.split(), reference.split()], both.ours).scores(np.arange(2))
    assert round(float(scores[0, 1]), 4) == 0.6944


def test_long_texts_of_few_words_as_nltk(both: Both) -> None:
    rng = np.random.default_rng(0)
    texts = [rng.choice(WORDS, size).tolist() for size in (400, 300, 1)]
    assert_as_nltk([*texts, ["run"] * 500, ["runs"] * 700], both.ours, both.theirs)


@settings(deadline=None)
@given(texts=TEXTS)
def test_a_text_has_no_distance_to_itself(texts: list[list[str]]) -> None:
    distance = made(texts, None)
    numbers = np.array([distance.table.number_of[" ".join(text)] for text in [*texts, *texts]])
    scores, distances = pooled_scores(distance, numbers)
    same = numbers[:, None] == numbers
    assert (scores[same] == 1).all()
    assert (distances[same] == 0).all()
    assert ((distances >= 0) & (distances <= 1)).all()


def test_case_is_no_distance() -> None:
    distance = made([["A", "Cat", "SAT"], ["a", "cat", "sat"]], None)
    assert (pooled_scores(distance, np.arange(2))[1] == 0).all()


def test_texts_with_the_same_tokens_are_equal() -> None:
    table = TextTable.of([["a cat.", "a  cat .", "A cat."]])
    distance = make(Surroundings(table))
    assert distance.same(np.array([0, 1, 2])).tolist() == [0, 0, 2]
    assert (distance.name, distance.top) == ("meteor", 1.0)


def test_empty_texts() -> None:
    table = TextTable.of([["", "  ", "cat", "..."]])
    scores = make(Surroundings(table)).scores(np.arange(4))
    assert scores.tolist() == [[1, 1, 0, 0], [1, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]]


def test_nothing_to_score() -> None:
    assert make(Surroundings(TextTable.of([["", " "]]))).scores(np.arange(2)).tolist() == [[1, 1], [1, 1]]
    assert make(Surroundings(TextTable.of([["cat"]]))).scores(np.arange(0)).shape == (0, 0)


@pytest.mark.parametrize("cells", [1, 40, 200, 1000])
def test_many_texts_score_the_same_in_parts_as_at_once(monkeypatch: pytest.MonkeyPatch, cells: int) -> None:
    rng = np.random.default_rng(1)
    distance = made([rng.choice(WORDS, rng.integers(1, 9)).tolist() for _ in range(17)], None)
    numbers = rng.permutation(len(distance.table))
    whole = distance.scores(numbers)
    monkeypatch.setattr(meteor, "CELLS", cells)
    assert (distance.scores(numbers) == whole).all()
    assert (distance.scores(numbers[[3, 5]]) == whole[np.ix_([3, 5], [3, 5])]).all()


@pytest.mark.parametrize(
    "words", ["\x00 car\x00", "日本語 é ß", "../../x /etc", "a" * 10_000, "a*ded %s {} \\", "\ud7ff \uffff"]
)
def test_hostile_words(both: Both, words: str) -> None:
    scores = made([words.split(), ["car", *words.split()], ["x"]], both.ours).scores(np.arange(3))
    assert np.diag(scores).tolist() == [1, 1, 1]
    assert ((scores >= 0) & (scores <= 1)).all()
    assert scores[0, 1] > scores[0, 2] == 0


def test_signature_and_notes_about_wordnet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    surroundings = Surroundings(TextTable.of([["an auto", "a coach"]]))
    monkeypatch.setattr(wordnet, "FOLDERS", ())
    for variable in wordnet.VARIABLES:
        monkeypatch.delenv(variable, raising=False)
    without = make(surroundings)
    assert without.signature == "meteor/porter/no-wordnet"
    assert len(without.notes) == 1
    assert all(part in without.notes[0] for part in ("no WordNet", "wordnet-base", "TEXTASSAY_WORDNET"))
    monkeypatch.setenv("TEXTASSAY_WORDNET", str(write_wordnet(tmp_path)))
    given_folder = make(surroundings)
    assert given_folder.signature.startswith("meteor/porter/wordnet-3.1-")
    assert given_folder.notes == ()


def test_the_installed_wordnet_is_in_the_signature(both: Both, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEXTASSAY_WORDNET", str(both.ours.folder))
    distance = get_distance("meteor", Surroundings(TextTable.of([["a cat"]])))
    assert distance.signature == "meteor/porter/wordnet-3.0"
