"""Sizes: many metrics depend on the sample size, so samples are cut to one size by default.

Estimates and intervals are made on the cut samples. Tests are valid for samples of unequal sizes and use all texts.

Groups of unequal sizes are another matter. One text per prompt on one side and ten on the other do not exchange: means
of ten texts vary less than single texts. Where the sizes of the groups differ between the samples, equally many texts
are drawn from each group, and a group with fewer texts is left out.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from textassay.corpus.printable import many
from textassay.corpus.sample import Sample, group_numbers, stream
from textassay.errors import InputError, Setting

FEWEST_TEXTS = 2
# In a test the larger sample has at most this many times the texts of the smaller one: more would add next to nothing.
MOST_TIMES = 20
# Samples cut by whole groups may differ in size; beyond this ratio they do not compare.
UNEVEN = 1.1
# Two samples' group sizes differ if their distribution functions are further apart than this at some size, times the
# root of the sum of one over each number of groups (Kolmogorov and Smirnov, 5 %).
_KS = 1.36


@dataclass(frozen=True)
class Cut:
    """The samples to compare, the real parts of the baseline, and what was done in words.

    Metrics that compare have `held_out` against `base` as their baseline, metrics that describe have `plain`. A
    candidate compares with the baseline only on as many texts as these have. `tested` has, for each candidate, the
    candidate and the reference that the tests use.
    """

    reference: Sample
    candidates: Mapping[str, Sample]
    held_out: Sample
    base: Sample
    plain: Sample
    tested: Mapping[str, tuple[Sample, Sample]]
    notes: tuple[str, ...]
    baseline_notes: tuple[str, ...] = ()

    @property
    def everything(self) -> tuple[Sample, ...]:
        """All samples that anything is measured on."""
        tested = [sample for pair in self.tested.values() for sample in pair]
        return self.reference, self.held_out, self.base, self.plain, *self.candidates.values(), *tested


def cut_samples(
    reference: Sample, candidates: Mapping[str, Sample], *, size: str | int, seed: int, baseline: bool = True
) -> Cut:
    """Cut every sample to a common size (`match`: the smallest), to a number of texts, or not at all (`all`)."""
    limit = _limit(size)
    tested = _pairs(reference, candidates, seed)
    reference, candidates, equal = _evened(reference, candidates, seed)
    everyone = {"reference": reference} | {f"candidate {name}": sample for name, sample in candidates.items()}
    for role, sample in everyone.items():
        if len(sample) < FEWEST_TEXTS:
            raise InputError(f"{role}: {len(sample)} text; comparing needs at least {FEWEST_TEXTS}")
        if limit is not None and len(sample) < limit:
            raise InputError(f"{role}: {len(sample):,} texts; ", Setting("size", limit), " needs as many")
    smallest = min(len(sample) for sample in everyone.values())
    wanted = smallest if size == "match" else limit
    if wanted is None:
        return _halved(reference, candidates, smallest, seed, tested=tested, notes=equal, baseline=baseline)
    smaller = {name: sample.cut(wanted, stream(seed, "cut", sample.digest)) for name, sample in candidates.items()}
    used, spare = reference.split(wanted, stream(seed, "cut", reference.digest))
    if size != "match":
        tested = _pairs(used, smaller, seed)
    notes = (*equal, *_notes(everyone, wanted, (used, *smaller.values()), tests_all=size == "match", tested=tested))
    if len(spare) >= wanted:
        held_out = spare.cut(wanted, stream(seed, "yardstick", spare.digest))
        return Cut(used, smaller, held_out, used, used, tested, notes)
    whole = used if len(spare) else reference
    return _halved(whole, smaller, wanted, seed, tested=tested, notes=notes, baseline=baseline)


def cut_pairs(
    reference: Sample, candidates: Mapping[str, Sample], *, size: str | int, seed: int, baseline: bool = True
) -> Cut:
    """Keep the groups that all samples have, each with equally many texts in every sample; tests use all their texts.

    With `all`, estimates use all texts of these groups; with a number, estimates and tests use random groups with that
    many texts together. The baseline compares real texts of the same groups where each has enough of them,
    else of different groups.
    """
    everyone = (reference, *candidates.values())
    names, numbers = group_numbers(*(sample.groups for sample in everyone))
    sides = np.split(numbers, np.cumsum([len(sample) for sample in everyone])[:-1])
    counts = np.stack([np.bincount(side, minlength=names) for side in sides])
    fewest = counts.min(axis=0)
    if not fewest.any():
        raise InputError("no group is in all samples; pairs need groups that the reference and every candidate have")
    notes = _unmatched(sides, fewest, ["reference", *candidates])
    limit = _limit(size)
    if limit is not None:
        fewest = _groups_up_to(limit, fewest, seed)
        notes = (*notes, f"{int(fewest.sum()):,} texts of {int((fewest > 0).sum()):,} groups used of each sample")
    shared = [sample.take(np.flatnonzero(fewest[side] > 0)) for sample, side in zip(everyone, sides, strict=True)]
    kept = [side[fewest[side] > 0] for side in sides]
    cut = [
        sample if size == "all" else sample.take(_per_group(side, fewest, stream(seed, "cut", sample.digest)))
        for sample, side in zip(shared, kept, strict=True)
    ]
    tested = {name: (shared[place], shared[0]) for place, name in enumerate(candidates, 1)}
    if limit is not None:
        tested = {name: (cut[place], cut[0]) for place, name in enumerate(candidates, 1)}
    taken = dict(zip(candidates, cut[1:], strict=True))
    if not baseline:
        return Cut(cut[0], taken, cut[0], cut[0], cut[0], tested, notes)
    held_out, base, how = _paired_baseline(shared[0], kept[0], cut[0], fewest, seed)
    return Cut(cut[0], taken, held_out, base, cut[0], tested, notes, how)


def _groups_up_to(limit: int, fewest: NDArray[np.int64], seed: int) -> NDArray[np.int64]:
    """The counts of random groups that have at most this many texts together, and 0 for all others."""
    if limit > fewest.sum():
        raise InputError(
            Setting("size", limit), f"; the groups that all samples have hold {int(fewest.sum()):,} texts of each"
        )
    order = stream(seed, "groups of pairs").permutation(len(fewest))
    chosen = np.zeros_like(fewest)
    chosen[order] = np.where(np.cumsum(fewest[order]) <= limit, fewest[order], 0)
    if np.count_nonzero(chosen) < FEWEST_TEXTS:
        raise InputError(
            Setting("size", limit), f"; wanted enough for {FEWEST_TEXTS} groups, which have more texts than that"
        )
    return chosen


def _paired_baseline(
    whole: Sample, groups: NDArray[np.int64], used: Sample, fewest: NDArray[np.int64], seed: int
) -> tuple[Sample, Sample, tuple[str, ...]]:
    counts = np.bincount(groups, minlength=len(fewest))
    there = fewest > 0
    enough = (counts >= 2 * fewest)[there].all()
    share = fewest if enough else counts // 2
    if (share > 0)[there].all():
        first = _per_group(groups, share, stream(seed, "yardstick"))
        rest = np.setdiff1d(np.arange(len(whole)), first)
        second = rest[_per_group(groups[rest], share, stream(seed, "second half"))]
        note = (
            ()
            if enough
            else (f"real v real is two parts of the real texts of each group, {many(len(first), 'text')} each",)
        )
        return whole.take(first), whole.take(second), note
    first_half, rest_half = used.split(len(used) // 2, stream(seed, "yardstick"))
    note = ("real v real compares texts of different groups, since some groups have one real text: a rough baseline",)
    return first_half, rest_half.cut(len(first_half), stream(seed, "second half")), note


def _per_group(groups: NDArray[np.int64], counts: NDArray[np.int64], rng: np.random.Generator) -> NDArray[np.int64]:
    """Places of that many texts of each group, chosen at random, in their original order."""
    mixed = rng.permutation(len(groups))
    order = mixed[np.argsort(groups[mixed], kind="stable")]
    starts = np.flatnonzero(np.diff(groups[order], prepend=-1))
    rank = np.arange(len(groups)) - np.repeat(starts, np.diff(np.append(starts, len(groups))))
    return np.sort(order[rank < counts[groups[order]]])


def _unmatched(sides: Sequence[NDArray[np.int64]], fewest: NDArray[np.int64], names: Sequence[str]) -> tuple[str, ...]:
    lost = {name: int((fewest[side] == 0).sum()) for name, side in zip(names, sides, strict=True)}
    listed = ", ".join(f"{name} {count:,}" for name, count in lost.items() if count)
    return (f"texts left out because their group is not in every sample: {listed}",) if listed else ()


def _pairs(reference: Sample, candidates: Mapping[str, Sample], seed: int) -> dict[str, tuple[Sample, Sample]]:
    """Candidate and reference of each test."""
    found = {}
    for name, sample in candidates.items():
        mine, real = _exchangeable(sample, reference, seed)
        most = MOST_TIMES * min(len(mine), len(real))
        groups = MOST_TIMES * min(mine.count_independent(), real.count_independent())
        found[name] = (
            mine.cut(most, stream(seed, "test", mine.digest), groups=groups),
            real.cut(most, stream(seed, "test", real.digest), groups=groups),
        )
    return found


def _exchangeable(sample: Sample, reference: Sample, seed: int) -> tuple[Sample, Sample]:
    """Both samples with groups that can be exchanged: texts of a shared group are, whatever their numbers.

    Groups of one sample only move as a whole, so they need equally many texts where the sizes of the groups differ.
    """
    if sample.groups is None or reference.groups is None:
        return sample, reference
    names, numbers = group_numbers(sample.groups, reference.groups)
    sides = numbers[: len(sample)], numbers[len(sample) :]
    counts = [np.bincount(side, minlength=names) for side in sides]
    shared = (counts[0] > 0) & (counts[1] > 0)
    single = [sizes * ~shared for sizes in counts]
    if not _uneven(*(sizes[sizes > 0] for sizes in single)):
        return sample, reference
    each = _texts_per_group([sizes[sizes > 0] for sizes in single])
    wanted = [np.where(shared, sizes, np.where(sizes >= each, each, 0)) for sizes in counts]
    mine, real = (
        side.take(_per_group(where, share, stream(seed, "even groups", side.digest)))
        for side, where, share in zip((sample, reference), sides, wanted, strict=True)
    )
    return mine, real


def _evened(
    reference: Sample, candidates: Mapping[str, Sample], seed: int
) -> tuple[Sample, Mapping[str, Sample], tuple[str, ...]]:
    """The samples with equally many texts per group, and a note; as they are if their groups are alike in size."""
    samples = [reference, *candidates.values()]
    groups = [sample.groups for sample in samples if sample.groups is not None]
    if len(groups) < len(samples):
        return reference, candidates, ()
    numbers = [group_numbers(names)[1] for names in groups]
    sizes = [np.bincount(of_side) for of_side in numbers]
    if not any(_uneven(sizes[0], other) for other in sizes[1:]):
        return reference, candidates, ()
    each = _texts_per_group(sizes)
    real, *others = (
        sample.take(_per_group(of_side, np.where(count >= each, each, 0), stream(seed, "even groups", sample.digest)))
        for sample, of_side, count in zip(samples, numbers, sizes, strict=True)
    )
    lost = sum(int((count < each).sum()) for count in sizes)
    left_out = f", and {many(lost, 'group')} with fewer left out" if lost else ""
    note = f"the samples have groups of different sizes: {many(each, 'text')} drawn from each group{left_out}"
    return real, dict(zip(candidates, others, strict=True)), (note,)


def _uneven(one: NDArray[np.int64], other: NDArray[np.int64]) -> bool:
    """Do the sizes of the groups of two samples come from different distributions?"""
    if not len(one) or not len(other):
        return False
    at = np.union1d(one, other)
    gaps = np.searchsorted(np.sort(one), at, "right") / len(one) - np.searchsorted(np.sort(other), at, "right") / len(
        other
    )
    return bool(np.abs(gaps).max() >= min(1.0, _KS * math.sqrt(1 / len(one) + 1 / len(other))))


def _texts_per_group(sizes: Sequence[NDArray[np.int64]]) -> int:
    """How many texts to draw from each group: more texts, but not at the price of many groups that have fewer.

    A group counts for something between one text, if its texts say the same, and all its texts: for the root of their
    number.
    """
    best, most = 1, 0.0
    for each in np.unique(np.concatenate(sizes)).tolist():
        groups = [int((count >= each).sum()) for count in sizes]
        worth = math.sqrt(each) / sum(1 / n if n else math.inf for n in groups)
        if worth > most:
            best, most = int(each), worth
    return best


def _notes(
    everyone: Mapping[str, Sample],
    wanted: int,
    used: Sequence[Sample],
    *,
    tests_all: bool,
    tested: Mapping[str, tuple[Sample, Sample]],
) -> tuple[str, ...]:
    largest = max(len(sample) for sample in everyone.values())
    if largest <= wanted:
        return ()
    sizes = [len(sample) for sample in used]
    count = f"{sizes[0]:,} texts of each sample"
    if len(set(sizes)) > 1:
        count = f"whole groups of about {wanted:,} texts of each sample ({min(sizes):,} to {max(sizes):,})"
        if max(sizes) > UNEVEN * min(sizes):
            count += ": too unequal to compare metrics that depend on the size"
    if not tests_all:
        return (f"estimates and tests use {count} (the largest has {largest:,})",)
    most = max(len(sample) for pair in tested.values() for sample in pair)
    texts = "all texts" if most == largest else f"up to {most:,} texts"
    return (
        f"estimates use {count} (the largest has {largest:,}); tests use {texts}; the size all uses all texts for both",
    )


def _limit(size: str | int) -> int | None:
    """The number of texts asked for; None for `match` and `all`."""
    if size in ("all", "match"):
        return None
    if not isinstance(size, int) and not str(size).isdecimal():
        raise InputError(Setting("size", size), "; wanted match, all or a number of texts")
    if int(size) < FEWEST_TEXTS:
        raise InputError(Setting("size", int(size)), f"; wanted at least {FEWEST_TEXTS}")
    return int(size)


def _halved(
    reference: Sample,
    candidates: Mapping[str, Sample],
    smallest: int,
    seed: int,
    *,
    tested: Mapping[str, tuple[Sample, Sample]],
    baseline: bool,
    notes: tuple[str, ...] = (),
) -> Cut:
    """Where the reference has no texts to spare, it is cut in two halves, no larger than the smallest sample."""
    plain = reference.cut(smallest, stream(seed, "plain", reference.digest))
    if not baseline:
        return Cut(reference, candidates, reference, reference, plain, tested, notes)
    half = min(len(reference) // 2, smallest)
    first, rest = reference.split(half, stream(seed, "yardstick", reference.digest))
    second = rest.cut(half, stream(seed, "second half", rest.digest))
    if not len(first) or not len(second):
        raise InputError("the reference has one group only; the baseline needs two groups or more")
    sizes = (
        f"{many(len(first), 'text')} each" if len(first) == len(second) else f"{len(first):,} and {len(second):,} texts"
    )
    note = (
        "real v real: metrics that compare two samples are measured between two parts of the reference with "
        f"{sizes}; compare them with the rows at n = {len(first):,}"
    )
    return Cut(reference, candidates, first, second, plain, tested, notes, (note,))
