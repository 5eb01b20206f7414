"""The report of an agreement study: its table and sentences, charts, page, terminal view, Markdown and CSV."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from textassay.corpus.printable import many, share, shortened
from textassay.document.words import cited_p, listed, number, p_text
from textassay.inference.p_values import is_significant
from textassay.inference.result import Result
from textassay.report.former import markdown
from textassay.report.former.charts.curves import Trace, curve_chart, legend
from textassay.report.former.charts.figures import diverging
from textassay.report.former.charts.svg import drawing, element, fitted
from textassay.report.former.table import COMMON_SETTINGS, MARK, level_text, setting_rows
from textassay.report.former.templates.page import MOST_BYTES, Page, fragment
from textassay.report.former.terminal import cut, dim, joined, notes, plain_table
from textassay.studies.agreement.result import Agreement, MetricColumn

HEAD = ("tau-b", "interval", "p", "Spearman", "Pearson", "systems")


@dataclass(frozen=True)
class Row:
    """A metric as text; `marked` is whether tau-b is significant after correction for all metrics."""

    metric: MetricColumn
    cells: tuple[str, ...]
    marked: bool


def metric_rows(found: Agreement) -> list[Row]:
    """One row per metric: the highest tau-b first, those without a number last."""
    both = zip(found.metrics, found.adjusted, strict=True)
    ranked = sorted(both, key=lambda pair: _rank(pair[0].results[0]))
    return [_metric_row(metric, adjusted, found.level) for metric, adjusted in ranked]


def _rank(result: Result) -> float:
    return math.inf if math.isnan(result.estimate) else -result.estimate


def _metric_row(metric: MetricColumn, adjusted: float, level: float) -> Row:
    kendall, spearman, pearson = metric.results
    interval = kendall.interval
    cells = (
        coefficient(kendall.estimate),
        f"{interval.low:.2f} to {interval.high:.2f}" if interval else "",
        p_text(adjusted),
        coefficient(spearman.estimate),
        coefficient(pearson.estimate),
        f"{kendall.n}",
    )
    return Row(metric, cells, is_significant(adjusted, level))


def coefficient(value: float) -> str:
    """A correlation with two digits.

    >>> coefficient(0.8366), coefficient(-1.0), coefficient(math.nan)
    ('0.84', '-1.00', '–')
    """
    return "–" if math.isnan(value) else f"{value:.2f}"


def heading(found: Agreement) -> str:
    """What was compared."""
    known = sum(map(math.isfinite, found.gold_values))
    return f"{many(len(found.metrics), 'metric')} on {many(known, 'system')} against {shortened(found.gold, 60)}"


def outcome_sentence(found: Agreement) -> str:
    """The metrics that agree best with the gold standard."""
    known = [row for row in metric_rows(found) if not math.isnan(row.metric.results[0].estimate)]
    if not known:
        return "No metric has a correlation with the gold standard."
    best = known[0].metric.results[0].estimate
    first = [row.metric.name for row in known if row.metric.results[0].estimate == best]
    adjusted = dict(zip(found.names, found.adjusted, strict=True))
    p = cited_p(adjusted[first[0]], n_tests=len(known))
    tied = f"{listed([shortened(name, 40) for name in first[:6]])}{' and others' if len(first) > 6 else ''}"
    return f"Closest to the gold standard: {tied} (tau-b {coefficient(best)}, {p})."


def legend_lines(found: Agreement) -> list[str]:
    """How to read the table."""
    lines = [
        "tau-b: Kendall's rank correlation with the gold standard; every metric is turned so that higher is better",
        f"interval: {level_text(found.level)}, by Fisher's transform; p: exact, adjusted for all metrics (Holm)",
        "with few systems only a nearly perfect order can be significant",
    ]
    if found.is_order:
        lines.append("the gold standard is an order: Pearson's correlation is with the places in it")
    return lines


def missing_lines(found: Agreement) -> list[str]:
    """Why metrics have no number, one line per reason."""
    reasons: dict[str, list[str]] = {}
    for metric in found.metrics:
        if metric.results[0].undefined is not None:
            reasons.setdefault(metric.results[0].undefined, []).append(shortened(metric.name, 40))
    return [f"no number for {listed(names)}: {reason}" for reason, names in reasons.items()]


def dominance_lines(found: Agreement) -> list[str]:
    """Which systems and which sweeps dominate others."""
    plane = found.dominance
    if plane is None:
        return []
    free = [shortened(point.system, 40) for point in plane.points if not point.by]
    axes = f"{shortened(plane.quality, 40)} and {shortened(plane.diversity, 40)}"
    lines = [f"in the plane of {axes}, no other system dominates {listed(free[:12])}"]
    beaten = [(point.system, point.by) for point in plane.points if point.by]
    lines += [
        f"{shortened(system, 40)} is dominated by {listed([shortened(name, 40) for name in by[:4]])}"
        + (f" and {len(by) - 4} more" if len(by) > 4 else "")
        for system, by in beaten[:12]
    ]
    for i, row in enumerate(plane.shares):
        for j, value in enumerate(row):
            if i != j and value > 0:
                names = shortened(plane.sweeps[i], 40), shortened(plane.sweeps[j], 40)
                lines.append(f"sweep {names[0]} dominates {share(value)} of the systems of sweep {names[1]}")
    return lines


def correlated(found: Agreement) -> list[int]:
    """The places of the metrics that have a correlation with another metric."""
    return [
        place
        for place, row in enumerate(found.matrix)
        if any(math.isfinite(value) for other, value in enumerate(row) if other != place)
    ]


_SQUARE, _LABEL, _FONT = 44.0, 150.0, 12.0


def matrix_chart(found: Agreement, *, most: int = 30) -> Markup | None:
    """Pearson's correlation of every two metrics that have one, at most this many (Figure 4 of Montahaei et al.)."""
    places = correlated(found)[:most]
    if len(places) < 2:
        return None
    names = [shortened(found.metrics[place].name, 40) for place in places]
    size = _SQUARE * len(places)
    cells = [
        part
        for down, i in enumerate(places)
        for across, j in enumerate(places)
        for part in _square(found.matrix[i][j], _LABEL + _SQUARE * across, _SQUARE * down)
    ]
    return drawing(
        *cells,
        *_labels(names, size),
        width=_LABEL + size + 4,
        height=size + _LABEL,
        key="matrix",
        own_size=True,
        title="Correlation of metrics",
        summary=f"Pearson's correlation of {', '.join(names)}",
    )


