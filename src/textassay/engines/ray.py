"""The Ray engine: pieces of work as plain tasks on a cluster, with errors of the cluster in one line.

Nothing but arguments and results goes through Ray; files lie where all nodes see them. A task whose worker was killed
is run again by Ray.
"""

import os
import secrets
import socket
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

from textassay.corpus.printable import shortened
from textassay.errors import InputError, MissingExtra
from textassay.version import __version__

A = TypeVar("A")
B = TypeVar("B")

# Seconds that a cluster may take to answer, and that its head may be silent while work runs.
ANSWER_WITHIN, SILENT_FOR = 30, 10
# A piece that ends its worker this many times is given up.
_MOST_RETRIES = 3
# Pieces that wait in the cluster, per processor.
_WAITING = 4
_QUIET = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
    "RAY_IGNORE_UNHANDLED_ERRORS": "1",
}
# The address of a cluster of one process alone is not enough: Ray replaces it by that of a network card, and listens
# there, unless clusters of several machines are off when Ray is imported.
_LOOPBACK, _ALONE = "127.0.0.1", "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"
_TOKEN, _MODE = "RAY_AUTH_TOKEN", "RAY_AUTH_MODE"
_KEPT = "what is finished is kept: run again"


@dataclass(frozen=True)
class RayEngine:
    """A Ray cluster: `""` starts one on this machine with so many workers, "auto" is the one that runs.

    The token of the cluster is read by Ray from `RAY_AUTH_TOKEN` or its file; it is in no message.
    """

    address: str = ""
    workers: int = 0

    def map(self, work: Callable[[A], B], pieces: Iterable[A], /) -> list[B]:
        """The results for all pieces; after a failure no further piece is started."""
        tasks = list(pieces)
        ray = _ray_module(is_alone=not self.address)
        head = self._connect(ray)
        with _failures_named(ray, head):
            _check_nodes(ray)
            at_once = _WAITING * max(1, int(ray.cluster_resources().get("CPU", 1)))
            run = ray.remote(max_retries=_MOST_RETRIES, retry_exceptions=False)(_run)
            found: dict[int, B] = {}
            running: dict[Any, int] = {}
            waiting = iter(enumerate(tasks))
            while len(found) < len(tasks):
                for number, piece in waiting:
                    running[run.remote(work, piece, __version__)] = number
                    if len(running) >= at_once:
                        break
                done, _ = ray.wait(list(running), num_returns=1, timeout=SILENT_FOR / 5)
                if not done:
                    _check_head(head)
                for each in done:
                    found[running.pop(each)] = ray.get(each)
        return [found[number] for number in range(len(tasks))]

    def _connect(self, ray: Any) -> str:
        """Connect this process, unless it is connected already; the address of the head, empty for a local cluster."""
        address = os.environ.get("RAY_ADDRESS", "auto") if self.address == "auto" else self.address
        if address == "auto":
            address = _address_of_running(ray)
        if address:
            _check_answers(address)
        if not ray.is_initialized():
            _started(ray, address, self.workers)
        return address


def _run(work: Callable[[A], B], piece: A, version: str) -> B:
    from textassay.corpus.process_settings import single_threaded_products

    if version != __version__:
        # A node that joined after the others had been asked.
        raise InputError(f"worker node {socket.gethostname()}: has textassay {__version__}; wanted {version}")
    with single_threaded_products():
        return work(piece)


def _ray_module(*, is_alone: bool) -> Any:
    # Nothing is sent about the use of Ray, and Ray warns about nothing that this program decides.
    for name, value in {**_QUIET, **(_of_own_cluster() if is_alone else {})}.items():
        os.environ.setdefault(name, value)
    try:
        import ray
    except ModuleNotFoundError:
        raise MissingExtra("ray", "ray") from None
    return ray


def _of_own_cluster() -> dict[str, str]:
    """The variables of a cluster of one process: no other machine reaches it, and no other user has its token."""
    has_token = {_TOKEN, f"{_TOKEN}_PATH", _MODE} & set(os.environ)
    # Without a token in the environment, Ray writes one to a file that others may read.
    return {_ALONE: "0"} | ({} if has_token else {_MODE: "token", _TOKEN: secrets.token_hex(32)})


def _address_of_running(ray: Any) -> str:
    """The address of the cluster that runs on this machine."""
    try:
        found = ray._private.services.canonicalize_bootstrap_address("auto")
    except Exception:
        found = None
    if not found:
        raise InputError(
            "no Ray cluster runs on this machine and RAY_ADDRESS is not set; wanted `ray start --head`, "
            "or the engine HOST:PORT"
        )
    return str(found)


def _started(ray: Any, address: str, workers: int) -> None:
    """Connect to a cluster within a limit of time, or start one on this machine."""
    import logging

    options: dict[str, Any] = {"logging_level": logging.ERROR, "log_to_driver": False}
    if not address:
        # The cluster of one process listens on this machine only. The processes of a cluster end with the thread that
        # started it, so this must not run in a thread that ends.
        options |= {"num_cpus": workers or os.cpu_count(), "include_dashboard": False, "_node_ip_address": _LOOPBACK}
        ray.init(address="local", **options)
        return
    host = address.rpartition(":")[0]
    if host.startswith("127."):
        options["_node_ip_address"] = host
    try:
        has_ended = _ends_within(2 * ANSWER_WITHIN, partial(ray.init, address=address, **options))
    except Exception as error:
        raise InputError(f"{address}: {_reason(error)}") from None
    if not has_ended:
        raise InputError(f"{address}: the Ray cluster does not answer (waited {2 * ANSWER_WITHIN} s)")


