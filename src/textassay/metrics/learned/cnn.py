"""The convolutional classifier of Cai et al. (2021), with the layers and the training of their released program."""

from dataclasses import dataclass
from threading import Lock
from typing import Any, Literal

import numpy as np

from textassay.corpus.arrays import F64, I64, Bool
from textassay.corpus.hashed_ngrams import Sequences, ranges
from textassay.errors import MissingExtra
from textassay.metrics.learned.held_out import Split
from textassay.metrics.learned.labelled_texts import LabelledTexts

Size = Literal["paper", "laptop"]

# Ids of padding and of words that occur once, or not at all, in the training part.
_PADDING, _UNKNOWN, _FIRST = 0, 1, 2
_LONGEST = 128
_DECAY = 0.2
_SIGMA = _BIAS = 0.1
_SEED = 0
_TEXTS_AT_ONCE = 2048
# The random numbers of PyTorch belong to the whole process, so one network is trained at a time.
TRAINING = Lock()


@dataclass(frozen=True)
class Preset:
    """The size of the network and of its training; `filters` are widths of convolutions and their numbers."""

    embedding: int = 512
    filters: tuple[tuple[int, int], ...] = ((2, 100), (3, 200))
    dropout: float = 0.5
    rate: float = 1e-4
    batch: int = 512
    epochs: int = 120


PRESETS: dict[Size, Preset] = {"paper": Preset(), "laptop": Preset(embedding=128, rate=1e-3, batch=256, epochs=15)}


def network_scores(both: LabelledTexts, found: Split, preset: Preset) -> F64:
    """Scores of the other parts: log-odds of real text, by the epoch that is best on the validation part."""
    torch = _torch()
    ids, n_words = word_ids(both.sequences, found.train, shortest=max(width for width, _ in preset.filters))
    with TRAINING, torch.random.fork_rng(devices=[]):
        threads = torch.get_num_threads()
        torch.set_num_threads(1)
        torch.manual_seed(_SEED)
        try:
            network = build(n_words, preset)
            _train(network, ids, found, preset)
            return _scores(network, ids[found.scored])
        finally:
            torch.set_num_threads(threads)


def _torch() -> Any:
    try:
        import torch
    except ImportError:
        raise MissingExtra("torch", "models") from None
    return torch


def word_ids(sequences: Sequences, train: I64, *, shortest: int) -> tuple[I64, int]:
    """The words of each text as ids with padding at the end, and the number of ids.

    Words that occur at least twice in the training part have an id of their own.
    """
    lengths = np.minimum(sequences.lengths, _LONGEST)
    width = max(int(lengths.max(initial=0)), shortest)
    indices = ranges(sequences.offsets[:-1], lengths)
    texts = np.repeat(np.arange(len(sequences)), lengths)
    words, in_train = sequences.words[indices], np.isin(texts, train)
    known, counts = np.unique(words[in_train], return_counts=True)
    known = known[counts > 1]
    found = np.searchsorted(known, words)
    is_known = np.isin(words, known)
    ids = np.full((len(sequences), width), _PADDING)
    ids[texts, ranges(np.zeros_like(lengths), lengths)] = np.where(is_known, found + _FIRST, _UNKNOWN)
    return ids, len(known) + _FIRST


def build(n_words: int, preset: Preset) -> Any:
    """The network: embedding, parallel convolutions with max-pooling, one highway layer, dropout, output layer."""
    torch = _torch()
    nn = torch.nn

    class Network(nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.embedding = nn.Embedding(n_words, preset.embedding)
            self.convolutions = nn.ModuleList(
                nn.Conv1d(preset.embedding, number, width) for width, number in preset.filters
            )
            features = sum(number for _, number in preset.filters)
            self.transform, self.gate = nn.Linear(features, features), nn.Linear(features, features)
            self.dropout = nn.Dropout(preset.dropout)
            self.output = nn.Linear(features, 2)

        def forward(self, ids: Any) -> Any:
            vectors = self.embedding(ids).transpose(1, 2)
            pooled = torch.cat([layer(vectors).relu().amax(dim=2) for layer in self.convolutions], dim=1)
            carried = torch.sigmoid(self.gate(pooled))
            mixed = carried * self.transform(pooled).relu() + (1 - carried) * pooled
            return self.output(self.dropout(mixed))

    network = Network()
    nn.init.uniform_(network.embedding.weight, -1.0, 1.0)
    for layer in (*network.convolutions, network.output):
        nn.init.trunc_normal_(layer.weight, std=_SIGMA, a=-2 * _SIGMA, b=2 * _SIGMA)
        nn.init.constant_(layer.bias, _BIAS)
    nn.init.zeros_(network.gate.bias)
    return network


def _train(network: Any, ids: I64, found: Split, preset: Preset) -> None:
    """Train on balanced batches and leave the network with the weights of its best epoch on the validation part."""
    torch = _torch()
    optimiser = torch.optim.Adam(network.parameters(), lr=preset.rate)
    truth = found.is_candidate
    sides = [found.train[truth[found.train] == side] for side in (True, False)]
    most = min(map(len, sides))
    half = min(preset.batch // 2, most)
    best, weights = -1.0, None
    for _ in range(preset.epochs):
        network.train()
        shuffled = [side[torch.randperm(len(side)).numpy()] for side in sides]
        for begin in range(0, most - half + 1, half):
            indices = np.concatenate([side[begin : begin + half] for side in shuffled])
            optimiser.zero_grad()
            _loss(network, ids[indices], truth[indices]).backward()
            optimiser.step()
        accuracy = float(((_scores(network, ids[found.validation]) <= 0) == truth[found.validation]).mean())
        if accuracy > best:
            best = accuracy
            weights = {name: value.detach().clone() for name, value in network.state_dict().items()}
    assert weights is not None
    network.load_state_dict(weights)


def _loss(network: Any, ids: I64, is_candidate: Bool) -> Any:
    """Cross entropy, and the squared weights of the output layer."""
    torch = _torch()
    labels = torch.from_numpy((~is_candidate).astype(np.int64))
    squares = sum((values**2).sum() for values in network.output.parameters())
    return torch.nn.functional.cross_entropy(network(torch.from_numpy(ids)), labels) + _DECAY * squares / 2


def _scores(network: Any, ids: I64) -> F64:
    """Log-odds of real text."""
    torch = _torch()
    network.eval()
    with torch.no_grad():
        parts = [
            network(torch.from_numpy(ids[begin : begin + _TEXTS_AT_ONCE])).double().numpy()
            for begin in range(0, len(ids), _TEXTS_AT_ONCE)
        ]
    outputs = np.concatenate(parts)
    return np.asarray(outputs[:, 1] - outputs[:, 0])
