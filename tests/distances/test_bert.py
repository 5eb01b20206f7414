"""Cosines of sentence vectors: their definition, zero vectors, equal vectors."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.conftest import ToyEncoder
from tests.distances.pairs import table_of
from textassay.distances.base import Surroundings, get_distance, pooled_scores
from textassay.errors import InputError


@dataclass
class Chosen:
    """An encoder with given vectors that counts its calls."""

    vectors: dict[str, list[float]]
    name: str = "by hand|v1"
    dimension: int = 2
    asked: int = 0

    def encode(self, texts: Sequence[str], /) -> NDArray[np.float32]:
        self.asked += len(texts)
        return np.array([self.vectors[text] for text in texts], dtype=np.float32)


def test_cosines_by_hand() -> None:
    vectors = {"a": [3.0, 4.0], "A": [3.0, 4.0], "b": [-6.0, -8.0], "c": [4.0, -3.0], "none": [0.0, -0.0], "": [0.0, 0]}
    encoder = Chosen(vectors)
    distance = get_distance("bert", Surroundings(table_of([list(vectors)]), encoder))
    scores, distances = pooled_scores(distance, np.arange(6))
    wanted = np.array([[1, 1, -1, 0], [1, 1, -1, 0], [-1, -1, 1, 0], [0, 0, 0, 1]])
    np.testing.assert_allclose(scores[:4, :4], wanted, atol=1e-15)
    assert not scores[4:, :4].any()
    assert (scores[4:, 4:] == 1).all()
    assert distances[0, 1] == distances[4, 5] == 0.0
    assert distances[0, 2] == 2.0
    assert distance.same(np.arange(6)).tolist() == [0, 0, 2, 3, 4, 4]
    assert encoder.asked == 6
    assert distance.signature == "bert/by%20hand%7Cv1"


def test_large_vectors_agree_with_numpy_and_are_symmetric_to_the_last_bit() -> None:
    texts = [f"word{i} and word{i // 2}" for i in range(15)]
    encoder = ToyEncoder(384)
    distance = get_distance("bert", Surroundings(table_of([texts]), encoder))
    scores = distance.scores(np.arange(15))
    values = encoder.encode(texts).astype(np.float64)
    np.testing.assert_allclose(scores, values @ values.T, atol=1e-6)
    assert (scores == scores.T).all()


def test_no_encoder_is_one_line() -> None:
    with pytest.raises(InputError, match="no encoder chosen; the distance 'bert' needs one, such as encoder='lsa'"):
        get_distance("bert", Surroundings(table_of([["a"]])))
