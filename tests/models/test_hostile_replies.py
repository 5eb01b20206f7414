"""Hostile replies of a real local server: one clear line each, in bounded time and memory, and the key stays secret."""

import gzip
import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import repeat

import numpy as np
import pytest

from textassay.corpus.printable import printable
from textassay.errors import InputError
from textassay.models.base import Decoding
from textassay.models.http_client import Retrying
from textassay.models.openai_endpoint import KEY, Completion, OpenAIModel

SECRET = "sk-a-secret-key"
TIMEOUT, ATTEMPTS = 0.5, 2
QUICK = Retrying(concurrency=1, attempts=ATTEMPTS, timeout=TIMEOUT, pause=0.01, longest_pause=0.02)
# The model may answer with 8 tokens: a reply has at most about one mebibyte.
MOST_TOKENS, MOST_BYTES = 8, 2**20 + 2**14

Reply = Callable[[], Iterator[bytes]]


@dataclass
class Server:
    """A server that answers every request with the same bytes."""

    reply: Reply = lambda: iter(())
    requests: list[bytes] = field(default_factory=list)
    sent: int = 0
    listener: socket.socket = field(default_factory=lambda: socket.create_server(("127.0.0.1", 0)))

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.listener.getsockname()[1]}"

    def run(self) -> None:
        with suppress(OSError):
            while True:
                threading.Thread(target=self.answer, args=(self.listener.accept()[0],), daemon=True).start()

    def answer(self, connection: socket.socket) -> None:
        with connection, suppress(OSError):
            connection.settimeout(10)
            request = b""
            while not request.endswith(b"}") and not request.startswith(b"\x16"):
                request += connection.recv(2**16)
            self.requests.append(request)
            for part in self.reply():
                connection.sendall(part)
                self.sent += len(part)


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    monkeypatch.setenv(KEY, SECRET)
    monkeypatch.setenv("NO_PROXY", "*")
    made = Server()
    threading.Thread(target=made.run, daemon=True).start()
    yield made
    made.listener.close()


def whole(content: bytes | str, *, status: str = "200 OK", headers: str = "") -> Reply:
    body = content.encode() if isinstance(content, str) else content
    head = f"HTTP/1.1 {status}\r\nContent-Length: {len(body)}\r\n{headers}\r\n".encode()
    return lambda: iter((head, body))


def raw(*parts: bytes) -> Reply:
    return lambda: iter(parts)


def endless(head: bytes, part: bytes, *, seconds: float = 0.0) -> Reply:
    def parts() -> Iterator[bytes]:
        yield head
        for again in repeat(part):
            time.sleep(seconds)
            yield again

    return parts


def plain(logs: object = None, **choice: object) -> Reply:
    choice = {"text": "a b", **choice} | ({} if logs is None else {"logprobs": {"token_logprobs": logs}})
    return whole(json.dumps({"choices": [choice]}))


def chat(logs: object) -> Reply:
    listed = {"content": [{"token": "a", "logprob": log} for log in logs]} if isinstance(logs, list) else logs
    return whole(json.dumps({"choices": [{"message": {"content": "a b"}, "logprobs": listed}]}))


def failing(status: str, message: str = "", headers: str = "") -> Reply:
    return whole(json.dumps({"error": {"message": message}}), status=status, headers=headers)


OK, CHUNKED = b"HTTP/1.1 200 OK\r\n", b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
TEXT = '{"choices": [{"text": "a b"}]}'
BIG = 10**400
UNREPORTED = Completion("a b")
NO_LOG = "wanted a number of at most 0"
LATE = f"no whole reply within {TIMEOUT:g} seconds"

