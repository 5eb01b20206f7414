"""The gate of a comparison: bounds, checks and the decision, on the samples that the tests used."""

import os
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pyarrow.compute as pc

from textassay.corpus.markdown import stripped
from textassay.corpus.printable import quoted
from textassay.corpus.readers import as_sample, read_sample
from textassay.corpus.sample import Sample
from textassay.engines.base import Engine
from textassay.errors import InputError, Setting
from textassay.inference.plan import Plan
from textassay.inference.result import Result
from textassay.metrics.views import Material
from textassay.studies.gate.baseline import check_results, is_results
from textassay.studies.gate.margin import Bounds, bounds, units_of
from textassay.studies.gate.result import Check, Gate
from textassay.studies.gate.rules import GateRules
from textassay.studies.gate.verdict import check_failures, check_margin
from textassay.studies.planes import metric_of

if TYPE_CHECKING:
    from textassay.studies.compare.result import Column, Comparison

# A contaminant with more of its texts in the reference than this is no contaminant.
_MOST_SHARED = 0.5

Tested = Callable[[str], tuple[Material, Material]]


def gated(
    found: "Comparison",
    rules: GateRules,
    tested: Tested | None,
    *,
    plan: Plan,
    engine: Engine,
    contaminant: Sample | None = None,
    baseline: str | None = None,
    explained: bool = True,
) -> "Comparison":
    """The comparison with its gate, if there are rules for one.

    `tested` gives the candidate and the reference of a test; it is None where there are no texts.

    The `baseline` is not checked itself; checks beside its texts are in the gate that the comparison already has.
    Without `explained`, formats were not compared.
    """
    if not rules.exist:
        return found
    columns = [column for column in found.candidates if column.name != baseline]
    others = found.gate.checks if found.gate is not None else ()
    if rules.no_worse_than is not None and is_results(rules.no_worse_than):
        others = tuple(check_results(found, rules.no_worse_than, rules.margins, level=plan.level))
    elif rules.no_worse_than is not None and not any(map(_has_jackknife, columns[0].results)):
        raise InputError(
            Setting("no_worse_than"), "; no metric with a jackknife interval was measured, wanted one or more ",
            Setting("metrics"),
        )  # fmt: skip
    margin = rules.margin
    limits: Mapping[str, Bounds | None] = {}
    if margin is not None and tested is not None:

        def limit(column: "Column") -> Bounds | None:
            return bounds(
                *tested(column.name), margin=margin, contaminant=contaminant, plan=plan, n_candidates=len(columns)
            )

        limits = dict(zip([column.name for column in columns], engine.map(limit, columns), strict=True))
    checks: list[Check] = []
    for column in columns:
        if margin is not None and tested is not None:
            sides = tested(column.name)
            n = tuple(map(units_of, sides))
            unit = "text" if n == tuple(len(side.sample) for side in sides) else "group"
            differs = column.differs(plan.level)
            checks.append(check_margin(column.name, limits[column.name], margin, differs=differs, n=n, unit=unit))
        checks += check_failures(column, rules, found.real, explained=explained)
        checks += [check for check in others if check.candidate == column.name]
    _check_margins(rules, found)
    return replace(found, gate=Gate(tuple(checks), rules.undecided))


def _has_jackknife(result: Result) -> bool:
    metric = metric_of(result)
    return metric is not None and metric.jackknifed


def _check_margins(rules: GateRules, found: "Comparison") -> None:
    """A margin for a metric that was not measured is an error."""
    known = {*found.labels, *found.metrics_used}
    for label in rules.margins:
        if label not in known:
            raise InputError(
                f"a margin for {quoted([label])}; wanted metrics that are measured: {', '.join(found.labels)}"
            )


def read_contaminant(source: Any, reference: Sample, strip: str | None) -> Sample | None:
    """The contaminant's texts; an error if they are those of the reference."""
    if source is None:
        return None
    is_file = isinstance(source, str | os.PathLike)
    sample = stripped(read_sample(source) if is_file else as_sample(source, "contaminant"), strip)
    shared = pc.mean(pc.is_in(sample.texts, value_set=reference.texts).cast("int8")).as_py() or 0.0
    if shared > _MOST_SHARED:
        raise InputError(
            f"{sample.name}: {100 * shared:.0f} % of its texts are in the reference; wanted a ",
            Setting("contaminant"),
            " of texts that a candidate must not have",
        )
    return sample
