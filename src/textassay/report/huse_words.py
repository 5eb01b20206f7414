"""Words of a HUSE study that all its forms share: what each number means, sentences, counts; none of them escaped."""

import math
from collections.abc import Sequence

from textassay.corpus.counting import many
from textassay.corpus.rated import NOBODY
from textassay.corpus.rating_rows import raters_are_known
from textassay.inference.result import Interval, Result
from textassay.metrics.declare import all_metrics
from textassay.report.cells import level_text
from textassay.studies.judged import KINDS, TITLES, AtK, Judged, titled
from textassay.studies.wording import number, p_text, share

PLURALS = {
    "quality failure": "quality failures",
    "diversity failure": "diversity failures",
    "indistinguishable": "indistinguishable",
}
# What tells an item of this kind, for whoever has not read the paper.
KINDS_EXPLAINED = {
    "quality failure": "clearly told, by its rating",
    "diversity failure": "clearly told, by its probability",
    "indistinguishable": "not clearly told",
}
# The field of a signature that names what the resamples behind an interval drew anew.
_DRAWN = "interval:bootstrap-"


def heading(found: Judged) -> str:
    """How many items of which source there are, and how many ratings by how many raters."""
    rated = found.rated
    model = sum(item.is_model for item in rated.items)
    low, high = rated.scale
    by = f" by {many(len(active_raters(found)), 'rater')}" if raters_are_known(rated) else ""
    # Means do not reach the ends of the scale they were given on.
    single = f"{many(len(rated.ratings), 'rating')}{by}, scale {low:g} to {high:g}"
    given = single if rated.single else f"mean ratings only, between {low:g} and {high:g}"
    return f"{many(len(rated), 'item')} ({len(rated) - model:,} human, {model:,} {rated.model}), {given}"


def active_raters(found: Judged) -> set[str]:
    """The raters whose ratings count; others were left out."""
    rated = found.rated
    return {rated.raters[place] for place in set(rated.rater_of.tolist()) if place != NOBODY}


def without_flagged(found: Judged) -> bool:
    """True where raters who look random were left out of everything that was measured."""
    flagged = {rater.name for rater in found.agreement.raters if rater.flagged} if found.agreement else set()
    return bool(flagged) and flagged.isdisjoint(active_raters(found))


def scale_text(found: Judged) -> str:
    """The lowest and the highest rating there can be, with their names where they have any."""
    return " to ".join(
        f"{bound:g} ({label})" if (label := found.rated.labels.get(bound)) else f"{bound:g}"
        for bound in found.rated.scale
    )


def all_notes(found: Judged) -> list[str]:
    """What is odd about the ratings and what the study says of itself, each once."""
    return list(dict.fromkeys((*found.rated.notes, *found.notes)))


def score(value: float) -> str:
    """A score with two decimals, like in the paper.

    >>> score(0.53), score(-0.001), score(math.nan)
    ('0.53', '0.00', '–')
    """
    return f"{value:z.2f}" if math.isfinite(value) else number(value)


def bounds(low: float, high: float) -> str:
    """A range of scores, or nothing where it is not known.

    >>> bounds(0.4, 0.655), bounds(math.nan, 1.0)
    ('[0.40, 0.66]', '')
    """
    return f"[{score(low)}, {score(high)}]" if math.isfinite(low) and math.isfinite(high) else ""


def interval_text(interval: Interval | None) -> str:
    """An interval by its bounds, or nothing where there is none."""
    return bounds(interval.low, interval.high) if interval else ""


def chance_text(result: Result) -> str:
    """What texts that cannot be told apart score at this size, and the range; nothing where it is not known."""
    mean = result.parts.get("chance", math.nan)
    spread = bounds(result.parts.get("chance_low", math.nan), result.parts.get("chance_high", math.nan))
    return f"{score(mean)} {spread}".strip() if math.isfinite(mean) else ""


def meaning(result: Result) -> str:
    """A score in words."""
    if result.undefined is not None or not math.isfinite(result.estimate):
        return "no number"
    if result.metric == "huse_d":
        more = (1 - result.estimate) / 2
        return f"{share(more)} more with the probability known" if more > 0 else "the probability tells nothing more"
    features = "rating alone" if result.metric == "huse_q" else "rating and probability"
    return f"{share(1 - result.estimate / 2)} told apart by {features}"


def p_texts(found: Judged) -> list[str]:
    """The p-value of each score; all empty where nothing was tested."""
    values = [math.nan if result.p_value is None else result.p_value for result in found.results]
    return ["" if all(map(math.isnan, values)) else p_text(value) for value in values]


def legend(found: Judged) -> list[str]:
    """How to read the table."""
    lines = [
        "1: no better than guessing who wrote it, 0: people and model are always told apart; HUSE-D = 1 + HUSE - HUSE-Q"
    ]
    if any(result.interval for result in found.results):
        over = drawn(found)
        lines.append(f"interval: {level_text(found.level)}, bootstrap{f' over {over}' if over else ''}")
    said = []
    if _tested(found):
        said.append("p: how often texts that cannot be told apart score this low")
    if _has_chance(found):
        said.append(f"chance: what they score at this size, mean and {level_text(found.level)} range")
    return [*lines, *(["; ".join(said)] if said else [])]


