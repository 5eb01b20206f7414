"""Compare digests: the same comparison from what corpora count by block, without any text.

The metrics are those that read n-grams of whole samples. Intervals leave out folds of blocks, tests exchange blocks,
and the baseline compares one half of the reference's blocks with the other half. What needs texts is listed with its
reason: phrases, topics, formats, signs of dependence, and the separable share.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa

from textassay import errors
from textassay.corpus.arrays import F32, I64
from textassay.corpus.printable import listed as cut_list
from textassay.corpus.printable import many, printable, quoted, shortened
from textassay.corpus.sample import stream
from textassay.corpus.tokenizers import Tokenizer, Tokens
from textassay.digests.digest import Digest
from textassay.digests.file import is_digest, read_digest
from textassay.digests.views import BlockMaterial, as_answered, joined_blocks, why_left_out
from textassay.engines.base import Engine
from textassay.engines.partitions import Part, Tally, over_parts_of_all
from textassay.errors import InputError
from textassay.inference.intervals import MOST_GROUPS
from textassay.inference.measure import Blocks, Measured, measure
from textassay.inference.overall.of_digests import FEWEST_BLOCKS, alike, design_of_blocks, digest_test
from textassay.inference.overall.test import Overall, OverallPlan
from textassay.inference.p_values import holm, is_significant
from textassay.inference.plan import Plan
from textassay.inference.result import Result, result_of
from textassay.metrics.registry import Request, parse_requests
from textassay.metrics.vectors.vectors import Moments
from textassay.metrics.views import Settings as ViewSettings
from textassay.studies.compare.result import Column, Comparison
from textassay.studies.compare.verdict import COLLAPSED, Row, Setting, judge
from textassay.studies.finding import Finding
from textassay.studies.outcome import settings_of_metrics

_NO_BASELINE = f"fewer than {2 * FEWEST_BLOCKS} blocks in the reference"
# Numbers of texts that differ by more than this share move metrics that describe a corpus. Whole blocks are cut, so the
# common number is met less exactly.
_SAME_SIZE, _ABOUT_SAME_SIZE = 0.01, 0.05
_NO_SIZE = "blocks of the larger digest are too large to be cut to the number of texts of the smallest one"
_NO_HALVES = "the products of vectors are summed over all blocks, so that halves have none"
_LEFT_OUT = (
    "digests have no texts: there are no phrases, topics, format findings and separable share, and dependence of texts "
    "was not looked for"
)


def are_digests(reference: Any, candidates: Mapping[str, Any]) -> bool:
    """Whether all samples are digests; an error if only some of them are."""
    given = {"reference": reference, **candidates}
    found = {name: isinstance(each, Digest) or is_digest(each) for name, each in given.items()}
    if len(set(found.values())) > 1:
        others = [name for name, yes in found.items() if not yes]
        raise InputError(
            f"{quoted(others[:1])} has texts and others are digests; wanted digests of all (textassay digest)"
        )
    return all(found.values())


def as_digest(source: Any, name: str | None = None) -> Digest:
    """A digest from a file, or as it is; under this name, if one is given."""
    digest = source if isinstance(source, Digest) else read_digest(source)
    return digest if name is None else digest.named(name)


def compare_digests(
    reference: Digest,
    candidates: Mapping[str, Digest],
    *,
    metrics: Sequence[str] = (),
    plan: Plan,
    engine: Engine,
    unusable: Sequence[str] = (),
) -> Comparison:
    """Compare digests of candidates with that of a reference; `unusable` are options that were given and need texts."""
    if unusable:
        raise InputError(errors.Setting(unusable[0]), " needs texts, which digests do not have")
    for name, each in candidates.items():
        difference = reference.header.difference(each.header)
        if difference is not None:
            raise InputError(
                f"{printable(name)} cannot be compared with {printable(reference.name)}: {difference}; "
                "wanted digests made with the same settings"
            )
    plan = plan.checked().enough_for(len(candidates))
    n_parts = max(each.n_parts for each in (reference, *candidates.values()))
    requests, missing = _answerable(metrics, reference, n_parts)
    settings = _settings(reference)
    jobs = _jobs(requests, reference, candidates, plan)
    measured = dict(zip(jobs, over_parts_of_all(list(jobs.values()), n_parts, engine), strict=True))
    columns = [_column(name, requests, each, measured) for name, each in candidates.items()]
    if plan.n_resamples:
        test = OverallPlan(**vars(plan), n_candidates=len(candidates))
        columns = [
            replace(column, overall=digest_test(each, reference, plan=test, n_parts=n_parts, engine=engine))
            for column, each in zip(columns, candidates.values(), strict=True)
        ]
    p_values = holm([_p(column.overall) for column in columns])
    columns = [_corrected(column, p, plan) for column, p in zip(columns, p_values, strict=True)]
    baseline = _baseline_column(requests, reference, measured)
    return Comparison(
        reference=Column(reference.name, reference.n, reference.content, ()),
        real=baseline,
        candidates=tuple(
            _judged(column, baseline, requests, plan, len(columns), _collapse(column, each, reference, plan.level))
            for column, each in zip(columns, candidates.values(), strict=True)
        ),
        labels=tuple(request.label for request in requests),
        contests=(),
        level=plan.level,
        notes=(
            _LEFT_OUT,
            *missing,
            *_notes_on_skipped((reference, *candidates.values())),
            *_notes_on_sizes(requests, (reference, *candidates.values())),
            _about(reference),
        ),
        n_resamples=plan.n_resamples,
        settings=settings_of_metrics(plan, requests, settings),
    )


def _answerable(metrics: Sequence[str], digest: Digest, n_parts: int) -> tuple[list[Request], list[str]]:
    """The requests that digests of this kind can answer, and a note on the others; an error if one was named."""
    families = ("ngram", "embedding") if digest.header.encoder else ("ngram",)
    asked = parse_requests(metrics, families=() if metrics else families)
    why = {request: why_left_out(request, digest, n_parts) for request in asked}
    refused = [f"{request.label}: {reason}" for request, reason in why.items() if reason is not None]
    if metrics and refused:
        raise InputError(f"{refused[0]}; wanted metrics that digests have: {_known(digest, n_parts)}")
    return [as_answered(request, digest) for request, reason in why.items() if reason is None], [
        f"left out, because digests do not have what they need: {cut_list(refused, 12)}" for _ in refused[:1]
    ]


def _known(digest: Digest, n_parts: int) -> str:
    asked = parse_requests([], families=("ngram", "embedding"))
    found = [request.label for request in asked if why_left_out(request, digest, n_parts) is None]
    return ", ".join(found)


def _settings(digest: Digest) -> ViewSettings:
    encoder = _KnownEncoder(digest.header.encoder, digest.header.layout.dimension) if digest.header.encoder else None
    # The header has the signature of the tokenizer, and there are no texts that it could split.
    return ViewSettings(Tokenizer(digest.header.tokenizer, False, _no_texts), encoder, strip=digest.header.strip)


def _no_texts(texts: pa.Array) -> Tokens:
    raise InputError(f"digests have no texts; wanted none to split, got {len(texts):,}")


@dataclass(frozen=True)
class _KnownEncoder:
    """The encoder that the vectors of a digest were made with; digests have no texts that it could encode."""

    name: str
    dimension: int

    def encode(self, texts: Sequence[str], /) -> F32:
        """An error: there are no texts."""
        raise InputError(f"digests have no texts; wanted none to encode, got {len(texts):,}")


def _notes_on_skipped(digests: Sequence[Digest]) -> list[str]:
    return [
        f"{shortened(each.name)} leaves out {many(each.n_skipped, 'shard')} that could not be read"
        for each in digests
        if each.n_skipped
    ]


def _have_one_size(digests: Sequence[Digest]) -> bool:
    """Whether all have about the same number of texts."""
    sizes = [each.n for each in digests]
    return max(sizes) <= (1 + _SAME_SIZE) * min(sizes)


def _notes_on_sizes(requests: Sequence[Request], digests: Sequence[Digest]) -> list[str]:
    """At what number of texts metrics are compared that move with it."""
    labels = [request.label for request in requests if not request.metric.compares]
    if not labels or _have_one_size(digests):
        return []
    n = min(each.n for each in digests)
    return [
        f"values of {cut_list(labels)} move with the number of texts; beside real text they are those of random blocks "
        f"with about {many(n, 'text')}"
    ]


def _about(digest: Digest) -> str:
    layout = digest.header.layout
    counts = f"sketches with {layout.sketch:,} counters" if layout.sketch else "exact counts"
    made = f"from digests with {counts} in {many(layout.n_blocks, 'block')}"
    return f"{made}: tests exchange blocks, intervals leave out blocks"


def _folds(digest: Digest, role: str, seed: int) -> np.ndarray[Any, np.dtype[np.int64]]:
    n = digest.header.layout.n_blocks
    return stream(seed, "folds of blocks", role).permutation(n) % min(MOST_GROUPS, n)


@dataclass(frozen=True)
class _Answers:
    """Results and adjusted p-values in the order of the requests: metrics of another process are no keys here."""

    results: tuple[Result, ...]
    adjusted: tuple[float, ...]


@dataclass(frozen=True, eq=False)
class _Job:
    """Metrics to measure on digests by their roles; the test joins blocks so that all have about as many texts."""

    requests: tuple[Request, ...]
    parts: Mapping[str, Digest]
    plan: Plan
    test: bool = False

    def __call__(self, part: Part, tally: Tally) -> _Answers:
        """Measure them on one part of the n-grams."""
        found = self._measured(part, tally)
        return _Answers(found.results, tuple(found.adjusted[request] for request in self.requests))

    def _measured(self, part: Part, tally: Tally) -> Measured:
        settings = _settings(next(iter(self.parts.values())))
        roles = {role: BlockMaterial.of(digest, settings, part, tally) for role, digest in self.parts.items()}
        folds = tuple(_folds(digest, role, self.plan.seed) for role, digest in self.parts.items())
        found = alike(self.parts["candidate"], self.parts["reference"], seed=self.plan.seed) if self.test else None
        if found is None:
            return measure(self.requests, roles, plan=self.plan, test=False, blocks=Blocks(folds))
        first, second = (BlockMaterial.of(each, settings, part, tally) for each in found)
        blocks = Blocks(folds, design_of_blocks(*found))
        return measure(self.requests, roles, plan=self.plan, tested=(first, second), blocks=blocks)


_Found = Mapping[tuple[str, str], _Answers]


def _jobs(
    requests: Sequence[Request], reference: Digest, candidates: Mapping[str, Digest], plan: Plan
) -> dict[tuple[str, str], _Job]:
    """Everything that is measured, by the candidate and what it is compared with."""
    comparing = tuple(request for request in requests if request.metric.compares)
    describing = tuple(request for request in requests if not request.metric.compares)
    every = (reference, *candidates.values())
    n = min(each.n for each in every)
    blocks = {name: _blocks_of(each, n, plan.seed) for name, each in candidates.items()}
    own = _blocks_of(reference, n, plan.seed)
    found = {}
    if own is not None:
        found["", "own"] = _Job(describing, {"candidate": _some_blocks(reference, own)}, replace(plan, n_resamples=0))
    for name, each in candidates.items():
        parts = {"candidate": each, "reference": reference}
        found[name, "reference"] = _Job(tuple(requests), parts, plan, test=plan.n_resamples > 0)
        chosen = blocks[name]
        if chosen is not None and not _have_one_size(every):
            found[name, "own"] = _Job(describing, {"candidate": _some_blocks(each, chosen)}, plan)
    if reference.header.layout.n_blocks >= 2 * FEWEST_BLOCKS:
        of_one_size = {name: chosen for name, chosen in blocks.items() if chosen is not None}
        if own is None or len(own) < 2 * FEWEST_BLOCKS or len(of_one_size) < len(candidates):
            # Too few blocks for halves of one size: halves of everything.
            own, of_one_size = _all_blocks(reference), {name: _all_blocks(each) for name, each in candidates.items()}
        one, other = _halves(reference, own, plan.seed)
        comparing = tuple(_halved(requests, reference))
        found["", "halves"] = _Job(comparing, {"candidate": one, "reference": other}, plan)
        for name, each in candidates.items():
            half = _halves(each, of_one_size[name], plan.seed)[0]
            found[name, "half"] = _Job(comparing, {"candidate": half, "reference": other}, plan)
    return found


def _all_blocks(digest: Digest) -> I64:
    return np.arange(digest.header.layout.n_blocks)


def _reads_halves(request: Request, digest: Digest) -> bool:
    """Whether a metric can be measured on some of the blocks: products of vectors may be summed for all blocks only."""
    return Moments not in request.metric.views or "vector products" in digest.tables


def _halves(digest: Digest, blocks: I64, seed: int) -> tuple[Digest, Digest]:
    """Two digests with half of these blocks each, at random."""
    half = len(blocks) // 2
    order = blocks[stream(seed, "halves of blocks").permutation(len(blocks))]
    return _some_blocks(digest, order[:half]), _some_blocks(digest, order[half : 2 * half])


def _blocks_of(digest: Digest, n: int, seed: int) -> I64 | None:
    """As many random blocks as have about n texts, all of a digest with no more; None if no number of blocks has."""
    if digest.n <= (1 + _SAME_SIZE) * n:
        return _all_blocks(digest)
    order = stream(seed, "blocks of one size").permutation(digest.header.layout.n_blocks)
    texts = digest.block_texts[order].cumsum()
    count = int(np.abs(texts - n).argmin()) + 1
    is_close = abs(int(texts[count - 1]) / n - 1) <= _ABOUT_SAME_SIZE
    return np.sort(order[:count]) if count >= FEWEST_BLOCKS and is_close else None


def _some_blocks(digest: Digest, blocks: I64) -> Digest:
    n_blocks = digest.header.layout.n_blocks
    if len(blocks) == n_blocks:
        return digest
    groups = np.full(n_blocks, -1, dtype=np.int64)
    groups[np.sort(blocks)] = np.arange(len(blocks))
    return joined_blocks(digest, groups)


def _baseline_column(requests: Sequence[Request], reference: Digest, measured: _Found) -> Column:
    """What the reference scores: describing metrics on all of it, comparing ones between its halves."""
    why = _NO_SIZE if ("", "own") not in measured else _NO_HALVES if ("", "halves") in measured else _NO_BASELINE
    found = {r: result_of(r, math.nan, undefined=f"no baseline: {why}", signature="") for r in requests}
    if ("", "own") in measured:
        describing = [request for request in requests if not request.metric.compares]
        found |= dict(zip(describing, measured["", "own"].results, strict=True))
    if ("", "halves") in measured:
        found |= dict(zip(_halved(requests, reference), measured["", "halves"].results, strict=True))
    return Column("real v real", reference.n, reference.content, tuple(found[r] for r in requests))


def _halved(requests: Sequence[Request], digest: Digest) -> list[Request]:
    """The metrics that compare halves of digests."""
    return [request for request in requests if request.metric.compares and _reads_halves(request, digest)]


def _column(name: str, requests: Sequence[Request], candidate: Digest, measured: _Found) -> Column:
    found, again = measured[name, "reference"], measured.get((name, "half"))
    at_size: dict[str, Result] = {}
    if again is not None:
        at_size |= zip([r.label for r in _halved(requests, candidate)], again.results, strict=True)
    if (name, "own") in measured:
        labels = [r.label for r in requests if not r.metric.compares]
        at_size |= zip(labels, measured[name, "own"].results, strict=True)
    return Column(
        candidate.name,
        candidate.n,
        candidate.content,
        found.results,
        at_baseline_size=at_size,
        adjusted=found.adjusted,
    )


def _p(overall: Overall | None) -> float:
    return math.nan if overall is None or overall.p_value is None else overall.p_value


def _corrected(column: Column, p: float, plan: Plan) -> Column:
    """The column with its overall p-value corrected for the number of candidates; no other p-value is below it."""
    if column.overall is None or math.isnan(p):
        return column
    adjusted = tuple(max(own, p) if not math.isnan(own) else own for own in column.adjusted)
    return replace(
        column, overall=column.overall.corrected(p, differs=is_significant(p, plan.level)), adjusted=adjusted
    )


def _collapse(column: Column, candidate: Digest, reference: Digest, level: float) -> list[Finding]:
    """Whether most texts of a candidate repeat another one word for word, where the overall test sees repeats."""
    members = column.overall.found_by(level) if column.overall is not None else ()
    mine, real = candidate.repeated, reference.repeated
    is_found = any(member.name == "repeats" for member in members) and mine >= COLLAPSED and mine > real
    different = candidate.n_different
    parts = {} if different is None else {"unique_texts": float(different)}
    return [Finding("collapsed", value=mine, baseline=real, parts=parts, n=(candidate.n,))] if is_found else []


def _judged(
    column: Column,
    real: Column,
    requests: Sequence[Request],
    plan: Plan,
    n_candidates: int,
    collapse: Sequence[Finding],
) -> Column:
    rows = [
        Row(request.label, result, baseline, is_significant(p, plan.level), column.beside_real(request.label, result))
        for request, result, baseline, p in zip(requests, column.results, real.results, column.adjusted, strict=True)
    ]
    return replace(
        column,
        verdict=judge(
            rows,
            column.overall,
            setting=Setting(plan.level, n_candidates=n_candidates, has_texts=False),
            collapse=collapse,
        ),
    )
