"""Single items in all reports: as data that fits into the page, as readable texts, and in fair order."""

import json
import math
from collections.abc import Iterable, Sequence
from itertools import chain, zip_longest
from typing import Any, TypeVar

from textassay.corpus.printable import printable

T = TypeVar("T")
# One text may not displace the texts of other items from the page.
MOST_CHARACTERS = 3000
# Numbers of the list may take this share of the room; what is left is for texts.
_FOR_ROWS = 0.8
_UNSAFE = {ord(c): f"\\u{ord(c):04x}" for c in "<>&\u2028\u2029"}


def embedded(value: Any) -> str:
    """JSON that can neither end its script element nor begin another one.

    >>> print(embedded(["</script>", None]))
    ["\\u003c/script\\u003e",null]
    """
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False).translate(_UNSAFE)


def filled(
    frame: dict[str, Any], rows: Iterable[list[Any]], texts: Iterable[list[Any]], *, room: int
) -> tuple[list[list[Any]], list[list[Any]]]:
    """As many rows as there is room for beside the frame, then texts for as many of these, both in order."""
    room -= _bytes(frame)
    for_rows = int(room * _FOR_ROWS)
    kept, left = fitting(rows, for_rows)
    written, _ = fitting((text for _, text in zip(kept, texts, strict=False)), room - for_rows + left)
    return kept, written


def fitting(parts: Iterable[list[Any]], room: int) -> tuple[list[list[Any]], int]:
    """The first parts that fit into this many bytes, with a comma each, and the room that is left."""
    kept = []
    for part in parts:
        taken = _bytes(part) + 1
        if taken > room:
            break
        room -= taken
        kept.append(part)
    return kept, room


def _bytes(value: Any) -> int:
    return len(embedded(value).encode())


class TextTable:
    """Texts for the data of a page: a text is written where it first appears, and by its number afterwards."""

    def __init__(self) -> None:
        self._written: dict[str, int] = {}

    def __call__(self, text: str | None) -> str | int | None:
        """The text, its number if it was written before, or None."""
        if text is None or text in self._written:
            return None if text is None else self._written[text]
        self._written[text] = len(self._written)
        return readable(text, MOST_CHARACTERS)


def scaled(value: float, scale: float) -> int | None:
    """A number as a whole multiple of 1 / scale, which takes fewer bytes; None for what is not finite."""
    return round(value * scale) if math.isfinite(value) else None


def readable(text: str, most: int) -> str:
    r"""The text with its lines kept and control characters made visible, cut where it is too long.

    >>> print(readable("one\ntwo \x1b[31m", 100), readable("a long text", 6))
    one
    two \x1b[31m a lon…
    """
    shown = text if len(text) <= most else f"{text[: most - 1]}…"
    return "\n".join(printable(line) for line in shown.replace("\r\n", "\n").split("\n"))


def in_turns(lists: Iterable[Sequence[T]], most: int | None = None) -> list[T]:
    """The first of each list, then the second of each, and so on, so that no list fills the result.

    >>> in_turns(["abc", "x", "12"], 4)
    ['a', 'x', '1', 'b']
    """
    missing = object()
    turns = chain.from_iterable(zip_longest(*lists, fillvalue=missing))
    found: list[Any] = [each for each in turns if each is not missing]
    return found if most is None else found[: max(most, 0)]
