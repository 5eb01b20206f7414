"""Endpoints: a real local server over a tiny model, with failures of every kind, and replies that are no texts."""

import asyncio
import json
import re
import socket
import threading
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from textassay.errors import InputError
from textassay.models.base import Decoding
from textassay.models.choose import get_model
from textassay.models.http_client import Retrying, asked_pause
from textassay.models.openai_endpoint import KEY, Completion, OpenAIModel
from textassay.models.oracle import Oracle
from textassay.work_files import locked

uvicorn = pytest.importorskip("uvicorn")
starlette = pytest.importorskip("starlette")

from starlette.applications import Starlette  # noqa: E402
from starlette.requests import Request  # noqa: E402
from starlette.responses import JSONResponse, PlainTextResponse, RedirectResponse, StreamingResponse  # noqa: E402
from starlette.routing import Route  # noqa: E402

SECRET = "sk-a-secret-key"
TINY = Oracle.random(vocabulary=6, hidden=3, length=4, rng=np.random.default_rng(0))
QUICK = Retrying(concurrency=6, attempts=6, timeout=1.0, pause=0.01, longest_pause=0.05)


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def written(body: dict[str, Any]) -> str:
    """The text of the tiny model for a request; the seed and the prompt determine it."""
    messages = body.get("messages")
    prompt = messages[0]["content"] if messages else body["prompt"]
    (text,) = TINY.sample(1, temperature=body["temperature"], prompts=[prompt], rng=rng(body["seed"]))
    return text


@dataclass
class Endpoint:
    """An OpenAI-compatible server over the tiny model. `faults` are sent first, one per request, in this order."""

    faults: list[str] = field(default_factory=list)
    requests: list[dict[str, Any]] = field(default_factory=list)
    answered: Counter[int] = field(default_factory=Counter)
    running: int = 0
    most_running: int = 0
    port: int = 0
    refused_until: float = 0.0
    early: int = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    async def reply(self, request: Request) -> Any:
        body = await request.json()
        self.requests.append(body)
        self.early += time.monotonic() < self.refused_until
        if request.headers["authorization"] != f"Bearer {SECRET}":
            return JSONResponse({"error": {"message": f"bad key {request.headers['authorization']}"}}, 401)
        self.running += 1
        self.most_running = max(self.running, self.most_running)
        try:
            await asyncio.sleep(0.005)
            if self.faults:
                return await self.fault(self.faults.pop(0), body)
        finally:
            self.running -= 1
        if body.get("echo"):
            return JSONResponse(echoed(body))
        self.answered[body["seed"]] += 1
        return JSONResponse(finished(body))

    async def fault(self, kind: str, body: dict[str, Any]) -> Any:
        if kind == "timeout":
            await asyncio.sleep(1.6)
            return JSONResponse(finished(body))
        if kind == "killed":
            return StreamingResponse(self.half(body), headers={"Content-Length": "5000"})
        if kind == "limited":
            self.refused_until = time.monotonic() + 0.25
            return PlainTextResponse("slow down", 429, headers={"Retry-After": "0.3"})
        if kind == "not json":
            return PlainTextResponse("<html>")
        if kind == "redirect":
            return RedirectResponse("http://127.0.0.1:1/elsewhere", 307)
        if kind.startswith("{"):
            return PlainTextResponse(kind, media_type="application/json")
        return JSONResponse({"error": {"message": f"fault {kind} of {SECRET}"}}, int(kind))

    async def half(self, body: dict[str, Any]) -> Any:
        yield json.dumps(finished(body))[:40]
        raise ConnectionResetError


def finished(body: dict[str, Any]) -> dict[str, Any]:
    text = written(body)
    if "messages" in body:
        logs: dict[str, Any] = {"content": [{"token": word, "logprob": -0.5} for word in text.split()]}
        return {"choices": [{"message": {"content": text}, "logprobs": logs}]}
    return {"choices": [{"text": text, "logprobs": {"token_logprobs": [-0.25] * len(text.split())}}]}


def echoed(body: dict[str, Any]) -> dict[str, Any]:
    """Every word is a token; that of a word after a text of the tiny model is its own, or else minus the number."""
    found = list(re.finditer(r"\S+", body["prompt"]))
    words = [match[0] for match in found]
    logs: list[float | None] = [None, *(-float(word) for word in words[1:])]
    if len(words) == TINY.length:
        starts = [" ".join(words[:place]) for place in range(TINY.length)]
        whole = [TINY.log_prob([" ".join(words[n:])], prompts=[starts[n]]).log_probs[0] for n in range(1, TINY.length)]
        logs[1:] = np.subtract(whole, [*whole[1:], 0.0]).tolist()
    places = {"text_offset": [match.start() for match in found]} if body["model"] == "tiny" else {}
    return {"choices": [{"text": body["prompt"], "logprobs": {"token_logprobs": logs, **places}}]}


