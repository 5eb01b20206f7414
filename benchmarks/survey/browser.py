"""What a rater's browser does: keeps a connection, takes pages apart, sends forms."""

import asyncio
import html
import re
import time
from dataclasses import dataclass, field
from urllib.parse import urlencode

FORM = "application/x-www-form-urlencoded"
PATIENCE = 30.0
_HIDDEN = re.compile(r'<input type="hidden" name="(\w+)" value="([^"]*)">')
_PLACE = re.compile(r"<h1[^>]*>Text (\d+) of (\d+)</h1>")
_TEXT = re.compile(r'<blockquote class="text"[^>]*>(.*?)</blockquote>', re.DOTALL)
_CHOICE = re.compile(r'<input type="radio" name="rating" value="(-?\d+)"')
_LOADED = re.compile(r'(?:href|src)="([^"]*/static/[^"]+)"')


class Lost(Exception):
    """No answer, or half of one. `excused` where the server was killed since the connection was made."""

    def __init__(self, fault: BaseException, *, excused: bool) -> None:
        super().__init__(type(fault).__name__)
        self.excused = excused


@dataclass
class Line:
    """Where the server is, how often it was killed, and whether it is down just now."""

    port: int
    kills: int = 0
    down: bool = False


@dataclass(frozen=True)
class Reply:
    """An answer of the server."""

    status: int
    location: str
    body: str


@dataclass(frozen=True)
class Page:
    """A text to rate: the form's key and task, the text, how many were answered before, and the choices."""

    key: str
    task: int
    text: str
    done: int
    choices: tuple[int, ...]


def page_of(body: str) -> Page | None:
    """The page of a text; None for any other page."""
    place, text, hidden = _PLACE.search(body), _TEXT.search(body), dict(_HIDDEN.findall(body))
    if place is None or text is None or not {"key", "task"} <= hidden.keys():
        return None
    choices = tuple(map(int, _CHOICE.findall(body)))
    return Page(hidden["key"], int(hidden["task"]), html.unescape(text[1]), int(place[1]) - 1, choices)


def files_of(body: str) -> list[str]:
    """The style and the script that a page loads."""
    return [html.unescape(path) for path in _LOADED.findall(body)]


@dataclass
class Browser:
    """One window with one connection. When that is lost, the next request makes a new one."""

    line: Line
    _kills: int = 0
    _streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = field(default=None, repr=False)

    async def get(self, path: str) -> tuple[Reply, float]:
        """A page, and the seconds it took."""
        return await self._ask(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{self.line.port}\r\n\r\n")

    async def post(self, path: str, fields: dict[str, str]) -> tuple[Reply, float]:
        """Send a form as our own page would, and the seconds until the answer was there."""
        body = urlencode(fields)
        return await self._ask(
            f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1:{self.line.port}\r\nOrigin: null\r\n"
            f"Sec-Fetch-Site: same-origin\r\nContent-Type: {FORM}\r\nContent-Length: {len(body)}\r\n\r\n{body}"
        )

    def close(self) -> None:
        """Close the window."""
        streams, self._streams = self._streams, None
        if streams is not None:
            streams[1].close()

    async def _ask(self, request: str) -> tuple[Reply, float]:
        began = time.perf_counter()
        try:
            async with asyncio.timeout(PATIENCE):
                reader, writer = self._streams or await self._connect()
                writer.write(request.encode("ascii"))
                reply, stays = await _reply(reader)
        except (OSError, EOFError, TimeoutError) as fault:
            self.close()
            raise Lost(fault, excused=self.line.down or self.line.kills != self._kills) from fault
        if not stays:
            self.close()
        return reply, time.perf_counter() - began

    async def _connect(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """A new connection. An attempt that begins while the server is down may fail, even if it is noticed later."""
        kills = self.line.kills
        self._kills = -1 if self.line.down else kills
        self._streams = await asyncio.open_connection("127.0.0.1", self.line.port)
        self._kills = kills
        return self._streams


async def _reply(reader: asyncio.StreamReader) -> tuple[Reply, bool]:
    """A whole answer, and whether the connection stays open."""
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    first, *lines = head.strip().split("\r\n")
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    if headers.get("transfer-encoding", "").lower() == "chunked":
        body = await _chunks(reader)
    else:
        body = await reader.readexactly(int(headers["content-length"]))
    reply = Reply(int(first.split(" ", 2)[1]), headers.get("location", ""), body.decode("utf-8"))
    return reply, headers.get("connection", "").lower() != "close"


async def _chunks(reader: asyncio.StreamReader) -> bytes:
    """A body that comes in pieces, each with its length before it; an empty one is the last."""
    body = b""
    while length := int(await reader.readline(), 16):
        body += await reader.readexactly(length)
        await reader.readexactly(2)
    await reader.readline()
    return body
