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
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from scipy.special import ndtri

from textassay.corpus.printable import quoted, shortened
from textassay.corpus.sizes import UNEVEN
from textassay.corpus.values import read_json
from textassay.errors import InputError, Setting
from textassay.inference.intervals import Replicates
from textassay.inference.measure import Difference, linear_combination
from textassay.inference.result import Result
from textassay.metrics.interval_methods import INTERVAL_METHODS
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

# A sign is clear if its error rate is at most this part of that of the bound that it is used for.
_CLEAR = 0.1

# A metric of one sample: its result, and its jackknife if it has one.
Measurement = tuple[Result, Replicates | None]
# The weights of the candidate's value, the baseline's and real text's in a sum.
Weights = tuple[float, float, float]
# Bounds of such a sum, each at this level.
Combine = Callable[[Weights, float], Difference]


@dataclass(frozen=True, eq=False)
class Values:
    """A metric of a candidate, of the baseline and of real text, on as many texts."""

    label: str
    candidate: Measurement
    baseline: Measurement
    real: Measurement


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
    """The checks of one candidate beside the baseline's texts, one per metric."""
    for each in values:
        reason = _missing(each)
        sides = None if reason else _bounds(each.candidate[0], of_texts(each), level, len(values) * n_candidates)
        if sides is None:
            yield _unknown(name, each.label, reason or _NO_SPREAD)
        else:
            (result, _), (baseline, _) = each.candidate, each.baseline
            yield _check(name, each.label, (result, baseline, each.real[0]), margins, *sides, level=level)


_NO_SPREAD = "its value is not defined without some of the texts, or does not change, so the difference has no bounds"


def _missing(values: Values) -> str:
    """Why the difference of this metric has no bounds; empty if it has some."""
    sides = [("the candidate", values.candidate), ("the baseline", values.baseline)]
    if values.candidate[0].better == "closer":
        sides.append(("real text", values.real))
    for who, (result, replicates) in sides:
        if result.undefined is not None:
            return f"it has no value for {who} ({result.undefined})"
        if replicates is None:
            return f"it has no jackknife for {who}, so the difference has no bounds"
    return _other_size(result.n for _, (result, _) in sides)


def _other_size(numbers: Iterable[int]) -> str:
    """Why values of so many texts do not compare; empty if they do. Whole groups are cut to about one size."""
    sizes = {*numbers}
    if max(sizes) <= UNEVEN * min(sizes):
        return ""
    return f"values of {' and '.join(f'{n:,}' for n in sorted(sizes))} texts do not compare"


def _unknown(name: str, label: str, reason: str) -> Check:
    return Check(name, f"no-worse-than {label}", UNDECIDED, Finding("worse not known", label, text=reason))


def by_jackknife(values: Values) -> Combine:
    """Sums of values of texts, with bounds by their jackknife."""

    def combine(weights: Weights, level: float) -> Difference:
        terms = [
            (weight, result.estimate, replicates)
            for weight, (result, replicates) in zip(
                weights, (values.candidate, values.baseline, values.real), strict=True
            )
            if weight and replicates is not None
        ]
        return linear_combination(terms, level=2 * level - 1)

    return combine


def _spans_wilson(method: str) -> bool:
    """Whether intervals by this method are wider than those of a jackknife that has next to nothing to count."""
    return method in INTERVAL_METHODS and INTERVAL_METHODS[method].spans_wilson


def of_texts(values: Values) -> Combine:
    """Sums of values of texts with bounds by their jackknife; by their intervals as well where these span more.

    Few repeated texts, or none, tell a jackknife nothing: where every value stays 0, its bounds would claim certainty.
    """
    results = values.candidate[0], values.baseline[0], values.real[0]
    combine = by_jackknife(values)
    intervals = [result.interval for result in results[:2]]
    if not all(interval is not None and _spans_wilson(interval.method) for interval in intervals):
        return combine
    beside = by_intervals(*results)

    def widest(weights: Weights, level: float) -> Difference:
        one, other = combine(weights, level), beside(weights, level)
        return replace(one, low=min(one.low, other.low), high=max(one.high, other.high))

    return widest


def _bounds(result: Result, combine: Combine, level: float, n_tests: int) -> tuple[Difference, Difference] | None:
    """How much worse the candidate is, with bounds at the level and at the corrected one; None without bounds."""
    found = [loss_difference(result.better, combine, one) for one in (level, 1 - (1 - level) / n_tests)]
    is_known = all(math.isfinite(end) for each in found for end in (each.estimate, each.low, each.high))
    # If nothing varied, there are no bounds: those of width 0 would claim certainty.
    return (found[0], found[1]) if is_known and found[0].low < found[0].high else None


def loss_difference(better: str, combine: Combine, level: float) -> Difference:
    """The loss of the candidate minus that of the baseline, with bounds each at this level.

    If closer is better, it is |c - r| - |b - r|. A sign s of c - r is clear or not, and so is a sign t of b - r. As
    |b - r| is at least t(b - r) for either t, s(c - r) - t(b - r) is an upper bound for the right s and any t; as
    |c - r| is at least s(c - r), it is a lower bound for the right t and any s. Where both signs may be equal, r
    cancels.
    """
    if better != "closer":
        sign = -1.0 if better == "higher" else 1.0
        return combine((sign, -sign, 0.0), level)
    mine, theirs = (_signs(combine(weights, 1 - _CLEAR * (1 - level))) for weights in ((1, 0, -1), (0, 1, -1)))

    def loss(one: float, other: float) -> Difference:
        return combine((one, -other, other - one), level)

    above = [loss(sign, sign if sign in theirs else theirs[0]) for sign in mine]
    below = [loss(sign if sign in mine else mine[0], sign) for sign in theirs]
    estimate = loss(mine[0], theirs[0]).estimate
    return replace(
        above[0], estimate=estimate, low=min(each.low for each in below), high=max(each.high for each in above)
    )


