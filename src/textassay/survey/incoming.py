"""Connections to the server: each has to say what it wants in time, and when all room is taken the idle ones go.

The HTTP server waits for ever for the rest of a request, and for readers who do not read. Somebody who opens many
connections and finishes no request would shut everybody else out.
"""

import asyncio
from collections.abc import Callable

from uvicorn.protocols.http.h11_impl import H11Protocol

from textassay.survey.limits import address_key
from textassay.survey.queues import Queues
from textassay.survey.room import Patience


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
