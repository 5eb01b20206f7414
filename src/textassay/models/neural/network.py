"""Neural word models: what the LSTM and GPT-2 share, on top of a network that predicts the next word."""

import hashlib
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import Any, Protocol, TypeVar

import numpy as np

from textassay.corpus.arrays import F64, I64, Bool
from textassay.corpus.printable import shortened
from textassay.corpus.sample import GeneratedTexts, is_not_blank
from textassay.corpus.values import is_number
from textassay.encoders.base import require
from textassay.errors import InputError, Setting
from textassay.models.base import Decoding, Progress, Scores, Texts, check_prompts, cut_off_of, texts_of
from textassay.models.neural.decoding import Frame, Network, beam_search, sample_tokens, token_log_probs
from textassay.models.neural.training import (
    AnyShape,
    Losses,
    Plan,
    Run,
    TrainedNetwork,
    check_whole,
    damage_named,
    fit,
    initialised,
    n_threads,
    padded,
    part_of,
)
from textassay.models.storage import ModelFile, Tensors, check_target, damaged
from textassay.models.vocabulary import BEGIN, END, UNK, Vocabulary, framed, joined

T = TypeVar("T")

# Texts that are scored together, and tokens whose logits are computed together.
_BATCH, _TOKENS = 256, 1024
# The most texts that are held out for validation.
_MOST_HELD_OUT = 5000
# No text is longer; a file that states more would make sampling endless.
_MOST_WORDS = 10**6


class WordNetwork(Network, TrainedNetwork, Protocol):
    """A network for training, for sampling word by word and for scoring; `settings` determine its shape."""

    @property
    def settings(self) -> dict[str, Any]: ...

    @property
    def most_tokens(self) -> int | None:
        """The most tokens that it can read, the beginning included; None without a limit."""
        ...


