"""Values: JSON decoded strictly, columns of any library as Python values or valid texts, and the test for a number."""

import json
import os
import tomllib
from collections.abc import Iterable, Mapping
from numbers import Integral, Real
from typing import Any, NoReturn, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from textassay.corpus.files.reading import PER_VALUE, Budget, read_whole, unix_breaks
from textassay.corpus.files.writing import AnyPath
from textassay.corpus.printable import quoted, shortened
from textassay.corpus.sample import TEXT, as_text_array
from textassay.errors import InputError

_MISSING = ("NAType", "NaTType")
_PLAIN = {str, int, bool, list, type(None)}
# Before pyarrow had streams of arrays, `pa.chunked_array` split each string of such an object into characters.
_STREAMS = hasattr(pa.ChunkedArray, "__arrow_c_stream__")

# An Arrow array, chunked or not, a pandas or polars column, or a list of Python values.
Column: TypeAlias = Any
_KINDS = {dict: "an object", list: "an array", str: "a string", bool: "a boolean", type(None): "null"}


def json_lines(block: str) -> list[str]:
    """The lines of a block of whole lines."""
    return unix_breaks(block).removesuffix("\n").split("\n")


def decode_line(line: str, where: str, number: int) -> Any:
    """The value of one line, None for a blank one; the place of a line that is in order is never written out."""
    try:
        value, end = RECORD_DECODER.raw_decode(line)
        if end == len(line):
            return value
    except (ValueError, RecursionError):
        pass
    return decode_json(line, f"{where}:{number}", decoder=RECORD_DECODER) if line.strip() else None


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


def decode_json(text: str, where: str, *, decoder: json.JSONDecoder | None = None) -> Any:
    """One JSON value, or an error that names the fault and its column.

    >>> decode_json('{"text": "a", "text": "b"}', "real.jsonl:3")
    Traceback (most recent call last):
    textassay.errors.InputError: real.jsonl:3: not valid JSON: the key 'text' appears twice
    """
    try:
        return (decoder or _STRICT_DECODER).decode(text)
    except json.JSONDecodeError as error:
        raise not_json(where, error.msg, error.lineno, error.colno) from None
    except (ValueError, RecursionError) as error:
        raise not_json(where, error) from None


def not_json(where: str, fault: str | Exception, line: int = 0, column: int = 0) -> InputError:
    """The error for what is not valid JSON, with its line and column where they are known."""
    seen = "nested too deeply" if isinstance(fault, RecursionError) else shortened(str(fault))
    place = f" ({f'line {line}, ' if line > 1 else ''}column {column})" if column else ""
    return InputError(f"{where}: not valid JSON: {seen}{place}")


def json_line(fields: dict[str, Any]) -> str:
    """A line of JSON. Half a surrogate pair, which a prompt may hold, stays an escape: UTF-8 cannot have it."""
    return json.dumps(fields, ensure_ascii=False).encode(errors="backslashreplace").decode() + "\n"


def read_json(path: AnyPath) -> Any:
    """The JSON value in a file; its bytes and its values are within the reading budget."""
    where, budget = shortened(os.fsdecode(path)), Budget.of_input()
    content = read_whole(path, budget=budget)
    # A document may consist of empty values, which take many times the memory of their characters.
    budget.charge(PER_VALUE * sum(map(content.count, (b"[", b"{", b","))), where)
    try:
        text = content.decode()
    except UnicodeDecodeError as error:
        byte = content[error.start]
        raise InputError(f"{where}: not valid JSON: byte 0x{byte:02x} is not valid utf-8") from None
    return decode_json(text, where)


def read_toml(path: AnyPath) -> dict[str, Any]:
    """The tables of a TOML file within the reading budget."""
    where, data = shortened(os.fsdecode(path)), read_whole(path)
    try:
        return tomllib.loads(data.decode())
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise InputError(f"{where}:{line}: byte 0x{data[error.start]:02x} is not valid utf-8") from None
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise InputError(f"{where}: not valid TOML: {shortened(str(error))}") from None


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
_STRICT_DECODER = json.JSONDecoder(parse_constant=_no_constant, object_pairs_hook=_object)
# For records: tools write scores of NaN and Infinity, as Python's own encoder does, beside texts that are in order.
RECORD_DECODER = json.JSONDecoder(object_pairs_hook=_object)


