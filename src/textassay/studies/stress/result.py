"""The outcome of a stress study, and its JSON form."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar, Literal, Self

from textassay.inference.intervals import wilson
from textassay.inference.result import Interval, Result, one_nan
from textassay.studies.codec import built, plain
from textassay.studies.outcome import (
    Outcome,
    ResultColumn,
    Settings,
    data_frame,
    known,
    plain_settings,
    read_settings,
)
from textassay.version import __version__

# From runs with damaged samples, or from one measurement (`contamination.py`).
Method = Literal["runs", "law"]
FRAME_COLUMNS = (
    "metric", "aspect", "size", "damage", "strength", "changed", "power", "praise", "value", "tau", "runs", "method",
    "false_alarms", "seconds",
)  # fmt: skip


@dataclass(frozen=True)
class DamageInfo:
    """A damage of the study: name, title for tables, what it does, and the share that it changes at strength 1."""

    name: str
    title: str
    what: str
    reach: float


@dataclass(frozen=True)
class Cell:
    """One metric on one damage at one size; a number per strength.

    `power` is the share of runs in which the damage was found, `praise` the share in which the damaged text scored
    significantly better than real text. `values` are means over runs, the first without damage. `tau` is Kendall's
    tau-b of strength and value, towards worse if the metric is better in one direction.
    """

    size: int
    damage: str
    power: tuple[float, ...]
    praise: tuple[float, ...]
    values: tuple[float, ...]
    tau: float
    method: Method = "runs"

    def __post_init__(self) -> None:
        # One NaN object for all, so that what is read back equals what was written.
        for name in ("power", "praise", "values"):
            object.__setattr__(self, name, tuple(map(one_nan, getattr(self, name))))
        object.__setattr__(self, "tau", one_nan(self.tau))


@dataclass(frozen=True)
class StressColumn(ResultColumn):
    """A metric, or the overall test: one cell per size and damage.

    Per size it has its false alarms, its time, and the standard deviation of its values on undamaged draws.
    """

    name: str
    metric: str
    options: Mapping[str, Any]
    aspect: str
    better: str
    false_alarms: tuple[float, ...]
    n_false_alarms: int
    seconds: tuple[float, ...]
    deviations: tuple[float, ...]
    cells: tuple[Cell, ...]
    signature: str
    n_runs: int = 0
    level: float = 0.95
    results: tuple[Result, ...] = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        for name in ("false_alarms", "seconds", "deviations"):
            object.__setattr__(self, name, tuple(map(one_nan, getattr(self, name))))
        object.__setattr__(self, "results", tuple(map(self._result, self.cells)))

    def cell(self, damage: str, size: int) -> Cell:
        """The cell of a damage at a size."""
        for cell in self.cells:
            if (cell.damage, cell.size) == (damage, size):
                return cell
        raise KeyError(f"no damage {damage!r} at {size:,} texts")

    def __getitem__(self, damage: str) -> Result:
        """The power at the largest strength and size as a result; `topics 500` is that at another size."""
        name, _, size = damage.partition(" ")
        found = [result for cell, result in zip(self.cells, self.results, strict=True) if cell.damage == name]
        found = [result for result in found if not size or str(result.n) == size]
        if not found:
            names = dict.fromkeys(cell.damage for cell in self.cells)
            raise KeyError(f"no damage {damage!r}; there are: {', '.join(names)}")
        return max(found, key=lambda result: result.n)

    def _result(self, cell: Cell) -> Result:
        power = cell.power[-1]
        known = cell.method == "runs" and not math.isnan(power)
        low, high = wilson(power, self.n_runs, self.level) if known else (math.nan, math.nan)
        return Result(
            metric=self.metric,
            options=self.options,
            estimate=power,
            better="higher",
            aspect=self.aspect,
            interval=Interval(low, high, self.level, "wilson") if known else None,
            p_value=None,
            parts={"tau": cell.tau},
            undefined="the metric is undefined for these texts" if math.isnan(power) else None,
            signature=f"{self.signature}|damage:{cell.damage}|n:{cell.size}",
            seconds=0.0,
            n=cell.size,
        )


@dataclass(frozen=True, repr=False)
class Stress(Outcome):
    """Which metric notices which damage to the texts of a reference. The columns are the metrics."""

    kind: ClassVar[str] = "stress"
    csv_fields: ClassVar[tuple[str, ...]] = FRAME_COLUMNS
    __hash__ = Outcome.__hash__

    metrics: tuple[StressColumn, ...]
    reference: tuple[str, int, str]
    damages: tuple[DamageInfo, ...]
    sizes: tuple[int, ...]
    strengths: tuple[float, ...]
    n_runs: int
    n_draws: int
    level: float
    notes: tuple[str, ...]
    settings: Settings

    @property
    def columns(self) -> tuple[StressColumn, ...]:
        """The metrics, and the overall test first."""
        return self.metrics

    @cached_property
    def labels(self) -> tuple[str, ...]:  # type: ignore[override]
        """The damages with their sizes, in the order of the cells."""
        return tuple(f"{cell.damage} {cell.size}" for cell in self.metrics[0].cells)

    def check_fields(self) -> None:
        """Raise an error unless every metric has a cell per size and damage, with a number per strength."""
        super().check_fields()
        if self.n_runs < 2 or self.n_draws < 1:
            raise ValueError(f"{self.n_runs} runs and {self.n_draws} draws")
        per_size, per_strength = {len(self.sizes)}, {len(self.strengths)}
        expected = {(damage.name, size) for damage in self.damages for size in self.sizes}
        for metric in self.metrics:
            given = {len(metric.false_alarms), len(metric.seconds), len(metric.deviations)}
            powers = {len(values) for cell in metric.cells for values in (cell.power, cell.praise, cell.values[1:])}
            cells = {(cell.damage, cell.size) for cell in metric.cells}
            if given != per_size or powers != per_strength or cells != expected or len(metric.cells) != len(cells):
                raise ValueError(f"the cells of {metric.name!r} are not one per size and damage")

    def __repr__(self) -> str:
        damages = ", ".join(damage.name for damage in self.damages)
        return f"Stress({self.reference[0]}: {len(self.metrics)} tests of {damages})"

    def to_frame(self) -> Any:
        """A pandas data frame with one row per metric, size, damage and strength."""
        return data_frame(self.csv_rows(), FRAME_COLUMNS)

    def csv_rows(self) -> Iterator[dict[str, Any]]:
        """One row per metric, size, damage and strength, with None for what is not a number."""
        reach = {damage.name: damage.reach for damage in self.damages}
        for metric in self.metrics:
            per_size = dict(zip(self.sizes, zip(metric.false_alarms, metric.seconds, strict=True), strict=True))
            for cell in metric.cells:
                alarms, seconds = map(known, per_size[cell.size])
                for index, strength in enumerate(self.strengths):
                    yield {
                        "metric": metric.name,
                        "aspect": metric.aspect,
                        "size": cell.size,
                        "damage": cell.damage,
                        "strength": strength,
                        "changed": reach[cell.damage] * strength,
                        "power": known(cell.power[index]),
                        "praise": known(cell.praise[index]),
                        "value": known(cell.values[index + 1]),
                        "tau": known(cell.tau),
                        "runs": self.n_runs if cell.method == "runs" else None,
                        "method": cell.method,
                        "false_alarms": alarms,
                        "seconds": seconds,
                    }

    def to_dict(self) -> dict[str, Any]:
        """The documented JSON form; what only this program reads is under `details`."""
        name, n, digest = self.reference
        return {
            "textassay": __version__,
            "reference": {"name": name, "n": n, "digest": digest},
            "sizes": list(self.sizes),
            "strengths": list(self.strengths),
            "damages": plain(self.damages),
            "metrics": [_plain_column(metric) for metric in self.metrics],
            "details": {
                "runs": self.n_runs,
                "draws": self.n_draws,
                "level": self.level,
                "notes": list(self.notes),
                "settings": plain_settings(self.settings),
            },
        }

    @classmethod
    def _from_dict(cls, plain: Mapping[str, Any]) -> Self:
        details, reference = plain["details"], plain["reference"]
        common = {"n_runs": details["runs"], "level": details["level"]}
        return cls(
            metrics=tuple(_read_column(metric, len(plain["sizes"]), common) for metric in plain["metrics"]),
            reference=(reference["name"], reference["n"], reference["digest"]),
            damages=built(tuple[DamageInfo, ...], plain["damages"]),
            sizes=tuple(plain["sizes"]),
            strengths=tuple(plain["strengths"]),
            n_runs=details["runs"],
            n_draws=details["draws"],
            level=details["level"],
            notes=tuple(details["notes"]),
            settings=read_settings(details),
        )


_Numbers = tuple[float, ...]
_COLUMN_FIELDS = ("name", "metric", "aspect", "better", "n_false_alarms", "signature")


def _plain_column(column: StressColumn) -> dict[str, Any]:
    return {
        **{name: getattr(column, name) for name in _COLUMN_FIELDS},
        "options": dict(column.options),
        "false_alarms": plain(column.false_alarms),
        "seconds": plain(column.seconds),
        "deviations": plain(column.deviations),
        "cells": [
            {
                "size": cell.size,
                "damage": cell.damage,
                "method": cell.method,
                "power": plain(cell.power),
                "praise": plain(cell.praise),
                "values": plain(cell.values),
                "tau": known(cell.tau),
            }
            for cell in column.cells
        ],
    }


def _read_column(plain: Mapping[str, Any], n_sizes: int, common: Mapping[str, Any]) -> StressColumn:
    seconds = plain["seconds"] or [None] * n_sizes
    return StressColumn(
        **{name: plain[name] for name in _COLUMN_FIELDS},
        options=plain["options"],
        false_alarms=built(_Numbers, plain["false_alarms"]),
        seconds=built(_Numbers, seconds),
        deviations=built(_Numbers, plain["deviations"]),
        cells=built(tuple[Cell, ...], plain["cells"]),
        **common,
    )
