"""The outcome of a conditional study, and its JSON form."""

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Self

from textassay.corpus.item_set import Item, ItemSet
from textassay.inference.items.misses import Miss
from textassay.inference.result import Result
from textassay.studies.codec import built, from_fields, plain, read_results, to_fields
from textassay.studies.contests import Contest
from textassay.studies.finding import Verdict
from textassay.studies.outcome import (
    Outcome,
    ResultColumn,
    Settings,
    data_frame,
    known,
    plain_row,
    plain_settings,
    read_settings,
)
from textassay.version import __version__

# How candidates can miss, by the stable keys of the JSON form, and what people read for them. `collapsed` is an item
# whose candidates are all one text, while its references are not; it comes before all others. `differs` is an item
# where metrics without a direction found a difference, `same` one where nothing was found, `untested` one where nothing
# could be: no labelling of its texts would be significant.
KIND_WORDS = {
    "collapsed": "one answer",
    "too narrow": "too narrow",
    "too wide": "too wide",
    "elsewhere": "off target",
    "too close": "too close",
    "differs": "different",
    "same": "no difference found",
    "untested": "untested",
}
KINDS = tuple(KIND_WORDS)
# The kinds of items on which candidates differ.
DIFFERENCES = tuple(kind for kind in KIND_WORDS if kind not in ("same", "untested"))


def kind_tone(kind: str) -> str:
    """The name of a kind among the tones of reports; an unknown kind is shown as untested."""
    return "different" if kind == "differs" else kind if kind in KIND_WORDS else "untested"


@dataclass(frozen=True)
class ItemOutcome:
    """One system's results on one item, in the order of the labels, and how it misses there."""

    id: str
    results: tuple[Result, ...]
    miss: Miss


@dataclass(frozen=True)
class SystemColumn(ResultColumn):
    """One system: each metric over all items, every item, and a verdict.

    Results over items have the mean as estimate and the p-value of the combined test (labels exchanged within items) as
    `p_value`. Their `parts` have `z`, `adjusted` (the p-value after correction for the whole table), `draws` and
    `units` (joint labellings drawn, and independent units: items, or clusters of items that share texts), `items` (that
    have a number), `chance` (the mean over all labellings of the same texts), and other ways to combine the items'
    p-values, none of which decides anything: `harmonic_mean_raw` (the paper's), `harmonic_mean` (corrected), `fisher`,
    `simes`, `mean_p` and `mean_log_p`. `n` is the number of items. `at_baseline_size` has, by label, the mean over
    parts of the items that are as small as those of the human column: only this can be compared with it.
    """

    name: str
    results: tuple[Result, ...]
    items: tuple[ItemOutcome, ...]
    verdict: Verdict | None = None
    at_baseline_size: Mapping[str, Result] = field(default_factory=dict)

    def count(self, kind: str) -> int:
        """Items that miss in this way."""
        return sum(item.miss.kind == kind for item in self.items)


@dataclass(frozen=True)
class CurvePoint:
    """One metric at a number of candidates and references: the p-value of the combined test and the power there.

    `power` is the share of sets of as many items, resampled from these, that are significant; `item_power` the
    share of single items that do.
    """

    label: str
    candidates: int
    references: int
    items: int
    p_value: float
    power: float
    item_power: float


@dataclass(frozen=True)
class Sensitivity:
    """How the p-value of one system falls with the number of candidates, and what a wanted power needs.

    `needed` gives, by label, the fewest candidates (at all references) and the fewest references (at all candidates)
    with at least the wanted power, None where even all are too few.
    """

    system: str
    level: float
    power: float
    points: tuple[CurvePoint, ...]
    needed: Mapping[str, Mapping[str, int | None]]


CSV_FIELDS = (
    "system", "item", "at", "n", "metric", "label", "options", "estimate", "low", "high", "level", "p_value",
    "p_adjusted", "z", "fisher", "simes", "chance", "miss", "undefined", "signature",
)  # fmt: skip


