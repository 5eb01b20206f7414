"""Noise mixtures on texts: corpus BLEU against NLTK, interpolation, and the numbers of Table 2 in shape."""

import math
import warnings
from pathlib import Path

import numpy as np
import pytest
from nltk.translate.bleu_score import corpus_bleu as nltk_corpus_bleu

from tests.conftest import material
from textassay.corpus.hashed_ngrams import Sequences
from textassay.corpus.readers import read_sample
from textassay.errors import InputError
from textassay.metrics.ngrams.bleu import corpus_bleu, corpus_self_bleu
from textassay.metrics.ngrams.counts import TextNgrams
from textassay.studies.frontier.mixtures import (
    MixturePoint,
    cr_and_nrr,
    estimate_pairs,
    largest_cr,
    noise_lengths,
    noise_mixture,
    parse_noise_lengths,
    quality_at,
)
from textassay.studies.frontier.study import frontier

WORDS = ["a", "red", "blue", "small", "cat", "dog", "bus", "car", "runs", "sits", "on", "under", "the", "street"]


def random_texts(n: int, seed: int) -> list[str]:
    rng = np.random.default_rng(seed)
    return [" ".join(rng.choice(WORDS, int(rng.integers(4, 9)))) for _ in range(n)]


def sequences(texts: list[str]) -> Sequences:
    return material(texts).view(Sequences)


@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_corpus_bleu_is_that_of_nltk(n: int) -> None:
    candidates, references = random_texts(30, 0), random_texts(25, 1)
    first, second = (TextNgrams.of_sequences(sequences(texts)) for texts in (candidates, references))
    found = corpus_bleu(first, second, n)
    split = [text.split() for text in references]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = nltk_corpus_bleu([split] * 30, [text.split() for text in candidates], weights=[1 / n] * n)
    assert found == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("n", [1, 2, 3])
def test_corpus_self_bleu_compares_each_text_with_all_others(n: int) -> None:
    texts = [text.split() for text in random_texts(20, 2)]
    found = corpus_self_bleu(TextNgrams.of_sequences(sequences([" ".join(text) for text in texts])), n)
    others = [[other for at, other in enumerate(texts) if at != place] for place in range(len(texts))]
    assert found == pytest.approx(nltk_corpus_bleu(others, texts, weights=[1 / n] * n), abs=1e-12)


def test_a_text_without_a_match_of_some_order_scores_zero() -> None:
    first, second = (TextNgrams.of_sequences(sequences([text] * 2)) for text in ("a b c", "c b a"))
    assert corpus_bleu(first, second, 2) == 0.0


def test_the_largest_cr_is_that_of_the_best_single_text() -> None:
    texts = random_texts(30, 3)
    reference = TextNgrams.of_sequences(sequences(texts))
    single = [cr_and_nrr(TextNgrams.of_sequences(sequences([text])), reference, 2)[0] for text in texts]
    assert largest_cr(reference, 2) == pytest.approx(max(single))


def test_a_mixture_without_noise_has_texts_of_the_reference_only() -> None:
    reference = sequences(random_texts(30, 4))
    known = {reference.words[a:b].tobytes() for a, b in zip(reference.offsets[:-1], reference.offsets[1:], strict=True)}
    mixed = noise_mixture(reference, size=50, noise=0.0, noise_length=5, rng=np.random.default_rng(0))
    drawn = [mixed.words[a:b].tobytes() for a, b in zip(mixed.offsets[:-1], mixed.offsets[1:], strict=True)]
    assert len(drawn) == 50
    assert set(drawn) <= known


def test_noise_texts_have_their_length_and_every_word() -> None:
    reference = sequences(random_texts(30, 5))
    mixed = noise_mixture(reference, size=400, noise=1.0, noise_length=7, rng=np.random.default_rng(0))
    assert set(mixed.lengths.tolist()) == {7}
    words, counts = np.unique(mixed.words, return_counts=True)
    np.testing.assert_array_equal(words, np.unique(reference.words))
    assert counts.min() > 0.7 * counts.mean()


