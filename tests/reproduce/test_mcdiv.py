"""ConTest and McDiv: the accuracy of the best threshold, its bootstrap, and the authors' own values in the files."""

from itertools import product
from pathlib import Path

import numpy as np
import pytest

from textassay import InputError
from textassay.reproduce.mcdiv_paper import DISTINCT, FILES, SENT_BERT, oca, read_sets


def test_the_best_threshold_is_found_among_all() -> None:
    rng = np.random.default_rng(0)
    for _ in range(50):
        scores, varied = rng.integers(0, 5, 12).astype(float), rng.integers(0, 2, 12).astype(bool)
        scores[scores == 0] = -np.inf
        weights = rng.integers(0, 4, (3, 12)).astype(float)
        weights[:, 0] += 1
        above = [np.full(12, True), *(scores > threshold for threshold in scores)]
        expected = [max(float(row @ (each == varied)) / row.sum() for each in above) for row in weights]
        assert oca(scores, varied, weights) == pytest.approx(expected)


def test_values_of_the_authors_in_their_files(data: Path) -> None:
    """Sent-BERT and distinct n-grams on prompts; 0.897 and 0.746 are published for more sets."""
    found = [
        float(oca(sets.scores[label], sets.varied)[0])
        for file, label in product((FILES[0], FILES[3]), (SENT_BERT, DISTINCT))
        for sets in [read_sets(data / file, file, 250)]
    ]
    assert found == pytest.approx([0.815, 0.675, 0.875, 0.565])


def test_another_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "other.csv").write_text("context,label_value\na,1\n")
    with pytest.raises(InputError, match="no field 'resp_0'; wanted a file of ConTest or McDiv"):
        read_sets(tmp_path / "other.csv", "other", 10)
