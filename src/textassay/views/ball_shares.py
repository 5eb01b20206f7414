"""Precision, recall, density and coverage of two samples, and of parts of them, from one count of balls."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from textassay.views.balls import count_balls
from textassay.views.label_bits import WORD, pack
from textassay.views.material import Resamples
from textassay.views.neighbour_lists import lists_for
from textassay.views.vectors import Joint, Vectors, joint

F64 = NDArray[np.float64]
Labels = NDArray[np.int64]
# `paper`: balls hold their rim, and memberships on it are shared out; `released`: they do not, as in the package prdc.
Variant = Literal["paper", "released"]


@dataclass(frozen=True, eq=False)
class Shares:
    """The four numbers, one entry per labelling."""

    precision: F64
    recall: F64
    density: F64
    coverage: F64


NAMES = tuple(field.name for field in fields(Shares))


def fewest_texts(*, k: int, **_others: object) -> int:
    """A sample of this many texts has a k-th other text for each."""
    return k + 1


def shares(candidate: Vectors, reference: Vectors, *, k: int, variant: Variant) -> Shares:
    """The shares of the samples as they are; counted once for a pair and k."""
    pair = joint(candidate, reference)
    return pair.once(("ball shares", k, variant), lambda: _relabelled(pair, _as_they_are(pair), k, variant))


def shares_without_groups(
    candidate: Vectors, reference: Vectors, *, labels: Sequence[Labels], k: int, variant: Variant
) -> tuple[Shares, Shares]:
    """The shares with each group of the candidate left out, and with each of the reference; counted once."""
    pair = joint(candidate, reference)
    # The labels are kept with what was counted, so that their ids stay theirs.
    key = ("ball shares without groups", k, variant, *(id(label) for label in labels))
    _, *found = pair.once(key, lambda: (labels, *_without_groups(pair, labels, k, variant)))
    return found[0], found[1]


def shares_exchanged(
    candidate: Vectors, reference: Vectors, *, resamples: Resamples, k: int, variant: Variant
) -> Shares:
    """The shares under each labelling; counted once for these resamples."""
    pair = joint(candidate, reference)
    return pair.once(("ball shares exchanged", k, variant, resamples), lambda: _exchanged(pair, resamples, k, variant))


def leaving_out(name: str) -> Callable[..., tuple[F64, F64]]:
    """The short cut to the jackknife of one of the four; they share one count."""

    def leave_out(
        candidate: Vectors, reference: Vectors, /, *, labels: Sequence[Labels], k: int, variant: Variant
    ) -> tuple[F64, F64]:
        mine, theirs = shares_without_groups(candidate, reference, labels=labels, k=k, variant=variant)
        return getattr(mine, name), getattr(theirs, name)

    return leave_out


def exchanging(name: str) -> Callable[..., F64]:
    """The short cut to the test of one of the four; they share one count."""

    def exchange(candidate: Vectors, reference: Vectors, /, *, resamples: Resamples, k: int, variant: Variant) -> F64:
        values: F64 = getattr(shares_exchanged(candidate, reference, resamples=resamples, k=k, variant=variant), name)
        return values

    return exchange


def _exchanged(pair: Joint, resamples: Resamples, k: int, variant: Variant) -> Shares:
    """The first labelling is what was observed, and often counted already."""
    observed = np.arange(sum(pair.sizes)) < pair.sizes[0]
    if not np.array_equal(resamples.masks[0][0][resamples.units], observed):
        return _relabelled(pair, resamples, k, variant)
    first = shares(pair.candidate, pair.reference, k=k, variant=variant)
    others = _relabelled(pair, Resamples(resamples.units, tuple(mask[1:] for mask in resamples.masks)), k, variant)
    return Shares(*(np.concatenate([getattr(part, name) for part in (first, others)]) for name in NAMES))


def _as_they_are(pair: Joint) -> Resamples:
    mine = np.array([[True, False]])
    return Resamples(np.repeat([0, 1], pair.sizes), (mine, ~mine))


def _without_groups(pair: Joint, labels: Sequence[Labels], k: int, variant: Variant) -> tuple[Shares, Shares]:
    """A row loses one group, and a group is a unit."""
    groups = [int(label.max()) + 1 for label in labels]
    mine = np.arange(sum(groups)) < groups[0]
    stays = ~np.eye(sum(groups), dtype=bool)
    units = np.concatenate((labels[0], labels[1] + groups[0]))
    whole = _relabelled(pair, Resamples(units, (stays & mine, stays & ~mine)), k, variant)
    first, second = slice(groups[0]), slice(groups[0], None)
    return _part(whole, first), _part(whole, second)


def _part(whole: Shares, rows: slice) -> Shares:
    return Shares(*(getattr(whole, name)[rows] for name in NAMES))


def _relabelled(pair: Joint, resamples: Resamples, k: int, variant: Variant) -> Shares:
    """The shares under each labelling; not a number where a sample has no k-th other point."""
    texts = np.bincount(resamples.units, minlength=resamples.n_units)
    sizes = np.stack([mask @ texts for mask in resamples.masks])
    possible = np.flatnonzero(sizes.min(axis=0) > k)
    found = np.full((4, sizes.shape[1]), np.nan)
    if possible.size:
        candidate, reference = (
            np.stack([pack(mask[possible[i : i + WORD]]) for i in range(0, len(possible), WORD)])[:, resamples.units]
            for mask in resamples.masks
        )
        counts = count_balls(lists_for(pair, k), candidate, reference, k, closed=variant == "paper")
        by_row = (counts.candidates_inside, counts.references_inside, counts.memberships, counts.balls_hit)
        found[:, possible] = np.stack(by_row).reshape(4, -1)[:, : len(possible)]
    # Divided by candidates, references, k times the candidates, references.
    return Shares(found[0] / sizes[0], found[1] / sizes[1], found[2] / (k * sizes[0]), found[3] / sizes[1])
