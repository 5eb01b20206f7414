"""Sizes: many metrics move with sample size, so samples are cut to one size unless told otherwise."""

from collections.abc import Mapping
from dataclasses import dataclass

from textassay.corpus.errors import InputError
from textassay.corpus.sample import Sample
from textassay.inference.streams import stream

FEWEST_TEXTS = 2


@dataclass(frozen=True)
class Cut:
    """The samples to compare, the real parts of the yardstick, and what was done in words.

    Metrics that compare have `held_out` against `base` as their yardstick, metrics that describe have `plain`. A
    candidate compares with the yardstick only on as many texts as these have.
    """

    reference: Sample
    candidates: Mapping[str, Sample]
    held_out: Sample
    base: Sample
    plain: Sample
    notes: tuple[str, ...]

    @property
    def everything(self) -> tuple[Sample, ...]:
        """All samples that anything is measured on."""
        return self.reference, self.held_out, self.base, self.plain, *self.candidates.values()


def cut_samples(reference: Sample, candidates: Mapping[str, Sample], *, size: str | int, seed: int) -> Cut:
    """Cut every sample to a common size (`match`: the smallest), to a number of texts, or not at all (`all`)."""
    everyone = {"reference": reference} | {f"candidate {name}": sample for name, sample in candidates.items()}
    for role, sample in everyone.items():
        if len(sample) < FEWEST_TEXTS:
            raise InputError(f"{role}: {len(sample)} text; comparing needs at least {FEWEST_TEXTS}")
    smallest = min(len(sample) for sample in everyone.values())
    wanted = _wanted(size, everyone, smallest)
    if wanted is None:
        return _halved(reference, candidates, smallest, seed, ())
    notes: tuple[str, ...] = ()
    if any(len(sample) > wanted for sample in everyone.values()):
        largest = max(len(sample) for sample in everyone.values())
        notes = (f"samples cut to {wanted:,} texts each (the largest has {largest:,}); --size all keeps them whole",)
    smaller = {name: sample.cut(wanted, stream(seed, "cut", sample.digest)) for name, sample in candidates.items()}
    used, spare = reference.split(wanted, stream(seed, "cut", reference.digest))
    if len(spare) >= wanted:
        held_out = spare.cut(wanted, stream(seed, "yardstick", spare.digest))
        return Cut(used, smaller, held_out, used, used, notes)
    return _halved(used if len(spare) else reference, smaller, wanted, seed, notes)


def _wanted(size: str | int, samples: Mapping[str, Sample], smallest: int) -> int | None:
    if size == "all":
        return None
    if size == "match":
        return smallest
    if not isinstance(size, int) and not str(size).isdecimal():
        raise InputError(f"--size is {size!r}; wanted match, all or a number of texts")
    wanted = int(size)
    if wanted < FEWEST_TEXTS:
        raise InputError(f"--size is {wanted}; wanted at least {FEWEST_TEXTS}")
    for role, sample in samples.items():
        if len(sample) < wanted:
            raise InputError(f"{role}: {len(sample):,} texts; --size {wanted} needs as many")
    return wanted


def _halved(
    reference: Sample, candidates: Mapping[str, Sample], smallest: int, seed: int, notes: tuple[str, ...]
) -> Cut:
    """Where the reference has no texts to spare, it is cut in two halves, no larger than the smallest sample."""
    half = min(len(reference) // 2, smallest)
    first, rest = reference.split(half, stream(seed, "yardstick", reference.digest))
    second = rest.cut(half, stream(seed, "second half", rest.digest))
    plain = reference.cut(smallest, stream(seed, "plain", reference.digest))
    note = f"real v real is two parts of the reference, {half:,} texts each: rows at that size compare with it"
    return Cut(reference, candidates, first, second, plain, (*notes, note))
