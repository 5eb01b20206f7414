"""Python strings to Arrow texts, refusing what is not whole Unicode."""

import pyarrow as pa

from textassay.corpus.errors import InputError
from textassay.corpus.sample import TEXT


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
