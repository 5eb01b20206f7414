"""Sizes: many metrics depend on the sample size, so samples are cut to one size by default.

Estimates and intervals are made on the cut samples. Tests are valid for samples of unequal sizes and use all texts.

Groups of unequal sizes are another matter. One text per prompt on one side and ten on the other do not exchange: means
of ten texts vary less than single texts. Where the sizes of the groups differ between the samples, equally many texts
are drawn from each group, and a group with fewer texts is left out.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from textassay.corpus.printable import many, quoted
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
# A baseline of texts of other groups says something about candidates with at most this share of texts in shared groups.
_FEW_SHARED = 0.1
# So many of the groups that are left out are named.
_NAMED = 3
# A baseline within groups may leave out this share of the groups, those with one real text.
_MOST_LEFT_OUT = 0.1


@dataclass(frozen=True)
class Cut:
    """The samples to compare, the real parts of the baseline, and what was done in words.

    Metrics that compare have `held_out` against `base` as their baseline, metrics that describe have `plain`. A
    candidate compares with the baseline only on as many texts as these have: `like_held_out` has such texts of each
    candidate where they come from the same groups, otherwise they are drawn at random. `tested` has, for each
    candidate, the candidate and the reference that the tests use. If real text cannot be compared with real text,
    `why_no_baseline` is the reason, and nothing is measured on `held_out` and `base`.
    """

    reference: Sample
    candidates: Mapping[str, Sample]
    held_out: Sample
    base: Sample
    plain: Sample
    tested: Mapping[str, tuple[Sample, Sample]]
    notes: tuple[str, ...]
    baseline_notes: tuple[str, ...] = ()
    like_held_out: Mapping[str, Sample] = field(default_factory=dict)
    why_no_baseline: str | None = None

    @property
    def everything(self) -> tuple[Sample, ...]:
        """All samples that anything is measured on."""
        tested = [sample for pair in self.tested.values() for sample in pair]
        alike = self.like_held_out.values()
        return self.reference, self.held_out, self.base, self.plain, *self.candidates.values(), *alike, *tested


def cut_samples(
    reference: Sample, candidates: Mapping[str, Sample], *, size: str | int, seed: int, baseline: bool = True
) -> Cut:
    """Cut every sample to a common size (`match`: the smallest), to a number of texts, or not at all (`all`)."""
    cut = _cut_samples(reference, candidates, size=size, seed=seed, baseline=baseline)
    if not baseline or not any(_in_groups_of(reference, sample) > _FEW_SHARED for sample in candidates.values()):
        return cut
    why = (
        "real v real would compare texts of different groups, but candidates have groups in common with the reference;"
        " the option pair compares within groups"
    )
    return replace(cut, why_no_baseline=why, baseline_notes=(f"no baseline for metrics that compare: {why}",))


def _in_groups_of(reference: Sample, sample: Sample) -> float:
    """The share of a candidate's texts whose group is also in the reference."""
    if reference.groups is None or sample.groups is None:
        return 0.0
    return float(pc.mean(pc.is_in(sample.groups, value_set=reference.groups).cast("int8")).as_py() or 0.0)


