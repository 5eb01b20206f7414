"""`textassay.toml`: options of commands, named studies, and one line for every mistake."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.cli.conftest import Command
from textassay.cli.main import run

TEXTS = {"real.txt": "a cat sat\na dog ran\nthe mat is red\n", "new.txt": "a cat sat\nhello there\nthe mat\n"}
FILE = """
[options]
seed = 3

[compare]
resamples = 19
metrics = ["distinct:n=1", "cnd"]
level = 0.8

[studies.release]
command = "compare"
arguments = ["real.txt", "new.txt"]
level = 0.9
json = "-"
quiet = true
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, content in TEXTS.items():
        (tmp_path / name).write_text(content, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def metrics_of(shown: str) -> list[str]:
    return [result["metric"] for result in json.loads(shown)["candidates"][0]["results"]]


def test_options_of_a_command_and_of_the_command_line(folder: Path, run_command: Command) -> None:
    (folder / "textassay.toml").write_text(FILE, encoding="utf-8")
    outcome = run_command("compare", "real.txt", "new.txt", "--json", "-")
    found = json.loads(outcome.stdout)
    assert outcome.stderr == "note: textassay.toml: --seed, --resamples, --metrics, --level\n"
    assert set(metrics_of(outcome.stdout)) == {"distinct", "cnd"}
    assert "|seed:3|" in outcome.stdout
    assert found["details"]["level"] == 0.8
    # The command line wins, and its list replaces that of the file.
    outcome = run_command("compare", "real.txt", "new.txt", "-m", "entropy", "--seed=4", "--json", "-", "--quiet")
    assert outcome.stderr == ""
    assert set(metrics_of(outcome.stdout)) == {"entropy"}
    assert "|seed:4|" in outcome.stdout
    outcome = run_command("--no-config", "compare", "real.txt", "new.txt", "--resamples", "0", "--json", "-")
    assert outcome.stderr == ""
    assert len(set(metrics_of(outcome.stdout))) > 2


def test_a_named_study(folder: Path, run_command: Command) -> None:
    (folder / "textassay.toml").write_text(FILE, encoding="utf-8")
    found = json.loads(run_command("run", "release").stdout)
    assert found["details"]["level"] == 0.9
    assert json.loads(run_command("run", "release", "--level", "0.7").stdout)["details"]["level"] == 0.7
    assert run_command("run").stdout == "release: textassay compare\n"
    assert run_command("run", "release", "missing.txt").stderr.endswith("missing.txt: no such file\n")
    assert run_command("run", "--help").returncode == 0


def test_the_table_of_pyproject(folder: Path, run_command: Command) -> None:
    (folder / "pyproject.toml").write_text(
        '[tool.other]\nx = 1\n[tool.textassay.compare]\nresamples = 0\nmetrics = "cnd"\n', encoding="utf-8"
    )
    outcome = run_command("compare", "real.txt", "new.txt", "--json", "-")
    assert set(metrics_of(outcome.stdout)) == {"cnd"}
    assert outcome.stderr == "note: pyproject.toml: tool.textassay: --resamples, --metrics\n"
    # A file that is not about this package is not read.
    (folder / "pyproject.toml").write_text("[broken", encoding="utf-8")
    assert run_command("metrics", "cnd").returncode == 0


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("tool.textassay = 1", "pyproject.toml: tool.textassay: 1; wanted a table"),
        ("[tool]\ntextassay = 1", "pyproject.toml: tool.textassay: 1; wanted a table"),
        ('[ tool . "textassay" ]\ncompare = 1', "pyproject.toml: tool.textassay: compare: 1; wanted a table"),
        ('tool = "tool.textassay"', "pyproject.toml: tool: 'tool.textassay'; wanted a table"),
    ],
)
def test_what_is_no_table_in_pyproject_is_one_line(folder: Path, run_command: Command, text: str, message: str) -> None:
    (folder / "pyproject.toml").write_text(text, encoding="utf-8")
    outcome = run_command("metrics", "cnd")
    assert outcome.returncode == 2
    assert outcome.stderr == f"textassay: {message}\n"


