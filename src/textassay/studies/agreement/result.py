"""The outcome of an agreement study, and its JSON form."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

from textassay.inference.p_values import holm
from textassay.inference.result import Result, one_nan
from textassay.studies.codec import built, plain
from textassay.studies.outcome import (
    Outcome,
    ResultColumn,
    Settings,
    known,
    plain_settings,
    read_settings,
)
from textassay.version import __version__

# The coefficients, in the order of the results of a metric.
COEFFICIENTS = ("kendall", "spearman", "pearson")


@dataclass(frozen=True)
class MetricColumn(ResultColumn):
    """A metric: its coefficients with the gold standard, and its value for each system (NaN if it has none)."""

    name: str
    metric: str
    aspect: str
    better: str
    results: tuple[Result, ...]
    values: tuple[float, ...]
    goodness: tuple[float, ...]

    def __post_init__(self) -> None:
        # One NaN object for all, so that what is read back equals what was written.
        for name in ("values", "goodness"):
            object.__setattr__(self, name, tuple(map(one_nan, getattr(self, name))))


@dataclass(frozen=True)
class PlanePoint:
    """A system in the plane of quality and diversity, both higher for more; `by` are the systems that dominate it."""

    system: str
    sweep: str
    quality: float
    diversity: float
    by: tuple[str, ...]


@dataclass(frozen=True)
class Dominance:
    """Which systems dominate which: at least as much quality and diversity, and more of one.

    A sweep is the systems of one file. `shares[i][j]` is the share of the systems of sweep j that a system of sweep i
    dominates.
    """

    quality: str
    diversity: str
    points: tuple[PlanePoint, ...]
    sweeps: tuple[str, ...]
    shares: tuple[tuple[float, ...], ...]

    def check_fields(self) -> None:
        """Raise an error unless there is a share for every two sweeps."""
        if self.shares and {len(self.sweeps)} != {len(self.shares), *map(len, self.shares)}:
            raise ValueError("the shares of dominance are not one per two sweeps")


CSV_FIELDS = (
    "metric", "aspect", "better", "coefficient", "estimate", "low", "high", "p_value", "p_adjusted", "systems",
    "undefined",
)  # fmt: skip


@dataclass(frozen=True, repr=False)
class Agreement(Outcome):
    """How well each metric agrees with a gold standard, and the metrics with each other.

    `matrix` has Pearson's correlation of every two metrics over all systems, with higher as better for each.
    """

    kind: ClassVar[str] = "agreement"
    csv_fields: ClassVar[tuple[str, ...]] = CSV_FIELDS
    __hash__ = Outcome.__hash__

    metrics: tuple[MetricColumn, ...]
    gold: str
    gold_values: tuple[float, ...]
    is_order: bool
    systems: tuple[str, ...]
    matrix: tuple[tuple[float, ...], ...]
    dominance: Dominance | None
    level: float
    notes: tuple[str, ...]
    settings: Settings
    labels: tuple[str, ...] = COEFFICIENTS

    def __post_init__(self) -> None:
        object.__setattr__(self, "gold_values", tuple(map(one_nan, self.gold_values)))
        object.__setattr__(self, "matrix", tuple(tuple(map(one_nan, row)) for row in self.matrix))

    @property
    def columns(self) -> tuple[MetricColumn, ...]:
        """The metrics."""
        return self.metrics

    def check_fields(self) -> None:
        """Raise an error unless every metric has a value per system and a correlation with every other metric."""
        super().check_fields()
        values = {len(given) for metric in self.metrics for given in (metric.values, metric.goodness)}
        if values | {len(self.gold_values)} != {len(self.systems)}:
            raise ValueError(f"not one value per system for {len(self.systems)} systems")
        if {len(self.metrics)} != {len(self.matrix), *map(len, self.matrix)}:
            raise ValueError("the correlations are not one per two metrics")

    def adjusted_p_values(self, column: ResultColumn) -> Sequence[float]:
        """Kendall's p-value adjusted for all metrics (Holm); the other coefficients have none."""
        index = self.names.index(column.name)
        return [self.adjusted[index], *([math.nan] * (len(COEFFICIENTS) - 1))]

    @property
    def adjusted(self) -> list[float]:
        """Kendall's p-value of each metric, adjusted for all metrics (Holm)."""
        return holm([math.nan if p is None else p for p in (metric.results[0].p_value for metric in self.metrics)])

    def csv_rows(self) -> Iterator[dict[str, Any]]:
        """One row per metric and coefficient."""
        for metric in self.metrics:
            for result, adjusted in zip(metric.results, self.adjusted_p_values(metric), strict=True):
                yield {
                    "metric": metric.name,
                    "aspect": metric.aspect,
                    "better": metric.better,
                    "coefficient": result.metric,
                    "estimate": known(result.estimate),
                    "low": result.interval.low if result.interval else None,
                    "high": result.interval.high if result.interval else None,
                    "p_value": result.p_value,
                    "p_adjusted": known(adjusted),
                    "systems": result.n,
                    "undefined": result.undefined,
                }

    def to_dict(self) -> dict[str, Any]:
        """The documented JSON form; what only this program reads is under `details`."""
        values = zip(self.systems, plain(self.gold_values), strict=True)
        return {
            "textassay": __version__,
            "gold": {"name": self.gold, "is_order": self.is_order, "systems": dict(values)},
            "metrics": [_metric(metric) for metric in self.metrics],
            "details": {
                "systems": list(self.systems),
                "metrics": [_metric_details(metric) for metric in self.metrics],
                "matrix": plain(self.matrix),
                "dominance": _dominance(self.dominance) if self.dominance else None,
                "level": self.level,
                "notes": list(self.notes),
                "settings": plain_settings(self.settings),
            },
        }

    @classmethod
    def _from_dict(cls, plain: Mapping[str, Any]) -> Self:
        details, gold = plain["details"], plain["gold"]
        both = zip(plain["metrics"], details["metrics"], strict=True)
        return cls(
            metrics=tuple(_read_metric(metric, more) for metric, more in both),
            gold=gold["name"],
            gold_values=built(tuple[float, ...], [gold["systems"][system] for system in details["systems"]]),
            is_order=gold["is_order"],
            systems=tuple(details["systems"]),
            matrix=built(tuple[tuple[float, ...], ...], details["matrix"]),
            dominance=_read_dominance(details["dominance"]) if details["dominance"] else None,
            level=details["level"],
            notes=tuple(details["notes"]),
            settings=read_settings(details),
        )


