"""A Ray cluster of several nodes on this machine: each node a process of its own, ended by its process id."""

import os
import secrets
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import pytest

# Ray replaces 127.0.0.1 in the address of a head by that of a network card, where the head does not listen.
_HOST = "127.0.0.2"
_START_WITHIN = 60
_WAIT = f"""
import ray, sys, time
ray.init(address="auto", _node_ip_address="{_HOST}", log_to_driver=False)
for _ in range(600):
    if sum(node["Alive"] for node in ray.nodes()) == int(sys.argv[1]):
        sys.exit()
    time.sleep(0.2)
sys.exit("the nodes did not join")
"""


def free_port() -> int:
    with socket.socket() as found:
        found.bind((_HOST, 0))
        return int(found.getsockname()[1])


@dataclass
class Cluster:
    """The address of a cluster, the environment of its processes, and the process group of each node."""

    address: str
    environment: dict[str, str]
    nodes: list[subprocess.Popen[bytes]] = field(default_factory=list)

    def add_node(self, *options: str, **environment: str) -> subprocess.Popen[bytes]:
        """Start a node in a process group of its own."""
        command = [sys.executable, "-m", "ray.scripts.scripts", "start", "--block", f"--node-ip-address={_HOST}"]
        node = subprocess.Popen(
            [*command, "--disable-usage-stats", *options],
            env={**self.environment, **environment},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        self.nodes.append(node)
        return node

    def wait_for_nodes(self) -> None:
        """Return when all nodes have joined."""
        found = self.run("-c", _WAIT, str(len(self.nodes)))
        assert found.returncode == 0, found.stderr

    def end(self, node: subprocess.Popen[bytes]) -> None:
        """End a node with all its processes."""
        if node.poll() is None:
            for process in (*descendants(node.pid), node.pid):
                try:
                    os.kill(process, signal.SIGKILL)
                except ProcessLookupError:
                    continue
        node.wait(30)
        self.nodes.remove(node)

    def run(self, *arguments: str, **options: object) -> "subprocess.CompletedProcess[str]":
        """Run a Python program that may connect to the cluster."""
        command = [sys.executable, *arguments]
        return subprocess.run(  # type: ignore[call-overload]
            command, env=self.environment, capture_output=True, text=True, timeout=240, check=False, **options
        )


def descendants(process: int) -> list[int]:
    """The processes below a process, the deepest first."""
    found: list[int] = []
    try:
        with open(f"/proc/{process}/task/{process}/children") as file:
            children = [int(child) for child in file.read().split()]
    except OSError:
        return []
    for child in children:
        found += [*descendants(child), child]
    return found


@contextmanager
def cluster(*cpus: int) -> Iterator[Cluster]:
    """A cluster with a node for each of these numbers of processors, the first one with the head."""
    pytest.importorskip("ray", reason="Ray is not installed")
    port = free_port()
    environment = {
        **os.environ,
        "RAY_AUTH_MODE": "token",
        "RAY_AUTH_TOKEN": secrets.token_hex(16),
        "RAY_ADDRESS": f"{_HOST}:{port}",
    }
    made = Cluster(f"{_HOST}:{port}", environment)
    try:
        made.add_node("--head", f"--port={port}", "--include-dashboard=false", f"--num-cpus={cpus[0]}")
        _wait_for(port)
        for number in cpus[1:]:
            made.add_node(f"--address={made.address}", f"--num-cpus={number}")
        made.wait_for_nodes()
        yield made
    finally:
        for node in list(made.nodes):
            made.end(node)


def _wait_for(port: int) -> None:
    for _ in range(_START_WITHIN * 5):
        try:
            socket.create_connection((_HOST, port), timeout=1).close()
        except OSError:
            time.sleep(0.2)
        else:
            return
    raise TimeoutError("the head node did not start")
