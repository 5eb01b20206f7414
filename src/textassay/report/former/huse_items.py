"""The items of a HUSE report: grouped by context, ranked, and as data of the page.

The list and the map have every item as long as there is room for its numbers. The clearest examples come with their
texts until the page is full.
"""

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from textassay.corpus.printable import share, shortened
from textassay.report.former.charts.decision_map import Map
from textassay.report.former.charts.svg import Axis
from textassay.report.former.huse_scores import (
    KINDS_EXPLAINED,
    PLURALS,
    count_of,
    log_prob_of,
    log_prob_words,
    score,
    whole_texts,
)
from textassay.report.former.items import TextTable, embedded, filled, in_turns, readable, scaled
from textassay.report.former.templates.page import Block
from textassay.studies.huse.result import KINDS, HuseItem, HuseResult

# A context with more items than this is a task, not a pair: its items are listed alone.
_MOST_TOGETHER = 12


@dataclass(frozen=True)
class Group:
    """All items of a kind: how many per source, and what the kind means."""

    kind: str
    plural: str
    explained: str
    human: int
    model: int
    share: float


@dataclass(frozen=True)
class ItemView:
    """One item with its text as it may be shown; None if the file has no texts."""

    judged: HuseItem
    text: str | None
    log_prob: float


@dataclass(frozen=True)
class EntryView:
    """Items with the same context, those of the model first."""

    context: str | None
    items: tuple[ItemView, ...]


