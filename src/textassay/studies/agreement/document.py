"""The document of an agreement study: which metrics rank systems as the gold standard does."""

import math
from collections.abc import Mapping, Sequence

from textassay.corpus.printable import many, shortened
from textassay.document.blocks import (
    Block,
    Cell,
    Chart,
    Details,
    Document,
    Facts,
    Head,
    Notes,
    Row,
    Section,
    Summary,
    SummaryRow,
    Table,
    Text,
    sections_of,
)
from textassay.document.plot import Cells, Line, Marks, Plot, Point, Scale, rule
from textassay.document.results import COMMON_SETTINGS, ends, setting_pairs, signature_section
from textassay.document.words import level_text, number, p_text, sentence, two_decimals
from textassay.inference.p_values import is_significant
from textassay.studies.agreement import verdict
from textassay.studies.agreement.result import Agreement, MetricColumn, PlanePoint
from textassay.studies.sentences import sentence_of

# The most metrics of the matrix, and of the picture.
_MOST_CORRELATED, _MOST_PICTURED = 30, 24


def document(found: Agreement) -> Document:
    """What an agreement study states."""
    return Document(
        kind="agreement",
        title=f"Agreement with {shortened(found.gold, 60)}",
        summary=_summary(found),
        sections=sections_of(
            Section("table", "Agreement", (_table(found), _gold(found)), "table"),
            Section("matrix", "Metric by metric", _matrix(found), "why"),
            Section("plane", "Quality and diversity", _plane(found), "table"),
            Section("reading", "How to read this", (Text(_READING),)),
            Section("settings", "Settings", (Facts(setting_pairs(found.settings, COMMON_SETTINGS)),)),
            signature_section((metric.name, result.signature) for metric in found.metrics for result in metric.results),
        ),
        names=found.names,
        level=found.level,
        notes=found.notes,
    )


def _summary(found: Agreement) -> Summary:
    known = sum(map(math.isfinite, found.gold_values))
    gold = "the gold order" if found.gold == "gold order" else f"“{shortened(found.gold, 60)}”"
    return Summary(
        question=f"Which metrics rank the systems as {gold} does?",
        context=f"{many(len(found.metrics), 'metric')} on {many(known, 'system')} against {shortened(found.gold, 60)}",
        sentence=sentence(sentence_of(verdict.closest(found))),
        columns=("tau-b", "interval", "p", "wrong pairs"),
        rows=tuple(_summary_row(found, metric, verdict.ranks(found)) for metric in verdict.ranked(found)),
        caveats=tuple(sentence(sentence_of(finding)) for finding in verdict.cautions(found)),
        hints=("All coefficients: --table", "Metric by metric: --why", "Report: --report FILE.html"),
        picture=tau_plot(found),
        noun="metric",
    )


def _summary_row(found: Agreement, metric: MetricColumn, ranks: Mapping[str, int]) -> SummaryRow:
    index = found.names.index(metric.name)
    wrong, adjusted_p = verdict.inverted(found, metric), found.adjusted[index]
    tau, interval, p, *_ = _cells(metric, adjusted_p, found.level)
    n_wrong = 0.0 if wrong is None else wrong.value
    return SummaryRow(
        metric.name,
        index,
        verdict.decision_of(metric, adjusted_p, found.level),
        rank=ranks.get(metric.name),
        cells=(tau, interval, p, Cell(f"{n_wrong:.0f}", n_wrong) if metric.name in ranks else Cell("–")),
        stands_out=""
        if wrong is None
        else f"puts {shortened(wrong.names[0], 30)} above {shortened(wrong.names[1], 30)}",
    )


def _cells(metric: MetricColumn, adjusted_p: float, level: float) -> tuple[Cell, ...]:
    kendall, spearman, pearson = metric.results
    interval = kendall.interval
    return (
        Cell(two_decimals(kendall.estimate), kendall.estimate, marked=is_significant(adjusted_p, level)),
        Cell(f"{interval.low:.2f} to {interval.high:.2f}" if interval else "", interval.low if interval else None),
        Cell(p_text(adjusted_p), adjusted_p),
        Cell(two_decimals(spearman.estimate), spearman.estimate),
        Cell(two_decimals(pearson.estimate), pearson.estimate),
        Cell(f"{kendall.n}", kendall.n),
    )


def _table(found: Agreement) -> Table:
    heads = ("tau-b", "interval", "p", "Spearman", "Pearson", "systems")
    return Table(
        (Head("metric"), *(Head(head, numeric=True) for head in heads)),
        tuple(_row(found, metric) for metric in verdict.ranked(found)),
        footnotes=(
            "tau-b: Kendall's rank correlation with the gold standard; every metric is turned so that higher is better",
            f"interval: {level_text(found.level)}, by Fisher's transform; p: exact, adjusted for all metrics (Holm)",
            "with few systems only a nearly perfect order can be significant",
            *(["the gold standard is an order: Pearson's correlation is with the places in it"] * found.is_order),
        ),
    )


def _row(found: Agreement, metric: MetricColumn) -> Row:
    index, reason = found.names.index(metric.name), metric.results[0].undefined
    cells = _cells(metric, found.adjusted[index], found.level)
    name = Cell(shortened(metric.name, 60), candidate=index)
    return Row((name, *cells), notes=(f"no number: {shortened(reason, 160)}",) if reason else ())


def _gold(found: Agreement) -> Details:
    pairs = zip(found.systems, found.gold_values, strict=True)
    known = sorted((pair for pair in pairs if math.isfinite(pair[1])), key=lambda pair: -pair[1])
    shown = ((shortened(system, 60), value) for system, value in known)
    lines = [system if found.is_order else f"{system} ({number(value)})" for system, value in shown]
    return Details(
        "The gold standard, best first", (Notes(tuple(f"{at}. {line}" for at, line in enumerate(lines, 1))),)
    )


