"""The terminal view of a HUSE study: scores, the verdict, kinds of items, raters, and the effect of more data."""

from collections.abc import Iterator

from rich.cells import cell_len
from rich.console import RenderableType
from rich.padding import Padding
from rich.text import Text

from textassay.corpus.printable import printable, shortened
from textassay.report.huse import content
from textassay.report.huse.content import (
    OUTLOOK_HEAD,
    OUTLOOK_LEGEND,
    OUTLOOK_SHORT,
    agreement_lines,
    outlook_rows,
    rater_lines,
    worth_lines,
)
from textassay.report.huse.items import Example, examples
from textassay.report.table import every_note
from textassay.report.terminal import (
    MOST_NAME,
    cut,
    dim,
    fitted_names,
    heading,
    joined,
    named_lines,
    notes,
    plain_table,
    verdict_lines,
)
from textassay.studies.huse.result import HuseResult, titled

_MOST_RATERS = 12
_GAP, _LEAST_LABEL = 2, 8
_HEAD = ("metric", "score", "interval", "p", "chance")


def render_terminal(found: HuseResult, *, width: int, why: bool = False, top: int = 0) -> RenderableType:
    """Scores, verdict, items, raters and outlook; with `why` also definitions, raters, and `top` items of each kind."""
    size = content.heading(found)
    explained = content.legend(found) if why else content.short_legend(found)
    missing = [*content.missing_lines(found), *(content.no_test_lines(found) if why else [])]
    kinds = content.kinds_explained(found) if why else content.kinds_in_short(found)
    outlook, facts, scores = list(_outlook(found, why=why)), _facts(found), list(_scores(found, width))
    return joined(
        [
            [heading(found.rated.name, f": {size}"), *notes(every_note(found.rated.notes, found.notes))],
            [*scores, *map(dim, explained)],
            [*verdict_lines([("", found.verdict, ())]), *map(dim, missing)],
            _laid_out(*facts, kinds, width),
            outlook,
            list(_raters(found)) if why else [],
            *(_examples(found, top) if why else []),
        ]
    )


def _scores(found: HuseResult, width: int) -> Iterator[RenderableType]:
    """Scores with their intervals; their meaning in words is in the same row if it fits, else below."""
    rows = _rows(found)
    shown = [place for place in range(len(_HEAD)) if place < 2 or any(row[place] for row in rows)]
    label, *widths = (max(map(cell_len, [_HEAD[place], *(row[place] for row in rows)])) for place in shown)
    numbers = sum(wide + _GAP for wide in widths)
    label = min(label, max(width - numbers, _LEAST_LABEL))
    meanings = [content.meaning(result) for result in found.results]
    beside = label + numbers + _GAP + max(map(len, meanings), default=0) <= width
    table = plain_table(gap=_GAP)
    table.add_column("metric", width=label, overflow="fold")
    for place, wide in zip(shown[1:], widths, strict=True):
        style = {"score": "bold", "chance": "cyan"}.get(_HEAD[place], "")
        table.add_column(_HEAD[place], justify="right", width=wide, style=style)
    if beside:
        table.add_column("in words", style="dim")
    for row, meaning in zip(rows, meanings, strict=True):
        table.add_row(*(Text(row[place]) for place in shown), *([Text(meaning)] if beside else []))
    yield table
    if not beside:
        yield from (dim(f"{row[0]}: {meaning}") for row, meaning in zip(rows, meanings, strict=True))


def _rows(found: HuseResult) -> list[list[str]]:
    return [
        [
            shortened(titled(label), 60),
            content.score(result.estimate),
            content.interval_text(result.interval),
            p_value,
            content.chance_text(result),
        ]
        for label, result, p_value in zip(found.labels, found.results, content.p_texts(found), strict=True)
    ]


Lines = list[tuple[str, str]]


def _facts(found: HuseResult) -> tuple[Lines, Lines]:
    """The kinds of items per source; the scores with other numbers of neighbours, and how well raters agree."""
    failures = [(name, content.counts(found, is_model=is_model)) for name, is_model in content.sources(found)]
    failures += [("chance", content.chance_counts(found))] if found.chance_kinds else []
    others = [("" if place else "raters", line) for place, line in enumerate(agreement_lines(found))]
    return failures, [line for line in (content.k_range(found), *others) if line[1]]


def _laid_out(failures: Lines, others: Lines, kinds: str, width: int) -> list[RenderableType]:
    """Two blocks of lines behind their names, all names in one column."""
    names = fitted_names([printable(name) for name, _ in failures[:2]], min(MOST_NAME, max(width // 5, 8)))
    failures = [*zip(names, (line for _, line in failures), strict=False), *failures[2:]]
    wide = max(cell_len(name) for name, _ in (*failures, *others)) + 1
    first, second = (
        named_lines([(Text(name, style="bold"), Text(cut(line))) for name, line in lines], width=wide)
        for lines in (failures, others)
    )
    shown: list[RenderableType] = [first, dim(kinds)]
    return [*shown, Text(""), second] if others else shown


def _outlook(found: HuseResult, *, why: bool) -> Iterator[RenderableType]:
    """The effect of more data on every score; advice for the first score, or with `why` for all."""
    rows = outlook_rows(found)
    if not rows:
        return
    table = plain_table(gap=_GAP)
    for place, name in enumerate(OUTLOOK_HEAD):
        table.add_column(name, justify="right" if place else "left")
    for row in rows:
        table.add_row(*map(Text, row))
    yield table
    yield dim(OUTLOOK_LEGEND if why else OUTLOOK_SHORT)
    advice = worth_lines(found)
    yield from (Text(cut(f"{name}: {worth}")) for name, worth in (advice if why else advice[:1]))


def _raters(found: HuseResult) -> Iterator[RenderableType]:
    lines = rater_lines(found, _MOST_RATERS)
    if lines:
        yield Text("raters who look random", style="bold")
    yield from (_indented(Text(cut(line))) for line in lines)


def _examples(found: HuseResult, top: int) -> Iterator[list[RenderableType]]:
    for kind, items in examples(found, top).items():
        head = Text.assemble((content.PLURALS[kind], "bold"), (f" ({content.KINDS_EXPLAINED[kind]})", "dim"))
        yield [head, *(part for item in items for part in _example(item))]


def _example(example: Example) -> Iterator[RenderableType]:
    yield Text.assemble(f"{example.source} {example.id}: ", (example.figures, "dim"))
    yield _indented(Text(example.text))
    if example.context:
        yield _indented(Text(f"context: {example.context}", style="dim"))


def _indented(text: Text) -> Padding:
    return Padding(text, (0, 0, 0, 2), expand=False)
