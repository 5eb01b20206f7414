"""The outcome of a conditional study as JSON, and back."""

import json
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from textassay.corpus.errors import InputError
from textassay.corpus.items import Item, ItemSet
from textassay.inference.result import Result
from textassay.studies.comparison import Contest, Verdict
from textassay.studies.conditioned import Conditional, CurvePoint, ItemOutcome, Miss, Sensitivity, SystemColumn
from textassay.studies.plain_values import with_nan, without_nan
from textassay.version import __version__


def as_dict(found: Conditional) -> dict[str, Any]:
    """Plain values: the documented keys, and under `details` what goes beyond them."""
    return {
        "textassay": __version__,
        "items": {"name": found.items.name, "n": len(found.items), "digest": found.items.digest},
        "systems": [_column(system) for system in found.systems],
        "details": {
            "labels": list(found.labels),
            "level": found.level,
            "notes": list(found.notes),
            "human": _column(found.human),
            "human_sizes": list(found.human_sizes),
            "central": list(found.central),
            "columns": [_remarks(column) for column in (found.human, *found.systems)],
            "contests": [without_nan(asdict(contest)) for contest in found.contests],
            "sensitivity": [_curve(curve) for curve in found.sensitivity],
            "texts": {"items": [asdict(item) for item in found.items.items], "notes": list(found.items.notes)},
        },
    }


def from_text(text: str) -> Conditional:
    """Read back what `as_dict` gave, written as JSON."""
    try:
        return _read(json.loads(text))
    except (ValueError, KeyError, TypeError, IndexError, AttributeError) as error:
        reason = f"{type(error).__name__}: {error}"
        raise InputError(f"not the JSON of a conditional study ({reason}); wanted what --json wrote") from None


def _read(plain: Mapping[str, Any]) -> Conditional:
    details = plain["details"]
    columns = [details["human"], *plain["systems"]]
    human, *systems = [_read_column(c, r) for c, r in zip(columns, details["columns"], strict=True)]
    return Conditional(
        items=_read_items(plain["items"], details["texts"]),
        human=human,
        systems=tuple(systems),
        labels=tuple(details["labels"]),
        contests=tuple(Contest(**with_nan(contest)) for contest in details["contests"]),
        central=tuple(details["central"]),
        human_sizes=(details["human_sizes"][0], details["human_sizes"][1]),
        level=details["level"],
        notes=tuple(details["notes"]),
        sensitivity=tuple(map(_read_curve, details["sensitivity"])),
    )


def _column(column: SystemColumn) -> dict[str, Any]:
    items = [{"id": item.id, "results": [r.to_dict() for r in item.results]} for item in column.items]
    return {"name": column.name, "results": [r.to_dict() for r in column.results], "items": items}


def _remarks(column: SystemColumn) -> dict[str, Any]:
    return {
        "n": [result.n for result in column.results],
        "verdict": asdict(column.verdict) if column.verdict else None,
        "at_human_size": {label: [r.to_dict(), r.n] for label, r in column.at_human_size.items()},
        "misses": [without_nan(asdict(item.miss)) for item in column.items],
        "sizes": [[result.n for result in item.results] for item in column.items],
    }


def _read_column(plain: Mapping[str, Any], remarks: Mapping[str, Any]) -> SystemColumn:
    items = [
        ItemOutcome(item["id"], _read_results(item["results"], sizes), Miss(**with_nan(miss)))
        for item, sizes, miss in zip(plain["items"], remarks["sizes"], remarks["misses"], strict=True)
    ]
    verdict = remarks["verdict"]
    return SystemColumn(
        plain["name"],
        _read_results(plain["results"], remarks["n"]),
        tuple(items),
        Verdict(verdict["level"], tuple(verdict["reasons"])) if verdict else None,
        {label: Result.from_dict(result, n=n) for label, (result, n) in remarks["at_human_size"].items()},
    )


def _read_results(results: list[dict[str, Any]], sizes: list[int]) -> tuple[Result, ...]:
    return tuple(Result.from_dict(result, n=n) for result, n in zip(results, sizes, strict=True))


def _read_items(identity: Mapping[str, Any], texts: Mapping[str, Any]) -> ItemSet:
    items = [
        Item(
            item["id"],
            tuple(item["references"]),
            {system: tuple(written) for system, written in item["candidates"].items()},
            item["prompt"],
        )
        for item in texts["items"]
    ]
    return ItemSet(identity["name"], identity["digest"], tuple(items), tuple(texts["notes"]))


def _curve(curve: Sensitivity) -> dict[str, Any]:
    return asdict(curve) | {"points": [without_nan(asdict(point)) for point in curve.points]}


def _read_curve(plain: Mapping[str, Any]) -> Sensitivity:
    return Sensitivity(
        plain["system"],
        plain["level"],
        plain["power"],
        tuple(CurvePoint(**with_nan(point)) for point in plain["points"]),
        plain["needed"],
    )
