"""Models behind an OpenAI-compatible HTTP endpoint: `openai:URL#MODEL`, such as `openai:http://localhost:8000/v1#gpt`.

Requests run concurrently. A request that fails in a way that may pass (no connection, a timeout, too many requests, an
error of the server) is sent again after a growing, random pause, or after the pause that the server asks for. Every
text has a number and its own seed, so a repeated request gives one text, never two. With a file for finished texts, a
run that was stopped continues where it ended.

The key comes from the environment (`OPENAI_API_KEY`) only. It is sent to the host of the URL and never written.
"""

import hashlib
import json
import math
import os
import re
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from http.client import HTTPException
from typing import Any
from urllib.parse import urlsplit

import numpy as np

from textassay.corpus.printable import shortened
from textassay.corpus.values import is_whole
from textassay.errors import InputError, Setting
from textassay.models.base import Decoding, Progress, Scores, Texts, check_prompts, texts_of
from textassay.work_files import work_file

KEY = "OPENAI_API_KEY"
_CHAT, _PLAIN = "/chat/completions", "/completions"
# Status codes after which the same request may succeed.
_TRANSIENT = frozenset((408, 409, 425, 429, 500, 502, 503, 504, 520, 521, 522, 523, 524, 529))
_MOST_BYTES = 64 * 1024 * 1024
# An unreasonable request for a pause is an error, not a run that seems to hang.
_LONGEST_PAUSE = 600.0


@dataclass(frozen=True)
class Completion:
    """A generated text, and the log-probability of its tokens if the server reports it.

    The log-probability is the sum over the tokens that the server lists, as the server computes it.
    """

    text: str
    log_prob: float | None = None
    n_tokens: int | None = None


@dataclass(frozen=True)
class Retrying:
    """How often and how fast to send requests; times in seconds.

    The pause before attempt `k + 1` is random between 0 and `pause * 2**k`, at most `longest_pause`.
    """

    concurrency: int = 8
    attempts: int = 8
    timeout: float = 120.0
    pause: float = 0.5
    longest_pause: float = 30.0


