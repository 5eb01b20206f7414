"""Logs of evaluation harnesses: lm-evaluation-harness, inspect, HELM, lighteval, NoveltyBench, OpenAI evals, ..."""

from collections.abc import Iterator, Mapping
from typing import Any

from textassay.corpus.formats import every_eval_ever
from textassay.corpus.formats.format import Format, Raw, any_record, needs, without_texts
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
    whole,
)

_WITHOUT_TEXT = "log-likelihood request without a generated text|log-likelihood requests without generated texts"


def _read_lm_eval(records: Iterator[Raw], reading: Reading) -> Iterator[Record]:
    """One line per document and filter; `resps` are the same for every filter, so one filter is read."""
    chosen: str | None = None
    for raw in records:
        requests = _lm_eval_requests(raw.get("arguments"))
        if not any(_generates(request) for request in requests):
            # A run of several tasks has files of both kinds, and one pattern may find them all.
            reading.left_out[_WITHOUT_TEXT] += 1
            continue
        named = label(raw.get("filter"))
        chosen = named if chosen is None else chosen
        if named != chosen:
            reading.left_out["line of another filter|lines of other filters"] += 1
            continue
        yield from _lm_eval_texts(raw, requests)


def _lm_eval_texts(raw: Raw, requests: list[list[Any]]) -> Iterator[Record]:
    responses = items_at(raw, "resps")
    identity = label(raw.get("doc_id"))
    if not responses:
        yield Record(prompt_id=identity)
    for index, repeats in enumerate(responses):
        prompt = _lm_eval_prompt(requests[index][0]) if index < len(requests) and requests[index] else None
        name = identity if len(responses) == 1 or identity is None else f"{identity}.{index}"
        for sample, text in enumerate(repeats if isinstance(repeats, list) else [repeats]):
            yield Record(string(text), prompt=prompt, prompt_id=name, sample=sample)


def _lm_eval_requests(arguments: Any) -> list[list[Any]]:
    """The arguments of each request: objects with `arg_0` and `arg_1` now, lists in older files."""
    if isinstance(arguments, Mapping):
        found = [arguments[name] for name in sorted(arguments, key=lambda name: (len(str(name)), str(name)))]
        return [[at(one, "arg_0"), at(one, "arg_1")] for one in found]
    return [one for one in arguments if isinstance(one, list)] if isinstance(arguments, list) else []


def _lm_eval_prompt(asked: Any) -> str | None:
    """A prompt, or the messages to a chat endpoint, which are logged as JSON in a list of one string."""
    return prompt_of(from_json(asked[0]) if isinstance(asked, list) and len(asked) == 1 else asked)


def _generates(request: list[Any]) -> bool:
    return len(request) > 1 and isinstance(request[1], Mapping)


def _read_inspect(records: Iterator[Raw], reading: Reading) -> Iterator[Record]:
    """A whole log; `textassay.corpus.formats.inspect_files` makes one log per sample from a zip file."""
    for log in records:
        system = label(at(log, "eval", "model"))
        samples = items_at(log, "samples")
        if not samples:
            reading.left_out["log without samples|logs without samples"] += 1
        unfinished = label(log.get("status")) not in (None, "success")
        if unfinished and reading.is_new("log", label(at(log, "eval", "run_id")), label(at(log, "eval", "created"))):
            reading.kept["log of a run that did not finish|logs of runs that did not finish"] += 1
        for sample in samples:
            yield from _inspect_texts(sample, system, reading)


