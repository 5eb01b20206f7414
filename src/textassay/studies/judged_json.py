"""The outcome of a HUSE study as JSON, and back."""

import json
import math
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import numpy as np

from textassay.corpus.errors import InputError
from textassay.corpus.rated import RatedItem, RatedItems
from textassay.inference.result import Interval, Result
from textassay.studies.comparison import Verdict
from textassay.studies.judged import (
    Agreement,
    AtK,
    DecisionMap,
    Judged,
    JudgedItem,
    Outlook,
    RaterFacts,
    StabilityPoint,
)
from textassay.studies.plain_values import with_nan, without_nan
from textassay.version import __version__


def as_dict(found: Judged) -> dict[str, Any]:
    """Plain values: the documented keys, and under `details` what goes beyond them."""
    return {
        "textassay": __version__,
        "results": [result.to_dict() for result in found.results],
        "details": {
            "labels": list(found.labels),
            "n": [result.n for result in found.results],
            "level": found.level,
            "verdict": asdict(found.verdict),
            "notes": list(found.notes),
            "items": _items(found),
            "by_k": [without_nan(asdict(point)) for point in found.by_k],
            "stability": [without_nan(asdict(point)) for point in found.stability],
            "outlook": [without_nan(asdict(outlook)) for outlook in found.outlook],
            "agreement": _agreement(found.agreement) if found.agreement else None,
            "decision_map": _map(found.decision_map),
            "cloud": [_numbers(pair) for pair in found.cloud],
            "chance_kinds": list(found.chance_kinds),
            "rated": _rated(found.rated),
        },
    }


def from_text(text: str) -> Judged:
    """Read back what `as_dict` gave, written as JSON."""
    try:
        plain = json.loads(text)
    except ValueError as error:
        raise _refusal(error) from None
    return from_dict(plain)


def from_dict(plain: Mapping[str, Any]) -> Judged:
    """Read back what `as_dict` gave."""
    try:
        return _read(plain)
    except (ValueError, KeyError, TypeError, IndexError, AttributeError) as error:
        raise _refusal(error) from None


def _refusal(error: Exception) -> InputError:
    return InputError(f"not the JSON of a HUSE study ({type(error).__name__}: {error}); wanted what --json wrote")


def _read(plain: Mapping[str, Any]) -> Judged:
    details = plain["details"]
    rated = _read_rated(details["rated"])
    agreement = details["agreement"]
    verdict = details["verdict"]
    return Judged(
        rated=rated,
        labels=tuple(details["labels"]),
        results=_read_results(plain["results"], details["n"]),
        items=tuple(_read_item(item, rated.items) for item in details["items"]),
        by_k=tuple(AtK(**with_nan(point)) for point in details["by_k"]),
        stability=tuple(StabilityPoint(**with_nan(point)) for point in details["stability"]),
        outlook=tuple(Outlook(**with_nan(outlook)) for outlook in details["outlook"]),
        agreement=_read_agreement(agreement) if agreement else None,
        decision_map=_read_map(details["decision_map"]),
        cloud=tuple((_number(x), _number(y)) for x, y in details["cloud"]),
        chance_kinds=tuple(details["chance_kinds"]),
        verdict=Verdict(verdict["level"], tuple(verdict["reasons"])),
        level=details["level"],
        notes=tuple(details["notes"]),
    )


def _read_results(results: list[dict[str, Any]], sizes: list[int]) -> tuple[Result, ...]:
    return tuple(Result.from_dict(result, n=n) for result, n in zip(results, sizes, strict=True))


def _items(found: Judged) -> list[dict[str, Any]]:
    """Each judged item by its place among the rated ones, where its texts are; its id is there to be read."""
    places = {item: place for place, item in enumerate(found.rated.items)}
    return [
        {"place": places[judged.item], "id": judged.item.id}
        | without_nan({name: value for name, value in vars(judged).items() if name != "item"})
        for judged in found.items
    ]


def _read_item(plain: Mapping[str, Any], items: tuple[RatedItem, ...]) -> JudgedItem:
    values = {name: value for name, value in plain.items() if name not in ("place", "id")}
    return JudgedItem(items[plain["place"]], **with_nan(values))


def _agreement(agreement: Agreement) -> dict[str, Any]:
    interval = agreement.interval
    return {
        **without_nan({"alpha": agreement.alpha, "alpha_ordinal": agreement.alpha_ordinal}),
        "interval": without_nan(asdict(interval)) if interval else None,
        "raters": [without_nan(asdict(rater)) for rater in agreement.raters],
        "without": [[result.to_dict(), result.n] for result in agreement.without],
    }


def _read_agreement(plain: Mapping[str, Any]) -> Agreement:
    interval = plain["interval"]
    return Agreement(
        _number(plain["alpha"]),
        _number(plain["alpha_ordinal"]),
        Interval(**with_nan(interval)) if interval else None,
        tuple(RaterFacts(**with_nan(rater)) for rater in plain["raters"]),
        tuple(Result.from_dict(result, n=n) for result, n in plain["without"]),
    )


def _map(found: DecisionMap) -> dict[str, Any]:
    return {
        "ratings": _numbers(found.ratings),
        "log_probs": _numbers(found.log_probs),
        "share_model": [_numbers(row) for row in found.share_model],
    }


def _read_map(plain: Mapping[str, Any]) -> DecisionMap:
    return DecisionMap(
        tuple(map(_number, plain["ratings"])),
        tuple(map(_number, plain["log_probs"])),
        tuple(tuple(map(_number, row)) for row in plain["share_model"]),
    )


def _rated(rated: RatedItems) -> dict[str, Any]:
    """The texts, ratings and raters behind it all. JSON has no numbers as keys, so labels are pairs."""
    return {
        "name": rated.name,
        "model": rated.model,
        "digest": rated.digest,
        "scale": list(rated.scale),
        "labels": [[rating, label] for rating, label in rated.labels.items()],
        "notes": list(rated.notes),
        "items": [without_nan(asdict(item)) for item in rated.items],
        "raters": list(rated.raters),
        "raters_known": rated.raters_known,
        "item_of": rated.item_of.tolist(),
        "rater_of": rated.rater_of.tolist(),
        "ratings": rated.ratings.tolist(),
    }


def _read_rated(plain: Mapping[str, Any]) -> RatedItems:
    low, high = plain["scale"]
    return RatedItems(
        name=plain["name"],
        items=tuple(map(_read_rated_item, plain["items"])),
        raters=tuple(plain["raters"]),
        item_of=np.array(plain["item_of"], dtype=np.int64),
        rater_of=np.array(plain["rater_of"], dtype=np.int64),
        ratings=np.array(plain["ratings"], dtype=np.float64),
        scale=(low, high),
        labels=dict(plain["labels"]),
        model=plain["model"],
        notes=tuple(plain["notes"]),
        raters_known=bool(plain["raters_known"]),
    )


def _read_rated_item(plain: Mapping[str, Any]) -> RatedItem:
    """A text is never without a log-probability: where JSON could not hold it, the model cannot write the text."""
    log_prob = plain["log_prob"]
    return RatedItem(**{**plain, "log_prob": -math.inf if log_prob is None else log_prob})


def _number(value: float | None) -> float:
    return math.nan if value is None else value


def _numbers(values: tuple[float, ...]) -> list[float | None]:
    return [value if math.isfinite(value) else None for value in values]
