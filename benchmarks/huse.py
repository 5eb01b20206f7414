"""HUSE with a bootstrap beside the released program's way: brute-force leave-one-out, anew for every resample.

`python benchmarks/huse.py` measures 10,000 items with 20 ratings each and 200 resamples; a number as argument takes
that many items, and `--smoke` few items and resamples. The released way is written out here after its behaviour: for
every item the distances to all others, sorted, cut at the 16th. It gets the same resamples in the same process, is
timed on some items of one resample and scaled, since the whole would take hours, and its votes on those items must
equal ours to the last bit. Both run on one thread. Prints the ratio, peak memory and how the cost grows with the number
of items.
"""

import resource
import sys
import time

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from textassay.corpus.sample import stream
from textassay.inference.rated_scores import Groups, resampled
from textassay.metrics.ratings.rating_view import Ratings
from textassay.metrics.registry import parse_requests

ITEMS, RATINGS, RESAMPLES, K = 10_000, 20, 200, 16
WANTED = 50.0
F64 = NDArray[np.float64]


def made_up(n: int, seed: int = 0) -> Ratings:
    """Pairs of a human and a model text; the model's are rated lower and are more probable under it."""
    rng = np.random.default_rng(seed)
    is_model = np.arange(n) % 2 == 1
    length = rng.integers(5, 15, n)
    log_prob = length * (-3 + 0.8 * is_model + rng.normal(0, 0.9, n))
    centre = 4.3 - 0.6 * is_model + rng.normal(0, 0.7, n)
    ratings = np.clip(np.round(centre[:, None] + rng.normal(0, 1.4, (n, RATINGS))), 1, 6)
    places = np.arange(n)
    given, raters = np.sort(ratings).reshape(-1), np.tile(np.arange(RATINGS), n)
    return Ratings(is_model, log_prob, length, places // 2, places, np.full(n, RATINGS), given, raters)


def brute_force(view: Ratings, places: NDArray[np.int64], *, quality_only: bool) -> F64:
    """The released way for some items: share of the model among those no further than the 16th nearest."""
    points = view.points()[:, :1] if quality_only else view.points()
    shares = []
    for place in places:
        gaps = points - points[place]
        distances = np.sqrt((gaps * gaps).sum(axis=1)) if not quality_only else np.abs(gaps[:, 0])
        others = view.origin != view.origin[place]
        cut = np.sort(distances[others])[K - 1]
        shares.append(view.is_model[others & (distances <= cut)].mean())
    return np.array(shares)


def seconds_of_brute_force(view: Ratings, n_places: int) -> float:
    """Seconds for HUSE and HUSE-Q of one resample, scaled from some items; votes must be ours."""
    places = np.random.default_rng(1).choice(len(view), min(n_places, len(view)), replace=False)
    taken = 0.0
    for quality_only in (False, True):
        began = time.perf_counter()
        theirs = brute_force(view, places, quality_only=quality_only)
        taken += time.perf_counter() - began
        ours = view.own_votes(quality_only=quality_only, k=K, tied="released", per="token")[places]
        assert np.array_equal(ours, theirs), "not the votes of the released way"
    return taken * len(view) / len(places)


def seconds_of_ours(view: Ratings, resamples: int) -> float:
    """Seconds for all resamples, drawing included."""
    requests = parse_requests(["huse", "huse_q", "huse_d"], on="ratings")
    groups = Groups.of(view)
    began = time.perf_counter()
    for number in range(resamples):
        part = resampled(view, groups, stream(0, "benchmark", number))
        for request in requests:
            request.value(part)
    return time.perf_counter() - began


def main() -> None:
    """The ratio at full size, then growth."""
    smoke = "--smoke" in sys.argv
    numbers = [int(argument) for argument in sys.argv[1:] if argument.isdecimal()]
    n, resamples = (100, 3) if smoke else (numbers[0] if numbers else ITEMS, RESAMPLES)
    with threadpool_limits(1):
        view = made_up(n)
        ours = seconds_of_ours(view, resamples)
        parts = [resampled(view, Groups.of(view), stream(0, "benchmark", number)) for number in range(3)]
        theirs = resamples * float(np.median([seconds_of_brute_force(part, min(300, n)) for part in parts]))
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(f"{n:,} items, {RATINGS} ratings each, {resamples} resamples of HUSE, HUSE-Q and HUSE-D, one thread")
        print(f"ours {ours:.1f} s; the released way {theirs:.0f} s (scaled)")
        print(f"ratio {theirs / ours:.0f} (wanted {WANTED:.0f})")
        print(f"votes on 900 items of resamples equal to the last bit; peak memory {peak:.0f} MB")
        print("\nitems    ours, ms a resample   released way, ms   ratio")
        for size in (n, 2 * n) if smoke else (200, 1000, 4000, n, 4 * n):
            part = resampled(made_up(size), Groups.of(made_up(size)), stream(0, "growth", size))
            mine = seconds_of_ours(made_up(size), 5) / 5
            brute = seconds_of_brute_force(part, min(200, size))
            print(f"{size:>6,}   {1000 * mine:>18.1f}   {1000 * brute:>16.0f}   {brute / mine:>5.0f}")
    if theirs / ours < WANTED and not smoke:
        sys.exit(1)


if __name__ == "__main__":
    main()
