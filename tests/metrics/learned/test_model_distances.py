"""Distances of two models: brute-force sums over small spaces, equal models, probabilities of 0."""

import math
from collections.abc import Callable
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from textassay import compare, get_model, metrics, save_model, train_model
from textassay.corpus.arrays import F64
from textassay.errors import InputError
from textassay.metrics.learned.likelihood import ZERO, mean_nll
from textassay.metrics.learned.model_distances import (
    Distance,
    TwoLogProbs,
    bhattacharyya_distance,
    oracle_discrepancy,
    squared_hellinger,
    symmetric_kl,
)
from textassay.metrics.registry import parse_requests
from textassay.models.oracle import Oracle

Function = Callable[[TwoLogProbs, TwoLogProbs], Distance]
# Each distance as a sum over all texts.
EXACT: list[tuple[Function, Callable[[F64, F64], float]]] = [
    (bhattacharyya_distance, lambda p, q: -math.log(np.sqrt(p * q).sum())),
    (squared_hellinger, lambda p, q: 1 - np.sqrt(p * q).sum()),
    (symmetric_kl, lambda p, q: ((p - q) * np.log(p / q)).sum()),
    (oracle_discrepancy, lambda p, q: np.abs(p - q).sum() / 2),
]


def two_distributions(seed: int, size: int = 40) -> tuple[F64, F64]:
    rng = np.random.default_rng(seed)
    p = rng.dirichlet(np.ones(size))
    q = p * np.exp(0.7 * rng.standard_normal(size))
    return p, q / q.sum()


def drawn(p: F64, q: F64, n: int, seed: int) -> tuple[TwoLogProbs, TwoLogProbs]:
    """The log-probabilities of `n` texts of each distribution."""
    rng = np.random.default_rng(seed)
    with np.errstate(divide="ignore"):
        logs = np.log(p), np.log(q)
    mine, theirs = rng.choice(len(p), n, p=p), rng.choice(len(p), n, p=q)
    return TwoLogProbs(logs[0][mine], logs[1][mine]), TwoLogProbs(logs[0][theirs], logs[1][theirs])


@pytest.mark.parametrize(("function", "exact"), EXACT, ids=lambda value: getattr(value, "__name__", ""))
def test_distances_equal_the_sum_over_all_texts(function: Function, exact: Callable[[F64, F64], float]) -> None:
    p, q = two_distributions(1)
    found = function(*drawn(p, q, 40_000, seed=2))
    assert found.undefined is None
    assert 0 < found.error < 0.02 * max(1.0, exact(p, q))
    assert found.estimate == pytest.approx(exact(p, q), abs=4 * found.error)
    assert found.warning is None


@pytest.mark.parametrize(("function", "exact"), EXACT, ids=lambda value: getattr(value, "__name__", ""))
def test_the_error_is_the_spread_over_repeated_samples(function: Function, exact: Callable[[F64, F64], float]) -> None:
    p, q = two_distributions(3)
    found = [function(*drawn(p, q, 400, seed)) for seed in range(300)]
    spread = float(np.std([one.estimate for one in found]))
    assert float(np.mean([one.error for one in found])) == pytest.approx(spread, rel=0.15)
    assert float(np.mean([one.estimate for one in found])) == pytest.approx(exact(p, q), abs=0.3 * spread)


@pytest.mark.parametrize(("function", "exact"), EXACT, ids=lambda value: getattr(value, "__name__", ""))
def test_a_model_has_no_distance_from_itself(function: Function, exact: Callable[[F64, F64], float]) -> None:
    p, _ = two_distributions(5)
    found = function(*drawn(p, p, 50, seed=0))
    assert (found.estimate, found.error, found.n_zero) == (0.0, 0.0, 0)
    assert exact(p, p) == pytest.approx(0, abs=1e-12)


def test_ratios_of_many_tokens_do_not_overflow() -> None:
    """Long texts have log-probabilities of thousands, and only their differences count."""
    far = (
        TwoLogProbs(np.array([-9e3, -9e3]), np.array([-2e4, -2e4])),
        TwoLogProbs(np.array([-2e4] * 2), np.array([-9e3] * 2)),
    )
    found = bhattacharyya_distance(*far)
    assert found.estimate == pytest.approx(5500)
    assert squared_hellinger(*far).estimate == 1.0
    assert symmetric_kl(*far).estimate == 22_000


