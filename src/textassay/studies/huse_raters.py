"""The raters of a HUSE study: how far they agree, who answers at random, and the scores without those."""

from collections.abc import Sequence

from textassay.corpus.rated import RatedItems
from textassay.corpus.rating_rows import raters_are_known
from textassay.inference.krippendorff import alpha, alpha_interval
from textassay.inference.raters import rater_facts
from textassay.inference.request import Request
from textassay.inference.result import Interval, Result
from textassay.studies.huse_balance import balanced, without_raters
from textassay.studies.huse_plan import RatedPlan
from textassay.studies.huse_results import measure
from textassay.studies.judged import Agreement, RaterFacts


def facts_of(rated: RatedItems, *, seed: int) -> tuple[RaterFacts, ...]:
    """What can be said of each rater; nothing where raters are not known."""
    if not raters_are_known(rated):
        return ()
    found = rater_facts(rated.item_of, rated.rater_of, rated.ratings, len(rated.raters), seed=seed)
    return tuple(
        RaterFacts(rated.raters[each.rater], each.n, each.mean, each.agreement, each.p_value, each.reason)
        for each in found
        if each.n
    )


def agreement_of(
    rated: RatedItems, raters: tuple[RaterFacts, ...], without: tuple[Result, ...], plan: RatedPlan
) -> Agreement | None:
    """Krippendorff's alpha over all ratings; None where only means are known."""
    if not rated.single:
        return None
    ends = alpha_interval(rated.item_of, rated.ratings, level=plan.level, n_resamples=plan.n_resamples, seed=plan.seed)
    return Agreement(
        alpha(rated.item_of, rated.ratings),
        alpha(rated.item_of, rated.ratings, metric="ordinal"),
        Interval(*ends, plan.level, "bootstrap-items") if ends is not None else None,
        raters,
        without,
    )


def scores_without(
    rated: RatedItems, flagged: Sequence[str], requests: Sequence[Request], plan: RatedPlan, *, fewest: int
) -> tuple[Result, ...]:
    """The same scores after leaving out raters; nothing where too few items would be left."""
    if not flagged:
        return ()
    rest = without_raters(rated, flagged)
    if len({item.is_model for item in rest.items}) < 2:
        return ()
    rest = balanced(rest, seed=plan.seed)
    if len(rest.items) < fewest:
        return ()
    return measure(rest, requests, plan).results
