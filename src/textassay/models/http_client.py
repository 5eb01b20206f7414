"""A client for HTTP endpoints: concurrent requests, repeated after failures, each under one deadline.

A request that fails in a way that may pass (no connection, a timeout, too many requests, an error of the server) is
sent again after a growing, random pause, or after the pause that the server asks for. A reply is read up to a limit and
until a deadline, however fast its bytes come. The key goes to the address only: redirects are errors. The design note
on endpoints states why this is not a library.
"""

import json
import socket
import ssl
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from typing import Any, TypeVar

import numpy as np

from textassay.corpus.printable import shortened
from textassay.errors import InputError

T = TypeVar("T")
# Status codes after which the same request may succeed.
_TRANSIENT = frozenset((408, 409, 425, 429, 500, 502, 503, 504, 520, 521, 522, 523, 524, 529))
# An unreasonable request for a pause is an error, not a run that seems to hang.
_LONGEST_PAUSE = 600.0
_ERROR_BYTES, _BLOCK = 100_000, 2**16
# Shorter keys are placeholders for servers that need none, and parts of ordinary words.
_LEAST_KEY = 6


@dataclass(frozen=True)
class Retrying:
    """How often and how fast to send requests; times in seconds.

    `timeout` is the time for a whole request and its reply, after the name of the host was looked up. The pause before
    attempt `k + 1` is random between 0 and `pause * 2**k`, at most `longest_pause`.
    """

    concurrency: int = 8
    attempts: int = 8
    timeout: float = 120.0
    pause: float = 0.5
    longest_pause: float = 30.0


@dataclass(frozen=True)
class Asked:
    """A request: its JSON content, and the most bytes that a reply to it can have."""

    body: dict[str, Any]
    most_bytes: int


class _Refused(Exception):
    """A failure after which the same request may succeed; `pause` is what the server asks for, in seconds."""

    def __init__(self, why: str, pause: float = 0.0) -> None:
        super().__init__(why)
        self.pause = pause


class _Deadline:
    """Ends the connection of one request when its time is over or the run is stopped, wherever it waits."""

    def __init__(self, seconds: float) -> None:
        self.is_over = False
        self._lock = threading.Lock()
        self._socket: socket.socket | None = None
        self._timer = threading.Timer(seconds, self.end)
        self._timer.daemon = True
        self._timer.start()

    def watch(self, connected: socket.socket) -> None:
        """Shut this connection down in the end. The copy stays valid when TLS takes the original over."""
        with self._lock:
            self._socket = connected.dup()
        if self.is_over:
            self.end()

    def end(self) -> None:
        with self._lock:
            self.is_over = True
            if self._socket is not None:
                with suppress(OSError):
                    self._socket.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        self._timer.cancel()
        with self._lock:
            if self._socket is not None:
                self._socket.close()
                self._socket = None


class _Request(urllib.request.Request):
    deadline: _Deadline


class _Connection(HTTPConnection):
    deadline: _Deadline

    def connect(self) -> None:
        super().connect()
        self.deadline.watch(self.sock)


class _SecureConnection(HTTPSConnection, _Connection):
    """The base classes are in this order so that the deadline also ends a slow TLS handshake."""


class _PlainHandler(urllib.request.HTTPHandler):
    def http_open(self, req: Any) -> Any:
        return self.do_open(_watched(_Connection, req.deadline), req)


class _SecureHandler(urllib.request.HTTPSHandler):
    def __init__(self) -> None:
        self._trusted = ssl.create_default_context()
        super().__init__(context=self._trusted)

    def https_open(self, req: Any) -> Any:
        return self.do_open(_watched(_SecureConnection, req.deadline), req, context=self._trusted)


def _watched(kind: type[_Connection], deadline: _Deadline) -> Any:
    def connection(host: str, **options: Any) -> _Connection:
        made = kind(host, **options)
        made.deadline = deadline
        return made

    return connection


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """A redirect could send the key to another host; its address is not even read."""

    def http_error_302(self, req: Any, fp: Any, code: int, msg: str, headers: Any) -> None:  # noqa: ARG002
        return None

    http_error_301 = http_error_303 = http_error_307 = http_error_308 = http_error_302


