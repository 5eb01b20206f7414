"""What a stress study shows: which tests find which damage, which to use, and what each metric misses, as findings."""

import math
from collections.abc import Iterator, Sequence

from textassay.corpus.printable import share
from textassay.inference.intervals import wilson
from textassay.studies.finding import Finding
from textassay.studies.stress.result import Cell, DamageInfo, Stress, StressColumn

# A damage counts as found at a strength if at least this share of the runs finds it.
FOUND = 0.8
# A metric praises a damage if at least this share of the runs rates damaged text significantly better than real text.
_PRAISED = 0.5
# Metrics that are in wide use; what they miss is reported first.
POPULAR = ("bleu", "self_bleu", "distinct", "mauve", "frechet", "precision", "recall")


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


def mean_power(metric: StressColumn, size: int) -> float:
    """The mean power over all damages and strengths at a size."""
    powers = [power for cell in metric.cells if cell.size == size for power in cell.power if not math.isnan(power)]
    return sum(powers) / len(powers) if powers else 0.0


def ranked(found: Stress, size: int) -> list[StressColumn]:
    """The overall test first, then the metrics with the highest mean power."""
    overall, *others = found.metrics
    return [overall, *sorted(others, key=lambda metric: -mean_power(metric, size))]


def missed(found: Stress, metric: StressColumn, size: int) -> list[DamageInfo]:
    """The damages that a test does not find at any strength."""
    return [each for each in found.damages if found_from(metric.cell(each.name, size), found.strengths) is None]


def decision_of(found: Stress, metric: StressColumn, size: int) -> str:
    """Whether a test finds all damages, some or none."""
    n_missed = len(missed(found, metric, size))
    return "misses some" if 0 < n_missed < len(found.damages) else "finds none" if n_missed else "finds all"


def outcome(found: Stress, size: int) -> Finding:
    """Whether every damage is found at this size, and how many of them by the overall test."""
    unseen = tuple(damage.title for damage in found.damages if not _finders(found, damage.name, size))
    count, all_damages = len(found.damages) - len(missed(found, found.metrics[0], size)), len(found.damages)
    return Finding("damages found", value=count, n=(size,), names=unseen, parts={"damages": all_damages})


def advice(found: Stress, size: int) -> Iterator[tuple[str, Finding]]:
    """For each damage, its title and which tests to use."""
    for damage in found.damages:
        able = _finders(found, damage.name, size)
        if not able:
            yield damage.title, Finding("found by none", text=damage.title)
            continue
        strength = able[0][1]
        overall = [at for metric, at in able if metric is found.metrics[0]]
        yield (
            damage.title,
            Finding(
                "use for",
                value=strength,
                text=damage.title,
                names=tuple(metric.name for metric, at in able if at == strength),
                parts={"overall": overall[0]} if overall else {},
            ),
        )


def _finders(found: Stress, damage: str, size: int) -> list[tuple[StressColumn, float]]:
    """The tests that find a damage and the strength from which on they do, the best first."""
    known = [(metric, found_from(metric.cell(damage, size), found.strengths)) for metric in found.metrics]
    able = [(metric, at) for metric, at in known if at is not None]
    index = found.sizes.index(size)

    def rank(pair: tuple[StressColumn, float]) -> tuple[float, float, float]:
        cell = pair[0].cell(damage, size)
        return pair[1], -sum(cell.power), pair[0].seconds[index]

    return sorted(able, key=rank)


def failures(found: Stress, size: int) -> Iterator[tuple[str, list[Finding]]]:
    """What each metric misses and praises at this size, metrics in wide use first."""
    order = sorted(found.metrics[1:], key=lambda metric: (metric.metric not in POPULAR, mean_power(metric, size)))
    for metric in order:
        findings = list(failures_of(found, metric, size))
        if findings:
            yield metric.name, findings


def failures_of(found: Stress, metric: StressColumn, size: int) -> Iterator[Finding]:
    """What one test misses and praises."""
    unseen = tuple(damage.title for damage in missed(found, metric, size))
    praised = tuple(each.title for each in found.damages if is_praised(metric.cell(each.name, size)))
    if unseen:
        yield Finding("misses", metric=metric.name, names=unseen)
    if praised:
        yield Finding("praises", metric=metric.name, names=praised)


# With fewer runs a power is rough enough to say so.
_FEW_RUNS = 20


def cautions(found: Stress, size: int) -> Iterator[Finding]:
    """What may make the powers wrong: tests that reject undamaged text too often, and few runs."""
    index, rate = found.sizes.index(size), 1 - found.level
    # Corrected for all tests; critical values come from as many draws, so that the variance is twice that of a share.
    level = 1 - rate / len(found.metrics)
    often = {
        metric.name: metric.false_alarms[index]
        for metric in found.metrics
        if metric.n_false_alarms and wilson(metric.false_alarms[index], metric.n_false_alarms / 2, level)[0] > rate
    }
    if often:
        yield Finding("false alarms", value=rate, names=tuple(often), parts=often)
    if found.n_runs < _FEW_RUNS:
        yield Finding("few runs", value=0.5 / math.sqrt(found.n_runs), n=(found.n_runs,))


def alarm_range(found: Stress, size: int) -> str:
    """The smallest and the largest share of false alarms at a size."""
    index = found.sizes.index(size)
    known = [metric.false_alarms[index] for metric in found.metrics if not math.isnan(metric.false_alarms[index])]
    return f"{share(min(known))} to {share(max(known))}" if known else "not measured"