@dataclass(frozen=True, repr=False)
class Conditional(Outcome):
    """Systems against the references of many items. `labels` names the metrics, one for each result of a column.

    `human` measures references against references, parts of `human_sizes` (candidates, references) for most items.
    `central` has for each item the place of the reference nearest to all others, None for a single one.
    """

    kind: ClassVar[str] = "conditional"
    csv_fields: ClassVar[tuple[str, ...]] = CSV_FIELDS
    __hash__ = Outcome.__hash__

    items: ItemSet
    human: SystemColumn
    systems: tuple[SystemColumn, ...]
    labels: tuple[str, ...]
    contests: tuple[Contest, ...]
    central: tuple[int | None, ...]
    human_sizes: tuple[int, int]
    level: float
    notes: tuple[str, ...]
    sensitivity: tuple[Sensitivity, ...] = ()
    settings: Settings = field(default_factory=dict)

    @property
    def columns(self) -> tuple[SystemColumn, ...]:
        """The systems."""
        return self.systems

    @property
    def baseline(self) -> tuple[Result, ...]:
        """References against references."""
        return self.human.results

    def adjusted_p_values(self, column: ResultColumn) -> tuple[float, ...]:
        """The p-values after correction for the whole table; NaN where there is no test."""
        return tuple(result.parts.get("adjusted", math.nan) for result in column.results)

    def check_fields(self) -> None:
        """Raise an error unless each item has a central reference of its own, or none."""
        super().check_fields()
        for item, central in zip(self.items.items, self.central, strict=True):
            if central is not None and not 0 <= central < len(item.references):
                raise ValueError("an item has no reference at the place of its central one")

    def items_frame(self) -> Any:
        """A pandas data frame with one row per item, system and metric."""
        rows = (row for system in self.systems for row in _item_rows(self.labels, system, {}))
        return data_frame(rows, self.csv_fields)

    def csv_rows(self) -> Iterator[dict[str, Any]]:
        """One row per result, the human ones first: over all items, at the size of the human parts, then per item."""
        parts = zip(self.labels, self.human.results, strict=True)
        sizes = {label: part_sizes(result, self.human_sizes) for label, result in parts}
        for column in (self.human, *self.systems):
            own_sizes_of = sizes if column is self.human else {}
            for label, result in zip(self.labels, column.results, strict=True):
                adjusted = None if column is self.human else known(result.parts.get("adjusted", math.nan))
                yield _csv_row(column, label, result, at=own_sizes_of.get(label, "")) | {"p_adjusted": adjusted}
            for label, result in column.at_baseline_size.items():
                # Only whole items are tested.
                yield _csv_row(column, label, replace(result, p_value=None), at=sizes.get(label, ""))
            yield from _item_rows(self.labels, column, own_sizes_of)

    def to_json(self, *, indent: int | None = None, timings: bool = True) -> str:
        """JSON text without NaN or Infinity; on one line by default, because there are many items."""
        return super().to_json(indent=indent, timings=timings)

    def to_dict(self) -> dict[str, Any]:
        """The documented JSON form; everything beyond the documented keys is under `details`."""
        return as_dict(self)

    @classmethod
    def _from_dict(cls, plain: Mapping[str, Any]) -> Self:
        return cls(**_fields(plain))


def kind_counts(system: SystemColumn) -> dict[str, int]:
    """How many items there are of each known kind, in the order of the kinds."""
    counted = Counter(item.miss.kind for item in system.items)
    return {kind: counted[kind] for kind in KIND_WORDS}


def chance_of(result: Result) -> float:
    """What chance alone gives, to set beside the estimate; NaN where it is not known.

    Scores have none: exchanged labels mix repeats of a system with the references, which does not show quality.
    """
    if result.undefined is not None or result.aspect == "quality":
        return math.nan
    return result.parts.get("chance", math.nan)


def sizes_text(candidates: float, references: float) -> str:
    """Sizes of two sides; means of them are rounded to a decimal.

    >>> sizes_text(2, 3), sizes_text(1.0, 4.003), sizes_text(1.5, 3)
    ('2 v 3', '1 v 4', '1.5 v 3')
    """
    return " v ".join(f"{size:.1f}".removesuffix(".0") for size in (candidates, references))


def own_sizes(result: Result) -> str:
    """The mean sizes of the items that a result was measured on; empty if they are not known."""
    own = [result.parts.get(name, math.nan) for name in ("candidates", "references")]
    return "" if any(map(math.isnan, own)) else sizes_text(*own)


