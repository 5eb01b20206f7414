"""Results over items: means with intervals, combined tests, and their signatures."""

import hashlib
import json
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import Any

import numpy as np

from textassay.corpus.item_set import ItemSet
from textassay.inference.item_figures import Figures
from textassay.inference.over_items import FLIPS, Clusters, Combined, CombinedTest, bootstrap_interval, paired
from textassay.inference.per_item import ItemPlan, Measured
from textassay.inference.plan import enough_resamples
from textassay.inference.result import Interval, Result, result_of, signature
from textassay.metrics.registry import Request
from textassay.studies.conditional.combining import fisher, harmonic_mean, mean_log_p, mean_p, raw_harmonic_mean, simes
from textassay.studies.outcome import Contest, Settings, settings_of


@dataclass(frozen=True, eq=False)
class Measuring:
    """What the numbers of a study are measured with, for signatures and for the settings of its outcome.

    `distances` has the signature of each distance by its name.
    """

    items: ItemSet
    plan: ItemPlan
    tokenizer: str
    encoder: str | None
    distances: Mapping[str, str]
    _systems: dict[str | None, str] = field(default_factory=dict, repr=False)

    def settings(self, requests: Sequence[Request]) -> Settings:
        """The settings of the outcome."""
        read = [self._read(request) for request in requests]
        tested = self.plan.n_resamples > 0
        return settings_of(
            self.plan,
            distances=[fields["dist"] for fields in read if "dist" in fields],
            tokenizer=[fields["tok"] for fields in read if "tok" in fields],
            encoder=[fields["enc"] for fields in read if "enc" in fields],
            interval="bootstrap over items" if tested else None,
            test=self._tests(requests) if tested else None,
        )

    def signature(self, request: Request, system: str | None, **part: Any) -> str:
        """Of a number over all items, or over a part; the system is None for the human row."""
        return signature(
            request.metric.name,
            request.options,
            settings=self._read(request),
            data={"items": f"{len(self.items.items)}/{self.items.digest}", "system": self._digest(system)} | part,
            resampling=self._resampling(request),
        )

    def _read(self, request: Request) -> dict[str, str]:
        distance = request.options.get("distance")
        if distance is None:
            return {"enc": str(self.encoder)}
        return {"dist": self.distances[distance], "tok": self.tokenizer}

    def _tests(self, requests: Sequence[Request]) -> list[str]:
        """How p-values of items are computed, in words; with the metrics where these differ."""
        metrics: dict[str, dict[str, None]] = {}
        for request in requests:
            exact = f"exact up to {self.plan.most(request):,} labellings per item"
            words = f"asymptotic, or {exact}" if self._is_asymptotic(request) else exact
            metrics.setdefault(words, {})[request.metric.name] = None
        return [words if len(metrics) == 1 else f"{', '.join(names)}: {words}" for words, names in metrics.items()]

    def _is_asymptotic(self, request: Request) -> bool:
        return self.plan.asymptotic and request.metric.name == "trm"

    def _test(self, request: Request) -> str:
        return f"{'asymptotic or ' * self._is_asymptotic(request)}exact up to {self.plan.most(request)}"

    def _resampling(self, request: Request) -> dict[str, Any]:
        if not self.plan.n_resamples:
            return {"resamples": 0}
        return {
            "interval": "bootstrap-items",
            "level": self.plan.level,
            "test": self._test(request).replace(" ", "-"),
            "resamples": self.plan.n_resamples,
            "seed": self.plan.seed,
        }

    def _digest(self, system: str | None) -> str:
        """The system's texts by digest, never by name: a name may contain anything."""
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
class Summary:
    """Makes results from what was measured on the items of one system."""

    plan: ItemPlan
    measuring: Measuring
    clusters: Mapping[str | None, Clusters]

    def over_items(
        self, request: Request, system: str | None, measured: Sequence[Measured], combined: Combined
    ) -> Result:
        """One metric over all items of a system; of the human row where the system is None."""
        figures = [each.figures[request] for each in measured]
        p_values = [each.p_value for each in figures if not math.isnan(each.p_value)]
        parts = {"items": float(sum(not math.isnan(each.estimate) for each in figures)), **_sizes(request, measured)}
        test = combined.tests.get(request)
        parts |= {} if test is None else _test_parts(test, combined.units)
        if p_values:
            parts |= {name: combine(p_values) for name, combine in _OTHERS.items()}
            parts |= {"chance": _whole_mean([each.chance for each in figures if not math.isnan(each.estimate)])}
        seconds = sum(each.seconds for each in figures)
        signature = self.measuring.signature(request, system)
        parts |= _mean_parts(figures)
        made = self._mean_result(request, system, [each.estimate for each in figures], parts, seconds, signature)
        reasons = Counter(each.undefined[request] for each in measured if request in each.undefined)
        undefined = _most(reasons) if math.isnan(made.estimate) else None
        p = None if test is None or undefined is not None else test.p_value
        return replace(made, p_value=p, undefined=undefined)

    def at_baseline_size(self, request: Request, system: str, measured: Sequence[Measured]) -> Result | None:
        """One metric over all items, each measured on as few texts as the human row."""
        values = [each.at_baseline_size.get(request, math.nan) for each in measured]
        if np.isnan(values).all():
            return None
        signature = self.measuring.signature(request, system, size="human")
        return self._mean_result(request, system, values, {}, 0.0, signature)

    def item(self, request: Request, system: str | None, place: int, each: Measured) -> Result:
        """One metric on one item."""
        figures = each.figures[request]
        chance = {} if math.isnan(figures.chance) else {"chance": figures.chance}
        return result_of(
            request,
            figures.estimate,
            p_value=figures.p_value,
            parts={**figures.parts, **chance},
            undefined=each.undefined.get(request),
            signature=self.measuring.signature(request, system, item=place + 1),
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
        return result_of(
            request,
            _mean(known),
            interval=self._interval(request, values, self.clusters[system]),
            parts=parts,
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
        low, high = request.bounds
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
                mine = [each.at_baseline_size.get(request, math.nan) for each in measured]
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


def _test_parts(test: CombinedTest, units: int) -> dict[str, float]:
    """What goes with the p-value of the combined test."""
    known = {} if math.isnan(test.adjusted) else {"adjusted": test.adjusted}
    return {"z": test.z, **known, "draws": float(test.draws), "units": float(units)}


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
