"""The gold standard: an order of systems, a measured quantity, or one of the metrics."""

import math
import os
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from textassay.corpus.printable import quoted, shortened
from textassay.corpus.ratings.columns import number_of
from textassay.corpus.tables import Expected, Table, open_source, read_tables
from textassay.errors import InputError
from textassay.studies.agreement.scores import Scores

_NAMES = ("system", "name", "candidate", "model", "generator")
# Columns with a quantity, and whether higher is better.
_QUANTITIES = {"score": True, "value": True, "gold": True, "quality": True, "rank": False, "loss": False}
_WANTED = "wanted systems from best to worst as in 'a>b=c>d', a file, or the label of a metric"


@dataclass(frozen=True)
class Gold:
    """The goodness of each system that the gold standard knows, higher is better.

    `is_order` is true if only the order is known: the goodness is then minus the place.
    """

    name: str
    goodness: Mapping[str, float]
    is_order: bool


def read_gold(gold: Any, scores: Scores) -> Gold:
    """The gold standard from an order, a mapping of systems to numbers, a file, or the label of a metric."""
    found = _gold(gold, scores)
    unknown = [system for system in found.goodness if system not in scores.systems]
    if unknown:
        raise InputError(f"the gold order names {quoted(unknown)}; the results have {quoted(list(scores.systems))}")
    return found


def _gold(gold: Any, scores: Scores) -> Gold:
    if isinstance(gold, Mapping):
        return Gold("gold", {str(name): _finite(value, str(name)) for name, value in gold.items()}, is_order=False)
    if isinstance(gold, os.PathLike):
        return _from_file(gold, scores.systems)
    if not isinstance(gold, str):
        return Gold("gold order", _places([[str(name)] for name in gold]), is_order=True)
    by_label = {metric.label: metric for metric in scores.metrics}
    if gold in by_label:
        known = zip(scores.systems, by_label[gold].goodness, strict=True)
        return Gold(gold, {name: value for name, value in known if not math.isnan(value)}, is_order=False)
    if ">" in gold:
        return Gold("gold order", parse_order(gold, scores.systems), is_order=True)
    if os.path.exists(gold):
        return _from_file(gold, scores.systems)
    raise InputError(f"gold {quoted([gold])} is neither an order nor a file nor a metric; {_WANTED}")


def _finite(value: Any, name: str) -> float:
    return number_of(value, "gold", name)


def parse_order(text: str, systems: Collection[str] = ()) -> dict[str, float]:
    """Minus the place of each system in an order such as `a>b=c>d`; tied systems share the mean place.

    The names of known systems may contain `=`.

    >>> parse_order("a > b = c > d")
    {'a': -1.0, 'b': -2.5, 'c': -2.5, 'd': -4.0}
    >>> parse_order("t=1 > t=0.9 = t=1.1", ["t=0.9", "t=1", "t=1.1"])
    {'t=1': -1.0, 't=0.9': -2.5, 't=1.1': -2.5}
    """
    return _places([_tied(group, systems) for group in text.split(">")])


def _tied(group: str, systems: Collection[str]) -> list[str]:
    """The names between signs of equality, except those signs that are part of the name of a known system."""
    pieces, found = group.split("="), []
    while pieces:
        names = ["=".join(pieces[:count]).strip() for count in range(len(pieces), 0, -1)]
        name = next((name for name in names if name in systems), names[-1])
        found.append(name)
        pieces = pieces[name.count("=") + 1 :]
    return found


def _places(groups: Sequence[Sequence[str]]) -> dict[str, float]:
    names = [name for group in groups for name in group]
    if not all(names):
        raise InputError(f"the gold order has an empty name; {_WANTED}")
    repeated = [name for name, count in Counter(names).items() if count > 1]
    if repeated:
        raise InputError(f"the gold order names {quoted(repeated)} twice; wanted each system once")
    found: dict[str, float] = {}
    place = 1
    for group in groups:
        found |= dict.fromkeys(group, -(place + (len(group) - 1) / 2))
        place += len(group)
    return found


def _from_file(path: str | os.PathLike[str], systems: Collection[str]) -> Gold:
    """A table with a system and a quantity per row, or one system per line, the best first; `a = b` is a tie."""
    opened = open_source(path, Expected(texts=True), name=None, kind="gold", encoding="utf-8", notes=Counter())
    (table,) = read_tables(opened, wanted="one system per row")
    if table.texts is not None:
        groups = [_tied(str(line), systems) for line in table.texts if str(line).strip()]
        return Gold(opened.name, _places(groups), is_order=True)
    return _from_table(table, opened.name)


def _from_table(table: Table, name: str) -> Gold:
    fields = {field.lower(): field for field in table.fields}
    system = next((fields[each] for each in _NAMES if each in fields), None)
    quantity = next((each for each in _QUANTITIES if each in fields), None)
    if system is None or quantity is None:
        seen = quoted(list(table.fields))
        raise InputError(f"{table.head}: fields are {seen}; wanted 'system' and 'score' (higher is better) or 'rank'")
    sign = 1.0 if _QUANTITIES[quantity] else -1.0
    found: dict[str, float] = {}
    for row, (own, value) in enumerate(zip(table.column(system), table.column(fields[quantity]), strict=True)):
        if str(own) in found:
            raise InputError(f"{table.place(row)}: system {quoted([str(own)])} is there twice; wanted each once")
        found[str(own)] = sign * number_of(value, table.place(row), shortened(quantity))
    return Gold(name, found, is_order=quantity == "rank")
