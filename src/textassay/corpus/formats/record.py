"""Record: one generated text with its system, prompt and finish, and what all formats share to make one."""

import ast
import hashlib
import json
import math
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from textassay.errors import InputError, Setting

TextKind = Literal["answer", "reasoning"]


def checked_kind(text: str) -> TextKind:
    """The answer or the reasoning, or an error for anything else."""
    kinds: dict[str, TextKind] = {"answer": "answer", "reasoning": "reasoning"}
    if text not in kinds:
        raise InputError(Setting("text", text), "; wanted answer or reasoning")
    return kinds[text]


# The words that tools use for how a text ended.
_FINISHES = {
    "stop": "stop",
    "end_turn": "stop",
    "stop_sequence": "stop",
    "eos": "stop",
    "eos_token": "stop",
    "endoftext": "stop",
    "completed": "stop",
    "length": "length",
    "max_tokens": "length",
    "max_output_tokens": "length",
    "model_length": "length",
    "model_context_window_exceeded": "length",
    "content_filter": "filter",
    "safety": "filter",
    "tool_calls": "tool",
    "tool_call": "tool",
    "tool_use": "tool",
    "function_call": "tool",
    "refusal": "refusal",
}
_WITHOUT = "text without a prompt in the requests|texts without a prompt in the requests"
_WHOLE = re.compile(r"[0-9]{1,18}")
_OPEN = re.compile(r"\s*<(think|thinking|reasoning)>")


@dataclass(frozen=True, slots=True)
class Record:
    """One generated text. `sample` numbers the texts of one prompt; None where the file does not number them.

    `finish` is stop, length, filter, tool, refusal or the tool's own word, None where the file has none. A record with
    an `error` has no text. `partition` is the class of the text among those of its prompt, where the file has one.
    `reply` identifies the reply or the run that the text is of, where the file does.
    """

    text: str | None = None
    system: str | None = None
    prompt: str | None = None
    prompt_id: str | None = None
    sample: int | None = None
    reasoning: str | None = None
    finish: str | None = None
    error: str | None = None
    partition: str | None = None
    reply: str | None = None

    @property
    def prompt_name(self) -> str | None:
        """What identifies the prompt: its id, or the prompt itself."""
        return self.prompt_id if self.prompt_id is not None else self.prompt


class Refusal(Exception):
    """A file of a known format without generated texts; the message names what it has instead."""


@dataclass(eq=False)
class Reading:
    """What one input had besides the records that are kept, over all its files.

    `left_out` counts what was left out by reason, `kept` what is kept but worth a note. Of what was left out, `lost`
    are the records that should have had a text: errors and empty replies, but not copies or other lines. `fields` are
    those that texts were read from, where the format has several. `memory` is the state that a format keeps from one
    file to the next.
    """

    left_out: Counter[str] = field(default_factory=Counter)
    kept: Counter[str] = field(default_factory=Counter)
    lost: Counter[str] = field(default_factory=Counter)
    fields: dict[str, None] = field(default_factory=dict)
    memory: dict[str, Any] = field(default_factory=dict)
    _seen: set[bytes] = field(default_factory=set, repr=False)
    _counts: Counter[bytes] = field(default_factory=Counter, repr=False)

    def lose(self, reason: str) -> None:
        """Count a record that should have had a text."""
        self.left_out[reason] += 1
        self.lost[reason] += 1

    def is_new(self, *parts: object) -> bool:
        """Whether something with these parts was not seen before."""
        digest = digest_of(*parts)
        if digest in self._seen:
            return False
        self._seen.add(digest)
        return True

    def number(self, *parts: object) -> int:
        """How many things with these parts were numbered before."""
        digest = digest_of(*parts)
        self._counts[digest] += 1
        return self._counts[digest] - 1


def digest_of(*parts: object) -> bytes:
    """What stands for things with these parts, in a few bytes."""
    return hashlib.blake2b(repr(parts).encode(errors="backslashreplace"), digest_size=12).digest()


