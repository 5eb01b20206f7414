"""The verdict of a history: the first change, which other metrics changed, and what could not be tested."""

from collections.abc import Mapping, Sequence

from textassay.corpus.printable import listed
from textassay.studies.finding import Finding, Verdict
from textassay.studies.history.change_points import smallest_p
from textassay.studies.history.result import CHANGED, UNTESTED, Change


def judge(
    changes: Sequence[Change], runs: Sequence[str], level: float, *, missing: Mapping[str, Sequence[str]]
) -> Verdict:
    """What the series show together; `runs` are the names of the runs in order.

    `missing` are the runs that lack a metric, by its label: a metric that one run lacks is not followed.
    """
    order = {name: index for index, name in enumerate(runs)}
    changed = sorted(
        (change for change in changes if change.decision == CHANGED),
        key=lambda one: (order[one.at], order[one.end], one.adjusted_p),
    )
    untested = [change for change in changes if change.decision == UNTESTED]
    tested = [change for change in changes if change.decision != UNTESTED]
    reasons = dict.fromkeys(change.reason for change in untested)
    cautions = [
        Finding("untested series", names=tuple(one.label for one in untested if one.reason == reason), text=reason)
        for reason in reasons
    ]
    if missing:
        lacking = list(dict.fromkeys(name for names in missing.values() for name in names))
        cautions.append(Finding("not in all runs", names=tuple(missing), text=listed(lacking)))
    if not changed:
        least = min((change.adjusted_p for change in tested), default=1.0)
        n = (len(runs), len(tested))
        return Verdict.of(
            "same" if tested else "untested", Finding("no change", adjusted_p=least, n=n), cautions=cautions
        )
    first, *others = (finding_of(change, level) for change in changed)
    return Verdict.of("differs", first, details=others, cautions=cautions)


def finding_of(change: Change, level: float) -> Finding:
    """A change of a metric: its values on both sides, the run it is at, and the runs that it is between."""
    return Finding(
        "changed",
        change.label,
        value=change.after,
        baseline=change.before,
        adjusted_p=change.adjusted_p,
        floor=smallest_p(level),
        names=(change.previous, change.at, change.start, change.end),
        parts={"level": level},
        text=change.way,
    )
