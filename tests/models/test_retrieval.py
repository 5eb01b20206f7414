"""Retrieval by BM25: relevance by its definition, probabilities of drawn texts, and files with inputs."""

import math
from collections import Counter
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from textassay.corpus.sample import Sample
from textassay.errors import InputError
from textassay.models.choose import get_model
from textassay.models.retrieval import RetrievalModel


def rng() -> np.random.Generator:
    return np.random.default_rng(0)


def relevance(query: str, document: str, documents: list[str]) -> float:
    """BM25 by its definition, word by word."""
    total = 0.0
    mean = sum(len(d.split()) for d in documents) / len(documents)
    for word in query.split():
        n = sum(word in d.split() for d in documents)
        f = document.split().count(word)
        rarity = math.log(1 + (len(documents) - n + 0.5) / (n + 0.5))
        total += rarity * f / (f + 1.2 * (0.25 + 0.75 * len(document.split()) / mean))
    return total


sentences = st.lists(st.sampled_from("abcde"), min_size=1, max_size=7).map(" ".join)


@given(st.lists(sentences, min_size=1, max_size=8), st.lists(sentences, min_size=1, max_size=4))
@settings(deadline=None, max_examples=80)
def test_the_most_relevant_text_is_found(documents: list[str], prompts: list[str]) -> None:
    model = RetrievalModel(Sample.of(documents))
    if any(not set(prompt.split()) & set(" ".join(documents).split()) for prompt in prompts):
        with pytest.raises(InputError, match="shares no word with any input of sample; wanted prompts of the same"):
            model.nearest(prompts)
        return
    places = model.nearest(prompts)
    for prompt, place in zip(prompts, places, strict=True):
        scores = [relevance(prompt, document, documents) for document in documents]
        assert scores[place] == pytest.approx(max(scores), rel=1e-12)


def test_prompts_are_compared_with_inputs() -> None:
    inputs = pa.array(["Where is the cat?", "How is the weather?"])
    model = RetrievalModel(Sample.of(["On the mat.", "It rains."], contexts=inputs))
    assert model.sample(2, prompts=["WEATHER!", "a cat"], rng=rng()) == ["It rains.", "On the mat."]
    assert model.name != RetrievalModel(Sample.of(["On the mat.", "It rains."])).name
    scores = model.log_prob(["It rains.", "It rains."], prompts=["WEATHER!", "a cat"])
    assert scores.log_probs.tolist() == [0, -np.inf]
    with pytest.raises(InputError, match=r"prompt 2 \('zebra'\) shares no word with any input of sample"):
        model.log_prob(["It rains.", "It rains."], prompts=["cat", "zebra"])


def test_texts_are_drawn_with_their_probabilities() -> None:
    model = RetrievalModel(Sample.of(["a", "b", "b", "c"]))
    for setting in ({}, {"temperature": 0.5}, {"top_k": 2}, {"top_p": 0.6}):
        seen = Counter(model.sample(8000, rng=rng(), **setting))
        scores = model.log_prob(["a", "b", "c", "d"], **setting)
        assert scores.n_tokens.tolist() == [1] * 4
        assert np.exp(scores.log_probs).sum() == pytest.approx(1)
        assert [seen[text] / 8000 for text in "abcd"] == pytest.approx(np.exp(scores.log_probs), abs=0.02)
    assert model.log_prob(["d"]).n_zero == 1


def test_a_decoding_setting_with_prompts_is_an_error() -> None:
    with pytest.raises(InputError, match=r"retrieval with prompts at t=0.5; wanted no decoding setting"):
        RetrievalModel(Sample.of(["a"])).sample(1, prompts=["a"], temperature=0.5, rng=rng())


def test_files_are_opened_by_name(tmp_path: Path) -> None:
    (tmp_path / "train.jsonl").write_text(
        '{"question": "which pet", "text": "a cat"}\n{"question": "who", "text": "I"}\n'
    )
    model = get_model(f"retrieval:{tmp_path / 'train.jsonl'}")
    assert model.sample(1, prompts=["Which one?"], rng=rng()) == ["a cat"]
    with pytest.raises(InputError, match="no such file"):
        get_model("retrieval:nothing.txt")
