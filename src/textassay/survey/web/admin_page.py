"""The admin page: progress, agreement and raters of a study, and download of its ratings."""

import math
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from statistics import median
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response, StreamingResponse

from textassay.corpus.printable import many
from textassay.errors import InputError
from textassay.survey.model import Door, RaterProgress, Summary
from textassay.survey.store.export import suspects_among
from textassay.survey.store.progress import agreement, duration
from textassay.survey.store.study_store import Store
from textassay.survey.web.access import Access
from textassay.survey.web.middleware import check_key, read_form
from textassay.survey.web.pages import Pages, Problem

WIDTH, HEIGHT = 600.0, 100.0
_MOST_BARS = 30
_MOST_LABELS = 12
_GAP = 0.22


@dataclass(frozen=True)
class Bar:
    """The number of items with `low` to `high` ratings; `full` if these items are complete."""

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
        """A description of the bar."""
        ratings = f"{self.low}" if self.low == self.high else f"{self.low} to {self.high}"
        things = "1 item has" if self.items == 1 else f"{self.items} items have"
        return f"{things} {ratings} rating{'' if ratings == '1' else 's'}"


@dataclass(frozen=True)
class Histogram:
    """The bars, the number of items in the highest bar, and the step between labelled bars."""

    bars: tuple[Bar, ...]
    most: int
    every: int


def histogram(counts: Sequence[int], *, wanted: int) -> Histogram:
    """Bars from 0 ratings to the wanted or the largest number; several numbers per bar if there are many.

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
        Bar(low, min(low + step - 1, last), items, low >= wanted, *_place(index, items / most, len(held)))
        for index, (low, items) in enumerate(zip(lows, held, strict=True))
    ]
    return Histogram(tuple(bars), max(held), every=-(-len(bars) // _MOST_LABELS))


def _place(place: int, share: float, places: int) -> tuple[float, float, float, float]:
    """The position, width and height of a bar."""
    slot = WIDTH / places
    x, height = slot * (place + _GAP / 2), HEIGHT * share
    return round(x, 2), round(HEIGHT - height, 2), round(slot * (1 - _GAP), 2), round(height, 2)


# Computing the view may take at most this share of the time, whatever the number of viewers and the size of the study.
_MAX_SHARE = 0.05
_MAX_RATERS = 500


@dataclass(frozen=True)
class RaterRow:
    """One rater in the table.

    `missed` is True if an attention check was answered wrongly, `fast` if the rater is a speeder.
    """

    name: str
    done: int
    total: int
    checks: str
    missed: bool
    seconds: str
    fast: bool
    last_seen: str
    excluded: bool


@dataclass(frozen=True)
class View:
    """The content of the page at one point in time."""

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
    door: Door


class CachedView:
    """The view of a study, shared by all viewers and recomputed only as often as its cost allows."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._lock = threading.Lock()
        self._last: View | None = None
        self._good_until = -math.inf

    def current(self) -> View:
        """The current view, or a recent one if computing it takes long."""
        with self._lock:
            begun = time.monotonic()
            if self._last is None or begun >= self._good_until:
                # The first computation also imports libraries, so its duration is not representative.
                pause = 0.0 if self._last is None else 1.0 / _MAX_SHARE - 1.0
                self._last = view_of(self._store, datetime.now(UTC))
                ended = time.monotonic()
                self._good_until = ended + (ended - begun) * pause
            return self._last

    def forget(self) -> None:
        """Compute the view again when it is asked for the next time."""
        with self._lock:
            self._good_until = -math.inf


