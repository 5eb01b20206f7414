"""The document of a comparison: which candidate is closest to the reference, why the others differ, and all numbers."""

import math
from collections.abc import Iterator, Sequence
from itertools import islice

from textassay.corpus.printable import share, shortened
from textassay.document.blocks import (
    REAL,
    Block,
    Cell,
    Details,
    Document,
    Facts,
    Head,
    Notes,
    Row,
    Section,
    Table,
    Text,
    sections_of,
)
from textassay.document.results import (
    ARROWS,
    ASPECTS,
    COMMON_SETTINGS,
    Unit,
    better_legend,
    interval_legend,
    metric_guide,
    no_number,
    result_cell,
    setting_pairs,
    signature_section,
    unit_of_results,
    why_missing,
)
from textassay.document.words import level_text, p_text
from textassay.inference.effect_size import CLEAR, LARGE
from textassay.inference.format_check import Finding as FormatFinding
from textassay.inference.result import Result
from textassay.metrics.registry import all_metrics
from textassay.studies.compare.meaning_blocks import meaning_section, topic_lines
from textassay.studies.compare.phrase_blocks import classifier_section, phrase_lines, phrase_section, share_of
from textassay.studies.compare.plots import plane_chart, strip_chart
from textassay.studies.compare.ranking import Ranking, ranking
from textassay.studies.compare.result import Column, Comparison
from textassay.studies.compare.summary import summary
from textassay.studies.contests import contest_table
from textassay.studies.gate.document import gate_charts, gate_section

MARK = "*"
# Candidates whose reasons are open in a report.
_MOST_OPEN = 3
# Differences between candidates that are in sight.
_MOST_CONTESTS = 12
# Strips and signatures of all candidates together.
_ALL_STRIPS, _ALL_SIGNATURES = 1_200, 600
_SETTINGS = {"tokenizer": "Tokenizer", "encoder": "Encoder", "strip": "Left out"}


def document(found: Comparison) -> Document:
    """What a comparison states."""
    order = ranking(found)
    plane = plane_chart(found)
    strips = _strips(found)
    contests = contest_table(found, found.contests, title="")
    return Document(
        kind="comparison",
        title=_title(found),
        summary=summary(found, order),
        sections=sections_of(
            gate_section(found),
            Section("bounds", "Bounds and margins", gate_charts(found.gate, found.names)) if found.gate else None,
            Section("verdicts", "Why, candidate by candidate", tuple(_reasons(found, order)), "why"),
            phrase_section(found, order),
            meaning_section(found, order),
            # Bare estimates are asked for to read them.
            Section("metrics", "All metrics", (metric_table(found),), "table" if found.n_resamples else "screen"),
            Section("plane", "Quality against diversity", (Text((_PLANE,)), plane)) if plane else None,
            Section("strips", "Metric by metric", (Text((_STRIPS,)), *strips)) if strips else None,
            Section("tests", "The tests behind the overall test", tuple(_members(order))),
            Section("contests", "Candidate against candidate", _contest_blocks(found, contests)) if contests else None,
            Section("format", "Format differences", tuple(_format(found)), "why"),
            classifier_section(found),
            Section("missing", "What is missing", tuple(_missing(found)), "why"),
            Section(
                "reading", "How to read this", (Text(_reading(found)), metric_guide(found.real.results, target=_TARGET))
            ),
            signature_section(islice(_signed(found), _ALL_SIGNATURES)),
            Section("settings", "Settings", (_facts(found),)),
        ),
        names=found.names,
        real=found.real.name,
        level=found.level,
        notes=found.notes,
    )


_TARGET = "real text"


def _title(found: Comparison) -> str:
    names = [shortened(name, 40) for name in found.names]
    shown = ", ".join(names[:2]) + (f" and {len(names) - 2} more" if len(names) > 2 else "")
    return f"{shown} against {shortened(found.reference.name, 40)}"


