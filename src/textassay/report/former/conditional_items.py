"""The items of a conditional report: ranked, with texts side by side, and as data of the page.

The list has every item as long as there is room for its numbers. The items that differ most come with their texts and
every p-value, until the page is full.
"""

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

from markupsafe import Markup

from textassay.corpus.item_set import Item
from textassay.corpus.printable import shortened
from textassay.document.words import p_text
from textassay.inference.p_values import is_significant
from textassay.inference.per_item import Miss
from textassay.inference.result import Result
from textassay.report.former.conditional_table import DIFFERENCES
from textassay.report.former.items import TextTable, embedded, filled, in_turns, readable, scaled
from textassay.report.former.table import ARROWS
from textassay.report.former.templates.page import Block
from textassay.studies.conditional.result import KIND_WORDS, KINDS, Conditional, ItemOutcome, SystemColumn

RANKS = ("shorter", "between", "longer")


def profile(result: Result) -> dict[str, tuple[float, ...]]:
    """By side the shares of the three ranks, from parts such as `candidates_shorter`; NaN for a rank that is missing.

    Empty for a metric that has none.
    """
    sides: dict[str, dict[str, float]] = {}
    for name, value in result.parts.items():
        side, _, rank = name.rpartition("_")
        if rank in RANKS:
            sides.setdefault(side, {})[rank] = value
    return {side: tuple(shares.get(rank, math.nan) for rank in RANKS) for side, shares in sides.items()}


def sides_of(results: Iterable[Result]) -> list[str]:
    """The sides that any of these results has a profile of, in order of appearance."""
    return list(dict.fromkeys(side for result in results for side in profile(result)))


@dataclass(frozen=True)
class Text:
    """A text and how often it was written; `shared` marks a candidate that is also a reference."""

    text: str
    count: int
    central: bool = False
    shared: bool = False


@dataclass(frozen=True)
class Side:
    """One system on one item: how its texts differ, if that was measured, the texts, how many more, and the results."""

    name: str
    miss: Miss | None
    measured: bool
    texts: tuple[Text, ...]
    more: int
    outcome: ItemOutcome | None


@dataclass(frozen=True)
class ItemView:
    """An item with everything side by side."""

    index: int
    item: Item
    excerpt: str
    references: tuple[Text, ...]
    more: int
    sides: tuple[Side, ...]


def outcomes(conditional: Conditional) -> list[tuple[ItemOutcome | None, ...]]:
    """For each item the outcomes of all systems, None for a system without any."""
    by_id = [{outcome.id: outcome for outcome in system.items} for system in conditional.systems]
    return [tuple(found.get(item.id) for found in by_id) for item in conditional.items.items]


def worst_first(conditional: Conditional) -> list[int]:
    """Places of the items: those with a significant test first, and among them those that differ most."""
    far = [
        max((_weight(found.miss) for found in each if found), default=(False, 0.0)) for each in outcomes(conditional)
    ]
    return sorted(range(len(far)), key=lambda place: (-far[place][0], -far[place][1]))


def _weight(miss: Miss) -> tuple[bool, float]:
    return miss.kind not in ("same", "untested"), how_far(miss)


def how_far(miss: Miss) -> float:
    """How far off candidates are, to rank items by; 0 where nothing could be measured."""
    known = [abs(z) for z in (miss.spread, max(miss.place, 0.0)) if not math.isnan(z)]
    return max(known, default=0.0)


def is_measured(miss: Miss) -> bool:
    """Whether there is a number for spread or place."""
    return not (math.isnan(miss.spread) and math.isnan(miss.place))


def excerpt(item: Item, most: int = 90) -> str:
    """The start of the item's prompt, or else of its first reference."""
    text = item.prompt or next(iter(item.references), "")
    return readable(" ".join(text.split()), most)


def folded(texts: Iterable[str], *, central: str | None = None, shared: Iterable[str] = ()) -> list[Text]:
    """Each text once with its count, in order of first appearance."""
    known = set(shared)
    return [Text(text, count, text == central, text in known) for text, count in Counter(texts).items()]


def item_views(conditional: Conditional, places: Sequence[int], *, texts: int, characters: int) -> list[ItemView]:
    """The items at these places with at most this many texts per side, each cut to this many characters."""
    found = outcomes(conditional)
    return [_view(conditional, place, found[place], texts, characters) for place in places]


def _view(
    conditional: Conditional, place: int, found: Sequence[ItemOutcome | None], most: int, characters: int
) -> ItemView:
    item = conditional.items.items[place]
    central = conditional.central[place]
    references = folded(item.references, central=None if central is None else item.references[central])
    sides = []
    for system, outcome in zip(conditional.systems, found, strict=True):
        written = folded(item.candidates.get(system.name, ()), shared=item.references)
        miss = outcome.miss if outcome else None
        shown, more = _cut(written, most, characters), max(len(written) - most, 0)
        sides.append(Side(system.name, miss, miss is not None and is_measured(miss), shown, more, outcome))
    shown = _cut(references, most, characters)
    return ItemView(place, item, excerpt(item), shown, max(len(references) - most, 0), tuple(sides))