def kept_records(records: Iterator[Record], reading: Reading, text: TextKind = "answer") -> Iterator[Record]:
    """The records with a text; the others are counted by reason, and so are exact duplicates.

    A record is a duplicate if system, prompt, id, reply, number of the sample and text are those of another one: files
    of several tasks number the prompts of each. A record that the file does not number is a further sample of its
    prompt, and so is the text of another reply: batches that ask the same again use the same ids.
    """
    for record in records:
        if record.error is not None:
            reading.lose("error|errors")
            continue
        found = _with_reasoning(record, reading)
        content = found.text if text == "answer" else found.reasoning
        if content is None or not content.strip():
            reading.lose(_why_empty(found, text))
            continue
        place = (found.system, found.prompt_id, found.prompt, found.reply, found.sample)
        if found.sample is not None and not reading.is_new(*place, content):
            reading.left_out["duplicate|duplicates"] += 1
            continue
        if found.sample is None or found.reply is not None:
            found = replace(found, sample=reading.number(found.system, found.prompt_name), reply=None)
        if found.finish == "length":
            reading.kept["text that a limit of the length cut off|texts that a limit of the length cut off"] += 1
        elif found.finish == "refusal":
            reading.kept["refusal|refusals"] += 1
        yield found


def with_prompts(records: Iterator[Record], prompts: Mapping[str, str], reading: Reading) -> Iterator[Record]:
    """Records with the prompts of their requests; those without one are kept and counted.

    The prompt of a record that has one is not replaced: ids of different tools may be equal.
    """
    for record in records:
        if record.prompt is not None:
            yield record
            continue
        prompt = prompts.get(record.prompt_id or "")
        if prompt is None:
            reading.kept[_WITHOUT] += 1
        yield record if prompt is None else replace(record, prompt=prompt)


def _with_reasoning(record: Record, reading: Reading) -> Record:
    if record.text is None:
        return record
    thought, answer = split_reasoning(record.text)
    if thought is None:
        return record
    reading.kept["reasoning split off at its tags|reasonings split off at their tags"] += 1
    return replace(record, text=answer, reasoning="\n".join(filter(None, (record.reasoning, thought))))


def _why_empty(record: Record, text: TextKind) -> str:
    if text == "reasoning":
        return "record without reasoning|records without reasoning"
    if record.finish == "tool":
        return "tool call without text|tool calls without text"
    if record.finish == "filter":
        return "text withheld by a content filter|texts withheld by a content filter"
    if record.finish == "length" and record.reasoning:
        return "text cut off within its reasoning|texts cut off within their reasoning"
    return "empty text|empty texts"


def split_reasoning(text: str) -> tuple[str | None, str]:
    """The reasoning between tags at the beginning of a text, and the rest; None where there are no tags.

    Some chat templates put the opening tag into the prompt, and a text that was cut off may lack the closing one.

    >>> split_reasoning("<think>A cat?</think>A dog.")
    ('A cat?', 'A dog.')
    >>> split_reasoning("A cat?</think>A dog."), split_reasoning("A dog.")
    (('A cat?', 'A dog.'), (None, 'A dog.'))
    """
    opened = _OPEN.match(text)
    if opened is None:
        thought, closing, rest = text.partition("</think>")
        return (thought.strip(), rest.lstrip()) if closing and "<think>" not in thought else (None, text)
    thought, _, rest = text[opened.end() :].partition(f"</{opened[1]}>")
    return thought.strip(), rest.lstrip()


def at(value: Any, *path: str | int) -> Any:
    """What is at a path of keys and indices, or None.

    >>> at({"choices": [{"text": "a"}]}, "choices", 0, "text"), at({"choices": None}, "choices", 0)
    ('a', None)
    """
    for step in path:
        if isinstance(step, str):
            value = value.get(step) if isinstance(value, Mapping) else None
        else:
            value = value[step] if isinstance(value, list) and -len(value) <= step < len(value) else None
    return value


def items_at(value: Any, *path: str | int) -> list[Any]:
    """The list at a path; an empty one where there is none."""
    found = at(value, *path)
    return found if isinstance(found, list) else []


def string(value: Any) -> str | None:
    """A string, or None for anything else."""
    return value if isinstance(value, str) else None


def label(value: Any) -> str | None:
    """A string or a number as a label; None for anything else, for a blank string and for NaN.

    >>> label(7), label(7.0), label(" "), label(float("nan"))
    ('7', '7', None, None)
    """
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return None
    if isinstance(value, float):
        return None if math.isnan(value) else str(int(value) if value.is_integer() else value)
    return str(value) if str(value).strip() else None


