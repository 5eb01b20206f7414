"""The report of a stress study: its matrix and advice, charts, page, terminal view, Markdown and CSV."""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from textassay.corpus.printable import many, share, shortened
from textassay.document.words import listed, number
from textassay.report.former import markdown
from textassay.report.former.charts.curves import Trace, curve_chart
from textassay.report.former.charts.svg import COLOURS, keys
from textassay.report.former.table import COMMON_SETTINGS, setting_rows
from textassay.report.former.templates.page import MOST_BYTES, Page, fragment
from textassay.report.former.terminal import column_blocks, cut, dim, joined, named_lines, notes, plain_table
from textassay.studies.stress.result import Cell, DamageInfo, Stress, StressColumn

# A damage counts as found at a strength if at least this share of the runs finds it.
FOUND = 0.8
# A metric praises a damage if at least this share of the runs rates damaged text significantly better than real text.
_PRAISED = 0.5
# Metrics that are in wide use; what they miss is reported first.
POPULAR = ("bleu", "self_bleu", "distinct", "mauve", "frechet", "precision", "recall")
PRAISE, MISSED = "▲", "–"
# Steps of the heat map.
STEPS = 5


@dataclass(frozen=True)
class Entry:
    """A cell of the matrix as text.

    `found` is the smallest strength at which the damage is found, `powers` the power at each strength, `step` the
    colour, from 0 to `STEPS`.
    """

    found: str
    powers: str
    tau: str
    step: int
    praised: bool
    by_law: bool
    detail: str


@dataclass(frozen=True)
class Row:
    """A metric at one size: one entry per damage, then false alarms and seconds."""

    metric: StressColumn
    entries: tuple[Entry, ...]
    alarms: str
    seconds: str


def matrix_rows(found: Stress, size: int) -> list[Row]:
    """One row per metric: the overall test first, then those with the highest mean power."""
    overall, *others = found.metrics
    ranked = sorted(others, key=lambda metric: -mean_power(metric, size))
    return [_row(found, metric, size) for metric in (overall, *ranked)]


def mean_power(metric: StressColumn, size: int) -> float:
    """The mean power over all damages and strengths at a size."""
    powers = [power for cell in metric.cells if cell.size == size for power in cell.power if not math.isnan(power)]
    return sum(powers) / len(powers) if powers else 0.0


def _row(found: Stress, metric: StressColumn, size: int) -> Row:
    place = found.sizes.index(size)
    entries = tuple(_entry(found, metric.cell(damage.name, size)) for damage in found.damages)
    seconds = metric.seconds[place]
    alarms = metric.false_alarms[place]
    return Row(metric, entries, "–" if math.isnan(alarms) else share(alarms), f"{number(seconds)}")


def _entry(found: Stress, cell: Cell) -> Entry:
    at = found_from(cell, found.strengths)
    mean = sum(0.0 if math.isnan(power) else power for power in cell.power) / len(cell.power)
    praised = is_praised(cell)
    shown = MISSED if at is None else f"{at:g}"
    pairs = zip(found.strengths, cell.power, strict=True)
    detail = ", ".join(f"strength {strength:g}: power {power_text(power)}" for strength, power in pairs)
    return Entry(
        f"{shown}{PRAISE if praised else ''}",
        " ".join(map(power_text, cell.power)),
        "–" if math.isnan(cell.tau) else f"{cell.tau:.2f}",
        round(mean * STEPS),
        praised,
        cell.method == "law",
        detail + ("; rated better than real text" if praised else ""),
    )


def power_text(power: float) -> str:
    """A power in two digits.

    >>> power_text(0.85), power_text(1.0), power_text(0.999), power_text(math.nan)
    ('.85', '1', '.99', '–')
    """
    if math.isnan(power):
        return "–"
    return "1" if power >= 1 else f"{min(power, 0.99):.2f}".removeprefix("0")


def found_from(cell: Cell, strengths: Sequence[float]) -> float | None:
    """The smallest strength from which on the damage is found; None if it is missed at the largest one."""
    found = None
    for strength, power in sorted(zip(strengths, cell.power, strict=True), reverse=True):
        if not power >= FOUND:
            break
        found = strength
    return found


def is_praised(cell: Cell) -> bool:
    """Whether the metric rates the damaged text better than real text."""
    return max(cell.praise) >= _PRAISED


def heading(found: Stress) -> str:
    """What was measured."""
    name, n, _ = found.reference
    what = f"{many(len(found.damages), 'damage')}, {many(len(found.metrics) - 1, 'metric')} and the overall test"
    return f"{shortened(name, 60)} ({many(n, 'text')}): {what}"


