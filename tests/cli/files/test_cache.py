"""`textassay cache`: what it shows, and that it removes the cache's own files and nothing else."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ToyEncoder
from textassay.cli.main import run
from textassay.encoders.cache_folder import encoder_folder
from textassay.encoders.remembered import remember
from textassay.encoders.vector_store import open_store


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache with the vectors of two encoders."""
    folder = tmp_path / "cache"
    monkeypatch.setenv("TEXTASSAY_CACHE", str(folder))
    monkeypatch.delenv("TEXTASSAY_CACHE_LIMIT", raising=False)
    for name, number in (("toy", 1500), ("hf:some/model \x1b[2J", 7)):
        encoder = ToyEncoder(name=name)
        remember(encoder, [f"text {place}" for place in range(number)], store=open_store(encoder))
    return folder


def held(root: Path, encoder: str) -> int:
    """Files in an encoder's folder."""
    folder = encoder_folder(root, encoder)
    return len(list(folder.iterdir())) if folder.exists() else 0


def test_info(root: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEXTASSAY_CACHE_LIMIT", "2G")
    assert run(["cache", "info"]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert out.splitlines()[0] == f"folder: {root}"
    assert re.search(r"^ +1,500 +12 +99\.\d KiB +\d{4}-\d\d-\d\d  toy$", out, re.MULTILINE)
    assert re.search(r"^ +7 +12 +\d+ B +\d{4}-\d\d-\d\d  hf:some/model \\x1b\[2J$", out, re.MULTILINE)
    assert re.search(r"^total: 1,507 vectors of 2 encoders, 100\.\d KiB of at most 2\.0 GiB$", out, re.MULTILINE)
    assert "damaged" not in out


def test_info_counts_damaged_files_and_removes_nothing(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = sorted(root.rglob("*"))
    max(encoder_folder(root, "toy").glob("*.v1"), key=lambda path: path.stat().st_size).write_bytes(b"")
    (encoder_folder(root, "toy") / "name.txt").write_bytes(b"\xff")
    assert run(["cache", "info"]) == 0
    out = capsys.readouterr().out
    assert "damaged files: 1 " in out
    assert encoder_folder(root, "toy").name in out
    assert "total: 483 vectors of 2 encoders" in out
    assert sorted(root.rglob("*")) == before


def test_info_and_clear_without_a_cache(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TEXTASSAY_CACHE", str(tmp_path / "none"))
    assert run(["cache", "info"]) == 0
    assert "total: 0 vectors of 0 encoders, 0 B of at most 4.0 GiB" in capsys.readouterr().out
    assert run(["cache", "clear"]) == 0
    assert "is empty; nothing removed" in capsys.readouterr().out
    assert not (tmp_path / "none").exists()
    monkeypatch.setenv("TEXTASSAY_CACHE", "off")
    for command in ("info", "clear"):
        assert run(["cache", command]) == 0
        assert "the cache is off" in capsys.readouterr().out


def test_clear_removes_all_vectors_and_says_so(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (encoder_folder(root, "toy") / "textassay-killed.tmp").write_bytes(b"half")
    assert run(["cache", "clear", "--yes"]) == 0
    out = capsys.readouterr().out
    assert re.fullmatch(r"removed 6 files \(.+ KiB\) of 1,507 vectors of 2 encoders \(.+ KiB\) in .+\n", out)
    assert list(root.iterdir()) == []


@pytest.mark.parametrize("name", ["toy", encoder_folder(Path(), "toy").name])
def test_clear_one_encoder(root: Path, name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["cache", "clear", "--encoder", name, "--yes"]) == 0
    assert "1,500 vectors of 1 encoder (" in capsys.readouterr().out
    assert not encoder_folder(root, "toy").exists()
    assert held(root, "hf:some/model \x1b[2J") == 2


def test_clear_an_encoder_that_is_not_there(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["cache", "clear", "--encoder", "tyo", "--yes"]) == 2
    assert capsys.readouterr().err == (
        "textassay: no encoder 'tyo' in the cache; there are: 'hf:some/model \\x1b[2J', 'toy'\n"
    )


def test_clear_leaves_what_is_not_the_caches(root: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    segment = next(encoder_folder(root, "toy").glob("*.v1"))
    for path in (outside / segment.name, outside / "name.txt", outside / "mine.txt"):
        path.write_bytes(segment.read_bytes())
    mine = [root / "mine.txt", root / "folder" / "mine.txt", encoder_folder(root, "toy") / "mine.v1"]
    mine += [encoder_folder(root, "toy") / f"{'0' * 32}.v1" / "mine.txt"]
    for path in mine:
        path.parent.mkdir(exist_ok=True)
        path.write_text("mine")
    (root / ("a" * 32)).symlink_to(outside)
    (encoder_folder(root, "toy") / f"{'b' * 32}.v1").symlink_to(outside / segment.name)
    assert run(["cache", "clear", "--yes"]) == 0
    assert "kept: 3 files that do not belong to the cache" in capsys.readouterr().out
    assert all(path.read_text() == "mine" for path in mine)
    assert len(list(outside.iterdir())) == 3
    assert (root / ("a" * 32)).is_symlink()
    assert not segment.exists()


def test_clear_removes_only_files_whose_content_the_cache_wrote(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Names prove nothing: a folder with 32 hexadecimal digits as its name may belong to another program."""
    toy, other = encoder_folder(root, "toy"), root / ("c" * 32)
    other.mkdir()
    mine = [other / "name.txt", other / f"{'0' * 32}.v2", other / f"{'1' * 32}.v1", other / "textassay-mine.tmp"]
    mine += [toy / f"{'0' * 32}.v2", toy / f"{'1' * 32}.v1"]
    for path in mine:
        path.write_text("mine\n")
    assert run(["cache", "info"]) == 0
    out = capsys.readouterr().out
    assert other.name not in out
    assert "total: 1,507 vectors of 2 encoders" in out
    assert run(["cache", "clear", "--yes"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("removed 5 files ")
    assert "kept: 2 files that do not belong to the cache" in out
    assert all(path.read_text() == "mine\n" for path in mine)
    assert sorted(path.name for path in toy.iterdir()) == sorted(path.name for path in mine[-2:])


@pytest.mark.parametrize("kind", ["pipe", "endless device", "long file"])
def test_info_reads_only_the_beginning_of_regular_files(root: Path, kind: str) -> None:
    folder = encoder_folder(root, "toy")
    for path in (folder / "name.txt", folder / f"{'d' * 32}.v1"):
        path.unlink(missing_ok=True)
        if kind == "pipe":
            os.mkfifo(path)
        elif kind == "endless device":
            path.symlink_to("/dev/zero")
        else:
            with path.open("wb") as file:
                file.truncate(1 << 40)
    limited = "import resource; resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30));"
    code = f"{limited} from textassay.cli.main import entry; entry()"
    done = subprocess.run([sys.executable, "-c", code, "cache", "info"], capture_output=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
    assert b"total: 1,507 vectors of 2 encoders" in done.stdout
    assert folder.name.encode() in done.stdout


def test_files_that_cannot_be_removed_are_an_error(
    root: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def forbidden(*_: object, **__: object) -> None:
        raise PermissionError

    monkeypatch.setattr(os, "unlink", forbidden)
    assert run(["cache", "clear", "--yes"]) == 2
    out, err = capsys.readouterr()
    assert out.startswith("removed 0 files (0 B)")
    assert re.fullmatch(r"textassay: .+: 5 files of the cache could not be removed\n", err)


@pytest.mark.parametrize(("answer", "left"), [(b"n\n", 3), (b"\n", 3), (b"y\n", 0)])
def test_on_a_terminal_it_asks_first(root: Path, answer: bytes, left: int) -> None:
    import pty

    parent, child = pty.openpty()
    command = [sys.executable, "-m", "textassay", "cache", "clear", "--encoder", "toy"]
    with subprocess.Popen(command, stdin=child, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        os.close(child)
        os.write(parent, answer)
        out, err = process.communicate(timeout=300)
    os.close(parent)
    assert process.returncode == 0
    assert err.decode().startswith("Remove 1,500 vectors of 1 encoder (")
    assert (b"removed 3 files" in out, b"nothing removed" in out) == (not left, bool(left))
    assert held(root, "toy") == left


def test_a_limit_that_is_none_is_one_line(
    root: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TEXTASSAY_CACHE_LIMIT", "lots")
    assert run(["cache", "info"]) == 2
    assert capsys.readouterr().err.startswith("textassay: TEXTASSAY_CACHE_LIMIT is 'lots'; wanted ")


def test_no_home(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    def nowhere() -> Path:
        raise RuntimeError

    monkeypatch.setattr(Path, "home", nowhere)
    for name in ("TEXTASSAY_CACHE", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    assert run(["cache", "info"]) == 2
    assert "set TEXTASSAY_CACHE to a folder" in capsys.readouterr().err