def _reasons(found: Comparison, order: Ranking) -> Iterator[Block]:
    """The whole verdict on each candidate, phrases and topics, the closest candidate first."""
    for index, row in enumerate(order.rows):
        column = row.column
        said = column.verdict.reasons if column.verdict is not None else ()
        lines = (*said, *phrase_lines(column), *topic_lines(column, found.level))
        is_open = index == 0 or len(found) <= _MOST_OPEN
        yield Details(shortened(column.name, 60), (Notes(lines),), row.index, is_open=is_open)


# All metrics.


def metric_table(found: Comparison) -> Table:
    """One row per metric, and a second one where candidates were measured again at the size of the baseline."""
    rows = [
        row
        for aspect in ASPECTS
        for index, real in enumerate(found.real.results)
        if real.aspect == aspect
        for row in _metric_rows(found, index)
    ]
    heads = [Head(found.real.name, True, REAL), *(Head(name, True, at) for at, name in enumerate(found.names))]
    return Table((Head("metric"), *heads), tuple(rows), footnotes=tuple(_legend(found)), brief=True)


def _metric_rows(found: Comparison, place: int) -> Iterator[Row]:
    real, label = found.real.results[place], found.labels[place]
    results = [column.results[place] for column in found.candidates]
    again = [column.at_baseline_size.get(label) for column in found.candidates]
    every = [real, *results, *(result for result in again if result is not None)]
    unit = unit_of_results(every)
    section = ASPECTS[real.aspect]
    name = unit.behind(f"{shortened(label, 60)} {ARROWS[real.better]}")
    cells = [_cell(found, column, place, unit) for column in found.candidates]
    at_real = _plain(found, real, unit)
    metric = all_metrics().get(real.metric)
    measured = any(result.interval or result.p_value is not None for result in results)
    notes = [*(why_missing(metric) if metric is not None and measured else ())]
    notes += [note for note in dict.fromkeys(map(no_number, every)) if note]
    if not any(again) or not real.n:
        is_other = real.undefined is None and any(result.n != real.n for result in results)
        sizes = f" (real at n = {real.n:,})" if is_other else ""
        yield Row((Cell(f"{name}{sizes}"), at_real, *cells), section, notes=tuple(notes))
        return
    yield Row((Cell(name), Cell(""), *cells), section, notes=tuple(notes))
    smaller = [Cell("") if result is None else _plain(found, result, unit) for result in again]
    yield Row((Cell(f"  at n = {real.n:,}"), at_real, *smaller), section, quiet=True)


def _cell(found: Comparison, column: Column, place: int, unit: Unit) -> Cell:
    floor = 1 / (found.n_resamples + 1) if found.n_resamples else 0.0
    return result_cell(column.results[place], column.adjusted[place], level=found.level, floor=floor, unit=unit)


def _plain(found: Comparison, result: Result, unit: Unit) -> Cell:
    return result_cell(result, level=found.level, unit=unit)


def _legend(found: Comparison) -> Iterator[str]:
    """How to read the table."""
    results = [result for column in found.candidates for result in column.results]
    yield from interval_legend(results, found.level, of="the expected value at this sample size")
    if not found.n_resamples:
        yield "estimates only: no intervals were requested"
    if any(result.p_value is not None for result in results):
        yield (
            f"{MARK} differs from the reference: permutation test with p ≤ {1 - found.level:g}, adjusted for all"
            " metrics and never smaller than the p-value of the overall test"
        )
    yield better_legend(results, target="the value of real text")
    if any(column.overall is not None and column.overall.separable is not None for column in found.candidates):
        yield f"a difference is slight below a separable share of {share(CLEAR)}, and large from {share(LARGE)}"


# Charts.


def _strips(found: Comparison) -> list[Block]:
    """One strip per metric with a number, under the title of its aspect."""
    blocks: list[Block] = []
    most = share_of(60, _ALL_STRIPS, len(found))
    for aspect, title in ASPECTS.items():
        places = [index for index in _drawable(found)[:most] if found.real.results[index].aspect == aspect]
        if places:
            blocks += [Text((f"{title}:",)), *(strip_chart(found, index) for index in places)]
    return blocks


