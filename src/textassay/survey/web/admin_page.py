"""The admin page: progress, agreement and raters of a study, and the download of its ratings."""

import math
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from statistics import median
from typing import Any

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from textassay.corpus.printable import many
from textassay.survey.model import RaterProgress, Summary
from textassay.survey.store.study_store import Store
from textassay.survey.web.access import Access
from textassay.survey.web.pages import Pages


def agreement(store: Store) -> float:
    """Krippendorff's alpha of all ratings (interval scale); NaN while no item has two ratings that could differ."""
    import numpy as np

    from textassay.inference.ratings.krippendorff import alpha

    places: dict[str, int] = {}
    pairs = [(places.setdefault(rating.item.id, len(places)), rating.value) for rating in store.ratings()]
    if not pairs:
        return math.nan
    items, values = zip(*pairs, strict=True)
    return alpha(np.array(items, dtype=np.int64), np.array(values, dtype=np.float64))


WIDTH, HEIGHT = 600.0, 100.0
_MOST_BARS = 30
_MOST_LABELS = 12
_GAP = 0.22


@dataclass(frozen=True)
class Bar:
    """Items with `low` to `high` ratings; `full` where that is all that is wanted."""

    low: int
    high: int
    items: int
    full: bool
    x: float
    y: float
    width: float
    height: float

    @property
    def label(self) -> str:
        """The bar in words."""
        ratings = f"{self.low}" if self.low == self.high else f"{self.low} to {self.high}"
        things = "1 item has" if self.items == 1 else f"{self.items} items have"
        return f"{things} {ratings} rating{'' if ratings == '1' else 's'}"


@dataclass(frozen=True)
class Histogram:
    """The bars, the number of items that the highest stands for, and which bars have room for a label."""

    bars: tuple[Bar, ...]
    most: int
    every: int


