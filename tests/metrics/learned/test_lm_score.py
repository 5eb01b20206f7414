"""LM scores: definitions, the words of the reference, what moves them, intervals, the LSTM and the released variant."""

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.conftest import material
from tests.laws import corpus
from textassay import metrics, save_model
from textassay.corpus.sample import stream
from textassay.errors import InputError
from textassay.inference.intervals import group_labels, leave_groups_out
from textassay.inference.plan import Silent
from textassay.metrics.learned.likelihood import ZERO
from textassay.metrics.learned.model_texts import WordTexts
from textassay.metrics.registry import parse_requests
from textassay.metrics.views import Pool
from textassay.models.neural.lstm import PRESETS
from textassay.models.ngrams.ngram import train
from textassay.models.vocabulary import Vocabulary

MINE, THEIRS = corpus(1, 60), corpus(2, 50)


def by_definition(trained_on: list[str], scored: list[str], real: list[str], **options: Any) -> float:
    """Every rare word of the real texts, and every other word of both, becomes the unknown word before training."""
    counts = {word: sum(text.split().count(word) for text in real) for text in real for word in text.split()}
    sides = [
        [" ".join(word if counts.get(word, 0) >= 2 else "<unk>" for word in text.split()) for text in texts]
        for texts in (trained_on, scored, real)
    ]
    vocabulary = Vocabulary.learn(sides[2], tokenizer="whitespace")
    model = train(sides[0], vocabulary=vocabulary, **options)
    scores = model.log_prob(sides[1])
    return float(-scores.log_probs.sum() / scores.n_tokens.sum())


@pytest.mark.parametrize("order", [2, 5])
def test_scores_are_means_per_token_under_the_model_of_the_other_sample(order: int) -> None:
    mine = [*MINE, "a new word w1", "w0 w1 w2"]
    options: dict[str, Any] = {"tokenizer": "whitespace", "n_resamples": 0, "order": order}
    score = metrics.lm_score(mine, THEIRS, **options)
    assert score.estimate == pytest.approx(by_definition(THEIRS, mine, THEIRS, order=order))
    assert score.parts["perplexity"] == pytest.approx(math.exp(score.estimate))
    reverse = metrics.reverse_lm_score(mine, THEIRS, **options)
    assert reverse.estimate == pytest.approx(by_definition(mine, THEIRS, THEIRS, order=order))


def test_words_that_only_the_candidate_has_are_unknown() -> None:
    """A candidate does not get a better score for having few words: all models have the words of the reference."""
    narrow = ["w0 w1 w2 w3"] * 60
    plain = metrics.reverse_lm_score(MINE, THEIRS, n_resamples=0).estimate
    assert metrics.reverse_lm_score(narrow, THEIRS, n_resamples=0).estimate > plain + 0.3
    strange = [f"x{i} y{i}" for i in range(60)]
    found = metrics.lm_score(strange, THEIRS, n_resamples=0)
    assert found.undefined == "a text has probability 0 under the model, or more than half of the words are unknown"
    assert (found.parts["share_unknown"], found.parts["share_unknown_tokens"]) == (1, 1)


def test_repeating_one_common_text_has_a_low_score_and_a_high_reverse_score() -> None:
    one = [THEIRS[5]] * 60
    assert metrics.lm_score(one, THEIRS, n_resamples=0).estimate < metrics.lm_score(MINE, THEIRS).estimate - 0.5
    reverse = metrics.reverse_lm_score(one, THEIRS, n_resamples=0).estimate
    assert reverse > metrics.reverse_lm_score(MINE, THEIRS).estimate + 0.5


def test_any_tokenizer_gives_the_words() -> None:
    texts = material(["Two dogs, one cat.", "x"], tokenizer="words").view(WordTexts).texts.to_pylist()
    assert texts == ["Two dogs , one cat .", "x"]
    assert "|tok:treebank|" in metrics.lm_score(MINE, THEIRS, tokenizer="treebank", n_resamples=0).signature


