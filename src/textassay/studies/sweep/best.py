r"""The best setting of each metric, and the settings that cannot be distinguished from it.

The smallest value of several noisy ones is no proof: another setting may be better. A setting is left out only if some
other setting is better than it by more than chance explains. Let :math:`v_s` be the value at setting s, and k the
number of settings. If lower is better, s is left out if for some other setting t the difference :math:`v_s - v_t` is
above 0 in a one-sided test at level :math:`\alpha / (k - 1)`. The truly best setting is left out only if one of its
k - 1 comparisons is a false alarm, so the settings that remain contain it with probability of at least
:math:`1 - \alpha` (multiple comparisons with the best, J. C. Hsu 1984, with Bonferroni's correction).

If a value should be close to the value r of real text, s is worse than t if :math:`|v_s - r| > |v_t - r|`, that is, if
:math:`v_s - v_t` and :math:`v_s + v_t - 2 r` have the same sign. Both are tested, two-sided, and the larger p-value
counts: if one of them is 0 or their signs differ, a false alarm needs a significant result on its wrong side.

Standard errors come from the delete-a-group jackknife. The reference is the same for all settings, so its folds are
the same, and its noise cancels out in differences; the samples of the settings are independent. With prompts, texts of
one fold have the same prompts at all settings.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from textassay.inference.intervals import Replicates
from textassay.inference.measure import linear_combination
from textassay.inference.p_values import is_significant
from textassay.inference.result import one_nan


@dataclass(frozen=True, eq=False)
class Valued:
    """The value of a metric at a setting, or on real text, with its jackknife replicates if it has any."""

    estimate: float
    replicates: Replicates | None

    @property
    def varies(self) -> bool:
        """Whether the uncertainty of the value is known."""
        if self.replicates is None or not math.isfinite(self.estimate):
            return False
        return all(bool(np.isfinite(values).all()) for values in self.replicates.by_sample)


@dataclass(frozen=True)
class Best:
    """The best setting of a metric (empty if no setting has a value).

    `among` are the settings that cannot be distinguished from the best one, which is among them. `unknown` are settings
    whose uncertainty is not known, so that they were not compared. `target` is the value of real text that values
    should be close to, NaN if lower or higher is better.
    """

    label: str
    setting: str
    among: tuple[str, ...]
    unknown: tuple[str, ...] = ()
    target: float = math.nan

    def __post_init__(self) -> None:
        object.__setattr__(self, "target", one_nan(self.target))


def find_best(
    label: str, better: str, values: Mapping[str, Valued], real: Valued | None, *, level: float, paired: bool = False
) -> Best:
    """The best setting by a metric for which lower, higher, or closer to real text is better.

    With `paired`, the samples of the settings have the same prompts in the same order.
    """
    target = real.estimate if better == "closer" and real is not None else math.nan
    losses = {name: loss(value.estimate, better, target) for name, value in values.items()}
    known = [name for name, each in losses.items() if math.isfinite(each)]
    if not known:
        return Best(label, "", (), tuple(values), target)
    best = min(known, key=losses.__getitem__)
    targeted = better != "closer" or (real is not None and real.varies)
    compared = [name for name in known if values[name].varies and targeted]
    judge = _Judge(better, values, real, 1 - (1 - level) / max(len(compared) - 1, 1), 2 if paired else 0)
    # The best settings first: mostly one of them shows that a setting is worse.
    others = sorted(compared, key=losses.__getitem__)
    among = [
        name
        for name in compared
        if not any(losses[other] < losses[name] and judge.is_worse(name, other) for other in others)
    ]
    if best not in compared:
        return Best(label, best, (best,), tuple(name for name in known if name != best), target)
    return Best(label, best, tuple(among), tuple(name for name in known if name not in compared), target)


def loss(value: float, better: str, target: float) -> float:
    """The value, turned so that less is better.

    >>> loss(0.3, "lower", math.nan), loss(0.3, "higher", math.nan), loss(0.25, "closer", 0.5)
    (0.3, -0.3, 0.25)
    """
    if better == "closer":
        return abs(value - target)
    return -value if better == "higher" else value


@dataclass(frozen=True, eq=False)
class _Judge:
    better: str
    values: Mapping[str, Valued]
    real: Valued | None
    level: float
    n_paired: int

    def is_worse(self, name: str, other: str) -> bool:
        """Whether the first setting, which has the larger loss, is worse by more than chance explains."""
        difference = self._p_value([(1.0, self.values[name]), (-1.0, self.values[other])])
        if self.better != "closer":
            return is_significant(difference / 2, self.level)
        assert self.real is not None
        middle = self._p_value([(1.0, self.values[name]), (1.0, self.values[other]), (-2.0, self.real)])
        return is_significant(difference, self.level) and is_significant(middle, self.level)

    def _p_value(self, terms: Sequence[tuple[float, Valued]]) -> float:
        parts = [(weight, each.estimate, each.replicates) for weight, each in terms if each.replicates is not None]
        return linear_combination(parts, n_paired=self.n_paired).p_value
