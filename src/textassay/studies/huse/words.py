"""Scores and raters of a HUSE study in words."""

import math
from collections.abc import Sequence

from textassay.corpus.printable import many, share, shortened
from textassay.corpus.ratings.rated_items import NOBODY
from textassay.document.words import p_text, two_decimals
from textassay.inference.result import Interval, Result
from textassay.metrics.registry import all_metrics
from textassay.studies.huse.result import TITLES, HuseItem, HuseResult, RaterAgreement, RaterFacts, titled

# Krippendorff's limits: no conclusion below the first, a firm one from the second on.
TENTATIVE, FIRM = 0.667, 0.8
# The effect of leaving out raters by their agreement.
CHOSEN = "they were selected by agreement on these ratings, which alone lowers scores"


def model_name(found: HuseResult) -> str:
    """The name of the model in a sentence."""
    return "the model" if found.rated.model == "model" else shortened(found.rated.model, 60)


def sizes_text(found: HuseResult) -> str:
    """How many items there are per source, and how many ratings by how many raters."""
    rated = found.rated
    model = sum(item.is_model for item in rated.items)
    low, high = rated.scale
    by = f" by {many(len(active_raters(found)), 'rater')}" if rated.names_raters else ""
    # Mean ratings do not reach the ends of the scale.
    single = f"{many(len(rated.ratings), 'rating')}{by}, scale {low:g} to {high:g}"
    given = single if rated.single else f"mean ratings only, between {low:g} and {high:g}"
    n = len(rated.items)
    return f"{many(n, 'item')} ({n - model:,} human, {model:,} {shortened(rated.model, 40)}), {given}"


def active_raters(found: HuseResult) -> set[str]:
    """The raters whose ratings are included."""
    rated = found.rated
    return {rated.raters[index] for index in set(rated.rater_of.tolist()) if index != NOBODY}


def without_flagged(found: HuseResult) -> bool:
    """True if raters who look random were left out of all measurements."""
    flagged = {rater.name for rater in found.agreement.raters if rater.flagged} if found.agreement else set()
    return bool(flagged) and flagged.isdisjoint(active_raters(found))


def scale_text(found: HuseResult) -> str:
    """The lowest and the highest possible rating, with their names if they have any."""
    return " to ".join(
        f"{bound:g} ({label})" if (label := found.rated.labels.get(bound)) else f"{bound:g}"
        for bound in found.rated.scale
    )


def bounds(low: float, high: float) -> str:
    """A range of scores, or nothing if it is not known.

    >>> bounds(0.4, 0.655), bounds(math.nan, 1.0)
    ('[0.40, 0.66]', '')
    """
    return f"[{two_decimals(low)}, {two_decimals(high)}]" if math.isfinite(low) and math.isfinite(high) else ""


def interval_text(interval: Interval | None) -> str:
    """The bounds of an interval, or nothing if there is none."""
    return bounds(interval.low, interval.high) if interval else ""


def with_interval(value: float, interval: Interval | None) -> str:
    """A score and the bounds of its interval, if there is one.

    >>> with_interval(0.53, Interval(0.4, 0.655, 0.95, "bootstrap")), with_interval(0.53, None)
    ('0.53 [0.40, 0.66]', '0.53')
    """
    return f"{two_decimals(value)} {interval_text(interval)}".strip()


def by_chance(result: Result) -> tuple[float, float, float]:
    """The mean and the range of scores that indistinguishable texts have at this size; NaN if not known."""
    mean, low, high = (result.parts.get(name, math.nan) for name in ("chance", "chance_low", "chance_high"))
    return mean, low, high


def in_words(result: Result) -> str:
    """A score in words."""
    if result.undefined is not None or not math.isfinite(result.estimate):
        return "no number"
    if result.metric == "huse_d":
        more = (1 - result.estimate) / 2
        return (
            f"a further {share(more)} identified with the probability" if more > 0 else "the probability adds nothing"
        )
    features = "rating alone" if result.metric == "huse_q" else "rating and probability"
    return f"{share(1 - result.estimate / 2)} identified by {features}"


def meaning(result: Result) -> str:
    """A score in a sentence; the error of the best discriminator that it implies is half the score."""
    if not math.isfinite(result.estimate):
        return ""
    if result.metric == "huse_d":
        return _diversity(result)
    features = "the rating alone" if result.metric == "huse_q" else "rating and probability"
    error = result.estimate / 2
    if error >= 0.5:
        return f"By {features}, the nearest neighbours identify the source no better than a random guess."
    wrong = f"the nearest neighbours assign the wrong source to {share(error)} of texts"
    return f"By {features}, {wrong}; guessing would give 50 %."


