"""The result of planning: the number of texts that a decision needs, and the trials behind it."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

from textassay.inference.result import Result
from textassay.studies.finding import Verdict
from textassay.studies.outcome import Outcome, ResultColumn, Settings
from textassay.version import __version__


@dataclass(frozen=True)
class Round:
    """Trials at one size: `n` independent texts or groups per sample, and the shares that passed and failed.

    `found` is what the classifier separates of texts with a contaminant at the margin, `width` how far its upper bound
    is above the estimate, on average.
    """

    n: int
    n_trials: int
    passed: float
    failed: float
    found: float
    width: float


@dataclass(frozen=True)
class Predicted:
    """The shares of gates that pass and fail at a size, as the trials predict them."""

    n: int
    passed: float
    failed: float


@dataclass(frozen=True)
class Claim(ResultColumn):
    """What is planned: a claim has no metrics."""

    name: str
    results: tuple[Result, ...] = ()


@dataclass(frozen=True, repr=False)
class SizePlan(Outcome):
    """How many texts a gate needs.

    `needed` is None where no number of texts is likely to decide, or where that is not known.
    `unit` is what is counted: a text or a group. `available` is how many there are for one sample, `pilot` the name of
    the candidate whose texts were drawn instead of a second sample of the reference, empty without one.
    """

    kind: ClassVar[str] = "plan"
    csv_fields: ClassVar[tuple[str, ...]] = ("n", "passed", "failed")
    __hash__ = Outcome.__hash__

    margin: float
    power: float
    needed: int | None
    unit: str
    available: int
    reference: str
    pilot: str
    contaminant: str
    rounds: tuple[Round, ...]
    curve: tuple[Predicted, ...]
    verdict: Verdict
    level: float
    labels: tuple[str, ...]
    notes: tuple[str, ...]
    settings: Settings

    @property
    def columns(self) -> tuple[Claim, ...]:
        """The claim that is planned."""
        return (Claim("gate"),)

    def to_dict(self) -> dict[str, Any]:
        """The JSON form: every field by its name."""
        return {**super().to_dict(), "textassay": __version__, "details": {}}

    def csv_rows(self) -> Iterator[dict[str, Any]]:
        """One row per size of the predicted curve."""
        yield from ({"n": each.n, "passed": each.passed, "failed": each.failed} for each in self.curve)