def _ends_within(seconds: float, call: Callable[[], object]) -> bool:
    """Whether a call ends in this time; what it raises is raised. The program ends without waiting for it."""
    failed: list[Exception] = []

    def run() -> None:
        try:
            call()
        except Exception as error:
            failed.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(seconds)
    for error in failed:
        raise error
    return not thread.is_alive()


def _check_answers(address: str) -> None:
    """An error if nothing listens at this address within the limit of time."""
    begun, problem = time.monotonic(), ""
    while time.monotonic() - begun < ANSWER_WITHIN:
        problem = _connection_problem(address, ANSWER_WITHIN)
        if not problem:
            return
        if "refused" not in problem or time.monotonic() - begun > SILENT_FOR:
            break
        time.sleep(1)
    raise InputError(f"{address}: no Ray cluster answers (waited {time.monotonic() - begun:.0f} s; {problem})")


def _check_head(address: str) -> None:
    """An error if the head of the cluster that work runs on no longer listens."""
    begun, problem = time.monotonic(), ""
    while address and time.monotonic() - begun < SILENT_FOR:
        problem = _connection_problem(address, SILENT_FOR)
        if not problem:
            return
        time.sleep(1)
    if problem:
        raise InputError(f"{address}: the head node of the Ray cluster is lost ({problem}); {_KEPT}")


def _connection_problem(address: str, seconds: float) -> str:
    host, _, port = address.removeprefix("ray://").rpartition(":")
    try:
        socket.create_connection((host.strip("[]"), int(port)), timeout=seconds).close()
    except (OSError, ValueError) as error:
        return (getattr(error, "strerror", None) or str(error)).lower()
    return ""


def _check_nodes(ray: Any) -> None:
    """An error if a node of the cluster has no textassay, or another version than this process."""
    import platform
    from inspect import getsource

    from ray.exceptions import NodeDiedError, TaskUnschedulableError, WorkerCrashedError
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    # Sent as source: a function of this package could not be loaded where the package is missing.
    space: dict[str, Any] = {}
    exec(getsource(_installed), space)  # noqa: S102 (this module's own source)
    about = ray.remote(num_cpus=0, max_retries=1)(space["_installed"])
    nodes = [node for node in ray.nodes() if node["Alive"]]
    asked = [
        about.options(scheduling_strategy=NodeAffinitySchedulingStrategy(node["NodeID"], soft=False)).remote()
        for node in nodes
    ]
    wanted = (__version__, platform.python_version().rpartition(".")[0])
    for node, each in zip(nodes, asked, strict=True):
        try:
            version, python = ray.get(each, timeout=4 * ANSWER_WITHIN)
        except (TaskUnschedulableError, WorkerCrashedError, NodeDiedError):
            # The node has ended since it was listed, and gets no work.
            continue
        where = f"worker node {node['NodeManagerAddress']}"
        if not version:
            raise InputError(f"{where}: textassay is not installed; wanted textassay {wanted[0]}, as on this machine")
        if version != wanted[0]:
            raise InputError(f"{where}: has textassay {version}; wanted {wanted[0]}, as on this machine")
        if python != wanted[1]:
            raise InputError(f"{where}: runs Python {python}; wanted {wanted[1]}, as on this machine")


def _installed():  # type: ignore[no-untyped-def]
    import platform

    try:
        from textassay.version import __version__ as version
    except ImportError:
        version = ""
    return version, platform.python_version().rpartition(".")[0]


@contextmanager
def _failures_named(ray: Any, head: str) -> Iterator[None]:
    """Turn what Ray raises into one line; errors of the work itself pass as they are."""
    try:
        yield
    except ray.exceptions.RayTaskError as error:
        cause = error.cause
        if isinstance(cause, InputError):
            raise InputError(str(cause)) from None
        if isinstance(cause, ray.exceptions.RayError | ImportError):
            raise InputError(f"a worker cannot run textassay: {_reason(cause)}") from None
        raise
    except (ray.exceptions.WorkerCrashedError, ray.exceptions.NodeDiedError, ray.exceptions.OutOfMemoryError) as error:
        raise InputError(f"a worker was lost {_MOST_RETRIES + 1} times ({_reason(error)}); {_KEPT}") from None
    except (ray.exceptions.RayError, ConnectionError) as error:
        if head and _connection_problem(head, SILENT_FOR):
            raise InputError(f"{head}: the head node of the Ray cluster is lost; {_KEPT}") from None
        raise InputError(f"Ray: {_reason(error)}; {_KEPT}") from None


def _reason(error: BaseException) -> str:
    """The first line of an error without the token of the cluster."""
    line = next((line.strip() for line in str(error).splitlines() if line.strip()), type(error).__name__)
    token = os.environ.get(_TOKEN)
    return shortened(line.replace(token, "[token]") if token else line, 200)
