"""How scores on ratings are tested, and where the work runs."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from textassay.engines.local import Engine
from textassay.inference.progress import Progress
from textassay.inference.streams import stream


@dataclass(frozen=True, eq=False)
class RatedPlan:
    """Level, resamples and seed of a study, its engine and its progress."""

    level: float
    n_resamples: int
    seed: int
    engine: Engine
    progress: Progress

    def over(
        self, measure: Callable[[np.random.Generator], Sequence[float]], *, n: int, what: str
    ) -> NDArray[np.float64]:
        """What a function of a random stream returns, one row a resample, each with a stream of its own."""

        def one(number: int) -> Sequence[float]:
            found = measure(stream(self.seed, "ratings", what, number))
            self.progress.step(1)
            return found

        return np.array(self.engine.map(one, range(n)), dtype=np.float64)
