"""A real Ray cluster: a head and a second node as separate processes, with a token, and what goes wrong with it."""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.engines.cluster import Cluster, cluster, descendants
from tests.laws import corpus
from textassay.version import __version__

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def two_nodes() -> Iterator[Cluster]:
    with cluster(2, 2) as made:
        yield made


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Shards of two corpora, large enough that their n-grams come in parts."""
    for seed, name in enumerate(("real", "a")):
        (tmp_path / name).mkdir()
        texts = [" ".join(pair) for pair in zip(corpus(seed, 60_000), corpus(seed + 7, 60_000), strict=True)]
        for k in range(6):
            (tmp_path / name / f"{k}.txt").write_text("\n".join(texts[k::6]))
    return tmp_path


def textassay(at: Cluster | None, folder: Path, *arguments: str) -> "subprocess.CompletedProcess[str]":
    environment = dict(os.environ) if at is None else at.environment
    command = [sys.executable, "-m", "textassay", *arguments]
    return subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=500, check=False
    )


def compared(at: Cluster | None, folder: Path, engine: str) -> tuple[bytes, bytes, str]:
    """The bytes of a digest and the JSON of a comparison that an engine made."""
    for name in ("real", "a"):
        found = textassay(at, folder, "digest", f"{name}/*.txt", "--out", f"{name}.digest", "--engine", engine)
        assert found.returncode == 0, found.stderr
        assert "RAY_AUTH_TOKEN" not in found.stderr
    arguments = ["compare", "real.digest", "a.digest", "-m", "cnd,distinct,ms_jaccard", "--resamples", "99"]
    found = textassay(at, folder, *arguments, "--json", "-", "--no-timings", "--quiet", "--engine", engine)
    assert found.returncode in (0, 1), found.stderr
    return (folder / "real.digest").read_bytes(), (folder / "a.digest").read_bytes(), found.stdout


def test_threads_and_one_two_and_four_workers_of_ray_give_the_same_json(two_nodes: Cluster, folder: Path) -> None:
    wanted = compared(None, folder, "local:1")
    assert compared(two_nodes, folder, "auto") == wanted
    for engine in ("local:2", "ray:1", "ray:2"):
        assert compared(None, folder, engine) == wanted, engine


def started(at: Cluster, folder: Path) -> "subprocess.Popen[str]":
    command = [sys.executable, "-m", "textassay", "digest", "real/*.txt", "--out", "real.digest", "--engine", "auto"]
    return subprocess.Popen(
        command, cwd=folder, env=at.environment, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True
    )


def workers_at_work(at: Cluster) -> list[int]:
    """The processes of the cluster that run a task of the engine."""
    found = []
    for node in at.nodes:
        for process in descendants(node.pid):
            try:
                title = Path(f"/proc/{process}/cmdline").read_bytes()
            except OSError:
                continue
            if title.startswith(b"ray::_run"):
                found.append(process)
    return found


def wait_for_work(at: Cluster, run: "subprocess.Popen[str]") -> list[int]:
    for _ in range(1200):
        found = workers_at_work(at)
        if found or run.poll() is not None:
            return found
        time.sleep(0.05)
    return []


def test_killed_worker_changes_nothing(two_nodes: Cluster, folder: Path) -> None:
    run = started(two_nodes, folder)
    at_work = wait_for_work(two_nodes, run)
    assert at_work
    os.kill(at_work[0], signal.SIGKILL)
    _, errors = run.communicate(timeout=400)
    assert run.returncode == 0, errors
    found = (folder / "real.digest").read_bytes()
    assert textassay(None, folder, "digest", "real/*.txt", "--out", "real.digest").returncode == 0
    assert found == (folder / "real.digest").read_bytes()


def test_lost_head_is_one_line_and_the_run_goes_on_elsewhere(folder: Path) -> None:
    with cluster(1, 1) as made:
        run = started(made, folder)
        assert wait_for_work(made, run)
        made.end(made.nodes[0])
        _, errors = run.communicate(timeout=200)
        assert run.returncode == 2, errors
        lines = [line for line in errors.splitlines() if line.startswith("textassay:") or "lost" in line]
        assert len(lines) == 1, errors
        assert "head node of the Ray cluster is lost" in lines[0]
        assert "what is finished is kept: run again" in lines[0]
        assert not (folder / "real.digest").exists()
        assert (folder / "real.digest.parts").is_dir()
    assert textassay(None, folder, "digest", "real/*.txt", "--out", "real.digest").returncode == 0
    assert not (folder / "real.digest.parts").exists()


def test_worker_with_another_version_or_without_the_package_is_refused(folder: Path, tmp_path: Path) -> None:
    fake = tmp_path / "other" / "textassay"
    fake.mkdir(parents=True)
    (fake / "__init__.py").touch()
    (fake / "version.py").write_text('__version__ = "0.0.1"\n')
    with cluster(1) as made:
        node = made.add_node(f"--address={made.address}", "--num-cpus=1", PYTHONPATH=str(fake.parent))
        made.wait_for_nodes()
        found = textassay(made, folder, "digest", "real/*.txt", "--out", "real.digest", "--engine", made.address)
        assert found.returncode == 2
        assert found.stderr.count("\n") == 1, found.stderr
        assert f"has textassay 0.0.1; wanted {__version__}" in found.stderr
        made.end(node)
        (fake / "version.py").write_text("raise ModuleNotFoundError\n")
        made.add_node(f"--address={made.address}", "--num-cpus=1", PYTHONPATH=str(fake.parent))
        made.wait_for_nodes()
        found = textassay(made, folder, "digest", "real/*.txt", "--out", "real.digest", "--engine", made.address)
        assert "textassay is not installed; wanted textassay" in found.stderr


_LISTENING = """
import operator, os
from pathlib import Path
from tests.engines.cluster import descendants
from textassay.engines.ray import RayEngine

assert RayEngine("", 1).map(operator.neg, [1, 2]) == [-1, -2]
opened = set()
for process in (os.getpid(), *descendants(os.getpid())):
    for file in Path(f"/proc/{process}/fd").iterdir():
        try:
            opened.add(os.readlink(file))
        except OSError:
            continue
for name in ("tcp", "tcp6"):
    for line in Path(f"/proc/net/{name}").read_text().splitlines()[1:]:
        fields = line.split()
        if fields[3] == "0A" and f"socket:[{fields[9]}]" in opened:
            print(fields[1].partition(":")[0][-8:])
"""


def test_cluster_of_one_process_listens_on_this_machine_only_and_writes_no_token(tmp_path: Path) -> None:
    pytest.importorskip("ray", reason="Ray is not installed")
    path = os.pathsep.join([str(ROOT), str(ROOT / "src"), os.environ.get("PYTHONPATH", "")])
    environment = {**os.environ, "HOME": str(tmp_path), "PYTHONPATH": path}
    found = subprocess.run(
        [sys.executable, "-c", _LISTENING], env=environment, capture_output=True, text=True, timeout=200, check=True
    )
    # 127.0.0.1, in the order of the bytes of the machine.
    assert set(found.stdout.split()) == {socket.inet_aton("127.0.0.1")[::-1].hex().upper()}
    assert not list(tmp_path.rglob("auth_token"))


def test_wrong_token_is_one_line_without_the_token(folder: Path) -> None:
    with cluster(1) as made:
        made.environment["RAY_AUTH_TOKEN"] = "0" * 32
        found = textassay(made, folder, "digest", "real/*.txt", "--out", "real.digest", "--engine", "auto")
        assert found.returncode == 2
        assert "0" * 32 not in found.stderr
