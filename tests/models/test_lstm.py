"""The LSTM: scores against torch, sampling, training that continues, and invalid input."""

import os
import signal
from collections import Counter
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import chisquare

from textassay.errors import InputError, MissingExtra
from textassay.models.choose import get_model, train_model
from textassay.models.neural import training
from textassay.models.neural.lstm import PRESETS, LstmShape, build, train
from textassay.models.neural.network import NeuralModel
from textassay.models.neural.training import Plan, epoch_batches, padded, summed_loss
from textassay.models.storage import load, read, save
from textassay.work_files import locked

torch = pytest.importorskip("torch")

TOWNS = [
    f"{who} {what} {where}{stop}"
    for who in ("The mayor", "Our teacher", "A guest")
    for what in ("walks to", "talks about", "has seen")
    for where in ("the bridge", "a small town", "the sea, again")
    for stop in (".", "!")
]
SMALL: dict[str, Any] = {"hidden": 8, "embedding": 6, "epochs": 3, "batch_size": 8}


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


@pytest.fixture(scope="module")
def model() -> NeuralModel:
    return train(TOWNS, **SMALL)


def test_scores_equal_a_plain_computation(model: NeuralModel) -> None:
    """Word by word with torch's own functions, for texts of different lengths in one batch."""
    texts = ["The mayor walks.", "guest sea", "A guest has seen the bridge!", "The guest walks"]
    scores = model.log_prob(texts)
    assert scores.n_tokens.tolist() == [5, 3, 8, 4]
    for text, row in enumerate(model.rows(texts)):
        modules, total, state = model.network.modules, 0.0, None
        for place in range(len(row) - 1):
            states, state = modules["lstm"](modules["embedding"](torch.tensor([[row[place]]])), state)
            logits = modules["output"](states[0, 0]).detach().double()
            logits[[0, 2]] = -np.inf
            if place == 0:
                logits[1] = -np.inf
            total += float(torch.log_softmax(logits, 0)[row[place + 1]])
        assert scores.log_probs[text] == pytest.approx(total, abs=1e-5)


@pytest.mark.parametrize(
    "setting", [{}, {"temperature": 0.6}, {"top_k": 2}, {"temperature": 1.5, "top_p": 0.8}], ids=str
)
def test_samples_follow_the_scores(setting: dict[str, Any]) -> None:
    """All texts of at most three words of a tiny vocabulary, and all others as one group."""
    tiny = train(["a b", "b", "b a a", "a"], **{**SMALL, "epochs": 60, "learning_rate": 0.02, "holdout": 0.0})
    texts = [" ".join(words) for length in (1, 2, 3) for words in product(["a", "b", "<unk>"], repeat=length)]
    chances = np.exp(tiny.log_prob(texts, **setting).log_probs)
    # A text of the greatest length, three words, is cut off there, whether or not it would have ended.
    assert tiny.most_words == 3
    short = [len(text.split()) < 3 for text in texts]
    counts = Counter(tiny.sample(4000, **setting, rng=rng(1)))
    seen = np.array([counts[text] for text in texts])
    expected = 4000 * chances
    groups = (expected >= 5) & short
    observed = [*seen[groups], 4000 - seen[groups].sum()]
    wanted = [*expected[groups], 4000 - expected[groups].sum()]
    assert seen.sum() == 4000
    assert chances.sum() <= 1 + 1e-6
    assert chisquare(observed, wanted).pvalue > 1e-4


def test_no_sampled_text_has_probability_zero(model: NeuralModel) -> None:
    setting: dict[str, Any] = {"temperature": 0.9, "top_k": 5, "top_p": 0.7}
    assert model.log_prob(model.sample(200, **setting, rng=rng()), **setting).n_zero == 0
    assert model.log_prob(model.sample(200, rng=rng()), top_k=1).n_zero > 0


def test_training_learns_the_texts() -> None:
    model = train(TOWNS, **{**SMALL, "hidden": 32, "epochs": 40, "learning_rate": 0.02, "holdout": 0.1})
    first, best = model.losses[0].validation, min(loss.validation or np.inf for loss in model.losses)
    assert first is not None
    assert best < 0.5 * first
    assert sum(text in TOWNS for text in model.sample(50, rng=rng())) > 30
    assert model.sample(1, top_k=1, rng=rng()) == model.beam(width=1) or model.beam(width=1)[0] in TOWNS
    assert model.beam(width=5)[0] in TOWNS
    assert model.sample(2, top_k=1, prompts=["The mayor walks to the bridge", "Our teacher has"], rng=rng())[
        1
    ].startswith("seen")


