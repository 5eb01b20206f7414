"""Axes: the metrics of quality and diversity that a plane shows, measured without Markdown where it differs.

Signs of Markdown are frequent n-grams, so a candidate that writes no bold would be far from one that does.
"""

from collections.abc import Callable, Mapping, Sequence

from textassay.corpus.sample import Sample, stream
from textassay.corpus.sizes import Cut
from textassay.inference.intervals import FEWEST_TEXTS
from textassay.inference.measure import Job, measure_jobs
from textassay.inference.plan import Plan
from textassay.inference.result import Result
from textassay.metrics.registry import Request
from textassay.metrics.views import Material
from textassay.studies.planes import plane_indexes

# The name of real text among the candidates, which have names that are not empty.
REAL = ""


def axes_without_markup(
    requests: Sequence[Request],
    baseline: Sequence[Result],
    cut: Cut,
    words: Callable[[Sample], Material],
    *,
    plan: Plan,
) -> dict[str, Mapping[str, Result]]:
    """Results of the two axes by label, for each candidate and for real text; empty where they cannot be measured.

    `words` gives a sample without Markdown. Vectors are not made again, so a plane with a metric on vectors stays as it
    is.
    """
    places = plane_indexes(dict(enumerate(baseline)))
    axes = [] if places is None else [requests[index] for index in places]
    has_other_views = any(axis.metric.reads_vectors or "train" in axis.metric.roles for axis in axes)
    if not axes or has_other_views or cut.why_no_baseline is not None:
        return {}
    base, described = words(cut.base), words(cut.plain)
    sides = {REAL: (words(cut.held_out), described)}
    for name, sample in cut.candidates.items():
        rng = stream(plan.seed, "at real size", sample.digest)
        compared = cut.like_held_out.get(name) or sample.cut(len(cut.base), rng)
        alike = sample.cut(len(cut.plain), stream(plan.seed, "at real size", sample.digest))
        sides[name] = words(compared), words(alike)
    if min(len(part.sample) for side in (*sides.values(), (base,)) for part in side) < FEWEST_TEXTS:
        return {}
    return {name: _measured(axes, *side, base, plan=plan) for name, side in sides.items()}


def _measured(
    axes: Sequence[Request], compared: Material, described: Material, base: Material, *, plan: Plan
) -> dict[str, Result]:
    jobs = [
        Job(
            [axis],
            {"candidate": compared, "reference": base} if axis.metric.compares else {"candidate": described},
            test=False,
        )
        for axis in axes
    ]
    found = measure_jobs(jobs, plan=plan)
    return {axis.label: each.results[0] for axis, each in zip(axes, found, strict=True)}
