"""Items of a HUSE study as a reader sees them: grouped by context, ranked, and as data of the page.

Every item takes part in the list and on the map as long as there is room for its numbers. After that the most telling
items come with their texts until the page is full. A text is written where it first appears; from then on its number
stands for it.
"""

import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, zip_longest
from typing import Any

from markupsafe import Markup

from textassay.corpus.printable import shortened
from textassay.report.charts.svg import Axis
from textassay.report.conditional.items import readable
from textassay.report.huse.decision_map import Map, kind_bar
from textassay.report.huse.words import KINDS_EXPLAINED, PLURALS, count_of, log_prob_of, score, whole_texts
from textassay.report.page import MOST_CHARACTERS, Block, block_of, fitted
from textassay.studies.huse.result import KINDS, HuseItem, HuseResult
from textassay.studies.wording import share

# A context of more items than this is a task, not a pair: its items stand alone.
_MOST_TOGETHER = 12


@dataclass(frozen=True)
class Group:
    """All items of a kind: how many of which source, and what the kind means."""

    kind: str
    plural: str
    explained: str
    human: int
    model: int
    share: float


@dataclass(frozen=True)
class ItemView:
    """One item with its text as it may be shown; None where the file has no texts."""

    judged: HuseItem
    text: str | None
    log_prob: float


@dataclass(frozen=True)
class EntryView:
    """Items that stand together, the model's first, under their context."""

    context: str | None
    items: tuple[ItemView, ...]


_MEANING = {
    "quality failure": (
        "Of the items with about the same rating, at least three in four are of its source; or of those that are alike"
        " in rating and probability, and the rating alone tells no less than the probability alone. A model's text of"
        " this kind reads worse than people's do; a human one shows what the model does not reach."
    ),
    "diversity failure": (
        "Ratings alone do not tell it clearly: of the items that are alike in rating and probability at least three in"
        " four are of its source, and the probability alone tells more than the rating alone. A human text that the"
        " model would hardly write, or one that it writes all too surely. HUSE-D is what the probability adds less what"
        " it takes away, so it may find no loss where there are some of these."
    ),
    "indistinguishable": (
        "Neither with the rating nor with both are three in four neighbours of its source: here the model does as"
        " people do, or too little is known to tell."
    ),
}


def groups(found: HuseResult) -> list[Group]:
    """The three kinds with their counts."""
    total = len(found.items) or 1
    found_groups = []
    chance = dict(zip(KINDS, found.chance_kinds, strict=False))
    for kind in KINDS:
        human, model = (count_of(found, kind, is_model=is_model) for is_model in (False, True))
        explained = f"{KINDS_EXPLAINED[kind].capitalize()}. {_MEANING[kind]}"
        if found.chance_kinds:
            explained += f" If nothing told the sources apart, there would be about {chance[kind]:,.0f}."
        found_groups.append(Group(kind, PLURALS[kind], explained, human, model, (human + model) / total))
    return found_groups


def source_bars(found: HuseResult) -> list[tuple[bool, int, Markup]]:
    """For each source whether it is the model, how many items it has, and the bar of their kinds."""
    return [
        (is_model, sum(counts), kind_bar(counts))
        for is_model in (False, True)
        for counts in [[count_of(found, kind, is_model=is_model) for kind in KINDS]]
    ]


def entries(found: HuseResult) -> list[tuple[int, ...]]:
    """Places of the items that stand together, in the order of the first; those of one source only stand alone."""
    by_context: dict[str, list[int]] = defaultdict(list)
    for place, judged in enumerate(found.items):
        context = judged.item.context
        if context is not None and context.strip():
            by_context[context].append(place)
    together = {place: tuple(places) for places in by_context.values() if _pairs(found, places) for place in places}
    unique = dict.fromkeys(together.get(place, (place,)) for place in range(len(found.items)))
    return [tuple(sorted(places, key=lambda p: not found.items[p].item.is_model)) for places in unique]


def _pairs(found: HuseResult, places: Sequence[int]) -> bool:
    sources = {found.items[place].item.is_model for place in places}
    return len(sources) == 2 and len(places) <= _MOST_TOGETHER


