"""Quality and diversity in the general form of Li et al. (2020), section 3, and the pairs that are built in.

Quality is U(Q) = sum of Q_i f(P_i) and diversity V(Q) = sum of g(Q_i), for a real distribution P and a model Q.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeVar

import numpy as np
from scipy.special import logsumexp, xlogy

from textassay.corpus.arrays import F64
from textassay.corpus.printable import quoted
from textassay.errors import InputError
from textassay.studies.frontier.distribution import Distribution

T = TypeVar("T")
# A function of an array of probabilities, value by value.
Function = Callable[[F64], F64]
# The offset b of each row of heights w f(P), in closed form, from the heights and the numbers of outcomes.
Offset = Callable[[F64, F64], F64]


@dataclass(frozen=True)
class Quality:
    """U(Q) = sum of Q_i f(P_i). `finite_at_zero` is false if f(0) is minus infinity."""

    name: str
    f: Function = field(repr=False)
    finite_at_zero: bool = True

    def of(self, shares: F64, real: Distribution) -> F64:
        """The quality of each row of shares."""
        return np.asarray((shares * self.f(real.values)) @ real.counts)


@dataclass(frozen=True)
class Diversity:
    """V(Q) = sum of g(Q_i).

    `slope` is the derivative of g, `inverse` the inverse function of the slope where it has a closed form, and `offset`
    the closed form of b in Theorem 2. `slope_at_zero` is g'(0), which may be infinite. g is strictly concave below
    `limit`; only distributions whose probabilities are at most `limit` are considered.
    """

    name: str
    g: Function = field(repr=False)
    slope: Function = field(repr=False)
    slope_at_zero: float = np.inf
    inverse: Function | None = field(default=None, repr=False)
    offset: Offset | None = field(default=None, repr=False)
    limit: float = 1.0

    def of(self, shares: F64, real: Distribution) -> F64:
        """The diversity of each row of shares."""
        return np.asarray(self.g(shares) @ real.counts)


@dataclass(frozen=True)
class Pair:
    """A quality and a diversity."""

    quality: Quality
    diversity: Diversity

    @property
    def name(self) -> str:
        """Both names, such as `cr/nrr`."""
        return f"{self.quality.name}/{self.diversity.name}"

    def support(self, real: Distribution) -> Distribution:
        """The outcomes that a distribution of finite quality may have: those with a positive probability if f(0) is
        minus infinity, else all.
        """
        return real if self.quality.finite_at_zero else real.without_zeros()


def _entropy_offset(heights: F64, counts: F64) -> F64:
    """b = log Z - 1 (section 4.2 prints 1 + log Z, with which probabilities sum to exp(-2))."""
    return np.asarray(logsumexp(-heights, axis=-1, b=counts)) - 1


def _square_offset(heights: F64, counts: F64) -> F64:
    """The projection on the simplex: Q_i = max(0, -(w f(P_i) + b) / 2), where heights ascend along each row."""
    ahead = np.cumsum(counts)
    levels = (np.cumsum(-heights / 2 * counts, axis=-1) - 1) / ahead
    last = np.count_nonzero(-heights / 2 > levels, axis=-1) - 1
    return 2 * np.take_along_axis(levels, last[..., None], axis=-1)[..., 0]


def _log(p: F64) -> F64:
    with np.errstate(divide="ignore"):
        return np.log(p)


LL = Quality("ll", _log, finite_at_zero=False)
CR = Quality("cr", lambda p: p)
SE = Diversity(
    "se",
    g=lambda x: -xlogy(x, x),
    slope=lambda x: -1 - _log(x),
    inverse=lambda y: np.exp(-1 - y),
    offset=_entropy_offset,
)
NRR = Diversity(
    "nrr",
    g=lambda x: -x * x,
    slope=lambda x: -2 * x,
    slope_at_zero=0.0,
    inverse=lambda y: -y / 2,
    offset=_square_offset,
)
# 1 minus the sum of squares; on distributions this is the sum of x - x^2.
SDI = Diversity(
    "sdi",
    g=lambda x: x - x * x,
    slope=lambda x: 1 - 2 * x,
    slope_at_zero=1.0,
    inverse=lambda y: (1 - y) / 2,
    offset=lambda heights, counts: 1 + _square_offset(heights, counts),
)


def expected_bleu_1(references: int) -> Quality:
    """The expected BLEU-1 of texts of one word against this many references, section 5.1: f = 1 - (1 - x)^|R|."""
    return Quality(f"bleu1-{references}", lambda p: -np.expm1(references * np.log1p(-np.minimum(p, 1 - 1e-16))))


def expected_nsbleu_1(texts: int) -> Diversity:
    """The expected negative Self-BLEU-1 of this many texts of one word, section 5.1: g = -x + x (1 - x)^(|C| - 1).

    g'' = (|C| - 1) (1 - x)^(|C| - 3) (|C| x - 2): g is concave only below 2 / |C|.
    """
    others = texts - 1
    return Diversity(
        f"nsbleu1-{texts}",
        g=lambda x: -x + x * (1 - x) ** others,
        slope=lambda x: -1 + (1 - x) ** others - others * x * (1 - x) ** (others - 1),
        slope_at_zero=0.0,
        limit=min(2 / texts, 1.0),
    )


QUALITIES = {quality.name: quality for quality in (LL, CR)}
DIVERSITIES = {diversity.name: diversity for diversity in (SE, NRR, SDI)}
_WANTED = "wanted QUALITY/DIVERSITY with ll, cr or bleu1-R and se, nrr, sdi or nsbleu1-C, such as cr/nrr"
_MOST = 1_000_000


def parse_pair(text: str) -> Pair:
    """A built-in pair by name, such as `ll/se`, `cr/nrr` or `bleu1-5/nsbleu1-5`.

    >>> parse_pair("cr/sdi").name
    'cr/sdi'
    """
    first, slash, second = text.strip().lower().partition("/")
    quality = QUALITIES.get(first) or _sized(first, r"bleu1-(\d{1,7})", 1, expected_bleu_1)
    diversity = DIVERSITIES.get(second) or _sized(second, r"nsbleu1-(\d{1,7})", 2, expected_nsbleu_1)
    if not slash or quality is None or diversity is None:
        raise InputError(f"pair {quoted([text])} is not known; {_WANTED}")
    return Pair(quality, diversity)


def _sized(text: str, pattern: str, fewest: int, make: Callable[[int], T]) -> T | None:
    found = re.fullmatch(pattern, text, flags=re.ASCII)
    return make(int(found[1])) if found and fewest <= int(found[1]) <= _MOST else None
