"""The verdict of a sweep: the best settings, whether any of them is like the reference, and their ranking."""

import math
from collections.abc import Iterable, Sequence

from textassay.corpus.printable import listed as cut_list
from textassay.document.words import listed
from textassay.studies.finding import NO_TEST, Finding, Verdict
from textassay.studies.sweep.best import Best, loss
from textassay.studies.sweep.result import SettingColumn, Sweep

_MOST_NAMES = 6


def judge(
    swept: Sequence[SettingColumn],
    best: Sequence[Best],
    *,
    level: float,
    floor: float,
    tested: tuple[str, Finding] | None = None,
) -> Verdict:
    """The verdict on all settings; `floor` is the smallest p-value that the overall test can give.

    `tested` is the decision and the finding of other tests in place of the overall one.
    """
    by_aspect = {
        aspect: [each for each, result in zip(best, swept[0].results, strict=True) if result.aspect == aspect]
        for aspect in ("both", "quality", "diversity")
    }
    names = [column.name for column in swept]
    found = [
        *_closest(by_aspect["both"], names),
        *_by_setting("best quality", by_aspect["quality"]),
        *_by_setting("best diversity", by_aspect["diversity"]),
    ]
    decision, finding = _overall(swept, level, floor) if tested is None else tested
    return Verdict.of(decision, *found, finding, cautions=_at_end(by_aspect["both"], swept))


def decision_of(found: Sweep, column: SettingColumn) -> str:
    """What the overall test of a setting found, or over items the combined tests: same, differs or untested."""
    if column.overall is not None and column.overall.p_value is not None:
        return "differs" if column.differs(found.level) else "same"
    combined = found.verdict.find(*COMBINED)
    return "untested" if combined is None else "same" if column.name in combined.names else "differs"


# The findings of combined tests; their names are the settings without a difference.
COMBINED = ("alike over items", "every setting differs over items")


def decisive(swept: Sequence[SettingColumn], best: Sequence[Best]) -> list[Best]:
    """The metrics that decide which setting is closest: those of both aspects at once, or all if there is none."""
    both = zip(best, swept[0].results, strict=True)
    decided = [(each, result.aspect) for each, result in both if each.setting]
    return [each for each, aspect in decided if aspect == "both"] or [each for each, _ in decided]


def mean_places(swept: Sequence[SettingColumn], best: Sequence[Best]) -> dict[str, float]:
    """The mean place of each setting among all settings by the metrics that decide; settings without a value have none.

    Equal values share a place; without a value by one metric a setting has the last place there.
    """
    labels = {each.label for each in decisive(swept, best)}
    places: dict[str, list[int]] = {column.name: [] for column in swept}
    known = set()
    for at, each in enumerate(best):
        if each.label not in labels:
            continue
        losses = {column.name: _loss(column, each, at) for column in swept}
        for name, value in losses.items():
            is_known = math.isfinite(value)
            places[name].append(1 + sum(other < value for other in losses.values()) if is_known else len(losses))
            known |= {name} if is_known else set()
    return {name: sum(each) / len(each) for name, each in places.items() if name in known}


def _loss(column: SettingColumn, best: Best, at: int) -> float:
    result = column.results[at]
    # Values that should be close to that of real text have its size.
    value = column.beside_real(best.label, result) if result.better == "closer" else result
    return loss(value.estimate, result.better, best.target)


def _closest(best: Sequence[Best], names: Sequence[str]) -> Iterable[Finding]:
    """The settings that are closest to the reference in quality and diversity together."""
    yield from _by_setting("closest settings", best)
    decided = [each for each in best if each.setting]
    compared = [each for each in decided if len(each.among) > 1 or not each.unknown]
    if len(names) < 2 or not compared:
        return
    common = [name for name in names if all(name in each.among for each in compared)]
    if common:
        parts = {"metrics": len(compared)}
        yield Finding("among the best", names=tuple(common), parts=parts, text=settings_text(common, names))
    else:
        yield Finding("different best settings")


def _by_setting(kind: str, best: Sequence[Best]) -> Iterable[Finding]:
    """The best settings, each with the metrics by which it is the best."""
    groups: dict[str, list[str]] = {}
    for each in best:
        if each.setting:
            groups.setdefault(each.setting, []).append(each.label)
    settings = (Finding("best setting", text=name, names=tuple(labels)) for name, labels in groups.items())
    if groups:
        yield Finding(kind, names=tuple(groups), among=tuple(settings))


def _overall(swept: Sequence[SettingColumn], level: float, floor: float) -> tuple[str, Finding]:
    """The decision, and what the overall test found."""
    tested = [column for column in swept if column.overall is not None and column.overall.p_value is not None]
    if not tested:
        return "untested", NO_TEST
    alike = [column.name for column in tested if not column.differs(level)]
    if alike:
        shown = settings_text(alike, [column.name for column in swept])
        return "same", Finding("alike settings", names=tuple(alike), text=shown)
    largest = max(column.overall.adjusted or 0.0 for column in tested if column.overall is not None)
    parts = {"tests": len(tested)}
    return "differs", Finding("every setting differs", adjusted_p=largest, floor=floor, parts=parts)


def _at_end(best: Sequence[Best], swept: Sequence[SettingColumn]) -> Iterable[Finding]:
    """A best setting at the end of a grid of one parameter may not be the best one that there is."""
    ends = {swept[0].name, swept[-1].name}
    labels = tuple(each.label for each in best if each.setting in ends)
    if labels and len(swept) > 2 and len(varied(swept)) == 1 and varied(swept)[0] != "model":
        yield Finding("best at an end", names=labels)


def varied(swept: Sequence[SettingColumn]) -> list[str]:
    """The parameters that differ between settings, `model` last."""
    values = {
        name: {getattr(column.decoding, name) for column in swept} for name in ("temperature", "top_p", "top_k")
    } | {"model": {column.model for column in swept}}
    return [name for name, known in values.items() if len(known) > 1]


def settings_text(chosen: Sequence[str], names: Sequence[str]) -> str:
    """The chosen settings in words; three or more neighbours in the order of `names` are a range.

    >>> settings_text(["t=0.8", "t=0.9", "t=1", "t=2"], ["t=0.7", "t=0.8", "t=0.9", "t=1", "t=1.5", "t=2"])
    't=0.8 to t=1 and t=2'
    """
    indices = sorted(names.index(name) for name in chosen)
    runs: list[list[int]] = []
    for index in indices:
        if runs and index == runs[-1][-1] + 1:
            runs[-1].append(index)
        else:
            runs.append([index])
    words: list[str] = []
    for run in runs:
        shown = [names[index] for index in run]
        words += [f"{shown[0]} to {shown[-1]}"] if len(run) > 2 else shown
    return listed(words) if len(words) <= _MOST_NAMES else cut_list(words, _MOST_NAMES)
