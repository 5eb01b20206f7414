"""The powers of a stress study, from its records: how often each test finds each damage.

Every metric is tested in the same way, also those that have no permutation test: its value is compared with its values
on M draws of two undamaged samples. The value is extreme as in the tests of `compare`: towards worse for a metric that
compares two samples, and in both directions where neither higher nor lower is better, or where it describes one sample.
With r undamaged values more extreme and t equal ones, p = (r + u (t + 1)) / (M + 1) with u drawn uniformly between 0
and 1. A further undamaged value is as likely to have any of the M + 1 ranks, so the level is exact, for counts with few
different values as well; without the random u their tests would reject too seldom.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np

from textassay.corpus.arrays import F64
from textassay.corpus.sample import stream
from textassay.inference.p_values import is_significant
from textassay.inference.plan import Plan
from textassay.inference.result import option_fields, sample_field, setting_fields, signature
from textassay.metrics.registry import Request
from textassay.metrics.views import Material
from textassay.studies.agreement.correlation import tau_b
from textassay.studies.stress.contamination import MOST_TEXTS, Shift, measure_shifts
from textassay.studies.stress.damages import Damage
from textassay.studies.stress.draw_values import EXCHANGES, OVERALL, Measurer
from textassay.studies.stress.result import Cell, StressColumn
from textassay.studies.stress.workload import Design, Key, is_by_law
from textassay.work_files import WorkFile

OVERALL_NAME = "overall test"


# Values that differ only by rounding are equal.
_RELATIVE_TIE = 1e-9


@dataclass(frozen=True, eq=False)
class CriticalValues:
    """The undamaged values of a metric, as statistics that are larger for worse values, sorted."""

    direction: int
    centre: float
    null: F64
    level: float

    @classmethod
    def of(cls, request: Request, undamaged: Sequence[float], level: float) -> Self:
        """From the values on undamaged draws; those that are undefined do not count."""
        values = np.array([value for value in undamaged if np.isfinite(value)], dtype=np.float64)
        one_sided = request.metric.compares and request.metric.better != "closer"
        direction = 0 if not one_sided else -1 if request.metric.better == "higher" else 1
        centre = float(values.mean()) if len(values) else np.nan
        found = cls(direction, centre, values, level)
        return cls(direction, centre, np.sort(found.statistics(values)), level)

    def statistics(self, values: F64) -> F64:
        """Larger for worse: the value towards worse, or its distance from the mean of undamaged values."""
        return np.asarray(self.direction * values if self.direction else np.abs(values - self.centre))

    def _statistic(self, value: float) -> float:
        return float(self.statistics(np.array([value]))[0])

    @property
    def critical(self) -> float:
        """The largest statistic that is not significant."""
        allowed = int((1 - self.level) * (len(self.null) + 1) + 1e-9)
        return float(self.null[-allowed]) if 0 < allowed <= len(self.null) else np.inf

    def is_found(self, value: float, u: float) -> bool:
        """Whether a value is significantly worse than undamaged ones; an undefined value is not."""
        return self._is_beyond(self._statistic(value), self.null, u)

    def is_praised(self, value: float, u: float) -> bool:
        """Whether a value is significantly better than undamaged ones, for metrics that are better in one direction."""
        return self.direction != 0 and self._is_beyond(-self._statistic(value), -self.null[::-1], u)

    def _is_beyond(self, statistic: float, null: F64, u: float) -> bool:
        if not np.isfinite(statistic) or not len(null):
            return False
        tie = _RELATIVE_TIE * max(abs(statistic), float(np.abs(null).max()))
        above = len(null) - int(np.searchsorted(null, statistic + tie, side="right"))
        equal = len(null) - above - int(np.searchsorted(null, statistic - tie, side="left"))
        return is_significant((above + u * (equal + 1)) / (len(null) + 1), self.level)


@dataclass(frozen=True, eq=False)
class Powers:
    """The finished records of a design."""

    design: Design
    measurer: Measurer
    records: WorkFile
    plan: Plan

    def overall(self) -> StressColumn:
        """The overall test: its own p-values, by exchanges."""
        sizes = self.design.sizes
        cells = [self._overall_cell(size, damage) for size in sizes for damage in self.design.damages]
        alarms = [float(np.mean([self._rejects(key) for key in self.design.sets(size)])) for size in sizes]
        options = {"exchanges": EXCHANGES}
        return StressColumn(
            name=OVERALL_NAME,
            metric=OVERALL,
            options=options,
            aspect="both",
            better="lower",
            false_alarms=tuple(alarms),
            n_false_alarms=2 * self.design.n_sets,
            seconds=self._seconds(OVERALL),
            deviations=(math.nan,) * len(sizes),
            cells=tuple(cells),
            signature=self._signature(OVERALL, options, self._all_settings),
            n_runs=self.design.n_runs,
            level=self.plan.level,
        )

    def _rejects(self, key: Key) -> bool:
        return is_significant(self.records[key]["p"], self.plan.level)

    def _overall_cell(self, size: int, damage: Damage) -> Cell:
        keys = self.design.runs(size, damage)
        p_values = np.array([[self.records[key]["p"] for key in row] for row in keys])
        found = np.array([[self._rejects(key) for key in row[1:]] for row in keys])
        return Cell(
            size,
            damage.name,
            tuple(found.mean(axis=0).tolist()),
            (0.0,) * len(self.design.strengths),
            tuple(map(_rounded, p_values.mean(axis=0).tolist())),
            self._tau(-p_values),
        )

    def metric(self, request: Request) -> StressColumn:
        """A metric: its values against those of undamaged draws."""
        sizes = self.design.sizes
        null = {size: self._undamaged("null", size, request) for size in sizes}
        tests = {size: CriticalValues.of(request, null[size], self.plan.level) for size in sizes}
        cells = [
            (self._law_cell if is_by_law(request, damage) else self._cell)(request, tests[size], size, damage)
            for size in sizes
            for damage in self.design.damages
        ]
        return StressColumn(
            name=request.label,
            metric=request.metric.name,
            options=dict(request.options),
            aspect=request.metric.aspect,
            better=request.metric.better,
            false_alarms=tuple(self._false_alarms(request, tests[size], size) for size in sizes),
            n_false_alarms=self.design.n_draws,
            seconds=self._seconds(request.label),
            deviations=tuple(_rounded(_spread(null[size])) for size in sizes),
            cells=tuple(cells),
            signature=self._signature(
                request.metric.name,
                option_fields(request),
                setting_fields(self.measurer.settings, request.metric.views),
            ),
            n_runs=self.design.n_runs,
            level=self.plan.level,
        )

    def _undamaged(self, kind: str, size: int, request: Request) -> list[float]:
        """The values of a metric on undamaged draws."""
        sets = (self.records[kind, size, index]["values"] for index in range(self.design.n_sets))
        values = [value for found in sets for value in found[request.label]]
        return [math.nan if value is None else value for value in values[: self.design.n_draws]]

    def _false_alarms(self, request: Request, test: CriticalValues, size: int) -> float:
        values = self._undamaged("fresh", size, request)
        points = self._ties(request, size).random(len(values)).tolist()
        return float(np.mean([test.is_found(value, u) for value, u in zip(values, points, strict=True)]))

    def _ties(self, request: Request, *key: str | int) -> np.random.Generator:
        """Where a value is placed among equal ones."""
        return stream(self.plan.seed, "stress", "ties", request.label, *key)

    def _cell(self, request: Request, test: CriticalValues, size: int, damage: Damage) -> Cell:
        values = np.array([[self._value(key, request) for key in row] for row in self.design.runs(size, damage)])
        points = self._ties(request, size, damage.name).random(values.shape)
        by_strength = [list(zip(*pair, strict=True)) for pair in zip(values.T[1:], points.T[1:], strict=True)]
        power, praise = (
            tuple(float(np.mean([asked(value, u) for value, u in pairs])) for pairs in by_strength)
            for asked in (test.is_found, test.is_praised)
        )
        means = tuple(_rounded(_mean(column)) for column in values.T)
        return Cell(size, damage.name, power, praise, means, self._tau(values * (test.direction or 1)))

    def _value(self, key: Key, request: Request) -> float:
        value = self.records[key]["values"][request.label]
        return math.nan if value is None else value

    def _tau(self, values: F64) -> float:
        """The mean over runs of tau-b between strength and value; NaN where no run has one."""
        strengths = [0.0, *self.design.strengths]
        return _rounded(_mean(np.array([tau_b(strengths, row) for row in values.tolist() if np.isfinite(row).all()])))

    def _law_cell(self, request: Request, test: CriticalValues, size: int, damage: Damage) -> Cell:
        """From one measurement: the shift of the mean, and the undamaged values moved by it."""
        shifts, strengths = self._shifts(request, damage), self.design.strengths
        fresh = np.array([value for value in self._undamaged("fresh", size, request) if math.isfinite(value)])
        means = [float(fresh.mean()), *(float(fresh.mean()) + shifts[size, each].mean for each in strengths)]
        power = tuple(_rounded(shifts[size, each].power(fresh, test.critical)) for each in strengths)
        tau = tau_b([0.0, *strengths], means)
        return Cell(size, damage.name, power, (0.0,) * len(power), tuple(map(_rounded, means)), tau, "law")

    def _shifts(self, request: Request, damage: Damage) -> dict[tuple[int, float], Shift]:
        real, other = self._sources[damage.name]
        return measure_shifts(request, real, other, strengths=self.design.strengths, sizes=self.design.sizes)

    @cached_property
    def _sources(self) -> dict[str, tuple[Material, Material]]:
        """For each damage by another corpus, the texts of both sources of the one measurement."""
        stock, found = self.measurer.stock, {}
        for damage in self.design.damages:
            if damage.needs == "other":
                rng = stream(self.plan.seed, "stress", "contamination", damage.name)
                mine = rng.permutation(stock.n_pool)[:MOST_TEXTS]
                theirs = stock.starts[damage.name] + rng.permutation(stock.banks[damage.name])[:MOST_TEXTS]
                real, other = (
                    Material(stock.sample(side, "source"), self.measurer.settings) for side in (mine, theirs)
                )
                found[damage.name] = (real, other)
        return found

    def _seconds(self, label: str) -> tuple[float, ...]:
        return tuple(_rounded(self.records["seconds", size]["values"][label]) for size in self.design.sizes)

    @property
    def _all_settings(self) -> dict[str, str]:
        settings = self.measurer.settings
        return {"tok": settings.tokenizer.signature, "enc": settings.required_encoder.name}

    def _signature(self, name: str, options: Mapping[str, Any], settings: Mapping[str, str]) -> str:
        design, stock = self.design, self.measurer.stock
        data = {"pool": sample_field(stock.sample(np.arange(stock.n_pool), "pool"))}
        resampling = {"runs": design.n_runs, "draws": design.n_draws, "level": self.plan.level, "seed": self.plan.seed}
        return signature(f"stress {name}", options, settings=settings, data=data, resampling=resampling)


def _mean(values: F64) -> float:
    """The mean of the values that are numbers; NaN without any."""
    known = values[np.isfinite(values)]
    return float(known.mean()) if len(known) else math.nan


def _spread(values: list[float]) -> float:
    known = [value for value in values if math.isfinite(value)]
    return float(np.std(known)) if known else math.nan


def _rounded(value: float) -> float:
    """Six digits: more are noise, and would make the file of a study twice as long."""
    return float(f"{value:.6g}")
