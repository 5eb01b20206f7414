"""What differs: planted phrases, the formula, what is left out of the list, hostile texts and real data."""

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tests.laws import corpus
from textassay.corpus.readers import read_sample
from textassay.corpus.sample import Sample
from textassay.corpus.tokenizers import get_tokenizer
from textassay.errors import InputError
from textassay.metrics.views import Material, Settings
from textassay.studies.compare.differences import (
    LEAST_Z,
    PRIOR,
    WIDTH,
    Phrase,
    clustering,
    excerpt,
    log_odds_z,
    what_differs,
)


def material(texts: list[str], *, tokenizer: str = "words", lowercase: bool = False) -> Material:
    return Material(Sample.of(texts), Settings(get_tokenizer(tokenizer, lowercase=lowercase)))


def texts_of(phrases: tuple[Phrase, ...]) -> list[str]:
    return [phrase.text for phrase in phrases]


def plain_z(y: int, n: int, other_y: int, other_n: int) -> float:
    """The formula of Monroe, Colaresi and Quinn (2008), one gram at a time."""
    weight = PRIOR * min(n, other_n)
    prior = weight * (y / n + other_y / other_n) / 2
    odds = (y + prior) / (n + weight - y - prior)
    other_odds = (other_y + prior) / (other_n + weight - other_y - prior)
    return (math.log(odds) - math.log(other_odds)) / math.sqrt(1 / (y + prior) + 1 / (other_y + prior))


def test_a_planted_phrase_comes_first_with_its_counts() -> None:
    real, made = corpus(1, 400), corpus(2, 400)
    planted = [f"{text} purple monkey dishwasher" if i % 4 == 0 else text for i, text in enumerate(made)]
    over, under = what_differs(material(planted), material(real))
    first = over[0]
    assert (first.text, first.n, first.candidate_count, first.reference_count) == (
        "purple monkey dishwasher",
        3,
        100,
        0,
    )
    assert first.z > LEAST_Z
    assert first.examples == (planted[0], planted[4])
    # Its parts, and what stands before it, say nothing new.
    assert not any("purple" in text or "monkey" in text for text in texts_of(over[1:]))
    assert under == ()


def test_a_dropped_word_is_under_produced_with_examples_of_the_reference() -> None:
    real = [f"{text} zebra" if i % 3 == 0 else text for i, text in enumerate(corpus(1, 300))]
    over, under = what_differs(material(corpus(2, 300)), material(real))
    assert over == ()
    assert (under[0].text, under[0].candidate_count, under[0].reference_count) == ("zebra", 0, 100)
    assert under[0].z < -LEAST_Z
    assert under[0].examples == (real[0], real[3])


def test_z_is_the_published_formula() -> None:
    made = ["the cat sat on the mat", "the dog"] * 80
    real = ["the cat lay on a rug", "a dog ran"] * 70
    over, under = what_differs(material(made), material(real), orders=(1,))
    totals = 80 * 8, 70 * 9
    assert {phrase.text for phrase in over} == {"the", "sat", "mat"}
    for phrase in (*over, *under):
        expected = plain_z(phrase.candidate_count, totals[0], phrase.reference_count, totals[1])
        assert phrase.z == pytest.approx(expected, rel=1e-12)


def test_z_of_many_grams_is_the_formula_for_each() -> None:
    rng = np.random.default_rng(0)
    counts, others = rng.integers(0, 50, size=(2, 200))
    counts[0], others[0] = 40, 0
    z = log_odds_z(counts, others, totals=(9000, 4000))
    expected = [plain_z(int(a), 9000, int(b), 4000) if a + b else 0.0 for a, b in zip(counts, others, strict=True)]
    assert z.tolist() == pytest.approx(expected, rel=1e-12)


def test_a_rare_word_does_not_float_above_a_solid_shift() -> None:
    real = ["a cat sat on the mat", "the dog ran to a cat"] * 500
    made = ["a cat sat on a mat", "the dog ran to a cat"] * 500
    made[:3] = ["a cat sat on a qqq"] * 3
    over, under = what_differs(material(made), material(real), orders=(1,))
    assert texts_of(over) == ["a"]
    assert texts_of(under) == ["the"]
    z = log_odds_z(np.array([3, 1500]), np.array([0, 1000]), totals=(6000, 6000))
    assert 0 < z[0] < LEAST_Z < z[1]


def test_identical_samples_give_nothing() -> None:
    assert what_differs(material(corpus(1, 300)), material(corpus(1, 300))) == ((), ())


def test_swapped_samples_swap_the_lists() -> None:
    made = [f"{text} purple monkey" if i % 2 else text for i, text in enumerate(corpus(1, 200))]
    real = [f"{text} green tea" if i % 3 else text for i, text in enumerate(corpus(2, 200))]
    over, under = what_differs(material(made), material(real))
    other_over, other_under = what_differs(material(real), material(made))
    assert over
    assert under

    def swapped(phrases: tuple[Phrase, ...]) -> tuple[Phrase, ...]:
        return tuple(
            replace(
                p,
                candidate_count=p.reference_count,
                reference_count=p.candidate_count,
                candidate_rate=p.reference_rate,
                reference_rate=p.candidate_rate,
                z=-p.z,
            )
            for p in phrases
        )

    assert (swapped(other_under), swapped(other_over)) == (over, under)


