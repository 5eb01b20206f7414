"""The HUSE study: can human and model text be told apart by ratings and probabilities, and what gives it away?"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np

from textassay.corpus.errors import InputError
from textassay.corpus.rated import RatedItems
from textassay.corpus.rating_objects import as_ratings
from textassay.corpus.rating_rows import raters_are_known
from textassay.engines.local import Engine, LocalEngine
from textassay.inference.progress import Progress, Silent
from textassay.inference.rated_resamples import Groups
from textassay.inference.request import Request, parse_requests
from textassay.studies.checks import check_plan
from textassay.studies.huse_balance import balanced, without_raters
from textassay.studies.huse_items import decision_map, judged_items, kinds_by_chance, scores_by_k
from textassay.studies.huse_order import in_one_order
from textassay.studies.huse_plan import RatedPlan
from textassay.studies.huse_raters import agreement_of, facts_of, scores_without
from textassay.studies.huse_results import Scores, measure
from textassay.studies.huse_stability import outlook, stability
from textassay.studies.huse_verdict import judge
from textassay.studies.judged import Judged, titled
from textassay.views.ratings import Per, Ratings
from textassay.views.votes import Tied

DEFAULT = ("huse", "huse_q", "huse_d")
# The paper found about 20 ratings an item necessary for summaries, 5 to 10 where the model is easily told.
_ENOUGH_RATINGS = 10
# What the paper used: 16 neighbours among 200 items.
_PAPER_K, _PAPER_ITEMS = 16, 200
_MOST_CLOUD = 300
_LARGEST = 1e30
_FEW_CONTEXTS, _FEW_RATERS = 20, 10


def huse(
    ratings: Any,
    *,
    metrics: str | Sequence[str] = (),
    k: int = _PAPER_K,
    variant: str = "released",
    level: float = 0.95,
    n_resamples: int = 999,
    seed: int = 0,
    leave_out_flagged: bool = False,
    stability: bool = True,
    engine: Engine | None = None,
    progress: Progress | None = None,
) -> Judged:
    """Measure HUSE, HUSE-Q and HUSE-D on rated texts, with uncertainty and what explains them.

    `ratings` is a path, a data frame, an iterable of rows as mappings, or `RatedItems`. Metrics are written as on the
    command line (`["huse:k=8"]`); `k` and `variant` hold for those that do not say otherwise.
    """
    check_plan(level, n_resamples, seed)
    plan = RatedPlan(level, n_resamples, seed, engine or LocalEngine(), progress or Silent())
    requests = _requests(metrics.split(",") if isinstance(metrics, str) else list(metrics), k, variant)
    given = in_one_order(as_ratings(ratings))
    _check_numbers(given)
    raters = facts_of(given, seed=seed)
    flagged = [rater.name for rater in raters if rater.flagged]
    rated = balanced(_left_out(given, flagged) if leave_out_flagged else given, seed=seed)
    fewest = max(request.metric.minimum_for(request.options) for request in requests)
    _check_size(rated, fewest)
    scores = measure(rated, requests, plan)
    without = () if leave_out_flagged else scores_without(rated, flagged, requests, plan, fewest=fewest)
    study = _Study(rated, requests, plan, scores)
    return replace(study.outcome(stable=stability), agreement=agreement_of(rated, raters, without, plan))


def _requests(specs: list[str], k: int, variant: str) -> list[Request]:
    """The metrics, with the study's own k and variant where a metric does not name its own."""
    settings = {"k": k, "variant": variant}
    full = [
        ":".join([spec, *(f"{name}={value}" for name, value in settings.items() if f":{name}=" not in spec)])
        for spec in specs or DEFAULT
    ]
    return parse_requests(full, on="ratings")


def _left_out(rated: RatedItems, flagged: Sequence[str]) -> RatedItems:
    if not flagged:
        return rated
    gone = int(np.isin(rated.rater_of, [rated.raters.index(name) for name in flagged]).sum())
    said = (
        f"raters who look as if they answer at random are left out: {len(flagged):,}, with {gone:,} ratings; they were "
        "chosen by agreement on these very ratings, which by itself lowers scores and raises alpha"
    )
    rest = without_raters(rated, flagged)
    return replace(rest, notes=(*rest.notes, said))


def _check_numbers(rated: RatedItems) -> None:
    """Readers refuse such numbers with their place; items that were made in Python come by another way."""
    log_probs = np.array([item.log_prob for item in rated.items])
    largest = max(np.abs(rated.ratings).max(initial=0.0), np.abs(log_probs[np.isfinite(log_probs)]).max(initial=0.0))
    if not largest <= _LARGEST:
        raise InputError(f"{rated.name}: {largest:g} is too large a number; wanted ratings and log-probabilities")


