"""Outputs that are links, pipes, devices, inputs or one another: written where they lead, or refused. Progress bars."""

import errno
import json
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from rich.progress import Task, TaskID

from tests.laws import corpus
from textassay.cli.main import run
from textassay.cli.outputs import check_writable, write
from textassay.engines.progress_bar import _Rate, _Remaining
from textassay.errors import InputError


@pytest.fixture
def inputs(tmp_path: Path) -> list[str]:
    """A reference, a candidate and training texts."""
    paths = [tmp_path / f"{name}.txt" for name in ("real", "made", "train")]
    for number, path in enumerate(paths):
        path.write_text("\n".join(corpus(number, 40)) + "\n", encoding="utf-8")
    return [str(path) for path in paths]


def shell(command: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """A command line in which `textassay` is this package's, run by bash."""
    script = f'textassay() {{ "{sys.executable}" -m textassay "$@"; }}; {command}'
    return subprocess.run(["bash", "-c", script], cwd=folder, capture_output=True, text=True, check=False, timeout=300)


@pytest.fixture
def no_replacing(monkeypatch: pytest.MonkeyPatch) -> None:
    """For tests that lead to a device: a fault must not replace the machine's own, which root could do."""

    def refuse(*paths: object) -> None:
        raise AssertionError(f"replaces {paths}")

    monkeypatch.setattr("os.replace", refuse)


def refusal(*targets: str, inputs: tuple[str, ...] = ()) -> str:
    """The one line with which these targets are refused."""
    with pytest.raises(InputError) as caught:
        check_writable(targets, inputs)
    assert "\n" not in str(caught.value)
    return str(caught.value)


class TestLinks:
    def test_a_link_stays_and_its_target_is_replaced(self, tmp_path: Path) -> None:
        (tmp_path / "far").mkdir()
        real, link = tmp_path / "far" / "real.json", tmp_path / "link.json"
        real.write_text("old")
        link.symlink_to("far/real.json")
        check_writable([str(link)])
        write(str(link), "new")
        assert link.is_symlink()
        assert real.read_text() == "new"
        assert os.listdir(real.parent) == ["real.json"]

    def test_a_link_to_nothing_yet_makes_its_target(self, tmp_path: Path) -> None:
        link = tmp_path / "link"
        link.symlink_to("made")
        check_writable([str(link)])
        write(str(link), "new")
        assert link.is_symlink()
        assert (tmp_path / "made").read_text() == "new"

    def test_a_link_into_a_missing_folder_or_a_circle_is_refused(self, tmp_path: Path) -> None:
        lost, circle = tmp_path / "lost", tmp_path / "circle"
        lost.symlink_to("nowhere/x.json")
        circle.symlink_to("circle")
        assert "nowhere does not exist" in refusal(str(lost))
        assert "circle: cannot be written (" in refusal(str(circle))


class TestSpecialFiles:
    def test_a_pipe_is_written_to_and_stays_a_pipe(self, tmp_path: Path) -> None:
        pipe, read = tmp_path / "pipe", list[str]()
        os.mkfifo(pipe)
        reader = threading.Thread(target=lambda: read.append(pipe.read_text()), daemon=True)
        reader.start()
        check_writable([str(pipe)])
        write(str(pipe), "text")
        assert pipe.is_fifo()
        reader.join(timeout=300)
        assert read == ["text"]

    @pytest.mark.usefixtures("no_replacing")
    def test_a_link_to_a_device_stays_one(self, tmp_path: Path) -> None:
        link = tmp_path / "null"
        link.symlink_to(os.devnull)
        check_writable([str(link), str(link)])
        write(str(link), "text")
        assert link.is_symlink()
        assert Path(os.devnull).is_char_device()

    def test_a_device_needs_no_folder_to_write_in(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("os.access", lambda path, mode: str(path) == os.devnull)
        check_writable([os.devnull])

    def test_process_substitution(self, inputs: list[str], tmp_path: Path) -> None:
        command = "textassay compare real.txt made.txt --family ngram --resamples 0 -q --json >(cat > copy.json)"
        found = shell(f"{command}; code=$?; wait $!; exit $code", tmp_path)
        assert (found.returncode, found.stderr) == (0, "")
        assert json.loads((tmp_path / "copy.json").read_text())["reference"]["n"] == 40

    @pytest.mark.parametrize("behind", ["| cat > all.txt", "> all.txt"])
    def test_standard_output_by_its_other_name_follows_the_table(
        self, inputs: list[str], tmp_path: Path, behind: str
    ) -> None:
        # A link of our own to what /dev/stdout leads to: a fault would replace the link and not the machine's.
        (tmp_path / "out").symlink_to("/dev/fd/1")
        found = shell(f"textassay compare real.txt made.txt --family ngram --resamples 0 --csv out {behind}", tmp_path)
        assert found.stderr == "wrote out\n"
        table, _, csv = (tmp_path / "all.txt").read_text(encoding="utf-8").partition("candidate,n,metric,")
        assert "real v real" in table
        assert "made,40,cnd," in csv


class TestFailures:
    @pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no device that is always full")
    @pytest.mark.usefixtures("no_replacing")
    def test_a_full_device_is_one_line(
        self, inputs: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        full = tmp_path / "full"
        full.symlink_to("/dev/full")
        assert run(["compare", *inputs[:2], "--resamples", "0", "--json", str(full)]) == 2
        assert capsys.readouterr().err == f"textassay: {full}: cannot be written (no space left on device)\n"

    @pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no device that is always full")
    def test_full_standard_output_is_one_line(self, inputs: list[str], tmp_path: Path) -> None:
        found = shell("textassay compare real.txt made.txt --family ngram --resamples 0 --json - > /dev/full", tmp_path)
        assert found.returncode == 2
        assert found.stderr == "textassay: standard output: cannot be written (no space left on device)\n"

    def test_a_full_disk_is_one_line_and_leaves_the_old_file(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def full(*_: object) -> None:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

        target = tmp_path / "x.json"
        target.write_text("old")
        monkeypatch.setattr("os.replace", full)
        with pytest.raises(InputError, match=r"x\.json: cannot be written \(no space left on device\)$"):
            write(str(target), "new")
        assert target.read_text() == "old"
        assert os.listdir(tmp_path) == ["x.json"]

    def test_a_folder_that_went_away_is_one_line(self, tmp_path: Path) -> None:
        with pytest.raises(InputError, match=r"x\.json: cannot be written \(the folder does not exist\)$"):
            write(str(tmp_path / "gone" / "x.json"), "new")

    def test_a_folder_that_is_a_file_is_refused(self, tmp_path: Path) -> None:
        (tmp_path / "file").touch()
        assert "cannot be written (not a directory)" in refusal(str(tmp_path / "file" / "x.json"))


class TestClashes:
    def test_two_outputs_to_one_file(self, tmp_path: Path) -> None:
        target = tmp_path / "x"
        assert "two outputs" in refusal(str(target), f"{tmp_path}/./x")
        target.touch()
        (tmp_path / "link").symlink_to("x")
        assert "two outputs" in refusal(str(target), str(tmp_path / "link"))
        check_writable([str(target), str(tmp_path / "y"), None])

    def test_an_output_that_is_an_input(self, tmp_path: Path) -> None:
        source = tmp_path / "real.txt"
        source.touch()
        os.link(source, tmp_path / "other.txt")
        for target in (source, tmp_path / "other.txt"):
            assert "is also an input" in refusal(str(target), inputs=(str(source),))
        check_writable([str(tmp_path / "new"), "-"], inputs=[str(source), "-", str(tmp_path / "*.txt")])

    @pytest.mark.parametrize("clash", range(3))
    def test_compare_overwrites_none_of_its_inputs(
        self, inputs: list[str], clash: int, capsys: pytest.CaptureFixture[str]
    ) -> None:
        before = Path(inputs[clash]).read_bytes()
        real, made, train = inputs
        arguments = ["compare", real, made, "--train", train, "--resamples", "0", "--csv", inputs[clash]]
        assert run(arguments) == 2
        out, err = capsys.readouterr()
        assert out == ""
        assert err.endswith("is also an input; wanted another file for the output\n")
        assert err.count("\n") == 1
        assert Path(inputs[clash]).read_bytes() == before


def test_a_private_file_stays_private(tmp_path: Path) -> None:
    path = tmp_path / "secret.json"
    path.write_text("old", encoding="utf-8")
    path.chmod(0o600)
    write(str(path), "new")
    assert path.read_text(encoding="utf-8") == "new"
    assert path.stat().st_mode & 0o777 == 0o600


def task(*, total: float | None, completed: float, elapsed: float) -> Task:
    """A piece of work that has taken so long."""
    clock = [0.0]
    made = Task(TaskID(0), "work", total, completed, _get_time=lambda: clock[0])
    made.start_time = 0.0
    clock[0] = elapsed
    return made


@pytest.mark.parametrize(
    ("total", "completed", "elapsed", "shown"),
    [
        (100, 0, 10, ""),
        (100, 1, 10, ""),
        (100, 50, 1, ""),
        (None, 50, 10, ""),
        (0, 0, 10, ""),
        (100, 5, 10, "about 0:03:10 left"),
        (100, 50, 10, "about 0:00:10 left"),
        (100_000, 10_000, 3600, "about 9:00:00 left"),
    ],
)
def test_the_estimate_waits_until_it_means_something(
    total: float | None, completed: float, elapsed: float, shown: str
) -> None:
    assert _Remaining().render(task(total=total, completed=completed, elapsed=elapsed)).plain == shown


def test_a_finished_task_has_no_time_left() -> None:
    done = task(total=10, completed=10, elapsed=10)
    done.finished_time = 10.0
    assert _Remaining().render(done).plain == ""


@pytest.mark.parametrize(("speed", "shown"), [(None, ""), (0.2, ""), (1234.5, "1,234/s")])
def test_a_slow_rate_is_not_shown_as_none(speed: float | None, shown: str) -> None:
    working = task(total=10, completed=1, elapsed=5)
    working.finished_speed = speed
    assert _Rate().render(working).plain == shown


@pytest.mark.parametrize("name", ["out.pdf", "out.PDF", "out.docx", "out.json", "out.md"])
def test_a_report_is_not_written_into_a_file_of_another_form(
    name: str, inputs: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = tmp_path / name
    assert run(["compare", *inputs[:2], "--resamples", "0", "--report", str(target)]) == 2
    line = capsys.readouterr().err
    assert f"--report {target}; reports are HTML, wanted a name such as {tmp_path}/out.html" in line
    assert not target.exists()
