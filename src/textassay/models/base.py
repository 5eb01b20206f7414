"""What a model is: scorers and generators of texts, the decoding setting, and log-probabilities of texts."""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, Self

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from textassay.corpus.arrays import F64, I64, Bool
from textassay.corpus.sample import GeneratedTexts, Sample, as_text_array
from textassay.corpus.values import is_number, is_whole
from textassay.errors import InputError, Setting

# Called during training with what is being done, the number of finished steps and the number of all steps.
Progress = Callable[[str, int, int], None]
# A sample, an Arrow array or any iterable of strings.
Texts = Sample | Iterable[str]


# More tokens than any vocabulary has.
_MOST_TOP_K = 1_000_000_000
# Quotients of logits and a smaller temperature may be no finite numbers.
_LEAST_TEMPERATURE = 1e-12
# More texts at once need more memory than computers have.
MOST_TEXTS = 100_000_000


@dataclass(frozen=True)
class Decoding:
    """How the next token is chosen: temperature, then the `top_k` most probable tokens, then the nucleus of `top_p`.

    The logits are divided by the temperature. Of the tokens, the `top_k` most probable are kept, and of these the
    fewest most probable ones that together have at least `top_p` of their probability. What is kept is renormalised.
    Tokens of equal probability are ordered by their ids, so that exactly `top_k` are kept. `top_k=1` is greedy.

    >>> Decoding(0.7, top_k=40).fields()
    {'t': '0.7', 'k': '40'}
    >>> str(Decoding(0.7, top_p=0.95)), str(Decoding())
    ('t=0.7,p=0.95', '')
    """

    temperature: float = 1.0
    top_k: int | None = None
    top_p: float | None = None

    def __post_init__(self) -> None:
        if not (is_number(self.temperature) and 0 < self.temperature < math.inf):
            greedy: tuple[str | Setting, ...] = ("; greedy decoding is ", Setting("top_k", 1))
            hint = greedy if self.temperature == 0 else ()
            raise InputError(Setting("temperature", self.temperature), "; wanted a finite number above 0", *hint)
        if self.temperature < _LEAST_TEMPERATURE:
            wanted = f"; wanted at least {_LEAST_TEMPERATURE:g}; greedy decoding is "
            raise InputError(Setting("temperature", self.temperature), wanted, Setting("top_k", 1))
        if self.top_k is not None and is_number(self.top_k) and self.top_k > _MOST_TOP_K:
            raise InputError(Setting("top_k", self.top_k), f"; wanted at most {_MOST_TOP_K:,} tokens")
        if self.top_k is not None and not (is_whole(self.top_k) and self.top_k >= 1):
            raise InputError(Setting("top_k", self.top_k), "; wanted a whole number of 1 or more")
        if self.top_p is not None and not (is_number(self.top_p) and 0 < self.top_p <= 1):
            raise InputError(Setting("top_p", self.top_p), "; wanted a number above 0, at most 1")

    @property
    def truncates(self) -> bool:
        """Whether tokens are left out."""
        return self.top_k is not None or (self.top_p is not None and self.top_p < 1)

    def fields(self) -> dict[str, str]:
        """The settings that differ from their defaults, by the names of their signature fields."""
        found: dict[str, str] = {}
        if self.temperature != 1:
            found["t"] = f"{self.temperature:g}"
        if self.top_k is not None:
            found["k"] = str(self.top_k)
        if self.top_p is not None and self.top_p < 1:
            found["p"] = f"{self.top_p:g}"
        return found

    def __str__(self) -> str:
        return ",".join(f"{name}={value}" for name, value in self.fields().items())


@dataclass(frozen=True, eq=False, slots=True)
class Classes:
    """Texts as a model with an unknown word reads them: each stands for all texts with the same tokens.

    `n_unknown` is the number of unknown words of each text, those written as `<unk>` included, and `log_probs` has the
    log-probability of all texts with the same tokens together.
    """

    n_unknown: I64
    log_probs: F64


@dataclass(frozen=True, eq=False, slots=True)
class Scores:
    """Natural logs of the probabilities of texts, each the sum over the tokens and the end of a text.

    `n_tokens` is the number of terms of each sum: the tokens of the text and its end, without the end if the text was
    cut off. A text that the model cannot generate has a log-probability of minus infinity, such as one with a word
    outside of the vocabulary: the probability of the unknown word is that of all such words together, and the model
    writes it as `<unk>`. `classes` has these probabilities of many texts together, for models with an unknown word.

    >>> scores = Scores(np.array([-4.5, -np.inf]), np.array([3, 2]))
    >>> scores.n_zero, scores.per_token.tolist()
    (1, [-1.5, -inf])
    """

    log_probs: F64
    n_tokens: I64
    classes: Classes | None = None

    @classmethod
    def of_classes(cls, log_probs: F64, n_tokens: I64, n_unknown: I64, is_outside: Bool) -> Self:
        """Scores from the log-probabilities of classes; `is_outside` marks texts that the model cannot write."""
        return cls(np.where(is_outside, -np.inf, log_probs), n_tokens, Classes(n_unknown, log_probs))

    def __len__(self) -> int:
        return len(self.log_probs)

    @property
    def class_log_probs(self) -> F64:
        """The log-probability of all texts with the same tokens together, never less than that of the text."""
        return self.log_probs if self.classes is None else self.classes.log_probs

    @property
    def n_unknown(self) -> I64:
        """The number of unknown words of each text."""
        return np.zeros(len(self), np.int64) if self.classes is None else self.classes.n_unknown

    @property
    def n_zero(self) -> int:
        """The number of texts of probability 0."""
        return int(np.isneginf(self.log_probs).sum())

    @property
    def per_token(self) -> F64:
        """The mean log-probability of a token of each text, the end included."""
        return self.log_probs / self.n_tokens


