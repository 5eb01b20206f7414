"""The SeqGAN oracle: an LSTM with fixed random weights whose texts are sequences of word numbers of one length.

Yu et al. (2017) use it in place of real text, because the probability of every text is known. A step reads the
embedding :math:`x` of the previous word, first that of word 0, and the state :math:`h, c`, first zero:

.. math::

    i = \\sigma(x W_i + h U_i + b_i), \\quad f = \\sigma(x W_f + h U_f + b_f), \\quad o = \\sigma(x W_o + h U_o + b_o)

    c' = f c + i \\tanh(x W_c + h U_c + b_c), \\quad h' = o \\tanh(c'), \\quad P = \\mathrm{softmax}(h' W + b)
"""

import hashlib
import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
from scipy.special import expit

from textassay.corpus.arrays import F32, F64, I64
from textassay.corpus.files.reading import open_regular
from textassay.corpus.printable import quoted, shortened
from textassay.corpus.sample import GeneratedTexts
from textassay.errors import InputError, Setting
from textassay.models.base import Decoding, Scores, Texts, check_prompts, texts_of
from textassay.models.neural.decoding import Frame, sample_tokens, token_log_probs
from textassay.models.storage import ModelFile, Tensors, damaged

BEGIN = 0
LENGTH = 20
# No text is longer; a file that states more would make sampling endless.
_MOST_WORDS = 10**6
# The order of the released files; `og` is the output gate.
_GATES = ("i", "f", "og", "c")
_NAMES = ("embedding", *(f"{letter}{gate}" for letter in "wub" for gate in _GATES), "wo", "bo")
# Texts that are scored together: their logits should fit in the cache of the processor.
_BATCH = 256
_DIGITS = 9
_OPTIONS = ["vocabulary", "hidden", "embedding", "length", "deviation", "seed"]
_ENDINGS = (".npy", ".npz")
_FRAME = Frame(BEGIN)


