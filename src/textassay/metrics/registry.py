"""The registry of metrics: declarations, citations, and requests such as `bleu:n=2-5`."""

import difflib
import importlib
import inspect
import math
import pkgutil
import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, partial
from importlib import resources
from typing import Any, Literal, TypeVar, get_args, get_origin, get_type_hints

import numpy as np
from numpy.typing import NDArray

from textassay.corpus.printable import shortened
from textassay.corpus.values import is_whole
from textassay.errors import InputError, Setting
from textassay.metrics.effects import check_effect
from textassay.metrics.interval_methods import INTERVAL_METHODS, IntervalMethod
from textassay.metrics.items.item_pool import ItemPool
from textassay.metrics.ratings.rating_view import Ratings
from textassay.metrics.views import needs_encoder

Aspect = Literal["quality", "diversity", "both"]
Better = Literal["higher", "lower", "closer"]
Value = float | NDArray[np.float64]
Function = TypeVar("Function", bound=Callable[..., Any])


@dataclass(frozen=True)
class Option:
    """A keyword-only parameter of a metric."""

    name: str
    default: Any
    kind: type
    choices: tuple[Any, ...] = ()
    limits: tuple[float, float] | None = None
    # Opens what a string names, such as a model, or raises an error; returns its name and digest for signatures.
    opens: Callable[[Any], str] | None = None

    @property
    def required(self) -> bool:
        """True if the metric cannot be measured without a value of this option."""
        return self.opens is not None and self.default == ""


@dataclass(frozen=True, eq=False)
class Metric:
    """A declared metric; `roles` and `views` are the names and types of its function's positional-only parameters."""

    name: str
    function: Callable[..., Any]
    family: str
    aspect: Aspect
    better: Better
    rise: str
    bounds: tuple[float, float]
    interval: str | None
    test: str | None
    paper: str
    why_no_interval: str
    why_no_test: str
    undefined: str
    minimum: int | Callable[..., int]
    in_default: bool
    parts: Callable[..., Mapping[str, float]] | None
    leave_out: Callable[..., Any] | None
    exchange: Callable[..., Any] | None
    approximate: Callable[[int], Mapping[str, int]] | None
    item: Callable[..., NDArray[np.float64]] | None
    most_labellings: int | None
    variant_bounds: Mapping[str, tuple[float, float]]
    remarks: Callable[[Mapping[str, float]], Iterable[str]] | None
    needs_log_probs: bool = True
    length_moves: bool = False
    beside: str = ""
    sums_products: bool | tuple[str, ...] = False
    adds_up: bool = False
    triangles: bool = False
    roles: tuple[str, ...] = ()
    views: tuple[type, ...] = ()
    options: Mapping[str, Option] = field(default_factory=dict)
    variants: dict[tuple[str, str], "Metric"] = field(default_factory=dict)
    # Follow from the fields above: whether it compares a candidate with a reference (or describes one sample), whether
    # it reads sentence vectors, the method of its interval, and the first line of its docstring.
    compares: bool = field(init=False)
    reads_vectors: bool = field(init=False)
    interval_method: IntervalMethod | None = field(init=False)
    summary: str = field(init=False)

    def under(self, options: Mapping[str, Any]) -> "Metric":
        """The metric as declared for these options: a variant has its own function, views, interval and test."""
        chosen = (self.variants.get((name, str(value))) for name, value in options.items())
        return next((variant for variant in chosen if variant is not None), self)

    @property
    def all_options(self) -> dict[str, Option]:
        """Its options and those of its variants."""
        return {name: option for each in (*self.variants.values(), self) for name, option in each.options.items()}

    @property
    def required(self) -> list[str]:
        """The options that need a value."""
        return [option.name for option in self.options.values() if option.required]

    def __post_init__(self) -> None:
        object.__setattr__(self, "compares", "reference" in self.roles)
        object.__setattr__(self, "reads_vectors", any(map(needs_encoder, self.views)))
        if self.interval is not None and self.interval not in INTERVAL_METHODS:
            raise TypeError(f"{self.name}: no interval method {self.interval!r}; wanted {', '.join(INTERVAL_METHODS)}")
        method = None if self.interval is None else INTERVAL_METHODS[self.interval]
        object.__setattr__(self, "interval_method", method)
        object.__setattr__(self, "summary", (inspect.getdoc(self.function) or "").partition("\n")[0])

    @property
    def jackknifed(self) -> bool:
        """Whether its interval comes from leaving out groups of texts."""
        return self.interval_method is not None and self.interval_method.jackknifed

    @property
    def on_samples(self) -> bool:
        """True if it is measured on whole samples (`textassay compare`)."""
        return not {ItemPool, Ratings} & set(self.views)

    @property
    def on_items(self) -> bool:
        """True if it is measured on the candidates and references of each item (`textassay conditional`)."""
        return self.item is not None

    @property
    def on_ratings(self) -> bool:
        """True if it is measured on texts that people have rated (`textassay huse`)."""
        return Ratings in self.views

    def minimum_for(self, options: Mapping[str, Any]) -> int:
        """The fewest texts a sample needs under these options."""
        return self.minimum if isinstance(self.minimum, int) else self.minimum(**options)

    def reads_sketch(self, options: Mapping[str, Any]) -> bool:
        """Whether it can be measured on a sketch of the n-grams under these options."""
        if isinstance(self.sums_products, bool):
            return self.sums_products
        return not any(str(value) in self.sums_products for value in options.values())

    def bounds_for(self, options: Mapping[str, Any]) -> tuple[float, float]:
        """The bounds under these options: unbiased and weighted variants may have wider bounds."""
        special = (self.variant_bounds[str(value)] for value in options.values() if str(value) in self.variant_bounds)
        return next(special, self.bounds)


