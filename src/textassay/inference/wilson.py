"""Wilson's interval for a share of independent texts; it stays honest at 0 and at 1."""

from scipy.stats import norm


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
