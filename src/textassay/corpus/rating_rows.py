"""A row a rating: who gave which rating to which item, whether raters are named or not."""

from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np

from textassay.corpus.counting import many
from textassay.corpus.errors import InputError
from textassay.corpus.printable import quoted, shortened
from textassay.corpus.rated import F64, I64, RatedItems
from textassay.corpus.rating_cells import name_of_cell, number_of, required, text_of, values_of
from textassay.corpus.rating_columns import Columns
from textassay.corpus.rating_facts import Facts


@dataclass(frozen=True)
class Given:
    """Ratings, one entry each; no raters where only means are known, and numbers for names where nobody is named."""

    raters: tuple[str, ...]
    item_of: I64
    rater_of: I64
    ratings: F64
    labels: dict[float, str]
    raters_known: bool


def raters_are_known(rated: RatedItems) -> bool:
    """False where a file has single ratings but does not say whose, and where it has only means."""
    return rated.single and rated.raters_known


def ratings_in(columns: Columns, scale: tuple[float, float] | None) -> list[float | None]:
    """The rating of each row, None where the cell is blank."""

    def rating_of(cell: Any, place: str, name: str) -> float:
        value = number_of(cell, place, name)
        if scale is not None and not scale[0] <= value <= scale[1]:
            wanted = f"{scale[0]:g} to {scale[1]:g}"
            raise InputError(f"{place}: {shortened(name)} {value:g} is outside the scale; wanted {wanted}")
        return value

    return values_of(columns, "rating", rating_of)


def single_ratings(columns: Columns, facts: Facts, ratings: list[float | None], notes: list[str]) -> Given:
    """Every rating with its item and its rater."""
    rows = [row for row, rating in enumerate(ratings) if rating is not None]
    if left := len(ratings) - len(rows):
        notes.append(f"{many(left, 'blank rating')} left out")
    item_of = [facts.item_of[row] for row in rows]
    if "rater" in columns:
        named = required(values_of(columns, "rater", name_of_cell), columns, "rater")
        by = [named[row] for row in rows]
        _check_once(by, item_of, rows, columns, facts)
    else:
        by = _by_order(item_of)
        notes.append(f"raters are unknown, so nothing can be said about single raters{_lonely(item_of)}")
    raters = {name: number for number, name in enumerate(dict.fromkeys(by))}
    return Given(
        tuple(raters),
        np.array(item_of, dtype=np.int64),
        np.array([raters[name] for name in by], dtype=np.int64),
        np.array([ratings[row] for row in rows], dtype=np.float64),
        _labels(columns, ratings),
        "rater" in columns,
    )


def _check_once(by: list[str], item_of: list[int], rows: list[int], columns: Columns, facts: Facts) -> None:
    if len(set(zip(by, item_of, strict=True))) == len(rows):
        return
    known: dict[tuple[str, int], int] = {}
    for rater, item, row in zip(by, item_of, rows, strict=True):
        first = known.setdefault((rater, item), row)
        if first != row:
            raise InputError(
                f"{columns.places[row]}: rater {quoted([rater])} has rated item {quoted([facts.ids[item]])} "
                f"at {columns.places[first]} already; wanted one rating a rater and item"
            )


def _lonely(item_of: list[int]) -> str:
    """Where few items have several rows, these may be a slip in a table of means: that is said too."""
    counts = Counter(item_of)
    alone = sum(count == 1 for count in counts.values())
    return f"; {alone:,} of {len(counts):,} items {'has' if alone == 1 else 'have'} one rating only" if alone else ""


def _by_order(item_of: list[int]) -> list[str]:
    """In place of raters, the number of the rating within its item."""
    counts: dict[int, int] = {}
    by = []
    for item in item_of:
        counts[item] = counts.get(item, 0) + 1
        by.append(f"?{counts[item]}")
    return by


def _labels(columns: Columns, ratings: list[float | None]) -> dict[float, str]:
    """What ratings are called, from the lowest to the highest."""
    if "rating_label" not in columns:
        return {}
    labels: dict[float, tuple[str, int]] = {}
    for row, (rating, label) in enumerate(zip(ratings, values_of(columns, "rating_label", text_of), strict=True)):
        if rating is None or label is None:
            continue
        known, first = labels.setdefault(rating, (label, row))
        if known != label:
            raise InputError(
                f"{columns.places[row]}: rating {rating:g} is called {quoted([label])}; "
                f"{columns.places[first]} calls it {quoted([known])}; wanted one label a rating"
            )
    return {rating: labels[rating][0].strip() for rating in sorted(labels)}
