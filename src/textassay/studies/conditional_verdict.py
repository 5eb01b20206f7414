"""The verdict on a system of a conditional study, in plain words and from tests only."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from textassay.inference.combining import evidence as summed_up
from textassay.inference.result import Result
from textassay.studies.comparison import Contest, Verdict
from textassay.studies.conditioned import chance_of, evidence_of
from textassay.studies.misses import Overall, kind_of
from textassay.studies.wording import number, p_text

# Standard scores over all items beyond this name a direction.
_CLEAR = 3.0

Adjusted = tuple[Contest, float]


@dataclass(frozen=True)
class Evidence:
    """What a verdict rests on: results over items by label, how the items miss, how the system stands beside people.

    `adjusted` has each result's p-value after the correction for the whole table, `smallest` what it would be if every
    item were as extreme as its texts allow. The contests of `people` come with their p-values after the correction for
    all contests.
    """

    results: Mapping[str, Result]
    adjusted: Sequence[float]
    smallest: Sequence[float]
    misses: Overall | None
    people: Sequence[Adjusted]


def smallest_evidence(ways: Sequence[int]) -> float:
    """The p-value of items that each come out at one in so many ways: what could be found at best."""
    return summed_up([1 / count for count in ways if count])


def judge_system(evidence: Evidence, *, level: float) -> Verdict:
    """What can be said of a system, from its tests after correction.

    The tests of the table come first. Where they find nothing, a system may still be further from the references than
    these are to each other; since that is a second look, it takes half of the level.
    """
    alpha = 1 - level
    tested = {label: result for label, result in evidence.results.items() if result.p_value is not None}
    if not tested:
        return Verdict("untested", (_why_untested(evidence.results),))
    apart = _first_below(alpha, [pair for pair in evidence.people if _is_apart(pair[0], evidence)])
    remarks = [*_unlike(apart), *_scores(evidence, alpha)]
    sure = [label for label, p in zip(evidence.results, evidence.adjusted, strict=True) if p < alpha]
    if sure:
        return Verdict("differs", (*_directions(evidence.misses), _difference(tested, sure), *remarks))
    if apart is not None and apart[1] < alpha / 2:
        return Verdict("differs", (*_directions(evidence.misses), *remarks))
    if not any(p <= alpha for p in evidence.smallest if not math.isnan(p)):
        few = "too few items, candidates or references for any test to find a difference"
        return Verdict("untested", (few, *remarks))
    if all(result.metric == "score" for result in tested.values()):
        alone = (
            "nothing found in mean scores; spread could not be tested, which needs two candidates and two references"
        )
        return Verdict("untested", (alone, *remarks))
    found = "no clear difference from the references" if apart else "no difference from the references found"
    return Verdict("same", (found, *remarks))


def _why_untested(results: Mapping[str, Result]) -> str:
    reasons = [result.undefined for result in results.values() if result.undefined]
    return reasons[0] if reasons else "estimates only: no test was run"


def _difference(tested: Mapping[str, Result], sure: Sequence[str]) -> str:
    """The clearest difference; one of distributions before one of mean scores, which say less."""
    label = min(sure, key=lambda name: (tested[name].metric == "score", evidence_of(tested[name])))
    result = tested[label]
    harmonic, summed = result.p_value or 0.0, result.parts["fisher"]
    cited = f"p {p_text(harmonic)}" if harmonic <= summed else f"Fisher's p {p_text(summed)}"
    return f"not from the references' source ({_cited(label, result)}, {cited})"


def _cited(label: str, result: Result) -> str:
    """The value and, of statistics that chance does not make 0, what chance gives."""
    chance = chance_of(result)
    return f"{label} {number(result.estimate)}" + ("" if math.isnan(chance) else f", by chance {number(chance)}")


def _directions(misses: Overall | None) -> Iterable[str]:
    """Narrow, wide or elsewhere over all items, where their standard scores leave no doubt."""
    if misses is None:
        return
    kind = kind_of(misses.spread, misses.place)
    apart = min(misses.z_candidates, misses.z_references)
    if kind in ("too narrow", "too wide") and abs(misses.z_spread) >= _CLEAR:
        yield f"{kind}: candidates vary {'less' if misses.spread > 0 else 'more'} than references do"
    if apart >= _CLEAR:
        yield "elsewhere: candidates and references each keep to themselves"
    if max(misses.z_candidates, misses.z_references) <= -_CLEAR:
        yield "closer to the references than another sample would be: copies of them?"


def _is_apart(contest: Contest, evidence: Evidence) -> bool:
    """A statistic of distributions, higher than people's own; of triangles only with ties in equal parts."""
    result = evidence.results[contest.label]
    ties_count = result.metric == "trm" and result.options["variant"] != "split"
    return result.metric != "score" and not ties_count and contest.estimate > 0


def _unlike(apart: Adjusted | None) -> Iterable[str]:
    if apart is not None:
        gap = f"{apart[0].label} higher by {number(apart[0].estimate)} on parts of that size"
        yield f"less like references than these are like each other ({gap})"


def _scores(evidence: Evidence, alpha: float) -> Iterable[str]:
    """How the mean score stands beside that of one reference against the others."""
    scores = [pair for pair in evidence.people if evidence.results[pair[0].label].metric == "score"]
    found = _first_below(alpha, scores)
    if found is not None:
        contest = found[0]
        way = "lower" if contest.estimate < 0 else "higher"
        yield f"{contest.label} {way} than people's own (by {number(abs(contest.estimate))})"


def _first_below(alpha: float, pairs: Sequence[Adjusted]) -> Adjusted | None:
    return next((pair for pair in pairs if pair[1] < alpha), None)
