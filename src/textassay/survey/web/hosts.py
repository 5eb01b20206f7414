"""Hosts: which host names and origins are accepted, and which proxies are trusted."""

import ipaddress
import re
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from urllib.parse import urlsplit

from textassay.corpus.printable import shortened
from textassay.errors import InputError

LOOPBACK = ("localhost", "127.0.0.1", "::1")
_DEFAULT_PORTS = {"http": 80, "https": 443}
# A valid Host header: a name or an IP address, and optionally a port. It is used in links.
_HOST = re.compile(r"[a-z0-9._-]+(:[0-9]{1,5})?|\[[0-9a-f:.]+\](:[0-9]{1,5})?", re.IGNORECASE)

# The path of a base URL is used unchanged in links and cookies.
_BASE = re.compile(r"https?://[^/?#\s]+[A-Za-z0-9._~/-]*", re.IGNORECASE)


@dataclass(frozen=True)
class Origins:
    """The host names that are accepted, and the public address of the page.

    `any_address` is True if the page listens on all addresses: any IP address in the Host header is then accepted,
    because DNS rebinding needs a name. `outside` is host and port of the base URL, `prefix` its path.
    """

    names: frozenset[str]
    any_address: bool = False
    base_url: str | None = None
    outside: tuple[str, int] | None = None
    prefix: str = ""

    @classmethod
    def of(cls, hosts: Iterable[str], base_url: str | None) -> "Origins":
        """From the bound hosts and the base URL, which must be an http or https URL."""
        bound = [host.strip("[]").lower() for host in hosts]
        names = frozenset({*LOOPBACK, *bound})
        any_address = any(_is_wildcard(host) for host in bound)
        if base_url is None:
            return cls(names, any_address)
        outside, prefix = _parsed_base(base_url)
        return cls(names | {outside[0]}, any_address, base_url.rstrip("/"), outside, prefix)

    @property
    def is_secure(self) -> bool:
        """Whether raters open the page over https."""
        return urlsplit(self.base_url or "").scheme == "https"

    def knows(self, host: str) -> bool:
        """Whether a Host header is accepted."""
        found = _host_and_port(f"http://{host}") if _HOST.fullmatch(host) else None
        if found is None:
            return False
        return found[0] in self.names or (self.any_address and _is_address(found[0]))

    def is_own(self, origin: str, host: str) -> bool:
        """Whether an origin or address belongs to this page, which was requested as `host`."""
        sender = _host_and_port(origin)
        if sender is None:
            return False
        scheme = urlsplit(origin).scheme
        return sender in (_host_and_port(f"{scheme}://{host}"), self.outside)

    def link(self, scheme: str, host: str, path: str) -> str:
        """The full public address of a page."""
        return f"{self.base_url or f'{scheme}://{host}'}{path}"


def same_site(origins: Origins, headers: dict[str, str]) -> bool:
    """Whether a post came from our own page, according to the browser.

    Our pages send no referrer, so browsers send `null` as their origin. Then only Sec-Fetch-Site and the key in the
    form are checked.
    """
    if headers.get("sec-fetch-site", "same-origin") not in {"same-origin", "none"}:
        return False
    sender = headers.get("origin", "null")
    if sender == "null":
        sender = headers.get("referer", "")
    return not sender or origins.is_own(sender, headers.get("host", ""))


def _parsed_base(base_url: str) -> tuple[tuple[str, int], str]:
    outside = _host_and_port(base_url)
    parts = urlsplit(base_url) if outside else None
    if outside is None or parts is None or not _BASE.fullmatch(base_url):
        seen = shortened(base_url, 80)
        raise InputError(f"--url '{seen}' is not a web address; wanted an address such as https://rate.example.org")
    return outside, parts.path.rstrip("/")


def _host_and_port(url: str) -> tuple[str, int] | None:
    """Host and port of an http or https URL, None for anything else."""
    try:
        parts = urlsplit(url)
        name, port = parts.hostname, parts.port
    except ValueError:
        return None
    if not name or parts.scheme not in _DEFAULT_PORTS or "@" in parts.netloc:
        return None
    ascii_name = _ascii_name(name)
    if ascii_name is None:
        return None
    return ascii_name, _DEFAULT_PORTS[parts.scheme] if port is None else port


def _ascii_name(name: str) -> str | None:
    """A host name as browsers send it: in lower case, international names in Punycode; None if it is not a name.

    >>> _ascii_name("Bücher.example"), _ascii_name("Rate.Example.org")
    ('xn--bcher-kva.example', 'rate.example.org')
    """
    if name.isascii():
        return name.lower()
    try:
        # Installed with the web server. The codec of Python follows an older standard, which differs for a few letters.
        import idna

        return idna.encode(name, uts46=True).decode("ascii")
    except ImportError:
        with suppress(UnicodeError):
            return name.encode("idna").decode("ascii").lower()
    except UnicodeError:
        pass
    return None


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def _is_wildcard(name: str) -> bool:
    return _is_address(name) and ipaddress.ip_address(name).is_unspecified


# The addresses of a proxy on this machine.
_LOCAL_PROXY = ("127.0.0.1", "::1")
_WANTED = "wanted the address or network of a proxy, such as 192.0.2.7 or 10.0.0.0/8"


def trusted_proxies(given: Sequence[str], base_url: str | None) -> list[str]:
    """The addresses and networks of trusted proxies: those given, or this machine if there is a base URL, else none.

    >>> trusted_proxies([], None), trusted_proxies([], "https://rate.example.org")
    ([], ['127.0.0.1', '::1'])
    >>> trusted_proxies(["192.0.2.7", "10.1.2.3/8"], None)
    ['192.0.2.7', '10.0.0.0/8']
    """
    if not given:
        return [] if base_url is None else list(_LOCAL_PROXY)
    return [_network(proxy) for proxy in given]


def _network(given: str) -> str:
    try:
        network = ipaddress.ip_network(given.strip("[]"), strict=False)
    except ValueError:
        raise InputError(f"--proxy '{shortened(given, 80)}' is not an address; {_WANTED}") from None
    if network.prefixlen == 0:
        raise InputError(f"--proxy '{shortened(given, 80)}' includes all addresses; {_WANTED}")
    return str(network.network_address if network.num_addresses == 1 else network)
