"""An output never replaces a file that the run has read, however the input was named."""

from pathlib import Path

import numpy as np
import pytest

from textassay.cli.main import run

TEXTS = "".join(f"a {word} dog\n" for word in ("red", "blue", "green", "old", "new", "big"))
COMPARE = ("compare", "-m", "distinct", "--resamples", "0", "--quiet")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "g").mkdir()
    for name in ("g/1.txt", "g/2.txt", "a.txt"):
        (tmp_path / name).write_text(TEXTS, encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize(
    "arguments",
    [
        ("g/*.txt", "a.txt", "--json", "g/1.txt"),
        ("g/1.txt", "g/[2].txt", "--csv", "g/2.txt"),
        ("g/1.txt", "a.txt", "--report", "link.html"),
        ("g/1.txt", "a.txt", "--json", "hard.txt"),
        ("**/1.txt", "a.txt", "--markdown", "g/1.txt"),
    ],
)
def test_inputs_stay_as_they_are(folder: Path, arguments: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "link.html").symlink_to("a.txt")
    (folder / "hard.txt").hardlink_to(folder / "a.txt")
    assert run([*COMPARE, *arguments]) == 2
    assert "is also an input; wanted another file for the output" in capsys.readouterr().err
    assert {path.read_text(encoding="utf-8") for path in folder.rglob("*.txt")} == {TEXTS}


def test_vectors_are_an_input(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    np.save(folder / "v.npy", np.random.default_rng(0).standard_normal((12, 4)).astype(np.float32))
    before = (folder / "v.npy").read_bytes()
    metric = ("-m", "energy", "--encoder", "vectors:v.npy", "--resamples", "0", "--quiet")
    assert run(["compare", "g/1.txt", "a.txt", *metric, "--json", "v.npy"]) == 2
    assert "is also an input" in capsys.readouterr().err
    assert (folder / "v.npy").read_bytes() == before


def test_a_file_that_only_a_library_opened_is_an_input_too(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The check before the work cannot know every file; the one before writing knows all that were opened."""
    monkeypatch.setattr("textassay.cli.outputs._files_of", lambda inputs: [])
    assert run([*COMPARE, "g/1.txt", "a.txt", "--json", "a.txt", "--csv", "out.csv"]) == 2
    assert (folder / "a.txt").read_text(encoding="utf-8") == TEXTS


@pytest.mark.parametrize("targets", [("--json", "-", "--csv", "/dev/stdout"), ("--json", "/dev/stdout", "--csv", "-")])
def test_two_outputs_to_one_stream_are_refused(
    folder: Path, targets: tuple[str, ...], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("textassay.cli.outputs._standard_stream", lambda target: 1 if target == "/dev/stdout" else None)
    assert run([*COMPARE, "g/1.txt", "a.txt", *targets]) == 2
    assert "two outputs go to standard output" in capsys.readouterr().err


def test_an_output_may_be_replaced_by_the_next_run(folder: Path) -> None:
    for _ in range(2):
        assert run([*COMPARE, "g/1.txt", "a.txt", "--json", "out.json"]) == 0
        assert (folder / "out.json").read_text(encoding="utf-8")


def test_the_same_run_without_timings_writes_the_same_bytes(folder: Path) -> None:
    for name in ("one.json", "two.json"):
        assert run([*COMPARE, "g/1.txt", "a.txt", "--no-timings", "--json", name]) == 0
    assert (folder / "one.json").read_bytes() == (folder / "two.json").read_bytes()
