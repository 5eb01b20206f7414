"""The HTTP protocol with time limits, and with closing of idle connections when there are too many.

By itself the HTTP server waits without a limit for the rest of a request, and for clients that do not read. A client
that opens many connections without finishing a request would block all others.
"""

import asyncio
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from textassay.survey.web.connection_limits import Timeouts
from textassay.survey.web.rate_limits import address_key

# The most bytes of a request before its body.
_MOST_HEAD = 32 * 1024
M = TypeVar("M", bound=Hashable)


class IdleConnections(Generic[M]):
    """Idle connections, in one queue per client. The first one of the longest queue is closed first.

    So a client with many connections cannot displace the connections of others.

    >>> idle = IdleConnections[int]()
    >>> for number, key in enumerate(["many", "one", "many", "many"]):
    ...     idle.add(number, key)
    >>> idle.pop(), idle.pop(), idle.pop(), idle.pop(), idle.pop()
    (0, 2, 3, 1, None)
    """

    def __init__(self) -> None:
        self._queues: dict[str, dict[M, None]] = {}

    def add(self, member: M, key: str) -> None:
        """Append a member to the queue of its key, unless it is already in it."""
        self._queues.setdefault(key, {}).setdefault(member)

    def remove(self, member: M, key: str) -> None:
        """Remove a member from the queue of its key, if it is in it."""
        queue = self._queues.get(key, {})
        queue.pop(member, None)
        if not queue:
            self._queues.pop(key, None)

    def pop(self) -> M | None:
        """Remove and return the first member of the longest queue; None if all queues are empty."""
        if not self._queues:
            return None
        key = max(self._queues, key=lambda key: len(self._queues[key]))
        member = next(iter(self._queues[key]))
        self.remove(member, key)
        return member


class _OneLength(h11.Connection):
    """A parser that refuses a request with both Transfer-Encoding and Content-Length.

    The standard lets a server ignore the latter. But a proxy in front that ignores the former sees another end of the
    request, and takes what follows for the request of somebody else.
    """

    def next_event(self) -> h11.Event | type[h11.NEED_DATA] | type[h11.PAUSED]:
        event = super().next_event()
        if isinstance(event, h11.Request):
            names = {name.lower() for name, _ in event.headers}
            if {b"transfer-encoding", b"content-length"} <= names:
                raise h11.RemoteProtocolError("both Transfer-Encoding and Content-Length")
        return event


class TimedConnection(H11Protocol):
    """A connection with time limits on the client; there is no limit while the client waits for a response."""

    timeouts: Timeouts
    idle: IdleConnections["TimedConnection"]

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Accept the connection, and close another one if there are too many."""
        super().connection_made(transport)
        self.conn = _OneLength(h11.SERVER, self.config.h11_max_incomplete_event_size or _MOST_HEAD)
        self._request = _Timer(self.loop, transport.abort)
        self._reader = _Timer(self.loop, transport.abort)
        self._address = address_key(self.client)
        self._has_begun = False
        self._close_surplus()
        self.idle.add(self, self._address)
        self._request.set(self.timeouts.request)

    def data_received(self, data: bytes) -> None:
        """Receive a part of a request; the time limit for the whole request starts with its first byte."""
        super().data_received(data)
        if self._is_answering():
            self._request.stop()
            self.idle.remove(self, self._address)
        elif not self._has_begun:
            self._has_begun = True
            self._request.set(self.timeouts.request)

    def on_response_complete(self) -> None:
        """Wait for the next request; the server's keep-alive limits how long."""
        self._request.stop()
        self._has_begun = False
        self.idle.add(self, self._address)
        super().on_response_complete()
        self._limit_closing_time()
        if self._is_answering():  # the next request has already arrived
            self.idle.remove(self, self._address)

    def pause_writing(self) -> None:
        """Limit the time in which the client must read the response."""
        super().pause_writing()
        self._reader.set(self.timeouts.reader)
        self.idle.add(self, self._address)

    def resume_writing(self) -> None:
        """The client reads again: cancel the limit."""
        super().resume_writing()
        if not self.transport.is_closing():
            self._reader.stop()
        if self._is_answering():
            self.idle.remove(self, self._address)

    def timeout_keep_alive_handler(self) -> None:
        """Close a connection on which no further request came."""
        super().timeout_keep_alive_handler()
        self._limit_closing_time()

    def send_400_response(self, msg: str) -> None:
        """Respond to data that is not a valid request."""
        super().send_400_response(msg)
        self._limit_closing_time()

    def connection_lost(self, exc: Exception | None) -> None:
        """Cancel all timers."""
        super().connection_lost(exc)
        self._request.stop()
        self._reader.stop()
        self.idle.remove(self, self._address)

    def _is_answering(self) -> bool:
        """Whether a complete request has arrived and its response is not yet sent."""
        return self.cycle is not None and not self.cycle.more_body and not self.cycle.response_complete

    def _limit_closing_time(self) -> None:
        """Limit the time until a closing connection is closed: it waits until the client has read everything."""
        if self.transport.is_closing():
            self._reader.set(self.timeouts.reader)

    def _close_surplus(self) -> None:
        """Close idle connections until a new one fits; the client with the most connections loses one first."""
        while self.limit_concurrency is not None and len(self.connections) >= self.limit_concurrency:
            longest = self.idle.pop()
            if longest is None:
                return
            # The server would count it until `connection_lost` is called.
            self.connections.discard(longest)
            longest.transport.abort()


class _Timer:
    """Calls a function after a delay, unless it is set again or stopped."""

    def __init__(self, loop: asyncio.AbstractEventLoop, action: Callable[[], None]) -> None:
        self._loop, self._action = loop, action
        self._timer: asyncio.TimerHandle | None = None

    def set(self, seconds: float) -> None:
        self.stop()
        self._timer = self._loop.call_later(seconds, self._action)

    def stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


def connection_class(timeouts: Timeouts) -> type[TimedConnection]:
    """The connection class of one server. Its connections share the queues of idle connections."""

    class Ours(TimedConnection):
        pass

    Ours.timeouts, Ours.idle = timeouts, IdleConnections()
    return Ours
