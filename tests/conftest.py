"""Shared helpers: materials from lists of texts, and the folder of real data where there is one."""

import os
import signal
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np
import pytest
from hypothesis import HealthCheck, settings
from numpy.typing import NDArray

from textassay.corpus.sample import Sample
from textassay.corpus.tokenizers import get_tokenizer
from textassay.metrics.views import Material, Settings

# Machines are noisy: how long one example takes says nothing about the code.
settings.register_profile("search", deadline=None, suppress_health_check=[HealthCheck.too_slow])
# The same examples every time: whether a change may land must not hang on chance.
settings.register_profile("gate", settings.get_profile("search"), derandomize=True)
PROFILE = os.environ.get("TEXTASSAY_EXAMPLES", "search")
settings.load_profile(PROFILE)
# Examples per property at the gate. It draws the same ones in every run, so more of them would find nothing new later.
MOST_EXAMPLES = 50

# A shell starts background jobs with SIGINT ignored, and so would be every program that a test starts and interrupts.
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

ROOT = Path(__file__).resolve().parent.parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Fewer examples of properties at the gate; runs by hand draw as many as the tests state."""
    if PROFILE != "gate":
        return
    for item in items:
        test = getattr(item, "obj", None)
        function: Any = getattr(test, "__func__", test)
        chosen = getattr(function, "_hypothesis_internal_use_settings", None)
        if chosen is not None and chosen.max_examples > MOST_EXAMPLES:
            function._hypothesis_internal_use_settings = settings(chosen, max_examples=MOST_EXAMPLES)


@dataclass(frozen=True)
class ToyEncoder:
    """Sums of fixed random vectors of the words, of length 1: quick, and like real encoders blind to nothing."""

    dimension: int = 12
    name: str = "toy"

    def encode(self, texts: Sequence[str], /) -> NDArray[np.float32]:
        rows = [sum((_word(word, self.dimension) for word in text.split()), np.zeros(self.dimension)) for text in texts]
        values = np.array(rows).reshape(len(texts), self.dimension)
        lengths = np.linalg.norm(values, axis=1, keepdims=True)
        return np.divide(values, lengths, out=np.zeros_like(values), where=lengths > 0).astype(np.float32)


@cache
def _word(word: str, dimension: int) -> NDArray[np.float64]:
    return np.random.default_rng(crc32(word.encode())).standard_normal(dimension)


def material(texts: Iterable[str], *, tokenizer: str = "whitespace", name: str = "sample") -> Material:
    """A material whose blank texts stay, so that empty texts can be tested."""
    sample = Sample.of(["x"], name=name)
    whole = Sample(sample.texts.from_pandas(list(texts), type=sample.texts.type), name, "digest")
    return Material(whole, Settings(get_tokenizer(tokenizer), ToyEncoder()))


@pytest.fixture(autouse=True, scope="session")
def _own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Tests and the processes they start never touch the user's cache of vectors."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TEXTASSAY_CACHE", str(tmp_path_factory.mktemp("cache")))
        patch.delenv("TEXTASSAY_CACHE_LIMIT", raising=False)
        yield


@pytest.fixture(autouse=True, scope="session")
def _no_default_encoder() -> Iterator[None]:
    """A test that wants the real encoder names it: encoding takes time, and most tests are about other things.

    For the whole session, because fixtures of modules are made before those of single tests.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("textassay.encoders.base.default_is_installed", lambda: False)
        yield


@pytest.fixture(scope="session")
def data() -> Path:
    """The folder of real data; tests that need it skip where it is missing."""
    folder = Path(os.environ.get("TEXTASSAY_DATA", ROOT.parent / "shared" / "data"))
    if not folder.is_dir():
        pytest.skip(f"no real data at {folder.name} (set TEXTASSAY_DATA)")
    return folder
