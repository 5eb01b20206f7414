"""Adversarial training: roll-outs, the direction of the gradient, discriminators, and a run that continues."""

import signal
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from textassay import metrics
from textassay.corpus.sample import Sample
from textassay.errors import InputError
from textassay.models.choose import train_model
from textassay.models.neural import adversarial, discriminator, round_judges
from textassay.models.neural.adversarial import Game, play, train
from textassay.models.neural.lstm import train as train_lstm
from textassay.models.neural.network import NeuralModel
from textassay.models.neural.training import seed_of
from textassay.models.oracle import Oracle
from textassay.models.storage import load, save

torch = pytest.importorskip("torch")

FIXED = ["a b c a", "b c a b", "c a b c", "a a b b"] * 4
MIXED = ["a b", "b c a b", "c", "a a b"] * 4
SMALL: dict[str, Any] = {
    "rounds": 2, "rollouts": 2, "epochs": 1, "hidden": 6, "embedding": 5, "batch_size": 8, "warm_up": 2,
    "discriminator_steps": 1,
}  # fmt: skip


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def players(texts: list[str], **changes: Any) -> adversarial._Players:
    model = train(texts, **{**SMALL, "rounds": 0, "epochs": 3})
    return adversarial._players(model, model.rows(texts), Game("seqgan", rollouts=3, batch_size=5, **changes))


def scripted(monkeypatch: pytest.MonkeyPatch, scores: list[float]) -> None:
    """Let the judge of BLEU give these scores, to the start and to each round."""
    given = iter(scores)
    monkeypatch.setattr(
        adversarial, "validation_bleu", lambda *_: round_judges.Judge("scripted", lambda _model: next(given))
    )


@pytest.mark.parametrize("texts", [FIXED, MIXED], ids=["one length", "several lengths"])
def test_rollouts_complete_their_beginnings(texts: list[str]) -> None:
    game = players(texts)
    # Large weights make every next word certain, so that each completion of a text must be the text itself.
    game.generator.modules["output"].weight.data *= 1e4
    with torch.no_grad():
        tokens, states = adversarial._written(game, 5)
        whole = adversarial._completed(game, tokens, states)
    # Four words, and the end where texts have one.
    length = 4 if texts is FIXED else 5
    assert tokens.shape == (5, length)
    assert whole.shape == ((length - 1) * 3 * 5, length)
    assert torch.equal(whole, tokens.repeat((length - 1) * 3, 1))


def test_rollouts_keep_their_beginnings() -> None:
    game = players(MIXED)
    with torch.no_grad():
        tokens, states = adversarial._written(game, 5)
        whole = adversarial._completed(game, tokens, states).reshape(4, 3, 5, 5)
    for known in (1, 2, 3, 4):
        assert (whole[known - 1, :, :, :known] == tokens[:, :known]).all()
    assert not torch.equal(whole[0], tokens.expand(3, 5, 5))
    # After the end of a text there is nothing else, and no text begins with it.
    ended = (whole == 1).int()
    assert (ended.diff(dim=-1) >= 0).all()
    assert not (whole[..., 0] == 1).any()


def test_the_gradient_raises_the_reward(monkeypatch: pytest.MonkeyPatch) -> None:
    """With the share of the word `a` as the reward, the generator learns to write it."""
    model = train(FIXED, **{**SMALL, "rounds": 0})
    wanted = model.vocabulary.id("a")
    monkeypatch.setattr(adversarial, "_judged", lambda _players, tokens: (tokens == wanted).float().mean(dim=1))

    def share() -> float:
        words = " ".join(model.sample(200, rng=rng())).split()
        return words.count("a") / len(words)

    before = share()
    game = Game("seqgan", rounds=25, rollouts=2, batch_size=16, learning_rate=0.03, discriminator_steps=1, warm_up=0)
    rounds = play(model, FIXED, game)
    assert before < 0.6
    assert share() > 0.9
    assert rounds[-1].reward > rounds[0].reward


