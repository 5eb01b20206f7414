r"""The overall test: is there any difference at all between a candidate and a reference?

A small fixed bank of complementary tests (`bank.py`) reads the same exchanges of labels. Each member alone is
blind somewhere: a distance between word counts does not see word order, sentence vectors do not see tense, and neither
sees repeated texts. Combined over the same exchanges, the bank loses little where one member is strong, and it keeps
its level:

1. Row b of the exchanges gives member k a statistic :math:`T_{kb}`; row 0 is what was observed.
2. Within each member, a statistic becomes a p-value :math:`p_{kb}`: the share of rows at least as large, with an
   exponential tail beyond the largest twentieth so that a statistic far out counts as far out.
3. Pairs of members often see the same difference, each weakly: words and the ridge classifier, traits and the number of
   different word pairs. For such a pair the product of the two p-values (Fisher's combination) is a statistic like
   those of the members, and it becomes a p-value as in step 2.
4. The half-Cauchy combination adds up the terms of a part, those on words and those on vectors:
   :math:`C_b = \sum_k w_k \cot(\pi p_{kb} / 2)`, which becomes a p-value as in step 2. It then adds up the parts in the
   same way. So a term costs the other terms of its part a little power, and the other part nothing. All weights are
   fixed (`PARTS` in `bank.py`).
5. The p-value is the share of rows whose sum is at least that of row 0.

Steps 2 to 4 treat row 0 like every other row. Under the null hypothesis all rows are equally likely to be the observed
one, so the level is exact, however the members depend on each other.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, Self

import numpy as np

from textassay.corpus.arrays import F64, Bool
from textassay.corpus.printable import many, share
from textassay.inference.effect_size import Separable, separable_share
from textassay.inference.overall.bank import (
    BANK,
    PARTS,
    Exchanged,
    Member,
    Part,
    merge_views,
    text_counts,
)
from textassay.inference.p_values import at_least, is_significant, step_down
from textassay.inference.permutation import Design, design_of, fewest_groups
from textassay.inference.plan import MOST_RAISED, Plan, Progress
from textassay.inference.result import sample_field, setting_fields, signature
from textassay.metrics.ngrams.counts import TextNgrams
from textassay.metrics.vectors.vectors import Vectors
from textassay.metrics.views import Material, Pool

# The share of rows beyond which p-values follow an exponential tail, and the share that fixes its scale.
_TAIL, _FAR = 0.05, 0.01
# What members without any evidence add up to.
_NO_EVIDENCE = 1e-12
_SMALLEST_P = 1e-200
# A p-value this many standard errors from a limit is sure to be on its side of it.
_SURE, _SURE_BESIDE = 3.0, 2.0
# Batches of exchanges whose p-values show how much chance there is in the combined one.
_BATCHES = 8
# Members that measure a distance: small values mean that the samples are alike.
_DISTANCES = ("words", "bigrams", "mmd")
# Copies of the reference are the main finding when they are at least this share of the texts.
COPIED = 0.05
# The part of the error rate that each of the two questions beside the overall test (copied? closer?) may use.
_BESIDE = 0.1


def level_beside(level: float, n_candidates: int = 1) -> float:
    """The level for the questions beside the overall test: a tenth of the error rate each, over all candidates.

    >>> round(level_beside(0.95), 4), round(level_beside(0.95, 5), 4)
    (0.995, 0.999)
    """
    return 1 - _BESIDE * (1 - level) / n_candidates


def combine(statistics: F64, *, members: Sequence[Member]) -> F64:
    """The logarithm of the half-Cauchy combination of the parts, one value per labelling.

    Members with a value that is not a finite number are left out, and a term is made of those of its members that are
    left. The logarithm, because ties are judged beside the largest value, and the sum itself may be very large in one
    row.
    """
    p_values = {member.name: _p(row) for member, row in zip(members, statistics, strict=True) if np.isfinite(row).all()}
    parts = [(part.weight, found) for part in PARTS if (found := _combined(part, p_values)) is not None]
    if len(parts) == 1:
        return parts[0][1]
    total = sum((weight * _cotangent(_p(found)) for weight, found in parts), np.zeros(statistics.shape[1]))
    return np.log(np.maximum(total, _NO_EVIDENCE))


def _combined(part: Part, p_values: Mapping[str, F64]) -> F64 | None:
    """The logarithm of the combination of the terms of a part; None if none of its members has p-values."""
    terms = [(term.weight, [p_values[name] for name in term.members if name in p_values]) for term in part.terms]
    # A term of two members needs one of its own part: words alone are no evidence of vectors.
    own = {name for term in part.terms if len(term.members) == 1 for name in term.members}
    if not own & p_values.keys():
        return None
    evidence = [w * _cotangent(found[0] if len(found) == 1 else _fisher(found)) for w, found in terms if found]
    return np.asarray(np.log(np.maximum(np.sum(evidence, axis=0), _NO_EVIDENCE)))


def _p(values: F64) -> F64:
    return np.clip(smooth_p(values), _SMALLEST_P, 1.0)


def _fisher(parts: Sequence[F64]) -> F64:
    """p-values of Fisher's combination, the product of p-values, among all labellings."""
    return _p(-np.sum(np.log(parts), axis=0))