def _diversity(result: Result) -> str:
    """The loss of diversity in words, and a caution if the interval includes no loss."""
    if result.estimate >= 1:
        noise = " A value above 1 is noise." if result.estimate > 1 else ""
        return f"The model's probability adds nothing to the ratings: no lack of diversity was found.{noise}"
    more = share((1 - result.estimate) / 2)
    text = f"With the model's probability as well, the source of a further {more} of texts is identified"
    if result.interval is not None and result.interval.high < 1:
        return f"{text}: the model does not write some of what people write."
    return f"{text}. This may be chance, because the interval includes 1."


def p_texts(found: HuseResult) -> list[str]:
    """The p-value of each score; all empty if nothing was tested."""
    values = [math.nan if result.p_value is None else result.p_value for result in found.results]
    return ["" if all(map(math.isnan, values)) else p_text(value) for value in values]


def missing_lines(found: HuseResult) -> list[str]:
    """Why scores have no number."""
    return [
        f"{titled(label)}: no number: {result.undefined}"
        for label, result in zip(found.labels, found.results, strict=True)
        if result.undefined is not None
    ]


def no_test_lines(found: HuseResult) -> list[str]:
    """Why scores that have a number have no test."""
    known = all_metrics()
    reasons = {
        TITLES.get(result.metric, result.metric): known[result.metric].why_no_test
        for result in found.results
        if result.undefined is None and result.metric in known
    }
    return [f"{name}: no test: {reason}" for name, reason in reasons.items() if reason]


def whole_texts(found: HuseResult) -> bool:
    """True if votes use the log-probability of the whole text instead of that per token."""
    return any(result.options.get("per") == "text" for result in found.results[:1])


def log_prob_words(found: HuseResult) -> str:
    """The log-probability that votes use, in words."""
    return f"log-probability {'of the text' if whole_texts(found) else 'per token'}"


def log_prob_of(judged: HuseItem, *, whole: bool) -> float:
    """The log-probability that votes use."""
    return judged.log_prob * judged.item.length if whole else judged.log_prob


def chosen_k(found: HuseResult) -> int | None:
    """The number of neighbours of the first score, None if it has no such option."""
    known = (result.options.get("k") for result in found.results)
    return next((k for k in known if isinstance(k, int)), None)


_TIES = {
    "released": "all items at the distance of the k-th nearest also vote, and a tied vote counts as human",
    "exact": "all items at exactly the distance of the k-th nearest also vote, and a tied vote counts as human",
    "fair": "items at the distance of the k-th nearest share the remaining votes, and a tied vote is half an error",
}


def tie_rule(found: HuseResult) -> str:
    """The rule for ties, in words; empty if it is not known."""
    variants = dict.fromkeys(str(result.options.get("variant", "")) for result in found.results)
    return next((_TIES[name] for name in variants if name in _TIES), "")


# Raters.


def agreement_text(agreement: RaterAgreement) -> str:
    """How well raters agree, with Krippendorff's alpha."""
    alpha = agreement.alpha
    if not math.isfinite(alpha):
        return "Krippendorff's alpha unknown"
    strength = "high" if alpha >= FIRM else "fair" if alpha >= TENTATIVE else "low"
    ordinal = f", {two_decimals(agreement.alpha_ordinal)} for ranks" if math.isfinite(agreement.alpha_ordinal) else ""
    return f"{strength} agreement of raters, Krippendorff's alpha {with_interval(alpha, agreement.interval)}{ordinal}"


def alpha_meaning(alpha: float) -> str:
    """What follows from alpha by Krippendorff's limits."""
    if not math.isfinite(alpha):
        return "It cannot be computed, because no two raters rated the same item, or all ratings are equal."
    if alpha >= FIRM:
        return "By these limits, single ratings are reliable."
    if alpha >= TENTATIVE:
        return "By these limits, single ratings allow only tentative conclusions."
    if alpha > 0:
        return (
            "By these limits, single ratings are not reliable. HUSE uses the mean over all raters of an item, which is"
            " more stable; the section on stability shows how stable."
        )
    return "Raters agree no better than by chance, so the mean ratings contain little information about the texts."


def flagged_text(raters: Sequence[RaterFacts]) -> str:
    """How many raters look random."""
    if not raters:
        return "raters unknown"
    flagged = sum(rater.flagged for rater in raters)
    verb = "looks" if flagged == 1 else "look"
    return f"{flagged:,} of {many(len(raters), 'rater')} {verb} random" if flagged else "no rater looks random"


def without_text(found: HuseResult) -> str:
    """The scores without flagged raters; empty where they are not known."""
    agreement = found.agreement
    if agreement is None or not agreement.without:
        return ""
    scores = [
        f"{titled(label)} {two_decimals(result.estimate)}"
        for label, result in zip(found.labels, agreement.without, strict=True)
    ]
    return f"without them {', '.join(scores)}"
