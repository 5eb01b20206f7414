"""Items as a reader sees them (Table 2): texts on one context together, the most telling first."""

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from textassay.report.huse_facts import log_prob_of, whole_texts
from textassay.report.huse_marks import kind_bar
from textassay.report.huse_words import KINDS_EXPLAINED, PLURALS, count_of
from textassay.report.items_view import readable
from textassay.studies.judged import KINDS, Judged, JudgedItem

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

    judged: JudgedItem
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


def groups(found: Judged) -> list[Group]:
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


def source_bars(found: Judged) -> list[tuple[bool, int, Markup]]:
    """For each source whether it is the model, how many items it has, and the bar of their kinds."""
    return [
        (is_model, sum(counts), kind_bar(counts))
        for is_model in (False, True)
        for counts in [[count_of(found, kind, is_model=is_model) for kind in KINDS]]
    ]


def entries(found: Judged) -> list[tuple[int, ...]]:
    """Places of the items that stand together, in the order of the first; those of one source only stand alone."""
    by_context: dict[str, list[int]] = defaultdict(list)
    for place, judged in enumerate(found.items):
        context = judged.item.context
        if context is not None and context.strip():
            by_context[context].append(place)
    together = {place: tuple(places) for places in by_context.values() if _pairs(found, places) for place in places}
    unique = dict.fromkeys(together.get(place, (place,)) for place in range(len(found.items)))
    return [tuple(sorted(places, key=lambda p: not found.items[p].item.is_model)) for places in unique]


def _pairs(found: Judged, places: Sequence[int]) -> bool:
    sources = {found.items[place].item.is_model for place in places}
    return len(sources) == 2 and len(places) <= _MOST_TOGETHER


def clearness(judged: JudgedItem) -> float:
    """How clearly neighbours vote, for or against its source: 0 even, 0.5 all of one source."""
    votes = judged.votes_by_rating if judged.kind == "quality failure" else judged.votes
    return abs(votes - 0.5) if math.isfinite(votes) else -1.0


def telling_order(found: Judged) -> list[tuple[int, ...]]:
    """The entries, most telling first: each kind and source gets its share of any beginning of the list."""
    rank: dict[int, float] = {}
    classes: dict[tuple[str, bool], list[int]] = defaultdict(list)
    for place, judged in enumerate(found.items):
        classes[judged.kind, judged.item.is_model].append(place)
    for places in classes.values():
        ordered = sorted(places, key=lambda p: (-clearness(found.items[p]), p))
        rank |= {place: (at + 0.5) / len(ordered) for at, place in enumerate(ordered)}
    return sorted(entries(found), key=lambda places: min(rank[place] for place in places))


def most_telling(found: Judged, kind: str, most: int) -> list[tuple[int, ...]]:
    """The entries of the clearest items of a kind, both sources taking turns."""
    entry_of = {place: places for places in entries(found) for place in places}
    own = [place for place, judged in enumerate(found.items) if judged.kind == kind]
    sides: tuple[list[int], list[int]] = ([], [])
    for place in sorted(own, key=lambda p: (-clearness(found.items[p]), p)):
        sides[found.items[place].item.is_model].append(place)
    turns = sorted((at, not is_model, p) for is_model in (False, True) for at, p in enumerate(sides[is_model]))
    return list(dict.fromkeys(entry_of[place] for *_, place in turns))[:most]


def entry_view(found: Judged, places: Sequence[int], *, characters: int) -> EntryView:
    """The items at these places with texts cut to so many characters."""
    items = [found.items[place] for place in places]
    context = items[0].item.context
    whole = whole_texts(found)
    views = [
        ItemView(j, None if j.item.text is None else readable(j.item.text, characters), log_prob_of(j, whole=whole))
        for j in items
    ]
    return EntryView(None if context is None else readable(context, characters), tuple(views))
