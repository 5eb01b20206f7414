"""Records of chat and instruction data: messages, ShareGPT, distilabel, Alpaca, prompt and completion, own records."""

from collections.abc import Iterator, Mapping
from typing import Any

from textassay.corpus.formats.format import Format, Raw, any_record, needs, without_texts
from textassay.corpus.formats.record import (
    Reading,
    Record,
    at,
    content_of,
    finish_of,
    items_at,
    label,
    prompt_of,
    string,
    whole,
)

_ASSISTANTS = ("assistant", "gpt", "chatgpt", "model", "bot", "bing", "bard")
# The fields with the system.
_SYSTEMS = ("generator", "model", "model_name")
_OTHER_END = "conversation that does not end with an assistant|conversations that do not end with an assistant"


def _read_own(records: Iterator[Raw], _: Reading) -> Iterator[Record]:
    for raw in records:
        yield Record(
            string(raw.get("text")),
            label(raw.get("system")),
            string(raw.get("prompt")),
            label(raw.get("prompt_id")),
            whole(raw["sample"]) if isinstance(raw.get("sample"), int) else None,
            string(raw.get("reasoning")),
            finish_of(raw.get("finish")),
            label(raw.get("error")),
            label(raw.get("partition")),
        )


def _read_messages(records: Iterator[Raw], reading: Reading) -> Iterator[Record]:
    for raw in records:
        messages = items_at(raw, "messages")
        last = at(messages, -1)
        if at(last, "role") not in _ASSISTANTS:
            reading.lose(_OTHER_END)
            continue
        text, reasoning = content_of(at(last, "content"))
        thought = string(at(last, "reasoning_content")) or string(at(last, "thinking")) or reasoning
        finish = "tool" if not text and at(last, "tool_calls") else finish_of(raw.get("finish_reason"))
        yield Record(text, _system_of(raw), prompt_of(messages[:-1]), reasoning=thought, finish=finish)


def _read_sharegpt(records: Iterator[Raw], reading: Reading) -> Iterator[Record]:
    for raw in records:
        turns = items_at(raw, "conversations")
        last = at(turns, -1)
        if _from(last) not in _ASSISTANTS:
            reading.lose(_OTHER_END)
            continue
        asked = [{"role": _from(turn), "content": at(turn, "value")} for turn in turns[:-1]]
        yield Record(string(at(last, "value")), _system_of(raw), prompt_of(asked))


def _from(turn: Any) -> str | None:
    return label(at(turn, "from")) or label(at(turn, "role"))


def _read_distilabel(records: Iterator[Raw], reading: Reading) -> Iterator[Record]:
    for raw in records:
        prompt = prompt_of(raw.get("instruction"))
        system = _system_of(raw)
        grouped = raw.get("generations")
        reading.fields["generations[*]" if isinstance(grouped, list) else "generation"] = None
        if not isinstance(grouped, list):
            yield Record(string(raw.get("generation")), system, prompt)
            continue
        for index, text in enumerate(grouped):
            yield Record(string(text), label(at(raw, "generation_models", index)) or system, prompt)


def _read_alpaca(records: Iterator[Raw], _: Reading) -> Iterator[Record]:
    for raw in records:
        parts = [part for name in ("instruction", "input") if (part := string(raw.get(name)))]
        yield Record(string(raw.get("output")), _system_of(raw), "\n".join(parts) or None)


def _read_completions(records: Iterator[Raw], _: Reading) -> Iterator[Record]:
    for raw in records:
        completion = raw.get("completion")
        content = at(completion, -1, "content") if isinstance(completion, list) else completion
        text, reasoning = content_of(content)
        yield Record(text, _system_of(raw), prompt_of(raw.get("prompt")), reasoning=reasoning)


def _system_of(raw: Raw) -> str | None:
    return next((found for name in _SYSTEMS if (found := label(raw.get(name)))), None)


def _is_sharegpt(raw: Raw) -> bool:
    first = at(raw, "conversations", 0)
    return isinstance(first, Mapping) and "value" in first and _from(first) is not None


FORMATS = (
    Format("textassay records", "text", (needs("text", "system", "prompt_id", "sample"),), any_record, _read_own),
    Format(
        "chat messages",
        "messages[-1].content",
        (needs("messages"),),
        lambda raw: isinstance(at(raw, "messages", -1, "role"), str),
        _read_messages,
        system=_SYSTEMS,
    ),
    Format(
        "ShareGPT conversations",
        "conversations[-1].value",
        (needs("conversations"),),
        _is_sharegpt,
        _read_sharegpt,
        system=_SYSTEMS,
    ),
    Format(
        "distilabel generations",
        "generation",
        (needs("instruction", "generation"), needs("instruction", "generations")),
        lambda raw: (
            isinstance(raw.get("generation", ""), str | None) and isinstance(raw.get("generations", []), list | None)
        ),
        _read_distilabel,
        prompt=("instruction",),
        system=_SYSTEMS,
    ),
    Format(
        "Alpaca records",
        "output",
        (needs("instruction", "output"),),
        lambda raw: isinstance(raw["output"], str),
        _read_alpaca,
        prompt=("instruction",),
        system=_SYSTEMS,
    ),
    Format(
        "prompts with completions",
        "completion",
        (needs("prompt", "completion"),),
        lambda raw: isinstance(raw["completion"], str | list),
        _read_completions,
        system=_SYSTEMS,
    ),
    without_texts(
        "preference pairs",
        needs("chosen", "rejected"),
        any_record,
        "two texts per record; wanted --field chosen or --field rejected (messages: 'chosen[-1].content')",
    ),
)
