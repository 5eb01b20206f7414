"""What a HUSE report states: scores in words, kinds of items, raters, and the effect of more data."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from textassay.corpus.printable import many, share, shortened
from textassay.corpus.ratings.rated_items import NOBODY
from textassay.document.words import number, p_text
from textassay.inference.raters import FEWEST_RATINGS
from textassay.inference.result import Interval, Result
from textassay.metrics.registry import all_metrics
from textassay.report.former.table import level_text, summary
from textassay.studies.huse.result import KINDS, TITLES, AtK, HuseItem, HuseResult, RaterAgreement, RaterFacts, titled

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
# The same, no wider than a narrow terminal.
_KINDS_IN_SHORT = "failures: source clear by rating (quality) or only with probability (diversity)"
# A human text with a good rating is a failure, too: not its own, but the model's.
_HUMAN_FAILURES = "a failure among human texts shows what the model does not achieve"


def heading(found: HuseResult) -> str:
    """How many items there are per source, and how many ratings by how many raters."""
    rated = found.rated
    model = sum(item.is_model for item in rated.items)
    low, high = rated.scale
    by = f" by {many(len(active_raters(found)), 'rater')}" if rated.names_raters else ""
    # Mean ratings do not reach the ends of the scale.
    single = f"{many(len(rated.ratings), 'rating')}{by}, scale {low:g} to {high:g}"
    given = single if rated.single else f"mean ratings only, between {low:g} and {high:g}"
    n = len(rated.items)
    return f"{many(n, 'item')} ({n - model:,} human, {model:,} {rated.model}), {given}"


def active_raters(found: HuseResult) -> set[str]:
    """The raters whose ratings are included."""
    rated = found.rated
    return {rated.raters[place] for place in set(rated.rater_of.tolist()) if place != NOBODY}


def without_flagged(found: HuseResult) -> bool:
    """True if raters who look random were left out of all measurements."""
    flagged = {rater.name for rater in found.agreement.raters if rater.flagged} if found.agreement else set()
    return bool(flagged) and flagged.isdisjoint(active_raters(found))


def scale_text(found: HuseResult) -> str:
    """The lowest and the highest possible rating, with their names if they have any."""
    return " to ".join(
        f"{bound:g} ({label})" if (label := found.rated.labels.get(bound)) else f"{bound:g}"
        for bound in found.rated.scale
    )


def score(value: float) -> str:
    """A score with two decimals, as in the paper.

    >>> score(0.53), score(-0.001), score(math.nan)
    ('0.53', '0.00', '–')
    """
    return f"{value:z.2f}" if math.isfinite(value) else number(value)


def bounds(low: float, high: float) -> str:
    """A range of scores, or nothing if it is not known.

    >>> bounds(0.4, 0.655), bounds(math.nan, 1.0)
    ('[0.40, 0.66]', '')
    """
    return f"[{score(low)}, {score(high)}]" if math.isfinite(low) and math.isfinite(high) else ""


def interval_text(interval: Interval | None) -> str:
    """The bounds of an interval, or nothing if there is none."""
    return bounds(interval.low, interval.high) if interval else ""


def with_interval(value: float, interval: Interval | None) -> str:
    """A score and the bounds of its interval, if there is one.

    >>> with_interval(0.53, Interval(0.4, 0.655, 0.95, "bootstrap")), with_interval(0.53, None)
    ('0.53 [0.40, 0.66]', '0.53')
    """
    return f"{score(value)} {interval_text(interval)}".strip()


def chance_text(result: Result) -> str:
    """The mean and range of scores that indistinguishable texts have at this size; nothing if not known."""
    mean = result.parts.get("chance", math.nan)
    spread = bounds(result.parts.get("chance_low", math.nan), result.parts.get("chance_high", math.nan))
    return f"{score(mean)} {spread}".strip() if math.isfinite(mean) else ""


def in_words(result: Result) -> str:
    """A score in words."""
    if result.undefined is not None or not math.isfinite(result.estimate):
        return "no number"
    if result.metric == "huse_d":
        more = (1 - result.estimate) / 2
        return (
            f"a further {share(more)} identified with the probability" if more > 0 else "the probability adds nothing"
        )
    features = "rating alone" if result.metric == "huse_q" else "rating and probability"
    return f"{share(1 - result.estimate / 2)} identified by {features}"


def p_texts(found: HuseResult) -> list[str]:
    """The p-value of each score; all empty if nothing was tested."""
    values = [math.nan if result.p_value is None else result.p_value for result in found.results]
    return ["" if all(map(math.isnan, values)) else p_text(value) for value in values]


_MEANINGS = {
    "huse": "HUSE is 1 if people and model are indistinguishable and 0 if they can always be distinguished",
    "huse_q": "HUSE-Q is the same by ratings alone",
    "huse_d": "HUSE-D (1 + HUSE - HUSE-Q) is 1 if the probability does not help to distinguish more texts",
}


def legend_lines(found: HuseResult) -> list[str]:
    """How to read the table."""
    metrics = {result.metric for result in found.results}
    lines = ["; ".join(meaning for metric, meaning in _MEANINGS.items() if metric in metrics)]
    if any(result.interval for result in found.results):
        method = found.settings.get("interval", "bootstrap")
        lines.append(f"interval: {level_text(found.level)}, {method}")
    terms = []
    if _tested(found):
        terms.append("p: the probability of a score this low if people and model were indistinguishable")
    if _has_chance(found):
        terms.append(
            f"chance: what indistinguishable texts score at this size, mean and {level_text(found.level)} range"
        )
    return [*lines, *(["; ".join(terms)] if terms else [])]


def short_legend(found: HuseResult) -> list[str]:
    """The same without definitions; no line is wider than a narrow terminal."""
    metrics = {result.metric for result in found.results}
    features = ", ".join(TITLES[metric] for metric in ("huse", "huse_q") if metric in metrics)
    level = level_text(found.level)
    terms = [f"interval: {level}"] if any(result.interval for result in found.results) else []
    terms += ["p: the probability that indistinguishable texts score this low"] if _tested(found) else []
    lines = [
        f"{features} 1: people and model are indistinguishable, 0: always distinguished" if features else "",
        "HUSE-D 1: the probability does not help to distinguish more texts" if "huse_d" in metrics else "",
        "; ".join(terms),
        f"chance: what indistinguishable texts score, with its {level} range" if _has_chance(found) else "",
    ]
    return [line for line in lines if line]


def _tested(found: HuseResult) -> bool:
    return any(result.p_value is not None for result in found.results)


def _has_chance(found: HuseResult) -> bool:
    return any(chance_text(result) for result in found.results)


def kinds_explained(found: HuseResult) -> str:
    """What the kinds of items mean, in a line."""
    kinds = "; ".join(f"{kind}: {meaning}" for kind, meaning in KINDS_EXPLAINED.items())
    chance = "; chance: the number to expect from both sources together if they were indistinguishable"
    return f"{kinds}; {_HUMAN_FAILURES}{chance if found.chance_kinds else ''}"


def kinds_in_short(found: HuseResult) -> list[str]:
    """The same in lines that are no wider than a narrow terminal."""
    chance = "chance: of both sources together, if they were indistinguishable"
    return [_KINDS_IN_SHORT, _HUMAN_FAILURES, *([chance] if found.chance_kinds else [])]


def missing_lines(found: HuseResult) -> list[str]:
    """Why scores have no number."""
    return [
        f"{titled(label)}: no number: {result.undefined}"
        for label, result in zip(found.labels, found.results, strict=True)
        if result.undefined is not None
    ]


def no_test_lines(found: HuseResult) -> list[str]:
    """Why scores that have a number have no test."""
    known = all_metrics()
    reasons = {
        TITLES.get(result.metric, result.metric): known[result.metric].why_no_test
        for result in found.results
        if result.undefined is None and result.metric in known
    }
    return [f"{name}: no test: {reason}" for name, reason in reasons.items() if reason]


def sources(found: HuseResult) -> list[tuple[str, bool]]:
    """The name of each source, and whether it is the model."""
    return [("human", False), (found.rated.model, True)]


def count_of(found: HuseResult, kind: str, *, is_model: bool) -> int:
    """Items of this kind and source."""
    return sum(judged.kind == kind and judged.item.is_model == is_model for judged in found.items)


def chance_counts(found: HuseResult) -> str:
    """How many items of each kind there are with randomly exchanged sources, both sources together."""
    if not found.chance_kinds:
        return ""
    known = zip(KINDS, found.chance_kinds, strict=True)
    return " · ".join(f"{PLURALS[kind]} {count:,.0f}" for kind, count in known)


def kind_counts(found: HuseResult, *, is_model: bool) -> str:
    """How many items of a source there are of each kind."""
    known = [(PLURALS[kind], count_of(found, kind, is_model=is_model)) for kind in KINDS]
    return " · ".join(f"{name} {count:,}" for name, count in known)


def k_range(found: HuseResult) -> tuple[str, str]:
    """The numbers of neighbours that were measured, and the range of each score; empty if there is only one."""
    ks = [point.k for point in found.by_k]
    if len(set(ks)) < 2:
        return "", ""
    ranges = [
        f"{name} {_range([getattr(point, metric) for point in found.by_k])}"
        for metric, name in TITLES.items()
        if any(math.isfinite(getattr(point, metric)) for point in found.by_k)
    ]
    return f"k {min(ks)} to {max(ks)}", ", ".join(ranges)


def main_ks(found: HuseResult) -> list[AtK]:
    """The scores at powers of two and at the requested numbers of neighbours."""
    asked = {result.options.get("k") for result in found.results}
    return [at for at in found.by_k if at.k & (at.k - 1) == 0 or at.k in asked]


def _range(values: Sequence[float]) -> str:
    known = [value for value in values if math.isfinite(value)]
    low, high = score(min(known)), score(max(known))
    return low if low == high else f"{low} to {high}"


OUTLOOK_HEAD = ("more data", "now", "items ×2", "ratings ×2")
OUTLOOK_SHORT = "± half the width of the interval"
OUTLOOK_LEGEND = f"{OUTLOOK_SHORT}; noise in ratings raises scores, so with many more ratings they fall somewhat"
# The effect of leaving out raters by their agreement.
CHOSEN = "they were selected by agreement on these ratings, which alone lowers scores"
# Krippendorff's limits: no conclusion below the first, a firm one from the second on.
TENTATIVE, FIRM = 0.667, 0.8
ALPHA_TICKS = {0.0: "0: chance", TENTATIVE: "0.667", FIRM: "0.8", 1.0: "1: full"}


def agreement_lines(found: HuseResult) -> list[str]:
    """How well raters agree, how many look random, and the scores without those."""
    agreement = found.agreement
    if agreement is None:
        return [] if found.rated.single else ["agreement unknown: there are only mean ratings"]
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
    """At most this many raters who look random, and why; the others are counted."""
    flagged = [rater for rater in found.agreement.raters if rater.flagged] if found.agreement else []
    lines = [f"{rater.name} ({many(rater.n, 'rating')}): {rater.reason}" for rater in flagged[:most]]
    return [*lines, f"and {len(flagged) - most:,} more"] if len(flagged) > most else lines


def outlook_rows(found: HuseResult) -> list[tuple[str, str, str, str]]:
    """Half of each interval: now, with twice the items, with twice the ratings per item."""
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
    """Which data to collect, by score."""
    return [(titled(outlook.metric), outlook.worth) for outlook in found.outlook if outlook.worth]


def _half(width: float) -> str:
    return f"±{score(width)}" if math.isfinite(width) else number(math.nan)


def _alpha(agreement: RaterAgreement) -> str:
    alpha = agreement.alpha
    if not math.isfinite(alpha):
        return "Krippendorff's alpha unknown"
    strength = "high" if alpha >= FIRM else "fair" if alpha >= TENTATIVE else "low"
    ordinal = f", {score(agreement.alpha_ordinal)} for ranks" if math.isfinite(agreement.alpha_ordinal) else ""
    return f"{strength} agreement, Krippendorff's alpha {with_interval(alpha, agreement.interval)}{ordinal}"


def _flagged(raters: Sequence[RaterFacts]) -> str:
    if not raters:
        return "raters unknown"
    flagged = sum(rater.flagged for rater in raters)
    verb = "looks" if flagged == 1 else "look"
    return f"{flagged:,} of {many(len(raters), 'rater')} {verb} random" if flagged else "no rater looks random"


_TIES = {
    "released": "all items at the distance of the k-th nearest also vote, and a tied vote counts as human",
    "exact": "all items at exactly the distance of the k-th nearest also vote, and a tied vote counts as human",
    "fair": "items at the distance of the k-th nearest share the remaining votes, and a tied vote is half an error",
}
_VERBS = {
    "same": ("could not be distinguished from people by ratings and probabilities", ""),
    "differs": ("can be distinguished from people", ""),
    "collapsed": ("has collapsed", ""),
    "copied": ("copies human texts", ""),
    "untested": ("was not tested", ""),
}


def outcome_sentence(found: HuseResult) -> str:
    """The verdict in a sentence, without its reasons."""
    sentence = summary({model_name(found): found.verdict}, _VERBS, what="models")
    return f"T{sentence[1:]}" if sentence.startswith("the model") else sentence


def model_name(found: HuseResult) -> str:
    """The name of the model in a sentence."""
    return "the model" if found.rated.model == "model" else shortened(found.rated.model, 60)


def whole_texts(found: HuseResult) -> bool:
    """True if votes use the log-probability of the whole text instead of that per token."""
    return any(result.options.get("per") == "text" for result in found.results[:1])


def log_prob_words(found: HuseResult) -> str:
    """The log-probability that votes use, in words."""
    return "log-prob of the text" if whole_texts(found) else "log-prob per token"


def log_prob_of(judged: HuseItem, *, whole: bool) -> float:
    """The log-probability that votes use."""
    return judged.log_prob * judged.item.length if whole else judged.log_prob


def chosen_k(found: HuseResult) -> int | None:
    """The number of neighbours of the first score, None if it has no such option."""
    known = [result.options.get("k") for result in found.results]
    return next((k for k in known if isinstance(k, int)), None)


def tie_rule(found: HuseResult) -> str:
    """The rule for ties, in words; empty if it is not known."""
    variants = dict.fromkeys(str(result.options.get("variant", "")) for result in found.results)
    return next((_TIES[name] for name in variants if name in _TIES), "")


def papers(found: HuseResult) -> list[str]:
    """The keys of the papers of the metrics, each once."""
    known = all_metrics()
    return list(dict.fromkeys(known[result.metric].paper for result in found.results if result.metric in known))


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
    flagged: tuple[RaterFacts, ...]
    rows: tuple[RaterFacts, ...]
    left_out: int
    total: int
    fewest: int
    excluded: bool
    beside: tuple[Beside, ...]


def rater_section(found: HuseResult, *, most: int) -> Raters | None:
    """The section with at most this many raters in its table, flagged ones first; None if there are only means."""
    agreement = found.agreement
    if agreement is None:
        return None
    ordered = sorted(agreement.raters, key=_rater_order)
    flagged = tuple(rater for rater in ordered if rater.flagged)
    return Raters(
        alpha=score(agreement.alpha),
        interval=interval_text(agreement.interval),
        ordinal=score(agreement.alpha_ordinal) if math.isfinite(agreement.alpha_ordinal) else "",
        meaning=_alpha_meaning(agreement.alpha),
        flagged=flagged,
        rows=tuple(ordered[:most]),
        left_out=max(len(ordered) - most, 0),
        total=len(ordered),
        fewest=FEWEST_RATINGS,
        excluded=without_flagged(found),
        beside=tuple(_beside(found, agreement)),
    )


def _rater_order(rater: RaterFacts) -> tuple[bool, float]:
    return not rater.flagged, rater.agreement if math.isfinite(rater.agreement) else -2.0


def _alpha_meaning(alpha: float) -> str:
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
