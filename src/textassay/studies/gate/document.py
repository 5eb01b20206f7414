"""The parts of a document that show a gate: a table of the checks, and the bounds drawn beside the margin."""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from textassay.corpus.printable import share
from textassay.document.blocks import Block, Cell, Chart, Document, Head, Notes, Row, Section, Summary, Table
from textassay.document.plot import Marks, Plot, Point, Scale, rule
from textassay.studies.gate.result import FAIL, PASS, UNDECIDED, Check, Gate, sentence
from textassay.studies.gate.verdict import MARGIN_KINDS

if TYPE_CHECKING:
    from textassay.studies.compare.result import Comparison

_SIGNS = {PASS: "✓ pass", FAIL: "✗ fail", UNDECIDED: "? undecided"}
# A drawn line does not break where its cell is narrow.
_SPACE = "\N{NO-BREAK SPACE}"
# What needs attention comes first.
_ORDER = (FAIL, UNDECIDED, PASS)
_WORDS = {PASS: "passed", FAIL: "failed", UNDECIDED: "undecided"}
# The cells of a drawn line, and how many margins it covers at least.
_CELLS, _COVERED = 24, 2.0


def gate_section(found: "Comparison") -> Section | None:
    """The section of a comparison's gate; None if there were no rules."""
    if found.gate is None:
        return None
    return Section("gate", gate_words(found.gate), gate_blocks(found.gate, found.names), "screen")


def gate_words(gate: Gate) -> str:
    """The decision in a few words."""
    return f"Gate: {_WORDS[gate.decision]}"


def gate_document(gate: Gate, names: Sequence[str]) -> Document:
    """The gate alone, for the summary of a build."""
    title = gate_words(gate)
    summary = Summary(title, "", "", rows=(), hints=())
    return Document("gate", title, summary, (Section("gate", "", gate_blocks(gate, names), "screen"),), tuple(names))


def gate_blocks(gate: Gate, names: Sequence[str]) -> tuple[Block, ...]:
    """The checks as a table with the bounds drawn beside the margin, and the reason of each."""
    indexes = {name: index for index, name in enumerate(names)}
    # A drawn line is not folded, as numbers are not.
    heads = (Head("candidate"), Head("rule"), Head("decision"), Head("bounds and margin", numeric=True))
    checks = sorted(gate.checks, key=lambda check: _ORDER.index(check.decision))
    rows = tuple(
        Row(
            (
                Cell(check.candidate, candidate=indexes.get(check.candidate)),
                Cell(check.rule),
                Cell(_SIGNS[check.decision]),
                Cell(line_of(check)),
            )
        )
        for check in checks
    )
    why = (f"{check.candidate}, {check.rule}: {sentence(check)}" for check in checks)
    notes = (*why, *([gate.aa.sentence] if gate.aa else ()), *gate.notes)
    return Table(heads, rows), Notes(notes)


def gate_charts(gate: Gate, names: Sequence[str]) -> tuple[Chart, ...]:
    """One strip per rule with numbers: the bounds of every candidate and the margin."""
    rules = dict.fromkeys(check.rule for check in gate.checks if _has_bounds(check))
    indexes = {name: index for index, name in enumerate(names)}
    charts = []
    for name in rules:
        checks = [check for check in gate.checks if check.rule == name and _has_bounds(check)]
        points = tuple(
            Point(
                check.finding.value,
                float(row),
                x_ends=check.finding.ends,
                candidate=indexes.get(check.candidate),
                label=_WORDS[check.decision],
            )
            for row, check in enumerate(checks)
        )
        plot = Plot(
            f"Bounds and margin: {name}",
            Scale("separable share" if _is_share(checks[0]) else "worse by", percent=_is_share(checks[0])),
            Scale(names=tuple(check.candidate for check in checks)),
            (rule("x", checks[0].finding.baseline, "margin"), Marks(points)),
            summary="; ".join(f"{check.candidate}: {_WORDS[check.decision]}" for check in checks),
            size="strip",
        )
        charts.append(Chart(plot))
    return tuple(charts)


def _has_bounds(check: Check) -> bool:
    return check.finding.ends is not None and math.isfinite(check.finding.baseline)


def _is_share(check: Check) -> bool:
    return check.finding.kind in MARGIN_KINDS


def line_of(check: Check) -> str:
    """The bounds of a check drawn beside its margin; empty for a rule without numbers."""
    if not _has_bounds(check) or not _is_share(check):
        return ""
    assert check.finding.ends is not None
    return drawn_line(check.finding.ends, value=check.finding.value, margin=check.finding.baseline)


def drawn_line(ends: tuple[float, float], *, value: float, margin: float) -> str:
    """An interval from 0 as a line of characters, with its estimate and the margin.

    >>> drawn_line((0.0, 0.05), value=0.02, margin=0.1)
    '0\xa0├─●───┤·····┃···········\xa020\xa0%'
    >>> drawn_line((0.3, 0.5), value=0.4, margin=0.1)
    '0\xa0····┃········├────●───┤·\xa053\xa0%'
    """
    top = min(max(_COVERED * margin, 1.05 * ends[1]), 1.0)
    low, middle, high, limit = (
        min(max(round(each / top * (_CELLS - 1)), 0), _CELLS - 1) for each in (ends[0], value, ends[1], margin)
    )
    cells = ["·"] * _CELLS
    for index in range(low, high + 1):
        cells[index] = "─"
    cells[low], cells[high] = "├", "┤"
    cells[limit] = "╂" if low <= limit <= high else "┃"
    cells[middle] = "●"
    return f"0 {''.join(cells)} {share(round(top, 2))}".replace(" ", _SPACE)
