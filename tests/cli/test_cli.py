"""The command line as a person or a script meets it: output, exit codes, files, and one line for what is wrong."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from tests.cli.conftest import Command
from tests.cli.refusal import assert_refused
from tests.laws import corpus
from textassay import Comparison
from textassay.cli.main import run

Files = Callable[..., list[str]]
ESCAPE = "\x1b["


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    """A reference and two candidates."""
    paths = []
    for number, name in enumerate(["real", "good", "bad"]):
        words = [f"v{i}" for i in range(40)] if name == "bad" else None
        texts = corpus(number, 60, words=words) if words else corpus(number, 60)
        path = tmp_path / f"{name}.txt"
        path.write_text("\n".join(texts) + "\n", encoding="utf-8")
        paths.append(str(path))
    return paths


def quick(arguments: Sequence[str]) -> list[str]:
    """These tests are about the command, not about vectors: without a choice of metrics, those on n-grams."""
    plain = arguments[:1] == ("compare",) and not {"--family", "--metrics"} & set(arguments)
    return [*arguments, *(["--family", "ngram"] if plain else [])]


def textassay(*arguments: str, env: dict[str, str] | None = None, stdin: str = "") -> subprocess.CompletedProcess[str]:
    settings = {key: value for key, value in os.environ.items() if key not in ("NO_COLOR", "FORCE_COLOR", "COLUMNS")}
    return subprocess.run(
        [sys.executable, "-m", "textassay", *quick(arguments)],
        env=settings | (env or {}), input=stdin, capture_output=True, text=True, check=False,
    )  # fmt: skip


def on_a_terminal(arguments: list[str], env: dict[str, str]) -> str:
    """Everything a command writes when it runs on a pseudo-terminal."""
    import pty

    parent, child = pty.openpty()
    settings = {key: value for key, value in os.environ.items() if key not in ("NO_COLOR", "FORCE_COLOR")}
    with subprocess.Popen(
        [sys.executable, "-m", "textassay", *quick(tuple(arguments))],
        env=settings | {"TERM": "xterm-256color", "COLUMNS": "150"} | env, stdin=child, stdout=child, stderr=child,
    ) as process:  # fmt: skip
        os.close(child)
        written = b""
        while True:
            try:
                block = os.read(parent, 65536)
            except OSError:  # the other end is closed
                break
            if not block:
                break
            written += block
        process.wait()
    os.close(parent)
    return written.decode("utf-8", "replace")


def test_version() -> None:
    found = textassay("--version")
    assert re.fullmatch(r"textassay \d+\.\d+\.\d+(\.dev\d+)?\n", found.stdout)


def test_compare_prints_a_table_and_verdicts(files: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["compare", *files, "--resamples", "99", "--table", "--why"]) == 0
    out, err = capsys.readouterr()
    for expected in ("real v real", "ms_jaccard-4", "good", "bad", " difference: at least ", "too often"):
        assert expected in out
    assert err == ""
    assert ESCAPE not in out


def test_every_output_is_written_and_the_json_reads_back(files: list[str], tmp_path: Path) -> None:
    targets = {kind: tmp_path / f"out.{kind}" for kind in ("json", "csv", "markdown", "report")}
    outputs = [part for kind, path in targets.items() for part in (f"--{kind}", str(path))]
    assert run(["compare", *files, "--resamples", "99", "--quiet", *outputs]) == 0
    text = targets["json"].read_text(encoding="utf-8")
    assert json.loads(Comparison.from_json(text).to_json()) == json.loads(text)
    assert targets["csv"].read_text(encoding="utf-8").startswith("candidate,n,metric,")
    assert "| metric | real v real | good | bad |" in targets["markdown"].read_text(encoding="utf-8")
    assert targets["report"].read_text(encoding="utf-8").startswith("<!doctype html>")
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(
        ["real.txt", "good.txt", "bad.txt", *(path.name for path in targets.values())]
    )


def test_json_on_standard_output_is_all_there_is_and_the_same_in_every_process(
    files: list[str], run_command: Command
) -> None:
    arguments = ("compare", *files, "--resamples", "99", "--json", "-")
    found, again = textassay(*arguments), run_command(*quick(arguments))
    assert json.loads(found.stdout)["reference"]["n"] == 60
    assert found.stderr == ""
    assert re.sub(r'"seconds": .*', "", found.stdout) == re.sub(r'"seconds": .*', "", again.stdout)


def test_standard_input_and_fields(tmp_path: Path, files: list[str], run_command: Command) -> None:
    lines = "\n".join(corpus(5, 60))
    assert textassay("compare", files[0], "-", "--resamples", "0", stdin=lines).returncode == 0
    path = tmp_path / "x.jsonl"
    path.write_text("\n".join(json.dumps({"id": i, "out": t}) for i, t in enumerate(corpus(6, 60))), encoding="utf-8")
    arguments = quick(("compare", files[0], str(path), "--resamples", "0", "--field", "out"))
    assert run_command(*arguments).returncode == 0


def test_two_files_of_one_name_are_told_apart(tmp_path: Path, files: list[str], run_command: Command) -> None:
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "x.txt").write_text("\n".join(corpus(7, 60)), encoding="utf-8")
    both = [str(tmp_path / folder / "x.txt") for folder in ("a", "b")]
    found = json.loads(run_command(*quick(("compare", files[0], *both, "--resamples", "0", "--json", "-"))).stdout)
    assert [column["name"] for column in found["candidates"]] == ["a/x", "b/x"]


def test_why_says_why_there_is_no_test(files: list[str], run_command: Command) -> None:
    shown = run_command(*quick(("compare", *files, "--resamples", "0", "--why"))).stdout
    assert "bleu-4: no test" in shown


class TestColour:
    def test_a_terminal_gets_colour_and_a_pipe_does_not(self, files: list[str], run_command: Command) -> None:
        arguments = ["compare", *files, "--resamples", "0"]
        assert ESCAPE in on_a_terminal(arguments, {})
        assert ESCAPE not in run_command(*quick(tuple(arguments))).stdout

    def test_no_color(self, files: list[str]) -> None:
        shown = on_a_terminal(["compare", *files, "--resamples", "0"], {"NO_COLOR": "1"})
        assert not re.search(r"\x1b\[[0-9;]*3[0-9]", shown), "a colour code"

    def test_force_color(self, files: list[str], run_command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("FORCE_COLOR", "1")
        assert ESCAPE in run_command(*quick(("compare", *files, "--resamples", "0"))).stdout

    def test_dumb_terminal(self, files: list[str]) -> None:
        assert ESCAPE not in on_a_terminal(["compare", *files, "--resamples", "99"], {"TERM": "dumb"})

    def test_a_terminal_that_knows_no_signs_still_shows_the_rest(self, files: list[str]) -> None:
        found = textassay("compare", *files, "--resamples", "0", env={"PYTHONIOENCODING": "ascii"})
        assert found.returncode == 0
        assert "distinct-2" in found.stdout

    def test_narrow_terminals_cut_no_number(self, files: list[str], run_command: Command) -> None:
        shown = run_command(*quick(("compare", *files, "--resamples", "0")), columns="44").stdout
        assert "…" not in shown
        assert "real v real" in shown


@pytest.mark.parametrize(
    ("content", "wanted"),
    [
        (None, "no such file"),
        (b"", "empty"),
        (b"\n \n\n", "all blank"),
        (b"one text only\n", "at least 2"),
        (b"good\nbad \xff\xfe\n", ":2"),
    ],
)
def test_bad_files_get_one_line_and_exit_code_2(
    files: list[str], tmp_path: Path, content: bytes | None, wanted: str, run_command: Command
) -> None:
    path = tmp_path / "broken.txt"
    if content is not None:
        path.write_bytes(content)
    target = tmp_path / "out.json"
    found = run_command(*quick(("compare", files[0], str(path), "--json", str(target))))
    assert_refused(found, wanted)
    assert not target.exists()


@pytest.mark.parametrize(
    ("arguments", "wanted"),
    [
        (["--metrics", "blue"], "did you mean 'bleu'"),
        (["--metrics", "bleu:k=2"], "no option of bleu 'k'"),
        (["--resample", "0"], "--resample"),
        (["--level", "2"], "--level 2"),
        (["--json", "no/such/folder/x.json"], "does not exist"),
        (["--json", "."], "is a directory"),
        (["--json", "-", "--csv", "-"], "standard output"),
        (["--engine", "tcp://127.0.0.1:1"], "no engine"),
        (["--tokenizer", "tree"], "treebank"),
        (["--encoding", "utf-99"], "utf-99"),
    ],
)
def test_bad_usage_gets_one_line_and_exit_code_2(
    files: list[str], arguments: list[str], wanted: str, run_command: Command
) -> None:
    found = run_command(*quick(("compare", *files, *arguments)))
    assert found.returncode == 2
    assert wanted in found.stderr
    assert found.stderr.count("\n") == 1
    assert found.stdout == ""


def test_an_output_that_cannot_be_written_is_refused_before_the_work(files: list[str], run_command: Command) -> None:
    found = run_command("compare", files[0], "missing.txt", "--json", "no/such/x.json")
    assert_refused(found, "no/such")
    assert "missing" not in found.stderr, "the inputs were looked at first"


def test_debug_shows_the_traceback(files: list[str]) -> None:
    assert "Traceback" in textassay("compare", files[0], "missing.txt", "--debug").stderr


def test_a_copy_of_the_reference_is_a_warning_not_an_error(files: list[str], run_command: Command) -> None:
    found = run_command(*quick(("compare", files[0], files[0], "--resamples", "99")))
    assert found.returncode == 0
    assert "contains texts copied from the reference" in " ".join(found.stdout.split())


def test_hostile_text_and_names_never_reach_the_terminal_raw(
    tmp_path: Path, files: list[str], run_command: Command
) -> None:
    texts = [f"\x1b[31mred\x07 {text} \u202egnp.exe [bold]x[/bold] <script>\x00" for text in corpus(3, 60)]
    path = tmp_path / "evil\x1b[2J[red].txt"
    path.write_text("\n".join(texts), encoding="utf-8")
    found = run_command(*quick(("compare", files[0], str(path), "--resamples", "99")))
    assert found.returncode == 0
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f\u202e]", found.stdout)
    assert "[red]" in found.stdout


@pytest.mark.parametrize("metric", [None, "cnd", "copying"])
def test_metrics_command(metric: str | None, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["metrics", *([metric] if metric else [])]) == 0
    assert (metric or "ms_jaccard") in capsys.readouterr().out


def test_a_metric_that_needs_training_texts_is_refused_alone(
    files: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["compare", *files, "-m", "copying,copying:span=4", "--resamples", "0"]) == 2
    lines = capsys.readouterr().err.splitlines()
    assert lines == ["textassay: the metric 'copying' needs training texts; give them with --train"]


def test_a_metric_that_needs_training_texts_is_noted_beside_others(
    files: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["compare", *files, "-m", "copying,distinct", "--resamples", "0"]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "copying ≈ –" in shown
    assert "note: copying has no value: it needs training texts (the option train)" in shown


def test_interrupted_runs_leave_no_file(files: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("os.replace", interrupted)
    target = tmp_path / "out" / "x.json"
    target.parent.mkdir()
    assert run(["compare", *files, "--resamples", "0", "--json", str(target)]) == 130
    assert list(target.parent.iterdir()) == []


def test_ctrl_c_ends_a_long_run_at_once(tmp_path: Path) -> None:
    for number, name in enumerate(["real", "made"]):
        (tmp_path / f"{name}.txt").write_text("\n".join(corpus(number, 4000)), encoding="utf-8")
    arguments = ["compare", "real.txt", "made.txt", "--resamples", "99999", "--json", "out.json", "--family", "ngram"]
    with subprocess.Popen(
        [sys.executable, "-m", "textassay", *arguments], cwd=tmp_path, stderr=subprocess.PIPE, text=True
    ) as process:
        time.sleep(3)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=300)
    assert process.returncode == 130
    assert err.splitlines()[-1] == "textassay: interrupted; no output file is incomplete"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["made.txt", "real.txt"]


@pytest.mark.parametrize("reader", ["head -n 1", "true"])
def test_a_closed_pipe_is_not_an_error(files: list[str], reader: str) -> None:
    command = (
        f"{sys.executable} -m textassay compare {' '.join(files)} --family ngram --resamples 0 --json - | {reader}"
    )
    found = subprocess.run(["bash", "-o", "pipefail", "-c", command], capture_output=True, text=True, check=False)
    assert found.returncode == 0
    assert found.stderr == ""
