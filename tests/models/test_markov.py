"""The Markov generator: probabilities computed by hand, consistency, and invalid input."""

import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from textassay.corpus.tokenizers import get_tokenizer
from textassay.errors import InputError
from textassay.models.markov import MarkovModel

PETS = ["A cat sat.", "A dog sat.", "A dog ran, didn't it?"]
TOWNS = [
    f"{who} {what} {where}{stop}"
    for who in ("The mayor", "Our teacher", "A guest")
    for what in ("walks to", "talks about", "has seen")
    for where in ("the bridge", "a small town", "the sea, again")
    for stop in (".", "!")
]


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def test_probabilities_by_hand() -> None:
    # Two texts of one word: B a E and B b E. Each word has the one left neighbour B, the end has two, so that the
    # lowest level is a 1/4, b 1/4, end 1/2. After B, a was seen once in two: (1 - D)/2 + D 2/2 * 1/4 = 0.3125.
    model = MarkovModel.fit(["a", "b"], order=2)
    end = 0.75 * 0.5
    assert model.next_words() == pytest.approx({"": 0.0, "a": 0.3125 / (1 - end), "b": 0.3125 / (1 - end)})
    # The end follows a once in one occurrence: (1 - D)/1 + D * 1/2 = 0.625; the rest of 3/4 is divided.
    assert model.next_words("a") == pytest.approx({"": 0.625, "a": 0.1875, "b": 0.1875})
    assert model.log_prob("a") == pytest.approx(math.log(0.5 * 0.625))


def test_trigram_by_hand() -> None:
    # Fifteen different bigrams, two of which end in "sat"; each longer context was seen once and has weight 1/4.
    lowest = 2 / 15
    assert MarkovModel.fit(PETS).next_words("A cat")["sat"] == pytest.approx(0.25 + 0.75 * (0.25 + 0.75 * lowest))
    # "dog" has two kinds of followers that each occur after one kind of word: 2 (1 - D)/2 + ... on the bigram level.
    ran = 0.25 / 2 + 0.75 * (0.25 / 2 + 0.75 * (1 / 15))
    assert MarkovModel.fit(PETS).next_words("A dog")["ran"] == pytest.approx(ran)


def test_order_one_is_relative_frequency() -> None:
    chances = MarkovModel.fit(["a a b", "a"], order=1).next_words("b")
    assert chances == pytest.approx({"": 2 / 6, "a": 3 / 6, "b": 1 / 6})


@pytest.mark.parametrize("order", [1, 2, 3, 5])
@pytest.mark.parametrize("temperature", [0.1, 1.0, 1.5, 30.0])
@pytest.mark.parametrize("text", ["", "A", "A dog", "dog A", "A dog ran, didn't it?", "A zebra", "zebra"])
def test_next_words_sum_to_one(order: int, temperature: float, text: str) -> None:
    chances = MarkovModel.fit(PETS, order=order).next_words(text, temperature=temperature)
    assert sum(chances.values()) == pytest.approx(1.0, abs=1e-12)
    assert min(chances.values()) >= 0.0
    assert len(chances) == 1 + len({word for row in PETS for word in words(row)})


@pytest.mark.parametrize("temperature", [0.3, 0.7, 1.0, 2.0])
@pytest.mark.parametrize("order", [1, 2, 3, 4])
def test_samples_follow_the_tempered_probabilities(order: int, temperature: float) -> None:
    model = MarkovModel.fit(["a b c", "a b", "b c a b", "c"], order=order)
    size = 20_000
    seen = Counter(model.sample(size, temperature=temperature, max_words=40, rng=rng(order)))
    for text in ["a", "c", "a b", "a b c", "b c a b", "c b", "a a", "c a b c"]:
        chance = math.exp(stepwise(model, text, temperature=temperature))
        assert abs(seen[text] / size - chance) < 4.5 * math.sqrt(chance / size) + 1 / size, text


@pytest.mark.parametrize("order", [1, 2, 3, 6])
def test_log_prob_is_the_sum_of_the_steps(order: int) -> None:
    model = MarkovModel.fit(PETS, order=order)
    texts = ["A cat sat.", "sat dog A", "A", "A dog ran, didn't it? A cat sat.", ". ."]
    expected = [stepwise(model, text) for text in texts]
    assert [model.log_prob(text) for text in texts] == pytest.approx(expected, rel=1e-12)
    assert model.log_probs(texts).tolist() == pytest.approx(expected, rel=1e-12)


def test_texts_that_cannot_be_generated_have_probability_zero() -> None:
    model = MarkovModel.fit(PETS)
    scores = model.log_probs(["A zebra sat.", "  ", "A cat sat.", "zebra"])
    assert scores[[0, 1, 3]].tolist() == [-math.inf] * 3
    assert math.isfinite(scores[2])
    assert model.log_probs([]).tolist() == []


def test_probabilities_of_all_short_texts_and_the_longer_rest_add_up() -> None:
    model = MarkovModel.fit(["a b", "b", "b a a"], order=3)
    short = [f"{x} {y} {z}".split() for x in "ab" for y in ["", *"ab"] for z in ["", *"ab"] if y or not z]
    written = model.sample(20_000, max_words=30, rng=rng())
    longer = sum(len(text.split()) > 3 for text in written) / len(written)
    assert np.exp(model.log_probs([" ".join(text) for text in short])).sum() + longer == pytest.approx(1.0, abs=0.015)