def clearness(judged: HuseItem) -> float:
    """How clearly neighbours vote, for or against its source: 0 even, 0.5 all of one source."""
    votes = judged.votes_by_rating if judged.kind == "quality failure" else judged.votes
    return abs(votes - 0.5) if math.isfinite(votes) else -1.0


def telling_order(found: HuseResult) -> list[tuple[int, ...]]:
    """The entries, most telling first: each kind and source gets its share of any beginning of the list."""
    rank: dict[int, float] = {}
    classes: dict[tuple[str, bool], list[int]] = defaultdict(list)
    for place, judged in enumerate(found.items):
        classes[judged.kind, judged.item.is_model].append(place)
    for places in classes.values():
        ordered = sorted(places, key=lambda p: (-clearness(found.items[p]), p))
        rank |= {place: (at + 0.5) / len(ordered) for at, place in enumerate(ordered)}
    return sorted(entries(found), key=lambda places: min(rank[place] for place in places))


def most_telling(found: HuseResult, kind: str, most: int) -> list[tuple[int, ...]]:
    """The entries of the clearest items of a kind, both sources taking turns."""
    entry_of = {place: places for places in entries(found) for place in places}
    own = [place for place, judged in enumerate(found.items) if judged.kind == kind]
    sides: tuple[list[int], list[int]] = ([], [])
    for place in sorted(own, key=lambda p: (-clearness(found.items[p]), p)):
        sides[found.items[place].item.is_model].append(place)
    turns = sorted((at, not is_model, p) for is_model in (False, True) for at, p in enumerate(sides[is_model]))
    return list(dict.fromkeys(entry_of[place] for *_, place in turns))[:most]


def entry_view(found: HuseResult, places: Sequence[int], *, characters: int) -> EntryView:
    """The items at these places with texts cut to so many characters."""
    items = [found.items[place] for place in places]
    context = items[0].item.context
    whole = whole_texts(found)
    views = [
        ItemView(j, None if j.item.text is None else readable(j.item.text, characters), log_prob_of(j, whole=whole))
        for j in items
    ]
    return EntryView(None if context is None else readable(context, characters), tuple(views))


# Ratings and log-probabilities as thousandths, votes as hundredths: digits that are shown or seen on the map.
_FINE, _SHARE = 1000, 100
_LONGEST_ID = 60


def huse_block(found: HuseResult, drawn: Map | None, *, room: int) -> Block:
    """As many items as fit into so many bytes, the most telling first."""
    order = telling_order(found)
    frame = _frame(found, drawn)
    writer = _Writer(found)
    fit = fitted(
        frame, (_rows(found, places) for places in order), (writer.texts(places) for places in order), room=room
    )
    frame |= {"entries": fit.rows, "texts": fit.texts}
    # Before the texts of an entry stands its context.
    return block_of(frame, listed=sum(map(len, fit.rows)), with_texts=sum(len(entry) - 1 for entry in fit.texts))


def _frame(found: HuseResult, drawn: Map | None) -> dict[str, Any]:
    """What holds for all items: names, and where they are on both drawings of the map."""
    return {
        "total": len(found.items),
        "kinds": list(KINDS),
        "sources": ["human", shortened(found.rated.model, _LONGEST_ID)],
        "log_prob": "log-prob of the text" if whole_texts(found) else "log-prob a token",
        "single": found.rated.single,
        "maps": {one.key: [_axis(one.x), _axis(one.y)] for one in (drawn.wide, drawn.narrow)} if drawn else {},
        "entries": [],
        "texts": [],
    }


def _axis(scale: Axis) -> list[float]:
    return [scale.low, scale.high, scale.start, scale.end, scale.centre if scale.bend else 0.0, scale.bend]


