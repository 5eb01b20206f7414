"""Models behind an OpenAI-compatible HTTP endpoint: `openai:URL#MODEL`, such as `openai:http://localhost:8000/v1#gpt`.

Every text has a number and its own seed, so a repeated request gives one text, never two. With a file for finished
texts, a run that was stopped continues where it ended. What a server sends is checked: a log-probability is a finite
number that is not above 0.

The key comes from the environment (`OPENAI_API_KEY`) only. It is sent to the host of the URL and never written.
"""

import hashlib
import json
import math
import os
import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from typing import Any
from urllib.parse import urlsplit

import numpy as np

from textassay.corpus.printable import shortened
from textassay.corpus.sample import GeneratedTexts
from textassay.corpus.values import is_whole
from textassay.errors import InputError, Setting
from textassay.models.base import Decoding, Progress, Scores, Texts, check_prompts, texts_of
from textassay.models.http_client import Asked, Client, Retrying
from textassay.work_files import work_file

KEY = "OPENAI_API_KEY"
_CHAT, _PLAIN = "/chat/completions", "/completions"
# A reply has room for the tokens, each with its log-probability and bytes, and for a text of reasoning.
_BYTES, _TOKEN_BYTES, _MOST_BYTES = 2**20, 2**11, 2**26
# Rounding may lift a log-probability above 0; servers that clamp have -9,999.
_MOST_LOG, _LEAST_LOG = 1e-6, -1e6


@dataclass(frozen=True)
class Completion:
    """A generated text, and the log-probability of its tokens if the server reports it.

    The log-probability is the sum over the tokens that the server lists, as the server computes it. `cut_off` is true
    if the server states that a limit of the length ended the text.
    """

    text: str
    log_prob: float | None = None
    n_tokens: int | None = None
    cut_off: bool = False


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
        try:
            parts = urlsplit(self.url)
            is_address = parts.scheme in ("http", "https") and bool((parts.hostname or "").encode("idna"))
            is_address = is_address and parts.port != 0 and not re.search(r"[\s\x00-\x20\x7f]", self.url)
        except ValueError:  # such as a port above 65535
            is_address = False
        if not is_address:
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
    ) -> GeneratedTexts:
        """Generate texts; see `complete`. `max_tokens` replaces that of the model."""
        decoding = Decoding(temperature, top_k, top_p)
        model = self if max_tokens is None else replace(self, max_tokens=max_tokens)
        done = model.complete(n, decoding=decoding, prompts=prompts, rng=rng, resume=resume, progress=progress)
        return GeneratedTexts((each.text for each in done), np.array([each.cut_off for each in done], np.bool_))

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
        client = self._client()
        requests = hashlib.blake2b(json.dumps(asked).encode(), digest_size=8).hexdigest()
        with work_file(resume, "sample", {"requests": requests, "texts": n}, check=lambda v: Completion(**v)) as done:
            waiting = {number: self._asked(asked[number]) for number in range(n) if number not in done}
            for number, found in client.replies(waiting, partial(_completion, chat=self.is_chat)):
                done.add(number, asdict(found))
                if progress is not None:
                    progress(f"texts of {shortened(self.model, 40)}", len(done), n)
            return [Completion(**done[number]) for number in range(n)]

    def log_prob(
        self,
        sample: Texts,
        /,
        *,
        prompts: Sequence[str] | None = None,
        temperature: float = 1.0,
        top_k: int | None = None,
        top_p: float | None = None,
    ) -> Scores:
        """Scores of texts from a server that echoes prompts with log-probabilities (plain completions only).

        The protocol has no place for the end of a text, and none for its first token unless it follows a prompt or the
        server reports it: they are missing in the sums and in `n_tokens`. With `prompts`, the server must report where
        each token begins. Servers report log-probabilities without a decoding setting only.
        """
        if self.is_chat:
            wanted = f"wanted an address that ends in {_PLAIN}"
            raise InputError(f"openai: a chat has no log-probabilities of given texts; {wanted}")
        if Decoding(temperature, top_k, top_p).fields():
            wanted = "wanted temperature 1 without top-k and top-p"
            raise InputError(f"openai: a server reports log-probabilities without a decoding setting only; {wanted}")
        texts = texts_of(sample, "openai").to_pylist()
        given = check_prompts(prompts, len(texts)) or [""] * len(texts)
        body = {"model": self.model, "max_tokens": 0, "echo": True, "logprobs": 1}
        asked = {number: self._asked({**body, "prompt": given[number] + t}) for number, t in enumerate(texts) if t}
        read = lambda reply, number: _echoed(reply, number, after=given[number])  # noqa: E731
        scores = dict(self._client().replies(asked, read))
        pairs = [scores.get(number, (-math.inf, 0)) for number in range(len(texts))]
        return Scores(np.array([log for log, _ in pairs], np.float64), np.array([n for _, n in pairs], np.int64))

    def _client(self) -> Client:
        return Client(self.address, _key(), self.retrying, where=f"openai: {_shown(self.address)}", key_place=KEY)

    def _asked(self, body: dict[str, Any]) -> Asked:
        tokens = body["max_tokens"] + (len(body["prompt"]) if body.get("echo") else 0)
        return Asked(body, min(_MOST_BYTES, _BYTES + _TOKEN_BYTES * tokens))

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
    logs, cut_off = _listed_logs(choice.get("logprobs"), chat=chat), choice.get("finish_reason") == "length"
    return Completion(text, None if logs is None else sum(logs), None if logs is None else len(logs), cut_off)


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
    """The log-probabilities of the generated tokens, or None if any is missing or none."""
    if not isinstance(found, dict):
        return None
    listed = found.get("content") if chat else found.get("token_logprobs")
    if not isinstance(listed, list) or not listed or not _fits(found, listed):
        return None
    values: list[Any] = [item.get("logprob") if chat and isinstance(item, dict) else item for item in listed]
    return [float(value) for value in values] if all(map(_is_log, values)) else None


