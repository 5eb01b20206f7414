"""Paired comparison of two candidates against one reference."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from textassay.inference.jackknife import Floats, Replicates, half_width, spread, summed, two_sided


@dataclass(frozen=True)
class Difference:
    """How much higher the first candidate's value is, its interval and the p-value of no difference."""

    estimate: float
    low: float
    high: float
    p_value: float


def paired_difference(
    first: tuple[float, Replicates], second: tuple[float, Replicates], *, level: float = 0.95
) -> Difference:
    """The difference of a metric between two candidates measured against the same reference with the same seed.

    The reference's groups are the same for both, so its noise is differenced away; the candidates vary on their own.
    """
    (value, replicates), (other_value, others) = first, second
    if replicates.joint:
        # Texts in groups: everything that leaves with a fold leaves at once.
        sources = [summed((*replicates.by_sample[:2], *(-values for values in others.by_sample[:2])))]
        sources += [*replicates.by_sample[2:], *others.by_sample[2:]]
        return _difference(value - other_value, sources, level)
    sources = [replicates.by_sample[0], others.by_sample[0]]
    if len(replicates.by_sample) > 1:
        sources.append(np.asarray(replicates.by_sample[1] - others.by_sample[1]))
    # What comes after candidate and reference, such as the seeds of clusters, varies for each candidate on its own.
    sources += [*replicates.by_sample[2:], *others.by_sample[2:]]
    return _difference(value - other_value, sources, level)


def _difference(difference: float, sources: Sequence[Floats], level: float) -> Difference:
    error = spread(sources)
    half = half_width(error, level)
    return Difference(difference, difference - half, difference + half, two_sided(difference, error))