def _rows(found: HuseResult, places: tuple[int, ...]) -> list[list[Any]]:
    """Items that stand together: place, id, source, kind, rating, log-probability, votes, those by rating, ratings.

    Last come the votes by probability alone.
    """
    rows = []
    for place in places:
        judged = found.items[place]
        kind = KINDS.index(judged.kind) if judged.kind in KINDS else len(KINDS) - 1
        log_prob = log_prob_of(judged, whole=whole_texts(found))
        fine = [_whole(value, _FINE) for value in (judged.rating, log_prob)]
        shares = (judged.votes, judged.votes_by_rating, judged.votes_by_log_prob)
        both, by_rating, by_log_prob = (_whole(value, _SHARE) for value in shares)
        name = readable(judged.item.id, _LONGEST_ID)
        rows.append(
            [place, name, int(judged.item.is_model), kind, *fine, both, by_rating, judged.n_ratings, by_log_prob]
        )
    return rows


class _Writer:
    """Writes texts as arrays; it remembers which ones it has written."""

    def __init__(self, found: HuseResult) -> None:
        self._items = found.items
        self._written: dict[str, int] = {}

    def texts(self, places: tuple[int, ...]) -> list[Any]:
        """The context, then each item's text; null where there is none."""
        items = [self._items[place].item for place in places]
        return [self._text(items[0].context), *(self._text(item.text) for item in items)]

    def _text(self, text: str | None) -> str | int | None:
        if text is None or text in self._written:
            return None if text is None else self._written[text]
        self._written[text] = len(self._written)
        return readable(text, MOST_CHARACTERS)


def _whole(value: float, scale: float) -> int | None:
    return round(value * scale) if math.isfinite(value) else None


_LONGEST, _UNKNOWN = 300, "–"
# Of the neighbours, how many are of an item's own source: by both features, and by one of them.
VOTES = ("neighbours of its source", "by rating", "by probability")


@dataclass(frozen=True)
class Example:
    """An item to show. Strings are printable and short, but not escaped for any page."""

    id: str
    source: str
    judged: HuseItem
    text: str
    context: str | None

    @property
    def figures(self) -> str:
        """Its rating, its log-probability a token, and how its neighbours vote: with both, and with each alone."""
        judged = self.judged
        known = [f"rating {score(judged.rating)}", f"log p a token {score(judged.log_prob)}"]
        known += [f"{name} {votes}" for name, votes in zip(VOTES, self.votes, strict=True) if votes != _UNKNOWN]
        return ", ".join(known)

    @property
    def votes(self) -> tuple[str, str, str]:
        """The shares that are named in `VOTES`; a dash where there is none."""
        judged = self.judged
        both, by_rating, by_log_prob = (
            _UNKNOWN if math.isnan(votes) else share(votes)
            for votes in (judged.votes, judged.votes_by_rating, judged.votes_by_log_prob)
        )
        return both, by_rating, by_log_prob


def examples(found: HuseResult, top: int) -> dict[str, list[Example]]:
    """At most `top` items of each kind; kinds without any are left out."""
    chosen = {kind: [_example(found, judged) for judged in _of_kind(found, kind, top)] for kind in KINDS}
    return {kind: items for kind, items in chosen.items() if items}


def _of_kind(found: HuseResult, kind: str, top: int) -> list[HuseItem]:
    """The model's items and people's in turn, so that neither fills the list."""
    sides = [
        sorted((j for j in found.items if j.kind == kind and j.item.is_model == is_model), key=_clarity)[: max(top, 0)]
        for is_model in (True, False)
    ]
    turns: Iterator[HuseItem | None] = chain.from_iterable(zip_longest(*sides))
    return [judged for judged in turns if judged is not None][: max(top, 0)]


def _clarity(judged: HuseItem) -> tuple[float, float]:
    """To sort by: items that votes tell most surely come first; of those not told, the most undecided."""
    by_rating, votes = _known(judged.votes_by_rating), _known(judged.votes)
    if judged.kind == "quality failure":
        return -by_rating, -votes
    return (-votes, by_rating) if judged.kind == "diversity failure" else (abs(votes - 0.5), abs(by_rating - 0.5))


def _known(votes: float) -> float:
    return 0.5 if math.isnan(votes) else votes


def _example(found: HuseResult, judged: HuseItem) -> Example:
    item = judged.item
    return Example(
        shortened(item.id, 40),
        shortened(found.rated.model, 40) if item.is_model else "human",
        judged,
        "(no text)" if item.text is None else shortened(item.text, _LONGEST),
        None if item.context is None else shortened(item.context, _LONGEST),
    )