_REGISTRY: dict[str, Metric] = {}


def metric(
    name: str,
    *,
    family: str,
    aspect: Aspect,
    better: Better,
    rise: str,
    bounds: tuple[float, float],
    interval: str | None,
    test: str | None,
    paper: str,
    why_no_interval: str = "",
    why_no_test: str = "",
    undefined: str = "there is nothing to count",
    minimum: int | Callable[..., int] = 2,
    in_default: bool = True,
    parts: Callable[..., Mapping[str, float]] | None = None,
    leave_out: Callable[..., Any] | None = None,
    exchange: Callable[..., Any] | None = None,
    approximate: Callable[[int], Mapping[str, int]] | None = None,
    item: Callable[..., NDArray[np.float64]] | None = None,
    most_labellings: int | None = None,
    variant_bounds: Mapping[str, tuple[float, float]] | None = None,
    limits: Mapping[str, tuple[float, float]] | None = None,
    opens: Mapping[str, Callable[[Any], str]] | None = None,
    remarks: Callable[[Mapping[str, float]], Iterable[str]] | None = None,
    needs_log_probs: bool = True,
    length_moves: bool = False,
    beside: str = "",
    sums_products: bool | tuple[str, ...] = False,
    adds_up: bool = False,
    triangles: bool = False,
) -> Callable[[Function], Function]:
    """Declare a metric. The function itself is returned unchanged.

    Parameters
    ----------
    name, family, aspect, better, bounds, paper
        What the command line, the reports and the documentation show. `paper` is a key of `papers.toml`.
    rise
        What a rise of the value says about the candidate: one of `effects.EFFECTS`. Verdicts, rankings and planes read
        it.
    interval, test
        The method that is valid for this metric, or None with the reason in `why_no_interval` or `why_no_test`.
    undefined
        The reason that is reported if the value is not a number.
    minimum
        The fewest texts a sample needs: a number, or a function of the options.
    in_default
        Whether the metric is measured if none is named.
    parts
        A function of the same arguments that returns the named numbers behind the value.
    leave_out
        A faster jackknife: a function of the views, `labels` (one array per view with the group of each text) and the
        options. It returns one array per view: the value with each group of that view left out.
    exchange
        A faster permutation test: a function of the views of candidate and reference, `resamples` and the options. It
        returns one statistic per row: the metric's value, or the difference of the two values if the metric describes
        one sample. For a metric on ratings it takes the view and a matrix of labels, and returns one value per column.
    approximate
        A function of the number of pooled texts that returns the signature fields of an approximation, or {}.
    item
        Measures the metric on one item: a function of an `ItemPool`, `Labels` and the options that returns one value
        per labelling.
    most_labellings
        The most labellings that a test of one item enumerates, for a metric that is slow to compute.
    variant_bounds
        Bounds under single values of options, by the value.
    limits
        The smallest and largest value of numeric options, by name.
    opens
        Functions that open what string options name, such as a model, by the name of the option. Each raises an error
        if it cannot be opened, and returns what signatures show. An option with the default "" then needs a value.
    remarks
        A function of the parts that returns sentences to note, such as a warning about an unreliable value.
    needs_log_probs
        For a metric on ratings: whether it reads log-probabilities, or the ratings alone.
    length_moves
        Whether the length of texts moves the value, as it moves shares of different n-grams. A verdict then reads it at
        equal lengths.
    beside
        The metric of diversity that a plane shows beside this metric of quality, in its paper.
    sums_products
        Whether the value is made of sums of products of n-gram counts, which a count-sketch estimates without bias; or
        the values of options under which it is not.
    adds_up
        Whether every sum over n-grams goes through `Table.summed`, so that the n-grams of a large digest can be read
        one part after the other.
    triangles
        For a metric on items: whether it counts triangles of texts. These show how candidates miss the references, and
        the p-value has a normal limit.
    """
    if (interval is None) != bool(why_no_interval) or (test is None) != bool(why_no_test):
        raise TypeError(f"{name}: give a reason if, and only if, there is no interval or no test")

    check_effect(name, rise, better)

    def declare(function: Function) -> Function:
        roles, views, options = _read_signature(function, limits or {}, opens or {})
        _REGISTRY[name] = Metric(
            name, function, family, aspect, better, rise, bounds, interval, test, paper, why_no_interval, why_no_test,
            undefined, minimum, in_default, parts, leave_out, exchange, approximate, item, most_labellings,
            variant_bounds or {}, remarks, needs_log_probs, length_moves, beside, sums_products, adds_up,
            triangles,
            roles, views, options,
        )  # fmt: skip
        return function

    return declare


