"""The document of a history: the first change, one line chart per metric, and the runs with their results."""

import math
from collections.abc import Iterator, Sequence
from datetime import date

from textassay.corpus.printable import many, share, shortened
from textassay.document.blocks import (
    Cell,
    Chart,
    Document,
    Facts,
    Head,
    Row,
    Section,
    Signatures,
    Summary,
    SummaryRow,
    Table,
    Text,
    sections_of,
)
from textassay.document.plot import Band, Ends, Line, Plot, Rule, Scale, rule
from textassay.document.results import (
    ARROWS,
    COMMON_SETTINGS,
    ends,
    metric_guide,
    no_number,
    result_cell,
    setting_pairs,
    unit_of,
)
from textassay.document.words import level_text, number, p_text, sentence
from textassay.studies.history.change_points import smallest_p
from textassay.studies.history.result import CHANGED, UNTESTED, Change, History
from textassay.studies.sentences import sentence_of

# The most texts at an axis, and rows of the summary.
_MOST_TICKS, _MOST_ROWS = 8, 12

# Findings that are shown below the changes: what was not tested, and what is not followed.
_CAUTIONS = ("untested series", "not in all runs")


def document(found: History) -> Document:
    """What a history states."""
    return Document(
        kind="history",
        title=f"History of {many(len(found.runs), 'run')}",
        summary=_summary(found),
        sections=sections_of(
            Section("changes", "Changes", (_changes(found),), "table"),
            Section("series", "Metrics over runs", tuple(_charts(found))),
            Section("runs", "Runs", (_runs(found),), "table"),
            Section("reading", "How to read this", (Text(_reading(found)),), "why"),
            Section(
                "guide",
                "Metrics",
                (metric_guide([one for run in found.runs[:1] for one in run.results], target="real text"),),
            ),
            Section("settings", "Settings", (Facts(_facts(found)),)),
            Section("signatures", "Signatures of the last run", (_signatures(found),)),
        ),
        names=tuple(shortened(label, 60) for label in found.labels),
        level=found.level,
        notes=found.notes,
    )


def _reading(found: History) -> tuple[str, ...]:
    return (
        "A change is tested over the whole series: all places at which it can be and all metrics together. If no"
        f" metric changes, any change is reported in at most {share(1 - found.level)} of histories.",
        "The change is estimated between two runs. The interval of runs is where it is at this level: these runs do not"
        " all have one expected value. Bars are intervals of single runs; that two of them overlap decides nothing.",
        "All runs have the same reference. Its noise moves all runs together and is no change; metrics that compare two"
        " samples are therefore tested cautiously.",
    )


def _summary(found: History) -> Summary:
    first, *others = found.verdict.findings
    order = _ordered(found)
    cautions = [finding for finding in others if finding.kind in _CAUTIONS]
    return Summary(
        question="When did a metric change?",
        context=f"{many(len(found.runs), 'run')} from {shortened(found.names[0], 40)} to"
        f" {shortened(found.names[-1], 40)} ({found.order}), {found.runs[-1].n:,} texts each, against"
        f" {shortened(found.reference.name, 40)}",
        sentence=sentence(sentence_of(first)),
        columns=("first run", "last run", "changed at"),
        rows=tuple(_summary_row(found, index) for index in order[:_MOST_ROWS]),
        caveats=tuple(sentence(sentence_of(finding)) for finding in cautions),
        left_out="" if len(order) <= _MOST_ROWS else f"{many(len(order) - _MOST_ROWS, 'further metric')}: --table",
        hints=("Runs: --table", "Report: --report FILE.html"),
        picture=_plot(found, order[0]),
        noun="metric",
    )


def _ordered(found: History) -> list[int]:
    """The metrics by index: those that changed in the order of their changes, then the others."""
    runs = {name: number for number, name in enumerate(found.names)}

    def key(index: int) -> tuple[float, ...]:
        change = found.changes[index]
        if change.decision != CHANGED:
            return (2 if change.decision == UNTESTED else 1, index)
        return (0, runs[change.at], runs[change.end], change.adjusted_p, index)

    return sorted(range(len(found.labels)), key=key)


def _summary_row(found: History, index: int) -> SummaryRow:
    change = found.changes[index]
    values = (run.results[index].estimate for run in (found.runs[0], found.runs[-1]))
    at = f"{_short(found, change.at)}{f' ({change.way})' if change.way else ''}" if change.at else "–"
    return SummaryRow(
        shortened(found.labels[index], 60),
        index,
        change.decision,
        cells=(*(Cell(number(value), value) for value in values), Cell(at)),
    )


def _short(found: History, run: str) -> str:
    """A run where there is little space: its date if the runs are in the order of their dates, or its name."""
    return found[run].date if found.order == "by date" else shortened(run, 24)


def _p_cell(found: History, change: Change) -> Cell:
    p = change.adjusted_p
    return Cell(p_text(p, floor=smallest_p(found.level)), None if math.isnan(p) else p)


