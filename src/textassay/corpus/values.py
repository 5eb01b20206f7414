"""Values from Python callers: strings as Arrow texts, and what counts as a number."""

from numbers import Integral, Real

import pyarrow as pa

from textassay.corpus.sample import TEXT
from textassay.errors import InputError


def string_array(texts: list[str], where: str, *, start: int = 1) -> pa.Array:
    """The strings as an Arrow array; `where` followed by the place of a bad one begins the error."""
    try:
        return pa.array(texts, type=TEXT)
    except (UnicodeEncodeError, pa.ArrowInvalid):
        for place, text in enumerate(texts, start):
            check_text(text, f"{where}{place}")
        raise


def check_text(text: str, where: str) -> str:
    """The text itself, or an error for half a surrogate pair, which JSON and Python can spell but UTF-8 cannot."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        half = f"\\u{ord(text[error.start]):04x}"
        raise InputError(f"{where}: the text holds half a surrogate pair ({half}); wanted whole characters") from None
    return text


def is_number(value: object) -> bool:
    """Whether something is a number; True and False are none.

    >>> [is_number(value) for value in (0.5, 3, True, "3")]
    [True, True, False, False]
    """
    return isinstance(value, Real) and not isinstance(value, bool)


def is_whole(value: object) -> bool:
    """Whether something is a whole number by its type.

    >>> [is_whole(value) for value in (3, 3.0, True)]
    [True, False, False]
    """
    return isinstance(value, Integral) and not isinstance(value, bool)