def histogram(counts: Sequence[int], *, wanted: int) -> Histogram:
    """Bars from no rating to as many as are wanted, or as there are; several numbers a bar where there are many.

    >>> [bar.label for bar in histogram([0, 2, 2], wanted=2).bars]
    ['1 item has 0 ratings', '0 items have 1 rating', '2 items have 2 ratings']
    """
    last = max([wanted, *counts])
    step = -(-(last + 1) // _MOST_BARS)
    held = [0] * (last // step + 1)
    for count in counts:
        held[count // step] += 1
    most = max(1, *held)
    lows = range(0, last + 1, step)
    bars = [
        Bar(low, min(low + step - 1, last), items, low >= wanted, *_place(place, items / most, len(held)))
        for place, (low, items) in enumerate(zip(lows, held, strict=True))
    ]
    return Histogram(tuple(bars), max(held), every=-(-len(bars) // _MOST_LABELS))


def _place(place: int, share: float, places: int) -> tuple[float, float, float, float]:
    """Where a bar stands, how wide and how high it is."""
    slot = WIDTH / places
    x, height = slot * (place + _GAP / 2), HEIGHT * share
    return round(x, 2), round(HEIGHT - height, 2), round(slot * (1 - _GAP), 2), round(height, 2)


# A look may cost at most this share of the time, however many people watch however large a study.
_SHARE = 0.05
_MOST_RATERS = 500


@dataclass(frozen=True)
class RaterRow:
    """One rater of the table. `missed` when an attention check was answered wrongly."""

    name: str
    done: int
    total: int
    checks: str
    missed: bool
    seconds: str
    last_seen: str


@dataclass(frozen=True)
class View:
    """All that the page shows, at one moment."""

    at: str
    clock: str
    summary: Summary
    share: int
    agreement: str
    seconds: str
    started: int
    finished: int
    spread: str
    chart: Histogram
    raters: tuple[RaterRow, ...]
    left_out: int


class Watch:
    """Looks at the store for everybody who watches, and no more often than it can afford."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._lock = threading.Lock()
        self._last: View | None = None
        self._good_until = -math.inf

    def look(self) -> View:
        """The study as it stands, or as it stood a moment ago where a look takes long."""
        with self._lock:
            begun = time.monotonic()
            if self._last is None or begun >= self._good_until:
                # The first look also loads libraries, so what it took says nothing about the next one.
                pause = 0.0 if self._last is None else 1.0 / _SHARE - 1.0
                self._last = view_of(self._store, datetime.now(UTC))
                ended = time.monotonic()
                self._good_until = ended + (ended - begun) * pause
            return self._last


def view_of(store: Store, now: datetime) -> View:
    """The study as it stands."""
    summary = store.summary()
    wanted = store.study.ratings_wanted
    # Those who began come first: a shared link may have made many who never did.
    shown = sorted(summary.raters, key=lambda rater: rater.done == 0)[:_MOST_RATERS]
    return View(
        at=now.isoformat(timespec="seconds"),
        clock=now.strftime("%H:%M:%S UTC"),
        summary=summary,
        share=percent(summary.ratings, summary.wanted),
        agreement=_agreement(store),
        seconds=duration(summary.median_seconds),
        started=sum(rater.done > 0 for rater in summary.raters),
        finished=sum(rater.done >= rater.total > 0 for rater in summary.raters),
        spread=_spread(summary.ratings_an_item),
        chart=histogram(summary.ratings_an_item, wanted=wanted),
        raters=tuple(_row(rater, now) for rater in shown),
        left_out=len(summary.raters) - len(shown),
    )


def _agreement(store: Store) -> str:
    """Krippendorff's alpha, or a dash while no item has two ratings that could agree."""
    found = agreement(store)
    return "–" if math.isnan(found) else f"{found:.2f}".replace("-", "−")


def _spread(counts: Sequence[int]) -> str:
    if not counts:
        return "There are no items."
    between = f"Fewest {min(counts)}, median {median(counts):g}, most {many(max(counts), 'rating')} per item"
    bare = list(counts).count(0)
    return f"{between}; {bare} have none." if bare else f"{between}."


def _row(rater: RaterProgress, now: datetime) -> RaterRow:
    return RaterRow(
        name=rater.name,
        done=rater.done,
        total=rater.total,
        checks=f"{rater.checks_right} of {rater.checks_done}" if rater.checks_done else "–",
        missed=rater.checks_right < rater.checks_done,
        seconds=duration(rater.median_seconds),
        last_seen=_ago(rater.last_seen, now),
    )


def percent(done: int, wanted: int) -> int:
    """How far something is, never rounded up: 100 only where nothing is missing.

    >>> percent(31, 120), percent(1999, 2000), percent(2000, 2000), percent(0, 0)
    (25, 99, 100, 0)
    """
    return 100 * done // wanted if wanted else 0


def duration(seconds: float | None) -> str:
    """Seconds as people say them.

    >>> duration(8.24), duration(100.0), duration(7300.0), duration(None)
    ('8.2 s', '1 min 40 s', '2 h 1 min', '–')
    """
    if seconds is None:
        return "–"
    if seconds < 60:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    return f"{whole // 60} min {whole % 60} s" if whole < 3600 else f"{whole // 3600} h {whole % 3600 // 60} min"


def _ago(moment: str | None, now: datetime) -> str:
    if moment is None:
        return "never"
    then = datetime.fromisoformat(moment)
    seconds = (now - (then if then.tzinfo else then.replace(tzinfo=UTC))).total_seconds()
    for length, name in ((86_400, "d"), (3_600, "h"), (60, "min")):
        if seconds >= length:
            return f"{int(seconds // length)} {name} ago"
    return "now"


class AdminPage:
    """The pages of the admin. Methods are endpoints and run in the thread pool."""

    def __init__(self, store: Store, access: Access, pages: Pages) -> None:
        self._store, self._access, self._pages = store, access, pages
        self._watch = Watch(store)

    def show(self, request: Request) -> Response:
        """The whole page."""
        self._access.admin(request)
        return self._pages.page("admin", **self._content(request))

    def data(self, request: Request) -> Response:
        """The part of the page that changes, for the script that refreshes it."""
        self._access.admin(request)
        return self._pages.page("admin_data", **self._content(request))

    def ratings(self, request: Request) -> Response:
        """All ratings as a file, made while it is sent; `?for=spreadsheet` for one without formulas."""
        from textassay.survey.store.exporting import ratings_csv

        self._access.admin(request)
        safe = request.query_params.get("for") == "spreadsheet"
        headers = {"content-disposition": f'attachment; filename="{"ratings-spreadsheet" if safe else "ratings"}.csv"'}
        pieces = _encoded(ratings_csv(self._store, spreadsheet_safe=safe))
        return StreamingResponse(pieces, media_type="text/csv; charset=utf-8", headers=headers)

    def _content(self, request: Request) -> dict[str, Any]:
        return {"study": self._store.study, "token": request.path_params["token"], "view": self._watch.look()}


def _encoded(pieces: Iterator[str]) -> Iterator[bytes]:
    return (piece.encode("utf-8", "replace") for piece in pieces)
