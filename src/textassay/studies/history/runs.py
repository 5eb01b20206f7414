"""The runs of a history: saved comparisons that can be compared with each other, and their order."""

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

from textassay.corpus.files.reading import named_paths
from textassay.corpus.printable import natural_order, quoted, shortened
from textassay.errors import InputError, Setting
from textassay.studies.compare.result import Column, Comparison
from textassay.studies.saved import read_results

ORDERS = ("natural", "date", "given")
MOST_RUNS = 500
_WANTED = "wanted the JSON file of textassay compare"
# Settings that must be the same in all results.
_SAME = ("version", "tokenizer", "encoder", "strip")
_DATE = re.compile(r"(?<!\d)(\d{4})-?(\d{2})-?(\d{2})(?!\d)")


@dataclass(frozen=True, eq=False)
class Found:
    """A candidate of saved results as a run: its name, its date (empty if the name has none), and where it is from."""

    name: str
    date: str
    column: Column
    comparison: Comparison


def read_runs(results: Any, *, candidate: str | None, order: str) -> tuple[list[Found], str]:
    """The runs in order, and the order that was used; an error unless they are comparable."""
    if order not in ORDERS:
        raise InputError(Setting("order", order), f"; wanted one of {', '.join(ORDERS)}")
    found = list(_runs(_named(results), candidate))
    if not 2 <= len(found) <= MOST_RUNS:
        raise InputError(f"{len(found):,} run{'s' * (len(found) != 1)}; wanted 2 to {MOST_RUNS}")
    check_alike(found)
    return _ordered(found, order)


def _named(results: Any) -> dict[str, tuple[Comparison, str]]:
    """The comparisons by name, with a date if there is one: paths by their file, outcomes by number or as named."""
    if isinstance(results, Mapping):
        return {str(name): (_read(source), date_of(str(name))) for name, source in results.items()}
    given = [results] if isinstance(results, str | os.PathLike | Comparison) else list(results)
    paths = [each for each in given if isinstance(each, str | os.PathLike)]
    repeated = [path for path in dict.fromkeys(paths) if paths.count(path) > 1]
    if repeated:
        raise InputError(f"{shortened(os.fsdecode(repeated[0]))}: given twice; wanted one file per run")
    if len(paths) == len(given):
        named = named_paths(paths).items()
        return {name: (_read(path), date_of(name) or date_of(os.path.dirname(path))) for name, path in named}
    return {f"run-{number}": (_read(source), "") for number, source in enumerate(given, 1)}


def _read(source: Any) -> Comparison:
    found = read_results(source) if isinstance(source, str | os.PathLike) else source
    if not isinstance(found, Comparison):
        where = f"{shortened(os.fsdecode(source))}: " if isinstance(source, str | os.PathLike) else ""
        kind = getattr(found, "kind", type(found).__name__)
        raise InputError(f"{where}results of {kind}; {_WANTED}")
    return found


def _runs(comparisons: Mapping[str, tuple[Comparison, str]], candidate: str | None) -> Iterator[Found]:
    """One run per file. The candidates of a single file are the runs, unless one of them is chosen."""
    for name, (comparison, dated) in comparisons.items():
        chosen = [each for each in comparison.candidates if candidate in (None, each.name)]
        if not chosen:
            raise InputError(f"{name}: no candidate {quoted([str(candidate)])} among {quoted(list(comparison.names))}")
        if len(comparisons) > 1 and len(chosen) > 1:
            raise InputError(
                f"{name}: candidates {quoted(list(comparison.names))}; wanted one series, chosen with ",
                Setting("candidate"),
            )
        for column in chosen:
            if len(comparisons) > 1:
                yield Found(name, dated, column, comparison)
            else:
                yield Found(column.name, date_of(column.name), column, comparison)


def date_of(name: str) -> str:
    """The first date in a name, in the form of ISO 8601; empty if there is none.

    >>> date_of("nightly-20260131"), date_of("2026-02-01/results"), date_of("run-20261399"), date_of("v2")
    ('2026-01-31', '2026-02-01', '', '')
    """
    for found in _DATE.finditer(name):
        try:
            return date(*map(int, found.groups())).isoformat()
        except ValueError:
            continue
    return ""


def _ordered(found: Sequence[Found], order: str) -> tuple[list[Found], str]:
    """By date where every name has one, or else in natural order; ties of a date in natural order."""
    undated = [each.name for each in found if not each.date]
    if order == "date" and undated:
        raise InputError(Setting("order", order), f"; no date in {quoted(undated)}, wanted names such as 2026-01-31")
    if order == "given":
        return list(found), "as given"
    if undated:
        return sorted(found, key=lambda each: natural_order(each.name)), "by name"
    return sorted(found, key=lambda each: (each.date, natural_order(each.name))), "by date"


def check_alike(found: Sequence[Found]) -> None:
    """An error unless all runs have the same reference, version, tokenizer, encoder and number of texts."""
    first = found[0]
    for each in found[1:]:
        for name in _SAME:
            mine, theirs = (one.comparison.settings.get(name) for one in (first, each))
            if mine != theirs:
                _differ(name, (first.name, mine), (each.name, theirs))
        if each.comparison.reference.digest != first.comparison.reference.digest:
            sides = ((one.name, _text(one.comparison.reference)) for one in (first, each))
            _differ("reference", *sides, hint=" (and the same --size)")
        if each.column.n != first.column.n:
            raise InputError(
                f"{each.name} has {each.column.n:,} texts, {first.name} has {first.column.n:,}; wanted the same number,"
                f" because metrics move with it: compare all with ",
                Setting("size", min(each.column.n, first.column.n)),
            )


def _differ(name: str, first: tuple[str, Any], other: tuple[str, Any], *, hint: str = "") -> None:
    raise InputError(
        f"{name} of {other[0]}: {shortened(str(other[1]), 80)}, of {first[0]}: {shortened(str(first[1]), 80)}; wanted"
        f" results of the same {name}{hint}: compare again what differs"
    )


def _text(column: Column) -> str:
    return f"{column.name} ({column.n:,} texts, {column.digest})"
