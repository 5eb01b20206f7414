"""The work of a stress study: which draws it needs, and measuring those that are not in the records yet."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

from textassay.corpus.hashed_ngrams import Sequences
from textassay.engines.base import Engine
from textassay.inference.plan import Progress
from textassay.metrics.registry import Request
from textassay.studies.stress.contamination import follows_the_law
from textassay.studies.stress.damages import Damage
from textassay.studies.stress.draw_values import Measurer
from textassay.studies.stress.stock import Draw
from textassay.work_files import WorkFile

# Undamaged draws that are measured together, as one piece of work: a set of them. Metrics on vectors, which are slow,
# are measured on this many divisions of the texts of one draw, and the overall test once.
DRAWS_PER_SET = 5
_NONE = "none"
Key = tuple[str | int | float, ...]


@dataclass(frozen=True)
class Design:
    """What is measured: damages at strengths and sizes, runs of each, and undamaged draws."""

    damages: tuple[Damage, ...]
    sizes: tuple[int, ...]
    strengths: tuple[float, ...]
    n_runs: int
    n_draws: int

    @property
    def n_sets(self) -> int:
        """Sets of undamaged draws for critical values, and as many for false alarms."""
        return math.ceil(self.n_draws / DRAWS_PER_SET)

    def sets(self, size: int) -> list[Key]:
        """The keys of all sets of undamaged draws at a size."""
        return [(kind, size, index) for kind in ("null", "fresh") for index in range(self.n_sets)]

    def runs(self, size: int, damage: Damage) -> list[list[Key]]:
        """The keys of each run at a size: without damage first, then at each strength."""
        return [
            [("run", size, run, _NONE, 0.0), *(("run", size, run, damage.name, each) for each in self.strengths)]
            for run in range(self.n_runs)
        ]

    def jobs(self) -> Iterator["Job"]:
        """All pieces of work."""
        for size in self.sizes:
            unit = max(size // 100, 1)
            for key in self.sets(size):
                # First of all: without critical values there is no result.
                yield Job(key, 3 * unit, -1 + (int(key[2]) + 0.5) / self.n_sets)
            pairs = [(_NONE, 0.0), *((damage.name, each) for damage in self.damages for each in self.strengths)]
            for index in range(self.n_runs):
                for damage, strength in pairs:
                    yield Job(("run", size, index, damage, strength), 2 * unit, (index + 0.5) / self.n_runs)


@dataclass(frozen=True)
class Job:
    """A piece of work: its key, its share of the time as steps of progress, and its place in the order of work."""

    key: Key
    steps: int
    place: float


def is_by_law(request: Request, damage: Damage) -> bool:
    """Whether the power of a metric comes from one measurement: contamination by another corpus."""
    return damage.needs == "other" and follows_the_law(request)


@dataclass(frozen=True, eq=False)
class Workload:
    """A design, and what measures it."""

    design: Design
    measurer: Measurer
    records: WorkFile
    progress: Progress

    def run(self, engine: Engine) -> None:
        """Do what is not in the records yet: undamaged draws first, then runs of all sizes and damages evenly mixed."""
        if self.measurer.train is not None:
            self.measurer.train.view(Sequences)
        for size in self.design.sizes:
            if ("seconds", size) not in self.records:
                found = self.measurer.seconds(self.measurer.stock.draw("seconds", size, 0))
                self.records.add(("seconds", size), {"values": found})
        jobs = sorted(self.design.jobs(), key=lambda job: (job.place, repr(job.key)))
        self.progress.start("measuring damages", sum(job.steps for job in jobs))
        self.progress.step(sum(job.steps for job in jobs if job.key in self.records))
        engine.map(self._do, [job for job in jobs if job.key not in self.records])

    def _do(self, job: Job) -> None:
        kind, size, place, *damage = job.key
        draw = partial(self.measurer.stock.draw, str(kind), int(size))
        if kind == "run":
            found = self._damaged_run(draw(int(place)), str(damage[0]), float(damage[1]))
        else:
            begin = int(place) * DRAWS_PER_SET
            found = self.measurer.undamaged([draw(number) for number in range(begin, begin + DRAWS_PER_SET)])
        self.records.add(job.key, _without_nan(found))
        self.progress.step(job.steps)

    def _damaged_run(self, drawn: Draw, name: str, strength: float) -> dict[str, Any]:
        damage = next((each for each in self.design.damages if each.name == name), None)
        places = drawn.candidate if damage is None else self.measurer.stock.damaged(drawn, damage, strength)
        candidate, reference = self.measurer.materials(drawn, places)
        requests = [each for each in self.measurer.requests if damage is None or not is_by_law(each, damage)]
        return {
            "values": self.measurer.values(candidate, reference, requests),
            "p": self.measurer.overall_p(candidate, reference, *drawn.key, name, str(strength)),
        }


def _without_nan(record: Any) -> Any:
    """The record with None for every number that is not finite: JSON has no NaN."""
    if isinstance(record, dict):
        return {name: _without_nan(value) for name, value in record.items()}
    if isinstance(record, list):
        return [_without_nan(value) for value in record]
    return None if isinstance(record, float) and not math.isfinite(record) else record
