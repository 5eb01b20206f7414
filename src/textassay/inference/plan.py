"""The plan of a run: level, resamples and seed, their check, and its progress."""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import wraps
from numbers import Integral, Real
from typing import ParamSpec, Protocol, Self, TypeVar

from textassay.errors import InputError, Setting


class Progress(Protocol):
    """Receives what is being done and how many steps are finished."""

    def start(self, what: str, steps: int) -> None:
        """A piece of work with this many steps begins."""
        ...

    def step(self, steps: int) -> None:
        """Report further finished steps."""
        ...


class Silent:
    """Reports nothing."""

    def start(self, what: str, steps: int) -> None:
        """Nothing to show."""

    def step(self, steps: int) -> None:
        """Nothing to show."""


P = ParamSpec("P")
R = TypeVar("R")


def told(progress: Progress | bool | None) -> Progress:
    """What is told about the progress; nothing is where nobody asked for it."""
    return Silent() if progress is None or isinstance(progress, bool) else progress


def shows_progress(function: Callable[P, R]) -> Callable[P, R]:
    """Let a function with a parameter `progress` take True, which shows a bar while it runs."""

    @wraps(function)
    def run(*args: P.args, **options: P.kwargs) -> R:
        if options.get("progress") is not True:
            return function(*args, **options)
        from textassay.engines.progress_bar import shown_bar

        with shown_bar() as bar:
            return function(*args, **(options | {"progress": bar}))  # type: ignore[arg-type]

    return run


_FEWEST_RESAMPLES = 19
# More resamples take hours and change no decision.
_MOST_RESAMPLES = 1_000_000
# Factor between the smallest p-value that is needed and the smallest one that can occur.
_MARGIN = 1.2
# A p-value close to a limit is computed again with this many times as many resamples, up to a limit.
_STEP, MOST_RAISED = 4, 16_000


@dataclass(frozen=True)
class Plan:
    """The level of intervals and tests, the number of resamples (0: estimates only) and the seed."""

    level: float = 0.95
    n_resamples: int = 999
    seed: int = 0

    def checked(self) -> Self:
        """The same plan; an error for settings that no interval or test can be made from."""
        kinds: tuple[tuple[str, object, type, str], ...] = (
            ("level", self.level, Real, "a number, such as 0.95"),
            ("n_resamples", self.n_resamples, Integral, "a whole number"),
            ("seed", self.seed, Integral, "a whole number"),
        )
        for name, value, kind, wanted in kinds:
            if not isinstance(value, kind) or isinstance(value, bool):
                raise InputError(Setting(name, value), f"; wanted {wanted}")
        if not 0.5 <= self.level < 1:
            raise InputError(Setting("level", self.level), "; wanted at least 0.5 and below 1, such as 0.95")
        few = 0 < self.n_resamples < _FEWEST_RESAMPLES
        if self.n_resamples < 0 or few or self.n_resamples > _MOST_RESAMPLES:
            wanted = f"0 (estimates only), or {_FEWEST_RESAMPLES} to {_MOST_RESAMPLES:,}"
            raise InputError(Setting("n_resamples", self.n_resamples), f"; wanted {wanted}")
        if self.seed < 0:
            raise InputError(Setting("seed", self.seed), "; wanted 0 or more")
        return self

    def enough_for(self, tests: int) -> Self:
        """The same plan with at least as many resamples as correcting for this many tests needs."""
        return replace(self, n_resamples=enough_resamples(self.n_resamples, tests, self.level))

    def raised(self) -> Self | None:
        """The same plan with more resamples, for a p-value that is too close to a limit; None if that is too many."""
        if self.n_resamples >= MOST_RAISED:
            return None
        return replace(self, n_resamples=min(_STEP * self.n_resamples, MOST_RAISED))


def fewest_resamples(tests: int, level: float, *, margin: float = 1.0) -> int:
    """The fewest resamples with which any of this many tests can be significant after Holm's correction.

    >>> fewest_resamples(1, 0.95), fewest_resamples(2, 0.95), fewest_resamples(2, 0.95, margin=1.2)
    (19, 39, 47)
    """
    return math.ceil(margin * tests / (1 - level) - 1e-9) - 1


def enough_resamples(wanted: int, tests: int, level: float) -> int:
    """At least as many as the Holm correction of this many tests needs for any of them to become significant.

    >>> enough_resamples(999, 36, 0.95), enough_resamples(999, 120, 0.95), enough_resamples(0, 120, 0.95)
    (999, 2879, 0)
    """
    margin = _MARGIN if tests > 1 else 1.0
    return max(wanted, fewest_resamples(tests, level, margin=margin)) if wanted else 0