def _is_log(value: object) -> bool:
    # Comparisons of whole numbers are exact, and NaN fails them.
    return isinstance(value, int | float) and not isinstance(value, bool) and _LEAST_LOG <= value <= _MOST_LOG


def _fits(found: dict[str, Any], logs: list[Any]) -> bool:
    """Whether there are as many log-probabilities as tokens, if the server lists these."""
    tokens = found.get("tokens")
    return not isinstance(tokens, list) or len(tokens) == len(logs)


def _echoed(reply: Any, number: int, *, after: str) -> tuple[float, int]:
    """The sum of the log-probabilities of the tokens after a prompt, and their number.

    The first token of all may have none.
    """
    found = _choice(reply, number).get("logprobs")
    listed = found if isinstance(found, dict) else {}
    logs, seen = listed.get("token_logprobs"), ""
    if not isinstance(logs, list) or not logs:
        seen = "no log-probabilities"
    elif not _fits(listed, logs):
        seen = "other numbers of tokens and of log-probabilities"
    if not isinstance(logs, list) or seen:
        wanted = "wanted a server that echoes prompts with log-probabilities"
        raise InputError(f"openai: text {number + 1}: the reply has {seen}; {wanted}")
    first = _first_token(listed, len(logs), number, after) if after else int(logs[0] is None)
    for token, value in enumerate(logs[first:], first + 1):
        if not _is_log(value):
            seen = f"the log-probability {shortened(repr(value), 40)} of token {token}"
            raise InputError(f"openai: text {number + 1}: the reply has {seen}; wanted a number of at most 0")
    return sum(map(float, logs[first:])), len(logs) - first


def _first_token(found: dict[str, Any], n_tokens: int, number: int, prompt: str) -> int:
    """The index of the first token after a prompt; no token may have characters of both the prompt and the text."""
    begins = found.get("text_offset")
    if not isinstance(begins, list) or len(begins) != n_tokens or not all(is_whole(begin) for begin in begins):
        wanted = "wanted the place of each token (text_offset), to find those after the prompt"
        raise InputError(f"openai: text {number + 1}: the reply has no places of tokens; {wanted}")
    if len(prompt) not in begins:
        seen = "a token has characters of both its prompt and the text"
        raise InputError(f"openai: text {number + 1}: {seen}; wanted prompts that end where a token ends")
    return int(begins.index(len(prompt)))
