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

Adversarial training may make a generator worse. So a judge scores the start and every round, and the weights of the
best one count, as in Montahaei et al. (2019, section 4.2.1): by BLEU-4 against validation texts, or by the probability
that an oracle gives to generated texts.
"""

import json
import math
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from textassay.corpus.arrays import I64
from textassay.corpus.sample import is_not_blank
from textassay.corpus.values import is_number
from textassay.encoders.base import require
from textassay.errors import InputError, Setting
from textassay.models.base import Generator, Progress, Texts, texts_of
from textassay.models.neural.discriminator import Discriminator, DiscriminatorShape, build_discriminator
from textassay.models.neural.lstm import LstmNetwork, LstmShape
from textassay.models.neural.lstm import build as build_lstm
from textassay.models.neural.network import NeuralModel, Words, hold_out, train_words
from textassay.models.neural.round_judges import Judge, oracle_likelihood, validation_bleu
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
    part_of,
    replaced,
    rows_digest,
    saved_state,
    seed_of,
    trainable,
)
from textassay.models.storage import ModelFile, check_target, load, save
from textassay.models.vocabulary import BEGIN, END
from textassay.work_files import locked

REWARDS = ("seqgan", "maligan", "rankgan")
_SET = 16  # texts of the comparison set and of the reference set of RankGAN
_SUREST = 5.0
_CLIP = 5.0
_ROWS = 1024  # rows of logits that are computed together


@dataclass(frozen=True)
class Game:
    """The settings of adversarial training; a round trains the discriminator and then the generator once."""

    reward: str
    rounds: int = 100
    rollouts: int = 16
    batch_size: int = 64
    learning_rate: float = 1e-2
    discriminator_steps: int = 15 * 3
    discriminator_rate: float = 1e-4
    warm_up: int = 80 * 3
    seed: int = 0
    threads: int = 1
    discriminator: DiscriminatorShape = field(default_factory=DiscriminatorShape)

    def __post_init__(self) -> None:
        if self.reward not in REWARDS:
            raise InputError(Setting("reward", self.reward), f"; there are: {', '.join(REWARDS)}")
        for name in ("rollouts", "batch_size", "discriminator_steps"):
            check_whole(name, getattr(self, name), most=10**6)
        check_whole("threads", self.threads, most=1024)
        for name in ("rounds", "warm_up"):
            check_whole(name, getattr(self, name), 0, most=10**9)
        for name in ("learning_rate", "discriminator_rate"):
            if not (is_number(getattr(self, name)) and 0 < getattr(self, name) <= 10):
                raise InputError(Setting(name, getattr(self, name)), "; wanted a number above 0, at most 10")

    def key(self) -> dict[str, Any]:
        """What determines the weights; a longer training continues a shorter one."""
        fixed = {name: value for name, value in asdict(self).items() if name not in ("rounds", "threads")}
        return dict(json.loads(json.dumps(fixed)))


@dataclass(frozen=True)
class Round:
    """What happened in a round: the mean reward of whole texts, and the discriminator's accuracy on its last batch.

    `score` is that of the judge, if there is one; higher is better.
    """

    number: int
    reward: float
    accuracy: float
    score: float | None = None


# Called after every round with what happened and the model.
Watch = Callable[[Round, NeuralModel], None]


@dataclass
class _Best:
    """The best round so far, 0 for the start, its score, and the weights of its generator."""

    number: int
    score: float
    weights: dict[str, Any]

    @classmethod
    def start(cls, model: NeuralModel, judge: Judge | None) -> "_Best":
        return cls(0, -math.inf if judge is None else judge.score(model), _weights(model))

    def see(self, number: int, score: float, model: NeuralModel) -> None:
        """Keep the weights of a round that is better than all before."""
        if score > self.score:
            self.number, self.score, self.weights = number, score, _weights(model)


def _weights(model: NeuralModel) -> dict[str, Any]:
    return {name: value.detach().clone() for name, value in model.network.modules.state_dict().items()}


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
    judge: Judge | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    progress: Progress | None = None,
    watch: Watch | None = None,
) -> tuple[Round, ...]:
    """Train the network of a model against a discriminator that knows these texts.

    The model gets the weights of the round that is best by the judge, which may be the start; without a judge those of
    the last round. The random numbers of a round come from the seed and its number, so that a stopped run continues
    from the checkpoint with the same result.
    """
    import torch

    rows = model.rows(texts)
    judged = None if judge is None else judge.name
    key = {**game.key(), "start": model.name, "texts": rows_digest(rows), "judge": judged}
    players = _players(model, rows, game)
    with (
        locked(checkpoint),
        n_threads(game.threads),
        torch.random.fork_rng(devices=[]),
        deferred_interrupt() as interrupted,
    ):
        file = saved_state(checkpoint, "adversarial", key)
        rounds, best = ([], _Best.start(model, judge)) if file is None else _load(players, file)
        saved = time.monotonic()
        while len(rounds) < game.rounds and not interrupted():
            rounds.append(_round(players, len(rounds), judge))
            last = rounds[-1]
            if last.score is not None:
                best.see(last.number, last.score, model)
            if progress is not None:
                what = f"round {last.number}, reward {last.reward:.3f}, accuracy {last.accuracy:.2f}"
                what += (
                    "" if judge is None else f", score {last.score:.3f}, best {best.score:.3f} in round {best.number}"
                )
                progress(what, last.number, game.rounds)
            if watch is not None:
                watch(last, model)
            if checkpoint is not None and (interrupted() or time.monotonic() - saved > SAVE_EVERY):
                _save(players, rounds, best, key, checkpoint)
                saved = time.monotonic()
        if interrupted():
            raise KeyboardInterrupt
        if checkpoint is not None:
            _save(players, rounds, best, key, checkpoint)
    if judge is not None:
        model.network.modules.load_state_dict(best.weights, strict=True)
    model.network.modules.eval()
    return tuple(rounds)


def _players(model: NeuralModel, rows: Sequence[I64], game: Game) -> _Players:
    import torch

    if not isinstance(model.network, LstmNetwork):
        raise InputError(f"a model of kind {model.kind!r}; wanted an LSTM for adversarial training")
    discriminator = initialised(game.seed, lambda: build_discriminator(len(model.vocabulary), game.discriminator))
    optimisers = (
        torch.optim.Adam(model.network.modules.parameters(), lr=game.learning_rate),
        torch.optim.Adam(discriminator.modules.parameters(), lr=game.discriminator_rate),
    )
    return _Players(model, model.network, discriminator, optimisers, torch.from_numpy(padded(rows)[0][:, 1:]), game)


def _save(
    players: _Players,
    rounds: Sequence[Round],
    best: _Best,
    key: dict[str, Any],
    checkpoint: str | os.PathLike[str],
) -> None:
    arrays = module_arrays("generator", players.generator.modules, players.optimisers[0])
    arrays |= module_arrays("discriminator", players.discriminator.modules, players.optimisers[1])
    arrays |= {f"best.{name}": value.numpy() for name, value in best.weights.items()}
    found = {"best": best.number, "score": best.score if math.isfinite(best.score) else None}
    settings = {"key": key, "rounds": [asdict(past) for past in rounds], **found}
    save(SavedState("adversarial", settings, arrays), checkpoint)


def _load(players: _Players, file: ModelFile) -> tuple[list[Round], _Best]:
    with damage_named(file):
        load_module("generator", players.generator.modules, players.optimisers[0], file)
        load_module("discriminator", players.discriminator.modules, players.optimisers[1], file)
        score = file.config["score"]
        best = _Best(file.setting("best", int), -math.inf if score is None else float(score), part_of(file, "best"))
        return [Round(**past) for past in file.setting("rounds", list)], best


def _round(players: _Players, number: int, judge: Judge | None) -> Round:
    import torch

    torch.manual_seed(seed_of(players.game.seed, "round", number))
    steps = players.game.discriminator_steps + (players.game.warm_up if number == 0 else 0)
    accuracies = [_discriminator_step(players) for _ in range(steps)]
    reward = _generator_step(players)
    return Round(number + 1, reward, accuracies[-1], None if judge is None else judge.score(players.model))


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
    _descend(loss + players.discriminator.penalty(), players.discriminator.modules, players.optimisers[1])
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
    logits[..., list(players.model.frame.never)] = -torch.inf
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
    for index in range(length):
        hidden, state = players.generator.read(previous[:, None], state)
        if index:
            states.append(state)
        previous = _next_tokens(players, hidden[:, 0], previous, first=index == 0)
        tokens[:, index] = previous
    return tokens, states


def _next_tokens(players: _Players, hidden: Any, previous: Any, *, first: bool) -> Any:
    """A random token per row; a text that has ended stays so."""
    import torch

    drawn = []
    for start in range(0, len(hidden), _ROWS):
        logits = players.generator.output(hidden[start : start + _ROWS])
        logits[:, list(players.model.frame.never)] = -torch.inf
        if first:
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
    indices = torch.arange(1, length).repeat_interleave(n_rollouts * len(tokens))
    previous = whole[torch.arange(len(whole)), indices - 1]
    hidden = state[0][-1]
    for step in range(length - 1):
        rows = torch.arange((length - 1 - step) * n_rollouts * len(tokens))
        if step:
            state = tuple(part[:, : len(rows)] for part in state)
            read, state = players.generator.read(previous[: len(rows), None], state)
            hidden = read[:, 0]
        previous = _next_tokens(players, hidden[: len(rows)], previous[: len(rows)], first=False)
        whole[rows, indices[: len(rows)] + step] = previous
    return whole


def _judged(players: _Players, tokens: Any) -> Any:
    import torch

    if players.game.reward == "rankgan":
        comparison, references = _drawn(players, _SET), _drawn(players, _SET)
        return (_SET + 1) * players.discriminator.ranks(tokens, comparison, references)
    logits = players.discriminator.logits(tokens)
    # D / (1 - D) is the exponential of the log-odds; a discriminator that is too sure would let one text decide.
    return torch.sigmoid(logits) if players.game.reward == "seqgan" else logits.clamp(max=_SUREST).exp()


@dataclass(frozen=True)
class Preset:
    """The generator, its training by maximum likelihood, and the game."""

    hidden: int
    embedding: int
    epochs: int
    pretraining_rate: float
    game: Game


_LAPTOP = DiscriminatorShape(64, ((2, 64), (3, 64), (4, 64), (5, 64)), has_highway=False, dropout=0.25, decay=0.0)
PRESETS = {
    # The sizes of Texygen (Zhu et al. 2018), which Montahaei et al. (2019) use.
    "texygen": Preset(32, 32, 80, 1e-2, Game("seqgan")),
    "laptop": Preset(
        32,
        32,
        20,
        1e-2,
        Game(
            "seqgan",
            rollouts=8,
            learning_rate=1e-3,
            discriminator_steps=5,
            discriminator_rate=1e-3,
            warm_up=200,
            discriminator=_LAPTOP,
        ),
    ),
}


def train(
    texts: Texts,
    *,
    reward: str = "seqgan",
    preset: str = "texygen",
    rounds: int | None = None,
    rollouts: int | None = None,
    epochs: int | None = None,
    hidden: int | None = None,
    embedding: int | None = None,
    batch_size: int | None = None,
    pretraining_rate: float | None = None,
    learning_rate: float | None = None,
    discriminator_rate: float | None = None,
    discriminator_steps: int | None = None,
    warm_up: int | None = None,
    oracle: Generator | str | None = None,
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
    """Train an LSTM by maximum likelihood and then against a discriminator; the weights are those of the best round.

    The best round, or the start, has the highest BLEU-4 of generated texts against the validation texts, or the lowest
    Oracle-NLL if an oracle is given. Without either it is the last round. Texts that all have the same number of words,
    as those of the oracle, get no end token.

    Parameters
    ----------
    texts
        Training texts; blank ones are left out.
    reward
        `seqgan`, `maligan` or `rankgan`.
    preset
        `texygen` (the sizes of Texygen) or `laptop`. The other options replace single values of it.
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
    oracle
        The model that wrote the texts, or its file.
    holdout
        The share of the texts that is held out for validation if no validation texts are given.
    checkpoint
        A file for the state of adversarial training; that of maximum likelihood is in `NAME.start.safetensors`.
    """
    require("models", torch="torch")
    if preset not in PRESETS:
        raise InputError(Setting("preset", preset), f"; there are: {', '.join(PRESETS)}")
    chosen = replaced(
        PRESETS[preset], hidden=hidden, embedding=embedding, epochs=epochs, pretraining_rate=pretraining_rate
    )
    game = replaced(
        chosen.game,
        reward=reward,
        rounds=rounds,
        rollouts=rollouts,
        batch_size=batch_size,
        learning_rate=learning_rate,
        discriminator_steps=discriminator_steps,
        discriminator_rate=discriminator_rate,
        warm_up=warm_up,
        seed=seed,
        threads=threads,
    )
    shape = trainable(reward, LstmShape(1, hidden=chosen.hidden, embedding=chosen.embedding))
    array = texts_of(texts, "training texts")
    array = array.filter(is_not_blank(array))
    words = Words(tokenizer, lowercase, min_count, max_words, holdout)
    real = array.to_pylist()
    if validation is None:
        real, validation = hold_out(real, holdout, seed)
    model = train_words(
        "lstm",
        real,
        lambda size: build_lstm(trainable(reward, replace(shape, vocabulary=size))),
        words=words,
        plan=Plan(chosen.epochs, game.batch_size, chosen.pretraining_rate, clip=_CLIP, seed=seed, threads=threads),
        validation=validation,
        checkpoint=None if checkpoint is None else check_target(checkpoint).with_suffix(".start.safetensors"),
        progress=progress,
    )
    play(model, real, game, judge=_judge(model, oracle, validation, seed), checkpoint=checkpoint, progress=progress)
    # A new object: the name of a model is computed once.
    return replace(model)


def _judge(model: NeuralModel, oracle: Generator | str | None, validation: Texts, seed: int) -> Judge | None:
    """What the best round is chosen by; None if there is nothing to choose by."""
    if oracle is not None:
        return oracle_likelihood(load(oracle) if isinstance(oracle, str) else oracle, seed)
    texts = texts_of(validation, "validation texts")
    texts = texts.filter(is_not_blank(texts))
    return validation_bleu(model, texts, seed) if len(texts) else None
