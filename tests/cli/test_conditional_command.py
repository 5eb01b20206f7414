"""`textassay conditional` as a person or a script meets it: output, files, exit codes, one line for what is wrong."""

import csv
import io
import json
import random
import re
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Command
from tests.cli.refusal import assert_refused
from textassay.cli.main import run
from textassay.studies.conditional.result import Conditional

FAST = ("--distance", "edit", "--resamples", "99")


def made(count: int = 10, *, seed: int = 0, evil: str = "") -> list[dict[str, Any]]:
    """Items of five references; one system repeats the first, the other writes like people; one item is bare."""
    rng = random.Random(seed)

    def text() -> str:
        return " ".join(rng.choices("abcdefgh", k=6)) + evil

    items = []
    for number in range(count):
        references = [text() for _ in range(1 if number == 3 else 5)]
        systems = {"narrow": [references[0]] * 6, "fair": [text() for _ in range(6)]}
        items.append({"id": f"i{number}", "prompt": f"say {number}", "references": references, "candidates": systems})
    return items


def written(path: Path, items: list[dict[str, Any]]) -> str:
    path.write_text("".join(json.dumps(item) + "\n" for item in items), encoding="utf-8")
    return str(path)


@pytest.fixture
def items(tmp_path: Path) -> str:
    """A file of items."""
    return written(tmp_path / "captions.jsonl", made())


@pytest.fixture
def textassay(run_command: Command) -> Command:
    """Runs `textassay conditional`."""
    return partial(run_command, "conditional")


def test_the_answer_comes_first_and_the_table_when_it_is_wanted(items: str, textassay: Command) -> None:
    found = textassay(items, *FAST, columns="160")
    out = found.stdout
    assert (found.returncode, found.stderr) == (0, "")
    question, context, sentence, *_ = out.splitlines()
    assert question == "Which system writes like the references do?"
    assert context.startswith("captions: 10 items with 1-5 references and 6 candidates each; quality (score edit)")
    assert sentence.startswith("One answer to most items: narrow; 1 of 2 systems was not found to differ")
    assert re.search(r"^1  fair +(= none found|= no difference found)", out, flags=re.M)
    assert re.search(r"^ +narrow +! collapsed", out, flags=re.M)
    assert "score edit ↑" not in out
    table = textassay(items, *FAST, "--table", columns="160").stdout
    assert table.startswith("\n".join((question, context, sentence)))
    for expected in ("metric", "human", "score edit ↑", "trm edit ↓", "at 1 v 4", "at 2 v 3", "signs of the items"):
        assert expected in table
    assert re.search(r"no number on 1 of 10 items[^']*'i3'", table)


def test_why_shows_items_and_combined_tests(items: str, textassay: Command) -> None:
    found = textassay(items, *FAST, "--why", "--top", "1").stdout
    assert "[6 times]" in found
    assert "Simes" in found
    assert found.count("say ") == 1
    assert "… and 9 more" in found
    assert "spread +" not in textassay(items, *FAST, "--top", "1").stdout


def test_sensitivity(items: str, textassay: Command) -> None:
    found = textassay(items, *FAST, "--sensitivity", "--power", "0.6", "--metrics", "trm", columns="200")
    assert "narrow: fewest texts per item for 60 % power" in found.stdout
    assert re.search(r"^trm edit ?[↓]? +(\d|more) +(\d|more) +[\d.]+ %", found.stdout, flags=re.M)
    assert "power" not in textassay(items, *FAST).stdout


def test_every_output_is_written_and_the_json_reads_back(items: str, tmp_path: Path) -> None:
    targets = {kind: tmp_path / f"out.{kind}" for kind in ("json", "csv", "markdown", "report")}
    outputs = [part for kind, path in targets.items() for part in (f"--{kind}", str(path))]
    assert run(["conditional", items, *FAST, "--quiet", *outputs]) == 0
    text = targets["json"].read_text(encoding="utf-8")
    assert json.loads(Conditional.from_json(text).to_json()) == json.loads(text)
    assert [column["name"] for column in json.loads(text)["systems"]] == ["narrow", "fair"]
    rows = list(csv.DictReader(io.StringIO(targets["csv"].read_text(encoding="utf-8"))))
    assert rows[0]["system"] == "human"
    assert {row["item"] for row in rows} == {"", *(f"i{number}" for number in range(10))}
    assert "| metric | human | narrow | fair |" in targets["markdown"].read_text(encoding="utf-8")
    assert targets["report"].read_text(encoding="utf-8").lower().startswith("<!doctype html>")


def test_json_on_standard_output_is_all_there_is(items: str, textassay: Command) -> None:
    found = textassay(items, *FAST, "--json", "-")
    assert json.loads(found.stdout)["items"]["n"] == 10
    assert found.stderr == ""


