"""The items of a HUSE study by kind, clear examples first, beside the other source's text for the same context."""

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, zip_longest

from textassay.corpus.printable import share, shortened
from textassay.document.blocks import Badge, Item, Items, Quote, Side
from textassay.document.words import two_decimals
from textassay.studies.huse.result import KINDS, HuseItem, HuseResult
from textassay.studies.huse.words import log_prob_of, log_prob_words, whole_texts

PLURALS = {
    "quality failure": "quality failures",
    "diversity failure": "diversity failures",
    "indistinguishable": "indistinguishable",
}
# The kinds, for readers who do not know the paper.
KINDS_EXPLAINED = {
    "quality failure": "source clear from the rating alone",
    "diversity failure": "source clear only with the probability",
    "indistinguishable": "source not clear",
}
# A context with more items than this is a task, not a pair: its items are listed alone.
_MOST_TOGETHER = 12
# Items of a kind that are listed; the JSON and CSV files have all of them.
_MOST_ITEMS = 1_000


def items_blocks(found: HuseResult) -> Iterator[Items]:
    """A list for each kind that has items, the clearest first, both sources in turns."""
    together = items_together(found)
    for kind in KINDS:
        of_kind = clearest(found, kind)
        if of_kind:
            title = f"{PLURALS[kind].capitalize()} ({KINDS_EXPLAINED[kind]})"
            keys = ("neighbours from its source", "rating", log_prob_words(found))
            # Items with one context are one entry, at the place of the clearest of them.
            entries = list(dict.fromkeys(together.get(index, (index,)) for index in of_kind))
            first = {together.get(index, (index,)): index for index in reversed(of_kind)}
            shown = tuple(_entry(found, indexes, first[indexes]) for indexes in entries[:_MOST_ITEMS])
            yield Items(shown, len(entries), keys, title)


def items_together(found: HuseResult) -> Mapping[int, tuple[int, ...]]:
    """Indexes of items with the same context by index, the model's first; those of one source alone are left out."""
    by_context: dict[str, list[int]] = defaultdict(list)
    for index, judged in enumerate(found.items):
        context = judged.item.context
        if context is not None and context.strip():
            by_context[context].append(index)
    groups = (sorted(own, key=lambda i: not found.items[i].item.is_model) for own in by_context.values())
    return {index: tuple(own) for own in groups if _is_pair(found, own) for index in own}


def _is_pair(found: HuseResult, indexes: Sequence[int]) -> bool:
    sources = {found.items[index].item.is_model for index in indexes}
    return len(sources) == 2 and len(indexes) <= _MOST_TOGETHER


def clearest(found: HuseResult, kind: str) -> list[int]:
    """Indexes of the items of a kind, clear examples first, the model's and human ones in turns."""
    sides: tuple[list[int], list[int]] = ([], [])
    for index, judged in enumerate(found.items):
        if judged.kind == kind:
            sides[not judged.item.is_model].append(index)
    ordered = (sorted(side, key=lambda index: (_clarity(found.items[index]), index)) for side in sides)
    return [index for index in chain.from_iterable(zip_longest(*ordered)) if index is not None]


def _clarity(judged: HuseItem) -> tuple[float, float]:
    """A sort key that puts clear examples first: the surest votes, and for indistinguishable items the most even."""
    by_rating, votes = _or_even(judged.votes_by_rating), _or_even(judged.votes)
    if judged.kind == "quality failure":
        return -by_rating, -votes
    return (-votes, by_rating) if judged.kind == "diversity failure" else (abs(votes - 0.5), abs(by_rating - 0.5))


def _or_even(votes: float) -> float:
    return 0.5 if math.isnan(votes) else votes


def _entry(found: HuseResult, indexes: Sequence[int], clear: int) -> Item:
    """The items of one context; the name and the numbers are those of the clear example."""
    judged = found.items[clear]
    values = (judged.votes, judged.rating, log_prob_of(judged, whole=whole_texts(found)))
    ordered = [clear, *(index for index in indexes if index != clear)]
    return Item(
        judged.item.id,
        tuple(_side(found, found.items[index], line=index != clear) for index in ordered),
        prompt=judged.item.context or "",
        lines=(", ".join(_figures(found, judged)),),
        values=tuple(value if math.isfinite(value) else None for value in values),
    )


def _side(found: HuseResult, judged: HuseItem, *, line: bool) -> Side:
    """The text of an item, with its numbers unless these are in the line of the entry."""
    item = judged.item
    source = shortened(found.rated.model, 40) if item.is_model else "human"
    text = Quote("", tags=("no text in the file",)) if item.text is None else Quote(item.text)
    return Side(
        f"{source} {shortened(item.id, 40)}",
        (text,),
        badge=Badge(judged.kind, judged.kind),
        line=", ".join(_figures(found, judged)) if line else "",
    )


def _figures(found: HuseResult, judged: HuseItem) -> Iterator[str]:
    """The rating, the log-probability, and the votes of its neighbours."""
    yield f"rating {two_decimals(judged.rating)}"
    yield f"{log_prob_words(found)} {two_decimals(log_prob_of(judged, whole=whole_texts(found)))}"
    votes = (judged.votes, judged.votes_by_rating, judged.votes_by_log_prob)
    for name, value in zip(("neighbours from its source", "by rating", "by probability"), votes, strict=True):
        if not math.isnan(value):
            yield f"{name} {share(value)}"
