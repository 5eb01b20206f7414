"""Decoding: from logits to tokens, for all neural models: temperature, top-k, nucleus, greedy and beam search.

The order is that of Hugging Face: logits are divided by the temperature, the `top_k` largest remain, of these the
smallest set of the most probable tokens with at least `top_p` of the probability remains, and the remaining
probabilities are normalised. Of tokens with equal logits at a cut, those with the smallest ids remain.
`base.decoded_log_probs` is the same definition in double precision; it sorts the whole vocabulary in every row, which
takes too long for a large one.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from textassay.corpus.arrays import F32, F64, I64
from textassay.errors import InputError
from textassay.models.base import Decoding

# A network computes slightly different logits one token at a time and for a whole text. A token whose logit is this
# close below the cut counts as inside when a text is scored, so that no text that was sampled has probability 0.
_SLACK = 1e-4
_LARGEST = float(np.finfo(np.float32).max)
# Texts that are sampled together.
_BATCH = 256


class Network(Protocol):
    """A model that reads one token per step for several texts at once. The type of a state is its own choice."""

    def start(self, tokens: I64, /) -> tuple[Any, F32]:
        """Read the first tokens, one row per text: the state after them and the logits of the next token."""
        ...

    def advance(self, state: Any, tokens: I64, /) -> tuple[Any, F32]:
        """Read one more token per text: the new state and the logits of the next token."""
        ...

    def select(self, state: Any, rows: I64, /) -> Any:
        """The state of these texts only, in this order; texts may repeat. The old state is not used again."""
        ...


def log_probabilities(logits: F32 | F64, decoding: Decoding) -> F64:
    """The log-probability of every token under a decoding setting, one row per text; minus infinity if cut off."""
    scaled, lowest = _cut(logits, decoding)
    logs = np.where(scaled >= lowest[:, None], scaled, -np.inf).astype(np.float64)
    logs -= _log_sum(scaled, lowest)[:, None]
    return logs


def token_log_probs(logits: F32 | F64, tokens: I64, decoding: Decoding) -> F64:
    """The log-probability of one given token per row under a decoding setting."""
    scaled, lowest = _cut(logits, decoding)
    chosen = scaled[np.arange(len(tokens)), tokens].astype(np.float64)
    inside = chosen >= lowest - _SLACK / decoding.temperature
    return np.where(inside, chosen - _log_sum(scaled, lowest), -np.inf)


def draw(logits: F32 | F64, decoding: Decoding, rng: np.random.Generator) -> I64:
    """One random token per row under a decoding setting."""
    scaled, lowest = _cut(logits, decoding)
    weights = np.where(scaled >= lowest[:, None], np.exp(scaled - scaled.max(axis=1, keepdims=True)), 0.0)
    sums = np.cumsum(weights, axis=1, dtype=np.float64)
    return (sums <= rng.random((len(sums), 1)) * sums[:, -1:]).sum(axis=1)


def _cut(logits: F32 | F64, decoding: Decoding) -> tuple[F32 | F64, F32 | F64]:
    """The logits divided by the temperature, and the smallest of them that remains in each row."""
    scaled = logits if decoding.temperature == 1.0 else logits / logits.dtype.type(decoding.temperature)
    n_tokens = scaled.shape[1]
    if not np.isfinite(scaled.max(axis=1, initial=-_LARGEST)).all():
        raise InputError("the model computes logits that are not finite numbers; wanted a model with usable weights")
    lowest = np.full(len(scaled), -np.inf, scaled.dtype)
    if decoding.top_k is not None and decoding.top_k < n_tokens:
        index = n_tokens - decoding.top_k
        lowest = np.partition(scaled, index, axis=1)[:, index]
        scaled = _without_ties(scaled, lowest, np.full(len(scaled), decoding.top_k))
    if decoding.top_p is not None and decoding.top_p < 1:
        falling = np.sort(scaled, axis=1)[:, ::-1]
        weights = np.where(falling >= lowest[:, None], np.exp(falling - falling[:, :1]), 0.0)
        sums = np.cumsum(weights, axis=1, dtype=np.float64)
        last = (sums < decoding.top_p * sums[:, -1:]).sum(axis=1)
        lowest = falling[np.arange(len(falling)), last]
        scaled = _without_ties(scaled, lowest, last + 1)
    return scaled, lowest


def _without_ties(scaled: F32 | F64, lowest: F32 | F64, n_kept: I64) -> F32 | F64:
    """Minus infinity for the last of several equal logits at the cut, so that exactly `n_kept` remain in each row."""
    crowded = np.flatnonzero((scaled >= lowest[:, None]).sum(axis=1) > n_kept)
    if len(crowded):
        scaled = scaled.copy()
    for row in crowded:
        equal = np.flatnonzero(scaled[row] == lowest[row])
        n_above = int((scaled[row] > lowest[row]).sum())
        scaled[row, equal[n_kept[row] - n_above :]] = -np.inf
    return scaled


def _log_sum(scaled: F32 | F64, lowest: F32 | F64) -> F64:
    """The logarithm of the sum of the exponentials of what remains in each row."""
    largest = scaled.max(axis=1)
    weights = np.exp(scaled - largest[:, None])
    if np.isfinite(lowest).any():
        weights[scaled < lowest[:, None]] = 0.0
    return largest.astype(np.float64) + np.log(weights.sum(axis=1, dtype=np.float64))


@dataclass(frozen=True)
class Frame:
    """The tokens that frame a text: read before it, drawn at its end (if texts have one), and never part of it.

    A text has at least one token unless `may_be_empty`.
    """

    begin: int
    end: int | None = None
    never: tuple[int, ...] = ()
    may_be_empty: bool = False

    def forbid(self, logits: F32 | F64, *, first: bool) -> F32 | F64:
        """The logits with minus infinity for tokens that cannot be next."""
        banned = [*self.never, *([self.end] if first and self.end is not None and not self.may_be_empty else [])]
        if not banned:
            return logits
        logits = logits.copy()
        logits[:, banned] = -np.inf
        return logits


def sample_tokens(
    network: Network,
    given: Sequence[Sequence[int]],
    *,
    most_tokens: Sequence[int],
    frame: Frame,
    decoding: Decoding,
    rng: np.random.Generator,
) -> list[list[int]]:
    """The random tokens that continue each of the given token sequences, without these and without the end.

    A text that has not ended after its entry of `most_tokens`, at least 1, is cut off there.
    """
    written: list[list[int]] = [[] for _ in given]
    # Prompts of similar lengths are read together.
    order = sorted(range(len(given)), key=lambda text: len(given[text]))
    for start in range(0, len(order), _BATCH):
        batch = order[start : start + _BATCH]
        prompts, rooms = [given[text] for text in batch], [most_tokens[text] for text in batch]
        for text, tokens in zip(batch, _sample_batch(network, prompts, rooms, frame, decoding, rng), strict=True):
            written[text] = tokens
    return written


def _sample_batch(
    network: Network,
    given: Sequence[Sequence[int]],
    rooms: Sequence[int],
    frame: Frame,
    decoding: Decoding,
    rng: np.random.Generator,
) -> list[list[int]]:
    written: list[list[int]] = [[] for _ in given]
    going = np.arange(len(given))
    index = min(len(tokens) for tokens in given)
    state, logits = network.start(np.array([[frame.begin, *tokens[:index]] for tokens in given]))
    while True:
        tokens = draw(frame.forbid(logits, first=index == 0), decoding, rng)
        on = np.ones(len(going), np.bool_)
        for row, text in enumerate(going.tolist()):
            if index < len(given[text]):
                tokens[row] = given[text][index]
            elif tokens[row] == frame.end:
                on[row] = False
            else:
                written[text].append(int(tokens[row]))
                on[row] = len(written[text]) < rooms[text]
        if not on.all():
            rows = np.flatnonzero(on)
            if not len(rows):
                return written
            going, tokens, state = going[rows], tokens[rows], network.select(state, rows)
        state, logits = network.advance(state, tokens)
        index += 1


@dataclass(frozen=True)
class Beam:
    """A text of a beam search: its tokens and the log-probability of all tokens and, unless cut off, of the end."""

    tokens: tuple[int, ...]
    log_prob: float

    def score(self, length_penalty: float) -> float:
        """The log-probability divided by a power of the number of tokens, the end included."""
        return self.log_prob / (len(self.tokens) + 1) ** length_penalty


def beam_search(
    network: Network,
    given: Sequence[int],
    *,
    most_tokens: int,
    frame: Frame,
    width: int,
    length_penalty: float = 0.0,
) -> list[Beam]:
    """The `width` best texts that a beam search finds, best first.

    In every step the `width` most probable unfinished texts remain. A text that is cut off at `most_tokens` counts as
    finished. The search stops when no unfinished text can be better than the `width` best finished ones.
    """
    state, logits = network.start(np.array([[frame.begin, *given]]))
    open_texts: list[tuple[int, ...]] = [()]
    open_logs = np.zeros(1)
    done: list[Beam] = []
    for index in range(most_tokens):
        logs = log_probabilities(frame.forbid(logits, first=index == 0 and not given), Decoding())
        totals = open_logs[:, None] + logs
        best = _largest(totals, 2 * width)
        ended = [(row, token) for row, token in best if token == frame.end]
        done += [Beam(open_texts[row], float(totals[row, token])) for row, token in ended]
        kept = [pair for pair in best if pair[1] != frame.end][:width]
        open_texts = [(*open_texts[row], token) for row, token in kept]
        open_logs = np.array([totals[pair] for pair in kept])
        if not kept or _is_settled(done, open_logs, width, length_penalty, most_tokens):
            break
        if index + 1 < most_tokens:
            state = network.select(state, np.array([row for row, _ in kept]))
            state, logits = network.advance(state, np.array([token for _, token in kept]))
        else:
            done += [Beam(text, float(log)) for text, log in zip(open_texts, open_logs, strict=True)]
    return sorted(done, key=lambda beam: -beam.score(length_penalty))[:width]


def _largest(totals: F64, n: int) -> list[tuple[int, int]]:
    """Row and column of the `n` largest finite values, the largest first; the first of equal values first."""
    flat = totals.ravel()
    indices = np.argsort(-flat, kind="stable")[:n]
    return [divmod(int(index), totals.shape[1]) for index in indices if np.isfinite(flat[index])]


def _is_settled(done: list[Beam], open_logs: F64, width: int, length_penalty: float, most_tokens: int) -> bool:
    """True if no continuation can be better than the `width` best texts that are finished.

    A log-probability only falls. Dividing by the greatest possible length gives the best score that it can reach.
    """
    if len(done) < width:
        return False
    worst = sorted(beam.score(length_penalty) for beam in done)[-width]
    return bool(open_logs.max() / (most_tokens + 1) ** length_penalty <= worst)
