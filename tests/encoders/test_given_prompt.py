"""Vectors given the prompt: what the prompt says already does not count."""

from collections.abc import Sequence

import numpy as np

from textassay.corpus.arrays import F32
from textassay.encoders.given_prompt import GivenPrompt, reads_prompts


class Bag:
    """One dimension per letter."""

    name, dimension = "bag", 26

    def encode(self, texts: Sequence[str], /) -> F32:
        """The counts of the letters."""
        rows = [[text.count(chr(97 + at)) for at in range(26)] for text in texts]
        return np.array(rows, np.float32).reshape(len(texts), 26)


def cosine(one: F32, other: F32) -> float:
    return float(one @ other / np.linalg.norm(one) / np.linalg.norm(other))


def test_the_part_of_the_prompt_is_left_out() -> None:
    plain, given = Bag(), GivenPrompt(Bag(), "aaaa")
    texts = ["aaab", "aaac", "b"]
    one, other, third = plain.encode(texts)
    assert abs(cosine(one, other) - 0.9) < 1e-6
    one, other, third = given.encode(texts)
    assert abs(cosine(one, other)) < 1e-6
    assert cosine(one, third) > 0.999


def test_an_answer_that_adds_nothing_is_zero_and_rows_do_not_depend_on_others() -> None:
    given = GivenPrompt(Bag(), "ab")
    assert not given.encode(["abab", ""]).any()
    texts = ["abc", "xyz", "ax"]
    alone = np.concatenate([given.encode([text]) for text in texts])
    np.testing.assert_array_equal(alone, given.encode(texts))
    assert given.encode(texts).shape == (3, given.dimension)


def test_encoders_that_look_texts_up_read_no_prompts() -> None:
    assert [reads_prompts(name) for name in ("minilm", "static", "lsa", "vectors:x.npy")] == [True, True, False, False]
