"""Mutated model files: each is a model that works, or one clear error."""

import json
import struct
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st
from safetensors.numpy import load as unpacked
from safetensors.numpy import save as packed

from textassay.corpus.printable import printable
from textassay.errors import InputError
from textassay.models.choose import get_model, save_model, train_model
from textassay.models.oracle import Oracle

TEXTS = ["a cat sat", "a dog sat on a mat", "the dog ran", "a cat ran to the dog"] * 3
SPECS = {
    "ngram": "ngram:order=3",
    "lstm": "lstm:hidden=4:embedding=3:layers=2:epochs=1",
    "gpt2": "gpt2:hidden=4:heads=2:layers=1:positions=16:epochs=1",
}
KINDS = [*SPECS, "oracle"]


@cache
def content(kind: str) -> bytes:
    if kind in ("lstm", "gpt2"):
        pytest.importorskip("torch")
    rng = np.random.default_rng(0)
    oracle = Oracle.random(vocabulary=5, hidden=3, length=4, rng=rng)
    with TemporaryDirectory() as folder:
        path = Path(folder) / "model.safetensors"
        save_model(oracle if kind == "oracle" else train_model(SPECS[kind], TEXTS), path)
        return path.read_bytes()


def parts(data: bytes) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
    """The metadata, the settings and the arrays of a file."""
    (size,) = struct.unpack("<Q", data[:8])
    metadata = json.loads(data[8 : 8 + size])["__metadata__"]
    return metadata, json.loads(metadata["config"]), unpacked(data)


HOSTILE = st.sampled_from(
    [None, True, -1, 0, 1, 3, 10**7, 10**12, 2**63, 10**400, -(10**12), 0.5, 1e308, float("nan"), float("inf"),
     "", "words", "x" * 1000, "\x1b[31m\n", [], [0], {}, {"a": 1}]
)  # fmt: skip
NUMBERS = st.sampled_from([0, -1, 1, 2**31, 2**62, -(2**63), 7])
FLOATS = st.sampled_from([np.nan, np.inf, -np.inf, 1e38, -3e38, 0.0, 1e-45])


@st.composite
def mutated(draw: st.DrawFn, kind: str) -> bytes:
    """A file with some changed bytes, a changed setting, or changed arrays."""
    data = content(kind)
    way = draw(st.sampled_from(["bytes", "cut", "insert", "header", "setting", "setting", "arrays", "arrays"]))
    event(way)
    if way == "cut":
        return data[: draw(st.integers(0, len(data)))]
    if way in ("bytes", "insert"):
        changed = bytearray(data)
        for _ in range(draw(st.integers(1, 4))):
            place, byte = draw(st.integers(0, len(changed) - 1)), draw(st.integers(0, 255))
            changed[place : place + (way == "bytes")] = bytes([byte])
        return bytes(changed)
    if way == "header":
        (size,) = struct.unpack("<Q", data[:8])
        place = draw(st.integers(8, 7 + size))
        return data[:place] + bytes([draw(st.integers(32, 126))]) + data[place + 1 :]
    metadata, config, arrays = parts(data)
    if way == "setting":
        owner = draw(st.sampled_from([config, *(value for value in config.values() if isinstance(value, dict))]))
        name = draw(st.sampled_from([*sorted(owner), "more"]))
        if draw(st.booleans()) or name not in owner:
            owner[name] = draw(HOSTILE)
        else:
            del owner[name]
        if draw(st.integers(0, 9)) == 0:
            metadata["kind"] = draw(st.sampled_from([*KINDS, "", "other"]))
        metadata["config"] = json.dumps(config)
    else:
        _change_arrays(draw, arrays)
    return packed({name: np.ascontiguousarray(array) for name, array in arrays.items()}, metadata=metadata)


def _change_arrays(draw: st.DrawFn, arrays: dict[str, Any]) -> None:
    name = draw(st.sampled_from(sorted(arrays)))
    array = arrays[name] = arrays[name].copy()
    way = draw(st.sampled_from(["value", "value", "value", "shorter", "flat", "gone", "type", "swap"]))
    if way == "value" and array.size:
        place = draw(st.integers(0, array.size - 1))
        values = FLOATS if array.dtype.kind == "f" else NUMBERS
        array.flat[place] = np.asarray(draw(values)).astype(array.dtype)
    elif way == "shorter":
        arrays[name] = array[:-1]
    elif way == "flat":
        arrays[name] = array.reshape(-1, 1)
    elif way == "type":
        arrays[name] = array.astype(draw(st.sampled_from(["float32", "float64", "float16", "int64", "int32", "uint8"])))
    elif way == "swap":
        other = draw(st.sampled_from(sorted(arrays)))
        arrays[name], arrays[other] = arrays[other], arrays[name]
    else:
        del arrays[name]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.filterwarnings("ignore:.*:RuntimeWarning")
def test_mutated_files(kind: str, tmp_path: Path) -> None:
    content(kind)
    path = tmp_path / "model.safetensors"

    @settings(max_examples=300, deadline=20_000, derandomize=True, suppress_health_check=list(HealthCheck))
    @given(mutated(kind))
    def check(data: bytes) -> None:
        path.write_bytes(data)
        try:
            _use(path)
        except InputError as error:
            message = str(error)
            assert message == printable(message)
            assert len(message) < 900

    check()


def _use(path: Path) -> None:
    """Generate and score, as far as the model can."""
    model: Any = get_model(path)
    limit = {} if isinstance(model, Oracle) else {"max_tokens": 5}
    texts = model.sample(3, rng=np.random.default_rng(0), **limit)
    assert len(texts) == 3
    scores = model.log_prob(["a cat sat", "1 2 3 4", *texts])
    assert not np.isnan(scores.log_probs).any()
    assert (scores.log_probs <= 1e-3).all()
    assert isinstance(model.name, str)


def test_keys_whose_differences_do_not_fit(tmp_path: Path) -> None:
    metadata, _, arrays = parts(content("ngram"))
    arrays["ngrams.2.keys"] = arrays["ngrams.2.keys"].copy()
    arrays["ngrams.2.keys"][:2] = 2**63 - 1, -(2**63)
    arrays["ngrams.2.keys"][2:] = np.sort(arrays["ngrams.2.keys"][2:])
    (tmp_path / "bad.safetensors").write_bytes(packed(arrays, metadata=metadata))
    with pytest.raises(InputError, match="its n-grams of order 2 are not in order"):
        get_model(tmp_path / "bad.safetensors")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_weights_that_are_not_finite(kind: str, value: float, tmp_path: Path) -> None:
    metadata, _, arrays = parts(content(kind))
    names = [name for name in sorted(arrays) if arrays[name].dtype.kind == "f"]
    for name in names:
        array = arrays[name].copy()
        array.flat[-1] = value
        (tmp_path / "bad.safetensors").write_bytes(packed({**arrays, name: array}, metadata=metadata))
        with pytest.raises(InputError, match=r"bad\.safetensors: a damaged model file: .*not finite"):
            get_model(tmp_path / "bad.safetensors")
    assert names or kind == "ngram"


@pytest.mark.parametrize("layers", [1, 3])
def test_the_number_of_weights_is_known_before_a_network_is_made(layers: int) -> None:
    pytest.importorskip("torch")
    from textassay.models.neural import gpt2, lstm

    networks: list[Any] = [
        lstm.build(lstm.LstmShape(11, layers=layers, hidden=6, embedding=5)),
        gpt2.build(gpt2.Gpt2Shape(11, layers=layers, hidden=6, heads=2, positions=9)),
    ]
    for network in networks:
        assert network.shape.n_weights == sum(weights.numel() for weights in network.modules.parameters())
