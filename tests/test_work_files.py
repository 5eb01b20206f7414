"""Work files: a stopped run continues, two runs do not share a file, and what is no work file is refused untouched."""

import errno
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from textassay.errors import InputError
from textassay.work_files import WorkFile, locked, work_file

IDENTITY = {"seed": 0, "metrics": ["cnd-2"]}


def opened(path: Path, kind: str = "stress", identity: dict[str, Any] = IDENTITY) -> Any:
    return work_file(path, kind, identity, check=lambda value: value["p"])


def filled(path: Path, n: int = 3) -> bytes:
    with opened(path) as work:
        for number in range(n):
            work.add(("run", number, 0.3), {"p": 0.1 + 0.2 * number})
    return path.read_bytes()


def test_a_file_gives_back_what_was_put_in(tmp_path: Path) -> None:
    path = tmp_path / "work"
    filled(path)
    with opened(path) as work:
        assert len(work) == 3
        assert work["run", 0, 0.3] == {"p": 0.1}
        assert ("run", 9, 0.3) not in work
    assert [file.name for file in tmp_path.iterdir()] == ["work"]
    with work_file(None, "stress") as memory:
        memory.add("a", [1, (2,)])
        assert memory["a"] == [1, [2]]


def test_a_file_cut_anywhere_is_continued(tmp_path: Path) -> None:
    path = tmp_path / "work"
    content = filled(path)
    for cut in (0, *range(20, len(content))):
        path.write_bytes(content[:cut])
        with opened(path) as work:
            assert len(work) == max(0, content[:cut].count(b"\n") - 1)
            for number in range(len(work), 3):
                work.add(("run", number, 0.3), {"p": 0.1 + 0.2 * number})
        assert path.read_bytes() == content


@pytest.mark.parametrize(
    "content",
    [
        b"only copy",
        b"a text\nand another\n",
        b"[1, 2]\n",
        b'{"textassay work file": 2}\n',
        b"[" * 100_000 + b"\n",
        b"\x00" * 100,
        b"\xff\xfe",
        b"{",
    ],
    ids=lambda content: str(content[:30]),
)
def test_other_files_are_refused_and_kept(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "keep.txt"
    path.write_bytes(content)
    with pytest.raises(InputError, match=r"keep\.txt: not a work file of textassay stress; wanted one"), opened(path):
        pass
    assert path.read_bytes() == content


def test_a_large_foreign_file_is_refused_unread(tmp_path: Path) -> None:
    path = tmp_path / "large"
    path.touch()
    os.truncate(path, 2**40)
    with pytest.raises(InputError, match=r"large: not a work file of textassay stress; wanted one"):
        opened(path).__enter__()
    assert path.stat().st_size == 2**40


@pytest.mark.parametrize(
    "line",
    [
        '{"requests": "88aa", "n": 3}',
        '{"format": "textassay sweep 1", "key": "k", "digest": "d", "texts": []}',
        '{"stress": {"seed": 0}}',
    ],
)
def test_files_of_an_earlier_version_are_refused_in_one_line(tmp_path: Path, line: str) -> None:
    path = tmp_path / "work"
    path.write_text(f"{line}\n")
    with pytest.raises(InputError, match=r"work: a work file of an earlier version of textassay; wanted a new file$"):
        opened(path).__enter__()
    assert path.read_text() == f"{line}\n"


def test_files_of_other_runs_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "work"
    content = filled(path)
    with pytest.raises(InputError, match=r"the work of another run \(seed is 0, here 1\)"):
        opened(path, identity={**IDENTITY, "seed": 1}).__enter__()
    with pytest.raises(InputError, match=r"a work file of textassay 'stress'; wanted one of sweep, or a new file"):
        opened(path, kind="sweep").__enter__()
    assert path.read_bytes() == content
    path.write_bytes(content.replace(b'file": 2', b'file": 3', 1))
    with pytest.raises(InputError, match=r"a work file of version 3; this textassay reads version 2"):
        opened(path).__enter__()


@pytest.mark.parametrize("old_new", [(b"0.3", b"0.4"), (b'"p"', b'"q"'), (b'"run"', b"[]"), (b'{"work"', b'["work"')])
def test_altered_work_is_noticed(tmp_path: Path, old_new: tuple[bytes, bytes]) -> None:
    path = tmp_path / "work"
    head, rest = filled(path).split(b"\n", 1)
    path.write_bytes(head + b"\n" + rest.replace(*old_new))
    with pytest.raises(InputError, match=r"work:2: altered or damaged; wanted the work file as it was written"):
        opened(path).__enter__()


def test_two_runs_do_not_share_a_file(tmp_path: Path) -> None:
    path, link = tmp_path / "work", tmp_path / "link"
    link.symlink_to(path)
    with opened(path) as work:
        work.add("mine", {"p": 1})
        for other in (path, link):
            with pytest.raises(InputError, match=r": another run is using this file; wait until it ends"):
                opened(other).__enter__()
        with pytest.raises(InputError, match="another run is using this file"), locked(path):
            pass
        code = f"from textassay.work_files import locked\nwith locked({str(path)!r}): pass"
        other_process = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
        assert "another run is using this file" in other_process.stderr
    with opened(link) as work:
        assert "mine" in work


@pytest.mark.parametrize("name", ["/dev/zero", "/dev/null", "pipe", "."])
def test_what_is_no_regular_file_is_refused_unread(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    os.mkfifo("pipe")
    with pytest.raises(InputError, match="not a regular file; wanted a work file"):
        opened(Path(name)).__enter__()


def test_a_full_disk_leaves_whole_lines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "work"
    real_write = os.write

    def write_part(descriptor: int, content: Any) -> int:
        if len(content) > 20 and not fails:
            fails.append(1)
            return real_write(descriptor, content[:20])
        raise OSError(errno.ENOSPC, "No space left on device")

    with opened(path) as work:
        work.add("a", {"p": 1})
        before, fails = path.read_bytes(), list[int]()
        monkeypatch.setattr(os, "write", write_part)
        with pytest.raises(InputError, match=r"work: cannot be written \(no space left on device\)$"):
            work.add("b", {"p": 1})
        monkeypatch.undo()
        assert fails
        assert path.read_bytes() == before
        assert "b" not in work
        work.add("c", {"p": 2})
    assert len(path.read_text().splitlines()) == 3


def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"work: cannot be written \(the folder does not exist\)"):
        opened(tmp_path / "nowhere" / "work").__enter__()


def test_memory_has_what_the_file_gives_back() -> None:
    work = WorkFile()
    work.add("a", {"p": (1, 2)})
    assert work["a"] == json.loads(json.dumps({"p": (1, 2)}))
