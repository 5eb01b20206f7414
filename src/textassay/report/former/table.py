"""The table of results, its legends and its verdicts, for all forms of a report, and tables as CSV."""

import inspect
import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol, TypeVar

from markupsafe import Markup, escape

from textassay.corpus.printable import shortened
from textassay.document.words import listed, number, p_text, plus_minus
from textassay.inference.p_values import holm, is_significant
from textassay.inference.result import Result
from textassay.metrics.registry import Metric, all_metrics
from textassay.studies.finding import Verdict
from textassay.studies.outcome import Contest, Outcome, ResultColumn

MARK = "*"
ARROWS = {"higher": "↑", "lower": "↓", "closer": "≈"}
ASPECTS = {"quality": "Quality", "diversity": "Diversity", "both": "Both at once"}
# Half a width describes an interval only if its sides are about equal: they may differ by this share of the width.
_LOPSIDED = 0.1


@dataclass(frozen=True)
class Figure:
    """A cell: the estimate, its interval, whether it is significant, and what else a form may show.

    `p` is the p-value after adjustment, `chance` what chance alone gives, `items` how many items have a number where
    that is not all of them, `size` the sizes of the two sides where other cells of the row have other sizes, `detail` a
    tooltip, and `note` why there is no number.
    """

    estimate: str
    spread: str = ""
    marked: bool = False
    p: str = ""
    chance: str = ""
    items: str = ""
    size: str = ""
    detail: str = ""
    note: str = ""
    # In one line: the estimate, its interval and the mark; and the same with its sizes and what chance gives.
    short: str = field(init=False)
    text: str = field(init=False)

    def __post_init__(self) -> None:
        short = f"{self.estimate}{f' {self.spread}' if self.spread else ''}{MARK if self.marked else ''}"
        size = f" ({self.size})" if self.size else ""
        object.__setattr__(self, "short", short)
        object.__setattr__(self, "text", f"{short}{size}{f' (chance {self.chance})' if self.chance else ''}")


_EMPTY = Figure("")


def figure(
    result: Result,
    adjusted: float = math.nan,
    *,
    level: float,
    floor: float | None = None,
    unadjusted: str = "",
) -> Figure:
    """The cell of a result.

    `unadjusted` is the text of its p-value before the adjustment. With `floor`, the smallest p-value that was possible,
    the cell has both p-values.
    """
    if result.undefined is not None:
        reason = shortened(result.undefined, 160)
        return Figure(number(math.nan), detail=reason, note=f"No number: {reason}.")
    interval, percent, details = result.interval, level_text(level), []
    beside = spread(result.estimate, low=interval.low, high=interval.high) if interval else ""
    if interval is not None:
        details.append(f"{percent} interval {number(interval.low)} to {number(interval.high)}")
    if floor is not None and result.p_value is not None:
        unadjusted = p_text(result.p_value, floor=floor)
    if unadjusted:
        details.append(f"p {unadjusted} before adjustment")
    return Figure(
        number(result.estimate),
        spread=beside,
        marked=is_significant(adjusted, level),
        p="" if floor is None or math.isnan(adjusted) else p_text(adjusted, floor=floor),
        detail=", ".join(details),
    )


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


@dataclass(frozen=True)
class Line:
    """A row: one metric, the cell of the baseline first and then one per column.

    `at` is empty, or the size at which this row repeats the row above, the largest at which the baseline could be
    measured. `size` is the size of the baseline where it differs from that of the columns and nothing was repeated.
    `notes` say why there is no interval or no test. Rows of one `section` belong together. `arrow` is the sign of which
    way is better; a repeated row has none.
    """

    label: str
    better: str
    aspect: str
    section: str
    figures: tuple[Figure, ...]
    at: str = ""
    size: str = ""
    notes: tuple[str, ...] = ()
    tested: bool = False
    arrow: str = ""


