"""The report of a sweep: best settings, values of all settings, page, terminal view, Markdown and CSV."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from textassay.corpus.printable import many, printable, shortened
from textassay.document.words import p_text
from textassay.inference.over_items import METHOD
from textassay.inference.result import Result
from textassay.report.former import markdown
from textassay.report.former.charts.setting_charts import REAL, lines, metric_chart, plane
from textassay.report.former.charts.svg import keys
from textassay.report.former.table import (
    ARROWS,
    COMMON_SETTINGS,
    LEVELS,
    Figure,
    better_legend,
    by_aspect,
    figure,
    guide,
    interval_legend,
    level_of,
    level_text,
    setting_rows,
    setting_text,
)
from textassay.report.former.templates.page import MOST_BYTES, Page, fragment
from textassay.report.former.terminal import (
    MOST_NAME,
    column_blocks,
    cut,
    dim,
    fitted_names,
    joined,
    named_lines,
    notes,
    plain_table,
)
from textassay.studies.sweep.best import Best
from textassay.studies.sweep.result import SettingColumn, Sweep
from textassay.studies.sweep.verdict import settings_text

# Behind the values that belong to settings that cannot be distinguished from the best one.
AMONG = "•"


@dataclass(frozen=True)
class BestRow:
    """The best setting of a metric as text; `among` are the settings that cannot be distinguished from it."""

    label: str
    arrow: str
    aspect: str
    setting: str
    value: Figure
    real: Figure
    among: str

    @property
    def cells(self) -> tuple[str, str, str, str]:
        """The cells in the order of `HEAD`."""
        return self.setting, self.value.short, self.real.short, self.among


HEAD = ("best", "value", REAL, "not distinguishable from the best")


def best_rows(found: Sweep) -> list[BestRow]:
    """One row per metric."""
    return [_best_row(found, best, place) for place, best in enumerate(found.best)]


def _best_row(found: Sweep, best: Best, place: int) -> BestRow:
    real = found.real.results[place]
    of_best = found[best.setting].results[place] if best.setting else found.swept[0].results[place]
    return BestRow(
        shortened(best.label, 60),
        ARROWS[real.better],
        real.aspect,
        best.setting or "–",
        figure(of_best, level=found.level) if best.setting else Figure("–"),
        figure(real, level=found.level),
        among_text(found, best),
    )


def among_text(found: Sweep, best: Best) -> str:
    """The other settings that cannot be distinguished from the best one, and those that were not compared, in words."""
    names = list(found.names)
    if not best.setting:
        return "–"
    if best.unknown and len(best.among) == 1:
        return "not compared: no interval"
    others = [name for name in best.among if name != best.setting]
    shown = settings_text(others, names) if others else "none"
    return f"{shown}; without interval: {settings_text(best.unknown, names)}" if best.unknown else shown


@dataclass(frozen=True)
class ValueRow:
    """A setting with one cell per metric, and the adjusted p-value of the overall test."""

    name: str
    figures: tuple[Figure, ...]
    among: tuple[bool, ...]
    p: str = ""
    is_real: bool = False


def value_rows(found: Sweep) -> list[ValueRow]:
    """One row per setting, and one for real text."""
    rows = [_value_row(found, column) for column in found.swept]
    real = tuple(figure(result, level=found.level) for result in found.real.results)
    return [*rows, ValueRow(REAL, real, (False,) * len(real), is_real=True)]


def _value_row(found: Sweep, column: SettingColumn) -> ValueRow:
    figures = tuple(figure(result, level=found.level) for result in column.results)
    among = tuple(len(best.among) > 0 and column.name in best.among for best in found.best)
    return ValueRow(column.name, figures, among, overall_text(found, column))


def overall_text(found: Sweep, column: SettingColumn) -> str:
    """The adjusted p-value of the overall test; empty without one."""
    adjusted = math.nan if column.overall is None or column.overall.adjusted is None else column.overall.adjusted
    resamples = found.settings.get("resamples", 0)
    floor = 1 / (resamples + 1) if isinstance(resamples, int) and resamples else 0.0
    return "" if math.isnan(adjusted) else p_text(adjusted, floor=floor)


def is_tested(found: Sweep) -> bool:
    """Whether there is an overall test of any setting."""
    return any(overall_text(found, column) for column in found.swept)


def heading(found: Sweep) -> str:
    """Models, reference and sizes in one line."""
    models = f"{shortened(found.models[0], 60)}" if len(found.models) == 1 else many(len(found.models), "model")
    settings, n = many(len(found.swept), "setting"), found.swept[0].n
    return f"{models} against {shortened(found.reference.name, 60)} ({settings}, {n:,} texts each)"


def legend_lines(found: Sweep) -> list[str]:
    """How to read the tables."""
    results: list[Result] = [result for column in found.swept for result in column.results]
    over_items = any(result.interval is not None and result.interval.method == METHOD for result in results)
    of = "the mean over items" if over_items else "the expected value at this sample size"
    lines = interval_legend(results, found.level, of=of)
    if any(len(best.among) > 1 for best in found.best):
        lines.append(
            f"{AMONG} not distinguishable from the best setting: with at least {level_text(found.level)} probability"
            " the truly best one is among these (each metric by itself)"
        )
    if is_tested(found):
        lines.append(
            "overall p: the overall test of a difference from the reference, adjusted for"
            f" {many(len(found.swept), 'setting')}"
        )
    return [*lines, *better_legend(results, target="the value of real text")]


def setting_facts(found: Sweep) -> list[tuple[str, str]]:
    """Terms and values of what was measured with."""
    names = {"model": "Model", "oracle": "Oracle", "prompts": "Prompts", "tokenizer": "Tokenizer", "encoder": "Encoder"}
    rows = [(term, setting_text(found, name)) for name, term in names.items()]
    sizes = [
        ("Reference", f"{shortened(found.reference.name, 60)}, {found.reference.n:,} texts"),
        ("Texts per setting", f"{found.swept[0].n:,}"),
    ]
    return [*sizes, *((term, value) for term, value in rows if value), *setting_rows(found, COMMON_SETTINGS)]


# The most charts of metrics and the most signatures; the first that keeps the page under its limit is used.
_LADDER = ((60, 500), (24, 100), (8, 20), (0, 0))


def render_html(found: Sweep) -> str:
    """The report as one self-contained HTML page of at most 1.5 MB; charts and signatures are left out first."""
    page = Page.of("sweep.html.j2", styles=("page.css",), scripts=("page.js",))
    shared = _shared(found)
    text, _ = page.first_within(MOST_BYTES, (_content(found, shared, *limits) for limits in _LADDER))
    return text


def _shared(found: Sweep) -> dict[str, Any]:
    """What does not depend on the limits."""
    drawn, by_line = plane(found), lines(found)
    sections = [
        ("best", "Best settings"),
        *([("plane", "Quality and diversity")] if drawn else []),
        ("metrics", "Metric by metric"),
        ("settings", "All settings"),
        ("reading", "How to read this"),
        ("signatures", "Signatures"),
    ]
    return {
        "f": found,
        "sections": sections,
        "heading": heading(found),
        "rows": best_rows(found),
        "head": HEAD,
        "plane": drawn,
        "lines": [(mark, line.name) for mark, line in zip(keys(len(by_line)), by_line, strict=True) if line.name],
        "values": value_rows(found),
        "tested": is_tested(found),
        "legend": legend_lines(found),
        "facts": setting_facts(found),
        "guide": guide(found.real.results, target="real text"),
        "among": AMONG,
        "signatures": [
            (column.name, result.signature) for column in (found.real, *found.swept) for result in column.results
        ],
    }


def _content(found: Sweep, shared: dict[str, Any], most: int, most_signatures: int) -> dict[str, Any]:
    charts = [metric_chart(found, place, among=row.among) for place, row in enumerate(shared["rows"][:most])]
    return shared | {
        "charts": by_aspect(charts),
        "left_out": len(found.labels) - len(charts),
        "most_signatures": most_signatures,
    }


_GAP = 2
_FEWEST_CELLS = 30


def render_terminal(found: Sweep, *, width: int) -> RenderableType:
    """The best settings, the values of all settings, and the verdict."""
    return joined(
        [
            [Text.assemble("sweep ", (cut(heading(found)), "bold")), *notes(found.notes)],
            [_best(found)],
            *([table] for table in _values(found, max(width, _FEWEST_CELLS))),
            [dim(line) for line in legend_lines(found)],
            [_verdict(found)],
        ]
    )


def _best(found: Sweep) -> Table:
    table = plain_table(gap=_GAP)
    table.add_column("metric", no_wrap=True)
    for place, head in enumerate(HEAD):
        table.add_column(head, justify="right" if place in (1, 2) else "left", no_wrap=place < 3, overflow="fold")
    for row in best_rows(found):
        setting, value, real, among = map(printable, row.cells)
        table.add_row(
            Text.assemble(row.label, (f" {row.arrow}", "dim")), Text(setting, style="bold"), value, real, among
        )
    return table


def _values(found: Sweep, width: int) -> Iterator[Table]:
    """Tables of at most this width, with as many metrics in each as fit."""
    rows = value_rows(found)
    names = [*fitted_names([printable(name) for name in found.names], MOST_NAME), REAL]
    heads = [*(printable(label) for label in found.labels), *(["overall p"] if is_tested(found) else [])]
    columns = [[_cell(row, place) for row in rows] for place in range(len(found.labels))]
    columns += [[Text(row.p) for row in rows]] if is_tested(found) else []
    widths = [max(len(head), *(cell.cell_len for cell in cells)) for head, cells in zip(heads, columns, strict=True)]
    room = width - max(map(len, names)) - _GAP
    for block in column_blocks(widths, room, gap=_GAP):
        table = plain_table(gap=_GAP)
        table.add_column("setting", no_wrap=True)
        for place in block:
            table.add_column(heads[place], justify="right", no_wrap=True)
        for at, (name, row) in enumerate(zip(names, rows, strict=True)):
            cells = [columns[place][at] for place in block]
            table.add_row(Text(name, style="dim" if row.is_real else "bold"), *cells)
        yield table


def _cell(row: ValueRow, place: int) -> Text:
    mark = AMONG if row.among[place] else " "
    style = "dim" if row.is_real else "bold" if row.among[place] else ""
    return Text.assemble((row.figures[place].estimate, style), mark)


def _verdict(found: Sweep) -> Table:
    level = LEVELS[level_of(found.verdict)]
    lines = [Text(cut(reason)) for reason in found.verdict.reasons]
    heads = [Text(level.sign, style=level.style), *(Text("") for _ in lines[1:])]
    return named_lines(zip(heads, lines, strict=True), width=1)


def render_markdown(found: Sweep) -> str:
    """One Markdown document."""
    best = [
        [f"{markdown.cut(row.label)} {row.arrow}", *(markdown.cut(cell) for cell in row.cells)]
        for row in best_rows(found)
    ]
    tested = is_tested(found)
    head = ["setting", *map(markdown.cut, found.labels), *(["overall p"] if tested else [])]
    values = [
        [
            markdown.cut(row.name),
            *(f"{figure.short}{AMONG if mine else ''}" for figure, mine in zip(row.figures, row.among, strict=True)),
            *([row.p] if tested else []),
        ]
        for row in value_rows(found)
    ]
    legend = [f"{markdown.escaped(line)}  " for line in legend_lines(found)]
    sections = {
        "Best settings": markdown.table(["metric", *HEAD], best, right=5),
        "All settings": [*markdown.table(head, values, right=1), "", *legend],
        "Notes": markdown.bullets(found.notes),
    }
    signatures = (result.signature for column in found.swept for result in column.results)
    top = markdown.bullets(found.verdict.reasons)
    return markdown.document(f"Sweep: {markdown.cut(heading(found))}", top, sections, signatures)


def render_notebook(found: Sweep) -> str:
    """An HTML fragment for a notebook's output cell."""
    return fragment(
        "sweep/notebook.html.j2",
        heading=heading(found),
        study=found,
        columns=HEAD,
        rows=best_rows(found),
        facts=[],
        legend=legend_lines(found),
        notes=found.notes,
    )
