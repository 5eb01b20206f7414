"""The verdict of a HUSE study in plain words, from its tests and intervals only."""

import math
from collections.abc import Sequence

from textassay.inference.multiplicity import holm
from textassay.inference.result import Result
from textassay.studies.comparison import Verdict
from textassay.studies.wording import p_text, share


def judge(results: Sequence[Result], *, level: float) -> Verdict:
    """Whether human and model text can be told apart, and by what: ratings, probabilities, or both.

    Tests of HUSE and HUSE-Q are corrected for each other. Of HUSE-D there is no test: its interval must end below 1.
    """
    first = {result.metric: result for result in reversed(results)}
    tested = {name: result for name, result in first.items() if result.p_value is not None}
    if not tested:
        return Verdict("untested", ("nothing was tested: without resamples there is no test",))
    adjusted = dict(zip(tested, holm([_p(result) for result in tested.values()]), strict=True))
    sure = {name for name, p in adjusted.items() if p < 1 - level}
    diversity = first.get("huse_d")
    narrow = diversity is not None and diversity.interval is not None and diversity.interval.high < 1
    if not sure:
        return Verdict("same", (_not_told(tested), *([_by_probability(diversity)] if narrow else [])))
    reasons = [_told(first, adjusted, sure)]
    if "huse_q" in tested:
        reasons.append(_by_rating(first["huse_q"], found="huse_q" in sure))
    if diversity is not None:
        reasons.append(_by_probability(diversity) if narrow else _no_loss(diversity))
    return Verdict("differs", tuple(reasons))


def _p(result: Result) -> float:
    return math.nan if result.p_value is None else result.p_value


def _told(first: dict[str, Result], adjusted: dict[str, float], sure: set[str]) -> str:
    name = "huse" if "huse" in sure else "huse_q"
    result = first[name]
    accuracy = result.parts.get("accuracy", 1 - result.estimate / 2)
    return f"human and model texts can be told apart ({share(accuracy)} of them are, p = {p_text(adjusted[name])})"


def _not_told(tested: dict[str, Result]) -> str:
    result = tested.get("huse") or next(iter(tested.values()))
    low = result.parts.get("chance_low", math.nan)
    return (
        f"human and model texts were not told apart (p = {p_text(_p(result))}); "
        f"with {result.n:,} items only a score below {low:.2f} would have been told from chance"
    )


def _by_rating(result: Result, *, found: bool) -> str:
    human, model = result.parts.get("rating_human", math.nan), result.parts.get("rating_model", math.nan)
    means = f"mean {model:.2f} for the model, {human:.2f} for people"
    if not found:
        return f"ratings alone do not tell them apart (HUSE-Q {result.estimate:.2f}; {means})"
    return f"by quality: ratings alone tell them apart (HUSE-Q {result.estimate:.2f}; {means})"


def _by_probability(result: Result | None) -> str:
    assert result is not None
    return f"by diversity: the model's probabilities tell more than ratings do (HUSE-D {result.estimate:.2f})"


def _no_loss(result: Result) -> str:
    return f"no loss of diversity was found (HUSE-D {result.estimate:.2f}, interval up to {_high(result):.2f})"


def _high(result: Result) -> float:
    return result.interval.high if result.interval is not None else math.nan
