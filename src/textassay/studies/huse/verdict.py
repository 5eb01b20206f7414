"""The verdict of a HUSE study. Every finding follows from a test or an interval."""

import math
from collections.abc import Sequence

from textassay.inference.p_values import is_significant
from textassay.inference.rated_scores import Corrected
from textassay.inference.result import Result
from textassay.studies.finding import NO_TEST, Finding, Verdict


def judge(
    results: Sequence[Result], corrected: Corrected, *, level: float, n_resamples: int, n_tests: int | None = None
) -> Verdict:
    """Whether human and model texts can be distinguished, and by what: ratings, probabilities, or both.

    All tests of the study are corrected for each other: `n_tests`, if those of other models are among them. Findings
    are about the first result of each score. HUSE-D has no test: it counts if its interval ends below 1.
    """
    tested = [result for result in results if result.p_value is not None]
    if not tested:
        return Verdict.of("untested", _why_untested(results, n_resamples))
    if n_resamples < corrected.fewest:
        return Verdict.of("untested", Finding("too few resamples", n=(n_resamples, corrected.fewest)))
    n_tests = len(tested) if n_tests is None else n_tests
    first = {result.metric: result for result in reversed(results)}
    all_p_values = list(zip(results, corrected.p_values, strict=True))
    adjusted = {result.metric: p for result, p in reversed(all_p_values) if not math.isnan(p)}
    sure = {name for name, p in adjusted.items() if is_significant(p, level)}
    if not sure:
        return Verdict.of("same", _no_difference(first, adjusted, n_tests))
    details = []
    if "huse_q" in adjusted:
        details.append(_by_rating(first["huse_q"], found="huse_q" in sure))
    if "huse_d" in first and first["huse_d"].interval is not None:
        details.append(_by_probability(first["huse_d"]))
    return Verdict.of("differs", _difference(first, adjusted, sure, n_tests), details=details)


def _why_untested(results: Sequence[Result], n_resamples: int) -> Finding:
    if not n_resamples:
        return NO_TEST
    return Finding("no score" if all(result.undefined for result in results) else "no test of diversity")


def _difference(first: dict[str, Result], adjusted: dict[str, float], sure: set[str], n_tests: int) -> Finding:
    name = "huse" if "huse" in sure else "huse_q"
    accuracy = first[name].parts.get("accuracy", 1 - first[name].estimate / 2)
    return Finding("distinguished", name, accuracy, adjusted_p=adjusted[name], parts={"tests": n_tests})


def _no_difference(first: dict[str, Result], adjusted: dict[str, float], n_tests: int) -> Finding:
    name = "huse" if "huse" in adjusted else next(iter(adjusted))
    result = first[name]
    parts = {"tests": n_tests, "below": result.parts.get("told_below", math.nan)}
    return Finding("not distinguished", name, adjusted_p=adjusted[name], n=(result.n,), parts=parts)


def _by_rating(result: Result, *, found: bool) -> Finding:
    means = {f"rating_{side}": result.parts.get(f"rating_{side}", math.nan) for side in ("human", "model")}
    kind = "quality differs" if found else "quality does not differ"
    return Finding(kind, result.metric, result.estimate, parts=means)


def _by_probability(result: Result) -> Finding:
    assert result.interval is not None
    ends = (result.interval.low, result.interval.high)
    kind = "diversity differs" if ends[1] < 1 else "no loss of diversity"
    return Finding(kind, result.metric, result.estimate, ends)
