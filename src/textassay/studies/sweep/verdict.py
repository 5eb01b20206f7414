"""The verdict of a sweep in words: the best settings, and whether any of them is like the reference."""

import math
from collections.abc import Iterable, Sequence

from textassay.corpus.printable import listed as cut_list
from textassay.document.words import cited_p, listed
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
    tested: tuple[str, Finding | str] | None = None,
) -> Verdict:
    """The verdict on all settings; `floor` is the smallest p-value that the overall test can give.

    `tested` is the level and the sentence of other tests in place of the overall one.
    """
    by_aspect = {
        aspect: [each for each, result in zip(best, swept[0].results, strict=True) if result.aspect == aspect]
        for aspect in ("both", "quality", "diversity")
    }
    names = [column.name for column in swept]
    found = [
        *_closest(by_aspect["both"], names),
        *_single("quality alone is best at", by_aspect["quality"]),
        *_single("diversity is best at", by_aspect["diversity"]),
    ]
    decision, sentence = _overall(swept, level, floor) if tested is None else tested
    return Verdict.of(decision, *found, sentence, cautions=_at_end(by_aspect["both"], swept))


def decision_of(found: Sweep, column: SettingColumn) -> str:
    """What the overall test of a setting found: same, differs or untested."""
    if column.overall is None or column.overall.p_value is None:
        return "untested"
    return "differs" if column.differs(found.level) else "same"


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


def _closest(best: Sequence[Best], names: Sequence[str]) -> Iterable[str]:
    """The settings that are closest to the reference in quality and diversity together."""
    decided = [each for each in best if each.setting]
    if not decided:
        return
    yield f"closest to the reference: {_by_setting(decided)}"
    compared = [each for each in decided if len(each.among) > 1 or not each.unknown]
    if len(names) < 2 or not compared:
        return
    common = [name for name in names if all(name in each.among for each in compared)]
    which = "any of these metrics" if len(compared) > 1 else "this metric"
    if common:
        yield f"not distinguishable from the best by {which}: {settings_text(common, names)}"
    else:
        yield "no setting is among the best by all of these metrics: they prefer different settings"


def _by_setting(best: Sequence[Best]) -> str:
    groups: dict[str, list[str]] = {}
    for each in best:
        groups.setdefault(each.setting, []).append(each.label)
    return "; ".join(f"{setting} by {listed(labels)}" for setting, labels in groups.items())


def _single(words: str, best: Sequence[Best]) -> Iterable[str]:
    decided = [each for each in best if each.setting]
    if decided:
        yield f"{words} {_by_setting(decided)}"


def _overall(swept: Sequence[SettingColumn], level: float, floor: float) -> tuple[str, Finding | str]:
    """What the overall test found, and the level of the verdict."""
    tested = [column for column in swept if column.overall is not None and column.overall.p_value is not None]
    if not tested:
        return "untested", NO_TEST
    alike = [column.name for column in tested if not column.differs(level)]
    if alike:
        shown = settings_text(alike, [column.name for column in swept])
        return "same", f"the overall test found no difference from the reference at {shown}"
    largest = max(column.overall.adjusted or 0.0 for column in tested if column.overall is not None)
    cited = cited_p(largest, floor=floor, n_tests=len(tested))
    return "differs", f"the overall test distinguishes every setting from the reference (largest {cited})"


def _at_end(best: Sequence[Best], swept: Sequence[SettingColumn]) -> Iterable[str]:
    """A best setting at the end of a grid of one parameter may not be the best one that there is."""
    ends = {swept[0].name, swept[-1].name}
    names = [each.label for each in best if each.setting in ends]
    if names and len(swept) > 2 and len(varied(swept)) == 1 and varied(swept)[0] != "model":
        yield f"{listed(names)} {'is' if len(names) == 1 else 'are'} best at an end of the grid: try a wider one"


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
    places = sorted(names.index(name) for name in chosen)
    runs: list[list[int]] = []
    for place in places:
        if runs and place == runs[-1][-1] + 1:
            runs[-1].append(place)
        else:
            runs.append([place])
    words: list[str] = []
    for run in runs:
        shown = [names[place] for place in run]
        words += [f"{shown[0]} to {shown[-1]}"] if len(run) > 2 else shown
    return listed(words) if len(words) <= _MOST_NAMES else cut_list(words, _MOST_NAMES)
