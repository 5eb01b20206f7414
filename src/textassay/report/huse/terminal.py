"""The terminal view of a HUSE study: a row a score, the verdict, what fails, raters, and what more data would bring."""

from collections.abc import Iterator, Sequence

from rich import box
from rich.cells import cell_len
from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from textassay.corpus.printable import printable, shortened
from textassay.report.huse import words
from textassay.report.huse.items import Example, examples
from textassay.report.huse.words import (
    OUTLOOK_HEAD,
    OUTLOOK_LEGEND,
    OUTLOOK_SHORT,
    agreement_lines,
    outlook_rows,
    rater_lines,
    worth_lines,
)
from textassay.report.table import MOST_NAME, fitted_names
from textassay.studies.huse.result import HuseResult, titled

_STYLES = {"same": "green", "differs": "yellow", "collapsed": "bold red", "untested": "dim"}
_SIGNS = {"same": "=", "differs": "≠", "collapsed": "!", "untested": "?"}
# Notes and verdicts are ours, but may quote what is not.
_LONGEST, _MOST_RATERS = 400, 12
_GAP, _LEAST_LABEL = 2, 8
_HEAD = ("metric", "score", "interval", "p", "chance")


def render_terminal(found: HuseResult, *, width: int, why: bool = False, top: int = 0) -> RenderableType:
    """Everything a reader of the terminal needs; with `why` definitions, raters, and `top` items of each kind."""
    sections: list[list[RenderableType]] = [
        [_heading(found), *(_dim(f"note: {note}") for note in words.all_notes(found))],
        [*_scores(found, width), *map(_dim, words.legend(found) if why else words.short_legend(found))],
        [
            _verdict(found),
            *map(_dim, words.missing_lines(found)),
            *map(_dim, words.no_test_lines(found) if why else []),
        ],
        _facts(found, width, why=why),
        list(_outlook(found, why=why)),
        list(_raters(found)) if why else [],
        *(_examples(found, top) if why else []),
    ]
    parts: list[RenderableType] = []
    for section in sections:
        parts += [Text(""), *section] if parts and section else section
    return Group(*parts)


def _cut(line: str) -> str:
    return shortened(line, _LONGEST)


def _dim(line: str) -> Text:
    return Text(_cut(line), style="dim")


def _heading(found: HuseResult) -> Text:
    name, *_ = fitted_names([printable(found.rated.name)], MOST_NAME)
    return Text.assemble((name, "bold"), f": {_cut(words.heading(found))}")


def _scores(found: HuseResult, width: int) -> Iterator[RenderableType]:
    """Scores with their intervals; what they mean stands in the same row where there is room for it, else below."""
    rows = _rows(found)
    shown = [place for place in range(len(_HEAD)) if place < 2 or any(row[place] for row in rows)]
    label, *widths = (max(map(cell_len, [_HEAD[place], *(row[place] for row in rows)])) for place in shown)
    numbers = sum(wide + _GAP for wide in widths)
    label = min(label, max(width - numbers, _LEAST_LABEL))
    meanings = [words.meaning(result) for result in found.results]
    beside = label + numbers + _GAP + max(map(len, meanings), default=0) <= width
    table = _plain_table()
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
        yield from (_dim(f"{row[0]}: {meaning}") for row, meaning in zip(rows, meanings, strict=True))


def _plain_table() -> Table:
    padding = (0, _GAP - 1, 0, 0)
    return Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, header_style="bold", padding=padding)


def _rows(found: HuseResult) -> list[list[str]]:
    return [
        [
            shortened(titled(label), 60),
            words.score(result.estimate),
            words.interval_text(result.interval),
            p_value,
            words.chance_text(result),
        ]
        for label, result, p_value in zip(found.labels, found.results, words.p_texts(found), strict=True)
    ]


def _verdict(found: HuseResult) -> RenderableType:
    level = found.verdict.level
    sign = Text(_SIGNS.get(level, "?"), style=_STYLES.get(level, ""))
    return _grid([(sign, Text(_cut(found.verdict.sentence)))], width=1)


def _facts(found: HuseResult, width: int, *, why: bool) -> list[RenderableType]:
    """How the items of each source fail, what other numbers of neighbours give, and how far raters agree."""
    names = fitted_names([printable(name) for name, _ in words.sources(found)], min(MOST_NAME, max(width // 5, 8)))
    failures = [
        (name, words.counts(found, is_model=is_model))
        for name, (_, is_model) in zip(names, words.sources(found), strict=True)
    ]
    failures += [("chance", words.chance_counts(found))] if found.chance_kinds else []
    others = [("" if place else "raters", line) for place, line in enumerate(agreement_lines(found))]
    others = [line for line in (words.k_range(found), *others) if line[1]]
    wide = max(cell_len(name) for name, _ in (*failures, *others)) + 1
    first, second = (
        _grid([(Text(name, style="bold"), Text(_cut(line))) for name, line in lines], width=wide)
        for lines in (failures, others)
    )
    shown: list[RenderableType] = [first, _dim(words.kinds_explained(found) if why else words.kinds_in_short(found))]
    return [*shown, Text(""), second] if others else shown


def _grid(rows: Sequence[tuple[Text, Text]], *, width: int) -> Table:
    """Lines behind their names; a line that does not fit goes on beneath its own beginning."""
    grid = Table.grid(padding=(0, 1))
    grid.add_column(width=width, no_wrap=True)
    grid.add_column(overflow="fold")
    for row in rows:
        grid.add_row(*row)
    return grid


def _outlook(found: HuseResult, *, why: bool) -> Iterator[RenderableType]:
    """What more data would bring to every score; in words to the first, and on request to all."""
    rows = outlook_rows(found)
    if not rows:
        return
    table = _plain_table()
    for place, name in enumerate(OUTLOOK_HEAD):
        table.add_column(name, justify="right" if place else "left")
    for row in rows:
        table.add_row(*map(Text, row))
    yield table
    yield _dim(OUTLOOK_LEGEND if why else OUTLOOK_SHORT)
    advice = worth_lines(found)
    yield from (Text(_cut(f"{name}: {worth}")) for name, worth in (advice if why else advice[:1]))


def _raters(found: HuseResult) -> Iterator[RenderableType]:
    lines = rater_lines(found, _MOST_RATERS)
    if lines:
        yield Text("raters who look random", style="bold")
    yield from (_indented(Text(_cut(line))) for line in lines)


def _examples(found: HuseResult, top: int) -> Iterator[list[RenderableType]]:
    for kind, items in examples(found, top).items():
        head = Text.assemble((words.PLURALS[kind], "bold"), (f" ({words.KINDS_EXPLAINED[kind]})", "dim"))
        yield [head, *(part for item in items for part in _example(item))]


def _example(example: Example) -> Iterator[RenderableType]:
    yield Text.assemble(f"{example.source} {example.id}: ", (example.figures, "dim"))
    yield _indented(Text(example.text))
    if example.context:
        yield _indented(Text(f"for: {example.context}", style="dim"))


def _indented(text: Text) -> Padding:
    return Padding(text, (0, 0, 0, 2), expand=False)
