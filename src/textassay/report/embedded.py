"""Values for the scripts of a page, as JSON that is safe inside a script element, and as many as there is room for."""

import json
from collections.abc import Iterable
from typing import Any

_UNSAFE = {ord(c): f"\\u{ord(c):04x}" for c in "<>&\u2028\u2029"}


def embedded(value: Any) -> str:
    """JSON that can neither end its script element nor begin another one.

    >>> print(embedded(["</script>", None]))
    ["\\u003c/script\\u003e",null]
    """
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False).translate(_UNSAFE)


def size(value: Any) -> int:
    """How many bytes a value takes."""
    return len(embedded(value).encode())


def fitting(parts: Iterable[list[Any]], room: int) -> tuple[list[list[Any]], int]:
    """The first parts that go into so many bytes, with a comma each, and the room that is left."""
    kept = []
    for part in parts:
        taken = size(part) + 1
        if taken > room:
            break
        room -= taken
        kept.append(part)
    return kept, room
