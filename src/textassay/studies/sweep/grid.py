"""The grid of a sweep: values such as `0.5:1.5:0.1`, and the settings that they make."""

import glob
import math
import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

from textassay.corpus.files.reading import is_pattern, named_paths, pattern_files
from textassay.corpus.printable import natural_order
from textassay.corpus.values import is_number
from textassay.errors import InputError, Setting
from textassay.models.base import Decoding

MOST_SETTINGS = 200
DEFAULT_TEMPERATURES = "0.5:1.5:0.1"
# Values of a grid are rounded to this many digits, so that 0.5 + 3 * 0.1 is 0.8.
_DIGITS = 12
# A value this close to the end of a range, in steps, is its end.
_NEAR = 1e-6
_WANTED = "wanted numbers such as 0.5,0.7,1 or a range such as 0.5:1.5:0.1 or 0.25:4:x2"
# Larger numbers of values are not printed; the quotient may even be infinite.
_MOST_COUNTED = 1e12
# The short names of parameters in the names of settings.
SHORT = {"temperature": "t", "top_k": "k", "top_p": "p"}


@dataclass(frozen=True)
class GridPoint:
    """A setting of the sweep: its name, the name of its model (empty if there is one model only) and its decoding."""

    name: str
    model: str
    decoding: Decoding


def grid_values(name: str, given: Any) -> list[float | None]:
    """The values of one parameter, ascending and each once; None, which means no truncation, is the last.

    >>> grid_values("temperature", "0.5:1.25:0.25,2")
    [0.5, 0.75, 1.0, 1.25, 2.0]
    >>> grid_values("top_k", "1:8:x2,none"), grid_values("top_p", 0.9)
    ([1, 2, 4, 8, None], [0.9])
    """
    parts = given.split(",") if isinstance(given, str) else [given] if _is_single(given) else list(given)
    values = dict.fromkeys(value for part in parts for value in _values(name, part))
    if not values:
        raise InputError(Setting(name, given), f"; {_WANTED}")
    return sorted(values, key=lambda value: (value is None, value))


def _is_single(given: Any) -> bool:
    return given is None or is_number(given)


def _values(name: str, part: Any) -> Iterable[float | None]:
    if part is None or (isinstance(part, str) and part.strip() == "none" and name != "temperature"):
        return [None]
    if isinstance(part, str) and ":" in part:
        return [_fitting(name, value) for value in _range(name, part.strip())]
    return [_fitting(name, _number(name, part, part))]


def _number(name: str, text: Any, given: Any) -> float:
    try:
        value = float(text)
    except (TypeError, ValueError):
        value = math.nan
    if not math.isfinite(value):
        raise InputError(Setting(name, given), f"; {_WANTED}")
    return value


def _fitting(name: str, value: float) -> float:
    """The value as the parameter takes it: whole numbers for `top_k`, and only what a decoding setting can have."""
    rounded = float(f"{value:.{_DIGITS}g}")
    # A number with more digits stays as it is, for the error message.
    is_count = name == "top_k" and abs(rounded) < 10**_DIGITS and rounded == int(rounded)
    fitted: Any = int(rounded) if is_count else rounded
    Decoding(**{name: fitted})
    return float(fitted) if name != "top_k" else int(fitted)


def _range(name: str, text: str) -> list[float]:
    """The values of START:STOP:STEP, or of START:STOP:xFACTOR."""
    start, *rest = text.split(":")
    if len(rest) != 2:
        raise InputError(Setting(name, text), f"; {_WANTED}")
    low, high = _number(name, start, text), _number(name, rest[0], text)
    factor = re.fullmatch(r"[x*](.+)", rest[1].strip())
    step = _number(name, factor[1] if factor else rest[1], text)
    if high < low or step <= (1 if factor else 0) or (factor and low <= 0):
        wanted = "a start above 0 and a factor above 1" if factor else "a step above 0"
        raise InputError(Setting(name, text), f"; wanted the start below the end, and {wanted}")
    steps = (math.log(high) - math.log(low)) / math.log(step) if factor else (high - low) / step
    if steps + _NEAR >= MOST_SETTINGS:
        seen = f": {math.floor(steps + _NEAR) + 1:,} values" if steps < _MOST_COUNTED else ""
        raise InputError(Setting(name, text), f"{seen}; wanted at most {MOST_SETTINGS} settings")
    count = math.floor(steps + _NEAR) + 1
    values = [low * step**index if factor else low + step * index for index in range(count)]
    return list(map(round, values)) if factor and name == "top_k" else values


def grid_points(temperature: Any, top_k: Any, top_p: Any, *, models: Sequence[str]) -> list[GridPoint]:
    """All combinations of the values and models; without any values the temperatures from 0.5 to 1.5.

    >>> [point.name for point in grid_points("0.5,1", None, 0.9, models=["m"])]
    ['t=0.5,p=0.9', 't=1,p=0.9']
    """
    if temperature is None and top_k is None and top_p is None and len(models) == 1:
        temperature = DEFAULT_TEMPERATURES
    temperatures = [1.0] if temperature is None else grid_values("temperature", temperature)
    values = {"temperature": temperatures, "top_k": grid_values("top_k", top_k), "top_p": grid_values("top_p", top_p)}
    count = math.prod(map(len, values.values())) * len(models)
    if count > MOST_SETTINGS:
        raise InputError(f"a grid of {count:,} settings; wanted at most {MOST_SETTINGS}")
    several = [name for name, known in values.items() if len(known) > 1]
    found = []
    for model, chosen in product(models, product(*values.values())):
        parameters: dict[str, Any] = dict(zip(values, chosen, strict=True))
        decoding = Decoding(**parameters)
        label = model if len(models) > 1 else ""
        found.append(GridPoint(f"{label} {_name(decoding, several)}".strip(), label, decoding))
    return found


def _name(decoding: Decoding, varied: Sequence[str]) -> str:
    """The parameters that are varied or differ from their defaults; the temperature if there are none."""
    fields = decoding.fields()
    for name in varied:
        fields[SHORT[name]] = value_text(getattr(decoding, name))
    order = [short for short in SHORT.values() if short in fields]
    return ",".join(f"{short}={fields[short]}" for short in order) or "t=1"


def value_text(value: float | None) -> str:
    """The value of a parameter with all its digits, so that different values have different names.

    >>> value_text(0.8), value_text(1234567), value_text(None)
    ('0.8', '1234567', 'none')
    """
    return "none" if value is None else f"{value:.{_DIGITS}g}"


def checkpoint_files(given: Any) -> dict[str, str]:
    """Model files by name, in the order of the numbers in their names: epoch-2 comes before epoch-10."""
    paths: list[Any] = [given] if isinstance(given, str | os.PathLike) else list(given)
    found = [file for path in paths for file in _matching(os.fsdecode(path))]
    ordered: list[str] = sorted(dict.fromkeys(found), key=natural_order)
    return named_paths(ordered)


def _matching(path: str) -> list[str]:
    if not is_pattern(path) and not glob.has_magic(path):
        return [path]
    files = pattern_files(path)[0] if is_pattern(path) else [path]
    if not files:
        raise InputError(Setting("checkpoints", path), ": no file matches; wanted model files")
    return files
