"""Time and memory of reading the files of tools: one file per way of storing records, small and ten times as large.

`python benchmarks/records.py` writes each file with 20,000 and with 200,000 texts of about a thousand characters and
reads it in a process of its own. Printed are the time per record, the growth of the time per record from the small to
the large file (1 is linear), and the peak memory above that of the empty process, as a multiple of the texts in UTF-8.
`--smoke` takes 200 and 2,000 texts and one process, so that it has no memory to print.
"""

import argparse
import csv
import json
import random
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

CHARACTERS = 1_000
_WORDS = random.Random(0).choices(
    ["a", "cat", "sat", "on", "the", "mat", "before", "evening", "größer", "🙂", "\n\n"], k=50_000
)
_STREAM = " ".join(_WORDS)

# Run in a process of its own: what is read, and how much memory that takes at the most.
_READ = """
import sys, time
import pyarrow.parquet, textassay.corpus.formats.inspect_files, textassay.corpus.markup
from textassay.corpus.readers import read_sample

def memory(name):
    line = next(line for line in open("/proc/self/status") if line.startswith(name))
    return int(line.split()[1]) * 1024

read_sample([{"text": "a"}])
for path in sys.argv[1:]:
    before, start = memory("VmRSS"), time.process_time()
    sample = read_sample(path)
    seconds = time.process_time() - start
    print(len(sample), seconds, memory("VmHWM") - before, sum(map(len, map(str.encode, sample.texts.to_pylist()))))
"""

Raw = dict[str, Any]


def texts(n: int) -> Iterator[tuple[int, str]]:
    """Different texts with their numbers."""
    rng = random.Random(1)
    for number in range(n):
        start = rng.randrange(len(_STREAM) - CHARACTERS)
        yield number, f"{number} {_STREAM[start : start + CHARACTERS]}"


def lm_eval(number: int, text: str) -> Raw:
    arguments = {"gen_args_0": {"arg_0": f"Question {number}?", "arg_1": {"until": ["\n"]}}}
    return {"doc_id": number, "target": "3", "arguments": arguments, "resps": [[text]], "filtered_resps": [text]}


def batch(number: int, text: str) -> Raw:
    choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
    body = {"object": "chat.completion", "model": "m", "choices": [choice], "usage": {"completion_tokens": 200}}
    return {"id": f"b{number}", "custom_id": f"r{number}", "response": {"status_code": 200, "body": body}}


def messages(number: int, text: str) -> Raw:
    asked = {"role": "user", "content": f"Question {number}?"}
    return {"messages": [asked, {"role": "assistant", "content": text}]}


def span(number: int, text: str) -> Raw:
    said = [{"role": "assistant", "parts": [{"type": "text", "content": text}], "finish_reason": "stop"}]
    values = {"gen_ai.request.model": "m", "gen_ai.output.messages": json.dumps(said)}
    return {"traceId": "t", "spanId": str(number), "attributes": values}


def rollout(number: int, text: str) -> Raw:
    asked, uid = f"Question {number // 8}?", f"{number // 8}_{number % 8}_0"
    return {"input": asked, "output": text, "gts": "3", "score": 1.0, "step": 1, "uid": uid}


def alpaca(number: int, text: str) -> Raw:
    return {"instruction": f"Question {number}?", "output": text, "generator": "m", "dataset": "d"}


def state(number: int, text: str) -> Raw:
    result = {"success": True, "completions": [{"text": text, "logprob": 0, "tokens": []}]}
    instance = {"id": f"id{number}", "input": {"text": f"Question {number}?"}, "references": []}
    return {"instance": instance, "request": {"prompt": f"Question {number}?", "model": "m"}, "result": result}


def promptfoo(number: int, text: str) -> Raw:
    asked = {"raw": f"Question {number}?", "label": "l"}
    return {"id": str(number), "prompt": asked, "provider": {"id": "p"}, "response": {"output": text}, "success": True}


def inspect_sample(number: int, text: str) -> Raw:
    choice = {"message": {"role": "assistant", "content": text}, "stop_reason": "stop"}
    return {"id": number, "epoch": 1, "input": f"Question {number}?", "output": {"model": "m", "choices": [choice]}}


LOG = {"version": 2, "status": "success", "eval": {"task": "t", "model": "lab/m"}, "plan": {}}


def _lines(make: Callable[[int, str], Raw]) -> Callable[[Path, int], Path]:
    def write(folder: Path, n: int) -> Path:
        path = folder / "x.jsonl"
        with path.open("w", encoding="utf-8") as file:
            file.writelines(json.dumps(make(number, text), ensure_ascii=False) + "\n" for number, text in texts(n))
        return path

    return write


def _document(
    make: Callable[[int, str], Raw], before: str = "", after: str = "", *, indent: int | None = None
) -> Callable[[Path, int], Path]:
    """A JSON document with all records in one list."""

    def write(folder: Path, n: int) -> Path:
        path = folder / "x.json"
        with path.open("w", encoding="utf-8") as file:
            file.write(before + "[")
            for number, text in texts(n):
                file.write((",\n" if number else "") + json.dumps(make(number, text), indent=indent))
            file.write("]" + after)
        return path

    return write