def _changes(found: History) -> Table:
    """All metrics with their change: values on both sides, and the runs that it is between."""
    heads = ("before", "after", "at", f"between ({level_text(found.level)})", "p")
    rows = []
    for index in _ordered(found):
        change = found.changes[index]
        between = f"{shortened(change.start, 40)} and {shortened(change.end, 40)}" if change.start else "–"
        rows.append(
            Row(
                (
                    Cell(shortened(change.label, 60), candidate=index),
                    *(Cell(number(value), value) for value in (change.before, change.after)),
                    Cell(shortened(change.at, 40) or "–"),
                    Cell(between),
                    _p_cell(found, change),
                ),
                notes=(f"not tested: {shortened(change.reason, 160)}",) if change.reason else (),
            )
        )
    return Table(
        (Head("metric"), *(Head(head, numeric=head in ("before", "after", "p")) for head in heads)),
        tuple(rows),
        footnotes=("p: of the clearest change, corrected for all places and all metrics",),
    )


def _charts(found: History) -> Iterator[Chart]:
    for index in _ordered(found):
        if any(math.isfinite(run.results[index].estimate) for run in found.runs):
            yield Chart(_plot(found, index))


def _places(found: History) -> tuple[float, ...]:
    """The place of each run on the axis: its day where all runs have different dates, or else its number."""
    dates = [run.date for run in found.runs]
    if found.order != "by date" or len(set(dates)) < len(dates):
        return tuple(map(float, range(len(dates))))
    days = [date.fromisoformat(each).toordinal() for each in dates]
    return tuple(float(day - days[0]) for day in days)


def _axis(found: History, places: Sequence[float]) -> Scale:
    """Some of the runs, so that their names have space."""
    step = math.ceil(len(places) / _MOST_TICKS)
    names = [_short(found, name) for name in found.names]
    ticks = tuple((place, name) for place, name in list(zip(places, names, strict=True))[::step])
    return Scale("date" if found.order == "by date" else "run", ticks=ticks)


def _plot(found: History, index: int) -> Plot:
    """The values of a metric over the runs with their intervals, beside real text, and its first change."""
    change, real, places = found.changes[index], found.real[index], _places(found)
    label = shortened(found.labels[index], 60)
    known = [
        (place, run.results[index])
        for place, run in zip(places, found.runs, strict=True)
        if math.isfinite(run.results[index].estimate)
    ]
    limits: tuple[Ends | None, ...] = tuple(ends(result) for _, result in known)
    layers: list[Band | Line | Rule] = []
    if found.is_beside_real(index):
        low, high = ends(real) or (real.estimate, real.estimate)
        layers.append(Band("y", low, high, real.estimate, "real text"))
    points = tuple((place, result.estimate) for place, result in known)
    layers.append(Line(points, limits if any(limits) else (), index))
    if change.at:
        before, after = (places[found.names.index(name)] for name in (change.previous, change.at))
        layers.append(rule("x", (before + after) / 2, "first change"))
    better = real.better
    summary = next((sentence_of(f) for f in found.verdict.findings if f.metric == change.label), "no change found")
    return Plot(
        f"{label} over the runs",
        _axis(found, places),
        Scale(label, better="" if better == "closer" else better),
        tuple(layers),
        summary=sentence(summary if change.decision != UNTESTED else f"not tested: {change.reason}"),
    )


def _runs(found: History) -> Table:
    """The runs as columns would not fit, so one row per run: its results with their intervals."""
    units = [unit_of([run.results[index].estimate for run in found.runs]) for index, _ in enumerate(found.labels)]
    heads = (
        Head("run"),
        Head("verdict"),
        *(
            Head(units[index].behind(f"{shortened(label, 40)} {ARROWS[found.real[index].better]}"), numeric=True)
            for index, label in enumerate(found.labels)
        ),
    )
    rows = tuple(
        Row(
            (
                Cell(shortened(run.name, 60)),
                Cell(run.grade or run.decision),
                *(
                    result_cell(result, level=found.level, unit=unit)
                    for result, unit in zip(run.results, units, strict=True)
                ),
            ),
            notes=tuple(dict.fromkeys(note for result in run.results if (note := no_number(result)))),
        )
        for run in found.runs
    )
    return Table(heads, rows)


def _facts(found: History) -> tuple[tuple[str, str], ...]:
    reference = f"{shortened(found.reference.name, 60)}, {found.reference.n:,} texts, {found.reference.digest}"
    terms = {"tokenizer": "Tokenizer", "encoder": "Encoder", "strip": "Markup removed", **COMMON_SETTINGS}
    terms = {name: term for name, term in terms.items() if name != "resamples"}
    return (
        ("Reference", reference),
        ("Order of runs", found.order),
        ("Level", level_text(found.level)),
        *setting_pairs(found.settings, terms),
    )


def _signatures(found: History) -> Signatures:
    return Signatures(
        tuple((label, one.signature) for label, one in zip(found.labels, found.runs[-1].results, strict=True))
    )
