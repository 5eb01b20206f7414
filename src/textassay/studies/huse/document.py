"""The document of a HUSE study: can the model be distinguished from people, and by what."""

import math
from collections.abc import Iterator, Mapping

from textassay.corpus.printable import many, share, shortened
from textassay.document.blocks import (
    Badge,
    Block,
    Chart,
    Details,
    Document,
    Entry,
    Facts,
    Legend,
    Notes,
    Section,
    Signatures,
    Summary,
    SummaryRow,
    Text,
    sections_of,
)
from textassay.document.results import COMMON_SETTINGS, metric_guide, setting_pairs
from textassay.document.words import level_text, p_text, sentence, span, two_decimals
from textassay.inference.p_values import is_significant
from textassay.inference.raters import FEWEST_RATINGS
from textassay.inference.result import Result
from textassay.metrics.registry import all_metrics, citation
from textassay.studies.huse import tables
from textassay.studies.huse.item_list import KINDS_EXPLAINED, PLURALS, items_blocks
from textassay.studies.huse.plots import (
    alpha_plot,
    kinds_plot,
    map_plot,
    neighbours_plot,
    plane_plot,
    score_plot,
    stability_plot,
)
from textassay.studies.huse.result import KINDS, HuseResult, RaterAgreement, titled
from textassay.studies.huse.words import (
    CHOSEN,
    active_raters,
    agreement_text,
    alpha_meaning,
    by_chance,
    chosen_k,
    flagged_text,
    in_words,
    log_prob_words,
    meaning,
    missing_lines,
    model_name,
    no_test_lines,
    scale_text,
    sizes_text,
    tie_rule,
    whole_texts,
    without_flagged,
    without_text,
)
from textassay.studies.sentences import sentence_of

# The caveats of the summary; the other notes are at the end.
_MOST_CAVEATS = 6


def document(found: HuseResult) -> Document:
    """What a HUSE study states."""
    notes = list(dict.fromkeys((*found.rated.notes, *found.notes)))
    return Document(
        kind="HUSE",
        title=f"HUSE of {shortened(found.rated.model, 40)} on {shortened(found.rated.name, 40)}",
        summary=_summary(found, notes),
        sections=sections_of(
            Section("gauges", "Scores", tuple(_gauges(found))),
            Section("scores", "All scores", tuple(_scores(found)), "table"),
            Section("map", "Decision map", tuple(_map(found))),
            Section("plane", "Quality and diversity", tuple(_plane(found))),
            Section("raters", "Raters", tuple(_raters(found)), "table"),
            Section("kinds", "Items by kind", tuple(_kinds(found)), "table"),
            Section("items", "Items", tuple(items_blocks(found)), "why"),
            Section("neighbours", "Number of neighbours", tuple(_neighbours(found)), "table"),
            Section("data", "More data", tuple(_more_data(found)), "table"),
            Section("stability", "Stability", tuple(_stability(found))),
            Section("flagged", "Raters who look random", tuple(_flagged(found)), "why"),
            Section("every-rater", "All raters", tuple(_every_rater(found))),
            Section("reading", "How to read this, and when it misleads", _reading(found)),
            Section("settings", "Settings", (Facts(tuple(_facts(found))),)),
            Section("signatures", "Signatures and citation", tuple(_signatures(found))),
        ),
        names=tuple(map(titled, found.labels)),
        real="people",
        level=found.level,
        notes=tuple(notes[_MOST_CAVEATS:]),
    )


# The summary.


def _summary(found: HuseResult, notes: list[str]) -> Summary:
    chances = any(math.isfinite(by_chance(result)[0]) for result in found.results)
    name = "" if found.rated.name in ("", "ratings") else f"{shortened(found.rated.name, 40)}: "
    return Summary(
        question=f"Can {model_name(found)} be distinguished from people?",
        context=f"{name}{sizes_text(found)}",
        sentence=sentence("; ".join(_outcome(found))),
        columns=("value", *(["by chance"] if chances else [])),
        rows=tuple(_rows(found, chances=chances)),
        caveats=tuple(map(sentence, (*missing_lines(found), *_rater_caveats(found), *notes[:_MOST_CAVEATS]))),
        hints=("All numbers: --table", "Items and raters: --why", "Report: --report FILE.html"),
        picture=map_plot(found),
        noun="score",
    )