def _cut(texts: Sequence[Text], most: int, characters: int) -> tuple[Text, ...]:
    return tuple(Text(readable(each.text, characters), each.count, each.central, each.shared) for each in texts[:most])


# p-values as whole ten-thousandths, standard scores and shares as hundredths: the digits that are shown.
_P, _Z, _SHARE = 10_000, 100, 100


def items_block(conditional: Conditional, *, room: int) -> Block:
    """As many items as fit into this many bytes, those that differ most first."""
    order = worst_first(conditional)
    frame = _frame(conditional)
    writer = _Writer(conditional, frame["decimals"], frame["profiled"], frame["sides"])
    rows, texts = filled(frame, map(writer.row, order), map(writer.texts, order), room=room)
    frame |= {"rows": sorted(rows), "texts": texts}
    return Block(Markup(embedded(frame)), len(rows), len(texts))  # noqa: S704


def _frame(conditional: Conditional) -> dict[str, Any]:
    """What all items share: names, words, and the number of decimals per metric."""
    results = [[o.results[at] for s in conditional.systems for o in s.items] for at in range(len(conditional.labels))]
    # The profile has the same parts on every item, but items without a number have none.
    some = [next((r for r in column if profile(r)), None) for column in results]
    return {
        "total": len(conditional.items.items),
        "level": conditional.level,
        "kinds": list(KINDS),
        "systems": [shortened(system.name, 60) for system in conditional.systems],
        "human": shortened(conditional.human.name, 60),
        "labels": [shortened(label, 60) for label in conditional.labels],
        "signs": [ARROWS.get(result.better, "") for result in conditional.human.results],
        "decimals": [_decimals([r.estimate for r in column]) for column in results],
        "profiled": [at for at, result in enumerate(some) if result is not None],
        "sides": sides_of(result for result in some if result is not None),
        "rows": [],
        "texts": [],
    }


def _decimals(values: Sequence[float]) -> int:
    """Decimals that show three digits of the largest value."""
    largest = max((abs(value) for value in values if math.isfinite(value)), default=0.0)
    return min(max(2 - math.floor(math.log10(largest)), 0), 12) if largest > 0 else 2


class _Writer:
    """Writes rows and texts as arrays."""

    def __init__(self, conditional: Conditional, decimals: list[int], profiled: list[int], sides: list[str]) -> None:
        self._conditional = conditional
        self._outcomes = outcomes(conditional)
        self._human = {outcome.id: outcome for outcome in conditional.human.items}
        self._scales = [10**digits for digits in decimals]
        self._profiled, self._sides = profiled, sides
        self._text = TextTable()

    def row(self, place: int) -> list[Any]:
        """Place, id, and for each system: kind, spread, place, p and the estimates; 0 for a system without any."""
        item = self._conditional.items.items[place]
        return [place, readable(item.id, 120), *(self._numbers(outcome) for outcome in self._outcomes[place])]

    def texts(self, place: int) -> list[Any]:
        """Place, prompt, references, the central one, candidates per system, and the numbers behind the scores."""
        item, found = self._conditional.items.items[place], self._outcomes[place]
        central = self._conditional.central[place]
        human = self._human.get(item.id)
        return [
            place,
            None if item.prompt is None else self._text(item.prompt),
            [self._text(text) for text in item.references],
            -1 if central is None else central,
            [[self._text(t) for t in item.candidates.get(s.name, ())] for s in self._conditional.systems],
            [self._p_values(outcome) for outcome in found],
            [self._estimates(human), self._p_values(human)],
            [self._profiles(outcome) for outcome in found],
            [self._reasons(outcome) for outcome in (human, *found)],
        ]

    def _numbers(self, outcome: ItemOutcome | None) -> list[Any] | int:
        if outcome is None:
            return 0
        miss = outcome.miss
        kind = KINDS.index(miss.kind) if miss.kind in KINDS else KINDS.index("untested")
        z_scores = [scaled(z, _Z) for z in (miss.spread, miss.place)]
        return [kind, *z_scores, self._p(miss.p_value), *self._estimates(outcome)]

    def _estimates(self, outcome: ItemOutcome | None) -> list[int | None]:
        results = outcome.results if outcome else ()
        return [scaled(result.estimate, scale) for result, scale in zip(results, self._scales, strict=False)]

    def _p_values(self, outcome: ItemOutcome | None) -> list[int | None]:
        return [None if r.p_value is None else self._p(r.p_value) for r in (outcome.results if outcome else ())]

    def _p(self, p: float) -> int | None:
        """Rounded, but never across the level of significance."""
        whole, level = scaled(p, _P), self._conditional.level
        if whole is None or is_significant(whole / _P, level) == is_significant(p, level):
            return whole
        return whole + (1 if whole / _P < p else -1)

    def _profiles(self, outcome: ItemOutcome | None) -> list[list[int | None]]:
        results = [outcome.results[at] for at in self._profiled] if outcome else []
        return [self._shares(result) for result in results]

    def _shares(self, result: Result) -> list[int | None]:
        found = profile(result)
        return [scaled(share, _SHARE) for side in self._sides for share in found.get(side, (math.nan,) * 3)]

    def _reasons(self, outcome: ItemOutcome | None) -> dict[str, str | int | None]:
        results = outcome.results if outcome else ()
        return {str(at): self._text(r.undefined) for at, r in enumerate(results) if r.undefined is not None}