def _drawable(found: Comparison) -> list[int]:
    rows = zip(*(column.results for column in found.candidates), strict=True)
    return [index for index, row in enumerate(rows) if any(math.isfinite(result.estimate) for result in row)]


_PLANE = (
    "Quality increases to the right, diversity upwards. Real text is where the two bands cross: left of it quality is"
    " lost, below it diversity is lost. A candidate beyond it is not better than real text, only different."
)
_STRIPS = (
    "Each candidate beside real text. The band is the interval of real text. Where an axis is stretched around real"
    " text, distant values are farther away than they appear."
)


# Tests.


def _members(order: Ranking) -> Iterator[Block]:
    """The members of the overall test of each candidate."""
    for row in order.rows:
        overall = row.column.overall
        if overall is not None and overall.members:
            rows = tuple(
                Row((Cell(each.label), *(_p_cell(p, overall.floor) for p in (each.p_value, each.adjusted))))
                for each in overall.members
            )
            heads = (Head("test"), Head("p", numeric=True), Head("adjusted p", numeric=True))
            exchanged = f"{overall.n_resamples:,} exchanges of labels{_EXCHANGES.get(overall.design, '')}"
            table = Table(heads, rows, caption=f"{exchanged}; adjusted for all tests of this list.")
            yield Details(shortened(row.column.name, 60), (table,), row.index)


_EXCHANGES = {
    "grouped": " of whole groups",
    "paired": " within groups",
    "paired+grouped": " within shared groups, and of other groups as a whole",
}


def _p_cell(p: float, floor: float) -> Cell:
    return Cell(p_text(p, floor=floor), p)


def _contest_blocks(found: Comparison, contests: Table) -> tuple[Block, ...]:
    """All differences; closed where they would fill a page."""
    said = f"First minus second with the {level_text(found.level)} interval, both measured against the same reference."
    n, total = len(contests.rows), contests.total or len(contests.rows)
    quiet = f"the {n} clearest of {total:,}" if n < total else ""
    return Text((said,)), Details("Paired differences", (contests,), quiet=quiet, is_open=n <= _MOST_CONTESTS)


# Format.


def _format(found: Comparison) -> Iterator[Block]:
    """Differences that change the metrics, with their remedies, then those that the tokenizer removes."""
    loud = [(c, f) for c in enumerate(found.candidates) for f in c[1].findings if not f.harmless]
    quiet = [(c, f) for c in enumerate(found.candidates) for f in c[1].findings if f.harmless]
    if loud:
        yield Text((_FORMAT,))
        yield _finding_table(loud, len(found))
    if quiet:
        title = (
            f"{'More format' if loud else 'Format'} differences that this tokenizer removes before n-grams are counted"
        )
        yield Details(title, (_finding_table(quiet, len(found)),))


_FORMAT = (
    "These candidates are formatted differently from the reference. That changes every metric and can hide all other"
    " differences, so fix it first."
)


def _finding_table(found: Sequence[tuple[tuple[int, Column], FormatFinding]], n: int) -> Table:
    most = share_of(12, 600, n)
    rows: list[Row] = []
    counts: dict[int, int] = {}
    for (index, column), finding in found:
        counts[index] = counts.get(index, 0) + 1
        if counts[index] <= most:
            name = Cell(shortened(column.name, 60), candidate=index)
            rows.append(Row((name, Cell(shortened(finding.message, 300)), Cell(shortened(finding.fix, 300)))))
    heads = (Head("candidate"), Head("difference"), Head("remedy"))
    return Table(heads, tuple(rows), total=len(found) if len(found) > len(rows) else None)


# What is missing, settings and signatures.


