"""The codec between frozen dataclasses and plain values for JSON: NaN is null, and a tuple is a list.

A class with `to_dict` and `from_dict` has its own form; of every other one each field is written under its name.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, fields, is_dataclass
from functools import cache
from types import NoneType, UnionType
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

from textassay.inference.result import Result

T = TypeVar("T")


def plain(value: Any) -> Any:
    """The value as plain values for JSON.

    >>> plain({"low": math.nan, "names": ("a", "b")})
    {'low': None, 'names': ['a', 'b']}
    """
    if isinstance(value, Result):
        return sized(value)
    if hasattr(value, "to_dict"):
        return value.to_dict()
    if is_dataclass(value):
        return to_fields(value)
    if isinstance(value, Mapping):
        return {str(name): plain(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [plain(each) for each in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def to_fields(value: Any) -> dict[str, Any]:
    """The fields of a dataclass by name as plain values."""
    return {each.name: plain(getattr(value, each.name)) for each in fields(value)}


def built(kind: Any, given: Any) -> Any:
    """A value of this type from its plain values. Fields without a value have their default; unknown ones are left out.

    >>> built(tuple[float, ...], [1.5, None]), built(Mapping[str, str | tuple[str, ...]], {"test": ["a", "b"]})
    ((1.5, nan), {'test': ('a', 'b')})
    """
    if isinstance(kind, type) and isinstance(given, kind):
        return given
    if kind is Result:
        return read_sized(given)
    if isinstance(kind, type) and hasattr(kind, "from_dict"):
        return kind.from_dict(given)
    if isinstance(kind, type) and is_dataclass(kind):
        return from_fields(kind, given)
    origin, arguments = get_origin(kind), get_args(kind)
    if origin in (Union, UnionType):
        return _one_of(arguments, given)
    if origin is tuple:
        kinds = [arguments[0]] * len(given) if arguments[-1] is ... else arguments
        return tuple(built(each, value) for each, value in zip(kinds, given, strict=True))
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return {name: built(arguments[1], value) for name, value in given.items()}
    return math.nan if kind is float and given is None else given


def from_fields(kind: type[T], given: Mapping[str, Any]) -> T:
    """An instance of a dataclass from the plain values of its fields."""
    hints = _hints(kind)  # type: ignore[arg-type]  # classes are hashable
    wanted = [
        each
        for each in fields(kind)  # type: ignore[arg-type]
        if each.init and (each.name in given or each.default is each.default_factory is MISSING)
    ]
    return kind(**{each.name: built(hints[each.name], given[each.name]) for each in wanted})


@cache
def _hints(kind: Any) -> dict[str, Any]:
    return get_type_hints(kind)


def _one_of(kinds: tuple[Any, ...], given: Any) -> Any:
    """The first of several types that has this form: null, a list, an object or a single value."""
    if given is None and NoneType in kinds:
        return None
    for kind in kinds:
        is_list = get_origin(kind) is tuple
        is_object = is_dataclass(kind) or kind is Result
        if kind is not NoneType and is_list == isinstance(given, list) and is_object == isinstance(given, Mapping):
            return built(kind, given)
    return given


def sized(result: Result) -> dict[str, Any]:
    """A result with its own number of texts for JSON."""
    return result.to_dict() | {"n": result.n}


def read_sized(plain: Mapping[str, Any]) -> Result:
    """Read back what `sized` wrote."""
    return Result.from_dict({name: value for name, value in plain.items() if name != "n"}, n=plain["n"])


def read_results(results: Sequence[Mapping[str, Any]], sizes: Sequence[int]) -> tuple[Result, ...]:
    """Read back results whose numbers of texts or items were written apart from them."""
    return tuple(Result.from_dict(result, n=n) for result, n in zip(results, sizes, strict=True))
