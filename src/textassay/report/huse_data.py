"""The items of a HUSE study as one compact block of JSON that the page's scripts unpack: as many as there is room for.

Every item takes part in the list and on the map as long as there is room for its numbers. After that the most telling
items come with their texts until the page is full. A text is written where it first appears; from then on its number
stands for it.
"""

import math
from typing import Any

from textassay.corpus.printable import shortened
from textassay.report.axis import Axis
from textassay.report.huse_facts import log_prob_of, whole_texts
from textassay.report.huse_items import telling_order
from textassay.report.huse_map import Map
from textassay.report.items_view import readable
from textassay.report.page_with_items import MOST_CHARACTERS, Block, block_of, fitted
from textassay.studies.judged import KINDS, Judged

# Ratings and log-probabilities as thousandths, votes as hundredths: digits that are shown or seen on the map.
_FINE, _SHARE = 1000, 100
_LONGEST_ID = 60


def huse_block(found: Judged, drawn: Map | None, *, room: int) -> Block:
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


def _frame(found: Judged, drawn: Map | None) -> dict[str, Any]:
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


def _rows(found: Judged, places: tuple[int, ...]) -> list[list[Any]]:
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

    def __init__(self, found: Judged) -> None:
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