def _outcome(found: HuseResult) -> Iterator[str]:
    """The outcome in a sentence: whether sources can be distinguished, and whether in quality or in diversity."""
    verdict = found.verdict
    first = verdict.find("distinguished", "not distinguished")
    if first is None:
        yield verdict.sentence if verdict.decision == "untested" else _ANSWERS.get(verdict.decision, verdict.decision)
        return
    yield f"yes: {share(first.value)} of texts are classified correctly" if first.kind == "distinguished" else _NO
    kinds = {finding.kind for finding in verdict.findings}
    yield from (words for kind, words in _ASPECTS.items() if kind in kinds)


_NO = "no difference between human and model texts was found"
_ANSWERS = {"same": _NO, "differs": "yes: human and model texts can be distinguished"}
_ASPECTS = {
    "quality differs": "they differ in quality",
    "quality does not differ": "ratings alone do not distinguish them",
    "diversity differs": "they differ in diversity",
    "no loss of diversity": "no loss of diversity was found",
}
# The findings that are about each score.
_ABOUT = {
    "huse": ("distinguished", "not distinguished"),
    "huse_q": ("quality differs", "quality does not differ"),
    "huse_d": ("diversity differs", "no loss of diversity"),
}


def _rows(found: HuseResult, *, chances: bool) -> Iterator[SummaryRow]:
    """A row per score, with what it says in words."""
    adjusted = found.adjusted_p_values(found.columns[0])
    told: set[str] = set()
    for index in tables.in_order(found):
        result = found.results[index]
        about = () if result.metric in told else _ABOUT.get(result.metric, ())
        told.add(result.metric)
        finding = found.verdict.find(*about) if about else None
        yield SummaryRow(
            titled(found.labels[index]),
            index,
            _decision(found, result, adjusted[index]),
            cells=(tables.score_cell(result), *([tables.chance_cell(result)] if chances else [])),
            stands_out=in_words(result),
            why=(sentence_of(finding),) if finding else (),
        )


def _decision(found: HuseResult, result: Result, adjusted_p: float) -> str:
    """The decision by this score: by its test, or where it has none by its interval."""
    if found.verdict.decision == "untested":
        return "untested"
    if result.metric == "huse_d":
        return "untested" if result.interval is None else "differs" if result.interval.high < 1 else "same"
    if math.isnan(adjusted_p):
        return "untested"
    return "differs" if is_significant(adjusted_p, found.level) else "same"


def _rater_caveats(found: HuseResult) -> Iterator[str]:
    """Raters who look random, with the option that leaves them out."""
    agreement = found.agreement
    if agreement is None or without_flagged(found) or not any(rater.flagged for rater in agreement.raters):
        return  # raters who are left out have a note
    scores = without_text(found)
    yield f"{flagged_text(agreement.raters)}; {f'{scores}; ' if scores else ''}--without-flagged leaves them out"


# The sections.


def _gauges(found: HuseResult) -> Iterator[Block]:
    """A gauge per score, with the score in a sentence."""
    for index in tables.in_order(found):
        result = found.results[index]
        if math.isfinite(result.estimate):
            yield Chart(score_plot(found, index), titled(found.labels[index]), tuple(_remarks(found, result)))


def _scores(found: HuseResult) -> Iterator[Block]:
    """The whole verdict, the scores, and why a number or a test is missing."""
    yield Notes(found.verdict.reasons)
    yield tables.score_table(found)
    lines = (*missing_lines(found), *no_test_lines(found))
    if lines:
        yield Notes(lines)


def _remarks(found: HuseResult, result: Result) -> Iterator[str]:
    """A score in a sentence, and beside chance."""
    yield meaning(result)
    mean, low, high = by_chance(result)
    if math.isfinite(mean):
        text = f"Indistinguishable texts would score {two_decimals(mean)}"
        of = (
            f", {two_decimals(low)} to {two_decimals(high)} in {level_text(found.level)} of cases"
            if low <= high
            else ""
        )
        yield f"{text}{of}."
    if result.p_value is not None:
        yield f"p {p_text(result.p_value)}: the probability that indistinguishable texts score this low."


