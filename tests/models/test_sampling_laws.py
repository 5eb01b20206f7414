"""Laws of all models: sampled texts follow the scores, with and without prompts, decoding settings and limits."""

import math
from collections import Counter
from collections.abc import Callable
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from scipy.stats import chisquare

from textassay import metrics
from textassay.corpus.sample import GeneratedTexts, Sample
from textassay.errors import InputError
from textassay.models.base import Generator
from textassay.models.choose import get_model, train_model
from textassay.models.oracle import Oracle
from textassay.models.retrieval import RetrievalModel

WORDS = ["a", "b", "c"]
TEXTS = ["a b c", "a b", "b", "c a b", "c c", "a", "b b b", "a c b a"] * 5
LIMIT, PROMPT = 3, "b a"
SETTINGS: list[dict[str, Any]] = [{}, {"temperature": 2.0}, {"temperature": 0.7, "top_k": 3}, {"top_p": 0.8}]


def _hugging_face(folder: Path) -> Generator:
    torch, transformers = pytest.importorskip("torch"), pytest.importorskip("transformers")
    tokenizers = pytest.importorskip("tokenizers")
    torch.manual_seed(0)
    sizes = {"n_positions": 16, "n_embd": 8, "n_layer": 1, "n_head": 1, "initializer_range": 0.5}
    config = transformers.GPT2Config(vocab_size=6, **sizes, bos_token_id=0, eos_token_id=0)
    transformers.GPT2LMHeadModel(config).save_pretrained(folder)
    words = {word: number for number, word in enumerate(["<end>", "<unk>", *WORDS])}
    made = tokenizers.Tokenizer(tokenizers.models.WordLevel(words, unk_token="<unk>"))
    made.pre_tokenizer = tokenizers.pre_tokenizers.WhitespaceSplit()
    marks = {"eos_token": "<end>", "unk_token": "<unk>"}
    transformers.PreTrainedTokenizerFast(tokenizer_object=made, **marks).save_pretrained(folder)
    return get_model(f"hf:{folder}")


def _neural(spec: str) -> Generator:
    pytest.importorskip("torch")
    return train_model(f"{spec}:hidden=8:epochs=2:holdout=0", TEXTS)


MAKERS: dict[str, Callable[[Path], Generator]] = {
    "ngram": lambda _: train_model("ngram:order=3", TEXTS),
    "ngram with unknown words": lambda _: train_model("ngram:order=3:max_words=2", TEXTS),
    "lstm": lambda _: _neural("lstm:embedding=8"),
    "lstm with unknown words": lambda _: _neural("lstm:embedding=8:max_words=2"),
    "lstm without an end": lambda _: train_model(
        "seqgan:hidden=8:embedding=8:epochs=1:rounds=0:warm_up=0:holdout=0", ["a b c a b c a", "c b a c c b b"] * 5
    ),
    "gpt2": lambda _: _neural("gpt2:heads=1:layers=1:positions=16:learning_rate=0.02"),
    "hf": _hugging_face,
}


@cache
def _made(kind: str, folder: Path) -> Generator:
    if kind.startswith("lstm"):
        pytest.importorskip("torch")
    return MAKERS[kind](folder)


