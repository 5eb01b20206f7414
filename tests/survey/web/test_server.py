"""The server process: it reports when it is ready, stops cleanly, and explains what prevents it from starting."""

import http.client
import os
import signal
import socket
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest

from tests.survey.conftest import ITEMS, STUDY
from tests.survey.web.forms import forms
from tests.survey.web.server_process import connected, received, served
from textassay.errors import InputError, MissingExtra
from textassay.survey.store.study_store import Links, Store
from textassay.survey.web.server import serve


@pytest.fixture
def study(tmp_path: Path) -> tuple[Path, Links]:
    """The file of a new study, and its links."""
    path = tmp_path / "served.sqlite"
    return path, Store.create(path, STUDY, ITEMS, n_raters=1)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_it_serves_until_it_is_told_to_stop_and_says_nothing_of_tokens(
    study: tuple[Path, Links], number: signal.Signals
) -> None:
    path, links = study
    with served(path) as (process, where), closing(http.client.HTTPConnection(where, timeout=300)) as connection:
        connection.request("GET", f"/r/{links.raters[0]}?now=start")
        response = connection.getresponse()
        form = forms(response.read().decode())["answer"]
        assert "server" not in {name.lower() for name, _ in response.getheaders()}
        body = urlencode({**form.fields, "rating": "4"})
        connection.request("POST", form.action, body, {"content-type": "application/x-www-form-urlencoded"})
        assert connection.getresponse().status == 303
        process.send_signal(number)
        said, complained = process.communicate(timeout=300)
    assert (process.returncode, said, complained) == (0, "closed\n", "")
    assert not Path(f"{path}-wal").exists()
    with closing(Store.open(path)) as store:
        assert [rating.value for rating in store.ratings(checks=True)] == [4]


def test_an_endless_body_is_cut_off(study: tuple[Path, Links]) -> None:
    path, links = study
    with served(path) as (process, where), closing(http.client.HTTPConnection(where, timeout=300)) as connection:
        connection.putrequest("POST", f"/r/{links.raters[0]}/answer")
        connection.putheader("content-type", "application/x-www-form-urlencoded")
        connection.putheader("transfer-encoding", "chunked")
        connection.endheaders()
        connection.send(b"8000\r\n" + b"x" * 0x8000 + b"\r\n")
        assert connection.getresponse().status == 413
        process.terminate()
        assert process.wait(30) == 0


NOISE = {
    "nonsense": b"\x16\x03\x01 no request\r\n\r\n",
    "websocket": b"GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: upgrade, close\r\nUpgrade: websocket\r\n\r\n",
    "gone in the middle": b"POST /join/x HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 9\r\n\r\nnew=",
}


def test_nobody_can_make_the_server_write_to_its_log(study: tuple[Path, Links]) -> None:
    ended = {}
    with served(study[0]) as (process, where):
        for name, sent in NOISE.items():
            with closing(connected(where)) as connection:
                connection.sendall(sent)
                connection.shutdown(socket.SHUT_WR)
                _, ended[name] = received(connection, within=60)
        process.terminate()
        assert process.communicate(timeout=300) == ("closed\n", "")
    assert ended == dict.fromkeys(NOISE, True)


@pytest.mark.parametrize(
    ("options", "believed"),
    [
        ({}, False),
        ({"base_url": "https://rate.example.org"}, True),
        ({"base_url": "https://rate.example.org", "proxies": ["192.0.2.7"]}, False),
        ({"proxies": ["192.0.2.7", "127.0.0.0/8"]}, True),
    ],
)
def test_only_proxies_are_believed_when_they_say_who_asks(
    study: tuple[Path, Links], options: dict[str, Any], believed: bool
) -> None:
    def guess(sender: str) -> int:
        connection.request("GET", "/r/guess", headers={"x-forwarded-for": f"198.51.100.1, {sender}"})
        response = connection.getresponse()
        response.read()
        return response.status

    with (
        served(study[0], **options) as (_, where),
        closing(http.client.HTTPConnection(where, timeout=300)) as connection,
    ):
        assert {guess("203.0.113.1") for _ in range(40)} == {404, 429}
        # Each is another one, or is said to be another one by nobody in particular. On a slow machine one of them may
        # come when the next guess is free again, but not all.
        others = {guess(f"203.0.113.{number}") for number in range(2, 12)}
        assert (429 not in others) == believed