def _signs(distance: Difference) -> tuple[float, ...]:
    """The estimated sign of a value, and the other one if that is possible as well."""
    sign = math.copysign(1.0, distance.estimate)
    return (sign,) if distance.low > 0 or distance.high < 0 else (sign, -sign)


def _check(
    name: str,
    label: str,
    results: tuple[Result, Result, Result],
    margins: Mapping[str, float],
    found: Difference,
    corrected: Difference,
    *,
    level: float,
) -> Check:
    """The check of a metric; the results are those of the candidate, the baseline and real text."""
    result, baseline, real = results
    given = margins.get(label, margins.get(result.metric))
    margin = default_margin(result, baseline.estimate) if given is None else given
    decision = FAIL if corrected.low > margin else PASS if found.high <= margin else UNDECIDED
    parts = {"baseline": baseline.estimate, "candidate": result.estimate}
    if result.better == "closer":
        parts["real"] = real.estimate
    # A tenth of a value that falls with the number of texts falls as well: no number follows from it.
    is_relative = given is None and not _is_share(result)
    needed = None if is_relative else _texts_needed(found, margin, level, result.n)
    if decision == UNDECIDED and needed is not None:
        parts["needed"] = float(needed)
    kind = {FAIL: "worse than baseline", PASS: "no worse", UNDECIDED: "worse undecided"}[decision]
    ends = (min(corrected.low, found.low) if decision != FAIL else corrected.low, found.high)
    condition = "relative margin" if is_relative and decision == UNDECIDED else ""
    finding = Finding(
        kind,
        label,
        value=found.estimate,
        ends=ends,
        baseline=margin,
        n=(result.n,),
        parts=parts,
        condition=condition,
    )
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
    if not isinstance(source, str | os.PathLike) or not os.fspath(source).endswith(".json"):
        return False
    plain = read_json(os.fspath(source))
    return isinstance(plain, Mapping) and "textassay" in plain and "candidates" in plain


def check_results(found: "Comparison", source: Any, margins: Mapping[str, float], *, level: float) -> Iterator[Check]:
    """The checks of all candidates beside saved results."""
    from textassay.studies.compare.result import Comparison
    from textassay.studies.saved import read_results

    saved = read_results(source)
    where = shortened(os.fspath(source), 60)
    assert isinstance(saved, Comparison)
    _check_same(found, saved, where)
    tests = len(found.candidates) * len(found.labels)
    for column in found.candidates:
        other = _column_of(saved, column.name, where)
        checks = list(_beside(column, other, found, margins, level, tests))
        if all(check.finding.kind == "worse not known" for check in checks):
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
    for label, result, real in zip(found.labels, column.results, found.real.results, strict=True):
        mine, theirs = result, earlier.get((result.metric, *sorted(result.options.items())))
        if mine.better == "closer" and theirs is not None and real.undefined is None and real.n != mine.n:
            # Only values of as many texts compare with that of real text.
            mine = column.at_baseline_size.get(label, mine)
            theirs = other.at_baseline_size.get(label, theirs)
        reason = _missing_in_results(mine, theirs, real)
        if reason or theirs is None:
            yield _unknown(column.name, label, reason)
            continue
        if mine.n != theirs.n:
            raise InputError(
                f"the baseline's {label} is of {theirs.n:,} texts, here of {mine.n:,}; wanted the same ",
                Setting("size"),
            )
        sides = _bounds(mine, by_intervals(mine, theirs, real), level, tests)
        if sides is None:
            yield _unknown(column.name, label, _NO_SPREAD)
            continue
        yield _check(column.name, label, (mine, theirs, real), margins, *sides, level=level)


def _missing_in_results(mine: Result, theirs: Result | None, real: Result) -> str:
    """Why a difference from a saved result has no bounds; empty if it has some."""
    if theirs is None:
        return "it is not among the baseline's results"
    sides = [("the candidate", mine), ("the baseline", theirs)]
    if mine.better == "closer":
        sides.append(("real text", real))
    for who, result in sides:
        if result.interval is None or not math.isfinite(result.estimate):
            return f"it has no interval for {who}{f' ({result.undefined})' if result.undefined else ''}"
    return _other_size((mine.n, real.n)) if mine.better == "closer" else ""


def by_intervals(mine: Result, theirs: Result, real: Result) -> Combine:
    """Sums of values of which only the intervals are known, as those of independent samples."""
    results = mine, theirs, real

    def combine(weights: Weights, level: float) -> Difference:
        used = [(weight, result) for weight, result in zip(weights, results, strict=True) if weight]
        estimate = sum(weight * result.estimate for weight, result in used)
        half = float(ndtri(level)) * math.hypot(*(weight * _error(result) for weight, result in used))
        return Difference(estimate, estimate - half, estimate + half, math.nan)

    return combine


def _error(result: Result) -> float:
    """The standard error that the longer side of an interval stands for."""
    interval = result.interval
    assert interval is not None
    side = max(interval.high - result.estimate, result.estimate - interval.low)
    return side / float(ndtri(0.5 + interval.level / 2))
