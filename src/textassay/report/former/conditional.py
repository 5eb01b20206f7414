"""The report of a conditional study: its page, terminal view, Markdown and CSV."""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from textassay.corpus.printable import printable, share, shortened
from textassay.document.words import p_text
from textassay.report.former import markdown
from textassay.report.former.charts.item_charts import curves, item_strip, kind_bar, scatters, shown_kinds
from textassay.report.former.charts.svg import keys
from textassay.report.former.conditional_items import (
    NOT_RANKED,
    Worst,
    are_ranked,
    item_views,
    items_block,
    worst_first,
    worst_items,
)
from textassay.report.former.conditional_table import (
    OTHER_TESTS,
    TARGET,
    combined,
    combined_tests,
    counts,
    heading,
    human_parts,
    kind_counts,
    legend,
    missing_lines,
    outcome_sentence,
    p_at_most,
    power_lines,
    table_lines,
)
from textassay.report.former.table import (
    COMMON_SETTINGS,
    MARK,
    by_aspect,
    every_note,
    level_of,
    level_text,
    paired_rows,
    setting_rows,
    span,
    table_content,
)
from textassay.report.former.templates.page import Page, fragment, render_with_items
from textassay.report.former.terminal import (
    MOST_NAME,
    cut,
    dim,
    fitted_names,
    joined,
    metric_tables,
    notes,
    verdict_lines,
)
from textassay.report.former.terminal import heading as title_line
from textassay.studies.conditional.result import KINDS, Conditional, SystemColumn

_SCRIPTS = ("store", "list", "item_page", "routing")


@dataclass(frozen=True)
class Limits:
    """How much of each list is shown; the page states what is left out. `cell` is the grid of the scatter in pixels."""

    strips: int
    scatters: int
    cell: float
    static: int
    texts: int
    characters: int
    contests: int
    signatures: int
    points: int
    notes: int = 30
    reasons: int = 8


# The first that leaves room for the items is used; only studies of dozens of systems need the later ones.
_LADDER = (
    Limits(strips=60, scatters=12, cell=2.0, static=25, texts=12, characters=400, contests=60, signatures=300,
               points=80),
    Limits(strips=24, scatters=6, cell=4.0, static=10, texts=6, characters=200, contests=60, signatures=100,
               points=30),
    Limits(strips=6, scatters=2, cell=5.0, static=5, texts=3, characters=100, contests=20, signatures=20, points=0),
    Limits(strips=0, scatters=0, cell=5.0, static=0, texts=0, characters=0, contests=0, signatures=0, points=0),
)  # fmt: skip


def render_html(conditional: Conditional) -> str:
    """The report of a conditional study as one self-contained HTML page.

    It stays under 1.5 MB: the items that differ most come with their texts, as many as fit, and the page states how
    many do not. Verdicts and the table are always complete, so only a table of thousands of cells can exceed the limit.
    """
    smaller = (_content(conditional, limits) for limits in _LADDER[1:])
    # The first content is gathered before the page is loaded; smaller ones only if it is too large.
    contents = chain([_content(conditional, _LADDER[0])], smaller)
    page = Page.of(
        "conditional.html.j2",
        styles=("page.css", "items.css"),
        scripts=("page.js", "tools.js", *(f"conditional/{name}.js" for name in _SCRIPTS)),
    )
    return render_with_items(page, contents, lambda _, room: items_block(conditional, room=room))


def _content(conditional: Conditional, limits: Limits) -> dict[str, Any]:
    systems = conditional.systems
    places = worst_first(conditional)[: limits.static]
    counted = [kind_counts(system) for system in systems]
    signatures = [
        (column.name, result.signature)
        for column in (conditional.human, *systems)
        for result in (*column.results, *column.at_baseline_size.values())
    ]
    content: dict[str, Any] = {
        "c": conditional,
        "limits": limits,
        "drawn_kinds": [kind for kind in KINDS if kind not in ("differs", "untested")],
        "ranked": are_ranked(conditional),
        "not_ranked": NOT_RANKED,
        "signatures": signatures,
        **table_content(systems, table_lines(conditional), conditional.human.results, target=TARGET),
        "combined_tests": combined_tests(conditional),
        "contests": paired_rows(conditional, conditional.contests)[: limits.contests],
        "notes": every_note(conditional.items.notes, conditional.notes),
        "summary": outcome_sentence(conditional),
        "settings": _settings(conditional),
        "static": item_views(conditional, places, texts=limits.texts, characters=limits.characters),
        "missing": missing_lines(conditional, ids=True),
        "cards": [
            {
                "system": system,
                "level": level_of(system.verdict),
                "counts": [(k, n, share(n / len(system.items)) if system.items else "") for k, n in counts.items()],
                "candidates": span(len(item.candidates.get(system.name, ())) for item in conditional.items.items),
            }
            for system, counts in zip(systems, counted, strict=True)
        ],
    }
    content |= {
        "curves": curves(conditional.sensitivity),
        "scatters": scatters(conditional, cell=limits.cell)[: limits.scatters],
        "bars": [kind_bar(counts) for counts in counted],
        "kinds": shown_kinds(conditional),
        "marks": keys(len(systems)),
        "strips": by_aspect(item_strip(conditional, place) for place in content["drawn"][: limits.strips]),
    }
    sections = [(name, title) for name, title in _SECTIONS.items() if content.get(_DRAWN.get(name, ""), True)]
    return content | {"sections": sections}