def variant(
    name: str,
    *,
    interval: str | None,
    test: str | None,
    why_no_interval: str = "",
    why_no_test: str = "",
    undefined: str | None = None,
    minimum: int | Callable[..., int] | None = None,
    parts: Callable[..., Mapping[str, float]] | None = None,
    leave_out: Callable[..., Any] | None = None,
    exchange: Callable[..., Any] | None = None,
    limits: Mapping[str, tuple[float, float]] | None = None,
    opens: Mapping[str, Callable[[Any], str]] | None = None,
    **value: str,
) -> Callable[[Function], Function]:
    """Declare how a metric is measured under one value of one option, such as `classifier="cnn"`.

    The function may read other views and have more options than the metric's own; the parameters are those of `metric`.
    """
    [(option, chosen)] = value.items()
    base = _REGISTRY[name]

    def declare(function: Function) -> Function:
        roles, views, options = _read_signature(function, limits or {}, opens or {})
        options |= {name: base.options[name] for name in options if name in base.options}
        base.variants[option, chosen] = replace(
            base, function=function, roles=roles, views=views, options=options, interval=interval, test=test,
            why_no_interval=why_no_interval, why_no_test=why_no_test, undefined=undefined or base.undefined,
            minimum=base.minimum if minimum is None else minimum, parts=parts, leave_out=leave_out, exchange=exchange,
            variants={},
        )  # fmt: skip
        return function

    return declare


def _read_signature(
    function: Callable[..., Any],
    limits: Mapping[str, tuple[float, float]],
    opens: Mapping[str, Callable[[Any], str]],
) -> tuple[tuple[str, ...], tuple[type, ...], dict[str, Option]]:
    hints = get_type_hints(function)
    parameters = inspect.signature(function).parameters.values()
    roles = tuple(p.name for p in parameters if p.kind is p.POSITIONAL_ONLY)
    named = [p for p in parameters if p.kind is p.KEYWORD_ONLY]
    options = {p.name: _option(p, hints[p.name], limits.get(p.name), opens.get(p.name)) for p in named}
    return roles, tuple(hints[role] for role in roles), options


def _option(
    parameter: inspect.Parameter,
    hint: Any,
    limits: tuple[float, float] | None,
    opens: Callable[[Any], str] | None,
) -> Option:
    if get_origin(hint) is Literal:
        return Option(parameter.name, parameter.default, str, get_args(hint))
    return Option(parameter.name, parameter.default, hint, limits=limits, opens=opens)


@cache
def _discover() -> None:
    package = importlib.import_module("textassay.metrics")
    for module in pkgutil.walk_packages(package.__path__, "textassay.metrics."):
        importlib.import_module(module.name)


def all_metrics() -> dict[str, Metric]:
    """Every declared metric by name, from all modules of `textassay.metrics`."""
    _discover()
    return dict(sorted(_REGISTRY.items()))