def view_of(store: Store, now: datetime) -> View:
    """The view of a study at `now`."""
    with store.snapshot() as found:
        summary, alpha, door = found.summary(), agreement(found.ratings()), found.door()
    speeders = suspects_among(summary.raters).speeders
    wanted = store.study.ratings_wanted
    # Raters who have started come first: a shared link may have added many who never start.
    shown = sorted(summary.raters, key=lambda rater: rater.done == 0)[:_MAX_RATERS]
    return View(
        at=now.isoformat(timespec="seconds"),
        clock=now.strftime("%H:%M:%S UTC"),
        summary=summary,
        share=summary.share,
        agreement="–" if math.isnan(alpha) else f"{alpha:.2f}".replace("-", "−"),
        seconds=duration(summary.median_seconds),
        started=sum(rater.done > 0 for rater in summary.raters),
        finished=sum(rater.done >= rater.total > 0 for rater in summary.raters),
        spread=_spread(summary.ratings_per_item),
        chart=histogram(summary.ratings_per_item, wanted=wanted),
        raters=tuple(_row(rater, now, fast=rater.name in speeders) for rater in shown),
        left_out=len(summary.raters) - len(shown),
        door=door,
    )


def _spread(counts: Sequence[int]) -> str:
    if not counts:
        return "There are no items."
    between = f"Minimum {min(counts)}, median {median(counts):g}, maximum {many(max(counts), 'rating')} per item"
    unrated = list(counts).count(0)
    return f"{between}; {many(unrated, 'item')} without ratings." if unrated else f"{between}."


def _row(rater: RaterProgress, now: datetime, *, fast: bool) -> RaterRow:
    return RaterRow(
        name=rater.name,
        done=rater.done,
        total=rater.total,
        checks=f"{rater.checks_right} of {rater.checks_done}" if rater.checks_done else "–",
        missed=rater.checks_right < rater.checks_done,
        seconds=duration(rater.median_seconds),
        fast=fast,
        last_seen=_ago(rater.last_seen, now),
        excluded=rater.excluded,
    )


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
        self._view = CachedView(store)

    def show(self, request: Request) -> Response:
        """The page."""
        self._access.admin(request)
        return self._pages.page("admin", **self._content(request))

    def data(self, request: Request) -> Response:
        """The part of the page that the script refreshes."""
        self._access.admin(request)
        return self._pages.page("admin_data", **self._content(request))

    async def change(self, request: Request) -> Response:
        """Close the shared link or open it again, or exclude a rater or include them again."""
        form = await read_form(request)
        return await run_in_threadpool(self._change, request, form)

    def back(self, request: Request) -> Response:
        """Redirect from the address of a form to the page."""
        self._access.admin(request)
        return RedirectResponse(f"{self._pages.prefix}/admin/{request.path_params['token']}", 303)

    def _change(self, request: Request, form: dict[str, str]) -> Response:
        self._access.admin(request)
        check_key(form.get("key", ""), self._store.admin_key())
        if form.get("link") in ("close", "open"):
            self._store.close_join(form["link"] == "close")
        elif form.get("do") in ("exclude", "include"):
            try:
                self._store.exclude([form.get("rater", "")], excluded=form["do"] == "exclude")
            except InputError:
                raise Problem(400) from None
        else:
            raise Problem(400)
        self._view.forget()
        return self.back(request)

    def ratings(self, request: Request) -> Response:
        """All ratings as a CSV file, generated while it is sent; `?for=spreadsheet` protects against formulas."""
        self._access.admin(request)
        safe = request.query_params.get("for") == "spreadsheet"
        headers = {"content-disposition": f'attachment; filename="{"ratings-spreadsheet" if safe else "ratings"}.csv"'}
        return StreamingResponse(
            _ratings(self._store, spreadsheet_safe=safe), media_type="text/csv; charset=utf-8", headers=headers
        )

    def _content(self, request: Request) -> dict[str, Any]:
        return {
            "study": self._store.study,
            "token": request.path_params["token"],
            "key": self._store.admin_key(),
            "view": self._view.current(),
        }


def _ratings(store: Store, *, spreadsheet_safe: bool) -> Iterator[bytes]:
    from textassay.survey.store.export import ratings_csv

    with store.snapshot() as found:
        for piece in ratings_csv(found, spreadsheet_safe=spreadsheet_safe):
            yield piece.encode("utf-8", "replace")
