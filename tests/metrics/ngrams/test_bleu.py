"""BLEU and Self-BLEU against NLTK on random texts, and against the published values on the models' samples."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from nltk.translate.bleu_score import SmoothingFunction, corpus_bleu, sentence_bleu

from tests.conftest import material
from textassay import InputError, read_sample
from textassay.corpus.tokenizers import get_tokenizer
from textassay.inference.measure import measure
from textassay.inference.plan import Plan
from textassay.metrics.ngrams.bleu import (
    bleu,
    bleu_of_corpus,
    bleu_scores,
    corpus_bleu_leave_out,
    corpus_self_bleu_leave_out,
    reverse_bleu,
    self_bleu_of_corpus,
    self_bleu_scores,
)
from textassay.metrics.ngrams.counts import TextNgrams
from textassay.metrics.registry import parse_requests
from textassay.metrics.views import Material, Settings

# Few words make many repeats, ties and clipped counts; empty and one-word texts are among them.
TEXT = st.lists(st.sampled_from("abcd"), max_size=12).map(" ".join)
CORPUS = st.lists(TEXT, min_size=1, max_size=8)
# NLTK's corpus BLEU counts one n-gram for a text that is too short to have any.
LONG = st.lists(st.sampled_from("abcd"), min_size=5, max_size=12).map(" ".join)


def nltk_bleu(references: list[list[str]], text: list[str], n: int) -> float:
    return float(sentence_bleu(references, text, [1 / n] * n, smoothing_function=SmoothingFunction().method1))


@pytest.mark.filterwarnings("ignore")
@settings(max_examples=200, deadline=None)
@given(candidate=CORPUS, reference=CORPUS, n=st.integers(1, 5))
def test_bleu_equals_nltk(candidate: list[str], reference: list[str], n: int) -> None:
    scores = bleu_scores(material(candidate).view(TextNgrams), material(reference).view(TextNgrams), n)
    references = [text.split() for text in reference]
    assert scores == pytest.approx([nltk_bleu(references, text.split(), n) for text in candidate], abs=1e-9)


@pytest.mark.filterwarnings("ignore")
@settings(max_examples=200, deadline=None)
@given(texts=st.lists(TEXT, min_size=2, max_size=8), n=st.integers(1, 5))
def test_self_bleu_equals_nltk(texts: list[str], n: int) -> None:
    tokens = [text.split() for text in texts]
    expected = [nltk_bleu(tokens[:i] + tokens[i + 1 :], text, n) for i, text in enumerate(tokens)]
    assert self_bleu_scores(material(texts).view(TextNgrams), n) == pytest.approx(expected, abs=1e-9)


@pytest.mark.filterwarnings("ignore")
@settings(max_examples=100, deadline=None)
@given(candidate=st.lists(LONG, min_size=2, max_size=8), reference=CORPUS, n=st.integers(1, 5))
def test_corpus_bleu_equals_nltk(candidate: list[str], reference: list[str], n: int) -> None:
    mine, others = [text.split() for text in candidate], [text.split() for text in reference]
    weights = [1 / n] * n
    views = [material(texts).view(TextNgrams) for texts in (candidate, reference)]
    wanted = corpus_bleu([others] * len(mine), mine, weights)
    assert bleu_of_corpus(*views, n=n, variant="corpus") == pytest.approx(wanted, abs=1e-9)
    rest = [mine[:i] + mine[i + 1 :] for i in range(len(mine))]
    assert self_bleu_of_corpus(views[0], n=n, variant="corpus") == pytest.approx(
        corpus_bleu(rest, mine, weights), abs=1e-9
    )


@settings(max_examples=40, deadline=None)
@given(candidate=st.lists(TEXT, min_size=4, max_size=9), reference=st.lists(TEXT, min_size=4, max_size=9))
def test_corpus_bleu_without_a_group_is_measured_anew(candidate: list[str], reference: list[str]) -> None:
    sides = [np.array(texts, dtype=object) for texts in (candidate, reference)]
    labels = [np.arange(len(texts)) % 3 for texts in sides]
    mine, theirs = (material(list(texts)).view(TextNgrams) for texts in sides)
    found = corpus_bleu_leave_out(mine, theirs, labels=labels, n=2, variant="corpus")
    own = corpus_self_bleu_leave_out(mine, labels=labels[:1], n=2, variant="corpus")[0]
    for group in range(3):
        left = [list(texts[kept != group]) for texts, kept in zip(sides, labels, strict=True)]
        less, fewer = (material(texts).view(TextNgrams) for texts in left)
        assert found[0][group] == pytest.approx(bleu_of_corpus(less, theirs, n=2, variant="corpus"), abs=1e-12)
        assert found[1][group] == pytest.approx(bleu_of_corpus(mine, fewer, n=2, variant="corpus"), abs=1e-12)
        assert own[group] == pytest.approx(self_bleu_of_corpus(less, n=2, variant="corpus"), abs=1e-12)


def test_the_variant_texts_is_the_metric_itself() -> None:
    assert parse_requests(["bleu:variant=texts"]) == parse_requests(["bleu"])
    (request,) = parse_requests(["self_bleu:n=3:variant=corpus"])
    assert request.label == "self_bleu-3 variant=corpus"
    with pytest.raises(InputError, match="no variant 'pairs'; there are: corpus, texts"):
        parse_requests(["bleu:variant=pairs"])


@settings(max_examples=40, deadline=None)
@given(candidate=CORPUS, reference=CORPUS, orders=st.lists(st.integers(1, 5), min_size=1, max_size=4))
def test_scores_do_not_depend_on_what_was_counted_before(
    candidate: list[str], reference: list[str], orders: list[int]
) -> None:
    mine, theirs, third = (material(texts).view(TextNgrams) for texts in (candidate, reference, ["a b", "c"]))
    for n in orders:
        for one, other in ((mine, theirs), (mine, third), (mine, mine), (theirs, mine)):
            texts = candidate if one is mine else reference
            against = reference if other is theirs else candidate if other is mine else ["a b", "c"]
            fresh = bleu_scores(material(texts).view(TextNgrams), material(against).view(TextNgrams), n)
            assert bleu_scores(one, other, n).tolist() == fresh.tolist()
        fresh = self_bleu_scores(material(candidate).view(TextNgrams), n)
        assert self_bleu_scores(mine, n).tolist() == fresh.tolist()


def test_reverse_bleu_is_bleu_with_the_samples_exchanged() -> None:
    one, other = (material(t).view(TextNgrams) for t in (["a b c", "a a"], ["a b", "c c c", "b"]))
    assert reverse_bleu(one, other, n=2) == bleu(other, one, n=2) != bleu(one, other, n=2)


SELF_BLEU = {
    "mle": (0.916, 0.769, 0.583, 0.408),
    "seqgan": (0.950, 0.840, 0.670, 0.489),
    "maligan": (0.918, 0.781, 0.606, 0.437),
    "rankgan": (0.959, 0.882, 0.762, 0.618),
    "leakgan": (0.966, 0.913, 0.848, 0.780),
    "textgan": (0.942, 0.931, 0.804, 0.746),
}
BLEU = {
    "mle": (0.921, 0.768, 0.570, 0.392),
    "seqgan": (0.917, 0.747, 0.530, 0.348),
    "maligan": (0.887, 0.697, 0.482, 0.312),
    "rankgan": (0.937, 0.799, 0.601, 0.414),
    "leakgan": (0.926, 0.816, 0.660, 0.470),
    "textgan": (0.650, 0.645, 0.596, 0.523),
}


def estimates(data: Path, model: str, metric: str, settings: Settings) -> list[float]:
    roles = {
        "candidate": Material(read_sample(data / "coco_models" / f"{model}.txt"), settings),
        "reference": Material(read_sample(data / "coco_models" / "real_train.txt"), settings),
    }
    found = measure(parse_requests([f"{metric}:n=2-5"]), roles, plan=Plan(n_resamples=0))
    return [result.estimate for result in found.results]


@pytest.mark.parametrize("model", SELF_BLEU)
def test_published_self_bleu(data: Path, model: str) -> None:
    ours = estimates(data, model, "self_bleu", Settings(get_tokenizer("whitespace")))
    assert ours == pytest.approx(SELF_BLEU[model], abs=0.0015)


@pytest.mark.parametrize("model", BLEU)
def test_published_bleu(data: Path, model: str) -> None:
    ours = estimates(data, model, "bleu", Settings(get_tokenizer("treebank", lowercase=True)))
    assert ours == pytest.approx(BLEU[model], abs=0.0015)
