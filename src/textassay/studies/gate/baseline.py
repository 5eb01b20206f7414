r"""No worse than a baseline: the difference of each metric, with bounds, against a margin.

A metric is turned so that more is worse: its value if lower is better, minus its value if higher is better, and the
distance from real text's value if closer is better. The candidate is no worse than the baseline if the upper bound of
the difference is at most the margin, and worse if the lower bound is above it. All metrics must be no worse, so their
upper bounds need no correction; a build fails if any is worse, so the level of the lower bounds is corrected for the
number of metrics and candidates.

Texts of a baseline are measured against the same reference with the same folds, so the noise of the reference cancels.
Of saved results only the intervals are left: their widths are added as those of independent samples, which is wider.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from scipy.special import ndtri

from textassay.corpus.printable import quoted, shortened
from textassay.corpus.values import read_json
from textassay.errors import InputError, Setting
from textassay.inference.intervals import Replicates
from textassay.inference.measure import Difference, linear_combination
from textassay.inference.result import Result
from textassay.studies.finding import Finding
from textassay.studies.gate.margin import POWER
from textassay.studies.gate.result import FAIL, PASS, UNDECIDED, Check
from textassay.version import __version__

if TYPE_CHECKING:
    from textassay.studies.compare.result import Column, Comparison

# The margin of a metric that is a share or a score up to 1, and of any other as a share of the baseline's value.
SHARE_MARGIN, RELATIVE_MARGIN = 0.02, 0.1
# Settings that must be the same in saved results.
_SAME = ("tokenizer", "encoder", "strip")

Known = tuple[float, Replicates]


@dataclass(frozen=True, eq=False)
class Values:
    """A metric of a candidate, of the baseline and of real text, each with its jackknife if it has one."""

    label: str
    result: Result
    candidate: Known | None
    baseline: Known | None
    real: Known | None


def default_margin(result: Result, baseline: float) -> float:
    """By how much a metric may be worse, if nothing is said."""
    return SHARE_MARGIN if _is_share(result) else RELATIVE_MARGIN * abs(baseline)


def _is_share(result: Result) -> bool:
    from textassay.studies.planes import metric_of

    metric = metric_of(result)
    return metric is not None and tuple(metric.bounds) == (0.0, 1.0)


def check_values(
    name: str, values: Sequence[Values], margins: Mapping[str, float], *, level: float, n_candidates: int
) -> Iterator[Check]:
    """The checks of one candidate beside the baseline's texts."""
    known = [each for each in values if each.candidate is not None and each.baseline is not None]
    corrected = 1 - (1 - level) / max(len(known) * n_candidates, 1)
    for each in known:
        assert each.candidate is not None
        assert each.baseline is not None
        terms = _terms(each)
        if terms is None:
            continue
        sides = (linear_combination(terms, level=2 * one - 1) for one in (level, corrected))
        yield _check(name, each.label, each.result, each.baseline[0], margins, *sides, n=each.result.n, level=level)


def _terms(values: Values) -> list[tuple[float, float, Replicates]] | None:
    """The loss of the candidate minus that of the baseline; None where real text's value is needed and not known."""
    assert values.candidate is not None
    assert values.baseline is not None
    if values.result.better != "closer":
        sign = -1.0 if values.result.better == "higher" else 1.0
        return [(sign, *values.candidate), (-sign, *values.baseline)]
    if values.real is None:
        return None
    mine, theirs = (math.copysign(1.0, each[0] - values.real[0]) for each in (values.candidate, values.baseline))
    terms = [(mine, *values.candidate), (-theirs, *values.baseline)]
    return [*terms, (theirs - mine, *values.real)] if mine != theirs else terms


def _check(
    name: str,
    label: str,
    result: Result,
    baseline: float,
    margins: Mapping[str, float],
    found: Difference,
    corrected: Difference,
    *,
    n: int,
    level: float,
) -> Check:
    margin = margins.get(label, margins.get(result.metric, default_margin(result, baseline)))
    decision = FAIL if corrected.low > margin else PASS if found.high <= margin else UNDECIDED
    parts = {"baseline": baseline, "candidate": result.estimate}
    needed = _texts_needed(found, margin, level, n)
    if decision == UNDECIDED and needed is not None:
        parts["needed"] = float(needed)
    kind = {FAIL: "worse than baseline", PASS: "no worse", UNDECIDED: "worse undecided"}[decision]
    ends = (min(corrected.low, found.low) if decision != FAIL else corrected.low, found.high)
    finding = Finding(kind, label, value=found.estimate, ends=ends, baseline=margin, n=(n,), parts=parts)
    return Check(name, f"no-worse-than {label}", decision, finding)


