"""The verdict on a system: how often it gives one answer, and how it compares with the others.

One answer to a prompt, word for word every time, is named before anything else, whatever else holds.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

from textassay.inference.p_values import holm, is_significant
from textassay.inference.result import Result
from textassay.metrics.effects import EFFECTS
from textassay.metrics.registry import find_metric
from textassay.studies.answers.result import KINDS, SystemAnswers, usual_n
from textassay.studies.contests import Contest
from textassay.studies.finding import Finding, Verdict

# From this share of prompts with one answer a system has collapsed; with fewer it repeats itself.
COLLAPSED = 0.5
_ALIKE = {"collapsed": "one answer to prompts", "one wording": "one wording", "one meaning": "one meaning"}


def judged(columns: Sequence[SystemAnswers], contests: Sequence[Contest], *, level: float) -> Iterator[SystemAnswers]:
    """The systems with their verdicts; p-values are adjusted for all contests."""
    adjusted = list(zip(contests, holm([contest.p_value for contest in contests]), strict=True))
    label = contests[0].label if contests else ""
    ranking = [(contest, p) for contest, p in adjusted if contest.label == label and is_significant(p, level)]
    for column in columns:
        yield replace(column, verdict=_verdict(column, _behind(column, columns, ranking)))


def _verdict(column: SystemAnswers, behind: Sequence[Finding]) -> Verdict:
    total = len(column.prompts)
    if not total:
        return Verdict.of("untested", Finding("no prompt twice"))
    alike = column.count("collapsed")
    decision = "collapsed" if alike >= COLLAPSED * total else "repeats" if alike else "varied"
    return Verdict.of(decision, *_alike(column), _mean(column), *behind)


def _alike(column: SystemAnswers) -> Iterator[Finding]:
    """On how many prompts all answers are one text, one wording at most, and one meaning at most."""
    count = 0
    for kind, name in _ALIKE.items():
        count += column.count(kind)
        if column.count(kind):
            yield Finding(name, value=count, n=(usual_n(column) or 0, len(column.prompts)))


def _mean(column: SystemAnswers) -> Finding:
    result = column.results[0]
    ends = (result.interval.low, result.interval.high) if result.interval else None
    return Finding("per prompt", metric=result.metric, value=result.estimate, ends=ends, n=(usual_n(column) or 0,))


def gain(result: Result) -> int:
    """1 if a rise of this metric is more diversity, -1 if it is less."""
    return EFFECTS[find_metric(result.metric).rise]


def _behind(
    column: SystemAnswers, columns: Sequence[SystemAnswers], contests: Sequence[tuple[Contest, float]]
) -> list[Finding]:
    """The systems that are significantly more varied by the metric that ranks them, the furthest first."""
    prompts = {other.name: {prompt.id for prompt in other.prompts} for other in columns}
    sign, found = gain(column.results[0]), []
    for contest, p in contests:
        if column.name not in (contest.first, contest.second):
            continue
        other, gap = (
            (contest.second, contest.estimate) if contest.first == column.name else (contest.first, -contest.estimate)
        )
        if sign * gap < 0:
            n = (len(prompts[column.name] & prompts[other]),)
            finding = Finding("less varied", metric=contest.label, value=gap, names=(other,), adjusted_p=p, n=n)
            found.append(finding)
    return sorted(found, key=lambda finding: -abs(finding.value))


def ranked(columns: Sequence[SystemAnswers]) -> list[SystemAnswers]:
    """The systems, that with the most different answers first; those without a number last."""

    def key(column: SystemAnswers) -> tuple[bool, float]:
        result = column.results[0]
        return math.isnan(result.estimate), -gain(result) * result.estimate

    return sorted(columns, key=key)


def repetitiveness(column: SystemAnswers) -> list[int]:
    """The indexes of the prompts of a system, the most repetitive first."""
    sign = gain(column.results[0])

    def key(index: int) -> tuple[int, float, float, int]:
        prompt = column.prompts[index]
        value = prompt.values[0]
        return KINDS.index(prompt.kind), math.inf if math.isnan(value) else sign * value, -prompt.n, index

    return sorted(range(len(column.prompts)), key=key)