@pytest.fixture(scope="module")
def server() -> Iterator[Endpoint]:
    endpoint = Endpoint()

    async def reply(request: Request) -> Any:
        return await endpoint.reply(request)

    paths = ("/v1/completions", "/v1/chat/completions")
    app = Starlette(routes=[Route(path, reply, methods=["POST"]) for path in paths])
    listener = socket.create_server(("127.0.0.1", 0))
    endpoint.port = listener.getsockname()[1]
    running = uvicorn.Server(uvicorn.Config(app, log_level="critical", lifespan="off"))
    thread = threading.Thread(target=running.run, kwargs={"sockets": [listener]})
    thread.start()
    yield endpoint
    running.should_exit = True
    thread.join()
    listener.close()


@pytest.fixture
def endpoint(server: Endpoint, monkeypatch: pytest.MonkeyPatch) -> Endpoint:
    monkeypatch.setenv(KEY, SECRET)
    monkeypatch.setenv("NO_PROXY", "*")
    fresh = Endpoint(port=server.port)
    server.__dict__.update(fresh.__dict__)
    return server


def plain(endpoint: Endpoint, **changes: Any) -> OpenAIModel:
    return replace(OpenAIModel(f"{endpoint.url}/completions", "tiny", retrying=QUICK), **changes)


def expected(model: OpenAIModel, n: int, prompts: list[str] | None = None, seed: int = 0) -> list[str]:
    """What the tiny model gives for the seeds of a run."""
    seeds = rng(seed).integers(2**31, size=n).tolist()
    bodies = [
        model._body(prompt, number, Decoding()) for prompt, number in zip(prompts or [""] * n, seeds, strict=True)
    ]
    return [written(body) for body in bodies]


FAULTS = ["500", "timeout", "limited", "killed", "503", "killed", "not json", "502", "timeout", "500", "429"]


def test_failures_lose_no_text_and_repeat_none(endpoint: Endpoint) -> None:
    endpoint.faults = list(FAULTS)
    model = plain(endpoint)
    assert model.sample(40, rng=rng()) == expected(model, 40)
    assert len(endpoint.answered) == 40
    # Each failure costs one more request, and a slow machine may cause further timeouts.
    assert len(endpoint.requests) >= 40 + len(FAULTS)
    assert endpoint.faults == []
    # The server does not notice that a client has given up waiting.
    assert 2 <= endpoint.most_running <= QUICK.concurrency + len(endpoint.requests) - 40


def test_a_pause_that_the_server_asks_for_holds_for_all(endpoint: Endpoint) -> None:
    endpoint.faults = ["limited"]
    model = plain(endpoint, retrying=replace(QUICK, concurrency=2))
    began = time.monotonic()
    assert model.sample(10, rng=rng()) == expected(model, 10)
    assert time.monotonic() - began > 0.3
    # The other thread may have sent one request before the reply came.
    assert endpoint.early <= 2


def test_a_stopped_run_continues(endpoint: Endpoint, tmp_path: Path) -> None:
    path = tmp_path / "texts.jsonl"
    model = plain(endpoint, retrying=replace(QUICK, concurrency=1))
    endpoint.faults = []
    original = endpoint.reply

    async def refuse_later(request: Request) -> Any:
        if len(endpoint.answered) == 7:
            return JSONResponse({"error": {"message": "no more credit"}}, 402)
        return await original(request)

    endpoint.reply = refuse_later  # type: ignore[method-assign]
    with pytest.raises(InputError, match="status 402: no more credit"):
        model.sample(20, rng=rng(), resume=path)
    del endpoint.reply
    assert len(path.read_text().splitlines()) == 1 + 7
    # A process that is killed while it writes leaves a part of a line.
    with path.open("a") as file:
        file.write('{"work": [7, {"text": "1 2')
    assert model.sample(20, rng=rng(), resume=path) == expected(model, 20)
    assert max(endpoint.answered.values()) == 1
    assert len(endpoint.answered) == 20
    assert model.sample(20, rng=rng(), resume=path) == expected(model, 20)
    assert sum(endpoint.answered.values()) == 20
    with pytest.raises(InputError, match="the work of another run"):
        model.sample(20, rng=rng(1), resume=path)