def _square(value: float, x: float, y: float) -> Iterator[Markup]:
    if math.isnan(value):
        return
    fill, ink = diverging(value)
    yield element("rect", x=x + 1, y=y + 1, width=_SQUARE - 2, height=_SQUARE - 2, fill=fill)
    middle = x + _SQUARE / 2
    class_ = "on-dark" if ink == "#ffffff" else "on-light"
    yield element("text", coefficient(value), x=middle, y=y + _SQUARE / 2 + 4, text_anchor="middle", class_=class_)


def _labels(names: list[str], size: float) -> Iterator[Markup]:
    for place, name in enumerate(names):
        at = _SQUARE * (place + 0.5)
        short = fitted(name, _LABEL - 12, _FONT)
        yield element("text", short, x=_LABEL - 8, y=at + 4, text_anchor="end")
        turned = f"translate({_LABEL + at + 4:.0f} {size + 8:.0f}) rotate(-90)"
        yield element("text", short, transform=turned, text_anchor="end")


def plane_chart(found: Agreement) -> tuple[Markup, list[tuple[Markup, str]]] | None:
    """The systems in the plane; the systems of one sweep are joined if there are several sweeps."""
    plane = found.dominance
    if plane is None:
        return None
    if len(plane.sweeps) > 1:
        groups = {name: [point for point in plane.points if point.sweep == name] for name in plane.sweeps}
    else:
        groups = {point.system: [point] for point in plane.points}
    traces = [
        Trace(shortened(name, 40), sorted((point.quality, point.diversity) for point in group), place)
        for place, (name, group) in enumerate(groups.items())
    ]
    chart = curve_chart(
        traces,
        across=f"more quality → ({shortened(plane.quality, 30)})",
        up=f"more diversity → ({shortened(plane.diversity, 30)})",
        key="plane",
        title="Quality and diversity of the systems",
        summary="; ".join(f"{p.system}: {number(p.quality)} and {number(p.diversity)}" for p in plane.points),
    )
    return chart, legend(traces)


