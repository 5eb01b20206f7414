"""The triangle statistic as it is written down: loops over all triangles and partitions, in fractions."""

from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import combinations, permutations

import numpy as np
from numpy.typing import NDArray

from textassay.metrics.items.item_pool import ItemPool

ZERO, THIRD, HALF, ONE = Fraction(0), Fraction(1, 3), Fraction(1, 2), Fraction(1)
Matrix = Sequence[Sequence[float]]
Indicators = tuple[Fraction, Fraction, Fraction]


def item(distances: Matrix | NDArray[np.float64], n: int) -> ItemPool:
    """A pool of `n` candidates and the rest references, under a distance called `own`."""
    matrix = np.array(distances, dtype=np.float64)
    return ItemPool((n, len(matrix) - n), {"own": 1 - matrix}, {"own": matrix})


def indicators(edge: float, others: tuple[float, float], variant: str) -> Indicators:
    """How far the edge is the shortest, the middle and the longest of the three."""
    e0, e1 = others
    if variant in ("paper", "squared"):
        middle = e0 <= edge <= e1 or e1 <= edge <= e0
        return Fraction(edge <= e0 and edge <= e1), Fraction(middle), Fraction(e0 <= edge and e1 <= edge)
    if variant == "exclusive":
        shorter, longer = edge < e0 and edge < e1, edge > e0 and edge > e1
        return Fraction(shorter), Fraction(not shorter and not longer), Fraction(longer)
    if variant == "split":
        return _average_over_tie_breaks(edge, others)
    return _released(edge, others)


def _average_over_tie_breaks(edge: float, others: tuple[float, float]) -> Indicators:
    """Each order of the three edges breaks ties in its own way; all six are as likely."""
    ranks = [ZERO, ZERO, ZERO]
    edges = [edge, *others]
    for order in permutations(range(3)):
        ranked = sorted(order, key=lambda e: edges[e])
        ranks[ranked.index(0)] += Fraction(1, 6)
    return ranks[0], ranks[1], ranks[2]


def _released(edge: float, others: tuple[float, float]) -> Indicators:
    """The expected value of what the program draws; the third place holds the coin that it tosses for its first."""
    below, tied = sum(other < edge for other in others), sum(other == edge for other in others)
    shortest = (THIRD if tied else ONE) if below == 0 else ZERO
    middle = THIRD if tied else ONE if below == 1 else ZERO
    return shortest, middle, THIRD


def shares(distances: Matrix, apexes: Iterable[int], base: Sequence[int], variant: str) -> Indicators | None:
    """The means of the indicators over all triangles; None where there is none."""
    found = [
        indicators(distances[i][j], (distances[k][i], distances[k][j]), variant)
        for k in apexes
        for i, j in permutations(base, 2)
    ]
    if not found:
        return None
    return tuple(sum(ranks, ZERO) / len(found) for ranks in zip(*found, strict=True))  # type: ignore[return-value]


def statistic(
    distances: Matrix, candidates: Sequence[int], references: Sequence[int], *, variant: str, direction: str
) -> Fraction | None:
    """TRM, or one direction of it."""
    total = ZERO
    sides = {"references": (candidates, references), "candidates": (references, candidates)}
    for name, (apexes, base) in sides.items():
        if direction in ("both", name):
            means = shares(distances, apexes, base, variant)
            if means is None:
                return None
            off = [abs(mean - THIRD) for mean in means]
            total += sum((x * x for x in off) if variant == "squared" else off, ZERO)
    return total


def exact_p(distances: Matrix, n: int, *, variant: str, direction: str) -> Fraction:
    """The share of all partitions with a statistic of at least the observed one."""
    texts = range(len(distances))
    values = []
    for chosen in combinations(texts, n):
        rest = [text for text in texts if text not in chosen]
        value = statistic(distances, chosen, rest, variant=variant, direction=direction)
        assert value is not None
        values.append(value)
    # Combinations come in order, the first candidates first.
    return Fraction(sum(value >= values[0] for value in values), len(values))
