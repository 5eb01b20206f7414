"""The verdict of a plan: the number of texts, what was measured, and whether the margin makes sense."""

from textassay.studies.finding import Finding, Verdict
from textassay.studies.gate.margin import texts_at_least
from textassay.studies.plan.trials import Trials


def judge(last: Trials, needed: int | None, *, power: float, available: int, unit: str, has_pilot: bool) -> Verdict:
    """What the trials show; `available` is how many texts or groups a sample of a trial can have."""
    passed, failed = last.decided()
    margin = last.found.share
    parts = {"power": power, "passed": passed, "failed": failed, "trials": float(len(last.values))}
    measured = Finding(
        "measured gates", value=max(passed, failed), baseline=margin, n=(last.n,), parts=parts, text=unit
    )
    cautions = []
    if needed is not None and needed > available:
        cautions.append(Finding("extrapolated size", n=(available, needed), text=unit))
    # By chance alone, the classifier separates this much of two samples of one source.
    noise = float((last.values + last.up).mean()) if not has_pilot else float(last.up.mean())
    if noise > margin and failed < power:
        cautions.append(
            Finding(
                "margin below spread", value=noise, baseline=margin, n=(last.n,), parts={"passed": passed}, text=unit
            )
        )
    if needed is None:
        kind = "no size decides" if last.found.is_found else "contaminant not found"
        fewest = {} if last.found.is_found else {"at least": float(_at_least(last))}
        found = Finding(kind, value=last.found.found, baseline=margin, n=(last.n,), parts=fewest, text=unit)
        return Verdict.of("undecided", found, measured, cautions=cautions)
    kind = "size to decide" if has_pilot else "size to pass"
    found = Finding(kind, value=float(needed), baseline=margin, parts={"power": power}, text=unit)
    return Verdict.of("planned", found, measured, cautions=cautions)


def _at_least(last: Trials) -> int:
    """How many texts or groups it takes at least to pass, whatever is found of the contaminant."""
    widths = float(last.down.mean()), float(last.up.mean())
    return texts_at_least(widths, last.found, level=last.level, n=last.n)
