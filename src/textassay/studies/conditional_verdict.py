"""The verdict on a system of a conditional study, in plain words and from tests only."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from textassay.inference.combining import evidence as summed_up
from textassay.inference.multiplicity import holm
from textassay.inference.result import Result
from textassay.studies.comparison import Contest, Verdict
from textassay.studies.conditioned import evidence_of
from textassay.studies.misses import Overall, kind_of
from textassay.studies.wording import number, p_text

# Standard scores over all items beyond this name a direction.
_CLEAR = 3.0
_UNLIKE = "further from references than references are from each other"


@dataclass(frozen=True)
class Evidence:
    """What a verdict rests on: results over items by label, spread and place over items, and the row of people.

    `adjusted` has each result's p-value after the correction for the whole table, `smallest` what it would be if every
    item were as extreme as its texts allow.
    """

    results: Mapping[str, Result]
    adjusted: Sequence[float]
    smallest: Sequence[float]
    misses: Overall | None
    people: Sequence[Contest]


def smallest_evidence(ways: Sequence[int]) -> float:
    """The p-value of items that each come out at one in so many ways: what could be found at best."""
    return summed_up([1 / count for count in ways if count])


def judge_system(evidence: Evidence, *, level: float) -> Verdict:
    """What can be said of a system, from its tests after correction."""
    tested = {label: result for label, result in evidence.results.items() if result.p_value is not None}
    if not tested:
        return Verdict("untested", (_why_untested(evidence.results),))
    people = [*_people(evidence.people, level)]
    sure = [label for label, p in zip(evidence.results, evidence.adjusted, strict=True) if p < 1 - level]
    if sure:
        return Verdict("differs", (*_directions(evidence.misses), _difference(tested, sure), *people))
    if any(said.startswith(_UNLIKE) for said in people):
        return Verdict("differs", (*_directions(evidence.misses), *people))
    if not any(p <= 1 - level for p in evidence.smallest if not math.isnan(p)):
        few = "too few items, candidates or references for any test to find a difference"
        return Verdict("untested", (few, *people))
    if all(result.metric == "score" for result in tested.values()):
        alone = "nothing found in mean scores, and nothing else could be tested: spread needs two candidates an item"
        return Verdict("untested", (alone, *people))
    return Verdict("same", ("no difference from the references found", *people))


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
    """The value and, of statistics that chance does not make 0, what chance gives.

    Not of scores: exchanged labels mix a system's own repeats with the references, which says nothing of quality.
    """
    chance = math.nan if result.metric == "score" else result.parts.get("chance", math.nan)
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


def _people(contests: Sequence[Contest], level: float) -> Iterable[str]:
    """How the system stands beside references against references, at their size: distributions first, then scores.

    Each of the two has half of the level, since they come on top of the tests of the table.
    """
    alpha = (1 - level) / 2
    scores = [contest for contest in contests if contest.label.startswith("score ")]
    others = [contest for contest in contests if contest not in scores and contest.estimate > 0]
    for contest in _surest(others, alpha):
        yield f"{_UNLIKE} ({contest.label} higher by {number(contest.estimate)} on parts of that size)"
    for contest in _surest(scores, alpha):
        way = "lower" if contest.estimate < 0 else "higher"
        yield f"{contest.label} {way} than people's own (by {number(abs(contest.estimate))})"


def _surest(contests: Sequence[Contest], alpha: float) -> list[Contest]:
    """The first of those that are significant after correction."""
    adjusted = holm([contest.p_value for contest in contests])
    return [contest for contest, p in zip(contests, adjusted, strict=True) if p < alpha][:1]
