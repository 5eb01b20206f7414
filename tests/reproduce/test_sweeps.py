"""Texts drawn for reproductions, the votes of a plane, and orders of generators."""

from pathlib import Path

import numpy as np
import pytest

from textassay.errors import InputError
from textassay.models.choose import train_model
from textassay.reproduce.huse_paper import _straight_lines
from textassay.reproduce.sweeps import available, draw_texts, generate


@pytest.fixture
def files(tmp_path: Path) -> list[Path]:
    for place in range(2):
        lines = "\n".join(f"text {place} {line}" for line in range(30))
        (tmp_path / f"{place}.txt").write_text(lines, encoding="utf-8")
    return [tmp_path / "0.txt", tmp_path / "1.txt"]


def test_drawn_parts_have_no_text_in_common(files: list[Path]) -> None:
    drawn = draw_texts(files, (20, 30, 10), 0)
    assert [len(part) for part in drawn.parts] == [20, 30, 10]
    assert len({text for part in drawn.parts for text in part}) == 60
    assert drawn.parts == draw_texts(files, (20, 30, 10), 0).parts
    assert drawn.parts != draw_texts(files, (20, 30, 10), 1).parts
    assert available(files, 1000, 4) == 15
    with pytest.raises(InputError, match=r"n_items=40; .* have 60 texts: wanted 1 to 30"):
        draw_texts(files, (40, 40), 0)


def test_each_temperature_has_its_own_texts() -> None:
    model = train_model("ngram:order=2", ["a b c", "a c b", "b a c"])
    made = generate(model, 5, (0.5, 1.0), 3)
    assert {t: len(texts) for t, texts in made.items()} == {0.5: 5, 1.0: 5}
    assert made == generate(model, 5, (0.5, 1.0), 3)


def test_a_horizontal_boundary_is_found() -> None:
    votes = np.tile(np.arange(10) < 4, (10, 1))
    level, upright = _straight_lines(votes)
    assert level == 1.0
    assert upright == pytest.approx(0.6)
    assert _straight_lines(votes.T) == (upright, level)