class Client:
    """Sends requests to one address on several threads, with a shared pause when the server asks for one."""

    def __init__(self, address: str, key: str, retrying: Retrying, *, where: str, key_place: str) -> None:
        self._address = address
        self._retrying = retrying
        self._where = where
        self._key_place = key_place
        self._headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
        self._secret = key
        self._opener = urllib.request.build_opener(_NoRedirect, _PlainHandler, _SecureHandler)
        self._stopped = threading.Event()
        self._lock = threading.Lock()
        self._running: set[_Deadline] = set()
        self._not_before = 0.0
        self._random = np.random.default_rng()

    def replies(self, asked: Mapping[int, Asked], read: Callable[[Any, int], T]) -> Iterator[tuple[int, T]]:
        """The number of every request and what `read` makes of the reply's JSON and the number, as they arrive.

        After an error no more requests are sent; replies to those that are under way still arrive before it is raised.
        """
        left = iter(asked.items())
        running: dict[Future[T], int] = {}
        first_error: BaseException | None = None
        pool = ThreadPoolExecutor(self._retrying.concurrency)
        try:
            while True:
                while not first_error and len(running) < self._retrying.concurrency and (pair := next(left, None)):
                    running[pool.submit(self._reply, pair[0], pair[1], read)] = pair[0]
                if not running:
                    break
                for future in wait(running, return_when=FIRST_COMPLETED).done:
                    number = running.pop(future)
                    if error := future.exception():
                        first_error = first_error or error
                        self._stopped.set()
                    else:
                        yield number, future.result()
        finally:
            self._stopped.set()
            with self._lock:
                unfinished = list(self._running)
            for deadline in unfinished:
                deadline.end()
            pool.shutdown(wait=False, cancel_futures=True)
        if first_error:
            raise first_error

    def _reply(self, number: int, asked: Asked, read: Callable[[Any, int], T]) -> T:
        for attempt in range(1, self._retrying.attempts + 1):
            self._pause()
            try:
                return read(self._sent(asked), number)
            except _Refused as refused:
                if attempt == self._retrying.attempts:
                    raise InputError(f"{self._where}: {refused}; gave up after {attempt} attempts") from None
                self._back_off(attempt, refused.pause)
            except InputError as error:
                raise InputError(self._without_key(str(error))) from None
        raise AssertionError

    def _pause(self) -> None:
        while (left := self._not_before - time.monotonic()) > 0:
            if self._stopped.wait(left):
                break
        if self._stopped.is_set():
            raise InputError(f"{self._where}: stopped")

    def _back_off(self, attempt: int, wanted: float) -> None:
        """Wait for a random time; if the server asks for a pause, all requests wait."""
        most = min(self._retrying.longest_pause, self._retrying.pause * 2 ** (attempt - 1))
        with self._lock:
            random = float(self._random.uniform(0, most))
            if wanted:
                self._not_before = max(self._not_before, time.monotonic() + wanted)
        self._stopped.wait(random)

    def _sent(self, asked: Asked) -> Any:
        """The JSON value of the reply to one request."""
        with self._deadline() as deadline:
            try:
                content = self._content(asked, deadline)
            except InputError:
                raise
            except urllib.error.HTTPError as error:
                with error:
                    raise self._failed(error) from None
            except (OSError, HTTPException, ValueError) as error:
                why = getattr(error, "reason", error)
                seen = f"no reply ({self._safe(f'{type(why).__name__}: {why}')})"
                is_late = deadline.is_over or isinstance(why, TimeoutError)
                raise _Refused(self._late if is_late else seen) from None
        if deadline.is_over:
            raise _Refused(self._late)
        try:
            return json.loads(content)
        except (ValueError, RecursionError):
            raise _Refused("a reply that is not JSON") from None

    @property
    def _late(self) -> str:
        return f"no whole reply within {self._retrying.timeout:g} seconds"

    @contextmanager
    def _deadline(self) -> Iterator[_Deadline]:
        deadline = _Deadline(self._retrying.timeout)
        with self._lock:
            self._running.add(deadline)
        try:
            yield deadline
        finally:
            with self._lock:
                self._running.discard(deadline)
            deadline.close()

    def _content(self, asked: Asked, deadline: _Deadline) -> bytes:
        request = _Request(self._address, json.dumps(asked.body).encode(), self._headers)
        request.deadline = deadline
        with self._opener.open(request, timeout=self._retrying.timeout) as reply:
            content = _read(reply, asked.most_bytes + 1)
            if len(content) > asked.most_bytes:
                raise InputError(f"{self._where}: a reply of more than {asked.most_bytes:,} bytes")
            return content

    def _failed(self, error: urllib.error.HTTPError) -> Exception:
        message = ""
        with suppress(OSError, HTTPException, ValueError):
            message = self._safe(_message(_read(error.fp, _ERROR_BYTES)))
        what = f"status {error.code}" + (f": {message}" if message else "")
        if error.code in _TRANSIENT:
            return _Refused(what, self._asked_pause(error.headers.get("Retry-After")))
        if 300 <= error.code < 400:
            what = f"status {error.code}: redirects are not followed; wanted the address that it leads to"
        if error.code in (401, 403):
            what += f"; the key is in {self._key_place}"
        return InputError(f"{self._where}: {what}")

    def _asked_pause(self, header: str | None) -> float:
        seconds = asked_pause(header)
        if seconds > _LONGEST_PAUSE:
            asks = f"the server asks for a pause of {self._safe(str(header), 40)}"
            raise InputError(f"{self._where}: {asks}; try again later")
        return seconds

    def _safe(self, message: str, width: int = 200) -> str:
        """One printable line of a message, without the key."""
        return shortened(self._without_key(" ".join(message.split())), width)

    def _without_key(self, message: str) -> str:
        return message.replace(self._secret, "***") if len(self._secret) >= _LEAST_KEY else message


def _read(reply: Any, most: int) -> bytes:
    """The content of an `HTTPResponse`, at most `most` bytes; an error if it ends too early.

    In blocks: a chunk of a negative size would be read without a limit otherwise.
    """
    promised = most if reply.length is None else min(most, reply.length)
    content = bytearray()
    while len(content) < promised and (block := reply.read1(min(_BLOCK, promised - len(content)))):
        content += block
    if reply.length is not None and len(content) < promised:
        raise HTTPException(f"{len(content):,} of {promised:,} bytes")
    return bytes(content)


def _message(content: bytes) -> str:
    """The message of an error reply, in the form of OpenAI or as it is."""
    text = content.decode("utf-8", "replace")
    try:
        found = json.loads(text)["error"]
        return str(found["message"] if isinstance(found, dict) else found)
    except (ValueError, KeyError, TypeError, RecursionError):
        return text


def asked_pause(header: str | None) -> float:
    """The seconds of a `Retry-After` header, a number or a date; 0 for anything else.

    >>> [asked_pause(header) for header in (None, "2.5", "-1", "soon", "nan")]
    [0.0, 2.5, 0.0, 0.0, 0.0]
    """
    try:
        seconds = float(header or 0)
    except ValueError:
        try:
            seconds = (parsedate_to_datetime(str(header)) - datetime.now(UTC)).total_seconds()
        except (ValueError, TypeError, IndexError, OverflowError):
            return 0.0
    return seconds if seconds > 0 else 0.0
