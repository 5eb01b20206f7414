"""The checks of a gate: the decision on each rule and candidate, with the numbers behind it."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from textassay.corpus.printable import share
from textassay.studies.compare.verdict import COLLAPSED
from textassay.studies.finding import Finding, Verdict
from textassay.studies.gate.margin import Bounds
from textassay.studies.gate.result import FAIL, PASS, UNDECIDED, Check
from textassay.studies.gate.rules import GateRules
from textassay.studies.planes import rise_of

if TYPE_CHECKING:
    from textassay.studies.compare.result import Column

# The kinds of findings on the margin of the separable share, with their decisions.
MARGIN_KINDS = {"within margin": PASS, "beyond margin": FAIL, "margin undecided": UNDECIDED, "no margin": UNDECIDED}


def check_margin(
    name: str, bounds: Bounds | None, margin: float, *, differs: bool, n: Sequence[int], unit: str = "text"
) -> Check:
    """The check of the separable share: a candidate fails only where the overall test finds a difference as well.

    `n` are the numbers of independent texts or groups of the candidate and of the reference.
    """
    rule = f"max-separable {share(margin)}"
    if bounds is None:
        return Check(name, rule, UNDECIDED, Finding("no margin", baseline=margin, n=tuple(n), names=(unit,)))
    low = bounds.low if differs else 0.0
    kind = "beyond margin" if low > margin else "within margin" if bounds.high <= margin else "margin undecided"
    found = bounds.contamination
    parts = {"found": found.found, "error": found.error, "runs": float(found.n_runs)}
    if bounds.needed is not None:
        parts["needed"] = float(bounds.needed)
    if bounds.fewest is not None:
        parts["at least"] = float(bounds.fewest)
    if kind == "margin undecided" and bounds.spread > margin:
        parts["spread"] = bounds.spread
    finding = Finding(
        kind,
        value=max(bounds.estimate, low),
        ends=(low, bounds.high),
        baseline=margin,
        n=tuple(n),
        names=(unit,),
        condition="" if found.is_found else "contaminant not found",
        parts=parts,
        text=found.contaminant,
    )
    return Check(name, rule, MARGIN_KINDS[kind], finding)


def check_failures(column: "Column", rules: GateRules, real: "Column", *, explained: bool = True) -> Iterator[Check]:
    """The checks of `--fail-on`: what the verdict and the format check found.

    Nothing passes that was not looked for: repeats need their metric and the baseline of `real` text, formats a
    comparison that is `explained`.
    """
    for failure in rules.fail_on:
        found = _found(column, failure)
        unknown = "" if found else _unknown(column, failure, real, explained=explained)
        decision = FAIL if found else UNDECIDED if unknown else PASS
        kind = {FAIL: "rule broken", PASS: "rule kept", UNDECIDED: "rule undecided"}[decision]
        yield Check(column.name, f"fail-on {failure}", decision, Finding(kind, names=(failure,), text=found or unknown))


def _unknown(column: "Column", failure: str, real: "Column", *, explained: bool) -> str:
    """Why it is not known whether there is such a failure; empty if it is known."""
    verdict = column.verdict or Verdict("untested")
    is_untested = verdict.decision == "untested"
    if failure == "format":
        return "" if explained else "formats are not compared without the baseline of real text (explain)"
    if failure == "collapsed":
        return _unknown_repeats(column, real, is_untested=is_untested)
    return (verdict.reasons or ("no test was run",))[0] if is_untested else ""


def _unknown_repeats(column: "Column", real: "Column", *, is_untested: bool) -> str:
    """Why it is not known whether texts repeat. They are counted; only many repeats need a test beside real text."""
    rows = [pair for pair in zip(column.results, real.results, strict=True) if rise_of(pair[0]) == "more repeats"]
    if not rows:
        return "wanted repetition among the metrics"
    known = [pair for pair in rows if pair[0].undefined is None and pair[1].undefined is None]
    if not known:
        return "; ".join(str(result.undefined) for result in rows[0] if result.undefined is not None)
    result, baseline = known[0]
    has_ends = result.interval is not None and baseline.interval is not None
    if result.estimate >= COLLAPSED and result.estimate > baseline.estimate and (is_untested or not has_ends):
        return f"{share(result.estimate)} of its texts repeat another one, but there are too few texts for a test"
    return ""


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
