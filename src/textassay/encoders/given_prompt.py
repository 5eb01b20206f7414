"""Vectors of answers given their prompt: what an answer adds to its prompt.

Answers to one prompt share its topic, and their vectors are alike whatever they say. Two vectors of an answer are
used, each without its component along the vector of the prompt: that of the answer, and that of the prompt and the
answer together, which shows what a short answer refers to. They are scaled to the same length and joined, so that a
cosine of two answers is the mean of both cosines.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from textassay.corpus.arrays import F32, F64
from textassay.encoders.base import Encoder

# Encoders that read any text; the others were fitted on the texts of a run, or look them up.
_FITTED = ("lsa", "bow", "vectors")
# What is left of a vector of length 1 below this is rounding: an empty answer adds nothing to its prompt.
_ROUNDING = 1e-3


def reads_prompts(encoder: str | Encoder) -> bool:
    """Whether an encoder reads texts other than those of the samples, such as prompts."""
    name = encoder if isinstance(encoder, str) else encoder.name
    return not name.startswith(_FITTED)


def with_prompt(prompt: str, texts: Sequence[str]) -> Iterator[str]:
    """Each answer behind its prompt."""
    return (f"{prompt} {text}" for text in texts)


@dataclass(frozen=True, eq=False)
class GivenPrompt:
    """An encoder of the answers to one prompt."""

    encoder: Encoder
    prompt: str

    @property
    def name(self) -> str:
        """The name of the encoder behind it, marked."""
        return f"{self.encoder.name}/given-prompt"

    @property
    def dimension(self) -> int:
        """Twice that of the encoder behind it."""
        return 2 * self.encoder.dimension

    def encode(self, texts: Sequence[str], /) -> F32:
        """One row per answer; an answer that adds nothing to its prompt is a vector of zeros."""
        prompt = _unit(self.encoder.encode([self.prompt]))[0]
        together = list(with_prompt(self.prompt, texts))
        parts = [_without(_unit(self.encoder.encode(each)), prompt) for each in (list(texts), together)]
        return np.concatenate(parts, axis=1).astype(np.float32)


def _unit(values: F32) -> F64:
    rows = values.astype(np.float64)
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return rows / np.where(lengths > 0, lengths, 1.0)


def _without(rows: F64, direction: F64) -> F64:
    """The rows without their component along a direction, scaled to length 1 again."""
    # Row by row, so that a vector does not depend on the other texts.
    along = np.einsum("ij,j->i", rows, direction)
    left = rows - along[:, None] * direction
    lengths = np.linalg.norm(left, axis=1, keepdims=True)
    return np.where(lengths > _ROUNDING, left / np.maximum(lengths, _ROUNDING), 0.0)
