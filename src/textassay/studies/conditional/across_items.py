"""Results over items: means with intervals, combined tests, and their signatures."""

import hashlib
import json
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations

import numpy as np

from textassay.corpus.items.item_set import ItemSet
from textassay.inference.items.combining import fisher, harmonic_mean, mean_log_p, mean_p, raw_harmonic_mean, simes
from textassay.inference.items.item_figures import Figures
from textassay.inference.items.over_items import FLIPS, Clusters, bootstrap_interval, paired
from textassay.inference.items.stratified import Tally, towards_worse
from textassay.inference.result import Interval, Result
from textassay.metrics.registry import Request
from textassay.studies.conditional.per_item import ItemPlan, Measured, Tallies
from textassay.studies.outcome import Contest, enough_resamples
from textassay.version import __version__


@dataclass(frozen=True, eq=False)
class Signer:
    """Writes signatures: metric, options, distance or encoder, tokens, items and system by digest, test, version."""

    items: ItemSet
    plan: ItemPlan
    tokenizer: str
    encoder: str | None
    distances: Mapping[str, str]
    _systems: dict[str | None, str] = field(default_factory=dict, repr=False)

    def over_items(self, request: Request, system: str | None, *further: str) -> str:
        """Of a system's number over all items, or of the human row's where the system is None."""
        fields = [request.metric.name, *(f"{option}:{value}" for option, value in request.options.items())]
        distance = request.options.get("distance")
        if distance is None:
            fields.append(f"enc:{self.encoder}")
        else:
            fields += [f"dist:{self.distances[distance]}", f"tok:{self.tokenizer}"]
        fields += [f"items:{len(self.items)}/{self.items.digest}", f"system:{self._digest(system)}", *further]
        return "|".join([*fields, *self._resampling(request), f"v:{__version__}"])

    def _resampling(self, request: Request) -> list[str]:
        if not self.plan.n_resamples:
            return ["resamples:0"]
        asymptotic = self.plan.asymptotic and request.metric.name == "trm"
        return [
            "interval:bootstrap-items",
            f"level:{self.plan.level}",
            f"test:{'asymptotic-or-' * asymptotic}exact-up-to-{self.plan.most(request)}",
            f"resamples:{self.plan.n_resamples}",
            f"seed:{self.plan.seed}",
        ]

    def _digest(self, system: str | None) -> str:
        """The system's texts by digest, never by name: a name may hold anything."""
        if system is None:
            return "human"
        if system not in self._systems:
            texts = [item.candidates.get(system, ()) for item in self.items.items]
            self._systems[system] = hashlib.blake2b(json.dumps(texts).encode(), digest_size=8).hexdigest()
        return self._systems[system]


METHOD = "bootstrap:items"
# Other ways to combine the items' p-values, for those who want to compare: none of them decides anything.
_OTHERS = {
    "harmonic_mean_raw": raw_harmonic_mean,
    "harmonic_mean": harmonic_mean,
    "fisher": fisher,
    "simes": simes,
    "mean_p": mean_p,
    "mean_log_p": mean_log_p,
}


