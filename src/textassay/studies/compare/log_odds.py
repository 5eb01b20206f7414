"""Log-odds of n-grams between two samples under an informative Dirichlet prior (Monroe, Colaresi and Quinn 2008)."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from textassay.corpus.arrays import F64

# The prior weighs as much as a fifth of the smaller sample. For a gram seen k times against 0, in samples of one size,
# z is then about 0.73 times the square root of k, close to the most that any weight gives (0.74).
PRIOR = 0.2
# The least z-score of a finding. Chance reaches it for one gram in 16,000, and in samples of one size only grams seen
# some 30 times or more can reach it at all, so that two halves of one sample hardly ever show a finding.
LEAST_Z = 4.0


def log_odds_z(
    candidate: NDArray[Any],
    reference: NDArray[Any],
    *,
    totals: tuple[int, int],
    inflation: tuple[Any, Any] = (1.0, 1.0),
) -> F64:
    r"""z-scores of the log-odds-ratios of grams counted in two samples; above 0 where the candidate has more.

    .. math:: z_g = \frac{\log\frac{y_g + \alpha_g}{n + \alpha_0 - y_g - \alpha_g}
        - \log\frac{y'_g + \alpha_g}{n' + \alpha_0 - y'_g - \alpha_g}}
        {\sqrt{1 / (y_g + \alpha_g) + 1 / (y'_g + \alpha_g)}}

    The prior :math:`\alpha_g` is proportional to the gram's pooled share, in which both samples have the same weight;
    for samples of one size that is its pooled count. `inflation` multiplies the two variances.

    >>> log_odds_z(np.array([30, 3]), np.array([0, 0]), totals=(10_000, 10_000)).round(2).tolist()
    [3.98, 1.26]
    """
    n, other_n = totals
    weight = PRIOR * min(n, other_n)
    prior = weight * (candidate / n + reference / other_n) / 2
    more, less = candidate + prior, reference + prior
    # Odds are 0 or infinite on both sides alike where neither sample has the gram and where all grams are this one.
    with np.errstate(divide="ignore", invalid="ignore"):
        delta = np.log(more / (n + weight - more)) - np.log(less / (other_n + weight - less))
        z: F64 = delta / np.sqrt(inflation[0] / more + inflation[1] / less)
    return np.where(np.isnan(z), 0.0, z)


def association_z(hits: tuple[int, int], totals: tuple[int, int]) -> float:
    """z-score of the log-odds-ratio of two shares, half a case added to each cell; above 0 if the first is larger."""
    cells = np.array([hits, np.subtract(totals, hits)]) + 0.5
    odds = np.log(cells[0] / cells[1])
    return float((odds[0] - odds[1]) / np.sqrt((1 / cells).sum()))


def clustering(counts: NDArray[Any], sizes: NDArray[Any], *, total: int, size_squares: int) -> float:
    """How many times larger the variance of a gram's count is than a Poisson count's, because it comes in texts.

    `counts` and `sizes` are those of the texts that hold the gram: how often, among how many n-grams. A name that one
    long text repeats 200 times has a variance 200 times as large; 1 at least, so that evidence is never inflated.
    """
    count = int(counts.sum())
    if not count:
        return 1.0
    share = count / total
    exact = counts.astype(np.float64)
    residual = float(exact @ exact - 2 * share * (exact @ sizes) + share**2 * size_squares)
    return max(residual / count, 1.0)
