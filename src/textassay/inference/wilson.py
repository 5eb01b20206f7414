"""Wilson's interval for a share of independent texts; it stays honest at 0 and at 1."""

from scipy.stats import chi2, norm

# In samples of up to so many texts, two hits are few; in larger ones three.
_SMALL = 50


def wilson(share: float, n: float, level: float) -> tuple[float, float]:
    """The interval of a share seen in `n` texts.

    >>> low, high = wilson(0.0, 100, 0.95)
    >>> low, round(high, 3)
    (0.0, 0.037)
    """
    z = float(norm.ppf(0.5 + level / 2))
    centre = (share + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * (share * (1 - share) / n + z * z / (4 * n * n)) ** 0.5
    # Rounding must not push the interval past its own estimate.
    return min(max(centre - half, 0.0), share), max(min(centre + half, 1.0), share)


def modified_wilson(share: float, n: int, level: float) -> tuple[float, float]:
    """Wilson's interval with a lower limit for one to three hits that holds its level, and the same for misses.

    Wilson's own interval covers an expected 0.18 hits in 84 % of samples only, whatever n is, because its lower limit
    for one hit lies above that. The limit of Brown, Cai and DasGupta for few hits, of a Poisson law, lies below it; no
    share is then covered in less than 91 % (n = 20 and more, level 0.95).

    L. D. Brown, T. T. Cai, A. DasGupta. Interval estimation for a binomial proportion. Statistical Science, 2001.

    >>> wilson(0.01, 100, 0.95)[0] > 0.0018 > modified_wilson(0.01, 100, 0.95)[0]
    True
    """
    low, high = wilson(share, n, level)
    hits, few = round(share * n), 2 if n <= _SMALL else 3
    if 1 <= hits <= few:
        low = min(low, _rare(hits, level) / n)
    if 1 <= n - hits <= few:
        high = max(high, 1 - _rare(n - hits, level) / n)
    return low, high


def _rare(hits: int, level: float) -> float:
    """The expected number of hits at which so many or more have a chance of 1 - level."""
    return float(chi2.ppf(1 - level, 2 * hits)) / 2
