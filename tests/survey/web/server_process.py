"""A server in its own process with its own settings, and plain connections to it."""

import json
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

PROGRAM = """
import json, sys
from pathlib import Path
from textassay.survey.web.connection_limits import Timeouts
from textassay.survey.web.server import serve
timeouts, files, options = (json.loads(given) for given in sys.argv[2:])
if files:
    import resource
    resource.setrlimit(resource.RLIMIT_NOFILE, (100, files))
serve(
    Path(sys.argv[1]), port=0, timeouts=Timeouts(**timeouts), on_ready=lambda url: print(url, flush=True), **options
)
print("closed", flush=True)
"""


@contextmanager
def served(
    path: Path, *, timeouts: dict[str, float] | None = None, files: int = 0, **options: Any
) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A process that serves the study, and its host and port. `files` is how many it may ever open, 0 for any."""
    given = [json.dumps(part) for part in (timeouts or {}, files, options)]
    with subprocess.Popen(
        [sys.executable, "-c", PROGRAM, path, *given], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stdout is not None
            assert process.stderr is not None
            address = process.stdout.readline().strip()
            assert address, process.stderr.read()
            yield process, urlsplit(address).netloc
        finally:
            if process.poll() is None:
                process.kill()


def connected(where: str, *, source: str = "127.0.0.1") -> socket.socket:
    """A connection to a server, from this address of the machine."""
    host, _, port = where.rpartition(":")
    return socket.create_connection((host, int(port)), timeout=300, source_address=(source, 0))


def received(connection: socket.socket, *, within: float) -> tuple[bytes, bool]:
    """All that comes in so many seconds, and whether the other side then ended the connection."""
    connection.settimeout(within)
    found = bytearray()
    try:
        while part := connection.recv(65_536):
            found += part
    except TimeoutError:
        return bytes(found), False
    except OSError:
        pass
    return bytes(found), True
