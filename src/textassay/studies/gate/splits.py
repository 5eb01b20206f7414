"""The A/A check: the rules on the reference itself, split in two at random again and again."""

from collections import Counter
from collections.abc import Callable

from textassay.corpus.sample import Sample, stream
from textassay.errors import InputError, Setting
from textassay.metrics.learned.separable import FEWEST_UNITS
from textassay.studies.gate.result import FAIL, PASS, UNDECIDED, Gate, Splits

# Decides on a candidate and a reference with this seed.
Decide = Callable[[Sample, Sample, int], Gate]


def decide_on_splits(reference: Sample, decide: Decide, *, size: int, count: int, seed: int) -> Splits:
    """How the rules decide on halves of the reference; at most `size` independent texts or groups of each."""
    independent = reference.count_independent()
    if independent < 2 * FEWEST_UNITS:
        raise InputError(
            Setting("aa", count),
            f"; {independent:,} independent texts cannot be split in two samples of {FEWEST_UNITS}",
        )
    texts = len(reference) * min(size, independent // 2) // independent
    found: Counter[str] = Counter()
    for number in range(count):
        rng = stream(seed, "gate", "split", number)
        mine, rest = reference.split(texts, rng)
        theirs = rest.split(texts, rng)[0]
        gate = decide(mine, theirs, seed + number)
        decisions = {check.decision for check in gate.checks}
        found[FAIL if FAIL in decisions else UNDECIDED if UNDECIDED in decisions else PASS] += 1
    return Splits(texts, found[PASS], found[FAIL], found[UNDECIDED])
