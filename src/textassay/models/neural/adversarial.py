r"""Adversarial training of an LSTM by policy gradients: SeqGAN, MaliGAN and RankGAN.

A generator that was trained by maximum likelihood writes texts, a discriminator learns to tell them from real ones, and
its judgement is the reward of the generator. The reward of a word is the mean judgement of several completions of the
text up to this word (roll-outs), which the generator samples. The gradient is that of

.. math:: \frac{1}{|B|} \sum_{x \in B} \sum_t (r_t(x) - \bar r_t) \log P(x_t | x_{<t}),

where :math:`\bar r_t` is the mean over the batch, which reduces the variance of the gradient and not its mean. With
:math:`D` the probability that a text is real,

- SeqGAN (Yu et al. 2017): :math:`r = D`.
- MaliGAN (Che et al. 2017): :math:`r = D / (1 - D)`, divided by its mean over the batch.
- RankGAN (Lin et al. 2017): the discriminator gives a text a vector; :math:`r` is the mean over real reference texts
  :math:`u` of the softmax of :math:`\gamma \cos(x, u)` among a comparison set of real texts, times the size of the set.

Unlike the released programs, roll-outs are sampled from the current generator and not from a delayed copy of it.
"""

import os
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np

from textassay.corpus.arrays import I64
from textassay.corpus.sample import is_not_blank
from textassay.corpus.values import is_number
from textassay.encoders.base import require
from textassay.errors import InputError, Setting
from textassay.models.base import Progress, Texts, texts_of
from textassay.models.neural.lstm import LstmNetwork, LstmShape
from textassay.models.neural.lstm import build as build_lstm
from textassay.models.neural.network import NeuralModel, Words, train_words
from textassay.models.neural.training import (
    SAVE_EVERY,
    Plan,
    SavedState,
    check_whole,
    damage_named,
    deferred_interrupt,
    initialised,
    load_module,
    module_arrays,
    n_threads,
    padded,
    rows_digest,
    saved_state,
    seed_of,
)
from textassay.models.storage import ModelFile, check_target, save
from textassay.models.vocabulary import BEGIN, END, word_tokenizer
from textassay.work_files import locked

REWARDS = ("seqgan", "maligan", "rankgan")
_SHARPNESS = 5.0  # gamma of RankGAN
_SET = 16  # texts of the comparison set and of the reference set of RankGAN
_SUREST = 5.0
_CLIP = 5.0
_ROWS = 1024  # rows of logits that are computed together
_FILTERS = {2: 64, 3: 64, 4: 64, 5: 64}


@dataclass(frozen=True)
class Game:
    """The settings of adversarial training; a round trains the discriminator and then the generator once."""

    reward: str
    rounds: int = 100
    rollouts: int = 8
    batch_size: int = 64
    learning_rate: float = 1e-3
    discriminator_steps: int = 5
    discriminator_rate: float = 1e-3
    warm_up: int = 200
    seed: int = 0
    threads: int = 1

    def __post_init__(self) -> None:
        if self.reward not in REWARDS:
            raise InputError(Setting("reward", self.reward), f"; there are: {', '.join(REWARDS)}")
        for name in ("rollouts", "batch_size", "discriminator_steps", "threads"):
            check_whole(name, getattr(self, name))
        for name in ("rounds", "warm_up"):
            check_whole(name, getattr(self, name), 0)
        for name in ("learning_rate", "discriminator_rate"):
            if not (is_number(getattr(self, name)) and 0 < getattr(self, name) <= 10):
                raise InputError(Setting(name, getattr(self, name)), "; wanted a number above 0, at most 10")

    def key(self) -> dict[str, Any]:
        """What determines the weights; a longer training continues a shorter one."""
        return {name: value for name, value in asdict(self).items() if name not in ("rounds", "threads")}


@dataclass(frozen=True)
class Round:
    """What happened in a round: the mean reward of whole texts, and the discriminator's accuracy on its last batch."""

    number: int
    reward: float
    accuracy: float


@dataclass(frozen=True, eq=False)
class Discriminator:
    """A convolutional network over words: probability of being real for SeqGAN and MaliGAN, a vector for RankGAN."""

    modules: Any = field(repr=False)

    def features(self, tokens: Any) -> Any:
        """One vector per text."""
        import torch

        embedded = self.modules["embedding"](tokens).transpose(1, 2)
        pooled = [torch.relu(self.modules[f"width{width}"](embedded)).amax(dim=2) for width in _FILTERS]
        return self.modules["dropout"](torch.cat(pooled, dim=1))

    def logits(self, tokens: Any) -> Any:
        """The log-odds that each text is real."""
        return self.modules["output"](self.features(tokens))[:, 0]

    def ranks(self, tokens: Any, comparison: Any, references: Any) -> Any:
        """The relative rank score of each text among the comparison texts, for the mean of the reference texts."""
        import torch

        vectors = [
            torch.nn.functional.normalize(self.features(part), dim=1) for part in (tokens, comparison, references)
        ]
        own = _SHARPNESS * vectors[0] @ vectors[2].T
        others = torch.logsumexp(_SHARPNESS * vectors[1] @ vectors[2].T, dim=0)
        return (own - torch.logaddexp(own, others)).exp().mean(dim=1)


