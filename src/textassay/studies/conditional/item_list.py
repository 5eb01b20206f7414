"""The items of a conditional study with their texts side by side, those that differ most first."""

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, zip_longest

from textassay.corpus.item_set import Item as Given
from textassay.corpus.printable import shortened
from textassay.document.blocks import REAL, Badge, Item, Items, Quote, Side
from textassay.document.words import listed_some, number, p_text
from textassay.inference.items.misses import UNTESTED, Miss
from textassay.inference.result import Result
from textassay.studies.conditional.ranking import ranking_index
from textassay.studies.conditional.result import DIFFERENCES, KIND_WORDS, KINDS, Conditional, ItemOutcome, kind_tone

# Items of the list; the JSON and CSV files have all of them.
_MOST_ITEMS = 3_000
# Different texts per side.
_MOST_TEXTS = 12
# Metrics and systems in the lines of an item.
_MOST_METRICS, _MOST_SYSTEMS = 12, 8
_SORT_KEYS = ("difference", "p-value", "spread", "place")
_SIDES, _RANKS = ("references", "candidates"), ("shorter", "between", "longer")


def items_block(found: Conditional) -> Items:
    """The items that differ most: those with a significant test first, the systems in turns."""
    outcomes = outcomes_by_item(found)
    order = worst_first(outcomes, len(found.systems))
    people = {outcome.id: outcome for outcome in found.human.items}
    ids = [item.id for item in found.items.items]
    shown = tuple(_item(found, index, outcomes[index], people.get(ids[index])) for index in order[:_MOST_ITEMS])
    return Items(shown, len(order), _SORT_KEYS)


def are_ranked(found: Conditional) -> bool:
    """Whether it was measured of any single item how it differs."""
    return any(is_measured(item.miss) for system in found.systems for item in system.items)


def is_measured(miss: Miss) -> bool:
    """Whether there is a number for spread or place."""
    return not (math.isnan(miss.spread) and math.isnan(miss.place))


def how_far(miss: Miss) -> float:
    """How far off candidates are, to rank items by; 0 where nothing could be measured."""
    known = [abs(z) for z in (miss.spread, max(miss.place, 0.0)) if not math.isnan(z)]
    return max(known, default=0.0)


Outcomes = Sequence[ItemOutcome | None]


def outcomes_by_item(found: Conditional) -> list[Outcomes]:
    """For each item the outcomes of all systems, None for a system without any."""
    by_id = [{outcome.id: outcome for outcome in system.items} for system in found.systems]
    return [tuple(own.get(item.id) for own in by_id) for item in found.items.items]


def worst_first(outcomes: Sequence[Outcomes], n_systems: int) -> list[int]:
    """Indexes of the items: the one on which each system differs most, the second of each, and so on; then the rest."""
    turns = chain.from_iterable(zip_longest(*(_differing(outcomes, place) for place in range(n_systems))))
    rest = sorted(range(len(outcomes)), key=lambda index: min(map(_order, outcomes[index]), default=(3, 0.0)))
    return list(dict.fromkeys(index for index in (*turns, *rest) if index is not None))


def _differing(outcomes: Sequence[Outcomes], place: int) -> list[int]:
    """The items on which one system differs, in order."""
    own = [(index, each[place]) for index, each in enumerate(outcomes)]
    differing = [(index, outcome) for index, outcome in own if outcome and outcome.miss.kind in DIFFERENCES]
    return [index for index, _ in sorted(differing, key=lambda pair: _order(pair[1]))]


def _order(outcome: ItemOutcome | None) -> tuple[int, float]:
    """One answer first, then other differences, then the rest; within each the farthest first."""
    if outcome is None:
        return 3, 0.0
    kind = outcome.miss.kind
    return 0 if kind == "collapsed" else 1 if kind in DIFFERENCES else 2, -how_far(outcome.miss)


def _item(found: Conditional, index: int, outcomes: Outcomes, people: ItemOutcome | None) -> Item:
    item, central = found.items.items[index], found.central[index]
    best = None if central is None else item.references[central]
    kinds = sorted({each.miss.kind if each else "untested" for each in outcomes}, key=_place_of_kind)
    worst = min(range(len(outcomes)), key=lambda place: _order(outcomes[place]), default=0)
    several = len(found.systems) > 1
    sides = [_side(found, place, item, outcome, several=several) for place, outcome in enumerate(outcomes)]
    return Item(
        item.id,
        (_references(item, best), *sides),
        tuple(map(_badge, kinds)),
        item.prompt or "",
        lines=tuple(_lines(found, worst, outcomes, people)),
        values=_values(outcomes[worst]) if outcomes else (),
        candidate=None if several else 0,
    )


