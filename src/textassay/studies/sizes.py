"""Sizes: many metrics move with sample size, so samples are cut to one size unless told otherwise.

Estimates and intervals are made on the cut samples. Tests are valid for samples of unequal sizes and use all texts.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from textassay.corpus.errors import InputError
from textassay.corpus.sample import Sample
from textassay.inference.design import group_numbers
from textassay.inference.streams import stream

FEWEST_TEXTS = 2
# In a test the larger sample has at most this many times the texts of the smaller one: more would add next to nothing.
MOST_TIMES = 20


@dataclass(frozen=True)
class Cut:
    """The samples to compare, the real parts of the yardstick, and what was done in words.

    Metrics that compare have `held_out` against `base` as their yardstick, metrics that describe have `plain`. A
    candidate compares with the yardstick only on as many texts as these have. `tested` has, for each candidate, the
    candidate and the reference that the tests use.
    """

    reference: Sample
    candidates: Mapping[str, Sample]
    held_out: Sample
    base: Sample
    plain: Sample
    tested: Mapping[str, tuple[Sample, Sample]]
    notes: tuple[str, ...]
    yardstick_notes: tuple[str, ...] = ()

    @property
    def everything(self) -> tuple[Sample, ...]:
        """All samples that anything is measured on."""
        tested = [sample for pair in self.tested.values() for sample in pair]
        return self.reference, self.held_out, self.base, self.plain, *self.candidates.values(), *tested


def cut_samples(reference: Sample, candidates: Mapping[str, Sample], *, size: str | int, seed: int) -> Cut:
    """Cut every sample to a common size (`match`: the smallest), to a number of texts, or not at all (`all`)."""
    everyone = {"reference": reference} | {f"candidate {name}": sample for name, sample in candidates.items()}
    for role, sample in everyone.items():
        if len(sample) < FEWEST_TEXTS:
            raise InputError(f"{role}: {len(sample)} text; comparing needs at least {FEWEST_TEXTS}")
    smallest = min(len(sample) for sample in everyone.values())
    wanted = _wanted(size, everyone, smallest)
    if wanted is None:
        return _halved(reference, candidates, smallest, seed, tested=_pairs(reference, candidates, seed))
    smaller = {name: _cut(sample, wanted, stream(seed, "cut", sample.digest)) for name, sample in candidates.items()}
    used, spare = _split(reference, wanted, stream(seed, "cut", reference.digest))
    tested = _pairs(reference, candidates, seed) if size == "match" else _pairs(used, smaller, seed)
    notes = _notes(everyone, wanted, tests_all=size == "match", tested=tested)
    if len(spare) >= wanted:
        held_out = _cut(spare, wanted, stream(seed, "yardstick", spare.digest))
        return Cut(used, smaller, held_out, used, used, tested, notes)
    return _halved(used if len(spare) else reference, smaller, wanted, seed, tested=tested, notes=notes)


def cut_pairs(reference: Sample, candidates: Mapping[str, Sample], *, size: str | int, seed: int) -> Cut:
    """Keep the groups that all samples have, each with equally many texts in every sample; tests use all their texts.

    The yardstick compares real texts of the same groups where each has enough of them, else of different groups.
    """
    everyone = (reference, *candidates.values())
    names, numbers = group_numbers(*(sample.groups for sample in everyone))
    sides = np.split(numbers, np.cumsum([len(sample) for sample in everyone])[:-1])
    counts = np.stack([np.bincount(side, minlength=names) for side in sides])
    fewest = counts.min(axis=0)
    if not fewest.any():
        raise InputError("no group is in all samples; --pair needs groups that the reference and every candidate have")
    limit = _limit(size)
    if limit is not None:
        fewest = np.where(np.cumsum(fewest) <= limit, fewest, 0)
    shared = [sample.take(np.flatnonzero(fewest[side] > 0)) for sample, side in zip(everyone, sides, strict=True)]
    kept = [side[fewest[side] > 0] for side in sides]
    cut = [
        sample.take(_per_group(side, fewest, stream(seed, "cut", sample.digest)))
        for sample, side in zip(shared, kept, strict=True)
    ]
    tested = {name: (shared[place], shared[0]) for place, name in enumerate(candidates, 1)}
    note = _unmatched(everyone, shared, ["reference", *candidates])
    taken = dict(zip(candidates, cut[1:], strict=True))
    held_out, base, how = _paired_yardstick(shared[0], kept[0], cut[0], fewest, seed)
    return Cut(cut[0], taken, held_out, base, _cut(cut[0], len(cut[0]), stream(seed, "plain")), tested, note, how)


def _paired_yardstick(
    whole: Sample, groups: NDArray[np.int64], used: Sample, fewest: NDArray[np.int64], seed: int
) -> tuple[Sample, Sample, tuple[str, ...]]:
    counts = np.bincount(groups, minlength=len(fewest))
    there = fewest > 0
    if (counts >= 2 * fewest)[there].all():
        first = _per_group(groups, fewest, stream(seed, "yardstick"))
        rest = np.setdiff1d(np.arange(len(whole)), first)
        return whole.take(first), whole.take(rest[_per_group(groups[rest], fewest, stream(seed, "second half"))]), ()
    half = counts // 2
    if (half > 0)[there].all():
        first = _per_group(groups, half, stream(seed, "yardstick"))
        rest = np.setdiff1d(np.arange(len(whole)), first)
        note = f"real v real is two texts or more of each group, {len(first):,} in each part"
        return whole.take(first), whole.take(rest[_per_group(groups[rest], half, stream(seed, "second half"))]), (note,)
    first_half, rest_half = _split(used, len(used) // 2, stream(seed, "yardstick"))
    note = (
        "real v real compares texts of different groups, since most groups have one real text: it is a loose yardstick"
    )
    return first_half, _cut(rest_half, len(first_half), stream(seed, "second half")), (note,)


def _per_group(groups: NDArray[np.int64], counts: NDArray[np.int64], rng: np.random.Generator) -> NDArray[np.int64]:
    """Places of that many texts of each group, chosen at random, in their original order."""
    mixed = rng.permutation(len(groups))
    order = mixed[np.argsort(groups[mixed], kind="stable")]
    starts = np.flatnonzero(np.diff(groups[order], prepend=-1))
    rank = np.arange(len(groups)) - np.repeat(starts, np.diff(np.append(starts, len(groups))))
    return np.sort(order[rank < counts[groups[order]]])


def _unmatched(before: tuple[Sample, ...], after: list[Sample], names: list[str]) -> tuple[str, ...]:
    lost = [
        f"{name} {len(old) - len(new):,}"
        for name, old, new in zip(names, before, after, strict=True)
        if len(new) < len(old)
    ]
    return (f"texts left out because their group is not in every sample: {', '.join(lost)}",) if lost else ()


def _pairs(reference: Sample, candidates: Mapping[str, Sample], seed: int) -> dict[str, tuple[Sample, Sample]]:
    """Candidate and reference of each test."""
    found = {}
    for name, sample in candidates.items():
        most = MOST_TIMES * min(len(sample), len(reference))
        found[name] = (
            _cut(sample, most, stream(seed, "test", sample.digest)),
            _cut(reference, most, stream(seed, "test", reference.digest)),
        )
    return found


def _notes(
    everyone: Mapping[str, Sample], wanted: int, *, tests_all: bool, tested: Mapping[str, tuple[Sample, Sample]]
) -> tuple[str, ...]:
    largest = max(len(sample) for sample in everyone.values())
    if largest <= wanted:
        return ()
    note = f"estimates use {wanted:,} texts of each sample (the largest has {largest:,})"
    if not tests_all:
        return (f"samples cut to {wanted:,} texts each (the largest has {largest:,})",)
    most = max(len(sample) for pair in tested.values() for sample in pair)
    used = "all texts" if most == largest else f"up to {most:,} texts"
    return (f"{note}; tests use {used}; --size all uses all texts for both",)


def _cut(sample: Sample, size: int, rng: np.random.Generator) -> Sample:
    """At most about `size` texts, chosen at random by whole groups where there are groups."""
    return sample if size >= len(sample) else _split(sample, size, rng)[0]


def _split(sample: Sample, size: int, rng: np.random.Generator) -> tuple[Sample, Sample]:
    """About `size` texts and the rest; no group is divided, so with groups the size is the nearest possible."""
    if sample.groups is None:
        return sample.split(size, rng)
    count, groups = group_numbers(sample.groups)
    order = rng.permutation(count)
    reached = np.cumsum(np.bincount(groups, minlength=count)[order])
    last = int(np.argmin(np.abs(reached - size)))
    inside = np.zeros(count, dtype=bool)
    inside[order[: last + 1]] = True
    return sample.take(np.flatnonzero(inside[groups])), sample.take(np.flatnonzero(~inside[groups]))


def _limit(size: str | int) -> int | None:
    """The number of texts asked for; None for `match` and `all`."""
    if size in ("all", "match"):
        return None
    if not isinstance(size, int) and not str(size).isdecimal():
        raise InputError(f"--size is {size!r}; wanted match, all or a number of texts")
    if int(size) < FEWEST_TEXTS:
        raise InputError(f"--size is {int(size)}; wanted at least {FEWEST_TEXTS}")
    return int(size)


def _wanted(size: str | int, samples: Mapping[str, Sample], smallest: int) -> int | None:
    wanted = _limit(size)
    if wanted is None:
        return smallest if size == "match" else None
    for role, sample in samples.items():
        if len(sample) < wanted:
            raise InputError(f"{role}: {len(sample):,} texts; --size {wanted} needs as many")
    return wanted


def _halved(
    reference: Sample,
    candidates: Mapping[str, Sample],
    smallest: int,
    seed: int,
    *,
    tested: Mapping[str, tuple[Sample, Sample]],
    notes: tuple[str, ...] = (),
) -> Cut:
    """Where the reference has no texts to spare, it is cut in two halves, no larger than the smallest sample."""
    half = min(len(reference) // 2, smallest)
    first, rest = _split(reference, half, stream(seed, "yardstick", reference.digest))
    second = _cut(rest, half, stream(seed, "second half", rest.digest))
    plain = _cut(reference, smallest, stream(seed, "plain", reference.digest))
    if not len(first) or not len(second):
        raise InputError("the reference has one group only; the yardstick needs two groups or more")
    note = f"real v real is two parts of the reference, {len(first):,} texts each: rows at that size compare with it"
    return Cut(reference, candidates, first, second, plain, tested, notes, (note,))
