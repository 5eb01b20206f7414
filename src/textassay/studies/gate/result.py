"""The result of a gate: its checks, each with its own decision, and the decision of all of them."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from textassay.corpus.printable import many
from textassay.studies.codec import to_fields
from textassay.studies.finding import Finding

PASS, FAIL, UNDECIDED = "pass", "fail", "undecided"
EXIT_CODES = {PASS: 0, FAIL: 1, UNDECIDED: 3}


@dataclass(frozen=True)
class Check:
    """One rule on one candidate: `decision` is pass, fail or undecided, `finding` the numbers behind it.

    `rule` is the rule with its value, such as `max-separable 10%`, `fail-on collapsed` or `no-worse-than bleu-4`.
    """

    candidate: str
    rule: str
    decision: str
    finding: Finding


@dataclass(frozen=True)
class Splits:
    """How the rules decide on the reference itself, split in two at random: numbers of splits by decision."""

    n: int
    passed: int
    failed: int
    undecided: int

    @property
    def total(self) -> int:
        """All splits."""
        return self.passed + self.failed + self.undecided

    @property
    def sentence(self) -> str:
        """The splits in words."""
        return (
            f"A/A check: of {many(self.total, 'split')} of the reference into two samples of {self.n:,} texts,"
            f" {self.failed:,} failed and {self.undecided:,} {'was' if self.undecided == 1 else 'were'} undecided"
        )


@dataclass(frozen=True)
class Gate:
    """The checks of all candidates. `when_undecided` is the decision where there are not enough texts for one.

    `aa` has how the same rules decide on the reference itself, if that was asked for.
    """

    checks: tuple[Check, ...]
    when_undecided: str = UNDECIDED
    aa: Splits | None = None
    notes: tuple[str, ...] = field(default=())

    @property
    def decision(self) -> str:
        """Fail if any check fails, pass if all pass; where a check is undecided, what was asked for in this case."""
        return decision_of([check.decision for check in self.checks], self.when_undecided)

    @property
    def exit_code(self) -> int:
        """The exit code of the command: 0 pass, 1 fail, 3 undecided."""
        return EXIT_CODES[self.decision]

    def of(self, candidate: str) -> tuple[Check, ...]:
        """The checks of one candidate."""
        return tuple(check for check in self.checks if check.candidate == candidate)

    def to_dict(self) -> dict[str, Any]:
        """As plain values for JSON: the decision first, and the sentence of each check."""
        plain = to_fields(self)
        for check, each in zip(self.checks, plain["checks"], strict=True):
            each["reason"] = sentence(check)
        return {"decision": self.decision, "exit_code": self.exit_code, **plain}

    def check_fields(self) -> None:
        """Raise an error if a decision is not one of the three."""
        for decision in (self.when_undecided, *(check.decision for check in self.checks)):
            if decision not in EXIT_CODES:
                raise ValueError(f"the decision {decision!r:.40}; wanted one of {', '.join(EXIT_CODES)}")
        for check in self.checks:
            assert isinstance(sentence(check), str)


def decision_of(decisions: Sequence[str], when_undecided: str = UNDECIDED) -> str:
    """The decision of several checks.

    >>> decision_of(["pass", "undecided"]), decision_of(["pass", "undecided", "fail"]), decision_of(["pass"])
    ('undecided', 'fail', 'pass')
    """
    if FAIL in decisions:
        return FAIL
    return when_undecided if UNDECIDED in decisions else PASS


def sentence(check: Check) -> str:
    """The finding of a check in words."""
    from textassay.studies.sentences import sentence_of

    return sentence_of(check.finding)