def _metric(metric: MetricColumn) -> dict[str, Any]:
    return {"name": metric.name, "results": [result.to_dict() for result in metric.results]}


def _metric_details(metric: MetricColumn) -> dict[str, Any]:
    return {
        "metric": metric.metric,
        "aspect": metric.aspect,
        "better": metric.better,
        "n": metric.results[0].n,
        "values": plain(metric.values),
        "goodness": plain(metric.goodness),
    }


def _read_metric(plain: Mapping[str, Any], details: Mapping[str, Any]) -> MetricColumn:
    return MetricColumn(
        plain["name"],
        details["metric"],
        details["aspect"],
        details["better"],
        tuple(Result.from_dict(result, n=details["n"]) for result in plain["results"]),
        built(tuple[float, ...], details["values"]),
        built(tuple[float, ...], details["goodness"]),
    )


def _dominance(found: Dominance) -> dict[str, Any]:
    return {
        "quality": found.quality,
        "diversity": found.diversity,
        "points": [
            [point.system, point.sweep, point.quality, point.diversity, list(point.by)] for point in found.points
        ],
        "sweeps": list(found.sweeps),
        "shares": [list(row) for row in found.shares],
    }


def _read_dominance(plain: Mapping[str, Any]) -> Dominance:
    return Dominance(
        plain["quality"],
        plain["diversity"],
        tuple(PlanePoint(system, sweep, x, y, tuple(by)) for system, sweep, x, y, by in plain["points"]),
        tuple(plain["sweeps"]),
        tuple(tuple(row) for row in plain["shares"]),
    )
