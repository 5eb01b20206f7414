"""The verdict of a HUSE study. Every sentence follows from a test or an interval."""

import math
from collections.abc import Sequence

from textassay.corpus.printable import share
from textassay.document.words import cited_p
from textassay.inference.p_values import is_significant
from textassay.inference.rated_scores import Corrected
from textassay.inference.result import Result
from textassay.studies.finding import NO_TEST, Finding, Verdict


def judge(
    results: Sequence[Result], corrected: Corrected, *, level: float, n_resamples: int, n_tests: int | None = None
) -> Verdict:
    """Whether human and model texts can be distinguished, and by what: ratings, probabilities, or both.

    All tests of the study are corrected for each other: `n_tests`, if those of other models are among them. Sentences
    are about the first result of each score. HUSE-D has no test: it counts if its interval ends below 1.
    """
    tested = [result for result in results if result.p_value is not None]
    if not tested:
        return Verdict.of("untested", _why_untested(results, n_resamples))
    if n_resamples < corrected.fewest:
        few = f"{n_resamples:,} resamples are too few for any test to be significant"
        few = f"{few}; at least {corrected.fewest:,} are needed"
        return Verdict.of("untested", few)
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


def _why_untested(results: Sequence[Result], n_resamples: int) -> Finding | str:
    if not n_resamples:
        return NO_TEST
    if all(result.undefined for result in results):
        return "no test was run: no score is defined"
    return "no test was run: HUSE-D has none (ask for huse and huse_q too)"


def _difference(first: dict[str, Result], adjusted: dict[str, float], sure: set[str], n_tests: int) -> str:
    name = "huse" if "huse" in sure else "huse_q"
    accuracy = first[name].parts.get("accuracy", 1 - first[name].estimate / 2)
    found = f"{share(accuracy)} are classified correctly, {cited_p(adjusted[name], n_tests=n_tests)}"
    return f"human and model texts can be distinguished ({found})"


def _no_difference(first: dict[str, Result], adjusted: dict[str, float], n_tests: int) -> str:
    name = "huse" if "huse" in adjusted else next(iter(adjusted))
    result = first[name]
    below = result.parts.get("told_below", math.nan)
    return (
        f"no difference between human and model texts found ({cited_p(adjusted[name], n_tests=n_tests)}); "
        f"with {result.n:,} items, only a score below {below:.2f} would have been significant"
    )


def _by_rating(result: Result, *, found: bool) -> str:
    human, model = result.parts.get("rating_human", math.nan), result.parts.get("rating_model", math.nan)
    means = f"mean rating {model:.2f} for the model, {human:.2f} for people"
    if not found:
        return f"ratings alone do not distinguish them (HUSE-Q {result.estimate:.2f}; {means})"
    return f"they differ in quality: ratings alone distinguish them (HUSE-Q {result.estimate:.2f}; {means})"


def _by_probability(result: Result) -> str:
    assert result.interval is not None
    score = f"HUSE-D {result.estimate:.2f}"
    if result.interval.high < 1:
        return f"they differ in diversity: the model's probabilities add to what ratings show ({score})"
    return f"no loss of diversity found ({score}, interval up to {result.interval.high:.2f})"