@dataclass(frozen=True, eq=False)
class NeuralModel:
    """A neural language model over words. Every text has at least one word.

    A sampled text that has not ended after `max_tokens` words, by default `most_words`, the length of the longest
    training text, is cut off there. If not `has_end`, every text has exactly `most_words` words and no end token. If
    not `has_unknown`, there was no unknown word in training, and it has probability 0. `losses` are those of all
    epochs; the weights are those of the best one.
    """

    kind: str
    vocabulary: Vocabulary = field(repr=False)
    network: WordNetwork = field(repr=False)
    most_words: int
    losses: tuple[Losses, ...] = field(default=(), repr=False)
    has_end: bool = True
    has_unknown: bool = True

    @property
    def frame(self) -> Frame:
        """The tokens at the ends of a text, and those that are never drawn."""
        never = (BEGIN, *(() if self.has_end else (END,)), *(() if self.has_unknown else (UNK,)))
        return Frame(BEGIN, END if self.has_end else None, never=never)

    @cached_property
    def name(self) -> str:
        """Kind and digest of vocabulary and weights."""
        digest = hashlib.blake2b(digest_size=4)
        for name, array in sorted(self.tensors().items()):
            digest.update(name.encode() + np.ascontiguousarray(array).tobytes())
        return f"{self.kind}/{digest.hexdigest()}"

    def sample(
        self,
        n: int,
        /,
        *,
        temperature: float = 1.0,
        top_k: int | None = None,
        top_p: float | None = None,
        prompts: Sequence[str] | None = None,
        max_tokens: int | None = None,
        rng: np.random.Generator,
    ) -> GeneratedTexts:
        """Generate texts. With prompts, a text is the continuation of its prompt, which may be empty."""
        decoding = Decoding(temperature, top_k, top_p)
        given = self._given(check_prompts(prompts, n) or [""] * n)
        rooms = [self._room(tokens, max_tokens) for tokens in given]
        with inference():
            written = sample_tokens(
                self.network, given, most_tokens=rooms, frame=self.frame, decoding=decoding, rng=rng
            )
        whole = [None if self.has_end else self.most_words - len(tokens) for tokens in given]
        return GeneratedTexts(self._texts(written), cut_off_tokens(written, rooms, whole))

    def beam(
        self,
        *,
        width: int,
        prompts: Sequence[str] | None = None,
        max_tokens: int | None = None,
        length_penalty: float = 0.0,
    ) -> list[str]:
        """The best text that a beam search finds for each prompt, or one text without prompts.

        Scores are log-probabilities divided by the number of tokens to the power of `length_penalty`.
        """
        check_whole("width", width)
        with inference():
            found = [
                beam_search(
                    self.network,
                    tokens,
                    most_tokens=self._room(tokens, max_tokens),
                    frame=self.frame,
                    width=width,
                    length_penalty=length_penalty,
                )
                for tokens in self._given([""] if prompts is None else prompts)
            ]
        return self._texts([beams[0].tokens for beams in found])

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
        """Scores of texts, after their prompts if there are any.

        A blank text without a prompt, and one that is longer than the network can read, has probability 0.
        """
        decoding = Decoding(temperature, top_k, top_p)
        read = self.vocabulary.read(texts_of(sample, self.kind))
        n = len(read.n_unknown)
        before = self.vocabulary.encode(list(check_prompts(prompts, n) or [""] * n))
        given, cut_off = np.diff(before[1]), cut_off_of(sample, n)
        rows = split_rows(*joined(before, (read.ids, read.offsets)))
        has_end = ~cut_off & self.has_end
        rows = [row if ends else row[:-1] for row, ends in zip(rows, has_end, strict=True)]
        lengths = np.array([len(row) for row in rows], np.int64)
        log_probs = np.full(n, -np.inf)
        fits = lengths <= (self.network.most_tokens or lengths.max(initial=0)) + 1
        if self.has_end:
            possible = lengths - has_end > 1
        else:
            possible = np.where(cut_off, lengths <= self.most_words, lengths == self.most_words + 1) & (lengths > 1)
        order = np.flatnonzero(possible & fits)
        order = order[np.argsort(lengths[order], kind="stable")]
        with inference():
            for batch in _batches(order, lengths):
                log_probs[batch] = self._sums([rows[index] for index in batch], given[batch], decoding)
        return Scores.of_classes(log_probs, lengths - 1 - given, read.n_unknown, read.is_outside)

    def rows(self, texts: Texts) -> list[I64]:
        """The token ids of each text, from `BEGIN` to `END`, which is left out if texts have no end."""
        ids, offsets = self.vocabulary.encode(texts_of(texts, self.kind))
        return without_ends(split_rows(ids, offsets), self.has_end)

    def config(self) -> dict[str, Any]:
        """Settings of a model file."""
        losses = [asdict(loss) for loss in self.losses]
        marks = {"has_end": self.has_end, "has_unknown": self.has_unknown}
        own = {"network": self.network.settings, "most_words": self.most_words, **marks, "losses": losses}
        return {**own, **self.vocabulary.config()}

    def tensors(self) -> Tensors:
        """The arrays of a model file."""
        return {**self.vocabulary.tensors(), **weights_of(self.network)}

    def _given(self, prompts: Sequence[str]) -> list[list[int]]:
        ids, offsets = self.vocabulary.encode(prompts)
        return [row[1:-1].tolist() for row in split_rows(ids, offsets)]

    def _room(self, given: Sequence[int], max_tokens: int | None) -> int:
        """The most words that can follow a prompt."""
        if max_tokens is not None:
            check_whole("max_tokens", max_tokens)
        limit = self.network.most_tokens if self.has_end else self.most_words
        wanted = self.most_words if max_tokens is None else max_tokens
        room = wanted if limit is None else min(wanted, limit - len(given))
        if room < 1:
            raise InputError(f"{self.kind}: a prompt of {len(given)} words; the model reads at most {limit} words")
        return room

    def _texts(self, written: Sequence[Sequence[int]]) -> list[str]:
        lengths = np.array([len(tokens) for tokens in written], np.int64)
        ids = np.array([token for tokens in written for token in tokens], np.int64)
        return self.vocabulary.decode(ids, lengths)

    def _sums(self, rows: Sequence[I64], given: I64, decoding: Decoding) -> F64:
        """The sum of the log-probabilities of all tokens after the first `given` words of each row."""
        import torch

        matrix, inside = padded(rows)
        inside = inside[:, 1:] & (np.arange(matrix.shape[1] - 1) >= given[:, None])
        states = self.network.states(torch.from_numpy(matrix[:, :-1]))[torch.from_numpy(inside)]
        targets, texts = matrix[:, 1:][inside], np.nonzero(inside)[0]
        first = np.broadcast_to(np.arange(inside.shape[1]) == 0, inside.shape)[inside]
        logs = np.empty(len(targets))
        for start in range(0, len(targets), _TOKENS):
            part = slice(start, start + _TOKENS)
            logits = self.network.output(states[part]).numpy()
            logits[:, list(self.frame.never)] = -np.inf
            logits[first[part], END] = -np.inf
            logs[part] = token_log_probs(logits, targets[part], decoding)
        return np.bincount(texts, weights=logs, minlength=len(rows)).astype(np.float64)


