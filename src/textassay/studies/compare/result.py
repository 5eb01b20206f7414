"""Comparison: everything a comparison found, frozen, and its JSON form."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from importlib import import_module
from typing import Any, ClassVar, Self

from textassay.inference.format_check import Finding as FormatFinding
from textassay.inference.overall.test import Overall
from textassay.inference.p_values import is_significant
from textassay.inference.result import Result, one_nan
from textassay.studies.codec import built, from_fields, plain, read_sized, sized
from textassay.studies.compare.differences import Phrase
from textassay.studies.compare.meaning import Meaning
from textassay.studies.compare.measuring.equal_lengths import EqualLengths
from textassay.studies.contests import Contest
from textassay.studies.finding import Finding, Verdict
from textassay.studies.gate.result import Gate
from textassay.studies.outcome import (
    Outcome,
    ResultColumn,
    Settings,
    data_frame,
    known,
    plain_row,
    plain_settings,
    read_settings,
)
from textassay.version import __version__


@dataclass(frozen=True)
class Cue:
    """A phrase that the classifier uses: texts of each sample that contain it, and its weight towards the candidate.

    The weight is that of a text that contains nothing else, relative to the spread of all scores.
    """

    text: str
    candidate_texts: int
    reference_texts: int
    weight: float


@dataclass(frozen=True)
class SureText:
    """A text that the classifier is sure about; the score is relative to the spread of all scores."""

    text: str
    score: float


@dataclass(frozen=True)
class Separation:
    """How the ridge classifier of `dd` separates a candidate from the reference.

    `candidate_cues` and `reference_cues` are the phrases that help most. `generated` and `real` are the texts of the
    candidate and of the reference that it classifies most clearly and correctly, `mistaken` the texts of the candidate
    that it takes for real most clearly. Each text is classified by all other texts.
    """

    candidate_cues: tuple[Cue, ...]
    reference_cues: tuple[Cue, ...]
    generated: tuple[SureText, ...]
    real: tuple[SureText, ...]
    mistaken: tuple[SureText, ...]

    def to_dict(self) -> dict[str, Any]:
        """As plain values for JSON."""
        return asdict(self)

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> Self:
        """Read back what `to_dict` wrote."""
        return cls(
            candidate_cues=tuple(Cue(**cue) for cue in plain["candidate_cues"]),
            reference_cues=tuple(Cue(**cue) for cue in plain["reference_cues"]),
            generated=tuple(SureText(**text) for text in plain["generated"]),
            real=tuple(SureText(**text) for text in plain["real"]),
            mistaken=tuple(SureText(**text) for text in plain["mistaken"]),
        )


@dataclass(frozen=True)
class Column(ResultColumn):
    """One sample's results, in the order of the requests, and what else was found about it.

    `overall` is the test that decides whether it differs from the reference. `overall_without_markup` is the same test
    on words without Markdown, where the samples differ in it. `adjusted` has, for each result, its
    p-value adjusted for all metrics of this sample, and never below the overall one. If the baseline was measured on
    fewer texts, `at_baseline_size` has results on as many texts as the baseline had, by the label of the metric: only
    these can be compared with it. `warnings` are reasons to doubt the tests. `separation` is what the classifier of
    `dd` uses, if it was measured. `equal_lengths` has what the verdict reads instead where the lengths of texts differ.
    `axes_without_markup` has the two metrics of the plane, by label, where a candidate differs from the reference in
    Markdown.
    """

    name: str
    n: int
    digest: str
    results: tuple[Result, ...]
    verdict: Verdict | None = None
    findings: tuple[FormatFinding, ...] = ()
    over: tuple[Phrase, ...] = ()
    under: tuple[Phrase, ...] = ()
    meaning: Meaning | None = None
    at_baseline_size: Mapping[str, Result] = field(default_factory=dict)
    overall: Overall | None = None
    overall_without_markup: Overall | None = None
    adjusted: tuple[float, ...] = ()
    warnings: tuple[str, ...] = ()
    separation: Separation | None = None
    equal_lengths: EqualLengths = field(default_factory=EqualLengths)
    axes_without_markup: Mapping[str, Result] = field(default_factory=dict)

    def differs(self, level: float) -> bool:
        """Whether the overall test found a difference."""
        return self.overall is not None and is_significant(self.overall.adjusted, level)

    def __post_init__(self) -> None:
        # One NaN object for all, so that what is read back equals what was written.
        object.__setattr__(self, "adjusted", tuple(map(one_nan, self.adjusted or (math.nan,) * len(self.results))))

    @property
    def markup_differs(self) -> bool:
        """Whether it differs from the reference in Markdown, whose signs metrics count as words."""
        return any(finding.is_markup for finding in self.findings)


CSV_FIELDS = (
    "candidate", "n", "metric", "label", "options", "estimate", "low", "high", "level", "method", "p_value",
    "p_adjusted", "better", "aspect", "undefined", "signature",
)  # fmt: skip

SUMMARY_FIELDS = (
    "rank", "candidate", "decision", "grade", "separable", "separable_low", "quality", "diversity", "repeats",
    "stands_out",
)  # fmt: skip
# The modules behind `best` and `summary` read this one.
_HOME = "textassay.studies.compare"


@dataclass(frozen=True, repr=False)
class Comparison(Outcome):
    """Candidates against a reference. `labels` names the rows.

    `real` is the baseline: metrics that describe a sample are measured on the whole reference, metrics that compare on
    one part of the reference against another part; each of its results carries its own `n`. `gate` is the decision, if
    there were rules for one. `cautions` are what may be wrong for all candidates: signs that the texts of the
    reference are not independent, and an encoder that cannot read these texts.
    """

    kind: ClassVar[str] = "compare"
    csv_fields: ClassVar[tuple[str, ...]] = CSV_FIELDS
    __hash__ = Outcome.__hash__

    reference: Column
    real: Column
    candidates: tuple[Column, ...]
    labels: tuple[str, ...]
    contests: tuple[Contest, ...]
    level: float
    notes: tuple[str, ...]
    n_resamples: int = 0
    settings: Settings = field(default_factory=dict)
    gate: Gate | None = None
    cautions: tuple[Finding, ...] = ()

    @property
    def columns(self) -> tuple[Column, ...]:
        """The candidates."""
        return self.candidates

    @property
    def best(self) -> str | None:
        """The name of the candidate that is closest to the reference; None where nothing ranks them."""
        rows = self._ranking().rows
        return rows[0].column.name if rows and rows[0].rank is not None else None

    @property
    def summary(self) -> Any:
        """The summary as a pandas data frame: one row per candidate, the closest first.

        Columns are the rank, the decision and the grade of the difference, the separable share with its lower bound,
        quality and diversity beside real text (in points where the metrics are shares), the share of repeated texts,
        and what stands out.
        """
        return data_frame(import_module(f"{_HOME}.summary").summary_rows(self, self._ranking()), SUMMARY_FIELDS)

    def _ranking(self) -> Any:
        return import_module(f"{_HOME}.ranking").ranking(self)

    @property
    def baseline(self) -> tuple[Result, ...]:
        """Real text against real text, as far as it was measured."""
        return self.real.results

    def adjusted_p_values(self, column: ResultColumn) -> tuple[float, ...]:
        """The p-values adjusted for all metrics of the candidate, never below its overall p-value."""
        return column.adjusted if isinstance(column, Column) else (math.nan,) * len(column.results)

    def check_fields(self) -> None:
        """Raise an error unless real text has a result for every metric."""
        super().check_fields()
        if len(self.real.results) != len(self.labels):
            raise ValueError("not one result of real text per metric")
        if self.n_resamples < 0:
            raise ValueError("a negative number of resamples")

    def csv_rows(self) -> Iterator[dict[str, Any]]:
        """One row per result, real v real first; after the rows of a candidate those at the size of real v real."""
        for column in (self.real, *self.candidates):
            for label, result, p in zip(self.labels, column.results, column.adjusted, strict=True):
                yield plain_row(result) | {"candidate": column.name, "label": label, "p_adjusted": known(p)}
            for label, result in column.at_baseline_size.items():
                # Only the whole sample is tested.
                own = {"candidate": column.name, "label": label, "p_adjusted": None}
                yield plain_row(replace(result, p_value=None)) | own

    def to_dict(self) -> dict[str, Any]:
        """The documented JSON form; what goes beyond it is under `details`."""
        gate = {} if self.gate is None else {"gate": self.gate.to_dict()}
        return {
            "textassay": __version__,
            "reference": identity(self.reference),
            "candidates": [
                identity(c) | {"overall": plain(c.overall)} | {"results": [r.to_dict() for r in c.results]}
                for c in self.candidates
            ],
            "details": {
                "labels": list(self.labels),
                "level": self.level,
                "resamples": self.n_resamples,
                "settings": plain_settings(self.settings),
                "notes": list(self.notes),
                "real": identity(self.real)
                | {"results": [sized(r) for r in self.real.results]}
                | {"axes_without_markup": plain(self.real.axes_without_markup)},
                "columns": [_remarks(column) for column in self.candidates],
                "cautions": plain(self.cautions),
                "contests": plain(self.contests),
            },
            **gate,
        }

    @classmethod
    def _from_dict(cls, plain: Mapping[str, Any]) -> Self:
        details = plain["details"]
        real = details["real"]
        return cls(
            reference=Column(**plain["reference"], results=()),
            real=Column(
                real["name"],
                real["n"],
                real["digest"],
                tuple(map(read_sized, real["results"])),
                axes_without_markup=built(_Results, real.get("axes_without_markup", {})),
            ),
            candidates=tuple(map(_column, plain["candidates"], details["columns"])),
            labels=tuple(details["labels"]),
            contests=built(tuple[Contest, ...], details["contests"]),
            level=details["level"],
            notes=tuple(details["notes"]),
            n_resamples=details.get("resamples", 0),
            settings=read_settings(details),
            gate=from_fields(Gate, plain["gate"]) if "gate" in plain else None,
            cautions=tuple(map(Finding.from_dict, details.get("cautions", ()))),
        )


_Results = Mapping[str, Result]


def identity(column: Column) -> dict[str, Any]:
    """The name, size and digest of a sample for JSON."""
    return {"name": column.name, "n": column.n, "digest": column.digest}


def _remarks(column: Column) -> dict[str, Any]:
    return {
        "verdict": column.verdict.to_dict() if column.verdict else None,
        "findings": plain(column.findings),
        "over": plain(column.over),
        "under": plain(column.under),
        "meaning": column.meaning.to_dict() if column.meaning else None,
        "at_real_size": plain(column.at_baseline_size),
        "adjusted": plain(column.adjusted),
        "warnings": list(column.warnings),
        "overall_without_markup": plain(column.overall_without_markup),
        "separation": column.separation.to_dict() if column.separation else None,
        "equal_lengths": {
            "results": {
                label: {"candidate": sized(mine), "real": sized(real)}
                for label, (mine, real) in column.equal_lengths.results.items()
            },
            "left_out": list(column.equal_lengths.left_out),
        },
        "axes_without_markup": plain(column.axes_without_markup),
    }


def _column(plain: Mapping[str, Any], remarks: Mapping[str, Any]) -> Column:
    return Column(
        plain["name"],
        plain["n"],
        plain["digest"],
        tuple(Result.from_dict(result, n=plain["n"]) for result in plain["results"]),
        Verdict.from_dict(remarks["verdict"]),
        built(tuple[FormatFinding, ...], remarks["findings"]),
        built(tuple[Phrase, ...], remarks["over"]),
        built(tuple[Phrase, ...], remarks["under"]),
        Meaning.from_dict(remarks["meaning"]) if remarks["meaning"] else None,
        built(_Results, remarks["at_real_size"]),
        read_overall(plain.get("overall")),
        read_overall(remarks.get("overall_without_markup")),
        built(tuple[float, ...], remarks.get("adjusted", ())),
        tuple(remarks.get("warnings", ())),
        Separation.from_dict(remarks["separation"]) if remarks.get("separation") else None,
        _equal_lengths(remarks["equal_lengths"]) if "equal_lengths" in remarks else EqualLengths(),
        built(_Results, remarks.get("axes_without_markup", {})),
    )


def _equal_lengths(plain: Mapping[str, Any]) -> EqualLengths:
    results = {
        label: (read_sized(pair["candidate"]), read_sized(pair["real"])) for label, pair in plain["results"].items()
    }
    return EqualLengths(results, tuple(plain["left_out"]))


def read_overall(plain: Mapping[str, Any] | None) -> Overall | None:
    """The overall test of a candidate, None if there was none; effect sizes of earlier versions are left out."""
    if plain is None:
        return None
    return from_fields(Overall, plain)