def metric_lines(
    labels: Sequence[str],
    baseline: ResultColumn,
    columns: Sequence[ResultColumn],
    *,
    adjusted: Sequence[Sequence[float]],
    cell: Callable[[ResultColumn, Result, float], Figure],
    size: Callable[[Result], str],
    section: Callable[[Result], str],
) -> list[Line]:
    """One row per metric, and a second one where the columns were measured again at the size of the baseline.

    `adjusted` has the adjusted p-values of each column, NaN without a test. `cell` makes a cell from a column, one of
    its results and the adjusted p-value. `size` and `section` read the result of the baseline.
    """
    found = []
    for place, (label, base) in enumerate(zip(labels, baseline.results, strict=True)):
        real = cell(baseline, base, math.nan)
        results = [column.results[place] for column in columns]
        cells = [cell(column, result, p[place]) for column, result, p in zip(columns, results, adjusted, strict=True)]
        line = Line(
            shortened(label, 60),
            base.better,
            base.aspect,
            section(base),
            (real, *cells),
            size=size(base) if any(result.n != base.n for result in results) else "",
            notes=_missing(base.metric, results),
            tested=any(result.p_value is not None for result in results),
            arrow=ARROWS.get(base.better, ""),
        )
        repeated = [column.at_baseline_size.get(label) for column in columns]
        if not any(repeated):
            found.append(line)
            continue
        smaller = [
            _EMPTY if result is None else cell(column, result, math.nan)
            for column, result in zip(columns, repeated, strict=True)
        ]
        found.append(replace(line, figures=(_EMPTY, *cells), size=""))
        bare = tuple(replace(each, chance="", items="") for each in smaller)
        found.append(Line(line.label, base.better, base.aspect, line.section, (real, *bare), at=size(base)))
    return found


def _missing(name: str, results: Sequence[Result]) -> tuple[str, ...]:
    """Why a metric has no interval or no test, where other metrics could have them."""
    metric = all_metrics().get(name)
    if metric is None or not any(result.interval or result.p_value is not None for result in results):
        return ()
    return _why_not(metric)


def _why_not(metric: Metric) -> tuple[str, ...]:
    reasons = (("No interval", metric.why_no_interval), ("No test", metric.why_no_test))
    return tuple(f"{what}: {reason}." for what, reason in reasons if reason)


@dataclass(frozen=True)
class Grid:
    """The table of a page: rows by aspect, the numbers of footnotes, and whether there are intervals and tests."""

    groups: tuple[tuple[str, tuple[Line, ...]], ...]
    notes: Mapping[str, int]
    intervals: bool
    tests: bool
    again: bool


def grid(lines: Sequence[Line]) -> Grid:
    """The rows under the titles of their aspects, quality first."""
    groups = by_aspect(lines)
    shown = [one for _, rows in groups for one in rows]
    notes = dict.fromkeys(note for one in shown for note in (*one.notes, *(each.note for each in one.figures)) if note)
    return Grid(
        groups=tuple((title, tuple(rows)) for title, rows in groups),
        notes={note: place for place, note in enumerate(notes, start=1)},
        intervals=any(each.spread for one in shown for each in one.figures[1:]),
        tests=any(one.tested for one in shown),
        again=any(one.at for one in shown),
    )


class _OfAspect(Protocol):
    @property
    def aspect(self) -> str: ...


T = TypeVar("T", bound=_OfAspect)


def by_aspect(parts: Iterable[T]) -> list[tuple[str, list[T]]]:
    """Rows or charts under the titles of their aspects, quality first; an aspect without any has no title."""
    known = list(parts)
    groups = [(title, [part for part in known if part.aspect == aspect]) for aspect, title in ASPECTS.items()]
    return [(title, group) for title, group in groups if group]


def table_content(
    columns: Sequence[ResultColumn], lines: Sequence[Line], baseline: Sequence[Result], *, target: str
) -> dict[str, Any]:
    """What a page shows of the table: its rows, the metrics to draw, short names, and how to read the metrics."""
    return {
        "grid": grid(lines),
        "drawn": places_with_bars(columns),
        "short_names": short_names([shortened(column.name, 60) for column in columns]),
        "better": {better: better_words(better, target) for better in ARROWS},
        "guide": guide(baseline, target=target),
    }


def places_with_bars(columns: Sequence[ResultColumn]) -> list[int]:
    """The places of metrics for which any column has a number to draw."""
    rows = zip(*(column.results for column in columns), strict=True)
    return [place for place, row in enumerate(rows) if any(math.isfinite(result.estimate) for result in row)]


def interval_legend(results: Iterable[Result], level: float, *, of: str) -> list[str]:
    """How to read intervals; empty where there are none."""
    if not any(result.interval for result in results):
        return []
    return [
        f"± half the width of the {level_text(level)} interval of {of};"
        " [low, high] its bounds where the estimate is not in the middle"
    ]


