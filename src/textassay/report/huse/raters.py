"""The section on raters: Krippendorff's alpha, each rater, and scores without raters who look random."""

import math
from collections.abc import Iterator
from dataclasses import dataclass

from markupsafe import Markup

from textassay.corpus.printable import shortened
from textassay.inference.ratings.raters import FEWEST_RATINGS
from textassay.report.charts.svg import Axis, drawing, element, line, marker
from textassay.report.huse.content import interval_text, score, without_flagged
from textassay.studies.huse.result import HuseResult, RaterAgreement, RaterFacts, titled

# Krippendorff's limits: no conclusion below the first, a firm one from the second on.
TENTATIVE, FIRM = 0.667, 0.8
_WIDTH, _HEIGHT, _LEFT, _RIGHT, _MIDDLE = 360.0, 66.0, 8.0, 352.0, 28.0


@dataclass(frozen=True)
class Beside:
    """A score with all raters and without flagged ones, as text; `change` is empty if there is no number."""

    title: str
    all_raters: str
    all_raters_interval: str
    without: str
    without_interval: str
    change: str
    undefined: str


@dataclass(frozen=True)
class Raters:
    """What the section shows; `left_out` counts raters who are not in its table.

    Raters with fewer ratings than `fewest` are never flagged. `excluded` is True if flagged raters are in no score.
    """

    alpha: str
    interval: str
    ordinal: str
    meaning: str
    gauge: Markup | None
    flagged: tuple[RaterFacts, ...]
    rows: tuple[RaterFacts, ...]
    left_out: int
    total: int
    fewest: int
    excluded: bool
    beside: tuple[Beside, ...]


def raters(found: HuseResult, *, most: int) -> Raters | None:
    """The section with at most this many raters in its table, flagged ones first; None if there are only means."""
    agreement = found.agreement
    if agreement is None:
        return None
    ordered = sorted(agreement.raters, key=_order)
    flagged = tuple(rater for rater in ordered if rater.flagged)
    return Raters(
        alpha=score(agreement.alpha),
        interval=interval_text(agreement.interval),
        ordinal=score(agreement.alpha_ordinal) if math.isfinite(agreement.alpha_ordinal) else "",
        meaning=_meaning(agreement.alpha),
        gauge=_gauge(agreement) if math.isfinite(agreement.alpha) else None,
        flagged=flagged,
        rows=tuple(ordered[:most]),
        left_out=max(len(ordered) - most, 0),
        total=len(ordered),
        fewest=FEWEST_RATINGS,
        excluded=without_flagged(found),
        beside=tuple(_beside(found, agreement)),
    )


def _order(rater: RaterFacts) -> tuple[bool, float]:
    return not rater.flagged, rater.agreement if math.isfinite(rater.agreement) else -2.0


def _meaning(alpha: float) -> str:
    if not math.isfinite(alpha):
        return "It cannot be computed, because no two raters rated the same item, or all ratings are equal."
    if alpha >= FIRM:
        return "By these limits, single ratings are reliable."
    if alpha >= TENTATIVE:
        return "By these limits, single ratings allow only tentative conclusions."
    if alpha > 0:
        return (
            "By these limits, single ratings are not reliable. HUSE uses the mean over all raters of an item, which is"
            " more stable; the section on stability shows how stable."
        )
    return "Raters agree no better than by chance, so the mean ratings contain little information about the texts."


def _beside(found: HuseResult, agreement: RaterAgreement) -> Iterator[Beside]:
    for label, before, without in zip(found.labels, found.results, agreement.without, strict=False):
        change = without.estimate - before.estimate
        yield Beside(
            title=titled(label),
            all_raters=score(before.estimate),
            all_raters_interval=interval_text(before.interval),
            without=score(without.estimate),
            without_interval=interval_text(without.interval),
            change=_signed(change),
            undefined=shortened(without.undefined or "", 200),
        )


def _signed(change: float) -> str:
    """A change with its sign; 0.00 has no sign.

    >>> _signed(-0.101), _signed(0.001), _signed(math.nan)
    ('-0.10', '0.00', '')
    """
    if not math.isfinite(change):
        return ""
    return f"{change:+.2f}" if abs(change) >= 0.005 else "0.00"


def _gauge(agreement: RaterAgreement) -> Markup:
    interval = agreement.interval
    values = [agreement.alpha, *((interval.low, interval.high) if interval else ()), 0.0, 1.0]
    scale = Axis(min(v for v in values if math.isfinite(v)), 1.0, _LEFT, _RIGHT)
    parts = [line(_LEFT, _MIDDLE, _RIGHT, _MIDDLE, "gauge-line")]
    for tick, text in ((0.0, "0: chance"), (TENTATIVE, "0.667"), (FIRM, "0.8"), (1.0, "1: full")):
        at = scale(tick)
        anchor = "end" if tick == 1 else "start" if at < _LEFT + 30 else "middle"
        parts.append(line(at, _MIDDLE - 14, at, _MIDDLE + 14, "real" if tick in (TENTATIVE, FIRM) else "zero"))
        parts.append(element("text", text, x=at, y=_MIDDLE + 30, text_anchor=anchor, class_="tick"))
    if interval and math.isfinite(interval.low) and math.isfinite(interval.high):
        parts.append(line(scale(interval.low), _MIDDLE, scale(interval.high), _MIDDLE, "bar k0"))
    parts.append(marker(0, scale(agreement.alpha), _MIDDLE, 6.0))
    value = f"{score(agreement.alpha)} {interval_text(interval)}".strip()
    return drawing(
        *parts,
        width=_WIDTH,
        height=_HEIGHT,
        key="alpha",
        title="Krippendorff's alpha",
        summary=f"{value}, limits 0.667, 0.8",
    )
