"""Results of promptfoo: the layouts of its JSON over the versions, JSON Lines, and CSV."""

import html
import re
from collections.abc import Iterator, Mapping
from typing import Any

from textassay.corpus.formats.format import Format, Raw, needs
from textassay.corpus.formats.record import Reading, Record, as_json, at, finish_of, items_at, label, string

_STRIPPED = "[output stripped]"
_FAILED_TO_RUN = 2
_HEADER = re.compile(r"\[([^\]]+)\] (.+)", re.DOTALL)
_STATUS = re.compile(r"\[(PASS|FAIL|ERROR)\](?: \(\d+\.\d+\))?\s*")
_REASON = re.compile(r"\n\n(?:Pass|Fail) Reason: (?!.*\n\n(?:Pass|Fail) Reason: ).*\Z", re.DOTALL)


def _read_document(records: Iterator[Raw], reading: Reading) -> Iterator[Record]:
    for document in records:
        results = document.get("results")
        # Version 1 has the results at the top and escapes prompts for HTML; a shared evaluation has them there too.
        is_escaped = isinstance(results, list) and at(results, 0, "providerResponse") is None
        found = results if isinstance(results, list) else items_at(results, "results")
        for result in found:
            yield from _result_text(result, reading, is_escaped=is_escaped)


def _read_lines(records: Iterator[Raw], reading: Reading) -> Iterator[Record]:
    for result in records:
        yield from _result_text(result, reading, is_escaped=False)


def _result_text(result: Any, reading: Reading, *, is_escaped: bool) -> Iterator[Record]:
    """The text of one result. `error` also has the messages of failed assertions, so it does not decide alone."""
    response = at(result, "response") or at(result, "providerResponse")
    provider = at(result, "provider")
    system = label(provider) or label(at(provider, "label")) or label(at(provider, "id"))
    raw_prompt = string(at(result, "prompt", "raw")) or string(at(result, "prompt"))
    prompt = html.unescape(raw_prompt) if is_escaped and raw_prompt else raw_prompt
    output = at(response, "output")
    failed = at(result, "failureReason") == _FAILED_TO_RUN or at(response, "error")
    if failed or (output is None and at(result, "error")):
        yield Record(None, system, prompt, error="error")
        return
    if output == _STRIPPED:
        reading.lose("output that was stripped|outputs that were stripped")
        return
    identity = label(at(result, "id"))
    if identity is not None and not reading.is_new("promptfoo", identity):
        reading.left_out["duplicate|duplicates"] += 1
        return
    if _is_cached_copy(response, system, prompt, output, reading):
        reading.left_out["cached copy of another repeat|cached copies of other repeats"] += 1
        return
    finish = finish_of(at(response, "finishReason"))
    if _is_tool_call(output):
        yield Record(None, system, prompt, finish="tool")
        return
    if not isinstance(output, str | None):
        reading.kept["object written as JSON|objects written as JSON"] += 1
    yield Record(as_json(output), system, prompt, finish=finish)


def _is_cached_copy(response: Any, system: str | None, prompt: str | None, output: Any, reading: Reading) -> bool:
    """Whether the cache gave a repeat the output of an earlier one; the first of them may come from the cache too."""
    is_new = reading.is_new("promptfoo output", system, prompt, as_json(output))
    return at(response, "cached") is True and not is_new


def _is_tool_call(output: Any) -> bool:
    calls = output if isinstance(output, list) else [output]
    return bool(calls) and all(isinstance(at(call, "function"), Mapping) for call in calls)


def _read_csv(records: Iterator[Raw], _: Reading) -> Iterator[Record]:
    """A column per provider and prompt; the other columns are the variables of the prompt."""
    for row in records:
        columns = [(name, found) for name in row if (found := _HEADER.fullmatch(str(name)))]
        values = {f"{{{{{name}}}}}": str(row[name]) for name in row if not _HEADER.fullmatch(str(name))}
        for name, (system, template) in ((name, found.groups()) for name, found in columns):
            prompt = _filled(template, values)
            cell = str(row[name] or "")
            status = _STATUS.match(cell)
            if status is not None and status[1] == "ERROR":
                yield Record(None, system, prompt, error="error")
            else:
                text = cell[status.end() :] if status is not None else cell
                yield Record(_REASON.sub("", text) if status else text, system, prompt)


def _filled(template: str, values: Mapping[str, str]) -> str:
    # In one pass: a value that looks like a variable is not one.
    if not values:
        return template
    return re.sub("|".join(map(re.escape, values)), lambda found: values[found[0]], template)


def _is_document(raw: Raw) -> bool:
    results = raw.get("results")
    first = at(results, 0) if isinstance(results, list) else at(results, "results", 0)
    return isinstance(first, Mapping) and _is_result(first)


def _is_result(raw: Raw) -> bool:
    has_reply = any(name in raw for name in ("response", "providerResponse", "error"))
    return has_reply and isinstance(raw.get("prompt"), Mapping) and "raw" in raw["prompt"]


def _is_csv(raw: Raw) -> bool:
    headers = [name for name in raw if _HEADER.fullmatch(str(name))]
    return bool(headers) and any(_STATUS.match(str(raw[name])) for name in headers)


FORMATS = (
    Format(
        "promptfoo results",
        "results[*].response.output",
        (needs("results"),),
        _is_document,
        _read_document,
        lists=("results", "results.results"),
    ),
    Format("promptfoo results", "response.output", (needs("prompt", "score", "success"),), _is_result, _read_lines),
    Format("promptfoo table", "the columns of the outputs", (needs(),), _is_csv, _read_csv, column=_HEADER),
)
