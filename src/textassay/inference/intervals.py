"""Intervals by the method that each metric declares: jackknife, subsampling, Wilson.

The bootstrap repeats texts and so shifts every such statistic; deleting groups does not. The interval is for the
expected value of the metric at this sample size, over new samples of both sides.

Independent texts are dealt at random into folds, in each sample on its own. Texts that come in groups (of one prompt,
one document) are dealt by whole groups, and a group that both samples have is in the same fold of both: its texts are
then left out of both at once. To first order, what that changes is the sum of what leaving it out of each changes.
"""

import hashlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from scipy.special import betainc, betaincinv, expit, gammaincinv, logit, ndtri, stdtr, stdtrit

from textassay.corpus.arrays import F64
from textassay.corpus.sample import stream
from textassay.inference.plan import Progress
from textassay.inference.result import Interval
from textassay.metrics.interval_methods import BINOMIAL, MODIFIED_WILSON, NEWCOMBE, PLAIN_JACKKNIFE, IntervalMethod
from textassay.metrics.registry import Request
from textassay.metrics.views import Material, Pool, Resamples

MOST_GROUPS = 20
# With fewer texts than this a group is no group, and the calibration of small samples fails.
FEWEST_TEXTS = 20
# With the clusters of so few texts held, intervals cover too rarely (measured: 83 to 89 % at 40 texts, 96 % at 60).
_FEWEST_IN_CLUSTERS = 50
# Values that differ by less than this share of themselves differ by rounding only.
_ROUNDING = 1e-12
# A value that one fold changes by this share of itself, and with it this share of the variance, rests on that fold.
_MOST_OF_VALUE, _MOST_OF_VARIANCE = 0.5, 0.5
ONE_FOLD = (
    "no interval: one twentieth of the texts makes more than half of the value; look for a text with a long table, or "
    "one that repeats a phrase very often"
)
# Decimals of numbers of texts that need not be whole.
_DIGITS = 9


@dataclass(frozen=True, eq=False)
class Replicates:
    """A metric with each fold left out in turn: one array for each sample that varies.

    With `joint` the samples share their folds, because their texts come in groups.
    """

    by_sample: tuple[F64, ...]
    joint: bool = False

    @property
    def sources(self) -> tuple[F64, ...]:
        """Arrays that vary independently of each other; the seeds of clusters come after both samples."""
        return (summed(self.by_sample[:2]), *self.by_sample[2:]) if self.joint else self.by_sample


def summed(arrays: Sequence[F64]) -> F64:
    """The deviations of several arrays from their means, added fold by fold; a missing last fold counts as 0."""
    total = np.zeros(max(map(len, arrays)))
    for values in arrays:
        total[: len(values)] += values - values.mean()
    return total


@dataclass(frozen=True)
class Spread:
    """A standard error and its degrees of freedom."""

    error: float
    freedom: float


def fewest_texts(method: IntervalMethod | None) -> int:
    """The fewest texts a sample needs for an interval by this method."""
    return _FEWEST_IN_CLUSTERS if method is not None and method.fixed == "clusters" else FEWEST_TEXTS


