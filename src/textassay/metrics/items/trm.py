"""TRM: the triangle-rank metric of an item's candidates and references."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

import numpy as np

from textassay.corpus.arrays import F32, F64, I64, U8, Bool
from textassay.metrics.items.item_pool import ItemPool, Labels
from textassay.metrics.registry import metric

Variant = Literal["paper", "exclusive", "split", "squared", "released"]
Direction = Literal["both", "references", "candidates"]
# Above this many pooled texts the ranks of all triangles take too much memory.
MOST_TEXTS = 300
# The sides that each direction uses.
_SIDES: dict[Direction, list[int]] = {"both": [0, 1], "references": [0], "candidates": [1]}
_RANKS = ("shorter", "between", "longer")


def under_labels(pool: ItemPool, labels: Labels, /, *, distance: str, variant: Variant, direction: Direction) -> F64:
    """The metric under each labelling."""
    off = shares(pool, labels, distance=distance, variant=variant)[:, _SIDES[direction]] - 1 / 3
    value: F64 = (off * off if variant == "squared" else abs(off)).sum(axis=(1, 2))
    return value


def parts(item: ItemPool, /, *, distance: str, variant: Variant, direction: Direction) -> Mapping[str, float]:
    """The profile: shares of triangles by the side that has two texts and by the rank of the edge between them."""
    both = shares(item, item.observed, distance=distance, variant=variant)[0]
    # The released program does not count the third rank.
    ranks = _RANKS[:2] if variant == "released" else _RANKS
    sides = ("references", "candidates")
    return {f"{sides[side]}_{rank}": float(both[side, r]) for side in _SIDES[direction] for r, rank in enumerate(ranks)}


@metric(
    "trm",
    family="conditional",
    aspect="both",
    better="lower",
    rise="farther",
    bounds=(0.0, 4.0),
    interval="bootstrap:items",
    test="permutation",
    paper="chan2022",
    undefined="trm needs two candidates and two references (direction=references: one candidate is enough)",
    parts=parts,
    item=under_labels,
    variant_bounds={
        "exclusive": (0.0, 8 / 3),
        "split": (0.0, 8 / 3),
        "squared": (0.0, 8 / 3),
        "released": (0.0, 2.0),
    },
    triangles=True,
)
def trm(
    item: ItemPool, /, *, distance: str = "meteor", variant: Variant = "paper", direction: Direction = "both"
) -> float:
    r"""Triangle-rank metric: are two texts of one side as far apart as either is from a text of the other side?

    .. math:: Q(C, R) = \sum_{k=0}^{2} \left| \overline{I_k} - \tfrac13 \right|, \qquad
        \mathrm{TRM} = Q(C, R) + Q(R, C)

    The bars are means over all triangles of one candidate and two references in :math:`Q(C, R)`, and of one reference
    and two candidates in :math:`Q(R, C)`. :math:`I_0, I_1, I_2` are 1 if the edge between the two texts of one side is
    the shortest, the middle or the longest of the three, and 0 otherwise; if both sides come from one source, all three
    are equally likely. All triangles count: the edge between the two texts in both directions, the other edges from the
    single text to the pair. `direction="references"` keeps only :math:`Q(C, R)`, which is defined for a single
    candidate too; `candidates` keeps only :math:`Q(R, C)`.

    Ties are frequent among short texts. In the `paper` variant a tied edge has every rank that it could have;
    `exclusive` gives it the middle rank; `split` divides it equally, the average of breaking ties at random. `squared`
    uses squares instead of absolute values. `released` is what the authors' program estimates from 500 triangles: it
    does not count the longest edge, and a tied edge counts a third.

    It sees how the candidates differ from the references in spread and position. In the profile, candidates are too
    narrow if their own edges are mostly shorter and those between references mostly longer, too wide if it is the other
    way round, and off target if both sides' own edges are mostly shorter.

    Misleading as a number by itself: it depends on the numbers of candidates and references, and for two sides from one
    source it is well above 0, so compare it with `chance` and the human column, or read the p-value. With ties the
    `paper` variant stays above 0 for any number of texts. If candidates repeat each other, its p-value fails: most
    other labellings have more ties than the observed one and higher values (one caption written ten times scores 1.5
    where chance gives 1.9). Use `split` there, which ties do not bias. What the distance does not see, such as the
    order of words under a distance on single words, TRM does not see either.

    It is undefined with fewer than two candidates or two references, above 300 pooled texts, and if a distance is not a
    number. One candidate is enough with `direction="references"`, and one reference with `direction="candidates"`.
    """
    return float(under_labels(item, item.observed, distance=distance, variant=variant, direction=direction)[0])


# Units per triangle, so that parts of a triangle are whole numbers: ties of three edges are split into sixths, and into
# thirds in the released program.
UNITS: dict[Variant, int] = {"paper": 1, "exclusive": 1, "split": 6, "squared": 1, "released": 3}
# Numbers processed at a time: of the bases of some labellings, and of the ranks over some apexes. A block has at least
# `_FEWEST_ROWS` labellings, because preparing smaller blocks would take longer than counting.
_BASES = 1 << 18
_RANKS_AT_ONCE = 1 << 22
_FEWEST_ROWS = 128
# Bases of labellings between these numbers are cached: most items of a run share their labellings.
_KEPT = 1 << 20
_NOT_WORTH_KEEPING = 1 << 10


def shares(pool: ItemPool, labels: Labels, *, distance: str, variant: Variant) -> F64:
    """Shares of triangles whose base edge is the shortest, the middle and the longest, by labelling, side and rank.

    On the first side the base joins two references and the apex is a candidate; on the second side the base joins two
    candidates. The shares are NaN if a side has no triangle, above `MOST_TEXTS` pooled texts, and if a distance is NaN.
    `variant="released"` does not count the longest; its third share is 1/3.
    """
    # The value, its parts and the test use the same labellings, so their shares are kept.
    return pool.once(("shares", labels, distance, variant), lambda: _shares(pool, labels, distance, variant))


def _shares(pool: ItemPool, labels: Labels, distance: str, variant: Variant) -> F64:
    n_triangles = _triangles(labels) if len(pool) <= MOST_TEXTS else np.zeros(2)
    if not n_triangles.any() or np.isnan(pool.distances[distance]).any():
        return np.full((len(labels), 2, 3), np.nan)
    found = ranks(pool, distance=distance, variant=variant)
    counts = np.empty((len(labels), 2, 3))
    for block in _blocks(labels):
        for side, (apexes, bases) in enumerate(block.sides):
            counts[block.rows, side] = _counts(found, apexes, bases).T
    with np.errstate(invalid="ignore"):
        return counts / (n_triangles * UNITS[variant])[:, None]


def _triangles(labels: Labels) -> F64:
    """Triangles of each side, every base in both directions."""
    n, m = labels.sizes
    return np.array([n * m * (m - 1), m * n * (n - 1)], dtype=np.float64)


def _counts(found: U8, apexes: F32, bases: F32) -> F64:
    """The units of each rank under each labelling: a matrix product of ranks and bases, then a sum over apexes.

    Single precision is exact here: the numbers of one apex stay below 6 * 300 * 299, and the sum over apexes is in
    double precision.
    """
    _, n_texts, n_bases = found.shape
    counts = np.zeros((3, apexes.shape[1]))
    for start in range(0, n_texts, step := max(1, _RANKS_AT_ONCE // (3 * n_bases))):
        some = found[:, start : start + step].reshape(-1, n_bases)
        by_apex = (some.astype(np.float32) @ bases).reshape(3, -1, apexes.shape[1])
        by_apex *= apexes[start : start + step]
        counts += by_apex.sum(axis=1, dtype=np.float64)
    return counts


@dataclass(frozen=True, eq=False)
class Block:
    """Some labellings, one column each: by side, which texts are apexes and which pairs are bases, as 0 and 1."""

    rows: slice
    sides: tuple[tuple[F32, F32], tuple[F32, F32]]


def _blocks(labels: Labels) -> Iterable[Block]:
    n_texts = labels.candidate.shape[1]
    numbers = len(labels) * n_texts * (n_texts - 1) // 2
    return _kept_blocks(labels) if _NOT_WORTH_KEEPING < numbers <= _KEPT else _made_blocks(labels)


@lru_cache(maxsize=16)
def _kept_blocks(labels: Labels) -> tuple[Block, ...]:
    return tuple(_made_blocks(labels))


def _made_blocks(labels: Labels) -> Iterator[Block]:
    first, second = base_pairs(labels.candidate.shape[1])
    for start in range(0, len(labels), step := max(_FEWEST_ROWS, _BASES // len(first))):
        rows = slice(start, start + step)
        # One row per text in memory order: selecting rows of the transposed layout is ten times slower.
        candidate, reference = (m[rows].T.astype(np.float32, order="C") for m in (labels.candidate, labels.reference))
        candidates, references = candidate[first] * candidate[second], reference[first] * reference[second]
        yield Block(rows, ((candidate, references), (reference, candidates)))


def ranks(pool: ItemPool, *, distance: str, variant: Variant) -> U8:
    """The units of each triangle by rank of the base edge (shortest, middle, longest), apex and base.

    Every base counts twice, once in each direction of its edge; the other two edges start at the apex. Triangles whose
    apex is in the base are 0.
    """
    return pool.once(("triangle ranks", distance, variant), lambda: _ranks(pool.distances[distance], variant))


def _ranks(distances: F64, variant: Variant) -> U8:
    n = len(distances)
    first, second = base_pairs(n)
    found = np.empty((3, n, len(first)), dtype=np.uint8)
    for start in range(0, n, step := max(1, _TRIANGLES // max(len(first), 1))):
        apex = distances[start : start + step]
        one, other = apex[:, first], apex[:, second]
        low, high = np.minimum(one, other), np.maximum(one, other)
        forward = _units(distances[first, second], low, high, variant)
        backward = _units(distances[second, first], low, high, variant)
        np.add(forward, backward, out=found[:, start : start + step])
    apexes = np.arange(n)[:, None]
    found[:, (apexes == first) | (apexes == second)] = 0
    return found


# Triangles ranked at a time.
_TRIANGLES = 1 << 20


def base_pairs(n_texts: int) -> tuple[I64, I64]:
    """The two texts of every base, in order."""
    first, second = np.triu_indices(n_texts, 1)
    return first, second


def _units(edge: F64, low: F64, high: F64, variant: Variant) -> U8:
    """The units of an edge as shortest, middle and longest, beside two edges of lengths `low` and `high`."""
    at_low, at_high = edge == low, edge == high
    if variant in ("paper", "squared"):
        shorter, longer = edge <= low, edge >= high
        return np.stack((shorter, (edge >= low) & (edge <= high), longer)).astype(np.uint8)
    shorter, longer = edge < low, edge > high
    if variant == "exclusive":
        return np.stack((shorter, ~(shorter | longer), longer)).astype(np.uint8)
    between = (edge > low) & (edge < high)
    if variant == "released":
        # The program decides ties at random with probability 1/3, and never tests for the longest edge.
        tied = at_low | at_high
        return np.stack((shorter * 3 + at_low, between * 3 + tied, np.ones_like(tied))).astype(np.uint8)
    return _split(shorter, between, longer, at_low, at_high)


def _split(shorter: Bool, between: Bool, longer: Bool, at_low: Bool, at_high: Bool) -> U8:
    """Sixths of a triangle: halves for two tied edges, thirds for three."""
    all_tied = at_low & at_high
    below, above = (at_low & ~all_tied) * 3 + all_tied * 2, (at_high & ~all_tied) * 3 + all_tied * 2
    middle = (at_low ^ at_high) * 3 + all_tied * 2
    return np.stack((shorter * 6 + below, between * 6 + middle, longer * 6 + above)).astype(np.uint8)
