"""What all forms of a stress report share: rows of the matrix, advice, failures and legends."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from textassay.corpus.printable import many, share, shortened
from textassay.studies.stress.result import Cell, Stress, StressColumn
from textassay.studies.wording import listed, number

# A damage counts as found at a strength if at least this share of the runs finds it.
FOUND = 0.8
# A metric praises a damage if at least this share of the runs rates damaged text significantly better than real text.
_PRAISED = 0.5
# Metrics that are in wide use; what they miss is reported first.
POPULAR = ("bleu", "self_bleu", "distinct", "mauve", "frechet", "precision", "recall")
PRAISE, MISSED = "▲", "–"
# Steps of the heat map.
STEPS = 5


@dataclass(frozen=True)
class Entry:
    """A cell of the matrix as text.

    `found` is the smallest strength at which the damage is found, `powers` the power at each strength, `step` the
    colour, from 0 to `STEPS`.
    """

    found: str
    powers: str
    tau: str
    step: int
    praised: bool
    by_law: bool
    detail: str


@dataclass(frozen=True)
class Row:
    """A metric at one size: one entry per damage, then false alarms and seconds."""

    metric: StressColumn
    entries: tuple[Entry, ...]
    alarms: str
    seconds: str


def rows(found: Stress, size: int) -> list[Row]:
    """One row per metric: the overall test first, then those with the highest mean power."""
    overall, *others = found.metrics
    ranked = sorted(others, key=lambda metric: -mean_power(metric, size))
    return [_row(found, metric, size) for metric in (overall, *ranked)]


def mean_power(metric: StressColumn, size: int) -> float:
    """The mean power over all damages and strengths at a size."""
    powers = [power for cell in metric.cells if cell.size == size for power in cell.power if not math.isnan(power)]
    return sum(powers) / len(powers) if powers else 0.0


def _row(found: Stress, metric: StressColumn, size: int) -> Row:
    place = found.sizes.index(size)
    entries = tuple(_entry(found, metric.cell(damage.name, size)) for damage in found.damages)
    seconds = metric.seconds[place]
    alarms = metric.false_alarms[place]
    return Row(metric, entries, "–" if math.isnan(alarms) else share(alarms), f"{number(seconds)}")


def _entry(found: Stress, cell: Cell) -> Entry:
    at = found_from(cell, found.strengths)
    mean = sum(0.0 if math.isnan(power) else power for power in cell.power) / len(cell.power)
    praised = is_praised(cell)
    shown = MISSED if at is None else f"{at:g}"
    pairs = zip(found.strengths, cell.power, strict=True)
    detail = ", ".join(f"strength {strength:g}: power {power_text(power)}" for strength, power in pairs)
    return Entry(
        f"{shown}{PRAISE if praised else ''}",
        " ".join(map(power_text, cell.power)),
        "–" if math.isnan(cell.tau) else f"{cell.tau:.2f}",
        round(mean * STEPS),
        praised,
        cell.method == "law",
        detail + ("; rated better than real text" if praised else ""),
    )


def power_text(power: float) -> str:
    """A power in two digits.

    >>> power_text(0.85), power_text(1.0), power_text(0.999), power_text(math.nan)
    ('.85', '1', '.99', '–')
    """
    if math.isnan(power):
        return "–"
    return "1" if power >= 1 else f"{min(power, 0.99):.2f}".removeprefix("0")


def found_from(cell: Cell, strengths: Sequence[float]) -> float | None:
    """The smallest strength from which on the damage is found; None if it is missed at the largest one."""
    found = None
    for strength, power in sorted(zip(strengths, cell.power, strict=True), reverse=True):
        if not power >= FOUND:
            break
        found = strength
    return found


def is_praised(cell: Cell) -> bool:
    """Whether the metric rates the damaged text better than real text."""
    return max(cell.praise) >= _PRAISED


def heading(found: Stress) -> str:
    """What was measured."""
    name, n, _ = found.reference
    what = f"{many(len(found.damages), 'damage')}, {many(len(found.metrics) - 1, 'metric')} and the overall test"
    return f"{shortened(name, 60)} ({many(n, 'text')}): {what}"


def outcome_sentence(found: Stress, size: int) -> str:
    """Whether every damage is found at this size, and how many of them by the overall test."""
    missed = [damage.title for damage in found.damages if not _finders(found, damage.name, size)]
    if missed:
        start = f"At {size:,} texts no test finds {listed(missed)}"
    else:
        start = f"At {size:,} texts every damage is found by at least one test"
    overall = found.metrics[0]
    cells = [overall.cell(damage.name, size) for damage in found.damages]
    count = sum(found_from(cell, found.strengths) is not None for cell in cells)
    return f"{start}; the overall test finds {count} of {len(cells)}."


def _finders(found: Stress, damage: str, size: int) -> list[tuple[StressColumn, float]]:
    """The tests that find a damage and the strength from which on they do, the best first."""
    known = [(metric, found_from(metric.cell(damage, size), found.strengths)) for metric in found.metrics]
    able = [(metric, at) for metric, at in known if at is not None]
    place = found.sizes.index(size)

    def rank(pair: tuple[StressColumn, float]) -> tuple[float, float, float]:
        cell = pair[0].cell(damage, size)
        return pair[1], -sum(cell.power), pair[0].seconds[place]

    return sorted(able, key=rank)


def advice(found: Stress, size: int, *, most: int = 4) -> Iterator[tuple[str, str]]:
    """For each damage, which tests to use."""
    for damage in found.damages:
        able = _finders(found, damage.name, size)
        if not able:
            yield damage.title, "no test finds it"
            continue
        best = [(metric, at) for metric, at in able if at == able[0][1]]
        names = [shortened(metric.name, 40) for metric, _ in best[:most]]
        more = f" and {len(best) - most} more" if len(best) > most else ""
        overall = next((at for metric, at in able if metric is found.metrics[0]), None)
        also = "" if overall in (None, able[0][1]) else f"; the overall test from {overall:g}"
        missed = "; the overall test misses it" if overall is None else also
        yield damage.title, f"{', '.join(names)}{more} (from strength {able[0][1]:g}){missed}"


def failures(found: Stress, size: int) -> Iterator[tuple[str, str]]:
    """What each metric misses at this size, metrics in wide use first."""
    ranked = sorted(found.metrics[1:], key=lambda metric: (metric.metric not in POPULAR, mean_power(metric, size)))
    for metric in ranked:
        cells = {damage: metric.cell(damage.name, size) for damage in found.damages}
        missed = [damage.title for damage, cell in cells.items() if found_from(cell, found.strengths) is None]
        praised = [damage.title for damage, cell in cells.items() if is_praised(cell)]
        parts = ([f"misses {listed(missed)}"] if missed else []) + (
            [f"rates damaged text better than real text: {listed(praised)}"] if praised else []
        )
        if parts:
            yield shortened(metric.name, 40), "; ".join(parts)


def alarm_range(found: Stress, size: int) -> str:
    """The smallest and the largest share of false alarms at a size."""
    place = found.sizes.index(size)
    known = [metric.false_alarms[place] for metric in found.metrics if not math.isnan(metric.false_alarms[place])]
    return f"{share(min(known))} to {share(max(known))}" if known else "not measured"


def legend(found: Stress) -> list[str]:
    """How to read the matrix."""
    strengths = ", ".join(f"{strength:g}" for strength in found.strengths)
    lines = [
        f"a number is the smallest strength (of {strengths}) from which on the damage is found in at least "
        f"{share(FOUND)} of {found.n_runs} runs; {MISSED} if it is not found at all",
        f"{PRAISE}: damaged text is rated significantly better than real text",
        f"alarms: how often the test at {100 * (1 - found.level):.3g} % rejects undamaged text",
        "s: processor seconds of one comparison, without encoding",
    ]
    if any(cell.method == "law" for metric in found.metrics for cell in metric.cells):
        lines.append("powers of cnd, mmd and energy for another corpus come from one measurement (d = e² d(P, Q))")
    return lines


def damage_lines(found: Stress) -> list[tuple[str, str]]:
    """What each damage does."""
    return [(damage.title, damage.what) for damage in found.damages]
