"""Small files in the formats of other tools, written from their documented schemas, and what has to be read."""

import json
from dataclasses import dataclass, field
from typing import Any

Records = list[dict[str, Any]]


@dataclass(frozen=True)
class Example:
    """The records of a file, its texts, and what its note has to state."""

    records: Records
    texts: list[str]
    says: list[str] = field(default_factory=list)
    prompts: list[str | None] | None = None
    ids: list[str | None] | None = None
    cut_off: list[bool] | None = None
    system: str | None = None
    reasonings: list[str | None] | None = None


def lm_eval(doc: int, texts: list[str], *, filter: str = "none", **more: Any) -> dict[str, Any]:
    arguments = {"gen_args_0": {"arg_0": f"Q{doc}", "arg_1": {"until": ["\n"]}}}
    return {
        "doc_id": doc,
        "target": "3",
        "arguments": arguments,
        "resps": [texts],
        "filtered_resps": texts[:1],
        "filter": filter,
        **more,
    }


def inspect_sample(name: int, text: Any, *, epoch: int = 1, stop: str = "stop", **more: Any) -> dict[str, Any]:
    choices = [{"message": {"role": "assistant", "content": text}, "stop_reason": stop}]
    return {"id": name, "epoch": epoch, "input": f"Q{name}", "output": {"model": "m", "choices": choices}, **more}


def inspect_log(*samples: dict[str, Any]) -> dict[str, Any]:
    return {"version": 2, "status": "success", "eval": {"task": "t", "model": "lab/m"}, "samples": list(samples)}


def batch(name: str, *choices: dict[str, Any], **more: Any) -> dict[str, Any]:
    body = {"object": "chat.completion", "model": "gpt-4o", "choices": list(choices)}
    return {
        "id": f"batch_{name}",
        "custom_id": name,
        "response": {"status_code": 200, "body": body},
        "error": None,
        **more,
    }


def choice(text: str | None, finish: str = "stop", **more: Any) -> dict[str, Any]:
    return {"index": 0, "message": {"role": "assistant", "content": text, **more}, "finish_reason": finish}


def anthropic(name: str, *parts: dict[str, Any], stop: str = "end_turn", kind: str = "succeeded") -> dict[str, Any]:
    message = {"model": "claude", "role": "assistant", "content": list(parts), "stop_reason": stop}
    return {"custom_id": name, "result": {"type": kind, "message": message} if kind == "succeeded" else {"type": kind}}


def promptfoo(name: str, output: Any, *, asked: str = "Say hi", **more: Any) -> dict[str, Any]:
    return {
        "id": name,
        "prompt": {"raw": asked, "label": "l"},
        "vars": {},
        "provider": {"id": "p", "label": ""},
        "response": {"output": output},
        "success": True,
        "score": 1,
        "failureReason": 0,
        "testIdx": 0,
        "promptIdx": 0,
        **more,
    }


def state(name: str, text: str, **more: Any) -> dict[str, Any]:
    return {
        "instance": {"id": name, "input": {"text": "q"}},
        "train_trial_index": 0,
        "request": {"prompt": f"P{name}", "max_tokens": 9, "model": "m"},
        "result": {"success": True, "completions": [{"text": text, "finish_reason": {"reason": "length"}}]},
        **more,
    }


