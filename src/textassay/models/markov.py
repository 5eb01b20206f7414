"""A Markov generator: an n-gram model with interpolated Kneser-Ney smoothing that generates and scores texts."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Self

import numpy as np
import pyarrow as pa

from textassay.corpus.arrays import F64, I64
from textassay.corpus.sample import as_text_array, is_not_blank
from textassay.corpus.tokenizers import Tokenizer, Tokens, get_tokenizer
from textassay.errors import InputError
from textassay.models.kneser_ney import BEGIN, END, FIRST_WORD, UNSEEN, Level, fit_levels, probabilities
from textassay.models.spacing import Spacing
from textassay.models.tempered import draw, temper

# Other tokenizers change characters or mark spaces differently, so that their tokens cannot be joined to texts.
TOKENIZERS = ("words", "whitespace")


@dataclass(frozen=True, eq=False)
class MarkovModel:
    """Each word depends on the `order - 1` words before it; `fit` trains a model, `sample` generates texts.

    The formula is in `kneser_ney`: the counts of seen n-grams are discounted, and the remaining probability goes to
    shorter contexts, so that texts recombine the training texts and are rarely copies. Every text has at least one
    word. Short phrases are plausible but whole sentences are not, so n-gram metrics up to `order` overrate this model.

    >>> model = MarkovModel.fit(["A cat sat.", "A dog sat.", "A dog ran, didn't it?"])
    >>> model.sample(4, temperature=0.5, rng=np.random.default_rng(0))
    ['A dog sat.', 'A it t it?', 'A dog sat.', 'A dog sat.']
    >>> round(model.next_words("A cat")["sat"], 4)
    0.5125
    """

    order: int
    tokenizer: Tokenizer
    levels: tuple[Level, ...] = field(repr=False)
    spacing: Spacing = field(repr=False)
    _index: dict[str, int] = field(repr=False)

    @classmethod
    def fit(cls, texts: Iterable[str] | pa.Array, *, order: int = 3, tokenizer: str = "words") -> Self:
        """Train on texts; `order` is the length of the longest n-gram, blank texts are left out."""
        if order < 1:
            raise InputError(f"Markov model: order {order}; wanted 1 or more")
        if tokenizer not in TOKENIZERS:
            raise InputError(f"Markov model: tokenizer {tokenizer!r}; wanted one of {', '.join(TOKENIZERS)}")
        array = as_text_array(texts, "Markov model")
        array = array.filter(is_not_blank(array))
        if not len(array):
            raise InputError("Markov model: no text to learn from; wanted at least one that is not blank")
        splitter = get_tokenizer(tokenizer)
        tokens = splitter(array)
        words = ["", "", *tokens.vocabulary.to_pylist()]
        ids = tokens.ids.astype(np.int64) + FIRST_WORD
        levels = fit_levels(_framed(ids, tokens.offsets), order=order, n_symbols=len(words))
        index = {word: number for number, word in enumerate(words) if number >= FIRST_WORD}
        return cls(order, splitter, levels, Spacing.learn(array.to_pylist(), tokens, ids, words), index)

    def sample(
        self,
        n_texts: int,
        *,
        temperature: float = 1.0,
        max_words: int = 60,
        prompts: Sequence[str] | None = None,
        rng: np.random.Generator,
    ) -> list[str]:
        r"""Generate texts; the next word has probability proportional to :math:`P(w|h)^{1/T}`.

        A text that has not ended after `max_words` tokens, punctuation included, is cut off there. With `prompts`, one
        per text, each text begins with the words of its prompt, all of which must be in the training texts.
        """
        _check_temperature(temperature)
        if n_texts < 0 or max_words < 1:
            seen = f"{n_texts} texts of {max_words} words"
            raise InputError(f"Markov model: {seen}; wanted 0 or more texts of 1 or more words")
        given = self._given([""] * n_texts if prompts is None else prompts, n_texts, max_words)
        tempered = temper(self.levels, temperature)
        written = np.full((n_texts, max_words), END)
        going = np.arange(n_texts)
        contexts = self._start(n_texts)
        for place in range(max_words):
            symbols = draw(tempered, contexts, rng)
            while place == 0 and (empty := symbols == END).any():
                symbols[empty] = draw(tempered, [c[empty] for c in contexts], rng)
            if place < given.shape[1]:
                symbols = np.where(given[going, place] != END, given[going, place], symbols)
            written[going, place] = symbols
            on = symbols != END
            going = going[on]
            contexts = self._advance([c[on] for c in contexts], symbols[on])
            if not len(going):
                break
        return self.spacing.join(written[written != END], (written != END).sum(axis=1))

    def next_words(self, text: str = "", *, temperature: float = 1.0) -> dict[str, float]:
        """The probability of each word after this beginning of a text; the empty string is the end of the text."""
        _check_temperature(temperature)
        contexts = self._start(1)
        read = self._symbols(self.tokenizer([text]))
        for symbol in read:
            contexts = self._advance(contexts, np.array([symbol]))
        chances = self.levels[0].probability.copy()
        for level, context in zip(self.levels[1:], contexts[1:], strict=True):
            here = int(context[0])
            if here != UNSEEN:
                chances *= level.backoff[here]
                seen = slice(level.starts[here], level.starts[here + 1])
                chances[level.symbols(seen)] = level.probability[seen]
        if not len(read):
            chances[END] = 0.0
        weights = (chances / chances.max()) ** (1 / temperature)
        return dict(zip(self.spacing.words[END:], (weights / weights.sum())[END:].tolist(), strict=True))

    def log_prob(self, text: str) -> float:
        """Natural log of the probability of a text and its end; minus infinity if blank or with an unknown word."""
        return float(self.log_probs([text])[0])

    def log_probs(self, texts: Iterable[str] | pa.Array) -> F64:
        """`log_prob` of many texts at once."""
        tokens = self.tokenizer(texts)
        if len(tokens.offsets) == 1:
            return np.zeros(0)
        symbols = _framed(self._symbols(tokens), tokens.offsets)
        with np.errstate(divide="ignore"):
            logs = np.log(probabilities(self.levels, symbols))
        sums = np.add.reduceat(logs, tokens.offsets[:-1] + 2 * np.arange(len(tokens.lengths)))
        # An empty text is never generated: its probability is divided among all first words.
        empty = probabilities(self.levels, np.array([BEGIN, END]))[1]
        return np.where(tokens.lengths > 0, sums - np.log1p(-empty), -np.inf)

    def _given(self, prompts: Sequence[str], n_texts: int, max_words: int) -> I64:
        """One row per prompt with its words, filled up with `END`."""
        if len(prompts) != n_texts:
            raise InputError(f"Markov model: prompts: {len(prompts)} for {n_texts} texts; wanted one per text")
        tokens = self.tokenizer(prompts)
        symbols = self._symbols(tokens)
        if (symbols == UNSEEN).any():
            word = tokens.vocabulary[int(tokens.ids[symbols == UNSEEN][0])].as_py()
            raise InputError(f"Markov model: the word {word!r} of a prompt is not in the training texts")
        longest = int(tokens.lengths.max(initial=0))
        if longest > max_words:
            raise InputError(f"Markov model: a prompt of {longest} words for texts of {max_words}; wanted fewer")
        given = np.full((n_texts, longest), END)
        rows = np.repeat(np.arange(n_texts), tokens.lengths)
        given[rows, np.arange(len(rows)) - np.repeat(tokens.offsets[:-1], tokens.lengths)] = symbols
        return given

    def _symbols(self, tokens: Tokens) -> I64:
        known = [self._index.get(word, UNSEEN) for word in tokens.vocabulary.to_pylist()]
        return np.array(known, dtype=np.int64)[tokens.ids]

    def _start(self, n_texts: int) -> list[I64]:
        """The contexts on every level at the beginning of texts."""
        fixed = (0, BEGIN, *[UNSEEN] * len(self.levels))
        return [np.full(n_texts, context) for context in fixed[: len(self.levels)]]

    def _advance(self, contexts: list[I64], symbols: I64) -> list[I64]:
        """The contexts on every level after these symbols."""
        inner = zip(self.levels[:-1], contexts, strict=False)
        return [contexts[0], *(level.find(context, symbols) for level, context in inner)]


def _framed(ids: I64, offsets: I64) -> I64:
    """The concatenated texts, each between `BEGIN` and `END`."""
    texts = np.arange(len(offsets) - 1)
    framed = np.full(len(ids) + 2 * len(texts), END)
    framed[offsets[:-1] + 2 * texts] = BEGIN
    framed[np.arange(len(ids)) + 2 * np.repeat(texts, np.diff(offsets)) + 1] = ids
    return framed


def _check_temperature(temperature: float) -> None:
    if not (temperature > 0 and math.isfinite(temperature)):
        raise InputError(f"Markov model: temperature {temperature}; wanted a number above 0")