def concat_scores(parts: Sequence[Scores]) -> Scores:
    """The scores of several runs of texts as one."""

    def column(name: str, kind: type) -> Any:
        return np.concatenate([np.zeros(0, kind), *(getattr(part, name) for part in parts)])

    classes = Classes(column("n_unknown", np.int64), column("class_log_probs", np.float64))
    return Scores(column("log_probs", np.float64), column("n_tokens", np.int64), classes)


class Scorer(Protocol):
    """Gives texts a probability. `name` has the kind and a digest of the parameters; it is part of signatures."""

    @property
    def name(self) -> str: ...

    def log_prob(
        self,
        sample: Texts,
        /,
        *,
        prompts: Sequence[str] | None = None,
        temperature: float = 1.0,
        top_k: int | None = None,
        top_p: float | None = None,
    ) -> Scores:
        """Log-probabilities of the texts under the model with this decoding setting, in the order of the texts.

        With `prompts`, one per text, they are those of the text after its prompt. A text that is marked as cut off (in
        a `Sample` or in `GeneratedTexts`) has no end.
        """
        ...


class Generator(Scorer, Protocol):
    """Generates texts; the texts of a decoding setting follow the probabilities of `log_prob` with that setting."""

    def sample(
        self,
        n: int,
        /,
        *,
        temperature: float = 1.0,
        top_k: int | None = None,
        top_p: float | None = None,
        prompts: Sequence[str] | None = None,
        rng: np.random.Generator,
    ) -> GeneratedTexts:
        """Generate `n` texts. With `prompts`, one per text, a text is the continuation without its prompt."""
        ...


def texts_of(sample: Texts, what: str) -> pa.Array:
    """The texts as an Arrow array, in their order; blank ones are kept, so that every text has a score."""
    if isinstance(sample, Sample):
        return sample.texts
    texts = as_text_array(sample, what)
    return pc.fill_null(texts, "") if texts.null_count else texts


def cut_off_of(sample: Texts, n: int) -> Bool:
    """Which of the `n` texts were cut off, as the sample states it."""
    marks = sample.cut_off if isinstance(sample, Sample | GeneratedTexts) else None
    return np.zeros(n, np.bool_) if marks is None else np.asarray(marks, np.bool_)


def check_prompts(prompts: Sequence[str] | None, n: int) -> Sequence[str] | None:
    """The prompts, or an error if there is not one per text."""
    if not is_whole(n) or n < 0:
        raise InputError(Setting("n", n), "; wanted a whole number of texts, 0 or more")
    if n > MOST_TEXTS:
        raise InputError(Setting("n", n), f"; wanted at most {MOST_TEXTS:,} texts")
    if prompts is not None and len(prompts) != n:
        raise InputError(f"prompts: {len(prompts):,} for {n:,} texts; wanted one per text")
    return prompts


def decoded_log_probs(logits: F64, decoding: Decoding) -> F64:
    """Log-probabilities of the next token under a decoding setting, for rows of logits over the whole vocabulary.

    >>> chances = np.log([[0.5, 0.3, 0.2]])
    >>> np.exp(decoded_log_probs(chances, Decoding(top_k=2))).round(3).tolist()
    [[0.625, 0.375, 0.0]]
    """
    scaled = _normalised(np.asarray(logits, np.float64) / decoding.temperature)
    if not decoding.truncates:
        return scaled
    order = np.argsort(-scaled, axis=-1, kind="stable")
    ranked = np.take_along_axis(scaled, order, axis=-1)
    kept = np.empty_like(ranked)
    np.put_along_axis(kept, order, truncated(ranked, decoding), axis=-1)
    return kept


def truncated(ranked: F64, decoding: Decoding) -> F64:
    """Renormalised log-probabilities after truncation, for rows in falling order of probability."""
    kept = ranked.copy()
    if decoding.top_k is not None:
        kept[..., decoding.top_k :] = -np.inf
        kept = _normalised(kept)
    if decoding.top_p is not None and decoding.top_p < 1:
        chances = np.exp(kept)
        above = np.cumsum(chances, axis=-1) - chances
        above[..., 0] = 0.0
        kept = _normalised(np.where(above < decoding.top_p, kept, -np.inf))
    return kept


def _normalised(logs: F64) -> F64:
    # A temperature near 0 makes logits so small that their exponentials underflow to 0, as intended.
    with np.errstate(under="ignore"):
        shifted = logs - logs.max(axis=-1, keepdims=True)
        return shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True))