@pytest.mark.parametrize("proxy", ["", "*", "proxy.example.org", "10.0.0.0/33", "0.0.0.0/0", "::/0", "x" * 300])
def test_a_proxy_that_is_none_is_one_clear_line(study: tuple[Path, Links], proxy: str) -> None:
    with pytest.raises(
        InputError, match=r"^--proxy '.*' (is not an address|includes all addresses); wanted the address or network of"
    ):
        serve(study[0], port=0, proxies=[proxy])


def test_a_port_that_is_taken_is_one_clear_line(study: tuple[Path, Links]) -> None:
    with closing(socket.create_server(("127.0.0.1", 0))) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(InputError) as refusal:
            serve(study[0], port=port)
    message = (
        f"port {port} on 127.0.0.1: cannot listen (address already in use); use --host and --port to choose another"
    )
    assert str(refusal.value) == message


@pytest.mark.parametrize(("host", "port"), [("203.0.113.1", 0), ("no such host", 0), ("x" * 300, 1)])
def test_a_place_that_is_not_ours_is_one_clear_line(study: tuple[Path, Links], host: str, port: int) -> None:
    with pytest.raises(
        InputError, match=r"^port \d+ on .*cannot listen \(.+\); use --host and --port to choose another$"
    ):
        serve(study[0], host=host, port=port)


@pytest.mark.parametrize("port", [-1, 65_536])
def test_a_port_out_of_range_is_one_clear_line(study: tuple[Path, Links], port: int) -> None:
    with pytest.raises(InputError, match=rf"^port {port}: wanted a number from 0 to 65535$"):
        serve(study[0], port=port)


@pytest.mark.parametrize(
    "base_url",
    [
        "rate.example.org",
        "ftp://rate.example.org",
        "https://",
        "https://x.org/?a=b",
        "https://x.org/a;b",
        "https://x.org/\n",
    ],
)
def test_a_base_url_that_is_none_is_one_clear_line(study: tuple[Path, Links], base_url: str) -> None:
    with pytest.raises(InputError, match=r"^--url '.*' is not a web address; wanted an address such as https://"):
        serve(study[0], port=0, base_url=base_url)


@pytest.mark.parametrize("missing", ["starlette", "uvicorn"])
def test_without_the_extra_its_name_is_said(monkeypatch: pytest.MonkeyPatch, missing: str) -> None:
    find = "textassay.survey.web.server.importlib.util.find_spec"
    monkeypatch.setattr(find, lambda name: None if name == missing else object())
    with pytest.raises(MissingExtra, match=rf"^{missing} is not installed; get it with: .*textassay\[survey\]"):
        serve(Path(os.devnull))


def test_a_file_that_is_no_study_is_refused(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("no database", encoding="utf-8")
    with pytest.raises(InputError, match=r"notes\.txt"):
        serve(tmp_path / "notes.txt", port=0)


@pytest.mark.parametrize("trusted", [True, False])
def test_raters_are_told_apart_by_the_address_that_a_trusted_proxy_reports(
    study: tuple[Path, Links], trusted: bool
) -> None:
    """Two addresses of one IPv6 network count as one; without a trusted proxy nobody can claim another address."""
    path, links = study
    host = "rate.example.org" if trusted else "127.0.0.1"
    with served(path, base_url=f"http://{host}" if trusted else None) as (_, where):
        for claimed in ("198.51.100.1", "198.51.100.2", "2001:db8::1", "2001:db8::2"):
            headers = {"Host": host, "X-Forwarded-For": claimed}
            with closing(http.client.HTTPConnection(where, timeout=300)) as connection:
                connection.request("GET", f"/join/{links.join}", headers=headers)
                asked = connection.getresponse()
                form = forms(asked.read().decode())["form 0"]
                headers["Cookie"] = str(asked.getheader("set-cookie")).partition(";")[0]
                headers["Content-Type"] = "application/x-www-form-urlencoded"
                connection.request("POST", form.action, body=f"key={form.fields['key']}", headers=headers)
                assert connection.getresponse().status == 303
    with closing(Store.open(path)) as store:
        assert [use.joined for use in store.door().addresses] == ([2, 1, 1] if trusted else [4])
