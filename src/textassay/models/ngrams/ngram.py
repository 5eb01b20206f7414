"""The n-gram model: interpolated modified Kneser-Ney smoothing, with exact sampling and scoring at any setting."""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np

from textassay.corpus.arrays import F64, I64, Bool
from textassay.corpus.sample import GeneratedTexts
from textassay.corpus.values import is_whole
from textassay.errors import InputError, Setting
from textassay.models.base import (
    Decoding,
    Progress,
    Scores,
    Texts,
    check_prompts,
    cut_off_of,
    decoded_log_probs,
    texts_of,
)
from textassay.models.ngrams.kneser_ney import UNSEEN, Level, Ngrams, before, count_ngrams, smooth, unigrams
from textassay.models.ngrams.tempered import TemperedLevel, draw, temper
from textassay.models.ngrams.truncated import Ranking
from textassay.models.storage import ModelFile, Tensors, damaged
from textassay.models.vocabulary import BEGIN, END, FIRST_WORD, Vocabulary, framed, joined

ORDER = 5
MAX_TOKENS = 100
# Texts are scored in parts of about this number of tokens, so that the arrays of a part fit into the
# caches of a processor.
_PART = 1 << 16
# The most probable next symbols of each beginning: states, whether they have no symbol yet, and the number of symbols.
_Expand = Callable[[Any, bool, int], tuple[I64, F64]]
# The states after one more symbol each.
_Advance = Callable[[Any, I64], Any]


