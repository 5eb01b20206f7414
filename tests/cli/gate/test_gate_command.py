"""Gates on the command line: exit codes, and outputs that cannot be written."""

import json
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
    cases = {"same": corpus(2, 200), "mixed": mixture(3, 200, 0.7), "few": corpus(5, 15)}
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


@pytest.fixture
def junit_of(gate: Command, texts: Callable[[str, list[str]], str], tmp_path: Path) -> Callable[..., Path]:
    """Writes the JUnit XML of a gate on a collapsed candidate with a hostile name."""

    def write(*rules: str) -> Path:
        real, model = texts("real.txt", corpus(1, 60)), texts('a<b>"&\x1b.txt', corpus(3, 6) * 10)
        path = tmp_path / "junit.xml"
        gate(real, model, *rules, "--junit", str(path))
        return path

    return write


UNDECIDED = ("--fail-on", "collapsed,format", "--max-separable", "95%")


@pytest.mark.parametrize(
    ("rules", "numbers"),
    [
        (("--fail-on", "collapsed,format"), (2, 1, 0)),
        (UNDECIDED, (3, 1, 1)),
        ((*UNDECIDED, "--undecided", "fail"), (3, 2, 0)),
        ((*UNDECIDED, "--undecided", "pass"), (3, 1, 0)),
    ],
)
def test_junit_is_read_by_a_parser(
    junit_of: Callable[..., Path], rules: tuple[str, ...], numbers: tuple[int, int, int]
) -> None:
    junitparser = pytest.importorskip("junitparser", reason="needs junitparser")
    (suite,) = junitparser.JUnitXml.fromfile(str(junit_of(*rules)))
    assert (suite.tests, suite.failures, suite.skipped) == numbers
    failed = [case for case in suite if case.is_failure]
    skipped = [case for case in suite if case.is_skipped]
    assert (len(list(suite)), len(failed), len(skipped)) == numbers
    assert "collapsed" in failed[-1].result[0].message or "collapsed" in failed[0].result[0].message


def test_junit_keeps_to_the_schema_that_pytest_keeps_to(junit_of: Callable[..., Path]) -> None:
    """`junit-10.xsd` is that of Jenkins' xunit plugin, against which pytest tests its own JUnit XML."""
    etree = pytest.importorskip("lxml.etree", reason="needs lxml")
    schema = etree.XMLSchema(file=str(Path(__file__).with_name("junit-10.xsd")))
    made = etree.parse(str(junit_of(*UNDECIDED)))
    schema.assertValid(made)
    made.find(".//testcase").set("unknown", "attribute")
    assert not schema.validate(made)


def test_junit_on_standard_output_is_the_only_output(gate: Command, texts: Callable[[str, list[str]], str]) -> None:
    real, model = texts("real.txt", corpus(1, 60)), texts("model.txt", corpus(3, 6) * 10)
    shown = gate(real, model, "--fail-on", "format", "--junit", "-").stdout
    assert shown.startswith("<?xml")
    assert shown.rstrip().endswith("</testsuites>")


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


def test_annotations_leave_an_output_on_standard_output_whole(
    gate: Command, texts: Callable[[str, list[str]], str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    real, model = texts("real.txt", corpus(1, 60)), texts("model.txt", corpus(3, 6) * 10)
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "summary.md"))
    found = gate(real, model, "--github", "--fail-on", "collapsed", "--json", "-")
    assert json.loads(found.stdout)["gate"]["decision"] == "fail"
    assert "::error title=" in found.stderr


def test_the_files_of_rules_are_read_as_the_samples_are(gate: Command, tmp_path: Path) -> None:
    """With the field of --field, and paired by its prompts; and no output replaces them."""
    paths = {}
    for name, seed, words in (("real", 1, None), ("model", 2, None), ("old", 3, None), ("other", 9, OTHER)):
        rows = corpus(seed, 120) if words is None else corpus(seed, 120, words=words)
        paths[name] = tmp_path / f"{name}.jsonl"
        lines = (json.dumps({"question": f"q{n}", "output": text, "note": "none"}) for n, text in enumerate(rows))
        paths[name].write_text("\n".join(lines), encoding="utf-8")
    sides = (str(paths["real"]), str(paths["model"]), "--field", "output")
    shown = gate(*sides, "--max-separable", "60%", "--contaminant", str(paths["other"]))
    assert "recognises them as well as the texts of “other”" in " ".join(shown.stdout.split())
    beside = ("--no-worse-than", str(paths["old"]), "--metrics", "cnd", "--margin", "cnd=1,repetition=0.5")
    found = gate(*sides, *beside)
    assert found.returncode == 0
    assert "paired by question" in found.stdout
    assert_refused(gate(*sides, *beside, "--json", str(paths["old"])), "is also an input")
    digest = tmp_path / "old.digest"
    digest.write_bytes(b"")
    assert_refused(gate(*sides, "--no-worse-than", str(digest)), "a digest; the rules of a gate need texts")


def test_rules_that_name_nothing_are_refused(gate: Command, texts: Callable[[str, list[str]], str]) -> None:
    """An empty variable of a build must not turn the gate off."""
    real, model = texts("real.txt", corpus(1, 60)), texts("model.txt", corpus(2, 60))
    assert_refused(gate(real, model, "--fail-on", ""), "--fail-on without a rule; wanted any of differs")
    assert_refused(gate(real, model, "--margin", "cnd-2=0.1"), "--margin given without a baseline")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
@pytest.mark.parametrize("output", ["--json", "--junit", "--report", "--github"])
def test_a_full_disk_is_no_decision(
    gate: Command, texts: Callable[[str, list[str]], str], monkeypatch: pytest.MonkeyPatch, output: str
) -> None:
    """The gate passes, but whoever reads its output must not take a missing file for a pass."""
    real, model = texts("real.txt", corpus(1, 60)), texts("model.txt", corpus(2, 60))
    assert gate(real, model, "--fail-on", "collapsed").returncode == 0
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", "/dev/full")
    target = [] if output == "--github" else ["/dev/full"]
    found = gate(real, model, "--fail-on", "collapsed", output, *target)
    assert found.returncode == 2
    assert "/dev/full" in found.stderr