def _cotangent(p: F64) -> F64:
    return 1 / np.tan(np.pi / 2 * p)


def _evidence(values: F64) -> F64:
    """cot(pi p / 2) of each value's p-value among all of them."""
    return _cotangent(_p(values))


def smooth_p(values: F64) -> F64:
    """The share of values at least as large; beyond the largest twentieth an exponential tail goes on from there.

    The tail's scale is the distance between the quantiles at 5 % and 1 %, or half of the standard deviation where that
    is more: quantiles of a count with many equal values may be so close that all others are far out. No value gets less
    than half of the share of other values that are at least as large.
    """
    counts = at_least(values)
    p = counts / len(values)
    start, far = np.quantile(values, (1 - _TAIL, 1 - _FAR))
    scale = max((far - start) / math.log(_TAIL / _FAR), float(values.std()) / 2)
    if scale <= 1e-9 * max(abs(start), abs(far), float(np.abs(values).max())):
        return p
    tail = _TAIL * np.exp(-np.maximum(values - start, 0.0) / scale)
    return np.where(values > start, np.maximum(tail, (counts - 1) / (2 * len(values))), np.maximum(p, _TAIL))


@dataclass(frozen=True)
class MemberResult:
    """What one test of the bank found: its own p-value, and the one adjusted for the whole bank."""

    name: str
    label: str
    p_value: float
    adjusted: float


@dataclass(frozen=True, repr=False)
class Overall:
    """The overall test of a candidate against a reference.

    `adjusted` is the p-value corrected for the number of candidates (Holm). Without a p-value, `undefined` has the
    reason. `floor` is the smallest p-value that these exchanges could give.

    `separable` is the effect size: how many of the candidate's texts must be replaced, at least, to make it distributed
    like the reference. `shared_pairs` is the share of the candidate's word pairs that the reference has.

    Copies of the reference are no difference, so they are looked at separately: `shared_texts` is the share of
    candidate texts that are in the reference word for word, `copied` the p-value of this many texts being in both
    samples, and `closer` that of the samples being closer to each other than exchanged ones are.
    """

    p_value: float | None
    adjusted: float | None
    members: tuple[MemberResult, ...]
    design: str
    n: tuple[int, int]
    n_groups: tuple[int, int]
    n_resamples: int
    floor: float
    undefined: str | None
    signature: str
    separable: Separable | None = None
    shared_pairs: float | None = None
    shared_texts: float | None = None
    copied: float | None = None
    closer: float | None = None

    def __repr__(self) -> str:
        if self.undefined is not None or self.p_value is None:
            return f"Overall(undefined: {self.undefined})"
        low = self.separable.low if self.separable is not None else None
        share = "" if low is None else f", separable share at least {low:.2g}"
        return (
            f"Overall(p = {self.p_value:.3g}, {len(self.members)} tests, {self.n[0]:,} and {self.n[1]:,} texts{share})"
        )

    def corrected(self, p: float, *, differs: bool) -> Self:
        """This test with a p-value corrected for several candidates, and the effect size that goes with it."""
        separable = None if self.separable is None else self.separable.judged(differs=differs)
        return replace(self, adjusted=p, separable=separable)

    def found_by(self, level: float) -> tuple[MemberResult, ...]:
        """The members that are significant after adjustment for the bank, the clearest first."""
        found = [member for member in self.members if is_significant(member.adjusted, level)]
        return tuple(sorted(found, key=lambda member: (member.adjusted, member.p_value)))


@dataclass(frozen=True)
class OverallPlan(Plan):
    """A plan for the overall test: `n_candidates` share its level, and `n_resamples` are drawn first, later more."""

    n_candidates: int = 1

    def is_unsure(self, p: float, error: float) -> bool:
        """True when a limit that Holm's correction may set for p is within three standard errors of it."""
        limits = [(1 - self.level) / rank for rank in range(1, self.n_candidates + 1)]
        return any(abs(p - limit) <= _SURE * error for limit in limits)

    def is_unsure_beside(self, p: float, rows: int) -> bool:
        """The same for the questions beside the overall test, whose limit is far smaller: two standard errors do."""
        return abs(p - 1 + level_beside(self.level, self.n_candidates)) <= _SURE_BESIDE * _binomial_error(p, rows)


