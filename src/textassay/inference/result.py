"""Result: one number with its uncertainty, and the signature that fixes it."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Self

from textassay.corpus.sample import TEXT, Sample, digest_of
from textassay.metrics.registry import Request
from textassay.metrics.views import Settings, read_by
from textassay.version import __version__


@dataclass(frozen=True)
class Interval:
    """A confidence interval, its level and the method it came from."""

    low: float
    high: float
    level: float
    method: str

    def __contains__(self, value: float) -> bool:
        return self.low <= value <= self.high


@dataclass(frozen=True, repr=False)
class Result:
    """A metric's value for one candidate; without a number, `undefined` is the reason and the estimate is NaN.

    `notes` are reasons to doubt the value, of a metric that was measured on its own; studies have notes themselves.
    """

    metric: str
    options: Mapping[str, Any]
    estimate: float
    better: str
    aspect: str
    interval: Interval | None
    p_value: float | None
    parts: Mapping[str, float]
    undefined: str | None
    signature: str
    seconds: float
    n: int = field(default=0)
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        # One NaN object for all: two undefined results then compare equal, as two read-back ones must.
        object.__setattr__(self, "estimate", one_nan(self.estimate))
        object.__setattr__(self, "parts", {name: one_nan(part) for name, part in self.parts.items()})

    def __setstate__(self, state: dict[str, Any]) -> None:
        # Unpickling makes new NaN objects.
        self.__dict__.update(state)
        self.__post_init__()

    def __hash__(self) -> int:
        return hash((self.metric, self.estimate, self.p_value, self.signature))

    def __repr__(self) -> str:
        return f"Result({self})"

    def __str__(self) -> str:
        """The number with its interval and p-value on one line.

        >>> str(Result("cr", {"n": 2}, 0.25, "higher", "quality", None, 0.01, {}, None, "", 0.0))
        'cr n=2: 0.25, p = 0.01'
        """
        options = "".join(f" {name}={value}" for name, value in self.options.items())
        if self.undefined is not None:
            return f"{self.metric}{options}: undefined ({self.undefined})"
        interval = self.interval
        limits = f" [{interval.low:.4g}, {interval.high:.4g}]" if interval else ""
        p = "" if self.p_value is None else f", p = {self.p_value:.3g}"
        notes = "".join(f"; note: {note}" for note in self.notes)
        return f"{self.metric}{options}: {self.estimate:.4g}{limits}{p}{notes}"

    def check_fields(self) -> None:
        """Raise an error unless there is either a number or a reason why there is none."""
        if math.isnan(self.estimate) != (self.undefined is not None):
            raise ValueError(f"neither or both of an estimate of {self.metric!r:.40} and a reason for none")

    def to_dict(self) -> dict[str, Any]:
        """As plain values for JSON, with null for what is not a number."""
        options = {name: str(value) if _is_infinite(value) else value for name, value in self.options.items()}
        plain = asdict(self) | {"options": options, "parts": _without_nan(self.parts)}
        plain["estimate"] = finite_or_none(self.estimate)
        del plain["n"]
        # Most results have none.
        notes = list(plain.pop("notes"))
        return plain | {"notes": notes} if notes else plain

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any], *, n: int) -> Self:
        """Read back what `to_dict` wrote."""
        values = dict(plain)
        options, notes = values.pop("options"), values.pop("notes", ())
        interval = values.pop("interval")
        estimate = values.pop("estimate")
        parts = {name: math.nan if part is None else part for name, part in values.pop("parts").items()}
        return cls(
            **values | {"seconds": values["seconds"] or 0.0},
            options={name: float(value) if value in _INFINITE else value for name, value in options.items()},
            estimate=math.nan if estimate is None else estimate,
            interval=Interval(**interval) if interval else None,
            parts=parts,
            n=n,
            notes=tuple(notes),
        )


def one_nan(value: float) -> float:
    """The value, or the one NaN object that equals itself by identity."""
    return math.nan if math.isnan(value) else value


# JSON has no infinity; an option such as `vendi:q=inf` is written as a word.
_INFINITE = ("inf", "-inf")


def _is_infinite(value: object) -> bool:
    return isinstance(value, float) and math.isinf(value)


def finite_or_none(value: float) -> float | None:
    """The value, or None for NaN and infinity, which JSON does not have."""
    return value if math.isfinite(value) else None


def _without_nan(parts: Mapping[str, float]) -> dict[str, float | None]:
    return {name: finite_or_none(value) for name, value in parts.items()}


def result_of(
    request: Request,
    estimate: float,
    *,
    signature: str,
    n: int = 0,
    interval: Interval | None = None,
    p_value: float | None = None,
    parts: Mapping[str, float] | None = None,
    undefined: str | None = None,
    seconds: float = 0.0,
) -> Result:
    """The result of a request; a p-value that is not a number is none."""
    metric = request.metric
    return Result(
        metric=metric.name,
        options=dict(request.options),
        estimate=estimate,
        better=metric.better,
        aspect=metric.aspect,
        interval=interval,
        p_value=None if p_value is None or math.isnan(p_value) else p_value,
        parts=dict(parts or {}),
        undefined=undefined,
        signature=signature,
        seconds=seconds,
        n=n,
    )


def signature(
    name: str,
    options: Mapping[str, Any],
    *,
    settings: Mapping[str, Any] | None = None,
    data: Mapping[str, Any],
    resampling: Mapping[str, Any],
) -> str:
    """Everything that fixes a number, on one line: name and options, settings, data by digest, resampling, version.

    Samples, items and systems are given by digest, never by name: a file name is not part of the number.

    >>> signature("huse", {"k": 16}, data={"items": "200/ab12"}, resampling={"resamples": 0}).rpartition("|")[0]
    'huse|k:16|items:200/ab12|resamples:0'
    """
    fields = [*options.items(), *(settings or {}).items(), *data.items(), *resampling.items(), ("v", __version__)]
    return "|".join([name, *(f"{field}:{value}" for field, value in fields)])


def option_fields(request: Request) -> dict[str, Any]:
    """The options of a request in a signature: a model by its name and digest, whatever the file is called."""
    opens = {name: option.opens for name, option in request.metric.options.items()}
    return {name: open_(value) if (open_ := opens[name]) else value for name, value in request.options.items()}


def setting_fields(settings: Settings, kinds: Iterable[type]) -> dict[str, str]:
    """The settings in a signature: those that views of these kinds read."""
    read = {part for kind in kinds for part in read_by(kind)}
    tokens = {"tok": settings.tokenizer.signature} if "tokenizer" in read else {}
    vectors = {"enc": settings.required_encoder.name} if "encoder" in read else {}
    return tokens | vectors | ({"strip": settings.strip} if settings.strip else {})


def sample_field(sample: Sample) -> str:
    """A sample in a signature: its size, the digest of its texts and, where it has groups, that of its groups."""
    groups = "" if sample.groups is None else f"/{digest_of(sample.groups.cast(TEXT))}"
    return f"{len(sample)}/{sample.digest}{groups}"