def text_part(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


def langfuse(name: str, output: str | None, **more: Any) -> dict[str, Any]:
    known = {"id": name, "trace_id": "t", "type": "GENERATION", "level": "DEFAULT", "provided_model_name": "m"}
    return {**known, "input": "Q", "output": output, **more}


def span(number: int, *messages: dict[str, Any], **more: Any) -> dict[str, Any]:
    asked = [{"role": "user", "parts": [{"type": "text", "content": "Q"}]}]
    values = {
        "gen_ai.request.model": "m",
        "gen_ai.input.messages": json.dumps(asked),
        "gen_ai.output.messages": json.dumps(list(messages)),
    }
    return {"traceId": "t", "spanId": str(number), "attributes": values, **more}


def operation(number: int, name: str, *messages: dict[str, Any]) -> dict[str, Any]:
    plain = span(number, *messages)
    return {**plain, "attributes": {**plain["attributes"], "gen_ai.operation.name": name}}


def otel_message(*parts: dict[str, Any], finish: str = "stop") -> dict[str, Any]:
    return {"role": "assistant", "parts": list(parts), "finish_reason": finish}


EXAMPLES: dict[str, Example] = {
    "lm-eval, without hashes, repeats": Example(
        [lm_eval(0, ["A cat.", "A cat."]), lm_eval(1, ["A dog.", ""])],
        ["A cat.", "A cat.", "A dog."],
        ["lm-evaluation-harness samples: 3 texts read from 'resps'", "1 empty text"],
        prompts=["Q0", "Q0", "Q1"],
        ids=["0", "0", "1"],
    ),
    "lm-eval, with hashes, two filters, two runs in one file": Example(
        [lm_eval(0, ["A cat."], filter=name, doc_hash="x") for name in ("none", "strict", "none", "strict")],
        ["A cat."],
        ["2 lines of other filters", "1 duplicate"],
    ),
    "lm-eval, messages to a chat endpoint": Example(
        [
            lm_eval(0, ["A cat."], arguments={"gen_args_0": {"arg_0": [json.dumps(asked)], "arg_1": {"until": []}}})
            for asked in [[{"role": "system", "content": "S"}, {"role": "user", "content": "Q"}]]
        ],
        ["A cat."],
        prompts=["system: S\nuser: Q"],
    ),
    "lm-eval, older arguments": Example(
        [{**lm_eval(0, ["A cat."]), "arguments": [["Q0", {"until": ["\n"]}]]}], ["A cat."], prompts=["Q0"]
    ),
    "lm-eval, several requests per document, a line of log-likelihoods": Example(
        [
            {
                **lm_eval(0, []),
                "arguments": {f"gen_args_{n}": {"arg_0": f"Q{n}", "arg_1": {"until": []}} for n in range(2)},
                "resps": [["A cat.", "A cat."], ["A dog."]],
            },
            {**lm_eval(1, ["(-12.3, False)"]), "arguments": {"gen_args_0": {"arg_0": "Q", "arg_1": " Paris"}}},
        ],
        ["A cat.", "A cat.", "A dog."],
        ["1 log-likelihood request without a generated text"],
        prompts=["Q0", "Q0", "Q1"],
        ids=["0.0", "0.0", "0.1"],
    ),
    "inspect, choices, messages, a limit, older reasons": Example(
        [
            inspect_log(
                {
                    "id": "a",
                    "epoch": 2,
                    "input": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Q"}],
                    "output": {
                        "choices": [
                            {"message": {"role": "assistant", "content": text}, "stop_reason": reason}
                            for text, reason in (
                                (
                                    [{"type": "reasoning", "reasoning": "Hm"}, {"type": "text", "text": "tc://d1"}],
                                    "stop",
                                ),
                                ("A cat.", "length"),
                            )
                        ]
                    },
                    "attachments": {"d1": "A long text."},
                },
                inspect_sample(2, "A dog.", limit={"type": "token", "limit": 9}),
                {"id": 3, "epoch": 1, "input": "Q3", "output": {"completion": "A cow.", "choices": []}},
            )
        ],
        ["A long text.", "A cat.", "A dog.", "A cow."],
        ["1 sample that a limit of the run ended", "1 text that a limit of the length cut off"],
        prompts=["system: Be brief.\nuser: Q", "system: Be brief.\nuser: Q", "Q2", "Q3"],
        cut_off=[False, True, False, False],
        system="lab/m",
        reasonings=["Hm", None, None, None],
    ),
    "inspect, epochs, parts, errors, cut off": Example(
        [
            inspect_log(
                inspect_sample(1, [{"type": "reasoning", "reasoning": "Hm"}, text_part("A cat.")]),
                inspect_sample(1, "A cat.", epoch=2, stop="max_tokens"),
                inspect_sample(2, "", error={"message": "x"}),
                inspect_sample(3, "", stop="tool_calls"),
                {"id": 4, "epoch": 1, "input": "Q4", "output": {"choices": []}, "error": {"message": "x"}},
                inspect_sample(5, "A dog.", invalidation={"author": "a"}),
                inspect_sample(6, "attachment://abc", attachments={"abc": "A long text."}),
            )
        ],
        ["A cat.", "A cat.", "A long text."],
        [
            "2 errors",
            "1 tool call without text",
            "1 invalidated sample",
            "limit of the length",
            "1 attachment resolved",
        ],
        cut_off=[False, True, False],
        system="lab/m",
    ),
    "HELM": Example(
        [
            {
                "adapter_spec": {"model": "lab/m"},
                "request_states": [
                    state("a", "A cat."),
                    state("a", "A dog.", train_trial_index=1),
                    state("b", "", result={"success": False, "completions": [], "error": "x"}),
                ],
            }
        ],
        ["A cat.", "A dog."],
        ["HELM scenario state", "1 error"],
        ids=["a", "a"],
        cut_off=[True, True],
        system="m",
    ),
    "HELM, messages, thinking, perturbations": Example(
        [
            {
                "adapter_spec": {"model": "lab/m"},
                "request_states": [
                    state(
                        "a",
                        "",
                        instance={"id": "a", "input": {"text": "q"}, "perturbation": {"name": "typos"}},
                        reference_index=1,
                        request={"messages": [{"role": "user", "content": "Q"}], "max_tokens": 9, "model": "m"},
                        result={
                            "success": True,
                            "completions": [
                                {"text": "A cat.", "thinking": {"text": "Hm"}, "finish_reason": {"reason": "stop"}},
                                {"text": "A dog."},
                            ],
                        },
                    ),
                    state("a", "A cow."),
                    state("b", "A cat.", result={"success": True, "error": "x", "completions": [{"text": "A cat."}]}),
                ],
            }
        ],
        ["A cat.", "A dog.", "A cow."],
        ["1 error"],
        prompts=["Q", "Q", "Pa"],
        ids=["a/typos/1", "a/typos/1", "a"],
        cut_off=[False, False, True],
        system="m",
        reasonings=["Hm", None, None],
    ),
    "HELM predictions": Example(
        [
            {"instance_id": "a", "train_trial_index": 0, "predicted_text": "A cat.", "thinking_text": "Hm"},
            {"instance_id": "a", "train_trial_index": 1, "predicted_text": "A cat."},
        ],
        ["A cat.", "A cat."],
        ids=["a", "a"],
    ),
    "Every Eval Ever": Example(
        [
            {
                "model_id": "m",
                "evaluation_name": "e",
                "sample_id": "1",
                "input": {"raw": "Q"},
                "output": {"raw": ["A cat.", "A dog."]},
            },
            {
                "model_id": "m",
                "evaluation_name": "e",
                "sample_id": "2",
                "input": {"raw": "Q"},
                "messages": [{"role": "user", "content": "Q"}, {"role": "assistant", "content": "A cow."}],
            },
            {"model_id": "m", "sample_id": "3", "input": {"raw": "Q"}, "output": {"raw": []}, "error": "x"},
        ],
        ["A cat.", "A dog.", "A cow."],
        ["Every Eval Ever instances"],
        ids=["1", "1", "2"],
        system="m",
    ),
    "Every Eval Ever, one text, reasoning, an agent": Example(
        [
            {
                "model_id": "m",
                "sample_id": "1",
                "interaction_type": "single_turn",
                "input": {"raw": "Q", "reference": []},
                "output": {"raw": "A cat.", "reasoning_trace": "Hm"},
            },
            {
                "model_id": "m",
                "sample_id": "2",
                "interaction_type": "agentic",
                "input": {"raw": "P", "reference": []},
                "output": None,
                "messages": [
                    {"role": "assistant", "content": "I look it up."},
                    {"role": "tool", "content": "42"},
                    {"role": "assistant", "content": "A dog.", "reasoning_trace": "So"},
                    {"role": "tool", "content": "done"},
                ],
            },
        ],
        ["A cat.", "A dog."],
        prompts=["Q", "P"],
        ids=["1", "2"],
        system="m",
        reasonings=["Hm", "So"],
    ),
    "lighteval": Example(
        [{"doc": {"query": "Q", "id": "1"}, "model_response": {"text": ["A cat.", "A cat."], "reasonings": ["", ""]}}],
        ["A cat.", "A cat."],
        ["lighteval details"],
    ),
    "NoveltyBench, with equal generations": Example(
        [{"id": "c-1", "prompt": "Q", "model": "m", "generations": ["A cat."] * 10, "partition": [0] * 10}],
        ["A cat."] * 10,
        ["NoveltyBench: 10 texts"],
        ids=["c-1"] * 10,
        system="m",
    ),
    "OpenAI evals log, with a grader": Example(
        [
            {"spec": {"completion_fns": ["gpt-4"], "run_id": "r"}},
            {
                "run_id": "r",
                "event_id": 0,
                "sample_id": "s",
                "type": "sampling",
                "data": {"prompt": "Q", "sampled": ["A"]},
            },
            {
                "run_id": "r",
                "event_id": 1,
                "sample_id": "s",
                "type": "sampling",
                "data": {"prompt": "G", "sampled": ["Y"]},
            },
            {"run_id": "r", "event_id": 2, "sample_id": "s", "type": "match", "data": {"correct": True}},
            {"final_report": {"accuracy": 1.0}},
        ],
        ["A"],
        ["1 later request of a sample (a grader's)"],
        system="gpt-4",
    ),
    "simple-evals": Example(
        [{"convos": [[{"role": "user", "content": "Q"}, {"role": "assistant", "content": "A cat."}]], "score": 1}],
        ["A cat."],
        prompts=["Q"],
    ),
    "batch, chat, in any order, errors in the file": Example(
        [
            batch("b", choice("A dog.", "length"), choice("A cow.")),
            batch("a", choice("A cat.")),
            batch("c", choice(None, "tool_calls", tool_calls=[{"function": {}}])),
            batch("d", choice(None, "content_filter")),
            batch("e", choice(None, refusal="I can't.")),
            batch("f", response={"status_code": 500, "body": {}}, error=None),
            batch("g", response=None, error={"code": "x"}),
            batch("a", choice("A cat.")),
            batch(
                "h",
                response={"status_code": "200", "body": json.dumps({"model": "gpt-4o", "choices": [choice("In.")]})},
            ),
        ],
        ["A dog.", "A cow.", "A cat.", "I can't.", "In."],
        ["2 errors", "1 tool call without text", "1 text withheld by a content filter", "1 duplicate", "1 refusal"],
        ids=["b", "b", "a", "e", "h"],
        cut_off=[True, False, False, False, False],
        system="gpt-4o",
    ),
    "batch, completions and responses": Example(
        [
            batch("a", {"text": "A cat.", "finish_reason": "stop"}),
            batch(
                "b",
                response={
                    "status_code": 200,
                    "body": {
                        "model": "gpt-4o",
                        "status": "incomplete",
                        "incomplete_details": {"reason": "max_output_tokens"},
                        "output": [
                            {"type": "reasoning", "summary": []},
                            {"type": "message", "content": [{"type": "output_text", "text": "A dog."}]},
                        ],
                    },
                },
            ),
        ],
        ["A cat.", "A dog."],
        cut_off=[False, True],
        system="gpt-4o",
    ),
    "batch, responses without a text": Example(
        [
            batch(
                name,
                response={
                    "status_code": 200,
                    "body": {"model": "gpt-4o", "status": "completed", "output": said, **more},
                },
            )
            for name, said, more in (
                ("a", [{"type": "message", "content": [{"type": "refusal", "refusal": "I can't."}]}], {}),
                ("b", [{"type": "function_call", "name": "f"}], {}),
                (
                    "c",
                    [],
                    {"status": "incomplete", "incomplete_details": {"reason": "content_filter"}},
                ),
                ("d", [], {"status": "failed", "error": {"code": "server_error"}}),
                (
                    "e",
                    [
                        {"type": "reasoning", "summary": [{"type": "summary_text", "text": "Hm"}]},
                        {"type": "message", "content": [{"type": "output_text", "text": "A cat."}]},
                    ],
                    {},
                ),
            )
        ],
        ["I can't.", "A cat."],
        ["1 tool call without text", "1 text withheld by a content filter", "1 error", "1 refusal"],
        ids=["a", "e"],
        system="gpt-4o",
        reasonings=[None, "Hm"],
    ),
    "vLLM batch, both fields of the reasoning": Example(
        [
            batch("b", choice("A dog.", reasoning="So", reasoning_content=None), id="vllm-1"),
            batch("a", choice("A cat.", reasoning_content="Hm"), id="vllm-2"),
        ],
        ["A dog.", "A cat."],
        ids=["b", "a"],
        system="gpt-4o",
        reasonings=["So", "Hm"],
    ),
    "Anthropic batch": Example(
        [
            anthropic("a", {"type": "thinking", "thinking": "Hm"}, text_part("A "), text_part("cat.")),
            anthropic("b", {"type": "tool_use", "name": "t"}, stop="tool_use"),
            anthropic("c", kind="errored"),
            anthropic("d", kind="expired"),
            anthropic("e", text_part("A dog"), stop="max_tokens"),
        ],
        ["A cat.", "A dog"],
        ["2 errors", "1 tool call without text"],
        ids=["a", "e"],
        cut_off=[False, True],
        system="claude",
        reasonings=["Hm", None],
    ),
    "promptfoo, version 3": Example(
        [
            {
                "evalId": "e",
                "results": {
                    "version": 3,
                    "results": [
                        promptfoo("1", "A cat.", error="Expected output to contain 'dog'", failureReason=1),
                        promptfoo("2", None, error="API error", failureReason=2),
                        promptfoo("3", {"animal": "cow"}),
                        promptfoo("4", [{"type": "function", "function": {"name": "f"}}]),
                        promptfoo("5", "[output stripped]"),
                        promptfoo("6", "A cat.", response={"output": "A cat.", "cached": True}, testIdx=1),
                        promptfoo("7", "A cat.", testIdx=2),
                        promptfoo("1", "A cat."),
                    ],
                },
            }
        ],
        ["A cat.", '{"animal": "cow"}', "A cat."],
        [
            "1 error",
            "1 tool call without text",
            "1 output that was stripped",
            "1 cached copy of another repeat",
            "1 duplicate",
            "1 object written as JSON",
        ],
        prompts=["Say hi"] * 3,
        system="p",
    ),
    "promptfoo, version 1, prompts escaped": Example(
        [{"results": [promptfoo("1", "A cat.", asked="I&#39;m here")], "stats": {}}],
        ["A cat."],
        prompts=["I'm here"],
        system="p",
    ),
    "promptfoo, version 2, a repeat with its own number": Example(
        [
            {
                "results": {
                    "version": 2,
                    "results": [
                        promptfoo("1", "A cat.", asked="I&#39;m", testIdx=0),
                        promptfoo("2", "A cat.", asked="I&#39;m", testIdx=1, vars={"__repeatIndex": 1}),
                    ],
                }
            }
        ],
        ["A cat.", "A cat."],
        prompts=["I&#39;m"] * 2,
        system="p",
    ),
    "promptfoo, shared evaluation": Example(
        [
            {
                "id": "eval-1",
                "results": [
                    {
                        "id": "1",
                        "prompt": {"raw": "I&#39;m"},
                        "provider": {"id": "p"},
                        "providerResponse": {"output": "A cat."},
                        "error": "Expected output to contain 'dog'",
                        "failureReason": 1,
                    }
                ],
            }
        ],
        ["A cat."],
        prompts=["I&#39;m"],
        system="p",
    ),
    "promptfoo, lines": Example(
        [promptfoo("1", "A cat.", asked="I&#39;m")], ["A cat."], prompts=["I&#39;m"], system="p"
    ),
    "TRL, a buffer used for two steps": Example(
        [
            {"step": step, "prompt": "Q", "completion": text, "advantage": 0.5}
            for step, texts in ((1, ["A", "A", "B"]), (2, ["A", "A", "B", "A", "C"]))
            for text in texts
        ],
        ["A", "A", "B", "A", "C"],
        ["3 completions of earlier steps"],
    ),
    "verl, several outputs per session": Example(
        [
            {"input": "Q", "output": text, "score": 1.0, "step": 1, "uid": uid}
            for text, uid in (("draft", "u_0_0"), ("A cat.", "u_0_1"), ("A dog.", "u_1_0"))
        ],
        ["A cat.", "A dog."],
        ["1 output before the last of a session"],
        ids=["u", "u"],
    ),
    "verl, without gts and uid": Example(
        [{"input": "Q", "output": "A cat.", "score": 1.0, "step": 1}] * 2, ["A cat."] * 2, prompts=["Q"] * 2
    ),
    "Langfuse": Example(
        [
            langfuse("1", '{"role": "assistant", "content": "A cat."}'),
            langfuse("2", "A dog."),
            langfuse("2", "A dog."),
            langfuse("3", None, level="ERROR"),
            langfuse("4", "x", type="SPAN"),
            langfuse("5", '{"animal": "cow"}'),
            langfuse("6", "[1]"),
            langfuse("7", '{"role": "assistant", "content": null, "tool_calls": [{}]}'),
        ],
        ["A cat.", "A dog.", '{"animal": "cow"}', "[1]"],
        ["1 observation that is no generation", "1 duplicate", "1 error", "1 tool call without text"],
        system="m",
    ),
    "Langfuse, several choices": Example(
        [langfuse("1", json.dumps({"choices": [choice(text) for text in ("A cat.", "A dog.", "A dog.")]}))],
        ["A cat.", "A dog.", "A dog."],
        system="m",
        prompts=["Q"] * 3,
    ),
    "OpenTelemetry": Example(
        [
            span(
                1,
                otel_message({"type": "reasoning", "content": "Hm"}, {"type": "text", "content": "A cat."}),
                otel_message({"type": "text", "content": "A dog."}, finish="length"),
            ),
            span(2, otel_message({"type": "tool_call", "name": "f"}, finish="tool_call")),
            {"traceId": "t", "spanId": "3", "attributes": {"gen_ai.request.model": "m"}},
            span(1, otel_message({"type": "text", "content": "A cat."})),
        ],
        ["A cat.", "A dog."],
        ["1 tool call without text", "1 span without output", "1 duplicate"],
        prompts=["Q", "Q"],
        cut_off=[False, True],
        system="m",
    ),
    "OpenTelemetry, a span of an agent around that of its call": Example(
        [
            operation(number, name, otel_message({"type": "text", "content": text}))
            for number, (name, text) in enumerate(
                [("invoke_agent", "A cat."), ("chat", "A cat."), ("invoke_agent", "A dog."), ("chat", "A dog.")]
            )
        ],
        ["A cat.", "A dog."],
        ["2 spans of agents, tools or workflows"],
        system="m",
    ),
    "OpenTelemetry, events in the request of a log, instructions apart": Example(
        [
            {
                "resourceLogs": [
                    {
                        "scopeLogs": [
                            {
                                "logRecords": [
                                    {
                                        "eventName": "gen_ai.client.inference.operation.details",
                                        "spanId": str(number),
                                        "attributes": [
                                            {"key": name, "value": {"stringValue": json.dumps(value)}}
                                            for name, value in {
                                                "gen_ai.system_instructions": [{"type": "text", "content": "S"}],
                                                "gen_ai.input.messages": [
                                                    {"role": "user", "parts": [{"type": "text", "content": "Q"}]}
                                                ],
                                                "gen_ai.output.messages": [
                                                    otel_message({"type": "text", "content": "A cat."})
                                                ],
                                            }.items()
                                        ],
                                    }
                                    for number in range(2)
                                ]
                            }
                        ]
                    }
                ]
            }
        ],
        ["A cat.", "A cat."],
        prompts=["system: S\nuser: Q"] * 2,
    ),
    "OpenTelemetry, export request, on an event": Example(
        [
            {
                "resourceSpans": [
                    {
                        "scopeSpans": [
                            {
                                "spans": [
                                    {
                                        "traceId": "t",
                                        "spanId": "1",
                                        "attributes": [{"key": "gen_ai.request.model", "value": {"stringValue": "m"}}],
                                        "events": [
                                            {
                                                "attributes": [
                                                    {
                                                        "key": "gen_ai.output.messages",
                                                        "value": {
                                                            "stringValue": json.dumps(
                                                                [otel_message({"type": "text", "content": "A cat."})]
                                                            )
                                                        },
                                                    }
                                                ]
                                            }
                                        ],
                                    }
                                ]
                            }
                        ]
                    }
                ]
            }
        ],
        ["A cat."],
        system="m",
    ),
    "OpenTelemetry, attributes at the top, messages that are no strings": Example(
        [
            {
                "context": {"trace_id": "t", "span_id": str(number)},
                "gen_ai.request.model": "m",
                "gen_ai.input.messages": [{"role": "user", "parts": [{"type": "text", "content": "Q"}]}],
                "gen_ai.output.messages": [
                    otel_message({"type": "reasoning", "content": "Hm"}, {"type": "text", "content": "A cat."})
                ],
            }
            for number in range(2)
        ],
        ["A cat.", "A cat."],
        prompts=["Q", "Q"],
        system="m",
        reasonings=["Hm", "Hm"],
    ),
    "LiteLLM, replies as strings, failures": Example(
        [
            {
                "call_type": "acompletion",
                "model": "m",
                "model_group": "g",
                "messages": "Q",
                "response": response,
                "status": status,
            }
            for response, status in (
                (json.dumps({"choices": [choice("A cat.")]}), "success"),
                ("A dog.", "success"),
                ({}, "failure"),
            )
        ],
        ["A cat.", "A dog."],
        ["1 error"],
        system="m",
    ),
    "LiteLLM, with hits of the cache": Example(
        [
            {
                "id": str(number),
                "call_type": "acompletion",
                "model": "m",
                "model_group": "g",
                "messages": [{"role": "user", "content": "Q"}],
                "response": {"choices": [choice("A cat.")]},
                "status": "success",
                "cache_hit": number > 0,
            }
            for number in range(3)
        ],
        ["A cat."],
        ["2 replies from a cache"],
        prompts=["Q"],
        system="m",
    ),
    "DeepEval": Example(
        [
            {
                "testRunData": {
                    "testCases": [{"name": "t", "input": "Q", "actualOutput": "A cat."}] * 2,
                    "conversationalTestCases": [
                        {"turns": [{"role": "user", "content": "Q"}, {"role": "assistant", "content": "A dog."}]}
                    ],
                }
            }
        ],
        ["A cat.", "A cat.", "A dog."],
        prompts=["Q"] * 3,
    ),
    "DeepEval, without a wrapper": Example(
        [{"testCases": [{"name": "t", "input": "Q", "actualOutput": "A cat.", "expectedOutput": "r"}]}],
        ["A cat."],
        prompts=["Q"],
    ),
    "Ragas": Example(
        [
            {"user_input": "Q", "response": "A cat.", "reference": "r"},
            {"user_input": [{"content": "Q", "type": "human"}], "response": "", "multi_responses": ["A", "B"]},
        ],
        ["A cat.", "A", "B"],
        ["read from 'response', 'multi_responses[*]'"],
    ),
    "Ragas, several turns": Example(
        [
            {"user_input": [*asked, {"content": "A cat.", "type": "ai"}], "reference": "r"}
            for asked in (
                [{"content": "Q", "type": "human"}],
                [
                    {"content": "Hi", "type": "human"},
                    {"content": "Yes?", "type": "ai"},
                    {"content": "Q", "type": "human"},
                ],
            )
        ]
        + [{"user_input": [{"content": "Q", "type": "human"}], "reference": "r"}],
        ["A cat.", "A cat."],
        ["read from 'user_input[-1].content'", "1 empty text"],
        prompts=["Q", "human: Hi\nai: Yes?\nhuman: Q"],
    ),
    "MLflow": Example(
        [{"columns": ["inputs", "outputs", "token_count"], "data": [["Q", "A cat.", 2], ["Q", "A dog.", 2]]}],
        ["A cat.", "A dog."],
        ["read from 'outputs'"],
        prompts=["Q", "Q"],
    ),
    "W&B": Example([{"columns": ["Input", "Output", "Expected"], "data": [["Q", "A cat.", "r"]]}], ["A cat."]),
    "OpenAI hosted evaluations, two runs": Example(
        [
            {
                "run_id": run,
                "data_source_idx": number,
                "item": {"q": "Q"},
                "sample": {"model": "m", "outputs": [{"role": "assistant", "content": text}], "error": error},
            }
            for run, number, text, error in (
                ("r", 0, "A cat.", None),
                ("r", 1, None, {"code": "x"}),
                ("r", 0, "A cat.", None),
                ("s", 0, "A cat.", None),
            )
        ],
        ["A cat.", "A cat."],
        ["1 error", "1 duplicate"],
        system="m",
    ),
    "OpenAI hosted evaluations, as the interface lists them": Example(
        [
            {
                "object": "eval.run.output_item",
                "run_id": "r",
                "datasource_item_id": number,
                "datasource_item": {"q": "Q"},
                "sample": {
                    "input": [{"role": "user", "content": "Q"}],
                    "output": [{"role": "assistant", "content": "A cat."}],
                    "finish_reason": "length",
                    "model": "m",
                },
            }
            for number in range(2)
        ],
        ["A cat.", "A cat."],
        ["read from 'sample.output[*].content'", "2 texts that a limit of the length cut off"],
        prompts=["Q", "Q"],
        ids=["0", "1"],
        system="m",
    ),
    "chat messages": Example(
        [
            {"messages": [{"role": "user", "content": "Q"}, {"role": "assistant", "content": [text_part("A cat.")]}]},
            {"messages": [{"role": "user", "content": "Q"}]},
        ],
        ["A cat."],
        ["1 conversation that does not end with an assistant"],
        prompts=["Q"],
    ),
    "ShareGPT, both vocabularies": Example(
        [
            {"id": str(number), "conversations": [{"from": asks, "value": "Q"}, {"from": says, "value": "A cat."}]}
            for number, (asks, says) in enumerate((("human", "gpt"), ("user", "assistant")))
        ],
        ["A cat.", "A cat."],
        prompts=["Q", "Q"],
    ),
    "distilabel, a failed generation": Example(
        [
            {"instruction": "Q", "generation": "A cat.", "model_name": "m"},
            {"instruction": "Q", "generation": None, "model_name": "m"},
        ],
        ["A cat."],
        ["1 empty text"],
        system="m",
    ),
    "distilabel, grouped": Example(
        [{"instruction": "Q", "generations": ["A", "A"], "generation_models": ["m", "m"]}], ["A", "A"], system="m"
    ),
    "Alpaca": Example(
        [{"instruction": "Say", "input": "hi", "output": "A cat.", "generator": "m"}],
        ["A cat."],
        prompts=["Say\nhi"],
        system="m",
    ),
    "prompts with completions": Example([{"prompt": "Q", "completion": "A cat."}] * 2, ["A cat."] * 2),
    "replies of a chat API": Example(
        [{"id": "r1", "object": "chat.completion", "model": "m", "choices": [choice("A cat.")]}] * 2,
        ["A cat."],
        ["1 duplicate"],
        system="m",
    ),
    "replies of a chat API, equal choices": Example(
        [
            {"id": f"r{number}", "object": "chat.completion", "model": "m", "choices": [choice("A cat.")] * 4}
            for number in (1, 2, 1)
        ],
        ["A cat."] * 8,
        ["8 texts", "4 duplicates"],
        system="m",
    ),
    "reasoning between tags": Example(
        [
            batch("a", choice("<think>Hm</think>\nA cat.")),
            batch("b", choice("Hm</think>A dog.")),
            batch("c", choice("<think>Hm and", "length")),
            batch("d", choice("A cow.", reasoning_content="Hm")),
        ],
        ["A cat.", "A dog.", "A cow."],
        ["3 reasonings split off at their tags", "1 text cut off within its reasoning"],
        system="gpt-4o",
    ),
}

REFUSED: dict[str, tuple[Records, str]] = {
    "lm-eval log-likelihood": (
        [{**lm_eval(0, ["(-12.3, False)"]), "arguments": {"gen_args_0": {"arg_0": "Q", "arg_1": " Paris"}}}],
        "no text left (1 log-likelihood request without a generated text)",
    ),
    "lm-eval results": ([{"results": {}, "configs": {}, "versions": {}}], "aggregated scores"),
    "HELM statistics": ([{"instance_id": "a", "train_trial_index": 0, "stats": []}] * 2, "wanted scenario_state.json"),
    "HELM log-likelihood": (
        [{"adapter_spec": {}, "request_states": [state("a", "x", request={"prompt": "Q", "max_tokens": 0})]}],
        "1 log-likelihood request",
    ),
    "inspect without samples": ([inspect_log()], "1 log without samples"),
    "inspect header": ([{"version": 2, "plan": {}, "eval": {"task": "t", "model": "m"}}], "1 log without samples"),
    "batch with errors only": ([batch("a", response=None, error={"code": "x"})] * 2, "2 errors"),
    "batch input": ([{"custom_id": "a", "method": "POST", "url": "/v1", "body": {"model": "m"}}], "requests without"),
    "Anthropic batch input": ([{"custom_id": "a", "params": {"model": "m", "messages": []}}], "requests without"),
    "preference pairs": ([{"prompt": "Q", "chosen": "A", "rejected": "B"}], "two texts per record"),
    "table without texts": ([{"columns": ["a", "b"], "data": [[1, 2]]}], "a table with the columns 'a', 'b'"),
}