@pytest.mark.parametrize("best", [0, 1, 2, 3])
def test_the_best_round_counts(best: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The weights are those of the round with the highest score, which may be the start, and not those of the last."""
    seen = []
    for n in range(4):
        scripted(monkeypatch, [1.0] * (n + 1))
        monkeypatch.setattr(adversarial, "_judge", lambda *_: None)
        seen.append(train(FIXED, **{**SMALL, "rounds": n, "holdout": 0.25}).name)
        monkeypatch.undo()
    assert len(set(seen)) == 4
    scripted(monkeypatch, [float(n == best) for n in range(4)])
    assert train(FIXED, **{**SMALL, "rounds": 3, "holdout": 0.25}).name == seen[best]


def test_a_generator_that_gets_worse_is_not_returned() -> None:
    """A learning rate that ruins the generator: before, the ruined weights of the last round were returned."""
    ruined = {**SMALL, "epochs": 20, "rounds": 3, "learning_rate": 5.0}
    oracle = Oracle.random(vocabulary=20, hidden=4, length=4, rng=rng())
    texts = oracle.sample(300, rng=rng(1))
    found = [train(texts, tokenizer="whitespace", oracle=oracle, **{**ruined, "rounds": n}) for n in (0, 3)]
    scores = [round_judges.oracle_likelihood(oracle, 0).score(model) for model in found]
    assert scores[1] >= scores[0]


def test_the_judge_is_the_metric_bleu() -> None:
    model = train(MIXED, **{**SMALL, "rounds": 0})
    validation = ["a b c a", "b c", "c c a b b"]
    judge = round_judges.validation_bleu(model, Sample.of(validation).texts, 0)
    texts = model.sample(round_judges._JUDGED, rng=np.random.default_rng(seed_of(0, "judge")))
    wanted = metrics.bleu(texts, validation, n=4, tokenizer="whitespace", n_resamples=0).estimate
    assert judge.score(model) == pytest.approx(wanted)


def test_the_presets_have_the_published_sizes() -> None:
    game = adversarial.PRESETS["texygen"].game
    assert (game.discriminator.filters, game.discriminator.decay) == (((2, 100), (3, 200)), 0.2)
    assert (game.rollouts, game.discriminator_steps) == (16, 45)
    shapes = {
        name: tuple(value.shape)
        for name, value in discriminator.build_discriminator(50, game.discriminator).modules.state_dict().items()
    }
    assert shapes["width2.weight"] == (100, 32, 2)
    assert shapes["width3.weight"] == (200, 32, 3)
    assert shapes["gate.weight"] == (300, 300)
    laptop = adversarial.PRESETS["laptop"].game
    assert laptop.discriminator.filters == ((2, 64), (3, 64), (4, 64), (5, 64))
    assert laptop.discriminator_steps == 5
    with pytest.raises(InputError, match="preset='small'; there are: texygen, laptop"):
        train_model("seqgan:preset=small", FIXED)


@pytest.mark.parametrize("reward", adversarial.REWARDS)
def test_the_discriminator_learns(reward: str) -> None:
    """Real texts of one word only are easy to tell from those of an untrained generator."""
    model = train(FIXED, **{**SMALL, "rounds": 0})
    game = Game(reward, rounds=1, rollouts=1, batch_size=16, warm_up=25, discriminator_rate=0.01)
    (last,) = play(model, ["c c c c"] * 8, game)
    assert last.accuracy > 0.9


@pytest.mark.parametrize("kind", adversarial.REWARDS)
@pytest.mark.parametrize("texts", [FIXED, MIXED], ids=["one length", "several lengths"])
def test_trained_by_name(kind: str, texts: list[str], tmp_path: Path) -> None:
    options = ":".join(f"{name}={value}" for name, value in SMALL.items())
    model = train_model(f"{kind}:{options}", texts)
    assert isinstance(model, NeuralModel)
    assert model.has_end is (texts is MIXED)
    written = model.sample(20, rng=rng())
    assert {len(text.split()) for text in written} == {4} if texts is FIXED else max(map(len, written)) <= 4 * 5
    assert model.log_prob(written).n_zero == 0
    save(model, tmp_path / "m.safetensors")
    assert load(tmp_path / "m.safetensors").sample(20, rng=rng()) == written


def test_texts_of_one_length() -> None:
    """Their probabilities sum to 1 over all texts of this length; others have probability 0."""
    model = train(["a b", "b b", "a a"], **{**SMALL, "rounds": 0})
    words = ("a", "b", "<unk>")
    scores = model.log_prob([f"{one} {two}" for one in words for two in words])
    assert np.exp(scores.log_probs).sum() == pytest.approx(1.0, abs=1e-5)
    assert scores.n_tokens.tolist() == [2] * 9
    assert model.log_prob(["a", "a b a", ""]).n_zero == 3
    assert len(model.sample(1, prompts=["a"], rng=rng())[0].split()) == 1


def test_a_stopped_run_continues(tmp_path: Path) -> None:
    path = tmp_path / "state.safetensors"
    settings = {**SMALL, "rounds": 4}

    def stop(what: str, done: int, _steps: int) -> None:
        if what.startswith("round") and done == 2:
            signal.raise_signal(signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        train(FIXED, checkpoint=path, progress=stop, **settings)
    seen: list[str] = []
    continued = train(FIXED, checkpoint=path, progress=lambda what, *_: seen.append(what[:7]), **settings)
    whole = train(FIXED, **settings)
    assert seen == ["round 3", "round 4"]
    assert continued.name == whole.name
    with pytest.raises(InputError, match=r"another training \(reward: 'seqgan' there, 'maligan' here"):
        train(FIXED, checkpoint=path, reward="maligan", **settings)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"reward": "leakgan"}, "reward='leakgan'; there are: seqgan, maligan, rankgan"),
        ({"rollouts": 0}, "rollouts=0; wanted"),
        ({"rounds": -1}, "rounds=-1; wanted a whole number of 0 or more"),
        ({"learning_rate": 0.0}, "learning_rate=0.0; wanted"),
    ],
)
def test_bad_options(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        train(FIXED, **{**SMALL, **options})
    with pytest.raises(InputError, match="option 'reward' is given twice"):
        train_model("seqgan:reward=maligan", FIXED)


def test_only_lstms_can_play() -> None:
    pytest.importorskip("transformers")
    model = train_model("gpt2:layers=1:hidden=4:heads=1:positions=9:epochs=1", FIXED)
    assert isinstance(model, NeuralModel)
    with pytest.raises(InputError, match="a model of kind 'gpt2'; wanted an LSTM"):
        play(model, FIXED, Game("seqgan"))
    assert not train_lstm(FIXED, epochs=1, hidden=4).has_end