def part_sizes(human: Result, sizes: tuple[int, int]) -> str:
    """The sizes of the parts that a human result was measured on: its own if it has them, else those of most items."""
    return own_sizes(human) or (sizes_text(*sizes) if all(sizes) else "")


def _item_rows(labels: Sequence[str], column: SystemColumn, sizes: Mapping[str, str]) -> Iterator[dict[str, Any]]:
    for item in column.items:
        for label, result in zip(labels, item.results, strict=True):
            own = {"item": item.id, "miss": item.miss.kind}
            yield _csv_row(column, label, result, at=sizes.get(label, "")) | own


def _csv_row(column: SystemColumn, label: str, result: Result, *, at: str) -> dict[str, Any]:
    parts = {name: known(result.parts.get(name, math.nan)) for name in ("z", "fisher", "simes", "chance")}
    plain = {name: value for name, value in plain_row(result).items() if name in CSV_FIELDS}
    return plain | {"system": column.name, "item": "", "at": at, "label": label, "p_adjusted": None, "miss": ""} | parts


def as_dict(found: Conditional) -> dict[str, Any]:
    """Plain values: the documented keys, and under `details` what goes beyond them."""
    return {
        "textassay": __version__,
        "items": {"name": found.items.name, "n": len(found.items), "digest": found.items.digest},
        "systems": [_column(system) for system in found.systems],
        "details": {
            "labels": list(found.labels),
            "level": found.level,
            "settings": plain_settings(found.settings),
            "notes": list(found.notes),
            "human": _column(found.human),
            "human_sizes": list(found.human_sizes),
            "central": list(found.central),
            "columns": [_remarks(column) for column in (found.human, *found.systems)],
            "contests": plain(found.contests),
            "sensitivity": plain(found.sensitivity),
            "texts": {"items": plain(found.items.items), "notes": list(found.items.notes)},
        },
    }


def _fields(plain: Mapping[str, Any]) -> dict[str, Any]:
    details = plain["details"]
    columns = [details["human"], *plain["systems"]]
    human, *systems = [_read_column(c, r) for c, r in zip(columns, details["columns"], strict=True)]
    return {
        "items": _read_items(plain["items"], details["texts"]),
        "human": human,
        "systems": tuple(systems),
        "labels": tuple(details["labels"]),
        "contests": built(tuple[Contest, ...], details["contests"]),
        "central": tuple(details["central"]),
        "human_sizes": (details["human_sizes"][0], details["human_sizes"][1]),
        "level": details["level"],
        "settings": read_settings(details),
        "notes": tuple(details["notes"]),
        "sensitivity": built(tuple[Sensitivity, ...], details["sensitivity"]),
    }


def _column(column: SystemColumn) -> dict[str, Any]:
    items = [{"id": item.id, "results": [r.to_dict() for r in item.results]} for item in column.items]
    return {"name": column.name, "results": [r.to_dict() for r in column.results], "items": items}


def _remarks(column: SystemColumn) -> dict[str, Any]:
    return {
        "n": [result.n for result in column.results],
        "verdict": column.verdict.to_dict() if column.verdict else None,
        "at_human_size": {label: [r.to_dict(), r.n] for label, r in column.at_baseline_size.items()},
        "misses": [to_fields(item.miss) for item in column.items],
        "sizes": [[result.n for result in item.results] for item in column.items],
    }


def _read_column(plain: Mapping[str, Any], remarks: Mapping[str, Any]) -> SystemColumn:
    items = [
        ItemOutcome(item["id"], read_results(item["results"], sizes), from_fields(Miss, miss))
        for item, sizes, miss in zip(plain["items"], remarks["sizes"], remarks["misses"], strict=True)
    ]
    return SystemColumn(
        plain["name"],
        read_results(plain["results"], remarks["n"]),
        tuple(items),
        Verdict.from_dict(remarks["verdict"]),
        {label: Result.from_dict(result, n=n) for label, (result, n) in remarks["at_human_size"].items()},
    )


def _read_items(identity: Mapping[str, Any], texts: Mapping[str, Any]) -> ItemSet:
    items = built(tuple[Item, ...], texts["items"])
    return ItemSet(identity["name"], identity["digest"], items, tuple(texts["notes"]))
