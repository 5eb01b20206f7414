"""Files of other tools: every format is recognised, its texts are read, and what is left out is counted."""

import copy
import csv
import json
import math
import os
import struct
import time
import zipfile
import zlib
from collections.abc import Callable
from itertools import product
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.corpus.formats.examples import (
    EXAMPLES,
    REFUSED,
    Example,
    anthropic,
    batch,
    choice,
    inspect_log,
    inspect_sample,
    lm_eval,
    promptfoo,
    text_part,
)
from textassay.corpus.formats import inspect_files
from textassay.corpus.formats.contents import read_contents
from textassay.corpus.formats.recognise import FORMATS, recognise
from textassay.corpus.formats.record import TextKind
from textassay.corpus.item_set import read_items
from textassay.corpus.readers import read_sample, read_systems
from textassay.corpus.sample import Sample
from textassay.errors import InputError

DATA = Path(os.environ.get("TEXTASSAY_DATA", Path(__file__).parents[4] / "shared" / "data")) / "formats"
# The real files: texts that are read, and what the note or the error states.
REAL: dict[str, tuple[int, str]] = {
    "helm/narrative_qa_scenario_state.json": (5, "HELM scenario state: 5 texts"),
    "helm/narrative_qa_per_instance_stats.json": (0, "wanted scenario_state.json"),
    "inspect/2025-05-12T20-28-13-04-00_no-samples.json": (0, "1 log without samples"),
    "inspect/2025-05-12T20-28-13-04-00_popularity.json": (3, "inspect log: 3 texts"),
    "inspect/arc_sonnet.json": (5, "inspect log: 5 texts"),
    "inspect/log_formats.eval": (1, "inspect log: 1 text"),
    "inspect/log_streaming.eval": (4, "inspect log: 4 texts"),
    "lm_eval/samples_math_perturbed_full.jsonl": (10, "lm-evaluation-harness samples: 10 texts"),
    "novelty_bench/scores_first40.jsonl": (400, "NoveltyBench: 400 texts"),
    "promptfoo/examples_provider-replicate_llama4-scout_output.json": (10, "promptfoo results: 10 texts"),
    "promptfoo/examples_simple-cli_output.json": (8, "promptfoo results: 8 texts"),
    "promptfoo/examples_simple-cli_output.csv": (8, "promptfoo table: 8 texts"),
    "promptfoo/test_server_v4evalToShare.json": (8, "promptfoo results: 8 texts"),
}


def jsonl(path: Path, records: list[Any]) -> Path:
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return path


def refusal(source: Any, **options: Any) -> str:
    with pytest.raises(InputError) as caught:
        read_sample(source, **options)
    message = str(caught.value)
    assert "\n" not in message
    return message


def check(sample: Sample, wanted: Example) -> None:
    assert sorted(sample.texts.to_pylist()) == sorted(wanted.texts)
    note = next(note for note in sample.notes if " read from '" in note)
    for said in wanted.says:
        assert said in note
    for column, expected in ((sample.contexts, wanted.prompts), (sample.ids, wanted.ids)):
        if expected is not None:
            assert column is not None
            assert column.to_pylist() == expected
    if wanted.cut_off is not None:
        assert sample.cut_off is not None
        assert sample.cut_off.to_pylist() == wanted.cut_off


@pytest.mark.parametrize("name", EXAMPLES)
def test_texts_of_a_format(name: str, tmp_path: Path) -> None:
    """Lines, a JSON array, a JSON document and Python records give the same; the name of the file says nothing."""
    wanted = EXAMPLES[name]
    sources: list[Any] = [jsonl(tmp_path / "x.jsonl", wanted.records), wanted.records, tmp_path / "array.json"]
    sources[-1].write_text(json.dumps(wanted.records), encoding="utf-8")
    if len(wanted.records) == 1:
        sources.append(tmp_path / "document.json")
        sources[-1].write_text(json.dumps(wanted.records[0], indent=1), encoding="utf-8")
    samples = [read_sample(source) for source in sources]
    for sample in samples:
        check(sample, wanted)
    assert len({sample.digest for sample in samples}) == 1
    if wanted.reasonings is not None:
        assert [record.reasoning for record in read_contents(sources[0])] == wanted.reasonings
    systems = read_systems(sources[0])
    assert list(systems) == ["x" if wanted.system is None else wanted.system]


