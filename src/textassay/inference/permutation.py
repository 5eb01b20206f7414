"""Permutation tests: which texts may exchange their labels, the exchanges, and the tests of all metrics.

A permutation test is valid for every set of exchanges under which the pooled texts are distributed as before. Which
those are depends on how the texts came about:

- independent texts: any text with any other;
- groups in one sample only (ten generations per prompt, other prompts in the other sample): whole groups;
- groups in both samples (the same prompts on both sides): texts within their group.

A design cuts the pooled texts into units that move together and sorts the units into strata; within a stratum any
units may exchange their labels. Above a stated number of units whole blocks of them are exchanged. Blocks are drawn at
random and have equally many texts (or groups) each, so exchanging them is as valid as exchanging what they are made of.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, product
from math import comb
from typing import Any

import numpy as np

from textassay.corpus.arrays import F64, I64, Bool
from textassay.corpus.sample import Sample, group_numbers, stream
from textassay.errors import InputError, Setting
from textassay.inference.p_values import is_significant, p_value, step_down
from textassay.inference.plan import Progress
from textassay.metrics.registry import Request
from textassay.metrics.views import Pool, Resamples

# Up to this many pooled units each is exchanged on its own; above it, about as many blocks are.
MOST_UNITS = 2048
# A sample keeps at least this many blocks, however small it is beside the other one.
FEWEST_BLOCKS = 50
# Labellings of more units than this are never listed.
_FEW_UNITS = 32
_ROWS_AT_ONCE = 256
# More units than this would need matrices of gigabytes.
MOST_GROUPED_UNITS = 8192


@dataclass(frozen=True, eq=False)
class Design:
    """The unit of each pooled text (candidate first), the stratum of each unit, and which units are the candidate's.

    `kind` is independent, grouped (whole groups move), paired (texts move within groups), or paired+grouped (both).
    """

    kind: str
    units: I64
    strata: I64
    candidate: Bool
    block: int
    n_groups: tuple[int, int] = (0, 0)
    n_shared: int = 0

    @property
    def n_units(self) -> int:
        """Units of both samples."""
        return len(self.strata)

    @cached_property
    def shapes(self) -> tuple[tuple[int, int], ...]:
        """For each stratum its units and how many of them are the candidate's."""
        sizes = np.bincount(self.strata)
        mine = np.bincount(self.strata, weights=self.candidate).astype(np.int64)
        return tuple((int(size), int(own)) for size, own in zip(sizes, mine, strict=True))

    def smallest_p(self, n_resamples: int) -> float:
        """The smallest p-value that can come out: with few units no test can be significant, whatever the texts are."""
        ways = math.fsum(_log_ways(size, own) for size, own in self.shapes)
        # The overall test sees no difference between a labelling and its opposite: where both can occur, they tie.
        ties = 2 if all(size == 2 * own for size, own in self.shapes if 0 < own < size) else 1
        return max(min(1.0, ties * math.exp(-min(ways, 700.0))), 1 / (n_resamples + 1))

    def labellings(self, n_resamples: int, seed: int) -> Bool:
        """Choices of the candidate's units, one row per exchange: all where there are few, else random ones.

        The first row is what was observed. Where all labellings are listed, each of the others is there once, so the
        share of rows is the exact p-value; else it is the Monte-Carlo one, with the observed row on both sides.
        """
        truth = self.candidate[None, :]
        if self.can_list(n_resamples):
            rows = self._all()
            rows = rows[(rows != truth).any(axis=1)]
        elif sum(0 < own < size for size, own in self.shapes) == 1:
            rows = self._one_stratum(n_resamples, stream(seed, "exchange"))
        else:
            rows = self._by_strata(n_resamples, stream(seed, "exchange"))
        return np.concatenate((truth, rows))

    def can_list(self, n_resamples: int) -> bool:
        """True when there are no more labellings than resamples were asked for."""
        moving = [(size, own) for size, own in self.shapes if 0 < own < size]
        return sum(size for size, _ in moving) <= _FEW_UNITS and math.prod(comb(*shape) for shape in moving) <= max(
            n_resamples, 1
        )

    def _all(self) -> Bool:
        """Every labelling once."""
        choices = [list(self._choices(stratum)) for stratum in range(len(self.shapes))]
        rows = np.zeros((math.prod(map(len, choices)), self.n_units), dtype=bool)
        for row, chosen in zip(rows, product(*choices), strict=True):
            for places in chosen:
                row[list(places)] = True
        return rows

    def _choices(self, stratum: int) -> Iterator[tuple[int, ...]]:
        members = np.flatnonzero(self.strata == stratum)
        return combinations(members.tolist(), self.shapes[stratum][1])

    def _one_stratum(self, rows: int, rng: np.random.Generator) -> Bool:
        """Random labellings where the units of one stratum move and all others stay."""
        moving = next(index for index, (size, own) in enumerate(self.shapes) if 0 < own < size)
        members = np.flatnonzero(self.strata == moving)
        others = self.candidate.copy()
        others[members] = False
        masks = np.empty((rows, self.n_units), dtype=bool)
        # Row by row, because filling gigabytes in one step would delay an interrupt.
        for row in masks:
            row[:] = others
            row[members[rng.choice(len(members), self.shapes[moving][1], replace=False, shuffle=False)]] = True
        return masks

    def _by_strata(self, rows: int, rng: np.random.Generator) -> Bool:
        """Random labellings within every stratum: the units with the smallest random keys become the candidate's."""
        order = np.argsort(self.strata, kind="stable")
        sizes, mine = np.array(self.shapes).T
        rank = np.arange(self.n_units) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        chosen = rank < np.repeat(mine, sizes)
        sorted_strata = self.strata[order].astype(np.float64)
        masks = np.empty((rows, self.n_units), dtype=bool)
        for begin in range(0, rows, _ROWS_AT_ONCE):
            part = masks[begin : begin + _ROWS_AT_ONCE]
            keys = sorted_strata + rng.random((len(part), self.n_units))
            np.put_along_axis(part, order[np.argsort(keys, axis=1)], chosen[None, :], axis=1)
        return masks


