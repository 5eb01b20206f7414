"""The page on many machines: its scripts give the same digest on every scheduler that can be emulated here."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.laws import corpus

PAGE = ROOT / "docs" / "how-to" / "many-machines.md"
N_SHARDS = 4


def script(name: str) -> str:
    """The block of the page that begins with this name as a comment."""
    blocks = re.findall(r"```(?:sh|python)\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    [found] = [block for block in blocks if block.startswith(f"# {name}\n")]
    return str(found)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Shards, and a `textassay` command that runs this tree."""
    (tmp_path / "shards").mkdir()
    for k in range(N_SHARDS):
        (tmp_path / "shards" / f"{k}.txt").write_text("\n".join(corpus(k, 40)))
    (tmp_path / "bin").mkdir()
    command = tmp_path / "bin" / "textassay"
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m textassay "$@"\n')
    command.chmod(0o755)
    return tmp_path


def run(folder: Path, *command: str, **environment: str) -> None:
    path = f"{folder / 'bin'}{os.pathsep}{os.environ['PATH']}"
    tree = os.pathsep.join([str(ROOT / "src"), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        command,
        cwd=folder,
        env={**os.environ, "PATH": path, "PYTHONPATH": tree, **environment},
        capture_output=True,
        text=True,
        timeout=500,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def merged(folder: Path) -> bytes:
    """The bytes of the digest after the parts of a scheduler were merged by the script of the page."""
    assert len(list((folder / "parts").glob("*.digest"))) == N_SHARDS
    run(folder, "sh", "-c", script("merge.sh"))
    found = (folder / "all.digest").read_bytes()
    for path in [*(folder / "parts").iterdir(), folder / "all.digest"]:
        path.unlink()
    return found


def test_slurm_array_and_indexed_job_give_the_digest_of_one_machine(folder: Path) -> None:
    one_machine = re.search(r"^textassay digest 'shards.*$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    assert one_machine is not None
    run(folder, "sh", "-c", one_machine[0])
    wanted = (folder / "all.digest").read_bytes()
    (folder / "array.sh").write_text(script("array.sh"))
    array = "seq 1 4 | xargs -P 2 -I N env SLURM_ARRAY_TASK_ID=N sh array.sh"
    assert array in PAGE.read_text(encoding="utf-8")
    run(folder, "sh", "-c", array)
    # A task that runs again writes the same file.
    run(folder, "sh", "array.sh", SLURM_ARRAY_TASK_ID="2")
    assert merged(folder) == wanted
    for k in range(N_SHARDS):
        run(folder, "sh", "-c", script("indexed.sh"), JOB_COMPLETION_INDEX=str(k))
    assert merged(folder) == wanted


@pytest.mark.slow
def test_spark_gives_the_digest_of_one_machine(folder: Path) -> None:
    pytest.importorskip("pyspark")
    run(folder, "textassay", "digest", "shards/*.txt", "--out", "wanted.digest", "--quiet")
    (folder / "parts").mkdir()
    (folder / "spark.py").write_text(script("spark.py"))
    run(folder, sys.executable, "spark.py", PYSPARK_PYTHON=sys.executable, SPARK_LOCAL_IP="127.0.0.1")
    assert merged(folder) == (folder / "wanted.digest").read_bytes()
