"""A request: one metric with its options, read from what a user writes (`bleu:n=2-5`)."""

import difflib
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from textassay.corpus.errors import InputError
from textassay.corpus.number_kinds import is_whole
from textassay.corpus.printable import shortened
from textassay.metrics.declare import Metric, Option, all_metrics

On = Literal["samples", "items", "ratings"]

# Where a metric is measured: what that is called, and by which command.
_PLACES: dict[On, tuple[str, str]] = {
    "samples": ("whole samples", "compare"),
    "items": ("items", "conditional"),
    "ratings": ("ratings", "huse"),
}
_ASPECTS = ("quality", "diversity", "both")


@dataclass(frozen=True)
class Request:
    """A metric and the value of each of its options."""

    metric: Metric
    options: Mapping[str, Any]

    @property
    def label(self) -> str:
        """Name and order as a reader knows them: `bleu-4`; options other than the default behind it."""
        shown = self.metric.name + (f"-{self.options['n']}" if "n" in self.options else "")
        others = [f"{k}={v}" for k, v in self.options.items() if k != "n" and v != self.metric.options[k].default]
        return " ".join([shown, *others])

    def __hash__(self) -> int:
        return hash((self.metric.name, *self.options.items()))

    def __call__(self, *views: Any) -> Any:
        return self.metric.function(*views, **self.options)


def parse_requests(
    specs: Iterable[str] = (),
    *,
    families: Iterable[str] = (),
    on: On = "samples",
    settings: Mapping[str, Any] | None = None,
) -> list[Request]:
    """Requests from `name:option=value:...` and family names; without either, every default metric.

    `settings` are values of options that metrics have where they do not say otherwise.

    >>> [request.label for request in parse_requests(["bleu:n=2-3", "cnd:variant=unbiased"])]
    ['bleu-2', 'bleu-3', 'cnd-2 variant=unbiased']
    """
    specs, families = list(specs), list(families)
    known = _measurable(specs, on)
    for family in families:
        _check_name(family, {metric.family for metric in known.values()}, "family")
    everything = not specs and not families
    chosen = [m.name for m in _in_reading_order(known) if m.in_default and (everything or m.family in families)]
    requests = [request for spec in [*chosen, *specs] for request in _parse(spec, known, settings or {})]
    return list(dict.fromkeys(requests))


def find_metric(name: str) -> Metric:
    """The metric of this name, wherever it is measured, or an error with the nearest name."""
    known = all_metrics()
    _check_name(name, known, "metric")
    return known[name]


def _measurable(specs: Iterable[str], on: On) -> dict[str, Metric]:
    """The metrics that can be measured there; one that is measured elsewhere only is an error that says where."""
    known = {name: metric for name, metric in all_metrics().items() if _is_on(metric, on)}
    for spec in specs:
        name = spec.partition(":")[0].strip()
        if name in all_metrics() and name not in known:
            what, command = next(place for where, place in _PLACES.items() if _is_on(all_metrics()[name], where))
            raise InputError(f"metric {name!r} is measured on {what}: use textassay {command}")
    return known


def _is_on(metric: Metric, on: On) -> bool:
    return {"samples": metric.on_samples, "items": metric.on_items, "ratings": metric.on_ratings}[on]


def _in_reading_order(known: Mapping[str, Metric]) -> list[Metric]:
    return sorted(known.values(), key=lambda metric: (_ASPECTS.index(metric.aspect), metric.name))


def _parse(spec: str, known: Mapping[str, Metric], common: Mapping[str, Any]) -> list[Request]:
    name, *settings = (part.strip() for part in spec.split(":"))
    _check_separators(name, settings)
    _check_name(name, known, "metric")
    metric = known[name]
    grid: list[dict[str, Any]] = [
        {o.name: _setting(o, common[o.name]) if o.name in common else o.default for o in metric.options.values()}
    ]
    for setting in settings:
        option, equals, text = setting.partition("=")
        if not equals:
            raise InputError(f"metric {spec!r}: {setting!r} is not option=value")
        _check_name(option, metric.options, f"option of {name}")
        grid = [chosen | {option: value} for chosen in grid for value in _values(metric.options[option], text, spec)]
    return [Request(metric, options) for options in grid]


def _check_separators(name: str, settings: Iterable[str]) -> None:
    """Refuse an option after a comma, where only another metric can be."""
    rule = "',' separates metrics, and ':' the options of one, as in score:distance=rouge_l:over=max"
    if "=" in name:
        raise InputError(f"{shortened(name, 60)!r} is an option, not a metric; {rule}")
    if wrong := next((setting for setting in settings if "," in setting), None):
        raise InputError(f"{shortened(wrong, 60)!r} has a comma; {rule}")


def _setting(option: Option, value: Any) -> Any:
    """The one value of a choice or of a whole number that goes by its name on the command line."""
    if option.choices:
        _check_name(str(value), option.choices, option.name)
        return str(value)
    low, high = option.limits or (1, 100)
    if not is_whole(value) or not low <= value <= high:
        given = shortened(repr(value), 40)
        raise InputError(f"--{option.name} is {given}; wanted a whole number from {low:g} to {high:g}")
    return int(value)


def _values(option: Option, text: str, spec: str) -> list[Any]:
    if option.choices:
        _check_name(text, option.choices, option.name)
        return [text]
    if option.kind is int:
        return _integers(option, text, spec)
    if option.kind is str:
        return [text]
    low, high = option.limits or (-math.inf, math.inf)
    try:
        value = option.kind(text)
    except ValueError:
        value = math.nan
    if not low <= value <= high:
        raise InputError(f"metric {spec!r}: {option.name} is {text!r}; wanted a number from {low:g} to {high:g}")
    return [value]


def _integers(option: Option, text: str, spec: str) -> list[int]:
    first, dash, last = text.partition("-")
    if not (first.isdecimal() and (last.isdecimal() or not dash)) or len(text) > 9:
        raise InputError(f"metric {spec!r}: {option.name} is {text!r}; wanted a whole number or a range such as 2-5")
    values = list(range(int(first), int(last or first) + 1))
    low, high = option.limits or (1, 100)
    if not values or values[0] < low or values[-1] > high:
        wanted = f"{low:g} to {high:g}{', ascending' if dash else ''}"
        raise InputError(f"metric {spec!r}: {option.name} is {text!r}; wanted {wanted}")
    return values


def _check_name(name: str, known: Iterable[str], what: str) -> None:
    names = sorted(known)
    if name in names:
        return
    near = difflib.get_close_matches(name, names, n=1, cutoff=0.5)
    hint = f"did you mean {near[0]!r}?" if near else f"there are: {', '.join(names)}"
    raise InputError(f"no {what} {name!r}; {hint}")