def _binomial_error(p: float, rows: int) -> float:
    return math.sqrt(max(p, 1 / rows) * (1 - p) / rows)


def monte_carlo_error(statistics: F64, p: float, *, members: Sequence[Member]) -> float:
    """The standard error of a combined p-value that comes from drawing the exchanges.

    The p-values of the members are taken among the same rows, so the error is larger than that of a share of
    independent rows. It is measured: the exchanges are cut into batches, each with the observed row, and the spread of
    their p-values is scaled to all rows. It is at least the binomial error.
    """
    rows = statistics.shape[1] - 1
    ends = np.linspace(1, rows + 1, _BATCHES + 1).astype(int)
    found = []
    for begin, end in pairwise(ends.tolist()):
        batch = np.concatenate((statistics[:, :1], statistics[:, begin:end]), axis=1)
        found.append(at_least(combine(batch, members=members))[0] / batch.shape[1])
    return max(float(np.std(found, ddof=1)) / math.sqrt(_BATCHES), _binomial_error(p, rows + 1))


def overall_test(
    candidate: Material, reference: Material, *, plan: OverallPlan, progress: Progress | None = None
) -> Overall:
    """Test whether candidate and reference are distributed alike, with every member of the bank that can be used.

    Exchanges are added while the p-value is too close to a limit to be sure on which side it is. The questions beside
    the test (copied? closer?) get more exchanges only where their answer is used.
    """
    pool = Pool((candidate, reference))
    design = design_of(candidate.sample, reference.sample, seed=plan.seed)
    members = [member for member in BANK if candidate.settings.encoder is not None or not member.reads_vectors]
    nothing = Overall(
        p_value=None,
        adjusted=None,
        members=(),
        design=design.kind,
        n=(len(candidate.sample), len(reference.sample)),
        n_groups=design.n_groups,
        n_resamples=0,
        floor=design.smallest_p(plan.n_resamples),
        undefined=None,
        signature="",
    )
    one_group = design.kind == "grouped" and min(design.n_groups) < 2
    if one_group or not is_significant(design.smallest_p(MOST_RAISED), plan.level):
        return replace(nothing, undefined=_too_few(design, nothing.n, plan.level))
    merge_views(pool)
    masks, exchanged, p, raised = exchanged_until_sure(Exchanged.of(pool, design, members), design, plan)
    statistics = exchanged.statistics()
    if progress is not None:
        progress.step(1)
    shared, copied = _shared_texts(pool, design, masks, raised)
    used = [member for member, row in zip(members, statistics, strict=True) if np.isfinite(row).all()]
    separable = separable_share(candidate, reference, plan=plan).judged(differs=is_significant(p, plan.level))
    # Texts of one pair are held out together. Other copies are learned from before they are held out.
    is_sure = is_significant(copied, level_beside(plan.level, plan.n_candidates))
    if shared >= COPIED and is_sure and "paired" not in design.kind:
        separable = separable.unknown(f"{share(shared)} of them are copies of reference texts")
    return replace(
        nothing,
        separable=separable,
        shared_pairs=_shared_pairs(pool),
        shared_texts=shared,
        copied=copied,
        closer=_closer(exchanged, design, masks, raised, differs=is_significant(p, plan.level)),
        p_value=p,
        adjusted=p,
        members=member_results(members, statistics),
        n_resamples=len(masks) - 1,
        floor=max(design.smallest_p(len(masks) - 1), 1 / len(masks)),
        signature=_signature(candidate, reference, design, used, plan, len(masks) - 1),
    )


def exchanged_until_sure(
    found: Exchanged, design: Design, plan: OverallPlan
) -> tuple[Bool, Exchanged, float, OverallPlan]:
    """Labellings, statistics, p-value, and the plan that gives these labellings.

    Exchanges are added until p is clearly on one side of a limit.
    """
    members = found.members
    masks = design.labellings(plan.n_resamples, plan.seed)
    found = found.add(masks)
    while True:
        statistics = found.statistics()
        p = float(at_least(combine(statistics, members=members))[0] / len(masks))
        higher = plan.raised()
        if higher is None or design.can_list(plan.n_resamples):
            return masks, found, p, plan
        if not plan.is_unsure(p, monte_carlo_error(statistics, p, members=members)):
            return masks, found, p, plan
        masks, found, plan = *_more(masks, found, design, higher), higher


