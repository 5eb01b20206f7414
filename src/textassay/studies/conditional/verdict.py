"""The verdict on a system: how its candidates differ from the references over all items."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from scipy.stats import binom

from textassay.inference.items.combined_tests import MissTests
from textassay.inference.items.joint_labellings import is_worse
from textassay.inference.items.misses import BY_EXCHANGE, kind_of
from textassay.inference.items.summary import Gap
from textassay.inference.p_values import is_significant
from textassay.inference.result import Result
from textassay.studies.conditional.result import chance_of
from textassay.studies.finding import NO_TEST, Ends, Finding, Verdict

Adjusted = tuple[Gap, float]
# If the tests of the table find nothing, the comparison with people is judged at the error rate divided by this.
_SECOND_LOOK = 5
# A system has collapsed if at least this share of its items, of those with several candidates, have one answer.
COLLAPSED = 0.5
# What does not describe a system that gives one answer to most items: where a single text is, is chance.
_NOT_OF_ONE_ANSWER = ("too wide", "off target", "too close", "same over items")


@dataclass(frozen=True)
class Evidence:
    """What a verdict is based on: results over items by label, how the items miss, and comparisons with people.

    The parts of each result include its p-value after correction for the whole table. `smallest` is the smallest
    p-value that any combined test could give, corrected for the number of systems. `people` has differences with
    their p-values after correction for all differences. `one_answer` is how many items have one text as all candidates,
    and how many have several candidates.
    """

    results: Mapping[str, Result]
    smallest: float
    misses: MissTests | None
    people: Sequence[Adjusted]
    one_answer: tuple[int, int] = (0, 0)

    def adjusted(self, label: str) -> float:
        """The p-value of a result after correction for the whole table."""
        return self.results[label].parts.get("adjusted", math.nan)


def judge_system(evidence: Evidence, *, level: float) -> Verdict:
    """The verdict on a system; each finding follows from its own test. One answer to everything is named first."""
    judged, collapse = _judged(evidence, level), _one_answer(evidence, level)
    if collapse is None:
        return judged
    others = (finding for finding in judged.findings if finding.kind not in _NOT_OF_ONE_ANSWER)
    return replace(judged, decision="collapsed", findings=(collapse, *others))


def _one_answer(evidence: Evidence, level: float) -> Finding | None:
    """Most items have one text as all candidates, more than exchanged texts would ever give."""
    n, several = evidence.one_answer
    by_exchange = float(binom.sf(n - 1, several, BY_EXCHANGE)) if several else 1.0
    if not several or n < COLLAPSED * several or not is_significant(by_exchange, level):
        return None
    return Finding("one answer", value=n / several, n=(n, several))


def _judged(evidence: Evidence, level: float) -> Verdict:
    """The verdict by tests.

    The combined tests of the table come first. If they find nothing, the system is compared with people at a fifth of
    the error rate, and what that finds is a difference. So no verdict has a difference and "no difference found", and
    at a level of 95 % a difference is found for at most 6 % of systems that do not differ.
    """
    tested = {label: result for label, result in evidence.results.items() if result.p_value is not None}
    if not tested:
        return Verdict.of("untested", _why_untested(evidence.results))
    sure = [label for label in tested if is_significant(evidence.adjusted(label), level)]
    second = level if sure else 1 - (1 - level) / _SECOND_LOOK
    beside = [*_unlike(evidence, second), *_scores(evidence, second)]
    if sure:
        directions = _directions(evidence.misses, level)
        return Verdict.of("differs", *directions, _difference(evidence, sure), details=beside)
    if beside:
        return Verdict.of("differs", *beside)
    if not is_significant(evidence.smallest, level):
        return Verdict.of("untested", Finding("too few items"))
    if all(result.aspect == "quality" for result in tested.values()):
        return Verdict.of("untested", Finding("spread untested"))
    return Verdict.of("same", Finding("same over items"))


def _why_untested(results: Mapping[str, Result]) -> Finding | str:
    reasons = [result.undefined for result in results.values() if result.undefined]
    return reasons[0] if reasons else NO_TEST


def _difference(evidence: Evidence, sure: Sequence[str]) -> Finding:
    """The clearest difference; differences of distributions come before those of mean scores, which show less."""
    results = evidence.results
    label = min(
        sure, key=lambda name: (results[name].aspect == "quality", evidence.adjusted(name), -_size(results[name]))
    )
    return Finding(
        "differs over items",
        label,
        results[label].estimate,
        baseline=chance_of(results[label]),
        adjusted_p=evidence.adjusted(label),
        floor=evidence.smallest,
    )


def _size(result: Result) -> float:
    return abs(result.parts.get("z", math.nan)) if not math.isnan(result.parts.get("z", math.nan)) else 0.0


def _directions(misses: MissTests | None, level: float) -> Iterator[Finding]:
    """Too narrow, too wide, off target or too close over all items, each by its own test."""
    if misses is None:
        return
    kind = kind_of(misses.spread, misses.place)
    if kind in ("too narrow", "too wide") and is_significant(misses.unequal, level):
        yield Finding(kind, value=misses.spread, adjusted_p=misses.unequal)
    if is_significant(misses.apart, level):
        yield Finding("off target", value=misses.place, adjusted_p=misses.apart)
    if is_significant(misses.close, level):
        yield Finding("too close", value=misses.place, adjusted_p=misses.close)


def _unlike(evidence: Evidence, level: float) -> Iterator[Finding]:
    """A statistic of distributions that is worse than that of references against each other."""
    apart = [pair for pair in evidence.people if _is_apart(pair[0], evidence) and is_significant(pair[1], level)]
    if apart:
        gap, p = apart[0]
        yield Finding("unlike people", gap.label, gap.estimate, _ends(gap), adjusted_p=p)


def _ends(gap: Gap) -> Ends | None:
    """The ends of its interval, None where it has none."""
    return (gap.low, gap.high) if math.isfinite(gap.low) and math.isfinite(gap.high) else None


def _is_apart(gap: Gap, evidence: Evidence) -> bool:
    """Whether a statistic of distributions is worse than people's; of triangles only with ties in equal parts."""
    result = evidence.results[gap.label]
    ties_count = result.metric == "trm" and result.options["variant"] != "split"
    return result.aspect != "quality" and not ties_count and is_worse(gap.estimate, result.better)


def _scores(evidence: Evidence, level: float) -> Iterator[Finding]:
    """How the mean score compares with that of one reference against the others."""
    scores = [pair for pair in evidence.people if evidence.results[pair[0].label].aspect == "quality"]
    found = [(gap, p) for gap, p in scores if is_significant(p, level)]
    if found:
        gap, p = found[0]
        yield Finding("score beside people", gap.label, gap.estimate, _ends(gap), adjusted_p=p)