# Different texts per side, and characters per text.
_MOST_TEXTS, _LONGEST = 4, 160


@dataclass(frozen=True)
class Written:
    """A text, shortened and printable, and how often it occurs; `central` if it is nearest to all other references."""

    text: str
    times: int
    central: bool = False

    def __str__(self) -> str:
        return f"{self.text} ×{self.times:,}" if self.times > 1 else self.text


@dataclass(frozen=True)
class Worst:
    """An item on which a system differs: system, item, kind, texts of both sides, and how many are not shown."""

    system: str
    id: str
    prompt: str | None
    miss: Miss
    references: tuple[Written, ...]
    candidates: tuple[Written, ...]
    more_references: int
    more_candidates: int

    @property
    def how(self) -> str:
        """The kind of difference and the numbers behind it."""
        spread, place, p = self.miss.spread, self.miss.place, self.miss.p_value
        words = KIND_WORDS.get(self.miss.kind, self.miss.kind)
        if not is_measured(self.miss) or self.miss.kind == "differs":
            return f"{words} (p {p_text(p)})"
        return f"{words} (spread {spread:+.1f}, place {place:+.1f}, p {p_text(p)})"

    def lines(self) -> list[tuple[bool, str, str]]:
        """References and candidates side by side, and whether the reference is the central one."""
        left, right = _lines(self.references, self.more_references), _lines(self.candidates, self.more_candidates)
        central = (text.central for text in self.references)
        return [(next(central, False), one, other) for one, other in zip_longest(left, right, fillvalue="")]


NOT_RANKED = (
    "How single items differ was not measured: that needs resamples, the metric trm, and two candidates and two "
    "references per item."
)


def are_ranked(conditional: Conditional) -> bool:
    """Whether it was measured of any single item how it differs."""
    return any(is_measured(item.miss) for system in conditional.systems for item in system.items)


def worst_items(conditional: Conditional, top: int) -> list[Worst]:
    """At most `top` items, those that differ most first; systems take turns, so that none fills the list."""
    places = {item.id: place for place, item in enumerate(conditional.items.items)}
    ranked = [[(system, outcome) for outcome in _ranked(system)] for system in conditional.systems]
    found = []
    for system, outcome in in_turns(ranked, top):
        place = places[outcome.id]
        found.append(_worst(system, outcome, conditional.items.items[place], conditional.central[place]))
    return found


def _ranked(system: SystemColumn) -> list[ItemOutcome]:
    missed = [outcome for outcome in system.items if outcome.miss.kind in DIFFERENCES]
    return sorted(missed, key=lambda outcome: -how_far(outcome.miss))


def _worst(system: SystemColumn, outcome: ItemOutcome, item: Item, central: int | None) -> Worst:
    best = None if central is None else item.references[central]
    references = _different(item.references, best)
    candidates = _different(item.candidates.get(system.name, ()), None)
    return Worst(
        shortened(system.name, 40),
        shortened(outcome.id, 40),
        None if item.prompt is None else shortened(item.prompt, _LONGEST),
        outcome.miss,
        tuple(references[:_MOST_TEXTS]),
        tuple(candidates[:_MOST_TEXTS]),
        sum(text.times for text in references[_MOST_TEXTS:]),
        sum(text.times for text in candidates[_MOST_TEXTS:]),
    )


def _different(texts: Sequence[str], central: str | None) -> list[Written]:
    """Different texts, the central one and then the most frequent first."""
    counted = Counter(texts).most_common()
    ordered = sorted(counted, key=lambda pair: pair[0] != central)
    return [Written(shortened(text, _LONGEST), times, text == central) for text, times in ordered]


def _lines(texts: Sequence[Written], more: int) -> Iterator[str]:
    yield from map(str, texts)
    if more:
        yield f"and {more:,} more"