def citation(key: str) -> str:
    """The full citation of a source; a key that is not in `papers.toml` is returned unchanged.

    >>> citation("shannon1948")
    'Claude E. Shannon. A mathematical theory of communication. Bell System Technical Journal, 1948.'
    """
    return citations().get(key, key)


@cache
def citations() -> dict[str, str]:
    """Every listed citation by its key."""
    listed = resources.files("textassay.metrics").joinpath("papers.toml")
    return tomllib.loads(listed.read_text(encoding="utf-8"))


On = Literal["samples", "items", "ratings"]

# What metrics are measured on: its name in messages, and the command.
_PLACES: dict[On, tuple[str, str]] = {
    "samples": ("whole samples", "compare"),
    "items": ("items", "conditional"),
    "ratings": ("ratings", "huse"),
}
_ASPECTS = ("quality", "diversity", "both")


@dataclass(frozen=True)
class Request:
    """A metric and the value of each of its options; its label, bounds and fewest texts follow from both."""

    metric: Metric
    options: Mapping[str, Any]
    label: str = field(init=False, compare=False)
    bounds: tuple[float, float] = field(init=False, compare=False)
    minimum: int = field(init=False, compare=False)
    # The metric's function of its views, with these options.
    value: Callable[..., Any] = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "value", partial(self.metric.function, **self.options))
        object.__setattr__(self, "label", label_under(self.metric, self.options))
        object.__setattr__(self, "bounds", self.metric.bounds_for(self.options))
        object.__setattr__(self, "minimum", self.metric.minimum_for(self.options))

    def __hash__(self) -> int:
        return hash((self.metric.name, *self.options.items()))


def label_under(metric: Metric, options: Mapping[str, Any]) -> str:
    """Name, order and distance (`bleu-4`, `trm meteor`), followed by options that differ from their defaults."""
    known = metric.options
    shown = metric.name + (f"-{options['n']}" if "n" in options else "")
    distance = [options["distance"]] if "distance" in options else []
    others = [(k, v) for k, v in options.items() if k not in ("n", "distance") and k in known]
    changed = [(k, _file_name(v) if known[k].opens else v) for k, v in others if v != known[k].default]
    return " ".join([shown, *distance, *(f"{k}={v}" for k, v in changed)])


def _file_name(path: str) -> str:
    """The last part of a path, without folders."""
    return path.rstrip("/").rpartition("/")[2]


def parse_requests(
    specs: Iterable[str] = (),
    *,
    families: Iterable[str] = (),
    on: On = "samples",
    settings: Mapping[str, Any] | None = None,
) -> list[Request]:
    """Requests from `name:option=value:...` and family names; without either, every default metric.

    `settings` are defaults for options, by name; a request that sets the option itself has precedence.

    >>> [request.label for request in parse_requests(["bleu:n=2-3", "cnd:variant=unbiased"])]
    ['bleu-2', 'bleu-3', 'cnd-2 variant=unbiased']
    """
    specs, families = list(specs), list(families)
    known = _measurable(specs, on)
    for family in families:
        _check_name(family, {metric.family for metric in known.values()}, "family")
    chosen = _chosen(_in_reading_order(known), families, everything=not specs and not families)
    parsed = [request for spec in [*chosen, *specs] for request in _parse(spec, known, settings or {})]
    requests = list(dict.fromkeys(parsed))
    _check_labels(requests)
    return requests


def _check_labels(requests: Sequence[Request]) -> None:
    """Refuse models with the same file name in two folders: results are found by their labels."""
    labels = [request.label for request in requests]
    for label in labels:
        if labels.count(label) > 1:
            raise InputError(
                f"two metrics are called {shortened(label, 100)!r}; wanted model files with different names"
            )


def _chosen(metrics: list[Metric], families: list[str], *, everything: bool) -> list[str]:
    """The default metrics, of all or of these families; all metrics of a family that has no default metric.

    Metrics that need a value of an option, such as a model, are left out.
    """
    with_default = {metric.family for metric in metrics if metric.in_default}
    return [
        metric.name
        for metric in metrics
        if (everything or metric.family in families)
        and not metric.required
        and (metric.in_default or (not everything and metric.family not in with_default))
    ]


