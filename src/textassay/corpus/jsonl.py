"""JSON lines: a record or a bare string a line, decoded strictly, with the line number of anything odd."""

import json
from collections.abc import Iterable, Iterator
from typing import Any, NoReturn

import pyarrow as pa

from textassay.corpus.errors import InputError
from textassay.corpus.fields import no_field, pick_field
from textassay.corpus.lines import unix_breaks
from textassay.corpus.printable import quoted, shortened
from textassay.corpus.strings import string_array

_KINDS = {dict: "an object", list: "an array", str: "a string", bool: "a boolean", type(None): "null"}


def json_texts(blocks: Iterable[str], where: str, *, field: str | None) -> Iterator[pa.Array]:
    """The text of each line. Blank lines and nulls become blank texts, which are counted further on."""
    picked = field
    start = 1
    for block in blocks:
        lines = json_lines(block)
        texts: list[str] = []
        for number, line in enumerate(lines, start):
            text = _usual(line, picked)
            if text is None:
                here = f"{where}:{number}"
                record = decode_json(line, here) if line.strip() else None
                if isinstance(record, dict):
                    picked = _pick(record, here) if picked is None else picked
                    text = _field_text(record, here, picked)
                else:
                    text = _bare_text(record, here, field)
            texts.append(text)
        yield string_array(texts, f"{where}:", start=start)
        start += len(lines)


def json_lines(block: str) -> list[str]:
    """The lines of a block of whole lines."""
    return unix_breaks(block).removesuffix("\n").split("\n")


def decode_json(text: str, where: str) -> Any:
    """One JSON value, or an error that says what is wrong and in which column.

    >>> decode_json('{"text": "a", "text": "b"}', "real.jsonl:3")
    Traceback (most recent call last):
    textassay.corpus.errors.InputError: real.jsonl:3: not valid JSON: the key 'text' appears twice
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


def seen(value: object) -> str:
    """What a JSON value is, in words, for a message."""
    if type(value) in (int, float):
        return f"a number ({value!r:.40})"
    return _KINDS[type(value)]


def _usual(line: str, field: str | None) -> str | None:
    """The text of a plain record that fills its whole line; None sends the line the careful way."""
    try:
        record, end = _DECODER.raw_decode(line)
    except (ValueError, RecursionError):
        return None
    if end != len(line) or type(record) is not dict:
        return None
    text = record.get(field)
    return text if type(text) is str else None


def _pick(record: dict[str, Any], where: str) -> str:
    textual = [name for name, value in record.items() if isinstance(value, str)]
    return pick_field(list(record), where, field=None, textual=lambda: textual)


def _field_text(record: dict[str, Any], where: str, field: str) -> str:
    if field not in record:
        raise no_field(list(record), where, field=field)
    value = record[field]
    if value is None or isinstance(value, str):
        return value or ""
    raise InputError(f"{where}: field {quoted([field])} is {seen(value)}; wanted a string")


def _bare_text(value: object, where: str, field: str | None) -> str:
    if value is None:
        return ""
    if isinstance(value, str) and field is None:
        return value
    wanted = "an object or a string" if field is None else f"an object with the field {quoted([field])}"
    raise InputError(f"{where}: {seen(value)}; wanted {wanted}")


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
