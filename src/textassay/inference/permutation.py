"""Permutation tests: exchange texts between candidate and reference and see how often chance does as badly.

Above a stated size whole blocks of texts are exchanged instead of single ones. The blocks are drawn at random within
each sample and all have the same number of texts, so exchanging them is as valid as exchanging texts; it keeps what
every exchange multiplies in the processor's cache.
"""

import math
from collections.abc import Sequence
from itertools import combinations
from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray

from textassay.inference.p_value import p_value
from textassay.inference.progress import Progress
from textassay.inference.request import Request
from textassay.inference.streams import stream
from textassay.views.material import Mask, Pool, Resamples

Floats = NDArray[np.float64]

# Up to this many pooled texts every text is a unit of its own; above it, about as many blocks are.
MOST_UNITS = 2048
# A sample keeps at least this many blocks, however small it is beside the other one.
FEWEST_BLOCKS = 50
_FEW_UNITS = 32


def permutation_tests(
    requests: Sequence[Request], pool: Pool, *, n_resamples: int, seed: int, progress: Progress
) -> dict[Request, float]:
    """The p-value of each metric that declares this test; the candidate is the pool's first part.

    A metric that compares is tested towards worse (one-sided), or where neither higher nor lower is better, both ways;
    one that describes, for any difference from the reference's own value. The same exchanges serve all metrics, so a
    metric's p-value does not depend on its company.
    """
    if not requests:
        return {}
    units, sizes = exchange_units(pool.sizes, seed)
    exact = _can_list(sizes, n_resamples)
    masks = all_masks(*sizes) if exact else random_masks(*sizes, rows=n_resamples, seed=seed)
    # The first row is what was observed; the last two units are the texts that fit in no block and never move.
    truth = np.arange(sum(sizes)) < sizes[0]
    rows = np.concatenate((truth[None, :], masks))
    fixed = np.broadcast_to([True, False], (len(rows), 2))
    candidate = np.concatenate((rows, fixed), axis=1)
    values = _statistics(requests, pool, Resamples(units, (candidate, ~candidate)), progress)
    extremes = {r: values[r] if _is_one_sided(r) else _off_centre(values[r], exact=exact) for r in requests}
    return {r: p_value(float(extremes[r][0]), extremes[r][1:], exact=exact) for r in requests}


def is_permutation(test: str | None) -> bool:
    """True for this test and its variants: `permutation:second-order` tests an expansion of the metric."""
    return test is not None and test.partition(":")[0] == "permutation"


def smallest_p(sizes: Sequence[int], n_resamples: int) -> float:
    """The smallest p-value that can come out: with few texts no test can be significant, whatever they are."""
    block = block_size(sizes)
    blocks = (sizes[0] // block, sizes[1] // block)
    ways = comb(sum(blocks), blocks[0]) if sum(blocks) <= _FEW_UNITS else math.inf
    return 1 / min(ways, n_resamples + 1)


def _can_list(blocks: Sequence[int], n_resamples: int) -> bool:
    return sum(blocks) <= _FEW_UNITS and comb(sum(blocks), blocks[0]) <= n_resamples


def _is_one_sided(request: Request) -> bool:
    return request.metric.compares and request.metric.better != "closer"


def _off_centre(differences: Floats, *, exact: bool) -> Floats:
    """How far each value is from what exchanging gives on average; a difference of samples of one size, from 0.

    The average is over everything that could have been observed, the observed included, so the test keeps its level.
    """
    return np.abs(differences - (differences[1:] if exact else differences).mean())


def block_size(sizes: Sequence[int]) -> int:
    """Texts that are exchanged together; 1 up to `MOST_UNITS` pooled texts."""
    wanted = -(-sum(sizes) // MOST_UNITS)
    return max(1, min(wanted, min(sizes) // FEWEST_BLOCKS))


def exchange_units(sizes: Sequence[int], seed: int) -> tuple[NDArray[np.int64], tuple[int, int]]:
    """The unit of every pooled text, and the numbers of units of candidate and reference.

    Units are numbered candidate first; two more hold the texts of each sample that fill no whole block.
    """
    block = block_size(sizes)
    blocks = (sizes[0] // block, sizes[1] // block)
    first, second = (
        _blocks_of(size, block, stream(seed, "blocks", part) if block > 1 else None) for part, size in enumerate(sizes)
    )
    units = np.concatenate((first, second + blocks[0]))
    units[: sizes[0]][first == blocks[0]] = sum(blocks)
    units[sizes[0] :][second == blocks[1]] = sum(blocks) + 1
    return units, blocks


def _blocks_of(size: int, block: int, rng: np.random.Generator | None) -> NDArray[np.int64]:
    """The block of each text; texts that fill no whole block get the number after the last."""
    places = np.arange(size) if rng is None else rng.permutation(size)
    return np.minimum(places // block, size // block)


def all_masks(mine: int, others: int) -> Mask:
    """Every way to choose the candidate's units from the pool."""
    chosen = np.array(list(combinations(range(mine + others), mine)), dtype=np.int64)
    masks = np.zeros((len(chosen), mine + others), dtype=bool)
    np.put_along_axis(masks, chosen, True, axis=1)
    return masks


def random_masks(mine: int, others: int, *, rows: int, seed: int) -> Mask:
    """Random choices of the candidate's units, one row an exchange."""
    masks = np.zeros((rows, mine + others), dtype=bool)
    rng = stream(seed, "exchange")
    for row in masks:
        row[rng.choice(mine + others, mine, replace=False, shuffle=False)] = True
    return masks


def _statistics(
    requests: Sequence[Request], pool: Pool, resamples: Resamples, progress: Progress
) -> dict[Request, Floats]:
    quick = [request for request in requests if request.metric.exchange is not None]
    found = {request: _exchanged(request, pool, resamples, progress) for request in quick}
    others = [request for request in requests if request not in found]
    values: dict[Request, list[Any]] = {request: [] for request in others}
    for kind in dict.fromkeys(request.metric.views[0] for request in others):
        mine = [request for request in others if request.metric.views[0] is kind]
        for candidate, reference in kind.resample(pool, resamples):  # type: ignore[attr-defined]
            for request in mine:
                values[request].append(np.atleast_1d(_statistic(request, candidate, reference)))
            progress.step(len(values[mine[0]][-1]) * len(mine))
    return found | {request: np.concatenate(rows) for request, rows in values.items()}


def _exchanged(request: Request, pool: Pool, resamples: Resamples, progress: Progress) -> Floats:
    """Some metrics know how they change when labels are exchanged, far faster than by computing them anew."""
    exchange = request.metric.exchange
    assert exchange is not None
    views: list[Any] = [part.view(request.metric.views[0]) for part in pool.parts]
    with np.errstate(divide="ignore", invalid="ignore"):
        values: Floats = exchange(*views, resamples=resamples, **request.options)
    progress.step(len(values))
    return _towards_worse(request, values)


def _statistic(request: Request, candidate: Any, reference: Any) -> Any:
    with np.errstate(divide="ignore", invalid="ignore"):
        if not request.metric.compares:
            return request(candidate) - request(reference)
        return _towards_worse(request, request(candidate, reference))


def _towards_worse(request: Request, values: Any) -> Any:
    """Turned so that more is worse; differences of a metric that describes stay as they are."""
    return -values if request.metric.compares and request.metric.better == "higher" else values
