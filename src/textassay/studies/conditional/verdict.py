"""The verdict on a system of a conditional study, in plain words and from tests only."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from textassay.inference.p_values import is_significant
from textassay.inference.result import Result
from textassay.studies.conditional.misses import Overall, kind_of
from textassay.studies.conditional.result import chance_of
from textassay.studies.outcome import Contest, Verdict
from textassay.studies.wording import number, p_text

Adjusted = tuple[Contest, float]
# The comparison with people has this part of the error rate where the tests of the table find nothing.
_SECOND_LOOK = 5

SENTENCES = {
    "too narrow": "too narrow: candidates vary less than the references do",
    "too wide": "too wide: candidates vary more than the references do",
    "elsewhere": "off target: candidates and references form separate groups",
    "too close": "too close: candidates are nearer to the references than another sample would be; are they copies?",
}


@dataclass(frozen=True)
class Evidence:
    """What a verdict rests on: results over items by label, how the items miss, how the system compares with people.

    Each result has its p-value after correction for the whole table among its parts. `smallest` is the smallest p-value
    that any combined test could give, corrected for the number of systems. The contests of `people` come with their
    p-values after correction for all contests.
    """

    results: Mapping[str, Result]
    smallest: float
    misses: Overall | None
    people: Sequence[Adjusted]

    def adjusted(self, label: str) -> float:
        """The p-value of a result after correction for the whole table."""
        return self.results[label].parts.get("adjusted", math.nan)


def judge_system(evidence: Evidence, *, level: float) -> Verdict:
    """What can be said of a system; each sentence follows from a test of its own.

    The combined tests of the table come first. Where they find nothing, the comparison with people is a second look
    with a fifth of the error rate: what it finds is a difference. So no verdict claims a difference beside "no
    difference found", and at a level of 95 % at most 6 % of systems that do not differ are said to.
    """
    tested = {label: result for label, result in evidence.results.items() if result.p_value is not None}
    if not tested:
        return Verdict("untested", (_why_untested(evidence.results),))
    sure = [label for label in tested if is_significant(evidence.adjusted(label), level)]
    second = level if sure else 1 - (1 - level) / _SECOND_LOOK
    beside = [*_unlike(evidence, second), *_scores(evidence, second)]
    if sure:
        return Verdict("differs", (*_directions(evidence.misses, level), _difference(evidence, sure), *beside))
    if beside:
        return Verdict("differs", tuple(beside))
    if not is_significant(evidence.smallest, level):
        return Verdict("untested", ("too few items, candidates or references for any test to find a difference",))
    if all(result.metric == "score" for result in tested.values()):
        alone = (
            "no difference found in mean scores; spread was not tested, which needs two candidates and two references"
        )
        return Verdict("untested", (alone,))
    return Verdict("same", ("no difference from the references found",))


def _why_untested(results: Mapping[str, Result]) -> str:
    reasons = [result.undefined for result in results.values() if result.undefined]
    return reasons[0] if reasons else "estimates only: no test was run"


def _difference(evidence: Evidence, sure: Sequence[str]) -> str:
    """The clearest difference; one of distributions before one of mean scores, which say less."""
    results = evidence.results
    label = min(
        sure, key=lambda name: (results[name].metric == "score", evidence.adjusted(name), -_size(results[name]))
    )
    result = results[label]
    return f"distributed differently from the references ({_cited(label, result)}, p {p_at_most(result)})"


def _size(result: Result) -> float:
    return abs(result.parts.get("z", math.nan)) if not math.isnan(result.parts.get("z", math.nan)) else 0.0


def _cited(label: str, result: Result) -> str:
    """The value and, of statistics that chance does not make 0, what chance gives."""
    chance = chance_of(result)
    return f"{label} {number(result.estimate)}" + ("" if math.isnan(chance) else f", by chance {number(chance)}")


def p_at_most(result: Result) -> str:
    """The p-value of a combined test: with "<=" where no draw was as extreme, so that more draws would lower it."""
    p, draws = result.p_value, result.parts.get("draws", math.nan)
    if p is None:
        return p_text(math.nan)
    if not math.isnan(draws) and p <= 1.000001 / (draws + 1):
        return f"<= {p:.2g}"
    return p_text(p)


def _directions(misses: Overall | None, level: float) -> Iterable[str]:
    """Narrow, wide, off target or too close over all items, each where its own test says so."""
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
    """A statistic of distributions that is higher than that of references against each other."""
    apart = [pair for pair in evidence.people if _is_apart(pair[0], evidence) and is_significant(pair[1], level)]
    if apart:
        contest, p = apart[0]
        gap = f"{contest.label} higher by {number(contest.estimate)} on parts of that size, p {p_text(p)}"
        yield f"less like the references than these are like each other ({gap})"


def _is_apart(contest: Contest, evidence: Evidence) -> bool:
    """A statistic of distributions, higher than people's own; of triangles only with ties in equal parts."""
    result = evidence.results[contest.label]
    ties_count = result.metric == "trm" and result.options["variant"] != "split"
    return result.metric != "score" and not ties_count and contest.estimate > 0


def _scores(evidence: Evidence, level: float) -> Iterable[str]:
    """How the mean score compares with that of one reference against the others."""
    scores = [pair for pair in evidence.people if evidence.results[pair[0].label].metric == "score"]
    found = [contest for contest, p in scores if is_significant(p, level)]
    if found:
        contest = found[0]
        way = "lower" if contest.estimate < 0 else "higher"
        yield f"{contest.label} {way} than people's own (by {number(abs(contest.estimate))})"
