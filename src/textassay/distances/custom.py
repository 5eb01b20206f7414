"""A distance defined by a user: a function of two texts."""

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from numbers import Real
from typing import Any, ClassVar

import numpy as np

from textassay.corpus.arrays import F64, I64
from textassay.corpus.item_set import TextTable
from textassay.corpus.printable import shortened
from textassay.distances.base import BUILT_IN
from textassay.errors import InputError

Function = Callable[[str, str], Any]


@dataclass(frozen=True, eq=False)
class OwnDistance:
    """Distances from a function of the user; the score is minus the distance.

    Infinite distances become NaN. The distance of a text from itself must be 0, and no distance may be negative.
    """

    name: str
    function: Function = field(repr=False)
    table: TextTable = field(repr=False)

    top: ClassVar[float] = 0.0

    @property
    def signature(self) -> str:
        """The name, marked as not fixed, because the code of a function is not known."""
        return f"own:{self.name}/not-fixed"

    def scores(self, numbers: I64, /) -> F64:
        """The function, called for each ordered pair of texts."""
        texts = [self.table.texts[number] for number in numbers.tolist()]
        distances = [[self._between(one, other) for other in texts] for one in texts]
        return 0.0 - np.array(distances, dtype=np.float64).reshape(len(texts), len(texts))

    def same(self, numbers: I64, /) -> I64:
        """Each text has its own number."""
        return numbers

    def _between(self, one: str, other: str) -> float:
        what = f"distance {self.name!r}"
        try:
            value = self.function(one, other)
        except Exception as error:
            reason = shortened(f"{type(error).__name__}: {error}".removesuffix(": "))
            raise InputError(f"{what} fails on {_pair(one, other)}: {reason}") from None
        if not isinstance(value, Real | np.bool_):
            seen = "None" if value is None else f"a {type(value).__name__}"
            raise InputError(f"{what} returns {seen} for {_pair(one, other)}; wanted a real number")
        distance = _as_float(value)
        if distance < 0:
            raise InputError(f"{what} returns {distance:g} for {_pair(one, other)}; wanted 0 or more")
        if one == other and distance > 0:
            raise InputError(f"{what} returns {distance:g} between a text and itself; wanted 0 (text '{_short(one)}')")
        return distance if math.isfinite(distance) else math.nan


def own_distance(name: str, function: Function, table: TextTable) -> OwnDistance:
    """The user's distance for the texts of a run."""
    check_own(name, function)
    return OwnDistance(name, function, table)


def check_own(name: str, function: Function) -> None:
    """Raise an error for an invalid or used name, and for an object that is not a function."""
    if not isinstance(name, str) or not name.isidentifier():
        raise InputError(f"distance name {shortened(repr(name), 60)}; wanted letters, digits and underscores")
    if name in BUILT_IN:
        raise InputError(f"distance name {name!r} is taken; wanted a name other than {', '.join(BUILT_IN)}")
    if not callable(function):
        raise InputError(f"distance {name!r} is a {type(function).__name__}; wanted a function of two texts")


def _as_float(value: Any) -> float:
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def _pair(one: str, other: str) -> str:
    return f"'{_short(one)}' and '{_short(other)}'"


def _short(text: str) -> str:
    return shortened(text, 40)