# What is asked (plain texts, a chat, scores of texts), the reply, and the error or the value.
CASES: dict[str, tuple[str, Reply, str | Completion]] = {
    "score NaN": ("score", plain([None, float("nan")]), f"log-probability nan of token 2; {NO_LOG}"),
    "score infinity": ("score", plain([None, float("-inf")]), f"log-probability -inf of token 2; {NO_LOG}"),
    "score +10": ("score", plain([None, 10.0]), f"log-probability 10.0 of token 2; {NO_LOG}"),
    "score true": ("score", plain([None, True]), f"log-probability True of token 2; {NO_LOG}"),
    "score text": ("score", plain([None, "-0.5"]), f"log-probability '-0.5' of token 2; {NO_LOG}"),
    "score 400 digits": ("score", plain([None, -BIG]), "log-probability -1000"),
    "score 5,000 digits": ("score", whole(f'{{"choices": {"9" * 5000}}}'), "not JSON"),
    "score null inside": ("score", plain([None, -1.0, None]), f"log-probability None of token 3; {NO_LOG}"),
    "score none": ("score", plain([]), "the reply has no log-probabilities"),
    "score an object": ("score", plain({"a": -1}), "the reply has no log-probabilities"),
    "score other lengths": (
        "score", plain(logprobs={"tokens": ["a"], "token_logprobs": [None, -1]}), "other numbers of tokens",
    ),
    "text NaN": ("plain", plain([-1.0, float("nan")]), UNREPORTED),
    "text +10": ("plain", plain([10.0]), UNREPORTED),
    "text true": ("plain", plain([True, -1]), UNREPORTED),
    "text strings": ("plain", plain(["-1"]), UNREPORTED),
    "text 400 digits": ("plain", plain([-BIG]), UNREPORTED),
    "text lists": ("plain", plain([[-1.0]]), UNREPORTED),
    "chat NaN": ("chat", chat([float("nan")]), UNREPORTED),
    "chat 400 digits": ("chat", chat([-BIG]), UNREPORTED),
    "chat of a list": ("chat", chat({"content": [1, 2]}), UNREPORTED),
    "not an object": ("plain", whole("[1]"), "no choices"),
    "half JSON": ("plain", whole(TEXT[:-2]), "not JSON"),
    "not UTF-8": ("plain", whole(b'{"choices": [{"text": "\xff"}]}'), "not JSON"),
    "deep JSON": ("plain", whole("[" * 200_000), "not JSON"),
    "empty": ("plain", whole(""), "not JSON"),
    "no content": ("plain", raw(b"HTTP/1.1 204 No Content\r\n\r\n"), "not JSON"),
    "text of a number": ("plain", plain(text=7), "int in place of a text"),
    "the key as a reason": ("plain", plain(text="", finish_reason=SECRET), r"an empty text \(finish_reason '\*\*\*'\)"),
    "truncated": ("plain", raw(OK + b"Content-Length: 5000\r\n\r\n", TEXT.encode()), "no reply .*30 of 5,000 bytes"),
    "negative length": ("plain", raw(OK + b"Content-Length: -5\r\n\r\n{"), "not JSON"),
    "huge": ("plain", endless(OK + b"\r\n", b"[" * 2**16), f"a reply of more than {MOST_BYTES:,} bytes"),
    "huge length": (
        "plain", endless(OK + b"Content-Length: 999999999999\r\n\r\n", b" " * 2**16), "a reply of more than",
    ),
    "negative chunk": ("plain", endless(CHUNKED + b"-5\r\n", b" " * 2**16), "a reply of more than"),
    "endless chunks": ("plain", endless(CHUNKED, b"1000\r\n" + b" " * 4096 + b"\r\n"), "a reply of more than"),
    "garbage chunks": ("plain", raw(CHUNKED + b"zz\r\n{}\r\n"), "no reply .IncompleteRead"),
    "half a chunk": ("plain", raw(CHUNKED + b"ff\r\n{}"), "no reply .IncompleteRead"),
    "gzip": ("plain", whole(gzip.compress(b" " * 2**24), headers="Content-Encoding: gzip\r\n"), "not JSON"),
    "slow bytes": ("plain", endless(OK + b"\r\n", b" ", seconds=0.1), LATE),
    "slow head": ("plain", endless(b"HTTP/1.1 200", b"K", seconds=0.1), LATE),
    "slow lines": ("plain", endless(OK, b"A: b\r\n", seconds=0.1), LATE),
    "slow trailers": ("plain", endless(CHUNKED + b"1\r\n{\r\n0\r\n", b"A: b\r\n", seconds=0.1), LATE),
    "slow error": ("plain", endless(b"HTTP/1.1 400 Bad\r\n\r\n", b"a", seconds=0.1), "status 400"),
    "endless 100": ("plain", endless(b"", b"HTTP/1.1 100 Continue\r\n\r\n", seconds=0.01), LATE),
    "silence": ("plain", endless(b"", b"", seconds=0.1), LATE),
    "slow handshake": ("tls", endless(b"\x16\x03\x03\x40\x00", b"\x02", seconds=0.1), LATE),
    "nothing": ("plain", raw(), "no reply .RemoteDisconnected"),
    "not HTTP": ("plain", raw(b"SSH-2.0-OpenSSH_9\r\n"), "no reply .BadStatusLine"),
    "many headers": ("plain", raw(OK + b"A: b\r\n" * 1000 + b"\r\n"), "no reply .HTTPException: got more than 100"),
    "a long header": ("plain", raw(OK + b"A: " + b"b" * 100_000 + b"\r\n\r\n"), "no reply .LineTooLong"),
    "redirect": ("plain", failing("307 Moved", headers="Location: http://OTHER/\r\n"), "status 307: redirects are not"),
    "redirect to a file": ("plain", failing("302 Found", headers="Location: file:///etc/passwd\r\n"), "status 302"),
    "redirect to nonsense": ("plain", failing("301 M", headers="Location: http://[::1\r\n"), "status 301"),
    "echoed key": ("plain", failing("401 No", f"bad key {SECRET}"), rf"bad key \*\*\*; the key is in {KEY}"),
    "escaped key": ("plain", whole(f'{{"error": "\\u0073{SECRET[1:]}"}}', status="403 No"), r": \*\*\*;"),
    "control characters": ("plain", failing("400 B", "\x1b]0;x\x07\x1b[2J\u202e\r\nred"), r"x\\x07\\x1b\[2J\\u202e re"),
    "a long message": ("plain", failing("422 Bad", "a" * 99_000), r"aaa\.\.\.$"),
    "error of bytes": ("plain", whole(b"\xff\xfe\x00", status="400 Bad"), "status 400"),
    "server error": ("plain", failing("500 No", "oops"), f"status 500: oops; gave up after {ATTEMPTS} attempts"),
    "pause of a day": ("plain", failing("429 Slow", headers="Retry-After: 86400\r\n"), "a pause of 86400; try"),
    "pause for ever": ("plain", failing("503 Busy", headers="Retry-After: inf\r\n"), "a pause of inf; try again"),
    "pause of NaN": ("plain", failing("429 Slow", headers="Retry-After: nan\r\n"), "status 429.*gave up"),
    "pause before": ("plain", failing("429 Slow", headers="Retry-After: -1e308\r\n"), "status 429.*gave up"),
    "pause of nonsense": (
        "plain", failing("429 Slow", headers="Retry-After: Mon, 99 Foo 99999 00:00:00 +9999\r\n"), "status 429",
    ),
    "pause of ages": ("plain", failing("429 S", headers="Retry-After: Sun, 06 Nov 9994 08:49:37 GMT\r\n"), "of Sun"),
}  # fmt: skip