def test_candidates_may_come_from_files_of_their_own(tmp_path: Path, textassay: Command) -> None:
    whole = made()
    bare = [{key: item[key] for key in ("id", "references")} for item in whole]
    references = written(tmp_path / "references.jsonl", bare)
    systems = [
        written(
            tmp_path / f"{name}.jsonl", [{"id": item["id"], "candidates": item["candidates"][name]} for item in whole]
        )
        for name in ("narrow", "fair")
    ]
    found = json.loads(textassay(references, *systems, *FAST, "--json", "-").stdout)
    assert [column["name"] for column in found["systems"]] == ["narrow", "fair"]
    together = written(tmp_path / "together.jsonl", whole)
    expected = json.loads(textassay(together, *FAST, "--json", "-").stdout)
    for one, other in zip(found["systems"], expected["systems"], strict=True):
        assert [r["estimate"] for r in one["results"]] == [r["estimate"] for r in other["results"]]
        assert [r["p_value"] for r in one["results"]] == [r["p_value"] for r in other["results"]]


def test_options_reach_the_study(items: str, textassay: Command) -> None:
    metrics = ["--metrics", "score:over=max,trm:variant=split"]
    arguments = [*metrics, "--tokenizer", "char", "--level", "0.9", "--seed", "3"]
    found = json.loads(textassay(items, *FAST, *arguments, "--partitions", "0", "--json", "-").stdout)
    assert found["details"]["labels"] == ["score edit over=max", "trm edit variant=split"]
    assert found["details"]["level"] == 0.9
    results = found["systems"][1]["results"]
    first = results[0]
    assert "|tok:char|" in first["signature"]
    assert "seed:3" in first["signature"]
    assert first["interval"]["level"] == 0.9
    exact = json.loads(textassay(items, *FAST, *arguments, "--json", "-").stdout)
    assert [r["p_value"] for r in exact["systems"][1]["results"]] != [r["p_value"] for r in results]


def test_estimates_only(items: str, textassay: Command) -> None:
    found = json.loads(textassay(items, "--distance", "edit", "--resamples", "0", "--json", "-").stdout)
    results = [result for column in found["systems"] for result in column["results"]]
    assert all(result["interval"] is None and result["p_value"] is None for result in results)
    assert "no test was run" in textassay(items, "--distance", "edit", "--resamples", "0").stdout


@pytest.mark.parametrize("columns", ["60", "80", "120", "200"])
def test_hostile_texts_never_reach_the_terminal_raw(tmp_path: Path, columns: str, textassay: Command) -> None:
    records = made(evil=" \x1b[31mred\x07 \u202egnp.exe [bold]x[/bold] <script>")
    for record in records:
        record["id"] = f"{record['id']}\x1b[2J"
        record["prompt"] = "\x1b]0;title\x07 =cmd|' /C calc'!A0"
        record["candidates"] = {f"{name}\x1b[5m": texts for name, texts in record["candidates"].items()}
    path = written(tmp_path / "evil[red].jsonl", records)
    found = textassay(path, *FAST, "--why", columns=columns)
    assert found.returncode == 0
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f\u202e]", found.stdout)
    assert "evil[red]" in found.stdout
    assert max(map(len, found.stdout.splitlines())) <= int(columns)


@pytest.mark.parametrize(
    ("lines", "wanted"),
    [
        (None, "no such file"),
        ([], "no items"),
        ([{"id": "a", "candidates": ["x"]}], "references"),
        ([{"id": "a", "references": ["x"]}], "candidates"),
        ([{"id": "a", "references": ["x"], "candidates": ["y"]}] * 2, "'a'"),
        ([{"id": "a", "references": ["x", 3], "candidates": ["y"]}], "text 2"),
    ],
)
def test_bad_files_get_one_line_and_exit_code_2(
    tmp_path: Path, lines: list[dict[str, Any]] | None, wanted: str, textassay: Command
) -> None:
    path = tmp_path / "broken.jsonl"
    if lines is not None:
        written(path, lines)
    target = tmp_path / "out.json"
    found = textassay(str(path), *FAST, "--json", str(target))
    assert_refused(found, wanted)
    assert not target.exists()


@pytest.mark.parametrize(
    ("arguments", "wanted"),
    [
        (["--metrics", "tmr"], "did you mean 'trm'"),
        (["--metrics", "self_bleu"], "use textassay compare"),
        (["--distance", "meter"], "did you mean 'meteor'"),
        (["--level", "2"], "--level 2"),
        (["--null", "magic"], "--null magic"),
        (["--power", "1"], "--power 1"),
        (["--partitions", "-1"], "--partitions -1"),
        (["--top", "-1"], "--top"),
        (["--tokenizer", "plan"], "plain"),
        (["--engine", "tcp://127.0.0.1:1"], "no engine"),
        (["--encoding", "utf-99"], "utf-99"),
        (["--json", "-", "--csv", "-"], "standard output"),
        (["--report", "no/such/folder/x.html"], "does not exist"),
        (["--distance", "cider", "--document-frequencies", "no-such-file"], "no-such-file"),
        (["no-such-file.jsonl"], "no-such-file.jsonl"),
    ],
)
def test_bad_usage_gets_one_line_and_exit_code_2(
    items: str, arguments: list[str], wanted: str, textassay: Command
) -> None:
    found = textassay(items, *arguments)
    assert found.returncode == 2
    assert wanted in found.stderr
    assert found.stderr.count("\n") == 1
    assert found.stdout == ""
