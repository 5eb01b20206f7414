"""`textassay reproduce`: what it lists, what it wants, what it writes."""

import json
import time
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from tests.reproduce.test_figure_8 import captions, folder_of
from textassay.cli.main import run
from textassay.cli.reproduce import figure
from textassay.report import markdown
from textassay.reproduce.catalogue import PAPERS, REPRODUCTIONS
from textassay.reproduce.document import document
from textassay.reproduce.result import Reproduction

NAME = "trm-figure-8"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.delenv("TEXTASSAY_DATA", raising=False)
    (tmp_path / "data").mkdir()
    return folder_of(tmp_path / "data", captions(12))


def failure(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert run(["reproduce", *arguments]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.count("\n") == 1
    return captured.err


def test_without_a_name_it_lists_them_with_whole_names_of_files(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["reproduce"]) == 0
    listed = capsys.readouterr().out
    assert NAME in listed
    assert "…" not in listed


def test_an_unknown_name_is_refused_with_those_there_are(capsys: pytest.CaptureFixture[str]) -> None:
    assert f"did you mean '{NAME}'?" in failure(capsys, "trm-figure8")
    assert NAME in failure(capsys, "\x1b[31mnothing").partition("there are: ")[2]
    assert "\x1b" not in failure(capsys, "\x1b[31mnothing")


def test_missing_data_is_said(folder: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    message = failure(capsys, NAME)
    assert "--data FOLDER or TEXTASSAY_DATA=FOLDER" in message
    assert "captions/coco_val_sample.json" in message
    message = failure(capsys, NAME, "--data", str(tmp_path / "empty"))
    assert "empty: no file captions/coco_val_sample.json" in message


def test_the_folder_may_come_from_the_environment(
    folder: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("TEXTASSAY_DATA", folder)
    assert run(["reproduce", NAME, "--items", "10", "--json", "-"]) == 0
    assert json.loads(capsys.readouterr().out)["name"] == NAME
    failure(capsys, NAME, "--data", str(tmp_path / "empty"))  # what is written comes first


def test_it_prints_both_sides_and_every_number(folder: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["reproduce", NAME, "--data", folder, "--items", "10", "--seed", "3"]) == 0
    shown = capsys.readouterr().out
    for text in (
        "the paper states",
        "found here",
        "holds if",
        "decision",
        "TRM with METEOR",
        "m = 6",
        "k = 3",
        "MSR-VTT",
    ):
        assert text in shown
    # Words drawn at random show nothing of correctness, and that is said.
    assert "TRM with METEOR follows correctness" in " ".join(shown.partition("Undecided here: ")[2].split())


def test_it_writes_files(folder: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "figures").mkdir()
    page, figure, numbers = tmp_path / "page.md", tmp_path / "figures" / "a b.svg", tmp_path / "numbers.json"
    files = ["--markdown", str(page), "--svg", str(figure), "--json", str(numbers)]
    assert run(["reproduce", NAME, "--data", folder, "--items", "10", *files]) == 0
    assert capsys.readouterr().err.count("wrote") == 3
    written = page.read_text(encoding="utf-8")
    assert "](figures/a%20b.svg)" in written
    assert "| k = 3 |" in written
    assert f"textassay reproduce {NAME} --data FOLDER --scale laptop --items 10 --seed 0" in written
    found = json.loads(numbers.read_text(encoding="utf-8"))
    assert [len(grid["cells"]) for grid in found["grids"]] == [3, 3]
    assert len(found["claims"]) == 4
    for claim in found["claims"]:
        assert claim["decision"] in ("holds", "fails", "undecided")
        assert {"published", "checks", "rule", "margin", "basis", "found", "wanted"} < set(claim)
    assert ET.parse(figure).getroot().tag.endswith("svg")


def test_quiet_says_nothing_beside_and_markdown_may_go_to_standard_output(
    folder: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["reproduce", NAME, "--data", folder, "--items", "10", "--markdown", "-", "--quiet"]) == 0
    captured = capsys.readouterr()
    assert captured.out.startswith("# Figure 8")
    assert "![" not in captured.out
    assert captured.err == ""


def test_outputs_are_checked_before_the_work(folder: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = Path(folder) / "captions" / "coco_val_sample.json"
    assert "is also an input" in failure(capsys, NAME, "--data", folder, "--json", str(source))
    assert "does not exist" in failure(capsys, NAME, "--data", folder, "--svg", str(tmp_path / "no" / "x.svg"))
    assert "--items 5000; wanted 10 to 12" in failure(capsys, NAME, "--data", folder, "--items", "5000")


def test_a_table_without_data_runs_without_a_folder(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("TEXTASSAY_DATA", raising=False)
    for _ in range(2):  # the second run replaces the files of the first
        assert run(["reproduce", "dd-published", "--scale", "smoke", "--output", str(tmp_path)]) == 0
    assert "Does not hold here: tau of FED, synthetic (Table 5), 10 generators, is 0.92." in " ".join(
        capsys.readouterr().out.split()
    )
    assert sorted(path.name for path in tmp_path.iterdir()) == ["dd-published.json", "dd.md"]


def test_options_that_exclude_each_other(folder: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "both NAME and --all" in failure(capsys, NAME, "--all", "--data", folder)
    assert "wanted --output FOLDER" in failure(capsys, "--all", "--data", folder, "--json", "-")
    assert "wanted --output FOLDER" in failure(capsys, "--all", "--data", folder, "--items", "10")
    assert "no such folder" in failure(capsys, NAME, "--data", folder, "--output", str(tmp_path / "no"))
    assert "--scale huge; wanted smoke" in failure(capsys, NAME, "--data", folder, "--scale", "huge")


def test_all_needs_all_data(folder: str, capsys: pytest.CaptureFixture[str]) -> None:
    message = failure(capsys, "--all", "--data", folder, "--scale", "smoke")
    assert "no file" in message
    assert "huse/summarization_ratings.csv" in message


def test_results_in_a_folder_are_replaced_by_a_run_of_several(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    few = {name: REPRODUCTIONS[name] for name in ("qd-figure-1", "qd-figure-4", "dd-published")}
    monkeypatch.setattr("textassay.reproduce.catalogue.REPRODUCTIONS", few)
    for _ in range(2):
        assert run(["reproduce", "--all", "--scale", "smoke", "--output", str(tmp_path)]) == 0
        assert "qd-figure-4: 4 of 4 statements hold" in capsys.readouterr().out
    assert {path.name for path in tmp_path.glob("*.md")} == {"qd.md", "dd.md"}
    assert "(qd-figure-4.svg)" in (tmp_path / "qd.md").read_text(encoding="utf-8")


def test_all_of_them_run_at_the_smallest_scale(data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    started = time.process_time()
    assert run(["reproduce", "--all", "--scale", "smoke", "--data", str(data), "--output", str(tmp_path)]) == 0
    assert time.process_time() - started < 300
    shown = capsys.readouterr().out
    for name in REPRODUCTIONS:
        assert f"{name}: " in shown
        written = (tmp_path / f"{name}.json").read_text(encoding="utf-8")
        found = Reproduction.from_json(written)
        assert json.loads(found.to_json()) == json.loads(written), name
        assert (found.name, found.options["scale"]) == (name, "smoke")
        assert found.claims, name
        assert found.conclusion.endswith("."), name
        assert f"textassay reproduce {name}" in markdown.text(document(found))
        if found.has_figure:
            assert (tmp_path / f"{name}.svg").read_text(encoding="utf-8") == figure(found)
    assert {path.stem for path in tmp_path.glob("*.md")} == set(PAPERS)


@pytest.mark.parametrize("option", ["--json", "--markdown", "--svg", "--work", "--output"])
def test_a_file_without_a_name_is_refused(option: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "no NAME given" in failure(capsys, option, str(tmp_path / "x"))


@pytest.mark.parametrize("name", ["qd-figure-1", "qd-figure-6", "qd-table-1", "msj-table-4"])
@pytest.mark.parametrize("number", ["0", "-3"])
def test_too_few_items_are_refused(name: str, number: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert f"--items {number}; wanted a whole number of" in failure(capsys, name, "--scale", "smoke", "--items", number)


@pytest.mark.parametrize("content", [b'{"a', b"\xff\xfe", b"[1]"])
def test_a_damaged_result_in_the_folder_is_named(
    content: bytes, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "dd-table-2.json").write_bytes(content)
    assert run(["reproduce", "dd-published", "--scale", "smoke", "--output", str(tmp_path)]) == 2
    (line,) = (line for line in capsys.readouterr().err.splitlines() if not line.startswith("wrote "))
    assert "dd-table-2.json: " in line


def test_a_pair_without_a_value_is_refused_in_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """No mixture is as diverse as texts that share no words."""
    for name in ("coco/train.txt", "coco/test.txt", "news/valid.txt", "news/test.txt"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        lines = (" ".join(f"{name}{line}-{place}" for place in range(6)) for line in range(60))
        path.write_text("\n".join(lines), encoding="utf-8")
    found = failure(capsys, "qd-table-2", "--scale", "smoke", "--items", "50", "--data", str(tmp_path))
    assert "--items 50; bs-" in found
    assert " has no value (" in found
