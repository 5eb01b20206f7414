"""The table metrics against plain-Python definitions and published examples."""

import json
from collections import Counter
from collections.abc import Callable
from itertools import pairwise
from math import log
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import entropy as scipy_entropy

from tests.conftest import material
from textassay.corpus.hashed_ngrams import Sequences, text_keys
from textassay.metrics.ngrams import duplicates as sketches
from textassay.metrics.ngrams.counts import Ngrams, distinct, entropy
from textassay.metrics.ngrams.duplicates import PASSAGE, NearDuplicates, copied_shares, copying, repetition
from textassay.metrics.ngrams.duplicates import repeated_shares as repetition_shares
from textassay.metrics.ngrams.overlap import cnd, cr, ms_jaccard, nrr, order_scores
from textassay.metrics.registry import Value

TEXT = st.lists(st.sampled_from("abcdef"), min_size=3, max_size=10).map(" ".join)
CORPUS = st.lists(TEXT, min_size=2, max_size=9)

AUTHORS = {
    "references": [
        "It is a guide to action that ensures that the military will forever heed Party commands",
        "It is the guiding principle which guarantees the military forces always being under the command of the Party",
        "It is the practical guide for the army always to heed the directions of the party",
    ],
    "candidates": [
        "It is a guide to action which ensures that the military always obeys the commands of the party",
        "he read the book because he was interested in world history",
    ],
}


def counted(texts: list[str], n: int) -> Counter[tuple[str, ...]]:
    words = [text.split() for text in texts]
    return Counter(tuple(w[i : i + n]) for w in words for i in range(len(w) - n + 1))


def views(*corpora: list[str]) -> list[Ngrams]:
    return [material(texts).view(Ngrams) for texts in corpora]


def test_ms_jaccard_gives_the_authors_example() -> None:
    candidate, reference = views(AUTHORS["candidates"], AUTHORS["references"])
    found = [float(ms_jaccard(candidate, reference, n=n)) for n in (3, 4, 5)]
    assert found == pytest.approx([0.16996, 0.12874, 0.09596], abs=5e-6)
    assert list(order_scores(candidate, reference, n=2).values()) == pytest.approx([0.34532, 0.15132], abs=5e-6)


def test_ms_jaccard_gives_the_shared_example(data: Path) -> None:
    example = json.loads((data / "ms_jaccard_example.json").read_text(encoding="utf-8"))
    candidate, reference = views(example["candidates"], example["references"])
    for n, value in example["ms_jaccard"].items():
        assert ms_jaccard(candidate, reference, n=int(n)) == pytest.approx(value, abs=5e-6)


def test_ms_jaccard_is_zero_when_an_order_shares_nothing() -> None:
    candidate, reference = views(["a b", "c d"], ["b a", "d c"])
    assert ms_jaccard(candidate, reference, n=2) == 0


@settings(max_examples=100, deadline=None)
@given(candidate=CORPUS, reference=CORPUS, n=st.integers(1, 3))
def test_cr_nrr_cnd_by_definition(candidate: list[str], reference: list[str], n: int) -> None:
    q, p = counted(candidate, n), counted(reference, n)
    q_total, p_total = q.total(), p.total()
    a, b = views(candidate, reference)
    plain_cr = sum(q[g] / q_total * p[g] / p_total for g in q)
    plain_nrr = -sum((c / q_total) ** 2 for c in q.values())
    plain_cnd = sum((q[g] / q_total - p[g] / p_total) ** 2 for g in q | p)
    assert cr(a, b, n=n) == pytest.approx(plain_cr, abs=1e-12)
    assert nrr(a, n=n) == pytest.approx(plain_nrr, abs=1e-12)
    assert cnd(a, b, n=n) == pytest.approx(plain_cnd, abs=1e-12)


@settings(max_examples=100, deadline=None)
@given(candidate=CORPUS, reference=CORPUS, n=st.integers(1, 3))
def test_cnd_is_three_times_the_difference_of_psi(candidate: list[str], reference: list[str], n: int) -> None:
    a, b = views(candidate, reference)

    def psi(sample: Ngrams) -> float:
        return float(2 / 3 * cr(sample, b, n=n) + 1 / 3 * nrr(sample, n=n))

    assert cnd(a, b, n=n) == pytest.approx(3 * (psi(b) - psi(a)), abs=1e-12)


