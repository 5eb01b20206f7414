"""The verdict on a system: how its candidates differ from the references over all items."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from textassay.document.words import cited_p, number
from textassay.inference.item_figures import Overall, is_worse
from textassay.inference.over_items import Gap
from textassay.inference.p_values import is_significant
from textassay.inference.per_item import kind_of
from textassay.inference.result import Result
from textassay.studies.conditional.result import chance_of
from textassay.studies.finding import NO_TEST, Finding, Verdict

Adjusted = tuple[Gap, float]
# If the tests of the table find nothing, the comparison with people is judged at the error rate divided by this.
_SECOND_LOOK = 5

SENTENCES = {
    "too narrow": "too narrow: candidates vary less than the references do",
    "too wide": "too wide: candidates vary more than the references do",
    "elsewhere": "off target: candidates and references form separate groups",
    "too close": "too close: candidates are nearer to the references than another sample would be; are they copies?",
}


@dataclass(frozen=True)
class Evidence:
    """What a verdict is based on: results over items by label, how the items miss, and comparisons with people.

    The parts of each result include its p-value after correction for the whole table. `smallest` is the smallest
    p-value that any combined test could give, corrected for the number of systems. `people` has differences with
    their p-values after correction for all differences.
    """

    results: Mapping[str, Result]
    smallest: float
    misses: Overall | None
    people: Sequence[Adjusted]

    def adjusted(self, label: str) -> float:
        """The p-value of a result after correction for the whole table."""
        return self.results[label].parts.get("adjusted", math.nan)


def judge_system(evidence: Evidence, *, level: float) -> Verdict:
    """The verdict on a system; each sentence follows from its own test.

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
        return Verdict.of("untested", "too few items, candidates or references for any test to find a difference")
    if all(result.metric == "score" for result in tested.values()):
        spread = "spread was not tested, which needs two candidates and two references"
        return Verdict.of("untested", f"no difference found in mean scores; {spread}")
    return Verdict.of("same", "no difference from the references found")


def _why_untested(results: Mapping[str, Result]) -> Finding | str:
    reasons = [result.undefined for result in results.values() if result.undefined]
    return reasons[0] if reasons else NO_TEST


def _difference(evidence: Evidence, sure: Sequence[str]) -> str:
    """The clearest difference; differences of distributions come before those of mean scores, which show less."""
    results = evidence.results
    label = min(
        sure, key=lambda name: (results[name].metric == "score", evidence.adjusted(name), -_size(results[name]))
    )
    result = results[label]
    cited = f"{_cited(label, result)}, adjusted {cited_p(evidence.adjusted(label), floor=evidence.smallest)}"
    return f"distributed differently from the references ({cited})"


def _size(result: Result) -> float:
    return abs(result.parts.get("z", math.nan)) if not math.isnan(result.parts.get("z", math.nan)) else 0.0


def _cited(label: str, result: Result) -> str:
    """The value and, if it is not 0 by chance, the value by chance."""
    chance = chance_of(result)
    return f"{label} {number(result.estimate)}" + ("" if math.isnan(chance) else f", by chance {number(chance)}")


def _directions(misses: Overall | None, level: float) -> Iterable[str]:
    """Too narrow, too wide, off target or too close over all items, each by its own test."""
    if misses is None:
        return
    kind = kind_of(misses.spread, misses.place)
    if kind in ("too narrow", "too wide") and is_significant(misses.unequal, level):
        yield SENTENCES[kind]
    if is_significant(misses.apart, level):
        yield SENTENCES["elsewhere"]
    if is_significant(misses.close, level):
        yield SENTENCES["too close"]


def _unlike(evidence: Evidence, level: float) -> Iterable[str]:
    """A statistic of distributions that is worse than that of references against each other."""
    apart = [pair for pair in evidence.people if _is_apart(pair[0], evidence) and is_significant(pair[1], level)]
    if apart:
        gap, p = apart[0]
        way = "higher" if gap.estimate > 0 else "lower"
        worse = f"{gap.label} {way} by {number(abs(gap.estimate))} on parts of the same size, {cited_p(p)}"
        yield f"candidates differ more from the references than references differ from each other ({worse})"


def _is_apart(gap: Gap, evidence: Evidence) -> bool:
    """Whether a statistic of distributions is worse than people's; of triangles only with ties in equal parts."""
    result = evidence.results[gap.label]
    ties_count = result.metric == "trm" and result.options["variant"] != "split"
    return result.metric != "score" and not ties_count and is_worse(gap.estimate, result.better)


def _scores(evidence: Evidence, level: float) -> Iterable[str]:
    """How the mean score compares with that of one reference against the others."""
    scores = [pair for pair in evidence.people if evidence.results[pair[0].label].metric == "score"]
    found = [gap for gap, p in scores if is_significant(p, level)]
    if found:
        gap = found[0]
        way = "lower" if gap.estimate < 0 else "higher"
        yield f"{gap.label} {way} than that of people (by {number(abs(gap.estimate))})"