def test_shorter_texts_use_no_word_too_often_that_is_as_frequent_in_each() -> None:
    """`and` is twice as frequent among the words of short texts, and no more frequent per text."""
    made = [f"{text} and" for text in corpus(1, 600)]
    real = [f"{one} {other} and" for one, other in zip(corpus(2, 600), corpus(3, 600), strict=True)]
    over, under = what_differs(material(made), material(real))
    assert "and" not in texts_of((*over, *under))
    for phrase in over:
        assert phrase.candidate_count > phrase.reference_count
        assert phrase.candidate_rate > phrase.reference_rate
    for phrase in under:
        assert phrase.candidate_count < phrase.reference_count
        assert phrase.candidate_rate < phrase.reference_rate


def test_markup_hides_no_word() -> None:
    def answers(seed: int) -> list[str]:
        return [f"{a} {b}" for a, b in zip(corpus(seed, 400), corpus(seed + 10, 400), strict=True)]

    marked = [f"# T\n\n* **{text}** : `x` | _y_ ~ > #" for text in answers(1)]
    made = [f"Sure! {text}" if i % 8 == 0 else text for i, text in enumerate(marked)]
    over, _ = what_differs(material(made), material([f"T {text} x y" for text in answers(2)]))
    words = [phrase for phrase in over if not phrase.is_markup]
    assert over[: len(words)] == tuple(words)
    assert any("Sure" in phrase.text for phrase in words)
    assert len([phrase for phrase in over if phrase.is_markup]) > 3
    assert words[0].candidate_rate / words[0].candidate_count == pytest.approx(
        over[-1].candidate_rate / over[-1].candidate_count
    )


def test_examples_are_on_one_line() -> None:
    made = [f"purple monkey\n\n- {text}\n" for text in corpus(1, 200)]
    over, _ = what_differs(material(made), material(corpus(2, 200)))
    assert over
    assert not any("\n" in example for phrase in over for example in phrase.examples)


def test_a_word_that_stands_in_many_phrases_is_listed_itself_and_they_are_not() -> None:
    made = [f"the {colour} panda ate" for colour in ("red", "big", "old", "shy", "wet") for _ in range(60)]
    real = [f"the {colour} hamster ate" for colour in ("red", "big", "old", "shy", "wet") for _ in range(60)]
    over, under = what_differs(material(made), material(real), top=3)
    assert texts_of(over) == ["panda ate"]
    assert texts_of(under) == ["hamster ate"]


def test_a_whole_that_shifts_more_than_its_part_is_listed_beside_it() -> None:
    def sitting(cats: int, others: int) -> list[str]:
        filler = (f"f{i % 50} g{i % 49}" for i in range(4000 - cats - others))
        return ["cat sat"] * cats + [f"w{i % 40} sat" for i in range(others)] + list(filler)

    over, _ = what_differs(material(sitting(200, 1300)), material(sitting(60, 800)))
    assert texts_of(over) == ["sat", "cat sat"]
    # Where cats sit as much more often as all others do, they say nothing of their own.
    over, _ = what_differs(material(sitting(200, 1300)), material(sitting(100, 650)))
    assert "cat sat" not in texts_of(over)


def test_one_long_text_that_repeats_a_name_is_no_habit() -> None:
    base = [" ".join(corpus(seed, 20)) for seed in range(60)]
    once = [*base[:29], f"{base[29]} {'gandalf spoke ' * 60}"]
    often = [f"{text} {'gandalf spoke ' * 2}" for text in base[:30]]
    real = material(base[30:])
    assert texts_of(what_differs(material(often), real)[0]) == ["gandalf spoke"]
    assert what_differs(material(once), real)[0] == ()


def test_clustering_is_the_variance_over_texts_relative_to_a_poisson_count() -> None:
    counts, sizes = np.array([0, 9, 0, 1, 2]), np.array([10, 20, 10, 15, 45])
    share = counts.sum() / sizes.sum()
    expected = ((counts - share * sizes) ** 2).sum() / counts.sum()
    held = counts > 0
    size_squares = int((sizes**2).sum())
    found = clustering(counts[held], sizes[held], total=100, size_squares=size_squares)
    assert found == pytest.approx(expected, rel=1e-12)
    assert clustering(counts[:0], sizes[:0], total=100, size_squares=size_squares) == 1.0


def test_top_examples_and_orders_are_obeyed() -> None:
    made, real = material(corpus(1, 300, words=[f"v{i}" for i in range(30)])), material(corpus(2, 300))
    over, under = what_differs(made, real, top=5, examples=1, orders=(2,))
    assert (len(over), len(under)) == (5, 5)
    assert {phrase.n for phrase in (*over, *under)} == {2}
    assert all(len(phrase.examples) == 1 for phrase in over)
    assert [phrase.z for phrase in over] == sorted((phrase.z for phrase in over), reverse=True)
    with pytest.raises(InputError, match="orders: \\(0, 1\\) given; wanted"):
        what_differs(made, real, orders=(0, 1))


