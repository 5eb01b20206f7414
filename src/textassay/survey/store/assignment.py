"""Assignment of items to raters: fewest ratings first, sources in balance, in an order that raters cannot predict.

All randomness is derived from the study's secret, the rater and the place of the task, so that no state is stored.
"""

import math
import sqlite3
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice

from textassay.survey.model import Study
from textassay.survey.tokens import draw

# The number of items that are searched for one with a context new to the rater.
_MOST_SEARCHED = 64
# Sources are balanced within blocks of this many items of a rater.
_BLOCK = 8
_ABOVE_ALL = 2**63 - 1


@dataclass(frozen=True)
class Plan:
    """The facts about a study that assignment needs: items per source, attention checks, and numbers per rater."""

    secret: bytes
    wanted: int
    sources: Mapping[str, int]
    checks: tuple[int, ...]
    ratings_per_rater: int
    checks_per_rater: int

    @property
    def total(self) -> int:
        """The number of tasks per rater, if the study still needs that many."""
        return self.ratings_per_rater + self.checks_per_rater

    @property
    def items(self) -> int:
        """The number of items to rate, without attention checks."""
        return sum(self.sources.values())


def plan_of(connection: sqlite3.Connection, study: Study, secret: bytes) -> Plan:
    """Read the plan. It never changes, because items never change."""
    sources = dict(connection.execute("SELECT source, count(*) FROM queue GROUP BY source ORDER BY source"))
    checks = tuple(
        number
        for (number,) in connection.execute("SELECT number FROM items WHERE expected IS NOT NULL ORDER BY number")
    )
    return Plan(
        secret,
        study.ratings_wanted,
        sources,
        checks,
        min(study.items_per_rater, sum(sources.values())),
        min(study.checks_per_rater, len(checks)),
    )


def next_item(connection: sqlite3.Connection, plan: Plan, *, rater: int, place: int) -> int | None:
    """The item for a rater's task at `place`; None when nothing is left to rate.

    A rater is finished early when all remaining items have enough ratings, including those reserved for other raters.
    Attention checks are not given when no other item is left.
    """
    if place >= plan.total:
        return None
    check_places = places_of_checks(plan, rater)
    checks_before = sum(earlier < place for earlier in check_places)
    chosen = None
    if place - checks_before < plan.ratings_per_rater:
        chosen = _choose(connection, plan, rater=rater, place=place)
        if chosen is None:
            return None
    if place not in check_places:
        return chosen
    order = sorted(plan.checks, key=lambda check: draw(plan.secret, "check", rater, check))
    return order[checks_before]


def items_left(connection: sqlite3.Connection, plan: Plan, *, rater: int) -> bool:
    """Whether items are left for this rater: now, or later if other raters do not answer what is reserved for them."""
    items = {item for (item,) in connection.execute("SELECT item FROM tasks WHERE rater = ?", (rater,))}
    if len(items) >= plan.total:
        return False
    if _lowest_load(connection, plan, items) is not None:
        return True
    held = connection.execute(
        "SELECT t.item FROM tasks t JOIN queue q ON q.item = t.item WHERE t.held_until IS NOT NULL"
        " AND (SELECT count(o.value) FROM tasks o WHERE o.item = t.item) < ?",
        (plan.wanted,),
    )
    return any(item not in items for (item,) in held)


def places_of_checks(plan: Plan, rater: int) -> set[int]:
    """The places of a rater's attention checks: all sets of places are equally likely (Floyd's algorithm)."""
    places: set[int] = set()
    for last in range(plan.ratings_per_rater, plan.total):
        place = draw(plan.secret, "place", rater, last) % (last + 1)
        places.add(last if place in places else place)
    return places


def _choose(connection: sqlite3.Connection, plan: Plan, *, rater: int, place: int) -> int | None:
    """Choose among the items with the fewest ratings: by source in turn, then a new context, then at random."""
    given = connection.execute(
        "SELECT t.item, q.source, q.context FROM tasks t JOIN queue q ON q.item = t.item WHERE t.rater = ?", (rater,)
    ).fetchall()
    items = {item for item, _, _ in given}
    load = _lowest_load(connection, plan, items)
    if load is None:
        return None
    contexts = {context for _, _, context in given}
    counts = Counter(source for _, source, _ in given)
    start = draw(plan.secret, "item", rater, place)
    for source in _order_of_sources(plan, counts, rater=rater, place=place):
        found = _pick(_candidates(connection, load, source, start), items, contexts)
        if found is not None:
            return found
    raise AssertionError("an item with this load was just seen")


def _lowest_load(connection: sqlite3.Connection, plan: Plan, items: Collection[int]) -> int | None:
    """The fewest ratings among the items new to this rater; None if all have enough."""
    rows = connection.execute(
        "SELECT item, load FROM queue WHERE load < ? ORDER BY load LIMIT ?", (plan.wanted, len(items) + 1)
    )
    return next((load for item, load in rows if item not in items), None)


def _order_of_sources(plan: Plan, given: Mapping[str, int], *, rater: int, place: int) -> list[str]:
    """Sources in random order, with probabilities in proportion to what is left of their share of the current block.

    This is drawing without replacement within each block: sources are balanced even for a rater who stops early, and
    raters can rarely predict the next source.
    """
    so_far = sum(given.values())
    block_end = min(so_far - so_far % _BLOCK + _BLOCK, plan.ratings_per_rater)

    def key(source: str) -> tuple[float, float]:
        left = block_end * plan.sources[source] / plan.items - given.get(source, 0)
        # The smallest of exponential variables belongs to each source with a probability in proportion to its rate.
        chance = (draw(plan.secret, "source", rater, place, source) + 1) / 2**63
        return (-math.log(chance) / left if left > 0 else math.inf, -left)

    return sorted(plan.sources, key=key)


def _candidates(connection: sqlite3.Connection, load: int, source: str, start: int) -> Iterator[tuple[int, int | None]]:
    """Items and contexts of this load and source in the study's fixed random order, starting at `start`, cyclically."""
    for low, high in ((start, _ABOVE_ALL), (0, start)):
        yield from connection.execute(
            "SELECT item, context FROM queue WHERE load = ? AND source = ? AND shuffle >= ? AND shuffle < ?"
            " ORDER BY shuffle",
            (load, source, low, high),
        )


def _pick(
    candidates: Iterator[tuple[int, int | None]], items: Collection[int], contexts: Collection[int | None]
) -> int | None:
    """The first item new to the rater whose context is new too, else the first new item."""
    first = None
    for item, context in islice(candidates, len(items) + _MOST_SEARCHED):
        if item not in items:
            if context is None or context not in contexts:
                return item
            first = item if first is None else first
    return first
