"""The web server: one process that finishes all requests before it stops."""

import importlib.util
import ipaddress
import os
import signal
import socket
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from functools import partial
from pathlib import Path

from textassay.corpus.printable import shortened
from textassay.errors import InputError, MissingExtra
from textassay.survey.store.salvage import check_sound
from textassay.survey.store.study_store import Store
from textassay.survey.web.connection_limits import Timeouts, connection_limit
from textassay.survey.web.hosts import trusted_proxies

_BACKLOG = 1024
# Connections accepted at once before surplus ones are closed; each needs a file descriptor until then.
_ACCEPTED_AT_ONCE = 16
_TIMEOUTS = Timeouts()


def serve(
    path: Path,
    *,
    host: str = "127.0.0.1",
    port: int = 8000,
    base_url: str | None = None,
    proxies: Sequence[str] = (),
    timeouts: Timeouts = _TIMEOUTS,
    on_ready: Callable[[str], None] | None = None,
) -> None:
    """Serve a study until the process is interrupted or terminated.

    Port 0 uses any free port. `base_url` is the address at which raters open the page, if there is a proxy in front.
    `proxies` are the addresses or networks of trusted proxies, whose X-Forwarded-For headers are used; with a base URL
    the default is this machine. `on_ready` is called with the address of the server. Requests are not logged, because
    their paths contain tokens.

    When it returns, all answers are in the file, and the file can be read. It raises StudyGone if the file was moved or
    replaced, and StudyDamaged if it is damaged.
    """
    _check_installed()
    trusted = trusted_proxies(proxies, base_url)
    with (
        closing(Store.open(path, timeout=timeouts.store)) as store,
        _listeners(host, port) as listeners,
    ):
        ready = partial(on_ready, _address(host, listeners[0])) if on_ready is not None else None
        run = _server(store, host, base_url, trusted, timeouts, ready)
        with _stopped_by_signals():
            run(listeners)
    store.check_identity()
    check_sound(path)


def _check_installed() -> None:
    for package in ("starlette", "uvicorn"):
        if importlib.util.find_spec(package) is None:
            raise MissingExtra(package, "survey")


def _server(
    store: Store,
    host: str,
    base_url: str | None,
    proxies: Sequence[str],
    timeouts: Timeouts,
    ready: Callable[[], None] | None,
) -> Callable[[list[socket.socket]], None]:
    import uvicorn

    from textassay.survey.web.app import make_app
    from textassay.survey.web.http_protocol import connection_class

    config = uvicorn.Config(
        make_app(store, base_url=base_url, hosts=_names(host)),
        http=connection_class(timeouts),
        ws="none",
        loop="asyncio",
        lifespan="off",
        # Clients could fill the log with warnings about invalid requests.
        log_level="error",
        access_log=False,
        server_header=False,
        proxy_headers=bool(proxies),
        forwarded_allow_ips=",".join(proxies),
        limit_concurrency=connection_limit(),
        backlog=_ACCEPTED_AT_ONCE,
        timeout_keep_alive=timeouts.idle,
        timeout_graceful_shutdown=10,
        h11_max_incomplete_event_size=32 * 1024,
    )

    class Server(uvicorn.Server):
        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            """Call `ready` after the signal handlers are installed, so that a signal does not interrupt its output."""
            await super().startup(sockets)
            for listener in sockets or ():
                listener.listen(_BACKLOG)
            if ready is not None:
                ready()

    server = Server(config)
    return lambda sockets: server.run(sockets=sockets)


def _names(host: str) -> list[str]:
    """The bound host, and the names of this machine."""
    return [host, socket.gethostname(), f"{socket.gethostname()}.local"]


@contextmanager
def _listeners(host: str, port: int) -> Iterator[list[socket.socket]]:
    """The listening sockets: one, or two with the same port for `::`, one for IPv6 and one for IPv4.

    A single socket for both would report IPv4 addresses in IPv6 form, in which trusted proxies are not recognized.
    """
    with ExitStack() as opened:
        first = opened.enter_context(closing(_listening(host, port)))
        found = [first]
        if first.family == socket.AF_INET6 and ipaddress.ip_address(first.getsockname()[0]).is_unspecified:
            found.append(opened.enter_context(closing(_listening("0.0.0.0", first.getsockname()[1]))))  # noqa: S104
        yield found


def _listening(host: str, port: int) -> socket.socket:
    where = f"port {port} on {shortened(host, 80)}"
    if not 0 <= port <= 65_535:
        raise InputError(f"port {port}: wanted a number from 0 to 65535")
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        listener = socket.create_server((host, port), family=family, backlog=_BACKLOG)
    except (OSError, UnicodeError) as error:
        raise InputError(
            f"{where}: cannot listen ({_reason(error)}); use --host and --port to choose another"
        ) from None
    # Connections inherit this option. Without it, large pages are delayed by 40 ms (Nagle's algorithm).
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listener


def _reason(error: Exception) -> str:
    """The system's error message, without Python's additions."""
    if isinstance(error, OSError) and error.errno is not None:
        return (str(error.strerror) if isinstance(error, socket.gaierror) else os.strerror(error.errno)).lower()
    return "not a host name"


def _address(host: str, listener: socket.socket) -> str:
    number = listener.getsockname()[1]
    return f"http://[{host}]:{number}" if ":" in host else f"http://{host}:{number}"


@contextmanager
def _stopped_by_signals() -> Iterator[None]:
    """Stop without an exception on SIGINT and SIGTERM, so that the store is closed in either case.

    The server handles both signals to finish its requests, and then raises them again for the previous handlers.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    except KeyboardInterrupt:
        pass
    finally:
        signal.signal(signal.SIGTERM, before)
