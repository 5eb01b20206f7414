"""How many connections a server has room for, and how long it waits for each: all of them share one process."""

from contextlib import suppress
from dataclasses import dataclass

# Browsers hold up to about three connections each for half a minute: enough for a thousand raters at once. Each takes
# one of the files that the process may open.
MOST = 4096
# What the store, its readers in all threads and the rest need beside connections; these must never lack a file.
_KEPT = 256
_FEWEST = 64


@dataclass(frozen=True)
class Patience:
    """How many seconds a server waits for others.

    `request`: for the first byte of a request on a new connection, and from there on for all of it; a phone on a bad
    line takes a few seconds. `reader`: for somebody who does not read what was sent. `idle`: for the next request.
    `store`: for another process that holds the study.
    """

    request: float = 20.0
    reader: float = 60.0
    idle: int = 30
    store: float = 5.0


def room_for_connections(most: int = MOST) -> int:
    """Let this process open as many files as it needs, as far as the system allows it; the connections that then fit.

    Systems begin with as few as 256 files, which a class with its browsers would use up; what is more than fits must
    be turned away while there are files left to save answers with.
    """
    try:
        import resource
    except ImportError:  # a system that does not count files
        return most
    limit, highest = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = most + _KEPT
    if _is_less(limit, wanted, resource.RLIM_INFINITY):
        raised = highest if _is_less(highest, wanted, resource.RLIM_INFINITY) else wanted
        with suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (raised, highest))
            limit = raised
        return max(_FEWEST, min(most, limit - _KEPT))
    return most


def _is_less(limit: int, wanted: int, infinity: int) -> bool:
    return limit != infinity and limit < wanted
