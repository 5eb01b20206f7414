"""Samples of a sweep: parts, the work file, and what a stopped sweep loses."""

from pathlib import Path

import numpy as np
import pytest

from textassay import Sample, train_model
from textassay.models.base import Decoding
from textassay.models.ngrams.ngram import NgramModel
from textassay.studies.sweep.samples import PART, Draw, count_missing, draw_texts, samples_file

TEXTS = [f"{a} {b} {c}" for a in ("a", "the", "one") for b in ("cat", "dog", "hen") for c in ("sat", "ran", "ate")]
HALF = Decoding(0.5)


@pytest.fixture(scope="module")
def model() -> NgramModel:
    found = train_model("ngram:order=2", TEXTS)
    assert isinstance(found, NgramModel)
    return found


class Counting:
    """A model that counts the texts that it is asked for."""

    def __init__(self, model: NgramModel) -> None:
        self.model, self.name, self.asked = model, model.name, 0

    def sample(self, n: int, /, **options: object) -> list[str]:
        self.asked += n
        return self.model.sample(n, **options)  # type: ignore[arg-type]


def drawn(model: object, draw: Draw, path: Path | None, decoding: Decoding = HALF) -> list[str]:
    with samples_file(path) as work:
        return draw_texts(model, decoding, draw, work, step=lambda _: None)  # type: ignore[arg-type]


def test_finished_parts_are_read_and_not_drawn_again(model: NgramModel, tmp_path: Path) -> None:
    path, counting = tmp_path / "work", Counting(model)
    texts = drawn(counting, Draw(2 * PART + 7, 0), path)
    assert (len(texts), counting.asked) == (2 * PART + 7, 2 * PART + 7)
    assert drawn(counting, Draw(2 * PART + 7, 0), path) == texts == drawn(model, Draw(2 * PART + 7, 0), None)
    assert counting.asked == 2 * PART + 7
    # A larger sample begins with the same whole parts.
    assert drawn(counting, Draw(3 * PART, 0), path)[: 2 * PART] == texts[: 2 * PART]
    assert counting.asked == 3 * PART + 7


def test_an_incomplete_line_is_lost_and_nothing_else(model: NgramModel, tmp_path: Path) -> None:
    path, draw = tmp_path / "work", Draw(2 * PART, 0)
    texts = drawn(model, draw, path)
    content = path.read_bytes()
    for cut in (len(content) - 1, len(content) - 30, content.index(b"\n") + 2, 25, 0):
        path.write_bytes(content[:cut])
        counting = Counting(model)
        assert drawn(counting, draw, path) == texts
        assert counting.asked == PART * (3 - max(1, content[:cut].count(b"\n")))
        assert path.read_bytes() == content


def test_parts_are_kept_by_model_setting_seed_and_prompts(model: NgramModel, tmp_path: Path) -> None:
    path = tmp_path / "work"
    drawn(model, Draw(20, 0), path)
    other = train_model("ngram:order=3", TEXTS)
    prompted = Draw(20, 0, Sample.of(["a"] * 20))
    with samples_file(path) as work:
        assert count_missing(model.name, HALF, Draw(20, 0), work) == 0
        assert count_missing(other.name, HALF, Draw(20, 0), work) == 20
        assert count_missing(model.name, Decoding(0.6), Draw(20, 0), work) == 20
        assert count_missing(model.name, HALF, Draw(20, 1), work) == 20
        assert count_missing(model.name, HALF, Draw(21, 0), work) == 21
        assert count_missing(model.name, HALF, prompted, work) == 20


def test_settings_have_independent_random_numbers(model: NgramModel) -> None:
    found = [drawn(model, Draw(200, 0), None, Decoding(temperature)) for temperature in (1.0, 1.0 + 1e-9)]
    assert np.mean([one == other for one, other in zip(*found, strict=True)]) < 0.5
