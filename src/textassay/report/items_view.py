"""Items as a reader sees them: which miss farthest, and their texts side by side with repeats folded."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from textassay.corpus.items import Item
from textassay.corpus.printable import printable
from textassay.studies.conditioned import Conditional, ItemOutcome, Miss


@dataclass(frozen=True)
class Text:
    """A text and how often it was written; `shared` marks a candidate that is also a reference."""

    text: str
    count: int
    central: bool = False
    shared: bool = False


@dataclass(frozen=True)
class Side:
    """One system on one item: its texts, how many more there are, how it misses, and each metric's number there."""

    name: str
    miss: Miss | None
    texts: tuple[Text, ...]
    more: int
    outcome: ItemOutcome | None


@dataclass(frozen=True)
class ItemView:
    """An item with everything side by side."""

    index: int
    item: Item
    references: tuple[Text, ...]
    more: int
    sides: tuple[Side, ...]


def outcomes(conditional: Conditional) -> list[tuple[ItemOutcome | None, ...]]:
    """For each item what each system reached there, None where it has nothing."""
    by_id = [{outcome.id: outcome for outcome in system.items} for system in conditional.systems]
    return [tuple(found.get(item.id) for found in by_id) for item in conditional.items.items]


def worst_first(conditional: Conditional) -> list[int]:
    """Places of the items, those first that any system misses farthest; what a test found comes before all else."""
    far = [
        max((_weight(found.miss) for found in each if found), default=(False, 0.0)) for each in outcomes(conditional)
    ]
    return sorted(range(len(far)), key=lambda place: (-far[place][0], -far[place][1]))


def _weight(miss: Miss) -> tuple[bool, float]:
    return miss.kind not in ("same", "untested"), miss.far


def readable(text: str, most: int) -> str:
    r"""The text with its lines kept and all else that could steer a reader made visible, cut where it is too long.

    >>> print(readable("one\ntwo \x1b[31m", 100), readable("a long text", 6))
    one
    two \x1b[31m a lon…
    """
    shown = text if len(text) <= most else f"{text[: most - 1]}…"
    return "\n".join(printable(line) for line in shown.replace("\r\n", "\n").split("\n"))


def excerpt(item: Item, most: int = 90) -> str:
    """What tells an item from others: the start of its prompt, or else of its first reference."""
    text = item.prompt or next(iter(item.references), "")
    return readable(" ".join(text.split()), most)


def folded(texts: Iterable[str], *, central: str | None = None, shared: Iterable[str] = ()) -> list[Text]:
    """Each text once with its count, in the order of their first appearance."""
    known = set(shared)
    return [Text(text, count, text == central, text in known) for text, count in Counter(texts).items()]


def item_views(conditional: Conditional, places: Sequence[int], *, texts: int, characters: int) -> list[ItemView]:
    """The items at these places with up to so many texts a side, each cut to so many characters."""
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
        sides.append(Side(system.name, miss, _cut(written, most, characters), max(len(written) - most, 0), outcome))
    return ItemView(place, item, _cut(references, most, characters), max(len(references) - most, 0), tuple(sides))


def _cut(texts: Sequence[Text], most: int, characters: int) -> tuple[Text, ...]:
    return tuple(Text(readable(each.text, characters), each.count, each.central, each.shared) for each in texts[:most])
