"""The protocol of an encoder, and what every caller of one relies on."""

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

F32 = NDArray[np.float32]


class Encoder(Protocol):
    """Turns texts into vectors. The vector of a text depends on that text only, never on the texts around it.

    `name` fixes the vectors (kind, weights, version, pooling): it stands in every signature and in the cache's keys.

    An encoder may have more: `sees`, what its vectors are about, if not meaning; and, where it reads a limited number
    of tokens, `counter()`, which counts them (None where it cannot), and `windows`, how many parts of a text it reads.
    """

    @property
    def name(self) -> str: ...

    @property
    def dimension(self) -> int: ...

    def encode(self, texts: Sequence[str], /) -> F32:
        """One row per text, `dimension` columns."""
        ...


MEANING, WORD_PATTERNS = "meaning", "word patterns"


def sees(encoder: Encoder) -> str:
    """What the vectors of an encoder are about."""
    return str(getattr(encoder, "sees", MEANING))
