"""Sentences about diversity and phrases at equal numbers of words: the length of texts alone supports none of them."""

import numpy as np
import pytest

from textassay import Sample, compare
from textassay.corpus.hashed_ngrams import Sequences
from textassay.metrics.views import Material
from textassay.studies.compare.measuring.equal_lengths import cut_to_equal_lengths

ABOUT_LENGTH = ("divers", "uncovered", "common phrases", "of its phrases")


def written(n: int, *, seed: int, mean: float = 60.0, peak: float = 0.25) -> list[str]:
    """Texts of a first-order chain of words, whose lengths vary; a larger `peak` is less diversity."""
    rng, chain = np.random.default_rng(seed), np.random.default_rng(0)
    following = chain.integers(0, 400, (400, 12))
    texts = []
    for length in np.maximum(rng.gamma(4.0, mean / 4, n), 5).astype(int):
        word, chosen = int(rng.integers(400)), []
        for step in rng.geometric(peak, length):
            word = int(following[word, min(step, 12) - 1])
            chosen.append(f"w{word}")
        texts.append(" ".join(chosen))
    return texts


def sentence(reference: list[str], candidate: list[str]) -> str:
    found = compare(reference, {"c": candidate}, families="ngram", n_resamples=99)
    assert found["c"].verdict.decision == "differs"
    return str(found["c"].verdict.sentence)


def shorter(texts: list[str]) -> list[str]:
    return [" ".join(text.split()[:15]) for text in texts]


def joined(texts: list[str]) -> list[str]:
    return [f"{one} {other}" for one, other in zip(texts[::2], texts[1::2], strict=True)]


@pytest.mark.parametrize("changed", [shorter, joined])
@pytest.mark.parametrize("swapped", [False, True])
def test_length_alone_supports_no_sentence(changed: object, swapped: bool) -> None:
    sides = written(200, seed=1), changed(written(200, seed=2))  # type: ignore[operator]
    said = sentence(*(reversed(sides) if swapped else sides))
    assert not any(words in said for words in ABOUT_LENGTH)


def test_a_loss_of_diversity_is_found_in_shorter_texts() -> None:
    """Shares of different word pairs alone point the other way: shorter texts have more."""
    few = shorter(written(200, seed=2, peak=0.7))
    said = sentence(written(200, seed=1), few)
    assert "less diverse than the reference" in said
    assert "texts of each cut to equal lengths" in said


def test_results_at_equal_lengths_are_kept_as_data() -> None:
    found = compare(written(60, seed=1), {"c": shorter(written(60, seed=2))}, metrics="distinct,bleu", n_resamples=49)
    kept = found["c"].equal_lengths.results
    assert set(kept) == {"distinct-2", "bleu-4"}
    assert kept["distinct-2"][0].estimate != found["c"]["distinct"].estimate
    assert type(found).from_json(found.to_json()) == found
    alike = compare(written(60, seed=1), {"c": written(60, seed=1)}, metrics="distinct", n_resamples=49)
    assert not alike["c"].equal_lengths.results


@pytest.mark.parametrize("sizes", [(30, 30), (30, 20, 11), (1, 7)])
def test_cut_texts_are_beginnings_of_one_distribution_of_lengths(sizes: tuple[int, ...]) -> None:
    parts = [Material(Sample.of(written(n, seed=n, mean=10.0 * (k + 1)))) for k, n in enumerate(sizes)]
    cut = cut_to_equal_lengths(parts)
    for part, short in zip(parts, cut, strict=True):
        before, after = part.view(Sequences), short.view(Sequences)
        assert (after.lengths <= before.lengths).all()
        for text in range(len(before)):
            size = int(after.lengths[text])
            mine = after.words[after.offsets[text] : after.offsets[text + 1]]
            assert (mine == before.words[before.offsets[text] : before.offsets[text] + size]).all()
    if len(set(sizes)) == 1:
        assert len({tuple(np.sort(short.view(Sequences).lengths)) for short in cut}) == 1


def test_the_order_of_the_texts_changes_no_length() -> None:
    texts = shorter(written(40, seed=1))
    one, other = (Material(Sample.of(order)) for order in (texts, texts[::-1]))
    real = Material(Sample.of(written(40, seed=2, mean=12.0)))
    lengths = [cut_to_equal_lengths([part, real])[0].view(Sequences).lengths for part in (one, other)]
    assert (lengths[0] == lengths[1][::-1]).all()
