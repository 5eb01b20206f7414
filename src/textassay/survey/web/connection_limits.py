"""Limits on connections: their number, and how long the server waits for them."""

from contextlib import suppress
from dataclasses import dataclass

# Browsers hold up to about three connections each for half a minute: enough for a thousand raters at once. Each
# connection needs one file descriptor.
MAX_CONNECTIONS = 4096
# File descriptors reserved for the store, its readers in all threads and everything else.
_RESERVED_FILES = 256
_MIN_CONNECTIONS = 64


@dataclass(frozen=True)
class Timeouts:
    """Time limits in seconds.

    `request`: for the first byte of a request on a new connection, and then for the rest of it; a phone with a bad
    connection takes a few seconds. `reader`: for a client that does not read what was sent. `idle`: for the next
    request. `store`: for a study that another process has locked.
    """

    request: float = 20.0
    reader: float = 60.0
    idle: int = 30
    store: float = 5.0


def connection_limit(most: int = MAX_CONNECTIONS) -> int:
    """Raise the limit on open files as far as needed and allowed; the number of connections that are then possible.

    Some systems start with a limit of 256 files, which the browsers of one school class can use up. Further connections
    must be refused while files are left for saving answers.
    """
    try:
        import resource
    except ImportError:  # a system without such limits
        return most
    limit, highest = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = most + _RESERVED_FILES
    if _is_less(limit, wanted, resource.RLIM_INFINITY):
        raised = highest if _is_less(highest, wanted, resource.RLIM_INFINITY) else wanted
        with suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (raised, highest))
            limit = raised
        return max(_MIN_CONNECTIONS, min(most, limit - _RESERVED_FILES))
    return most


def _is_less(limit: int, wanted: int, infinity: int) -> bool:
    return limit != infinity and limit < wanted
