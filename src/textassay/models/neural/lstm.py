"""LSTM language model: word embedding, LSTM layers and a linear output layer, trained by maximum likelihood."""

import os
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from textassay.corpus.arrays import F32, I64
from textassay.corpus.values import is_number
from textassay.errors import InputError, Setting
from textassay.models.base import Progress, Texts
from textassay.models.neural.network import NeuralModel, Words, restored_model, train_words
from textassay.models.neural.training import Plan, check_whole, replaced, trainable
from textassay.models.storage import ModelFile
from textassay.models.vocabulary import Vocabulary


@dataclass(frozen=True)
class LstmShape:
    """The shape of the network. Dropout applies to the embeddings, between layers and before the output.

    Weights are drawn uniformly from -`initial` to `initial`; 0 leaves torch's own ranges.
    """

    vocabulary: int
    layers: int = 1
    hidden: int = 128
    embedding: int = 128
    dropout: float = 0.0
    initial: float = 0.0

    def __post_init__(self) -> None:
        check_whole("vocabulary", self.vocabulary)
        check_whole("layers", self.layers, most=1000)
        for name in ("hidden", "embedding"):
            check_whole(name, getattr(self, name), most=10**6)
        if not (is_number(self.dropout) and 0 <= self.dropout < 1):
            raise InputError(Setting("dropout", self.dropout), "; wanted a number of at least 0 and below 1")

    @property
    def n_weights(self) -> int:
        """The number of weights, with those of words, layers and output."""
        layers = 4 * self.hidden * (self.embedding + self.hidden + 2)
        layers += (self.layers - 1) * 4 * self.hidden * (2 * self.hidden + 2)
        return self.vocabulary * (self.embedding + self.hidden + 1) + layers


@dataclass(frozen=True)
class Preset:
    """The shape and the training of a published model, or of one for a small computer."""

    shape: LstmShape
    plan: Plan


PRESETS = {
    # Li et al. (2020), section 6.2; the paper does not state the batch size.
    "li2020": Preset(LstmShape(1, layers=1, hidden=128, embedding=128), Plan(30, 64, 1e-3)),
    # Cai et al. (2021), table 1 and the released program.
    "cai2020": Preset(
        LstmShape(1, layers=2, hidden=512, embedding=512, dropout=0.5, initial=0.05), Plan(80, 128, 1e-3, clip=10.0)
    ),
    "laptop": Preset(LstmShape(1, layers=1, hidden=128, embedding=128), Plan(8, 32, 2e-3, clip=5.0)),
}


@dataclass(frozen=True, eq=False)
class LstmNetwork:
    """The network as torch modules; a state is the pair of hidden and cell values, layers x texts x size."""

    shape: LstmShape
    modules: Any = field(repr=False)
    most_tokens: int | None = None

    @property
    def settings(self) -> dict[str, Any]:
        """The shape as JSON values."""
        return asdict(self.shape)

    def states(self, tokens: Any, /) -> Any:
        """The hidden states of the last layer after each token."""
        return self.read(tokens, None)[0]

    def output(self, states: Any, /) -> Any:
        """The logits of the next token."""
        return self.modules["output"](self.modules["dropout"](states))

    def start(self, tokens: I64, /) -> tuple[Any, F32]:
        """Read the first tokens of each text; the state before them is zero."""
        return self._next(tokens, None)

    def advance(self, state: Any, tokens: I64, /) -> tuple[Any, F32]:
        """Read one token per text: the new state and the logits of the next token."""
        return self._next(tokens[:, None], state)

    def select(self, state: Any, rows: I64, /) -> Any:
        """The state of these texts."""
        return state[0][:, rows], state[1][:, rows]

    def _next(self, tokens: I64, state: Any) -> tuple[Any, F32]:
        import torch

        states, state = self.read(torch.from_numpy(tokens), state)
        return state, self.output(states[:, -1]).numpy()

    def read(self, tokens: Any, state: Any) -> Any:
        """The hidden states after each of these tokens, and the state after the last; None is the state before any."""
        return self.modules["lstm"](self.modules["dropout"](self.modules["embedding"](tokens)), state)


def build(shape: LstmShape) -> LstmNetwork:
    """A network of this shape with random weights."""
    from torch import nn

    between = shape.dropout if shape.layers > 1 else 0.0
    modules = nn.ModuleDict(
        {
            "embedding": nn.Embedding(shape.vocabulary, shape.embedding),
            "lstm": nn.LSTM(shape.embedding, shape.hidden, shape.layers, dropout=between, batch_first=True),
            "dropout": nn.Dropout(shape.dropout),
            "output": nn.Linear(shape.hidden, shape.vocabulary),
        }
    )
    if shape.initial:
        for parameter in modules.parameters():
            nn.init.uniform_(parameter, -shape.initial, shape.initial)
    return LstmNetwork(shape, modules)


def train(
    texts: Texts,
    *,
    preset: str = "laptop",
    layers: int | None = None,
    hidden: int | None = None,
    embedding: int | None = None,
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
    """Train an LSTM; the weights are those of the epoch with the least loss on the validation texts.

    Parameters
    ----------
    texts
        Training texts; blank ones are left out.
    preset
        `laptop` (1 layer of 128, 8 epochs), `li2020` (1 layer of 128, 30 epochs) or `cai2020` (2 layers of 512, 80
        epochs). The other options replace single values of it.
    holdout
        The share of the texts that is held out for validation if no validation texts are given.
    vocabulary
        The words of the model; the options of words are then not read. By default they are learned from the texts.
    threads
        More than one is faster on an idle computer, but the same seed may then give slightly different weights.
    """
    if preset not in PRESETS:
        raise InputError(Setting("preset", preset), f"; there are: {', '.join(PRESETS)}")
    chosen = PRESETS[preset]
    shape = trainable(
        "lstm", replaced(chosen.shape, layers=layers, hidden=hidden, embedding=embedding, dropout=dropout)
    )
    plan = replaced(chosen.plan, epochs=epochs, batch_size=batch_size, learning_rate=learning_rate)
    return train_words(
        "lstm",
        texts,
        lambda size: build(trainable("lstm", replace(shape, vocabulary=size))),
        words=Words(tokenizer, lowercase, min_count, max_words, holdout),
        plan=replace(plan, seed=seed, threads=threads),
        validation=validation,
        checkpoint=checkpoint,
        progress=progress,
        vocabulary=vocabulary,
    )


def restored(file: ModelFile) -> NeuralModel:
    """The model in a file."""
    return restored_model(file, LstmShape, build)
