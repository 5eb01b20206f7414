"""TRM: the triangle-rank metric, whether candidates are spread among an item's references as these are themselves."""

from collections.abc import Mapping
from typing import Literal

from textassay.metrics.declare import metric
from textassay.views.item_pool import F64, ItemPool, Labels
from textassay.views.triangle_ranks import Variant
from textassay.views.triangles import MOST_TEXTS, shares

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