def _inspect_texts(sample: Any, system: str | None, reading: Reading) -> Iterator[Record]:
    stored = at(sample, "attachments")

    def resolve(text: str) -> str | None:
        prefix, found, digest = text.partition("://")
        if not found or prefix not in ("attachment", "tc"):
            return text
        reading.kept["attachment resolved|attachments resolved"] += 1
        return string(at(stored, digest))

    asked = at(sample, "input")
    prompt = resolve(asked) if isinstance(asked, str) else prompt_of(asked)
    identity = label(at(sample, "id"))
    if at(sample, "invalidation"):
        reading.lose("invalidated sample|invalidated samples")
        return
    if at(sample, "limit"):
        reading.kept["sample that a limit of the run ended|samples that a limit of the run ended"] += 1
    choices = items_at(sample, "output", "choices")
    failed = at(sample, "error") or (at(sample, "output", "error") if not choices else None)
    epoch, run = whole(at(sample, "epoch"), 1), label(at(sample, "uuid"))
    if failed or not choices:
        error = "error" if failed else None
        completion = string(at(sample, "output", "completion"))
        yield Record(completion, system, prompt, identity, epoch - 1, error=error, reply=run)
        return
    for index, choice in enumerate(choices):
        text, reasoning = content_of(at(choice, "message", "content"), resolve)
        finish = finish_of(at(choice, "stop_reason"))
        number = (epoch - 1) * len(choices) + index
        yield Record(text, system, prompt, identity, number, reasoning, finish, reply=run)


def _read_helm(records: Iterator[Raw], reading: Reading) -> Iterator[Record]:
    for document in records:
        named = label(at(document, "adapter_spec", "model"))
        for state in items_at(document, "request_states"):
            if at(state, "request", "max_tokens") == 0:
                reading.left_out[_WITHOUT_TEXT] += 1
                continue
            yield from _helm_texts(state, label(at(state, "request", "model")) or named)


def _helm_texts(state: Any, system: str | None) -> Iterator[Record]:
    asked = at(state, "request", "prompt") or prompt_of(at(state, "request", "messages"))
    prompt = string(asked) or string(at(state, "instance", "input", "text"))
    parts = (
        at(state, "instance", "id"),
        at(state, "instance", "perturbation", "name"),
        at(state, "reference_index"),
    )
    identity = "/".join(found for part in parts if (found := label(part))) or None
    completions = items_at(state, "result", "completions")
    failed = at(state, "result", "success") is False or bool(at(state, "result", "error"))
    if failed or not completions:
        yield Record(None, system, prompt, identity, error="error" if failed else None)
        return
    trial = whole(at(state, "train_trial_index"))
    for index, completion in enumerate(completions):
        finish = finish_of(at(completion, "finish_reason"))
        number = trial * len(completions) + index
        thought = string(at(completion, "thinking", "text"))
        yield Record(string(at(completion, "text")), system, prompt, identity, number, thought, finish)


def _read_helm_predictions(records: Iterator[Raw], _: Reading) -> Iterator[Record]:
    for raw in records:
        identity, thought = label(raw.get("instance_id")), string(raw.get("thinking_text"))
        trial = whole(raw.get("train_trial_index"))
        yield Record(string(raw.get("predicted_text")), prompt_id=identity, sample=trial, reasoning=thought)


def _read_lighteval(records: Iterator[Raw], _: Reading) -> Iterator[Record]:
    for raw in records:
        prompt, identity = prompt_of(at(raw, "doc", "query")), label(at(raw, "doc", "id"))
        texts = items_at(raw, "model_response", "text")
        if not texts:
            yield Record(prompt=prompt, prompt_id=identity)
        for index, text in enumerate(texts):
            thought = string(at(raw, "model_response", "reasonings", index))
            number = None if identity is None else index
            yield Record(string(text), prompt=prompt, prompt_id=identity, sample=number, reasoning=thought)


def _read_novelty_bench(records: Iterator[Raw], _: Reading) -> Iterator[Record]:
    for raw in records:
        system, prompt, identity = label(raw.get("model")), string(raw.get("prompt")), label(raw.get("id"))
        for index, text in enumerate(items_at(raw, "generations")):
            yield Record(string(text), system, prompt, identity, index, partition=label(at(raw, "partition", index)))