@pytest.mark.parametrize(
    "name", ["NoveltyBench, with equal generations", "Ragas", "lighteval", "ShareGPT, both vocabularies"]
)
def test_texts_of_a_format_in_columns(name: str, tmp_path: Path) -> None:
    wanted = EXAMPLES[name]
    records = wanted.records[:1]
    pq.write_table(pa.Table.from_pylist(records), tmp_path / "x.parquet")
    from_lines = read_sample(jsonl(tmp_path / "x.jsonl", records))
    for source in (tmp_path / "x.parquet", pa.Table.from_pylist(records), pd.DataFrame(records)):
        assert read_sample(source) == Sample.of(from_lines.texts, name=read_sample(source).name)


@pytest.mark.parametrize("written", [json.dumps, str], ids=["JSON", "Python"])
@pytest.mark.parametrize("name", EXAMPLES)
def test_texts_of_a_format_in_the_cells_of_a_table(name: str, written: Callable[[Any], str], tmp_path: Path) -> None:
    """A CSV file has nested values as JSON, or as pandas writes them, and numbers as strings."""
    wanted, path = EXAMPLES[name], tmp_path / "x.csv"
    cells = [
        {key: written(value) if isinstance(value, dict | list) else value for key, value in record.items()}
        for record in wanted.records
    ]
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(dict.fromkeys(key for record in cells for key in record)))
        writer.writeheader()
        writer.writerows(cells)
    check(read_sample(path), wanted)


@pytest.mark.parametrize("name", REFUSED)
def test_a_file_without_generated_texts_is_refused(name: str, tmp_path: Path) -> None:
    records, reason = REFUSED[name]
    path = jsonl(tmp_path / "x.jsonl", records)
    message = refusal(path)
    assert str(path) in message
    assert reason in message


@pytest.mark.parametrize("name", REAL)
def test_real_files(name: str) -> None:
    path = DATA / name
    if not path.exists():
        pytest.skip(f"needs {path}")
    count, said = REAL[name]
    if not count:
        assert said in refusal(path)
        return
    sample = read_sample(path)
    assert len(sample) == count
    assert any(said in note for note in sample.notes)
    assert sample.contexts is not None
    assert not sample.contexts.null_count


def test_every_format_has_an_example() -> None:
    first = [example.records[0] for example in EXAMPLES.values()] + [records[0] for records, _ in REFUSED.values()]
    found = {form.name for record in first if (form := recognise(record)) is not None}
    others = {"promptfoo table", "textassay records"}
    assert found | others == {form.name for form in FORMATS}


def test_groups_by_the_prompt_or_its_id() -> None:
    records = [lm_eval(0, ["A cat.", "A dog."]), lm_eval(1, ["A cow."])]
    for name, wanted in (("prompt", ["Q0", "Q0", "Q1"]), ("prompt_id", ["0", "0", "1"]), ("doc_id", ["0", "0", "1"])):
        groups = read_sample(records, group=name).groups
        assert groups is not None
        assert groups.to_pylist() == wanted
    assert "no field 'topic' for the groups" in refusal(records, group="topic")
    # A batch output has no prompts; its requests identify them.
    assert read_sample([batch("a", choice("A cat."))]).contexts is None
    groups = read_sample([batch("a", choice("A cat."))], group="prompt").groups
    assert groups is not None
    assert groups.to_pylist() == ["a"]


def test_reasoning_is_a_text_of_its_own() -> None:
    records = EXAMPLES["reasoning between tags"].records
    assert read_sample(records, text="reasoning").texts.to_pylist() == ["Hm", "Hm", "Hm and", "Hm"]
    assert "text='reasoning'" in refusal([{"text": "A cat."}], text="reasoning")


