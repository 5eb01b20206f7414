"""The numbers of the admin page, in the words in which they are shown."""

import math
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from statistics import median

from textassay.corpus.counting import many
from textassay.survey.agreement import agreement
from textassay.survey.histogram import Histogram, histogram
from textassay.survey.store import Store
from textassay.survey.study import RaterProgress, Summary

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
