"""Rate limits: token buckets by key in bounded memory, and the rates of the rating page."""

import hashlib
import ipaddress
import threading
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass

Clock = Callable[[], float]


class Buckets:
    """One token bucket per key: `burst` requests at once, then `rate` per second. Old buckets are dropped."""

    def __init__(self, *, rate: float, burst: float, clock: Clock, most: int = 20_000) -> None:
        self._rate, self._burst, self._clock, self._most = rate, burst, clock, most
        self._levels: OrderedDict[str, tuple[float, float]] = OrderedDict()
        self._lock = threading.Lock()

    def take(self, key: str) -> float:
        """Take one token; the seconds to wait if there is none, else 0."""
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


class OpenPlaces:
    """At most `most` open places per key: raters who joined and have not answered yet. Old keys are dropped.

    Only digests are kept, in memory: the file of a study has no addresses.
    """

    def __init__(self, *, most: int, most_keys: int = 20_000) -> None:
        self._most, self._most_keys = most, most_keys
        self._places: OrderedDict[str, list[bytes]] = OrderedDict()
        self._lock = threading.Lock()

    def has_room(self, key: str, is_open: Callable[[bytes], bool]) -> bool:
        """Whether a key may have another place. `is_open` is called for all of its places if there are too many."""
        with self._lock:
            places = self._places.get(key, [])
        if len(places) < self._most:
            return True
        still = [place for place in places if is_open(place)]
        with self._lock:
            closed = set(places) - set(still)
            self._places[key] = [place for place in self._places.get(key, []) if place not in closed]
            return len(self._places[key]) < self._most

    def add(self, key: str, place: bytes) -> None:
        """Count a place for a key."""
        with self._lock:
            self._places.setdefault(key, []).append(place)
            self._places.move_to_end(key)
            while len(self._places) > self._most_keys:
                self._places.popitem(last=False)


@dataclass(frozen=True)
class Limits:
    """All rate limits of a running page.

    A person makes at most about two requests per second, and a school class may share one address. The limit on wrong
    tokens is much lower: nobody tries thirty of them by accident.
    """

    addresses: Buckets
    tokens: Buckets
    failures: Buckets
    joins: Buckets
    places: OpenPlaces

    @classmethod
    def standard(cls, clock: Clock) -> "Limits":
        """The limits of a study on the public internet."""
        return cls(
            addresses=Buckets(rate=800, burst=4_000, clock=clock),
            tokens=Buckets(rate=10, burst=60, clock=clock),
            failures=Buckets(rate=0.2, burst=30, clock=clock),
            joins=Buckets(rate=0.2, burst=300, clock=clock),
            # A quarter of the raters that a shared link may add.
            places=OpenPlaces(most=250),
        )


def address_key(client: tuple[str, int] | None) -> str:
    """The key of a client: its address; for IPv6 its /64 network, which belongs to one customer.

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
    """The key of a token: a hash, so that tokens are not kept in memory."""
    return hashlib.sha256(token.encode(errors="replace")).hexdigest()