def _log_ways(size: int, own: int) -> float:
    return math.lgamma(size + 1) - math.lgamma(own + 1) - math.lgamma(size - own + 1)


def fewest_groups(level: float, *, paired: bool) -> int:
    """The fewest groups (per sample, or shared by both) with which a test can be significant at this level.

    A labelling and its opposite tie, so of all labellings two are always as extreme as the observed one.

    >>> fewest_groups(0.95, paired=False), fewest_groups(0.95, paired=True)
    (4, 6)
    """
    count = 2
    while not is_significant(2 / (2**count if paired else comb(2 * count, count)), level):
        count += 1
    return count


def design_of(candidate: Sample, reference: Sample, *, seed: int) -> Design:
    """The design of two samples: by their groups where they have any, else independent texts."""
    if candidate.groups is None and reference.groups is None:
        return independent((len(candidate), len(reference)), seed)
    if candidate.groups is None or reference.groups is None:
        lacking = "candidate" if candidate.groups is None else "reference"
        raise InputError(f"the {lacking} has no groups; wanted a group for every text of both samples, or of neither")
    names, labels = group_numbers(candidate.groups, reference.groups)
    return grouped(labels[: len(candidate)], labels[len(candidate) :], n_names=names, seed=seed)


def independent(sizes: Sequence[int], seed: int) -> Design:
    """Any text may be exchanged with any other."""
    units, blocks = exchange_units(sizes, seed)
    n_units = sum(blocks) + 2
    # The last two units are the texts that fit in no block and never move.
    strata = np.concatenate((np.zeros(sum(blocks), dtype=np.int64), [1, 2]))
    candidate = np.arange(n_units) < blocks[0]
    candidate[-2] = True
    return Design("independent", units, strata, candidate, block_size(sizes))


