"""Hugging Face models: `hf:NAME_OR_PATH`, any causal language model of the transformers library.

Only weights in safetensors files are loaded, and no code that comes with a model is run. The tokens of a text are those
of the model's tokenizer. A text without a prompt begins after the tokenizer's begin token, or after its end token if it
has none, as with GPT-2. The probability of a text is that of this one sequence of tokens and of the end token.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np

from textassay.corpus.arrays import F32, F64, I64
from textassay.corpus.printable import shortened
from textassay.corpus.sample import GeneratedTexts
from textassay.encoders.base import quiet, require, weights_options
from textassay.encoders.hf_model import check_finite, check_vocabulary, maximum_length
from textassay.encoders.model_files import ModelFolder, find_model
from textassay.errors import InputError, MissingExtra
from textassay.models.base import Decoding, Scores, Texts, check_prompts, cut_off_of, texts_of
from textassay.models.neural.decoding import Frame, beam_search, sample_tokens, token_log_probs
from textassay.models.neural.gpt2 import read_cached, select_cached
from textassay.models.neural.network import cut_off_tokens, inference
from textassay.models.neural.training import check_whole, padded

MAX_TOKENS = 128
# Texts that are scored together, and tokens whose logits are computed together.
_BATCH, _TOKENS = 16, 512
_OPTION = re.compile(r":max_tokens=([^:/]*)$")


@dataclass(frozen=True, eq=False)
class _CausalNetwork:
    """A loaded model that reads tokens step by step; a state has the keys and values of its attention."""

    model: Any

    def start(self, tokens: I64, /) -> tuple[Any, F32]:
        return self._next(tokens, None)

    def advance(self, state: Any, tokens: I64, /) -> tuple[Any, F32]:
        return self._next(tokens[:, None], state)

    def select(self, state: Any, rows: I64, /) -> Any:
        return select_cached(state, rows)

    def _next(self, tokens: I64, state: Any) -> tuple[Any, F32]:
        found = read_cached(self.model, tokens, state)
        return found.past_key_values, found.logits[:, -1].numpy()


@dataclass(frozen=True)
class _Loaded:
    """Tokenizer and network of a model, the tokens at the ends of a text, and the number of tokens it can read."""

    tokenizer: Any
    network: _CausalNetwork
    frame: Frame
    most_tokens: int | None


@dataclass(frozen=True, eq=False)
class HuggingFaceModel:
    """A causal language model. Texts are cut off after `max_tokens` tokens, or where the model can read no more.

    With prompts, a text continues its prompt and keeps the white space at its beginning.
    """

    name: str
    folder: ModelFolder = field(repr=False)
    max_tokens: int = MAX_TOKENS

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
        """Generate texts, which may be empty."""
        decoding = Decoding(temperature, top_k, top_p)
        given = self._given(check_prompts(prompts, n) or [""] * n)
        rooms = [self._room(tokens, max_tokens) for tokens in given]
        model = self._loaded
        with inference():
            written = sample_tokens(
                model.network, given, most_tokens=rooms, frame=model.frame, decoding=decoding, rng=rng
            )
        return GeneratedTexts((self._text(tokens) for tokens in written), cut_off_tokens(written, rooms))

    def beam(self, *, width: int, prompts: Sequence[str] | None = None, max_tokens: int | None = None) -> list[str]:
        """The most probable text that a beam search finds for each prompt, or one text without prompts."""
        check_whole("width", width)
        model, found = self._loaded, []
        with inference():
            for tokens in self._given([""] if prompts is None else prompts):
                room = self._room(tokens, max_tokens)
                found.append(beam_search(model.network, tokens, most_tokens=room, frame=model.frame, width=width)[0])
        return [self._text(beam.tokens) for beam in found]

    def log_prob(
        self,
        sample: Texts,
        /,
        *,
        temperature: float = 1.0,
        top_k: int | None = None,
        top_p: float | None = None,
        prompts: Sequence[str] | None = None,
    ) -> Scores:
        """Scores of texts, given their prompts if there are any; one too long for the model has probability 0."""
        decoding = Decoding(temperature, top_k, top_p)
        texts = texts_of(sample, "hf").to_pylist()
        given = self._given(check_prompts(prompts, len(texts)) or [""] * len(texts))
        frame, most = self._loaded.frame, self._loaded.most_tokens
        tokens, cut_off = [self._ids(text) for text in texts], cut_off_of(sample, len(texts))
        rows = [
            np.array([frame.begin, *before, *own, *(() if is_cut else (frame.end,))])
            for before, own, is_cut in zip(given, tokens, cut_off, strict=True)
        ]
        starts = np.array([len(before) for before in given], np.int64)
        lengths = np.array([len(row) for row in rows], np.int64)
        log_probs = np.full(len(rows), -np.inf)
        order = np.argsort(lengths, kind="stable")
        order = order[lengths[order] - 1 <= (most or lengths.max(initial=0))]
        with inference():
            for index in range(0, len(order), _BATCH):
                batch = order[index : index + _BATCH]
                log_probs[batch] = self._sums([rows[text] for text in batch], starts[batch], decoding)
        mark, number = _unknown_token(self._loaded.tokenizer)
        n_unknown = np.array([own.count(number) for own in tokens], np.int64)
        n_written = np.array([text.count(mark) for text in texts], np.int64)
        return Scores.of_classes(log_probs, lengths - 1 - starts, n_unknown, n_unknown > n_written)

    @cached_property
    def _loaded(self) -> _Loaded:
        return _load(self.folder)

    def _ids(self, text: str) -> list[int]:
        """The tokens of a text; a mark such as `<s>` in a text is text, not a special token."""
        ids: list[int] = self._loaded.tokenizer(text, add_special_tokens=False, split_special_tokens=True)["input_ids"]
        return ids

    def _text(self, tokens: Sequence[int]) -> str:
        text: str = self._loaded.tokenizer.decode(
            list(tokens), skip_special_tokens=True, clean_up_tokenization_spaces=False
        )
        return text

    def _given(self, prompts: Sequence[str]) -> list[list[int]]:
        return [self._ids(prompt) if prompt else [] for prompt in prompts]

    def _room(self, given: Sequence[int], max_tokens: int | None) -> int:
        if max_tokens is not None:
            check_whole("max_tokens", max_tokens)
        wanted, limit = max_tokens or self.max_tokens, self._loaded.most_tokens
        room = wanted if limit is None else min(wanted, limit - len(given))
        if room < 1:
            raise InputError(f"{self.name}: a prompt of {len(given)} tokens; the model reads at most {limit}")
        return room

    def _sums(self, rows: Sequence[I64], starts: I64, decoding: Decoding) -> F64:
        """The sum of the log-probabilities of all tokens after the prompt of each row."""
        import torch

        matrix, inside = padded(rows)
        inside = inside[:, 1:] & (np.arange(matrix.shape[1] - 1) >= starts[:, None])
        found = self._loaded.network.model(input_ids=torch.from_numpy(matrix[:, :-1]), use_cache=False)
        logits, targets = found.logits[torch.from_numpy(inside)].numpy(), matrix[:, 1:][inside]
        logits[:, list(self._loaded.frame.never)] = -np.inf
        logs = np.concatenate(
            [token_log_probs(logits[a:b], targets[a:b], decoding) for a, b in pairwise(_cuts(len(targets)))]
        )
        return np.bincount(np.nonzero(inside)[0], weights=logs, minlength=len(rows)).astype(np.float64)


def _unknown_token(tokenizer: Any) -> tuple[str, int]:
    """The token of everything that a tokenizer has no token for, as text and as number; number -1 if there is none."""
    mark = tokenizer.unk_token or getattr(getattr(tokenizer, "backend_tokenizer", None), "model", None)
    mark = mark if isinstance(mark, str) else getattr(mark, "unk_token", None)
    return (mark, tokenizer.convert_tokens_to_ids(mark)) if isinstance(mark, str) and mark else ("<unk>", -1)


def _cuts(n: int) -> list[int]:
    return [*range(0, n, _TOKENS), n]


def opened(rest: str) -> HuggingFaceModel:
    """The model of `NAME_OR_PATH[:max_tokens=N]`; it is loaded when it is first used."""
    require("models", torch="torch", transformers="transformers")
    max_tokens: object = MAX_TOKENS
    if option := _OPTION.search(rest):
        rest, max_tokens = rest[: option.start()], int(option[1]) if option[1].isdecimal() else option[1]
        check_whole("max_tokens", max_tokens)
    folder = _found(rest)
    return HuggingFaceModel(f"hf/{folder.label}/{folder.digest}", folder, int(str(max_tokens)))


def _found(name: str) -> ModelFolder:
    try:
        return find_model(f"hf:{name}", name)
    except MissingExtra:
        raise
    except InputError as error:
        # The files of encoders and of language models are found and checked in the same way.
        raise InputError(re.sub("^encoder", "model", str(error))) from None


def _bad(folder: ModelFolder, why: object) -> InputError:
    return InputError(f"model '{shortened(folder.asked, 120)}': {shortened(' '.join(str(why).split()), 300)}")


def _load(folder: ModelFolder) -> _Loaded:
    """The tokenizer and the model in single precision, without running code from the folder."""
    config = folder.settings("config.json")
    if config.get("is_encoder_decoder"):
        raise _bad(folder, "has an encoder and a decoder; wanted a causal language model")
    with quiet():
        from transformers import AutoModelForCausalLM, AutoTokenizer

        options = {"local_files_only": True, "trust_remote_code": False}
        try:
            tokenizer = AutoTokenizer.from_pretrained(folder.path, **options)
            check_vocabulary(folder, tokenizer)
            model, report = AutoModelForCausalLM.from_pretrained(
                folder.path, output_loading_info=True, **options, **weights_options()
            )
            check_finite(folder, model)
        except InputError as error:
            raise InputError(re.sub("^encoder", "model", str(error))) from None
        except Exception as error:  # the package passes on any exception of its parts
            raise _bad(folder, f"cannot be loaded: {error}") from error
    if missing := sorted(report["missing_keys"]):
        raise _bad(folder, f"its weights lack {len(missing)} arrays, the first {missing[0]}")
    network = _CausalNetwork(model.eval())
    frame = _frame(folder, tokenizer, model.config)
    _check_causal(folder, network, frame)
    return _Loaded(tokenizer, network, frame, maximum_length(folder))


def _frame(folder: ModelFolder, tokenizer: Any, config: Any) -> Frame:
    """The begin and end tokens; special tokens, and numbers without a token after the last one, are in no text."""
    end = tokenizer.eos_token_id
    if end is None:
        raise _bad(folder, "its tokenizer has no end token; wanted one, with which texts end")
    begin = end if tokenizer.bos_token_id is None else tokenizer.bos_token_id
    unused = range(len(tokenizer), int(config.vocab_size))
    never = (*unused, *sorted({begin, *tokenizer.all_special_ids} - {end}))
    return Frame(begin, end, never=never, may_be_empty=True)


def _check_causal(folder: ModelFolder, network: _CausalNetwork, frame: Frame) -> None:
    """Raise an error for a model whose prediction depends on later tokens, such as BERT."""
    import torch

    other = next(token for token in range(3) if token not in (frame.begin, frame.end))
    rows = torch.tensor([[frame.begin, other, other], [frame.begin, other, frame.end]])
    with inference():
        try:
            logits = network.model(input_ids=rows, use_cache=False).logits
        except Exception as error:  # such as a model of images
            raise _bad(folder, f"cannot read a text: {error}") from error
    if not torch.allclose(logits[0, :2], logits[1, :2], atol=1e-4):
        raise _bad(folder, "its predictions depend on later tokens; wanted a causal language model")
