"""Strips of a conditional study: a small chart a metric, each system's interval beside people's band and chance."""

import math
from collections.abc import Iterator, Sequence

from textassay.corpus.printable import shortened
from textassay.inference.result import Result
from textassay.report.axis import Axis
from textassay.report.items_grid import BETTER
from textassay.report.items_words import part_sizes
from textassay.report.strip_chart import Bar, Strip, Yardstick, strip_axis, strip_chart
from textassay.studies.conditioned import Conditional, SystemColumn, chance_of


def item_strip(conditional: Conditional, place: int) -> Strip:
    """The strip of the metric at this place."""
    human = conditional.human.results[place]
    bars = [_bar(conditional, system, place) for system in conditional.systems]
    label = shortened(conditional.labels[place], 60)
    scale = strip_axis(human, bars)
    yardstick = Yardstick("human", "human", Bar(conditional.human.name, human))
    title = f"{label} of each system"
    chart = strip_chart(yardstick, bars, scale, key=f"strip-{place}", title=title, level=conditional.level)
    remarks = tuple(_remarks(conditional, place, bars, scale))
    return Strip(label, human.aspect, BETTER.get(human.better, human.better), chart, remarks)


def beside_human(conditional: Conditional, system: SystemColumn, place: int) -> Result:
    """The result of a system that compares with people: of the same size wherever there is one."""
    return system.at_human_size.get(conditional.labels[place], system.results[place])


def _bar(conditional: Conditional, system: SystemColumn, place: int) -> Bar:
    result = beside_human(conditional, system, place)
    return Bar(system.name, result, chance_of(result))


def _remarks(conditional: Conditional, place: int, bars: Sequence[Bar], scale: Axis) -> Iterator[str]:
    if scale.bend:
        yield "Axis stretched around the human value"
    if any(bar.result is not system.results[place] for bar, system in zip(bars, conditional.systems, strict=True)):
        size = part_sizes(conditional.human.results[place], conditional.human_sizes)
        yield f"All drawn at {size} texts per item, the most that people allow; the table also has whole items"
    if any(not math.isnan(bar.chance) for bar in bars):
        yield "The open ring is chance"