def grouped(mine: I64, theirs: I64, *, n_names: int, seed: int) -> Design:
    """Texts with groups: exchanged within a group that both samples have, else as a whole group."""
    counts = np.stack([np.bincount(side, minlength=n_names) for side in (mine, theirs)])
    shared: Bool = np.asarray((counts > 0).all(axis=0))
    pooled = np.concatenate((mine, theirs))
    is_mine = np.arange(len(pooled)) < len(mine)
    inside = shared[pooled]
    parts: list[tuple[Bool, _Units]] = []
    if inside.any():
        numbers = (np.cumsum(shared) - 1)[pooled[inside]]
        parts.append((inside, _within_groups(numbers, is_mine[inside], counts[:, shared], seed)))
    if not inside.all():
        parts.append((~inside, _whole_groups(pooled[~inside], is_mine[~inside], seed)))
    units, strata, candidate = _together(parts, len(pooled))
    if len(strata) > MOST_GROUPED_UNITS:
        raise InputError(
            f"{len(strata):,} groups of many different sizes are too many to exchange; wanted at most "
            f"{MOST_GROUPED_UNITS:,} (with a smaller ",
            Setting("size"),
            " there are fewer groups)",
        )
    kinds = [kind for kind, there in (("paired", inside.any()), ("grouped", not inside.all())) if there]
    return Design(
        "+".join(kinds),
        units,
        strata,
        candidate,
        max(part.block for _, part in parts),
        (int((counts[0] > 0).sum()), int((counts[1] > 0).sum())),
        int(shared.sum()),
    )


@dataclass(frozen=True, eq=False)
class _Units:
    """The unit of each text of a part, and the stratum and the label of each unit."""

    units: I64
    strata: I64
    candidate: Bool
    block: int


def _together(parts: Sequence[tuple[Bool, _Units]], n_texts: int) -> tuple[I64, I64, Bool]:
    """Units of several parts numbered on; units that never move are joined, one per label."""
    units = np.full(n_texts, -1, dtype=np.int64)
    strata: list[I64] = []
    labels: list[Bool] = []
    n_units = n_strata = 0
    for indices, part in parts:
        units[indices] = part.units + n_units
        strata.append(part.strata + n_strata)
        labels.append(part.candidate)
        n_units, n_strata = n_units + len(part.strata), n_strata + int(part.strata.max()) + 1
    all_strata, all_labels = np.concatenate(strata), np.concatenate(labels)
    sizes = np.bincount(all_strata)
    own = np.bincount(all_strata, weights=all_labels)
    moves = ((own > 0) & (own < sizes))[all_strata]
    # Moving units keep their order; what stays is one unit per label, each in a stratum of its own.
    number = np.where(moves, np.cumsum(moves) - 1, int(moves.sum()) + ~all_labels)
    _, renumbered = np.unique(all_strata[moves], return_inverse=True)
    last = int(renumbered.max(initial=-1)) + 1
    return (
        number[units],
        np.concatenate((renumbered, [last, last + 1])),
        np.concatenate((all_labels[moves], [True, False])),
    )


def _whole_groups(groups: I64, is_mine: Bool, seed: int) -> _Units:
    """Every group is a unit, or a block of groups where there are many; what fills no block stays where it is."""
    names, first, numbers = np.unique(groups, return_index=True, return_inverse=True)
    own = is_mine[first]
    # The candidate's groups come first, as exchange units number them.
    order = np.argsort(~own, kind="stable")
    place = np.empty(len(names), dtype=np.int64)
    place[order] = np.arange(len(names))
    sizes = (int(own.sum()), int((~own).sum()))
    if 0 in sizes:
        return _Units(place[numbers], np.arange(len(names)), np.sort(own)[::-1].copy(), 1)
    simple = independent(sizes, seed)
    return _Units(simple.units[place[numbers]], simple.strata, simple.candidate, simple.block)


