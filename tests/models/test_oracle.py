"""The SeqGAN oracle: the released weights, sampling and scoring, and invalid input."""

from collections import Counter
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import chisquare

from textassay.errors import InputError
from textassay.models.choose import get_model
from textassay.models.oracle import Oracle
from textassay.models.storage import load, save


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def tiny(**changes: int | float) -> Oracle:
    settings = {"vocabulary": 4, "hidden": 3, "length": 3, "deviation": 1.0, **changes}
    return Oracle.random(**settings, rng=rng())  # type: ignore[arg-type]


ALL = [" ".join(words) for words in product("0123", repeat=3)]
SETTINGS = [
    {},
    {"temperature": 0.4},
    {"temperature": 3.0},
    {"top_k": 2},
    {"top_p": 0.7},
    {"temperature": 2.0, "top_p": 0.6, "top_k": 3},
]


@pytest.mark.parametrize("setting", SETTINGS, ids=str)
def test_samples_follow_the_scores(setting: dict[str, float]) -> None:
    oracle = tiny()
    chances = np.exp(oracle.log_prob(ALL, **setting).log_probs)  # type: ignore[arg-type]
    assert chances.sum() == pytest.approx(1.0, abs=1e-5)
    counts = Counter(oracle.sample(8000, **setting, rng=rng(1)))  # type: ignore[arg-type]
    seen = np.array([counts[text] for text in ALL])
    assert seen.sum() == 8000
    assert seen[chances == 0].sum() == 0
    # Texts with few expected counts are one group.
    rare = 8000 * chances < 5
    expected = np.append(chances[~rare], chances[rare].sum()) * 8000
    observed = np.append(seen[~rare], seen[rare].sum())
    keep = expected > 0
    assert chisquare(observed[keep], expected[keep] * observed.sum() / expected.sum()).pvalue > 1e-4


def test_temperature_changes_the_samples() -> None:
    """The check above can fail: samples at one temperature do not follow the probabilities of another one."""
    oracle = tiny()
    chances = np.exp(oracle.log_prob(ALL, temperature=1.2).log_probs)
    counts = Counter(oracle.sample(8000, rng=rng(1)))
    assert chisquare([counts[text] for text in ALL], 8000 * chances / chances.sum()).pvalue < 1e-6


def test_released_weights(data: Path) -> None:
    """5.74 nats per token on its own samples; the mean over texts of the score is minus the entropy."""
    oracle = Oracle.read(data / "oracle")
    scores = oracle.log_prob(oracle.sample(768, rng=rng()))
    per_token = -scores.log_probs / 20
    error = per_token.std() / len(per_token) ** 0.5
    assert scores.n_zero == 0
    assert error < 0.03
    assert per_token.mean() == pytest.approx(5.74, abs=3 * error)


def test_by_hand() -> None:
    """One step of the recurrence, written out with Python numbers."""
    oracle = tiny(hidden=1, length=1)
    w = {name: float(value.ravel()[0]) for name, value in oracle.weights.items()}
    logistic = {gate: 1 / (1 + np.exp(-(w["embedding"] * w[f"w{gate}"] + w[f"b{gate}"]))) for gate in ("i", "og")}
    cell = logistic["i"] * np.tanh(w["embedding"] * w["wc"] + w["bc"])
    logits = logistic["og"] * np.tanh(cell) * oracle.weights["wo"][0] + oracle.weights["bo"]
    wanted = logits - np.log(np.exp(logits).sum())
    assert oracle.log_prob(["0", "1", "2", "3"]).log_probs == pytest.approx(wanted, abs=1e-5)


def test_prompts_are_continued() -> None:
    oracle = tiny()
    texts = oracle.sample(3, prompts=["3 2", "", "1"], rng=rng())
    assert [len(text.split()) for text in texts] == [1, 3, 2]
    # Given "3 2", the last word follows the conditional probabilities.
    counts = Counter(oracle.sample(4000, prompts=["3 2"] * 4000, rng=rng()))
    chances = np.exp(oracle.log_prob([f"3 2 {word}" for word in range(4)]).log_probs)
    assert chisquare([counts[str(word)] for word in range(4)], 4000 * chances / chances.sum()).pvalue > 1e-4