def listed(specs: str | Iterable[str]) -> list[str]:
    """Names as a list: a string has them separated by commas, as on the command line.

    >>> listed("mauve, bleu:n=4"), listed(["cnd"])
    (['mauve', 'bleu:n=4'], ['cnd'])
    """
    if isinstance(specs, str):
        return [spec.strip() for spec in specs.split(",") if spec.strip()]
    names = list(specs) if isinstance(specs, Iterable) else [specs]
    for name in names:
        if not isinstance(name, str):
            raise InputError(f"{shortened(repr(name), 40)} in a list of names; wanted strings such as 'bleu:n=4'")
    return names


def metric_names(specs: Iterable[str]) -> set[str]:
    """The names of the metrics that are requested, without their options.

    >>> sorted(metric_names(["mauve", "bleu:n=4", "bleu:n=2"]))
    ['bleu', 'mauve']
    """
    return {spec.partition(":")[0].strip() for spec in specs}


def find_metric(name: str) -> Metric:
    """The metric of this name, or an error that suggests the most similar name."""
    known = all_metrics()
    _check_name(name, known, "metric")
    return known[name]


def _measurable(specs: Iterable[str], on: On) -> dict[str, Metric]:
    """The metrics that can be measured on this; requesting another one is an error that names its command."""
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
    settings = _variant_settings(known[name], _whole_settings(settings, known[name].all_options))
    metric = known[name].under(dict(setting.split("=", 1) for setting in settings if "=" in setting))
    grid: list[dict[str, Any]] = [
        {o.name: _setting(o, common[o.name]) if o.name in common else o.default for o in metric.options.values()}
    ]
    for setting in settings:
        option, equals, text = setting.partition("=")
        if not equals:
            raise InputError(f"metric {spec!r}: {setting!r} is not option=value")
        _check_name(option, metric.options, f"option of {name}")
        grid = [chosen | {option: value} for chosen in grid for value in _values(metric.options[option], text, spec)]
    for option in metric.required:
        if not all(options[option] for options in grid):
            raise InputError(f"metric {name!r} needs the option {option}, as in {spec}:{option}=FILE.safetensors")
    return [Request(metric, options) for options in grid]


def _variant_settings(metric: Metric, settings: Iterable[str]) -> list[str]:
    """The settings without those that only name the metric itself: `bleu:variant=texts` is `bleu`."""
    chosen_by = {name for name, _ in metric.variants}
    only = {name: o for name, o in metric.all_options.items() if name in chosen_by and name not in metric.options}
    kept = []
    for setting in settings:
        name, _, text = setting.partition("=")
        if name in only and only[name].choices and (name, text) not in metric.variants:
            _check_name(text, only[name].choices, name)
            continue
        kept.append(setting)
    return kept


def _whole_settings(settings: Iterable[str], options: Mapping[str, Option]) -> list[str]:
    """The settings; what follows the name of a model and is no option of the metric is part of that name.

    `oracle=oracle:random:seed=1` is one setting.
    """
    whole: list[str] = []
    for setting in settings:
        before = options.get(whole[-1].partition("=")[0]) if whole else None
        if before is not None and before.opens and setting.partition("=")[0] not in options:
            whole[-1] += f":{setting}"
        else:
            whole.append(setting)
    return whole


def _check_separators(name: str, settings: Iterable[str]) -> None:
    """Raise an error if an option follows a comma, where only another metric is allowed."""
    rule = "',' separates metrics, and ':' the options of one, as in score:distance=rouge_l:over=max"
    if "=" in name:
        raise InputError(f"{shortened(name, 60)!r} is an option, not a metric; {rule}")
    if wrong := next((setting for setting in settings if "," in setting), None):
        raise InputError(f"{shortened(wrong, 60)!r} has a comma; {rule}")


def _setting(option: Option, value: Any) -> Any:
    """A checked default for an option: one of its choices, or a whole number within its limits."""
    if option.choices:
        _check_name(str(value), option.choices, option.name)
        return str(value)
    low, high = option.limits or (1, 100)
    if not is_whole(value) or not low <= value <= high:
        raise InputError(Setting(option.name, value), f"; wanted a whole number from {low:g} to {high:g}")
    return int(value)


def _values(option: Option, text: str, spec: str) -> list[Any]:
    if option.choices:
        _check_name(text, option.choices, option.name)
        return [text]
    if option.kind is int:
        return _integers(option, text, spec)
    if option.kind is str:
        if option.opens is not None and text:
            option.opens(text)
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
