"""Comparison: everything a comparison found, frozen, and its JSON form."""

import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from importlib import import_module
from typing import Any, Self

from textassay.errors import InputError
from textassay.inference.overall import MemberResult, Overall
from textassay.inference.p_values import is_significant
from textassay.inference.result import Result, one_nan
from textassay.metrics.registry import Request, all_metrics
from textassay.studies.compare.meaning import Meaning
from textassay.studies.outcome import with_nan, without_nan
from textassay.version import __version__


@dataclass(frozen=True)
class Finding:
    """A difference in format between a candidate and the reference, found before any metric is read.

    It is `harmless` when the tokenizer evens it out, so that no metric on tokens sees it.
    """

    kind: str
    message: str
    candidate_share: float
    reference_share: float
    fix: str
    harmless: bool = False


@dataclass(frozen=True)
class Phrase:
    """An n-gram that a candidate writes too often or too rarely: counts, z-score of the log-odds and example texts."""

    text: str
    n: int
    candidate_count: int
    reference_count: int
    z: float
    examples: tuple[str, ...]


@dataclass(frozen=True)
class Verdict:
    """A judgment in plain words: `reasons` are sentences, the most important first.

    `level` is same (tested, no difference found), differs, collapsed, copied (many texts are taken from the reference),
    or untested (nothing was tested, or there are too few texts to find any but very large differences).
    """

    level: str
    reasons: tuple[str, ...]

    @property
    def sentence(self) -> str:
        """The reasons as one line."""
        return "; ".join(self.reasons)


@dataclass(frozen=True)
class Column:
    """One sample's results, in the order of the requests, and what else was found about it.

    `overall` is the test that decides whether it differs from the reference. `adjusted` has, for each result, its
    p-value adjusted for all metrics of this sample, and never below the overall one. Where the yardstick could only be
    measured on fewer texts, `at_real_size` has the results of comparing metrics again on as many texts, by the label
    of the metric: only those compare with the yardstick. `warnings` are reasons to doubt the tests.
    """

    name: str
    n: int
    digest: str
    results: tuple[Result, ...]
    verdict: Verdict | None = None
    findings: tuple[Finding, ...] = ()
    over: tuple[Phrase, ...] = ()
    under: tuple[Phrase, ...] = ()
    meaning: Meaning | None = None
    at_real_size: Mapping[str, Result] = field(default_factory=dict)
    overall: Overall | None = None
    adjusted: tuple[float, ...] = ()
    warnings: tuple[str, ...] = ()

    def __getitem__(self, metric: str) -> Result:
        """The result of a metric, by its name or, where it was measured with several options, by its label."""
        by_label = [result for result in self.results if label_of(result) == metric]
        found = by_label or [result for result in self.results if result.metric == metric]
        if len(found) != 1:
            names = ", ".join(label_of(result) for result in self.results)
            raise KeyError(f"{metric!r} names {len(found)} results; there are: {names}")
        return found[0]

    def differs(self, level: float) -> bool:
        """Whether the overall test found a difference."""
        return self.overall is not None and is_significant(self.overall.adjusted, level)

    def __post_init__(self) -> None:
        # One NaN object for all, so that what is read back equals what was written.
        object.__setattr__(self, "adjusted", tuple(map(one_nan, self.adjusted or (math.nan,) * len(self.results))))

    def beside_real(self, label: str, result: Result) -> Result:
        """The result to set beside the yardstick: of the same size wherever there is one."""
        return self.at_real_size.get(label, result)


def label_of(result: Result) -> str:
    """The label of a result as tables print it: metric, order of n-grams, and options other than the default."""
    metric = all_metrics().get(result.metric)
    return result.metric if metric is None else Request(metric, result.options).label


@dataclass(frozen=True)
class Contest:
    """Two candidates compared on one metric against the same reference: `estimate` is first minus second.

    `adjusted` is the p-value corrected for all such comparisons (Holm).
    """

    first: str
    second: str
    label: str
    estimate: float
    low: float
    high: float
    p_value: float
    adjusted: float = math.nan

    def __post_init__(self) -> None:
        for name in ("estimate", "low", "high", "p_value", "adjusted"):
            object.__setattr__(self, name, one_nan(getattr(self, name)))


