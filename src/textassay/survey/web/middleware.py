"""Middleware of all pages: host check, limits, cross-site requests, security headers, and parsing of forms."""

import asyncio
import logging
import re
import secrets
from dataclasses import dataclass, field
from urllib.parse import parse_qsl

from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from textassay.errors import InputError
from textassay.survey.store.connections import StudyBusy, StudyGone
from textassay.survey.web.hosts import Origins, same_site
from textassay.survey.web.pages import Pages, Problem
from textassay.survey.web.rate_limits import Limits, address_key

MOST_BODY = 16 * 1024
MOST_PATH = 512
MOST_HEADERS = 16 * 1024
# The value of Retry-After in seconds while another program has locked the study.
_RETRY_AFTER = 5.0

HEADERS = {
    "content-security-policy": (
        "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; "
        "form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
    ),
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "x-robots-tag": "noindex, nofollow",
    "permissions-policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}

log = logging.getLogger("textassay.survey")


@dataclass(frozen=True)
class SecurityMiddleware:
    """The outermost layer of the application. It refuses bad requests early, and shows no details of errors."""

    app: ASGIApp
    origins: Origins
    limits: Limits
    pages: Pages
    # The StudyGone events that are already in the log: every request raises the same one.
    _reported: set[int] = field(default_factory=set)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
        elif scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008})
        else:
            await self._answer(scope, receive, send)

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        response = _ResponseHeaders(send)
        try:
            self._check_request(scope)
            await self.app(self._without_prefix(scope), _LimitedBody(receive), response)
        except ClientDisconnect:
            # The client left during a download.
            return
        except Exception as fault:
            self._report(fault)
            if not response.started:
                await self._error_page(fault)(scope, receive, response)
            elif not isinstance(fault, InputError):
                raise

    def _check_request(self, scope: Scope) -> None:
        """Refuse a request by its path and headers."""
        raw: list[tuple[bytes, bytes]] = scope["headers"]
        if len(scope.get("raw_path") or scope["path"]) + len(scope["query_string"]) > MOST_PATH:
            raise Problem(414)
        if sum(len(name) + len(value) for name, value in raw) > MOST_HEADERS:
            raise Problem(431)
        headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in raw}
        if [name.lower() for name, _ in raw].count(b"host") != 1 or not self.origins.knows(headers["host"]):
            raise Problem(400)
        if wait := self.limits.addresses.take(address_key(scope.get("client"))):
            raise Problem(429, retry_after=wait)
        if scope["method"] not in {"GET", "HEAD"} and not same_site(self.origins, headers):
            raise Problem(403)
        length = headers.get("content-length", "0")
        if not (length.isascii() and length.isdigit()):
            raise Problem(400)
        if int(length[:12]) > MOST_BODY:
            raise Problem(413)

    def _without_prefix(self, scope: Scope) -> Scope:
        """The request without the path of the base URL, which a proxy may remove or leave in place."""
        prefix, path = self.origins.prefix, scope["path"]
        if prefix and f"{path}/".startswith(f"{prefix}/"):
            return {**scope, "path": path[len(prefix) :] or "/"}
        return scope

    def _error_page(self, fault: Exception) -> Response:
        if isinstance(fault, StudyGone):
            # Differs from other 503 pages: confirmed answers may be lost with the file, and waiting does not help.
            return self.pages.problem(Problem(503, kind="gone"))
        if isinstance(fault, StudyBusy):
            return self.pages.problem(Problem(503, retry_after=_RETRY_AFTER))
        return self.pages.problem(fault if isinstance(fault, Problem) else Problem(500))

    def _report(self, fault: Exception) -> None:
        """Log an error: in one line if it concerns the disk or other programs, otherwise with its traceback."""
        if isinstance(fault, StudyGone):
            if fault.time not in self._reported:
                self._reported.add(fault.time)
                log.error("answers cannot be saved: %s", fault)
        elif isinstance(fault, InputError):
            log.error("a request failed: %s", fault)
        elif not isinstance(fault, Problem) or fault.status == 500:
            log.error("a request failed", exc_info=fault)


class _ResponseHeaders:
    """A `send` that adds the security headers to every response, and records whether a response has started."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self.started = False

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.started = True
            given = {name.lower() for name, _ in message["headers"]}
            missing = [(name.encode(), value.encode()) for name, value in HEADERS.items() if name.encode() not in given]
            message = {**message, "headers": [*message["headers"], *missing]}
        await self._send(message)


class _LimitedBody:
    """A `receive` that refuses a body that is too large, whatever its parts."""

    def __init__(self, receive: Receive) -> None:
        self._receive = receive
        self._read = 0

    async def __call__(self) -> Message:
        message = await self._receive()
        self._read += len(message.get("body", b""))
        if self._read > MOST_BODY:
            raise Problem(413)
        return message


_SECONDS = 20.0
_MOST_FIELDS = 10
_INTEGER = re.compile(r"-?[0-9]{1,9}")


async def read_form(request: Request) -> dict[str, str]:
    """The fields of a posted form; any other body is refused."""
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
    """A whole number in ASCII digits; anything else is refused."""
    if not _INTEGER.fullmatch(text):
        raise Problem(400)
    return int(text)


def check_key(given: str, wanted: str) -> None:
    """Refuse a form without the key of its rater or visitor; the comparison takes constant time.

    An empty key is never right: a visitor without the cookie has none.
    """
    if not wanted or not secrets.compare_digest(given.encode(), wanted.encode()):
        raise Problem(403)
