"""The declaration of a metric: everything a table, a page or a law test needs to know about it."""

import importlib
import inspect
import pkgutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Literal, TypeVar, get_args, get_origin, get_type_hints

import numpy as np
from numpy.typing import NDArray

from textassay.views.item_pool import ItemPool
from textassay.views.ratings import Ratings

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


@dataclass(frozen=True, eq=False)
class Metric:
    """A metric and what is true of it; `roles` and `views` come from the function's positional-only parameters."""

    name: str
    function: Callable[..., Any]
    family: str
    aspect: Aspect
    better: Better
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
    approximate: Callable[[int], str] | None
    item: Callable[..., NDArray[np.float64]] | None
    most_labellings: int | None
    variant_bounds: Mapping[str, tuple[float, float]]
    roles: tuple[str, ...] = ()
    views: tuple[type, ...] = ()
    options: Mapping[str, Option] = field(default_factory=dict)

    @property
    def compares(self) -> bool:
        """True when it compares a candidate with a reference, False when it describes one sample."""
        return "reference" in self.roles

    @property
    def on_samples(self) -> bool:
        """True when it is measured on whole samples (`textassay compare`)."""
        return not {ItemPool, Ratings} & set(self.views)

    @property
    def on_items(self) -> bool:
        """True when it is measured on each item's few candidates and references (`textassay conditional`)."""
        return self.item is not None

    @property
    def on_ratings(self) -> bool:
        """True when it is measured on texts that people have rated (`textassay huse`)."""
        return Ratings in self.views

    @property
    def summary(self) -> str:
        """The first line of the docstring."""
        return (inspect.getdoc(self.function) or "").partition("\n")[0]

    def minimum_for(self, options: Mapping[str, Any]) -> int:
        """The fewest texts a sample needs under these options."""
        return self.minimum if isinstance(self.minimum, int) else self.minimum(**options)

    def approximation(self, sizes: Sequence[int]) -> str:
        """What a signature says of the short cut taken for samples of these sizes; empty where none is."""
        return self.approximate(sum(sizes)) if self.approximate else ""

    def bounds_for(self, options: Mapping[str, Any]) -> tuple[float, float]:
        """The bounds under these options: an unbiased or weighted variant may leave the range of the plain one."""
        special = (self.variant_bounds[str(value)] for value in options.values() if str(value) in self.variant_bounds)
        return next(special, self.bounds)


_REGISTRY: dict[str, Metric] = {}


def metric(
    name: str,
    *,
    family: str,
    aspect: Aspect,
    better: Better,
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
    approximate: Callable[[int], str] | None = None,
    item: Callable[..., NDArray[np.float64]] | None = None,
    most_labellings: int | None = None,
    variant_bounds: Mapping[str, tuple[float, float]] | None = None,
    limits: Mapping[str, tuple[float, float]] | None = None,
) -> Callable[[Function], Function]:
    """Declare a metric. The function itself is returned unchanged.

    `undefined` is the reason given when the value is not a number, `minimum` the fewest texts a sample needs (a number
    or a function of the options), `parts` a function of the same arguments that returns the named numbers behind the
    value. `leave_out`, where given, is a fast way to the jackknife: a function of the views, `labels` (the group of
    each text, one array a view) and the options that returns, one array a view, the value with each group of that view
    left out. `exchange`, where given, is a fast way to the test: a function of the views of candidate and reference,
    `resamples` and the options that returns one statistic a row (the metric's value, or for a metric that describes,
    the difference of the two values); for a metric on ratings, of the view and a matrix of labels, one value a column.
    `approximate` takes the number of pooled texts and says which short cut is taken there, as a signature field.
    `item`, where given, measures it on the texts of one item: a function of an `ItemPool`, `Labels` and the options
    that returns one value a labelling; `most_labellings` bounds how many of them are listed for a test where each
    takes long.
    `limits` bounds options.
    """
    if (interval is None) != bool(why_no_interval) or (test is None) != bool(why_no_test):
        raise TypeError(f"{name}: a missing interval or test needs a reason, and only a missing one")

    def declare(function: Function) -> Function:
        roles, views, options = _read_signature(function, limits or {})
        _REGISTRY[name] = Metric(
            name, function, family, aspect, better, bounds, interval, test, paper, why_no_interval, why_no_test,
            undefined, minimum, in_default, parts, leave_out, exchange, approximate, item, most_labellings,
            variant_bounds or {}, roles, views, options,
        )  # fmt: skip
        return function

    return declare


def _read_signature(
    function: Callable[..., Any], limits: Mapping[str, tuple[float, float]]
) -> tuple[tuple[str, ...], tuple[type, ...], dict[str, Option]]:
    hints = get_type_hints(function)
    parameters = inspect.signature(function).parameters.values()
    roles = tuple(p.name for p in parameters if p.kind is p.POSITIONAL_ONLY)
    options = {p.name: _option(p, hints[p.name], limits.get(p.name)) for p in parameters if p.kind is p.KEYWORD_ONLY}
    return roles, tuple(hints[role] for role in roles), options


def _option(parameter: inspect.Parameter, hint: Any, limits: tuple[float, float] | None) -> Option:
    if get_origin(hint) is Literal:
        return Option(parameter.name, parameter.default, str, get_args(hint))
    return Option(parameter.name, parameter.default, hint, limits=limits)


@cache
def _discover() -> None:
    package = importlib.import_module("textassay.metrics")
    for module in pkgutil.iter_modules(package.__path__):
        importlib.import_module(f"textassay.metrics.{module.name}")


def all_metrics() -> dict[str, Metric]:
    """Every declared metric by name: a file dropped into this folder is found here."""
    _discover()
    return dict(sorted(_REGISTRY.items()))
