"""Who has waited longest, among those of whom there are most."""

from collections.abc import Hashable
from typing import Generic, TypeVar

M = TypeVar("M", bound=Hashable)


class Queues(Generic[M]):
    """A queue a key. Whoever has to go is the first of the longest queue, so that nobody pushes out others.

    >>> queues = Queues[int]()
    >>> for number, key in enumerate(["many", "one", "many", "many"]):
    ...     queues.add(number, key)
    >>> queues.pop(), queues.pop(), queues.pop(), queues.pop(), queues.pop()
    (0, 2, 3, 1, None)
    """

    def __init__(self) -> None:
        self._queues: dict[str, dict[M, None]] = {}

    def add(self, member: M, key: str) -> None:
        """Put a member at the end of the queue of its key, where it is not in it yet."""
        self._queues.setdefault(key, {}).setdefault(member)

    def remove(self, member: M, key: str) -> None:
        """Take a member out, wherever it stands; none that is not there."""
        queue = self._queues.get(key, {})
        queue.pop(member, None)
        if not queue:
            self._queues.pop(key, None)

    def pop(self) -> M | None:
        """Take out the first of the longest queue; None where nobody waits."""
        if not self._queues:
            return None
        key = max(self._queues, key=lambda key: len(self._queues[key]))
        member = next(iter(self._queues[key]))
        self.remove(member, key)
        return member