def test_examples_are_different_texts() -> None:
    made = ["the purple cat"] * 90 + ["a purple dog"] * 10
    over, _ = what_differs(material(made), material(["the grey cat", "a grey dog"] * 50), orders=(1,))
    assert over[0].text == "purple"
    assert over[0].examples == ("the purple cat", "a purple dog")


@pytest.mark.parametrize("texts", [["a"], ["a a a"], ["one two"] * 5])
def test_samples_too_small_or_uniform_give_nothing(texts: list[str]) -> None:
    assert what_differs(material(texts), material(["a b c d"])) == ((), ())
    assert what_differs(material(texts), material(texts * 50)) == ((), ())


def test_phrases_of_characters_are_joined_without_blanks() -> None:
    made, real = material(["ab cd"] * 100, tokenizer="char"), material(["ab xy"] * 100, tokenizer="char")
    over, under = what_differs(made, real)
    assert texts_of(over)[0] in {" cd", "b c"}
    assert texts_of(under)[0] in {" xy", "b x"}


HOSTILE = ["\x00", "\x1b[31m", "<script>alert(1)</script>", "{{7*7}}", "'; DROP", "\u202e", "(?:", "\\1", "%s", "🧨"]


@pytest.mark.parametrize("hostile", HOSTILE)
def test_hostile_texts_pass_through_as_text(hostile: str) -> None:
    made = [f"{text} {hostile} end" for text in corpus(1, 100)]
    over, _ = what_differs(material(made, tokenizer="whitespace"), material(corpus(2, 100), tokenizer="whitespace"))
    assert any(hostile.split(maxsplit=1)[0] in phrase.text.split(" ") for phrase in over)
    assert over[0].examples[0] in made


@pytest.mark.parametrize("tokenizer", ["words", "whitespace", "treebank", "char"])
def test_long_examples_are_cut_around_the_phrase(tokenizer: str) -> None:
    long = [f"{'blah ' * 80}Purple  Monkey {'blah ' * 80}{i}" for i in range(60)]
    made = material(long, tokenizer=tokenizer, lowercase=True)
    real = material([text.replace("Purple  Monkey", "") for text in long], tokenizer=tokenizer, lowercase=True)
    over, _ = what_differs(made, real, orders=(3,) if tokenizer == "char" else (2,))
    assert over
    for phrase in over:
        for example in phrase.examples:
            assert len(example) <= WIDTH
            assert example.startswith("…")
            assert example.endswith("…")
            assert "Purple  Monkey" in example


def test_an_excerpt_stays_in_the_text_and_finds_whole_words() -> None:
    words = get_tokenizer("words")
    text = f"category {'x ' * 100}cat. {'y ' * 5}"
    assert excerpt(text, ["cat"], words).endswith(" cat. y y y y y ")
    assert excerpt(text, ["absent"], words) == f"{text[: WIDTH - 2]}…"
    assert excerpt("short cat", ["cat"], words) == "short cat"
    wide = "z" * 300
    assert excerpt(f"{'a ' * 100}{wide}", [wide], words) == f"…{'z' * (WIDTH - 2)}…"


def real_material(path: Path) -> Material:
    return Material(read_sample(path), Settings())


def test_halves_of_real_captions_hardly_differ(data: Path) -> None:
    whole = read_sample(data / "coco" / "test.txt")
    phrases: list[Phrase] = []
    for seed in range(3):
        places = np.random.default_rng(seed).permutation(len(whole))
        halves = (Material(whole.take(np.sort(half))) for half in np.array_split(places, 2))
        over, under = what_differs(*halves)
        phrases += [*over, *under]
    assert len(phrases) <= 1


def test_stock_phrases_of_a_collapsed_model(data: Path) -> None:
    made, real = (real_material(data / "coco_models" / name) for name in ("textgan.txt", "real_train.txt"))
    over, under = what_differs(made, real)
    assert texts_of(over)[:2] == ["a motorcycle .", "with a sink"]
    assert (over[0].candidate_count, over[0].reference_count) == (4349, 56)
    assert texts_of(under)[:3] == ["the", "an", "to"]


def test_real_captions_of_other_topics(data: Path) -> None:
    test, train = (real_material(data / "coco_models" / name) for name in ("real_test.txt", "real_train.txt"))
    over, under = what_differs(test, train)
    assert {"skateboard", "horse", "frisbee"} <= set(texts_of(over))
    assert {"bathroom", "toilet", "kitchen"} <= set(texts_of(under))


def test_a_loss_of_full_stops_shows_up(data: Path) -> None:
    # Under `words`, 62 % of SeqGAN's captions end in a full stop against 79 % of the real ones.
    made, real = (real_material(data / "coco_models" / name) for name in ("seqgan.txt", "real_train.txt"))
    _, under = what_differs(made, real)
    assert "." in [word for text in texts_of(under) for word in text.split()]
