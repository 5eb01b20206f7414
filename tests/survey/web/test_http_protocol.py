"""Connections without a complete request are closed, and do not block others."""

import asyncio
import http.client
import socket
import time
from contextlib import ExitStack, closing, suppress
from pathlib import Path

import pytest

from tests.survey.conftest import ITEMS, STUDY
from tests.survey.web.server_process import connected, received, served
from tests.survey.web.simulated_time import FarEnd, run_skipping
from textassay.survey.store.study_store import Links, Store
from textassay.survey.web.connection_limits import Timeouts

pytest.importorskip("starlette", reason="needs starlette")

HEAD = b"GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\n"
WHOLE = HEAD + b"\r\n"
CUT = "reset|[Bb]roken pipe|aborted"
HALF_BODY = b"POST /join/x HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 9\r\n\r\nnew="
PATIENCE = Timeouts()
DAY = 86_400


@pytest.mark.parametrize("sent", [b"", HEAD, HALF_BODY], ids=["nothing", "half a head", "half a body"])
def test_who_does_not_finish_a_request_is_waited_for_so_long(sent: bytes) -> None:
    async def run() -> FarEnd:
        slow = FarEnd(PATIENCE)
        await asyncio.sleep(10)
        if sent:
            slow.send(sent)
        await asyncio.sleep(DAY)
        return slow

    slow = run_skipping(run)
    # The time for the request begins with the request.
    assert slow.aborted_at == pytest.approx(PATIENCE.request + (10 if sent else 0))
    assert slow.written == b""


def test_who_goes_on_bit_by_bit_is_waited_for_no_longer() -> None:
    async def run() -> FarEnd:
        slow = FarEnd(PATIENCE)
        slow.send(HEAD)
        while slow.aborted_at is None:
            await asyncio.sleep(1)
            slow.send(b"X-More: more\r\n")
        return slow

    assert run_skipping(run).aborted_at == pytest.approx(PATIENCE.request)


def test_a_phone_on_a_bad_line_is_waited_for() -> None:
    # A head that takes five seconds is no attack.
    assert PATIENCE.request > 3 * 5

    async def run() -> FarEnd:
        slow = FarEnd(PATIENCE)
        await asyncio.sleep(15)
        for part in (WHOLE[:10], WHOLE[10:30], WHOLE[30:]):
            slow.send(part)
            await asyncio.sleep(7)
        return slow

    slow = run_skipping(run)
    assert slow.written.startswith(b"HTTP/1.1 200 ")
    assert not slow.is_closing()


def test_a_kept_connection_may_rest_but_not_break_off() -> None:
    async def run() -> FarEnd:
        kept = FarEnd(PATIENCE)
        for _ in range(2):
            kept.send(WHOLE)
            await asyncio.sleep(PATIENCE.idle - 1)
            assert not kept.is_closing()
        kept.send(HEAD)
        await asyncio.sleep(DAY)
        return kept

    kept = run_skipping(run)
    assert kept.written.count(b"HTTP/1.1 200 ") == 2
    assert kept.aborted_at == pytest.approx(2 * (PATIENCE.idle - 1) + PATIENCE.request)


def test_an_idle_connection_ends_after_a_while_and_for_good_after_another() -> None:
    async def run() -> FarEnd:
        kept = FarEnd(PATIENCE)
        kept.send(WHOLE)
        await asyncio.sleep(DAY)
        return kept

    kept = run_skipping(run)
    assert kept.written.startswith(b"HTTP/1.1 200 ")
    assert kept.closed_at == pytest.approx(PATIENCE.idle)
    assert kept.aborted_at == pytest.approx(PATIENCE.idle + PATIENCE.reader)


@pytest.mark.parametrize(
    ("sent", "seconds"),
    [(b"nonsense\r\n\r\n", PATIENCE.request), (HEAD + b"Connection: close\r\n\r\n", PATIENCE.reader)],
    ids=["no request", "the last request"],
)
def test_a_connection_that_is_closed_ends(sent: bytes, seconds: float) -> None:
    async def run() -> FarEnd:
        deaf = FarEnd(PATIENCE)
        deaf.send(sent)
        await asyncio.sleep(DAY)
        return deaf

    deaf = run_skipping(run)
    assert deaf.written.startswith(b"HTTP/1.1 ")
    assert deaf.closed_at == pytest.approx(0)
    assert deaf.aborted_at == pytest.approx(seconds)


def test_who_does_not_read_is_waited_for_so_long() -> None:
    async def run() -> FarEnd:
        deaf = FarEnd(PATIENCE)
        await asyncio.sleep(5)
        # As when all buffers on the way are full; the answer to what is asked then has to wait.
        deaf.server.pause_writing()
        deaf.send(WHOLE)
        await asyncio.sleep(DAY)
        return deaf

    deaf = run_skipping(run)
    assert deaf.written == b""
    assert deaf.aborted_at == pytest.approx(5 + PATIENCE.reader)


@pytest.fixture
def study(tmp_path: Path) -> tuple[Path, Links]:
    """The file of a new study, and its links."""
    return tmp_path / "s.db", Store.create(tmp_path / "s.db", STUDY, ITEMS, n_raters=2)