def _map(found: HuseResult) -> Iterator[Block]:
    plot, k = map_plot(found), chosen_k(found)
    if plot is None:
        yield Text(("No item has both a rating and a log-probability, so there is no map.",))
        return
    yield Text(
        (
            f"Every item by its mean rating and its {log_prob_words(found)} under the model. The shade shows how the"
            f"{f' {k}' if k else ''} nearest neighbours vote at that place. Where the border between the shades is"
            " horizontal, ratings alone distinguish the sources; where it is vertical, the model's probabilities alone"
            " do; where it is slanted, both together do.",
        )
    )
    missing = sum(not (math.isfinite(j.rating) and math.isfinite(j.log_prob)) for j in found.items)
    verb = "is" if missing == 1 else "are"
    yield Chart(
        plot,
        "Shades: the source of most neighbours, the darker the more of them.",
        (f"{many(missing, 'item')} {verb} not drawn, because a number is missing.",) if missing else (),
    )


_PLANE = (
    "Diversity increases to the right: the model could have written more of what people write. Quality increases"
    " upwards: its texts are rated more like human texts. HUSE is constant along each diagonal, where a gain in one is"
    " a loss in the other."
)
_LANDMARKS = (
    "Grey: Table 1 of Hashimoto et al. (2019), with the sampling temperature after the name. These models were measured"
    " on other tasks with other texts and raters. They show what a score means in practice; they are not competitors."
)


def _plane(found: HuseResult) -> Iterator[Block]:
    plot = plane_plot(found)
    if plot is None:
        yield Text(("This chart needs a number for both HUSE-Q and HUSE-D.",))
        return
    yield Text((_PLANE,))
    yield Chart(plot, f"Bars are {level_text(found.level)} intervals.", (_LANDMARKS,))


_KIND_TEXTS: Mapping[str, str] = {
    "quality failure": (
        "At least three in four items with about the same rating come from the item's own source. A model text of this"
        " kind reads worse than human texts; a human text of this kind shows what the model does not achieve."
    ),
    "diversity failure": (
        "Ratings alone do not make the item's source clear, but at least three in four items with similar rating and"
        " probability come from the item's own source. It is a human text that the model would hardly write, or a model"
        " text with a much higher probability than human texts of its rating. HUSE-D measures the net effect: texts"
        " identified only with the probability, minus texts that are no longer identified with it. HUSE-D can therefore"
        " show no loss although there are some diversity failures."
    ),
    "indistinguishable": (
        "Fewer than three in four neighbours come from the item's own source, by the rating and by rating and"
        " probability: here the model is like people, or there is too little data."
    ),
}


def _kinds(found: HuseResult) -> Iterator[Block]:
    yield tables.kinds_table(found)
    yield Chart(kinds_plot(found))
    yield Details(
        "What the kinds mean",
        (
            Legend(
                tuple(
                    Entry(PLURALS[kind], f"{KINDS_EXPLAINED[kind].capitalize()}. {text}", badge=Badge(kind, kind))
                    for kind, text in _KIND_TEXTS.items()
                )
            ),
        ),
    )


def _neighbours(found: HuseResult) -> Iterator[Block]:
    ties, plot, ranges = tie_rule(found), neighbours_plot(found), tables.k_range(found)
    lines = [f"For {ranges}."] if ranges else []
    lines += [f"Ties: {ties}."] if ties else []
    if plot is None:
        yield Text((" ".join(["The scores were not measured with other numbers of neighbours.", *lines]),))
        return
    text = "The scores with other numbers of neighbours k. Do not rely on a verdict that changes with k."
    yield Text((" ".join([text, *lines]),))
    yield Chart(plot)
    yield tables.neighbours_table(found)


def _more_data(found: HuseResult) -> Iterator[Block]:
    """The effect of more data on each interval, and which data to collect."""
    if found.outlook:
        yield tables.outlook_table(found)
        yield Notes(tuple(f"{titled(each.metric)}: {each.worth}" for each in found.outlook if each.worth))


_STABILITY = (
    "The scores on random parts of these ratings. The line is the mean over the parts, the band contains {level} of"
    " them. With few ratings per item, texts look more alike than they are. The curves do not show how the scores would"
    " continue with more data. The bands narrow towards the right because large parts share most of their items."
)


