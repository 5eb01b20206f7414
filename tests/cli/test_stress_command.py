"""`textassay stress` on the command line."""

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Command
from tests.cli.refusal import assert_refused
from tests.laws import corpus

QUICK = ["-d", "truncate,blend", "-m", "distinct", "--sizes", "20", "--strengths", "1", "--runs", "2", "--draws", "19"]


@pytest.fixture
def texts(tmp_path: Path) -> tuple[str, str]:
    for number, name in enumerate(["real", "other"]):
        (tmp_path / f"{name}.txt").write_text("\n".join(corpus(number, 110)), encoding="utf-8")
    return str(tmp_path / "real.txt"), str(tmp_path / "other.txt")


def test_all_forms_are_written_and_a_second_run_continues(
    texts: tuple[str, str], tmp_path: Path, run_command: Command
) -> None:
    names = {"--json": "a.json", "--csv": "a.csv", "--markdown": "a.md", "--report": "a.html"}
    options = [word for flag, name in names.items() for word in (flag, str(tmp_path / name))]
    kept = ["--records", str(tmp_path / "records.jsonl"), "--no-timings"]
    found = run_command("stress", texts[0], "--other", texts[1], *QUICK, *kept, *options)
    assert found.returncode == 0, found.stderr
    assert "overall test" in found.stdout
    plain = json.loads((tmp_path / "a.json").read_text())
    assert [metric["name"] for metric in plain["metrics"]] == ["overall test", "distinct-2"]
    lines = (tmp_path / "records.jsonl").read_text().count("\n")
    again = run_command("stress", texts[0], "--other", texts[1], *QUICK, *kept, "--json", "-")
    assert again.stdout == (tmp_path / "a.json").read_text() + ("" if again.stdout.endswith("}") else "\n")
    assert (tmp_path / "records.jsonl").read_text().count("\n") == lines


def test_bad_input_is_one_line(texts: tuple[str, str], tmp_path: Path, run_command: Command) -> None:
    real = texts[0]
    assert_refused(
        run_command("stress", real, *QUICK), "the damage 'blend' needs texts of its own; give them with --other"
    )
    assert_refused(run_command("stress", real), "samples of 2,000 texts need at least 10,000 (use --sizes 22 or less)")
    assert_refused(run_command("stress", real, "-d", "cut"), "no damage 'cut'; there are: topics, duplicates")
    assert_refused(run_command("stress", real, "--strengths", "0.5,2"), "--strengths 2.0; wanted numbers above 0")
    assert_refused(run_command("stress", real, "--sizes", "many"), "--sizes many; wanted numbers")
    assert_refused(run_command("stress", real, "--runs", "0"), "--runs 0; wanted a whole number")
    assert_refused(run_command("stress", real, "--other", str(tmp_path / "none.txt")), "none.txt: no such file")
    assert_refused(run_command("stress", real, "--records", real), "is also an input")
    assert_refused(run_command("stress", "-", "--other", "-"), "stdin: given 2 times; wanted at most one '-'")