# Ids and titles of the sections, and what has to be drawn for those that a page may lack.
_SECTIONS = {
    "verdicts": "Verdicts",
    "misses": "How items differ",
    "table": "Table",
    "strips": "Metric by metric",
    "items": "Items",
    "sensitivity": "Sensitivity",
    "reading": "How to read this",
}
_DRAWN = {"misses": "scatters", "strips": "strips", "sensitivity": "curves"}
_SETTINGS = {"distances": "Distances", "tokenizer": "Tokens", "encoder": "Encoder", "test": "Tests"}


def _settings(conditional: Conditional) -> list[tuple[str, str]]:
    """Terms and values for the top of the page."""
    items, sizes = conditional.items.items, human_parts(conditional)
    return [
        ("Items", f"{len(items):,}"),
        ("References per item", span(len(item.references) for item in items)),
        *([("Human column", f"{' or '.join(sizes)} references")] if sizes else []),
        ("Interval level", level_text(conditional.level)),
        *setting_rows(conditional, _SETTINGS | COMMON_SETTINGS),
    ]


_FEW_CONTESTS = 12
_OTHER_TEST = (
    "these differences are tested by flipping their signs item by item, the table by exchanging labels, so the two "
    "results may disagree"
)


def render_terminal(conditional: Conditional, *, width: int, why: bool = False, top: int = 5) -> RenderableType:
    """Notes first, then the table, verdicts, differences, and `top` items; with `why` also the numbers behind cells."""
    lines, title = table_lines(conditional), heading(conditional)
    counted = [counts(column) for column in conditional.systems]
    missing, power = missing_lines(conditional, ids=why), power_lines(conditional)
    behind = list(_behind(conditional)) if why else []
    worst, contests = list(_worst_items(conditional, width, top)), list(_contests(conditional, width))
    remarks = every_note(conditional.items.notes, conditional.notes)
    names = fitted_names([printable(column.name) for column in conditional.systems], MOST_NAME)
    columns = [conditional.human.name, *(column.name for column in conditional.systems)]
    tables, with_chance = metric_tables(lines, columns, width)
    verdicts = [
        (name, column.verdict, [dim(f"items: {kinds}")])
        for column, name, kinds in zip(conditional.systems, names, counted, strict=True)
    ]
    return joined(
        [
            [title_line(conditional.items.name, f": {title}", width=width), *notes(remarks)],
            [*tables, *map(dim, legend(conditional, chance=with_chance))],
            list(verdict_lines(verdicts)),
            contests,
            [dim(line) for line in missing],
            [Text(cut(line)) for line in power],
            [dim(line) for line in behind],
            worst,
        ]
    )


