"""Words of a HUSE study that all its forms share: scores, facts, agreement and the worth of more data."""

import math
from collections.abc import Sequence

from textassay.corpus.printable import many, shortened
from textassay.corpus.ratings.assembly import raters_are_known
from textassay.corpus.ratings.rated_items import NOBODY
from textassay.inference.result import Interval, Result
from textassay.metrics.registry import all_metrics, citation
from textassay.report.conditional.html import span
from textassay.report.page import WORDS, setting_text
from textassay.report.table import level_text
from textassay.studies.huse.result import KINDS, TITLES, Agreement, AtK, HuseItem, HuseResult, RaterFacts, titled
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


def heading(found: HuseResult) -> str:
    """How many items of which source there are, and how many ratings by how many raters."""
    rated = found.rated
    model = sum(item.is_model for item in rated.items)
    low, high = rated.scale
    by = f" by {many(len(active_raters(found)), 'rater')}" if raters_are_known(rated) else ""
    # Means do not reach the ends of the scale they were given on.
    single = f"{many(len(rated.ratings), 'rating')}{by}, scale {low:g} to {high:g}"
    given = single if rated.single else f"mean ratings only, between {low:g} and {high:g}"
    return f"{many(len(rated), 'item')} ({len(rated) - model:,} human, {model:,} {rated.model}), {given}"


def active_raters(found: HuseResult) -> set[str]:
    """The raters whose ratings count; others were left out."""
    rated = found.rated
    return {rated.raters[place] for place in set(rated.rater_of.tolist()) if place != NOBODY}


def without_flagged(found: HuseResult) -> bool:
    """True where raters who look random were left out of everything that was measured."""
    flagged = {rater.name for rater in found.agreement.raters if rater.flagged} if found.agreement else set()
    return bool(flagged) and flagged.isdisjoint(active_raters(found))


def scale_text(found: HuseResult) -> str:
    """The lowest and the highest rating there can be, with their names where they have any."""
    return " to ".join(
        f"{bound:g} ({label})" if (label := found.rated.labels.get(bound)) else f"{bound:g}"
        for bound in found.rated.scale
    )


def all_notes(found: HuseResult) -> list[str]:
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


def p_texts(found: HuseResult) -> list[str]:
    """The p-value of each score; all empty where nothing was tested."""
    values = [math.nan if result.p_value is None else result.p_value for result in found.results]
    return ["" if all(map(math.isnan, values)) else p_text(value) for value in values]


def legend(found: HuseResult) -> list[str]:
    """How to read the table."""
    lines = [
        "1: no better than guessing who wrote it, 0: people and model are always told apart; HUSE-D = 1 + HUSE - HUSE-Q"
    ]
    if any(result.interval for result in found.results):
        lines.append(f"interval: {level_text(found.level)}, {setting_text(found, 'interval') or 'bootstrap'}")
    said = []
    if _tested(found):
        said.append("p: how often texts that cannot be told apart score this low")
    if _has_chance(found):
        said.append(f"chance: what they score at this size, mean and {level_text(found.level)} range")
    return [*lines, *(["; ".join(said)] if said else [])]


def short_legend(found: HuseResult) -> list[str]:
    """The same for whoever wants no definitions; no line is wider than a narrow terminal."""
    compared = [name for name, known in (("p", _tested(found)), ("chance", _has_chance(found))) if known]
    said = [f"interval: {level_text(found.level)}"] if any(result.interval for result in found.results) else []
    said += [f"{' and '.join(compared)}: of texts that cannot be told apart"] if compared else []
    lines = ["1: people and model cannot be told apart, 0: they always can"]
    return [*lines, *(["; ".join(said)] if said else [])]


def _tested(found: HuseResult) -> bool:
    return any(result.p_value is not None for result in found.results)


def _has_chance(found: HuseResult) -> bool:
    return any(chance_text(result) for result in found.results)