def outcome_sentence(found: Stress, size: int) -> str:
    """Whether every damage is found at this size, and how many of them by the overall test."""
    missed = [damage.title for damage in found.damages if not _finders(found, damage.name, size)]
    if missed:
        start = f"At {size:,} texts no test finds {listed(missed)}"
    else:
        start = f"At {size:,} texts every damage is found by at least one test"
    overall = found.metrics[0]
    cells = [overall.cell(damage.name, size) for damage in found.damages]
    count = sum(found_from(cell, found.strengths) is not None for cell in cells)
    return f"{start}; the overall test finds {count} of {len(cells)}."


def _finders(found: Stress, damage: str, size: int) -> list[tuple[StressColumn, float]]:
    """The tests that find a damage and the strength from which on they do, the best first."""
    known = [(metric, found_from(metric.cell(damage, size), found.strengths)) for metric in found.metrics]
    able = [(metric, at) for metric, at in known if at is not None]
    place = found.sizes.index(size)

    def rank(pair: tuple[StressColumn, float]) -> tuple[float, float, float]:
        cell = pair[0].cell(damage, size)
        return pair[1], -sum(cell.power), pair[0].seconds[place]

    return sorted(able, key=rank)


def advice_lines(found: Stress, size: int, *, most: int = 4) -> Iterator[tuple[str, str]]:
    """For each damage, which tests to use."""
    for damage in found.damages:
        able = _finders(found, damage.name, size)
        if not able:
            yield damage.title, "no test finds it"
            continue
        best = [(metric, at) for metric, at in able if at == able[0][1]]
        names = [shortened(metric.name, 40) for metric, _ in best[:most]]
        more = f" and {len(best) - most} more" if len(best) > most else ""
        overall = next((at for metric, at in able if metric is found.metrics[0]), None)
        also = "" if overall in (None, able[0][1]) else f"; the overall test from {overall:g}"
        missed = "; the overall test misses it" if overall is None else also
        yield damage.title, f"{', '.join(names)}{more} (from strength {able[0][1]:g}){missed}"


def failure_lines(found: Stress, size: int) -> Iterator[tuple[str, str]]:
    """What each metric misses at this size, metrics in wide use first."""
    ranked = sorted(found.metrics[1:], key=lambda metric: (metric.metric not in POPULAR, mean_power(metric, size)))
    for metric in ranked:
        cells = {damage: metric.cell(damage.name, size) for damage in found.damages}
        missed = [damage.title for damage, cell in cells.items() if found_from(cell, found.strengths) is None]
        praised = [damage.title for damage, cell in cells.items() if is_praised(cell)]
        parts = ([f"misses {listed(missed)}"] if missed else []) + (
            [f"rates damaged text better than real text: {listed(praised)}"] if praised else []
        )
        if parts:
            yield shortened(metric.name, 40), "; ".join(parts)


def alarm_range(found: Stress, size: int) -> str:
    """The smallest and the largest share of false alarms at a size."""
    place = found.sizes.index(size)
    known = [metric.false_alarms[place] for metric in found.metrics if not math.isnan(metric.false_alarms[place])]
    return f"{share(min(known))} to {share(max(known))}" if known else "not measured"


def legend_lines(found: Stress) -> list[str]:
    """How to read the matrix."""
    strengths = ", ".join(f"{strength:g}" for strength in found.strengths)
    lines = [
        f"a number is the smallest strength (of {strengths}) from which on the damage is found in at least "
        f"{share(FOUND)} of {found.n_runs} runs; {MISSED} if it is not found at all",
        f"{PRAISE}: damaged text is rated significantly better than real text",
        f"alarms: how often the test at {100 * (1 - found.level):.3g} % rejects undamaged text",
        "s: processor seconds of one comparison, without encoding",
    ]
    if any(cell.method == "law" for metric in found.metrics for cell in metric.cells):
        lines.append("powers of cnd, mmd and energy for another corpus come from one measurement (d = e² d(P, Q))")
    return lines


def damage_lines(found: Stress) -> list[tuple[str, str]]:
    """What each damage does."""
    return [(damage.title, damage.what) for damage in found.damages]


# Beyond this many standard deviations a difference is plain to see; longer axes would flatten all other curves.
FARTHEST = 20.0


def shown_metrics(found: Stress, size: int) -> list[StressColumn]:
    """The metrics of the charts: some of those in wide use, and those with the highest mean power."""
    others = sorted(found.metrics[1:], key=lambda metric: -mean_power(metric, size))
    known = [metric for metric in others if metric.metric in POPULAR]
    chosen = dict.fromkeys([metric.name for metric in [*known[:4], *others]][:])
    return [metric for metric in others if metric.name in list(chosen)[:COLOURS]]


def curve_charts(found: Stress, size: int) -> list[tuple[str, Markup]]:
    """One chart per damage."""
    metrics = shown_metrics(found, size)
    return [(damage.title, _chart(found, damage, metrics, size)) for damage in found.damages]


