"""The reading budget: how much memory the texts of one input may take, and how far a compressed file may expand."""

import math
import re
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

from textassay.corpus.printable import shortened
from textassay.errors import InputError, PythonHint, Setting

DEFAULT_LIMIT = 2 * 2**30
# Repetitive texts compress well, so that the ratio counts only for files that expand to more than this.
RATIO, RATIO_FROM = 100, 256 * 2**20
# What a line, a record and a value of a JSON document take besides their characters.
PER_LINE, PER_RECORD, PER_VALUE = 32, 128, 64
# The limit that the user has chosen; None for the default.
_chosen: ContextVar[int | None] = ContextVar("max_input", default=None)


@contextmanager
def reading_limit(max_input: str | int | None) -> Iterator[None]:
    """Limit the memory that the texts of one input may take, for all files that are read inside the `with` block.

    Parameters
    ----------
    max_input
        A number of bytes, or a size such as "500M" or "8G". The default is 2G, and a compressed file may then expand
        to 256 MiB or 100 times its size, whichever is larger. A limit given here replaces both.

    Examples
    --------
    >>> import textassay as ta
    >>> with ta.reading_limit("8G"):
    ...     sample = ta.read_sample(["a cat sat", "a dog ran"])
    """
    token = _chosen.set(None if max_input is None else _parsed(max_input))
    try:
        yield
    finally:
        _chosen.reset(token)


def _parsed(max_input: str | int) -> int:
    try:
        size = parse_size(str(max_input))
    except (ValueError, OverflowError):
        size = 0
    if size <= 0:
        wanted = "; wanted a number of bytes, or a size such as 500M or 8G"
        raise InputError(Setting("max_input", shortened(str(max_input), 60)), wanted)
    return size


@dataclass(eq=False)
class Budget:
    """The memory that one input may take, and what it has taken so far."""

    limit: int
    has_ratio: bool
    taken: int = 0

    @classmethod
    def of_input(cls) -> "Budget":
        """A new budget with the limit that is set."""
        chosen = _chosen.get()
        return cls(DEFAULT_LIMIT, True) if chosen is None else cls(chosen, False)

    def charge(self, amount: int, where: str) -> None:
        """Count memory that is about to be taken; beyond the limit it is an error."""
        self.taken += amount
        if self.taken > self.limit:
            seen = f"{where}: takes more than {shown_size(self.limit)} of memory"
            raise InputError(f"{seen}; wanted a smaller input, or ", *_larger(2 * self.limit))

    def of_packed(self, size: int) -> "PackedBudget":
        """The budget of a compressed file of this size."""
        most = max(RATIO_FROM, RATIO * size) if self.has_ratio else math.inf
        return PackedBudget(self, size, self.taken + most)


@dataclass(frozen=True, eq=False)
class PackedBudget:
    """The budget of a compressed file: that of its input, and at most a multiple of the size of the file."""

    budget: Budget
    size: int
    most: float

    def charge(self, amount: int, where: str) -> None:
        """Count memory that is about to be taken; beyond one of the limits it is an error."""
        self.budget.charge(amount, where)
        if self.budget.taken > self.most:
            seen = f"{where}: {shown_size(self.size)} that expand to more than {RATIO} times their size"
            raise InputError(f"{seen}; wanted a file that expands less, or ", *_larger(self.budget.limit))


def _larger(limit: int) -> tuple[Setting, PythonHint]:
    gigabytes = math.ceil(limit / 2**30)
    return Setting("max_input", f"{gigabytes}G"), PythonHint(" in textassay.reading_limit")


_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([kmgt]?)(i?b)?", re.IGNORECASE)


def parse_size(text: str) -> int:
    """The number of bytes of a size; a single letter and `iB` use steps of 1024, `B` alone steps of 1000.

    >>> parse_size("500M"), parse_size("1.5 KiB"), parse_size("2 GB"), parse_size("77")
    (524288000, 1536, 2000000000, 77)
    """
    found = _SIZE.fullmatch(text.strip())
    if found is None:
        raise ValueError(text)
    step = 1000 if (found[3] or "").casefold() == "b" and found[2] else 1024
    return int(float(found[1]) * step ** " kmgt".index(found[2].casefold() or " "))


def shown_size(size: int) -> str:
    """A size in a readable unit.

    >>> shown_size(77), shown_size(4 * 2**30), shown_size(31_500_000)
    ('77 B', '4.0 GiB', '30.0 MiB')
    """
    amount, units = float(size), ["KiB", "MiB", "GiB", "TiB"]
    if size < 1024:
        return f"{size} B"
    while amount >= 1024 and units:
        amount, unit = amount / 1024, units.pop(0)
    return f"{amount:.1f} {unit}"
