"""Process-wide settings of other libraries: changed while work runs, restored afterwards, safe with threads.

Such a setting is shared by all threads of a process. Each one is changed when the first piece of work begins and
restored when the last one ends, so that pieces that overlap see the same value.
"""

import csv
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Lock
from typing import Any

# The csv module refuses fields over 128 KB. Longer texts are allowed, with a bound for a quote that is never closed.
LONGEST_FIELD = 1 << 28


@dataclass(eq=False)
class _Setting:
    """A setting: `change` sets it and returns the function that restores it."""

    change: Callable[[], Callable[[], Any]]
    users: int = 0
    restore: Callable[[], Any] | None = None
    lock: Lock = field(default_factory=Lock)

    @contextmanager
    def held(self) -> Iterator[None]:
        with self.lock:
            if not self.users:
                self.restore = self.change()
            self.users += 1
        try:
            yield
        finally:
            with self.lock:
                self.users -= 1
                if not self.users and self.restore is not None:
                    self.restore()
                    self.restore = None


def _limit_products() -> Callable[[], Any]:
    from threadpoolctl import threadpool_limits

    limits = threadpool_limits(1)
    return limits.restore_original_limits


def _allow_long_fields() -> Callable[[], Any]:
    before = csv.field_size_limit(max(LONGEST_FIELD, csv.field_size_limit()))
    return lambda: csv.field_size_limit(before)


_PRODUCTS = _Setting(_limit_products)
_FIELDS = _Setting(_allow_long_fields)


@contextmanager
def single_threaded_products() -> Iterator[None]:
    """Matrix products on one thread each.

    Threads inside threads wait for each other, and a product that is split differently rounds differently, so that the
    number of threads would change the last digits of a result.
    """
    with _PRODUCTS.held():
        yield


@contextmanager
def long_csv_fields() -> Iterator[None]:
    """Fields of CSV files may be as long as `LONGEST_FIELD`."""
    with _FIELDS.held():
        yield
