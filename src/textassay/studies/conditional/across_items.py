"""Results over items: means with intervals, combined tests, combined p-values, and their signatures.

None of the combined p-values decides anything: the combined test exchanges labels within items. They are reported
beside it, because papers report them. The ways differ in what they see and in what they need. Exact p-values
of few texts come in steps, and then each of them rejects a true null at most as often as stated, and mostly more
rarely. Entries that are not numbers (no test there) are left out; where none is left, the answer is not a number
either.
"""

import hashlib
import json
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import combinations
from typing import Any

import numpy as np

from textassay.corpus.arrays import F64
from textassay.corpus.item_set import ItemSet
from textassay.inference.item_figures import Figures
from textassay.inference.over_items import FLIPS, Clusters, Combined, CombinedTest, bootstrap_interval, paired
from textassay.inference.per_item import ItemPlan, Measured
from textassay.inference.plan import enough_resamples
from textassay.inference.result import Interval, Result, result_of, signature
from textassay.metrics.registry import Request
from textassay.studies.outcome import Contest, Settings, settings_of

_NODES = 128
# In units of the variable below, the integrand is nothing so far below its rise and full so far above it.
_BELOW, _ABOVE = 45.0, 6.0


def survival(x: float) -> float:
    r"""The chance that a standard Landau variable is above x, to about 14 digits for any x.

    Its density is :math:`\frac1\pi \int_0^\infty e^{-t \log t - x t} \sin(\pi t)\,dt`, an integral that swings and
    cancels. Zolotarev's form of stable laws has neither fault; at the angle :math:`\pi - \pi / w` it reads

    .. math:: P(X > x) = \int_1^\infty \left(1 - e^{-e^{h(w) - x}}\right) \frac{dw}{w^2}, \qquad
              h(w) = \log\frac{\pi - \epsilon}{\sin \epsilon} + \frac{\pi - \epsilon}{\tan \epsilon}, \quad
              \epsilon = \frac{\pi}{w},

    and rises from 0 to :math:`1/w^2` within a few units around :math:`w = x - \log x + 1`.

    V. M. Zolotarev. One-dimensional stable distributions. American Mathematical Society, 1986. John P. Nolan. Numerical
    calculation of stable densities and distribution functions. Stochastic Models, 1997.

    >>> round(survival(0.0), 12)
    0.713167119875
    """
    rise = max(1.0, x - math.log(max(x, 1.0)) + 1)
    low, high = max(1.0, rise - _BELOW), rise + _ABOVE
    places, weights = _gauss()
    half = (high - low) / 2
    w = low + half * (1 + places)
    full = -np.expm1(-np.exp(np.minimum(_exponent(w) - x, 50.0)))
    # Above the last node all of 1 / w^2 counts.
    return min(1.0, float(half * (weights @ (full / w / w)) + 1 / high))


def _exponent(w: F64) -> F64:
    """The h of the integral."""
    angle = np.pi / w
    rest = np.pi - angle
    return np.asarray(np.log(rest / np.sin(angle)) + rest / np.tan(angle))


@cache
def _gauss() -> tuple[F64, F64]:
    places, weights = np.polynomial.legendre.leggauss(_NODES)
    return places, weights


PValues = Sequence[float] | F64


def harmonic_mean(p_values: PValues) -> float:
    r"""Wilson's harmonic mean p-value, turned into a p-value by the Landau law.

    .. math:: P\left(X > \frac1{\mathring p} - \log L - (1 - \gamma)\right), \qquad
              \frac1{\mathring p} = \frac1L \sum_{i=1}^L \frac1{p_i},

    with X a standard Landau variable and :math:`\gamma` Euler's constant: exact for many independent tests, and little
    changed by positive dependence, because single small p-values decide and not their sum (at 5 %, 4 to 7 % of true
    nulls with up to 1,000 equally correlated tests). The harmonic mean alone is no p-value: it rejects too often, the
    more so the more tests there are.

    It needs small p-values to see anything. A thousand items with p about 0.2 do not add up here, as they do in
    `fisher`; and an exact p-value is never smaller than one over the number of labellings, which makes it cautious with
    many items of few texts: of 200 items with 3,003 labellings each, 0.6 % of true nulls are rejected at 5 %.

    Daniel J. Wilson. The harmonic mean p-value for combining dependent tests. PNAS, 2019.

    >>> round(harmonic_mean([0.01, 0.2, 0.5, 0.9]), 6)
    0.044186
    >>> harmonic_mean([0.03])
    0.03
    """
    p = _known(p_values)
    if len(p) <= 1:
        return float(p[0]) if len(p) else math.nan
    # A p-value of 0, or nearly, has no inverse.
    with np.errstate(divide="ignore", over="ignore"):
        inverse = float((1 / p).mean())
    return survival(inverse - math.log(len(p)) - (1 - np.euler_gamma)) if math.isfinite(inverse) else 0.0


def fisher(p_values: PValues) -> float:
    r"""Fisher's method: :math:`-2 \sum \log p_i` is chi-square with twice as many degrees of freedom as tests.

    It adds up many weak signs that the harmonic mean does not see. It needs independent tests: where items share texts
    or a judge's mood it rejects too often (13 to 38 % of true nulls at 5 %, where `harmonic_mean` has 4 to 7). p-values
    in steps make it cautious, the more so the coarser they are.

    R. A. Fisher. Statistical methods for research workers, 4th edition, section 21.1. Oliver and Boyd, 1932.

    >>> round(fisher([0.1, 0.1]), 6)
    0.056052
    """
    from scipy.special import gammaincc

    p = _known(p_values)
    if not len(p):
        return math.nan
    with np.errstate(divide="ignore"):
        return float(gammaincc(len(p), -np.log(p).sum()))


def simes(p_values: PValues) -> float:
    r"""Simes' p-value: the smallest :math:`L\, p_{(i)} / i` over the sorted p-values.

    Exact for independent tests and valid under the usual positive dependence; like the harmonic mean it looks for
    small p-values and does not add up middling ones.

    R. J. Simes. An improved Bonferroni procedure for multiple tests of significance. Biometrika, 1986.

    >>> simes([0.01, 0.04, 0.5])
    0.03
    """
    p = np.sort(_known(p_values))
    if not len(p):
        return math.nan
    return float(min(1.0, (p * len(p) / np.arange(1, len(p) + 1)).min()))


def raw_harmonic_mean(p_values: PValues) -> float:
    """The harmonic mean itself, as Chan et al. (2022) report it: no p-value, because it rejects too often.

    >>> round(raw_harmonic_mean([0.01, 0.2, 0.5, 0.9]), 6)
    0.036999
    """
    p = _known(p_values)
    if not len(p):
        return math.nan
    with np.errstate(divide="ignore"):
        return float(1 / (1 / p).mean())


def mean_p(p_values: PValues) -> float:
    """The mean p-value: about 0.5 where nothing is wrong, a little more with exact p-values of few texts."""
    p = _known(p_values)
    return float(p.mean()) if len(p) else math.nan


def mean_log_p(p_values: PValues) -> float:
    """The mean natural logarithm of the p-values: about -1 where nothing is wrong."""
    p = _known(p_values)
    with np.errstate(divide="ignore"):
        return float(np.log(p).mean()) if len(p) else math.nan


def _known(p_values: PValues) -> F64:
    p = np.asarray(p_values, dtype=np.float64)
    return p[~np.isnan(p)]


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
