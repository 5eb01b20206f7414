"""Equal lengths: metrics that the length of texts moves, measured again on texts that are cut to the same lengths.

Shorter texts have a larger share of different word pairs, longer ones contain more phrases of any reference. A sentence
about diversity or quality that such a metric shows would state the length in other words, so it holds at equal numbers
of words or is not made.
"""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from textassay.corpus.arrays import I64
from textassay.corpus.hashed_ngrams import Sequences, text_keys
from textassay.corpus.sample import stream
from textassay.inference.measure import Job, measure_jobs
from textassay.inference.plan import Plan
from textassay.inference.result import Result
from textassay.metrics.registry import Request
from textassay.metrics.views import Material

# Mean lengths closer than this ratio move no metric by more than chance does.
_ALIKE = 1.02
# Beyond this ratio of mean lengths vectors of whole texts do not show which sample is more diverse.
_FAR = 1.25
# Sentences need no more texts than this, and Self-BLEU of long texts takes its time.
_MOST_TEXTS = 2_000


@dataclass(frozen=True)
class EqualLengths:
    """Results of a candidate and of real text at equal lengths, by label; empty where the lengths are alike.

    `left_out` are labels of metrics on vectors of texts whose lengths are too different. Vectors of texts that are cut
    would have to be made first.
    """

    results: Mapping[str, tuple[Result, Result]] = field(default_factory=dict)
    left_out: tuple[str, ...] = ()


def at_equal_lengths(
    requests: Sequence[Request], candidate: Material, real: tuple[Material, Material | None], *, plan: Plan
) -> EqualLengths:
    """Measure what the verdict reads on texts of equal lengths, if the lengths differ.

    `real` are two parts of the reference, of which the second is compared with the first; it is None where there is
    no such baseline. Metrics of both aspects are left out: no sentence names them.
    """
    base, held_out = real
    ratio = _ratio(candidate, base)
    moved = [request for request in requests if request.metric.length_moves and request.metric.aspect != "both"]
    left_out = tuple(request.label for request in moved if request.metric.reads_vectors and ratio > _FAR)
    moved = [request for request in moved if not request.metric.reads_vectors]
    if ratio <= _ALIKE or not moved:
        return EqualLengths(left_out=left_out)
    parts = [part for part in (candidate, base, held_out) if part is not None]
    size = min(_MOST_TEXTS, *(len(part.sample) for part in parts))
    mine, other, *rest = cut_to_equal_lengths([_fewer(part, size, plan) for part in parts])
    describing = [request for request in moved if not request.metric.compares]
    comparing = [request for request in moved if request.metric.compares] if rest else []
    sides = (_jobs(describing, comparing, mine, other), _jobs(describing, comparing, other, other, rest))
    found = [_by_label(jobs, plan) for jobs in sides]
    return EqualLengths({label: (found[0][label], found[1][label]) for label in found[0]}, left_out)


def _ratio(candidate: Material, reference: Material) -> float:
    """The ratio of the mean lengths, at least 1."""
    low, high = sorted(float(part.view(Sequences).lengths.mean()) for part in (candidate, reference))
    return high / low if low else np.inf if high else 1.0


def _fewer(part: Material, size: int, plan: Plan) -> Material:
    sample = part.sample.cut(size, stream(plan.seed, "equal lengths", part.sample.digest))
    return part if sample is part.sample else Material(sample, part.settings)


def _jobs(
    describing: Sequence[Request],
    comparing: Sequence[Request],
    described: Material,
    reference: Material,
    compared: Iterable[Material] = (),
) -> list[Job]:
    """What is measured on one side: real text compares its other part with the reference."""
    jobs = [Job(describing, {"candidate": described}, test=False)]
    jobs += [Job(comparing, {"candidate": next(iter(compared), described), "reference": reference}, test=False)]
    return [job for job in jobs if job.requests]


def _by_label(jobs: Sequence[Job], plan: Plan) -> dict[str, Result]:
    found = measure_jobs(jobs, plan=plan)
    return {
        request.label: result
        for job, measured in zip(jobs, found, strict=True)
        for request, result in zip(job.requests, measured.results, strict=True)
    }


def cut_to_equal_lengths(parts: Sequence[Material]) -> list[Material]:
    """The samples with texts cut at the end, so that all have the same distribution of lengths in tokens.

    The longest text of each sample is cut to the shortest of these, the second longest to the shortest of the second
    longest, and so on.
    """
    views = [part.view(Sequences) for part in parts]
    ordered = [np.sort(view.lengths) for view in views]
    found = []
    for part, view in zip(parts, views, strict=True):
        # Texts of one length are ordered by their words, so that the order of the texts changes nothing.
        order = np.lexsort((text_keys(view), view.lengths))
        share = (np.arange(len(view)) + 0.5) / len(view)
        wanted = np.empty(len(view), dtype=np.int64)
        wanted[order] = np.min([lengths[(share * len(lengths)).astype(np.int64)] for lengths in ordered], axis=0)
        found.append(_beginnings(part, view.beginnings(wanted), wanted))
    return found


def _beginnings(part: Material, view: Sequences, lengths: I64) -> Material:
    digest = hashlib.blake2b(lengths.tobytes(), digest_size=8, key=part.sample.digest.encode()[:64]).hexdigest()
    return Material(replace(part.sample, digest=digest), part.settings, {Sequences: view})