def whole(value: Any, default: int = 0) -> int:
    """A whole number, also as a string or a float as tables have them; the default for anything else.

    >>> whole(2), whole("2"), whole(2.0), whole(None, 1)
    (2, 2, 2, 1)
    """
    named = label(value)
    return int(named) if named is not None and _WHOLE.fullmatch(named) else default


def finish_of(word: Any) -> str | None:
    """How a text ended, in one vocabulary for all tools.

    >>> finish_of("max_tokens"), finish_of("end_turn"), finish_of("paused"), finish_of(None)
    ('length', 'stop', 'paused', None)
    """
    if isinstance(word, Mapping):
        word = word.get("reason")
    if not isinstance(word, str) or not word.strip():
        return None
    return _FINISHES.get(word.casefold(), word)


def as_json(value: Any) -> str | None:
    """An object or a list as JSON, None for nothing."""
    if value is None:
        return None
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


def from_json(value: Any) -> Any:
    """The object or list that a string holds as JSON; any other value as it is."""
    if isinstance(value, str) and value.lstrip()[:1] in ("{", "["):
        try:
            return json.loads(value)
        except (ValueError, RecursionError):
            return value
    return value


def from_cell(value: Any) -> Any:
    """The object or list that a cell of a table holds as JSON or as Python writes it; any other value as it is.

    >>> from_cell('[{"a": null}]'), from_cell("[{'a': None}]"), from_cell("[1] A cat.")
    ([{'a': None}], [{'a': None}], '[1] A cat.')
    """
    found = from_json(value)
    if isinstance(found, str) and found[:1] in ("[", "{") and found[-1:] in ("]", "}"):
        try:
            return ast.literal_eval(found)
        except (ValueError, SyntaxError, RecursionError, MemoryError):
            return found
    return found


def content_of(content: Any, resolve: Callable[[str], str | None] | None = None) -> tuple[str | None, str | None]:
    """The text and the reasoning of the content of a message: a string, or a list of parts.

    >>> content_of([{"type": "reasoning", "reasoning": "A cat?"}, {"type": "text", "text": "A dog."}])
    ('A dog.', 'A cat?')
    """
    resolved = resolve or _same
    if isinstance(content, str):
        return resolved(content), None
    texts: list[str] = []
    thoughts: list[str] = []
    for part in content if isinstance(content, list) else []:
        if isinstance(part, str):
            texts.append(part)
        elif isinstance(part, Mapping):
            kind = part.get("type", "text")
            if kind in ("text", "output_text"):
                texts.extend(_strings(part, "text", "content"))
            elif kind in ("reasoning", "thinking"):
                thoughts.extend(_strings(part, "reasoning", "thinking", "text", "content", "summary"))
    found = [resolved(text) for text in texts]
    return "".join(text or "" for text in found) if texts else None, "\n".join(thoughts) or None


def _same(text: str) -> str | None:
    return text


def _strings(part: Mapping[str, Any], *names: str) -> list[str]:
    return [next((value for name in names if isinstance(value := part.get(name), str)), "")]


def _role_of(message: Mapping[str, Any]) -> str:
    return label(message.get("role")) or label(message.get("type")) or "user"


def prompt_of(messages: Any) -> str | None:
    """A prompt as one text: a string, the content of one message, or several messages with their roles.

    >>> prompt_of([{"role": "user", "content": "Hi"}])
    'Hi'
    >>> prompt_of([{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hi"}])
    'system: Be brief.\\nuser: Hi'
    """
    if isinstance(messages, str) or messages is None:
        return messages
    if isinstance(messages, Mapping):
        if isinstance(messages.get("messages"), list):
            return prompt_of(messages["messages"])
        return as_json(messages)
    found = [message for message in messages if isinstance(message, Mapping)] if isinstance(messages, list) else []
    said = [(_role_of(message), content_of(message.get("content"))[0] or "") for message in found]
    if len(said) == 1:
        return said[0][1]
    return "\n".join(f"{role}: {content}" for role, content in said) if said else None