def test_weights_are_those_of_the_best_epoch() -> None:
    """With a learning rate far too high the loss rises again; the weights still have the least validation loss."""
    model = train(TOWNS, validation=TOWNS[:9], **{**SMALL, "learning_rate": 0.5, "epochs": 6})
    rows = model.rows(TOWNS[:9])
    loss = sum(summed_loss(model.network, [row])[0].item() for row in rows) / sum(len(row) - 1 for row in rows)
    losses = [past.validation or np.inf for past in model.losses]
    assert losses[-1] > min(losses)
    assert loss == pytest.approx(min(losses), rel=1e-4)


def test_same_seed_same_model(model: NeuralModel, tmp_path: Path) -> None:
    state = torch.random.get_rng_state()
    assert train(TOWNS, **SMALL).name == model.name
    assert train(TOWNS, seed=1, **SMALL).name != model.name
    assert torch.equal(state, torch.random.get_rng_state())


def test_save_and_load(model: NeuralModel, tmp_path: Path) -> None:
    save(model, tmp_path / "m.safetensors")
    loaded = load(tmp_path / "m.safetensors")
    assert isinstance(loaded, NeuralModel)
    assert (loaded.name, loaded.losses, loaded.most_words) == (model.name, model.losses, model.most_words)
    assert loaded.sample(5, rng=rng()) == model.sample(5, rng=rng())


DROPOUT = {**SMALL, "dropout": 0.3}
BATCHES = 7


