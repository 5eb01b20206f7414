"""HTTP connections: limits on their number, time limits, and closing of idle connections.

The HTTP server waits for ever for the rest of a request, and for readers who do not read. Somebody who opens many
connections and finishes no request would shut everybody else out.
"""

import asyncio
from collections.abc import Callable, Hashable
from contextlib import suppress
from dataclasses import dataclass
from typing import Generic, TypeVar

from uvicorn.protocols.http.h11_impl import H11Protocol

from textassay.survey.web.rate_limits import address_key

M = TypeVar("M", bound=Hashable)


class Queues(Generic[M]):
    """A queue a key. Whoever has to go is the first of the longest queue, so that nobody pushes out others.

    >>> queues = Queues[int]()
    >>> for number, key in enumerate(["many", "one", "many", "many"]):
    ...     queues.add(number, key)
    >>> queues.pop(), queues.pop(), queues.pop(), queues.pop(), queues.pop()
    (0, 2, 3, 1, None)
    """

    def __init__(self) -> None:
        self._queues: dict[str, dict[M, None]] = {}

    def add(self, member: M, key: str) -> None:
        """Put a member at the end of the queue of its key, where it is not in it yet."""
        self._queues.setdefault(key, {}).setdefault(member)

    def remove(self, member: M, key: str) -> None:
        """Take a member out, wherever it stands; none that is not there."""
        queue = self._queues.get(key, {})
        queue.pop(member, None)
        if not queue:
            self._queues.pop(key, None)

    def pop(self) -> M | None:
        """Take out the first of the longest queue; None where nobody waits."""
        if not self._queues:
            return None
        key = max(self._queues, key=lambda key: len(self._queues[key]))
        member = next(iter(self._queues[key]))
        self.remove(member, key)
        return member


# Browsers hold up to about three connections each for half a minute: enough for a thousand raters at once. Each takes
# one of the files that the process may open.
MOST = 4096
# What the store, its readers in all threads and the rest need beside connections; these must never lack a file.
_KEPT = 256
_FEWEST = 64


@dataclass(frozen=True)
class Patience:
    """How many seconds a server waits for others.

    `request`: for the first byte of a request on a new connection, and from there on for all of it; a phone on a bad
    line takes a few seconds. `reader`: for somebody who does not read what was sent. `idle`: for the next request.
    `store`: for another process that holds the study.
    """

    request: float = 20.0
    reader: float = 60.0
    idle: int = 30
    store: float = 5.0


def room_for_connections(most: int = MOST) -> int:
    """Let this process open as many files as it needs, as far as the system allows it; the connections that then fit.

    Systems begin with as few as 256 files, which a class with its browsers would use up; what is more than fits must
    be turned away while there are files left to save answers with.
    """
    try:
        import resource
    except ImportError:  # a system that does not count files
        return most
    limit, highest = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = most + _KEPT
    if _is_less(limit, wanted, resource.RLIM_INFINITY):
        raised = highest if _is_less(highest, wanted, resource.RLIM_INFINITY) else wanted
        with suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (raised, highest))
            limit = raised
        return max(_FEWEST, min(most, limit - _KEPT))
    return most


def _is_less(limit: int, wanted: int, infinity: int) -> bool:
    return limit != infinity and limit < wanted


class Incoming(H11Protocol):
    """A connection that is waited for only so long, unless it waits for us."""

    patience: Patience
    idle: Queues["Incoming"]

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Take the connection, and end another one where there is no room for it."""
        super().connection_made(transport)
        self._request = _Alarm(self.loop, transport.abort)
        self._reader = _Alarm(self.loop, transport.abort)
        self._address = address_key(self.client)
        self._has_begun = False
        self._make_room()
        self.idle.add(self, self._address)
        self._request.set(self.patience.request)

    def data_received(self, data: bytes) -> None:
        """A part of a request; the time for all of it runs from its first byte on."""
        super().data_received(data)
        if self._is_answering():
            self._request.stop()
            self.idle.remove(self, self._address)
        elif not self._has_begun:
            self._has_begun = True
            self._request.set(self.patience.request)

    def on_response_complete(self) -> None:
        """Wait for the next request; how long until it begins is up to the server's keep-alive."""
        self._request.stop()
        self._has_begun = False
        self.idle.add(self, self._address)
        super().on_response_complete()
        self._mind_the_end()
        if self._is_answering():  # the next request was there already
            self.idle.remove(self, self._address)

    def pause_writing(self) -> None:
        """The other side does not read what it asked for."""
        super().pause_writing()
        self._reader.set(self.patience.reader)
        self.idle.add(self, self._address)

    def resume_writing(self) -> None:
        """It reads again."""
        super().resume_writing()
        if not self.transport.is_closing():
            self._reader.stop()
        if self._is_answering():
            self.idle.remove(self, self._address)

    def timeout_keep_alive_handler(self) -> None:
        """No further request came."""
        super().timeout_keep_alive_handler()
        self._mind_the_end()

    def send_400_response(self, msg: str) -> None:
        """What came is no request."""
        super().send_400_response(msg)
        self._mind_the_end()

    def connection_lost(self, exc: Exception | None) -> None:
        """Nothing is left to wait for."""
        super().connection_lost(exc)
        self._request.stop()
        self._reader.stop()
        self.idle.remove(self, self._address)

    def _is_answering(self) -> bool:
        """Whether a whole request is here and the answer to it is not yet sent: it is our turn."""
        return self.cycle is not None and not self.cycle.more_body and not self.cycle.response_complete

    def _mind_the_end(self) -> None:
        """A connection that is closed goes on until everything is read, which may be never."""
        if self.transport.is_closing():
            self._reader.set(self.patience.reader)

    def _make_room(self) -> None:
        """Below the number at which the server turns everybody away; whoever has most connections loses one."""
        while self.limit_concurrency is not None and len(self.connections) >= self.limit_concurrency:
            longest = self.idle.pop()
            if longest is None:
                return
            # The server counts it until its end has come round.
            self.connections.discard(longest)
            longest.transport.abort()


class _Alarm:
    """Does something after a while, unless it is set anew or stopped."""

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


def incoming(patience: Patience) -> type[Incoming]:
    """The class of connections of one server: they share a queue of those that are idle."""

    class Ours(Incoming):
        pass

    Ours.patience, Ours.idle = patience, Queues()
    return Ours