WRONG = [
    ("[compare", "textassay.toml: not valid TOML: "),
    ("x = 1", "textassay.toml: x: an option outside of a table; wanted it in [options] or in that of a command"),
    ("[x]", "textassay.toml: x: unknown table; wanted one of 'options', 'studies', 'compare'"),
    ("[compar]", "textassay.toml: compar: unknown table; wanted 'compare'"),
    ("compare = 1", "textassay.toml: compare: 1; wanted a table"),
    ("[compare]\nlvel = 1", "textassay.toml: compare.lvel: no option of compare; wanted 'level'"),
    (
        "[compare]\nreference = 'a'",
        "compare.reference: no option of compare; wanted 'reference-system'",
    ),
    ("[compare]\nlevel = 95", "(--level is set in textassay.toml: compare.level)"),
    ("[compare]\nlevel = 'x'", "(--level is set in textassay.toml: compare.level)"),
    ("[compare]\nlevel = [0.9]", "textassay.toml: compare.level: [0.9]; wanted a string or a number"),
    ("[compare]\nquick = 1", "textassay.toml: compare.quick: 1; wanted true or false"),
    (
        "[compare]\nmetrics = [['cnd']]",
        "compare.metrics: [['cnd']]; wanted a string or a number, or a list",
    ),
    ("[compare]\nseed = 2020-01-01", "textassay.toml: compare.seed: datetime.date(2020, 1, 1); wanted a string or"),
    ("[compare]\nmetrics = 'nonsense'", "nonsense"),
    ("[options]\nnonsense = 1", "textassay.toml: options.nonsense: no option of any command; wanted"),
    ("[options]\nlevel = true", "textassay.toml: options.level: True; wanted a string or a number"),
    ("studies = 1", "textassay.toml: studies: 1; wanted a table"),
    ("[studies]\na = 1", "textassay.toml: studies.a: 1; wanted a table"),
]


@pytest.mark.parametrize(("content", "said"), WRONG)
def test_a_wrong_file_is_one_line(content: str, said: str, folder: Path, run_command: Command) -> None:
    (folder / "textassay.toml").write_text(content, encoding="utf-8")
    outcome = run_command("compare", "real.txt", "new.txt", "--quiet")
    assert outcome.returncode == 2
    assert said in outcome.stderr
    assert outcome.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("", "no study 'a'; wanted no name: there are none"),
        ("[studies.b]\ncommand = 'compare'", "textassay.toml: no study 'a'; wanted one of 'b'"),
        ("[studies.a]", "textassay.toml: studies.a.command: nothing; wanted the name of a command"),
        ("[studies.a]\ncommand = 'compaer'", "textassay.toml: studies.a.command: 'compaer'; wanted 'compare'"),
        ("[studies.a]\ncommand = 'run'", "textassay.toml: studies.a.command: 'run'; wanted one of 'compare'"),
        ("[studies.a]\ncommand = 'survey'", "textassay.toml: studies.a.command: 'survey'; wanted"),
        (
            "[studies.a]\ncommand = 'compare'\narguments = 'x'",
            "textassay.toml: studies.a.arguments: 'x'; wanted a list of strings",
        ),
        ("[studies.a]\ncommand = 'compare'\nlvel = 1", "textassay.toml: studies.a.lvel: no option of compare"),
    ],
)
def test_a_wrong_study_is_one_line(content: str, said: str, folder: Path, run_command: Command) -> None:
    (folder / "textassay.toml").write_text(content, encoding="utf-8")
    outcome = run_command("run", "a")
    assert outcome.returncode == 2
    assert said in outcome.stderr
    assert outcome.stderr.count("\n") == 1


VALUES = st.one_of(
    st.booleans(), st.integers(-3, 3), st.floats(0, 1), st.sampled_from(["x", "", "-", "--level", "\x1b["])
)
TABLES = st.dictionaries(
    st.sampled_from(["level", "seed", "quick", "metrics", "no-pair", "stability", "no_pair", "x", "command"]),
    VALUES | st.lists(VALUES, max_size=2),
    max_size=3,
)


def _toml(table: dict[str, Any]) -> str:
    return "".join(f"{json.dumps(key)} = {json.dumps(value)}\n" for key, value in table.items())


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(TABLES, TABLES, TABLES)
def test_any_file_gives_an_exit_code_and_one_line(
    folder: Path, capsys: pytest.CaptureFixture[str], options: Any, own: Any, study: Any
) -> None:
    content = f"[options]\n{_toml(options)}[compare]\n{_toml(own)}[studies.a]\n{_toml({'command': 'compare', **study})}"
    (folder / "textassay.toml").write_text(content, encoding="utf-8")
    for words in (("compare", "real.txt", "new.txt", "--resamples", "0"), ("run", "a", "real.txt")):
        code = run((*words, "--json", "-"))
        shown = capsys.readouterr()
        assert code in (0, 2)
        assert "internal error" not in shown.err
        assert "\x1b" not in shown.err
        if code:
            assert shown.err.splitlines()[-1].startswith("textassay: ")
