"""No text, name or option can control a terminal, whatever command prints it; pipes and files get the exact bytes."""

import io
import json
import os
import re
import sys
import unicodedata
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
import typer

from tests.cli.conftest import Command
from tests.cli.test_cli import on_a_terminal
from tests.cli.test_conditional_command import made as made_items
from tests.cli.test_huse_command import COLUMNS
from tests.cli.test_huse_command import made as made_ratings
from tests.conftest import ROOT
from tests.laws import corpus
from textassay.cli.app import app
from textassay.cli.main import run
from textassay.cli.outputs import write

# Clear the screen, a link (OSC 8), the clipboard (OSC 52), C1 in one character, bell, and directions of writing.
EVIL = "\x1b[2J\x1b]8;;http://evil\x1b\\x\x1b]52;c;ZXZpbA==\x07\x9b2J\x9d0;t\x9c\x08\u202egnp\u2066exe\u2069"
NAME = EVIL.replace("/", "_")


def leaves(command: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Every command with its path; groups only lead to them."""
    if inner := getattr(command, "commands", None):
        for name, sub in inner.items():
            yield from leaves(sub, (*path, name))
    else:
        yield path, command


COMMANDS = dict(leaves(typer.main.get_command(app)))


class Terminal(io.StringIO):
    """A stream that says that it is a terminal and keeps what it gets."""

    def isatty(self) -> bool:
        return True


def on_fake_terminal(monkeypatch: pytest.MonkeyPatch, arguments: Sequence[str]) -> tuple[int, str]:
    """The exit code and everything that a command writes to standard output and error, both terminals."""
    screen = Terminal()
    with monkeypatch.context() as patch:
        patch.setattr(sys, "stdout", screen)
        patch.setattr(sys, "stderr", screen)
        patch.setenv("TERM", "dumb")  # no colours and no progress bars: every control character is one of the text
        patch.setenv("COLUMNS", "150")
        code = run(arguments)
        assert sys.stdout is screen, "the streams are given back"
    return code, screen.getvalue()


def unsafe(shown: str) -> set[str]:
    """The characters in what was shown that may control a terminal."""
    directions = set("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
    return {c for c in shown if (unicodedata.category(c) in ("Cc", "Zl", "Zp") and c not in "\n\t") or c in directions}


def options_of(path: tuple[str, ...]) -> list[Any]:
    """The parameters of a command that take a value."""
    return [parameter for parameter in COMMANDS[path].params if not getattr(parameter, "is_flag", False)]


def with_evil(path: tuple[str, ...], evil: Any) -> list[str]:
    """A command line in which one parameter is hostile, and whatever else is required as well."""
    words = list(path)
    for parameter in sorted(options_of(path), key=lambda parameter: parameter.param_type_name):
        if parameter.required or parameter is evil:
            value = f"no such folder/{EVIL}"
            words += [value] if parameter.param_type_name == "argument" else [f"{parameter.opts[0]}={value}"]
    return words


@pytest.mark.parametrize("path", COMMANDS, ids=" ".join)
def test_no_argument_of_any_command_reaches_a_terminal_raw(
    path: tuple[str, ...], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("TEXTASSAY_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    for parameter in options_of(path):
        code, shown = on_fake_terminal(monkeypatch, with_evil(path, parameter))
        assert not unsafe(shown), (parameter.name, shown)
        assert code == 2 or path == ("reproduce",), (parameter.name, shown)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Hostile texts in files with hostile names, and what the commands make of them."""
    made = tmp_path_factory.mktemp("hostile")
    for number, name in enumerate(["real", "model"]):
        texts = [f"{EVIL} {text} {EVIL}" for text in corpus(number, 110)]
        (made / f"{name}{NAME}.txt").write_text("\n".join(texts) + "\n", encoding="utf-8", newline="\n")
    items = [json.dumps(item) + "\n" for item in made_items(evil=EVIL)]
    (made / f"items{NAME}.jsonl").write_text("".join(items), encoding="utf-8")
    rated = [json.dumps(dict(zip(COLUMNS, row.values(), strict=False))) + "\n" for row in made_ratings(evil=EVIL)]
    (made / f"ratings{NAME}.jsonl").write_text("".join(rated), encoding="utf-8")
    for source in ("human", "machine"):
        rows = [{"text": f"{source} {n} {EVIL}", "log_prob": -n, "prompt": f"article {n} {EVIL}"} for n in range(12)]
        (made / f"{source}{NAME}.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    study = {"command": "compare", "arguments": [f"real{NAME}.txt", f"model{NAME}.txt"], "quick": True, "metrics": "cr"}
    # JSON strings are strings of TOML.
    table = "".join(f"{json.dumps(key)} = {json.dumps(value)}\n" for key, value in study.items())
    (made / "textassay.toml").write_text(f"[studies.{json.dumps(f'small{NAME}')}]\n{table}", encoding="utf-8")
    return made


# The runs of each command that show what is in its input, in this order. In names, ~ stands for hostile characters.
STUDY = ["survey", "create", "study~.db", "--human", "human~.jsonl", "--model", "machine~.jsonl"]
QUICK_STRESS = ("-d", "truncate", "-m", "distinct", "--sizes", "20", "--runs", "2", "--draws", "19")
RUNS: dict[str, list[list[str]]] = {
    "prepare": [["prepare", "real~.txt", "--vocabulary", "-", "--out", "out~.txt"], ["prepare", "real~.txt"]],
    "train": [
        ["train", "ngram:order=2", "real~.txt", "--out", "model~.safetensors", "--arpa", "-"],
        ["train", "ngram:order=2", "real~.txt", "--out", "model~.safetensors"],
    ],
    "sample": [["sample", "model~.safetensors", "-n", "20"]],
    "score": [["score", "model~.safetensors", "real~.txt"]],
    "sweep": [["sweep", "model~.safetensors", "--reference", "real~.txt", "-n", "20", "--temperature", "1"]],
    "compare": [
        ["compare", "real~.txt", "model~.txt", "--family", "ngram", "--resamples", "19", "--json", "compare~.json"],
        ["compare", "real~.txt", "model~.txt", "-m", "distinct", "--resamples", "0", "--csv", "-"],
    ],
    "conditional": [["conditional", "items~.jsonl", "--distance", "edit", "--resamples", "19"]],
    "huse": [["huse", "ratings~.jsonl", "--resamples", "0", "--k", "4"]],
    "frontier": [["frontier", "real~.txt", "model~.txt", "--points", "3"]],
    "agree": [["agree", "compare~.json", "--gold", "model~"]],
    "stress": [
        ["stress", "real~.txt", *["-d", "truncate", "-m", "distinct", "--sizes", "20", "--runs", "2", "--draws", "19"]]
    ],
    "plan": [["plan", "real~.txt", "--margin", "60%", "--runs", "20"]],
    "history": [
        ["compare", "real~.txt", "model~.txt", "-m", "distinct", "--resamples", "19", "--json", "later~.json"],
        ["history", "compare~.json", "later~.json"],
    ],
    "run": [["run"], ["run", "small~"]],
    "report": [["report", "compare~.json"], ["report", "compare~.json", "--table"]],
    "digest make": [
        ["digest", "make", "real~.txt", "--out", "real~.digest"],
        ["digest", "make", "model~.txt", "--out", "model~.digest"],
    ],
    "digest merge": [["digest", "merge", "real~.digest", "model~.digest", "--out", "twice~.digest"]],
    "digest info": [["digest", "info", "real~.digest"]],
    "describe": [["describe", "human~.jsonl"]],
    "convert": [["convert", "human~.jsonl", "--out", "-"]],
    "metrics": [["metrics"], ["metrics", "mauve"]],
    "reproduce": [["reproduce"]],
    "demo": [["demo", "--encoder", "~"]],
    "survey create": [[*STUDY, "--raters", "2"]],
    "survey serve": [["survey", "serve", "study~.db", "--port", "99999"]],
    "survey links": [["survey", "links", "study~.db", "--raters", "1"]],
    "survey status": [["survey", "status", "study~.db"], ["survey", "status", "study~.db", "--json", "-"]],
    "survey messages": [["survey", "messages"], ["survey", "messages", "de"]],
    "survey exclude": [["survey", "exclude", "study~.db", "--rater", "r001"]],
    "survey export": [["survey", "export", "study~.db"]],
    "survey backup": [["survey", "backup", "study~.db", "copy~.db"]],
    "survey turk-export": [["survey", "turk-export", "study~.db", "--out", "-"]],
    "survey turk-import": [["survey", "turk-import", "study~.db", "real~.txt"]],
    "cache info": [["cache", "info"]],
    "cache clear": [["cache", "clear", "--yes"]],
}
REFUSED = {"demo", "survey serve", "survey turk-import", "agree"}


def test_every_command_has_a_run_on_hostile_texts() -> None:
    assert set(RUNS) == {" ".join(path) for path in COMMANDS}


def test_no_command_shows_hostile_texts_raw(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    monkeypatch.setenv("TEXTASSAY_CACHE", str(folder / f"cache{NAME}"))
    for name, runs in RUNS.items():
        for arguments in runs:
            words = [word.replace("~", NAME) for word in arguments]
            code, shown = on_fake_terminal(monkeypatch, words)
            assert not unsafe(shown), (name, shown)
            assert code == (2 if name in REFUSED else 0), (name, shown)


# The sequences of styles and progress bars; hostile texts here contain none of them.
OURS = re.compile(r"\x1b\[[0-9;]*m|\x1b\[\?25[hl]|\x1b\[2K|\x1b\[1A|\r")


@pytest.mark.parametrize("name", ["prepare", "compare", "survey status"])
def test_a_real_terminal_gets_no_text_raw(folder: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.chdir(folder)
    for arguments in RUNS[name]:
        shown = on_a_terminal([word.replace("~", NAME) for word in arguments], {"PYTHONPATH": str(ROOT / "src")})
        assert "Traceback" not in shown
        assert not unsafe(OURS.sub("", shown)), shown


def test_only_the_safe_console_and_the_standard_streams_are_written_to() -> None:
    writers = re.compile(r"(?<![\w.])print\(|(?<!Safe)\bConsole\(|__std(?:out|err)__|\.buffer\.write|secho\(")
    allowed = {"class SafeConsole(Console):", "console = Console("}  # the second one prints to a string
    for file in sorted((ROOT / "src").rglob("*.py")):
        code = [line.strip() for line in file.read_text(encoding="utf-8").splitlines() if ">>>" not in line]
        found = {line for line in code if writers.search(line) and not line.startswith(("#", "..."))}
        assert found <= allowed, (file.name, found)


def test_a_terminal_by_the_name_of_its_device_gets_no_text_raw() -> None:
    import pty

    parent, child = pty.openpty()
    write(os.ttyname(child), f"{EVIL}\nlast\n")
    shown = b""
    while b"last" not in shown:
        shown += os.read(parent, 4096)
    os.close(child)
    os.close(parent)
    assert not unsafe(shown.decode().replace("\r\n", "\n")), shown


def test_pipes_and_files_get_the_exact_bytes(
    folder: Path, monkeypatch: pytest.MonkeyPatch, run_command: Command, tmp_path: Path
) -> None:
    monkeypatch.chdir(folder)
    model, real = f"model{NAME}.safetensors", f"real{NAME}.txt"
    assert run_command("train", "ngram:order=2", real, "--out", model).returncode == 0
    out = str(tmp_path / "out.txt")
    for command in (["prepare", real], ["sample", model, "-n", "20"], ["score", model, real]):
        piped = run_command(*command)
        assert run_command(*command, "--out", out).returncode == piped.returncode == 0
        assert piped.stdout.encode() == Path(out).read_bytes()
        assert {"\x1b", "\x07", "\x9b", "\u202e", "\u2069"} <= set(piped.stdout)
