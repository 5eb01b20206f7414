"""Strays: texts of one sample that have no counterpart in the other one."""

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from textassay.corpus.printable import shortened
from textassay.studies.meaning import Stray
from textassay.views.material import Material
from textassay.views.vectors import F32, Vectors

_BLOCK = 1024
_WIDTH = 200
# Farther than so many reference texts are from their nearest fellow.
FAR = 0.95


@dataclass(frozen=True, eq=False)
class Nearest:
    """The distance to the nearest text of another sample, and which one that is."""

    distances: NDArray[np.float64]
    places: NDArray[np.int64]


def _even(texts: F32, others: F32) -> tuple[F32, F32]:
    """Both around 0 and about 1 in size: what all vectors have in common would cost single precision its digits."""
    middle = others.mean(axis=0, dtype=np.float64)
    size = max(float(np.abs(others - middle).max(initial=0.0)), float(np.abs(texts - middle).max(initial=0.0))) or 1.0
    one, other = (((values - middle) / size).astype(np.float32) for values in (texts, others))
    return one, other


def nearest(texts: F32, others: F32, *, same: bool = False) -> Nearest:
    """For each vector the nearest of the others, a block at a time; with `same`, of the rest of the same sample.

    A zero vector stands for a text that the encoder cannot read. It would be nearer to every text than texts without
    a common word are to each other, so it is the neighbour of zero vectors only.
    """
    blank, read = np.count_nonzero(others, axis=1) == 0, np.count_nonzero(texts, axis=1) > 0
    places = np.empty(len(texts), dtype=np.int64)
    even, other = _even(texts, others)
    lengths = np.einsum("ij,ij->i", other, other)
    for begin in range(0, len(texts), _BLOCK):
        block = even[begin : begin + _BLOCK]
        away = lengths - 2 * (block @ other.T)
        away[np.ix_(read[begin : begin + _BLOCK], blank)] = np.inf
        if same:
            away[np.arange(len(block)), np.arange(begin, begin + len(block))] = np.inf
        places[begin : begin + _BLOCK] = away.argmin(axis=1)
    # The short cut above loses digits of small distances: those that are kept are computed anew.
    return Nearest(np.linalg.norm(texts.astype(np.float64) - others[places], axis=1), places)


def strays(
    candidate: Material, reference: Material, *, most: int = 8
) -> tuple[tuple[Stray, ...], tuple[Stray, ...], float, float]:
    """Candidate texts far from every reference, references that no candidate is near, and the shares of both."""
    made, real = candidate.view(Vectors).values, reference.view(Vectors).values
    limit = float(np.quantile(nearest(real, real, same=True).distances, FAR))
    out, back = nearest(made, real), nearest(real, made)
    return (
        _listed(candidate, reference, out, limit, most),
        _listed(reference, candidate, back, limit, most),
        float((out.distances > limit).mean()),
        float((back.distances > limit).mean()),
    )


def _listed(mine: Material, others: Material, found: Nearest, limit: float, most: int) -> tuple[Stray, ...]:
    order = np.lexsort((np.arange(len(found.distances)), -found.distances))
    far = order[found.distances[order] > limit][: 20 * most]
    texts = mine.sample.texts.take(pa.array(far)).to_pylist()
    fellows = others.sample.texts.take(pa.array(found.places[far])).to_pylist()
    listed: dict[str, Stray] = {}
    for text, fellow, distance in zip(texts, fellows, found.distances[far], strict=True):
        listed.setdefault(text, Stray(shortened(text, _WIDTH), float(distance), shortened(fellow, _WIDTH)))
    return tuple(listed.values())[:most]
