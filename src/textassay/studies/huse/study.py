"""The HUSE study: can human and model texts be distinguished by ratings and probabilities, and why?"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np

from textassay.corpus.printable import many
from textassay.corpus.ratings.files import read_ratings
from textassay.corpus.ratings.rated_items import RatedItem, RatedItems, balanced, without_raters
from textassay.document.words import listed as words_listed
from textassay.engines.base import Engine, get_engine
from textassay.errors import InputError, Setting
from textassay.inference.plan import Progress, shows_progress, told
from textassay.inference.rated_scores import Groups, RatedPlan, Scores, measure
from textassay.inference.raters import alpha, alpha_interval, rater_facts
from textassay.inference.result import Interval, Result
from textassay.metrics.ratings.rating_view import Per, Ratings
from textassay.metrics.ratings.votes import Tied
from textassay.metrics.registry import Request, listed, parse_requests
from textassay.studies.huse.item_votes import decision_map, in_order_of, judged_items, kinds_by_chance, scores_by_k
from textassay.studies.huse.result import HuseResult, RaterAgreement, RaterFacts, titled
from textassay.studies.huse.stability import outlook, stability
from textassay.studies.huse.verdict import judge
from textassay.studies.outcome import settings_of

# What the paper used: 16 neighbours among 200 items.
PAPER_K, _PAPER_ITEMS = 16, 200
# The paper found about 20 ratings per item necessary for summaries, 5 to 10 if texts are easily distinguished.
_ENOUGH_RATINGS = 10
_FEW_CONTEXTS, _FEW_RATERS = 20, 10
# Contexts with less than this share of the items hardly change the interval.
_GOOD_PART = 0.25
# With fewer items, HUSE of two normal distributions one deviation apart is too high by 0.07 (100 items) to 0.15 (32),
# for any k.
_FEW_ITEMS = 100
# Human texts have about 1 to 4 nats per token under models of language. The paper's summaries have 2.2, with a rank
# correlation of .37 with the length; their means per token have .27 and .07 if they are divided by the length again.
_NATS_PER_TOKEN, _RISES_WITH_LENGTH, _FEWEST_FOR_UNITS = 0.5, 0.25, 20
# Factors between k and the recommended k that are too large or too small. With twice the recommended k the score is
# 0.09 too high on 40 of the paper's items; on 100 there is no effect.
_TOO_MANY, _TOO_FEW = 2.0, 1.5


def notes_on(
    rated: RatedItems, view: Ratings, requests: Sequence[Request], results: Sequence[Result], *, k: int
) -> Iterator[str]:
    """The notes on a study whose items are judged with `k` neighbours."""
    yield from _on_log_probs(view)
    yield from _on_ratings(rated, view)
    yield from _on_contexts(rated.items, view)
    limits = requests[0].metric.options["k"].limits
    yield from on_size(len(view), k, most=math.inf if limits is None else limits[1])
    yield from _on_rounding(view, requests, results)


def _on_log_probs(view: Ratings) -> Iterator[str]:
    if not view.knows_log_probs:
        yield "no log-probabilities: only what the ratings show was measured"
        return
    yield from _on_units(view)
    impossible = int(np.isneginf(view.log_prob).sum())
    if impossible == len(view):
        yield "all items have probability 0 under the model (log-probability minus infinity)"
    elif impossible:
        yield (
            f"{many(impossible, 'item')} with probability 0 under the model: the log-probability, minus infinity, is "
            f"replaced by {view.log_probs('text').min():,.0f}, which widens the range of that feature"
        )
    if not view.points()[:, 1].any():
        yield "all log-probabilities per token are the same: they carry no information, and HUSE-D is not defined"


def _on_units(view: Ratings) -> Iterator[str]:
    """A note on log-probabilities that look like means per token, which are then divided by the length again.

    The sum over a text of people is rarely above -0.5 per token, and longer texts have lower sums; means per token are
    unrelated to the length.
    """
    people = ~view.is_model & np.isfinite(view.log_prob)
    nats, lengths = -view.log_prob[people], view.length[people]
    if len(nats) < _FEWEST_FOR_UNITS or np.ptp(lengths) == 0 or np.ptp(nats) == 0:
        return
    from scipy.stats import spearmanr

    usual = float(np.median(nats / lengths))
    if 0 < usual < _NATS_PER_TOKEN and float(spearmanr(nats, lengths).statistic) < _RISES_WITH_LENGTH:
        yield (
            f"log-probabilities of human texts are {-float(np.median(nats)):.2f} at the median for "
            f"{float(np.median(lengths)):g} tokens and do not fall with the length: they look like means per token, "
            "but those of whole texts (sums) are wanted, because they are divided by the length here"
        )


def _on_ratings(rated: RatedItems, view: Ratings) -> Iterator[str]:
    if not rated.single:
        yield "only mean ratings are known: intervals are over items alone, and raters cannot be checked"
        return
    usual = float(np.median(view.counts))
    if usual < _ENOUGH_RATINGS:
        each = f"{usual:g} rating{'s' if usual != 1 else ''} per item"
        yield (
            f"{each}: noise in ratings raises the scores; the paper needed about 20 for summaries, and 5 to 10 if "
            "texts are easily distinguished"
        )
    people = len(np.unique(view.raters))
    if rated.names_raters and people < _FEW_RATERS:
        yield f"{many(people, 'rater')}: too few to include the differences between raters in the interval"


def _on_contexts(items: Sequence[RatedItem], view: Ratings) -> Iterator[str]:
    sources: dict[str, set[bool]] = {}
    for item in items:
        if item.context is not None:
            sources.setdefault(item.context, set()).add(item.is_model)
    alone = sum(len(seen) == 1 for seen in sources.values())
    if len(set(view.context.tolist())) == 1:
        yield "all items have the same context: it is ignored"
    elif sources and alone == len(sources):
        yield f"none of {alone:,} contexts has texts of both sources: contexts are ignored, items resampled singly"
    elif alone:
        yield f"{alone:,} of {len(sources):,} contexts have texts of one source only: their items are resampled singly"
    mixed = Groups.of(view).mixed
    if len(mixed) < _FEW_CONTEXTS and sum(map(len, mixed)) > _GOOD_PART * len(view):
        yield f"{many(len(mixed), 'context')}: too few to include the differences between contexts in the interval"


def on_size(n: int, k: int, *, most: float) -> Iterator[str]:
    """Notes on too few items, and on too few or too many neighbours; `most` is the largest k."""
    if n < _FEW_ITEMS:
        yield f"{n} items: with fewer than {_FEW_ITEMS} items HUSE is too high, by about 0.1 in simulations"
    better = round(min(PAPER_K * (n / _PAPER_ITEMS) ** (2 / 3), most))
    if better >= _TOO_FEW * k:
        yield f"with {n:,} items, k = {better} has less bias than k = {k}"
    elif k >= _TOO_MANY * better:
        yield f"k = {k} of {n - 1} other items: too many neighbours can hide a difference; compare with k = {better}"


def _on_rounding(view: Ratings, requests: Sequence[Request], results: Sequence[Result]) -> Iterator[str]:
    """Scores that depend on how ties were rounded."""
    for request, result in zip(requests, results, strict=True):
        if request.options["variant"] == "released":
            exact = replace(request, options={**request.options, "variant": "exact"}).value(view)
            if abs(exact - result.estimate) >= 0.005:
                rounded = f"{result.estimate:.2f} with the rounding of the authors' program (variant released)"
                yield f"{titled(request.label)} is {rounded} and {exact:.2f} with exact ties (variant exact)"


DEFAULT = ("huse", "huse_q", "huse_d")
_MOST_CLOUD = 300


@shows_progress
def huse(
    ratings: Any,
    *,
    log_probs: Any = None,
    model: str | None = None,
    scale: tuple[float, float] | None = None,
    metrics: str | Sequence[str] = (),
    k: int = PAPER_K,
    variant: str = "released",
    level: float = 0.95,
    n_resamples: int = 999,
    seed: int = 0,
    leave_out_flagged: bool = False,
    stability: bool = True,
    engine: str | Engine | None = None,
    progress: Progress | bool | None = None,
) -> HuseResult:
    """Measure HUSE, HUSE-Q and HUSE-D on rated texts, with uncertainty and what explains them.

    Parameters
    ----------
    ratings
        A path, a data frame, rows as mappings, or `RatedItems`; the columns are those of `read_ratings`.
    log_probs
        The same with log-probabilities, if they are apart from the ratings.
    model
        The source to take where there are several besides the humans.
    scale
        The lowest and the highest rating that there can be.
    metrics
        `huse`, `huse_q` and `huse_d` as on the command line (`["huse:k=8"]`). `huse_q` needs no log-probabilities.
    k, variant
        The number of neighbours and how ties are treated, for metrics that do not set them.
    level
        The confidence level.
    n_resamples
        Resamples of the intervals and exchanges of the tests; 0 gives estimates only.
    seed
        The seed of all random numbers; the same texts, options and seed give the same numbers.
    leave_out_flagged
        Whether to leave out raters who answer without looking.
    stability
        Whether to measure the scores on parts of the texts and ratings.
    engine
        Where the work runs: `local` (the default), or an `Engine`.
    progress
        True shows a progress bar, in a terminal or a notebook; or an object that is told about the progress.

    Returns
    -------
    HuseResult
        The scores, and the votes on every text.

    Examples
    --------
    >>> rows = [
    ...     {"source": source, "text": f"{source} {n}", "log_prob": -3.0 - n, "rating": n % 5 + (source == "gpt")}
    ...     for n in range(12)
    ...     for source in ("human", "gpt")
    ... ]
    >>> found = huse(rows, k=3, n_resamples=0, stability=False)
    >>> [result.metric for result in found.results]
    ['huse', 'huse_q', 'huse_d']
    """
    plan = RatedPlan(level, n_resamples, seed, get_engine(engine), told(progress)).checked()
    seed = int(seed)
    plan = replace(plan, level=float(level), n_resamples=int(n_resamples), seed=seed)
    specs = listed(metrics)
    requests = parse_requests(specs or DEFAULT, on="ratings", settings={"k": k, "variant": variant})
    fewest = max(request.minimum for request in requests)
    needs = reads_log_probs(metrics)
    read = read_ratings(ratings, log_probs=log_probs, model=model, scale=scale, needs_log_probs=needs)
    if needs and not read.knows_log_probs:
        alone = Setting("metrics", "huse_q")
        raise InputError(f"{read.where}: no log-probabilities; wanted those of all texts (", alone, " needs none)")
    rated = balanced(read, seed=seed)
    raters = facts_of(rated, seed=seed)
    flagged = [rater.name for rater in raters if rater.flagged]
    if leave_out_flagged and flagged:
        rated = balanced(_left_out(rated, flagged), seed=seed)
    _check_size(rated, fewest)
    scores = measure(rated, requests, plan)
    without: tuple[Result, ...] = ()
    if flagged and not leave_out_flagged:
        without = scores_without(rated, flagged, requests, plan, fewest=fewest)
    study = _Study(rated, requests, plan, scores)
    return study.outcome(read.items, agreement_of(rated, raters, without, plan), stable=stability)


def reads_log_probs(metrics: str | Sequence[str]) -> bool:
    """Whether any of these metrics needs log-probabilities."""
    requests = parse_requests(listed(metrics) or DEFAULT, on="ratings")
    return any(request.metric.needs_log_probs for request in requests)


def _left_out(rated: RatedItems, flagged: Sequence[str]) -> RatedItems:
    gone = int(np.isin(rated.rater_of, [rated.raters.index(name) for name in flagged]).sum())
    note = (
        f"{many(len(flagged), 'rater')} who may have answered at random left out, with {many(gone, 'rating')}; "
        "they were chosen by their agreement on the same ratings, which alone lowers scores and raises alpha"
    )
    rest = without_raters(rated, flagged)
    return replace(rest, notes=(*rest.notes, note))


def _check_size(rated: RatedItems, fewest: int) -> None:
    if len(rated.items) < fewest:
        raise InputError(
            f"{rated.where}: {many(len(rated.items), 'item')}, as many of both sources; wanted at least {fewest}, "
            f"two for each of the k = {fewest // 2} neighbours, or a smaller k"
        )


@dataclass(frozen=True, eq=False)
class _Study:
    rated: RatedItems
    requests: Sequence[Request]
    plan: RatedPlan
    scores: Scores

    @property
    def main(self) -> dict[str, Any]:
        """The options for items, map and curves: those of the first metric."""
        return {"per": "token", **self.requests[0].options}

    def outcome(self, order: Sequence[RatedItem], agreement: RaterAgreement | None, *, stable: bool) -> HuseResult:
        """What was measured, with the items in the order of the file, and what follows from it."""
        rated, requests, plan, scores, view = self.rated, self.requests, self.plan, self.scores, self.scores.view
        k, tied, per = int(self.main["k"]), cast(Tied, self.main["variant"]), cast(Per, self.main["per"])
        most_k = max(int(request.options["k"]) for request in requests)
        points = stability(view, requests, plan, most_k=most_k) if stable and plan.n_resamples else ()
        judged = judged_items(rated, view, k=k, tied=tied, per=per)
        return HuseResult(
            rated=rated,
            labels=tuple(request.label for request in requests),
            results=scores.results,
            items=in_order_of(order, judged),
            by_k=scores_by_k(view, chosen=k, tied=tied, per=per),
            stability=points,
            outlook=outlook(view, requests, scores, points) if points else (),
            agreement=agreement,
            decision_map=decision_map(view, k=k, per=per),
            cloud=self._cloud(),
            level=plan.level,
            notes=(*rated.notes, *notes_on(rated, view, requests, scores.results, k=k)),
            chance_kinds=kinds_by_chance(view, plan, k=k, tied=tied, per=per),
            verdict=judge(scores.results, scores.corrected, level=plan.level, n_resamples=plan.n_resamples),
            settings=settings_of(
                plan,
                interval=f"bootstrap over {words_listed(scores.methods.drawn)}",
                test=f"sources exchanged within {words_listed(scores.methods.exchanged_in)}",
            )
            if plan.n_resamples
            # The seed still decides which items are left out.
            else settings_of(plan, seed=plan.seed),
        )

    def _cloud(self) -> tuple[tuple[float, float], ...]:
        """HUSE-D and HUSE-Q of resamples, centred on the estimates and scaled to the width of the intervals."""
        names = [request.metric.name for request in self.requests]
        if "huse_d" not in names or "huse_q" not in names:
            return ()
        columns = [names.index("huse_d"), names.index("huse_q")]
        values = self.scores.resampled[:, columns]
        values = values[~np.isnan(values).any(axis=1)]
        estimates = [self.scores.results[column].estimate for column in columns]
        if not len(values) or any(math.isnan(estimate) for estimate in estimates):
            return ()
        moved = (values[:_MOST_CLOUD] - values.mean(axis=0)) * self.scores.spread.widening[columns] + estimates
        return tuple((float(d), float(q)) for d, q in moved)


def facts_of(rated: RatedItems, *, seed: int) -> tuple[RaterFacts, ...]:
    """The agreement of each rater with the others; empty if raters are not known."""
    if not rated.names_raters:
        return ()
    found = rater_facts(rated.item_of, rated.rater_of, rated.ratings, len(rated.raters), seed=seed)
    return tuple(
        RaterFacts(rated.raters[each.rater], each.n, each.mean, each.agreement, each.p_value, each.reason)
        for each in found
        if each.n
    )


def agreement_of(
    rated: RatedItems, raters: tuple[RaterFacts, ...], without: tuple[Result, ...], plan: RatedPlan
) -> RaterAgreement | None:
    """Krippendorff's alpha over all ratings; None if only means are known."""
    if not rated.single:
        return None
    ends = alpha_interval(rated.item_of, rated.ratings, level=plan.level, n_resamples=plan.n_resamples, seed=plan.seed)
    return RaterAgreement(
        alpha(rated.item_of, rated.ratings),
        alpha(rated.item_of, rated.ratings, metric="ordinal"),
        Interval(*ends, plan.level, "bootstrap-items") if ends is not None else None,
        raters,
        without,
    )


def scores_without(
    rated: RatedItems, flagged: Sequence[str], requests: Sequence[Request], plan: RatedPlan, *, fewest: int
) -> tuple[Result, ...]:
    """The same scores after leaving out raters; empty if too few items would be left."""
    rest = without_raters(rated, flagged)
    if len({item.is_model for item in rest.items}) < 2:
        return ()
    rest = balanced(rest, seed=plan.seed)
    if len(rest.items) < fewest:
        return ()
    return measure(rest, requests, plan).results