def test_prompts_of_a_batch_are_joined_by_id(tmp_path: Path) -> None:
    """The output has another order than the input, and lacks a request; another output has one more."""
    asked = [
        {"custom_id": "a", "method": "POST", "url": "/v1", "body": {"messages": [{"role": "user", "content": "QA"}]}},
        {"custom_id": "b", "method": "POST", "url": "/v1", "body": {"prompt": "QB"}},
        {"custom_id": "c", "params": {"system": "S", "messages": [{"role": "user", "content": "QC"}]}},
    ]
    requests = jsonl(tmp_path / "input.jsonl", asked)
    output = [batch(name, choice(f"Text {name}.")) for name in ("c", "a", "d")]
    sample = read_sample(output, prompts_from=requests, group="prompt")
    assert sample.contexts is not None
    assert sample.contexts.to_pylist() == ["system: S\nuser: QC", "QA", None]
    assert sample.groups is not None
    assert sample.groups.to_pylist() == ["system: S\nuser: QC", "QA", "d"]
    assert "1 text without a prompt in the requests" in sample.notes[-1]
    # A log that has prompts keeps them, whatever the ids of the requests are.
    log = read_sample([lm_eval(0, ["A cat."])], prompts_from=[{"custom_id": "0", "body": {"prompt": "QA"}}])
    assert log.contexts is not None
    assert log.contexts.to_pylist() == ["Q0"]
    assert "requests" not in log.notes[-1]
    assert "no prompts of requests joined" in read_sample([{"text": "A cat."}], prompts_from=requests).notes[0]
    assert "no request with an id and a prompt" in refusal(output, prompts_from=output)
    asked.append({"custom_id": "b", "body": {"prompt": "another"}})
    assert "two prompts have the id 'b'" in refusal(output, prompts_from=asked)


def test_several_systems_in_one_file() -> None:
    records = [{"id": "1", "prompt": "Q", "model": name, "generations": ["A cat.", "A dog."]} for name in "ab"]
    message = refusal(records)
    assert "texts of 2 systems ('a', 'b')" in message
    assert "by='model'" in message
    systems = read_systems(records)
    assert {name: len(sample) for name, sample in systems.items()} == {"a": 2, "b": 2}
    assert systems["a"].notes[-1] == "2 of 4 texts of sample are of this system"
    # The tool's own name of the field is as good as `model`.
    own = [{"instruction": "Q", "output": f"A {name}.", "generator": name} for name in "ab"]
    assert list(read_systems(own, by="generator")) == list(read_systems(own)) == ["a", "b"]
    plain = [{"arm": arm, "text": arm * 3} for arm in "xyx"]
    assert {name: len(sample) for name, sample in read_systems(plain, by="arm").items()} == {"x": 2, "y": 1}


def test_files_of_two_formats_in_one_pattern_are_refused(tmp_path: Path) -> None:
    jsonl(tmp_path / "a.jsonl", [lm_eval(0, ["A cat."])])
    jsonl(tmp_path / "b.jsonl", [promptfoo("1", "A cat.")])
    assert "wanted files of one format" in refusal(tmp_path / "*.jsonl")


def test_equal_numbers_of_different_prompts_are_no_duplicates(tmp_path: Path) -> None:
    """Files of several tasks number the documents of each."""
    for task in ("a", "b"):
        arguments = {"gen_args_0": {"arg_0": f"Question of {task}", "arg_1": {"until": []}}}
        jsonl(tmp_path / f"samples_{task}.jsonl", [lm_eval(0, ["Yes"], arguments=arguments)])
    sample = read_sample(tmp_path / "samples_*.jsonl")
    assert sample.texts.to_pylist() == ["Yes", "Yes"]
    # Two runs that were appended to one file are one.
    assert len(read_sample([lm_eval(0, ["Yes"]), lm_eval(0, ["Yes"])])) == 1