_MEANING = {
    "quality failure": (
        "At least three in four items with about the same rating come from the item's own source. A model text of this"
        " kind reads worse than human texts; a human text of this kind shows what the model does not achieve."
    ),
    "diversity failure": (
        "Ratings alone do not make the item's source clear, but at least three in four items with similar rating and"
        " probability come from the item's own source. It is a human text that the model would hardly write, or a model"
        " text with a much higher probability than human texts of its rating. HUSE-D measures the net effect: texts"
        " identified only with the probability, minus texts that are no longer identified with it. HUSE-D can therefore"
        " show no loss although there are some diversity failures."
    ),
    "indistinguishable": (
        "Fewer than three in four neighbours come from the item's own source, by the rating and by rating and"
        " probability: here the model is like people, or there is too little data."
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
            explained += f" If the sources were indistinguishable, about {chance[kind]:,.0f} would be expected."
        found_groups.append(Group(kind, PLURALS[kind], explained, human, model, (human + model) / total))
    return found_groups


def source_counts(found: HuseResult) -> list[tuple[bool, list[int]]]:
    """For each source whether it is the model, and the numbers of its items of each kind."""
    return [(model, [count_of(found, kind, is_model=model) for kind in KINDS]) for model in (False, True)]


def entries(found: HuseResult) -> list[tuple[int, ...]]:
    """Places of items with the same context, in the order of the first; contexts with one source are split up."""
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


def _clarity(judged: HuseItem) -> tuple[float, float]:
    """A sort key that puts clear examples first: the surest votes, and for indistinguishable items the most even."""
    by_rating, votes = _or_even(judged.votes_by_rating), _or_even(judged.votes)
    if judged.kind == "quality failure":
        return -by_rating, -votes
    return (-votes, by_rating) if judged.kind == "diversity failure" else (abs(votes - 0.5), abs(by_rating - 0.5))


def _or_even(votes: float) -> float:
    return 0.5 if math.isnan(votes) else votes


def clearest_first(found: HuseResult) -> list[tuple[int, ...]]:
    """The entries, clear examples first: any beginning of the list has its share of each kind and source."""
    rank: dict[int, float] = {}
    classes: dict[tuple[str, bool], list[int]] = defaultdict(list)
    for place, judged in enumerate(found.items):
        classes[judged.kind, judged.item.is_model].append(place)
    for places in classes.values():
        ordered = sorted(places, key=lambda p: (_clarity(found.items[p]), p))
        rank |= {place: (at + 0.5) / len(ordered) for at, place in enumerate(ordered)}
    return sorted(entries(found), key=lambda places: min(rank[place] for place in places))


def clearest(found: HuseResult, kind: str, most: int) -> list[tuple[int, ...]]:
    """The entries of the clearest items of a kind, both sources in turns."""
    entry_of = {place: places for places in entries(found) for place in places}
    return list(dict.fromkeys(entry_of[place] for place in _of_kind(found, kind)))[:most]


def _of_kind(found: HuseResult, kind: str) -> list[int]:
    """Places of the items of a kind, clear examples first, the model's and human ones in turns."""
    sides: tuple[list[int], list[int]] = ([], [])
    for place, judged in enumerate(found.items):
        if judged.kind == kind:
            sides[not judged.item.is_model].append(place)
    return in_turns([sorted(side, key=lambda p: (_clarity(found.items[p]), p)) for side in sides])


def entry_view(found: HuseResult, places: Sequence[int], *, characters: int) -> EntryView:
    """The items at these places with texts cut to this many characters."""
    items = [found.items[place] for place in places]
    context = items[0].item.context
    whole = whole_texts(found)
    views = [
        ItemView(j, None if j.item.text is None else readable(j.item.text, characters), log_prob_of(j, whole=whole))
        for j in items
    ]
    return EntryView(None if context is None else readable(context, characters), tuple(views))


# Ratings and log-probabilities as thousandths, votes as hundredths: the digits that are shown or drawn.
_FINE, _SHARE = 1000, 100
_LONGEST_ID = 60


def huse_block(found: HuseResult, drawn: Map | None, *, room: int) -> Block:
    """As many items as fit into this many bytes, clear examples first."""
    order = clearest_first(found)
    frame = _frame(found, drawn)
    write = TextTable()
    rows, texts = filled(
        frame, (_rows(found, places) for places in order), (_texts(found, places, write) for places in order), room=room
    )
    frame |= {"entries": rows, "texts": texts}
    # The first text of an entry is its context.
    listed, with_texts = sum(map(len, rows)), sum(len(entry) - 1 for entry in texts)
    return Block(Markup(embedded(frame)), listed, with_texts)  # noqa: S704


def _frame(found: HuseResult, drawn: Map | None) -> dict[str, Any]:
    """What all items share: names, and the axes of both drawings of the map."""
    return {
        "total": len(found.items),
        "kinds": list(KINDS),
        "sources": ["human", shortened(found.rated.model, _LONGEST_ID)],
        "log_prob": log_prob_words(found),
        "single": found.rated.single,
        "maps": {one.key: [_axis(one.x), _axis(one.y)] for one in (drawn.wide, drawn.narrow)} if drawn else {},
        "entries": [],
        "texts": [],
    }


def _axis(scale: Axis) -> list[float]:
    return [scale.low, scale.high, scale.start, scale.end, scale.centre if scale.bend else 0.0, scale.bend]


def _rows(found: HuseResult, places: tuple[int, ...]) -> list[list[Any]]:
    """The items of an entry: place, id, source, kind, rating, log-probability, votes, those by rating, ratings.

    Last come the votes by probability alone.
    """
    rows = []
    for place in places:
        judged = found.items[place]
        kind = KINDS.index(judged.kind) if judged.kind in KINDS else len(KINDS) - 1
        log_prob = log_prob_of(judged, whole=whole_texts(found))
        fine = [scaled(value, _FINE) for value in (judged.rating, log_prob)]
        shares = (judged.votes, judged.votes_by_rating, judged.votes_by_log_prob)
        both, by_rating, by_log_prob = (scaled(value, _SHARE) for value in shares)
        name = readable(judged.item.id, _LONGEST_ID)
        rows.append(
            [place, name, int(judged.item.is_model), kind, *fine, both, by_rating, judged.n_ratings, by_log_prob]
        )
    return rows


def _texts(found: HuseResult, places: tuple[int, ...], write: TextTable) -> list[Any]:
    """The context, then the text of each item; null if there is none."""
    items = [found.items[place].item for place in places]
    return [write(items[0].context), *(write(item.text) for item in items)]


_LONGEST, _UNKNOWN = 300, "–"
# The share of neighbours from an item's own source: by both features, and by one of them.
VOTES = ("neighbours from its source", "by rating", "by probability")


@dataclass(frozen=True)
class Example:
    """An item to show. Strings are printable and short, but not escaped for HTML or Markdown."""

    id: str
    source: str
    judged: HuseItem
    text: str
    context: str | None

    @property
    def figures(self) -> str:
        """The rating, the log-probability per token, and the votes of its neighbours."""
        judged = self.judged
        known = [f"rating {score(judged.rating)}", f"log p per token {score(judged.log_prob)}"]
        known += [f"{name} {votes}" for name, votes in zip(VOTES, self.votes, strict=True) if votes != _UNKNOWN]
        return ", ".join(known)

    @property
    def votes(self) -> tuple[str, str, str]:
        """The shares named in `VOTES`; a dash if there is none."""
        judged = self.judged
        both, by_rating, by_log_prob = (
            _UNKNOWN if math.isnan(votes) else share(votes)
            for votes in (judged.votes, judged.votes_by_rating, judged.votes_by_log_prob)
        )
        return both, by_rating, by_log_prob


def examples(found: HuseResult, top: int) -> dict[str, list[Example]]:
    """At most `top` items of each kind; kinds without any are left out."""
    chosen = {kind: [_example(found, found.items[p]) for p in _of_kind(found, kind)[: max(top, 0)]] for kind in KINDS}
    return {kind: items for kind, items in chosen.items() if items}


def _example(found: HuseResult, judged: HuseItem) -> Example:
    item = judged.item
    return Example(
        shortened(item.id, 40),
        shortened(found.rated.model, 40) if item.is_model else "human",
        judged,
        "(no text)" if item.text is None else shortened(item.text, _LONGEST),
        None if item.context is None else shortened(item.context, _LONGEST),
    )