@pytest.mark.parametrize("name", ["lm_score", "reverse_lm_score"])
def test_the_jackknife_trains_again_without_each_group(name: str) -> None:
    (request,) = parse_requests([name])
    pool = Pool((material(MINE), material(THEIRS)))
    found = leave_groups_out([request], pool, seed=0, progress=Silent())[request]
    vocabulary = Vocabulary.learn(THEIRS, tokenizer="whitespace", min_count=2)
    for part, group in ((0, 0), (0, 7), (1, 0), (1, 19)):
        left = [MINE, THEIRS]
        labels = group_labels(len(pool.parts[part].sample), stream(0, "groups", part))
        left[part] = [text for text, label in zip(left[part], labels, strict=True) if label != group]
        trained_on, scored = reversed(left) if name == "lm_score" else left
        scores = train(trained_on, vocabulary=vocabulary).log_prob(scored)
        assert found.by_sample[part][group] == pytest.approx(-scores.class_log_probs.sum() / scores.n_tokens.sum())


def test_the_released_variant_scores_with_the_generator(tmp_path: Path) -> None:
    model = train(THEIRS, order=3, tokenizer="whitespace")
    save_model(model, tmp_path / "model.safetensors")
    made = model.sample(50, temperature=0.7, rng=np.random.default_rng(0))
    options = {"variant": "released", "model": tmp_path / "model.safetensors", "temperature": 0.7}
    found = metrics.lm_score(made, THEIRS, **options)
    scores = model.log_prob(made, temperature=0.7)
    assert found.estimate == pytest.approx(-scores.log_probs.sum() / scores.n_tokens.sum())
    assert found.estimate == metrics.model_entropy(made, model=model, temperature=0.7, per="token").estimate
    assert found.interval is not None
    assert f"|model:{model.name}|temperature:0.7|" in found.signature
    assert "|tok:" not in found.signature
    wanted = r"^metric 'lm_score' needs the option model, as in lm_score:variant=released:model=FILE"
    with pytest.raises(InputError, match=wanted):
        parse_requests(["lm_score:variant=released"])
    with pytest.raises(InputError, match=r"^model='ngram-3:.*' needs variant='released'"):
        metrics.lm_score(made, THEIRS, model=model)


def test_nll_is_that_of_the_reference_under_the_model() -> None:
    model = train(MINE, order=3)
    found = metrics.nll(["not read"] * 20, THEIRS, model=model)
    assert found.estimate == pytest.approx(-model.log_prob(THEIRS).log_probs.mean())
    assert found.interval is not None
    assert found.p_value is None
    cut = metrics.nll(MINE, THEIRS, model=model, top_k=1)
    assert cut.undefined == ZERO
    assert cut.parts["zero_probability"] == model.log_prob(THEIRS, top_k=1).n_zero > 0


def test_an_lstm_scores_texts_that_did_not_choose_its_epoch(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("torch")
    small = PRESETS["laptop"]
    monkeypatch.setitem(PRESETS, "laptop", type(small)(type(small.shape)(1, 1, 8, 8), type(small.plan)(2, 16, 1e-2)))
    for name in ("lm_score", "reverse_lm_score"):
        function = getattr(metrics, name)
        found = function(MINE, THEIRS, lm="lstm")
        assert found.estimate == pytest.approx(function(MINE[::-1], THEIRS[9:] + THEIRS[:9], lm="lstm").estimate)
        assert 1 < found.estimate < math.log(42) + 1
        assert found.interval is not None
        assert found.interval.method == "jackknife:fixed-model"
    with pytest.raises(InputError, match=r"size='paper' needs lm='lstm'"):
        metrics.lm_score(MINE, THEIRS, size="paper")


def test_scores_of_captions_and_of_generators(data: Path) -> None:
    """Real captions against real captions are better than those of a collapsed generator in the reverse direction."""
    real = (data / "coco_models" / "real_train.txt").read_text().splitlines()
    text = (data / "coco_models" / "textgan.txt").read_text().splitlines()[:1000]
    found = {
        name: metrics.reverse_lm_score(sample, real[:1000], n_resamples=0).estimate
        for name, sample in (("real", real[1000:2000]), ("textgan", text))
    }
    assert found["textgan"] > found["real"] + 0.5