def _cut_samples(
    reference: Sample, candidates: Mapping[str, Sample], *, size: str | int, seed: int, baseline: bool
) -> Cut:
    limit = _limit(size)
    tested = _pairs(reference, candidates, seed)
    reference, candidates, equal = _evened(reference, candidates, seed)
    everyone = {"reference": reference} | {f"candidate {name}": sample for name, sample in candidates.items()}
    for role, sample in everyone.items():
        if len(sample) < FEWEST_TEXTS:
            left_out = f" ({'; '.join(sample.notes)})" if sample.notes else ""
            have = many(len(sample), "text")
            raise InputError(f"{role}: {have}{left_out}; comparing needs at least {FEWEST_TEXTS}")
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
    many texts together. The baseline compares real texts of the same groups; there is none where more than a tenth of
    the groups have one real text.
    """
    everyone = (reference, *candidates.values())
    names, numbers = group_numbers(*(sample.groups for sample in everyone))
    sides = np.split(numbers, np.cumsum([len(sample) for sample in everyone])[:-1])
    counts = np.stack([np.bincount(side, minlength=names) for side in sides])
    fewest = counts.min(axis=0)
    if not fewest.any():
        raise InputError("no group is in all samples; pairs need groups that the reference and every candidate have")
    notes = _unmatched([("reference", reference), *candidates.items()], sides, fewest)
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
    tested = {name: (shared[index], shared[0]) for index, name in enumerate(candidates, 1)}
    if limit is not None:
        tested = {name: (cut[index], cut[0]) for index, name in enumerate(candidates, 1)}
    taken = dict(zip(candidates, cut[1:], strict=True))
    if not baseline:
        return Cut(cut[0], taken, cut[0], cut[0], cut[0], tested, notes)
    share, note, why = _shares_of_baseline(np.bincount(kept[0], minlength=names), fewest)
    if why is not None:
        note = (f"no baseline for metrics that compare: {why}",)
        return Cut(cut[0], taken, cut[0], cut[0], cut[0], tested, notes, note, why_no_baseline=why)
    first = _per_group(kept[0], share, stream(seed, "yardstick"))
    rest = np.setdiff1d(np.arange(len(shared[0])), first)
    base = shared[0].take(rest[_per_group(kept[0][rest], share, stream(seed, "second half"))])
    alike = {}
    if (share != fewest).any():
        alike = {
            name: sample.take(_per_group(side, share, stream(seed, "like real", sample.digest)))
            for name, sample, side in zip(candidates, shared[1:], kept[1:], strict=True)
        }
    return Cut(cut[0], taken, shared[0].take(first), base, cut[0], tested, notes, note, alike)


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


def _shares_of_baseline(
    counts: NDArray[np.int64], fewest: NDArray[np.int64]
) -> tuple[NDArray[np.int64], tuple[str, ...], str | None]:
    """How many texts of each group both parts of the baseline have, a note, and the reason if there is no baseline."""
    share = np.minimum(fewest, counts // 2)
    groups = int((fewest > 0).sum())
    single = groups - int((share > 0).sum())
    if single > _MOST_LEFT_OUT * groups or groups - single < FEWEST_TEXTS:
        few = f"{single:,} of {many(groups, 'group')} {'has' if single == 1 else 'have'} one real text"
        return share, (), f"{few}, and real texts of different groups are no baseline for pairs"
    if (share == fewest).all():
        return share, (), None
    left_out = f", without {many(single, 'group')} that {'has' if single == 1 else 'have'} one" if single else ""
    note = f"real v real is two parts of the real texts of each group, {many(int(share.sum()), 'text')} each{left_out}"
    return share, (note,), None


def _per_group(groups: NDArray[np.int64], counts: NDArray[np.int64], rng: np.random.Generator) -> NDArray[np.int64]:
    """Places of that many texts of each group, chosen at random, in their original order."""
    mixed = rng.permutation(len(groups))
    order = mixed[np.argsort(groups[mixed], kind="stable")]
    starts = np.flatnonzero(np.diff(groups[order], prepend=-1))
    rank = np.arange(len(groups)) - np.repeat(starts, np.diff(np.append(starts, len(groups))))
    return np.sort(order[rank < counts[groups[order]]])


def _unmatched(
    samples: Sequence[tuple[str, Sample]], sides: Sequence[NDArray[np.int64]], fewest: NDArray[np.int64]
) -> tuple[str, ...]:
    """A note that counts the texts of groups that not every sample has, and names some of the groups."""
    parts = []
    for (name, sample), side in zip(samples, sides, strict=True):
        lost = fewest[side] == 0
        if lost.any() and sample.groups is not None:
            groups = sample.groups.filter(pa.array(lost)).unique().to_pylist()
            parts.append(f"{name} {int(lost.sum()):,} ({quoted(groups, _NAMED)})")
    return (f"texts left out because their group is not in every sample: {'; '.join(parts)}",) if parts else ()


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
