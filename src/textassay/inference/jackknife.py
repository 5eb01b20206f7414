"""Delete-a-group jackknife: intervals for statistics that count distinct or repeated things.

The bootstrap repeats texts and so shifts every such statistic; deleting groups does not. The interval is for the
expected value of the metric at this sample size, over new samples of both sides.

Independent texts are dealt at random into folds, in each sample on its own. Texts that come in groups (of one prompt,
one document) are dealt by whole groups, and a group that both samples have is in the same fold of both: its texts are
then left out of both at once. To first order, what that changes is the sum of what leaving it out of each changes.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from scipy.stats import t as student

from textassay.inference.progress import Progress
from textassay.inference.request import Request
from textassay.inference.streams import stream
from textassay.views.material import Material, Pool, Resamples

Floats = NDArray[np.float64]

MOST_GROUPS = 20
# With fewer texts than this a group is no group, and the calibration of small samples fails.
FEWEST_TEXTS = 20
# With the clusters of so few texts held, intervals cover too rarely (measured: 83 to 89 % at 40 texts, 96 % at 60).
_FEWEST_IN_CLUSTERS = 50
# Intervals by methods with one of these additions need so many different texts as well.
_NEED_DIFFERENT_TEXTS = {"different-texts", "fixed-clusters", "wide-balls"}
# Values that differ by less than this share of themselves differ by rounding only.
_ROUNDING = 1e-12


@dataclass(frozen=True, eq=False)
class Replicates:
    """A metric with each fold left out in turn: one array for each sample that varies.

    With `joint` the samples share their folds, because their texts come in groups.
    """

    by_sample: tuple[Floats, ...]
    joint: bool = False

    @property
    def sources(self) -> tuple[Floats, ...]:
        """Arrays that vary independently of each other; the seeds of clusters come after both samples."""
        return (summed(self.by_sample[:2]), *self.by_sample[2:]) if self.joint else self.by_sample


def summed(arrays: Sequence[Floats]) -> Floats:
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


def fewest_texts(method: str | None) -> int:
    """The fewest texts a sample needs for an interval by this method."""
    return _FEWEST_IN_CLUSTERS if method == "jackknife:fixed-clusters:logit" else FEWEST_TEXTS


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
    requests: Sequence[Request], pool: Pool, *, seed: int, progress: Progress
) -> dict[Request, Replicates]:
    """The replicates of each metric; the candidate is the pool's first part, the reference the second, if any."""
    joint = all(part.sample.groups is not None for part in pool.parts)
    if joint:
        labels = folds_of_groups([part.sample.groups for part in pool.parts], seed)
    else:
        labels = tuple(group_labels(size, stream(seed, "groups", part)) for part, size in enumerate(pool.sizes))
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

    A value that hangs on how a few texts match the other sample jumps with single texts there, and a jackknife does not
    see a jump that has not happened (measured: 72 to 89 % covered where the texts count as 9 different ones).
    """
    if not _NEED_DIFFERENT_TEXTS & set((request.metric.interval or "").split(":")):
        return True
    return all(different_texts(part) >= FEWEST_TEXTS for part in pool.parts[: len(request.metric.roles)])


def different_texts(material: Material) -> float:
    """How many equally frequent texts would repeat as often: the inverse of the chance that two draws are one text."""
    counts = np.asarray(material.sample.texts.value_counts().field("counts"), dtype=np.float64)
    return len(material.sample) ** 2 / float((counts**2).sum()) if len(counts) else 0.0


def _by_own_rule(request: Request, views: Sequence[Any], labels: tuple[NDArray[np.int64], ...]) -> tuple[Floats, ...]:
    """Some metrics know how they change when a group leaves, far faster than by computing them anew."""
    roles = len(request.metric.roles)
    leave_out = request.metric.leave_out
    assert leave_out is not None
    return tuple(leave_out(*views[:roles], labels=labels[:roles], **request.options))


def _by_resampling(
    requests: Sequence[Request], kind: Any, pool: Pool, labels: tuple[NDArray[np.int64], ...]
) -> dict[Request, tuple[Floats, ...]]:
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
    values: dict[Request, list[Floats]] = {request: [] for request in requests}
    with np.errstate(divide="ignore", invalid="ignore"):
        for views in kind.resample(pool, Resamples(units, tuple(masks))):
            for request in requests:
                values[request].append(np.atleast_1d(request(*views[: len(request.metric.roles)])))
    whole = {request: np.concatenate(values[request]) for request in requests}
    return {request: tuple(np.split(found, ends[:-1])[: len(request.metric.roles)]) for request, found in whole.items()}


def spread(parts: Sequence[Floats]) -> Spread:
    """Standard error from independent sources of variation, each given by its leave-one-group-out values."""
    variances = [_variance(values) for values in parts]
    freedoms = [len(v) - 1 for v in parts]
    total = sum(variances)
    if total == 0:
        return Spread(0.0, float(sum(freedoms)))
    # Welch-Satterthwaite: the source that varies most decides how well the error is known.
    freedom = total**2 / sum(v**2 / f for v, f in zip(variances, freedoms, strict=True))
    return Spread(float(total**0.5), float(freedom))


def _variance(values: Floats) -> float:
    if np.ptp(values) <= _ROUNDING * np.abs(values).max():
        return 0.0
    return (len(values) - 1) / len(values) * float(((values - values.mean()) ** 2).sum())


def half_width(spread: Spread, level: float) -> float:
    """Half the width of the interval at this level."""
    return float(student.ppf(0.5 + level / 2, spread.freedom)) * spread.error if spread.error else 0.0


def two_sided(difference: float, spread: Spread) -> float:
    """The p-value of no difference; not a number where nothing varied."""
    if spread.error == 0:
        return 1.0 if difference == 0 else float("nan")
    return float(2 * student.sf(abs(difference) / spread.error, spread.freedom))
