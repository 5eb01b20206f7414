"""The body of a form: read within a time, bounded by the guard, and taken apart by the standard library."""

import asyncio
import re
import secrets
from urllib.parse import parse_qsl

from starlette.requests import ClientDisconnect, Request

from textassay.survey.problems import Problem

_SECONDS = 20.0
_MOST_FIELDS = 8
_INTEGER = re.compile(r"-?[0-9]{1,9}")


async def read_form(request: Request) -> dict[str, str]:
    """The fields of a posted form; a body that is not plainly such a form is refused."""
    try:
        async with asyncio.timeout(_SECONDS):
            body = await request.body()
    except (TimeoutError, ClientDisconnect):
        raise Problem(408) from None
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if body and kind != "application/x-www-form-urlencoded":
        raise Problem(415)
    return _fields(body)


def _fields(body: bytes) -> dict[str, str]:
    try:
        text = body.decode("ascii")
        pairs = parse_qsl(text, keep_blank_values=True, errors="strict", max_num_fields=_MOST_FIELDS)
    except ValueError:
        raise Problem(400) from None
    fields = dict(pairs)
    if len(fields) != len(pairs):
        raise Problem(400)
    return fields


def integer(text: str) -> int:
    """A whole number in plain digits; anything else is refused."""
    if not _INTEGER.fullmatch(text):
        raise Problem(400)
    return int(text)


def check_key(given: str, wanted: str) -> None:
    """Refuse a form that does not carry the key of its rater; takes as long for a near miss as for a far one."""
    if not secrets.compare_digest(given.encode(), wanted.encode()):
        raise Problem(403)
