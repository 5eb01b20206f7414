"""The server as a process: it says when it is ready, ends without a fuss, and explains what is in its way."""

import http.client
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from urllib.parse import urlencode, urlsplit

import pytest

from tests.survey.browsing import forms
from tests.survey.conftest import ITEMS, STUDY
from textassay.corpus.errors import InputError, MissingExtra
from textassay.survey.server import serve
from textassay.survey.store import Links, Store

PROGRAM = """
import sys
from pathlib import Path
from textassay.survey.server import serve
serve(Path(sys.argv[1]), port=0, on_ready=lambda url: print(url, flush=True))
print("closed", flush=True)
"""


@contextmanager
def served(path: Path) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A process that serves the study, and its address."""
    with subprocess.Popen(
        [sys.executable, "-c", PROGRAM, path], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stdout is not None
            yield process, urlsplit(process.stdout.readline().strip()).netloc
        finally:
            if process.poll() is None:
                process.kill()


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
    with served(path) as (process, where), closing(http.client.HTTPConnection(where, timeout=30)) as connection:
        connection.request("GET", f"/r/{links.raters[0]}?now=start")
        response = connection.getresponse()
        form = forms(response.read().decode())["answer"]
        assert "server" not in {name.lower() for name, _ in response.getheaders()}
        body = urlencode({**form.fields, "rating": "4"})
        connection.request("POST", form.action, body, {"content-type": "application/x-www-form-urlencoded"})
        assert connection.getresponse().status == 303
        process.send_signal(number)
        said, complained = process.communicate(timeout=30)
    assert (process.returncode, said, complained) == (0, "closed\n", "")
    assert not Path(f"{path}-wal").exists()
    with closing(Store.open(path)) as store:
        assert [rating.value for rating in store.ratings(checks=True)] == [4]


def test_an_endless_body_is_cut_off(study: tuple[Path, Links]) -> None:
    path, links = study
    with served(path) as (process, where), closing(http.client.HTTPConnection(where, timeout=30)) as connection:
        connection.putrequest("POST", f"/r/{links.raters[0]}/answer")
        connection.putheader("content-type", "application/x-www-form-urlencoded")
        connection.putheader("transfer-encoding", "chunked")
        connection.endheaders()
        connection.send(b"8000\r\n" + b"x" * 0x8000 + b"\r\n")
        assert connection.getresponse().status == 413
        process.terminate()
        assert process.wait(30) == 0


def test_a_port_that_is_taken_is_one_clear_line(study: tuple[Path, Links]) -> None:
    with closing(socket.create_server(("127.0.0.1", 0))) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(InputError) as refusal:
            serve(study[0], port=port)
    message = f"port {port} on 127.0.0.1: cannot listen there (address already in use); choose with --host and --port"
    assert str(refusal.value) == message


@pytest.mark.parametrize(("host", "port"), [("203.0.113.1", 0), ("no such host", 0), ("x" * 300, 1)])
def test_a_place_that_is_not_ours_is_one_clear_line(study: tuple[Path, Links], host: str, port: int) -> None:
    with pytest.raises(InputError, match=r"^port \d+ on .*cannot listen there \(.+\); choose with --host and --port$"):
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
    with pytest.raises(InputError, match=r"^base URL: .* is not a web address; wanted something like https://"):
        serve(study[0], port=0, base_url=base_url)


@pytest.mark.parametrize("missing", ["starlette", "uvicorn"])
def test_without_the_extra_its_name_is_said(monkeypatch: pytest.MonkeyPatch, missing: str) -> None:
    find = "textassay.survey.server.importlib.util.find_spec"
    monkeypatch.setattr(find, lambda name: None if name == missing else object())
    with pytest.raises(MissingExtra, match=rf"^{missing} is not installed; get it with: .*textassay\[survey\]"):
        serve(Path(os.devnull))


def test_a_file_that_is_no_study_is_refused(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("no database", encoding="utf-8")
    with pytest.raises(InputError, match=r"notes\.txt"):
        serve(tmp_path / "notes.txt", port=0)