def _missing(found: Comparison) -> Iterator[Block]:
    """Why a number, an interval or a test is missing, one line per metric, or per metric and candidate."""
    lines = []
    metrics = all_metrics()
    for index, label in enumerate(found.labels):
        for column in (found.real, *found.candidates):
            reason = column.results[index].undefined
            lines += [f"{label}, {column.name}: no number: {reason}"] if reason is not None else []
        metric = metrics.get(found.candidates[0].results[index].metric)
        if metric is not None:
            lines += [f"{label}: {reason[0].lower()}{reason[1:]}" for reason in why_missing(metric)]
    if lines:
        yield Notes(tuple(lines))


def _facts(found: Comparison) -> Facts:
    sizes = [("Reference", f"{shortened(found.reference.name, 60)}, {found.reference.n:,} texts")]
    sizes += [
        (f"Candidate {at}", f"{shortened(c.name, 60)}, {c.n:,} texts") for at, c in enumerate(found.candidates, 1)
    ]
    kinds = {column.overall.design for column in found.candidates if column.overall is not None}
    design = "; ".join(_TEXTS[kind] for kind in sorted(kinds & set(_TEXTS)))
    return Facts(
        (
            *sizes,
            *setting_pairs(found.settings, _SETTINGS),
            *([("Texts", design)] if design else []),
            *setting_pairs(found.settings, {"groups": "Groups"}),
            ("Interval level", level_text(found.level)),
            *setting_pairs(found.settings, COMMON_SETTINGS),
        )
    )


_TEXTS = {
    "grouped": "in groups, exchanged as a whole",
    "paired": "in groups, exchanged within them",
    "paired+grouped": "in groups, exchanged within shared ones, others as a whole",
}


def _signed(found: Comparison) -> Iterator[tuple[str, str]]:
    for column in (found.real, *found.candidates):
        yield from ((column.name, result.signature) for result in (*column.results, *column.at_baseline_size.values()))


def _reading(found: Comparison) -> tuple[str, ...]:
    """Paragraphs for the end of a report."""
    return (
        "Separable share: the share of a candidate's texts that must be replaced to make it distributed like the"
        " reference, as far as a classifier can tell on texts that it was not trained on. “At least” is the lower"
        " confidence bound. Below 10 % the difference is called slight, from 50 % large, between them clear. With more"
        " texts to learn from, the bound rises towards the true share. Candidates are ranked by this share; ranks are"
        " not told apart where two shares differ by less than their uncertainty.",
        "Quality and diversity are differences from real text against real text; “as real” is a difference within its"
        " uncertainty that no test marks, or none where the overall test found none. A metric that the length of texts"
        " moves is read on texts that are cut to equal lengths, where its value is not that of the table of metrics."
        " More quality than real text is no merit: a candidate that repeats safe texts has it as well.",
        "Real v real is the baseline. Metrics that compare two samples are measured between two parts of the reference;"
        " metrics that describe one sample are measured on the reference itself. A candidate with the same distribution"
        " as real text is expected to have about this value at the same sample size.",
        "Intervals are for the expected value at this sample size (delete-a-group jackknife; Wilson's interval for"
        " shares of texts). They show how much the number would change with other texts from the same source. They do"
        " not show what it would be with more texts: many metrics change with sample size.",
        "p-values come from exchanging texts between candidate and reference at random and measuring again: could both"
        " samples have the same source, as far as this metric can tell? The test does not use the real v real value, so"
        " a number close to it can still be marked. The p-values are adjusted for all metrics of a candidate (Westfall"
        " and Young) and for the number of candidates (Holm, through the overall test), so that the probability of any"
        f" false mark in the table is at most {1 - found.level:g}. With many texts even a small difference is"
        " significant, so look at the separable share as well.",
        "No difference found does not prove that the samples are the same. With fewer texts, fewer differences are"
        " found. “Probably” means in about four of five comparisons in which a classifier recognises such a share of"
        " texts. Differences that it does not recognise may be of any size.",
        "Which metric finds which failure: textassay stress measures this on your own real texts. The page “Stress"
        " tests of metrics” of the documentation (docs/stress.md) has the result for captions.",
    )
