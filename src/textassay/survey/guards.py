"""What stands before every page: host check, limits on size and number, cross-site posts, and security headers."""

import logging
from dataclasses import dataclass, field

from starlette.requests import ClientDisconnect
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from textassay.corpus.errors import InputError
from textassay.survey.failures import StudyBusy, StudyGone
from textassay.survey.limits import Limits, address_key
from textassay.survey.origins import Origins, same_site
from textassay.survey.pages import Pages
from textassay.survey.problems import Problem, Said

MOST_BODY = 16 * 1024
MOST_PATH = 512
MOST_HEADERS = 16 * 1024
# When to ask again, in seconds, while another program holds the study.
_LATER = 5.0
# Not the words of other 503s: what was confirmed before may have gone with the file, and waiting alone helps nobody.
_GONE = Said(
    "This study cannot be reached",
    "Its file is not in its place, so nothing could be saved just now. Please tell those who sent you the link, and "
    "keep the link.",
    again=True,
)

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
class Guard:
    """The outermost layer of the application. It refuses before anything is read, and lets no fault tell its story."""

    app: ASGIApp
    origins: Origins
    limits: Limits
    pages: Pages
    # Which of the times that the study's file was gone the log has: everybody who asks meets it.
    _told: set[int] = field(default_factory=set)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
        elif scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008})
        else:
            await self._answer(scope, receive, send)

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        sealed = _Sealed(send)
        try:
            self._admit(scope)
            await self.app(self._inside(scope), _Bounded(receive), sealed)
        except ClientDisconnect:
            # Gone in the middle of a download: there is nobody to tell.
            return
        except Exception as fault:
            self._report(fault)
            if not sealed.started:
                await self._page_of(fault)(scope, receive, sealed)
            elif not isinstance(fault, InputError):
                raise

    def _admit(self, scope: Scope) -> None:
        """Refuse what can be refused by its head alone."""
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

    def _inside(self, scope: Scope) -> Scope:
        """The request as the routes know it: a proxy may leave the path of the base URL on, or take it off."""
        prefix, path = self.origins.prefix, scope["path"]
        if prefix and f"{path}/".startswith(f"{prefix}/"):
            return {**scope, "path": path[len(prefix) :] or "/"}
        return scope

    def _page_of(self, fault: Exception) -> Response:
        if isinstance(fault, StudyGone):
            return self.pages.page("problem", status=503, said=_GONE)
        if isinstance(fault, StudyBusy):
            return self.pages.problem(Problem(503, retry_after=_LATER))
        return self.pages.problem(fault if isinstance(fault, Problem) else Problem(500))

    def _report(self, fault: Exception) -> None:
        """Say what is wrong: in one line where it is a matter of the disk or of other programs, at length else."""
        if isinstance(fault, StudyGone):
            if fault.time not in self._told:
                self._told.add(fault.time)
                log.error("no answer is taken: %s", fault)
        elif isinstance(fault, InputError):
            log.error("a request failed: %s", fault)
        elif not isinstance(fault, Problem) or fault.status == 500:
            log.error("a request failed", exc_info=fault)


class _Sealed:
    """A `send` that puts the security headers on every response, and knows whether one has begun."""

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


class _Bounded:
    """A `receive` that stops reading a body that is too large, however it is cut up."""

    def __init__(self, receive: Receive) -> None:
        self._receive = receive
        self._read = 0

    async def __call__(self) -> Message:
        message = await self._receive()
        self._read += len(message.get("body", b""))
        if self._read > MOST_BODY:
            raise Problem(413)
        return message
