"""Scores of systems from the JSON files, or the outcomes, of other studies."""

import math
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from textassay.corpus.files.reading import name_of, unused_name
from textassay.corpus.printable import quoted, shortened
from textassay.corpus.values import read_json
from textassay.errors import InputError
from textassay.inference.result import Result
from textassay.studies.compare.result import Comparison
from textassay.studies.conditional.result import Conditional
from textassay.studies.huse.result import HuseResult
from textassay.studies.outcome import Outcome, ResultColumn
from textassay.studies.planes import falls
from textassay.studies.saved import outcome_of
from textassay.studies.sweep.result import Sweep
from textassay.version import __version__

_STUDIES = (Comparison, Conditional, Sweep, HuseResult)
_WANTED = "wanted the JSON file of textassay compare, conditional, sweep or huse"


@dataclass(frozen=True)
class MetricScores:
    """One metric: its value for each system (NaN if it has none), and the same with higher as better.

    `goodness` of a metric that should be close to real text is minus the distance from the value of real text. `falls`
    is whether the value decreases as quality or diversity increases.
    """

    label: str
    result: Result
    values: tuple[float, ...]
    goodness: tuple[float, ...]
    falls: bool


@dataclass(frozen=True)
class Scores:
    """The systems, the file of each, and every metric."""

    systems: tuple[str, ...]
    files: tuple[str, ...]
    metrics: tuple[MetricScores, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True)
class _Cell:
    value: float
    goodness: float
    result: Result


@dataclass(frozen=True, eq=False)
class _Read:
    """One file: its name, version, what it was measured against (its kind and digest), and the cells of each system."""

    name: str
    version: str
    reference: tuple[str, str]
    cells: Mapping[str, Mapping[str, _Cell]]


def read_scores(results: Any) -> Scores:
    """The scores of all results together; a system may be in several files with different metrics.

    Files with different references are refused. Systems of one name whose values differ between files get the name of
    their file.
    """
    given = list(results) if isinstance(results, Sequence) and not isinstance(results, str) else [results]
    if not given:
        raise InputError(f"no results given; {_WANTED}")
    read: list[_Read] = []
    for source in given:
        read.append(_read(source, [each.name for each in read]))
    _check_references(read)
    return _joined(read)


def _read(source: Any, known: Iterable[str]) -> _Read:
    if isinstance(source, Outcome):
        return _cells(source, unused_name(source.kind, list(known)), str(source.settings.get("version", __version__)))
    path = os.fsdecode(source) if isinstance(source, str | os.PathLike) else None
    if path is None:
        raise InputError(f"results: {type(source).__name__}; wanted paths or outcomes")
    plain = read_json(path)
    outcome = outcome_of(plain, shortened(path))
    if not isinstance(outcome, _STUDIES):
        raise InputError(f"{shortened(path)}: results of {outcome.kind}; {_WANTED}")
    return _cells(outcome, unused_name(name_of(path), list(known)), str(plain["textassay"]))


def _cells(outcome: Outcome, name: str, version: str) -> _Read:
    baseline = dict(zip(outcome.labels, outcome.baseline, strict=True)) if outcome.baseline else {}
    cells = {column.name: _column(outcome, column, baseline) for column in outcome.columns}
    return _Read(name, version, _reference_of(outcome), cells)


def _reference_of(outcome: Outcome) -> tuple[str, str]:
    if isinstance(outcome, Comparison | Sweep):
        return "reference", outcome.reference.digest
    return ("items", outcome.items.digest) if isinstance(outcome, Conditional) else ("", "")


def _column(outcome: Outcome, column: ResultColumn, baseline: Mapping[str, Result]) -> dict[str, _Cell]:
    # Values that depend on the sample size are compared with real text at its size.
    again: Mapping[str, Result] = getattr(column, "at_baseline_size", {})
    return {
        label: _Cell(result.estimate, _goodness(again.get(label, result), baseline.get(label)), result)
        for label, result in zip(outcome.labels, column.results, strict=True)
    }


def _goodness(result: Result, real: Result | None) -> float:
    if result.better == "closer":
        return math.nan if real is None else -abs(result.estimate - real.estimate)
    return -result.estimate if result.better == "lower" else result.estimate


def _check_references(read: Sequence[_Read]) -> None:
    """All files must measure against the same texts; studies of ratings have no reference."""
    first: dict[str, _Read] = {}
    for each in read:
        kind, _ = each.reference
        other = first.setdefault(kind, each)
        if other.reference != each.reference:
            names = quoted([other.name, each.name])
            raise InputError(f"results of different references ({names}); wanted files that share their {kind}")


def _joined(read: Sequence[_Read]) -> Scores:
    notes = []
    versions = dict.fromkeys(each.version for each in read)
    if len(versions) > 1:
        notes.append(f"results of different versions: {', '.join(shortened(v, 20) for v in versions)}")
    clashes = _clashes(read)
    if clashes:
        notes.append(f"systems in several files with different values are named after their file: {quoted(clashes)}")
    cells: dict[str, dict[str, _Cell]] = {}
    files: dict[str, str] = {}
    for each in read:
        for name, own in each.cells.items():
            system = f"{each.name}: {name}" if name in clashes else name
            cells.setdefault(system, {}).update(own)
            files.setdefault(system, each.name)
    labels = dict.fromkeys(label for own in cells.values() for label in own)
    metrics = tuple(_metric(label, cells) for label in labels)
    return Scores(tuple(cells), tuple(files[system] for system in cells), metrics, tuple(notes))


def _clashes(read: Sequence[_Read]) -> list[str]:
    """Systems with two different values of one metric."""
    seen: dict[tuple[str, str], float] = {}
    found: dict[str, None] = {}
    for each in read:
        for name, own in each.cells.items():
            for label, cell in own.items():
                known = seen.setdefault((name, label), cell.value)
                if known != cell.value and not (math.isnan(known) and math.isnan(cell.value)):
                    found[name] = None
    return list(found)


def _metric(label: str, cells: Mapping[str, Mapping[str, _Cell]]) -> MetricScores:
    own = [by_label.get(label) for by_label in cells.values()]
    result = next(cell.result for cell in own if cell is not None)
    return MetricScores(
        label,
        result,
        tuple(math.nan if cell is None else cell.value for cell in own),
        tuple(math.nan if cell is None else cell.goodness for cell in own),
        falls(result),
    )
