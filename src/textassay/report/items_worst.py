"""The items that systems miss by most, with what was written for them, ready to stand side by side."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, zip_longest

from textassay.corpus.items import Item
from textassay.corpus.printable import shortened
from textassay.studies.conditioned import KIND_WORDS, KINDS, Conditional, ItemOutcome, Miss, SystemColumn
from textassay.studies.wording import p_text

# What a system misses an item by, if at all.
_FOUND = tuple(kind for kind in KINDS if kind not in ("same", "untested"))
# So many different texts a side, each cut to so many characters.
_MOST_TEXTS, _LONGEST = 4, 160


@dataclass(frozen=True)
class Written:
    """A text, shortened and printable, and how often it was written; `central` if nearest to all other references."""

    text: str
    times: int
    central: bool = False

    def __str__(self) -> str:
        return f"{self.text} ×{self.times:,}" if self.times > 1 else self.text


@dataclass(frozen=True)
class Worst:
    """An item that a system misses: who, where, how, and the texts of both sides with the number that is not shown."""

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
        """The kind of miss and the numbers behind it."""
        spread, place, p = self.miss.spread, self.miss.place, self.miss.p_value
        words = KIND_WORDS.get(self.miss.kind, self.miss.kind)
        return f"{words} (spread {spread:+.1f}, place {place:+.1f}, p {p_text(p)})"

    def lines(self) -> list[tuple[bool, str, str]]:
        """References and candidates side by side, and whether the reference is the central one."""
        left, right = _lines(self.references, self.more_references), _lines(self.candidates, self.more_candidates)
        central = (text.central for text in self.references)
        return [(next(central, False), one, other) for one, other in zip_longest(left, right, fillvalue="")]


def worst_items(conditional: Conditional, top: int) -> list[Worst]:
    """At most `top` items, the farthest off first; systems take turns, so that one does not fill the list."""
    places = {item.id: place for place, item in enumerate(conditional.items.items)}
    ranked = [[(system, outcome) for outcome in _ranked(system)[:top]] for system in conditional.systems]
    turns = [pair for pair in chain.from_iterable(zip_longest(*ranked)) if pair is not None]
    found = []
    for system, outcome in turns[: max(top, 0)]:
        place = places[outcome.id]
        found.append(_worst(system, outcome, conditional.items.items[place], conditional.central[place]))
    return found


def _ranked(system: SystemColumn) -> list[ItemOutcome]:
    missed = [outcome for outcome in system.items if outcome.miss.kind in _FOUND]
    return sorted(missed, key=lambda outcome: -outcome.miss.far)


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