def _chart(found: Stress, damage: DamageInfo, metrics: list[StressColumn], size: int) -> Markup:
    traces = [
        Trace(shortened(metric.name, 40), points(found, metric, damage.name, size), place)
        for place, metric in enumerate(metrics)
    ]
    return curve_chart(
        traces,
        across="strength →",
        up="deviations from real text",
        key=f"curve-{damage.name}",
        title=f"Values by strength: {damage.title}",
        summary="; ".join(
            f"{trace.name}: {', '.join(number(y) for _, y in trace.points)}" for trace in traces if trace.points
        ),
    )


def points(found: Stress, metric: StressColumn, damage: str, size: int) -> list[tuple[float, float]]:
    """Strength, and the change of the value in standard deviations of undamaged values, within limits.

    Upwards is worse for metrics that are better in one direction, and a higher value for others.
    """
    cell, deviation = metric.cell(damage, size), metric.deviations[found.sizes.index(size)]
    sign = -1.0 if metric.better == "higher" else 1.0
    if not deviation > 0:
        return []
    moved = [sign * (value - cell.values[0]) / deviation for value in cell.values]
    pairs = zip((0.0, *found.strengths), moved, strict=True)
    return [(x, min(max(y, -FARTHEST), FARTHEST)) for x, y in pairs if not math.isnan(y)]


_SETTINGS = {"tokenizer": "Tokenizer", "encoder": "Encoder", **COMMON_SETTINGS}


def render_html(found: Stress) -> str:
    """The report as one self-contained HTML page of at most 1.5 MB; charts are left out first."""
    page = Page.of("stress.html.j2", styles=("page.css", "stress.css"), scripts=("page.js",))
    text, _ = page.first_within(MOST_BYTES, (_content(found, with_charts=charts) for charts in (True, False)))
    return text


def _content(found: Stress, *, with_charts: bool) -> dict[str, Any]:
    last = found.sizes[-1]
    failures = list(failure_lines(found, last))
    sections = [
        ("use", "Use for"),
        ("matrix", "Matrix"),
        *([("failures", "Failures")] if failures else []),
        *([("curves", "Curves")] if with_charts else []),
        ("damages", "Damages"),
        ("reading", "How to read this"),
        ("signatures", "Signatures"),
    ]
    return {
        "f": found,
        "sections": sections,
        "summary": outcome_sentence(found, last),
        "heading": heading(found),
        "advice": list(advice_lines(found, last)),
        "matrices": [(size, matrix_rows(found, size), alarm_range(found, size)) for size in reversed(found.sizes)],
        "legend": legend_lines(found),
        "failures": failures,
        "charts": curve_charts(found, last) if with_charts else [],
        "chart_names": _chart_names(found, last),
        "damages": damage_lines(found),
        "settings": [*_counts(found), *setting_rows(found, _SETTINGS)],
        "signatures": [(metric.name, metric.signature) for metric in found.metrics],
    }


def _chart_names(found: Stress, size: int) -> list[tuple[Markup, str]]:
    names = [metric.name for metric in shown_metrics(found, size)]
    return list(zip(keys(len(names)), names, strict=True))


def _counts(found: Stress) -> list[tuple[str, str]]:
    return [
        ("Runs per damage, strength and size", f"{found.n_runs:,}"),
        ("Undamaged draws per size", f"2 × {found.n_draws:,}"),
        ("Strengths", ", ".join(f"{strength:g}" for strength in found.strengths)),
    ]


# Metrics whose failures are listed without `why`.
_FEW = 6
_NAME = 18
_STYLES = ("red", "red", "yellow", "yellow", "green", "bold green")


def render_terminal(found: Stress, *, width: int, why: bool = False) -> RenderableType:
    """The matrix of the largest size, advice and failures; with `why` all sizes, powers and monotonicity."""
    last = found.sizes[-1]
    failures = list(failure_lines(found, last))
    parts: list[list[RenderableType]] = [
        [Text.assemble("stress ", (cut(heading(found)), "bold")), *notes(found.notes)],
        [*_matrix(found, last, width, lambda entry: entry.found), *map(dim, legend_lines(found))],
        [Text(cut(outcome_sentence(found, last)), style="bold")],
        [Text("Use for", style="bold"), _lines(advice_lines(found, last))],
        [Text("Failures", style="bold"), _lines(iter(failures if why else failures[:_FEW]))] if failures else [],
    ]
    if why:
        parts += list(_details(found, width))
    return joined(parts)


