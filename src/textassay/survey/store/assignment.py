"""Assignment of items to raters: fewest ratings first, sources in balance, in an order that raters cannot predict.

All randomness is derived from the study's secret, the rater and the place of the task, so that no state is stored.
"""

import math
import sqlite3
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Literal

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
    address_share: int = 25
    proof_after: int | None = None
    needs_consent: bool = False

    @property
    def total(self) -> int:
        """The number of tasks per rater, if the study still needs that many."""
        return self.ratings_per_rater + self.checks_per_rater

    @property
    def items(self) -> int:
        """The number of items to rate, without attention checks."""
        return sum(self.sources.values())

    @property
    def most_per_address(self) -> int:
        """How many ratings and holds raters who joined by one shared link from one address may have together.

        One rater can always do their whole part.
        """
        return max(self.ratings_per_rater, math.ceil(self.items * self.wanted * self.address_share / 100))


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
        study.address_share,
        study.proof_after,
        bool(study.consent.strip()),
    )


# Which number of ratings closes an item: that of all raters, or only that of raters who did not join by a shared link.
Closing = Literal["load", "firm"]


def next_item(
    connection: sqlite3.Connection, plan: Plan, *, rater: int, place: int, closing: Closing = "load"
) -> int | None:
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
        chosen = _choose(connection, plan, rater=rater, place=place, closing=closing)
        if chosen is None:
            return None
    if place not in check_places:
        return chosen
    order = sorted(plan.checks, key=lambda check: draw(plan.secret, "check", rater, check))
    return order[checks_before]


def items_left(connection: sqlite3.Connection, plan: Plan, *, rater: int, closing: Closing) -> bool:
    """Whether items are left for this rater: now, or later if other raters do not answer what is reserved for them."""
    items = {item for (item,) in connection.execute("SELECT item FROM tasks WHERE rater = ?", (rater,))}
    if len(items) >= plan.total:
        return False
    if _lowest_load(connection, plan, items, closing) is not None:
        return True
    among = "" if closing == "load" else " AND r.origin != 'joined'"
    held = connection.execute(
        "SELECT t.item FROM tasks t JOIN queue q ON q.item = t.item WHERE t.held_until IS NOT NULL"  # noqa: S608
        " AND (SELECT count(o.value) FROM tasks o JOIN raters r ON r.number = o.rater"
        f" WHERE o.item = t.item AND r.excluded IS NULL{among}) < ?",
        (plan.wanted,),
    )
    return any(item not in items for (item,) in held)


def open_places(connection: sqlite3.Connection, plan: Plan, *, most: int) -> int:
    """How many ratings the items still need, reserved ones aside; `most` for more than that."""
    # Each of these items has at least one open place, so that no more than `most` items are read.
    rows = connection.execute(
        "SELECT ? - load FROM queue WHERE load < ? ORDER BY load LIMIT ?", (plan.wanted, plan.wanted, most)
    )
    return min(most, sum(places for (places,) in rows))


def places_of_checks(plan: Plan, rater: int) -> set[int]:
    """The places of a rater's attention checks: all sets of places are equally likely (Floyd's algorithm)."""
    places: set[int] = set()
    for last in range(plan.ratings_per_rater, plan.total):
        place = draw(plan.secret, "place", rater, last) % (last + 1)
        places.add(last if place in places else place)
    return places


def _choose(connection: sqlite3.Connection, plan: Plan, *, rater: int, place: int, closing: Closing) -> int | None:
    """Choose among the items with the fewest ratings: by source in turn, then a new context, then at random."""
    given = connection.execute(
        "SELECT t.item, q.source, q.context FROM tasks t JOIN queue q ON q.item = t.item WHERE t.rater = ?", (rater,)
    ).fetchall()
    items = {item for item, _, _ in given}
    load = _lowest_load(connection, plan, items, closing)
    if load is None:
        return None
    contexts = {context for _, _, context in given}
    counts = Counter(source for _, source, _ in given)
    start = draw(plan.secret, "item", rater, place)
    for source in _order_of_sources(plan, counts, rater=rater, place=place):
        found = _pick(_candidates(connection, plan, load, source, start=start, closing=closing), items, contexts)
        if found is not None:
            return found
    raise AssertionError("an item with this load was just seen")


def _lowest_load(connection: sqlite3.Connection, plan: Plan, items: Collection[int], closing: Closing) -> int | None:
    """The fewest ratings among the items new to this rater; None if all are closed."""
    rows = connection.execute(
        f"SELECT item, load FROM queue WHERE {closing} < ? ORDER BY load LIMIT ?",  # noqa: S608 - one of two names
        (plan.wanted, len(items) + 1),
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


def _candidates(
    connection: sqlite3.Connection, plan: Plan, load: int, source: str, *, start: int, closing: Closing
) -> Iterator[tuple[int, int | None]]:
    """Open items and contexts of this load and source in the study's fixed random order, cyclically from `start`."""
    for low, high in ((start, _ABOVE_ALL), (0, start)):
        yield from connection.execute(
            "SELECT item, context FROM queue WHERE load = ? AND source = ? AND shuffle >= ? AND shuffle < ?"  # noqa: S608
            f" AND {closing} < ? ORDER BY shuffle",
            (load, source, low, high, plan.wanted),
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
