"""The table of all reports: cells and names, for the terminal, Markdown, CSV and HTML."""

import csv
import inspect
import io
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from markupsafe import Markup, escape
from rich import box
from rich.cells import cell_len
from rich.table import Table
from rich.text import Text

from textassay.corpus.printable import printable, shortened
from textassay.inference.p_values import is_significant
from textassay.inference.result import Result
from textassay.metrics.registry import Metric, all_metrics
from textassay.studies.compare.result import Comparison
from textassay.studies.outcome import Contest
from textassay.studies.wording import number, p_text, plus_minus

MARK = "*"
ARROWS = {"higher": "↑", "lower": "↓", "closer": "≈"}
# Half a width stands for an interval only if its sides are about equal: they may differ by this share of the width.
_LOPSIDED = 0.1


@dataclass(frozen=True)
class Cell:
    """An estimate and its interval as text; `marked` when it differs significantly from the reference."""

    estimate: str
    spread: str
    marked: bool

    def __str__(self) -> str:
        spread = f" {self.spread}" if self.spread else ""
        return f"{self.estimate}{spread}{MARK if self.marked else ''}"


NOTHING = Cell("", "", False)


def cell(result: Result, adjusted: float = math.nan, *, level: float) -> Cell:
    """The cell of one result; `adjusted` is its adjusted p-value, if it has one."""
    if result.undefined is not None:
        return Cell(number(math.nan), "", False)
    interval = result.interval
    shown = spread(result.estimate, low=interval.low, high=interval.high) if interval else ""
    return Cell(number(result.estimate), shown, is_significant(adjusted, level))


def spread(estimate: float, *, low: float, high: float) -> str:
    """An interval beside its estimate: half its width, or its bounds where the estimate is not in the middle.

    >>> spread(0.421, low=0.4126, high=0.4294), spread(0.0, low=0.0, high=0.0152)
    ('±0.0084', '[0, 0.015]')
    """
    width = high - low
    if math.isnan(width):
        return number(width)
    if math.isfinite(width) and abs(high + low - 2 * estimate) <= _LOPSIDED * width:
        return f"±{plus_minus(width / 2)}"
    return f"[{_bound(low, width)}, {_bound(high, width)}]"


def _bound(value: float, width: float) -> str:
    """A bound with as many decimals as two significant digits of the width have."""
    if value == 0 or not 1e-5 <= width < math.inf:
        return number(value)
    return f"{value:z,.{max(1 - math.floor(math.log10(width)), 0)}f}"


def level_text(level: float) -> str:
    """The level of intervals as a percentage, never rounded to another one.

    >>> level_text(0.95), level_text(0.975), level_text(0.999)
    ('95 %', '97.5 %', '99.9 %')
    """
    return f"{100 * level:g} %"


def reasons(comparison: Comparison) -> list[str]:
    """Why a number, an interval or a test is missing, one line a metric (and candidate, where it is its own)."""
    lines = []
    metrics = all_metrics()
    for place, label in enumerate(comparison.labels):
        for column in (comparison.real, *comparison.candidates):
            result = column.results[place]
            if result.undefined is not None:
                lines.append(f"{label}, {column.name}: no number: {result.undefined}")
        metric = metrics.get(comparison.candidates[0].results[place].metric)
        if metric is not None and metric.why_no_test:
            lines.append(f"{label}: no test: {metric.why_no_test}")
        if metric is not None and metric.why_no_interval:
            lines.append(f"{label}: no interval: {metric.why_no_interval}")
    return lines


def legend(comparison: Comparison) -> list[str]:
    """How to read the table."""
    results = [result for column in comparison.candidates for result in column.results]
    lines = []
    if any(result.interval for result in results):
        lines.append(
            f"± half of the {level_text(comparison.level)} interval for the expected value at this sample size,"
            " [low, high] its bounds where the estimate is not in the middle"
        )
    if any(result.p_value is not None for result in results):
        lines.append(
            f"{MARK} differs from the reference: permutation test, adjusted for all metrics and never below the overall"
            f" test, p <= {1 - comparison.level:g}"
        )
    if any(column.overall is not None for column in comparison.candidates):
        lines.append(
            "word-pair distance: 0 for equal distributions, 1 without a common word pair;"
            " vector distance: 0 for equal distributions, about 0.2 between captions and news"
        )
    higher, lower, closer = (ARROWS[better] for better in ("higher", "lower", "closer"))
    lines.append(
        f"{higher} higher is better, {lower} lower is better, {closer} closer to real text's own value is better"
    )
    return lines


# A shorter beginning is not worth hiding, and with two names the whole is easier to read.
_SHORTEST, _FEWEST = 5, 3


