"""Short names: what a family of names has in common at its start need not be read in every label."""

import re
from collections.abc import Sequence

# A shorter beginning is not worth hiding, and with two names the whole is easier to read.
_SHORTEST, _FEWEST = 5, 3


def short_names(names: Sequence[str]) -> list[str]:
    """The names without their common beginning, up to a place where a reader sees a part end.

    >>> short_names(["gpt2-large-T0.7", "gpt2-large-T0.9", "gpt2-large-T1.0"])
    ['…T0.7', '…T0.9', '…T1.0']
    """
    first, last = min(names, default=""), max(names, default="")
    common = first[: next((at for at, (a, b) in enumerate(zip(first, last, strict=False)) if a != b), len(first))]
    ends = [found.end() for found in re.finditer(r"[-_/:=\s]", common)]
    if len(names) < _FEWEST or not ends or ends[-1] < _SHORTEST or any(len(name) <= ends[-1] for name in names):
        return list(names)
    return [f"…{name[ends[-1] :]}" for name in names]
