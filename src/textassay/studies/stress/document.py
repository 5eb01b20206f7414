"""The document of a stress study: what each metric finds, which tests to use, matrices and curves."""

import math
from collections.abc import Iterator

from textassay.corpus.printable import many, share, shortened
from textassay.document.blocks import (
    Block,
    Cell,
    Chart,
    Document,
    Facts,
    Head,
    Row,
    Section,
    Summary,
    SummaryRow,
    Table,
    Text,
    sections_of,
)
from textassay.document.plot import Cells, Line, Plot, Scale
from textassay.document.results import COMMON_SETTINGS, setting_pairs, signature_section
from textassay.document.words import listed, listed_some, number, sentence
from textassay.studies.finding import Finding
from textassay.studies.sentences import sentence_of
from textassay.studies.stress import verdict
from textassay.studies.stress.result import Cell as StressCell
from textassay.studies.stress.result import DamageInfo, Stress, StressColumn

# Behind a strength: damaged text is rated better than real text; and in place of one: the damage is missed.
PRAISE, MISSED = "▲", "–"
# Beyond this many standard deviations a difference is plain to see; longer axes would flatten all other curves.
FARTHEST = 20.0
# The most metrics of a chart of curves, and the most rows of the picture.
_MOST_CURVES, _MOST_PICTURED = 7, 24
_SETTINGS = {"tokenizer": "Tokenizer", "encoder": "Encoder", **COMMON_SETTINGS}


def document(found: Stress) -> Document:
    """What a stress study states."""
    last = found.sizes[-1]
    failures = _failures(found, last)
    return Document(
        kind="stress test",
        title=f"Stress of {shortened(found.reference[0], 60)}",
        summary=_summary(found, last),
        sections=sections_of(
            Section("use", "Use for", (_advice_table(found, last),), "screen"),
            Section("matrix", "Matrix", tuple(_matrices(found)), "table"),
            Section("failures", "Failures", (Text((_failure_text(last),)), failures), "why") if failures.rows else None,
            Section("monotony", "Kendall's tau of value and strength", tuple(_tau_tables(found)), "why"),
            Section("curves", "Curves", (Text((_curve_text(last),)), *_curve_charts(found, last))),
            Section("damages", "Damages", (Text((_DAMAGES,)), _damages(found)), "why"),
            Section("reading", "How to read this", (Text(_reading(found)),)),
            Section("settings", "Settings", (Facts((*_counts(found), *setting_pairs(found.settings, _SETTINGS))),)),
            signature_section((metric.name, metric.signature) for metric in found.metrics),
        ),
        names=found.names,
        level=found.level,
        notes=found.notes,
    )


def _summary(found: Stress, size: int) -> Summary:
    name, n, _ = found.reference
    what = f"{many(len(found.damages), 'damage')}, {many(len(found.metrics) - 1, 'metric')} and the overall test"
    return Summary(
        question=f"Which metric notices which damage to “{shortened(name, 60)}”?",
        context=f"{many(n, 'text')}: {what}; {size:,} texts per sample",
        sentence=sentence(sentence_of(verdict.outcome(found, size))),
        columns=("finds", "mean power", "false alarms", "seconds"),
        rows=tuple(_summary_row(found, metric, size, rank) for rank, metric in enumerate(verdict.ranked(found, size))),
        caveats=tuple(sentence(sentence_of(finding)) for finding in verdict.cautions(found, size)),
        hints=("Powers: --table", "Failures and damages: --why", "Report: --report FILE.html"),
        picture=matrix_plot(found, size),
        noun="test",
    )


def _summary_row(found: Stress, metric: StressColumn, size: int, rank: int) -> SummaryRow:
    n = len(found.damages)
    n_found = n - len(verdict.missed(found, metric, size))
    power = verdict.mean_power(metric, size)
    phrases = list(verdict.failures_of(found, metric, size))
    return SummaryRow(
        metric.name,
        found.names.index(metric.name),
        verdict.decision_of(found, metric, size),
        # The overall test is above the metrics.
        rank=rank or None,
        cells=(
            Cell(f"{n_found} of {n}", n_found),
            Cell(power_text(power), power),
            *_alarms_and_seconds(found, metric, size),
        ),
        stands_out="; ".join(map(_phrase, phrases)),
    )


def _phrase(finding: Finding) -> str:
    verb = "misses" if finding.kind == "misses" else "prefers to real text:"
    return f"{verb} {listed_some(finding.names, 3)}"


def _alarms_and_seconds(found: Stress, metric: StressColumn, size: int) -> tuple[Cell, Cell]:
    index = found.sizes.index(size)
    alarms, seconds = metric.false_alarms[index], metric.seconds[index]
    return Cell("–" if math.isnan(alarms) else share(alarms), alarms), Cell(number(seconds), seconds)


def _advice_table(found: Stress, size: int) -> Table:
    """For each damage, the tests that find it at the smallest strength, and the overall test."""
    heads = (Head("damage"), Head("tests that find it first"), Head("from strength"), Head("overall test"))
    return Table(heads, tuple(_advice_row(title, finding) for title, finding in verdict.advice(found, size)))


