"""Gates on the command line: exit codes, and outputs that cannot be written."""

from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from tests.cli.conftest import Command
from tests.cli.refusal import assert_refused
from tests.laws import corpus
from tests.studies.gate.test_gate import OTHER, mixture

FAST = ("--resamples", "99", "--tokenizer", "whitespace", "-m", "repetition")


@pytest.fixture
def texts(tmp_path: Path) -> Callable[[str, list[str]], str]:
    """Writes texts to a file of this name and returns its path."""

    def write(name: str, lines: list[str]) -> str:
        (tmp_path / name).write_text("\n".join(lines) + "\n", encoding="utf-8")
        return str(tmp_path / name)

    return write


@pytest.fixture
def gate(run_command: Command) -> Command:
    """Runs a comparison with few resamples."""
    return partial(run_command, "compare", *FAST)


def test_the_exit_code_is_the_decision(gate: Command, texts: Callable[[str, list[str]], str]) -> None:
    real, other = texts("real.txt", corpus(1, 200)), texts("other.txt", corpus(8, 200, words=OTHER))
    rule = ("--max-separable", "30%", "--contaminant", other)
    cases = {"same": corpus(2, 200), "mixed": mixture(3, 200, 0.7), "few": corpus(5, 21)}
    files = {name: texts(f"{name}.txt", lines) for name, lines in cases.items()}
    codes = {name: gate(real, file, *rule).returncode for name, file in files.items()}
    assert codes == {"same": 0, "mixed": 1, "few": 3}
    assert gate(real, files["mixed"], "--fail-on", "collapsed,copied").returncode == 0
    shown = gate(real, files["mixed"], "--fail-on", "collapsed,differs")
    assert shown.returncode == 1
    assert "✗ fail" in shown.stdout


def test_bad_rules_are_one_line(gate: Command, texts: Callable[[str, list[str]], str], tmp_path: Path) -> None:
    real, model = texts("real.txt", corpus(1, 60)), texts("model.txt", corpus(2, 60))
    assert_refused(gate(real, model, "--max-separable", "0"), "no number of texts")
    assert_refused(gate(real, model, "--max-separable", "10"), "such as 10%")
    assert_refused(gate(real, model, "--fail-on", "anything"), "differs, collapsed")
    assert_refused(gate(real, model, "--contaminant", model), "--max-separable")
    rule = ("--max-separable", "50%", "--contaminant", real)
    assert_refused(gate(real, model, *rule), "--contaminant")
    # An output that cannot be written is neither a pass nor a failed gate.
    target = str(tmp_path / "missing" / "found.json")
    assert_refused(gate(real, model, "--fail-on", "differs", "--json", target), "does not exist")


def test_the_help_has_gates_in_a_group(run_command: Command) -> None:
    shown = run_command("compare", "--help").stdout
    _, gates = shown.split("Gate (exit code 0 pass, 1 fail, 3 undecided):")
    assert "--max-separable" in gates
    assert "--seed" not in gates
