"""Which item a rater gets next: what lacks ratings, in balance, in an order that nobody can foresee.

All randomness follows from the study's secret, the rater and the place, so that no state has to be kept.
"""

import math
import sqlite3
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice

from textassay.survey.model import Study
from textassay.survey.tokens import draw

# Where a level is large, looking at so many of its items for a new context is enough.
_MOST_LOOKED_AT = 64
# Over how many items of a rater sources are brought into balance.
_BLOCK = 8
_ABOVE_ALL = 2**63 - 1


@dataclass(frozen=True)
class Plan:
    """What assigning needs to know of a study: numbers of items by source, attention checks, and how many of each."""

    secret: bytes
    wanted: int
    sources: Mapping[str, int]
    checks: tuple[int, ...]
    ratings_a_rater: int
    checks_a_rater: int

    @property
    def total(self) -> int:
        """How many tasks a rater gets, if the study still needs them."""
        return self.ratings_a_rater + self.checks_a_rater

    @property
    def items(self) -> int:
        """How many items there are to rate, without attention checks."""
        return sum(self.sources.values())


def plan_of(connection: sqlite3.Connection, study: Study, secret: bytes) -> Plan:
    """Read the plan; items never change, so once is enough."""
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
    """The item for a rater's next task, whose place is `place`; None when there is nothing left to do.

    A rater is done before the end when all items that are left have enough ratings, those counted that others are
    giving just now. Attention checks alone are no reason to go on.
    """
    if place >= plan.total:
        return None
    check_places = places_of_checks(plan, rater)
    checks_before = sum(earlier < place for earlier in check_places)
    chosen = None
    if place - checks_before < plan.ratings_a_rater:
        chosen = _choose(connection, plan, rater=rater, place=place)
        if chosen is None:
            return None
    if place not in check_places:
        return chosen
    order = sorted(plan.checks, key=lambda check: draw(plan.secret, "check", rater, check))
    return order[checks_before]


def items_left(connection: sqlite3.Connection, plan: Plan, *, rater: int) -> bool:
    """Whether there are items for this rater: now, or once others leave unanswered what they were given just now."""
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
    """Where the attention checks of a rater stand: any set of places is as likely as any other (Floyd's way)."""
    places: set[int] = set()
    for last in range(plan.ratings_a_rater, plan.total):
        place = draw(plan.secret, "place", rater, last) % (last + 1)
        places.add(last if place in places else place)
    return places


def _choose(connection: sqlite3.Connection, plan: Plan, *, rater: int, place: int) -> int | None:
    """Among the items with the fewest ratings: the source whose turn it is, then a new context, then chance."""
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
    """The fewest ratings that an item has which this rater has not had; None where all have enough."""
    rows = connection.execute(
        "SELECT item, load FROM queue WHERE load < ? ORDER BY load LIMIT ?", (plan.wanted, len(items) + 1)
    )
    return next((load for item, load in rows if item not in items), None)


def _order_of_sources(plan: Plan, given: Mapping[str, int], *, rater: int, place: int) -> list[str]:
    """Sources in random order, each with a chance by what is left of its share of a block of this rater's items.

    Like drawing from an urn that is filled anew for each block: a rater who stops early has seen them in balance too,
    and few turns give the next one away.
    """
    so_far = sum(given.values())
    block_end = min(so_far - so_far % _BLOCK + _BLOCK, plan.ratings_a_rater)

    def key(source: str) -> tuple[float, float]:
        left = block_end * plan.sources[source] / plan.items - given.get(source, 0)
        # The smallest of exponential times with these rates comes from each source with a chance by its rate.
        chance = (draw(plan.secret, "source", rater, place, source) + 1) / 2**63
        return (-math.log(chance) / left if left > 0 else math.inf, -left)

    return sorted(plan.sources, key=key)


def _candidates(connection: sqlite3.Connection, load: int, source: str, start: int) -> Iterator[tuple[int, int | None]]:
    """Items and contexts of this load and source, in the study's fixed random order, from `start` on and around."""
    for low, high in ((start, _ABOVE_ALL), (0, start)):
        yield from connection.execute(
            "SELECT item, context FROM queue WHERE load = ? AND source = ? AND shuffle >= ? AND shuffle < ?"
            " ORDER BY shuffle",
            (load, source, low, high),
        )


def _pick(
    candidates: Iterator[tuple[int, int | None]], items: Collection[int], contexts: Collection[int | None]
) -> int | None:
    """The first item that is new to the rater in a new context, else the first that is new."""
    first = None
    for item, context in islice(candidates, len(items) + _MOST_LOOKED_AT):
        if item not in items:
            if context is None or context not in contexts:
                return item
            first = item if first is None else first
    return first
