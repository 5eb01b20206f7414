"""The separable share: known total variation, held-out thresholds, groups, copies, and too few texts."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pytest

from tests.conftest import material
from tests.laws import corpus
from textassay import metrics
from textassay.corpus.arrays import F32
from textassay.corpus.sample import Sample
from textassay.inference.effect_size import Separable, separable_share
from textassay.inference.intervals import separable_interval
from textassay.inference.plan import Plan
from textassay.inference.result import Result

FAR = [f"v{i}" for i in range(40)]


def share(candidate: object, reference: object) -> Result:
    found: Result = metrics.separable(candidate, reference)
    return found


def mixed(seed: int, n: int, far: int) -> list[str]:
    """Texts of which some are of other words only: the total variation distance is their share."""
    return (corpus(seed, n - far) if far < n else []) + corpus(seed + 1, far, words=FAR)


@pytest.mark.parametrize("far", [60, 200, 400])
def test_the_share_of_texts_of_other_words_is_found(far: int) -> None:
    found = share(mixed(1, 400, far), corpus(9, 400))
    assert found.estimate == pytest.approx(far / 400, abs=0.04)
    assert found.interval is not None
    assert far / 400 - 0.12 < found.interval.low < far / 400
    assert (found.interval.high, found.interval.method) == (1.0, "cross-fitted:newcombe")
    assert "|interval:cross-fitted:newcombe|level:0.95|" in found.signature
    assert "|enc:" not in found.signature


def test_lost_texts_count_as_much_as_added_ones() -> None:
    lost = share(corpus(9, 400), mixed(1, 400, 100))
    assert lost.estimate == pytest.approx(0.25, abs=0.04)


@pytest.mark.parametrize("mark", ["# {}", "{} ."])
def test_one_mark_of_long_texts_counts(mark: str) -> None:
    """A heading or a final full stop is one of hundreds of words and marks, but many texts have it or lack it."""
    rng = np.random.default_rng(4)
    plain = [_long_text(rng) for _ in range(300)]
    marked = [mark.format(text) if rng.random() < 0.5 else text for text in plain[150:]]
    found = share(plain[:150], marked)
    assert found.estimate == pytest.approx(0.5, abs=0.15)
    assert found.interval is not None
    assert found.interval.low > 0.25


def _long_text(rng: np.random.Generator) -> str:
    """Common words, words of a topic, and a share of marks that is the text's own."""
    length, topic, share_of_marks = rng.integers(50, 300), rng.integers(0, 30), 0.2 * rng.random()
    marks = rng.choice([",", ".", "-", ":"], length)
    words = [
        f"c{common}" if rng.random() < 0.6 else f"w{40 * topic + own}"
        for common, own in zip(rng.zipf(1.3, length) % 5000, rng.geometric(0.05, length), strict=True)
    ]
    drawn = rng.random(length) < share_of_marks
    return " ".join([*np.where(drawn, marks, words).tolist(), "end"])


def test_bounds_of_equal_sources_are_mostly_0() -> None:
    lows = []
    for seed in range(40):
        interval = share(corpus(seed, 60), corpus(seed + 500, 60)).interval
        assert interval is not None
        lows.append(interval.low > 0)
    assert sum(lows) <= 5


def test_bounds_of_equal_sources_of_few_texts_are_mostly_0() -> None:
    """Copies of a text on both sides must not be held out together: their surplus on one side is chance."""
    rng, kinds = np.random.default_rng(3), corpus(7, 150)
    lows = []
    for _ in range(40):
        drawn = [kinds[k] for k in rng.integers(0, len(kinds), 300)]
        interval = share(drawn[:150], drawn[150:]).interval
        assert interval is not None
        lows.append(interval.low > 0)
    assert sum(lows) <= 5


def test_copies_are_draws_and_a_sample_has_no_distance_from_its_own_copy() -> None:
    texts = corpus(1, 60)
    assert share(texts, list(texts)).estimate == 0.0
    collapsed = share(["the same reply"] * 60, texts)
    assert collapsed.estimate == 1.0
    assert collapsed.interval is not None
    assert 0.85 < collapsed.interval.low < 1.0


@dataclass(frozen=True)
class Hidden:
    """An encoder whose vectors show what the words do not."""

    sides: dict[str, float]
    name: str = "hidden"
    dimension: int = 4

    def encode(self, texts: Sequence[str], /) -> F32:
        return np.array([[self.sides[text], len(text) / 100, 1.0, 0.0] for text in texts], dtype=np.float32)


def test_vectors_add_what_the_words_do_not_show() -> None:
    texts = [f"{text} n{place}" for place, text in enumerate(corpus(1, 240))]
    one, other = texts[:120], texts[120:]
    encoder = Hidden({text: float(text in one[:60]) for text in texts})
    plain = share(one, other)
    found: Result = metrics.separable(one, other, features="both", encoder=encoder)
    assert plain.estimate < 0.3
    assert found.estimate == pytest.approx(0.5, abs=0.05)
    assert "|features:both|tok:words|enc:hidden|" in found.signature