def group_labels(size: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """The group of each text: random groups of equal size (within one)."""
    return rng.permutation(size) % min(MOST_GROUPS, size)


def folds_of_groups(groups: Sequence[pa.Array], seed: int) -> tuple[NDArray[np.int64], ...]:
    """The fold of each text of each sample: whole groups, the same for a group wherever it is.

    The last sample (the reference) is dealt first, so that its folds do not depend on which candidate it is beside.
    """
    pooled = pa.concat_arrays([part.cast(pa.large_string()) for part in groups]).dictionary_encode()
    names = [
        hashlib.blake2b(f"{seed} {name}".encode(), digest_size=8).digest() for name in pooled.dictionary.to_pylist()
    ]
    keys = np.frombuffer(b"".join(names), dtype="<u8")
    by_sample = np.split(np.asarray(pooled.indices, dtype=np.int64), np.cumsum([len(part) for part in groups])[:-1])
    fold = np.full(len(keys), -1, dtype=np.int64)
    for part in reversed(by_sample):
        # In the order of their hashes, so that candidates with the same groups have the same folds.
        fresh = np.unique(part[fold[part] < 0])
        fold[fresh[np.argsort(keys[fresh])]] = np.arange(len(fresh)) % MOST_GROUPS
    return tuple(fold[part] for part in by_sample)


def leave_groups_out(
    requests: Sequence[Request],
    pool: Pool,
    *,
    seed: int,
    progress: Progress,
    folds: tuple[NDArray[np.int64], ...] | None = None,
) -> dict[Request, Replicates]:
    """The replicates of each metric; the candidate is the pool's first part, the reference the second, if any.

    `folds` are those of the rows of each part's views, where these are not texts but blocks of texts.
    """
    joint = folds is None and all(part.sample.groups is not None for part in pool.parts)
    if folds is not None:
        labels = folds
    elif joint:
        labels = folds_of_groups([part.sample.groups for part in pool.parts], seed)
    else:
        labels = tuple(
            group_labels(len(part.sample), stream(seed, "groups", index)) for index, part in enumerate(pool.parts)
        )
    found: dict[Request, Replicates] = {}
    requests = [request for request in requests if _has_different_texts(request, pool)]
    for request in requests:
        if request.metric.leave_out is not None:
            views: list[Any] = [part.view(request.metric.views[0]) for part in pool.parts]
            found[request] = Replicates(_by_own_rule(request, views, labels), joint)
            progress.step(1)
    others = [request for request in requests if request not in found]
    for kind in dict.fromkeys(request.metric.views[0] for request in others):
        mine = [request for request in others if request.metric.views[0] is kind]
        by_sample = _by_resampling(mine, kind, pool, labels)
        found |= {request: Replicates(values, joint) for request, values in by_sample.items()}
        progress.step(len(mine))
    return found


def _has_different_texts(request: Request, pool: Pool) -> bool:
    """Whether the samples have enough different texts, for methods that need them.

    A value that depends on how a few texts match the other sample jumps with single texts, and a jackknife does not
    show a jump that did not happen (measured: 72 to 89 % covered where the texts count as 9 different ones).
    """
    method = request.metric.interval_method
    if method is None or not method.needs_different_texts:
        return True
    return all(different_texts(part) >= FEWEST_TEXTS for part in pool.parts[: len(request.metric.roles)])


def different_texts(material: Material) -> float:
    """How many equally frequent texts would repeat as often: the inverse of the chance that two draws are one text."""
    counts = np.asarray(material.sample.texts.value_counts().field("counts"), dtype=np.float64)
    return len(material.sample) ** 2 / float((counts**2).sum()) if len(counts) else 0.0


def _by_own_rule(request: Request, views: Sequence[Any], labels: tuple[NDArray[np.int64], ...]) -> tuple[F64, ...]:
    """Some metrics have a function for their value without a group, which is much faster than computing it again."""
    roles = len(request.metric.roles)
    leave_out = request.metric.leave_out
    assert leave_out is not None
    return tuple(leave_out(*views[:roles], labels=labels[:roles], **request.options))


def _by_resampling(
    requests: Sequence[Request], kind: Any, pool: Pool, labels: tuple[NDArray[np.int64], ...]
) -> dict[Request, tuple[F64, ...]]:
    """One pass over all groups of all samples: a row loses one group, and a group is a unit that moves together."""
    groups = [int(label.max()) + 1 for label in labels]
    ends = np.cumsum(groups)
    units = np.concatenate([label + end - size for label, size, end in zip(labels, groups, ends, strict=True)])
    stays = ~np.eye(ends[-1], dtype=bool)
    masks = []
    for size, end in zip(groups, ends, strict=True):
        own = np.zeros(ends[-1], dtype=bool)
        own[end - size : end] = True
        masks.append(stays & own)
    values: dict[Request, list[F64]] = {request: [] for request in requests}
    with np.errstate(divide="ignore", invalid="ignore"):
        for views in pool.resample(kind, Resamples(units, tuple(masks))):
            for request in requests:
                values[request].append(np.atleast_1d(request.value(*views[: len(request.metric.roles)])))
    whole = {request: np.concatenate(values[request]) for request in requests}
    return {request: tuple(np.split(found, ends[:-1])[: len(request.metric.roles)]) for request, found in whole.items()}


def spread(parts: Sequence[F64]) -> Spread:
    """Standard error from independent sources of variation, each given by its leave-one-group-out values."""
    variances = [_variance(values) for values in parts]
    freedoms = [len(v) - 1 for v in parts]
    total = sum(variances)
    if total == 0:
        return Spread(0.0, float(sum(freedoms)))
    # Welch-Satterthwaite: the source that varies most decides how well the error is known.
    freedom = total**2 / sum(v**2 / f for v, f in zip(variances, freedoms, strict=True))
    return Spread(float(total**0.5), float(freedom))


def _variance(values: F64) -> float:
    if np.ptp(values) <= _ROUNDING * np.abs(values).max():
        return 0.0
    return (len(values) - 1) / len(values) * float(((values - values.mean()) ** 2).sum())


def half_width(spread: Spread, level: float) -> float:
    """Half the width of the interval at this level."""
    return float(stdtrit(spread.freedom, 0.5 + level / 2)) * spread.error if spread.error else 0.0


def two_sided(difference: float, spread: Spread) -> float:
    """The p-value of no difference; not a number where nothing varied."""
    if spread.error == 0:
        return 1.0 if difference == 0 else float("nan")
    return float(2 * stdtr(spread.freedom, -abs(difference) / spread.error))


# In samples of up to this many texts, two hits are few; in larger ones three.
_SMALL = 50


def wilson(share: float, n: float, level: float) -> tuple[float, float]:
    """The interval of a share seen in `n` texts.

    >>> low, high = wilson(0.0, 100, 0.95)
    >>> low, round(high, 3)
    (0.0, 0.037)
    """
    return _wilson(share, n, float(ndtri(0.5 + level / 2)))


def _wilson(share: float, n: float, z: float) -> tuple[float, float]:
    """The shares from which a share seen in `n` texts is z standard errors away."""
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

    >>> [round(limits(0.01, 100, 0.95)[0], 4) for limits in (wilson, modified_wilson)]
    [0.0018, 0.0005]
    """
    low, high = wilson(share, n, level)
    hits, few = round(share * n), 2 if n <= _SMALL else 3
    if 1 <= hits <= few:
        low = min(low, _rare(hits, level) / n)
    if 1 <= n - hits <= few:
        high = max(high, 1 - _rare(n - hits, level) / n)
    return low, high


def _rare(hits: int, level: float) -> float:
    """The expected number of hits at which this many or more have a probability of 1 - level."""
    return float(gammaincinv(hits, 1 - level))


# Duplicates come in pairs at least, so a share of repeated texts rests on half as many independent events.
_TEXTS_A_PAIR = 2
# Half-widths with the clusters held are too small by about this over n (measured: 5 to 10 % at 100 texts, 0 at 500).
_CLUSTERS_HELD = 10
# A few outliers with wide balls decide; where a sample happens to have none, the jackknife's error is too small
# (measured at 500 texts: 84 to 95 % covered without this factor, 93 to 99 % with it).
_WIDE_BALLS = 1.2


# The interval and the test of a classifier's accuracy on a held-out part with as many texts of both samples.


def accuracy_interval(parts: Mapping[str, float], level: float) -> Interval:
    """The exact interval (Clopper and Pearson) of 2a - 1 for an accuracy a on a held-out part.

    Both samples have the same number of held-out texts, but the classifier may be right about one more often than about
    the other. The number of correct texts then varies less than a binomial number (Hoeffding 1956), so the interval
    covers at least as often as it states. Texts that are classified alike count as `n_effective` independent ones,
    which need not be a whole number (Korn and Graubard 1998).

    >>> found = accuracy_interval({"accuracy": 0.75, "n_held_out": 40.0, "n_effective": 40.0}, 0.95)
    >>> round(found.low, 3), round(found.high, 3)
    (0.176, 0.746)
    """
    n, right = _independent(parts)
    tail = (1 - level) / 2
    low = float(betaincinv(right, n - right + 1, tail)) if right else 0.0
    high = float(betaincinv(right + 1, n - right, 1 - tail)) if right < n else 1.0
    return Interval(2 * low - 1, 2 * high - 1, level, BINOMIAL)


def accuracy_p_value(parts: Mapping[str, float]) -> float:
    """The probability that guessing is right about at least as many held-out texts, of whole independent ones.

    >>> round(accuracy_p_value({"accuracy": 0.75, "n_held_out": 40.0, "n_effective": 40.0}), 5)
    0.00111
    """
    n, _ = _independent(parts)
    n = math.floor(n)
    right = math.floor(round(parts["accuracy"] * n, _DIGITS))
    return float(betainc(right, n - right + 1, 0.5)) if right else 1.0


def _independent(parts: Mapping[str, float]) -> tuple[float, float]:
    """The number of independent held-out texts, and of those that were classified correctly."""
    n = round(parts["n_effective"], _DIGITS)
    return n, round(parts["accuracy"] * n, _DIGITS)


# Each text is classified by classifiers that were trained on the other texts, so what is counted on different texts
# depends on each other. Where the classifier has learned hardly anything, this makes the variance 1.2 to 1.35 times as
# large (measured on 50 to 400 real texts against real texts); with a clear difference it adds little.
CROSS_FITTED = 1.5**0.5


def separable_interval(parts: Mapping[str, float], level: float) -> Interval:
    """The one-sided interval of the separable share: from its lower confidence bound to 1.

    >>> parts = {"candidate_rate": 0.5, "reference_rate": 0.1, "correlation": 0.0, "n_units": 100.0}
    >>> round(separable_interval(parts | {"candidate_effective": 100.0, "reference_effective": 100.0}, 0.95).low, 3)
    0.275
    """
    down, _ = separable_margins(parts, level)
    low = parts["candidate_rate"] - parts["reference_rate"] - down
    return Interval(min(max(low, 0.0), 1.0), 1.0, level, NEWCOMBE)


def separable_margins(parts: Mapping[str, float], level: float) -> tuple[float, float]:
    """How far the share that the classifier separates may be below and above its estimate, each at this level.

    Wilson's limits of both shares are combined as the limits of a difference (Newcombe 1998), with the correlation of
    shares over common groups, Student's quantiles, and a factor for classifiers that share their training texts. The
    upper limit is that of this classifier, at this number of texts: another one may separate more.
    """
    candidate, reference = parts["candidate_rate"], parts["reference_rate"]
    t = float(stdtrit(parts["n_units"] - 1, level))
    ends = _wilson(candidate, parts["candidate_effective"], t), _wilson(reference, parts["reference_effective"], t)
    sides = (candidate - ends[0][0], ends[1][1] - reference), (ends[0][1] - candidate, reference - ends[1][0])
    squares = [one**2 - 2 * parts["correlation"] * one * other + other**2 for one, other in sides]
    down, up = (CROSS_FITTED * math.sqrt(max(square, 0.0)) for square in squares)
    return down, up


def interval(
    request: Request, estimate: float, *, n: int, level: float, replicates: Mapping[Request, Replicates]
) -> Interval | None:
    """The interval of an estimate, or None where there are too few texts for it or nothing varied.

    `jackknife` is symmetric and cut at the metric's bounds; `wilson:modified` is for shares of independent
    texts; `jackknife+wilson` spans both, for shares of texts that repeat each other: few duplicates, or none, tell a
    jackknife nothing.
    """
    method = request.metric.interval_method
    if method is None:
        return None
    if method.name == MODIFIED_WILSON:
        return Interval(*modified_wilson(estimate, n, level), level, method.name)
    limits = _limits(method, estimate, replicates.get(request), n=n, level=level)
    if rests_on_one_fold(request, estimate, replicates):
        return None
    # If nothing varied, there is no jackknife interval: one of width 0 would claim certainty.
    if limits is None or (limits[0] == limits[1] and not method.spans_wilson):
        return None
    low, high = request.bounds
    low, high = max(limits[0], low), min(limits[1], high)
    if method.spans_wilson:
        share_low, share_high = wilson(estimate, n / _TEXTS_A_PAIR, level)
        low, high = min(low, share_low), max(high, share_high)
    return Interval(low, high, level, method.name)


def rests_on_one_fold(request: Request, estimate: float, replicates: Mapping[Request, Replicates]) -> bool:
    """Whether one of the folds makes more than half of a value that is made of counts, and most of its variance.

    One text with a long table may have most of the n-gram mass of a sample. A symmetric interval around a value that
    such a text decides covers neither the value of samples with it nor that of samples without it.
    """
    found = replicates.get(request)
    # Clusters and balls have methods of their own, and jump with single texts anyway.
    if request.metric.interval != PLAIN_JACKKNIFE or found is None:
        return False
    if not all(np.isfinite(values).all() for values in found.by_sample):
        return False
    moved = [np.abs(values - np.median(values)) for values in found.sources]
    total = sum(float((values**2).sum()) for values in moved)
    largest = max(float(values.max()) for values in moved)
    return largest > _MOST_OF_VALUE * abs(estimate) and largest**2 > _MOST_OF_VARIANCE * total


def _limits(
    method: IntervalMethod, estimate: float, replicates: Replicates | None, *, n: int, level: float
) -> tuple[float, float] | None:
    """The jackknife's limits, before they are cut at the metric's bounds.

    A method on logits works on the scale of log(value / (1 - value)), where the spread of values near 0 and 1 depends
    less on the value, and is wider in small samples, because other texts make other clusters.
    """
    half = _half_width(replicates, level)
    if replicates is None or half is None:
        return None
    if method.is_wider:
        half *= _WIDE_BALLS
    inside = all(0 < value < 1 for value in (estimate, *np.concatenate(replicates.by_sample).tolist()))
    if half == 0 or not method.on_logits or not inside:
        return estimate - half, estimate + half
    moved = _half_width(replace(replicates, by_sample=tuple(map(logit, replicates.by_sample))), level)
    assert moved is not None
    centre, moved = float(logit(estimate)), moved * (1 + _CLUSTERS_HELD / n)
    return float(expit(centre - moved)), float(expit(centre + moved))


def _half_width(replicates: Replicates | None, level: float) -> float | None:
    if replicates is None or not all(np.isfinite(values).all() for values in replicates.by_sample):
        return None
    return half_width(spread(replicates.sources), level)


def resampling_fields(
    interval: str | None, test: str | None, *, level: float, n_resamples: int, seed: int, design: str, block: int
) -> dict[str, Any]:
    """What a signature reports of the uncertainty; `block` is how many texts or groups a test exchanges together."""
    if not n_resamples:
        return {"resamples": 0}
    fields: dict[str, Any] = {"interval": interval, "level": level}
    if test is not None:
        fields |= {"test": test, "resamples": n_resamples}
        if block > 1:
            fields["block"] = block
    if design != "independent":
        fields["design"] = design
    return fields | {"seed": seed}
