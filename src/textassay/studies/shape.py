"""The shape of an outcome that was read from a file: every field has the type that its class declares.

Files of results may be altered. They are read with plain code that trusts its input, and checked once, here, before
anything computes with them. A class whose fields must agree with each other has a method `check_fields`, which raises
`ValueError`.
"""

import math
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from textassay.corpus.printable import shortened
from textassay.corpus.values import is_number, is_whole
from textassay.errors import InputError

# Fields of any class that are probabilities.
_PROBABILITIES = ("p_value", "level", "power", "praise", "false_alarms")
# Fields of any class that are minus infinity for a text that a model cannot generate.
_LOG_PROBABILITIES = ("log_prob",)
# Fields of any class that have one of a few words.
_WORDS = {"better": ("higher", "lower", "closer"), "aspect": ("quality", "diversity", "both")}
# No result is near it, and its products are still numbers.
_LARGEST = 1e100


def check_shape(value: object, kind: Any, where: str = "") -> None:
    """Raise an error that names the field if a value is not of this type: a dataclass, or what its fields declare."""
    origin, arguments = get_origin(kind), get_args(kind)
    if is_dataclass(kind) and isinstance(kind, type):
        _check_dataclass(value, kind, where)
    elif origin in (Union, UnionType):
        _check_union(value, arguments, where)
    elif origin is Literal:
        _require(value in arguments, value, f"one of {', '.join(map(repr, arguments))}", where)
    elif origin is tuple:
        _check_tuple(value, arguments, where)
    elif origin is not None and isinstance(origin, type) and issubclass(origin, Mapping):
        _require(isinstance(value, Mapping), value, "an object", where)
        for key, each in value.items():  # type: ignore[attr-defined]
            check_shape(key, arguments[0], where)
            check_shape(each, arguments[1], f"{where}.{shortened(str(key), 40)}")
    else:
        _check_plain(value, kind, where)


def _check_dataclass(value: object, kind: type, where: str) -> None:
    _require(isinstance(value, kind), value, kind.__name__, where)
    for name, hint in _hints(kind):
        each, place = getattr(value, name), f"{where}.{name}" if where else name
        if not (name in _LOG_PROBABILITIES and each == -math.inf):
            check_shape(each, hint, place)
        if name in _WORDS:
            _require(each in _WORDS[name], each, f"one of {', '.join(_WORDS[name])}", place)
        if name in _PROBABILITIES:
            for share in each if isinstance(each, tuple) else (each,):
                is_right = not is_number(share) or math.isnan(share) or 0 <= share <= 1
                _require(is_right, share, "a number from 0 to 1", place)
    if check := getattr(value, "check_fields", None):
        check()


@cache
def _hints(kind: type) -> tuple[tuple[str, Any], ...]:
    hints = get_type_hints(kind)
    return tuple((field.name, hints[field.name]) for field in fields(kind))


def _check_union(value: object, kinds: tuple[Any, ...], where: str) -> None:
    if value is None and NoneType in kinds:
        return
    choices = [kind for kind in kinds if kind is not NoneType]
    for kind in choices[:-1]:
        try:
            check_shape(value, kind, where)
        except InputError:
            continue
        return
    check_shape(value, choices[-1], where)


def _check_tuple(value: object, kinds: tuple[Any, ...], where: str) -> None:
    _require(isinstance(value, tuple), value, "a list", where)
    values: tuple[Any, ...] = value  # type: ignore[assignment]
    each = (kinds[0],) * len(values) if len(kinds) == 2 and kinds[1] is ... else kinds
    _require(len(values) == len(each), value, f"{len(each)} values", where)
    for index, (one, kind) in enumerate(zip(values, each, strict=True)):
        check_shape(one, kind, f"{where}[{index}]")


def _check_plain(value: object, kind: Any, where: str) -> None:
    if kind is float:
        _require(is_number(value) and _is_a_float(value), value, "a number", where)
    elif kind is int:
        _require(is_whole(value) and _is_a_float(value), value, "a whole number", where)
    elif kind in (str, bool):
        _require(isinstance(value, kind), value, {str: "a text", bool: "true or false"}[kind], where)
    elif kind is Any and is_number(value):
        _require(_is_a_float(value), value, "a number", where)


def _is_a_float(value: Any) -> bool:
    """Whether a number can be computed with, or is NaN, which stands for null; JSON has numbers of any size."""
    return not abs(value) > _LARGEST


def _require(is_right: bool, value: object, wanted: str, where: str) -> None:
    if not is_right:
        raise InputError(f"{where} is {shortened(repr(value), 60)}; wanted {wanted}")