def test_exchanged_samples_are_refused() -> None:
    p, q = two_distributions(1)
    reference, candidate = drawn(p, q, 2000, seed=0)
    for function in (bhattacharyya_distance, squared_hellinger):
        for sides in ((candidate, reference), (reference, reference), (candidate, candidate)):
            found = function(*sides)
            assert found.undefined is not None
            assert "they are no sample of their own" in found.undefined
    assert oracle_discrepancy(reference, reference).estimate == pytest.approx(0)


def test_a_few_dominant_texts_are_reported() -> None:
    rng = np.random.default_rng(0)
    ratios = 12 + 8 * rng.standard_normal((2, 500))
    sides = [TwoLogProbs(np.full(500, -100.0), -100 - ratios[0]), TwoLogProbs(-100 - ratios[1], np.full(500, -100.0))]
    found = bhattacharyya_distance(*sides)
    assert found.effective < 10
    assert found.largest_share > 0.2
    assert found.warning is not None
    assert "a few texts dominate" in found.warning
    assert f"is {found.largest_share:.0%}," in found.warning


def zeros(p: list[float], q: list[float]) -> TwoLogProbs:
    with np.errstate(divide="ignore"):
        return TwoLogProbs(np.log(p), np.log(q))


@pytest.mark.parametrize(
    ("function", "wanted"),
    [(bhattacharyya_distance, math.log(2)), (squared_hellinger, 0.5), (oracle_discrepancy, 0.5)],
)
def test_a_text_that_the_other_model_cannot_write_counts(function: Function, wanted: float) -> None:
    """Exact for P = (1/2, 1/2, 0) and Q = (0, 1/2, 1/2), with one text of each kind."""
    found = function(zeros([0.5, 0.5], [0.0, 0.5]), zeros([0.5, 0.0], [0.5, 0.5]))
    assert found.estimate == pytest.approx(wanted)
    assert found.n_zero == 2


def test_infinite_distances_are_undefined_with_a_reason() -> None:
    reference, candidate = zeros([0.5, 0.5], [0.0, 0.5]), zeros([0.5, 0.5], [0.5, 0.5])
    found = symmetric_kl(reference, candidate)
    assert math.isnan(found.estimate)
    assert found.undefined == "a text of one model has probability 0 under the other: the divergence is infinite"
    apart = bhattacharyya_distance(zeros([0.5, 0.5], [0.0, 0.0]), candidate)
    assert apart.undefined == "no text of one model is possible under the other: the distance is infinite"
    assert (apart.n_zero, apart.warning) == (2, None)


@pytest.mark.parametrize("function", [bhattacharyya_distance, squared_hellinger, symmetric_kl, oracle_discrepancy])
def test_a_text_that_its_own_model_cannot_write_is_no_sample(function: Function) -> None:
    found = function(zeros([0.0, 0.5], [0.0, 0.5]), zeros([0.5, 0.5], [0.5, 0.5]))
    assert found.undefined == "a text has probability 0 under the model that it should be a sample of"
    assert found.n_zero == 1


def test_bad_log_probabilities_are_refused() -> None:
    with pytest.raises(InputError, match=r"shapes \(2,\) and \(3,\); wanted one number per text"):
        TwoLogProbs(np.zeros(2), np.zeros(3))
    with pytest.raises(InputError, match="log_q: a log-probability that is not a number"):
        TwoLogProbs(np.zeros(2), np.array([0.0, np.nan]))
    one = TwoLogProbs(np.zeros(1), np.zeros(1))
    with pytest.raises(InputError, match="log-probabilities of 1 text of the reference; wanted 2 or more"):
        oracle_discrepancy(one, one)


def small_models() -> tuple[Oracle, Oracle]:
    """An oracle over all 125 texts of three of five words, and the same oracle with perturbed weights."""
    rng = np.random.default_rng(0)
    first = Oracle.random(vocabulary=5, hidden=4, length=3, rng=rng)
    moved = {name: (w + 0.4 * rng.standard_normal(w.shape)).astype(np.float32) for name, w in first.weights.items()}
    return first, Oracle(moved, 3)


def all_texts() -> list[str]:
    return [" ".join(map(str, words)) for words in product(range(5), repeat=3)]