def groups(n_groups: int, each: int, seed: int, *, names: str = "p") -> Sample:
    """Texts that share most of their words with their group."""
    rng = np.random.default_rng(seed)
    texts, owners = [], []
    for group in range(n_groups):
        words = rng.choice([f"{names}{k}" for k in range(4000)], 8)
        for _ in range(each):
            texts.append(" ".join([*rng.permutation(words), f"w{rng.integers(5)}"]))
            owners.append(f"{names}{group}")
    return Sample.of(texts, groups=owners)


def test_groups_are_not_divided_and_count_once() -> None:
    """Texts of one prompt are alike, so single texts of other prompts are recognised, and whole groups are not."""
    plain = [Sample.of(groups(30, 8, seed).texts) for seed in (1, 2)]
    assert share(*plain).estimate > 0.5
    above = 0
    for seed in range(20):
        found = share(groups(30, 8, seed), groups(30, 8, seed + 100, names="q" if seed % 2 else "p"))
        assert found.parts["n_units"] == 30
        assert found.parts["candidate_effective"] < 240
        assert found.interval is not None
        above += found.interval.low > 0 and seed % 2 == 0
    assert above <= 2


def test_the_size_of_groups_is_no_difference() -> None:
    """Texts of large groups have more words in common with other texts, though only with those of their group."""
    above = 0
    for seed in range(12):
        one, other = groups(30, 1, seed), groups(30, 6, seed + 100, names="q")
        shared = [" ".join([text, *(f"w{place % 7}" for place in range(4))]) for text in one.texts.to_pylist()]
        also = [" ".join([text, *(f"w{place % 7}" for place in range(4))]) for text in other.texts.to_pylist()]
        renamed = [text.replace("q", "p") for text in also]
        found = share(Sample.of(shared, groups=one.groups), Sample.of(renamed, groups=other.groups))
        assert found.interval is not None
        above += found.interval.low > 0
    assert above <= 2


def test_texts_of_one_prompt_are_held_out_together() -> None:
    """Both samples answer the same prompts: what a text says of its prompt tells nothing of its side."""
    prompts = [f"prompt{i} asks about topic{i} and thing{i}" for i in range(120)]
    one = Sample.of([f"yes {prompt}" if i % 2 else prompt for i, prompt in enumerate(prompts)], groups=prompts)
    other = Sample.of(prompts, groups=prompts)
    assert share(one, other).estimate == pytest.approx(0.5, abs=0.06)


def test_the_bound_of_shares_of_one_group_uses_their_correlation() -> None:
    parts = {
        "candidate_rate": 0.5,
        "reference_rate": 0.3,
        "candidate_effective": 80.0,
        "reference_effective": 80.0,
        "n_units": 80.0,
    }
    lows = [separable_interval(parts | {"correlation": r}, 0.95).low for r in (-0.5, 0.0, 0.5)]
    assert lows == sorted(lows)
    assert lows[0] < lows[2]
    assert separable_interval(parts | {"correlation": 0.0}, 0.99).low < lows[1]


@pytest.mark.parametrize("few", [0, 1, 2])
def test_too_few_texts_or_groups_are_named(few: int) -> None:
    texts = corpus(1, 60)
    sides: list[object] = [
        texts[:19],
        Sample.of(texts, groups=[i % 19 for i in range(60)]),
        Sample.of(texts, groups=["one"] * 60),
    ]
    reference = texts if few == 0 else Sample.of(texts, groups=range(60))
    found = share(sides[few], reference)
    assert np.isnan(found.estimate)
    assert found.undefined is not None
    assert "20" in found.undefined


@pytest.mark.parametrize("tokenizer", ["words", "plain"])
@pytest.mark.parametrize("markup", [["**", "##"], ["***"], ["- -", "|---|", "`"]])
def test_texts_of_markup_only_have_a_share(markup: list[str], tokenizer: str) -> None:
    """With the tokenizer `plain` they have no token at all."""
    marks = [markup[i % len(markup)] for i in range(40)]
    assert metrics.separable(marks, corpus(1, 40), tokenizer=tokenizer).estimate > 0.9
    assert metrics.separable(marks, list(marks), tokenizer=tokenizer).estimate == 0.0


def test_the_effect_size_of_too_few_texts_has_the_reason() -> None:
    found: Separable = separable_share(material(corpus(1, 12)), material(corpus(2, 40)), plan=Plan())
    assert (found.estimate, found.low, found.grade, found.detectable) == (None, None, None, None)
    assert found.undefined == "12 texts in the candidate; needs 20 or more"
    assert found.judged(differs=True) == found
