"""Merging: many small segments become few, none too large for the limit to let go of one."""

from collections.abc import Collection, Iterator, Sequence

import numpy as np

from textassay.views.encoders.base import F32
from textassay.views.encoders.cache_folder import Stored
from textassay.views.encoders.segments import Keys, Segment

LARGEST = 64 * 2**20
_MOST_SMALL = 16


def batches(segments: Sequence[Stored], *, damaged: Collection[str], limit: int) -> Iterator[list[Stored]]:
    """Which segments to make one of: those damaged, and all small ones where there are many.

    Neighbours in time of use go together, so that what is used together is kept or let go together.
    """
    largest = min(LARGEST, limit // 8)
    small = {stored.path.name for stored in segments if stored.bytes < largest // 2}
    names = set(damaged) | (small if len(small) > _MOST_SMALL else set())
    batch: list[Stored] = []
    for stored in sorted(segments, key=lambda stored: (stored.used, stored.path)):
        if stored.path.name not in names:
            continue
        if batch and sum(earlier.bytes for earlier in batch) + stored.bytes > largest:
            yield batch
            batch = []
        batch.append(stored)
    if len(batch) > 1 or any(stored.path.name in damaged for stored in batch):
        yield batch


def merged(segments: Sequence[Segment]) -> tuple[Keys, F32, int]:
    """The distinct keys of segments and their vectors, and how many rows were left out because they are damaged."""
    rows = [segment.take(np.arange(len(segment.keys))) for segment in segments]
    keys = np.concatenate([segment.keys[good] for segment, (_, good) in zip(segments, rows, strict=True)])
    values = np.concatenate([values[good] for values, good in rows])
    keys, first = np.unique(keys, return_index=True)
    return keys, values[first], sum(int((~good).sum()) for _, good in rows)