def _advice_row(title: str, finding: Finding) -> Row:
    if not finding.names:
        return Row((Cell(title), Cell("none"), Cell("–"), Cell("misses it")))
    names = listed_some([shortened(name, 40) for name in finding.names], 4)
    overall = finding.part("overall")
    found = Cell("misses it") if math.isnan(overall) else Cell(f"from {overall:g}", overall)
    return Row((Cell(title), Cell(names), Cell(f"{finding.value:g}", finding.value), found))


def _failures(found: Stress, size: int) -> Table:
    """What each metric misses, and which damaged text it prefers to real text."""
    rows = []
    for name, findings in verdict.failures(found, size):
        by_kind = {finding.kind: listed(finding.names) for finding in findings}
        rows.append(Row((Cell(shortened(name, 40)), *(Cell(by_kind.get(kind, "")) for kind in ("misses", "praises")))))
    return Table((Head("metric"), Head("misses"), Head("rates better than real text")), tuple(rows))


def power_text(power: float) -> str:
    """A power in two digits.

    >>> power_text(0.85), power_text(1.0), power_text(0.999), power_text(math.nan)
    ('.85', '1', '.99', '–')
    """
    if math.isnan(power):
        return "–"
    return "1" if power >= 1 else f"{min(power, 0.99):.2f}".removeprefix("0")


def _matrices(found: Stress) -> Iterator[Block]:
    """One matrix per size, the largest first."""
    for size in reversed(found.sizes):
        yield matrix(found, size)


def matrix(found: Stress, size: int) -> Table:
    """The smallest strength at which each metric finds each damage, with the power at each strength."""
    heads = (Head("metric"), *(Head(damage.title, numeric=True) for damage in found.damages))
    return Table(
        (*heads, Head("false alarms", numeric=True), Head("seconds", numeric=True)),
        tuple(_matrix_row(found, metric, size) for metric in verdict.ranked(found, size)),
        title=f"{size:,} texts per sample",
        footnotes=(
            f"False alarms: {verdict.alarm_range(found, size)}",
            *(_legend(found) if size == found.sizes[-1] else ()),
        ),
    )


def _matrix_row(found: Stress, metric: StressColumn, size: int) -> Row:
    cells = [_matrix_cell(found, metric.cell(damage.name, size)) for damage in found.damages]
    name = Cell(shortened(metric.name, 40), candidate=found.names.index(metric.name))
    return Row((name, *cells, *_alarms_and_seconds(found, metric, size)))


def _matrix_cell(found: Stress, cell: StressCell) -> Cell:
    pairs = zip(found.strengths, cell.power, strict=True)
    detail = ", ".join(f"strength {strength:g}: power {power_text(power)}" for strength, power in pairs)
    mean = sum(0.0 if math.isnan(power) else power for power in cell.power) / len(cell.power)
    return Cell(
        _found_text(found, cell),
        mean,
        small=(" ".join(map(power_text, cell.power)),),
        detail=detail + ("; rated better than real text" if verdict.is_praised(cell) else ""),
        heat=mean,
    )


def _found_text(found: Stress, cell: StressCell) -> str:
    at = verdict.found_from(cell, found.strengths)
    return f"{MISSED if at is None else f'{at:g}'}{PRAISE if verdict.is_praised(cell) else ''}"


def _legend(found: Stress) -> Iterator[str]:
    strengths = ", ".join(f"{strength:g}" for strength in found.strengths)
    yield (
        f"a number is the smallest strength (of {strengths}) from which on the damage is found in at least "
        f"{share(verdict.FOUND)} of {found.n_runs} runs; {MISSED} if it is not found at all"
    )
    yield "small numbers are the powers at each strength"
    yield f"{PRAISE}: damaged text is rated significantly better than real text"
    yield f"false alarms: how often the test at {100 * (1 - found.level):.3g} % rejects undamaged text"
    yield "seconds: processor seconds of one comparison, without encoding"
    if any(cell.method == "law" for metric in found.metrics for cell in metric.cells):
        yield "powers of cnd, mmd and energy for another corpus come from one measurement (d = e² d(P, Q))"


def matrix_plot(found: Stress, size: int) -> Plot:
    """The matrix as a picture: metrics down, damages across, shaded by mean power."""
    metrics = verdict.ranked(found, size)[:_MOST_PICTURED]
    cells = [[_matrix_cell(found, metric.cell(damage.name, size)) for damage in found.damages] for metric in metrics]
    return Plot(
        f"What each metric finds at {size:,} texts",
        Scale("damage", names=tuple(shortened(damage.title, 30) for damage in found.damages)),
        Scale(names=tuple(shortened(metric.name, 30) for metric in metrics)),
        (
            Cells(
                tuple(tuple(c.heat for c in row) for row in cells), tuple(tuple(c.text for c in row) for row in cells)
            ),
        ),
        summary="; ".join(f"{title}: {sentence_of(finding)}" for title, finding in verdict.advice(found, size)),
        size="large",
    )


