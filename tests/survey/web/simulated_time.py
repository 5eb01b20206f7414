"""An event loop with a simulated clock, so that hours pass at once, and a client on it."""

import asyncio
import selectors
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

import pytest

from textassay.survey.web.connection_limits import Timeouts

uvicorn: Any = pytest.importorskip("uvicorn", reason="needs uvicorn")
T = TypeVar("T")
OK = {"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"0")]}


class _Skipping(selectors.DefaultSelector):
    """Where a loop would sleep, its clock goes on by so much instead."""

    now = 0.0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        assert timeout is not None, "everybody waits, and nothing will ever happen"
        self.now += max(0.0, timeout)
        return super().select(0)


class _Loop(asyncio.SelectorEventLoop):
    def __init__(self) -> None:
        self._clock = _Skipping()
        super().__init__(self._clock)

    def time(self) -> float:
        return self._clock.now


def run_skipping(work: Callable[[], Coroutine[Any, Any, T]]) -> T:
    """Run this as `asyncio.run` does, but however long it sleeps it takes no time."""
    with asyncio.Runner(loop_factory=_Loop) as runner:
        return runner.run(work())


class FarEnd(asyncio.Transport):
    """Somebody who has connected to a server: what was written to them, and when the server gave them up.

    They take what is written, but never say that it has come, so that a connection that is closed does not end.
    """

    written = b""
    closed_at: float | None = None
    aborted_at: float | None = None

    def __init__(self, timeouts: Timeouts) -> None:
        from textassay.survey.web.http_protocol import connection_class

        super().__init__({"peername": ("192.0.2.1", 5), "sockname": ("192.0.2.2", 80)})
        self._loop = asyncio.get_running_loop()
        kind = connection_class(timeouts)
        config = uvicorn.Config(
            _answer, http=kind, ws="none", lifespan="off", log_level="error", timeout_keep_alive=timeouts.idle
        )
        config.load()
        self.server = kind(config, uvicorn.server.ServerState(), {}, self._loop)
        self.server.connection_made(self)

    def send(self, data: bytes) -> None:
        """Something comes in at the server, unless it has given up."""
        if self.aborted_at is None:
            self.server.data_received(data)

    def write(self, data: Any) -> None:
        self.written += data

    def is_closing(self) -> bool:
        return self.closed_at is not None or self.aborted_at is not None

    def close(self) -> None:
        self.closed_at = self._loop.time() if self.closed_at is None else self.closed_at

    def abort(self) -> None:
        self.aborted_at = self._loop.time()
        self._loop.call_soon(self.server.connection_lost, None)


async def _answer(scope: Any, receive: Any, send: Any) -> None:
    """Say that all is well once the whole request is there."""
    while (message := await receive()).get("more_body"):
        pass
    if message["type"] == "http.request":
        await send(OK)
        await send({"type": "http.response.body", "body": b""})