@dataclass(frozen=True)
class Comparison:
    """Candidates against a reference. `labels` names the rows.

    `real` is the yardstick: metrics that describe a sample are measured on the whole reference, metrics that compare on
    one part of the reference against another part; each of its results carries its own `n`.
    """

    reference: Column
    real: Column
    candidates: tuple[Column, ...]
    labels: tuple[str, ...]
    contests: tuple[Contest, ...]
    level: float
    notes: tuple[str, ...]
    n_resamples: int = 0

    @property
    def floor(self) -> float:
        """The smallest p-value that the tests of the metrics could give."""
        return 1 / (self.n_resamples + 1) if self.n_resamples else 0.0

    def __getitem__(self, name: str) -> Column:
        """A candidate by name, as in `found["a"]["mauve"].estimate`."""
        for column in self.candidates:
            if column.name == name:
                return column
        raise KeyError(f"no candidate {name!r}; there are: {', '.join(column.name for column in self.candidates)}")

    def to_dict(self) -> dict[str, Any]:
        """The documented JSON form; what goes beyond it is under `details`."""
        return {
            "textassay": __version__,
            "reference": _identity(self.reference),
            "candidates": [
                _identity(c)
                | {"overall": without_nan(asdict(c.overall)) if c.overall else None}
                | {"results": [r.to_dict() for r in c.results]}
                for c in self.candidates
            ],
            "details": {
                "labels": list(self.labels),
                "level": self.level,
                "resamples": self.n_resamples,
                "notes": list(self.notes),
                "real": _identity(self.real) | {"results": [_sized(r) for r in self.real.results]},
                "columns": [_remarks(column) for column in self.candidates],
                "contests": [without_nan(asdict(contest)) for contest in self.contests],
            },
        }

    def to_json(self, *, indent: int | None = 2) -> str:
        """JSON text; never NaN or Infinity, which are not JSON."""
        return json.dumps(self.to_dict(), indent=indent, ensure_ascii=False, allow_nan=False)

    def to_html(self) -> str:
        """The report as one self-contained HTML page."""
        return str(_report("compare.html").render_html(self))

    def to_pandas(self) -> Any:
        """A data frame with one row a result, the yardstick first."""
        try:
            pandas = import_module("pandas")
        except ImportError:
            raise InputError("pandas is not installed; get it with: pip install pandas") from None
        csv = _report("compare.text_forms")
        return pandas.DataFrame(csv.csv_rows(self), columns=list(csv.CSV_FIELDS))

    def _repr_html_(self) -> str:
        return str(_report("compare.text_forms").notebook_html(self))

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Read back what `to_json` wrote; equal to what was written."""
        plain = json.loads(text)
        details = plain["details"]
        real = details["real"]
        return cls(
            reference=Column(**plain["reference"], results=()),
            real=Column(
                real["name"],
                real["n"],
                real["digest"],
                tuple(map(_from_sized, real["results"])),
            ),
            candidates=tuple(map(_column, plain["candidates"], details["columns"])),
            labels=tuple(details["labels"]),
            contests=tuple(Contest(**with_nan(contest)) for contest in details["contests"]),
            level=details["level"],
            notes=tuple(details["notes"]),
            n_resamples=details.get("resamples", 0),
        )


def _report(name: str) -> Any:
    """A way out of the house, opened on demand: reports know comparisons, comparisons only know where to knock."""
    return import_module(f"textassay.report.{name}")


def _identity(column: Column) -> dict[str, Any]:
    return {"name": column.name, "n": column.n, "digest": column.digest}


def _remarks(column: Column) -> dict[str, Any]:
    return {
        "verdict": asdict(column.verdict) if column.verdict else None,
        "findings": [asdict(finding) for finding in column.findings],
        "over": [asdict(phrase) for phrase in column.over],
        "under": [asdict(phrase) for phrase in column.under],
        "meaning": column.meaning.to_dict() if column.meaning else None,
        "at_real_size": {label: _sized(result) for label, result in column.at_real_size.items()},
        "adjusted": [None if math.isnan(p) else p for p in column.adjusted],
        "warnings": list(column.warnings),
    }


def _column(plain: Mapping[str, Any], remarks: Mapping[str, Any]) -> Column:
    verdict = remarks["verdict"]
    return Column(
        plain["name"],
        plain["n"],
        plain["digest"],
        tuple(Result.from_dict(result, n=plain["n"]) for result in plain["results"]),
        Verdict(verdict["level"], tuple(verdict["reasons"])) if verdict else None,
        tuple(Finding(**finding) for finding in remarks["findings"]),
        _phrases(remarks["over"]),
        _phrases(remarks["under"]),
        Meaning.from_dict(remarks["meaning"]) if remarks["meaning"] else None,
        {label: _from_sized(result) for label, result in remarks["at_real_size"].items()},
        _overall(plain.get("overall")),
        tuple(math.nan if p is None else p for p in remarks.get("adjusted", ())),
        tuple(remarks.get("warnings", ())),
    )


def _overall(plain: Mapping[str, Any] | None) -> Overall | None:
    if plain is None:
        return None
    members = tuple(MemberResult(**member) for member in plain["members"])
    sizes = {name: tuple(plain[name]) for name in ("n", "n_groups")}
    return Overall(**dict(plain) | sizes | {"members": members})


def _sized(result: Result) -> dict[str, Any]:
    return result.to_dict() | {"n": result.n}


def _from_sized(plain: Mapping[str, Any]) -> Result:
    return Result.from_dict({name: value for name, value in plain.items() if name != "n"}, n=plain["n"])


def _phrases(plain: list[dict[str, Any]]) -> tuple[Phrase, ...]:
    return tuple(Phrase(**phrase | {"examples": tuple(phrase["examples"])}) for phrase in plain)
