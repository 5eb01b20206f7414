"""How much to make of the scores of a HUSE study: what raters are worth, and what more data would bring, in words."""

import math
from collections.abc import Sequence

from textassay.corpus.counting import many
from textassay.report.huse_words import interval_text, score, without_flagged
from textassay.studies.judged import Agreement, Judged, RaterFacts, titled
from textassay.studies.wording import number

OUTLOOK_HEAD = ("more data", "now", "items ×2", "ratings ×2")
OUTLOOK_SHORT = "± half of the interval"
OUTLOOK_LEGEND = f"{OUTLOOK_SHORT}; noise in ratings raises scores, so with many more they fall somewhat"
# What leaving out raters by their agreement does by itself.
CHOSEN = "they were chosen by agreement on these ratings, which by itself lowers scores"
# Krippendorff's own bounds: 0.8 to rely on single ratings, 0.667 for tentative conclusions.
_RELIABLE, _TENTATIVE = 0.8, 0.667


def agreement_lines(found: Judged) -> list[str]:
    """How far raters agree, who looks random, and what the scores are without those."""
    agreement = found.agreement
    if agreement is None:
        return [] if found.rated.single else ["agreement not known: there are only mean ratings"]
    left_out = " and are left out" if without_flagged(found) else ""
    lines = [f"{_alpha(agreement)}; {_flagged(agreement.raters)}{left_out}"]
    if agreement.without:
        without = [
            f"{titled(label)} {score(result.estimate)}"
            for label, result in zip(found.labels, agreement.without, strict=True)
        ]
        lines.append(f"without them {', '.join(without)}; {CHOSEN}")
    return lines


def rater_lines(found: Judged, most: int) -> list[str]:
    """The raters who look random, and why; the rest of them are counted."""
    flagged = [rater for rater in found.agreement.raters if rater.flagged] if found.agreement else []
    lines = [f"{rater.name} ({many(rater.n, 'rating')}): {rater.reason}" for rater in flagged[:most]]
    return [*lines, f"and {len(flagged) - most:,} more"] if len(flagged) > most else lines


def outlook_rows(found: Judged) -> list[tuple[str, str, str, str]]:
    """Half of each interval: now, with twice the items, with twice the ratings an item."""
    return [
        (
            titled(outlook.metric),
            _half(outlook.half_width),
            _half(outlook.half_width_more_items),
            _half(outlook.half_width_more_ratings if found.rated.single else math.nan),
        )
        for outlook in found.outlook
    ]


def worth_lines(found: Judged) -> list[tuple[str, str]]:
    """Which data to pay for, by score."""
    return [(titled(outlook.metric), outlook.worth) for outlook in found.outlook if outlook.worth]


def _half(width: float) -> str:
    return f"±{score(width)}" if math.isfinite(width) else number(math.nan)


def _alpha(agreement: Agreement) -> str:
    alpha = agreement.alpha
    if not math.isfinite(alpha):
        return "Krippendorff's alpha not known"
    strength = "high" if alpha >= _RELIABLE else "fair" if alpha >= _TENTATIVE else "low"
    shown = f"{score(alpha)} {interval_text(agreement.interval)}".strip()
    ordinal = f", {score(agreement.alpha_ordinal)} for ranks" if math.isfinite(agreement.alpha_ordinal) else ""
    return f"{strength} agreement, Krippendorff's alpha {shown}{ordinal}"


def _flagged(raters: Sequence[RaterFacts]) -> str:
    if not raters:
        return "who gave which rating is not known"
    flagged = sum(rater.flagged for rater in raters)
    verb = "looks" if flagged == 1 else "look"
    return f"{flagged:,} of {many(len(raters), 'rater')} {verb} random" if flagged else "no rater looks random"
