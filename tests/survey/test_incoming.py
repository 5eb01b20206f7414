"""Connections that ask for nothing, or not to the end: they are cut off, and shut nobody out."""

import asyncio
import http.client
import socket
import time
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

import pytest

from tests.survey.conftest import ITEMS, STUDY
from tests.survey.server_process import connected, received, served
from textassay.survey.room import Patience
from textassay.survey.store import Links, Store

pytest.importorskip("starlette", reason="needs starlette")
uvicorn = pytest.importorskip("uvicorn", reason="needs uvicorn")

HEAD = b"GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\n"
WHOLE = HEAD + b"\r\n"
CUT = "reset|[Bb]roken pipe|aborted"
HALF_BODY = b"POST /join/x HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 9\r\n\r\nnew="


def send_for_ever(connection: socket.socket, part: bytes, *, every: float = 0.0) -> None:
    """Send the same again and again, for far longer than anybody should stand it."""
    for _ in range(400):
        connection.sendall(part)
        time.sleep(every)


@pytest.fixture
def study(tmp_path: Path) -> tuple[Path, Links]:
    """The file of a new study, and its links."""
    return tmp_path / "s.db", Store.create(tmp_path / "s.db", STUDY, ITEMS, n_raters=2)


@pytest.mark.parametrize("sent", [b"", HEAD, HALF_BODY], ids=["nothing", "half a head", "half a body"])
def test_who_does_not_finish_a_request_is_cut_off(study: tuple[Path, Links], sent: bytes) -> None:
    with served(study[0], patience={"request": 0.5}) as (process, where), closing(connected(where)) as slow:
        slow.sendall(sent)
        assert received(slow, within=20) == (b"", True)
        process.terminate()
        assert process.communicate(timeout=30) == ("closed\n", "")


def test_who_goes_on_bit_by_bit_is_cut_off_too(study: tuple[Path, Links]) -> None:
    with served(study[0], patience={"request": 0.5}) as (_, where), closing(connected(where)) as slow:
        slow.sendall(HEAD)
        with pytest.raises(OSError, match=CUT):
            send_for_ever(slow, b"X-More: more\r\n", every=0.05)


def test_a_phone_on_a_bad_line_is_waited_for(study: tuple[Path, Links]) -> None:
    # A head that takes five seconds is no attack.
    assert Patience().request > 3 * 5
    with served(study[0], patience={"request": 2.0}) as (_, where), closing(connected(where)) as slow:
        time.sleep(1.3)
        # The time for the request begins with the request.
        for part in (WHOLE[:10], WHOLE[10:30], WHOLE[30:]):
            slow.sendall(part)
            time.sleep(0.6)
        answered, closed = received(slow, within=0.5)
        assert answered.startswith(b"HTTP/1.1 200 ")
        assert not closed


def test_a_kept_connection_may_rest_but_not_break_off(study: tuple[Path, Links]) -> None:
    with served(study[0], patience={"request": 0.5}) as (_, where), closing(connected(where)) as kept:
        for _ in range(2):
            kept.sendall(WHOLE)
            answered, closed = received(kept, within=1.2)
            assert answered.startswith(b"HTTP/1.1 200 ")
            assert not closed
        kept.sendall(HEAD)
        assert received(kept, within=20) == (b"", True)


def test_an_idle_connection_ends_after_a_while(study: tuple[Path, Links]) -> None:
    with served(study[0], patience={"idle": 1}) as (_, where), closing(connected(where)) as kept:
        kept.sendall(WHOLE)
        answered, closed = received(kept, within=20)
        assert answered.startswith(b"HTTP/1.1 200 ")
        assert closed


def test_who_does_not_read_is_cut_off(study: tuple[Path, Links]) -> None:
    many = 1500 * b"GET /static/survey.css HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
    with served(study[0], patience={"reader": 0.5}) as (_, where), closing(socket.socket()) as deaf:
        deaf.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        host, _, port = where.rpartition(":")
        deaf.connect((host, int(port)))
        deaf.settimeout(3)
        with pytest.raises(OSError, match=f"{CUT}|timed out"):  # when all buffers are full
            send_for_ever(deaf, many)
        time.sleep(1)
        _, closed = received(deaf, within=20)
        assert closed


@pytest.mark.parametrize("files", [350, 1000])
def test_idle_connections_shut_nobody_out(study: tuple[Path, Links], files: int) -> None:
    pytest.importorskip("resource")
    path, links = study
    with served(path, files=files) as (process, where), ExitStack() as held:
        kept = held.enter_context(closing(http.client.HTTPConnection(where, timeout=30)))
        kept.request("GET", f"/r/{links.raters[0]}?now=start")
        assert kept.getresponse().read()
        try:
            for number in range(files):
                idle = held.enter_context(connected(where, source="127.0.0.2"))
                idle.sendall(HEAD if number % 2 else b"")
        except OSError as error:
            pytest.skip(f"this machine has one address for itself only: {error}")
        # Who rates from elsewhere notices nothing, and keeps the connection.
        for _ in range(3):
            kept.request("GET", f"/r/{links.raters[0]}?now=start")
            assert kept.getresponse().read().startswith(b"<!doctype html>")
        # Others come in, even those who are behind the same address.
        for source in ("127.0.0.1", "127.0.0.2"):
            new = held.enter_context(closing(http.client.HTTPConnection(where, timeout=30, source_address=(source, 0))))
            new.request("GET", f"/r/{links.raters[1]}")
            assert new.getresponse().status == 200
        process.terminate()
        assert process.communicate(timeout=30) == ("closed\n", "")


class Deaf(asyncio.Transport):
    """The far end of a connection that never takes what is written, so that closing it never ends."""

    def __init__(self) -> None:
        super().__init__({"peername": ("192.0.2.1", 5), "sockname": ("192.0.2.2", 80)})
        self.written, self.aborted, self._closing = b"", False, False

    def write(self, data: Any) -> None:
        self.written += data

    def is_closing(self) -> bool:
        return self._closing

    def close(self) -> None:
        self._closing = True

    def abort(self) -> None:
        self.aborted = True


@pytest.mark.parametrize("sent", [b"nonsense\r\n\r\n", WHOLE, HEAD + b"Connection: close\r\n\r\n"])
def test_a_connection_that_is_closed_ends(sent: bytes) -> None:
    from textassay.survey.incoming import incoming

    async def app(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"0")]})
        await send({"type": "http.response.body", "body": b""})

    async def run() -> Deaf:
        kind = incoming(Patience(reader=0.05))
        config = uvicorn.Config(app, http=kind, ws="none", lifespan="off", log_level="error", timeout_keep_alive=0)
        config.load()
        transport = Deaf()
        made = kind(config, uvicorn.server.ServerState(), {}, asyncio.get_running_loop())
        made.connection_made(transport)
        made.data_received(sent)
        for _ in range(100):
            if transport.aborted:
                break
            await asyncio.sleep(0.02)
        return transport

    transport = asyncio.run(run())
    assert transport.written.startswith(b"HTTP/1.1 ")
    assert transport.aborted