def _grouped(folder: Path, n: int) -> Path:
    path, found = folder / "x.jsonl", texts(n)
    with path.open("w", encoding="utf-8") as file:
        for number in range(n // 10):
            said = [next(found)[1] for _ in range(10)]
            asked = f"Question {number}?"
            file.write(json.dumps({"id": str(number), "prompt": asked, "model": "m", "generations": said}) + "\n")
    return path


def _table(folder: Path, n: int) -> Path:
    path = folder / "x.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["body", "[p] Say {{body}}"])
        writer.writerows([f"Question {number}?", f"[PASS] {text}"] for number, text in texts(n))
    return path


def _parquet(folder: Path, n: int) -> Path:
    path = folder / "x.parquet"
    schema = pa.schema([("step", pa.int64()), ("prompt", pa.string()), ("completion", pa.string())])
    with pq.ParquetWriter(path, schema) as writer:
        found = list(texts(n))
        for start in range(0, n, 5_000):
            part = found[start : start + 5_000]
            rows = [{"step": number // 512, "prompt": f"Q {number // 8}?", "completion": text} for number, text in part]
            writer.write_table(pa.Table.from_pylist(rows, schema))
    return path


def _plain(folder: Path, n: int) -> Path:
    path = folder / "x.txt"
    with path.open("w", encoding="utf-8") as file:
        file.writelines(text.replace("\n", " ") + "\n" for _, text in texts(n))
    return path


def _eval(folder: Path, n: int) -> Path:
    path = folder / "x.eval"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        archive.writestr("header.json", json.dumps(LOG))
        for number, text in texts(n):
            archive.writestr(f"samples/{number}_epoch_1.json", json.dumps(inspect_sample(number, text)))
    return path


KINDS: dict[str, Callable[[Path, int], Path]] = {
    "lines of text": _plain,
    "own records, lines": _lines(lambda number, text: {"id": number, "text": text}),
    "lm-evaluation-harness, lines": _lines(lm_eval),
    "batch output, lines": _lines(batch),
    "chat messages, lines": _lines(messages),
    "OpenTelemetry, lines": _lines(span),
    "verl, lines": _lines(rollout),
    "NoveltyBench, lines with ten texts": _grouped,
    "Alpaca, array": _document(alpaca),
    "Alpaca, indented array": _document(alpaca, indent=1),
    "HELM, document": _document(state, '{"adapter_spec": {"model": "m"}, "request_states": ', "}"),
    "promptfoo, document": _document(promptfoo, '{"evalId": "e", "results": {"version": 3, "results": ', "}}"),
    "inspect, document": _document(inspect_sample, f'{json.dumps(LOG)[:-1]}, "samples": ', ', "reductions": []}'),
    "inspect, zip": _eval,
    "promptfoo, CSV": _table,
    "TRL, Parquet": _parquet,
}


def measure(paths: list[Path]) -> list[tuple[int, float, float]]:
    """Texts, seconds per text, and peak memory as a multiple of the texts, of files that one process reads."""
    command = [sys.executable, "-c", _READ, *map(str, paths)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    found = [tuple(map(float, line.split())) for line in done.stdout.splitlines()]
    return [(int(count), seconds / count, peak / size) for count, seconds, peak, size in found]


def written(kinds: list[str], n: int, folder: str) -> list[Path]:
    """A file of each kind in a folder of its own."""
    folders = [Path(folder) / f"{index}" for index in range(len(kinds))]
    for place in folders:
        place.mkdir()
    return [KINDS[kind](place, n) for kind, place in zip(kinds, folders, strict=True)]


def main() -> None:
    ask = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ask.add_argument("kinds", nargs="*", metavar="KIND", help=f"some of: {', '.join(KINDS)}")
    ask.add_argument("--smoke", action="store_true", help="very small files")
    asked = ask.parse_args()
    kinds, sizes = asked.kinds or list(KINDS), (200, 2_000) if asked.smoke else (20_000, 200_000)
    print(f"{'kind':<36}{'microseconds per text':>22}{'growth':>8}{'peak memory / texts':>21}")
    # One file at a time is on the disk, unless all are small.
    for together in [kinds] if asked.smoke else [[kind] for kind in kinds]:
        found = []
        for n in sizes:
            with tempfile.TemporaryDirectory() as folder:
                found.append(measure(written(together, n, folder)))
            assert [count for count, _, _ in found[-1]] == [n] * len(together), f"{together}: {found[-1]}"
        for kind, (_, small, _), (_, large, peak) in zip(together, *found, strict=True):
            shown = "" if asked.smoke else f"{peak:.1f}"
            print(f"{kind:<36}{1e6 * large:>22.1f}{large / small:>8.2f}{shown:>21}", flush=True)


if __name__ == "__main__":
    main()