@dataclass(frozen=True, eq=False)
class NgramModel:
    """Each word depends on the `order - 1` words before it; `train` makes a model.

    The formula is in `kneser_ney`. A text has at least one word: the probability of an empty text is divided among all
    first words. All words that are not in the vocabulary are one unknown word, which is written as `<unk>` where it is
    generated: a text with another such word has probability 0. Short phrases are plausible but whole sentences are
    often not, so n-gram metrics up to `order` overrate this model.

    Examples
    --------
    >>> model = train(["A cat sat.", "A dog sat.", "A dog ran, didn't it?"], order=3)
    >>> model.sample(3, temperature=0.5, rng=np.random.default_rng(0))
    ["A dog ran, didn't it?", 'A cat sat.', 'A cat sat.']
    >>> scores = model.log_prob(["A dog sat.", "A bird sat."])
    >>> scores.log_probs.round(2).tolist(), scores.n_tokens.tolist()
    ([-2.75, -inf], [5, 5])
    >>> round(model.next_words("A cat")["sat"], 4)
    0.7756
    """

    kind: ClassVar[str] = "ngram"

    order: int
    vocabulary: Vocabulary = field(repr=False)
    levels: tuple[Level, ...] = field(repr=False)
    _decoders: dict[Decoding, "_Decoder"] = field(repr=False, default_factory=dict)

    @cached_property
    def name(self) -> str:
        """The kind, the order and a digest of the counts and the vocabulary."""
        content = hashlib.blake2b(repr(sorted(self.config().items())).encode(), digest_size=6)
        for name, array in sorted(self.tensors().items()):
            content.update(f"{name} {array.dtype} {array.shape}".encode() + np.ascontiguousarray(array).tobytes())
        return f"ngram-{self.order}:{content.hexdigest()}"

    def config(self) -> dict[str, Any]:
        """The settings for a model file."""
        return {"order": self.order, **self.vocabulary.config()}

    def tensors(self) -> Tensors:
        """The arrays for a model file: the vocabulary and the counts of n-grams, from which all else is computed."""
        arrays: Tensors = {**self.vocabulary.tensors(), "ngrams.1.counts": self.levels[0].ngrams.counts}
        for n, level in enumerate(self.levels[1:], 2):
            arrays |= {f"ngrams.{n}.keys": level.ngrams.keys, f"ngrams.{n}.counts": level.ngrams.counts}
        return arrays

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
        """Log-probabilities of texts under the model with this decoding setting; minus infinity for a blank text.

        With `prompts`, they are those of the continuations of the prompts, which may be blank. Temperature and
        truncation change the probabilities exactly as they change sampling: they are renormalised for every history. A
        text with a word outside of the kept symbols has a log-probability of minus infinity.
        """
        decoder = self._decoder(Decoding(temperature, top_k, top_p))
        read = self.vocabulary.read(texts_of(sample, "texts to score"))
        lengths = np.diff(read.offsets)
        before = self.vocabulary.encode(list(check_prompts(prompts, len(lengths)) or [""] * len(lengths)))
        ids, offsets = joined(before, (read.ids, read.offsets))
        cut_off, given = cut_off_of(sample, len(lengths)), np.diff(before[1])
        cuts = np.flatnonzero(np.diff(offsets[:-1] // _PART)) + 1
        bounds = [0, *cuts.tolist(), len(offsets) - 1] if len(offsets) > 1 else []
        parts = [np.zeros(0)]
        for start, stop in pairwise(bounds):
            own, some = offsets[start : stop + 1], slice(start, stop)
            symbols = framed(ids[own[0] : own[-1]], own - own[0])
            parts.append(decoder.log_probs(symbols, own - own[0], given[some], cut_off[some]))
        return Scores.of_classes(np.concatenate(parts), lengths + ~cut_off, read.n_unknown, read.is_outside)

    def sample(
        self,
        n: int,
        /,
        *,
        temperature: float = 1.0,
        top_k: int | None = None,
        top_p: float | None = None,
        prompts: Sequence[str] | None = None,
        max_tokens: int = MAX_TOKENS,
        rng: np.random.Generator,
    ) -> GeneratedTexts:
        """Generate texts; with `prompts`, the continuation of each prompt, without the prompt and possibly empty.

        A text that has not ended after `max_tokens` tokens, punctuation included, is cut off there. Words of a prompt
        that are not in the vocabulary are read as the unknown word.
        """
        check_prompts(prompts, n)
        check_max_tokens(max_tokens)
        decoder = self._decoder(Decoding(temperature, top_k, top_p))
        contexts, fresh = self._after([""] * n if prompts is None else prompts)
        written = np.full((n, max_tokens), END)
        going = np.arange(n)
        for index in range(max_tokens):
            symbols = decoder.draw(contexts, fresh, rng)
            written[going, index] = symbols
            on = symbols != END
            going = going[on]
            if not len(going):
                break
            contexts = self._advance([c[on] for c in contexts], symbols[on])
            fresh = np.zeros(len(going), np.bool_)
        lengths = (written != END).sum(axis=1)
        return GeneratedTexts(self.vocabulary.decode(written[written != END], lengths), lengths == max_tokens)

    def beam(self, *, width: int, prompts: Sequence[str] | None = None, max_tokens: int = MAX_TOKENS) -> list[str]:
        """The most probable text that beam search finds for each prompt, without the prompt.

        Without prompts there is one text. `width` is the number of beginnings that are kept at each step.
        """
        if not is_whole(width) or width < 1:
            raise InputError(Setting("width", width), "; wanted a whole number of 1 or more")
        check_max_tokens(max_tokens)
        decoder = self._decoder(Decoding())
        found = []
        for prompt in [""] if prompts is None else prompts:
            contexts, fresh = self._after([prompt])
            found.append(
                _beam_search(decoder.most_probable, self._advance, contexts, bool(fresh[0]), width, max_tokens)
            )
        lengths = np.array([len(row) for row in found], np.int64)
        return self.vocabulary.decode(np.array([s for row in found for s in row], np.int64), lengths)

    def next_words(
        self,
        text: str = "",
        *,
        temperature: float = 1.0,
        top_k: int | None = None,
        top_p: float | None = None,
    ) -> dict[str, float]:
        """The probability of each word after this beginning of a text; the empty string is the end of the text."""
        decoding = Decoding(temperature, top_k, top_p)
        contexts, fresh = self._after([text])
        logs = self._next(contexts, 0)
        if fresh[0]:
            logs[END] = -np.inf
        chances = np.exp(decoded_log_probs(logs[None], decoding))[0]
        return dict(zip(self.vocabulary.words[END:], chances[END:].tolist(), strict=True))

    def _next(self, contexts: Sequence[I64], text: int) -> F64:
        """The log-probability of every symbol after the contexts of one text."""
        logs = self.levels[0].log_p.copy()
        for level, here in zip(self.levels[1:], (int(c[text]) for c in contexts[1:]), strict=True):
            if here >= 0:
                seen = slice(level.starts[here], level.starts[here + 1])
                logs += level.log_backoff[here]
                logs[level.symbols(seen)] = level.log_p[seen]
        return logs

    def _decoder(self, decoding: Decoding) -> "_Decoder":
        """The model under a decoding setting; the last one is kept, for calls with parts of a sample."""
        if decoding not in self._decoders:
            self._decoders.clear()
            self._decoders[decoding] = self._new_decoder(decoding)
        return self._decoders[decoding]

    def _new_decoder(self, decoding: Decoding) -> "_Decoder":
        logs = self._next(self._start(1), 0)
        logs[END] = -np.inf
        first = decoded_log_probs(logs[None], decoding)[0]
        return _Decoder(self.levels, decoding, self._ranking, first)

    @cached_property
    def _ranking(self) -> Ranking:
        return Ranking(self.levels)

    def _after(self, prompts: Sequence[str]) -> tuple[list[I64], Bool]:
        """The contexts on every level after these prompts, and which prompts are empty."""
        ids, offsets = self.vocabulary.encode(list(prompts))
        lengths = np.diff(offsets)
        contexts = self._start(len(lengths))
        for index in range(int(lengths.max(initial=0))):
            longer = np.flatnonzero(lengths > index)
            moved = self._advance([c[longer] for c in contexts], ids[offsets[longer] + index])
            for old, new in zip(contexts, moved, strict=True):
                old[longer] = new
        return contexts, lengths == 0

    def _start(self, n: int) -> list[I64]:
        """The contexts on every level at the beginning of texts."""
        fixed = (0, BEGIN, *[UNSEEN] * len(self.levels))
        return [np.full(n, context) for context in fixed[: len(self.levels)]]

    def _advance(self, contexts: Sequence[I64], symbols: I64) -> list[I64]:
        """The contexts on every level after these symbols."""
        inner = zip(self.levels[:-1], contexts, strict=False)
        return [contexts[0], *(level.ngrams.find(context, symbols) for level, context in inner)]


@dataclass(frozen=True, eq=False)
class _Decoder:
    """A model under one decoding setting; `first` are the log-probabilities of the first symbol of a text."""

    levels: tuple[Level, ...]
    decoding: Decoding
    ranking: Ranking
    first: F64

    @cached_property
    def tempered(self) -> tuple[TemperedLevel, ...]:
        """The weights at the temperature of the decoding setting."""
        return temper(self.levels, self.decoding.temperature)

    def draw(self, contexts: Sequence[I64], fresh: Bool, rng: np.random.Generator) -> I64:
        """One next symbol for each text; `fresh` marks texts without any symbol."""
        symbols = np.zeros(len(fresh), np.int64)
        begun = np.flatnonzero(~fresh)
        if self.decoding.truncates:
            points = rng.random(len(fresh))
            for texts, kept, rows in self.ranking.decoded(self.tempered, [c[begun] for c in contexts], self.decoding):
                symbols[begun[texts]] = kept.draw(rows, points[begun[texts]])
        elif len(begun):
            symbols[begun] = draw(self.tempered, [c[begun] for c in contexts], rng)
        if fresh.any():
            symbols[fresh] = rng.choice(len(self.first), int(fresh.sum()), p=np.exp(self.first))
        return symbols

    def log_probs(self, symbols: I64, offsets: I64, given: I64, cut_off: Bool) -> F64:
        """The log-probability of each text in concatenated framed texts; `offsets` are those of their words.

        The first `given` words of each text are its prompt, and the end of a text that was `cut_off` was not drawn.
        """
        texts = np.arange(len(given))
        begins = offsets[:-1] + 2 * texts
        index = np.arange(len(symbols)) - np.repeat(begins, np.diff(offsets) + 2)
        drawn = index > np.repeat(given, np.diff(offsets) + 2)
        drawn[begins[cut_off] + np.diff(offsets)[cut_off] + 1] = False
        logs, contexts = self._steps(symbols)
        if self.decoding.truncates:
            logs = self._truncated(symbols, contexts, drawn)
        elif self.decoding.temperature != 1:
            logs = logs / self.decoding.temperature - self._log_totals(contexts)
        logs[~drawn] = 0.0
        fresh = begins[given == 0] + 1
        logs[fresh] = self.first[symbols[fresh]]
        return np.add.reduceat(logs, begins)

    def _steps(self, symbols: I64) -> tuple[F64, list[I64]]:
        """The log-probability of each symbol given those before it in its text, and its contexts on every level."""
        logs = self.levels[0].log_p[symbols]
        numbers, contexts = symbols, [np.zeros_like(symbols)]
        for index, level in enumerate(self.levels[1:], 1):
            contexts.append(before(numbers, symbols))
            known = np.flatnonzero(contexts[index] >= 0)
            here = contexts[index][known]
            found = level.ngrams.find(here, symbols[known])
            logs[known] = np.where(found < 0, logs[known] + level.log_backoff[here], level.log_p[found])
            numbers = np.full(len(symbols), UNSEEN)
            numbers[known] = found
        return logs, contexts

    def _log_totals(self, contexts: Sequence[I64]) -> F64:
        """The log of the sum of the tempered weights after each history."""
        totals = np.zeros(len(contexts[0]))
        for table, here in zip(self.tempered, contexts, strict=True):
            known = np.flatnonzero(here >= 0)
            totals[known] = table.log_total(here[known], self.decoding.temperature)
        return totals

    def _truncated(self, symbols: I64, contexts: Sequence[I64], drawn: Bool) -> F64:
        logs = np.full(len(symbols), -np.inf)
        inside = np.flatnonzero(drawn)
        own = [c[inside] for c in contexts]
        for texts, kept, rows in self.ranking.decoded(self.tempered, own, self.decoding):
            logs[inside[texts]] = kept.log_prob(rows, symbols[inside[texts]])
        return logs

    def most_probable(self, contexts: Sequence[I64], fresh: bool, k: int) -> tuple[I64, F64]:
        """The `k` most probable next symbols of each text and their log-probabilities, without temperature."""
        if fresh:
            order = np.lexsort((np.arange(len(self.first)), -self.first))[:k]
            order = order[self.first[order] > -np.inf]
            return order[None], self.first[order][None]
        size = (len(contexts[0]), k)
        symbols, logs = np.full(size, UNSEEN), np.full(size, -np.inf)
        for texts, kept in self.ranking.most_probable(contexts, k):
            width = kept.symbols.shape[1]
            symbols[texts, :width], logs[texts, :width] = kept.symbols, kept.log_p
        return symbols, logs


def train(
    texts: Texts,
    *,
    order: int = ORDER,
    tokenizer: str = "words",
    lowercase: bool = False,
    min_count: int = 1,
    max_words: int | None = None,
    vocabulary: Vocabulary | None = None,
    progress: Progress | None = None,
) -> NgramModel:
    """Train on texts; `order` is the length of the longest n-gram, blank texts are left out.

    With a `vocabulary`, its words are the words of the model, and the options of words are not read.
    """
    if not is_whole(order) or order < 1:
        raise InputError(Setting("order", order), "; wanted a whole number of 1 or more")
    shown = progress or (lambda *_: None)
    shown("reading words", 0, 3)
    if vocabulary is None:
        vocabulary = Vocabulary.learn(
            texts, tokenizer=tokenizer, lowercase=lowercase, min_count=min_count, max_words=max_words
        )
    shown("counting n-grams", 1, 3)
    ids, offsets = vocabulary.encode(texts)
    filled = np.concatenate(([True], np.diff(offsets) > 0))
    tables = count_ngrams(framed(ids, offsets[filled]), order=order, n_symbols=len(vocabulary))
    shown("smoothing", 2, 3)
    model = NgramModel(order, vocabulary, smooth(tables))
    shown("done", 3, 3)
    return model


def check_max_tokens(max_tokens: int) -> None:
    """Raise an error for a length that no text can have."""
    if not is_whole(max_tokens) or max_tokens < 1:
        raise InputError(Setting("max_tokens", max_tokens), "; wanted a whole number of 1 or more")


def restored(file: ModelFile) -> NgramModel:
    """The model in a model file."""
    vocabulary = Vocabulary.restored(file)
    tables = [unigrams(_counts(file, 1, size=len(vocabulary)))]
    while f"ngrams.{len(tables) + 1}.keys" in file.tensors:
        tables.append(_table(file, tables))
    if tables[0].counts[BEGIN] < 1 or tables[0].counts[FIRST_WORD - 1 :].sum() < 1:
        raise damaged(file.where, "it has no counts of words")
    return NgramModel(file.setting("order", int), vocabulary, smooth(tables))


def _table(file: ModelFile, below: list[Ngrams]) -> Ngrams:
    """The n-grams of the next order in a model file, checked: every context and every suffix must be known."""
    n, lower = len(below) + 1, below[-1]
    keys = file.need(f"ngrams.{n}.keys", "int64")
    counts = _counts(file, n, size=len(keys))
    rises = (keys[1:] > keys[:-1]).all() and counts.min(initial=1) >= 1
    if not len(keys) or not rises or keys[0] < 0 or keys[-1] // lower.n_symbols >= len(lower.keys):
        raise damaged(file.where, f"its n-grams of order {n} are not in order")
    contexts, symbols = keys // lower.n_symbols, keys % lower.n_symbols
    suffix = symbols if n == 2 else lower.find(lower.suffix[contexts], symbols)
    if suffix.min() < 0:
        raise damaged(file.where, f"an n-gram of order {n} has a suffix that is not in the file")
    return Ngrams(lower.n_symbols, keys, counts, suffix, lower.begins[contexts])


def _counts(file: ModelFile, n: int, *, size: int) -> I64:
    counts = file.need(f"ngrams.{n}.counts", "int64")
    if len(counts) != size or counts.min(initial=0) < 0:
        raise damaged(file.where, f"{len(counts)} counts of order {n}; wanted {size}, none below 0")
    return counts


def _beam_search(
    expand: _Expand, advance: _Advance, states: Sequence[I64], fresh: bool, width: int, max_tokens: int
) -> list[int]:
    """The symbols of the most probable text, without its end, that beam search of this width finds.

    `states` are arrays with one entry per beginning. The search ends when no beginning can become more probable than
    the best finished text, or after `max_tokens` symbols, when the best beginning is returned if no text has ended.
    """
    scores, rows = np.zeros(1), [[]]  # type: tuple[F64, list[list[int]]]
    best_score, best = -np.inf, None
    for _ in range(max_tokens):
        symbols, logs = expand(states, fresh, width)
        total = (scores[:, None] + logs).ravel()
        order = np.argsort(-total, kind="stable")[: width + len(rows)]
        order = order[total[order] > -np.inf]
        parents, chosen = order // symbols.shape[1], symbols.ravel()[order]
        ended = chosen == END
        if ended.any() and total[order[ended][0]] > best_score:
            best_score, best = float(total[order[ended][0]]), rows[parents[ended][0]]
        parents, chosen, scores = parents[~ended][:width], chosen[~ended][:width], total[order[~ended][:width]]
        if not len(chosen) or scores[0] <= best_score:
            break
        rows = [[*rows[parent], int(symbol)] for parent, symbol in zip(parents, chosen, strict=True)]
        states, fresh = advance([state[parents] for state in states], chosen), False
    return rows[0] if best is None else best
