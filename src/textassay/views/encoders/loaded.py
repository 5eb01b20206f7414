"""A loaded model, as the few things that encoding needs of it; and the settings under which models are loaded."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

from textassay.corpus.errors import MissingExtra
from textassay.views.encoders.base import F32
from textassay.views.encoders.batches import MOST_TEXTS

# What one text is to the model: its numbers under the name of each input.
Row = dict[str, Any]


@dataclass(frozen=True)
class LoadedModel:
    """A model in memory. `tokenise` gives a row a text and the tokens of each; `forward` takes rows of equal length.

    `of_length_1` is true where all vectors are made of length 1. `least_texts` is more than 1 where something is
    computed from one row per text: see the batches.
    """

    tokenise: Callable[[list[str]], tuple[list[Row], list[int]]]
    forward: Callable[[Sequence[Row]], F32]
    dimension: int
    of_length_1: bool = False
    least_texts: int = 1
    most_texts: int = MOST_TEXTS


# Matrix products of fewer rows give other bytes; measured, and the reason why batches are filled.
HEAD_ROWS = 4


def require(**packages: str) -> None:
    """An error for the first of these modules that is not installed, named as the package that brings it."""
    for module, package in packages.items():
        if find_spec(module) is None:
            raise MissingExtra(package, "embed")


def weights_options() -> dict[str, Any]:
    """How weights are loaded: never pickled, always in single precision."""
    import torch
    import transformers

    precision = "torch_dtype" if transformers.__version__.startswith("4.") else "dtype"
    return {"use_safetensors": True, precision: torch.float32}


def stacked(rows: Sequence[Row]) -> dict[str, Any]:
    """The rows as the inputs of one batch: numbers stacked, and what is the same for all texts as it is."""
    import torch

    return {
        key: torch.tensor([row[key] for row in rows]) if isinstance(first, list) else first
        for key, first in rows[0].items()
    }
