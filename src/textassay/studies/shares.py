"""Share: how many of how many texts, and when two shares differ enough to be said."""

from dataclasses import dataclass

from scipy.stats import fisher_exact

# A difference is beyond chance below this p-value; strict, because some twenty questions are asked at once.
LEVEL = 1e-4


@dataclass(frozen=True)
class Share:
    """`hits` of `n` texts; written as a percentage that never rounds to 0 or 100.

    >>> str(Share(2, 3)), str(Share(1, 5000)), str(Share(4999, 5000)), str(Share(3, 400))
    ('67 %', 'under 0.1 %', 'over 99.9 %', '0.8 %')
    """

    hits: int
    n: int

    @property
    def value(self) -> float:
        """The share as a number; 0 of no texts."""
        return self.hits / self.n if self.n else 0.0

    def __str__(self) -> str:
        percent = 100 * self.value
        if 0 < percent < 0.1:
            return "under 0.1 %"
        if 99.9 < percent < 100:
            return "over 99.9 %"
        digits = 0 if 9.95 <= percent <= 99 else 1
        return f"{percent:.{digits}f}".removesuffix(".0") + " %"


def differ(mine: Share, theirs: Share, *, gap: float) -> bool:
    """Are two shares at least `gap` apart, and is that beyond chance by Fisher's exact test?

    >>> differ(Share(30, 100), Share(5, 100), gap=0.1), differ(Share(3, 10), Share(0, 10), gap=0.1)
    (True, False)
    """
    if abs(mine.value - theirs.value) < gap:
        return False
    table = [[mine.hits, mine.n - mine.hits], [theirs.hits, theirs.n - theirs.hits]]
    return bool(fisher_exact(table).pvalue < LEVEL)
