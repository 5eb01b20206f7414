"""The outcome of a frontier study, and its JSON form."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self

from textassay.inference.result import Result
from textassay.studies.codec import from_fields, to_fields
from textassay.studies.finding import Verdict
from textassay.studies.frontier.compatibility import Conditions, Fit
from textassay.studies.outcome import Outcome, ResultColumn, Settings, known, plain_settings, read_settings
from textassay.version import __version__

# How a discrepancy was found.
EXACT, OPTIMISED, ESTIMATED = "exact", "optimised", "estimated"


@dataclass(frozen=True)
class Curve:
    """A curve in the plane of quality and diversity; each point has its parameter, its quality and its diversity.

    The parameter is w on an exact frontier and the share of noise on a curve of mixtures.
    """

    name: str
    parameter: str
    points: tuple[tuple[float, float, float], ...]


@dataclass(frozen=True)
class Analysis:
    """One pair on one source.

    `result` is QDisc, with DRate and what else is known among its parts. `steps` has the gain in quality after each
    step of the best optimisation. `conditions` and `fit` are known for pairs of the general form only, and
    `divergences`, from the real distribution to each point of the curve, for compatible ones.
    """

    pair: str
    method: str
    quality: float
    diversity: float
    result: Result
    verdict: Verdict
    curves: tuple[Curve, ...] = ()
    steps: tuple[tuple[int, float], ...] = ()
    divergences: tuple[float, ...] = ()
    conditions: Conditions | None = None
    fit: Fit | None = None

    def check_fields(self) -> None:
        """Raise an error unless there is a divergence for every point, or none, and a place for what is drawn."""
        for curve in self.curves:
            if self.divergences and len(self.divergences) != len(curve.points):
                raise ValueError(f"the divergences are not one per point of {curve.name!r}")
        if self.curves and not (math.isfinite(self.quality) and math.isfinite(self.diversity)):
            raise ValueError(f"no quality or diversity of {self.pair!r}")


@dataclass(frozen=True)
class SourceColumn(ResultColumn):
    """A distribution or a sample of texts, with one analysis per pair.

    `n` is the number of outcomes or texts, and `log_probs` are the largest log-probabilities, descending.
    """

    name: str
    kind: str
    n: int
    digest: str
    analyses: tuple[Analysis, ...]
    log_probs: tuple[float, ...] = ()

    @property
    def results(self) -> tuple[Result, ...]:  # type: ignore[override]
        """QDisc of each pair."""
        return tuple(analysis.result for analysis in self.analyses)

    def analysis(self, pair: str) -> Analysis:
        """The analysis of a pair by name."""
        for analysis in self.analyses:
            if analysis.pair == pair:
                return analysis
        raise KeyError(f"no pair {pair!r}; there are: {', '.join(each.pair for each in self.analyses)}")

    def __getitem__(self, pair: str) -> Result:
        """QDisc of a pair by name: `found["toy:20"]["ll/nrr"].estimate`."""
        return self.analysis(pair).result


CSV_FIELDS = (
    "source", "pair", "method", "curve", "parameter", "value", "quality", "diversity", "divergence", "qdisc", "drate",
    "verdict",
)  # fmt: skip


@dataclass(frozen=True, repr=False)
class Frontier(Outcome):
    """Sources with the analyses of pairs. `labels` are the names of the pairs."""

    kind: ClassVar[str] = "frontier"
    csv_fields: ClassVar[tuple[str, ...]] = CSV_FIELDS
    __hash__ = Outcome.__hash__

    sources: tuple[SourceColumn, ...]
    labels: tuple[str, ...]
    notes: tuple[str, ...]
    settings: Settings
    level: float = 0.95

    @property
    def columns(self) -> tuple[SourceColumn, ...]:
        """The sources."""
        return self.sources

    def csv_rows(self) -> Iterator[dict[str, Any]]:
        """One row per point of a curve, and one for each real distribution (its curve is `real`)."""
        for source in self.sources:
            for analysis in source.analyses:
                same = {"source": source.name, "pair": analysis.pair, "method": analysis.method}
                yield from _csv_rows(analysis, same)

    def to_dict(self) -> dict[str, Any]:
        """The documented JSON form; what only this program reads is under `details`."""
        return {
            "textassay": __version__,
            "sources": [_source(source) for source in self.sources],
            "details": {
                "labels": list(self.labels),
                "level": self.level,
                "notes": list(self.notes),
                "settings": plain_settings(self.settings),
                "sources": [_source_details(source) for source in self.sources],
            },
        }

    @classmethod
    def _from_dict(cls, plain: Mapping[str, Any]) -> Self:
        details = plain["details"]
        both = zip(plain["sources"], details["sources"], strict=True)
        sources = tuple(_read_source(source, more) for source, more in both)
        labels, notes = tuple(details["labels"]), tuple(details["notes"])
        return cls(sources, labels, notes, read_settings(details), details["level"])


def _csv_rows(analysis: Analysis, same: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    yield dict(same) | {
        "curve": "real",
        "quality": known(analysis.quality),
        "diversity": known(analysis.diversity),
        "qdisc": known(analysis.result.estimate),
        "drate": analysis.result.parts.get("drate"),
        "verdict": analysis.verdict.decision,
    }
    for curve in analysis.curves:
        divergences = analysis.divergences or (None,) * len(curve.points)
        for (value, quality, diversity), divergence in zip(curve.points, divergences, strict=True):
            own = {"curve": curve.name, "parameter": curve.parameter, "value": value}
            yield dict(same) | own | {"quality": quality, "diversity": diversity, "divergence": divergence}


def _source(source: SourceColumn) -> dict[str, Any]:
    facts = {"name": source.name, "kind": source.kind, "n": source.n, "digest": source.digest}
    return facts | {"results": [result.to_dict() for result in source.results]}


def _source_details(source: SourceColumn) -> dict[str, Any]:
    return {"log_probs": list(source.log_probs), "analyses": [_analysis(each) for each in source.analyses]}


def _analysis(analysis: Analysis) -> dict[str, Any]:
    plain = to_fields(analysis)
    del plain["result"]
    return plain


def _read_source(plain: Mapping[str, Any], details: Mapping[str, Any]) -> SourceColumn:
    analyses = tuple(
        from_fields(Analysis, {**each, "result": {**result, "n": plain["n"]}})
        for each, result in zip(details["analyses"], plain["results"], strict=True)
    )
    facts = (plain["name"], plain["kind"], plain["n"], plain["digest"])
    return SourceColumn(*facts, analyses, tuple(details["log_probs"]))
