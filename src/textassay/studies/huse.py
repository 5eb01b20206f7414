"""The HUSE study: can human and model text be told apart by ratings and probabilities, and what gives it away?"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np

from textassay.corpus.counting import many
from textassay.corpus.errors import InputError
from textassay.corpus.rated import RatedItems
from textassay.corpus.rating_checks import checked
from textassay.corpus.rating_objects import as_ratings
from textassay.engines.local import Engine, LocalEngine
from textassay.inference.progress import Progress, Silent
from textassay.inference.request import Request, parse_requests
from textassay.studies.checks import check_plan
from textassay.studies.huse_balance import balanced, without_raters
from textassay.studies.huse_items import decision_map, judged_items, kinds_by_chance, scores_by_k
from textassay.studies.huse_notes import PAPER_K, notes_on
from textassay.studies.huse_order import in_order_of
from textassay.studies.huse_plan import RatedPlan
from textassay.studies.huse_raters import agreement_of, facts_of, scores_without
from textassay.studies.huse_results import Scores, measure
from textassay.studies.huse_stability import outlook, stability
from textassay.studies.huse_verdict import judge
from textassay.studies.judged import Judged
from textassay.views.ratings import Per, Ratings
from textassay.views.votes import Tied

DEFAULT = ("huse", "huse_q", "huse_d")
_MOST_CLOUD = 300


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
    engine: Engine | None = None,
    progress: Progress | None = None,
) -> Judged:
    """Measure HUSE, HUSE-Q and HUSE-D on rated texts, with uncertainty and what explains them.

    `ratings` is a path, a data frame, an iterable of rows as mappings, or `RatedItems`; `log_probs`, a path, a data
    frame or rows too, has log-probabilities apart from them. `model` is the source to take where there are several, and
    `scale` the lowest and the highest rating there can be. Metrics are written as on the command line (`["huse:k=8"]`);
    `k` and `variant` hold for those that do not say otherwise.
    """
    check_plan(level, n_resamples, seed)
    seed = int(seed)
    plan = RatedPlan(float(level), int(n_resamples), seed, engine or LocalEngine(), progress or Silent())
    specs = metrics.split(",") if isinstance(metrics, str) else list(metrics)
    requests = parse_requests(specs or DEFAULT, on="ratings", settings={"k": k, "variant": variant})
    read = checked(as_ratings(ratings, log_probs=log_probs, model=model, scale=scale))
    rated = balanced(read, seed=seed)
    raters = facts_of(rated, seed=seed)
    flagged = [rater.name for rater in raters if rater.flagged]
    if leave_out_flagged and flagged:
        rated = balanced(_left_out(rated, flagged), seed=seed)
    fewest = max(request.metric.minimum_for(request.options) for request in requests)
    _check_size(rated, fewest)
    scores = measure(rated, requests, plan)
    without = () if leave_out_flagged else scores_without(rated, flagged, requests, plan, fewest=fewest)
    study = _Study(rated, requests, plan, scores)
    found = study.outcome(stable=stability)
    return replace(
        found,
        items=in_order_of(read.items, found.items),
        agreement=agreement_of(rated, raters, without, plan),
    )


def _left_out(rated: RatedItems, flagged: Sequence[str]) -> RatedItems:
    gone = int(np.isin(rated.rater_of, [rated.raters.index(name) for name in flagged]).sum())
    said = (
        f"raters who look as if they answer at random are left out: {len(flagged):,}, with {many(gone, 'rating')}; "
        "they were chosen by agreement on these very ratings, which by itself lowers scores and raises alpha"
    )
    rest = without_raters(rated, flagged)
    return replace(rest, notes=(*rest.notes, said))


def _check_size(rated: RatedItems, fewest: int) -> None:
    if len(rated.items) < fewest:
        raise InputError(
            f"{rated.where}: {many(len(rated.items), 'item')}, as many of both sources; wanted at least {fewest}, "
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
            notes=(*self.rated.notes, *notes_on(self.rated, view, self.requests, self.scores.results, k=k)),
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