@pytest.mark.parametrize(
    "reply",
    [
        lambda run: batch("a", choice("A cat."), id=run),
        lambda run: {
            **batch("a"),
            "response": {"status_code": 200, "body": {"id": run, "choices": [choice("A cat.")]}},
        },
        lambda run: {**(found := anthropic("a", text_part("A cat."))), "result": put(found["result"], id=run)},
        lambda run: inspect_log(inspect_sample(1, "A cat.", uuid=run)),
        lambda run: {"id": run, "object": "chat.completion", "model": "m", "choices": [choice("A cat.")]},
        lambda run: {
            "sample_id": "1",
            "model_id": "m",
            "evaluation_id": run,
            "input": {"raw": "Q"},
            "output": {"raw": ["A cat."]},
        },
    ],
    ids=["line of a batch", "reply in a batch", "Anthropic", "inspect", "replies", "Every Eval Ever"],
)
def test_equal_texts_of_several_runs_are_samples(reply: Callable[[str], dict[str, Any]], tmp_path: Path) -> None:
    """Asking the same batch again is one way to get several samples per prompt; a copy of a file has none."""
    for name, run in (("a", "one"), ("b", "two"), ("c", "two")):
        jsonl(tmp_path / f"{name}.jsonl", [reply(run)])
    contents = read_contents(str(tmp_path / "*.jsonl"))
    records = list(contents)
    assert [(record.text, record.sample) for record in records] == [("A cat.", 0), ("A cat.", 1)]
    assert contents.left_out == {"duplicate|duplicates": 1}
    written = tmp_path / "records.json"
    written.write_text("".join(read_contents(str(tmp_path / "*.jsonl")).lines()), encoding="utf-8")
    assert len(list(read_contents(written))) == 2
    # Nothing is left of the third file, but it is not empty.
    assert "empty file" not in read_sample(str(tmp_path / "*.jsonl")).notes


@pytest.mark.parametrize("name", ["x", "x.log", "x.txt"])
def test_records_in_a_file_of_any_name(name: str, tmp_path: Path) -> None:
    records = [lm_eval(n, [f"A cat {n}."]) for n in range(3)]
    sample = read_sample(jsonl(tmp_path / name, records))
    if name == "x.txt":
        assert len(sample) == 3
        assert "100 % of the lines are JSON objects" in sample.notes[-1]
        return
    assert sample.texts.to_pylist() == ["A cat 0.", "A cat 1.", "A cat 2."]
    (tmp_path / name).write_text(json.dumps(inspect_log(inspect_sample(1, "A dog.")), indent=1), encoding="utf-8")
    assert read_sample(tmp_path / name).texts.to_pylist() == ["A dog."]
    (tmp_path / name).write_text('{a} cat\n["a dog"]\n', encoding="utf-8")
    assert read_sample(tmp_path / name).texts.to_pylist() == ["{a} cat", '["a dog"]']


def put(result: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {**result, "message": {**result["message"], **more}}


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"choices": [{"text": "A cat."}]}, "choices[*].text"),
        ({"output": [{"type": "message", "content": [text_part("A cat.")]}]}, "output[*].content[*].text"),
        ({"choices": [choice("A cat.")]}, "choices[*].message.content"),
    ],
)
def test_the_field_of_a_batch_is_that_of_its_endpoint(body: dict[str, Any], field: str) -> None:
    note = read_sample([{"custom_id": "a", "response": {"status_code": 200, "body": body}}]).notes[-1]
    assert f"1 text read from 'response.body.{field}'" in note


def test_lines_that_are_no_records_are_counted(tmp_path: Path) -> None:
    path = jsonl(tmp_path / "x.jsonl", [lm_eval(0, ["A cat."]), "a string", None, lm_eval(1, ["A dog."])])
    assert "left out: 2 lines or values without fields" in read_sample(path).notes[-1]
    assert "2 records without 'resps[*][*]' left out" in read_sample(path, field="resps[*][*]").notes


@pytest.mark.parametrize("name", ["x.jsonl", "x.json"])
def test_scores_that_are_no_numbers_do_not_matter(name: str, tmp_path: Path) -> None:
    """Python writes NaN and Infinity into JSON, and so do the logs of inspect and of trainers."""
    records = [{**lm_eval(0, ["A cat."]), "acc": math.nan}, {**lm_eval(1, ["A dog."]), "acc": -math.inf}]
    path = tmp_path / name
    path.write_text(json.dumps(records) if name == "x.json" else "\n".join(map(json.dumps, records)), encoding="utf-8")
    assert read_sample(path).texts.to_pylist() == ["A cat.", "A dog."]