@dataclass(frozen=True)
class OpenAIModel:
    """A model behind an endpoint. `url` is the base address (`.../v1`) or the full address of its completions.

    An address that ends in `/completions` but not in `/chat/completions` takes plain prompts, and texts without a
    prompt begin with an empty one. All others are chats, in which each text needs a prompt.
    """

    url: str
    model: str
    max_tokens: int = 256
    retrying: Retrying = field(default=Retrying(), repr=False)

    def __post_init__(self) -> None:
        parts = urlsplit(self.url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise InputError(f"openai: address {_shown(self.url)!r}; wanted one that begins with http:// or https://")
        if parts.username or parts.password:
            raise InputError(f"openai: the address contains a password; wanted the key in {KEY}")
        if not self.model:
            raise InputError("openai: no model; wanted openai:URL#MODEL")
        if not (is_whole(self.max_tokens) and self.max_tokens >= 1):
            raise InputError(Setting("max_tokens", self.max_tokens), "; wanted a whole number of 1 or more")

    @property
    def name(self) -> str:
        """Kind, model and a digest of address and length."""
        digest = hashlib.blake2b(repr((self.url, self.model, self.max_tokens)).encode(), digest_size=4).hexdigest()
        label = re.sub(r"[^\w.+-]", "_", self.model)
        return f"openai/{label}/{digest}"

    @property
    def is_chat(self) -> bool:
        """Whether prompts are messages of a chat."""
        return self.address.endswith(_CHAT)

    @property
    def address(self) -> str:
        """The full address."""
        base = self.url.rstrip("/")
        return base if base.endswith(_PLAIN) else base + _CHAT

    def sample(
        self,
        n: int,
        /,
        *,
        temperature: float = 1.0,
        top_k: int | None = None,
        top_p: float | None = None,
        prompts: Sequence[str] | None = None,
        max_tokens: int | None = None,
        rng: np.random.Generator,
        resume: str | os.PathLike[str] | None = None,
        progress: Progress | None = None,
    ) -> list[str]:
        """Generate texts; see `complete`. `max_tokens` replaces that of the model."""
        decoding = Decoding(temperature, top_k, top_p)
        model = self if max_tokens is None else replace(self, max_tokens=max_tokens)
        done = model.complete(n, decoding=decoding, prompts=prompts, rng=rng, resume=resume, progress=progress)
        return [completion.text for completion in done]

    def complete(
        self,
        n: int,
        /,
        *,
        decoding: Decoding,
        prompts: Sequence[str] | None = None,
        rng: np.random.Generator,
        resume: str | os.PathLike[str] | None = None,
        progress: Progress | None = None,
    ) -> list[Completion]:
        """Generate texts with their log-probabilities where the server reports them.

        Parameters
        ----------
        n
            The number of texts.
        prompts
            One per text. The texts do not contain them.
        rng
            The source of the seeds, one per text, which the server may use or not.
        resume
            A JSON Lines file for finished texts; those that it already has are not requested again.
        progress
            Called with what is being done, the number of finished texts and `n`.
        """
        if check_prompts(prompts, n) is None and self.is_chat and n:
            wanted = f"wanted prompts, or an address that ends in {_PLAIN}"
            raise InputError(f"openai: no prompts for a chat; {wanted}")
        seeds = rng.integers(2**31, size=n).tolist()
        asked = [self._body(prompt, seed, decoding) for prompt, seed in zip(prompts or [""] * n, seeds, strict=True)]
        client = _Client(self, _key())
        requests = hashlib.blake2b(json.dumps(asked).encode(), digest_size=8).hexdigest()
        with work_file(resume, "sample", {"requests": requests, "texts": n}, check=lambda v: Completion(**v)) as done:
            waiting = [number for number in range(n) if number not in done]
            for number, reply in client.replies({number: asked[number] for number in waiting}):
                done.add(number, asdict(_completion(reply, number, chat=self.is_chat)))
                if progress is not None:
                    progress(f"texts of {shortened(self.model, 40)}", len(done), n)
            return [Completion(**done[number]) for number in range(n)]

    def log_prob(
        self,
        sample: Texts,
        /,
        *,
        temperature: float = 1.0,
        top_k: int | None = None,
        top_p: float | None = None,
    ) -> Scores:
        """Scores of texts from a server that echoes prompts with log-probabilities (plain completions only).

        The protocol has no place for the first token of a text (unless the server reports it) or for its end: both are
        missing in the sums and in `n_tokens`. Servers report log-probabilities without a decoding setting only.
        """
        if self.is_chat:
            wanted = f"wanted an address that ends in {_PLAIN}"
            raise InputError(f"openai: a chat has no log-probabilities of given texts; {wanted}")
        if Decoding(temperature, top_k, top_p).fields():
            wanted = "wanted temperature 1 without top-k and top-p"
            raise InputError(f"openai: a server reports log-probabilities without a decoding setting only; {wanted}")
        texts = texts_of(sample, "openai").to_pylist()
        body = {"model": self.model, "max_tokens": 0, "echo": True, "logprobs": 1}
        scores: dict[int, tuple[float, int]] = {}
        asked = {number: {**body, "prompt": text} for number, text in enumerate(texts) if text}
        for number, reply in _Client(self, _key()).replies(asked):
            scores[number] = _echoed(reply, number)
        pairs = [scores.get(number, (-math.inf, 0)) for number in range(len(texts))]
        return Scores(np.array([log for log, _ in pairs], np.float64), np.array([n for _, n in pairs], np.int64))

    def _body(self, prompt: str, seed: int, decoding: Decoding) -> dict[str, Any]:
        asked: dict[str, Any] = {"model": self.model, "max_tokens": self.max_tokens, "seed": seed}
        asked["temperature"] = decoding.temperature
        if decoding.top_p is not None:
            asked["top_p"] = decoding.top_p
        if decoding.top_k is not None:
            asked["top_k"] = decoding.top_k
        if self.is_chat:
            return {**asked, "messages": [{"role": "user", "content": prompt}], "logprobs": True}
        return {**asked, "prompt": prompt, "logprobs": 1}


def opened(rest: str) -> OpenAIModel:
    """The model of `URL#MODEL`."""
    url, hash_sign, model = rest.partition("#")
    if not hash_sign or not model:
        raise InputError(f"openai:{_shown(rest)}: no model; wanted openai:URL#MODEL")
    return OpenAIModel(url, model)


def _key() -> str:
    key = os.environ.get(KEY, "")
    if not key.strip():
        raise InputError(f"openai: no key in the environment; set {KEY} (to any value if the server needs no key)")
    if not key.isascii() or not key.isprintable():
        raise InputError(f"openai: the key in {KEY} has characters that no key has, such as a line break")
    return key


def _shown(url: str) -> str:
    """An address for a message, without a user name, password or query, any of which could be a key."""
    return shortened(re.sub(r"//[^/@]*@", "//...@", url.partition("?")[0]), 100)


class _Refused(Exception):
    """A failure after which the same request may succeed; `pause` is what the server asks for, in seconds."""

    def __init__(self, why: str, pause: float = 0.0) -> None:
        super().__init__(why)
        self.pause = pause


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """A redirect could send the key to another host."""

    def redirect_request(self, *_: Any) -> None:
        return None


class _Client:
    """Sends requests on several threads, with a shared pause when the server asks for one."""

    def __init__(self, model: OpenAIModel, key: str) -> None:
        self._model = model
        self._retrying = model.retrying
        self._headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
        self._secret = key
        self._opener = urllib.request.build_opener(_NoRedirect)
        self._stopped = threading.Event()
        self._lock = threading.Lock()
        self._not_before = 0.0
        self._random = np.random.default_rng()

    def replies(self, asked: Mapping[int, dict[str, Any]]) -> Iterator[tuple[int, Any]]:
        """The number and the reply of every request, as they arrive.

        After an error no more requests are sent; replies to those that are under way still arrive before it is raised.
        """
        left = iter(asked.items())
        running: dict[Future[Any], int] = {}
        first_error: BaseException | None = None
        pool = ThreadPoolExecutor(self._retrying.concurrency)
        try:
            while True:
                while not first_error and len(running) < self._retrying.concurrency and (pair := next(left, None)):
                    running[pool.submit(self._reply, pair[1])] = pair[0]
                if not running:
                    break
                for future in wait(running, return_when=FIRST_COMPLETED).done:
                    number = running.pop(future)
                    if error := future.exception():
                        first_error = first_error or error
                        self._stopped.set()
                    else:
                        yield number, future.result()
        finally:
            self._stopped.set()
            pool.shutdown(wait=False, cancel_futures=True)
        if first_error:
            raise first_error

    def _reply(self, body: dict[str, Any]) -> Any:
        for attempt in range(1, self._retrying.attempts + 1):
            self._pause()
            try:
                return self._sent(body)
            except _Refused as refused:
                if attempt == self._retrying.attempts:
                    where = f"openai: {_shown(self._model.address)}"
                    raise InputError(f"{where}: {refused}; gave up after {attempt} attempts") from None
                self._back_off(attempt, refused.pause)
        raise AssertionError

    def _pause(self) -> None:
        while (left := self._not_before - time.monotonic()) > 0:
            if self._stopped.wait(left):
                break
        if self._stopped.is_set():
            raise InputError("openai: stopped")

    def _back_off(self, attempt: int, wanted: float) -> None:
        """Wait for a random time; if the server asks for a pause, all requests wait."""
        most = min(self._retrying.longest_pause, self._retrying.pause * 2 ** (attempt - 1))
        with self._lock:
            random = float(self._random.uniform(0, most))
            if wanted:
                self._not_before = max(self._not_before, time.monotonic() + wanted)
        self._stopped.wait(random)

    def _sent(self, body: dict[str, Any]) -> Any:
        """The reply to one request."""
        content = json.dumps(body).encode()
        request = urllib.request.Request(self._model.address, content, self._headers)  # noqa: S310
        try:
            with self._opener.open(request, timeout=self._retrying.timeout) as reply:
                read = reply.read(_MOST_BYTES + 1)
        except urllib.error.HTTPError as error:
            with error:
                raise self._failed(error) from None
        except (OSError, HTTPException) as error:
            why = getattr(error, "reason", error)
            raise _Refused(f"no reply ({self._safe(f'{type(why).__name__}: {why}')})") from None
        if len(read) > _MOST_BYTES:
            raise InputError(f"openai: a reply of more than {_MOST_BYTES:,} bytes")
        try:
            return json.loads(read)
        except (ValueError, RecursionError):
            raise _Refused("a reply that is not JSON") from None

    def _failed(self, error: urllib.error.HTTPError) -> Exception:
        try:
            message = self._safe(_message(error.read(100_000)))
        except (OSError, HTTPException):
            message = ""
        what = f"status {error.code}" + (f": {message}" if message else "")
        if error.code in _TRANSIENT:
            return _Refused(what, _asked_pause(error.headers.get("Retry-After")))
        hint = f"; the key is in {KEY}" if error.code in (401, 403) else ""
        return InputError(f"openai: {_shown(self._model.address)}: {what}{hint}")

    def _safe(self, message: str) -> str:
        """One printable line of a message, without the key."""
        return shortened(" ".join(message.replace(self._secret, "***").split()), 200)


def _message(content: bytes) -> str:
    """The message of an error reply, in the form of OpenAI or as it is."""
    text = content.decode("utf-8", "replace")
    try:
        found = json.loads(text)["error"]
        return str(found["message"] if isinstance(found, dict) else found)
    except (ValueError, KeyError, TypeError, RecursionError):
        return text


def _asked_pause(header: str | None) -> float:
    """The seconds of a `Retry-After` header: a number or a date."""
    if not header:
        return 0.0
    try:
        seconds = float(header)
    except ValueError:
        try:
            seconds = (parsedate_to_datetime(header) - datetime.now(UTC)).total_seconds()
        except (ValueError, TypeError):
            return 0.0
    if not seconds <= _LONGEST_PAUSE:
        raise InputError(f"openai: the server asks for a pause of {shortened(header, 40)}; try again later")
    return max(0.0, seconds)


def _completion(reply: Any, number: int, *, chat: bool) -> Completion:
    choice = _choice(reply, number)
    text = choice.get("message", {}).get("content") if chat else choice.get("text")
    if not isinstance(text, str) or not text:
        seen = "an empty text" if text == "" else f"{type(text).__name__} in place of a text"
        raise _bad_reply(number, f"{seen} (finish_reason {choice.get('finish_reason')!r:.40})")
    try:
        text.encode()
    except UnicodeEncodeError:
        raise _bad_reply(number, "a text with half a surrogate pair") from None
    logs = _listed_logs(choice.get("logprobs"), chat=chat)
    return Completion(text, None if logs is None else sum(logs), None if logs is None else len(logs))


def _choice(reply: Any, number: int) -> dict[str, Any]:
    choices = reply.get("choices") if isinstance(reply, dict) else None
    if not isinstance(choices, list) or not choices:
        raise _bad_reply(number, "no choices")
    first = choices[0]
    if not isinstance(first, dict) or not isinstance(first.get("message", {}), dict):
        raise _bad_reply(number, "a choice that is not an object with a text")
    return first


def _bad_reply(number: int, seen: str) -> InputError:
    return InputError(f"openai: text {number + 1}: the reply has {seen}; wanted a choice with a text")


def _listed_logs(found: Any, *, chat: bool) -> list[float] | None:
    """The log-probabilities of the generated tokens, or None if any is missing."""
    if not isinstance(found, dict):
        return None
    listed = found.get("content") if chat else found.get("token_logprobs")
    if not isinstance(listed, list) or not listed:
        return None
    values: list[Any] = [item.get("logprob") if chat and isinstance(item, dict) else item for item in listed]
    return [float(value) for value in values] if all(_is_log(value) for value in values) else None


def _is_log(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and value <= 1e-6


def _echoed(reply: Any, number: int) -> tuple[float, int]:
    found = _choice(reply, number).get("logprobs")
    logs = found.get("token_logprobs") if isinstance(found, dict) else None
    if not isinstance(logs, list) or not logs:
        wanted = "wanted a server that echoes prompts with log-probabilities"
        raise InputError(f"openai: text {number + 1}: the reply has no log-probabilities; {wanted}")
    known = [float(value) for value in logs if value is not None]
    return sum(known), len(known)
