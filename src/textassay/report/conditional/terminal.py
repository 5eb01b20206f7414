"""The terminal view of a conditional study: the metric table, then verdicts and the items that differ most."""

import math
from collections.abc import Iterator
from dataclasses import replace

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from textassay.corpus.printable import printable, shortened
from textassay.report.conditional.content import (
    combined,
    counts,
    heading,
    legend,
    missing_lines,
    power_lines,
    table_lines,
)
from textassay.report.conditional.items import Worst, worst_items
from textassay.report.table import MARK, every_note, paired_rows
from textassay.report.terminal import MOST_NAME, cut, dim, fitted_names, joined, metric_tables, notes, verdict_lines
from textassay.report.terminal import heading as title_line
from textassay.studies.conditional.result import Conditional

_MOST_CONTESTS = 12


def render_terminal(conditional: Conditional, *, width: int, why: bool = False, top: int = 5) -> RenderableType:
    """Notes first, then the table, verdicts, differences, and `top` items; with `why` also the numbers behind cells."""
    lines, title = table_lines(conditional), heading(conditional)
    counted = [counts(column) for column in conditional.systems]
    missing, power = missing_lines(conditional, ids=why), power_lines(conditional)
    behind = list(_behind(conditional)) if why else []
    worst, contests = list(_worst(conditional, width, top)), list(_contests(conditional, width))
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
    shown = Table.grid(padding=(0, 2))
    shown.add_column(no_wrap=True)
    shown.add_column(overflow="fold")
    shown.add_column(justify="right", no_wrap=True)
    shown.add_column(no_wrap=True)
    for one in found[:_MOST_CONTESTS]:
        pair = f"{names[one.contest.first]} − {names[one.contest.second]}"
        ahead = f"{names[one.ahead]} better" if one.ahead else ""
        shown.add_row(Text(pair), Text(shortened(one.contest.label, 60)), Text(one.gap), Text(ahead))
    yield shown
    if len(found) > _MOST_CONTESTS:
        yield dim(f"and {len(found) - _MOST_CONTESTS:,} less clear differences")


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


def _worst(conditional: Conditional, width: int, top: int) -> Iterator[RenderableType]:
    found = worst_items(conditional, top)
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