def _read_openai_evals(records: Iterator[Raw], reading: Reading) -> Iterator[Record]:
    """The events of a run. The first prompt of a sample counts: a grader is asked later, with another prompt."""
    system: str | None = None
    for raw in records:
        if isinstance(raw.get("spec"), Mapping):
            system = label(at(raw, "spec", "completion_fns", 0)) or label(at(raw, "spec", "model_name"))
            continue
        if raw.get("type") != "sampling":
            continue
        identity = label(raw.get("sample_id"))
        prompt = prompt_of(at(raw, "data", "prompt"))
        run = label(raw.get("run_id"))
        first: dict[Any, str | None] = reading.memory.setdefault("first prompts", {})
        if first.setdefault((run, identity), prompt) != prompt:
            reading.left_out["later request of a sample (a grader's)|later requests of samples (a grader's)"] += 1
            continue
        sampled = at(raw, "data", "sampled")
        for text in sampled if isinstance(sampled, list) else [sampled]:
            if label(raw.get("event_id")) is None or reading.is_new(run, raw.get("event_id"), text):
                yield Record(content_of(text)[0], system, prompt, identity)
            else:
                reading.left_out["duplicate|duplicates"] += 1


def _read_simple_evals(records: Iterator[Raw], _: Reading) -> Iterator[Record]:
    for document in records:
        for convo in items_at(document, "convos"):
            last = at(convo, -1)
            text, reasoning = content_of(at(last, "content")) if at(last, "role") == "assistant" else (None, None)
            yield Record(text, prompt=prompt_of(convo[:-1]) if isinstance(convo, list) else None, reasoning=reasoning)


FORMATS = (
    Format(
        "lm-evaluation-harness samples",
        "resps",
        (needs("doc_id", "resps", "arguments"),),
        lambda raw: isinstance(raw["resps"], list),
        _read_lm_eval,
        prompt_id=("doc_id",),
    ),
    Format(
        "inspect log",
        "output.choices[*].message.content",
        (needs("eval", "samples"), needs("eval", "plan", "version")),
        lambda raw: isinstance(at(raw, "eval", "task"), str) and isinstance(raw.get("samples", []), list | None),
        _read_inspect,
        prompt=("input",),
        prompt_id=("id",),
        lists=("samples",),
    ),
    Format(
        "HELM scenario state",
        "request_states[*].result.completions[*].text",
        (needs("request_states"),),
        lambda raw: isinstance(raw["request_states"], list),
        _read_helm,
        prompt_id=("instance_id",),
        lists=("request_states",),
    ),
    without_texts(
        "HELM per-instance statistics",
        needs("instance_id", "stats"),
        lambda raw: isinstance(raw["stats"], list),
        "statistics per instance without generated texts; wanted scenario_state.json of the same run",
    ),
    Format(
        "HELM predictions",
        "predicted_text",
        (needs("instance_id", "predicted_text"),),
        any_record,
        _read_helm_predictions,
        prompt_id=("instance_id",),
    ),
    every_eval_ever.FORMAT,
    Format(
        "lighteval details",
        "model_response.text[*]",
        (needs("doc", "model_response"),),
        lambda raw: isinstance(raw["doc"], Mapping) and isinstance(raw["model_response"], Mapping),
        _read_lighteval,
        prompt=("doc",),
    ),
    Format(
        "NoveltyBench",
        "generations[*]",
        (needs("id", "prompt", "generations"),),
        lambda raw: isinstance(raw["generations"], list) and isinstance(raw["prompt"], str),
        _read_novelty_bench,
        prompt_id=("id",),
    ),
    Format(
        "OpenAI evals log",
        "data.sampled",
        (needs("spec"), needs("run_id", "type", "data")),
        lambda raw: isinstance(at(raw, "spec", "completion_fns"), list) or isinstance(raw.get("data"), Mapping),
        _read_openai_evals,
        prompt_id=("sample_id",),
    ),
    Format(
        "simple-evals",
        "convos[*][-1].content",
        (needs("convos"),),
        lambda raw: isinstance(at(raw, "convos", 0), list),
        _read_simple_evals,
        lists=("convos",),
    ),
    without_texts(
        "lm-evaluation-harness results",
        needs("results", "configs", "versions"),
        lambda raw: isinstance(raw["results"], Mapping),
        "aggregated scores without generated texts; wanted the samples_*.jsonl files of the run (--log_samples)",
    ),
)
