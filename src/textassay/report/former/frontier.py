"""The report of a frontier study: its table and verdicts, charts, page, terminal view, Markdown and CSV."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from textassay.corpus.printable import printable, share, shortened
from textassay.document.words import listed, number
from textassay.report.former import markdown
from textassay.report.former.charts.curves import Spotted, Trace, curve_chart, legend
from textassay.report.former.table import LEVELS, level_of, level_text, setting_text
from textassay.report.former.templates.page import MOST_BYTES, Page, fragment
from textassay.report.former.terminal import MOST_NAME, cut, dim, fitted_names, joined, named_lines, notes, plain_table
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


@dataclass(frozen=True)
class Row:
    """A line of the table as text."""

    source: SourceColumn
    analysis: Analysis
    qdisc: str
    drate: str
    quality: str
    diversity: str
    self_ratio: str
    ref_ratio: str

    @property
    def cells(self) -> tuple[str, ...]:
        """The numbers in the order of `HEAD`."""
        return self.qdisc, self.drate, self.quality, self.diversity, self.self_ratio, self.ref_ratio


# Differences of sums of probabilities below this are rounding.
_ROUNDING = 1e-13
HEAD = ("QDisc", "DRate", "quality", "diversity", "Self-Ratio", "Ref-Ratio")


def rows(found: Frontier) -> list[Row]:
    """One row per source and pair."""
    return [_row(source, analysis) for source in found.sources for analysis in source.analyses]


def _row(source: SourceColumn, analysis: Analysis) -> Row:
    parts, result = analysis.result.parts, analysis.result
    return Row(
        source,
        analysis,
        qdisc=number(0.0 if abs(result.estimate) < _ROUNDING else result.estimate),
        drate=_drate(parts),
        quality=number(analysis.quality),
        diversity=number(analysis.diversity),
        self_ratio=number(parts["self_ratio"]) if "self_ratio" in parts else "",
        ref_ratio=number(parts["ref_ratio"]) if "ref_ratio" in parts else "",
    )


def _drate(parts: Mapping[str, float]) -> str:
    """DRate, with its interval over draws if there are several."""
    known = _share(parts.get("drate", math.nan))
    if "drate_low" not in parts:
        return known
    return f"{known} [{_share(parts['drate_low'])}, {_share(parts['drate_high'])}]"


def _share(value: float) -> str:
    if math.isnan(value):
        return "–"
    return f"{100 * value:.2f} %" if abs(value) >= 1e-4 else f"{100 * value:.1e} %" if abs(value) > 1e-9 else "0 %"


def used_columns(found: Frontier) -> list[int]:
    """The places of the columns that have a number."""
    cells = [row.cells for row in rows(found)]
    return [place for place in range(len(HEAD)) if any(row[place] for row in cells)]


def kind_text(source: SourceColumn) -> str:
    """What a source is, in words."""
    return KINDS.get(source.kind, "{n:,} outcomes").format(n=source.n)


def heading(found: Frontier) -> str:
    """The sources in one line."""
    return listed([f"{shortened(source.name, 40)} ({kind_text(source)})" for source in found.sources])


def outcome_sentence(found: Frontier) -> str:
    """How many pairs are compatible."""
    levels: dict[str, set[str]] = {}
    for row in rows(found):
        levels.setdefault(row.analysis.verdict.decision, set()).add(row.analysis.pair)
    words = {"compatible": "compatible", "incompatible": "incompatible", "untested": "not decided"}
    order = [(level, [pair for pair in found.labels if pair in levels.get(level, ())]) for level in words]
    clauses = [f"{words[level]}: {listed(pairs)}" for level, pairs in order if pairs]
    return "; ".join(clauses)[:1].upper() + "; ".join(clauses)[1:] + "."


def legend_lines(found: Frontier) -> list[str]:
    """How to read the table."""
    lines = [
        "QDisc: the highest quality at the diversity of the real distribution, minus the quality of the real one",
        "DRate: QDisc as a share of the range of quality",
    ]
    draws = [row.analysis.result.interval for row in rows(found) if row.analysis.result.interval is not None]
    if draws:
        lines.append(
            f"[ ]: {level_text(draws[0].level)} interval of the mean over draws of halves and mixtures, for these texts"
        )
    if any(row.analysis.verdict.decision == "incompatible" for row in rows(found)):
        lines.append("incompatible: some other distribution has more quality than the real one at no less diversity")
    if any(row.self_ratio for row in rows(found)):
        lines.append(
            "Self-Ratio: QDisc as a share of the quality of real text; Ref-Ratio: of the loss by the first noise"
        )
    methods = dict.fromkeys(METHODS[row.analysis.method] for row in rows(found) if row.analysis.method in METHODS)
    return [*lines, f"method: {'; '.join(methods)}"]


def theory_lines(found: Frontier) -> list[tuple[str, str]]:
    """The conditions of Theorem 1 and the fit of Theorem 3, for each pair of the general form."""
    first = {row.analysis.pair: row.analysis for row in reversed(rows(found)) if row.analysis.fit is not None}
    return [(pair, _theory(first[pair])) for pair in found.labels if pair in first]


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


def settings(found: Frontier) -> list[tuple[str, str]]:
    """Terms and values of what was measured with."""
    names = {
        "tokenizer": "Tokenizer",
        "starts": "Starts of the optimiser",
        "seeds": "Draws",
        "seed": "Seed",
        "version": "Version",
    }
    values = [(term, setting_text(found, name)) for name, term in names.items()]
    return [("Sources", heading(found)), *((term, value) for term, value in values if value)]


@dataclass(frozen=True)
class Chart:
    """A drawing with its title, the names of its curves and a remark below it."""

    title: str
    drawing: Markup
    names: Sequence[tuple[Markup, str]]
    remark: str = ""


def planes(found: Frontier, *, most: int) -> list[Chart]:
    """The plane of each source and pair that has a curve, at most this many."""
    several = len(found.sources) > 1
    drawn = [
        _plane(source, analysis, f"plane-{place}-{at}", several=several)
        for place, source in enumerate(found.sources)
        for at, analysis in enumerate(source.analyses)
        if any(len(curve.points) > 1 for curve in analysis.curves)
    ]
    return drawn[:most]


def _plane(source: SourceColumn, analysis: Analysis, key: str, *, several: bool) -> Chart:
    quality, diversity = axis_names(analysis.pair)
    traces = [
        Trace(curve.name, [(x, y) for _, x, y in curve.points], place) for place, curve in enumerate(analysis.curves)
    ]
    name = "real distribution" if analysis.method == "exact" else "real text"
    gap = f"QDisc {number(analysis.result.estimate)}"
    title = f"{analysis.pair} on {shortened(source.name, 40)}" if several else analysis.pair
    drawing = curve_chart(
        traces,
        spots=[Spotted(name, analysis.quality, analysis.diversity)],
        across=f"{shortened(quality, 40)} →",
        up=f"{shortened(diversity, 40)} →",
        key=key,
        title=f"Quality and diversity: {title}",
        summary=f"{name}: quality {number(analysis.quality)}, diversity {number(analysis.diversity)}; {gap}",
    )
    drate = analysis.result.parts.get("drate")
    remark = gap if drate is None else f"{gap}, {share(max(drate, 0.0))} of the range of quality"
    return Chart(title, drawing, legend(traces), remark)


def step_charts(found: Frontier) -> list[Chart]:
    """The gain in quality along the best optimisation of each pair, one chart per source."""
    charts = []
    for place, source in enumerate(found.sources):
        stepped = [each for each in source.analyses if len(each.steps) > 1]
        traces = [Trace(each.pair, each.steps, at) for at, each in enumerate(stepped)]
        if not traces:
            continue
        drawing = curve_chart(
            traces,
            across="step of the optimiser",
            up="gain in quality at the same diversity",
            key=f"steps-{place}",
            title=f"Optimisation on {shortened(source.name, 40)}",
            summary="; ".join(f"{each.pair}: {number(each.steps[-1][1])}" for each in stepped),
        )
        charts.append(Chart(shortened(source.name, 40), drawing, legend(traces)))
    return charts


def probability_chart(found: Frontier) -> Chart | None:
    """The log-probabilities of all sources that have them, in descending order."""
    traces = [
        Trace(shortened(source.name, 40), [(float(rank), value) for rank, value in enumerate(source.log_probs, 1)], at)
        for at, source in enumerate(found.sources)
        if len(source.log_probs) > 1
    ]
    if not traces:
        return None
    drawing = curve_chart(
        traces,
        across="rank",
        up="log-probability",
        key="probabilities",
        title="Log-probabilities in descending order",
        summary="; ".join(f"{trace.name}: {number(trace.points[0][1])} at rank 1" for trace in traces),
    )
    return Chart("Log-probabilities", drawing, legend(traces))


# The most charts of planes; the first number that keeps the page under its limit is used.
_LADDER = (60, 12, 0)


def render_html(found: Frontier) -> str:
    """The report as one self-contained HTML page of at most 1.5 MB; charts are left out first."""
    page = Page.of(
        "frontier.html.j2", styles=("page.css",), scripts=("page.js",), filters={"without_level": _without_level}
    )
    text, _ = page.first_within(MOST_BYTES, (_content(found, most) for most in _LADDER))
    return text


def _without_level(sentence: str) -> str:
    """A verdict behind its level, which the page shows as a badge."""
    return sentence.removeprefix("compatible: ").removeprefix("incompatible ").removeprefix("not decided: ")


def _content(found: Frontier, most: int) -> dict[str, Any]:
    used = used_columns(found)
    charts = {
        "planes": planes(found, most=most),
        "steps": step_charts(found),
        "probabilities": probability_chart(found),
    }
    theory = theory_lines(found)
    sections = [
        ("verdicts", "Verdicts"),
        *([("planes", "Quality and diversity")] if charts["planes"] else []),
        *([("optimisation", "Optimisation")] if charts["steps"] else []),
        *([("probabilities", "Probabilities")] if charts["probabilities"] else []),
        *([("theory", "Theory")] if theory else []),
        ("reading", "How to read this"),
        ("signatures", "Signatures"),
    ]
    return charts | {
        "f": found,
        "sections": sections,
        "summary": outcome_sentence(found),
        "settings": settings(found),
        "head": [HEAD[place] for place in used],
        "rows": [(row, [row.cells[place] for place in used]) for row in rows(found)],
        "legend": legend_lines(found),
        "theory": theory,
        "signatures": [
            (f"{source.name} {analysis.pair}", analysis.result.signature)
            for source in found.sources
            for analysis in source.analyses
        ],
    }


def render_terminal(found: Frontier, *, width: int, why: bool = False) -> RenderableType:
    """The table, the verdict on each pair, and notes; with `why` also the conditions of the theorems."""
    del width  # the table is narrow, and verdicts are wrapped
    names = fitted_names([printable(source.name) for source in found.sources], MOST_NAME)
    return joined(
        [
            [Text.assemble(("frontier ", ""), (cut(heading(found)), "bold")), *notes(found.notes)],
            [_table(found, names), *map(dim, legend_lines(found))],
            [_verdicts(found, names)],
            [Text(cut(f"{pair}: {line}")) for pair, line in theory_lines(found)] if why else [],
        ]
    )


def _table(found: Frontier, names: list[str]) -> Table:
    several, used = len(found.sources) > 1, used_columns(found)
    table = plain_table(gap=2)
    for head in (*(["source"] if several else []), "pair"):
        table.add_column(head)
    for place in used:
        table.add_column(HEAD[place], justify="right", style="bold" if place == 0 else "")
    named = dict(zip(found.names, names, strict=True))
    for row in rows(found):
        first = [Text(named[row.source.name])] if several else []
        table.add_row(*first, Text(printable(row.analysis.pair)), *(Text(row.cells[place]) for place in used))
    return table


def _verdicts(found: Frontier, names: list[str]) -> Table:
    named = dict(zip(found.names, names, strict=True))
    several = len(found.sources) > 1
    lines = []
    for row in rows(found):
        level = LEVELS[level_of(row.analysis.verdict)]
        pair = printable(row.analysis.pair)
        shown = f"{named[row.source.name]} {pair}" if several else pair
        lines.append((Text(f"{level.sign} {shown}", style=level.style), Text(cut(row.analysis.verdict.sentence))))
    return named_lines(lines, width=max(head.cell_len for head, _ in lines))


def render_markdown(found: Frontier) -> str:
    """One Markdown document."""
    used = used_columns(found)
    head = ["source", "pair", *(HEAD[place] for place in used), "verdict"]
    lines = [
        [
            markdown.cut(row.source.name),
            markdown.cut(row.analysis.pair),
            *(row.cells[place] for place in used),
            markdown.cut(row.analysis.verdict.sentence),
        ]
        for row in rows(found)
    ]
    legend = [f"{markdown.escaped(line)}  " for line in legend_lines(found)]
    sections = {
        "": [*markdown.table(head, lines, right=2), "", *legend],
        "Theory": [f"- **{markdown.cut(pair)}**: {markdown.cut(line)}" for pair, line in theory_lines(found)],
        "Notes": markdown.bullets(found.notes),
    }
    signatures = (result.signature for source in found.sources for result in source.results)
    top = [markdown.cut(outcome_sentence(found))]
    return markdown.document(f"Frontier: {markdown.cut(heading(found))}", top, sections, signatures)


def render_notebook(found: Frontier) -> str:
    """An HTML fragment for a notebook's output cell."""
    used = used_columns(found)
    return fragment(
        "frontier/notebook.html.j2",
        heading=heading(found),
        study=found,
        columns=["Pair", *(HEAD[place] for place in used)],
        rows=[(row, [row.cells[place] for place in used]) for row in rows(found)],
        facts=[],
        legend=legend_lines(found),
        notes=found.notes,
    )