def test_reasoning_and_prompts_of_requests_by_prompt() -> None:
    asked = [{"custom_id": "a", "body": {"prompt": "QA"}}]
    output = [batch("a", *(choice(f"A {n}.", reasoning_content=f"R {n}.") for n in range(2)))]
    kinds: list[tuple[TextKind, str]] = [("answer", "A"), ("reasoning", "R")]
    for text, letter in kinds:
        (item,) = read_items(output, needs_references=False, text=text, prompts_from=asked).items
        assert (item.id, item.prompt, item.candidates) == ("a", "QA", {"gpt-4o": (f"{letter} 0.", f"{letter} 1.")})
    written = [{"prompt": "Q", "candidates": ["A", "B"]}]
    assert "no prompts of requests joined" in read_items(written, needs_references=False, prompts_from=asked).notes[0]
    with pytest.raises(InputError, match="items, which do not tell reasoning from answers"):
        read_items(written, needs_references=False, text="reasoning")


def test_references_beside_the_texts_of_a_tool_do_not_make_items() -> None:
    items = read_items(EXAMPLES["Ragas"].records, needs_references=False).items
    assert [item.candidates for item in items] == [{"items": ("A cat.", "A", "B")}]
    with pytest.raises(InputError, match="no candidates"):
        read_items([{"prompt": "Q", "references": ["A cat."]}], needs_references=False)


def test_tasks_with_and_without_texts_in_one_pattern(tmp_path: Path) -> None:
    arguments = {"gen_args_0": {"arg_0": "Q", "arg_1": " Paris"}}
    jsonl(tmp_path / "samples_arc.jsonl", [lm_eval(n, ["(-1.2, False)"], arguments=arguments) for n in range(3)])
    assert "3 log-likelihood requests without generated texts" in refusal(tmp_path / "samples_*.jsonl")
    jsonl(tmp_path / "samples_gsm8k.jsonl", [lm_eval(0, ["A cat."])])
    sample = read_sample(tmp_path / "samples_*.jsonl")
    assert sample.texts.to_pylist() == ["A cat."]
    assert "left out: 3 log-likelihood requests" in sample.notes[-1]


def test_a_document_of_no_known_tool_is_no_text(tmp_path: Path) -> None:
    """The version of a document is not its one text."""
    path = tmp_path / "x.json"
    path.write_text(json.dumps({"version": "x1", "results": {"items": [{"said": "A cat."}, {"said": "A dog."}]}}))
    message = refusal(path)
    assert "one record of no known format; its only field with a string is 'version'" in message
    assert "results.items[0].said ('A cat.')" in message
    assert read_sample(path, field="results.items[*].said").texts.to_pylist() == ["A cat.", "A dog."]
    # A record with one text and what belongs to it is one.
    assert len(read_sample([{"output": "A cat.", "scores": [1, 2]}])) == 1


def test_steps_are_deduplicated_over_files(tmp_path: Path) -> None:
    for step in (1, 2):
        rows = [{"step": step, "prompt": "Q", "completion": text, "advantage": 0.0} for text in ("A", "B")]
        rows += [{"step": step, "prompt": "Q", "completion": f"new {step}", "advantage": 0.0}]
        pq.write_table(pa.Table.from_pylist(rows), tmp_path / f"completions_{step:05d}.parquet")
    sample = read_sample(tmp_path / "completions_*.parquet")
    assert sample.texts.to_pylist() == ["A", "B", "new 1", "new 2"]
    assert "2 completions of earlier steps" in sample.notes[-1]


def test_a_field_of_plain_texts_is_read_as_before() -> None:
    sample = read_sample([{"text": "A cat.", "messages": [{"role": "assistant", "content": "A dog."}]}])
    assert sample.texts.to_pylist() == ["A cat."]
    assert sample.notes == ()


