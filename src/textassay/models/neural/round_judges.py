"""Judges of adversarial training: which round wrote the best texts, by BLEU on validation texts or by an oracle."""

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from textassay.corpus.arrays import I64
from textassay.models.base import Generator, Texts
from textassay.models.neural.network import NeuralModel
from textassay.models.neural.training import rows_digest, seed_of
from textassay.models.vocabulary import BEGIN, END

_JUDGED = 500  # generated texts that are scored after each round
_ORDER = 4  # of BLEU on validation texts
_NO_MATCH = 0.1  # n-grams that count as found where none is, as in the metric `bleu`


@dataclass(frozen=True, eq=False)
class Judge:
    """A score of a model, higher is better; `name` says what it depends on."""

    name: str
    score: Callable[[NeuralModel], float]


def validation_bleu(model: NeuralModel, validation: Texts, seed: int) -> Judge:
    """The mean BLEU-4 of generated texts against all validation texts, the value of the metric `bleu:n=4`.

    Metrics import models, so that models cannot import metrics. The same random numbers are used every time.
    """
    references = model.rows(validation)
    counts = [_most_counts(references, n) for n in range(1, _ORDER + 1)]
    lengths = np.unique([len(_words(row)) for row in references])

    def score(now: NeuralModel) -> float:
        texts = now.sample(_JUDGED, rng=np.random.default_rng(seed_of(seed, "judge")))
        return float(np.mean([_bleu(_words(row), counts, lengths) for row in now.rows(texts)]))

    return Judge(f"bleu-{_ORDER}/{rows_digest(references)}", score)


def oracle_likelihood(oracle: Generator, seed: int) -> Judge:
    """The mean log-probability of generated texts under an oracle, which is minus the Oracle-NLL."""

    def score(now: NeuralModel) -> float:
        texts = now.sample(_JUDGED, rng=np.random.default_rng(seed_of(seed, "judge")))
        log_probs = oracle.log_prob(texts).log_probs
        # A text that the oracle cannot write counts as the least probable one that it can.
        possible = log_probs[np.isfinite(log_probs)]
        return float(np.maximum(log_probs, possible.min()).mean()) if len(possible) else -math.inf

    return Judge(f"oracle {oracle.name}", score)


def _words(row: I64) -> list[int]:
    """The words of a row, without the marks of its ends."""
    return [token for token in row.tolist() if token not in (BEGIN, END)]


def _grams(words: Sequence[int], n: int) -> Counter[tuple[int, ...]]:
    return Counter(tuple(words[index : index + n]) for index in range(len(words) - n + 1))


def _most_counts(rows: Sequence[I64], n: int) -> Counter[tuple[int, ...]]:
    """How often each n-gram occurs in the text that has it most often."""
    most: Counter[tuple[int, ...]] = Counter()
    for row in rows:
        most |= _grams(_words(row), n)
    return most


def _bleu(words: Sequence[int], most: Sequence[Counter[tuple[int, ...]]], lengths: I64) -> float:
    logs = []
    for n, counts in enumerate(most, 1):
        own = _grams(words, n)
        found = sum(min(count, counts[gram]) for gram, count in own.items())
        if n == 1 and not found:
            return 0.0
        logs.append(math.log((found or _NO_MATCH) / max(own.total(), 1)))
    nearest = int(lengths[np.argmin(np.abs(lengths - len(words)))])
    return math.exp(sum(logs) / len(logs) + min(0.0, 1 - nearest / len(words)))
