"""`textassay agree` on the command line."""

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Command
from tests.cli.refusal import assert_refused
from tests.studies.agreement.test_agree import ORDER, comparison


@pytest.fixture
def results(tmp_path: Path) -> str:
    file = tmp_path / "results.json"
    file.write_text(comparison().to_json())
    return str(file)


def test_all_forms_are_written(results: str, tmp_path: Path, run_command: Command) -> None:
    names = {"--json": "a.json", "--csv": "a.csv", "--markdown": "a.md", "--report": "a.html"}
    options = [word for flag, name in names.items() for word in (flag, str(tmp_path / name))]
    found = run_command("agree", results, "--gold", ORDER, *options)
    assert found.returncode == 0
    assert "No metric significantly agrees with the gold standard" in found.stdout
    plain = json.loads((tmp_path / "a.json").read_text())
    assert plain["metrics"][0]["results"][0]["metric"] == "kendall"
    assert all((tmp_path / name).stat().st_size > 100 for name in names.values())


def test_bad_input_is_one_line(results: str, run_command: Command) -> None:
    assert_refused(run_command("agree", results, "--gold", "w14>w99"), "the gold order names 'w99'")
    assert_refused(run_command("agree", results, "--gold", ORDER, "--level", "95"), "--level 95")
    assert_refused(run_command("agree", results, "--gold", ORDER, "--plane", "x,y"), "--plane x,y; wanted a quality")
    assert_refused(run_command("agree", "missing.json", "--gold", ORDER), "missing.json: no such file")
    assert_refused(run_command("agree", results, "--gold", ORDER, "--json", results), "is also an input")
