"""Traces and tables of observability and evaluation tools: Langfuse, OpenTelemetry, DeepEval, Ragas, MLflow, ..."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from textassay.corpus.formats.batches import reply_texts
from textassay.corpus.formats.format import Format, Raw, any_record, needs
from textassay.corpus.formats.record import (
    Reading,
    Record,
    Refusal,
    as_json,
    at,
    content_of,
    finish_of,
    from_cell,
    items_at,
    label,
    prompt_of,
    string,
)
from textassay.corpus.printable import quoted

# The columns of texts and prompts in tables that have no fixed columns, in the order of preference.
_OUTPUTS = ("outputs", "predictions", "prediction", "output", "response", "completion", "generation")
_INPUTS = ("inputs", "input", "request", "prompt", "question", "user_input")
_CONTENTS = ("content", "text", "completion")
_SYSTEMS = ("model", "model_name", "system")
# Instrumentation records the content of messages only where it is asked to.
_NOT_RECORDED = (
    "span without output (its messages were not recorded)|spans without output (their messages were not recorded)"
)
# Spans around calls of a model, which repeat the messages of these calls.
_AROUND_CALLS = frozenset(("create_agent", "execute_tool", "invoke_agent", "invoke_workflow"))
_NO_CALL = "span of an agent, a tool or a workflow|spans of agents, tools or workflows"


def _read_langfuse(records: Iterator[Raw], reading: Reading) -> Iterator[Record]:
    for raw in records:
        if raw.get("type") != "GENERATION":
            reading.left_out["observation that is no generation|observations that are no generations"] += 1
            continue
        if not reading.is_new("langfuse", raw.get("id")) and raw.get("id") is not None:
            reading.left_out["duplicate|duplicates"] += 1
            continue
        system = label(raw.get("provided_model_name")) or label(raw.get("model"))
        prompt = prompt_of(from_cell(raw.get("input")))
        error = "error" if raw.get("level") == "ERROR" else None
        yield from (replace(record, system=system, prompt=prompt, error=error) for record in _texts(raw.get("output")))


def _texts(output: Any) -> Iterator[Record]:
    """The texts of an output: those of a reply's choices, or that of messages, a message or a text, maybe as JSON."""
    found = from_cell(output)
    if isinstance(at(found, "choices"), list):
        yield from reply_texts(found)
    else:
        yield _one_text(output, found)


def _one_text(output: Any, found: Any) -> Record:
    message = at(found, -1) if isinstance(at(found, -1, "role"), str) else found
    content = next((at(message, name) for name in _CONTENTS if at(message, name) is not None), None)
    is_call = bool(at(message, "tool_calls"))
    if content is None and not is_call and at(message, "role") is None:
        return Record(as_json(output))
    text, reasoning = content_of(content)
    thought = string(at(message, "reasoning_content")) or reasoning
    return Record(text, reasoning=thought, finish="tool" if not text and is_call else None)


def _read_otel(records: Iterator[Raw], reading: Reading) -> Iterator[Record]:
    for raw in records:
        for span in _spans(raw):
            yield from _span_texts(span, reading)


# Where an export request has its spans, and its events, which are records of a log.
_REQUESTS = (("resourceSpans", "scopeSpans", "spans"), ("resourceLogs", "scopeLogs", "logRecords"))


def _spans(raw: Raw) -> Iterator[Mapping[str, Any]]:
    """The spans or events of a line: one, or an export request with many."""
    of_request = next((names for names in _REQUESTS if names[0] in raw), None)
    if of_request is None:
        yield raw
        return
    first, second, third = of_request
    for resource in items_at(raw, first):
        for scope in items_at(resource, second):
            yield from (span for span in items_at(scope, third) if isinstance(span, Mapping))


def _span_texts(span: Mapping[str, Any], reading: Reading) -> Iterator[Record]:
    values = dict(_attributes(span))
    for event in items_at(span, "events"):
        values |= _attributes(event)
    if label(values.get("gen_ai.operation.name")) in _AROUND_CALLS:
        reading.left_out[_NO_CALL] += 1
        return
    messages = from_cell(values.get("gen_ai.output.messages"))
    if not isinstance(messages, list):
        reading.left_out[_NOT_RECORDED] += 1
        return
    identity = [label(at(span, *path)) for path in (("traceId",), ("spanId",), ("context", "span_id"), ("span_id",))]
    if any(identity) and not reading.is_new("span", *identity):
        reading.left_out["duplicate|duplicates"] += len(messages)
        return
    system = label(values.get("gen_ai.response.model")) or label(values.get("gen_ai.request.model"))
    prompt = _otel_prompt(values)
    for message in messages:
        text, reasoning = content_of(_message(message)["content"])
        finish = finish_of(at(message, "finish_reason"))
        if text is None and any(at(part, "type") == "tool_call" for part in items_at(message, "parts")):
            finish = "tool"
        yield Record(text, system, prompt, reasoning=reasoning, finish=finish)