def _contests(conditional: Conditional, width: int) -> Iterator[RenderableType]:
    found = paired_rows(conditional, conditional.contests)
    columns = [column.name for column in (conditional.human, *conditional.systems)]
    room = max(8, min(MOST_NAME, width // 6))
    names = dict(zip(columns, fitted_names([printable(name) for name in columns], room), strict=True))
    if not found:
        return
    yield dim(f"differences on the same items, first minus second; {MARK} Holm-adjusted p <= {1 - conditional.level:g}")
    yield dim(_OTHER_TEST)
    shown = Table.grid(padding=(0, 2))
    shown.add_column(no_wrap=True)
    shown.add_column(overflow="fold")
    shown.add_column(justify="right", no_wrap=True)
    shown.add_column(no_wrap=True)
    for one in found[:_FEW_CONTESTS]:
        pair = f"{names[one.contest.first]} − {names[one.contest.second]}"
        ahead = f"{names[one.ahead]} better" if one.ahead else ""
        shown.add_row(Text(pair), Text(shortened(one.contest.label, 60)), Text(one.gap), Text(ahead))
    yield shown
    if len(found) > _FEW_CONTESTS:
        yield dim(f"and {len(found) - _FEW_CONTESTS:,} less clear differences")


def _behind(conditional: Conditional) -> Iterator[str]:
    """The numbers behind the cells."""
    adjusted = ((math.nan,) * len(conditional.labels), *map(conditional.adjusted_p_values, conditional.systems))
    # The human p-value is that of one split, not of the mean over splits beside it.
    human = replace(conditional.human, results=tuple(replace(r, p_value=None) for r in conditional.human.results))
    for place, label in enumerate(conditional.labels):
        for column, p in zip((human, *conditional.systems), adjusted, strict=True):
            line = combined(label, column, place, p[place])
            if line:
                yield line


def _worst_items(conditional: Conditional, width: int, top: int) -> Iterator[RenderableType]:
    found = worst_items(conditional, top)
    if top and not are_ranked(conditional):
        yield dim(NOT_RANKED)
    if found:
        yield dim("the items that differ most, references | candidates; > marks the central reference")
    for item in found:
        yield _item_title(item)
        sides = Table.grid(padding=(0, 1))
        side = max((width - 7) // 2, 1)
        for wide in (1, side, 1, side):
            sides.add_column(width=wide, overflow="fold")
        for central, left, right in item.lines():
            sides.add_row(">" if central else "", Text(left), Text("|", style="dim"), Text(right))
        yield sides


def _item_title(item: Worst) -> Text:
    title = Text.assemble((item.system, "bold"), " on ", (item.id, "bold"), f": {item.how}")
    return title.append(f"\n  {item.prompt}", style="dim") if item.prompt else title


_TOP, _MOST_CONTESTS, _MOST_NOTES = 10, 60, 10


def render_markdown(conditional: Conditional) -> str:
    """One Markdown document."""
    names = [conditional.human.name, *(column.name for column in conditional.systems)]
    sections = {
        "": markdown.metric_table(table_lines(conditional), names, legend(conditional, chance=True)),
        "Combined p-values": _combined_table(conditional),
        "Differences": _contest_table(conditional),
        "Power": markdown.bullets(power_lines(conditional)),
        "No number": markdown.bullets(missing_lines(conditional, ids=True)),
        "Items that differ most": [line for item in worst_items(conditional, _TOP) for line in _item_lines(item)]
        or ([] if are_ranked(conditional) else [NOT_RANKED]),
    }
    everyone = (conditional.human, *conditional.systems)
    return markdown.document(
        f"{markdown.cut(conditional.items.name)}: {heading(conditional)}",
        [
            *(f"Note: {markdown.cut(note)}" for note in every_note(conditional.items.notes, conditional.notes)),
            *map(_verdict_line, conditional.systems),
        ],
        sections,
        (r.signature for c in everyone for r in (*c.results, *c.at_baseline_size.values())),
    )


def _verdict_line(column: SystemColumn) -> str:
    verdict = column.verdict.sentence if column.verdict else "not tested"
    return f"**{markdown.cut(column.name)}**: {markdown.cut(verdict)} (items: {counts(column)})"


def _p(value: float) -> str:
    return markdown.escaped(p_text(value))


def _z(value: float) -> str:
    return "–" if math.isnan(value) else f"{value:.1f}"


def _combined_table(conditional: Conditional) -> list[str]:
    """The combined test of every metric, and other ways to combine the p-values of items."""
    lines = [
        [markdown.cut(label), markdown.cut(column.name), markdown.escaped(p_at_most(result)),
         _p(result.parts.get("adjusted", math.nan)),
         _z(result.parts.get("z", math.nan)), *(_p(result.parts.get(name, math.nan)) for name in OTHER_TESTS),
         f"{result.n:,}"]
        for column in conditional.systems
        for label, result in zip(conditional.labels, column.results, strict=True)
        if result.p_value is not None
    ]  # fmt: skip
    head = ["metric", "system", "p", "adjusted p", "z", *(f"{words} p" for words in OTHER_TESTS.values()), "items"]
    return markdown.table(head, lines, right=2) if lines else []


def _contest_table(conditional: Conditional) -> list[str]:
    found = paired_rows(conditional, conditional.contests)
    lines = [
        [
            *(markdown.cut(text) for text in (one.contest.first, one.contest.second, one.contest.label)),
            markdown.starred(one.gap),
            markdown.escaped(one.p),
            markdown.cut(one.ahead),
        ]
        for one in found[:_MOST_CONTESTS]
    ]
    head = ["first", "second", "metric", "first minus second", "Holm-adjusted p", "better"]
    left_out = len(found) - len(lines)
    more = ["", f"{left_out:,} further differences are less clear."] if left_out else []
    return [*markdown.table(head, lines, right=3), *more, "", f"{_OTHER_TEST.capitalize()}."] if lines else []


def _item_lines(item: Worst) -> Iterator[str]:
    """Title, prompt, and the texts of both sides; all are shortened already."""
    yield f"### {markdown.escaped(item.system)} on {markdown.escaped(item.id)}: {item.how}"
    yield ""
    if item.prompt:
        yield from (f"Prompt: {markdown.escaped(item.prompt)}", "")
    sides = (
        [f"{'&gt; ' if central else ''}{markdown.escaped(left)}", markdown.escaped(right)]
        for central, left, right in item.lines()
    )
    yield from markdown.table(["references (&gt; marks the central one)", "candidates"], sides, right=2)
    yield ""


def render_notebook(conditional: Conditional) -> str:
    """An HTML fragment for a notebook's output cell."""
    return fragment(
        "conditional/notebook.html.j2",
        name=conditional.items.name,
        heading=heading(conditional),
        systems=[(system, counts(system)) for system in conditional.systems],
        columns=[conditional.human.name, *conditional.names],
        lines=table_lines(conditional),
        facts=[],
        legend=legend(conditional, chance=True),
        notes=every_note(conditional.items.notes, conditional.notes)[:_MOST_NOTES],
    )
