"""`textassay frontier` on the command line."""

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Command
from tests.cli.refusal import assert_refused
from textassay import InputError, frontier


def test_a_toy_distribution_is_analysed_and_all_forms_are_written(tmp_path: Path, run_command: Command) -> None:
    names = ("out.json", "out.csv", "out.md", "out.html")
    targets = [str(tmp_path / name) for name in names]
    flags = ("--json", "--csv", "--markdown", "--report")
    options = [word for pair in zip(flags, targets, strict=True) for word in pair]
    found = run_command("frontier", "toy:20", "--why", "--pairs", "ll/se,ll/nrr", *options)
    assert found.returncode == 0
    assert "incompatible by at least 0.0210" in found.stdout
    assert "f increases; g is concave; g' = -1 f - 1" in found.stdout
    plain = json.loads((tmp_path / "out.json").read_text())
    assert [result["options"]["pair"] for result in plain["sources"][0]["results"]] == ["ll/se", "ll/nrr"]
    assert all((tmp_path / name).stat().st_size > 100 for name in names)


def test_probabilities_and_texts_are_distinguished(tmp_path: Path, run_command: Command) -> None:
    (tmp_path / "p.csv").write_text("word,p\na,0.5\nb,0.3\nc,0.2\n")
    found = run_command("frontier", str(tmp_path / "p.csv"), "--probabilities", "-p", "cr/se", "-q")
    assert found.returncode == 0
    assert "p (distribution with 3 outcomes)" in found.stdout
    (tmp_path / "t.txt").write_text("a b c d\nb c d e\n" * 30)
    found = run_command("frontier", str(tmp_path / "t.txt"), "-p", "cr/nrr", "--n", "1", "-q")
    assert "t (30 texts)" in found.stdout


def test_numbers_are_not_texts(tmp_path: Path, run_command: Command) -> None:
    for name in ("p.csv", "p.txt"):
        (tmp_path / name).write_text("p\n0.5\n0.3\n0.2\n" if name == "p.csv" else "0.5\n0.3\n0.2\n")
        message = "p: all 3 texts are numbers; wanted texts, or --probabilities if these are probabilities"
        assert_refused(run_command("frontier", str(tmp_path / name), "-p", "cr/nrr"), message)
        asked = frontier(tmp_path / name, pairs="cr/nrr", probabilities=True)
        assert asked["p"].n == 3
    with pytest.raises(InputError, match=r"wanted texts, or probabilities=\.\.\. if"):
        frontier(tmp_path / "p.csv", pairs="cr/nrr")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["toy:5", "--points", "1"], "--points 1; wanted a whole number from 2 to 2,000"),
        (["toy:5", "--seeds", "0"], "--seeds 0; wanted a whole number from 1 to 100"),
        (["toy:5", "--starts", "0"], "--starts 0; wanted a whole number"),
        (["toy:5", "oracle:1"], "sources of different kinds (toy, oracle); wanted --pairs"),
        (["missing.txt"], "missing.txt: no such file"),
    ],
)
def test_bad_input_is_one_line(arguments: list[str], message: str, run_command: Command) -> None:
    assert_refused(run_command("frontier", *arguments), message)
