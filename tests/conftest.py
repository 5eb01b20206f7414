"""Shared helpers: materials from lists of texts, and the folder of real data where there is one."""

import os
from collections.abc import Iterable
from pathlib import Path

import pytest

from textassay.corpus.sample import Sample
from textassay.corpus.tokenizers import get_tokenizer
from textassay.views.material import Material, Settings

ROOT = Path(__file__).resolve().parent.parent


def material(texts: Iterable[str], *, tokenizer: str = "whitespace", name: str = "sample") -> Material:
    """A material whose blank texts stay, so that empty texts can be tested."""
    sample = Sample.of(["x"], name=name)
    whole = Sample(sample.texts.from_pandas(list(texts), type=sample.texts.type), name, "digest")
    return Material(whole, Settings(get_tokenizer(tokenizer)))


@pytest.fixture(scope="session")
def data() -> Path:
    """The folder of real data; tests that need it skip where it is missing."""
    folder = Path(os.environ.get("TEXTASSAY_DATA", ROOT.parent / "shared" / "data"))
    if not folder.is_dir():
        pytest.skip(f"no real data at {folder.name} (set TEXTASSAY_DATA)")
    return folder