def _texts_needed(found: Difference, margin: float, level: float, n: int) -> int | None:
    """About how many texts would show that this difference is within the margin, in four of five samples."""
    room = margin - max(found.estimate, 0.0)
    if room <= 0:
        return None
    width = (found.high - found.estimate) * (1 + float(ndtri(POWER)) / float(ndtri(level)))
    return math.ceil(n * (width / room) ** 2)


# Saved results.


def is_results(source: Any) -> bool:
    """Whether a baseline is a file of results and not one of texts."""
    if not isinstance(source, str) or not source.endswith(".json"):
        return False
    plain = read_json(source)
    return isinstance(plain, Mapping) and "textassay" in plain and "candidates" in plain


def check_results(found: "Comparison", source: str, margins: Mapping[str, float], *, level: float) -> Iterator[Check]:
    """The checks of all candidates beside saved results."""
    from textassay.studies.compare.result import Comparison
    from textassay.studies.saved import read_results

    saved = read_results(source)
    where = shortened(source, 60)
    assert isinstance(saved, Comparison)
    _check_same(found, saved, where)
    tests = len(found.candidates) * len(found.labels)
    for column in found.candidates:
        other = _column_of(saved, column.name, where)
        checks = list(_beside(column, other, found, margins, level, tests))
        if not checks:
            raise InputError(
                f"{where}: no metric with an interval in both; wanted results that were measured with intervals"
                f" (--resamples 19 or more) and the metrics {', '.join(found.labels[:6])}"
            )
        yield from checks


def _check_same(found: "Comparison", saved: "Comparison", where: str) -> None:
    version = saved.settings.get("version", "")
    if version != __version__:
        raise InputError(
            f"{where}: made by textassay {version or 'of an earlier version'}, this is {__version__}; wanted results of"
            " the same version (numbers may have changed): measure the baseline again, or give its texts"
        )
    if saved.reference.digest != found.reference.digest:
        mine, theirs = found.reference, saved.reference
        raise InputError(
            f"{where}: its reference is {theirs.name} ({theirs.n:,} texts, {theirs.digest}), here it is {mine.name}"
            f" ({mine.n:,} texts, {mine.digest}); wanted the same reference (and the same ",
            Setting("size"),
            "), or the texts of the baseline",
        )
    for name in _SAME:
        if saved.settings.get(name) != found.settings.get(name):
            raise InputError(
                f"{where}: {name} {saved.settings.get(name)}, here {found.settings.get(name)}; wanted the same"
            )


def _column_of(saved: "Comparison", name: str, where: str) -> "Column":
    """The candidate of this name, or the only one there is."""
    if len(saved.candidates) == 1:
        return saved.candidates[0]
    for column in saved.candidates:
        if column.name == name:
            return column
    raise InputError(
        f"{where}: no candidate {quoted([name])} among {quoted(list(saved.names))}; wanted one of the same name, or one"
        " candidate"
    )


def _beside(
    column: "Column", other: "Column", found: "Comparison", margins: Mapping[str, float], level: float, tests: int
) -> Iterator[Check]:
    earlier = {(result.metric, *sorted(result.options.items())): result for result in other.results}
    for label, mine, real in zip(found.labels, column.results, found.real.results, strict=True):
        theirs = earlier.get((mine.metric, *sorted(mine.options.items())))
        if theirs is None or mine.interval is None or theirs.interval is None:
            continue
        if mine.n != theirs.n:
            raise InputError(
                f"the baseline's {label} is of {theirs.n:,} texts, here of {mine.n:,}; wanted the same ",
                Setting("size"),
            )
        errors = [_error(mine), _error(theirs)]
        estimate = _loss(mine, real) - _loss(theirs, real)
        if not math.isfinite(estimate):
            continue
        sides = (
            Difference(estimate, estimate - half, estimate + half, math.nan)
            for half in (float(ndtri(one)) * math.hypot(*errors) for one in (level, 1 - (1 - level) / tests))
        )
        yield _check(column.name, label, mine, theirs.estimate, margins, *sides, n=mine.n, level=level)


def _error(result: Result) -> float:
    """The standard error that the longer side of an interval stands for."""
    interval = result.interval
    assert interval is not None
    side = max(interval.high - result.estimate, result.estimate - interval.low)
    return side / float(ndtri(0.5 + interval.level / 2))


def _loss(result: Result, real: Result) -> float:
    if result.better == "closer":
        return abs(result.estimate - real.estimate)
    return -result.estimate if result.better == "higher" else result.estimate
