"""Standard streams that are closed or full: all files are written, and the exit code is right."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT

COMPARE = "compare real.txt model.txt -m distinct --resamples 0 --csv out.csv --json out.json"


def shell(command: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run the command with redirections of the shell."""
    texts = "".join(f"a {word} dog\n" for word in ("red", "blue", "green", "old", "new", "big"))
    (folder / "real.txt").write_text(texts, encoding="utf-8")
    (folder / "model.txt").write_text(texts.replace("dog", "cat"), encoding="utf-8")
    line = f"exec {sys.executable} -m textassay {command}"
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    return subprocess.run(
        ["sh", "-c", line], cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=300
    )


@pytest.mark.parametrize(
    ("redirection", "code"), [("2>&-", 0), (">&-", 2), (">&- 2>&-", 2), ("> /dev/full", 2), ("2> /dev/full", 0)]
)
def test_files_are_written_and_the_exit_code_is_right(tmp_path: Path, redirection: str, code: int) -> None:
    if "/dev/full" in redirection and not os.path.exists("/dev/full"):
        pytest.skip("no /dev/full here")
    found = shell(f"{COMPARE} {redirection}", tmp_path)
    assert found.returncode == code, found.stderr
    assert "Traceback" not in found.stdout + found.stderr
    assert (tmp_path / "out.csv").read_text(encoding="utf-8").startswith("candidate,")
    assert (tmp_path / "out.json").read_text(encoding="utf-8").rstrip().endswith("}")


@pytest.mark.parametrize("redirection", [">&-", "2>&-", "<&-"])
def test_bad_input_is_exit_code_2_whatever_is_closed(tmp_path: Path, redirection: str) -> None:
    found = shell(f"compare missing.txt model.txt {redirection}", tmp_path)
    assert found.returncode == 2
    assert "Traceback" not in found.stderr


@pytest.mark.parametrize("redirection", [">&-", "> /dev/full"])
@pytest.mark.parametrize("command", ["--version", "-V", "--help", "metrics"])
def test_what_needs_no_input_is_refused_in_one_line_too(tmp_path: Path, command: str, redirection: str) -> None:
    found = shell(f"{command} {redirection}", tmp_path)
    assert found.returncode == 2
    assert found.stderr.count("\n") == 1
    assert found.stderr.startswith("textassay: ")


def test_a_closed_standard_output_is_named(tmp_path: Path) -> None:
    assert "cannot read or write: closed" in shell(f"{COMPARE} --quiet >&-", tmp_path).stderr


def test_a_file_that_is_redirected_to_standard_input_is_not_replaced(tmp_path: Path) -> None:
    found = shell("compare - model.txt -m distinct --resamples 0 --json real.txt < real.txt", tmp_path)
    assert found.returncode == 2
    assert "real.txt: is also an input" in found.stderr
    assert (tmp_path / "real.txt").read_text(encoding="utf-8").startswith("a red dog")
