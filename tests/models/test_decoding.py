"""Decoding on logits: the definition in double precision, Hugging Face's processors, sampling and beam search."""

from itertools import pairwise, product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare

from textassay.corpus.arrays import F32, I64
from textassay.models.base import Decoding, decoded_log_probs
from textassay.models.neural.decoding import Frame, beam_search, draw, log_probabilities, sample_tokens, token_log_probs

SETTINGS = [
    Decoding(),
    Decoding(0.3),
    Decoding(2.5),
    Decoding(top_k=1),
    Decoding(top_k=3),
    Decoding(top_k=500),
    Decoding(top_p=0.01),
    Decoding(top_p=0.6),
    Decoding(top_p=1.0),
    Decoding(0.7, top_k=5, top_p=0.8),
    Decoding(1.7, top_k=2, top_p=0.5),
]


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


@pytest.mark.parametrize("decoding", SETTINGS, ids=str)
@given(seed=st.integers(0, 2**32 - 1))
def test_equals_the_definition(decoding: Decoding, seed: int) -> None:
    """Whole numbers as logits give many ties."""
    logits = rng(seed).integers(-3, 3, (4, 9)).astype(np.float64)
    wanted = decoded_log_probs(logits, decoding)
    assert log_probabilities(logits, decoding) == pytest.approx(wanted, abs=1e-12)
    tokens = rng(seed + 1).integers(0, 9, 4)
    assert token_log_probs(logits, tokens, decoding) == pytest.approx(wanted[np.arange(4), tokens], abs=1e-12)


@pytest.mark.parametrize("decoding", SETTINGS, ids=str)
def test_equals_hugging_face(decoding: Decoding) -> None:
    torch = pytest.importorskip("torch")
    process = pytest.importorskip("transformers.generation.logits_process")
    logits = rng().standard_normal((50, 30)).astype(np.float32) * 3
    scores = process.TemperatureLogitsWarper(decoding.temperature)(None, torch.tensor(logits))
    if decoding.top_k is not None:
        scores = process.TopKLogitsWarper(decoding.top_k)(None, scores)
    if decoding.top_p is not None:
        scores = process.TopPLogitsWarper(decoding.top_p)(None, scores)
    wanted = torch.log_softmax(scores.double(), dim=1).numpy()
    assert log_probabilities(logits, decoding) == pytest.approx(wanted, abs=1e-5)


@pytest.mark.parametrize("decoding", SETTINGS, ids=str)
def test_drawn_tokens_follow_the_probabilities(decoding: Decoding) -> None:
    logits = rng(3).standard_normal((1, 8)).astype(np.float32)
    drawn = draw(np.repeat(logits, 4000, axis=0), decoding, rng(4))
    chances = np.exp(log_probabilities(logits, decoding)[0])
    counts = np.bincount(drawn, minlength=8)
    assert counts[chances == 0].sum() == 0
    kept = chances > 0
    assert kept.sum() == 1 or chisquare(counts[kept], 4000 * chances[kept] / chances.sum()).pvalue > 1e-4


def test_a_token_just_below_the_cut_keeps_its_probability() -> None:
    logits = np.array([[2.0, 1.00001, 1.0, -3.0]], np.float32)
    inside, near, outside = (token_log_probs(logits, np.array([token]), Decoding(top_k=2))[0] for token in (1, 2, 3))
    assert near == pytest.approx(inside, abs=1e-4)
    assert outside == -np.inf


class Bigrams:
    """Logits that depend on the last token only; the state counts the tokens read."""

    def __init__(self, logits: F32) -> None:
        self.logits = logits

    def start(self, tokens: I64, /) -> tuple[Any, F32]:
        return np.full(len(tokens), tokens.shape[1]), self.logits[tokens[:, -1]]

    def advance(self, state: Any, tokens: I64, /) -> tuple[Any, F32]:
        return state + 1, self.logits[tokens]

    def select(self, state: Any, rows: I64, /) -> Any:
        return state[rows]


FRAME = Frame(begin=0, end=1, never=(0,))


def bigrams(n_tokens: int = 5, seed: int = 1) -> Bigrams:
    return Bigrams(rng(seed).standard_normal((n_tokens, n_tokens)).astype(np.float32) * 2)


def test_sampled_texts_end_or_are_cut_off() -> None:
    texts = sample_tokens(bigrams(), [[]] * 300, most_tokens=[4] * 300, frame=FRAME, decoding=Decoding(), rng=rng())
    lengths = [len(text) for text in texts]
    assert min(lengths) >= 1
    assert max(lengths) == 4
    assert not {0, 1} & {token for text in texts for token in text}


def test_texts_follow_their_prompts() -> None:
    """Each text continues its own prompt, whatever the lengths of the others."""
    chain = np.full((6, 6), -50.0, np.float32)
    chain[np.arange(6), (np.arange(6) + 1) % 6] = 50.0
    given = [[2], [2, 3, 4], [], [4]]
    frame = Frame(begin=1, end=0)
    texts = sample_tokens(Bigrams(chain), given, most_tokens=[9, 9, 2, 1], frame=frame, decoding=Decoding(), rng=rng())
    assert texts == [[3, 4, 5], [5], [2, 3], [5]]


@pytest.mark.parametrize("length_penalty", [0.0, 0.8])
@pytest.mark.parametrize("seed", range(5))
def test_a_wide_beam_finds_the_best_texts(seed: int, length_penalty: float) -> None:
    network, most = bigrams(seed=seed), 4
    found = beam_search(network, [], most_tokens=most, frame=FRAME, width=200, length_penalty=length_penalty)
    logs = log_probabilities(FRAME.forbid(network.logits, first=False), Decoding())
    first = log_probabilities(FRAME.forbid(network.logits, first=True), Decoding())
    scores = {}
    for length in range(1, most + 1):
        for text in product((2, 3, 4), repeat=length):
            steps = first[0, text[0]] + sum(logs[a, b] for a, b in pairwise(text))
            ended = steps + (logs[text[-1], 1] if length < most else 0.0)
            scores[text] = ended / (length + 1) ** length_penalty
    found_scores = [beam.score(length_penalty) for beam in found[:20]]
    assert found_scores == pytest.approx(sorted(scores.values())[::-1][:20], abs=1e-5)
    assert [scores[beam.tokens] for beam in found[:20]] == pytest.approx(found_scores, abs=1e-5)


def test_a_beam_of_one_is_greedy() -> None:
    network = bigrams(seed=3)
    greedy = sample_tokens(network, [[]], most_tokens=[6], frame=FRAME, decoding=Decoding(top_k=1), rng=rng())
    beams = beam_search(network, [], most_tokens=6, frame=FRAME, width=1)
    assert len(beams) == 1
    # The search may also end at a worse place if the end is the second best token, so it is at least as probable.
    logs = log_probabilities(FRAME.forbid(network.logits, first=False), Decoding())
    path = [0, *greedy[0]]
    total = float(log_probabilities(FRAME.forbid(network.logits, first=True), Decoding())[0, path[1]])
    total += float(sum(logs[a, b] for a, b in pairwise(path[1:])))
    total += float(logs[path[-1], 1]) if len(path) <= 6 else 0.0
    assert beams[0].log_prob >= total - 1e-5