def build_discriminator(vocabulary: int, embedding: int = 64) -> Discriminator:
    """A discriminator with random weights."""
    from torch import nn

    convolutions = {f"width{width}": nn.Conv1d(embedding, n, width, padding=width - 1) for width, n in _FILTERS.items()}
    modules = nn.ModuleDict(
        {
            "embedding": nn.Embedding(vocabulary, embedding),
            **convolutions,
            "dropout": nn.Dropout(0.25),
            "output": nn.Linear(sum(_FILTERS.values()), 1),
        }
    )
    return Discriminator(modules)


# Called after every round with what happened and the model.
Watch = Callable[[Round, NeuralModel], None]


@dataclass(frozen=True, eq=False)
class _Players:
    """Generator and discriminator with their optimisers, the real texts, and the length of texts in tokens."""

    model: NeuralModel
    generator: LstmNetwork
    discriminator: Discriminator
    optimisers: tuple[Any, Any]
    real: Any
    game: Game

    @property
    def length(self) -> int:
        return int(self.real.shape[1])


def play(
    model: NeuralModel,
    texts: Texts,
    game: Game,
    *,
    checkpoint: str | os.PathLike[str] | None = None,
    progress: Progress | None = None,
    watch: Watch | None = None,
) -> tuple[Round, ...]:
    """Train the network of a model against a discriminator that knows these texts.

    The random numbers of a round come from the seed and its number, so that a stopped run continues from the
    checkpoint with the same result.
    """
    import torch

    rows = model.rows(texts)
    key = {**game.key(), "start": model.name, "texts": rows_digest(rows)}
    players = _players(model, rows, game)
    with (
        locked(checkpoint),
        n_threads(game.threads),
        torch.random.fork_rng(devices=[]),
        deferred_interrupt() as interrupted,
    ):
        file = saved_state(checkpoint, "adversarial", key)
        rounds = [] if file is None else _load(players, file)
        saved = time.monotonic()
        while len(rounds) < game.rounds and not interrupted():
            rounds.append(_round(players, len(rounds)))
            last = rounds[-1]
            if progress is not None:
                what = f"round {last.number}, reward {last.reward:.3f}, accuracy {last.accuracy:.2f}"
                progress(what, last.number, game.rounds)
            if watch is not None:
                watch(last, model)
            if checkpoint is not None and (interrupted() or time.monotonic() - saved > SAVE_EVERY):
                _save(players, rounds, key, checkpoint)
                saved = time.monotonic()
        if interrupted():
            raise KeyboardInterrupt
        if checkpoint is not None:
            _save(players, rounds, key, checkpoint)
    model.network.modules.eval()
    return tuple(rounds)


def _players(model: NeuralModel, rows: Sequence[I64], game: Game) -> _Players:
    import torch

    if not isinstance(model.network, LstmNetwork):
        raise InputError(f"a model of kind {model.kind!r}; wanted an LSTM for adversarial training")
    discriminator = initialised(game.seed, lambda: build_discriminator(len(model.vocabulary)))
    optimisers = (
        torch.optim.Adam(model.network.modules.parameters(), lr=game.learning_rate),
        torch.optim.Adam(discriminator.modules.parameters(), lr=game.discriminator_rate),
    )
    return _Players(model, model.network, discriminator, optimisers, torch.from_numpy(padded(rows)[0][:, 1:]), game)


def _save(players: _Players, rounds: Sequence[Round], key: dict[str, Any], checkpoint: str | os.PathLike[str]) -> None:
    arrays = module_arrays("generator", players.generator.modules, players.optimisers[0])
    arrays |= module_arrays("discriminator", players.discriminator.modules, players.optimisers[1])
    settings = {"key": key, "rounds": [asdict(past) for past in rounds]}
    save(SavedState("adversarial", settings, arrays), checkpoint)


def _load(players: _Players, file: ModelFile) -> list[Round]:
    with damage_named(file):
        load_module("generator", players.generator.modules, players.optimisers[0], file)
        load_module("discriminator", players.discriminator.modules, players.optimisers[1], file)
        return [Round(**past) for past in file.setting("rounds", list)]


