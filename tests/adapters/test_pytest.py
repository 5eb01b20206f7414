"""The pytest plugin: assertions, fixtures, what a run prints, and an installed package in a real project."""

import os
import subprocess
import sys
import venv
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.conftest import ROOT
from tests.laws import corpus
from textassay import InputError
from textassay.adapters.pytest import assert_not_collapsed, assert_same_distribution

PROJECT = """
import random

from textassay.adapters.pytest import assert_same_distribution as by_function

RANDOM = random.Random(1)
REAL, OTHER = (
    [" ".join(RANDOM.choices(words.split(), k=8)) for _ in range(300)]
    for words in ("one two three four five six seven eight nine ten", "red green blue grey pink black white brown")
)


def test_pass(assert_same_distribution, assert_not_collapsed):
    assert_same_distribution(REAL[:150], REAL[150:], max_separable="40%", contaminant=OTHER)
    assert_not_collapsed([f"text number {n}" for n in range(30)])


def test_other(assert_same_distribution):
    assert_same_distribution(REAL[:60], OTHER[:60], max_separable=0.1)


def test_few():
    by_function(REAL[:40], REAL[40:80], contaminant=OTHER)


def test_few_skipped():
    by_function(REAL[:40], REAL[40:80], contaminant=OTHER, undecided="skip")


def test_collapsed(assert_not_collapsed):
    assert_not_collapsed(["the same"] * 60)
"""


def check_run(output: str, junit: Path) -> None:
    """What a run of the project prints, and its JUnit XML."""
    assert "3 failed, 1 passed, 1 skipped" in output
    assert "max-separable 10 %: fail, at least" in output
    assert "texts per sample would decide" in output
    assert "collapsed: 100 % of texts repeat another one (1 different text of 60)" in output
    assert "test_texts.py::test_pass: max-separable 40 %: pass, at most" in output
    cases = {case.get("name"): case for case in ElementTree.parse(junit).iter("testcase")}
    recorded = [one.get("value") or "" for one in cases["test_pass"].iter("property")]
    assert recorded[0].startswith("max-separable 40 %: pass, at most")
    assert len(recorded) == 2


def test_a_project_with_the_plugin(tmp_path: Path) -> None:
    (tmp_path / "test_texts.py").write_text(PROJECT, encoding="utf-8")
    junit = tmp_path / "junit.xml"
    command = [sys.executable, "-m", "pytest", "-q", "-p", "textassay.adapters.pytest", f"--junitxml={junit}"]
    # Where the package is installed, its entry point would load the plugin a second time.
    environment = os.environ | {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTEST_ADDOPTS": ""}
    environment |= {"PYTHONPATH": str(ROOT / "src"), "COLUMNS": "200"}
    found = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert found.returncode == 1, found.stderr
    check_run(found.stdout, junit)


@pytest.mark.slow
def test_a_project_in_its_own_environment_finds_the_plugin(tmp_path: Path) -> None:
    """The package is installed from its wheel, and pytest loads the plugin by its entry point."""
    target = tmp_path / "environment"
    venv.create(target, with_pip=True, system_site_packages=False)
    python = target / "bin" / "python"
    commands = [[python, "-m", "pip", "install", "-q", "-c", ROOT / "constraints.txt", ROOT, "pytest"]]
    for command in commands:
        subprocess.run([str(word) for word in command], check=True, capture_output=True, cwd=tmp_path)
    (tmp_path / "test_texts.py").write_text(PROJECT, encoding="utf-8")
    junit = tmp_path / "junit.xml"
    environment = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "PYTEST_ADDOPTS")}
    run = [str(python), "-m", "pytest", "-q", f"--junitxml={junit}"]
    found = subprocess.run(
        run, cwd=tmp_path, env=environment | {"COLUMNS": "200"}, capture_output=True, text=True, check=False
    )
    assert found.returncode == 1, found.stderr
    check_run(found.stdout, junit)


def test_the_entry_point_is_declared() -> None:
    import tomllib

    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["entry-points"]["pytest11"] == {"textassay": "textassay.adapters.pytest"}


def test_the_plugin_loads_nothing_before_it_is_used() -> None:
    code = "import sys, textassay.adapters.pytest; print(*sys.modules)"
    environment = os.environ | {"PYTHONPATH": str(ROOT / "src")}
    loaded = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert not {"numpy", "pyarrow", "scipy"} & set(loaded.stdout.split())


def test_assertions_refuse_what_has_no_sense() -> None:
    with pytest.raises(ValueError, match="wanted fail, skip or pass"):
        assert_same_distribution(corpus(1, 60), corpus(2, 60), undecided="maybe")
    with pytest.raises(InputError, match="no number of texts"):
        assert_same_distribution(corpus(1, 60), corpus(2, 60), max_separable=0)
    with pytest.raises(ValueError, match="wanted a share"):
        assert_not_collapsed(["a"], most=2)
    with pytest.raises(pytest.fail.Exception, match="1 text"):
        assert_not_collapsed(["a"])