def short_names(names: Sequence[str], *, fewest: int = _FEWEST) -> list[str]:
    """The names without their common beginning, up to a place where a reader sees a part end.

    >>> short_names(["gpt2-large-T0.7", "gpt2-large-T0.9", "gpt2-large-T1.0"])
    ['…T0.7', '…T0.9', '…T1.0']
    """
    first, last = min(names, default=""), max(names, default="")
    common = first[: next((at for at, (a, b) in enumerate(zip(first, last, strict=False)) if a != b), len(first))]
    ends = [found.end() for found in re.finditer(r"[-_/:=\s]", common)]
    if len(names) < fewest or not ends or ends[-1] < _SHORTEST or any(len(name) <= ends[-1] for name in names):
        return list(names)
    return [f"…{name[ends[-1] :]}" for name in names]


def fitted_names(names: Sequence[str], width: int) -> list[str]:
    """The names in at most so many cells of a terminal, told apart wherever they differ, by number if need be.

    >>> fitted_names(["model-temperature-0.7-topk-run-1", "model-temperature-0.7-topk-run-2"], 24)
    ['model-tempe…7-topk-run-1', 'model-tempe…7-topk-run-2']
    """
    for shorter in (list(names), short_names(names, fewest=2)):
        for tail in (width // 2, 0):
            cut = [_cut(name, width, tail) for name in shorter]
            if len(set(cut)) == len(names):
                return cut
    prefixes = [f"{place} " for place in range(1, len(names) + 1)]
    return [f"{prefix}{_cut(name, width - len(prefix), 0)}" for prefix, name in zip(prefixes, names, strict=True)]


def _cut(name: str, width: int, tail: int) -> str:
    """The name in so many cells, with up to `tail` cells of its end."""
    if cell_len(name) <= width:
        return name
    end = next(name[len(name) - n :] for n in range(tail, -1, -1) if cell_len(name[len(name) - n :]) <= tail)
    room = max(width - 1 - cell_len(end), 0)
    return f"{next(name[:n] for n in range(room, -1, -1) if cell_len(name[:n]) <= room)}…{end}"


def clarity(contest: Contest) -> float:
    """The difference beside its own uncertainty; below 0 where there is no number."""
    half = (contest.high - contest.low) / 2
    if not (math.isfinite(contest.estimate) and math.isfinite(half)):
        return -1.0
    return abs(contest.estimate) / half if half > 0 else math.inf if contest.estimate else 0.0


def csv_text(fields: Sequence[str], rows: Iterable[Mapping[str, Any]]) -> str:
    """CSV with a header; texts are made tame, numbers stay as they are."""
    out = io.StringIO()
    writer = csv.DictWriter(out, fields, lineterminator="\n")
    writer.writeheader()
    writer.writerows({name: tame(value) for name, value in row.items()} for row in rows)
    return out.getvalue()


def tame(value: Any) -> Any:
    """A text that begins like a formula would run in a spreadsheet; an apostrophe makes it text. Numbers are none.

    Control characters are made visible: a table may be shown in a terminal, and its rows are lines.

    >>> tame("=1+1"), tame(-1.5), tame("two lines")
    ("'=1+1", -1.5, 'two lines')
    """
    if not isinstance(value, str):
        return value
    text = printable(value)
    return f"'{text}" if text[:1] in ("=", "+", "-", "@") else text


# What could begin a tag, a link, a code span or a table cell inside a line.
_SPECIAL = re.compile(r"([\\`*_\[\]<>|~&$])")


def markdown_escape(text: str) -> str:
    r"""The text on one line, with every sign that Markdown would read escaped.

    >>> print(escape("a|b *c*"))
    a\|b \*c\*
    """
    return _SPECIAL.sub(r"\\\1", printable(text))


def table(head: Sequence[str], rows: Iterable[Sequence[str]], *, right: int = 0) -> list[str]:
    """The lines of a table whose cells are escaped already; the columns from `right` on hold numbers."""
    rules = ["---" if place < right else "---:" for place in range(len(head))]
    return [f"| {' | '.join(line)} |" for line in (head, rules, *rows)]


def fenced(lines: Iterable[str]) -> list[str]:
    """Lines as they are, between fences that none of them can close."""
    shown = [printable(line) for line in lines]
    longest = max((len(run) for line in shown for run in re.findall("`+", line)), default=0)
    fence = "`" * max(3, longest + 1)
    return [f"{fence}text", *shown, fence]


_MISLEADS = re.compile(r"\bIt misleads\b.*?\.(?=\s|$)", re.DOTALL)
BETTER = {"higher": "higher is better", "lower": "lower is better", "closer": "closer to real is better"}


@dataclass(frozen=True)
class Entry:
    """A metric in a sentence or two."""

    name: str
    summary: Markup
    misleads: Markup
    better: str
    without: tuple[str, ...]


def entries(results: Iterable[Result]) -> list[Entry]:
    """One entry a metric, in the order of the results; a metric that is not known here is left out."""
    known = all_metrics()
    names = dict.fromkeys(result.metric for result in results)
    return [_entry(known[name]) for name in names if name in known]


def _entry(metric: Metric) -> Entry:
    found = _MISLEADS.search(inspect.getdoc(metric.function) or "")
    reasons = (("No interval", metric.why_no_interval), ("No test", metric.why_no_test))
    return Entry(
        metric.name,
        _with_code(metric.summary),
        _with_code(" ".join(found.group().split()) if found else ""),
        BETTER[metric.better],
        tuple(f"{what}: {reason}." for what, reason in reasons if reason),
    )


def _with_code(text: str) -> Markup:
    """What stands between backticks becomes code."""
    pieces = re.split(r"`+", text)
    return Markup("").join(
        Markup("<code>{}</code>").format(piece) if place % 2 else escape(piece) for place, piece in enumerate(pieces)
    )


TITLES = {"quality": "Quality", "diversity": "Diversity", "both": "Both at once"}


@dataclass(frozen=True)
class Figure:
    """A cell as shown: `detail` is brought up by a pointer, `note` is the number of a footnote or 0."""

    estimate: str
    spread: str
    p: str
    marked: bool
    detail: str
    note: int


_NOTHING = Figure("", "", "", False, "", 0)


@dataclass(frozen=True)
class Line:
    """A metric's row; `notes` are the numbers of its footnotes, `size` is real text's own n where it differs."""

    label: str
    sign: str
    better: str
    notes: tuple[int, ...]
    real: Figure
    size: int | None
    figures: tuple[Figure, ...]
    tested: bool


@dataclass(frozen=True)
class Grid:
    """The whole table: rows by aspect, footnotes in order, and whether there are intervals and tests at all."""

    groups: tuple[tuple[str, tuple[Line, ...]], ...]
    notes: tuple[str, ...]
    intervals: bool
    tests: bool


def grid(comparison: Comparison) -> Grid:
    """The table of a comparison, quality first, then diversity, then what joins both."""
    notes: dict[str, int] = {}
    results = [result for column in comparison.candidates for result in column.results]
    groups = []
    for aspect, title in TITLES.items():
        places = [place for place, result in enumerate(comparison.real.results) if result.aspect == aspect]
        if places:
            lines = [line for place in places for line in _lines(comparison, place, notes)]
            groups.append((title, tuple(lines)))
    return Grid(
        groups=tuple(groups),
        notes=tuple(notes),
        intervals=any(result.interval is not None for result in results),
        tests=any(result.p_value is not None for result in results),
    )


def _lines(comparison: Comparison, place: int, notes: dict[str, int]) -> list[Line]:
    """The row of a metric; where the yardstick had fewer texts, a second one with all columns at that size."""
    line = _line(comparison, place, notes)
    label, real = comparison.labels[place], comparison.real.results[place]
    again = [column.at_baseline_size.get(label) for column in comparison.candidates]
    if not any(again):
        return [line]
    smaller = [_NOTHING if result is None else _figure(result, comparison, notes) for result in again]
    second = Line(f"at n = {real.n:,}", "", "", (), line.real, None, tuple(smaller), tested=False)
    return [replace(line, real=_NOTHING, size=None), second]


def _line(comparison: Comparison, place: int, notes: dict[str, int]) -> Line:
    real = comparison.real.results[place]
    results = [column.results[place] for column in comparison.candidates]
    metric = all_metrics().get(real.metric)
    reasons = []
    if metric is not None and any(result.interval or result.p_value is not None for result in results):
        reasons += [f"No interval: {metric.why_no_interval}."] if metric.why_no_interval else []
        reasons += [f"No test: {metric.why_no_test}."] if metric.why_no_test else []
    return Line(
        label=shortened(comparison.labels[place], 60),
        sign=ARROWS.get(real.better, ""),
        better=BETTER.get(real.better, real.better),
        notes=tuple(_noted(reason, notes) for reason in reasons),
        real=_figure(real, comparison, notes),
        size=real.n if any(result.n != real.n for result in results) else None,
        figures=tuple(
            _figure(column.results[place], comparison, notes, adjusted=column.adjusted[place])
            for column in comparison.candidates
        ),
        tested=any(result.p_value is not None for result in results),
    )


def _figure(result: Result, comparison: Comparison, notes: dict[str, int], *, adjusted: float = math.nan) -> Figure:
    level, floor = comparison.level, comparison.floor
    shown = cell(result, adjusted, level=level)
    details = []
    if result.interval is not None and result.undefined is None:
        details.append(f"{level_text(level)} interval {number(result.interval.low)} to {number(result.interval.high)}")
    if result.p_value is not None:
        details.append(f"p {p_text(result.p_value, floor=floor)} before adjustment")
    if result.undefined is not None:
        details.append(shortened(result.undefined, 160))
    return Figure(
        estimate=shown.estimate,
        spread=shown.spread,
        p="" if math.isnan(adjusted) else p_text(adjusted, floor=floor),
        marked=shown.marked,
        detail=", ".join(details),
        note=0 if result.undefined is None else _noted(f"No number: {shortened(result.undefined, 160)}.", notes),
    )


def _noted(reason: str, notes: dict[str, int]) -> int:
    """The number of a footnote; the same reason is written once."""
    return notes.setdefault(reason, len(notes) + 1)


MOST_NAME = 24
# Between two columns; and what a label needs to be read when it is folded.
_GAP, _LEAST_LABEL = 3, 10


@dataclass(frozen=True)
class BlockLine:
    """A row: its label, the yardstick's cell and one a column; a rule stands between lines of different sections."""

    label: Text
    cells: tuple[Text, ...]
    section: str


def fits_whole(lines: Sequence[BlockLine], names: Sequence[str], width: int) -> bool:
    """True when all columns fit side by side, each with its name."""
    shown = [names[0], *fitted_names(names[1:], MOST_NAME)]
    columns = [max(cell_len(name), cells) for name, cells in zip(shown, _widths(lines), strict=True)]
    return _label_width(lines) + sum(column + _GAP for column in columns) <= width


def fits_in_pieces(lines: Sequence[BlockLine], width: int) -> bool:
    """True when the labels fit beside the yardstick and any one column."""
    yardstick, *columns = _widths(lines)
    return _label_width(lines) + yardstick + max(columns, default=0) + 2 * _GAP <= width


def block_tables(lines: Sequence[BlockLine], names: Sequence[str], width: int) -> Iterator[Table]:
    """Tables of at most this width, each with the yardstick beside the columns, or before them if it must be."""
    numbers = _widths(lines)
    widest = max(numbers[1:], default=0)
    yardstick = max(numbers[0], cell_len(names[0]))
    beside = _LEAST_LABEL + yardstick + widest + 2 * _GAP <= width
    label = min(_label_width(lines), max(width - widest - _GAP - beside * (yardstick + _GAP), _LEAST_LABEL))
    room = width - label - _GAP - beside * (yardstick + _GAP)
    shown = [names[0], *fitted_names(names[1:], min(MOST_NAME, max(room, widest)))]
    widths = [max(cell_len(name), number) for name, number in zip(shown, numbers, strict=True)]
    for block in _blocks(widths, room, beside=beside):
        yield _table(lines, {place: (shown[place], widths[place]) for place in block}, label)


def _label_width(lines: Sequence[BlockLine]) -> int:
    return max((line.label.cell_len for line in lines), default=0)


def _widths(lines: Sequence[BlockLine]) -> list[int]:
    """How wide the cells of each column are."""
    columns = zip(*(line.cells for line in lines), strict=True)
    return [max(cell_len(part) for text in column for part in text.plain.split("\n")) for column in columns] or [0]


def _blocks(widths: Sequence[int], room: int, *, beside: bool) -> Iterator[list[int]]:
    """The places of the columns of each table."""
    kept = [0] if beside else []
    block: list[int] = []
    if not beside:
        yield [0]
    for place in range(1, len(widths)):
        if block and sum(widths[i] + _GAP for i in block) + widths[place] > room:
            yield kept + block
            block = []
        block.append(place)
    yield kept + block


def _table(lines: Sequence[BlockLine], block: Mapping[int, tuple[str, int]], label: int) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, header_style="bold")
    table.add_column("metric", overflow="fold", width=label)
    for place, (name, width) in block.items():
        table.add_column(Text(name, justify="right"), width=width, no_wrap=True, style="" if place else "cyan")
    previous = ""
    for line in lines:
        if previous not in ("", line.section):
            table.add_section()
        previous = line.section
        table.add_row(line.label, *(_right(line.cells[place], width) for place, (_, width) in block.items()))
    return table


def _right(text: Text, width: int) -> Text:
    """The text at the right, with the blanks at its end, which hold the place of a mark: a table would cut them."""
    lines = text.split("\n", allow_blank=True)
    for line in lines:
        line.pad_left(width - line.cell_len)
    return Text("\n").join(lines)
