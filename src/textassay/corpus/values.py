"""Values: JSON decoded strictly, strings and Arrow columns as valid texts, and the test for a number."""

import json
from numbers import Integral, Real
from typing import Any, NoReturn

import pyarrow as pa
import pyarrow.compute as pc

from textassay.corpus.files import unix_breaks
from textassay.corpus.printable import quoted, shortened
from textassay.corpus.sample import TEXT, as_text_array
from textassay.errors import InputError

_KINDS = {dict: "an object", list: "an array", str: "a string", bool: "a boolean", type(None): "null"}


def json_lines(block: str) -> list[str]:
    """The lines of a block of whole lines."""
    return unix_breaks(block).removesuffix("\n").split("\n")


def decode_line(line: str, where: str, number: int) -> Any:
    """The value of one line, None for a blank one; the place of a line that is in order is never written out."""
    try:
        value, end = _DECODER.raw_decode(line)
        if end == len(line):
            return value
    except (ValueError, RecursionError):
        pass
    return decode_json(line, f"{where}:{number}") if line.strip() else None


def has_json_lines(text: str) -> bool:
    r"""Whether a text holds several JSON values, one per line, and not one document.

    >>> has_json_lines('{"text": "a"}\n{"text": "b"}\n'), has_json_lines('[\n"a",\n"b"\n]')
    (True, False)
    """
    first, _, rest = text.lstrip().partition("\n")
    if not rest.strip():
        return False
    try:
        json.loads(first)
    except (ValueError, RecursionError):
        return False
    return True


def decode_json(text: str, where: str) -> Any:
    """One JSON value, or an error that names the fault and its column.

    >>> decode_json('{"text": "a", "text": "b"}', "real.jsonl:3")
    Traceback (most recent call last):
    textassay.errors.InputError: real.jsonl:3: not valid JSON: the key 'text' appears twice
    """
    try:
        return _DECODER.decode(text)
    except json.JSONDecodeError as error:
        line = f"line {error.lineno}, " if error.lineno > 1 else ""
        raise InputError(f"{where}: not valid JSON: {error.msg} ({line}column {error.colno})") from None
    except RecursionError:
        raise InputError(f"{where}: not valid JSON: nested too deeply") from None
    except ValueError as error:
        raise InputError(f"{where}: not valid JSON: {shortened(str(error))}") from None


def kind_of(value: object) -> str:
    """What a value is, for a message: the JSON name of its type, or the Python name for other objects."""
    if type(value) in (int, float):
        return f"a number ({value!r:.40})"
    return _KINDS.get(type(value), type(value).__name__)


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a JSON number")


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    record = dict(pairs)
    if len(record) != len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"the key {quoted([twice])} appears twice")
    return record


# Not pyarrow.json: it takes its types from the first block, joins lines that are broken, and counts no lines.
_DECODER = json.JSONDecoder(parse_constant=_no_constant, object_pairs_hook=_object)


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
