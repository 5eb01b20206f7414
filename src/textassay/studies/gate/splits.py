"""The A/A check: the rules on the reference itself, split in two at random again and again."""

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from textassay.corpus.sample import Sample, stream
from textassay.errors import InputError, Setting
from textassay.inference.plan import Progress
from textassay.inference.record_design import RecordDesign
from textassay.metrics.learned.separable import FEWEST_UNITS
from textassay.studies.gate.result import FAIL, PASS, UNDECIDED, Gate, Splits
from textassay.studies.gate.rules import GateRules

if TYPE_CHECKING:
    from textassay.studies.compare.result import Comparison

# Decides on a candidate and a reference with this seed.
Decide = Callable[[Sample, Sample, int], Gate]
_NO_VECTORS = "the A/A check is made without the vectors that the gate reads"


def with_splits(
    found: "Comparison",
    rules: GateRules,
    design: RecordDesign,
    compared: Callable[..., "Comparison"],
    *,
    contaminant: Sample | None,
    seed: int,
    has_vectors: bool,
    progress: Progress,
) -> "Comparison":
    """The comparison with how its rules decide on splits of the reference, if that was asked for.

    `compared` compares a reference with candidates. Texts of one group are not divided, and the groups are those of the
    gate: where its texts are independent, prompts that repeat do not make groups.
    """
    if not rules.aa or found.gate is None:
        return found
    alone = replace(rules, aa=0, no_worse_than=None, margins={}, contaminant=contaminant)

    progress.start("A/A check", rules.aa)

    def decide(mine: Sample, theirs: Sample, seed: int) -> Gate:
        split = compared(theirs, {"split": mine}, metrics="repetition", gate=alone, pair=False, seed=seed)
        assert split.gate is not None
        progress.step(1)
        return split.gate

    size = min(sample.count_independent() for sample in design.candidates.values())
    splits = decide_on_splits(design.reference, decide, size=size, count=rules.aa, seed=seed)
    notes = (*found.gate.notes, *([_NO_VECTORS] if has_vectors else ()))
    return replace(found, gate=replace(found.gate, aa=splits, notes=notes))


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