def _within_groups(groups: I64, is_mine: Bool, counts: I64, seed: int) -> _Units:
    """Every text is a unit in the stratum of its group.

    Where there are many texts, groups with equally many texts on each side are joined in blocks: the first texts of the
    joined groups move together, then the second ones, and so on. Large groups are cut into random blocks of texts.
    """
    block = max(1, -(-len(groups) // MOST_UNITS))
    stratum_of_group = _joined(counts, block, seed)
    mixed = stream(seed, "texts of groups").permutation(len(groups)) if block > 1 else np.arange(len(groups))
    # The index of each text within its group and side.
    order = np.lexsort((mixed, ~is_mine, groups))
    side = groups[order] * 2 + ~is_mine[order]
    starts = np.flatnonzero(np.diff(side, prepend=-1))
    lengths = np.diff(np.append(starts, len(groups)))
    rank = np.empty(len(groups), dtype=np.int64)
    rank[order] = np.arange(len(groups)) - np.repeat(starts, lengths)
    # Texts of a group move in blocks only if both sides of it have several blocks; what fills no block stays.
    wide = np.where(counts.min(axis=0) >= 4 * block, block, 1)[groups]
    whole = np.where(is_mine, counts[0][groups], counts[1][groups]) // wide * wide
    stays = rank >= whole
    keys = np.stack((stratum_of_group[groups], (~is_mine).astype(np.int64), rank // wide))
    keys[0][stays] += int(stratum_of_group.max()) + 1 + is_mine[stays] * (int(stratum_of_group.max()) + 1)
    found, units = np.unique(keys, axis=1, return_inverse=True)
    _, strata = np.unique(found[0], return_inverse=True)
    return _Units(units.reshape(-1), strata.reshape(-1), found[1] == 0, block)


def _joined(counts: I64, block: int, seed: int) -> I64:
    """The stratum of each group: its own, or one for each block of groups with the same shape."""
    n_groups = counts.shape[1]
    if block == 1:
        return np.arange(n_groups)
    _, shape = np.unique(counts, axis=1, return_inverse=True)
    mixed = stream(seed, "blocks of groups").permutation(n_groups)
    order = mixed[np.argsort(shape.reshape(-1)[mixed], kind="stable")]
    sorted_shapes = shape.reshape(-1)[order]
    starts = np.flatnonzero(np.diff(sorted_shapes, prepend=-1))
    rank = np.arange(n_groups) - np.repeat(starts, np.diff(np.append(starts, n_groups)))
    fresh = (rank % block == 0).astype(np.int64)
    strata = np.empty(n_groups, dtype=np.int64)
    strata[order] = np.cumsum(fresh) - 1
    return strata


def block_size(sizes: Sequence[int]) -> int:
    """Texts that are exchanged together; 1 up to `MOST_UNITS` pooled texts."""
    wanted = -(-sum(sizes) // MOST_UNITS)
    return max(1, min(wanted, min(sizes) // FEWEST_BLOCKS))


def exchange_units(sizes: Sequence[int], seed: int) -> tuple[I64, tuple[int, int]]:
    """The unit of every pooled text, and the numbers of units of candidate and reference.

    Units are numbered candidate first; two more hold the texts of each sample that fill no whole block.
    """
    block = block_size(sizes)
    blocks = (sizes[0] // block, sizes[1] // block)
    first, second = (
        _blocks_of(size, block, stream(seed, "blocks", part) if block > 1 else None) for part, size in enumerate(sizes)
    )
    units = np.concatenate((first, second + blocks[0]))
    units[: sizes[0]][first == blocks[0]] = sum(blocks)
    units[sizes[0] :][second == blocks[1]] = sum(blocks) + 1
    return units, blocks


def _blocks_of(size: int, block: int, rng: np.random.Generator | None) -> I64:
    """The block of each text; texts that fill no whole block get the number after the last."""
    indices = np.arange(size) if rng is None else rng.permutation(size)
    return np.minimum(indices // block, size // block)


_ROUNDING = 1e-12


@dataclass(frozen=True, eq=False)
class PermutationTests:
    """The p-value of each metric, alone and adjusted for all metrics tested with it."""

    p_values: Mapping[Request, float]
    adjusted: Mapping[Request, float]


def permutation_tests(
    requests: Sequence[Request], pool: Pool, design: Design, *, n_resamples: int, seed: int, progress: Progress
) -> PermutationTests:
    """Test each metric that declares this test; the candidate is the pool's first part.

    A metric that compares is tested towards worse (one-sided), or where neither higher nor lower is better, both ways;
    one that describes, for any difference from the reference's own value. The same exchanges serve all metrics, so a
    metric's own p-value does not depend on which others there are; the adjusted one does (Westfall and Young).
    """
    if not requests:
        return PermutationTests({}, {})
    masks = design.labellings(n_resamples, seed)
    values = _statistics(requests, pool, Resamples(design.units, (masks, ~masks)), progress)
    extremes = [values[r] if _is_one_sided(r) else off_centre(values[r]) for r in requests]
    return PermutationTests(
        {r: p_value(float(row[0]), row[1:], exact=False) for r, row in zip(requests, extremes, strict=True)},
        dict(zip(requests, step_down(np.stack(extremes)).tolist(), strict=True)),
    )


_PERMUTATIONS = ("permutation", "permutation:first-order", "permutation:second-order")


def is_permutation(test: str | None) -> bool:
    """True for this test and its variants: `permutation:second-order` tests an expansion of the metric."""
    return test in _PERMUTATIONS


def _is_one_sided(request: Request) -> bool:
    return request.metric.compares and request.metric.better != "closer"


def off_centre(values: F64) -> F64:
    """How far each value is from the mean over all labellings; a difference of samples of one size, from 0.

    The observed labelling is among them, so the test keeps its level.
    """
    gaps = np.abs(values - values.mean())
    # Where all labellings have one value, rounding must not tell them apart.
    return np.where(gaps <= _ROUNDING * np.abs(values).max(initial=0.0), 0.0, gaps)


def _statistics(
    requests: Sequence[Request], pool: Pool, resamples: Resamples, progress: Progress
) -> dict[Request, F64]:
    quick = [request for request in requests if request.metric.exchange is not None]
    found = {request: _exchanged(request, pool, resamples, progress) for request in quick}
    others = [request for request in requests if request not in found]
    values: dict[Request, list[Any]] = {request: [] for request in others}
    for kind in dict.fromkeys(request.metric.views[0] for request in others):
        mine = [request for request in others if request.metric.views[0] is kind]
        with np.errstate(divide="ignore", invalid="ignore"):
            for candidate, reference in pool.resample(kind, resamples):
                for request in mine:
                    value, compares = request.value, request.metric.compares
                    gap = value(candidate, reference) if compares else value(candidate) - value(reference)
                    values[request].append(np.atleast_1d(_towards_worse(request, gap)))
                progress.step(len(values[mine[0]][-1]) * len(mine))
    return found | {request: np.concatenate(rows) for request, rows in values.items()}


def _exchanged(request: Request, pool: Pool, resamples: Resamples, progress: Progress) -> F64:
    """Some metrics have a function for exchanged labels, which is much faster than computing them again."""
    exchange = request.metric.exchange
    assert exchange is not None
    views: list[Any] = [part.view(request.metric.views[0]) for part in pool.parts]
    with np.errstate(divide="ignore", invalid="ignore"):
        values: F64 = exchange(*views, resamples=resamples, **request.options)
    progress.step(len(values))
    return _towards_worse(request, values)


def _towards_worse(request: Request, values: Any) -> Any:
    """Turned so that more is worse; differences of a metric that describes stay as they are."""
    return -values if request.metric.compares and request.metric.better == "higher" else values