def tau_plot(found: Agreement) -> Plot:
    """Tau-b of each metric with its interval, the best at the top."""
    metrics = [metric for metric in verdict.ranked(found) if math.isfinite(metric.results[0].estimate)][:_MOST_PICTURED]
    points = [
        Point(
            metric.results[0].estimate,
            index,
            ends(metric.results[0]),
            candidate=found.names.index(metric.name),
            label=two_decimals(metric.results[0].estimate),
        )
        for index, metric in enumerate(metrics)
    ]
    return Plot(
        "Agreement with the gold standard",
        Scale("tau-b", better="higher", limits=(-1.0, 1.0)),
        Scale(names=tuple(shortened(metric.name, 40) for metric in metrics)),
        (rule("x", 0.0, dashed=False), Marks(tuple(points))),
        summary="; ".join(f"{metric.name}: {point.label}" for metric, point in zip(metrics, points, strict=True)),
    )


def correlated(found: Agreement) -> list[int]:
    """The indexes of the metrics that have a correlation with another metric."""
    return [
        index
        for index, row in enumerate(found.matrix)
        if any(math.isfinite(value) for other, value in enumerate(row) if other != index)
    ]


def _matrix(found: Agreement) -> tuple[Block, ...]:
    """Pearson's correlation of every two metrics that have one (Figure 4 of Montahaei et al.)."""
    places = correlated(found)[:_MOST_CORRELATED]
    if len(places) < 2:
        return ()
    left_out = len(found.metrics) - _MOST_CORRELATED
    more = f" {many(left_out, 'metric')} are left out here; the JSON file has them." if left_out > 0 else ""
    return (Text((f"{_MATRIX}{more}",)), Chart(matrix_plot(found, places)), _matrix_table(found, places))


def matrix_plot(found: Agreement, places: Sequence[int]) -> Plot:
    """The correlations of these metrics as shaded cells."""
    names = tuple(shortened(found.metrics[index].name, 40) for index in places)
    values = [[found.matrix[i][j] for j in places] for i in places]
    shades = tuple(tuple(None if math.isnan(value) else value for value in row) for row in values)
    texts = tuple(tuple("" if math.isnan(value) else two_decimals(value) for value in row) for row in values)
    return Plot(
        "Correlation of metrics",
        Scale(names=names),
        Scale(names=names),
        (Cells(shades, texts),),
        summary=f"Pearson's correlation of {', '.join(names)}",
        size="large",
    )


def _matrix_table(found: Agreement, places: Sequence[int]) -> Details:
    """The same numbers for those who do not see the chart, and for forms without charts."""
    names = [shortened(found.metrics[index].name, 40) for index in places]
    rows = tuple(
        Row((Cell(name), *(Cell(two_decimals(found.matrix[i][j]), found.matrix[i][j]) for j in places)))
        for name, i in zip(names, places, strict=True)
    )
    heads = (Head("metric"), *(Head(name, numeric=True) for name in names))
    return Details("As a table", (Table(heads, rows, title="Metric by metric (Pearson)"),))


def _plane(found: Agreement) -> tuple[Block, ...]:
    lines = tuple(map(sentence_of, verdict.dominance(found)))
    return (Text((_PLANE,)), Chart(plane_plot(found)), Notes(lines)) if lines else ()


def plane_plot(found: Agreement) -> Plot:
    """The systems in the plane; the systems of one sweep are joined if there are several sweeps."""
    plane = found.dominance
    assert plane is not None
    several = len(plane.sweeps) > 1
    groups = plane.sweeps if several else [point.system for point in plane.points]
    layers: list[Line | Marks] = []
    for index, name in enumerate(groups):
        own = [point for point in plane.points if name == (point.sweep if several else point.system)]
        points = tuple(sorted((point.quality, point.diversity) for point in own))
        marks = tuple(Point(p.quality, p.diversity, candidate=index, label=_named(p), detail=_named(p)) for p in own)
        layers += [Line(points, candidate=index, name=shortened(name, 40))] if several else [Marks(marks)]
    return Plot(
        "Quality and diversity of the systems",
        Scale(f"more quality → ({shortened(plane.quality, 30)})"),
        Scale(f"more diversity → ({shortened(plane.diversity, 30)})"),
        tuple(layers),
        summary="; ".join(
            f"{shortened(p.system, 40)}: {number(p.quality)} and {number(p.diversity)}" for p in plane.points
        ),
        size="large",
    )


def _named(point: PlanePoint) -> str:
    return shortened(point.system, 40)


_MATRIX = (
    "Pearson's correlation of every two metrics over all systems. Every metric is turned so that higher is better: 1"
    " means that two metrics agree, −1 that they contradict each other."
)
_PLANE = (
    "A system dominates another one if it has at least as much quality and diversity, and more of one of them. Real"
    " text is not in this plane: more diversity than real text has is not better."
)
_READING = (
    "Kendall's tau-b counts pairs of systems: those in the same order as the gold standard minus those in the opposite"
    " order, with a correction for ties. 1 is the same order, −1 the reverse, 0 no agreement. Wrong pairs are those in"
    " the opposite order; the example is the one that the gold standard has furthest apart.",
    "p is the share of all orders that agree or disagree at least as much, exact for up to 60 systems, and adjusted for"
    " the number of metrics. Intervals are for other systems of the same kind; they do not include the uncertainty of"
    " the metric values themselves.",
    "A metric that agrees on these systems may fail on others: a ladder of training sizes does not show whether a"
    " metric notices repeated texts.",
)
