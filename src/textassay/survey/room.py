"""How many connections a server has room for: a browser holds several, and each takes one of the process's files."""

from contextlib import suppress

# Browsers hold up to about three connections each for half a minute: enough for a thousand raters at once.
MOST = 4096
# What the store, its readers in all threads and the rest need beside connections; these must never lack a file.
_KEPT = 256
_FEWEST = 64


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