def test_a_field_asked_for_is_read_from_any_format() -> None:
    assert read_sample([lm_eval(0, ["A cat."])], field="target").texts.to_pylist() == ["3"]


def test_a_file_of_a_running_job_is_one_line(tmp_path: Path) -> None:
    """The last line, the document or the zip file has no end yet."""
    whole = jsonl(tmp_path / "x.jsonl", [lm_eval(doc, ["A cat."]) for doc in range(3)]).read_bytes()
    incomplete = "the file ends within a value, so it is incomplete"
    for end in (-2, -20, -60):
        (tmp_path / "x.jsonl").write_bytes(whole[:end])
        assert refusal(tmp_path / "x.jsonl").startswith(f"{tmp_path / 'x.jsonl'}:3: not valid JSON")
        assert refusal(tmp_path / "x.jsonl").endswith(incomplete)
    # A fault in a line before the last one is no sign of that.
    (tmp_path / "x.jsonl").write_bytes(whole.replace(b'"3"', b"3x", 1))
    assert incomplete not in refusal(tmp_path / "x.jsonl")
    log = json.dumps(inspect_log(inspect_sample(1, "A cat."), inspect_sample(2, "A dog.")), indent=1)
    for end in (-1, -40, -100):
        (tmp_path / "log.json").write_text(log[:end], encoding="utf-8")
        assert refusal(tmp_path / "log.json").endswith(incomplete)
    (tmp_path / "log.json").write_text(log.replace('"Q1"', "Q1"), encoding="utf-8")
    assert incomplete not in refusal(tmp_path / "log.json")


def test_a_log_of_a_run_that_did_not_finish_is_read_and_noted(tmp_path: Path) -> None:
    log = {**inspect_log(inspect_sample(1, "A cat."), inspect_sample(2, "A dog.")), "status": "cancelled"}
    assert "kept: 1 log of a run that did not finish" in read_sample([log]).notes[-1]
    started = {key: value for key, value in HEADER.items() if key != "status"}
    entries = {f"samples/{n}_epoch_1.json": inspect_sample(n, f"A cat {n}.") for n in range(3)}
    for name, header, is_noted in (
        ("_journal/start.json", started, True),
        ("header.json", {**HEADER, "status": "error"}, True),
        ("header.json", HEADER, False),
    ):
        sample = read_sample(zipped(tmp_path / "log.eval", {name: header, **entries}))
        assert len(sample) == 3
        assert ("1 log of a run that did not finish" in sample.notes[-1]) == is_noted


