"""Section 6.1 of Li et al. (2020): pairs on all texts of a small space, with exact expectations.

There are |V|^L texts. BLEU and negative Self-BLEU compare one text with two others, so that their expectations are sums
over triples of texts. They are no functions of single probabilities, and Theorem 2 does not apply: the discrepancy is
found by optimisation from many starts and is a lower bound.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
from scipy.optimize import minimize

from textassay.corpus.arrays import F64, I64
from textassay.corpus.sample import stream
from textassay.inference.plan import Progress, Silent

VOCABULARY, LENGTH = 4, 3
# The sizes of the oracle of SeqGAN.
_EMBEDDING, _HIDDEN = 32, 32


def all_texts(vocabulary: int = VOCABULARY, length: int = LENGTH) -> I64:
    """Every text, one per row."""
    return np.array(list(product(range(vocabulary), repeat=length)), dtype=np.int64)


def oracle_distribution(sigma: float, seed: int) -> F64:
    """The probability of every text under an LSTM whose weights are normal with standard deviation `sigma`."""
    rng = stream(seed, "oracle", repr(float(sigma)))
    embedding = sigma * rng.standard_normal((VOCABULARY, _EMBEDDING))
    inward = sigma * rng.standard_normal((_EMBEDDING, 4 * _HIDDEN))
    across = sigma * rng.standard_normal((_HIDDEN, 4 * _HIDDEN))
    bias = sigma * rng.standard_normal(4 * _HIDDEN)
    outward, last = sigma * rng.standard_normal((_HIDDEN, VOCABULARY)), sigma * rng.standard_normal(VOCABULARY)
    texts = all_texts()
    hidden, cell = np.zeros((len(texts), _HIDDEN)), np.zeros((len(texts), _HIDDEN))
    word, log_prob = np.zeros(len(texts), dtype=np.int64), np.zeros(len(texts))
    for index in range(LENGTH):
        gates = embedding[word] @ inward + hidden @ across + bias
        let_in, keep, show = (_sigmoid(part) for part in np.split(gates[:, : 3 * _HIDDEN], 3, axis=1))
        cell = keep * cell + let_in * np.tanh(gates[:, 3 * _HIDDEN :])
        hidden = show * np.tanh(cell)
        logits = hidden @ outward + last
        word = texts[:, index]
        log_prob += logits[np.arange(len(texts)), word] - np.logaddexp.reduce(logits, axis=1)
    return np.asarray(np.exp(log_prob))


def _sigmoid(x: F64) -> F64:
    return np.asarray(0.5 * (1 + np.tanh(x / 2)))


def ngram_counts(texts: I64, n: int) -> F64:
    """How often each n-gram is in each text: one row per text."""
    base = int(texts.max()) + 1
    codes = sum(texts[:, k : texts.shape[1] - n + 1 + k] * base ** (n - 1 - k) for k in range(n))
    return np.asarray((codes[:, :, None] == np.arange(base**n)).sum(axis=1), dtype=np.float64)


def bleu_tensor(texts: I64, n: int) -> F64:
    """BLEU-n without smoothing of each text against each pair of references, for texts of one length."""
    score = np.ones((len(texts),) * 3)
    for order in range(1, n + 1):
        counts = ngram_counts(texts, order)
        matched = np.zeros_like(score)
        for column in counts.T:
            matched += np.minimum(column[:, None, None], np.maximum(column[:, None], column[None, :]))
        score *= matched / (texts.shape[1] - order + 1)
    return np.asarray(score ** (1 / n))


# A function of a distribution over texts, and its gradient.
Measured = Callable[[F64], tuple[float, F64]]


@dataclass(frozen=True, eq=False)
class SmallPair:
    """Quality and diversity of a distribution over all texts of a small space, with their gradients."""

    name: str
    quality: Measured
    diversity: Measured


def bleu_pair(real: F64, n: int) -> SmallPair:
    """BS-n: expected BLEU-n of one text against two real ones, and minus that of one text against two like it."""
    tensor = bleu_tensor(all_texts(), n)
    gain = np.einsum("crs,r,s->c", tensor, real, real, optimize=True)
    even = (tensor + tensor.transpose(1, 0, 2) + tensor.transpose(2, 1, 0)) / 3
    size = len(real)

    def diversity(q: F64) -> tuple[float, F64]:
        once = (even.reshape(size * size, size) @ q).reshape(size, size) @ q
        return -float(once @ q), -3 * once

    return SmallPair(f"bs-{n}", lambda q: (float(gain @ q), gain), diversity)


def coverage_pair(real: F64, n: int) -> SmallPair:
    """CN-n: CR and NRR of the distribution of n-grams."""
    grams = ngram_counts(all_texts(), n) / (LENGTH - n + 1)
    gain = grams @ (real @ grams)

    def diversity(q: F64) -> tuple[float, F64]:
        shares = q @ grams
        return -float(shares @ shares), -2 * grams @ shares

    return SmallPair(f"cn-{n}", lambda q: (float(gain @ q), gain), diversity)


@dataclass(frozen=True, eq=False)
class LowerBound:
    """The best distribution found that is at least as diverse as the real one.

    `steps` has the gain in quality of the best run after each of its steps, made diverse enough; steps without a gain
    are left out. `range` is the highest quality minus the quality of the most diverse distribution found.
    """

    quality: float
    diversity: float
    best: F64
    best_quality: float
    best_diversity: float
    range: float
    steps: tuple[tuple[int, float], ...]

    @property
    def qdisc(self) -> float:
        """The lower bound of QDisc; 0 if nothing better than the real distribution was found."""
        return self.best_quality - self.quality

    @property
    def drate(self) -> float:
        """QDisc as a share of the range of quality."""
        return self.qdisc / self.range


def lower_bound(
    pair: SmallPair, real: F64, *, n_starts: int = 12, seed: int = 0, progress: Progress | None = None
) -> LowerBound:
    """Maximise quality under the constraint of diversity from many starts (SLSQP), and keep the best.

    Only distributions that satisfy the constraint exactly count, so that the result is a bound whatever the optimiser
    did. The real distribution is one of them.
    """
    (quality, _), (diversity, _) = pair.quality(real), pair.diversity(real)
    best, best_quality = real, quality
    steps: tuple[tuple[int, float], ...] = ((0, 0.0),)
    counter = progress or Silent()
    for start in starting_points(real, n_starts, stream(seed, "starts", pair.name)):
        found, seen = _climb(pair, start, diversity)
        found = _diverse_enough(pair, found, diversity)
        reached, enough = pair.quality(found)[0], pair.diversity(found)[0] >= diversity
        if enough and reached > best_quality:
            best, best_quality = found, reached
            steps = tuple((step, value - quality) for step, value in seen if value > quality) or steps
        counter.step(1)
    spread = float(pair.quality(real)[1].max()) - pair.quality(_most_diverse(pair, len(real)))[0]
    return LowerBound(quality, diversity, best, best_quality, pair.diversity(best)[0], spread, steps)


def starting_points(real: F64, n_starts: int, rng: np.random.Generator) -> list[F64]:
    """Distributions around the real one: itself, flatter and sharper ones, and random ones."""
    powers = [real**beta / (real**beta).sum() for beta in (1.0, 0.5, 1.5, 0.8, 1.2)]
    noisy = (real * np.exp(rng.normal(0, 1 + k % 3, len(real))) for k in range(n_starts))
    random = [values / values.sum() for values in noisy]
    return [*powers, *random][:n_starts]


_SIMPLEX = {"type": "eq", "fun": lambda q: q.sum() - 1, "jac": np.ones_like}


def _climb(pair: SmallPair, start: F64, diversity: float) -> tuple[F64, Sequence[tuple[int, float]]]:
    seen: list[tuple[int, float]] = []

    def note(q: F64) -> None:
        at = _diverse_enough(pair, _normalised(q), diversity)
        seen.append((len(seen) + 1, pair.quality(at)[0]))

    constraint = {
        "type": "ineq",
        "fun": lambda q: pair.diversity(q)[0] - diversity,
        "jac": lambda q: pair.diversity(q)[1],
    }
    found = minimize(
        lambda q: (-pair.quality(q)[0], -pair.quality(q)[1]),
        start,
        jac=True,
        method="SLSQP",
        bounds=[(0.0, 1.0)] * len(start),
        constraints=[_SIMPLEX, constraint],
        callback=note,
        options={"maxiter": 400, "ftol": 1e-12},
    )
    return _normalised(found.x), seen


def _normalised(q: F64) -> F64:
    positive = np.maximum(q, 0.0)
    return np.asarray(positive / positive.sum())


def _diverse_enough(pair: SmallPair, q: F64, diversity: float) -> F64:
    """The distribution itself, or the least mixture with the even one that is diverse enough."""
    even = np.full_like(q, 1 / len(q))
    if pair.diversity(q)[0] >= diversity:
        return q
    low, high = 0.0, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        enough = pair.diversity((1 - middle) * q + middle * even)[0] >= diversity
        low, high = (low, middle) if enough else (middle, high)
    return np.asarray((1 - high) * q + high * even)


def _most_diverse(pair: SmallPair, size: int) -> F64:
    found = minimize(
        lambda q: (-pair.diversity(q)[0], -pair.diversity(q)[1]),
        np.full(size, 1 / size),
        jac=True,
        method="SLSQP",
        bounds=[(0.0, 1.0)] * size,
        constraints=[_SIMPLEX],
        options={"maxiter": 400, "ftol": 1e-12},
    )
    return _normalised(found.x)