def _place_of_kind(kind: str) -> int:
    return KINDS.index(kind) if kind in KINDS else len(KINDS)


def _lines(found: Conditional, worst: int, outcomes: Outcomes, people: ItemOutcome | None) -> Iterator[str]:
    """The clearest numbers of the system that differs most, then all metrics of each system."""
    outcome = outcomes[worst] if outcomes else None
    if outcome is not None:
        name = shortened(found.names[worst], 40) if len(found.names) > 1 else ""
        yield ": ".join(filter(None, (name, _figures(outcome.miss))))
        yield _beside_people(found, outcome, people)
    columns = zip((found.human.name, *found.names), (people, *outcomes), strict=True)
    known = [(name, each) for name, each in columns if each is not None]
    for name, each in known[:_MOST_SYSTEMS]:
        values = [
            f"{shortened(label, 40)} {_value(result)}"
            for label, result in zip(found.labels, each.results, strict=True)
            if result.undefined is None
        ]
        edges = next((line for result in each.results if (line := _edges(result))), "")
        shown = filter(None, (listed_some(values, _MOST_METRICS) if values else "", edges))
        yield f"{shortened(name, 40)}: {'; '.join(shown) or 'no number'}"
    for reason in dict.fromkeys(r.undefined for _, each in known for r in each.results if r.undefined):
        yield f"no number: {shortened(reason, 160)}"


def _beside_people(found: Conditional, outcome: ItemOutcome, people: ItemOutcome | None) -> str:
    """The metric that ranks the systems, on this item; empty without a number."""
    index = ranking_index(found)
    if index is None or outcome.results[index].undefined is not None:
        return ""
    human = "" if people is None else f", {found.human.name} {number(people.results[index].estimate)}"
    return f"{shortened(found.labels[index], 40)} {number(outcome.results[index].estimate)}{human}"


def _figures(miss: Miss) -> str:
    """The numbers behind a kind."""
    place = f"spread {miss.spread:+.1f}, place {miss.place:+.1f}, " if is_measured(miss) else ""
    return "" if math.isnan(miss.p_value) else f"{place}p {p_text(miss.p_value)}"


def _value(result: Result) -> str:
    return number(result.estimate) + ("" if result.p_value is None else f" (p {p_text(result.p_value)})")


def _badge(kind: str) -> Badge:
    return Badge(KIND_WORDS.get(kind, kind), kind_tone(kind))


def _values(outcome: ItemOutcome | None) -> tuple[float | None, ...]:
    """The numbers of `_SORT_KEYS`, of the system that differs most."""
    miss = outcome.miss if outcome else UNTESTED
    values = (how_far(miss) if is_measured(miss) else math.nan, miss.p_value, miss.spread, miss.place)
    return tuple(None if math.isnan(value) else value for value in values)


def _references(item: Given, central: str | None) -> Side:
    quotes, more = _quotes(item.references, central=central)
    return Side("references", quotes, REAL, total=len(quotes) + more)


def _side(found: Conditional, place: int, item: Given, outcome: ItemOutcome | None, *, several: bool) -> Side:
    name = found.systems[place].name
    quotes, more = _quotes(item.candidates.get(name, ()), references=item.references)
    return Side(
        name,
        quotes,
        place,
        badge=_badge(outcome.miss.kind) if outcome and several else None,
        line=_figures(outcome.miss) if outcome and several else "",
        total=len(quotes) + more,
    )


def _edges(result: Result) -> str:
    """How often the edges of each side are the shortest of their triangle, between, and the longest."""
    parts = result.parts
    values = {side: [parts[f"{side}_{rank}"] for rank in _RANKS if f"{side}_{rank}" in parts] for side in _SIDES}
    shown = [f"{side} {' / '.join(map(number, known))}" for side, known in values.items() if known]
    return f"edges that are the shortest / between / the longest of their triangle: {', '.join(shown)}" if shown else ""


def _quotes(
    texts: Iterable[str], *, central: str | None = None, references: Iterable[str] = ()
) -> tuple[tuple[Quote, ...], int]:
    """Each text once, the central one and then the most frequent first, and how many texts are not shown."""
    shared = set(references)
    counted = sorted(Counter(texts).most_common(), key=lambda pair: pair[0] != central)
    quotes = tuple(Quote(text, tags=tuple(_tags(text, n, central, shared))) for text, n in counted[:_MOST_TEXTS])
    return quotes, sum(n for _, n in counted[_MOST_TEXTS:])


def _tags(text: str, n: int, central: str | None, shared: set[str]) -> Iterator[str]:
    if n > 1:
        yield f"{n:,} times"
    if text == central:
        yield "central"
    if text in shared:
        yield "also a reference"