def _stability(found: HuseResult) -> Iterator[Block]:
    plots = {along: plot for along in ("items", "ratings") if (plot := stability_plot(found, along))}
    if not plots:
        yield Text(("No parts of the ratings were measured.",))
        return
    yield Text((_STABILITY.format(level=level_text(found.level)),))
    captions = {"items": "Fewer items", "ratings": "Fewer ratings per item"}
    yield from (Chart(plot, captions[along]) for along, plot in plots.items())
    yield Details("Numbers", (tables.stability_table(found),))
    if not found.rated.single:
        yield Notes(("There are only mean ratings, so fewer ratings per item could not be measured.",))
    elif "ratings" not in plots:
        yield Notes(("No item has more than one rating, so fewer could not be measured.",))


# Raters.


def _raters(found: HuseResult) -> Iterator[Block]:
    agreement = found.agreement
    if agreement is None:
        yield Text((_NO_RATERS if found.rated.single else _ONLY_MEANS,))
        return
    stated = [f"{agreement_text(agreement)}; {flagged_text(agreement.raters)}"]
    stated[0] += " and are left out" if without_flagged(found) else ""
    scores = without_text(found)
    stated += [f"{scores}; {CHOSEN}"] if scores else []
    yield Notes((f"scale: {scale_text(found)}", *stated))
    yield Text((f"{_ALPHA} {alpha_meaning(agreement.alpha)}",))
    if math.isfinite(agreement.alpha):
        yield Chart(alpha_plot(agreement.alpha, agreement.interval))
    yield Text((_flags(found, agreement),))
    table = tables.without_table(found)
    if table.rows:
        yield table


def _every_rater(found: HuseResult) -> Iterator[Block]:
    raters = found.agreement.raters if found.agreement else ()
    if raters:
        yield Details(many(len(raters), "rater"), (Text((_RATER_COLUMNS,)), tables.rater_table(raters)))


_ONLY_MEANS = (
    "The file has one mean rating per item and no single ratings. Agreement and random answers can only be measured"
    " from a file with one row per rating."
)
_NO_RATERS = "Agreement was not measured, because no item has ratings by two or more raters."
_ALPHA = (
    "Krippendorff's alpha is 1 if all raters of an item agree and 0 if they agree no better than by chance."
    " Krippendorff suggests 0.8 for firm and 0.667 for tentative conclusions; these limits are a convention."
)
_RATER_COLUMNS = (
    "Agreement is the correlation between a rater's ratings and the mean ratings of all others on the same items. p is"
    " the probability that it would be at least as high if the rater answered at random."
)


def _flags(found: HuseResult, agreement: RaterAgreement) -> str:
    """Who is flagged and why, and whether they are in the scores."""
    n, flagged = len(agreement.raters), sum(rater.flagged for rater in agreement.raters)
    if not n:
        return "The file does not record who gave which rating, so single raters cannot be checked."
    if not flagged:
        return f"None of the {many(n, 'rater')} is flagged for answers that look random."
    are = "is" if flagged == 1 else "are"
    left_out = without_flagged(found)
    where = "left out of all numbers" if left_out else "included in all numbers"
    more = "" if left_out or agreement.without else " There are no scores without them: too few ratings would be left."
    return (
        f"{flagged} of {many(n, 'rater')} {are} flagged, for one of two reasons: less agreement with the others than"
        " raters have who answer up to two of five items at random, or nearly always the same answer. Raters with fewer"
        f" than {FEWEST_RATINGS} ratings are not flagged, and raters whose items differ too little to test agreement"
        f" are not flagged for it. A flag is a hint, not a proof: flagged raters are {where}. They were selected by"
        f" their agreement on these same ratings. This selection alone lowers scores and raises alpha.{more}"
    )


def _flagged(found: HuseResult) -> Iterator[Block]:
    flagged = [rater for rater in found.agreement.raters if rater.flagged] if found.agreement else []
    if flagged:
        yield Text((_RATER_COLUMNS,))
        yield tables.rater_table(flagged)


# Settings and reading.


def _facts(found: HuseResult) -> Iterator[tuple[str, str]]:
    """Terms and values of what was measured."""
    rated, k = found.rated, chosen_k(found)
    model = sum(item.is_model for item in rated.items)
    variants = dict.fromkeys(str(r.options["variant"]) for r in found.results if "variant" in r.options)
    by = f" by {many(len(active_raters(found)), 'rater')}" if rated.names_raters else ""
    pairs = (
        ("Ratings of", shortened(rated.name, 60)),
        ("Items", f"{len(rated.items) - model:,} human, {model:,} from the model"),
        ("Ratings", f"{len(rated.ratings):,}{by}" if rated.single else "one mean per item"),
        ("Ratings per item", span(judged.n_ratings for judged in found.items) if rated.single else ""),
        ("Scale" if rated.single else "Mean ratings", shortened(scale_text(found), 80)),
        ("Neighbours", f"k = {k}" if k else ""),
        ("Ties", ", ".join(shortened(name, 30) for name in variants)),
        ("Interval level", level_text(found.level)),
    )
    yield from ((term, value) for term, value in pairs if value)
    yield from setting_pairs(found.settings, {"interval": "Intervals", "test": "Tests", **COMMON_SETTINGS})