def _tau_tables(found: Stress) -> Iterator[Block]:
    heads = (Head("metric"), *(Head(damage.title, numeric=True) for damage in found.damages))
    for size in reversed(found.sizes):
        rows = [_tau_row(found, metric, size) for metric in verdict.ranked(found, size)]
        yield Table(heads, tuple(rows), title=f"{size:,} texts per sample")


def _tau_row(found: Stress, metric: StressColumn, size: int) -> Row:
    taus = [metric.cell(damage.name, size).tau for damage in found.damages]
    cells = [Cell("–" if math.isnan(tau) else f"{tau:.2f}", tau) for tau in taus]
    return Row((Cell(shortened(metric.name, 40), candidate=found.names.index(metric.name)), *cells))


def shown_metrics(found: Stress, size: int) -> list[StressColumn]:
    """The metrics of the charts: some of those in wide use, and those with the highest mean power."""
    others = verdict.ranked(found, size)[1:]
    popular = [metric for metric in others if metric.metric in verdict.POPULAR][:4]
    chosen = list(dict.fromkeys(metric.name for metric in (*popular, *others)))[:_MOST_CURVES]
    return [metric for metric in others if metric.name in chosen]


def _curve_charts(found: Stress, size: int) -> Iterator[Chart]:
    """One chart per damage."""
    metrics = shown_metrics(found, size)
    yield from (Chart(_curve_plot(found, damage, metrics, size)) for damage in found.damages)


def _curve_plot(found: Stress, damage: DamageInfo, metrics: list[StressColumn], size: int) -> Plot:
    lines = tuple(
        Line(curve, candidate=found.names.index(metric.name), name=shortened(metric.name, 40))
        for metric in metrics
        if (curve := points(found, metric, damage.name, size))
    )
    return Plot(
        f"Values by strength: {damage.title}",
        Scale("strength"),
        Scale("deviations from real text"),
        lines,
        summary="; ".join(f"{line.name}: {', '.join(number(y) for _, y in line.points)}" for line in lines),
    )


def points(found: Stress, metric: StressColumn, damage: str, size: int) -> tuple[tuple[float, float], ...]:
    """Strength, and the change of the value in standard deviations of undamaged values, within limits.

    Upwards is worse for metrics that are better in one direction, and a higher value for others.
    """
    cell, deviation = metric.cell(damage, size), metric.deviations[found.sizes.index(size)]
    sign = -1.0 if metric.better == "higher" else 1.0
    if not deviation > 0:
        return ()
    moved = [sign * (value - cell.values[0]) / deviation for value in cell.values]
    pairs = zip((0.0, *found.strengths), moved, strict=True)
    return tuple((x, min(max(y, -FARTHEST), FARTHEST)) for x, y in pairs if not math.isnan(y))


def _damages(found: Stress) -> Table:
    rows = (Row((Cell(damage.title), Cell(damage.what))) for damage in found.damages)
    return Table((Head("damage"), Head("what it does")), tuple(rows))


def _counts(found: Stress) -> tuple[tuple[str, str], ...]:
    return (
        ("Runs per damage, strength and size", f"{found.n_runs:,}"),
        ("Undamaged draws per size", f"2 × {found.n_draws:,}"),
        ("Strengths", ", ".join(f"{strength:g}" for strength in found.strengths)),
    )


def _failure_text(size: int) -> str:
    return f"What each metric does not find at any strength, with {size:,} texts per sample; metrics in wide use first."


def _curve_text(size: int) -> str:
    return (
        "How far the mean value of a metric moves with the strength of a damage, in standard deviations of its values"
        f" on undamaged text, at {size:,} texts per sample. Upwards is worse; for metrics that have no better"
        f" direction, upwards is a higher value. Changes of more than {FARTHEST:g} standard deviations are drawn as"
        f" {FARTHEST:g}."
    )


_DAMAGES = (
    "The strength is the share of a sample's texts that are damaged, except for lost topics (half of it) and duplicates"
    " (nine tenths of it)."
)


def _reading(found: Stress) -> tuple[str, ...]:
    rate, runs, draws = 1 - found.level, found.n_runs, found.n_draws
    of_alarms = 100 * math.sqrt(2 * found.level * rate / draws)
    return (
        "Each run draws two disjoint samples of real texts, damages one of them, and measures it against the other."
        f" Power is the share of runs in which the test rejects at {100 * rate:.3g} %. With {runs} runs, a power of 0.5"
        f" has a standard error of {number(0.5 / math.sqrt(runs))}.",
        "One test for all metrics: a value is compared with the values of the same metric on"
        f" {draws:,} draws of two undamaged samples. A metric that compares two samples is tested towards worse, as in"
        " textassay compare; others are tested in both directions. Ties are broken at random, so that every test has"
        " the same level. The overall test is a permutation test of its own.",
        f"False alarms are measured on further undamaged draws. They differ from {100 * rate:.3g} % by chance: by a"
        f" standard error of about {of_alarms:.1f} percentage points for metrics.",
        "A missed damage is not always a fault: vectors of words do not see their order, and a metric of quality is not"
        " made to see duplicates. It shows which second metric is needed. The matrix holds for these texts; other texts"
        " may give another one.",
    )
