"""Gates on the command line: exit codes, and outputs that cannot be written."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from xml.etree import ElementTree

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


def test_where_people_look(
    gate: Command,
    texts: Callable[[str, list[str]], str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The step summary and annotations of GitHub Actions, and JUnit XML, also of hostile names."""
    real = texts("real.txt", corpus(1, 60))
    hostile = texts("a\n::error::b|<b>&%.txt", corpus(3, 6) * 10)
    summary, junit = tmp_path / "summary.md", tmp_path / "junit.xml"
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(summary))
    summary.write_text("# Earlier\n", encoding="utf-8")
    rules = ("--fail-on", "collapsed,copied", "--max-separable", "10%", "--junit", str(junit), "--github")
    shown = gate(real, hostile, *rules)
    assert shown.returncode == 1
    page = summary.read_text(encoding="utf-8")
    assert page.startswith("# Earlier\n# Gate: failed")
    assert len([line for line in page.splitlines() if line.startswith("|")]) == 2 + 3
    assert "<b>" not in page.replace(r"\<b\>", "")
    commands = [line for line in shown.stdout.splitlines() if line.startswith("::")]
    assert [line.partition(" ")[0] for line in commands] == ["::error", "::warning"] or len(commands) == 2
    assert not any(line.startswith("::error::b") for line in commands)
    cases = ElementTree.parse(junit).getroot().findall("testsuite/testcase")
    assert [case.get("name") for case in cases] == ["max-separable 10 %", "fail-on collapsed", "fail-on copied"]
    assert cases[1].find("failure") is not None
    assert cases[2].find("failure") is None


def test_junit_is_read_by_a_parser(gate: Command, texts: Callable[[str, list[str]], str], tmp_path: Path) -> None:
    junitparser = pytest.importorskip("junitparser")
    real, model = texts("real.txt", corpus(1, 60)), texts("model.txt", corpus(3, 6) * 10)
    path = tmp_path / "junit.xml"
    assert gate(real, model, "--fail-on", "collapsed,format", "--junit", str(path)).returncode == 1
    (suite,) = junitparser.JUnitXml.fromfile(str(path))
    assert (suite.tests, suite.failures, suite.skipped) == (2, 1, 0)
    assert [case.is_passed for case in suite] == [False, True]
    # On standard output it is the only output.
    assert gate(real, model, "--fail-on", "format", "--junit", "-").stdout.startswith("<?xml")


def test_outputs_without_a_gate_or_outside_of_a_build_are_refused(
    gate: Command, texts: Callable[[str, list[str]], str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    real, model = texts("real.txt", corpus(1, 60)), texts("model.txt", corpus(2, 60))
    monkeypatch.delenv("GITHUB_STEP_SUMMARY", raising=False)
    assert_refused(gate(real, model, "--github", "--fail-on", "differs"), "is not set")
    assert_refused(gate(real, model, "--junit", "-"), "without a rule")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path))
    found = gate(real, model, "--github", "--fail-on", "collapsed")
    assert found.returncode == 2
    assert "the step summary cannot be written" in found.stderr
