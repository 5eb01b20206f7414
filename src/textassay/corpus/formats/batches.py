"""Output of batch APIs: OpenAI, Azure, Groq and vLLM, Anthropic; and replies of the same APIs, one per line."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from textassay.corpus.formats.format import Format, Raw, needs, without_texts
from textassay.corpus.formats.record import (
    Reading,
    Record,
    at,
    content_of,
    finish_of,
    from_json,
    items_at,
    label,
    string,
)


def _read_openai(records: Iterator[Raw], reading: Reading) -> Iterator[Record]:
    for raw in records:
        identity = label(raw.get("custom_id"))
        status = at(raw, "response", "status_code")
        body = from_json(at(raw, "response", "body"))
        failed = raw.get("error") or at(body, "error") or label(status) not in (None, "200")
        if failed or not isinstance(body, Mapping):
            yield Record(prompt_id=identity, error="error")
        else:
            reading.fields[f"response.body.{_field_of(body)}"] = None
            reply = _together(label(raw.get("id")), label(at(body, "id")))
            yield from (replace(record, reply=reply) for record in reply_texts(body, prompt_id=identity))


def _together(*ids: str | None) -> str | None:
    """Several ids as one; None where there is none."""
    return " ".join(filter(None, ids)) or None


def _field_of(body: Any) -> str:
    """The path of the texts of a reply."""
    if isinstance(at(body, "output"), list):
        return "output[*].content[*].text"
    return "choices[*].text" if at(body, "choices", 0, "text") is not None else "choices[*].message.content"


def reply_texts(body: Any, *, prompt: str | None = None, prompt_id: str | None = None) -> Iterator[Record]:
    """The texts of one reply of a chat, completions or responses endpoint."""
    system = label(at(body, "model"))
    if isinstance(at(body, "output"), list):
        yield _responses_text(body, system, prompt, prompt_id)
        return
    choices = items_at(body, "choices")
    if not choices:
        yield Record(None, system, prompt, prompt_id)
    for index, choice in enumerate(choices):
        message = at(choice, "message")
        text, reasoning = content_of(at(message, "content"))
        finish = finish_of(at(choice, "finish_reason"))
        if text is None:
            text = string(at(choice, "text"))
        if not text and isinstance(at(message, "refusal"), str):
            text, finish = at(message, "refusal"), "refusal"
        if not text and items_at(message, "tool_calls"):
            finish = "tool"
        thought = string(at(message, "reasoning_content")) or string(at(message, "reasoning")) or reasoning
        number = None if prompt_id is None else index
        yield Record(text, system, prompt, prompt_id, number, thought, finish)


def _responses_text(body: Any, system: str | None, prompt: str | None, prompt_id: str | None) -> Record:
    outputs = items_at(body, "output")
    parts = [part for one in outputs if at(one, "type") == "message" for part in items_at(one, "content")]
    text = content_of(parts)[0]
    thoughts = [
        string(at(part, "text")) or ""
        for one in outputs
        if at(one, "type") == "reasoning"
        for part in (*items_at(one, "summary"), *items_at(one, "content"))
    ]
    finish = finish_of(at(body, "incomplete_details", "reason")) or finish_of(at(body, "status"))
    refused = [refusal for part in parts if (refusal := string(at(part, "refusal")))]
    if not text and refused:
        text, finish = "".join(refused), "refusal"
    if not text and any(str(at(one, "type")).endswith("_call") for one in outputs):
        finish = "tool"
    error = "error" if at(body, "status") in ("failed", "cancelled") else None
    number = None if prompt_id is None else 0
    return Record(text, system, prompt, prompt_id, number, "\n".join(filter(None, thoughts)) or None, finish, error)


def _read_anthropic(records: Iterator[Raw], _: Reading) -> Iterator[Record]:
    for raw in records:
        identity, result = label(raw.get("custom_id")), raw.get("result")
        if at(result, "type") != "succeeded":
            yield Record(prompt_id=identity, error=label(at(result, "type")) or "error")
        else:
            yield _anthropic_text(at(result, "message"), identity)


def _anthropic_text(message: Any, prompt_id: str | None) -> Record:
    text, thought = content_of(at(message, "content"))
    number = None if prompt_id is None else 0
    finish, reply = finish_of(at(message, "stop_reason")), label(at(message, "id"))
    return Record(text, label(at(message, "model")), None, prompt_id, number, thought, finish, reply=reply)


def _read_replies(records: Iterator[Raw], reading: Reading) -> Iterator[Record]:
    for raw in records:
        if at(raw, "error"):
            yield Record(error="error")
            continue
        reading.fields[_field_of(raw)] = None
        reply = label(raw.get("id"))
        for index, record in enumerate(reply_texts(raw)):
            # Choices of one reply may be equal; a reply that is logged twice is a duplicate.
            yield record if reply is None else replace(record, sample=index, reply=reply)


FORMATS = (
    Format(
        "batch output",
        "response.body.choices[*].message.content",
        (needs("custom_id", "response"),),
        lambda raw: isinstance(raw["response"], Mapping | None),
        _read_openai,
        prompt_id=("custom_id",),
    ),
    Format(
        "Anthropic batch results",
        "result.message.content",
        (needs("custom_id", "result"),),
        lambda raw: isinstance(at(raw, "result", "type"), str),
        _read_anthropic,
        prompt_id=("custom_id",),
    ),
    without_texts(
        "batch input",
        needs("custom_id", "body"),
        lambda raw: isinstance(raw["body"], Mapping) and "url" in raw,
        "requests without replies; wanted the output file of the batch",
    ),
    without_texts(
        "Anthropic batch input",
        needs("custom_id", "params"),
        lambda raw: isinstance(raw["params"], Mapping),
        "requests without replies; wanted the results of the batch",
    ),
    Format(
        "replies of a chat API",
        "choices[*].message.content",
        (needs("choices", "model"),),
        lambda raw: isinstance(at(raw, "choices", 0), Mapping) and ("object" in raw or "id" in raw),
        _read_replies,
    ),
)
