"""Cosine distance of sentence vectors."""

from dataclasses import dataclass
from typing import ClassVar
from urllib.parse import quote

import numpy as np

from textassay.corpus.arrays import F32, F64, I64
from textassay.distances.base import Surroundings
from textassay.errors import InputError, Setting


@dataclass(frozen=True, eq=False)
class Bert:
    """The cosine of the encoder's vectors: 1 for the same direction, 0 at a right angle, -1 for the opposite one.

    Equal vectors score exactly 1. A vector of length 0 has no direction and scores 0 with all vectors but
    itself. Distances are between 0 and 2.
    """

    values: F32
    alike: I64
    encoder: str

    name: ClassVar[str] = "bert"
    top: ClassVar[float] = 1.0

    @property
    def signature(self) -> str:
        """The name with that of the encoder, in which spaces and bars are percent-encoded."""
        return f"bert/{''.join(quote(c) if c.isspace() or c == '|' else c for c in self.encoder)}"

    def scores(self, numbers: I64, /) -> F64:
        """Cosines of all pairs of vectors."""
        values = self.values[numbers].astype(np.float64)
        lengths = np.sqrt((values * values).sum(axis=1))
        units = values / np.where(lengths > 0, lengths, 1.0)[:, None]
        # Row by row, not as one product: the order of summation in a product depends on the position of a row, so texts
        # with equal vectors would not tie.
        cosines = np.array([(units * unit).sum(axis=1) for unit in units]).reshape(len(units), len(units))
        same = self.same(numbers)
        return np.where(same[:, None] == same, 1.0, np.clip(cosines, -1.0, 1.0))

    def same(self, numbers: I64, /) -> I64:
        """Texts with equal vectors share a number."""
        return self.alike[numbers]


def make(surroundings: Surroundings) -> Bert:
    """Cosines among the texts of a run, each encoded once."""
    if surroundings.encoder is None:
        raise InputError("no encoder chosen; the distance 'bert' needs one, such as ", Setting("encoder", "lsa"))
    # Adding 0 turns -0 into 0, so that equal vectors have equal bytes.
    values = np.ascontiguousarray(surroundings.encoder.encode(surroundings.table.texts) + np.float32(0))
    first: dict[bytes, int] = {}
    alike = np.array([first.setdefault(row.tobytes(), index) for index, row in enumerate(values)], dtype=np.int64)
    return Bert(values, alike, surroundings.encoder.name)