def kinds_explained(found: HuseResult) -> str:
    """What the kinds of items mean, in a line."""
    said = "; ".join(f"{kind}: {said}" for kind, said in KINDS_EXPLAINED.items())
    return (
        f"{said}; chance: as many of both sources together if nothing told them apart" if found.chance_kinds else said
    )


def kinds_in_short(found: HuseResult) -> str:
    """The same, no wider than a narrow terminal."""
    said = "quality: told by the rating; diversity: by the probability"
    return f"{said}; chance: by luck" if found.chance_kinds else said


def unbroken(text: str) -> str:
    """The same text for a page, where no line may end between a number and its percent sign.

    >>> unbroken("74 % of them")
    '74\\xa0% of them'
    """
    return text.replace(" %", "\N{NO-BREAK SPACE}%")


def missing_lines(found: HuseResult) -> list[str]:
    """Scores without a number, and why."""
    return [
        f"{titled(label)}: no number: {result.undefined}"
        for label, result in zip(found.labels, found.results, strict=True)
        if result.undefined is not None
    ]


def no_test_lines(found: HuseResult) -> list[str]:
    """Scores that have a number and could not have a test, and why."""
    known = all_metrics()
    reasons = {
        TITLES.get(result.metric, result.metric): known[result.metric].why_no_test
        for result in found.results
        if result.undefined is None and result.metric in known
    }
    return [f"{name}: no test: {reason}" for name, reason in reasons.items() if reason]


def sources(found: HuseResult) -> list[tuple[str, bool]]:
    """What each source is called, and whether it is the model."""
    return [("human", False), (found.rated.model, True)]


def count_of(found: HuseResult, kind: str, *, is_model: bool) -> int:
    """Items of this kind and source."""
    return sum(judged.kind == kind and judged.item.is_model == is_model for judged in found.items)


def chance_counts(found: HuseResult) -> str:
    """How many items of each kind sources exchanged at random would give, both sources together."""
    if not found.chance_kinds:
        return ""
    known = zip(KINDS, found.chance_kinds, strict=True)
    return " · ".join(f"{PLURALS[kind]} {count:,.0f}" for kind, count in known)


def counts(found: HuseResult, *, is_model: bool) -> str:
    """How many items of a source fail in which way."""
    known = [(PLURALS[kind], count_of(found, kind, is_model=is_model)) for kind in KINDS]
    return " · ".join(f"{name} {count:,}" for name, count in known)


def k_range(found: HuseResult) -> tuple[str, str]:
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


def telling_ks(found: HuseResult) -> list[AtK]:
    """The scores at numbers of neighbours that double, and at those that were asked for."""
    asked = {result.options.get("k") for result in found.results}
    return [at for at in found.by_k if at.k & (at.k - 1) == 0 or at.k in asked]


def _range(values: Sequence[float]) -> str:
    known = [value for value in values if math.isfinite(value)]
    low, high = score(min(known)), score(max(known))
    return low if low == high else f"{low} to {high}"


OUTLOOK_HEAD = ("more data", "now", "items ×2", "ratings ×2")
OUTLOOK_SHORT = "± half of the interval"
OUTLOOK_LEGEND = f"{OUTLOOK_SHORT}; noise in ratings raises scores, so with many more they fall somewhat"
# What leaving out raters by their agreement does by itself.
CHOSEN = "they were chosen by agreement on these ratings, which by itself lowers scores"
# Krippendorff's own bounds: 0.8 to rely on single ratings, 0.667 for tentative conclusions.
_RELIABLE, _TENTATIVE = 0.8, 0.667


def agreement_lines(found: HuseResult) -> list[str]:
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


def rater_lines(found: HuseResult, most: int) -> list[str]:
    """The raters who look random, and why; the rest of them are counted."""
    flagged = [rater for rater in found.agreement.raters if rater.flagged] if found.agreement else []
    lines = [f"{rater.name} ({many(rater.n, 'rating')}): {rater.reason}" for rater in flagged[:most]]
    return [*lines, f"and {len(flagged) - most:,} more"] if len(flagged) > most else lines


def outlook_rows(found: HuseResult) -> list[tuple[str, str, str, str]]:
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


