"""A row an item: only the mean rating of each is known."""

import numpy as np

from textassay.corpus.rated import NOBODY
from textassay.corpus.rating_columns import Columns
from textassay.corpus.rating_facts import Facts
from textassay.corpus.rating_rows import Given


def has_means(columns: Columns, facts: Facts) -> bool:
    """True when no rater is named and no item has two rows."""
    return "rater" not in columns and len(facts.ids) == len(facts.item_of)


def mean_ratings(columns: Columns, facts: Facts, ratings: list[float | None], notes: list[str]) -> Given:
    """The mean rating of each item that has one."""
    rated = [(item, rating) for item, rating in zip(facts.item_of, ratings, strict=True) if rating is not None]
    _note_repeats(columns, facts, notes)
    return Given(
        (),
        np.array([item for item, _ in rated], dtype=np.int64),
        np.full(len(rated), NOBODY, dtype=np.int64),
        np.array([rating for _, rating in rated], dtype=np.float64),
        {},
        raters_known=False,
    )


def _note_repeats(columns: Columns, facts: Facts, notes: list[str]) -> None:
    """A model may well write one text twice, but such rows may also be single ratings of one item."""
    if facts.given is not None or "text" not in columns:
        return
    repeated = len(facts.texts) - len(set(zip(facts.texts, facts.sources, facts.contexts, strict=True)))
    if repeated:
        rows = f"{repeated:,} row{'s repeat' if repeated > 1 else ' repeats'}"
        notes.append(f"{rows} a text; each row counts as an item (a column 'item' or 'rater' would join them)")
