"""Fixtures of the encoder tests: small models, saved once per session."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.encoders import tiny_models
from textassay.encoders.base import quiet


@contextmanager
def _libraries(*names: str) -> Iterator[None]:
    """The model libraries, without their warnings."""
    tiny_models.need(*names)
    with quiet():
        yield


@pytest.fixture(scope="session")
def bert(tmp_path_factory: pytest.TempPathFactory) -> Path:
    with _libraries("torch", "transformers"):
        return tiny_models.save_bert(tmp_path_factory.mktemp("models") / "tiny-bert")


@pytest.fixture(scope="session")
def poolerless(tmp_path_factory: pytest.TempPathFactory) -> Path:
    with _libraries("torch", "transformers"):
        return tiny_models.save_bert(tmp_path_factory.mktemp("models") / "poolerless", pooler=False)


@pytest.fixture(scope="session")
def half_bert(tmp_path_factory: pytest.TempPathFactory) -> Path:
    with _libraries("torch", "transformers"):
        return tiny_models.save_bert(tmp_path_factory.mktemp("models") / "half", dtype="bfloat16")


@pytest.fixture(scope="session")
def gpt2(tmp_path_factory: pytest.TempPathFactory) -> Path:
    with _libraries("torch", "transformers"):
        return tiny_models.save_gpt2(tmp_path_factory.mktemp("models") / "tiny-gpt2")


@pytest.fixture(scope="session")
def sentence_model(tmp_path_factory: pytest.TempPathFactory, bert: Path) -> Path:
    with _libraries("torch", "transformers", "sentence_transformers"):
        return tiny_models.save_sentence_model(tmp_path_factory.mktemp("models") / "tiny-st", bert)
