"""LSA: what its vectors depend on and represent, and that tests on them keep their level."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from textassay.corpus.sample import Sample
from textassay.encoders import lsa as module
from textassay.encoders import lsa as terms
from textassay.encoders.base import check_name
from textassay.encoders.lsa import Lsa, bag_of_words, count_terms, fit_lsa, lsa
from textassay.errors import InputError

TEXTS = [
    "A man rides a horse on the beach.",
    "Two men ride horses along the beach",
    "A cat sleeps on a sofa",
    "The cat sleeps, the dog sleeps.",
    "A dog and a cat on a sofa",
    "People surf the waves at the beach",
]


def cosine(encoder: Lsa, one: str, two: str) -> float:
    first, second = encoder.encode([one, two])
    return float(first @ second)


def test_texts_about_the_same_are_near() -> None:
    encoder = fit_lsa(TEXTS, dimension=3)
    assert cosine(encoder, "cat", "dog") > 0.8
    assert cosine(encoder, "cat", "horse") < 0.2


def test_equals_a_plain_computation() -> None:
    """On few texts the directions are exact, so a dense decomposition gives the same cosines."""
    encoder = fit_lsa(TEXTS, dimension=3)
    counts = count_terms(sorted(TEXTS))[0].toarray()
    counts = counts[:, counts.any(axis=0)]
    weights = np.where(counts > 0, 1 + np.log(np.maximum(counts, 1)), 0)
    weights *= 1 + np.log((1 + len(TEXTS)) / (1 + (counts > 0).sum(axis=0)))
    rows = weights / np.linalg.norm(weights, axis=1, keepdims=True)
    projected = rows @ np.linalg.svd(rows)[2][:3].T
    projected /= np.linalg.norm(projected, axis=1, keepdims=True)
    vectors = encoder.encode(sorted(TEXTS))
    assert np.abs(vectors @ vectors.T - projected @ projected.T).max() < 1e-5


def test_neither_order_nor_repeats_of_the_fitted_texts_matter() -> None:
    fitted = fit_lsa(TEXTS)
    again = fit_lsa([*TEXTS[::-1], TEXTS[2], TEXTS[2]])
    assert fitted.name == again.name
    assert fitted.encode(TEXTS).tobytes() == again.encode(TEXTS).tobytes()
    assert fitted.name != fit_lsa(TEXTS[:-1]).name != fit_lsa(TEXTS[:-1], dimension=2).name


def test_a_vector_depends_on_its_text_only(monkeypatch: pytest.MonkeyPatch) -> None:
    encoder = fit_lsa(TEXTS)
    together = encoder.encode([*TEXTS, "new words here", *TEXTS[::-1]])
    alone = np.concatenate([encoder.encode([text]) for text in [*TEXTS, "new words here", *TEXTS[::-1]]])
    monkeypatch.setattr(terms, "SLICE_BYTES", 200)
    in_blocks = fit_lsa(TEXTS).encode([*TEXTS, "new words here", *TEXTS[::-1]])
    assert together.tobytes() == alone.tobytes() == in_blocks.tobytes()


def test_the_fit_of_very_many_texts_is_on_some_whatever_their_order(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_TEXTS", 4)
    monkeypatch.setattr(module, "MOST_TERMS", 3)
    fitted, again = fit_lsa(TEXTS), fit_lsa(TEXTS[::-1])
    assert fitted.name == again.name
    assert fitted.terms.to_pylist() == sorted(fitted.terms.to_pylist())
    assert len(fitted.terms) == fitted.dimension == 3
    assert "a" in fitted.terms.to_pylist()


def test_a_comparison_is_fitted_on_all_samples() -> None:
    reference, candidate = Sample.of(TEXTS[:3]), Sample.of(TEXTS[3:])
    joint = lsa(reference, [candidate])
    assert joint.name == lsa(candidate, [reference]).name == fit_lsa(TEXTS).name
    assert lsa(reference).name == fit_lsa(TEXTS[:3]).name


@pytest.mark.parametrize(
    ("texts", "dimension", "distinct"),
    [
        (["a cat", "a dog"], 2, 2),
        (["same text"] * 5, 1, 1),
        (["a b", "b a"], 1, 1),
        (["!!!", "???", "..."], 3, 3),
        (["🎉", "🎉 🎉", "👍"], 2, 2),
        (["", "  "], 1, 1),
        (["我喜欢猫", "我喜欢狗", "今天下雨"], 3, 3),
        (["ฉันชอบแมว", "ฉันชอบสุนัข", "วันนี้ฝนตก"], 3, 3),
        (["Я люблю кошек", "Я люблю собак"], 2, 2),
    ],
)
def test_any_texts_have_vectors(texts: list[str], dimension: int, distinct: int) -> None:
    encoder = fit_lsa(texts)
    values = encoder.encode(texts)
    assert values.dtype == np.float32
    assert values.shape == (len(texts), encoder.dimension) == (len(texts), dimension)
    assert len(np.unique(values.round(4), axis=0)) == distinct
    lengths = np.linalg.norm(values, axis=1)
    assert np.all(np.isclose(lengths, 1, atol=1e-6) | (lengths == 0))


def test_scripts_without_spaces_share_more_than_whole_runs() -> None:
    for one, two, other in [("我喜欢猫", "他喜欢猫", "今天下雨了"), ("ฉันชอบแมว", "เธอชอบแมว", "วันนี้ฝนตก")]:
        encoder = fit_lsa([one, two, other])
        assert encoder.name.startswith("lsa+pairs/")
        assert cosine(encoder, one, two) > cosine(encoder, one, other) + 0.2


def test_punctuation_is_format_not_meaning() -> None:
    encoder = fit_lsa([*TEXTS, "?!"])
    assert cosine(encoder, "A cat sleeps!?", "a cat sleeps") > 0.999999
    assert np.linalg.norm(encoder.encode(["?"])) > 0.99


def test_unknown_words_give_zeros() -> None:
    assert not fit_lsa(TEXTS).encode(["xylophone", "", "…"]).any()
    assert fit_lsa(TEXTS).encode([]).shape == (0, 6)


def test_nothing_to_fit_on_is_an_error() -> None:
    with pytest.raises(InputError, match="no texts; wanted at least one"):
        fit_lsa([])
    with pytest.raises(InputError, match="dimension is 0; wanted at least 1"):
        fit_lsa(TEXTS, dimension=0)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.text(alphabet="ab 好ก!\u0301é\x00\x1c", max_size=8), min_size=1, max_size=8), st.integers(1, 5))
def test_no_text_breaks_it(texts: list[str], dimension: int) -> None:
    encoder = fit_lsa(texts, dimension=dimension)
    values = encoder.encode(texts)
    assert 1 <= encoder.dimension <= dimension
    assert np.isfinite(values).all()
    assert values.tobytes() == fit_lsa(texts[::-1], dimension=dimension).encode(texts).tobytes()


def p_value(one: NDArray[np.float32], two: NDArray[np.float32], rng: np.random.Generator) -> float:
    """The p-value of the energy distance between samples of equal size, from 99 exchanges."""
    pooled = np.concatenate((one, two))
    distances = np.sqrt(np.maximum(2 - 2 * pooled @ pooled.T, 0))
    signs = np.repeat([1.0, -1.0], len(one))
    rows = np.stack([signs, *(rng.permutation(signs) for _ in range(99))])
    statistics = -((rows @ distances) * rows).sum(axis=1)
    return float(np.mean(statistics >= statistics[0] - 1e-9))


@pytest.mark.slow
def test_joint_fits_hold_the_level_and_fits_on_the_reference_do_not(data: Path) -> None:
    texts = (data / "coco" / "train.txt").read_text(encoding="utf-8").splitlines()
    rng = np.random.default_rng(0)
    joint: list[float] = []
    one_sided: list[float] = []
    for _ in range(200):
        places = rng.permutation(len(texts))[:200]
        candidate, reference = ([texts[place] for place in half] for half in (places[:100], places[100:]))
        for fitted, found in ((candidate + reference, joint), (reference, one_sided)):
            encoder = fit_lsa(fitted)
            found.append(p_value(encoder.encode(candidate), encoder.encode(reference), rng))
    assert 0.02 <= np.mean(np.array(joint) <= 0.05) <= 0.08
    assert np.mean(np.array(one_sided) <= 0.05) > 0.9


def test_bag_of_words_counts_the_commonest_words_of_all_samples() -> None:
    real, model = Sample.of(["a cat", "a dog", "a cat ran"]), Sample.of(["a fish", "a fish swam", "fish"])
    encoder = bag_of_words(real, [model], n_words=3)
    assert encoder.terms.to_pylist() == ["a", "cat", "fish"]
    assert encoder.encode(["fish, fish and a dog", "nothing"]).tolist() == [[1.0, 0.0, 2.0], [0.0, 0.0, 0.0]]
    swapped = bag_of_words(model, [real], n_words=3)
    assert swapped.name == encoder.name


@pytest.mark.parametrize("spec", ["bow:0", "bow:many", "bow:50001", "minilm:int8:pool=cls", "minilm:pool=last"])
def test_bad_encoders_are_refused_in_one_line(spec: str) -> None:
    with pytest.raises(InputError, match=r"wanted a whole number|pool is"):
        check_name(spec)