@pytest.fixture(params=MAKERS)
def model(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Generator:
    folder = tmp_path_factory.getbasetemp() / request.param.replace(" ", "_")
    return _made(request.param, folder)


def possible() -> GeneratedTexts:
    """All texts that a model of these words can write with at most `LIMIT` tokens; those of this length are cut off."""
    words = [*WORDS, "<unk>"]
    rows = [row for n in range(LIMIT + 1) for row in product(words, repeat=n)]
    return GeneratedTexts((" ".join(row) for row in rows), np.array([len(row) == LIMIT for row in rows]))


@pytest.mark.parametrize("setting", SETTINGS, ids=str)
@pytest.mark.parametrize("prompt", [None, PROMPT])
def test_sampled_texts_follow_the_scores(model: Generator, prompt: str | None, setting: dict[str, Any]) -> None:
    """The scores of all texts sum to 1, cut texts included, and a chi-square test compares them with a sample."""
    texts, n = possible(), 4000
    given: dict[str, Any] = {} if prompt is None else {"prompts": [prompt] * len(texts)}
    chances = np.exp(model.log_prob(texts, **given, **setting).log_probs)
    assert chances.sum() == pytest.approx(1, abs=1e-4)
    asked = {} if prompt is None else {"prompts": [prompt] * n}
    drawn: Any = model
    made = drawn.sample(n, max_tokens=LIMIT, rng=np.random.default_rng(0), **asked, **setting)
    counts = Counter(zip((" ".join(text.split()) for text in made), made.cut_off.tolist(), strict=True))
    observed = np.array([counts.pop(pair, 0) for pair in zip(texts, texts.cut_off.tolist(), strict=True)])
    assert not counts
    assert observed[chances == 0].sum() == 0
    expected, order = n * chances / chances.sum(), np.argsort(chances)
    # Rare texts are counted together.
    rare = order[np.cumsum(expected[order]) < 8]
    rest = np.setdiff1d(np.flatnonzero(chances > 0), rare)
    pairs = [np.append(column[rest], column[rare].sum()) for column in (observed, expected)]
    if pairs[1][-1] == 0:
        pairs = [column[:-1] for column in pairs]
    assert len(pairs[0]) == 1 or chisquare(*pairs).pvalue > 1e-4


def test_a_prompt_and_its_continuation_are_one_text(model: Generator) -> None:
    """Log-probabilities of a beginning and of what follows it add up."""
    whole = ["b a c a", "b a b b b"] if getattr(model, "has_end", True) else ["b a c a b b c"]
    rest = [text.removeprefix("b a ") for text in whole]
    beginning = GeneratedTexts(["b a"] * len(whole), np.full(len(whole), True))
    parts = model.log_prob(beginning), model.log_prob(rest, prompts=["b a"] * len(rest))
    together = model.log_prob(whole)
    np.testing.assert_allclose(
        together.class_log_probs, np.sum([part.class_log_probs for part in parts], axis=0), rtol=1e-4
    )
    assert together.n_tokens.tolist() == np.sum([part.n_tokens for part in parts], axis=0).tolist()


def test_the_oracle_scores_the_rest_of_a_beginning() -> None:
    oracle = Oracle.random(vocabulary=4, hidden=3, length=3, rng=np.random.default_rng(0))
    rests = [f"{first} {second}" for first, second in product(range(4), repeat=2)]
    for setting in SETTINGS:
        scores = oracle.log_prob(rests, prompts=["2"] * 16, **setting)
        assert np.exp(scores.log_probs).sum() == pytest.approx(1)
        made = Counter(oracle.sample(4000, prompts=["2"] * 4000, rng=np.random.default_rng(1), **setting))
        kept = np.isfinite(scores.log_probs)
        observed = np.array([made[text] for text in rests])
        assert observed[~kept].sum() == 0
        expected = 4000 * np.exp(scores.log_probs[kept])
        assert chisquare(observed[kept], expected * 4000 / expected.sum()).pvalue > 1e-4
    assert oracle.log_prob(["1 1", "1"], prompts=["2", "2"]).n_tokens.tolist() == [2, 1]


def test_retrieval_gives_its_own_answers_probability_1() -> None:
    inputs = ["which pet", "what weather", "what time"]
    model = RetrievalModel(Sample.of(["a cat", "rain", "noon"], contexts=pa.array(inputs)))
    prompts = ["a pet", "the weather today", "time"] * 10
    made = model.sample(30, prompts=prompts, rng=np.random.default_rng(0))
    assert set(model.log_prob(made, prompts=prompts).log_probs.tolist()) == {0.0}
    assert np.isneginf(model.log_prob(made[::-1], prompts=prompts).log_probs).any()


def test_prompts_are_one_per_text(model: Generator) -> None:
    with pytest.raises(InputError, match="prompts: 1 for 2 texts; wanted one per text"):
        model.log_prob(["a", "b"], prompts=["a"])


def test_a_word_never_seen_in_training_is_never_written() -> None:
    """At any temperature: the unknown word of a model that met none in training."""
    pytest.importorskip("torch")
    for kind in ("lstm", "gpt2"):
        model = train_model(f"{kind}:hidden=8:epochs=1", TEXTS)
        made = model.sample(2000, temperature=100.0, rng=np.random.default_rng(0))
        assert not any("<unk>" in text for text in made)
        assert np.isneginf(model.log_prob(["a <unk>", "a zebra"]).class_log_probs).all()
        assert np.isfinite(model.log_prob(made, temperature=100.0).log_probs).all()


@pytest.mark.parametrize("temperature", [1.0, 3.0])
def test_the_entropy_of_cut_texts_is_that_of_the_sum_over_all(temperature: float) -> None:
    """The mean over a sample in which most texts are cut off, against the sum over all texts."""
    model = train_model("ngram:order=2", TEXTS)
    texts = possible()
    logs = model.log_prob(texts, temperature=temperature).log_probs
    exact = -(np.exp(logs[np.isfinite(logs)]) * logs[np.isfinite(logs)]).sum()
    drawn: Any = model
    made = drawn.sample(4000, max_tokens=LIMIT, temperature=temperature, rng=np.random.default_rng(0))
    assert made.cut_off.mean() > 0.2
    found = metrics.model_entropy(made, model=model, temperature=temperature, n_resamples=0).estimate
    assert found == pytest.approx(exact, abs=0.05)
    with_ends = metrics.model_entropy(list(made), model=model, temperature=temperature, n_resamples=0).estimate
    assert with_ends > exact + 0.2


def test_metrics_score_texts_after_their_prompts() -> None:
    model = train_model("ngram:order=3", TEXTS)
    prompts = ["a", "b", "c a", "b b"] * 5
    made = model.sample(20, prompts=prompts, rng=np.random.default_rng(0))
    kept = [(prompt, text) for prompt, text in zip(prompts, made, strict=True) if text]
    sample = Sample.of([text for _, text in kept], contexts=pa.array([prompt for prompt, _ in kept]))
    wanted = model.log_prob(list(sample.texts.to_pylist()), prompts=[prompt for prompt, _ in kept]).log_probs
    found = metrics.model_entropy(sample, model=model, n_resamples=0).estimate
    assert found == pytest.approx(-wanted.mean())
    assert not math.isclose(found, -model.log_prob(sample).log_probs.mean())