def cut_off_tokens(
    written: Sequence[Sequence[int]], rooms: Sequence[int], whole: Sequence[int | None] | None = None
) -> Bool:
    """Which texts fill their room, so that they have no end; one of the `whole` length of a text needs none."""
    lengths = zip(written, rooms, whole or [None] * len(rooms), strict=True)
    return np.array([len(tokens) == room != full for tokens, room, full in lengths], np.bool_)


def split_rows(ids: I64, offsets: I64) -> list[I64]:
    """One array per text, from `BEGIN` to `END`."""
    starts = offsets[1:-1] + 2 * np.arange(1, len(offsets) - 1)
    return np.split(framed(ids, offsets), starts) if len(offsets) > 1 else []


def without_ends(rows: list[I64], has_end: bool) -> list[I64]:
    """The rows, without their last token unless texts have an end."""
    return rows if has_end else [row[:-1] for row in rows]


def _batches(order: I64, lengths: I64) -> list[I64]:
    """Texts of rising lengths in batches of about the same number of tokens."""
    batches, start = [], 0
    while start < len(order):
        size = max(1, 4 * _TOKENS // int(lengths[order[min(start + _BATCH, len(order)) - 1]]))
        batches.append(order[start : start + min(size, _BATCH)])
        start += len(batches[-1])
    return batches


@contextmanager
def inference() -> Iterator[None]:
    """Compute without gradients and on one thread, so that results do not depend on the machine's processors."""
    import torch

    with n_threads(1), torch.inference_mode():
        yield


@dataclass(frozen=True)
class Words:
    """Which words a model learns, and the share of the texts that is held out if no validation texts are given."""

    tokenizer: str = "words"
    lowercase: bool = False
    min_count: int = 1
    max_words: int | None = None
    holdout: float = 0.05

    def __post_init__(self) -> None:
        if not (is_number(self.holdout) and 0 <= self.holdout < 1):
            raise InputError(Setting("holdout", self.holdout), "; wanted a number of at least 0 and below 1")

    def learn(self, texts: Texts) -> Vocabulary:
        """The vocabulary of these texts."""
        options = {name: value for name, value in asdict(self).items() if name != "holdout"}
        return Vocabulary.learn(texts, **options)


def train_words(
    kind: str,
    texts: Texts,
    build: Callable[[int], WordNetwork],
    *,
    words: Words,
    plan: Plan,
    validation: Texts | None,
    checkpoint: str | os.PathLike[str] | None,
    progress: Progress | None,
    vocabulary: Vocabulary | None = None,
) -> NeuralModel:
    """Train a network on texts; `build` makes it for a number of token ids, with random weights.

    Without a `vocabulary`, it is learned from the texts, and texts that all have the same number of words, as those of
    the oracle, get no end token.
    """
    require("models", torch="torch")
    if checkpoint is not None:
        check_target(checkpoint)
    array = texts_of(texts, "training texts")
    array = array.filter(is_not_blank(array))
    # A vocabulary that is given may have an unknown word for the texts that will be scored.
    is_given = vocabulary is not None
    vocabulary = words.learn(array) if vocabulary is None else vocabulary
    rows = split_rows(*vocabulary.encode(array))
    has_end = is_given or len({len(row) for row in rows}) > 1
    rows = without_ends(rows, has_end)
    if validation is None:
        rows, held_out = hold_out(rows, words.holdout, plan.seed)
    else:
        held_out = without_ends(split_rows(*vocabulary.encode(validation)), has_end)
        held_out = [row for row in held_out if len(row) > 1 + has_end]
    network = initialised(plan.seed, lambda: build(len(vocabulary)))
    _check_lengths(kind, [*rows, *held_out], network.most_tokens)
    settings = {"kind": kind, "network": network.settings, **vocabulary.config()}
    losses = fit(Run(network, rows, held_out, plan, settings, checkpoint, progress))
    most_words = max(map(len, rows)) - 1 - has_end
    return NeuralModel(kind, vocabulary, network, most_words, losses, has_end, is_given or _has_unknown(vocabulary))


def _has_unknown(vocabulary: Vocabulary) -> bool:
    """Whether an unknown word was in the texts that the vocabulary was learned from."""
    return bool(vocabulary.counts[UNK] > 0)


def hold_out(rows: list[T], share: float, seed: int) -> tuple[list[T], list[T]]:
    """Rows or texts for training and for validation, each in the order of the texts."""
    n_out = min(int(share * len(rows)), _MOST_HELD_OUT)
    chosen = set(np.random.default_rng(seed).permutation(len(rows))[:n_out].tolist())
    kept = [row for index, row in enumerate(rows) if index not in chosen]
    return kept, [rows[index] for index in sorted(chosen)]


def _check_lengths(kind: str, rows: Sequence[I64], most_tokens: int | None) -> None:
    longest = max(map(len, rows)) - 2
    if most_tokens is not None and longest + 1 > most_tokens:
        seen = f"{kind}: a text of {longest} words; the network reads at most {most_tokens - 1}"
        raise InputError(f"{seen} (use shorter texts, or a larger ", Setting("positions"), ")")


def weights_of(network: TrainedNetwork) -> Tensors:
    """The weights of a network by their names in a model file."""
    return {f"network.{name}": value.numpy() for name, value in network.modules.state_dict().items()}


def restored_model(
    file: ModelFile, shape_of: Callable[..., AnyShape], build: Callable[[AnyShape], WordNetwork]
) -> NeuralModel:
    """The model in a file; `shape_of` checks the settings of its network, and `build` makes it."""
    require("models", torch="torch")
    vocabulary = Vocabulary.restored(file)
    with damage_named(file):
        network = build(_shape(file, shape_of))
        network.modules.load_state_dict(part_of(file, "network"), strict=True)
        losses = tuple(Losses(**loss) for loss in file.setting("losses", list))
    if network.settings["vocabulary"] != len(vocabulary):
        raise damaged(file.where, f"{len(vocabulary)} words for a network of {network.settings['vocabulary']}")
    network.modules.eval()
    most_words, has_end = file.setting("most_words", int), file.setting("has_end", bool)
    if not 1 <= most_words <= _MOST_WORDS:
        raise damaged(file.where, f"texts of {shortened(str(most_words), 40)} words")
    # Files of 0.5.0 do not state it.
    has_unknown = file.setting("has_unknown", bool) if "has_unknown" in file.config else _has_unknown(vocabulary)
    return NeuralModel(file.kind, vocabulary, network, most_words, losses, has_end, has_unknown)


def _shape(file: ModelFile, shape_of: Callable[..., AnyShape]) -> AnyShape:
    """The shape in the settings of a file; a network is only made if the file has as many weights."""
    try:
        shape = shape_of(**file.setting("network", dict))
    except InputError as error:
        raise damaged(file.where, str(error)) from None
    n_weights = sum(array.size for name, array in file.tensors.items() if name.startswith("network."))
    if shape.n_weights > n_weights:
        raise damaged(file.where, f"{n_weights:,} weights; its settings need {shape.n_weights:.4g}")
    return shape