@pytest.mark.parametrize("temperature", [1.0, 0.6])
def test_metrics_equal_the_sum_over_all_texts_of_small_models(temperature: float) -> None:
    """Texts that the models generate, scored by the models, give the sums over all 125 texts."""
    oracle, model = small_models()
    p = np.exp(oracle.log_prob(all_texts()).log_probs)
    q = np.exp(model.log_prob(all_texts(), temperature=temperature).log_probs)
    assert p.sum() == pytest.approx(1)
    assert q.sum() == pytest.approx(1)
    rng = np.random.default_rng(1)
    real, made = oracle.sample(4000, rng=rng), model.sample(4000, temperature=temperature, rng=rng)
    options = {"model": model, "oracle": oracle, "temperature": temperature, "n_resamples": 99}
    found = metrics.bhattacharyya(made, real, **options)
    values = [found.parts[name] for name in ("bhattacharyya", "squared_hellinger", "symmetric_kl")]
    errors = [found.parts[f"{name}_error"] for name in ("bhattacharyya", "squared_hellinger", "symmetric_kl")]
    for value, error, (_, exact) in zip(values, errors, EXACT[:3], strict=True):
        assert 0 < error < 0.05
        assert value == pytest.approx(exact(p, q), abs=4 * error)
    assert found.estimate == values[0]
    assert found.interval is not None
    assert found.interval.high - found.interval.low == pytest.approx(4 * errors[0], rel=0.5)
    assert found.p_value == 0.01
    for variant, value in zip(("hellinger", "symmetric_kl"), values[1:], strict=True):
        assert metrics.bhattacharyya(made, real, variant=variant, **options).estimate == value
    discrepancy = metrics.oracle_dd(made, real, **options)
    assert discrepancy.estimate == pytest.approx(np.abs(p - q).sum() / 2, abs=4 * discrepancy.parts["error"])
    entropy = metrics.model_entropy(made, model=model, temperature=temperature, n_resamples=99)
    assert entropy.interval is not None
    assert -(q * np.log(q)).sum() in entropy.interval


def test_a_model_against_itself_has_distance_0() -> None:
    oracle, _ = small_models()
    real, made = (oracle.sample(500, rng=np.random.default_rng(seed)) for seed in (1, 2))
    found = metrics.bhattacharyya(made, real, model=oracle, oracle=oracle, n_resamples=99)
    assert (found.estimate, found.parts["squared_hellinger"], found.parts["symmetric_kl"]) == (0, 0, 0)
    assert metrics.oracle_dd(made, real, model=oracle, oracle=oracle, n_resamples=99).estimate == 0
    assert found.p_value == 1


