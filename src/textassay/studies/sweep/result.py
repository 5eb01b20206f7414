"""The outcome of a sweep, and its JSON form."""

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, ClassVar, Self

from textassay.corpus.sample import Sample
from textassay.inference.overall.test import Overall
from textassay.inference.p_values import is_significant
from textassay.inference.result import Result
from textassay.models.base import Decoding
from textassay.studies.codec import built, plain, read_sized, sized
from textassay.studies.compare.result import Column, identity, read_overall
from textassay.studies.finding import Verdict
from textassay.studies.outcome import (
    Outcome,
    ResultColumn,
    Settings,
    known,
    plain_row,
    plain_settings,
    read_settings,
)
from textassay.studies.sweep.best import Best
from textassay.version import __version__


@dataclass(frozen=True)
class SettingColumn(ResultColumn):
    """A setting with its results: the model (empty if there is one only), how it was decoded, and its texts by digest.

    `overall` is the test that decides whether its texts differ from the reference. If the baseline was measured on
    fewer texts, `at_baseline_size` has results on as many, by label.
    """

    name: str
    model: str
    decoding: Decoding
    n: int
    digest: str
    results: tuple[Result, ...]
    at_baseline_size: Mapping[str, Result] = field(default_factory=dict)
    overall: Overall | None = None

    def differs(self, level: float) -> bool:
        """Whether the overall test found a difference from the reference."""
        return self.overall is not None and is_significant(self.overall.adjusted, level)


CSV_FIELDS = (
    "setting", "model", "temperature", "top_k", "top_p", "metric", "label", "options", "n", "estimate", "low", "high",
    "level", "method", "baseline", "is_best", "among_best", "overall_p", "better", "aspect", "undefined", "signature",
)  # fmt: skip


@dataclass(frozen=True, repr=False)
class Sweep(Outcome):
    """Settings of a model, measured against a reference.

    `real` is the baseline, as in a comparison. `best` has the best setting of each metric, in the order of `labels`.
    `samples` has the texts of each setting by its name; it is not part of the JSON form.
    """

    kind: ClassVar[str] = "sweep"
    csv_fields: ClassVar[tuple[str, ...]] = CSV_FIELDS
    __hash__ = Outcome.__hash__

    models: tuple[str, ...]
    reference: Column
    real: Column
    swept: tuple[SettingColumn, ...]
    labels: tuple[str, ...]
    best: tuple[Best, ...]
    verdict: Verdict
    level: float
    notes: tuple[str, ...]
    settings: Settings = field(default_factory=dict)
    samples: Mapping[str, Sample] = field(default_factory=dict, compare=False)

    @property
    def columns(self) -> tuple[SettingColumn, ...]:
        """The settings."""
        return self.swept

    @property
    def baseline(self) -> tuple[Result, ...]:
        """Real text against real text."""
        return self.real.results

    def csv_rows(self) -> Iterator[dict[str, Any]]:
        """One row per setting and metric."""
        for column in self.swept:
            decoding = column.decoding
            same = {
                "setting": column.name,
                "model": column.model,
                "temperature": decoding.temperature,
                "top_k": decoding.top_k,
                "top_p": decoding.top_p,
                "overall_p": None if column.overall is None else column.overall.adjusted,
            }
            for best, result, real in zip(self.best, column.results, self.real.results, strict=True):
                row = {name: value for name, value in plain_row(result).items() if name != "p_value"}
                among = {"is_best": column.name == best.setting, "among_best": column.name in best.among}
                yield same | row | {"label": best.label, "baseline": known(real.estimate)} | among

    def to_dict(self) -> dict[str, Any]:
        """The documented JSON form; what only this program reads is under `details`."""
        return {
            "textassay": __version__,
            "models": list(self.models),
            "reference": identity(self.reference),
            "settings": [_setting(column) for column in self.swept],
            "best": plain(self.best),
            "verdict": self.verdict.to_dict(),
            "details": {
                "labels": list(self.labels),
                "level": self.level,
                "notes": list(self.notes),
                "settings": plain_settings(self.settings),
                "real": identity(self.real) | {"results": [sized(result) for result in self.real.results]},
                "at_real_size": [plain(column.at_baseline_size) for column in self.swept],
            },
        }

    def check_fields(self) -> None:
        """Raise an error unless real text has a result for every metric."""
        super().check_fields()
        if not len(self.baseline) == len(self.best) == len(self.labels):
            raise ValueError("not one result of real text and one best setting per metric")
        if any(setting.model not in ("", *self.models) for setting in self.swept) or not self.models:
            raise ValueError("a setting is of none of the models")
        chosen = {
            name
            for best in self.best
            for name in (*best.among, *best.unknown, *([best.setting] if best.setting else []))
        }
        if not chosen <= set(self.names):
            raise ValueError("a best setting is none of the settings")
        if not self.verdict.reasons:
            raise ValueError("the verdict has no sentence")

    @classmethod
    def _from_dict(cls, plain: Mapping[str, Any]) -> Self:
        details, verdict = plain["details"], Verdict.from_dict(plain["verdict"])
        if verdict is None:
            raise ValueError("a sweep has no verdict")
        real = details["real"]
        return cls(
            models=tuple(plain["models"]),
            reference=Column(**plain["reference"], results=()),
            real=Column(real["name"], real["n"], real["digest"], tuple(map(read_sized, real["results"]))),
            swept=tuple(
                _read_setting(setting, again)
                for setting, again in zip(plain["settings"], details["at_real_size"], strict=True)
            ),
            labels=tuple(details["labels"]),
            best=built(tuple[Best, ...], plain["best"]),
            verdict=verdict,
            level=details["level"],
            notes=tuple(details["notes"]),
            settings=read_settings(details),
        )


def _setting(column: SettingColumn) -> dict[str, Any]:
    return {
        "name": column.name,
        "model": column.model,
        **asdict(column.decoding),
        "n": column.n,
        "digest": column.digest,
        "overall": plain(column.overall),
        "results": [result.to_dict() for result in column.results],
    }


def _read_setting(plain: Mapping[str, Any], at_real_size: Mapping[str, Any]) -> SettingColumn:
    return SettingColumn(
        plain["name"],
        plain["model"],
        Decoding(plain["temperature"], plain["top_k"], plain["top_p"]),
        plain["n"],
        plain["digest"],
        tuple(Result.from_dict(result, n=plain["n"]) for result in plain["results"]),
        {label: read_sized(result) for label, result in at_real_size.items()},
        read_overall(plain["overall"]),
    )
