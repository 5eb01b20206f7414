"""Files of instances of Every Eval Ever: one line per system and prompt, with all its texts."""

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from textassay.corpus.formats.format import Format, Raw, needs
from textassay.corpus.formats.record import (
    Reading,
    Record,
    at,
    content_of,
    finish_of,
    from_json,
    items_at,
    label,
    prompt_of,
    string,
)
from textassay.corpus.values import json_line

VERSION = "0.3.0"
# The field of the metadata, which holds strings only, with the reasons why the texts of a line ended.
_FINISHES = "finish_reasons"


def _read(records: Iterator[Raw], reading: Reading) -> Iterator[Record]:
    for raw in records:
        system, identity = label(raw.get("model_id")), label(raw.get("sample_id"))
        prompt = prompt_of(at(raw, "input", "raw"))
        error, run = label(raw.get("error")), label(raw.get("evaluation_id"))
        reading.fields["messages[*].content" if at(raw, "output", "raw") is None else "output.raw[*]"] = None
        finishes = from_json(at(raw, "metadata", _FINISHES))
        for index, (text, thought) in enumerate(_texts(raw)):
            content, reasoning = content_of(text)
            finish = finish_of(at(finishes, index))
            yield Record(content, system, prompt, identity, index, thought or reasoning, finish, error, reply=run)


def _texts(raw: Raw) -> Iterator[tuple[Any, str | None]]:
    """The texts of a line with their reasoning: its outputs, else the last message of the assistant."""
    found = at(raw, "output", "raw")
    if found is None:
        said = [message for message in items_at(raw, "messages") if at(message, "role") == "assistant"]
        yield at(said, -1, "content"), string(at(said, -1, "reasoning_trace"))
        return
    traces = at(raw, "output", "reasoning_trace")
    traces = traces if isinstance(traces, list) else [traces]
    for index, text in enumerate(found if isinstance(found, list) else [found]):
        yield text, string(at(traces, index))


def instance_lines(records: Iterable[Record], *, name: str) -> Iterator[str]:
    """Records as instances of Every Eval Ever: one line per system and prompt, in the order of their first texts.

    `name` is that of the evaluation, and of the system of records that have none. Records have no scores, so a line
    has no `evaluation`; all other fields are as the schema has them.
    """
    prompts: dict[tuple[str | int | None, ...], list[Record]] = {}
    for number, record in enumerate(records):
        own = number if record.prompt_name is None else None
        prompts.setdefault((record.system, record.prompt_id, record.prompt, own), []).append(record)
    for number, of_prompt in enumerate(prompts.values()):
        yield json_line(_instance(of_prompt, number, name))


def _instance(records: list[Record], number: int, name: str) -> dict[str, Any]:
    first = records[0]
    # Equal ids on two sides mean equal prompts.
    other_id = f"{name}-{number}" if first.prompt is None else _sample_hash(first.prompt)[:16]
    thoughts = [record.reasoning or "" for record in records]
    finishes = [record.finish for record in records]
    return {
        "schema_version": VERSION,
        "evaluation_id": name,
        "model_id": first.system or name,
        "evaluation_name": name,
        "sample_id": other_id if first.prompt_id is None else first.prompt_id,
        "sample_hash": _sample_hash(first.prompt or ""),
        "interaction_type": "single_turn",
        "input": {"raw": first.prompt or "", "reference": []},
        "output": {
            "raw": [record.text for record in records],
            "reasoning_trace": thoughts if any(thoughts) else None,
        },
        "messages": None,
        "answer_attribution": [],
        "metadata": {_FINISHES: json.dumps(finishes)} if any(finishes) else None,
    }


def _sample_hash(prompt: str) -> str:
    return hashlib.sha256(prompt.encode(errors="backslashreplace")).hexdigest()


FORMAT = Format(
    "Every Eval Ever instances",
    "output.raw[*]",
    (needs("sample_id", "model_id", "input"),),
    lambda raw: isinstance(raw["input"], Mapping) and ("output" in raw or "messages" in raw),
    _read,
    prompt=("input",),
    prompt_id=("sample_id",),
    system=("model_id",),
)
