"""Names made short: without their common beginning, or cut, and still different from each other."""

import re
from collections.abc import Sequence

from rich.cells import cell_len

# A shorter beginning is not worth hiding, and two names are easier to read in full.
_SHORTEST, _FEWEST = 5, 3
# Fewer characters behind a hidden beginning tell a reader nothing: a name is then cut in the middle instead.
_LEAST = 3


def short_names(names: Sequence[str], *, fewest: int = _FEWEST) -> list[str]:
    """The names without their common beginning, cut after a separator.

    >>> short_names(["gpt2-large-T0.7", "gpt2-large-T0.9", "gpt2-large-T1.0"])
    ['…T0.7', '…T0.9', '…T1.0']
    """
    first, last = min(names, default=""), max(names, default="")
    common = first[: next((at for at, (a, b) in enumerate(zip(first, last, strict=False)) if a != b), len(first))]
    ends = [found.end() for found in re.finditer(r"[-_/:=\s]", common)]
    if len(names) < fewest or not ends or ends[-1] < _SHORTEST or any(len(name) <= ends[-1] for name in names):
        return list(names)
    return [f"…{name[ends[-1] :]}" for name in names]


def fitted_names(names: Sequence[str], width: int) -> list[str]:
    """The names in at most this many cells of a terminal, still different from each other, by number if necessary.

    >>> fitted_names(["model-temperature-0.7-topk-run-1", "model-temperature-0.7-topk-run-2"], 24)
    ['model-tempe…7-topk-run-1', 'model-tempe…7-topk-run-2']
    """
    without_beginning = short_names(names, fewest=2)
    if len(set(names)) == len(names) and all(_LEAST < cell_len(name) <= width for name in without_beginning):
        return list(names) if all(cell_len(name) <= width for name in names) else without_beginning
    for shorter in (list(names), without_beginning):
        for tail in (width // 2, 0):
            fitted = [_fitted(name, width, tail) for name in shorter]
            if len(set(fitted)) == len(names):
                return fitted
    prefixes = [f"{place} " for place in range(1, len(names) + 1)]
    return [f"{prefix}{_fitted(name, width - len(prefix), 0)}" for prefix, name in zip(prefixes, names, strict=True)]


def _fitted(name: str, width: int, tail: int) -> str:
    """The name in at most `width` cells, with up to `tail` cells of its end."""
    if cell_len(name) <= width:
        return name
    end = next(name[len(name) - n :] for n in range(tail, -1, -1) if cell_len(name[len(name) - n :]) <= tail)
    room = max(width - 1 - cell_len(end), 0)
    return f"{next(name[:n] for n in range(room, -1, -1) if cell_len(name[:n]) <= room)}…{end}"
