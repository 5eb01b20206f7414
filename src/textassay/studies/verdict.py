"""Verdicts of all studies: their levels, the order of their reasons, and how they cite p-values."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Self

from textassay.studies.wording import p_text

NO_TEST = "estimates only: no test was run"


@dataclass(frozen=True)
class Verdict:
    """A judgment in plain words: `reasons` are sentences, the most important first.

    `level` is same (tested, no difference found), differs, collapsed, copied (many texts are taken from the reference),
    or untested (nothing was tested, or there are too few texts to find any but very large differences).
    """

    level: str
    reasons: tuple[str, ...]

    @classmethod
    def of(cls, level: str, *findings: str, details: Iterable[str] = (), cautions: Iterable[str] = ()) -> Self:
        """A verdict with its reasons in order: what was found, how it shows, and what may be wrong with the test."""
        return cls(level, (*findings, *details, *cautions))

    @property
    def sentence(self) -> str:
        """The reasons as one line."""
        return "; ".join(self.reasons)

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any] | None) -> Self | None:
        """Read back what `dataclasses.asdict` wrote."""
        return cls(plain["level"], tuple(plain["reasons"])) if plain else None


def cited_p(p: float, *, floor: float = 0.0, n_tests: int = 1) -> str:
    """A p-value as a sentence cites it; at the smallest value that is possible (`floor`) it is an upper bound.

    >>> cited_p(0.043), cited_p(1e-5), cited_p(0.001, floor=0.001), cited_p(0.03, n_tests=2)
    ('p = 0.043', 'p < 0.001', 'p ≤ 0.001', 'p = 0.030 after correction for 2 tests')
    """
    correction = f" after correction for {n_tests} tests" if n_tests > 1 else ""
    return f"p {compared(p_text(p, floor=floor))}{correction}"


def compared(text: str) -> str:
    """A p-value with its sign of comparison: `= 0.043`, `< 0.001`, `≤ 0.001`."""
    return text.replace("<", "< ") if text[0] in "<≤" else f"= {text}"


def at_floor(p: float, n_draws: float) -> bool:
    """Whether a p-value is the smallest one that this number of draws can give; False if the number is not known."""
    return not math.isnan(n_draws) and p <= 1.000001 / (n_draws + 1)