def _signatures(found: HuseResult) -> Iterator[Block]:
    known = all_metrics()
    papers = dict.fromkeys(known[result.metric].paper for result in found.results if result.metric in known)
    cited = " and:" if papers else "."
    yield Text(
        (
            f"The same signature gives the same number on every machine. Cite the score with its interval,"
            f" its signature{cited}",
        )
    )
    yield Notes(tuple(map(citation, papers)))
    pairs = zip(found.labels, found.results, strict=True)
    yield Signatures(tuple((titled(label), result.signature) for label, result in pairs))


def _reading(found: HuseResult) -> tuple[Block, ...]:
    what = "of the text" if whole_texts(found) else "per token"
    has_ratings = any(point.along == "ratings" for point in found.stability)
    curve = " The curve over ratings shows whether it still decreases." if has_ratings else ""
    interval = found.settings.get("interval") or "bootstrap over items"
    entries = (
        (
            "What is measured",
            "Human texts and texts from the model are mixed. Each has two features: its mean rating and its"
            f" log-probability {what} under the model. Every item is assigned to the source that most of its nearest"
            " neighbours come from, not counting itself. HUSE is twice the share of items assigned to the wrong source."
            " HUSE-Q is the same with the rating alone, and HUSE-D = 1 + HUSE − HUSE-Q. HUSE-D is 1 if the probability"
            " does not help to distinguish more texts, and lower the more it helps.",
        ),
        (
            "HUSE is an upper bound",
            "Apart from sampling noise, it is one of the score of the best possible classifier: with more features or a"
            " better rule, more texts could be distinguished. A low HUSE therefore shows that a model is poor, but a"
            " high one does not prove that it is good.",
        ),
        (
            "Log-probabilities must belong to the distribution that the texts were sampled from",
            "With its temperature, its cut-offs (top-k, top-p) and its prompt. This also holds for the human texts."
            " With log-probabilities of the unmodified model for texts sampled at a lower temperature, diversity is"
            " measured wrongly. Lengths must be counted in the same tokens.",
        ),
        (
            "HUSE-D above 1 is noise",
            "A second feature cannot remove information, but with few items the vote can be worse with both features."
            " Read it as: no lack of diversity was found.",
        ),
        (
            "Compare with chance, not with 1",
            "The number of items and the rule for ties change the score even if nothing differs. The band of chance"
            " comes from exchanging the sources at random on the same items.",
        ),
        (
            "The number of neighbours causes bias",
            "Few neighbours make the vote noisy, many neighbours blur the border. Either way differences are missed and"
            " HUSE is too high: with 16 neighbours by about 0.04 from 200 items on, and by more with fewer. The curve"
            " over k shows how much the scores depend on it.",
        ),
        (
            "Noisy ratings make texts look alike",
            f"With few ratings per item, HUSE-Q is too high and decreases as ratings are added.{curve}",
        ),
        (
            "Ratings only answer the question that raters were asked",
            "Typicality, fluency and truth are different questions. HUSE cannot detect what raters cannot see, such as"
            " a wrong fact or a copied training text.",
        ),
        (
            "The kinds of items",
            "They come from the vote of the neighbours and are not tested."
            f" {'; '.join(f'{kind}: {KINDS_EXPLAINED[kind]}' for kind in KINDS)}. Clear means that at least three in"
            " four neighbours come from the item's own source, by rating alone or by both features. If nothing differs,"
            " about 4 in 100 items with 16 neighbours are clear by chance.",
        ),
        (
            "Intervals and p",
            f"Intervals come from a {interval}. p is the share of random exchanges of the sources with a score at least"
            " as low.",
        ),
    )
    guide = metric_guide(found.results, target="the human value")
    return (Legend(tuple(Entry(term, text) for term, text in entries)), guide)
