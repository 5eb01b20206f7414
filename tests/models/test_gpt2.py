"""GPT-2 over words: scores against Hugging Face, sampling with its cache, training that continues, invalid input."""

from collections import Counter
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import chisquare

from textassay.errors import InputError
from textassay.models.choose import train_model
from textassay.models.neural.gpt2 import Gpt2Shape, build, train
from textassay.models.neural.network import NeuralModel
from textassay.models.storage import load, save

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

TEXTS = [f"{who} {what}{end}" for who in ("A cat", "The dog") for what in ("sat", "ran far") for end in (".", "!")]
SMALL: dict[str, Any] = {"layers": 2, "hidden": 8, "heads": 2, "positions": 12, "epochs": 2, "batch_size": 4}


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


@pytest.fixture(scope="module")
def model() -> NeuralModel:
    return train(TEXTS, **{**SMALL, "epochs": 15, "learning_rate": 0.02})


def test_scores_equal_hugging_face(model: NeuralModel) -> None:
    """The same weights in Hugging Face's model with its own output layer."""
    whole = transformers.GPT2LMHeadModel(model.network.modules.config)
    whole.transformer.load_state_dict(model.network.modules.state_dict())
    whole.tie_weights()
    whole.eval()
    texts = ["A cat sat.", "The", "dog ran far ! A bird"]
    scores = model.log_prob(texts)
    for text, row in enumerate(model.rows(texts)):
        with torch.no_grad():
            logits = whole(input_ids=torch.tensor(row[None, :-1])).logits[0].double()
        logits[:, [0, 2]] = -np.inf
        logits[0, 1] = -np.inf
        logs = torch.log_softmax(logits, 1)[np.arange(len(row) - 1), row[1:]]
        assert scores.log_probs[text] == pytest.approx(float(logs.sum()), abs=1e-4)


@pytest.mark.parametrize("setting", [{}, {"temperature": 0.7, "top_k": 3}], ids=str)
def test_samples_follow_the_scores(setting: dict[str, Any]) -> None:
    """Sampling reads one word at a time from a cache, scoring reads whole texts."""
    tiny = train(["a b", "b", "b a a", "a"], **{**SMALL, "epochs": 10, "learning_rate": 0.02, "holdout": 0.0})
    texts = [" ".join(words) for length in (1, 2) for words in product(["a", "b", "<unk>"], repeat=length)]
    expected = 3000 * np.exp(tiny.log_prob(texts, **setting).log_probs)
    counts = Counter(tiny.sample(3000, **setting, rng=rng(1)))
    seen = np.array([counts[text] for text in texts])
    groups = expected >= 5
    observed, wanted = [*seen[groups], 3000 - seen[groups].sum()], [*expected[groups], 3000 - expected[groups].sum()]
    assert chisquare(observed, wanted).pvalue > 1e-4


def test_training_learns_and_continues(model: NeuralModel, tmp_path: Path) -> None:
    assert model.losses[-1].training < 0.5 * model.losses[0].training
    path = tmp_path / "state.safetensors"

    def stop(_what: str, done: int, _steps: int) -> None:
        if done == 3:
            raise MemoryError

    with pytest.raises(MemoryError):
        train(TEXTS, checkpoint=path, progress=stop, **SMALL)
    assert train(TEXTS, checkpoint=path, **SMALL).name == train(TEXTS, **SMALL).name


def test_save_and_load(model: NeuralModel, tmp_path: Path) -> None:
    save(model, tmp_path / "m.safetensors")
    loaded = load(tmp_path / "m.safetensors")
    assert loaded.name == model.name
    assert loaded.sample(5, rng=rng()) == model.sample(5, rng=rng())


def test_beam_and_prompts(model: NeuralModel) -> None:
    """A wide beam is at least as probable as a greedy text, and prompts of several lengths are continued."""
    best = model.log_prob(model.beam(width=4)).log_probs[0]
    assert best >= model.log_prob(model.sample(1, top_k=1, rng=rng())).log_probs[0] - 1e-6
    prompts = ["A cat", "The", "", "The dog ran"]
    alone = [model.sample(1, top_k=1, prompts=[prompt], rng=rng())[0] for prompt in prompts]
    assert model.sample(4, top_k=1, prompts=prompts, rng=rng()) == alone


def test_the_limit_of_positions(model: NeuralModel) -> None:
    scores = model.log_prob(["The " * 11, "The " * 12])
    assert np.isneginf(scores.log_probs).tolist() == [False, True]
    with pytest.raises(InputError, match="a prompt of 12 words; the model reads at most 12 words"):
        model.sample(1, prompts=["a " * 12], rng=rng())
    with pytest.raises(InputError, match=r"a text of 12 words; the network reads at most 11 .*larger positions="):
        train(["The", "a " * 12], **SMALL)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"preset": "li2020"}, "preset='li2020'; there are: laptop, desktop, cai2020"),
        ({"heads": 3}, "hidden=8; wanted a multiple of the 3 heads"),
        ({"positions": 0}, "positions=0; wanted"),
    ],
)
def test_bad_options(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        train(TEXTS, **{**SMALL, **options})


def test_trained_by_name() -> None:
    spec = "gpt2:layers=1:hidden=4:heads=1:positions=9:epochs=1"
    assert train_model(spec, TEXTS).name == train(TEXTS, layers=1, hidden=4, heads=1, positions=9, epochs=1).name


def test_the_size_of_the_paper() -> None:
    """The paper counts 268 M with the two slots of Adam per weight; 5,255 words and three symbols."""
    with torch.device("meta"):
        network = build(Gpt2Shape(5258, layers=12, hidden=768, heads=12))
    assert 3 * sum(values.numel() for values in network.modules.parameters()) == pytest.approx(268e6, rel=0.01)
