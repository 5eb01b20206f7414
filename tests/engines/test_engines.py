"""Engines: names, order of results, and workers that are killed."""

import operator
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.engines.cluster import free_port
from textassay.engines import ray as ray_engine
from textassay.engines.base import get_engine
from textassay.engines.local import LocalEngine, ProcessEngine
from textassay.engines.ray import RayEngine
from textassay.errors import InputError


@pytest.mark.parametrize(
    ("name", "engine"),
    [
        (None, LocalEngine()),
        ("local", LocalEngine()),
        ("local:3", LocalEngine(3)),
        ("processes:2", ProcessEngine(2)),
        ("ray", RayEngine()),
        ("ray:4", RayEngine("", 4)),
        ("auto", RayEngine("auto")),
        ("ray://head:10001", RayEngine("ray://head:10001")),
        ("10.0.0.1:6379", RayEngine("10.0.0.1:6379")),
    ],
)
def test_engines_by_name(name: str | None, engine: object) -> None:
    assert get_engine(name, anywhere=True) == engine


@pytest.mark.parametrize("name", ["dask", "local:", "local:0", "ray:", "processes:-1", "ray://", "a/b:1", "local:1:2"])
def test_other_names_are_refused(name: str) -> None:
    with pytest.raises(InputError, match=r"no engine .*there are: local"):
        get_engine(name, anywhere=True)


def test_work_that_needs_threads_refuses_other_engines() -> None:
    with pytest.raises(InputError, match="engine='processes:2' is for digests; wanted local"):
        get_engine("processes:2")


def test_results_of_processes_are_in_order() -> None:
    assert ProcessEngine(2).map(operator.neg, range(5)) == [0, -1, -2, -3, -4]


def _die_once(file: str) -> int:
    """End the process at the first call for this file."""
    if file and not Path(file).exists():
        Path(file).touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return len(file)


def test_killed_process_changes_nothing(tmp_path: Path) -> None:
    files = [str(tmp_path / "once"), "", ""]
    assert ProcessEngine(2).map(_die_once, files) == [len(file) for file in files]


def _wait(file: str) -> None:
    Path(file).write_text(str(os.getpid()))
    time.sleep(600)


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="processes are looked up in /proc")
def test_processes_end_when_the_one_that_started_them_is_killed(tmp_path: Path) -> None:
    file = tmp_path / "process"
    code = f"""
from tests.engines.test_engines import _wait
from textassay.engines.local import ProcessEngine
if __name__ == "__main__":
    ProcessEngine(1).map(_wait, [{str(file)!r}])
"""
    (tmp_path / "run.py").write_text(code)
    path = os.pathsep.join([str(ROOT), str(ROOT / "src"), os.environ.get("PYTHONPATH", "")])
    run = subprocess.Popen([sys.executable, str(tmp_path / "run.py")], env={**os.environ, "PYTHONPATH": path})
    until(lambda: file.exists() and file.read_text() != "")
    run.kill()
    run.wait()
    until(lambda: not is_running(int(file.read_text())))


def is_running(process: int) -> bool:
    """Whether a process runs; one that has ended may still be listed until it is waited for."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def until(condition: Callable[[], bool], seconds: float = 60) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.05)


def _die(_: int) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def test_work_that_always_ends_its_process_is_given_up() -> None:
    with pytest.raises(InputError, match="3 times a process was killed"):
        ProcessEngine(1).map(_die, [1])


def test_cluster_that_does_not_answer_is_named_with_the_time_waited(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("ray", reason="Ray is not installed")
    monkeypatch.setattr(ray_engine, "SILENT_FOR", 0.1)
    address = f"127.0.0.1:{free_port()}"
    with pytest.raises(InputError, match=rf"{address}: no Ray cluster answers \(waited \d+ s; connection refused\)"):
        get_engine(address, anywhere=True).map(operator.neg, [1])


def test_a_call_that_takes_too_long_does_not_keep_the_program() -> None:
    code = """
import time
from textassay.engines.ray import _ends_within
print(_ends_within(0.1, lambda: time.sleep(600)), _ends_within(60, lambda: None))
"""
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=True)
    assert found.stdout == "False True\n"


def test_messages_of_ray_do_not_show_the_token(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAY_AUTH_TOKEN", "0123456789abcdef")
    assert ray_engine._reason(ValueError("bad token 0123456789abcdef\nmore")) == "bad token [token]"
