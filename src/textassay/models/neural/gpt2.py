"""GPT-2 language model over words: the network of Hugging Face from a configuration, trained from scratch."""

import os
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from textassay.corpus.arrays import F32, I64
from textassay.corpus.values import is_number
from textassay.encoders.base import quiet, require
from textassay.errors import InputError, Setting
from textassay.models.base import Progress, Texts
from textassay.models.neural.network import NeuralModel, Words, restored_model, train_words
from textassay.models.neural.training import Plan, check_whole, replaced, trainable
from textassay.models.storage import ModelFile
from textassay.models.vocabulary import Vocabulary


@dataclass(frozen=True)
class Gpt2Shape:
    """The shape of the network; `positions` is the most words of a text, the mark of its beginning included."""

    vocabulary: int
    layers: int = 2
    hidden: int = 128
    heads: int = 4
    positions: int = 128
    dropout: float = 0.1

    def __post_init__(self) -> None:
        check_whole("vocabulary", self.vocabulary)
        check_whole("layers", self.layers, most=1000)
        for name in ("hidden", "heads", "positions"):
            check_whole(name, getattr(self, name), most=10**6)
        if self.hidden % self.heads:
            raise InputError(Setting("hidden", self.hidden), f"; wanted a multiple of the {self.heads} heads")
        if not (is_number(self.dropout) and 0 <= self.dropout < 1):
            raise InputError(Setting("dropout", self.dropout), "; wanted a number of at least 0 and below 1")

    @property
    def n_weights(self) -> int:
        """The number of weights, with those of words, positions and layers."""
        layer = 12 * self.hidden**2 + 13 * self.hidden
        return (self.vocabulary + self.positions + 2) * self.hidden + self.layers * layer


PRESETS = {
    "laptop": (Gpt2Shape(1), Plan(8, 32, 1e-3, clip=1.0)),
    "desktop": (Gpt2Shape(1, layers=4, hidden=256, heads=8), Plan(12, 64, 5e-4, clip=1.0)),
    # Cai et al. (2021), table 1; the paper does not state the number of positions.
    "cai2020": (Gpt2Shape(1, layers=12, hidden=768, heads=12), Plan(80, 128, 2e-5)),
}


@dataclass(frozen=True, eq=False)
class Gpt2Network:
    """The transformer as a torch module; its output layer has the weights of the word embedding."""

    shape: Gpt2Shape
    modules: Any = field(repr=False)

    @property
    def settings(self) -> dict[str, Any]:
        """The shape as JSON values."""
        return asdict(self.shape)

    @property
    def most_tokens(self) -> int:
        """The number of positions."""
        return self.shape.positions

    def states(self, tokens: Any, /) -> Any:
        """The hidden states of the last layer after each token."""
        return self.modules(input_ids=tokens, use_cache=False).last_hidden_state

    def output(self, states: Any, /) -> Any:
        """The logits of the next token."""
        return states @ self.modules.wte.weight.T

    def start(self, tokens: I64, /) -> tuple[Any, F32]:
        """Read the first tokens of each text."""
        return self._next(tokens, None)

    def advance(self, state: Any, tokens: I64, /) -> tuple[Any, F32]:
        """Read one token per text: the new state and the logits of the next token."""
        return self._next(tokens[:, None], state)

    def select(self, state: Any, rows: I64, /) -> Any:
        """The state of these texts."""
        return select_cached(state, rows)

    def _next(self, tokens: I64, state: Any) -> tuple[Any, F32]:
        found = read_cached(self.modules, tokens, state)
        return found.past_key_values, self.output(found.last_hidden_state[:, -1]).numpy()


def read_cached(model: Any, tokens: I64, state: Any) -> Any:
    """The output of a Hugging Face model for further tokens of each text; `state` has the keys and values before."""
    import torch
    from transformers import DynamicCache

    cache = DynamicCache() if state is None else state
    return model(input_ids=torch.from_numpy(tokens), past_key_values=cache, use_cache=True)


def select_cached(state: Any, rows: I64) -> Any:
    """The keys and values of these texts."""
    import torch

    state.reorder_cache(torch.from_numpy(rows))
    return state


def build(shape: Gpt2Shape) -> Gpt2Network:
    """A network of this shape with random weights."""
    with quiet():
        from transformers import GPT2Config, GPT2Model

        config = GPT2Config(
            vocab_size=shape.vocabulary,
            n_positions=shape.positions,
            n_embd=shape.hidden,
            n_layer=shape.layers,
            n_head=shape.heads,
            resid_pdrop=shape.dropout,
            embd_pdrop=shape.dropout,
            attn_pdrop=shape.dropout,
        )
        return Gpt2Network(shape, GPT2Model(config))


def train(
    texts: Texts,
    *,
    preset: str = "laptop",
    layers: int | None = None,
    hidden: int | None = None,
    heads: int | None = None,
    positions: int | None = None,
    dropout: float | None = None,
    epochs: int | None = None,
    batch_size: int | None = None,
    learning_rate: float | None = None,
    tokenizer: str = "words",
    lowercase: bool = False,
    min_count: int = 1,
    max_words: int | None = None,
    holdout: float = 0.05,
    threads: int = 1,
    validation: Texts | None = None,
    vocabulary: Vocabulary | None = None,
    seed: int = 0,
    checkpoint: str | os.PathLike[str] | None = None,
    progress: Progress | None = None,
) -> NeuralModel:
    """Train GPT-2; the weights are those of the epoch with the least loss on the validation texts.

    Parameters
    ----------
    texts
        Training texts; blank ones are left out.
    preset
        `laptop` (2 layers of 128, 8 epochs), `desktop` (4 layers of 256, 12 epochs) or `cai2020` (12 layers of 768, 80
        epochs, for a GPU). The other options replace single values of it.
    holdout
        The share of the texts that is held out for validation if no validation texts are given.
    vocabulary
        The words of the model; the options of words are then not read. By default they are learned from the texts.
    threads
        More than one is faster on an idle computer, but the same seed may then give slightly different weights.
    """
    require("models", torch="torch", transformers="transformers")
    if preset not in PRESETS:
        raise InputError(Setting("preset", preset), f"; there are: {', '.join(PRESETS)}")
    shape, plan = PRESETS[preset]
    shape = trainable(
        "gpt2", replaced(shape, layers=layers, hidden=hidden, heads=heads, positions=positions, dropout=dropout)
    )
    plan = replaced(plan, epochs=epochs, batch_size=batch_size, learning_rate=learning_rate)
    return train_words(
        "gpt2",
        texts,
        lambda size: build(trainable("gpt2", replace(shape, vocabulary=size))),
        words=Words(tokenizer, lowercase, min_count, max_words, holdout),
        plan=replace(plan, seed=seed, threads=threads),
        validation=validation,
        checkpoint=checkpoint,
        progress=progress,
        vocabulary=vocabulary,
    )


def restored(file: ModelFile) -> NeuralModel:
    """The model in a file."""
    require("models", torch="torch", transformers="transformers")
    return restored_model(file, Gpt2Shape, build)