@dataclass(frozen=True, eq=False)
class Oracle:
    """An LSTM language model over numbered words; every text has `length` words, written as `17 402 3 ...`.

    >>> oracle = Oracle.random(vocabulary=50, hidden=8, length=5, rng=np.random.default_rng(0))
    >>> texts = oracle.sample(2, rng=np.random.default_rng(0))
    >>> texts, oracle.log_prob(texts).log_probs.round(2).tolist()
    (['28 1 39 39 39', '19 1 45 43 48'], [-12.26, -18.23])
    """

    kind: ClassVar[str] = "oracle"
    weights: Mapping[str, F32] = field(repr=False)
    length: int = LENGTH

    def __post_init__(self) -> None:
        _check_shapes(self.weights)

    @classmethod
    def random(
        cls,
        *,
        vocabulary: int = 5000,
        hidden: int = 32,
        embedding: int | None = None,
        length: int = LENGTH,
        deviation: float = 1.0,
        rng: np.random.Generator,
    ) -> Self:
        """Independent normal weights with mean 0 and standard deviation `deviation`; SeqGAN uses 1.

        Words are vectors of `embedding` numbers, by default as many as `hidden`.
        """
        embedding = hidden if embedding is None else embedding
        if min(vocabulary, hidden, embedding, length) < 1:
            seen = f"vocabulary={vocabulary}, hidden={hidden}, embedding={embedding}, length={length}"
            raise InputError(f"oracle: {seen}; wanted 1 or more of each")
        if not (math.isfinite(deviation) and deviation >= 0):
            raise InputError(Setting("deviation", deviation), "; wanted 0 or more")
        shapes = _shapes(vocabulary, hidden, embedding)
        weights = {name: (deviation * rng.standard_normal(shape)).astype(np.float32) for name, shape in shapes.items()}
        return cls(weights, length)

    @classmethod
    def read(cls, folder: str | Path, *, length: int = LENGTH) -> Self:
        """The oracle in a folder with one array per file, as released: `embedding`, `wi`, `ui`, `bi`, ..., `wo`, `bo`.

        The files are NumPy arrays with the ending `.npy` or `.npz`.
        """
        folder = Path(folder)
        if not folder.is_dir():
            raise InputError(f"oracle '{shortened(str(folder), 120)}': no such folder")
        return cls({name: _read_array(folder, name) for name in _NAMES}, length)

    @property
    def n_words(self) -> int:
        """The size of the vocabulary."""
        return len(self.weights["embedding"])

    @property
    def name(self) -> str:
        """Kind and digest of the weights."""
        digest = hashlib.blake2b(str(self.length).encode(), digest_size=4)
        for name in _NAMES:
            digest.update(np.ascontiguousarray(self.weights[name]).tobytes())
        return f"oracle/{digest.hexdigest()}"

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
        """Generate texts; a prompt is a beginning of less than `length` words, and the text is the rest."""
        decoding = Decoding(temperature, top_k, top_p)
        given = self._given(check_prompts(prompts, n) or [""] * n)
        rooms = [self.length - len(tokens) for tokens in given]
        written = sample_tokens(self, given, most_tokens=rooms, frame=_FRAME, decoding=decoding, rng=rng)
        return GeneratedTexts(" ".join(map(str, tokens)) for tokens in written)

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
        """Scores of texts. A text of another length or with anything but numbers of words has probability 0.

        With `prompts`, they are those of the words after the prompt, and the length is that of both together. Texts
        have no end token, so `n_tokens` is the number of words.
        """
        decoding = Decoding(temperature, top_k, top_p)
        texts = texts_of(sample, "oracle").to_pylist()
        given = self._given(check_prompts(prompts, len(texts)) or [""] * len(texts))
        numbers = [self._numbers(text) for text in texts]
        rows = [before + own if own else [] for before, own in zip(given, numbers, strict=True)]
        log_probs = np.full(len(rows), -np.inf)
        valid = np.array([row for row, words in enumerate(rows) if len(words) == self.length], np.int64)
        n_given = np.array([len(words) for words in given], np.int64)
        for start in range(0, len(valid), _BATCH):
            batch = valid[start : start + _BATCH]
            log_probs[batch] = self._sums(np.array([rows[row] for row in batch]), n_given[batch], decoding)
        return Scores(log_probs, np.array([len(text.split()) for text in texts], np.int64))

    def start(self, tokens: I64, /) -> tuple[tuple[F32, F32], F32]:
        """Read the first words of each text; the state before them is zero."""
        zeros = np.zeros((len(tokens), self.weights["uc"].shape[0]), np.float32)
        state, logits = self.advance((zeros, zeros), tokens[:, 0])
        for column in tokens.T[1:]:
            state, logits = self.advance(state, column)
        return state, logits

    def advance(self, state: tuple[F32, F32], tokens: I64, /) -> tuple[tuple[F32, F32], F32]:
        """Read one word per text: the new state and the logits of the next word."""
        hidden, cell = state
        inputs = self.weights["embedding"][tokens]
        i, f, o, c = (
            inputs @ self.weights[f"w{gate}"] + hidden @ self.weights[f"u{gate}"] + self.weights[f"b{gate}"]
            for gate in _GATES
        )
        cell = expit(f) * cell + expit(i) * np.tanh(c)
        hidden = expit(o) * np.tanh(cell)
        return (hidden, cell), hidden @ self.weights["wo"] + self.weights["bo"]

    def select(self, state: tuple[F32, F32], rows: I64, /) -> tuple[F32, F32]:
        """The state of these texts."""
        return state[0][rows], state[1][rows]

    def _sums(self, tokens: I64, given: I64, decoding: Decoding) -> F64:
        """The sum of the log-probabilities of all words after the first `given` ones of each text."""
        state, logits = self.start(np.full((len(tokens), 1), BEGIN))
        sums = np.where(given > 0, 0.0, token_log_probs(logits, tokens[:, 0], decoding))
        for index, (previous, column) in enumerate(pairwise(tokens.T), 1):
            state, logits = self.advance(state, previous)
            sums += np.where(given > index, 0.0, token_log_probs(logits, column, decoding))
        return sums

    def _numbers(self, text: str) -> list[int] | None:
        """The numbers of the words of a text, or None if something else is in it."""
        words = text.split()
        if not all(word.isascii() and word.isdigit() and len(word) <= _DIGITS for word in words):
            return None
        numbers = [int(word) for word in words]
        return numbers if all(number < self.n_words for number in numbers) else None

    def _given(self, prompts: Sequence[str]) -> list[list[int]]:
        given = []
        for prompt in prompts:
            numbers = self._numbers(prompt)
            if numbers is None or len(numbers) >= self.length:
                wanted = f"fewer than {self.length} numbers below {self.n_words:,}"
                raise InputError(f"oracle: prompt {shortened(prompt, 60)!r}; wanted {wanted}")
            given.append(numbers)
        return given

    def config(self) -> dict[str, Any]:
        """Settings of a model file."""
        return {"length": self.length}

    def tensors(self) -> Tensors:
        """The weights."""
        return dict(self.weights)


