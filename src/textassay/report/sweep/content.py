"""What all forms of a sweep's report share: rows of best settings, cells of all settings, and legends."""

import math
from dataclasses import dataclass

from textassay.corpus.printable import many, shortened
from textassay.inference.result import Result
from textassay.report.page import COMMON_SETTINGS, setting_rows, setting_text
from textassay.report.table import ARROWS, Figure, better_legend, figure, interval_legend, level_text
from textassay.studies.sweep.best import Best
from textassay.studies.sweep.result import SettingColumn, Sweep
from textassay.studies.sweep.verdict import settings_text
from textassay.studies.wording import p_text

# Behind the values that belong to settings that cannot be distinguished from the best one.
AMONG = "•"
REAL = "real v real"


@dataclass(frozen=True)
class BestRow:
    """The best setting of a metric as text; `among` are the settings that cannot be distinguished from it."""

    label: str
    arrow: str
    aspect: str
    setting: str
    value: Figure
    real: Figure
    among: str

    @property
    def cells(self) -> tuple[str, str, str, str]:
        """The cells in the order of `HEAD`."""
        return self.setting, str(self.value), str(self.real), self.among


HEAD = ("best", "value", REAL, "not distinguishable from the best")


def best_rows(found: Sweep) -> list[BestRow]:
    """One row per metric."""
    return [_best_row(found, best, place) for place, best in enumerate(found.best)]


def _best_row(found: Sweep, best: Best, place: int) -> BestRow:
    real = found.real.results[place]
    of_best = found[best.setting].results[place] if best.setting else found.swept[0].results[place]
    return BestRow(
        shortened(best.label, 60),
        ARROWS[real.better],
        real.aspect,
        best.setting or "–",
        figure(of_best, level=found.level) if best.setting else Figure("–"),
        figure(real, level=found.level),
        among_text(found, best),
    )


def among_text(found: Sweep, best: Best) -> str:
    """The other settings that cannot be distinguished from the best one, and those that were not compared, in words."""
    names = list(found.names)
    if not best.setting:
        return "–"
    if best.unknown and len(best.among) == 1:
        return "not compared: no interval"
    others = [name for name in best.among if name != best.setting]
    shown = settings_text(others, names) if others else "none"
    return f"{shown}; without interval: {settings_text(best.unknown, names)}" if best.unknown else shown


@dataclass(frozen=True)
class ValueRow:
    """A setting with one cell per metric, and the adjusted p-value of the overall test."""

    name: str
    figures: tuple[Figure, ...]
    among: tuple[bool, ...]
    p: str = ""
    is_real: bool = False


def value_rows(found: Sweep) -> list[ValueRow]:
    """One row per setting, and one for real text."""
    rows = [_value_row(found, column) for column in found.swept]
    real = tuple(figure(result, level=found.level) for result in found.real.results)
    return [*rows, ValueRow(REAL, real, (False,) * len(real), is_real=True)]


def _value_row(found: Sweep, column: SettingColumn) -> ValueRow:
    figures = tuple(figure(result, level=found.level) for result in column.results)
    among = tuple(len(best.among) > 0 and column.name in best.among for best in found.best)
    return ValueRow(column.name, figures, among, overall_text(found, column))


def overall_text(found: Sweep, column: SettingColumn) -> str:
    """The adjusted p-value of the overall test; empty without one."""
    adjusted = math.nan if column.overall is None or column.overall.adjusted is None else column.overall.adjusted
    resamples = found.settings.get("resamples", 0)
    floor = 1 / (resamples + 1) if isinstance(resamples, int) and resamples else 0.0
    return "" if math.isnan(adjusted) else p_text(adjusted, floor=floor)


def is_tested(found: Sweep) -> bool:
    """Whether there is an overall test of any setting."""
    return any(overall_text(found, column) for column in found.swept)


def heading(found: Sweep) -> str:
    """Models, reference and sizes in one line."""
    models = f"{shortened(found.models[0], 60)}" if len(found.models) == 1 else many(len(found.models), "model")
    settings, n = many(len(found.swept), "setting"), found.swept[0].n
    return f"{models} against {shortened(found.reference.name, 60)} ({settings}, {n:,} texts each)"


def legend(found: Sweep) -> list[str]:
    """How to read the tables."""
    results: list[Result] = [result for column in found.swept for result in column.results]
    lines = interval_legend(results, found.level, of="the expected value at this sample size")
    if any(len(best.among) > 1 for best in found.best):
        lines.append(
            f"{AMONG} not distinguishable from the best setting: with at least {level_text(found.level)} probability"
            " the truly best one is among these (each metric by itself)"
        )
    if is_tested(found):
        lines.append(
            "overall p: the overall test of a difference from the reference, adjusted for"
            f" {many(len(found.swept), 'setting')}"
        )
    return [*lines, *better_legend(results, target="the value of real text")]


def settings(found: Sweep) -> list[tuple[str, str]]:
    """Terms and values of what was measured with."""
    names = {"model": "Model", "oracle": "Oracle", "prompts": "Prompts", "tokenizer": "Tokenizer", "encoder": "Encoder"}
    rows = [(term, setting_text(found, name)) for name, term in names.items()]
    sizes = [
        ("Reference", f"{shortened(found.reference.name, 60)}, {found.reference.n:,} texts"),
        ("Texts per setting", f"{found.swept[0].n:,}"),
    ]
    return [*sizes, *((term, value) for term, value in rows if value), *setting_rows(found, COMMON_SETTINGS)]
