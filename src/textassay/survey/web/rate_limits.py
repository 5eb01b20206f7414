"""How often somebody may ask: token buckets by key, in bounded memory, and the rates of the rating page."""

import hashlib
import ipaddress
import threading
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass

Clock = Callable[[], float]


class Buckets:
    """A bucket a key: `burst` requests at once, then `rate` a second. The least recently used are forgotten."""

    def __init__(self, *, rate: float, burst: float, clock: Clock, most: int = 20_000) -> None:
        self._rate, self._burst, self._clock, self._most = rate, burst, clock, most
        self._levels: OrderedDict[str, tuple[float, float]] = OrderedDict()
        self._lock = threading.Lock()

    def take(self, key: str) -> float:
        """Take one; the seconds to wait where there is none to take, else 0."""
        with self._lock:
            level, now = self._level(key)
            wait = self._wait(level)
            self._levels[key] = (level if wait else level - 1.0, now)
            self._levels.move_to_end(key)
            while len(self._levels) > self._most:
                self._levels.popitem(last=False)
            return wait

    def __len__(self) -> int:
        return len(self._levels)

    def _level(self, key: str) -> tuple[float, float]:
        now = self._clock()
        level, at = self._levels.get(key, (self._burst, now))
        return min(self._burst, level + (now - at) * self._rate), now

    def _wait(self, level: float) -> float:
        return 0.0 if level >= 1.0 else (1.0 - level) / self._rate


@dataclass(frozen=True)
class Limits:
    """All limits of one running page.

    A person makes about two requests a second at most, and a whole class may sit behind one address. Wrong tokens are
    another matter: nobody has thirty of them by accident.
    """

    addresses: Buckets
    tokens: Buckets
    failures: Buckets
    joins: Buckets

    @classmethod
    def standard(cls, clock: Clock) -> "Limits":
        """The limits of a study that is open to the world."""
        return cls(
            addresses=Buckets(rate=800, burst=4_000, clock=clock),
            tokens=Buckets(rate=10, burst=60, clock=clock),
            failures=Buckets(rate=0.2, burst=30, clock=clock),
            joins=Buckets(rate=0.2, burst=300, clock=clock),
        )


def address_key(client: tuple[str, int] | None) -> str:
    """What stands for a client: its address, for IPv6 the network of 64 bits that one customer holds.

    >>> address_key(("2001:db8:1:2:3:4:5:6", 50000))
    '2001:db8:1:2::/64'
    >>> address_key(("192.0.2.7", 50000))
    '192.0.2.7'
    """
    name = client[0] if client else ""
    try:
        address = ipaddress.ip_address(name.partition("%")[0])
    except ValueError:
        return name[:64]
    if isinstance(address, ipaddress.IPv6Address):
        if address.ipv4_mapped is not None:
            return str(address.ipv4_mapped)
        return str(ipaddress.ip_network((address, 64), strict=False))
    return str(address)


def token_key(token: str) -> str:
    """What stands for a token where it must be remembered: never the token itself."""
    return hashlib.sha256(token.encode(errors="replace")).hexdigest()
