"""What an engine is, and engines by name."""

from collections.abc import Callable, Iterable
from typing import Protocol, TypeVar

from textassay.errors import InputError, Setting

A = TypeVar("A")
B = TypeVar("B")


class Engine(Protocol):
    """Runs independent pieces of work; results are in the order of the pieces.

    Engines other than threads run the work in other processes: work and pieces are sent there, and so are the results,
    which should stay below 5 MB each. A piece may run twice, so it must not change anything but files of its own.
    """

    def map(self, work: Callable[[A], B], pieces: Iterable[A], /) -> list[B]:
        """The results for all pieces."""
        ...


_MOST_WORKERS = 1024
_KINDS = ("local", "processes", "ray")
NAMES = "local, local:N (N threads), processes, processes:N, ray, ray:N (N workers), auto, ray://HOST:PORT, HOST:PORT"


def get_engine(engine: str | Engine | None, *, anywhere: bool = False) -> Engine:
    """An engine by name; an engine is returned as it is.

    Parameters
    ----------
    engine
        `local` or `local:2` (threads), `processes:2` (processes of this machine), `ray:2` (a Ray cluster that is
        started on this machine), `auto` (the running Ray cluster of this machine or of `RAY_ADDRESS`), `HOST:PORT` (a
        Ray cluster by its address) or `ray://HOST:PORT` (through the server for Ray clients).
    anywhere
        Whether the work can run in other processes. If not, only threads are accepted.

    Returns
    -------
    Engine
        An engine.

    Examples
    --------
    >>> get_engine("local:2")
    LocalEngine(workers=2)
    """
    from textassay.engines.local import LocalEngine, ProcessEngine

    if not (engine is None or isinstance(engine, str)):
        if callable(getattr(engine, "map", None)):
            return engine
        raise _no_engine(engine)
    kind, separator, rest = (engine or "local").partition(":")
    workers = int(rest) if rest.isdecimal() and 0 < int(rest) <= _MOST_WORKERS else 0
    if kind in _KINDS and bool(separator) == bool(workers):
        if kind == "local":
            return LocalEngine(workers)
        found = ProcessEngine(workers) if kind == "processes" else _ray("", workers)
    elif _is_address(engine or ""):
        found = _ray(engine or "", 0)
    else:
        raise _no_engine(engine)
    if not anywhere:
        raise InputError(Setting("engine", engine), " is for digests; wanted local or local:N (N threads) here")
    return found


def _is_address(engine: str) -> bool:
    host, _, port = engine.removeprefix("ray://").rpartition(":")
    is_host = bool(host) and port.isdecimal() and host.partition(":")[0] not in _KINDS and not set(host) & set("/ @")
    return engine == "auto" or is_host


def _ray(address: str, workers: int) -> Engine:
    from textassay.engines.ray import RayEngine

    return RayEngine(address, workers)


def _no_engine(engine: object) -> InputError:
    return InputError(f"no engine {engine!r:.60}; there are: {NAMES}")
