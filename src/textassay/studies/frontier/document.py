"""The document of a frontier study: which pairs of metrics can show how well a distribution is fitted."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from textassay.corpus.printable import share, shortened
from textassay.document.blocks import (
    Cell,
    Chart,
    Document,
    Facts,
    Head,
    Row,
    Section,
    Summary,
    SummaryRow,
    Table,
    Text,
    sections_of,
)
from textassay.document.plot import Line, Marks, Plot, Point, Scale
from textassay.document.results import setting_pairs, signature_section
from textassay.document.words import level_text, listed, number, sentence
from textassay.studies.frontier.result import ESTIMATED, EXACT, OPTIMISED, Analysis, Frontier, SourceColumn
from textassay.studies.frontier.sources import DISTRIBUTION, ORACLE, TEXTS, TOY

KINDS = {
    DISTRIBUTION: "distribution with {n:,} outcomes",
    TOY: "random distribution with {n:,} outcomes",
    ORACLE: "all {n:,} texts of a small space",
    TEXTS: "{n:,} texts",
}
METHODS = {
    EXACT: "exact (Theorem 2)",
    OPTIMISED: "lower bound by optimisation (section 6.1)",
    ESTIMATED: "estimated with noise mixtures (section 6.2)",
}
_QUALITIES = {"ll": "log-likelihood", "cr": "coverage rate", "bs": "BLEU", "cn": "coverage rate"}
_DIVERSITIES = {
    "se": "Shannon entropy",
    "nrr": "negative repetition rate",
    "sdi": "Simpson's diversity index",
    "bs": "negative Self-BLEU",
    "cn": "negative repetition rate",
}
_SETTINGS = {
    "tokenizer": "Tokenizer",
    "starts": "Starts of the optimiser",
    "seeds": "Draws",
    "seed": "Seed",
    "version": "Version",
}
# Differences of sums of probabilities below this are rounding.
_ROUNDING = 1e-13
# The most charts of planes.
_MOST_PLANES = 60


def document(found: Frontier) -> Document:
    """What a frontier study states."""
    every = cases(found)
    theory = Table(
        (Head("pair"), Head("conditions")), tuple(Row(tuple(map(Cell, line))) for line in theory_lines(found))
    )
    probabilities = probability_plot(found)
    return Document(
        kind="frontier",
        title=f"Frontier of {shortened(', '.join(found.labels), 60)}",
        summary=_summary(found),
        sections=sections_of(
            Section("verdicts", "Discrepancies", (_table(found, every),), "table"),
            _charts("planes", "Quality and diversity", _PLANES, tuple(map(plane_chart, _curved(every)))),
            _charts("optimisation", "Optimisation", _OPTIMISATION, tuple(step_charts(found))),
            _charts("probabilities", "Probabilities", "", (Chart(probabilities),) if probabilities else ()),
            Section("theory", "Theory", (Text((_THEORY,)), theory), "why") if theory.rows else None,
            Section("reading", "How to read this", (Text(_READING),)),
            Section(
                "settings",
                "Settings",
                (Facts((("Sources", heading(found)), *setting_pairs(found.settings, _SETTINGS))),),
            ),
            signature_section((case.name, case.analysis.result.signature) for case in every),
        ),
        names=tuple(case.name for case in every),
        real="real distribution",
        level=found.level,
        notes=found.notes,
    )


@dataclass(frozen=True)
class Case:
    """A pair on a source, its name, and its index among all."""

    index: int
    name: str
    source: SourceColumn
    analysis: Analysis


def cases(found: Frontier) -> list[Case]:
    """One per source and pair."""
    both = [(source, analysis) for source in found.sources for analysis in source.analyses]
    several = len(found.sources) > 1
    return [
        Case(index, f"{source.name} {analysis.pair}" if several else analysis.pair, source, analysis)
        for index, (source, analysis) in enumerate(both)
    ]


def _charts(id_: str, title: str, text: str, charts: tuple[Chart, ...]) -> Section | None:
    return Section(id_, title, (*([Text((text,))] if text else []), *charts)) if charts else None


def _summary(found: Frontier) -> Summary:
    every = cases(found)
    which = "this pair" if len(found.labels) == 1 else "these pairs"
    ranks = _ranks(every)
    return Summary(
        question=f"Can {which} of metrics rank models at all?",
        context=heading(found),
        sentence=outcome_sentence(found),
        columns=("QDisc", "DRate", "quality", "diversity"),
        rows=tuple(_summary_row(case, ranks) for case in sorted(every, key=lambda case: _order(case.analysis))),
        hints=("All numbers: --table", "Theory: --why", "Report: --report FILE.html"),
        picture=gap_plot(sorted(every, key=lambda case: _order(case.analysis))),
        noun="pair",
    )


# In the order of the summary; a pair that was not decided has no rank.
_DECISIONS = ("compatible", "incompatible", "untested")


def _order(analysis: Analysis) -> tuple[int, float]:
    """Compatible pairs first, then incompatible ones with the smallest gap, then those that were not decided."""
    decision, drate = analysis.verdict.decision, analysis.result.parts.get("drate", math.inf)
    return _DECISIONS.index(decision), 0.0 if decision == "compatible" else drate


def _ranks(every: list[Case]) -> dict[int, int]:
    known = {case.index: _order(case.analysis) for case in every if case.analysis.verdict.decision != "untested"}
    return {index: 1 + sum(other < order for other in known.values()) for index, order in known.items()}


def _summary_row(case: Case, ranks: Mapping[int, int]) -> SummaryRow:
    verdict = case.analysis.verdict
    return SummaryRow(
        case.name,
        case.index,
        "undecided" if verdict.decision == "untested" else verdict.decision,
        rank=ranks.get(case.index),
        cells=tuple(_cells(case.analysis).values())[:4],
        why=verdict.reasons,
    )


def outcome_sentence(found: Frontier) -> str:
    """Which pairs are compatible."""
    decisions: dict[str, set[str]] = {}
    for case in cases(found):
        decisions.setdefault(case.analysis.verdict.decision, set()).add(case.analysis.pair)
    words = {"compatible": "can (compatible)", "incompatible": "cannot (incompatible)", "untested": "not decided"}
    order = [(decision, [pair for pair in found.labels if pair in decisions.get(decision, ())]) for decision in words]
    return sentence("; ".join(f"{listed(pairs)}: {words[decision]}" for decision, pairs in order if pairs))


def heading(found: Frontier) -> str:
    """The sources in one line."""
    return listed([f"{shortened(source.name, 40)} ({kind_text(source)})" for source in found.sources])


def kind_text(source: SourceColumn) -> str:
    """What a source is, in words."""
    return KINDS.get(source.kind, "{n:,} outcomes").format(n=source.n)


def axis_names(pair: str) -> tuple[str, str]:
    """Quality and diversity of a pair in words.

    >>> axis_names("cr/nrr"), axis_names("bs-2"), axis_names("mine/se")
    (('coverage rate', 'negative repetition rate'), ('BLEU-2', 'negative Self-BLEU-2'), ('mine', 'Shannon entropy'))
    """
    first, slash, second = pair.partition("/")
    if slash:
        return _QUALITIES.get(first, first), _DIVERSITIES.get(second, second)
    kind, _, n = pair.partition("-")
    return f"{_QUALITIES.get(kind, kind)}-{n}", f"{_DIVERSITIES.get(kind, kind)}-{n}"


def _cells(analysis: Analysis) -> dict[str, Cell]:
    """The numbers of a pair by the head of their column; the ratios are empty where there are none."""
    parts, qdisc = analysis.result.parts, analysis.result.estimate
    return {
        "QDisc": Cell(number(0.0 if abs(qdisc) < _ROUNDING else qdisc), qdisc),
        "DRate": _drate_cell(parts),
        "quality": Cell(number(analysis.quality), analysis.quality),
        "diversity": Cell(number(analysis.diversity), analysis.diversity),
        "Self-Ratio": _ratio_cell(parts, "self_ratio"),
        "Ref-Ratio": _ratio_cell(parts, "ref_ratio"),
    }


def _drate_cell(parts: Mapping[str, float]) -> Cell:
    """DRate, with its interval over draws if there are several."""
    drate = parts.get("drate", math.nan)
    spread = f"[{_percent(parts['drate_low'])}, {_percent(parts['drate_high'])}]" if "drate_low" in parts else ""
    return Cell(_percent(drate), drate, spread)


def _percent(value: float) -> str:
    if math.isnan(value):
        return "–"
    return f"{100 * value:.2f} %" if abs(value) >= 1e-4 else f"{100 * value:.1e} %" if abs(value) > 1e-9 else "0.00 %"


def _ratio_cell(parts: Mapping[str, float], name: str) -> Cell:
    return Cell(number(parts[name]), parts[name]) if name in parts else Cell("")


def _table(found: Frontier, every: list[Case]) -> Table:
    rows = [(case, _cells(case.analysis)) for case in every]
    used = [head for head in rows[0][1] if any(cells[head].text for _, cells in rows)]
    several = len(found.sources) > 1
    heads = (*([Head("source")] if several else []), Head("pair"), *(Head(head, numeric=True) for head in used))
    return Table(
        (*heads, Head("verdict")),
        tuple(
            Row((*_names(case, several=several), *(cells[head] for head in used), Cell(case.analysis.verdict.sentence)))
            for case, cells in rows
        ),
        footnotes=tuple(_legend(every)),
    )


def _names(case: Case, *, several: bool) -> tuple[Cell, ...]:
    pair = shortened(case.analysis.pair, 40)
    source = (Cell(shortened(case.source.name, 40), candidate=case.index),)
    return (*source, Cell(pair)) if several else (Cell(pair, candidate=case.index),)


def _legend(every: list[Case]) -> Iterator[str]:
    analyses = [case.analysis for case in every]
    yield "QDisc: the highest quality at the diversity of the real distribution, minus the quality of the real one"
    yield "DRate: QDisc as a share of the range of quality"
    intervals = [each.result.interval for each in analyses if each.result.interval is not None]
    if intervals:
        level = level_text(intervals[0].level)
        yield f"[ ]: {level} interval of the mean over draws of halves and mixtures, for these texts"
    if any(each.verdict.decision == "incompatible" for each in analyses):
        yield "incompatible: some other distribution has more quality than the real one at no less diversity"
    if any("self_ratio" in each.result.parts for each in analyses):
        yield "Self-Ratio: QDisc as a share of the quality of real text; Ref-Ratio: of the loss by the first noise"
    methods = dict.fromkeys(METHODS[each.method] for each in analyses if each.method in METHODS)
    yield f"method: {'; '.join(methods)}"


def theory_lines(found: Frontier) -> Iterator[tuple[str, str]]:
    """The conditions of Theorem 1 and the fit of Theorem 3, for each pair of the general form."""
    first = {c.analysis.pair: c.analysis for c in reversed(cases(found)) if c.analysis.fit is not None}
    yield from ((pair, _theory(first[pair])) for pair in found.labels if pair in first)


def _theory(analysis: Analysis) -> str:
    fit, conditions = analysis.fit, analysis.conditions
    assert fit is not None
    facts = []
    if conditions is not None:
        facts.append("f increases" if conditions.quality is None else f"f does not increase {conditions.quality}")
        concave = conditions.diversity
        facts.append("g is concave" if concave is None else f"g is not concave {concave}")
    if fit.is_exact:
        facts.append(f"g' = {round(fit.w0, 9):g} f + {round(fit.b0, 9) + 0.0:g}".replace("+ -", "- "))
    else:
        facts.append(f"g' is no multiple of f plus a constant (best fit off by {share(fit.deviation)} of its range)")
    return "; ".join(facts)


def gap_plot(every: list[Case]) -> Plot | None:
    """DRate of each pair, with its interval over draws if there are several."""
    known = [case for case in every if "drate" in case.analysis.result.parts]
    if not known:
        return None
    points = []
    for index, case in enumerate(known):
        parts = case.analysis.result.parts
        limits = (parts["drate_low"], parts["drate_high"]) if "drate_low" in parts else None
        label = _drate_cell(parts).text
        points.append(Point(parts["drate"], index, limits, candidate=case.index, label=label))
    return Plot(
        "The gap between the real distribution and the best one",
        Scale("gap in quality (DRate)", better="lower", limits=(0.0, 0.01), percent=True),
        Scale(names=tuple(shortened(case.name, 40) for case in known)),
        (Marks(tuple(points)),),
        summary="; ".join(f"{case.name}: DRate {point.label}" for case, point in zip(known, points, strict=True)),
    )


def _curved(every: list[Case]) -> list[Case]:
    return [case for case in every if any(len(curve.points) > 1 for curve in case.analysis.curves)][:_MOST_PLANES]


def plane_chart(case: Case) -> Chart:
    """The frontier or the mixtures of a pair, with the real distribution."""
    analysis = case.analysis
    quality, diversity = axis_names(analysis.pair)
    name = "real distribution" if analysis.method == EXACT else "real text"
    lines = [
        Line(tuple((x, y) for _, x, y in curve.points), candidate=index, name=curve.name)
        for index, curve in enumerate(analysis.curves)
    ]
    gap, drate = f"QDisc {number(analysis.result.estimate)}", analysis.result.parts.get("drate")
    star = Point(analysis.quality, analysis.diversity, label=name, tone="best")
    plot = Plot(
        f"Quality and diversity: {shortened(case.name, 80)}",
        Scale(shortened(quality, 40), better="higher"),
        Scale(shortened(diversity, 40), better="higher"),
        (*lines, Marks((star,))),
        summary=f"{name}: quality {number(analysis.quality)}, diversity {number(analysis.diversity)}; {gap}",
    )
    remark = gap if drate is None else f"{gap}, {share(max(drate, 0.0))} of the range of quality"
    return Chart(plot, remarks=(sentence(remark),))


def step_charts(found: Frontier) -> Iterator[Chart]:
    """The gain in quality along the best optimisation of each pair, one chart per source."""
    for source in found.sources:
        own = [case for case in cases(found) if case.source is source]
        stepped = [case for case in own if len(case.analysis.steps) > 1]
        if not stepped:
            continue
        plot = Plot(
            f"Optimisation on {shortened(source.name, 40)}",
            Scale("step of the optimiser"),
            Scale("gain in quality at the same diversity"),
            tuple(
                Line(
                    tuple((float(step), gain) for step, gain in case.analysis.steps),
                    candidate=case.index,
                    name=case.analysis.pair,
                )
                for case in stepped
            ),
            summary="; ".join(f"{case.analysis.pair}: {number(case.analysis.steps[-1][1])}" for case in stepped),
        )
        yield Chart(plot)


def probability_plot(found: Frontier) -> Plot | None:
    """The log-probabilities of all sources that have them, in descending order."""
    lines = tuple(
        Line(
            tuple((float(rank), value) for rank, value in enumerate(source.log_probs, 1)),
            candidate=index,
            name=shortened(source.name, 40),
        )
        for index, source in enumerate(found.sources)
        if len(source.log_probs) > 1
    )
    if not lines:
        return None
    return Plot(
        "Log-probabilities in descending order",
        Scale("rank"),
        Scale("log-probability"),
        lines,
        summary="; ".join(f"{line.name}: {number(line.points[0][1])} at rank 1" for line in lines),
    )


_PLANES = (
    "Quality increases to the right, diversity upwards. The curve shows the best that any distribution can reach, or"
    " mixtures of real text and noise on texts. The star is the real distribution. Under a compatible pair the star is"
    " on the curve; if it is below, the pair prefers other distributions to the real one."
)
_OPTIMISATION = (
    "The gain in quality over the real distribution, at no less diversity, after each step of the best start. The last"
    " value is a lower bound of QDisc."
)
_THEORY = (
    "Quality is the sum of Q f(P), diversity the sum of g(Q). Both are sound if f increases and g is concave (Theorem"
    " 1). The pair is compatible if and only if the slope of g is a multiple of f plus a constant (Theorem 3)."
)
_READING = (
    "Compatible means that no distribution has more quality and more diversity than the real one, so that the pair can"
    " measure how well a model fits. Incompatible means that some other distribution beats the real one on both: a"
    " model with a higher score on both metrics is then not closer to real text, and differences in quality below QDisc"
    " mean nothing.",
    "Exact numbers come from the formula of the frontier. Optimised numbers are lower bounds: a better start could find"
    " a larger gap. Estimated numbers come from mixtures that copy texts of the reference. They shrink as samples grow,"
    " so compare pairs at one sample size. They show that better distributions than the real one exist, not that a"
    " model that has not seen the reference would find one.",
    "Source: J. Li, Y. Lan, J. Guo, X. Cheng: On the relation between quality-diversity evaluation and"
    " distribution-fitting goal in text generation. ICML 2020.",
)