def string_array(texts: list[str], where: str, *, start: int = 1) -> pa.Array:
    """The strings as an Arrow array; `where` followed by the place of a bad one begins the error."""
    try:
        return pa.array(texts, type=TEXT)
    except (UnicodeEncodeError, pa.ArrowInvalid):
        for index, text in enumerate(texts, start):
            check_text(text, f"{where}{index}")
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


def python_values(column: Column) -> list[Any]:
    """The values of a column as plain Python values."""
    if isinstance(column, list):
        return column
    values = column.to_pylist() if isinstance(column, pa.Array | pa.ChunkedArray) else column.to_list()
    return [plain_value(value) for value in values]


def plain_value(value: Any) -> Any:
    """A value as JSON would have it: lists for arrays and series, None for NaN and other marks of missing values."""
    if type(value) in _PLAIN:
        return value
    if isinstance(value, Mapping):
        return {name: plain_value(inner) for name, inner in value.items()}
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    elif hasattr(value, "to_list"):
        value = value.to_list()
    if isinstance(value, tuple):
        return list(value)
    is_nan = isinstance(value, float) and value != value  # noqa: PLR0124 - only NaN differs from itself
    return None if is_nan or type(value).__name__ in _MISSING else value


def is_words(value: object) -> bool:
    """Whether a cell shows that its column holds text: it is neither blank nor a number.

    >>> is_words("a cat"), is_words("7.5"), is_words(" ")
    (True, False, False)
    """
    if not isinstance(value, str):
        return False
    try:
        float(value)
    except ValueError:
        return bool(value.strip())
    return False


def holds_text(column: Column) -> bool:
    """Whether a column holds strings that are neither blank nor numbers."""
    if isinstance(column, list):
        return any(map(is_words, column))
    try:
        return is_text(arrow_column(column).type)
    except (pa.ArrowException, TypeError, ValueError):
        return False


def has_all(source: Any, *names: str) -> bool:
    """Whether an object has all these attributes."""
    return all(hasattr(source, name) for name in names)


def is_column(source: Any) -> bool:
    """Whether an object is a column of Arrow, pandas, polars or another library with Arrow streams."""
    is_array = isinstance(source, pa.Array | pa.ChunkedArray)
    return (
        is_array
        or _is_pandas(source)
        or has_all(source, "to_arrow")
        or (_STREAMS and has_all(source, "__arrow_c_stream__"))
    )


def _is_pandas(source: Any) -> bool:
    return has_all(source, "isna", "to_numpy")


def arrow_column(column: Column) -> Any:
    """A column as an Arrow array."""
    if isinstance(column, pa.Array | pa.ChunkedArray):
        return column
    if _is_pandas(column):
        return pa.array(column, from_pandas=True)
    return column.to_arrow() if has_all(column, "to_arrow") else pa.chunked_array(column)


def column_values(column: Column) -> Column:
    """A column as an Arrow array, or as a list of values, missing ones as None, where it mixes types."""
    if isinstance(column, list):
        return column
    try:
        return arrow_column(column)
    except (pa.ArrowException, TypeError, ValueError):
        missing = column.isna() if _is_pandas(column) else [value is None for value in column]
        return [None if gone else value for value, gone in zip(column, missing, strict=True)]


def text_column(column: Column, where: str, *, field: str | None = None, start: int = 1) -> pa.Array:
    """A column as valid texts, blank where a value is missing; anything but strings is an error."""
    label = where if field is None else f"{where}: field {quoted([field])}"
    values = column_values(column)
    if isinstance(values, list):
        _refuse_odd(values, label)
        raise InputError(f"{label}: values of several types; wanted strings")
    if pa.types.is_struct(values.type):
        raise InputError(f"{label}: a column of records; wanted strings")
    return column_texts(values, where, start=start, field=field)


def _refuse_odd(values: Iterable[Any], where: str) -> None:
    """Name the first value of a column of Python objects that is neither a string nor missing."""
    for number, value in enumerate(values, 1):
        is_missing = value is None or value != value  # noqa: PLR0124 - only NaN differs from itself
        if isinstance(value, str):
            check_text(value, f"{where}: text {number}")
        elif not is_missing:
            raise not_a_string(value, f"{where}: text {number}")


def not_a_string(value: object, place: str) -> InputError:
    """The error for a Python value in the place of a text."""
    return InputError(f"{place} is {type(value).__name__} ({shortened(repr(value), 40)}); wanted a string")
