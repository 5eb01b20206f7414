"""Sizes in bytes: read from texts such as 500M, and shown in a readable unit."""

import re

_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([kmgt]?)(i?b)?", re.IGNORECASE)


def parse_size(text: str) -> int:
    """The number of bytes of a size; a single letter and `iB` use steps of 1024, `B` alone steps of 1000.

    >>> parse_size("500M"), parse_size("1.5 KiB"), parse_size("2 GB"), parse_size("77")
    (524288000, 1536, 2000000000, 77)
    """
    found = _SIZE.fullmatch(text.strip())
    if found is None:
        raise ValueError(text)
    step = 1000 if (found[3] or "").casefold() == "b" and found[2] else 1024
    return int(float(found[1]) * step ** " kmgt".index(found[2].casefold() or " "))


def shown_size(size: int) -> str:
    """A size in a readable unit.

    >>> shown_size(77), shown_size(4 * 2**30), shown_size(31_500_000)
    ('77 B', '4.0 GiB', '30.0 MiB')
    """
    amount, units = float(size), ["KiB", "MiB", "GiB", "TiB"]
    if size < 1024:
        return f"{size} B"
    while amount >= 1024 and units:
        amount, unit = amount / 1024, units.pop(0)
    return f"{amount:.1f} {unit}"
