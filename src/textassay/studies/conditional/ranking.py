"""How close systems are to the references: values that are comparable with people's, and the metric that ranks."""

import math

from textassay.inference.result import Result
from textassay.studies.conditional.result import Conditional, SystemColumn, own_sizes, part_sizes


def beside_people(found: Conditional, system: SystemColumn, index: int) -> Result:
    """The result of a system that is comparable with the human one: of the same size if there is one."""
    return system.at_baseline_size.get(found.labels[index], system.results[index])


def not_comparable(found: Conditional, index: int) -> str:
    """Why the human value has no place on the axis of the systems: the sizes, or empty if they are the same."""
    human, label = found.human.results[index], found.labels[index]
    if human.undefined is not None:
        return ""
    here = part_sizes(human, found.human_sizes)
    whole = [system.results[index] for system in found.systems if label not in system.at_baseline_size]
    sizes = dict.fromkeys(own_sizes(result) for result in whole if result.undefined is None)
    others = [size for size in sizes if size not in ("", here)]
    return f"not comparable: {here} against {' and '.join(others)}" if others else ""


def ranking_index(found: Conditional) -> int | None:
    """The metric that ranks the systems: the first that compares distributions and that most of them have.

    Without one it is the first score; None without any number.
    """

    def known(index: int) -> int:
        return sum(math.isfinite(beside_people(found, system, index).estimate) for system in found.systems)

    both = [index for index, human in enumerate(found.human.results) if human.aspect == "both"]
    others = [index for index in range(len(found.labels)) if index not in both]
    for indexes in (both, others):
        best = max(indexes, key=known, default=None)
        if best is not None and known(best):
            return best
    return None


def loss_of(found: Conditional, system: SystemColumn, index: int | None) -> float:
    """How far a system is from the references by this metric: less is better; infinite without a number."""
    value = math.nan if index is None else beside_people(found, system, index).estimate
    if index is None or math.isnan(value):
        return math.inf
    better, human = found.human.results[index].better, found.human.results[index].estimate
    return -value if better == "higher" else value if better == "lower" else abs(value - human)