def _round(players: _Players, number: int) -> Round:
    import torch

    torch.manual_seed(seed_of(players.game.seed, "round", number))
    steps = players.game.discriminator_steps + (players.game.warm_up if number == 0 else 0)
    accuracies = [_discriminator_step(players) for _ in range(steps)]
    reward = _generator_step(players)
    return Round(number + 1, reward, accuracies[-1])


def _discriminator_step(players: _Players) -> float:
    """One step on a batch of real and generated texts; the accuracy on it before the step."""
    import torch

    size = players.game.batch_size
    real = _drawn(players, size)
    with torch.no_grad():
        written = _written(players, size)[0]
    players.discriminator.modules.train()
    if players.game.reward == "rankgan":
        comparison, references = _drawn(players, _SET), _drawn(players, _SET)
        ranks_real = players.discriminator.ranks(real, written[:_SET], references)
        ranks_written = players.discriminator.ranks(written, comparison, references)
        loss = ranks_written.log().mean() - ranks_real.log().mean()
        correct = ranks_real > ranks_written
    else:
        logits = torch.cat([players.discriminator.logits(real), players.discriminator.logits(written)])
        labels = torch.cat([torch.ones(size), torch.zeros(size)])
        loss = torch.nn.functional.binary_cross_entropy_with_logits(logits, labels)
        correct = (logits > 0) == (labels > 0)
    _descend(loss, players.discriminator.modules, players.optimisers[1])
    return float(correct.float().mean())


def _generator_step(players: _Players) -> float:
    """One step of the policy gradient; the mean reward of whole texts."""
    import torch

    players.discriminator.modules.eval()
    players.generator.modules.eval()
    with torch.no_grad():
        tokens, states = _written(players, players.game.batch_size)
        rewards = _rewards(players, tokens, states)
    advantage = rewards - rewards.mean(dim=0)
    begin = torch.full((len(tokens), 1), BEGIN)
    inside = torch.cat([torch.ones(len(tokens), 1, dtype=torch.bool), tokens[:, :-1] != END], dim=1)
    hidden = players.generator.states(torch.cat([begin, tokens[:, :-1]], dim=1))
    logits = players.generator.output(hidden)
    logits[..., BEGIN] = -torch.inf
    logs = torch.log_softmax(logits, dim=2).gather(2, tokens[..., None])[..., 0]
    loss = -(advantage * logs)[inside].sum() / len(tokens)
    _descend(loss, players.generator.modules, players.optimisers[0])
    return float(rewards[:, -1].mean())


def _descend(loss: Any, modules: Any, optimiser: Any) -> None:
    import torch

    optimiser.zero_grad(set_to_none=True)
    loss.backward()
    torch.nn.utils.clip_grad_norm_(modules.parameters(), _CLIP)
    optimiser.step()


def _drawn(players: _Players, size: int) -> Any:
    """Random real texts."""
    import torch

    return players.real[torch.randint(len(players.real), (size,))]


def _written(players: _Players, size: int) -> tuple[Any, list[Any]]:
    """Sampled texts and the state of the network after each of their words."""
    import torch

    length = players.length
    tokens = torch.full((size, length), END)
    states: list[Any] = []
    previous, state = torch.full((size,), BEGIN), None
    for place in range(length):
        hidden, state = players.generator.read(previous[:, None], state)
        if place:
            states.append(state)
        previous = _next_tokens(players, hidden[:, 0], previous, first=place == 0)
        tokens[:, place] = previous
    return tokens, states


def _next_tokens(players: _Players, hidden: Any, previous: Any, *, first: bool) -> Any:
    """A random token per row; a text that has ended stays so."""
    import torch

    drawn = []
    for start in range(0, len(hidden), _ROWS):
        logits = players.generator.output(hidden[start : start + _ROWS])
        logits[:, BEGIN] = -torch.inf
        if first or not players.model.has_end:
            logits[:, END] = -torch.inf
        sums = torch.softmax(logits, dim=1).cumsum(dim=1)
        drawn.append(torch.searchsorted(sums, torch.rand(len(sums), 1) * sums[:, -1:], right=True)[:, 0])
    return torch.where(previous == END, END, torch.cat(drawn)) if players.model.has_end else torch.cat(drawn)


def _rewards(players: _Players, tokens: Any, states: Sequence[Any]) -> Any:
    """The reward of each word of each text: that of the whole text for the last word, else the mean of roll-outs."""
    import torch

    size, length = tokens.shape
    whole = _completed(players, tokens, states)
    parts = [_judged(players, whole[start : start + _ROWS]) for start in range(0, len(whole), _ROWS)]
    last = _judged(players, tokens)
    if not states:
        return last[:, None]
    rewards = torch.cat(parts).reshape(length - 1, players.game.rollouts, size).mean(dim=1).T
    rewards = torch.cat([rewards, last[:, None]], dim=1)
    return rewards / rewards.mean(dim=0) if players.game.reward == "maligan" else rewards