def ask(kind: str, address: str) -> Completion:
    tail = "" if kind == "chat" else "/completions"
    scheme = "https" if kind == "tls" else "http"
    model = OpenAIModel(f"{scheme}://{address}/v1{tail}", "m", max_tokens=MOST_TOKENS, retrying=QUICK)
    if kind == "score":
        scores = model.log_prob(["a b"])
        return Completion("", float(scores.log_probs[0]), int(scores.n_tokens[0]))
    rng = np.random.default_rng(0)
    (found,) = model.complete(1, decoding=Decoding(), prompts=["a"] if kind == "chat" else None, rng=rng)
    return found


@pytest.mark.parametrize("case", CASES)
def test_hostile_replies(case: str, server: Server) -> None:
    kind, server.reply, wanted = CASES[case]
    began = time.monotonic()
    if isinstance(wanted, Completion):
        assert ask(kind, server.address) == wanted
        return
    with pytest.raises(InputError, match=rf"^openai: .*{wanted}") as found:
        ask(kind, server.address)
    assert time.monotonic() - began < ATTEMPTS * TIMEOUT + 1.5
    message = str(found.value)
    assert message == printable(message)
    assert len(message) < 400
    assert SECRET not in message
    assert len(server.requests) <= ATTEMPTS
    # Nothing is read without a limit: what is sent beyond it fits into the buffers of the sockets.
    assert server.sent < ATTEMPTS * (MOST_BYTES + 2**24)


def test_the_key_does_not_follow_a_redirect(server: Server) -> None:
    other = Server()
    threading.Thread(target=other.run, daemon=True).start()
    server.reply = failing("308 Moved", headers=f"Location: http://{other.address}/v1/completions\r\n")
    with pytest.raises(InputError, match="status 308"):
        ask("plain", server.address)
    assert SECRET.encode() in server.requests[0]
    assert other.requests == []
    other.listener.close()


@pytest.mark.parametrize(
    "address",
    ["http://[::1/v1", "http://host:99999/v1", "http://host:0/v1", "http://a b/v1", "http://ho\x1bst/v1", "http://a..b/v1",
     f"http://{'a' * 70}/v1", "http:///v1", "http://host:x/v1"],
)  # fmt: skip
def test_addresses_that_are_none(address: str) -> None:
    with pytest.raises(InputError, match="wanted one that begins with http") as found:
        OpenAIModel(address, "m")
    assert str(found.value) == printable(str(found.value))
