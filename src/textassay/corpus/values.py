"""Values as texts and numbers: strings and Arrow columns as valid texts, and the test for a number."""

from numbers import Integral, Real
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from textassay.corpus.printable import quoted
from textassay.corpus.sample import TEXT, as_text_array
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


def column_texts(column: Any, where: str, *, start: int = 1, field: str | None = None) -> pa.Array:
    """The texts of an Arrow column in one piece or in chunks, which may have a dictionary each."""
    texts = []
    for chunk in column.chunks if isinstance(column, pa.ChunkedArray) else [column]:
        texts.append(text_array(chunk, where, start=start, field=field))
        start += len(chunk)
    return pa.concat_arrays(texts) if texts else pa.array([], TEXT)


def text_array(column: pa.Array, where: str, *, start: int = 1, field: str | None = None) -> pa.Array:
    """An Arrow column as texts: null becomes a blank text, bytes that are not UTF-8 are an error with their row."""
    label = where if field is None else f"{where}: field {quoted([field])}"
    texts = pc.fill_null(as_text_array(_plain_values(column), label), "")
    try:
        # Neither Arrow nor Parquet checks on the way in that what is declared a string is one.
        texts.validate(full=True)
    except pa.ArrowInvalid:
        raise _not_utf8(texts, label, start) from None
    return texts


def is_text(kind: pa.DataType) -> bool:
    """Whether a column of this type holds strings."""
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    return pa.types.is_string(kind) or pa.types.is_large_string(kind) or str(kind) == "string_view"


def _plain_values(column: pa.Array) -> pa.Array:
    """Categories as plain strings: Arrow cannot decode a dictionary of string views, which a stream may carry."""
    if pa.types.is_dictionary(column.type) and is_text(column.type):
        return pa.DictionaryArray.from_arrays(column.indices, column.dictionary.cast(TEXT)).dictionary_decode()
    return column


def _not_utf8(texts: pa.Array, label: str, start: int) -> InputError:
    for row, value in enumerate(texts.cast(pa.large_binary()), start):
        try:
            value.as_py().decode()
        except UnicodeDecodeError as error:
            byte = error.object[error.start]
            return InputError(f"{label}, row {row}: byte 0x{byte:02x} is not valid utf-8; wanted strings")
    return InputError(f"{label}: a damaged column; wanted strings")