@dataclass(frozen=True, eq=False)
class Combined:
    """The combined tests of one system: sums over items, how many units they have, and adjusted p-values."""

    tallies: Tallies
    units: int = 0
    adjusted: Mapping[Request, float] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Summary:
    """Makes results from what was measured on the items of one system."""

    plan: ItemPlan
    signer: Signer
    clusters: Mapping[str | None, Clusters]

    def over_items(
        self, request: Request, system: str | None, measured: Sequence[Measured], combined: Combined
    ) -> Result:
        """One metric over all items of a system; of the human row where the system is None."""
        figures = [each.figures[request] for each in measured]
        p_values = [each.p_value for each in figures if not math.isnan(each.p_value)]
        parts = {"items": float(sum(not math.isnan(each.estimate) for each in figures)), **_sizes(request, measured)}
        tally = combined.tallies.get(request)
        parts |= {} if tally is None else _test_parts(tally, combined, combined.adjusted.get(request, math.nan))
        if p_values:
            parts |= {name: combine(p_values) for name, combine in _OTHERS.items()}
            parts |= {"chance": _whole_mean([each.chance for each in figures if not math.isnan(each.estimate)])}
        seconds = sum(each.seconds for each in figures)
        signature = self.signer.over_items(request, system)
        parts |= _mean_parts(figures)
        made = self._mean_result(request, system, [each.estimate for each in figures], parts, seconds, signature)
        reasons = Counter(each.undefined[request] for each in measured if request in each.undefined)
        undefined = _most(reasons) if math.isnan(made.estimate) else None
        p = None if tally is None or undefined is not None else tally.p_value(towards_worse(request.metric.better))
        return replace(made, p_value=p, undefined=undefined)

    def at_human_size(self, request: Request, system: str, measured: Sequence[Measured]) -> Result | None:
        """One metric over all items, each measured on as few texts as the human row."""
        values = [each.at_human_size.get(request, math.nan) for each in measured]
        if np.isnan(values).all():
            return None
        signature = self.signer.over_items(request, system, "size:human")
        return self._mean_result(request, system, values, {}, 0.0, signature)

    def item(self, request: Request, system: str | None, place: int, each: Measured) -> Result:
        """One metric on one item."""
        figures = each.figures[request]
        chance = {} if math.isnan(figures.chance) else {"chance": figures.chance}
        return Result(
            metric=request.metric.name,
            options=dict(request.options),
            estimate=figures.estimate,
            better=request.metric.better,
            aspect=request.metric.aspect,
            interval=None,
            p_value=None if math.isnan(figures.p_value) else figures.p_value,
            parts={**figures.parts, **chance},
            undefined=each.undefined.get(request),
            signature=self.signer.over_items(request, system, f"item:{place + 1}"),
            seconds=figures.seconds,
            n=each.sizes[request][0],
        )

    def _mean_result(
        self,
        request: Request,
        system: str | None,
        values: Sequence[float],
        parts: Mapping[str, float],
        seconds: float,
        signature: str,
    ) -> Result:
        known = [value for value in values if not math.isnan(value)]
        return Result(
            metric=request.metric.name,
            options=dict(request.options),
            estimate=_mean(known),
            better=request.metric.better,
            aspect=request.metric.aspect,
            interval=self._interval(request, values, self.clusters[system]),
            p_value=None,
            parts=dict(parts),
            undefined=None,
            signature=signature,
            seconds=seconds,
            n=len(known),
        )

    def _interval(self, request: Request, values: Sequence[float], clusters: Clusters) -> Interval | None:
        if not self.plan.n_resamples:
            return None
        found = bootstrap_interval(
            np.array(values),
            level=self.plan.level,
            n_resamples=self.plan.n_resamples,
            seed=self.plan.seed,
            clusters=clusters,
        )
        if found is None:
            return None
        low, high = request.metric.bounds_for(request.options)
        return Interval(max(found[0], low), min(found[1], high), self.plan.level, METHOD)

    def contests(
        self,
        requests: Sequence[Request],
        systems: Mapping[str, Sequence[Measured]],
        human: tuple[str, Sequence[Measured]],
    ) -> Iterable[Contest]:
        """Every two systems on the items they share, and every system against people, metric by metric."""
        if not self.plan.n_resamples:
            return
        pairs_and_people = len(systems) * (len(systems) + 1) // 2
        # A verdict judges the comparison with people at half of the level.
        flips = enough_resamples(FLIPS, 2 * len(requests) * pairs_and_people, self.plan.level)
        for first, second in combinations(systems, 2):
            for request in requests:
                pairs = list(zip(systems[first], systems[second], strict=True))
                sides = [[a.cut_to(request, b) for a, b in pairs], [b.cut_to(request, a) for a, b in pairs]]
                both = self.clusters[first].joined(self.clusters[second])
                yield from self._contest((first, second), request, sides, flips, both)
        for name, measured in systems.items():
            for request in requests:
                mine = [each.at_human_size.get(request, math.nan) for each in measured]
                theirs = [each.figures[request].estimate for each in human[1]]
                yield from self._contest((name, human[0]), request, [mine, theirs], flips, self.clusters[name])

    def _contest(
        self, names: tuple[str, str], request: Request, sides: list[list[float]], flips: int, clusters: Clusters
    ) -> Iterable[Contest]:
        gap = paired(
            np.array(sides[0]),
            np.array(sides[1]),
            level=self.plan.level,
            n_resamples=self.plan.n_resamples,
            seed=self.plan.seed,
            n_flips=flips,
            clusters=clusters,
        )
        if not math.isnan(gap.p_value):
            yield Contest(*names, request.label, gap.estimate, gap.low, gap.high, gap.p_value)


def _test_parts(tally: Tally, combined: Combined, adjusted: float) -> dict[str, float]:
    """What goes with the p-value of the combined test."""
    known = {} if math.isnan(adjusted) else {"adjusted": adjusted}
    return {"z": tally.z, **known, "draws": float(len(tally.drawn)), "units": float(combined.units)}


def _sizes(request: Request, measured: Sequence[Measured]) -> dict[str, float]:
    sizes = [each.sizes[request] for each in measured if request not in each.undefined]
    return {side: _mean([size[at] for size in sizes]) for at, side in enumerate(("candidates", "references"))}


def _mean(values: Sequence[float]) -> float:
    known = [value for value in values if not math.isnan(value)]
    return math.fsum(known) / len(known) if known else math.nan


def _whole_mean(values: Sequence[float]) -> float:
    """The mean, or NaN where one is missing: a mean over some items compares with none over all."""
    return math.nan if any(map(math.isnan, values)) else _mean(values)


def _most(reasons: Counter[str]) -> str:
    reason, count = reasons.most_common(1)[0]
    return reason if count == reasons.total() else f"{reason} (and other reasons)"


def _mean_parts(figures: Sequence[Figures]) -> dict[str, float]:
    names = dict.fromkeys(name for each in figures for name in each.parts)
    return {name: _mean([each.parts.get(name, math.nan) for each in figures]) for name in names}