@settings(max_examples=60, deadline=None)
@given(candidate=CORPUS, reference=CORPUS)
def test_unbiased_variants_use_pairs_of_different_texts(candidate: list[str], reference: list[str]) -> None:
    def between(texts: list[str]) -> float:
        tables = [counted([text], 2) for text in texts]
        pairs = [(x, y) for i, x in enumerate(tables) for j, y in enumerate(tables) if i != j]
        shared = sum(x[g] * y[g] for x, y in pairs for g in x)
        return shared / sum(x.total() * y.total() for x, y in pairs)

    a, b = views(candidate, reference)
    assert nrr(a, variant="unbiased") == pytest.approx(-between(candidate), abs=1e-12)
    expected = between(candidate) + between(reference) - 2 * float(cr(a, b))
    assert cnd(a, b, variant="unbiased") == pytest.approx(expected, abs=1e-12)


def test_unbiased_cnd_has_mean_zero_between_samples_of_one_source() -> None:
    rng = np.random.default_rng(1)
    words = np.array([f"w{i}" for i in range(30)])
    weights = rng.dirichlet(np.ones(30))

    def sample() -> Ngrams:
        return views([" ".join(rng.choice(words, 6, p=weights)) for _ in range(15)])[0]

    def mean(metric: Callable[[Ngrams, Ngrams], Value]) -> tuple[float, float]:
        values = np.array([float(metric(sample(), sample())) for _ in range(300)])
        return float(values.mean()), float(values.std() / 300**0.5)

    centre, error = mean(lambda a, b: cnd(a, b, n=1, variant="unbiased"))
    assert abs(centre) < 4 * error
    plugin, error = mean(lambda a, b: cnd(a, b, n=1))
    assert plugin > 10 * error


@settings(max_examples=60, deadline=None)
@given(texts=CORPUS, n=st.integers(1, 3))
def test_distinct_and_entropy_by_definition(texts: list[str], n: int) -> None:
    counts = counted(texts, n)
    (view,) = views(texts)
    assert distinct(view, n=n) == pytest.approx(len(counts) / counts.total(), abs=1e-12)
    assert entropy(view, n=n) == pytest.approx(scipy_entropy(list(counts.values())), abs=1e-9)


def test_entropy_of_counts_beyond_the_written_out_weights() -> None:
    (view,) = views(["a " * 6000 + "b " * 5000, "c"])
    assert entropy(view, n=1) == pytest.approx(scipy_entropy([6000, 5000, 1]), abs=1e-9)


def test_grassberger_entropy_is_nearer_the_truth_than_the_plug_in() -> None:
    rng = np.random.default_rng(3)
    words = [" ".join(f"w{i}" for i in rng.integers(0, 400, 5)) for _ in range(100)]
    (view,) = views(words)
    plain, corrected = float(entropy(view, n=1)), float(entropy(view, n=1, variant="grassberger"))
    assert abs(corrected - log(400)) < abs(plain - log(400)) / 3


def test_repetition_counts_exact_and_near_copies() -> None:
    long = "the quick brown fox jumps over the lazy dog near the river bank today"
    texts = [long, long + " indeed", "one two three", "one two three", "something else entirely different here"]
    twins = material(texts).view(NearDuplicates)
    assert repetition(twins) == pytest.approx(4 / 5)
    wanted = {"exact": 2 / 5, "near": 2 / 5, "unique_texts": 4, "passages": 0, "passage_words": 0}
    assert repetition_shares(twins) == pytest.approx(wanted)
    assert repetition(twins, similarity=0.99) == pytest.approx(2 / 5)


def _document(rng: np.random.Generator, paragraphs: int) -> list[str]:
    return [" ".join(f"w{i}" for i in rng.integers(0, 9000, 50)) for _ in range(paragraphs)]


def test_documents_that_share_paragraphs_are_near_copies_only_as_wholes() -> None:
    """Ten paragraphs each: with one of them exchanged two documents are near copies, with two they are not."""
    rng = np.random.default_rng(3)
    for exchanged, repeated in [(1, 1.0), (2, 0.0), (5, 0.0)]:
        one = _document(rng, 10)
        other = [*one[exchanged:], *_document(rng, exchanged)]
        twins = material([" ".join(one), " ".join(other)]).view(NearDuplicates)
        assert repetition(twins) == repeated
        parts = repetition_shares(twins)
        assert parts["passages"] == 1.0, "whatever the whole is like, the shared paragraphs are seen"
        assert parts["passage_words"] == pytest.approx(1 - exchanged / 10)


def test_a_passage_within_one_text_or_its_copy_is_not_shared() -> None:
    rng = np.random.default_rng(4)
    (paragraph,), others = _document(rng, 1), _document(rng, 3)
    texts = [f"{paragraph} {paragraph}", f"{paragraph} {paragraph}", *others]
    parts = repetition_shares(material(texts).view(NearDuplicates))
    assert (parts["exact"], parts["passages"], parts["passage_words"]) == (2 / 5, 0.0, 0.0)
    parts = repetition_shares(material([*texts, f"{others[0]} {paragraph}"]).view(NearDuplicates))
    # The two copies, the text that quotes them, and the text that it quotes.
    assert parts["passages"] == pytest.approx(4 / 6)
    assert parts["passage_words"] == pytest.approx((100 + 100 + 50 + 100) / (100 + 100 + 150 + 100))