def test_a_foreign_file_or_a_second_run_costs_no_request(endpoint: Endpoint, tmp_path: Path) -> None:
    path = tmp_path / "keep.txt"
    path.write_text("only copy")
    with pytest.raises(InputError, match="not a work file of textassay sample"):
        plain(endpoint).sample(3, rng=rng(), resume=path)
    assert path.read_text() == "only copy"
    with locked(tmp_path / "texts"), pytest.raises(InputError, match="another run is using this file"):
        plain(endpoint).sample(3, rng=rng(), resume=tmp_path / "texts")
    assert endpoint.requests == []


def test_replies_under_way_are_kept_after_an_error(endpoint: Endpoint, tmp_path: Path) -> None:
    path = tmp_path / "texts.jsonl"
    endpoint.faults = ["400"]
    with pytest.raises(InputError, match="status 400"):
        plain(endpoint).sample(6, rng=rng(), resume=path)
    assert len(path.read_text().splitlines()) == 1 + sum(endpoint.answered.values())


def test_chats_and_log_probabilities(endpoint: Endpoint) -> None:
    model = OpenAIModel(endpoint.url, "tiny", retrying=QUICK)
    prompts = ["1", "2 3", "4", "5 5 5"]
    seen: list[tuple[int, int]] = []
    found = model.complete(
        4, decoding=Decoding(), prompts=prompts, rng=rng(), progress=lambda _what, done, n: seen.append((done, n))
    )
    assert [completion.text for completion in found] == expected(model, 4, prompts)
    assert found[1] == Completion(expected(model, 4, prompts)[1], -1.0, 2)
    assert seen == [(1, 4), (2, 4), (3, 4), (4, 4)]
    with pytest.raises(InputError, match="no prompts for a chat; wanted prompts"):
        model.sample(1, rng=rng())
    with pytest.raises(InputError, match="a chat has no log-probabilities of given texts"):
        model.log_prob(["1 2"])


def test_decoding_settings_are_sent(endpoint: Endpoint) -> None:
    plain(endpoint).sample(1, max_tokens=9, temperature=0.5, top_k=3, top_p=0.9, rng=rng())
    sent = endpoint.requests[0]
    assert {name: sent[name] for name in ("model", "max_tokens", "temperature", "top_k", "top_p", "prompt")} == {
        "model": "tiny", "max_tokens": 9, "temperature": 0.5, "top_k": 3, "top_p": 0.9, "prompt": ""
    }  # fmt: skip


def test_scores_of_given_texts(endpoint: Endpoint) -> None:
    endpoint.faults = ["500"]
    scores = plain(endpoint).log_prob(["1 2 3", "", "9 1"])
    assert scores.log_probs.tolist() == [-5.0, -np.inf, -1.0]
    assert scores.n_tokens.tolist() == [2, 0, 1]
    endpoint.faults = ['{"choices": [{"text": "1 2"}]}']
    with pytest.raises(InputError, match="text 1: the reply has no log-probabilities"):
        plain(endpoint).log_prob(["1 2"])
    with pytest.raises(InputError, match="without a decoding setting only"):
        plain(endpoint).log_prob(["1 2"], temperature=0.5)


def test_texts_are_scored_after_their_prompts(endpoint: Endpoint) -> None:
    """The tokens after the prompt count, with the probabilities of the model that wrote the texts."""
    model, prompts = plain(endpoint), ["2 ", "0 1 ", "5 "]
    made = model.sample(3, prompts=prompts, rng=rng())
    assert np.isfinite(TINY.log_prob(made, prompts=prompts).log_probs).all()
    scores = model.log_prob(made, prompts=prompts)
    assert scores.log_probs.tolist() == pytest.approx(TINY.log_prob(made, prompts=prompts).log_probs.tolist())
    assert scores.n_tokens.tolist() == [3, 2, 3]
    with pytest.raises(InputError, match="prompts: 1 for 3 texts; wanted one per text"):
        model.log_prob(made, prompts=["2 "])
    with pytest.raises(InputError, match="text 1: a token has characters of both its prompt and the text; wanted"):
        model.log_prob(["3 4"], prompts=["2"])
    with pytest.raises(InputError, match=r"text 1: the reply has no places of tokens; wanted the place of each token"):
        replace(model, model="other").log_prob(["3 4"], prompts=["2 "])