def test_dominant_texts_and_zeros_are_noted_by_compare(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    oracles = [Oracle.random(vocabulary=300, hidden=8, length=12, deviation=1.5, rng=rng) for _ in range(2)]
    paths = [tmp_path / name for name in ("p.safetensors", "q.safetensors")]
    for oracle, path in zip(oracles, paths, strict=True):
        save_model(oracle, path)
    real, made = (oracle.sample(200, rng=rng) for oracle in oracles)
    spec = f"bhattacharyya:oracle={paths[0]}:model={paths[1]}"
    found = compare(real, {"made": made}, metrics=[spec], n_resamples=0)
    label = "bhattacharyya model=q.safetensors oracle=p.safetensors"
    assert any(note.startswith(f"made: {label}: a few texts dominate: the estimate is worth") for note in found.notes)
    shorter = compare(real, {"made": [*made, "1 2"]}, metrics=[f"oracle_nll:oracle={paths[0]}"], n_resamples=0)
    result = shorter["made"]["oracle_nll"]
    assert result.undefined == ZERO
    assert result.parts["zero_probability"] == 1
    assert math.isfinite(result.parts["mean_of_others"])
    assert "made: oracle_nll oracle=p.safetensors: 1 text with probability 0 under a model" in shorter.notes
    assert f"|oracle:{oracles[0].name}|" in result.signature
    assert str(tmp_path) not in result.signature


def test_a_test_with_texts_of_probability_0_is_finite(tmp_path: Path) -> None:
    """The reference has an impossible text, the candidate none."""
    oracle, model = small_models()
    rng = np.random.default_rng(0)
    made, real = oracle.sample(60, rng=rng), [*oracle.sample(60, rng=rng), "9 9 9"]
    found = compare(real, {"made": made}, metrics=[f"oracle_nll:oracle={stored(oracle, tmp_path)}"], n_resamples=99)
    result = found["made"]["oracle_nll"]
    assert result.p_value is not None
    assert 0 < result.p_value <= 1
    again = metrics.oracle_dd(made, real, oracle=oracle, model=model, n_resamples=99)
    assert again.parts["zero_probability"] == 1
    assert again.undefined == "a text has probability 0 under the model that it should be a sample of"


def stored(model: Oracle, folder: Path) -> Path:
    path = folder / "model.safetensors"
    save_model(model, path)
    return path


@pytest.mark.parametrize("name", ["nll", "model_entropy", "oracle_nll", "bhattacharyya", "oracle_dd"])
def test_a_missing_model_is_one_clear_line(name: str) -> None:
    option = "oracle" if name == "oracle_nll" else "model"
    with pytest.raises(InputError, match=f"^metric '{name}' needs the option {option}, as in {name}:{option}=FILE"):
        parse_requests([name])
    texts = [["a b"] * 3, ["a c"] * 3][: 1 + (name not in ("model_entropy", "oracle_nll"))]
    with pytest.raises(InputError, match=rf"^{name} needs a model: {option}=\.\.\., a model or the path"):
        getattr(metrics, name)(*texts)


def test_two_models_with_one_file_name_are_refused(tmp_path: Path) -> None:
    paths = [tmp_path / name for name in ("a", "b")]
    for path in paths:
        path.mkdir()
        save_model(train_model("ngram:order=2", ["a b c", f"a {path.name} d"]), path / "m.safetensors")
    with pytest.raises(
        InputError, match=r"^two metrics are called 'oracle_nll oracle=m\.safetensors'; wanted model files"
    ):
        parse_requests([f"oracle_nll:oracle={path}/m.safetensors" for path in paths])


def test_models_that_cannot_be_opened_are_one_clear_line(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"no such model; wanted a \.safetensors file"):
        parse_requests(["oracle_nll:oracle=nowhere"])
    other = tmp_path / "other.safetensors"
    other.write_bytes(b"not a model")
    with pytest.raises(InputError, match="not a model file, or damaged or cut off") as raised:
        parse_requests([f"oracle_nll:oracle={other}"])
    assert "\n" not in str(raised.value)
    with pytest.raises(InputError, match="a list as model; wanted a model, or the path of a model file"):
        metrics.oracle_nll(["a b"] * 3, oracle=[1])
    with pytest.raises(InputError, match=r"temperature is '0'; wanted a number from 0\.001 to 1000"):
        parse_requests(["nll:model=oracle:random:vocabulary=5:hidden=2:temperature=0"])


def test_names_of_models_may_have_colons() -> None:
    (request,) = parse_requests(["oracle_nll:oracle=oracle:random:vocabulary=9:hidden=2:length=3:seed=5:per=token"])
    assert request.options == {"oracle": "oracle:random:vocabulary=9:hidden=2:length=3:seed=5", "per": "token"}
    assert request.label == "oracle_nll oracle=oracle:random:vocabulary=9:hidden=2:length=3:seed=5 per=token"


def test_the_given_oracle_has_its_known_entropy(data: Path) -> None:
    """5.74 nats per token on its own samples, 20 times that per text; two samples of it differ by chance only."""
    spec = f"oracle:{data / 'oracle'}"
    oracle = get_model(spec)
    texts = [oracle.sample(n, rng=np.random.default_rng(n)) for n in (300, 40)]
    found = metrics.oracle_nll(texts[0], oracle=oracle, per="token")
    error = mean_nll(oracle.log_prob(texts[0]), per="token").error
    assert error < 0.04
    assert found.estimate == pytest.approx(5.74, abs=3 * error)
    few = [side[:40] for side in texts]
    whole, single = (metrics.oracle_nll(few[0], oracle=spec, per=per).estimate for per in ("text", "token"))
    assert whole == pytest.approx(20 * single)
    both = metrics.bhattacharyya(*few, model=spec, oracle=oracle, n_resamples=99)
    assert (both.estimate, both.parts["error"]) == (0, 0)
    assert metrics.oracle_dd(*few, model=spec, oracle=oracle, n_resamples=99).estimate == 0