def worth_lines(found: HuseResult) -> list[tuple[str, str]]:
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


_SETTINGS = {"resamples": "Resamples", "seed": "Seed", "version": "Version"}
_TIES = {
    "released": "all items as far off as the k-th nearest vote as well, and an even vote names people",
    "exact": "all items exactly as far off as the k-th nearest vote as well, and an even vote names people",
    "fair": "items as far off as the k-th nearest share the places that are left, and an even vote is half a mistake",
}
_SENTENCES = {
    "same": "{model} could not be told from people by ratings and probabilities.",
    "differs": "{model} can be told from people.",
    "collapsed": "{model} has collapsed.",
    "untested": "{model} was not tested.",
}


def level_of(found: HuseResult) -> str:
    """A key of `standing.WORDS`."""
    return found.verdict.level if found.verdict.level in WORDS else "untested"


def outcome_sentence(found: HuseResult) -> str:
    """The verdict in a sentence, without its reasons."""
    said = _SENTENCES[level_of(found)].format(model=model_name(found))
    return f"{said[0].upper()}{said[1:]}" if said.startswith("the model") else said


def model_name(found: HuseResult) -> str:
    """What the source that is not human is called in a sentence."""
    return "the model" if found.rated.model == "model" else shortened(found.rated.model, 60)


def whole_texts(found: HuseResult) -> bool:
    """True when votes go by the log-probability of the whole text in place of that a token."""
    return any(result.options.get("per") == "text" for result in found.results[:1])


def log_prob_of(judged: HuseItem, *, whole: bool) -> float:
    """The log-probability that votes go by."""
    return judged.log_prob * judged.item.length if whole else judged.log_prob


def chosen_k(found: HuseResult) -> int | None:
    """The number of neighbours of the first score, None where it has no such option."""
    known = [result.options.get("k") for result in found.results]
    return next((k for k in known if isinstance(k, int)), None)


def tie_rule(found: HuseResult) -> str:
    """What happens to ties, in words; empty where it is not known."""
    variants = dict.fromkeys(str(result.options.get("variant", "")) for result in found.results)
    return next((_TIES[name] for name in variants if name in _TIES), "")


def huse_facts(found: HuseResult) -> list[tuple[str, str]]:
    """Terms and values for the head of a report."""
    rated = found.rated
    model = sum(item.is_model for item in rated.items)
    k = chosen_k(found)
    variants = dict.fromkeys(str(r.options["variant"]) for r in found.results if "variant" in r.options)
    terms = [
        ("Items", f"{len(rated) - model:,} human, {model:,} of the model"),
        ("Ratings", _ratings(found)),
        ("Ratings an item", span(judged.n_ratings for judged in found.items) if rated.single else ""),
        ("Scale", shortened(scale_text(found), 80)),
        ("Neighbours", f"k = {k}" if k else ""),
        ("Ties", ", ".join(shortened(name, 30) for name in variants)),
        ("Interval level", level_text(found.level)),
        *((term, setting_text(found, name)) for name, term in _SETTINGS.items()),
    ]
    return [(term, value) for term, value in terms if value]


def _ratings(found: HuseResult) -> str:
    """How many ratings were measured, and by how many raters where that is known."""
    rated = found.rated
    if not rated.single:
        return "one mean an item"
    by = f" by {many(len(active_raters(found)), 'rater')}" if raters_are_known(rated) else ""
    return f"{len(rated.ratings):,}{by}"


def citations(found: HuseResult) -> list[str]:
    """The papers of the metrics, each once; a metric that is not known here is left out."""
    known = all_metrics()
    names = dict.fromkeys(known[result.metric].paper for result in found.results if result.metric in known)
    return [citation(name) for name in names]


def untested_reasons(found: HuseResult) -> dict[str, str]:
    """Why a metric has no p-value, by its name."""
    known = all_metrics()
    return {
        result.metric: known[result.metric].why_no_test or ""
        for result in found.results
        if result.metric in known and result.p_value is None
    }