def better_legend(results: Iterable[Result], *, target: str) -> list[str]:
    """Which way is better, for the arrows that the table has; `target` is what closer means."""
    used = {result.better for result in results}
    words = {"higher": "higher is better", "lower": "lower is better", "closer": f"closer to {target} is better"}
    return [", ".join(f"{ARROWS[better]} {text}" for better, text in words.items() if better in used)]


def better_words(better: str, target: str) -> str:
    """Which way is better, for the label of a chart or a row."""
    return f"closer to {target} is better" if better == "closer" else f"{better} is better"


_MISLEADS = re.compile(r"\bMisleading\b.*?\.(?=\s|$)", re.DOTALL)


@dataclass(frozen=True)
class Entry:
    """A metric in a sentence or two; `missing` says why it has no interval or no test."""

    name: str
    summary: Markup
    misleads: Markup
    better: str
    missing: tuple[str, ...]


def guide(results: Iterable[Result], *, target: str) -> list[Entry]:
    """One entry per metric, in the order of the results; a metric that is not registered is left out."""
    known = all_metrics()
    names = dict.fromkeys(result.metric for result in results)
    return [_entry(known[name], target) for name in names if name in known]


def _entry(metric: Metric, target: str) -> Entry:
    found = _MISLEADS.search(inspect.getdoc(metric.function) or "")
    misleads = _with_code(" ".join(found.group().split()) if found else "")
    better = better_words(metric.better, target)
    return Entry(metric.name, _with_code(metric.summary), misleads, better, _why_not(metric))


def _with_code(text: str) -> Markup:
    """The text with everything between backticks as code."""
    pieces = re.split(r"`+", text)
    return Markup("").join(
        Markup("<code>{}</code>").format(piece) if place % 2 else escape(piece) for place, piece in enumerate(pieces)
    )


@dataclass(frozen=True)
class Paired:
    """A difference between two columns with its interval, and the better column if the difference is significant.

    `adjusted` is the p-value adjusted over all differences, `p` the same as text.
    """

    contest: Contest
    interval: str
    adjusted: float
    p: str
    marked: bool
    ahead: str

    @property
    def gap(self) -> str:
        """The difference with its interval and mark."""
        return f"{number(self.contest.estimate)} {self.interval}{MARK if self.marked else ''}"


def paired_rows(outcome: Outcome, contests: Sequence[Contest]) -> list[Paired]:
    """All differences: the smallest adjusted p-value first, then the clearest; those without a number last."""
    holm_adjusted = holm([contest.p_value for contest in contests])
    adjusted = [p if math.isnan(one.adjusted) else one.adjusted for one, p in zip(contests, holm_adjusted, strict=True)]
    return sorted((_paired(outcome, one, p) for one, p in zip(contests, adjusted, strict=True)), key=_rank)


def _rank(row: Paired) -> tuple[float, float]:
    return math.inf if math.isnan(row.adjusted) else row.adjusted, -_clarity(row.contest)


def _paired(outcome: Outcome, contest: Contest, adjusted: float) -> Paired:
    marked = is_significant(adjusted, outcome.level)
    interval = spread(contest.estimate, low=contest.low, high=contest.high)
    ahead = _ahead(outcome, contest) if marked and contest.estimate != 0 else ""
    return Paired(contest, interval, adjusted, p_text(adjusted), marked, ahead)


def _ahead(outcome: Outcome, contest: Contest) -> str:
    """The better of two columns that differ; empty if that is not known."""
    place = outcome.labels.index(contest.label) if contest.label in outcome.labels else -1
    if place < 0 or not outcome.baseline:
        return ""
    real = outcome.baseline[place]
    if real.better == "closer":
        return _nearer(outcome, contest, place, real)
    return contest.first if (contest.estimate > 0) == (real.better == "higher") else contest.second


def _nearer(outcome: Outcome, contest: Contest, place: int, real: Result) -> str:
    """The column whose value is nearer to every value in the interval of real text of the same size."""
    values = {column.name: column.results[place] for column in outcome.columns}
    found = [values.get(name) for name in (contest.first, contest.second)]
    first, second = (math.nan if one is None or _size(one) != _size(real) else one.estimate for one in found)
    ends = (real.interval.low, real.interval.high) if real.interval else (real.estimate,)
    if all(abs(first - end) < abs(second - end) for end in ends):
        return contest.first
    return contest.second if all(abs(second - end) < abs(first - end) for end in ends) else ""


def _size(result: Result) -> tuple[float, ...]:
    return (result.n, *(result.parts.get(name, -1.0) for name in ("candidates", "references")))