def test_lists_in_the_cells_of_ragas(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    rows = [{"user_input": "Q", "multi_responses": str(["A cat.", "It's a dog."])}, {"user_input": "P"}]
    pd.DataFrame(rows).to_csv(path, index=False)
    sample = read_sample(path)
    assert sample.texts.to_pylist() == ["A cat.", "It's a dog."]
    assert "Ragas samples: 2 texts" in sample.notes[-1]


def test_promptfoo_table(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text(
        'body,[p] Say {{body}},[q] Sing {{body}}\nhi,"[PASS] (1.00)\n\nA cat.\n\nPass Reason: none","[FAIL] A dog."\n'
        'ho,"[ERROR] timed out",[PASS] A cow.\n',
        encoding="utf-8",
    )
    systems = read_systems(path)
    assert {name: sample.texts.to_pylist() for name, sample in systems.items()} == {
        "p": ["A cat."],
        "q": ["A dog.", "A cow."],
    }
    assert systems["q"].contexts is not None
    assert systems["q"].contexts.to_pylist() == ["Sing hi", "Sing ho"]
    assert "1 error" in systems["p"].notes[0]


# Logs of inspect in zip files.


def zipped(path: Path, entries: dict[str, Any]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, value in entries.items():
            archive.writestr(name, value if isinstance(value, str) else json.dumps(value))
    return path


def zstd_zipped(path: Path, entries: dict[str, Any], *, frames: int = 2) -> Path:
    """A zip file whose entries are compressed with zstd (method 93), in several frames each."""
    body, directory, codec = b"", b"", pa.Codec("zstd")
    for name, value in entries.items():
        content, encoded = json.dumps(value).encode(), name.encode()
        step = -(-len(content) // frames)
        packed = b"".join(
            codec.compress(content[start : start + step], asbytes=True) for start in range(0, len(content), step)
        )
        common = struct.pack(
            "<HHHHHIIIHH", 63, 0, 93, 0, 0x21, zlib.crc32(content), len(packed), len(content), len(encoded), 0
        )
        directory += (
            b"PK\x01\x02" + struct.pack("<H", 63) + common + struct.pack("<HHHII", 0, 0, 0, 0, len(body)) + encoded
        )
        body += b"PK\x03\x04" + common + encoded + packed
    end = struct.pack("<HHHHIIH", 0, 0, len(entries), len(entries), len(directory), len(body), 0)
    path.write_bytes(body + directory + b"PK\x05\x06" + end)
    return path


HEADER = {key: value for key, value in inspect_log().items() if key != "samples"}


def test_both_layouts_of_samples_in_a_zip_file(tmp_path: Path) -> None:
    whole = inspect_sample(1, "A cat.", events=[{"event": "x"}])
    parts = inspect_sample(2, "attachment://abc123")
    entries = {
        "header.json": HEADER,
        "samples/1_epoch_1.json": whole,
        "samples/2_epoch_1/sample.json": parts,
        "samples/2_epoch_1/messages/0.json": [],
        "samples/2_epoch_1/attachments/abc123": "A long text.",
    }
    # The name of the file says nothing.
    for path in (tmp_path / "log.eval", tmp_path / "log.zip"):
        sample = read_sample(zipped(path, entries))
        assert sample.texts.to_pylist() == ["A cat.", "A long text."]
    assert list(read_systems(tmp_path / "log.eval")) == ["lab/m"]


def test_entries_compressed_with_zstd(tmp_path: Path) -> None:
    entries = {"header.json": HEADER, "samples/1_epoch_1.json": inspect_sample(1, "A cat." * 1000)}
    path = zstd_zipped(tmp_path / "log.eval", entries)
    with zipfile.ZipFile(path) as archive:
        assert {info.compress_type for info in archive.infolist()} == {93}
    assert read_sample(path).texts.to_pylist() == ["A cat." * 1000]


def test_zstd_that_arrow_lacks_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = zstd_zipped(tmp_path / "log.eval", {"header.json": HEADER})
    without = SimpleNamespace(Codec=SimpleNamespace(is_available=lambda _: False))
    monkeypatch.setattr(inspect_files, "pa", without)
    assert refusal(path) == (
        f"{path}: entries compressed with zstd, which this build of pyarrow lacks; wanted pyarrow of PyPI"
    )


def test_incomplete_and_other_zip_files(tmp_path: Path) -> None:
    entries = {"header.json": HEADER, "samples/1_epoch_1.json": inspect_sample(1, "A cat.")}
    path = zipped(tmp_path / "log.eval", entries)
    path.write_bytes(path.read_bytes()[:-30])
    assert "incomplete or damaged zip file" in refusal(path)
    assert "without header.json" in refusal(zipped(path, {"x.json": {}}))
    assert "1 log without samples" in refusal(zipped(path, {"_journal/start.json": HEADER}))
    path.write_text("A cat.\n", encoding="utf-8")
    assert "not a zip file; wanted a log of inspect" in refusal(path)


@pytest.mark.parametrize("write", [zipped, zstd_zipped])
def test_a_damaged_zip_file_gives_texts_or_one_line(
    write: Callable[[Path, dict[str, Any]], Path], tmp_path: Path
) -> None:
    samples = {f"samples/{n}_epoch_1.json": inspect_sample(n, f"A cat {n}." * 20) for n in range(2)}
    path = write(tmp_path / "log.eval", {"header.json": HEADER, **samples})
    content, rng = path.read_bytes(), np.random.default_rng(0)
    for _ in range(200):
        damaged = np.frombuffer(content, np.uint8).copy()
        damaged[rng.integers(4, len(content), rng.integers(1, 4))] = rng.integers(0, 256)
        path.write_bytes(damaged.tobytes())
        try:
            read_sample(path)
        except InputError as caught:
            message = str(caught)
            assert "\n" not in message


# Laws over all formats.

JUNK: st.SearchStrategy[Any] = (
    st.none()
    | st.booleans()
    | st.integers(-2, 2)
    | st.floats(allow_nan=False)
    | st.sampled_from(["", "x", "{", "[1]", "\ud800", [], {}, [None], {"a": 1}, [[]], [{}], "stop", "attachment://x"])
)


def places(value: Any) -> list[tuple[Any, Any]]:
    """Every place in nested values: what holds it, and its key."""
    keys = list(value) if isinstance(value, dict) else list(range(len(value))) if isinstance(value, list) else []
    return [(value, key) for key in keys] + [place for key in keys for place in places(value[key])]


@settings(max_examples=400, deadline=None)
@given(st.data())
def test_mutated_records_give_records_or_one_line(data: st.DataObject) -> None:
    records = copy.deepcopy(EXAMPLES[data.draw(st.sampled_from(sorted(EXAMPLES)))].records)
    for _ in range(data.draw(st.integers(1, 3))):
        holder, key = data.draw(st.sampled_from(places(records)))
        if data.draw(st.booleans()) and holder is not records:
            del holder[key]
        elif holder is not records:
            holder[key] = copy.deepcopy(data.draw(JUNK))
        if not places(records):
            break
    reasoning: list[TextKind] = ["answer", "reasoning"]
    for group, text in product((None, "prompt"), reasoning):
        try:
            assert len(read_sample(copy.deepcopy(records), group=group, text=text))
        except InputError as caught:
            message = str(caught)
            assert "\n" not in message
    try:
        read_contents(records).described()
    except InputError as caught:
        message = str(caught)
        assert "\n" not in message
    else:
        "".join(read_contents(records).lines()).encode()


def test_time_is_linear(tmp_path: Path) -> None:
    seconds = []
    for size in (2_000, 8_000):
        path = jsonl(tmp_path / f"{size}.jsonl", [batch(str(n), choice(f"A cat number {n}.")) for n in range(size)])
        start = time.process_time()
        assert len(read_sample(path)) == size
        seconds.append(time.process_time() - start)
    assert seconds[1] < 10 * seconds[0] + 0.1


def test_prompts_with_equal_ids_of_several_tasks_are_several_prompts(tmp_path: Path) -> None:
    """Each task numbers its documents from 0; another system's file has them as well, in another order, or one task."""
    questions = {(task, doc): f"{task} {doc}?" for task in ("arc", "math") for doc in range(2)}

    def file(name: str, tasks: tuple[str, ...]) -> Path:
        asked = [(doc, f"{task} {doc}?") for task in tasks for doc in range(2)]
        records = [
            {**lm_eval(doc, [f"{name} on {prompt}"] * 2), "arguments": [[prompt, {"until": ["."]}]]}
            for doc, prompt in asked
        ]
        return jsonl(tmp_path / f"{name}.jsonl", records)

    a, b, c = file("a", ("arc", "math")), file("b", ("math", "arc")), file("c", ("math",))
    items = read_items(a, candidates=[b, c], needs_references=False).items
    assert sorted(item.prompt or "" for item in items) == sorted(questions.values())
    for item in items:
        names = ("a", "b", "c") if (item.prompt or "").startswith("math") else ("a", "b")
        assert item.candidates == {name: (f"{name} on {item.prompt}",) * 2 for name in names}


def test_systems_with_other_prompts_of_one_id_have_one_prompt(tmp_path: Path) -> None:
    """Each system has a chat template of its own."""
    paths = [
        jsonl(
            tmp_path / f"{name}.jsonl",
            [{**lm_eval(doc, ["A cat."]), "arguments": [[f"<{name}> {doc}?", {"until": ["."]}]]} for doc in range(2)],
        )
        for name in ("a", "b")
    ]
    items = read_items(paths[0], candidates=paths[1:], needs_references=False).items
    assert [sorted(item.candidates) for item in items] == [["a", "b"]] * 2
