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

# What one triangle counts for, so that shares of a triangle are whole numbers too: a tie of three edges is worth
# sixths when it is split, and thirds in the released program.
UNITS: dict[Variant, int] = {"paper": 1, "exclusive": 1, "split": 6, "squared": 1, "released": 3}
# Triangles that are ranked at a time.
_TRIANGLES = 1 << 20


def base_pairs(n_texts: int) -> tuple[I64, I64]:
    """The two texts of every base, the first before the second."""
    first, second = np.triu_indices(n_texts, 1)
    return first, second


def ranks(pool: ItemPool, *, distance: str, variant: Variant) -> U8:
    """How much each triangle counts as shorter, between and longer: an axis of ranks, of apexes and of bases.

    Every base counts twice, once in each direction of the edge between its texts. The edges from the apex start there.
    A text is no apex over itself: such triangles count nothing.
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
        there = _places(distances[first, second], low, high, variant)
        back = _places(distances[second, first], low, high, variant)
        np.add(there, back, out=found[:, start : start + step])
    apexes = np.arange(n)[:, None]
    found[:, (apexes == first) | (apexes == second)] = 0
    return found


def _places(edge: F64, low: F64, high: F64, variant: Variant) -> U8:
    """What the rank of an edge counts beside a shorter and a longer one: shorter, between, longer, in units."""
    at_low, at_high = edge == low, edge == high
    if variant in ("paper", "squared"):
        shorter, longer = edge <= low, edge >= high
        return np.stack((shorter, (edge >= low) & (edge <= high), longer)).astype(np.uint8)
    shorter, longer = edge < low, edge > high
    if variant == "exclusive":
        return np.stack((shorter, ~(shorter | longer), longer)).astype(np.uint8)
    between = (edge > low) & (edge < high)
    if variant == "released":
        # Whatever ties with an edge is decided by a coin that falls on one in three; "longer" is never asked for.
        tied = at_low | at_high
        return np.stack((shorter * 3 + at_low, between * 3 + tied, np.ones_like(tied))).astype(np.uint8)
    return _split(shorter, between, longer, at_low, at_high)


def _split(shorter: Bool, between: Bool, longer: Bool, at_low: Bool, at_high: Bool) -> U8:
    """Sixths of a triangle: halves for two tied edges, thirds for three."""
    all_tied = at_low & at_high
    below, above = (at_low & ~all_tied) * 3 + all_tied * 2, (at_high & ~all_tied) * 3 + all_tied * 2
    middle = (at_low ^ at_high) * 3 + all_tied * 2
    return np.stack((shorter * 6 + below, between * 6 + middle, longer * 6 + above)).astype(np.uint8)


# Above this many pooled texts the ranks of all triangles do not fit into a small memory.
MOST_TEXTS = 300
# Numbers worked on at a time, of the bases of some labellings and of the ranks over some apexes; but never so few
# labellings that making ready for them takes longer than counting.
_BASES = 1 << 18
_RANKS_AT_ONCE = 1 << 22
_FEWEST_ROWS = 128
# Up to this many numbers the bases of labellings are kept: most items of a run share their labellings.
_KEPT = 1 << 20
_NOT_WORTH_KEEPING = 1 << 10


@dataclass(frozen=True, eq=False)
class Block:
    """Some labellings, one column each: which texts are apexes and which bases are whole, by side, as 0 and 1."""

    rows: slice
    sides: tuple[tuple[F32, F32], tuple[F32, F32]]


def shares(pool: ItemPool, labels: Labels, *, distance: str, variant: Variant) -> F64:
    """Shares of triangles whose base edge is shorter, between and longer: an axis of labellings, of sides, of ranks.

    The first side has two references as base and a candidate as apex, the second two candidates and a reference. NaN
    where a side has no triangle, above `MOST_TEXTS` pooled texts, and where a distance is not a number.
    `variant="released"` never counts "longer"; its third share is the 1/3 of the coin that is tossed instead.
    """
    # Several questions are asked of the same labellings; one that was answered is not counted again.
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
    """How much each rank counts under each labelling: a product of ranks and bases, then a sum over apexes.

    Single precision holds every number exactly: over one apex they stay below 6 * 300 * 299, and the sum over apexes
    is taken in double precision.
    """
    _, n_texts, n_bases = found.shape
    counts = np.zeros((3, apexes.shape[1]))
    for start in range(0, n_texts, step := max(1, _RANKS_AT_ONCE // (3 * n_bases))):
        some = found[:, start : start + step].reshape(-1, n_bases)
        by_apex = (some.astype(np.float32) @ bases).reshape(3, -1, apexes.shape[1])
        by_apex *= apexes[start : start + step]
        counts += by_apex.sum(axis=1, dtype=np.float64)
    return counts


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
        # A row a text: taking rows of a matrix that lies the other way is ten times slower.
        candidate, reference = (m[rows].T.astype(np.float32, order="C") for m in (labels.candidate, labels.reference))
        candidates, references = candidate[first] * candidate[second], reference[first] * reference[second]
        yield Block(rows, ((candidate, references), (reference, candidates)))


Direction = Literal["both", "references", "candidates"]

# The sides of triangles that a direction takes.
_SIDES: dict[Direction, list[int]] = {"both": [0, 1], "references": [0], "candidates": [1]}
_RANKS = ("shorter", "between", "longer")


def under_labels(pool: ItemPool, labels: Labels, /, *, distance: str, variant: Variant, direction: Direction) -> F64:
    """The value under each labelling."""
    off = shares(pool, labels, distance=distance, variant=variant)[:, _SIDES[direction]] - 1 / 3
    value: F64 = (off * off if variant == "squared" else abs(off)).sum(axis=(1, 2))
    return value


def parts(item: ItemPool, /, *, distance: str, variant: Variant, direction: Direction) -> Mapping[str, float]:
    """The profile: shares of triangles, by which side has two texts in them and which rank their edge takes."""
    both = shares(item, item.observed, distance=distance, variant=variant)[0]
    # The released program never counts the third rank.
    ranks = _RANKS[:2] if variant == "released" else _RANKS
    sides = ("references", "candidates")
    return {f"{sides[side]}_{rank}": float(both[side, r]) for side in _SIDES[direction] for r, rank in enumerate(ranks)}


@metric(
    "trm",
    family="conditional",
    aspect="both",
    better="lower",
    bounds=(0.0, 4.0),
    interval="bootstrap:items",
    test="permutation",
    paper="chan2022",
    undefined=f"a triangle needs two texts of one side and one of the other, and at most {MOST_TEXTS} pooled texts",
    parts=parts,
    item=under_labels,
    variant_bounds={
        "exclusive": (0.0, 8 / 3),
        "split": (0.0, 8 / 3),
        "squared": (0.0, 8 / 3),
        "released": (0.0, 2.0),
    },
)
def trm(
    item: ItemPool, /, *, distance: str = "meteor", variant: Variant = "paper", direction: Direction = "both"
) -> float:
    r"""Triangle-rank metric: is the edge between two texts of one side as long as those to a text of the other?

    .. math:: Q(C, R) = \sum_{k=0}^{2} \left| \overline{I_k} - \tfrac13 \right|, \qquad
        \mathrm{TRM} = Q(C, R) + Q(R, C)

    The bars are means over all triangles of one candidate and two references in :math:`Q(C, R)`, of one reference and
    two candidates in :math:`Q(R, C)`; :math:`I_0, I_1, I_2` say that the edge between the two texts of one side is the
    shortest, the middle or the longest of the three. Where both sides come from one source, each is as likely. All
    triangles are counted, the edge between the two in both directions, the others from the single text to the pair.
    `direction="references"` keeps :math:`Q(C, R)`, which a single candidate has too, `candidates` the other.

    Ties decide much among short texts. In the `paper` variant a tied edge has every rank that it may have; `exclusive`
    calls it the middle one; `split` shares it out equally, which is what breaking ties at random gives on average.
    `squared` takes squares in place of absolute values. `released` is what the authors' program estimates from 500
    triangles: it never counts the longest edge, and a tied edge counts a third.

    The profile tells the kinds of a miss apart. Candidates are too narrow where their own edges are mostly shorter
    and those between references mostly longer, too wide where it is the other way round, and off target where both
    sides' own edges are mostly shorter.

    It misleads as a number by itself: it depends on how many candidates and references there are, and between
    two sides from one source it is well above 0, so compare it with `chance` and the human row, or read the p-value.
    With ties the `paper` variant stays above 0 however many texts there are, and where candidates repeat each other its
    p-value fails: most other labellings then have more ties than the observed one and look worse (one caption written
    ten times scores 1.5 where chance gives 1.9). Read `split` there, which ties do not move. What the distance does not
    see, such as the order of words under a distance on single words, is not in it.
    """
    return float(under_labels(item, item.observed, distance=distance, variant=variant, direction=direction)[0])
