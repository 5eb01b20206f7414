"""A HUSE study as CSV: one row an item with its votes and what kind it is, to be read straight into a data frame."""

import math
from typing import Any

from textassay.report.csv_cells import csv_text
from textassay.studies.judged import Judged, JudgedItem

FIELDS = (
    "item", "source", "kind", "rating", "n_ratings", "log_prob", "length", "log_prob_per_token", "votes",
    "votes_by_rating", "votes_by_log_prob", "share_model", "told", "told_by_rating", "context", "text",
)  # fmt: skip


def rows(found: Judged) -> list[dict[str, Any]]:
    """One plain row an item, in the order of the study."""
    return [_row(found, judged) for judged in found.items]


def _row(found: Judged, judged: JudgedItem) -> dict[str, Any]:
    item = judged.item
    return {
        "item": item.id,
        "source": found.rated.model if item.is_model else "human",
        "kind": judged.kind,
        "rating": _known(judged.rating),
        "n_ratings": judged.n_ratings,
        "log_prob": item.log_prob,
        "length": item.length,
        "log_prob_per_token": _known(judged.log_prob),
        "votes": _known(judged.votes),
        "votes_by_rating": _known(judged.votes_by_rating),
        "votes_by_log_prob": _known(judged.votes_by_log_prob),
        "share_model": _known(judged.share_model),
        "told": judged.told,
        "told_by_rating": judged.told_by_rating,
        "context": item.context,
        "text": item.text,
    }


def _known(value: float) -> float | None:
    return None if math.isnan(value) else value


def render_huse_csv(found: Judged) -> str:
    """CSV text with a header."""
    return csv_text(FIELDS, rows(found))