def _check_size(rated: RatedItems, fewest: int) -> None:
    if len(rated.items) < fewest:
        raise InputError(
            f"{rated.name}: {len(rated.items)} items, as many of both sources; wanted at least {fewest}, "
            f"two for each of the k = {fewest // 2} neighbours (a smaller k: --k)"
        )


@dataclass(frozen=True, eq=False)
class _Study:
    rated: RatedItems
    requests: Sequence[Request]
    plan: RatedPlan
    scores: Scores

    @property
    def main(self) -> dict[str, Any]:
        """The options that items, map and curves are made with: those of the first metric."""
        return {"per": "token", **self.requests[0].options}

    def outcome(self, *, stable: bool) -> Judged:
        """Everything but the raters."""
        k, tied, per = int(self.main["k"]), cast(Tied, self.main["variant"]), cast(Per, self.main["per"])
        view = Ratings.of(self.rated)
        most_k = max(int(request.options["k"]) for request in self.requests)
        points = stability(view, self.requests, self.plan, most_k=most_k) if stable and self.plan.n_resamples else ()
        return Judged(
            rated=self.rated,
            labels=tuple(request.label for request in self.requests),
            results=self.scores.results,
            items=judged_items(self.rated, k=k, tied=tied, per=per),
            by_k=scores_by_k(view, chosen=k, tied=tied, per=per),
            stability=points,
            outlook=outlook(view, self.requests, self.scores, points) if points else (),
            agreement=None,
            decision_map=decision_map(view, k=k, per=per),
            cloud=self._cloud(),
            verdict=judge(self.scores.results, level=self.plan.level, n_resamples=self.plan.n_resamples),
            level=self.plan.level,
            notes=(*self.rated.notes, *self._notes(view, k)),
            chance_kinds=kinds_by_chance(view, self.plan, k=k, tied=tied, per=per),
        )

    def _cloud(self) -> tuple[tuple[float, float], ...]:
        """HUSE-D and HUSE-Q of resamples, moved and spread so that they lie about the estimates as the intervals do."""
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

    def _notes(self, view: Ratings, k: int) -> Iterable[str]:
        impossible = int(np.isneginf(view.log_prob).sum())
        if impossible:
            yield (
                f"items that are impossible under the model (log-probability minus infinity): {impossible:,}, taken as "
                f"{view.log_probs('text').min():,.0f}; they stretch that feature"
            )
        if not view.points()[:, 1].any():
            yield "the log-probabilities a token are all the same: they tell nothing, and HUSE-D is not defined"
        yield from self._notes_on_ratings(view)
        groups = Groups.of(view)
        if len(set(view.context.tolist())) == 1:
            yield "one context for all items: it is taken for none"
        elif groups.mixed and len(groups.mixed) < _FEW_CONTEXTS:
            yield f"{len(groups.mixed)} contexts: too few for an interval that knows how other contexts would differ"
        better = round(_PAPER_K * (len(view) / _PAPER_ITEMS) ** (2 / 3))
        if better >= 1.5 * k:
            yield f"with {len(view):,} items k = {better} has less bias than k = {k} (--k {better})"
        yield from self._rounding()

    def _notes_on_ratings(self, view: Ratings) -> Iterable[str]:
        if not self.rated.single:
            yield "only mean ratings are known: intervals are over items alone, and nothing can be said of raters"
            return
        usual = float(np.median(view.counts))
        if usual < _ENOUGH_RATINGS:
            many = f"{usual:g} rating{'s' if usual != 1 else ''} an item"
            yield (
                f"{many}: their noise raises the scores; the paper needed about 20 for summaries and 5 to 10 where the "
                "model is easily told"
            )
        people = len(np.unique(view.raters))
        if raters_are_known(self.rated) and people < _FEW_RATERS:
            yield f"{people} raters: too few for an interval that knows how other raters would differ"

    def _rounding(self) -> Iterable[str]:
        """Scores that hang on how ties were rounded."""
        for request, result in zip(self.requests, self.scores.results, strict=True):
            if request.options["variant"] == "released":
                exact = replace(request, options={**request.options, "variant": "exact"})(Ratings.of(self.rated))
                if abs(exact - result.estimate) >= 0.005:
                    moved = f"from {exact:.2f} to {result.estimate:.2f} (variant=exact keeps them)"
                    yield f"{titled(request.label)}: ties that rounding breaks move it {moved}"
