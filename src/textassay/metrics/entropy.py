"""N-gram entropy of a sample."""

from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import digamma

from textassay.metrics.declare import Value, metric
from textassay.views.ngrams import Ngrams

# The weights of the largest counts are written out once for small counts and computed for the few large ones.
_SMALL = 4096


@metric(
    "entropy",
    family="ngram",
    aspect="diversity",
    better="closer",
    bounds=(0.0, float("inf")),
    interval="jackknife",
    test="permutation",
    paper="shannon1948",
    undefined="no text has n tokens",
)
def entropy(candidate: Ngrams, /, *, n: int = 2, variant: Literal["plugin", "grassberger"] = "plugin") -> Value:
    r"""Shannon entropy of the n-gram distribution, in nats.

    .. math:: H_n = -\sum_g Q_g \ln Q_g

    It misleads across sample sizes: the plug-in value is too low wherever many n-grams are seen once, and grows with
    the sample. `variant="grassberger"` takes most of that bias off (Grassberger 2003); it stays too low for large n.
    """
    table = candidate.table(n)
    weight = _log_weight if variant == "plugin" else _grassberger_weight
    small = weight(np.arange(_SMALL))
    indices = np.minimum(table.counts, _SMALL - 1).astype(np.int64)
    weighted = (table.counts * small[indices]).sum(axis=-1) + table.singles * small[1]
    common = table.counts[..., (table.counts >= _SMALL).any(axis=tuple(range(table.counts.ndim - 1)))]
    if common.size:
        surplus = weight(np.maximum(common, _SMALL - 1)) - small[-1]
        weighted = weighted + (common * surplus).sum(axis=-1)
    return np.maximum(np.log(table.total) - weighted / table.total, 0.0)


def _log_weight(counts: NDArray[np.generic]) -> NDArray[np.float64]:
    return np.log(np.maximum(counts, 1))


def _grassberger_weight(counts: NDArray[np.generic]) -> NDArray[np.float64]:
    """G(c) = psi(c) + (-1)^c / 2 [psi((c + 1) / 2) - psi(c / 2)], equation 30 of Grassberger 2003."""
    c = np.maximum(counts, 1).astype(np.float64)
    sign = 1.0 - 2.0 * (c % 2)
    weights: NDArray[np.float64] = digamma(c) + sign / 2 * (digamma((c + 1) / 2) - digamma(c / 2))
    return weights