def _completed(players: _Players, tokens: Any, states: Sequence[Any]) -> Any:
    """Completions of all beginnings of all texts: for each length of a beginning, for each roll-out, each text.

    All of them are sampled together; the shortest beginnings come first, so that those that need more words are
    always the first rows.
    """
    import torch

    if not states:
        return tokens[:0]
    length, n_rollouts = players.length, players.game.rollouts
    whole = tokens.repeat((length - 1) * n_rollouts, 1)
    state = tuple(torch.cat([pair[part].repeat(1, n_rollouts, 1) for pair in states], dim=1) for part in range(2))
    places = torch.arange(1, length).repeat_interleave(n_rollouts * len(tokens))
    previous = whole[torch.arange(len(whole)), places - 1]
    hidden = state[0][-1]
    for step in range(length - 1):
        rows = torch.arange((length - 1 - step) * n_rollouts * len(tokens))
        if step:
            state = tuple(part[:, : len(rows)] for part in state)
            read, state = players.generator.read(previous[: len(rows), None], state)
            hidden = read[:, 0]
        previous = _next_tokens(players, hidden[: len(rows)], previous[: len(rows)], first=False)
        whole[rows, places[: len(rows)] + step] = previous
    return whole


def _judged(players: _Players, tokens: Any) -> Any:
    import torch

    if players.game.reward == "rankgan":
        comparison, references = _drawn(players, _SET), _drawn(players, _SET)
        return (_SET + 1) * players.discriminator.ranks(tokens, comparison, references)
    logits = players.discriminator.logits(tokens)
    # D / (1 - D) is the exponential of the log-odds; a discriminator that is too sure would let one text decide.
    return torch.sigmoid(logits) if players.game.reward == "seqgan" else logits.clamp(max=_SUREST).exp()


def train(
    texts: Texts,
    *,
    reward: str = "seqgan",
    rounds: int = 100,
    rollouts: int = 8,
    epochs: int = 20,
    hidden: int = 32,
    embedding: int = 32,
    batch_size: int = 64,
    pretraining_rate: float = 1e-2,
    learning_rate: float = 1e-3,
    discriminator_rate: float = 1e-3,
    discriminator_steps: int = 5,
    warm_up: int = 200,
    tokenizer: str = "words",
    lowercase: bool = False,
    min_count: int = 1,
    max_words: int | None = None,
    holdout: float = 0.05,
    threads: int = 1,
    validation: Texts | None = None,
    seed: int = 0,
    checkpoint: str | os.PathLike[str] | None = None,
    progress: Progress | None = None,
) -> NeuralModel:
    """Train an LSTM by maximum likelihood and then against a discriminator.

    Texts that all have the same number of words, as those of the oracle, get no end token.

    Parameters
    ----------
    texts
        Training texts; blank ones are left out.
    reward
        `seqgan`, `maligan` or `rankgan`.
    rounds
        Steps of the generator in adversarial training.
    rollouts
        Completions of each beginning of a text per step.
    epochs
        Epochs of maximum likelihood before it.
    discriminator_steps
        Steps of the discriminator per round.
    warm_up
        Further steps of the discriminator before the first round.
    checkpoint
        A file for the state of adversarial training; that of maximum likelihood is in `NAME.start.safetensors`.
    """
    require("models", torch="torch")
    game = Game(
        reward,
        rounds,
        rollouts,
        batch_size,
        learning_rate,
        discriminator_steps,
        discriminator_rate,
        warm_up,
        seed,
        threads,
    )
    array = texts_of(texts, "training texts")
    array = array.filter(is_not_blank(array))
    lengths = word_tokenizer(tokenizer, lowercase=lowercase)(array).lengths
    model = train_words(
        "lstm",
        array,
        lambda size: build_lstm(LstmShape(size, hidden=hidden, embedding=embedding)),
        words=Words(tokenizer, lowercase, min_count, max_words, holdout),
        plan=Plan(epochs, batch_size, pretraining_rate, clip=_CLIP, seed=seed, threads=threads),
        validation=validation,
        checkpoint=None if checkpoint is None else check_target(checkpoint).with_suffix(".start.safetensors"),
        progress=progress,
        has_end=len(np.unique(lengths)) != 1,
    )
    play(model, array, game, checkpoint=checkpoint, progress=progress)
    # A new object: the name of a model is computed once.
    return replace(model)
