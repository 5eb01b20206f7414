"""The verdict of a HUSE study in plain words, from its tests and intervals only."""

import math
from collections.abc import Sequence

from textassay.inference.p_values import holm, is_significant
from textassay.inference.result import Result
from textassay.studies.outcome import Verdict
from textassay.studies.wording import p_text, share


def judge(results: Sequence[Result], *, level: float, n_resamples: int) -> Verdict:
    """Whether human and model text can be told apart, and by what: ratings, probabilities, or both.

    All tests of the study are corrected for each other, and the first score of each kind is spoken of. Of HUSE-D there
    is no test: its interval must end below 1.
    """
    tested = [result for result in results if result.p_value is not None]
    if not tested:
        return Verdict("untested", (_why_untested(results, n_resamples),))
    wanted = math.floor(len(tested) / (1 - level) + 1e-9)
    if n_resamples < wanted:
        few = f"{n_resamples:,} resamples can show nothing at this level; wanted at least {wanted:,} (--resamples)"
        return Verdict("untested", (few,))
    corrected = holm([_p(result) for result in tested])
    # The first result of each score, and the p-value it is judged by.
    first = {result.metric: result for result in reversed(results)}
    adjusted = {result.metric: p for result, p in reversed(list(zip(tested, corrected, strict=True)))}
    sure = {name for name, p in adjusted.items() if is_significant(p, level)}
    said = _correction(len(tested))
    if not sure:
        return Verdict("same", (_not_told(first, adjusted, said),))
    reasons = [_told(first, adjusted, sure, said)]
    if "huse_q" in adjusted:
        reasons.append(_by_rating(first["huse_q"], found="huse_q" in sure))
    if "huse_d" in first and first["huse_d"].interval is not None:
        reasons.append(_by_probability(first["huse_d"]))
    return Verdict("differs", tuple(reasons))


def _why_untested(results: Sequence[Result], n_resamples: int) -> str:
    if not n_resamples:
        return "nothing was tested: without resamples there is no test"
    if all(result.undefined for result in results):
        return "nothing was tested: no score is defined"
    return "nothing was tested: HUSE-D has no test (ask for huse and huse_q too)"


def _p(result: Result) -> float:
    return math.nan if result.p_value is None else result.p_value


def _correction(n_tests: int) -> str:
    return f" after correction for {n_tests} tests" if n_tests > 1 else ""


def _told(first: dict[str, Result], adjusted: dict[str, float], sure: set[str], said: str) -> str:
    name = "huse" if "huse" in sure else "huse_q"
    accuracy = first[name].parts.get("accuracy", 1 - first[name].estimate / 2)
    p = f"p = {p_text(adjusted[name])}{said}"
    return f"human and model texts can be told apart ({share(accuracy)} of them are, {p})"


def _not_told(first: dict[str, Result], adjusted: dict[str, float], said: str) -> str:
    name = "huse" if "huse" in adjusted else next(iter(adjusted))
    result = first[name]
    below = result.parts.get("told_below", math.nan)
    return (
        f"human and model texts were not told apart (p = {p_text(adjusted[name])}{said}); "
        f"with {result.n:,} items only a score below {below:.2f} would have been told from chance"
    )


def _by_rating(result: Result, *, found: bool) -> str:
    human, model = result.parts.get("rating_human", math.nan), result.parts.get("rating_model", math.nan)
    means = f"mean {model:.2f} for the model, {human:.2f} for people"
    if not found:
        return f"ratings alone do not tell them apart (HUSE-Q {result.estimate:.2f}; {means})"
    return f"by quality: ratings alone tell them apart (HUSE-Q {result.estimate:.2f}; {means})"


def _by_probability(result: Result) -> str:
    assert result.interval is not None
    score = f"HUSE-D {result.estimate:.2f}"
    if result.interval.high < 1:
        return f"by diversity: the model's probabilities tell more than ratings do ({score})"
    return f"no loss of diversity was found ({score}, interval up to {result.interval.high:.2f})"
