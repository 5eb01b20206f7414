"""Results over items: means with their intervals, differences between systems, and what combined tests found."""

import hashlib
import json
import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import Any

import numpy as np

from textassay.corpus.item_set import ItemSet
from textassay.inference.items.combined_tests import Combined, CombinedTest
from textassay.inference.items.item_work import ItemPlan, Measured
from textassay.inference.items.labellings import Figures
from textassay.inference.items.means import FLIPS, METHOD, bootstrap_interval, paired
from textassay.inference.items.shared_texts import Clusters
from textassay.inference.measure import Difference
from textassay.inference.p_values import fisher, harmonic_mean, mean_log_p, mean_p, raw_harmonic_mean, simes
from textassay.inference.plan import enough_resamples
from textassay.inference.result import Interval, Result, result_of, signature
from textassay.metrics.registry import Request


@dataclass(frozen=True, eq=False)
class Measuring:
    """What the numbers of a study are measured with, for signatures.

    `distances` has the signature of each distance by its name.
    """

    items: ItemSet
    plan: ItemPlan
    tokenizer: str
    encoder: str | None
    distances: Mapping[str, str]
    _systems: dict[str | None, str] = field(default_factory=dict, repr=False)

    def signature(self, request: Request, system: str | None, **part: Any) -> str:
        """Of a number over all items, or over a part; the system is None for references against references."""
        return signature(
            request.metric.name,
            request.options,
            settings=self.read(request),
            data={"items": f"{len(self.items.items)}/{self.items.digest}", "system": self._digest(system)} | part,
            resampling=self._resampling(request),
        )

    def read(self, request: Request) -> dict[str, str]:
        """What a metric reads texts with: the encoder, or the distance and the tokenizer."""
        distance = request.options.get("distance")
        if distance is None:
            return {"enc": str(self.encoder)}
        return {"dist": self.distances[distance], "tok": self.tokenizer}

    def is_asymptotic(self, request: Request) -> bool:
        """Whether p-values of items come from the asymptotic null where it holds."""
        return self.plan.asymptotic and request.metric.triangles

    def _test(self, request: Request) -> str:
        return f"{'asymptotic or ' * self.is_asymptotic(request)}exact up to {self.plan.most(request)}"

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
class SystemResults:
    """The results of one system: by item and metric, by metric over all items, and by label at the baseline's size.

    The baseline is references against references; it has fewer texts per item than most systems.
    """

    items: Sequence[tuple[Result, ...]]
    over_items: tuple[Result, ...]
    at_baseline_size: Mapping[str, Result]


@dataclass(frozen=True)
class Gap(Difference):
    """The difference between two systems, or between a system and people, on one metric."""

    first: str
    second: str
    label: str


@dataclass(frozen=True, eq=False)
class Summary:
    """Makes results from what was measured on the items of one system."""

    plan: ItemPlan
    measuring: Measuring
    clusters: Mapping[str | None, Clusters]

    def of_system(
        self, requests: Sequence[Request], system: str | None, measured: Sequence[Measured], combined: Combined
    ) -> SystemResults:
        """All results of a system; of references against references where the system is None."""
        again = {} if system is None else {r.label: self._at_baseline_size(r, system, measured) for r in requests}
        return SystemResults(
            [tuple(self._item(r, system, index, each) for r in requests) for index, each in enumerate(measured)],
            tuple(self._over_items(request, system, measured, combined) for request in requests),
            {label: result for label, result in again.items() if result is not None},
        )

    def _over_items(
        self, request: Request, system: str | None, measured: Sequence[Measured], combined: Combined
    ) -> Result:
        """One metric over all items of a system; of references against references where the system is None."""
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

    def _at_baseline_size(self, request: Request, system: str, measured: Sequence[Measured]) -> Result | None:
        """One metric over all items, each measured on as few texts as references against references are."""
        values = [each.at_baseline_size.get(request, math.nan) for each in measured]
        if np.isnan(values).all():
            return None
        signature = self.measuring.signature(request, system, size="human")
        return self._mean_result(request, system, values, {}, 0.0, signature)

    def _item(self, request: Request, system: str | None, place: int, each: Measured) -> Result:
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

    def gaps(
        self,
        requests: Sequence[Request],
        systems: Mapping[str, Sequence[Measured]],
        human: tuple[str, Sequence[Measured]],
    ) -> Iterator[Gap]:
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
                yield from self._gap((first, second), request, sides, flips, both)
        for name, measured in systems.items():
            for request in requests:
                mine = [each.at_baseline_size.get(request, math.nan) for each in measured]
                theirs = [each.figures[request].estimate for each in human[1]]
                yield from self._gap((name, human[0]), request, [mine, theirs], flips, self.clusters[name])

    def _gap(
        self, names: tuple[str, str], request: Request, sides: list[list[float]], flips: int, clusters: Clusters
    ) -> Iterator[Gap]:
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
            yield Gap(gap.estimate, gap.low, gap.high, gap.p_value, *names, request.label)


def _test_parts(test: CombinedTest, units: int) -> dict[str, float]:
    """What goes with the p-value of the combined test."""
    known = {} if math.isnan(test.adjusted_p) else {"adjusted": test.adjusted_p}
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
