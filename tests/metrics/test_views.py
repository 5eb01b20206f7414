"""Views are monoids: any cut of a sample merges to the same bytes as the whole."""

import gc
import hashlib
import weakref
from functools import reduce
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.conftest import material
from textassay.corpus.hashed_ngrams import Incidence, Sequences, hash_words, order_of
from textassay.corpus.sample import Sample
from textassay.metrics.ngrams.counts import Ngrams, TextNgrams
from textassay.metrics.ngrams.duplicates import NearDuplicates
from textassay.metrics.views import Material, Pool, Resamples, Settings

TEXTS = st.lists(st.lists(st.sampled_from("abc"), max_size=6).map(" ".join), min_size=1, max_size=12)
CUTS = st.lists(st.integers(0, 12), max_size=4)


def merged(kind: Any, texts: list[str], cuts: list[int]) -> Any:
    bounds = sorted({0, len(texts), *(cut for cut in cuts if cut < len(texts))})
    return reduce(lambda a, b: a.merge(b), [material(texts[a:b]).view(kind) for a, b in pairwise(bounds)])


def content(value: Any) -> Any:
    """Everything a view holds, as bytes."""
    if isinstance(value, TextNgrams):
        return [content(value.lengths), *(content(value.order(n)) for n in range(1, 6))]
    if isinstance(value, Ngrams):
        return [int(value.n_texts), *(content(value.table(n)) for n in range(1, 6))]
    if isinstance(value, NearDuplicates):
        return [content(value.keys), content(value.class_of), content(value.neighbours(2, 0.8))]
    if isinstance(value, np.ndarray | np.generic):
        return (str(value.dtype), value.tobytes())
    return {name: content(part) for name, part in vars(value).items() if not name.startswith("_")}


@pytest.mark.parametrize("kind", [Sequences, TextNgrams, Ngrams, NearDuplicates])
@settings(max_examples=60, deadline=None)
@given(texts=TEXTS, cuts=CUTS)
def test_any_cut_merges_to_identical_bytes(kind: Any, texts: list[str], cuts: list[int]) -> None:
    assert content(merged(kind, texts, cuts)) == content(material(texts).view(kind))


@settings(max_examples=100, deadline=None)
@given(texts=TEXTS, n=st.integers(1, 4), seed=st.integers(0, 1000))
def test_resampled_tables_equal_tables_of_the_chosen_texts(texts: list[str], n: int, seed: int) -> None:
    """The matrix product, the put-aside singles and the subtraction give what counting the chosen texts gives."""
    other = ["a b c a", "c c c", "b"]
    pool = Pool((material(texts), material(other)))
    units = np.arange(len(texts) + 3)
    mask = np.random.default_rng(seed).random((3, len(texts) + 3)) < 0.5
    everything = np.array(texts + other, dtype=object)
    for masks in ((mask, ~mask), (mask, np.roll(mask, 1, axis=1))):
        rows = 0
        for views in pool.resample(Ngrams, Resamples(units, masks)):
            for view, choice in zip(views, masks, strict=True):
                table = view.table(n)
                for row in range(len(table.total)):
                    plain = material(everything[choice[rows + row]]).view(Ngrams).table(n)
                    counts = np.concatenate((table.counts[row], np.ones(int(table.singles[row]))))
                    assert sorted(counts[counts > 0]) == sorted(plain.counts)
                    for name in ("total", "own_squares", "size_squares"):
                        assert getattr(table, name)[row] == getattr(plain, name)
            rows += len(views[0].table(n).total)
        assert rows == 3


def test_order_of_sorts_keys_that_agree_in_their_high_bits() -> None:
    keys = np.array([7, 3, 7, 1, 2, 3, 0, 7], dtype=np.uint64)
    assert order_of(keys).tolist() == np.argsort(keys, kind="stable").tolist()


@given(st.lists(st.integers(0, 2**64 - 1), max_size=50))
def test_order_of_is_a_stable_argsort(values: list[int]) -> None:
    keys = np.array(values, dtype=np.uint64)
    assert order_of(keys).tolist() == np.argsort(keys, kind="stable").tolist()


def test_ngrams_do_not_cross_texts_and_do_not_collide() -> None:
    sequences = material(["a b", "b a", "", "a b a b"]).view(Sequences)
    grams, texts = sequences.ngrams(2)
    assert texts.tolist() == [0, 1, 3, 3, 3]
    assert grams[0] == grams[2] == grams[4]
    assert grams[1] == grams[3] != grams[0]
    assert Incidence.from_ngrams(grams, texts).counts.tolist().count(2) == 1


@settings(max_examples=60, deadline=None)
@given(texts=TEXTS, orders=st.lists(st.integers(1, 6), min_size=2, max_size=6))
def test_ngrams_do_not_depend_on_the_orders_asked_for_before(texts: list[str], orders: list[int]) -> None:
    asked = material(texts).view(Sequences)
    for n in orders:
        fresh = material(texts).view(Sequences)
        assert [part.tobytes() for part in asked.ngrams(n)] == [part.tobytes() for part in fresh.ngrams(n)]


def test_materials_of_the_same_texts_and_settings_share_their_counts() -> None:
    texts = ["a b", "b c a"]
    first = Material(Sample.of(texts))
    again = Material(Sample.of(texts, name="another name"), first.settings)
    assert again.view(TextNgrams) is first.view(TextNgrams)
    assert Material(first.sample, Settings(first.settings.tokenizer)).view(TextNgrams) is not first.view(TextNgrams)
    assert Material(Sample.of(["a b"]), first.settings).view(TextNgrams) is not first.view(TextNgrams)


def test_shared_counts_do_not_outlive_their_materials() -> None:
    first = material(["a b", "b c a"])
    counted = weakref.ref(first.view(TextNgrams))
    settings = first.settings
    del first
    gc.collect()
    assert counted() is None
    assert not settings._shared


def test_words_are_hashed_alike_when_they_are_known() -> None:
    words = pa.array([f"word {number}" for number in range(70_000)] + ["x" * 100])
    assert hash_words(words).tolist() == hash_words(words).tolist()
    expected = [int.from_bytes(hashlib.blake2b(w.encode(), digest_size=8).digest(), "little") for w in ("é", "x" * 100)]
    assert hash_words(pa.array(["é", "x" * 100])).tolist() == expected


def test_hashes_are_fixed_forever() -> None:
    """Saved tables and signatures depend on these numbers."""
    assert [hex(h) for h in hash_words(pa.array(["a", "é"]))] == ["0x2f42665b399ef840", "0x2f19f3ef8bbf1acb"]
