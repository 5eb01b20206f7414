"""Damages: nothing at strength 0, and the documented share of texts at every other strength."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.laws import corpus
from textassay.corpus.sample import Sample
from textassay.errors import InputError
from textassay.studies.stress.damages import CHANGES, DAMAGES, Damage, Lexicon, choose_damages
from textassay.studies.stress.stock import Stock, build, damaged_texts, divide, limited

SIZE = 30
# Two different words at least, so that every change has something to do.
TEXTS = st.lists(st.sampled_from(["a", "cat", "sat,", "don't", "42", "été", "猫"]), min_size=1, max_size=12).map(
    lambda words: " ".join(["first", *words, "last."])
)
LEXICON = Lexicon.of(["the cat and a dog sat on mats"])


@pytest.fixture(scope="module")
def stock() -> Stock:
    pool, model_texts = divide(Sample.of(corpus(1, 200)), sizes=[SIZE], seed=0)
    banks = {"other": Sample.of(corpus(2, 60)), "training": Sample.of(corpus(3, 60))}
    made = list(damaged_texts(pool, model_texts, list(DAMAGES.values()), banks=banks, seed=0))
    return build(pool, made, np.arange(len(pool)) % 5, seed=0)


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_strength_0_changes_nothing(stock: Stock, damage: Damage) -> None:
    drawn = stock.draw("run", SIZE, 0)
    assert stock.damaged(drawn, damage, 0.0).tolist() == drawn.candidate.tolist()


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
@settings(max_examples=15)
@given(strength=st.floats(0, 1), run=st.integers(0, 50))
def test_a_strength_changes_the_documented_share(stock: Stock, damage: Damage, strength: float, run: int) -> None:
    drawn = stock.draw("run", SIZE, run)
    changed = stock.damaged(drawn, damage, strength) != drawn.candidate
    assert changed.sum() == round(damage.reach * strength * SIZE)
    stronger = stock.damaged(drawn, damage, min(1.0, strength + 0.2)) != drawn.candidate
    assert not (changed & ~stronger).any()


def test_samples_of_a_draw_are_disjoint_and_repeatable(stock: Stock) -> None:
    one, again, other = stock.draw("run", SIZE, 3), stock.draw("run", SIZE, 3), stock.draw("fresh", SIZE, 3)
    assert not set(one.candidate) & set(one.reference)
    assert one.candidate.tolist() == again.candidate.tolist() != other.candidate.tolist()


def test_lost_topics_are_replaced_by_real_texts_of_other_topics(stock: Stock) -> None:
    drawn = stock.draw("run", SIZE, 1)
    places = stock.damaged(drawn, DAMAGES["topics"], 1.0)
    lost = drawn.candidate[places != drawn.candidate]
    assert places.max() < stock.n_pool
    assert not set(places) & set(drawn.reference)
    assert len(set(places)) == SIZE
    assert len(set(stock.topics[lost])) <= 3


def test_duplicates_are_copies_of_a_tenth(stock: Stock) -> None:
    drawn = stock.draw("run", SIZE, 1)
    assert len(set(stock.damaged(drawn, DAMAGES["duplicates"], 1.0))) <= SIZE // 10


@pytest.mark.parametrize("name", CHANGES)
@settings(max_examples=30)
@given(text=TEXTS, seed=st.integers(0, 100))
def test_every_change_changes_a_text_and_leaves_something(name: str, text: str, seed: int) -> None:
    changed = CHANGES[name](text, LEXICON, np.random.default_rng(seed))
    assert changed != text
    assert changed.strip()


@pytest.mark.parametrize("name", CHANGES)
@settings(max_examples=30)
@given(text=st.text(max_size=30))
def test_any_text_can_be_damaged_without_an_error(name: str, text: str) -> None:
    changed = CHANGES[name](text, Lexicon.of([text]), np.random.default_rng(0))
    assert bool(changed.strip()) >= bool(text.strip())


def test_shuffling_keeps_words_and_marks() -> None:
    changed = CHANGES["shuffle"]("one, two; three.", LEXICON, np.random.default_rng(0))
    assert sorted(changed.replace(",", "").replace(";", "").rstrip(".").split()) == ["one", "three", "two"]
    assert [character for character in changed if character in ",;."] == [",", ";", "."]


def test_the_rarest_words_are_replaced() -> None:
    lexicon = Lexicon.of(["a cat sat"] * 9 + ["an aardvark sat"])
    changed = CHANGES["rare"]("a cat sat an aardvark", lexicon, np.random.default_rng(0))
    assert changed.startswith("a cat sat ")
    assert changed != "a cat sat an aardvark"


def test_unknown_damages_and_missing_texts_are_refused() -> None:
    with pytest.raises(InputError, match="no damage 'shuffel'; did you mean 'shuffle'"):
        choose_damages(["shuffel"], given=[])
    with pytest.raises(InputError, match=r"the damage 'blend' needs texts of its own; give them with other=\.\.\."):
        choose_damages(["blend"], given=["training"])
    assert {damage.name for damage in choose_damages([], given=[])} == DAMAGES.keys() - {"blend", "copy"}


def test_large_samples_have_a_pool_and_banks_of_their_size() -> None:
    real, size = Sample.of([f"text {number}" for number in range(60_000)]), 12_000
    pool, model_texts = divide(real, sizes=[500, size], seed=0)
    assert len(limited(real, 0, sizes=[500, size])) == size
    (made,) = damaged_texts(pool, model_texts, [DAMAGES["cold"]], banks={}, seed=0)
    stock = build(pool, [made], np.zeros(len(pool), np.int64), seed=0)
    drawn = stock.draw("run", size, 0)
    assert (len(drawn.reference), len(drawn.candidate), len(drawn.spare)) == (size, size, 2 * size)
    assert len(np.unique(stock.damaged(drawn, DAMAGES["cold"], 1.0))) == size
