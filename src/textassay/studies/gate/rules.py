"""The rules of a gate: what must hold for a candidate to pass."""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self

from textassay.corpus.printable import quoted, shortened
from textassay.errors import InputError, Setting
from textassay.inference.plan import Plan

# What a candidate can fail on, besides the margins.
FAILURES = ("differs", "collapsed", "copied", "format")
_UNDECIDED = ("undecided", "pass", "fail")
_MOST_SPLITS = 1000


@dataclass(frozen=True)
class GateRules:
    """What must hold for a candidate to pass. Without any rule there is no gate.

    Parameters
    ----------
    max_separable : float or str, optional
        The margin of the separable share, such as 0.1 or "10%": pass if the upper bound is at most the margin, fail if
        the lower bound is above it, otherwise undecided.
    contaminant : optional
        Texts that a candidate must not have more of than the margin: a path, a `Sample` or a list of texts. Without
        it, the texts themselves with their words in random order.
    no_worse_than : optional
        The baseline of every metric: its texts, a path to them, or a path to results that `to_json` wrote.
    margins : mapping of str to float, optional
        By how much a metric may be worse than the baseline, by its label.
    fail_on : str or sequence of str
        Any of differs, collapsed, copied and format.
    undecided : {"undecided", "pass", "fail"}
        What the decision is where there are not enough texts for one.
    aa : int
        The number of times that the reference is split in two, to count how often the rules would not let it pass.

    Examples
    --------
    >>> GateRules(max_separable="10%", fail_on="collapsed,copied").checked().fail_on
    ('collapsed', 'copied')
    """

    max_separable: float | str | None = None
    contaminant: Any = None
    no_worse_than: Any = None
    margins: Mapping[str, float] = field(default_factory=dict)
    fail_on: str | Sequence[str] = ()
    undecided: str = "undecided"
    aa: int = 0

    @property
    def exist(self) -> bool:
        """Whether there is anything to decide."""
        return self.max_separable is not None or self.no_worse_than is not None or bool(self.fail_on)

    @property
    def margin(self) -> float | None:
        """The margin of the separable share as a number."""
        return None if self.max_separable is None else share_of(self.max_separable)

    def checked(self, plan: Plan | None = None) -> Self:
        """The same rules with their names split; an error for those that no candidate can pass, or that need others."""
        names = self.fail_on.split(",") if isinstance(self.fail_on, str) else self.fail_on
        failures = tuple(dict.fromkeys(name.strip() for name in names if name.strip()))
        for name in failures:
            if name not in FAILURES:
                raise InputError(Setting("fail_on", name), f"; wanted any of {', '.join(FAILURES)}")
        rules = replace(self, fail_on=failures)
        if rules.margin is not None:
            _check_margin(rules.margin)
        if self.undecided not in _UNDECIDED:
            raise InputError(Setting("undecided", self.undecided), "; wanted pass or fail")
        self._check_needed(rules)
        if plan is not None and rules.exist and not plan.n_resamples:
            raise InputError(
                "a gate decides by intervals and tests; wanted ", Setting("n_resamples"), " of 19 or more, not 0"
            )
        return rules

    def _check_needed(self, rules: Self) -> None:
        """Raise an error for a setting that has no effect without another one."""
        if self.contaminant is not None and self.max_separable is None:
            raise InputError(Setting("contaminant"), " given without a margin; wanted ", Setting("max_separable"))
        if self.margins and self.no_worse_than is None:
            raise InputError(Setting("margins"), " given without a baseline; wanted ", Setting("no_worse_than"))
        for label, margin in self.margins.items():
            if not (math.isfinite(margin) and margin > 0):
                raise InputError(f"the margin of {shortened(label, 40)} is {margin:g}; wanted a number above 0")
        if not 0 <= self.aa <= _MOST_SPLITS or self.aa == 1:
            raise InputError(Setting("aa", self.aa), f"; wanted 2 to {_MOST_SPLITS:,} splits")
        if self.aa and not (rules.max_separable is not None or rules.fail_on):
            raise InputError(
                Setting("aa"), " given without a rule to check; wanted ", Setting("max_separable"), " or ",
                Setting("fail_on"),
            )  # fmt: skip


def _check_margin(margin: float) -> None:
    if margin <= 0:
        raise InputError(
            Setting("max_separable", margin), "; no number of texts shows that nothing differs, wanted above 0%"
        )
    if margin >= 1:
        raise InputError(Setting("max_separable", margin), "; every candidate is within 100%, wanted less")


_SHARE = re.compile(r"(?P<number>\d+(?:\.\d*)?|\.\d+)\s*(?P<percent>%?)")


def share_of(value: float | str, setting: str = "max_separable") -> float:
    """A share from a number or a text; whole numbers need a percent sign.

    >>> share_of("10%"), share_of("0.1"), share_of(0.1), share_of("2.5 %")
    (0.1, 0.1, 0.1, 0.025)
    """
    if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 1:
        return float(value)
    found = _SHARE.fullmatch(value.strip()) if isinstance(value, str) else None
    if found is None or (not found["percent"] and float(found["number"]) > 1):
        raise InputError(Setting(setting, value), "; wanted a share such as 10% or 0.1")
    return float(found["number"]) / (100 if found["percent"] else 1)


def margins_of(values: Sequence[str]) -> dict[str, float]:
    """Margins of metrics from texts such as `bleu-4=0.02`.

    >>> margins_of(["bleu-4=0.02", "cnd-2=0.001"])
    {'bleu-4': 0.02, 'cnd-2': 0.001}
    """
    found = {}
    for value in values:
        label, sign, number = value.rpartition("=")
        try:
            found[label.strip()] = float(number)
        except ValueError:
            sign = ""
        if not sign or not label.strip():
            raise InputError(f"--margin {quoted([value])}; wanted METRIC=NUMBER, such as bleu-4=0.02")
    return found
