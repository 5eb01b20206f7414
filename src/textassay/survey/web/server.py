"""The server: one process, stopped without cutting anybody off."""

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
from textassay.survey.store.study_store import Store
from textassay.survey.web.hosts import trusted_proxies
from textassay.survey.web.http_protocol import Patience, room_for_connections

_BACKLOG = 1024
# So many connections are taken before others are ended for them: they need files for as long.
_AT_ONCE = 16
_PATIENCE = Patience()


def serve(
    path: Path,
    *,
    host: str = "127.0.0.1",
    port: int = 8000,
    base_url: str | None = None,
    proxies: Sequence[str] = (),
    patience: Patience = _PATIENCE,
    on_ready: Callable[[str], None] | None = None,
) -> None:
    """Serve a study until the process is told to stop.

    Port 0 takes any free one. `base_url` is the address by which raters know the page, where a proxy stands before it;
    `proxies` are the addresses or networks of such proxies, which alone are believed when they say who asks, and are
    this machine where there is only a base URL. `on_ready` gets the address at which connections are taken. Requests
    are not logged: the tokens that open pages stand in their paths.

    Once it is told to stop, all answers are in the file; StudyGone where the file was not in its place then.
    """
    _check_installed()
    trusted = trusted_proxies(proxies, base_url)
    with (
        closing(Store.open(path, patience=patience.store)) as store,
        _listeners(host, port) as listeners,
    ):
        ready = partial(on_ready, _address(host, listeners[0])) if on_ready is not None else None
        run = _server(store, host, base_url, trusted, patience, ready)
        with _stopped_by_signals():
            run(listeners)
    store.check_in_place()


def _check_installed() -> None:
    for package in ("starlette", "uvicorn"):
        if importlib.util.find_spec(package) is None:
            raise MissingExtra(package, "survey")


def _server(
    store: Store,
    host: str,
    base_url: str | None,
    proxies: Sequence[str],
    patience: Patience,
    ready: Callable[[], None] | None,
) -> Callable[[list[socket.socket]], None]:
    import uvicorn

    from textassay.survey.web.app import make_app
    from textassay.survey.web.http_protocol import incoming

    config = uvicorn.Config(
        make_app(store, base_url=base_url, hosts=_names(host)),
        http=incoming(patience),
        ws="none",
        loop="asyncio",
        lifespan="off",
        # Everybody can make the server warn, of requests that are none, as often as they like.
        log_level="error",
        access_log=False,
        server_header=False,
        proxy_headers=bool(proxies),
        forwarded_allow_ips=",".join(proxies),
        limit_concurrency=room_for_connections(),
        backlog=_AT_ONCE,
        timeout_keep_alive=patience.idle,
        timeout_graceful_shutdown=10,
        h11_max_incomplete_event_size=32 * 1024,
    )

    class Server(uvicorn.Server):
        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            """Say that all is ready when it is, and when signals no longer cut such words in two."""
            await super().startup(sockets)
            for listener in sockets or ():
                listener.listen(_BACKLOG)
            if ready is not None:
                ready()

    server = Server(config)
    return lambda sockets: server.run(sockets=sockets)


def _names(host: str) -> list[str]:
    """The bound host, and the names that this machine calls itself."""
    return [host, socket.gethostname(), f"{socket.gethostname()}.local"]


@contextmanager
def _listeners(host: str, port: int) -> Iterator[list[socket.socket]]:
    """The sockets to listen on: one, and two of one port for `::`, which by itself leaves out IPv4.

    One socket for both would give the addresses of IPv4 in another form, in which no proxy would be known again.
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
        raise InputError(f"{where}: cannot listen there ({_reason(error)}); choose with --host and --port") from None
    # Connections inherit it. Without, the second half of a page waits for the browser to confirm the first: 40 ms.
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listener


def _reason(error: Exception) -> str:
    """Why not, in the system's words, without what Python puts around them."""
    if isinstance(error, OSError) and error.errno is not None:
        return (str(error.strerror) if isinstance(error, socket.gaierror) else os.strerror(error.errno)).lower()
    return "no name of a machine"


def _address(host: str, listener: socket.socket) -> str:
    number = listener.getsockname()[1]
    return f"http://[{host}]:{number}" if ":" in host else f"http://{host}:{number}"


@contextmanager
def _stopped_by_signals() -> Iterator[None]:
    """End quietly on an interrupt or a request to terminate, so that the store is closed in either case.

    The server takes both signals to finish what it is doing, and then sends them on to whoever was there before.
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
