"""Completions that trainers log during training: TRL and verl."""

import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

from textassay.corpus.formats.format import Format, Raw, any_record, needs
from textassay.corpus.formats.record import Reading, Record, content_of, digest_of, label, prompt_of

# The newer trainer's uid: uid of the prompt, session, and number of the output within the session.
_UID = re.compile(r"(.+)_(\d+)_(\d+)")


def _read_trl(records: Iterator[Raw], reading: Reading) -> Iterator[Record]:
    """The completions of each step, without those that the buffer of an earlier step still held.

    The trainer logs its buffer at every step and does not clear it, so a generation batch that is used for several
    steps is in several files. Copies within one step are samples: a collapsed model writes one text many times.
    """
    state: dict[str, Any] = reading.memory
    for raw in records:
        step = label(raw.get("step"))
        if state.get("step", step) != step or "current" not in state:
            state["previous"], state["current"] = state.get("current", Counter()), Counter()
        state["step"] = step
        key = digest_of(str(raw.get("prompt")), str(raw.get("completion")), str(raw.get("advantage")))
        state["current"][key] += 1
        if state["current"][key] <= state["previous"][key]:
            reading.left_out["completion of an earlier step|completions of earlier steps"] += 1
            continue
        text, reasoning = _completion(raw.get("completion"))
        yield Record(text, prompt=prompt_of(raw.get("prompt")), reasoning=reasoning)


def _completion(value: Any) -> tuple[str | None, str | None]:
    """A completion is a string, or the messages of a conversation."""
    if isinstance(value, list) and value and isinstance(value[-1], dict) and "content" in value[-1]:
        return content_of(value[-1]["content"])
    return content_of(value)


def _read_verl(records: Iterator[Raw], reading: Reading) -> Iterator[Record]:
    """Rollouts; of a session with several outputs the last one counts, wherever its line is.

    Texts that wait are bytes: a string with one emoji takes four bytes per character.
    """
    last: dict[tuple[str, str, str], tuple[int, bytes | None, str | None]] = {}
    prompts: dict[str | None, str | None] = {}
    for raw in records:
        text, prompt = content_of(raw.get("output"))[0], prompt_of(raw.get("input"))
        uid = _UID.fullmatch(str(raw.get("uid")))
        if uid is None:
            yield Record(text, prompt=prompt)
            continue
        session = (str(raw.get("step")), uid[1], uid[2])
        number, seen = int(uid[3]), last.get(session)
        if seen is not None:
            reading.left_out["output before the last of a session|outputs before the last of a session"] += 1
        if seen is None or number > seen[0]:
            waiting = None if text is None else text.encode("utf-8", "surrogatepass")
            last[session] = (number, waiting, prompts.setdefault(prompt, prompt))
    for session in list(last):
        _, waiting, prompt = last.pop(session)
        text = None if waiting is None else waiting.decode("utf-8", "surrogatepass")
        yield Record(text, prompt=prompt, prompt_id=session[1], sample=int(session[2]))


FORMATS = (
    Format("TRL completions", "completion", (needs("step", "prompt", "completion"),), any_record, _read_trl),
    Format(
        "verl rollouts",
        "output",
        (needs("input", "output", "score", "step"), needs("input", "output", "gts")),
        lambda raw: isinstance(raw["output"], str),
        _read_verl,
        prompt=("input",),
        prompt_id=("uid",),
    ),
)