def test_noise_lengths_are_those_of_the_paper_or_as_given() -> None:
    reference = sequences(["a b c d e f g h"] * 3 + ["a b c d e f g h i j k l"])
    assert noise_lengths(reference, 2) == [5, 12]
    assert noise_lengths(reference, 2, parse_noise_lengths("5, median,max,5")) == [5, 8, 12]
    assert noise_lengths(reference, 7) == [7, 12]
    for bad in ("", "mean", "0", "5,,max", "5.5", "99999"):
        with pytest.raises(
            InputError, match=r"noise_lengths='.*'; wanted whole numbers from 1 to 10,000, median or max"
        ):
            frontier(random_texts(60, 1), noise_lengths=bad)


def test_the_chosen_noise_lengths_are_measured_and_stated() -> None:
    texts = random_texts(120, 1)
    column = frontier(texts, pairs="bs-2", noise_lengths="5,median,max")
    names = [curve.name for curve in column.sources[0].analyses[0].curves]
    assert len(names) == len(set(names)) >= 2
    assert "noise:5,median,max" in column.sources[0]["bs-2"].signature
    assert "noise:5,max" in frontier(texts, pairs="bs-2").sources[0]["bs-2"].signature


def test_quality_is_read_at_the_diversity_of_real_text() -> None:
    points = [MixturePoint(0.0, 1.0, -0.9), MixturePoint(0.2, 0.8, -0.7), MixturePoint(0.4, 0.5, -0.4)]
    assert quality_at(points, -0.8) == pytest.approx(0.9)
    assert quality_at(points, -0.55) == pytest.approx(0.65)
    assert quality_at(points, -0.95) == 1.0
    assert math.isnan(quality_at(points, -0.3))


def test_small_samples_and_short_texts_are_refused() -> None:
    many_texts = sequences(random_texts(40, 6))
    message = r"texts: 5 of 5 texts of the reference have 2 words or more; wanted at least 20"
    with pytest.raises(InputError, match=message):
        estimate_pairs(many_texts, sequences(random_texts(5, 7)), [("bs", 2)])
    short = sequences(["a red cat"] * 40)
    with pytest.raises(InputError, match="texts: 0 of 40 real texts have 4 words or more"):
        estimate_pairs(short, many_texts, [("bs", 4)])


def test_bleu_prefers_mixtures_on_captions_and_cr_does_hardly(data: Path) -> None:
    rng = np.random.default_rng(0)
    real, reference = (
        material(read_sample(data / "coco" / name).cut(4000, rng).texts.to_pylist(), tokenizer="words").view(Sequences)
        for name in ("test.txt", "train.txt")
    )
    pairs = [(kind, n) for kind in ("bs", "cn") for n in (2, 3, 4)]
    found = dict(zip(pairs, estimate_pairs(real, reference, pairs), strict=True))
    gaps = [found["bs", n].qdisc for n in (2, 3, 4)]
    assert 0.02 < gaps[0] < gaps[1] < gaps[2] < 0.3
    assert found["cn", 2].drate * 20 < found["bs", 2].drate
    assert found["cn", 3].drate * 5 < found["bs", 3].drate
    assert found["bs", 2].self_ratio == pytest.approx(gaps[0] / found["bs", 2].quality)
    first, second = found["bs", 3].best.points[:2]  # type: ignore[union-attr]
    assert first.quality == pytest.approx(1.0)
    assert found["bs", 3].ref_ratio == pytest.approx(gaps[1] / (first.quality - second.quality))


@pytest.mark.slow
def test_80_000_captions_have_the_gaps_of_table_2(data: Path) -> None:
    """Published for 50,000 and 50,000 captions: QDisc of BLEU .032, .090, .162; DRate 246, 114, 99 times that of CR."""
    found = frontier(str(data / "coco" / "t*.txt")).sources[0]
    assert found.n == 40_000
    gaps = [found[f"bs-{n}"].estimate for n in (2, 3, 4)]
    assert gaps == pytest.approx([0.0223, 0.0588, 0.1032], rel=0.1)
    small = [found[f"cn-{n}"].estimate for n in (2, 3, 4)]
    assert small == pytest.approx([7.5e-7, 1.07e-6, 1.15e-6], rel=0.3)
    ratios = [found[f"bs-{n}"].parts["drate"] / found[f"cn-{n}"].parts["drate"] for n in (2, 3, 4)]
    assert min(ratios) > 50