def opened(rest: str) -> Oracle:
    """The oracle of a folder, or one with random weights: `random:deviation=2:seed=1:vocabulary=100`.

    >>> opened("random:vocabulary=9:hidden=2:length=3:seed=5").n_words
    9
    """
    name, *settings = rest.split(":")
    if name != "random" or os.path.exists(os.path.expanduser(rest)):
        return Oracle.read(os.path.expanduser(rest))
    values: dict[str, float] = {}
    for setting in settings:
        option, _, value = setting.partition("=")
        try:
            values[option] = float(value) if option == "deviation" else int(value)
        except ValueError:
            raise InputError(f"oracle: {shortened(setting, 40)!r}; wanted option=number") from None
    unknown = [option for option in values if option not in _OPTIONS]
    if unknown:
        raise InputError(f"no option {shortened(unknown[0], 40)!r} of a random oracle; there are: {quoted(_OPTIONS)}")
    seed = int(values.pop("seed", 0))
    if seed < 0:
        raise InputError(Setting("seed", seed), "; wanted a whole number of 0 or more")
    sizes = {option: int(value) for option, value in values.items() if option != "deviation"}
    return Oracle.random(**sizes, deviation=values.get("deviation", 1.0), rng=np.random.default_rng(seed))


def restored(file: ModelFile) -> Oracle:
    """The oracle in a model file."""
    dimensions = {name: 1 if name.startswith("b") else 2 for name in _NAMES}
    weights = {name: file.need(name, "float32", number) for name, number in dimensions.items()}
    if file.setting("length", int) > _MOST_WORDS:
        raise damaged(file.where, f"texts of more than {_MOST_WORDS:,} words")
    try:
        return Oracle(weights, file.setting("length", int))
    except InputError as error:
        raise damaged(file.where, str(error)) from None


def _shapes(vocabulary: int, hidden: int, embedding: int) -> dict[str, tuple[int, ...]]:
    return {
        "embedding": (vocabulary, embedding),
        **{f"w{gate}": (embedding, hidden) for gate in _GATES},
        **{f"u{gate}": (hidden, hidden) for gate in _GATES},
        **{f"b{gate}": (hidden,) for gate in _GATES},
        "wo": (hidden, vocabulary),
        "bo": (vocabulary,),
    }


def _check_shapes(weights: Mapping[str, F32]) -> None:
    missing = [name for name in _NAMES if name not in weights]
    if missing:
        raise InputError(f"oracle: no weights {', '.join(missing)}")
    if weights["embedding"].ndim != 2 or weights["uc"].ndim != 2:
        raise InputError("oracle: the weights embedding and uc are not matrices")
    vocabulary, embedding = weights["embedding"].shape
    for name, shape in _shapes(vocabulary, weights["uc"].shape[0], embedding).items():
        if weights[name].shape != shape:
            raise InputError(f"oracle: weights {name} of shape {weights[name].shape}; wanted {shape}")
        if not np.isfinite(weights[name]).all():
            raise InputError(f"oracle: weights {name} have values that are not finite")


def _read_array(folder: Path, name: str) -> F32:
    path = next((folder / f"{name}{ending}" for ending in _ENDINGS if (folder / f"{name}{ending}").is_file()), None)
    shown = shortened(str(folder), 120)
    if path is None:
        raise InputError(f"oracle '{shown}': no file {name}.npy or {name}.npz")
    try:
        with open_regular(path) as stream:
            array = np.lib.format.read_array(stream, allow_pickle=False)
        return array.astype(np.float32)
    except (OSError, ValueError, TypeError, EOFError) as error:
        why = shortened(" ".join(str(error).split()), 120)
        raise InputError(f"oracle '{shown}': {path.name} cannot be read as a NumPy array: {why}") from None
