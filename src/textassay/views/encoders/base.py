"""The protocol of an encoder, and what every caller of one relies on."""

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

F32 = NDArray[np.float32]


class Encoder(Protocol):
    """Turns texts into vectors. The vector of a text depends on that text only, never on the texts around it.

    `name` fixes the vectors (kind, weights, version, pooling): it stands in every signature and in the cache's keys.
    """

    @property
    def name(self) -> str: ...

    @property
    def dimension(self) -> int: ...

    def encode(self, texts: Sequence[str], /) -> F32:
        """One row a text, `dimension` columns."""
        ...