def _otel_prompt(values: Mapping[str, Any]) -> str | None:
    """The messages of the request, after the instructions where these are apart from them."""
    asked = from_cell(values.get("gen_ai.input.messages"))
    if not isinstance(asked, list):
        return prompt_of(asked)
    told = content_of(from_cell(values.get("gen_ai.system_instructions")))[0]
    first = [] if told is None else [{"role": "system", "content": told}]
    return prompt_of([*first, *map(_message, asked)])


def _message(message: Any) -> dict[str, Any]:
    return {"role": at(message, "role"), "content": at(message, "parts") or at(message, "content")}


def _attributes(span: Any) -> dict[str, Any]:
    """The attributes of a span: an object, or a list of keys with typed values."""
    if not isinstance(span, Mapping):
        return {}
    found = span.get("attributes")
    if isinstance(found, list):
        return {str(at(one, "key")): _plain(at(one, "value")) for one in found}
    own = {name: value for name, value in span.items() if str(name).startswith("gen_ai.")} if found is None else {}
    return dict(found) if isinstance(found, Mapping) else own


def _plain(value: Any) -> Any:
    """A typed value of OTLP as a plain one."""
    if not isinstance(value, Mapping) or not value:
        return value
    kind, inner = next(iter(value.items()))
    if kind == "arrayValue":
        return [_plain(one) for one in items_at(inner, "values")]
    if kind == "kvlistValue":
        return {str(at(one, "key")): _plain(at(one, "value")) for one in items_at(inner, "values")}
    return inner


def _is_otel(raw: Raw) -> bool:
    names = ("gen_ai.output.messages", "gen_ai.request.model", "gen_ai.operation.name", "gen_ai.provider.name")
    return any(
        name in found
        for span in _spans(raw)
        for found in (_attributes(span), *map(_attributes, items_at(span, "events")))
        for name in names
    )


def _read_deepeval(records: Iterator[Raw], _: Reading) -> Iterator[Record]:
    for raw in records:
        run = raw.get("testRunData", raw)
        for case in items_at(run, "testCases"):
            yield Record(string(at(case, "actualOutput")), prompt=prompt_of(at(case, "input")))
        for case in items_at(run, "conversationalTestCases"):
            turns = items_at(case, "turns")
            if at(turns, -1, "role") != "assistant":
                yield Record()
                continue
            yield Record(string(at(turns, -1, "content")), prompt=prompt_of(turns[:-1]))


def _read_ragas(records: Iterator[Raw], reading: Reading) -> Iterator[Record]:
    for raw in records:
        asked = from_cell(raw.get("user_input"))
        if "response" not in raw and "multi_responses" not in raw:
            reading.fields["user_input[-1].content"] = None
            yield _ragas_turn(asked)
            continue
        prompt, several = prompt_of(asked), from_cell(raw.get("multi_responses"))
        has_several = isinstance(several, list) and bool(several)
        reading.fields["multi_responses[*]" if has_several else "response"] = None
        texts = several if has_several else [raw.get("response")]
        for text in texts:
            yield Record(string(text), prompt=prompt)


def _ragas_turn(messages: Any) -> Record:
    """The last message of a conversation, if it is the model's."""
    last = at(messages, -1)
    if at(last, "type") != "ai":
        return Record()
    finish = "tool" if not at(last, "content") and at(last, "tool_calls") else None
    return Record(string(at(last, "content")), prompt=prompt_of(messages[:-1]), finish=finish)


def _read_split(records: Iterator[Raw], reading: Reading) -> Iterator[Record]:
    for raw in records:
        names = [str(name) for name in items_at(raw, "columns")]
        text, prompt, system = (_chosen(names, known) for known in (_OUTPUTS, _INPUTS, _SYSTEMS))
        if text is None:
            raise Refusal(f"a table with the columns {quoted(names)}; wanted one of {quoted(list(_OUTPUTS))}")
        reading.fields[names[text]] = None
        for row in items_at(raw, "data"):
            cell, asked = at(row, text), None if prompt is None else from_cell(at(row, prompt))
            yield Record(
                string(cell) or content_of(at(cell, "content"))[0],
                None if system is None else label(at(row, system)),
                prompt_of(asked) if not isinstance(asked, int | float) else str(asked),
            )