# The most metrics of the matrix; the first number that keeps the page under its limit is used.
_LADDER = (30, 12, 0)


def render_html(found: Agreement) -> str:
    """The report as one self-contained HTML page of at most 1.5 MB."""
    page = Page.of("agreement.html.j2", styles=("page.css",), scripts=("page.js",))
    text, _ = page.first_within(MOST_BYTES, (_content(found, most) for most in _LADDER))
    return text


def _content(found: Agreement, most: int) -> dict[str, Any]:
    matrix, plane, dominance = matrix_chart(found, most=most), plane_chart(found), dominance_lines(found)
    sections = [
        ("table", "Agreement"),
        *([("matrix", "Metric by metric")] if matrix else []),
        *([("plane", "Quality and diversity")] if dominance else []),
        ("reading", "How to read this"),
        ("signatures", "Signatures"),
    ]
    known = zip(found.systems, found.gold_values, strict=True)
    return {
        "f": found,
        "sections": sections,
        "summary": outcome_sentence(found),
        "heading": heading(found),
        "head": HEAD,
        "rows": metric_rows(found),
        "legend": legend_lines(found),
        "notes": [*found.notes, *missing_lines(found)],
        "gold": sorted((pair for pair in known if pair[1] == pair[1]), key=lambda pair: -pair[1]),
        "matrix": matrix,
        "left_out": max(len(found.metrics) - most, 0),
        "plane": plane,
        "dominance": dominance,
        "settings": setting_rows(found, COMMON_SETTINGS),
        "signatures": [(metric.name, result.signature) for metric in found.metrics for result in metric.results],
    }


def render_terminal(found: Agreement, *, width: int, why: bool = False) -> RenderableType:
    """The table, the best metrics, and dominance; with `why` also reasons for missing numbers."""
    del width  # the table is narrow
    return joined(
        [
            [Text(cut(heading(found)), style="bold"), *notes(found.notes)],
            [_table(found), *map(dim, legend_lines(found))],
            [Text(cut(outcome_sentence(found)))],
            [Text(cut(line)) for line in dominance_lines(found)],
            [dim(line) for line in missing_lines(found)] if why else [],
        ]
    )


def _table(found: Agreement) -> Table:
    table = plain_table(gap=2)
    table.add_column("metric")
    for name in HEAD:
        table.add_column(name, justify="right")
    for row in metric_rows(found):
        tau = Text.assemble((row.cells[0], "bold" if row.marked else ""), MARK if row.marked else " ")
        table.add_row(Text(shortened(row.metric.name, 40)), tau, *map(Text, row.cells[1:]))
    return table


def render_markdown(found: Agreement) -> str:
    """One Markdown document."""
    lines = [
        [markdown.cut(row.metric.name), f"{row.cells[0]}{markdown.starred(MARK) if row.marked else ''}", *row.cells[1:]]
        for row in metric_rows(found)
    ]
    legend = [f"{markdown.escaped(line)}  " for line in legend_lines(found)]
    places = correlated(found)
    names = [markdown.cut(found.metrics[place].name) for place in places]
    matrix = [
        [name, *(coefficient(found.matrix[place][other]) for other in places)]
        for name, place in zip(names, places, strict=True)
    ]
    sections = {
        "": [*markdown.table(["metric", *HEAD], lines, right=1), "", *legend],
        "Metric by metric (Pearson)": markdown.table(["", *names], matrix, right=1) if matrix else [],
        "Quality and diversity": markdown.bullets(dominance_lines(found)),
        "Notes": markdown.bullets((*found.notes, *missing_lines(found))),
    }
    signatures = (result.signature for metric in found.metrics for result in metric.results)
    top = [markdown.cut(outcome_sentence(found))]
    return markdown.document(f"Agreement: {markdown.cut(heading(found))}", top, sections, signatures)


def render_notebook(found: Agreement) -> str:
    """An HTML fragment for a notebook's output cell."""
    return fragment(
        "agreement/notebook.html.j2",
        heading=heading(found),
        columns=HEAD,
        rows=metric_rows(found),
        facts=[("Best", outcome_sentence(found))],
        legend=legend_lines(found),
        notes=found.notes,
    )
