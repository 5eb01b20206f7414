"""The items to show of each kind, the clearest first, both sources taking turns; texts made printable and short."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain, zip_longest

from textassay.corpus.printable import shortened
from textassay.report.huse_words import score
from textassay.studies.judged import KINDS, Judged, JudgedItem
from textassay.studies.wording import share

_LONGEST, _UNKNOWN = 300, "–"
# Of the neighbours, how many are of an item's own source: by both features, and by one of them.
VOTES = ("neighbours of its source", "by rating", "by probability")


@dataclass(frozen=True)
class Example:
    """An item to show. Strings are printable and short, but not escaped for any page."""

    id: str
    source: str
    judged: JudgedItem
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


def examples(found: Judged, top: int) -> dict[str, list[Example]]:
    """At most `top` items of each kind; kinds without any are left out."""
    chosen = {kind: [_example(found, judged) for judged in _of_kind(found, kind, top)] for kind in KINDS}
    return {kind: items for kind, items in chosen.items() if items}


def _of_kind(found: Judged, kind: str, top: int) -> list[JudgedItem]:
    """The model's items and people's in turn, so that neither fills the list."""
    sides = [
        sorted((j for j in found.items if j.kind == kind and j.item.is_model == is_model), key=_clarity)[: max(top, 0)]
        for is_model in (True, False)
    ]
    turns: Iterator[JudgedItem | None] = chain.from_iterable(zip_longest(*sides))
    return [judged for judged in turns if judged is not None][: max(top, 0)]


def _clarity(judged: JudgedItem) -> tuple[float, float]:
    """To sort by: items that votes tell most surely come first; of those not told, the most undecided."""
    by_rating, votes = _known(judged.votes_by_rating), _known(judged.votes)
    if judged.kind == "quality failure":
        return -by_rating, -votes
    return (-votes, by_rating) if judged.kind == "diversity failure" else (abs(votes - 0.5), abs(by_rating - 0.5))


def _known(votes: float) -> float:
    return 0.5 if math.isnan(votes) else votes


def _example(found: Judged, judged: JudgedItem) -> Example:
    item = judged.item
    return Example(
        shortened(item.id, 40),
        shortened(found.rated.model, 40) if item.is_model else "human",
        judged,
        "(no text)" if item.text is None else shortened(item.text, _LONGEST),
        None if item.context is None else shortened(item.context, _LONGEST),
    )