def send_for_ever(connection: socket.socket, part: bytes, *, every: float = 0.0) -> None:
    """Send the same again and again, for far longer than anybody should stand it."""
    for _ in range(1200):
        connection.sendall(part)
        time.sleep(every)


def test_a_real_server_cuts_off_and_says_nothing_of_it(study: tuple[Path, Links]) -> None:
    with served(study[0], timeouts={"request": 0.5}) as (process, where), ExitStack() as held:
        slow = [held.enter_context(closing(connected(where))) for _ in range(4)]
        for connection, sent in zip(slow, (b"", HEAD, HALF_BODY, HEAD), strict=True):
            with suppress(OSError):  # cut off already, where this machine is slower than the server is patient
                connection.sendall(sent)
        with pytest.raises(OSError, match=CUT):
            send_for_ever(slow[-1], b"X-More: more\r\n", every=0.05)
        assert [received(connection, within=60) for connection in slow] == [(b"", True)] * 4
        process.terminate()
        assert process.communicate(timeout=300) == ("closed\n", "")


def test_who_does_not_read_or_has_nothing_more_to_ask_is_cut_off(study: tuple[Path, Links]) -> None:
    many = 1500 * b"GET /static/survey.css HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
    with served(study[0], timeouts={"reader": 0.5, "idle": 1}) as (_, where), ExitStack() as held:
        kept, deaf = (held.enter_context(closing(connection)) for connection in (connected(where), socket.socket()))
        kept.sendall(WHOLE)
        deaf.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        host, _, port = where.rpartition(":")
        deaf.connect((host, int(port)))
        deaf.settimeout(60)
        with pytest.raises(OSError, match=CUT):  # when all buffers are full
            send_for_ever(deaf, many)
        assert received(deaf, within=60)[1]
        answered, closed = received(kept, within=60)
        assert (answered[:13], closed) == (b"HTTP/1.1 200 ", True)


@pytest.mark.parametrize(
    "names", [(b"Transfer-Encoding", b"Content-Length"), (b"content-length", b"TRANSFER-ENCODING")]
)
@pytest.mark.parametrize("kept", [False, True])
def test_a_request_with_two_lengths_is_refused_and_the_connection_closed(
    study: tuple[Path, Links], names: tuple[bytes, bytes], kept: bool
) -> None:
    path, _ = study
    values = {b"transfer-encoding": b"chunked", b"content-length": b"5"}
    headers = b"".join(name + b": " + values[name.lower()] + b"\r\n" for name in names)
    request = b"POST /join/x HTTP/1.1\r\nHost: 127.0.0.1\r\n" + headers + b"\r\n0\r\n\r\n" + WHOLE
    with served(path) as (_, where), closing(connected(where)) as client:
        if kept:
            client.sendall(WHOLE)
            assert client.recv(65_536).startswith(b"HTTP/1.1 200 ")
        client.sendall(request)
        answered, closed = received(client, within=60)
        assert answered.removeprefix(b"ok\n").startswith(b"HTTP/1.1 400 ")
        # The request that is hidden behind it gets no answer.
        assert (answered.count(b"HTTP/1.1 "), b"connection: close" in answered.lower(), closed) == (1, True, True)
        # One length alone is fine.
        with closing(connected(where)) as other:
            other.sendall(b"POST /join/x HTTP/1.1\r\nHost: 127.0.0.1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n")
            assert not other.recv(65_536).startswith(b"HTTP/1.1 400 ")


def has_second_address() -> bool:
    """Whether connections can come from another address of this machine, as they can on Linux."""
    with closing(socket.socket()) as tried:
        try:
            tried.bind(("127.0.0.2", 0))
        except OSError:
            return False
    return True


@pytest.mark.skipif(not has_second_address(), reason="this machine has one address for itself only")
# The server keeps 256 files for other things than connections; so these are more connections than it has room for.
@pytest.mark.parametrize(("files", "connections"), [(350, 150), (1000, 800)])
def test_idle_connections_shut_nobody_out(study: tuple[Path, Links], files: int, connections: int) -> None:
    pytest.importorskip("resource")
    (path, links), for_ever = study, {"request": 600.0, "idle": 600}
    with served(path, files=files, timeouts=for_ever) as (process, where), ExitStack() as held:
        kept = held.enter_context(closing(http.client.HTTPConnection(where, timeout=300)))
        kept.request("GET", f"/r/{links.raters[0]}?now=start")
        assert kept.getresponse().read()
        idle = [held.enter_context(connected(where, source="127.0.0.2")) for _ in range(connections)]
        for connection in idle[-100::2]:
            connection.sendall(HEAD)
        # Who rates from elsewhere notices nothing, and keeps the connection.
        for _ in range(3):
            kept.request("GET", f"/r/{links.raters[0]}?now=start")
            assert kept.getresponse().read().startswith(b"<!doctype html>")
        # Others come in, even those who are behind the same address.
        for source in ("127.0.0.1", "127.0.0.2"):
            new = held.enter_context(
                closing(http.client.HTTPConnection(where, timeout=300, source_address=(source, 0)))
            )
            new.request("GET", f"/r/{links.raters[1]}")
            assert new.getresponse().status == 200
        # The first of those who asked for nothing had to go.
        assert received(idle[0], within=30) == (b"", True)
        process.terminate()
        assert process.communicate(timeout=300) == ("closed\n", "")
