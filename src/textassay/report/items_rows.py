"""The rows of a conditional study's table, for every form of it that is plain text."""

import math
from dataclasses import dataclass

from textassay.report.cells import NOTHING, Cell, cell
from textassay.report.items_words import part_sizes
from textassay.studies.conditioned import Conditional, chance_of
from textassay.studies.wording import number

# What stands where a number has its place in the row beneath.
ELSEWHERE = Cell(number(math.nan), "", False)


@dataclass(frozen=True)
class ItemRow:
    """One metric: the human cell, then one a system; `at` is set where all were measured on parts of these sizes.

    `group` is the distance it reads, or what else it reads: rows of one group stand together.
    `chances` says, cell by cell, what chance alone gives, NaN where not known.
    """

    label: str
    better: str
    group: str
    at: str
    cells: tuple[Cell, ...]
    chances: tuple[float, ...]


def item_rows(conditional: Conditional) -> list[ItemRow]:
    """One row a metric; where the human parts are smaller than the items, a second one with all at that size."""
    found = []
    level, adjusted = conditional.level, conditional.adjusted()
    for place, (label, human) in enumerate(zip(conditional.labels, conditional.human.results, strict=True)):
        results = [column.results[place] for column in conditional.systems]
        cells = [cell(result, p[place], level=level) for result, p in zip(results, adjusted, strict=True)]
        chances = (math.nan, *map(chance_of, results))
        again = [column.at_human_size.get(label) for column in conditional.systems]
        people = cell(human, level=level)
        group = str(human.options.get("distance", "vectors"))
        if not any(again):
            found.append(ItemRow(label, human.better, group, "", (people, *cells), chances))
            continue
        smaller = [NOTHING if result is None else cell(result, level=level) for result in again]
        unknown = tuple(math.nan for _ in chances)
        at = part_sizes(human, conditional.human_sizes)
        found.append(ItemRow(label, human.better, group, "", (ELSEWHERE, *cells), chances))
        found.append(ItemRow(label, human.better, group, at, (people, *smaller), unknown))
    return found