def _details(found: Stress, width: int) -> Iterator[list[RenderableType]]:
    for size in found.sizes[:-1]:
        yield list(_matrix(found, size, width, lambda entry: entry.found))
    strengths = ", ".join(f"{strength:g}" for strength in found.strengths)
    for size in found.sizes:
        head = Text(f"power at {size:,} texts and strengths {strengths}", style="bold")
        yield [head, *_matrix(found, size, width, lambda entry: entry.powers)]
    for size in found.sizes:
        head = Text(f"Kendall's tau of value and strength at {size:,} texts", style="bold")
        yield [head, *_matrix(found, size, width, lambda entry: entry.tau)]
    yield [Text("Damages", style="bold"), _lines(iter(damage_lines(found)))]


def _lines(pairs: Iterator[tuple[str, str]]) -> Table:
    rows = [(Text(shortened(name, 30)), Text(cut(line))) for name, line in pairs]
    return named_lines(rows, width=max((name.cell_len for name, _ in rows), default=0) + 1)


def _matrix(found: Stress, size: int, width: int, text: Callable[[Entry], str]) -> Iterator[Table]:
    """Tables of at most this width, with the metrics in each."""
    shown = matrix_rows(found, size)
    names = [damage.name for damage in found.damages]
    widths = [max(len(name), *(len(text(row.entries[place])) for row in shown)) + 1 for place, name in enumerate(names)]
    label = max(_NAME, *(len(row.metric.name) for row in shown))
    ends = [("alarms", [row.alarms for row in shown]), ("s", [row.seconds for row in shown])]
    tail = sum(max(len(head), *map(len, cells)) + 1 for head, cells in ends)
    blocks = list(column_blocks(widths, width - min(label, 30) - 2 - tail))
    for block in blocks:
        table = plain_table(gap=1)
        table.add_column(f"{size:,} texts", width=min(label, 30))
        for place in block:
            table.add_column(names[place], justify="right", no_wrap=True, width=widths[place] - 1)
        for head, _ in ends if block is blocks[0] else ():
            table.add_column(head, justify="right", no_wrap=True)
        for at, row in enumerate(shown):
            cells = [Text(text(row.entries[place]), style=_STYLES[row.entries[place].step]) for place in block]
            more = [Text(values[at], style="dim") for _, values in ends] if block is blocks[0] else []
            table.add_row(Text(shortened(row.metric.name, 30), style="" if at else "bold"), *cells, *more)
        yield table


def render_markdown(found: Stress) -> str:
    """One Markdown document."""
    last = found.sizes[-1]
    legend = [f"{markdown.escaped(line)}  " for line in legend_lines(found)]
    sections: dict[str, list[str]] = {"": []}
    for size in reversed(found.sizes):
        table = matrix(found, size, lambda entry: entry.found)
        sections[f"Matrix at {size:,} texts"] = [*table, "", *(legend if size == last else [])]
    sections["Use for"] = named(advice_lines(found, last))
    sections["Failures"] = named(failure_lines(found, last))
    strengths = ", ".join(f"{strength:g}" for strength in found.strengths)
    for size in reversed(found.sizes):
        title = f"Power at {size:,} texts and strengths {strengths}"
        sections[title] = matrix(found, size, lambda entry: entry.powers)
    for size in reversed(found.sizes):
        sections[f"Kendall's tau at {size:,} texts"] = matrix(found, size, lambda entry: entry.tau)
    sections["Damages"] = named(damage_lines(found))
    sections["Notes"] = markdown.bullets(found.notes)
    alarms = [f"False alarms at {size:,} texts: {alarm_range(found, size)}." for size in found.sizes]
    top = [markdown.cut(line) for line in (outcome_sentence(found, last), *alarms)]
    signatures = (metric.signature for metric in found.metrics)
    return markdown.document(f"Stress: {markdown.cut(heading(found))}", top, sections, signatures)


def matrix(found: Stress, size: int, text: Callable[[Entry], str]) -> list[str]:
    """The lines of a table with one row per metric and one column per damage."""
    head = ["metric", *(markdown.cut(damage.title) for damage in found.damages), "false alarms", "seconds"]
    lines = [
        [markdown.cut(row.metric.name), *map(text, row.entries), row.alarms, row.seconds]
        for row in matrix_rows(found, size)
    ]
    return markdown.table(head, lines, right=1)


def named(pairs: Iterable[tuple[str, str]]) -> list[str]:
    """A list of sentences, each behind its name."""
    return [f"- **{markdown.cut(name)}**: {markdown.cut(line)}" for name, line in pairs]


def render_notebook(found: Stress) -> str:
    """An HTML fragment for a notebook's output cell."""
    last = found.sizes[-1]
    return fragment(
        "stress/notebook.html.j2",
        heading=f"{heading(found)}, {last:,} texts per sample",
        columns=[*(damage.title for damage in found.damages), "false alarms", "seconds"],
        rows=matrix_rows(found, last),
        facts=list(advice_lines(found, last)),
        legend=legend_lines(found),
        notes=found.notes,
    )