def test_a_text_that_the_server_cut_off_is_marked(endpoint: Endpoint) -> None:
    endpoint.faults = ['{"choices": [{"text": "1 2", "finish_reason": "length"}]}']
    texts = replace(plain(endpoint), retrying=replace(QUICK, concurrency=1)).sample(2, rng=rng())
    assert texts.cut_off.tolist() == [True, False]


@pytest.mark.parametrize(
    ("reply", "seen"),
    [
        ("{}", "no choices"),
        ('{"choices": []}', "no choices"),
        ('{"choices": ["a"]}', "a choice that is not an object with a text"),
        ('{"choices": [{"text": ""}]}', "an empty text"),
        ('{"choices": [{"text": null, "finish_reason": "content_filter"}]}', r"NoneType .*'content_filter'"),
        ('{"choices": [{"text": ["a"]}]}', "list in place of a text"),
        ('{"choices": [{"text": "\\ud800"}]}', "half a surrogate pair"),
    ],
)
def test_replies_that_are_no_texts(endpoint: Endpoint, reply: str, seen: str) -> None:
    endpoint.faults = [reply]
    with pytest.raises(InputError, match=rf"openai: text 1: the reply has .*{seen}.*; wanted a choice with a text"):
        plain(endpoint).sample(1, rng=rng())


def test_a_chat_without_content(endpoint: Endpoint) -> None:
    endpoint.faults = ['{"choices": [{"message": {"content": null, "tool_calls": []}}]}']
    with pytest.raises(InputError, match="text 1: the reply has NoneType in place of a text"):
        OpenAIModel(endpoint.url, "tiny", retrying=QUICK).sample(1, prompts=["1"], rng=rng())


def test_the_key_is_never_shown(endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch) -> None:
    endpoint.faults = ["400"]
    with pytest.raises(InputError) as caught:
        plain(endpoint).sample(1, rng=rng())
    assert "fault 400 of ***" in str(caught.value)
    assert SECRET not in str(caught.value)
    monkeypatch.setenv(KEY, "sk-another-key")
    with pytest.raises(InputError, match=rf"status 401: bad key Bearer \*\*\*; the key is in {KEY}"):
        plain(endpoint).sample(1, rng=rng())
    monkeypatch.delenv(KEY)
    with pytest.raises(InputError, match=f"no key in the environment; set {KEY}"):
        plain(endpoint).sample(1, rng=rng())
    monkeypatch.setenv(KEY, "sk-line\nbreak")
    with pytest.raises(InputError) as caught:
        plain(endpoint).sample(1, rng=rng())
    assert "sk-line" not in str(caught.value)


def test_a_redirect_is_an_error(endpoint: Endpoint) -> None:
    """The key would be sent to another host."""
    endpoint.faults = ["redirect"]
    with pytest.raises(InputError, match="status 307"):
        plain(endpoint).sample(1, rng=rng())


def test_no_server(endpoint: Endpoint) -> None:
    with socket.create_server(("127.0.0.1", 0)) as unused:
        port = unused.getsockname()[1]
    model = OpenAIModel(f"http://127.0.0.1:{port}/v1/completions", "tiny", retrying=replace(QUICK, attempts=2))
    with pytest.raises(InputError, match=r"no reply \(ConnectionRefusedError.*gave up after 2 attempts"):
        model.sample(1, rng=rng())


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("openai:http://host/v1", "no model; wanted openai:URL#MODEL"),
        ("openai:ftp://host#m", "wanted one that begins with http"),
        ("openai:https://u:secret@host/v1#m", f"the address contains a password; wanted the key in {KEY}"),
        ("openai:file:///etc/passwd#m", "wanted one that begins with http"),
    ],
)
def test_bad_names(spec: str, message: str) -> None:
    with pytest.raises(InputError, match=message) as caught:
        get_model(spec)
    assert "secret" not in str(caught.value)


def test_pauses_that_servers_ask_for() -> None:
    later = format_datetime(datetime.now(UTC) + timedelta(seconds=30), usegmt=True)
    assert 25 < asked_pause(later) <= 30
    earlier = format_datetime(datetime.now(UTC) - timedelta(seconds=30), usegmt=True)
    assert [asked_pause(header) for header in (None, "", "soon", "2.5", "-1", earlier)] == [0, 0, 0, 2.5, 0, 0]
    assert [asked_pause(header) for header in ("86400", "nan", "inf")] == [86400, 0, np.inf]


def test_names() -> None:
    model = get_model("openai:https://host/v1#a/b c")
    assert isinstance(model, OpenAIModel)
    assert model.name.startswith("openai/a_b_c/")
    assert model.address == "https://host/v1/chat/completions"