@settings(max_examples=60, deadline=None)
@given(texts=st.lists(st.lists(st.sampled_from("ab"), max_size=26).map(" ".join), min_size=2, max_size=8))
def test_passages_by_definition(texts: list[str]) -> None:
    lists = [text.split() for text in texts]
    grams = [[tuple(words[i : i + PASSAGE]) for i in range(len(words) - PASSAGE + 1)] for words in lists]
    found, inside = 0, 0
    for here, words in enumerate(lists):
        others = {gram for there, some in enumerate(grams) if lists[there] != words for gram in some}
        starts = [i for i, gram in enumerate(grams[here]) if gram in others]
        found += bool(starts)
        inside += len({place for start in starts for place in range(start, start + PASSAGE)})
    parts = repetition_shares(material(texts).view(NearDuplicates))
    assert parts["passages"] == pytest.approx(found / len(texts))
    assert parts["passage_words"] == pytest.approx(inside / max(sum(map(len, lists)), 1))


def test_pairs_of_long_texts_are_checked_a_few_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sixteen pairs per text, each with thousands of shingles, would take gigabytes at once."""
    rng = np.random.default_rng(6)
    base = _document(rng, 20)
    texts = [" ".join([*base, f"number {i}"]) for i in range(60)]
    sequences = material(texts).view(Sequences)
    sizes: list[int] = []
    jaccard = sketches._jaccard

    def watched(grams: Any, starts: Any, pairs: Any) -> Any:
        sizes.append(int(np.diff(starts)[pairs].sum()))
        return jaccard(grams, starts, pairs)

    whole = sketches.similar_pairs(sequences, text_keys(sequences), n=2, similarity=0.8)
    monkeypatch.setattr(sketches, "_jaccard", watched)
    monkeypatch.setattr(sketches, "_SHINGLES_AT_ONCE", 20_000)
    again = sketches.similar_pairs(sequences, text_keys(sequences), n=2, similarity=0.8)
    assert len(sizes) > 5
    assert max(sizes) < 20_000 + 2 * 1002
    assert again.tolist() == whole.tolist()


@settings(max_examples=60, deadline=None)
@given(texts=st.lists(st.lists(st.sampled_from("ab"), max_size=3).map(" ".join), min_size=2, max_size=12))
def test_exact_repetition_by_definition(texts: list[str]) -> None:
    counts = Counter(tuple(text.split()) for text in texts)
    expected = sum(c for c in counts.values() if c > 1) / len(texts)
    assert repetition_shares(material(texts).view(NearDuplicates))["exact"] == pytest.approx(expected)


def test_near_copies_are_found_among_many_variants() -> None:
    rng = np.random.default_rng(5)
    texts = [" ".join(f"w{i}" for i in rng.integers(0, 3000, 20)) for _ in range(600)]
    changed = [text.replace(text.split()[-1], "changed") for text in texts[:200]]
    assert repetition(material(texts + changed).view(NearDuplicates)) == pytest.approx(400 / 800, abs=0.01)


def test_variants_of_one_template_are_near_copies() -> None:
    """All share a bucket, but only those changed at neighbouring places are near copies of each other."""
    rng = np.random.default_rng(0)
    template = [f"w{i}" for i in range(20)]
    places = rng.integers(1, 19, 300)
    texts = [" ".join([*template[:at], f"x{i}", *template[at + 1 :]]) for i, at in enumerate(places)]
    grams = [{*pairwise(text.split())} for text in texts]
    near = [any(len(a & b) >= 0.8 * len(a | b) for j, b in enumerate(grams) if j != i) for i, a in enumerate(grams)]
    assert np.mean(near) == 1
    assert repetition(material(texts).view(NearDuplicates)) >= 0.98


def test_copying_counts_texts_and_long_ngrams() -> None:
    train = ["a b c d e f g h i j", "short text here"]
    candidate = ["short text here", "x a b c d e f g h", "nothing of that kind"]
    views = [material(texts).view(Sequences) for texts in (candidate, train)]
    assert copying(*views) == pytest.approx(1 / 3)
    assert copied_shares(*views, span=8)["ngrams"] == pytest.approx(1 / 2)
    assert copied_shares(*views, span=3)["ngrams"] == pytest.approx(7 / 10)
