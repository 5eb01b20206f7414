"""What the commands that read a study have in common: where the outcome goes, and what is never overwritten."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pytest

from tests.cli import test_conditional_command as conditional
from tests.cli import test_huse_command as huse
from tests.cli.conftest import Command
from tests.cli.refusal import assert_refused
from tests.studies.test_altered_files import KINDS, found, plain


@dataclass(frozen=True)
class Study:
    """A command, a file for it, what a terminal shows, options that make it quick, and such that it still draws."""

    command: str
    file: str
    shown: str
    quick: tuple[str, ...]
    drawing: tuple[str, ...]


def _conditional(folder: Path) -> Study:
    file = conditional.written(folder / "captions.jsonl", conditional.made())
    return Study("conditional", file, "Which system writes like the references do?", conditional.FAST, conditional.FAST)


def _huse(folder: Path) -> Study:
    file = huse.written(folder / "headlines.csv", huse.made())
    return Study("huse", file, "HUSE-Q", huse.FAST, huse.WHOLE)


STUDIES: dict[str, Callable[[Path], Study]] = {"conditional": _conditional, "huse": _huse}


@pytest.fixture(params=sorted(STUDIES))
def study(request: pytest.FixtureRequest, tmp_path: Path) -> Study:
    """Each command in turn."""
    return STUDIES[request.param](tmp_path)


@pytest.fixture
def textassay(study: Study, run_command: Command) -> Command:
    """Runs the study's command."""
    return partial(run_command, study.command)


def program(study: Study, *arguments: str) -> list[str]:
    """The command as a process of its own."""
    return [sys.executable, "-m", "textassay", study.command, study.file, *study.quick, *arguments]


def test_files_that_were_written_are_named_unless_quiet(study: Study, tmp_path: Path, textassay: Command) -> None:
    target = str(tmp_path / "out.csv")
    assert textassay(study.file, *study.quick, "--csv", target).stderr == f"wrote {target}\n"
    assert textassay(study.file, *study.quick, "--csv", target, "--quiet").stderr == ""


def test_the_number_of_threads_changes_nothing(study: Study, textassay: Command) -> None:
    arguments = (study.file, *study.drawing, "--json", "-", "--engine")
    one, two = (textassay(*arguments, f"local:{n}").stdout for n in (1, 2))
    assert json.loads(one)
    assert re.sub(r'"seconds": [^,}]*', "", one) == re.sub(r'"seconds": [^,}]*', "", two)


def test_a_pipe_gets_the_table_without_colour(study: Study) -> None:
    settings = {key: value for key, value in os.environ.items() if key not in ("NO_COLOR", "FORCE_COLOR", "COLUMNS")}
    found = subprocess.run(program(study), env=settings, capture_output=True, text=True, check=False)
    assert found.returncode == 0
    assert study.shown in found.stdout
    assert "\x1b" not in found.stdout
    assert found.stderr == ""


def test_files_are_written_even_if_nobody_reads_the_table(study: Study, tmp_path: Path) -> None:
    target = tmp_path / "out.json"
    with subprocess.Popen(
        program(study, "--json", str(target)), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as started:
        assert started.stdout is not None
        started.stdout.close()
        assert started.wait() == 0
    assert json.loads(target.read_text(encoding="utf-8"))["details"]


def test_an_output_that_cannot_be_written_is_refused_before_the_inputs_are_read(textassay: Command) -> None:
    found = textassay("missing.csv", "--json", "no/such/x.json")
    assert_refused(found, "no/such")
    assert "missing" not in found.stderr


def test_an_input_is_never_overwritten(study: Study, textassay: Command) -> None:
    before = Path(study.file).read_bytes()
    found = textassay(study.file, *study.quick, "--json", study.file)
    assert_refused(found, "is also an input")
    assert Path(study.file).read_bytes() == before


# `textassay report`: saved results of any study in any form.
FORMS = {"--report": "r.html", "--markdown": "r.md", "--csv": "r.csv", "--bibtex": "r.bib"}


@pytest.mark.parametrize("kind", KINDS)
def test_saved_results_have_the_forms_of_the_outcome(kind: str, tmp_path: Path, run_command: Command) -> None:
    results = tmp_path / "results.json"
    results.write_text(plain(kind), encoding="utf-8")
    files = {option: tmp_path / name for option, name in FORMS.items()}
    shown = run_command(
        "report", str(results), *(str(word) for pair in files.items() for word in pair), "--quiet", columns="100"
    )
    # The last lines name options of the command there, and functions of Python here.
    in_command, in_python = (text.strip().rpartition("\n\n")[0].split() for text in (shown.stdout, str(found(kind))))
    assert in_command == in_python != []
    assert files["--report"].read_text(encoding="utf-8") == found(kind).to_html()
    assert files["--markdown"].read_text(encoding="utf-8") == found(kind).to_markdown()
    assert files["--csv"].read_text(encoding="utf-8") == found(kind).to_csv()
    assert files["--bibtex"].read_text(encoding="utf-8") == found(kind).to_bibtex()


def test_files_that_are_no_results_are_refused(tmp_path: Path, run_command: Command) -> None:
    other = tmp_path / "other.json"
    other.write_text('{"a": 1}')
    assert_refused(run_command("report", str(other)), "not results of textassay")
    assert_refused(run_command("report", str(tmp_path / "no.json")), "no such file")
    (tmp_path / "results.json").write_text(plain("huse"))
    results = str(tmp_path / "results.json")
    same = run_command("report", results, "--csv", results)
    assert_refused(same, "is also an input")