def test_other_texts_have_probability_zero() -> None:
    scores = tiny().log_prob(["1 2 3", "1 2", "1 2 3 0", "", "1 2 4", "1 2 x", "1 2 -1", "1 2 ²", f"1 2 {'9' * 5000}"])
    assert np.isfinite(scores.log_probs[0])
    assert scores.n_zero == 8
    assert scores.n_tokens.tolist() == [3, 2, 4, 0, 3, 3, 3, 3, 3]


def test_same_seed_same_texts_and_name() -> None:
    assert tiny().sample(5, rng=rng(2)) == tiny().sample(5, rng=rng(2))
    assert tiny().name == tiny().name != tiny(deviation=2.0).name
    assert tiny(deviation=0.0).log_prob(["1 2 3"]).log_probs == pytest.approx(3 * np.log(1 / 4))


def test_save_and_load(tmp_path: Path) -> None:
    save(tiny(), tmp_path / "oracle.safetensors")
    loaded = load(tmp_path / "oracle.safetensors")
    assert loaded.name == tiny().name
    assert loaded.sample(4, rng=rng()) == tiny().sample(4, rng=rng())


@pytest.mark.parametrize("prompt", ["1 2 3", "7", "a", "-1"])
def test_impossible_prompts(prompt: str) -> None:
    with pytest.raises(InputError, match="wanted fewer than 3 numbers below 4"):
        tiny().sample(1, prompts=[prompt], rng=rng())


def test_bad_folders(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such folder"):
        Oracle.read(tmp_path / "missing")
    with pytest.raises(InputError, match=r"no file embedding.npy or embedding.npz"):
        Oracle.read(tmp_path)
    for name, values in tiny().weights.items():
        np.save(tmp_path / f"{name}.npy", values)
    assert Oracle.read(tmp_path, length=3).name == tiny().name
    (tmp_path / "wo.npy").write_bytes((tmp_path / "wo.npy").read_bytes()[:-4])
    with pytest.raises(InputError, match=r"wo.npy cannot be read as a NumPy array"):
        Oracle.read(tmp_path)
    np.save(tmp_path / "wo.npy", np.array([object()]), allow_pickle=True)
    with pytest.raises(InputError, match=r"wo.npy cannot be read as a NumPy array"):
        Oracle.read(tmp_path)
    np.save(tmp_path / "wo.npy", np.zeros((2, 4), np.float32))
    with pytest.raises(InputError, match=r"weights wo of shape \(2, 4\); wanted \(3, 4\)"):
        Oracle.read(tmp_path)


@pytest.mark.parametrize(
    ("changes", "message"),
    [({"vocabulary": 0}, "wanted 1 or more"), ({"deviation": -1.0}, "deviation=-1.0; wanted 0 or more")],
)
def test_bad_settings(changes: dict[str, float], message: str) -> None:
    with pytest.raises(InputError, match=message):
        tiny(**changes)


def test_opened_by_name(tmp_path: Path) -> None:
    for name, values in tiny().weights.items():
        np.save(tmp_path / f"{name}.npy", values)
    assert get_model(f"oracle:{tmp_path}").name == Oracle.read(tmp_path).name
    named = get_model("oracle:random:vocabulary=4:hidden=3:length=3:deviation=0.5:seed=0")
    assert named.name == tiny(deviation=0.5).name


def test_word_vectors_of_another_size() -> None:
    """As in the oracle of Montahaei et al.; its probabilities sum to 1 over all texts."""
    oracle = get_model("oracle:random:vocabulary=3:hidden=2:length=2:embedding=7")
    assert isinstance(oracle, Oracle)
    assert oracle.weights["embedding"].shape == (3, 7)
    assert oracle.weights["wi"].shape == (7, 2)
    texts = [f"{a} {b}" for a in range(3) for b in range(3)]
    assert np.exp(oracle.log_prob(texts).log_probs).sum() == pytest.approx(1.0, abs=1e-5)


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("oracle:random:seed=x", "'seed=x'; wanted option=number"),
        ("oracle:random:sigma=1", "no option 'sigma' of a random oracle; there are: 'vocabulary', 'hidden'"),
        ("oracle:random:seed=-1", "seed=-1; wanted"),
        ("oracle:nowhere", "oracle 'nowhere': no such folder"),
    ],
)
def test_bad_names(spec: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        get_model(spec)
