"""The checks of a gate: the decision on each rule and candidate, with the numbers behind it."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from textassay.corpus.printable import share
from textassay.studies.finding import Finding, Verdict
from textassay.studies.gate.margin import Bounds
from textassay.studies.gate.result import FAIL, PASS, UNDECIDED, Check
from textassay.studies.gate.rules import GateRules

if TYPE_CHECKING:
    from textassay.studies.compare.result import Column

_DECISIONS = {"within margin": PASS, "beyond margin": FAIL, "margin undecided": UNDECIDED, "no margin": UNDECIDED}


def check_margin(name: str, bounds: Bounds | None, margin: float, *, differs: bool, n: Sequence[int]) -> Check:
    """The check of the separable share: a candidate fails only where the overall test finds a difference as well."""
    rule = f"max-separable {share(margin)}"
    if bounds is None:
        return Check(name, rule, UNDECIDED, Finding("no margin", baseline=margin, n=tuple(n)))
    low = bounds.low if differs else 0.0
    kind = "beyond margin" if low > margin else "within margin" if bounds.high <= margin else "margin undecided"
    found = bounds.contamination
    parts = {"found": found.found, "error": found.error, "runs": float(found.n_runs)}
    if bounds.needed is not None:
        parts["needed"] = float(bounds.needed)
    if kind == "margin undecided" and bounds.spread > margin:
        parts["spread"] = bounds.spread
    finding = Finding(
        kind,
        value=max(bounds.estimate, low),
        ends=(low, bounds.high),
        baseline=margin,
        n=tuple(n),
        condition="" if found.is_found else "contaminant not found",
        parts=parts,
        text=found.contaminant,
    )
    return Check(name, rule, _DECISIONS[kind], finding)


def check_failures(column: "Column", rules: GateRules) -> Iterator[Check]:
    """The checks of `--fail-on`: what the verdict and the format check found."""
    for failure in rules.fail_on:
        found = _found(column, failure)
        verdict = column.verdict or Verdict("untested")
        # Collapse, copies and formats are counted; only a difference needs enough texts for a test.
        unknown = verdict.decision == "untested" and failure in ("differs", "copied")
        decision = FAIL if found else UNDECIDED if unknown else PASS
        kind = {FAIL: "rule broken", PASS: "rule kept", UNDECIDED: "rule undecided"}[decision]
        reason = found or (verdict.reasons[0] if unknown and verdict.reasons else "")
        yield Check(column.name, f"fail-on {failure}", decision, Finding(kind, names=(failure,), text=reason))


def _found(column: "Column", failure: str) -> str:
    """What makes a candidate fail, in words; empty if nothing does."""
    verdict = column.verdict
    if failure == "format":
        return "; ".join(finding.message for finding in column.findings if not finding.harmless)
    if verdict is None:
        return ""
    kinds = {"differs": "differs", "collapsed": "collapsed", "copied": "copies of the reference"}
    finding = verdict.find(kinds[failure])
    return "" if finding is None else Verdict(verdict.decision, (finding,)).sentence