def check_continues(path: Path, batches: int) -> None:
    """A run that continues from a state gives the same weights and losses as one that was not stopped."""
    saved = read(path, kind="training")
    assert saved.config["epoch"] * BATCHES + saved.config["batch"] == batches
    whole = train(TOWNS, **DROPOUT)
    continued = train(TOWNS, checkpoint=path, **DROPOUT)
    assert (continued.name, continued.losses) == (whole.name, whole.losses)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no processes by fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_killed_training_continues(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A forked process starts without importing torch again."""
    path = tmp_path / "state.safetensors"
    monkeypatch.setattr(training, "SAVE_EVERY", 0.0)

    def report(_what: str, done: int, _steps: int) -> None:
        if done == 10:
            os.kill(os.getpid(), signal.SIGKILL)

    child = os.fork()
    if not child:
        try:
            train(TOWNS, checkpoint=path, progress=report, **DROPOUT)
        finally:
            os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL
    check_continues(path, 9)


def test_a_failed_training_continues_after_the_last_epoch(tmp_path: Path) -> None:
    path = tmp_path / "state.safetensors"

    def report(what: str, done: int, steps: int) -> None:
        assert what.startswith(f"epoch {1 + (done - 1) // BATCHES} of 3, loss ")
        assert steps == 3 * BATCHES
        if done == 17:
            raise MemoryError

    with pytest.raises(MemoryError):
        train(TOWNS, checkpoint=path, progress=report, **DROPOUT)
    check_continues(path, 14)


def test_ctrl_c_saves_the_state(tmp_path: Path) -> None:
    path = tmp_path / "state.safetensors"
    before = signal.getsignal(signal.SIGINT)

    def report(_what: str, done: int, _steps: int) -> None:
        assert done <= 5, "the step after Ctrl-C is the last one"
        if done == 5:
            signal.raise_signal(signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        train(TOWNS, checkpoint=path, progress=report, **DROPOUT)
    assert signal.getsignal(signal.SIGINT) is before
    check_continues(path, 5)


def test_a_finished_training_is_not_repeated(tmp_path: Path) -> None:
    path = tmp_path / "state.safetensors"
    whole = train(TOWNS, checkpoint=path, **SMALL)
    steps: list[int] = []
    again = train(TOWNS, checkpoint=path, progress=lambda _what, done, _steps: steps.append(done), **SMALL)
    assert (again.name, steps) == (whole.name, [])
    longer = train(TOWNS, checkpoint=path, **{**SMALL, "epochs": 5})
    assert longer.name == train(TOWNS, **{**SMALL, "epochs": 5}).name


def test_states_of_other_trainings(tmp_path: Path) -> None:
    path = tmp_path / "state.safetensors"
    train(TOWNS, checkpoint=path, **SMALL)
    with pytest.raises(InputError, match=r"the state of another training .*texts: '"):
        train(TOWNS[1:], checkpoint=path, **SMALL)
    with pytest.raises(InputError, match="seed: 0 there, 7 here"):
        train(TOWNS, checkpoint=path, seed=7, **SMALL)
    with pytest.raises(InputError, match="of kind 'training'; wanted"):
        load(path)
    content = path.read_bytes()
    path.write_bytes(content[:-100])
    with pytest.raises(InputError, match="damaged or cut off"):
        train(TOWNS, checkpoint=path, **SMALL)
    with pytest.raises(InputError, match=r"wanted one that ends in \.safetensors"):
        train(TOWNS, checkpoint=tmp_path / "state.pt", **SMALL)
    with locked(path), pytest.raises(InputError, match="another run is using this file"):
        train(TOWNS, checkpoint=path, **SMALL)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"preset": "gpt5"}, "preset='gpt5'; there are: li2020, cai2020, laptop"),
        ({"hidden": 0}, "hidden=0; wanted a whole number of 1 or more"),
        ({"epochs": 0}, "epochs=0; wanted a whole number of 1 or more"),
        ({"dropout": 1.0}, "dropout=1.0; wanted a number of at least 0 and below 1"),
        ({"learning_rate": float("nan")}, "learning_rate=nan; wanted a number above 0, at most 10"),
        ({"learning_rate": 1e38}, r"learning_rate=1e\+38; wanted a number above 0, at most 10"),
        ({"holdout": 1.0}, "holdout=1.0; wanted"),
        ({"tokenizer": "char"}, "a word model needs one of words, whitespace"),
    ],
)
def test_bad_options(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        train(TOWNS, **{**SMALL, **options})


def test_a_loss_that_is_not_finite() -> None:
    network = build(LstmShape(5, hidden=2, embedding=2))
    network.modules["output"].bias.data[3] = np.nan
    with pytest.raises(InputError, match="the loss is nan in epoch 1, batch 1; wanted a finite one"):
        training.fit(training.Run(network, [np.array([0, 3, 1])], [], Plan(1, 1, 1e-3), {}))


def test_bad_texts(model: NeuralModel) -> None:
    with pytest.raises(InputError, match="no text to learn from"):
        train(["", " "], **SMALL)
    scores = model.log_prob(["", "The mayor"])
    assert np.isneginf(scores.log_probs).tolist() == [True, False]
    assert scores.n_tokens.tolist() == [1, 3]
    with pytest.raises(InputError, match="temperature=0"):
        model.sample(1, temperature=0, rng=rng())
    with pytest.raises(InputError, match="1 for 2 texts"):
        model.sample(2, prompts=["a"], rng=rng())
    with pytest.raises(InputError, match="width=0"):
        model.beam(width=0)
    assert model.sample(0, rng=rng()) == []
    assert len(model.log_prob([])) == 0


def test_a_file_with_other_weights(model: NeuralModel, tmp_path: Path) -> None:
    shape = LstmShape(len(model.vocabulary), hidden=9)
    mixed = replace(build(shape), shape=replace(shape, hidden=8))
    save(replace(model, network=mixed), tmp_path / "m.safetensors")
    with pytest.raises(InputError, match=r"a damaged model file: .*size mismatch"):
        load(tmp_path / "m.safetensors")


@pytest.mark.parametrize("spec", ["lstm", "gpt2", "seqgan"])
def test_a_missing_extra(spec: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("textassay.encoders.base.find_spec", lambda _name: None)
    with pytest.raises(MissingExtra, match=r"torch is not installed; get it with: pip install 'textassay\[models\]'"):
        train_model(spec, TOWNS)
    with pytest.raises(MissingExtra, match=r"textassay\[models\]"):
        get_model("hf:some/model")


def test_scores_do_not_depend_on_other_texts(model: NeuralModel) -> None:
    texts = [*TOWNS[:20], "sea", "The mayor " * 30]
    together = model.log_prob(texts).log_probs
    assert model.log_prob(texts[::-1]).log_probs[::-1] == pytest.approx(together, abs=1e-4)
    assert [model.log_prob([text]).log_probs[0] for text in texts] == pytest.approx(together, abs=1e-4)


def test_presets() -> None:
    shapes = {name: (preset.shape.layers, preset.shape.hidden) for name, preset in PRESETS.items()}
    assert shapes == {"li2020": (1, 128), "cai2020": (2, 512), "laptop": (1, 128)}
    network = build(replace(PRESETS["cai2020"].shape, vocabulary=20))
    assert max(float(values.detach().abs().max()) for values in network.modules.parameters()) <= 0.050001


def test_batches_hold_every_text_once() -> None:
    rows = [np.zeros(length, np.int64) for length in rng().integers(3, 30, 500)]
    plan = Plan(2, 16, 1e-3)
    batches = epoch_batches(rows, plan, 0)
    assert sorted(np.concatenate(batches).tolist()) == list(range(500))
    assert [batch.tolist() for batch in batches] == [batch.tolist() for batch in epoch_batches(rows, plan, 0)]
    assert [batch.tolist() for batch in batches] != [batch.tolist() for batch in epoch_batches(rows, plan, 1)]
    used = sum(padded([rows[place] for place in batch])[1].mean() for batch in batches) / len(batches)
    assert used > 0.9
