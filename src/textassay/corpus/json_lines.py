"""JSON decoded strictly, as one document or as one value per line, with the line number of anything odd."""

import json
from typing import Any, NoReturn

from textassay.corpus.files import unix_breaks
from textassay.corpus.printable import quoted, shortened
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
