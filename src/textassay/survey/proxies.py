"""Which proxies are believed when they say for whom they ask."""

import ipaddress
from collections.abc import Sequence

from textassay.corpus.errors import InputError
from textassay.corpus.printable import shortened

# A proxy on this machine.
_NEAR = ("127.0.0.1", "::1")
_WANTED = "wanted the address or network of a proxy, such as 192.0.2.7 or 10.0.0.0/8"


def trusted_proxies(given: Sequence[str], base_url: str | None) -> list[str]:
    """Addresses and networks, as they were given; where there is only a base URL, this machine; else nobody.

    >>> trusted_proxies([], None), trusted_proxies([], "https://rate.example.org")
    ([], ['127.0.0.1', '::1'])
    >>> trusted_proxies(["192.0.2.7", "10.1.2.3/8"], None)
    ['192.0.2.7', '10.0.0.0/8']
    """
    if not given:
        return [] if base_url is None else list(_NEAR)
    return [_network(proxy) for proxy in given]


def _network(given: str) -> str:
    try:
        network = ipaddress.ip_network(given.strip("[]"), strict=False)
    except ValueError:
        raise InputError(f"{_named(given)} is no address; {_WANTED}") from None
    if network.prefixlen == 0:
        raise InputError(f"{_named(given)} is everybody; {_WANTED}")
    return str(network.network_address if network.num_addresses == 1 else network)


def _named(given: str) -> str:
    return f"--proxy: '{shortened(given, 80)}'"