def _more(masks: Bool, found: Exchanged, design: Design, plan: OverallPlan) -> tuple[Bool, Exchanged]:
    """The labellings of a plan with more exchanges, which begin with the present ones unless all can be listed."""
    raised = design.labellings(plan.n_resamples, plan.seed)
    if design.can_list(plan.n_resamples):
        return raised, replace(found, values=()).add(raised)
    return raised, found.add(raised[len(masks) :])


def _shared_pairs(pool: Pool) -> float | None:
    """The share of the candidate's word pairs that the reference has; None if it has no word pair."""
    candidate, reference = (part.view(TextNgrams).order(2) for part in pool.parts)
    counts = candidate.totals()
    return float(counts[np.isin(candidate.keys, reference.keys)].sum() / counts.sum()) if len(counts) else None


def _shared_texts(pool: Pool, design: Design, masks: Bool, plan: OverallPlan) -> tuple[float, float]:
    """The share of candidate texts that are in the reference, and the p-value of this many texts being in both.

    Exchanges are added only where the share is large enough for the p-value to matter.
    """
    counted, copies, in_both = text_counts(pool, design), 0.0, np.empty(0)
    while True:
        found = np.empty(len(masks) - len(in_both))
        for rows, candidate, reference in counted(masks[len(in_both) :]):
            found[rows] = ((candidate + reference) * ((candidate > 0) & (reference > 0))).sum(axis=0)
            if rows.start == 0 and not len(in_both):
                copies = float((candidate[:, 0] * (reference[:, 0] > 0)).sum())
        in_both = np.concatenate((in_both, found))
        p = float(at_least(in_both)[0] / len(in_both))
        higher = plan.raised()
        is_sure = copies < COPIED * len(pool.parts[0].sample) or not plan.is_unsure_beside(p, len(masks))
        if is_sure or higher is None or design.can_list(higher.n_resamples):
            return copies / len(pool.parts[0].sample), p
        plan, masks = higher, design.labellings(higher.n_resamples, plan.seed)


def _closer(found: Exchanged, design: Design, masks: Bool, plan: OverallPlan, *, differs: bool) -> float:
    """The p-value of the distances being so small, combined like the bank.

    A candidate that differs is never called close, and then no exchanges are added for this question.
    """
    found = found.only(_DISTANCES)
    p = _smallness(found.statistics())
    higher = plan.raised()
    if differs or higher is None or design.can_list(higher.n_resamples) or not plan.is_unsure_beside(p, len(masks)):
        return p
    return _smallness(_more(masks, found, design, higher)[1].statistics())


def _smallness(statistics: F64) -> float:
    usable = [_evidence(-row) for row in statistics if np.isfinite(row).all()]
    return float(at_least(np.log1p(np.sum(usable, axis=0)))[0] / statistics.shape[1]) if usable else 1.0


def member_results(members: Sequence[Member], statistics: F64) -> tuple[MemberResult, ...]:
    adjusted = step_down(statistics)
    return tuple(
        MemberResult(member.name, member.label, float(at_least(row)[0] / len(row)), float(p))
        for member, row, p in zip(members, statistics, adjusted, strict=True)
        if np.isfinite(row).all()
    )


def _too_few(design: Design, sizes: tuple[int, int], level: float) -> str:
    if design.kind == "independent":
        return f"{sizes[0]:,} and {sizes[1]:,} texts are too few for any test to find a difference"
    if "paired" in design.kind:
        have, needed = many(design.n_shared, "shared group"), fewest_groups(level, paired=True)
        return f"{have} are too few for any test to find a difference; needs at least {needed}"
    have = f"{design.n_groups[0]:,} and {design.n_groups[1]:,} groups"
    needed = fewest_groups(level, paired=False)
    return f"{have} are too few for any test to find a difference; needs at least {needed} groups per sample"


def _signature(
    candidate: Material,
    reference: Material,
    design: Design,
    members: Sequence[Member],
    plan: OverallPlan,
    n_resamples: int,
) -> str:
    settings = setting_fields(candidate.settings, [TextNgrams])
    if any(member.reads_vectors for member in members):
        settings |= setting_fields(candidate.settings, [Vectors])
    resampling: dict[str, Any] = {"level": plan.level, "candidates": plan.n_candidates, "resamples": n_resamples}
    resampling["design"] = design.kind
    if design.block > 1:
        resampling["block"] = design.block
    return signature(
        "overall",
        {"bank": "+".join(member.name for member in members), "combined": "fisher+half-cauchy"},
        settings=settings,
        data={"candidate": sample_field(candidate.sample), "reference": sample_field(reference.sample)},
        resampling=resampling | {"seed": plan.seed},
    )