def test_low_temperature_is_less_diverse() -> None:
    model = MarkovModel.fit(TOWNS)
    kinds = [len(set(model.sample(300, temperature=t, rng=rng()))) for t in (0.1, 0.7, 1.5)]
    assert kinds[0] < kinds[1] < kinds[2]
    # In the limit only the most probable words remain.
    text = model.sample(50, temperature=1e-9, rng=rng())[0].split()
    assert text[0] in {"The", "Our", "A"}


def test_most_texts_are_new() -> None:
    read = TOWNS[::4]
    written = MarkovModel.fit(read).sample(500, rng=rng())
    assert sum(text in read for text in written) < 250
    # The new texts are not noise: many of them follow the rule of the training texts.
    assert sum(text in TOWNS and text not in read for text in written) > 15


def test_same_generator_same_texts() -> None:
    model = MarkovModel.fit(TOWNS)
    again = MarkovModel.fit(list(TOWNS))
    assert model.sample(50, rng=rng(3)) == again.sample(50, rng=rng(3))
    assert model.sample(50, rng=rng(3)) != model.sample(50, rng=rng(4))


def test_every_text_has_a_word_and_at_most_the_wanted_number() -> None:
    model = MarkovModel.fit(["a", "b", "a b"], order=1)
    written = model.sample(2000, temperature=3.0, max_words=4, rng=rng())
    assert {len(text.split()) for text in written} == {1, 2, 3, 4}
    assert model.sample(0, rng=rng()) == []


def test_punctuation_is_spaced_as_in_the_texts() -> None:
    read = ['He said: "We don\'t pay $3.5 million (a lot); do we?"', "A well-known fact, isn't it!"] * 3
    model = MarkovModel.fit(read, order=4)
    written = model.sample(300, temperature=0.5, max_words=30, rng=rng())
    assert sum(text in read for text in written) > 30
    for text in model.sample(300, rng=rng()):
        assert not any(f" {mark}" in text for mark in ".,;:!?)"), text
        assert "( " not in text
        assert "$ " not in text


@given(st.lists(st.text(alphabet="ab_1.,'-$\" ", max_size=12), min_size=1, max_size=6), st.integers(0, 9))
@settings(deadline=None, max_examples=100)
def test_joined_text_has_the_same_tokens(texts: list[str], seed: int) -> None:
    if not any(text.strip() for text in texts):
        texts = [*texts, "a"]
    model = MarkovModel.fit(texts, order=2)
    written = model.sample(20, temperature=2.0, max_words=12, rng=rng(seed))
    assert all(text == text.strip() and text for text in written)
    assert np.isfinite(model.log_probs(written)).all()


def test_whitespace_tokens_stay_apart() -> None:
    model = MarkovModel.fit(["a , b .", "b , a !"], tokenizer="whitespace")
    for text in model.sample(50, rng=rng()):
        assert set(text.split()) <= {"a", "b", ",", ".", "!"}


@pytest.mark.parametrize("texts", [[], ["", "  "]])
def test_no_text_is_an_error(texts: list[str]) -> None:
    with pytest.raises(InputError, match="no text to learn from"):
        MarkovModel.fit(texts)


def test_bad_options_are_errors() -> None:
    model = MarkovModel.fit(PETS)
    with pytest.raises(InputError, match="order 0; wanted 1 or more"):
        MarkovModel.fit(PETS, order=0)
    with pytest.raises(InputError, match="tokenizer 'treebank'; wanted one of words, whitespace"):
        MarkovModel.fit(PETS, tokenizer="treebank")
    for temperature in (0.0, -1.0, math.nan, math.inf):
        with pytest.raises(InputError, match="wanted a number above 0"):
            model.sample(1, temperature=temperature, rng=rng())
    with pytest.raises(InputError, match="wanted 0 or more texts of 1 or more words"):
        model.sample(-1, rng=rng())
    with pytest.raises(InputError, match="wanted 0 or more texts of 1 or more words"):
        model.sample(1, max_words=0, rng=rng())


def words(text: str) -> list[str]:
    tokens = get_tokenizer("words")([text])
    return tokens.words(0, len(tokens.ids))


def stepwise(model: MarkovModel, text: str, *, temperature: float = 1.0) -> float:
    """The log-probability of a text word by word; spaces between tokens do not change the tokens."""
    read = words(text)
    steps = [(" ".join(read[:place]), word) for place, word in enumerate([*read, ""])]
    return sum(math.log(model.next_words(start, temperature=temperature)[word]) for start, word in steps)


def test_texts_begin_with_their_prompts_and_continue_like_the_model() -> None:
    model = MarkovModel.fit(TOWNS)
    prompts = ["The mayor walks", "A guest", "", "Our teacher has seen the sea, again!"] * 500
    texts = model.sample(len(prompts), prompts=prompts, rng=rng())
    assert all(text.startswith(prompt) for text, prompt in zip(texts, prompts, strict=True))
    after = Counter(word for text in texts[1::4] for word in text.split()[2:3])
    wanted = model.next_words("A guest")
    for word in ("walks", "talks", "has"):
        assert after[word] / 500 == pytest.approx(wanted[word], abs=0.07)


def test_empty_prompts_change_nothing() -> None:
    model = MarkovModel.fit(PETS)
    assert model.sample(20, prompts=[""] * 20, rng=rng()) == model.sample(20, rng=rng())


@pytest.mark.parametrize(
    ("prompts", "problem"),
    [
        (["A cat"], "1 for 2 texts"),
        (["A cat", "A zebra"], "'zebra'"),
        (["A cat", "A dog ran, didn't it?"], "of 9 words"),
    ],
)
def test_prompts_that_do_not_fit_are_refused(prompts: list[str], problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        MarkovModel.fit(PETS).sample(2, prompts=prompts, max_words=4, rng=rng())