def short_legend(found: Judged) -> list[str]:
    """The same for whoever wants no definitions; no line is wider than a narrow terminal."""
    compared = [name for name, known in (("p", _tested(found)), ("chance", _has_chance(found))) if known]
    said = [f"interval: {level_text(found.level)}"] if any(result.interval for result in found.results) else []
    said += [f"{' and '.join(compared)}: of texts that cannot be told apart"] if compared else []
    lines = ["1: people and model cannot be told apart, 0: they always can"]
    return [*lines, *(["; ".join(said)] if said else [])]


def drawn(found: Judged) -> str:
    """What was drawn anew for the intervals, in words; empty where that is not known."""
    fields = [field for result in found.results for field in result.signature.split("|")]
    first = next((field for field in fields if field.startswith(_DRAWN)), _DRAWN)
    *names, last = first.removeprefix(_DRAWN).split("+")
    return f"{', '.join(names)} and {last}" if names else last


def _tested(found: Judged) -> bool:
    return any(result.p_value is not None for result in found.results)


def _has_chance(found: Judged) -> bool:
    return any(chance_text(result) for result in found.results)


def kinds_explained(found: Judged) -> str:
    """What the kinds of items mean, in a line."""
    said = "; ".join(f"{kind}: {said}" for kind, said in KINDS_EXPLAINED.items())
    return (
        f"{said}; chance: as many of both sources together if nothing told them apart" if found.chance_kinds else said
    )


def kinds_in_short(found: Judged) -> str:
    """The same, no wider than a narrow terminal."""
    said = "quality: told by the rating; diversity: by the probability"
    return f"{said}; chance: by luck" if found.chance_kinds else said


def unbroken(text: str) -> str:
    """The same text for a page, where no line may end between a number and its percent sign.

    >>> unbroken("74 % of them")
    '74\\xa0% of them'
    """
    return text.replace(" %", "\N{NO-BREAK SPACE}%")


def missing_lines(found: Judged) -> list[str]:
    """Scores without a number, and why."""
    return [
        f"{titled(label)}: no number: {result.undefined}"
        for label, result in zip(found.labels, found.results, strict=True)
        if result.undefined is not None
    ]


def no_test_lines(found: Judged) -> list[str]:
    """Scores that have a number and could not have a test, and why."""
    known = all_metrics()
    reasons = {
        TITLES.get(result.metric, result.metric): known[result.metric].why_no_test
        for result in found.results
        if result.undefined is None and result.metric in known
    }
    return [f"{name}: no test: {reason}" for name, reason in reasons.items() if reason]


def sources(found: Judged) -> list[tuple[str, bool]]:
    """What each source is called, and whether it is the model."""
    return [("human", False), (found.rated.model, True)]


def count_of(found: Judged, kind: str, *, is_model: bool) -> int:
    """Items of this kind and source."""
    return sum(judged.kind == kind and judged.item.is_model == is_model for judged in found.items)


def chance_counts(found: Judged) -> str:
    """How many items of each kind sources exchanged at random would give, both sources together."""
    if not found.chance_kinds:
        return ""
    known = zip(KINDS, found.chance_kinds, strict=True)
    return " · ".join(f"{PLURALS[kind]} {count:,.0f}" for kind, count in known)


def counts(found: Judged, *, is_model: bool) -> str:
    """How many items of a source fail in which way."""
    known = [(PLURALS[kind], count_of(found, kind, is_model=is_model)) for kind in KINDS]
    return " · ".join(f"{name} {count:,}" for name, count in known)


def k_range(found: Judged) -> tuple[str, str]:
    """Which numbers of neighbours were looked at, and the range of each score over them; empty where only one was."""
    ks = [point.k for point in found.by_k]
    if len(set(ks)) < 2:
        return "", ""
    ranges = [
        f"{name} {_range([getattr(point, metric) for point in found.by_k])}"
        for metric, name in TITLES.items()
        if any(math.isfinite(getattr(point, metric)) for point in found.by_k)
    ]
    return f"k {min(ks)} to {max(ks)}", ", ".join(ranges)


def k_line(found: Judged) -> str:
    """The same as a sentence; empty where only one number was looked at."""
    name, ranges = k_range(found)
    return f"with {name} neighbours: {ranges}" if ranges else ""


def telling_ks(found: Judged) -> list[AtK]:
    """The scores at numbers of neighbours that double, and at those that were asked for."""
    asked = {result.options.get("k") for result in found.results}
    return [at for at in found.by_k if at.k & (at.k - 1) == 0 or at.k in asked]


def _range(values: Sequence[float]) -> str:
    known = [value for value in values if math.isfinite(value)]
    low, high = score(min(known)), score(max(known))
    return low if low == high else f"{low} to {high}"