def _chosen(names: list[str], known: tuple[str, ...]) -> int | None:
    lower = [name.casefold() for name in names]
    return next((lower.index(name) for name in known if name in lower), None)


def _read_hosted(records: Iterator[Raw], reading: Reading) -> Iterator[Record]:
    for raw in records:
        sample = raw.get("sample")
        name = "outputs" if isinstance(at(sample, "outputs"), list) else "output"
        reading.fields[f"sample.{name}[*].content"] = None
        said = [one for one in items_at(sample, name) if at(one, "role") == "assistant"]
        asked = prompt_of(at(sample, "trajectory") or at(sample, "input") or raw.get("item"))
        identity = label(raw.get("data_source_idx")) or label(raw.get("datasource_item_id"))
        text, reasoning = content_of(at(said, -1, "content"))
        error = "error" if at(sample, "error") else None
        finish = finish_of(at(sample, "finish_reason"))
        run = label(raw.get("run_id"))
        if not reading.is_new("hosted", run, identity, text):
            reading.left_out["duplicate|duplicates"] += 1
            continue
        yield Record(text, label(at(sample, "model")), asked, identity, None, reasoning, finish, error)


def _read_litellm(records: Iterator[Raw], reading: Reading) -> Iterator[Record]:
    for raw in records:
        if raw.get("cache_hit") in (True, "True", "true"):
            reading.left_out["reply from a cache|replies from a cache"] += 1
            continue
        prompt, reply = prompt_of(from_cell(raw.get("messages"))), from_cell(raw.get("response"))
        system = label(raw.get("model"))
        if raw.get("status") == "failure":
            yield Record(None, system, prompt, error="error")
        elif isinstance(reply, Mapping):
            yield from reply_texts({**reply, "model": system}, prompt=prompt)
        else:
            yield Record(string(reply), system, prompt)


FORMATS = (
    Format(
        "OpenTelemetry GenAI spans",
        "gen_ai.output.messages",
        (
            needs("resourceSpans"),
            needs("resourceLogs"),
            needs("attributes"),
            needs("gen_ai.output.messages"),
            needs("gen_ai.request.model"),
        ),
        _is_otel,
        _read_otel,
        lists=tuple(".".join(names[:length]) for names in _REQUESTS for length in (1, 2, 3)),
    ),
    Format(
        "LiteLLM log",
        "response.choices[*].message.content",
        (needs("messages", "response", "call_type"), needs("messages", "response", "model_group")),
        any_record,
        _read_litellm,
        prompt=("messages",),
    ),
    Format(
        "Langfuse observations",
        "output",
        (needs("type", "output", "trace_id"),),
        lambda raw: str(raw["type"]).isupper(),
        _read_langfuse,
        prompt=("input",),
        system=("provided_model_name",),
    ),
    Format(
        "DeepEval test run",
        "testCases[*].actualOutput",
        (needs("testRunData"), needs("testCases")),
        lambda raw: isinstance(at(raw.get("testRunData", raw), "testCases"), list),
        _read_deepeval,
        prompt=("input",),
        lists=("testCases", "testRunData.testCases"),
    ),
    Format(
        "Ragas samples",
        "response",
        (needs("user_input"),),
        lambda raw: "response" in raw or "multi_responses" in raw or isinstance(at(raw, "user_input", -1, "type"), str),
        _read_ragas,
        prompt=("user_input",),
    ),
    Format(
        "table with columns and data (MLflow, W&B)",
        "data",
        (needs("columns", "data"),),
        lambda raw: isinstance(raw["columns"], list) and isinstance(raw["data"], list),
        _read_split,
        lists=("data",),
    ),
    Format(
        "OpenAI hosted evaluation items",
        "sample.outputs[*].content",
        (needs("sample", "run_id"), needs("sample", "data_source_idx"), needs("sample", "item")),
        lambda raw: any(isinstance(at(raw, "sample", name), list) for name in ("outputs", "output")),
        _read_hosted,
        prompt_id=("data_source_idx", "datasource_item_id"),
    ),
)