def _clarity(contest: Contest) -> float:
    """The difference in units of its own uncertainty; below 0 where there is no number."""
    half = (contest.high - contest.low) / 2
    if not (math.isfinite(contest.estimate) and math.isfinite(half)):
        return -1.0
    return abs(contest.estimate) / half if half > 0 else math.inf if contest.estimate else 0.0


# A shorter beginning is not worth hiding, and two names are easier to read in full.
_SHORTEST, _FEWEST = 5, 3


def short_names(names: Sequence[str], *, fewest: int = _FEWEST) -> list[str]:
    """The names without their common beginning, cut after a separator.

    >>> short_names(["gpt2-large-T0.7", "gpt2-large-T0.9", "gpt2-large-T1.0"])
    ['…T0.7', '…T0.9', '…T1.0']
    """
    first, last = min(names, default=""), max(names, default="")
    common = first[: next((at for at, (a, b) in enumerate(zip(first, last, strict=False)) if a != b), len(first))]
    ends = [found.end() for found in re.finditer(r"[-_/:=\s]", common)]
    if len(names) < fewest or not ends or ends[-1] < _SHORTEST or any(len(name) <= ends[-1] for name in names):
        return list(names)
    return [f"…{name[ends[-1] :]}" for name in names]


@dataclass(frozen=True)
class Level:
    """The words of a level, and its sign and colour where there are no icons; the sign makes it readable in grey."""

    words: str
    sign: str
    style: str


LEVELS = {
    "same": Level("No difference found", "=", "green"),
    "differs": Level("Differs", "≠", "yellow"),
    "collapsed": Level("Collapsed", "!", "bold red"),
    "copied": Level("Copied from the reference", "≈", "yellow"),
    "compatible": Level("Compatible", "=", "green"),
    "incompatible": Level("Incompatible", "≠", "yellow"),
    "untested": Level("Not tested", "?", "dim"),
}


def level_of(verdict: Verdict | None) -> str:
    """A key of `LEVELS`; without a verdict nothing was tested."""
    return verdict.decision if verdict is not None and verdict.decision in LEVELS else "untested"


def summary(columns: Mapping[str, Verdict | None], verbs: Mapping[str, tuple[str, str]], *, what: str) -> str:
    """The verdicts in one sentence; `verbs` has, by level, the verb for one column and for several.

    >>> verbs = {"same": ("matches", "match"), "untested": ("was not tested", "were not tested")}
    >>> summary({"a": Verdict("same", ()), "b": None, "c": None}, verbs, what="systems")
    'Of 3 systems, 1 matches and 2 were not tested.'
    """
    if len(columns) == 1:
        ((name, verdict),) = columns.items()
        return f"{shortened(name, 60)} {verbs[level_of(verdict)][0]}."
    counts = Counter(map(level_of, columns.values()))
    clauses = [f"{counts[level]} {verbs[level][counts[level] > 1]}" for level in verbs if counts[level]]
    return f"Of {len(columns)} {what}, {listed(clauses)}."


def every_note(*lists: Iterable[str]) -> list[str]:
    """The notes of several lists in order, without repetitions."""
    return list(dict.fromkeys(note for notes in lists for note in notes))


# The settings that all studies have.
COMMON_SETTINGS = {"resamples": "Resamples", "seed": "Seed", "version": "Version"}


def setting_rows(outcome: Outcome, names: Mapping[str, str]) -> list[tuple[str, str]]:
    """Terms and values of these settings; those that the outcome does not have are left out."""
    found = [(term, setting_text(outcome, name)) for name, term in names.items()]
    return [(term, value) for term, value in found if value]


def setting_text(outcome: Outcome, name: str, *, most: int = 8) -> str:
    """A setting of an outcome, several values separated by semicolons; empty if it is not known."""
    value = outcome.settings.get(name, ())
    values = value if isinstance(value, tuple) else (value,)
    return "; ".join(shortened(str(each), 80) for each in values[:most])


def span(counts: Iterable[int]) -> str:
    """A count, or the range of counts and the most frequent one.

    >>> span([5, 5, 5]), span([5, 6, 5])
    ('5', '5 to 6, mostly 5')
    """
    tally = Counter(counts)
    if len(tally) < 2:
        return f"{next(iter(tally), 0):,}"
    return f"{min(tally):,} to {max(tally):,}, mostly {tally.most_common(1)[0][0]:,}"
