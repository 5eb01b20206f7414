"""Rated items from columns: sources, items, ratings and log-probabilities put together, with notes on what is odd."""

from collections.abc import Sequence

import numpy as np

from textassay.corpus.counting import many
from textassay.corpus.errors import InputError
from textassay.corpus.log_prob_files import with_log_probs
from textassay.corpus.printable import quoted
from textassay.corpus.rated import RatedItem, RatedItems
from textassay.corpus.rating_checks import check_reading
from textassay.corpus.rating_columns import Columns
from textassay.corpus.rating_facts import Facts, facts_of
from textassay.corpus.rating_means import has_means, mean_ratings
from textassay.corpus.rating_rows import Given, ratings_in, single_ratings
from textassay.corpus.rating_sources import HUMAN, two_sources


def rated_items(
    columns: Columns,
    *,
    name: str,
    log_probs: Columns | None = None,
    model: str | None = None,
    scale: tuple[float, float] | None = None,
    notes: Sequence[str] = (),
) -> RatedItems:
    """The items of a table of ratings; `log_probs` is a second table to take log-probabilities from."""
    check_reading(model, scale)
    told = list(notes)
    columns, sources, called = two_sources(columns, model, told)
    _check_columns(columns, log_probs)
    facts = facts_of(columns, sources)
    _note_columns(columns, facts, told)
    if log_probs is not None:
        facts = with_log_probs(facts, log_probs, told)
        _note_nll(log_probs, told)
    if not _any(facts.texts) and not _any(facts.lengths):
        # None of the rows that have them in the second table is about one of these items.
        columns.need("text", "length")
    ratings = ratings_in(columns, scale)
    given = (mean_ratings if has_means(columns, facts) else single_ratings)(columns, facts, ratings, told)
    kept = _kept(columns, facts, given, told)
    items = _items(columns, facts, kept, _log_probs(facts, kept, log_probs), _lengths(facts, kept, told))
    place = np.full(len(facts.ids), -1)
    place[kept] = np.arange(len(kept))
    seen = (float(given.ratings.min()), float(given.ratings.max()))
    return RatedItems(
        name,
        items,
        given.raters,
        place[given.item_of],
        given.rater_of,
        given.ratings,
        seen if scale is None else (float(scale[0]), float(scale[1])),
        given.labels,
        called,
        tuple(told),
        given.raters_known,
        columns.where,
    )


def _check_columns(columns: Columns, joined: Columns | None) -> None:
    if "rating" not in columns and "rating_label" in columns:
        raise InputError(
            f"{columns.head}: ratings only as words, in {quoted([columns.names['rating_label']])}; "
            "wanted numbers in a column 'rating'"
        )
    columns.need("rating")
    if "rater" in columns:
        columns.need("item", "text")
    if joined is None or not ("text" in joined or "length" in joined):
        columns.need("text", "length")
    if joined is None:
        columns.need("log_prob", "nll", hint=" (or use --log-probs FILE)")


def _note_columns(columns: Columns, facts: Facts, notes: list[str]) -> None:
    _note_nll(columns, notes)
    if facts.shared and "context" not in columns:
        notes.append("people and model share ids of items, so an id counts as the context of both")


def _note_nll(columns: Columns, notes: list[str]) -> None:
    if "nll" in columns:
        notes.append(f"{columns.where}: {quoted([columns.names['nll']])} read as minus the log-probability")


def _kept(columns: Columns, facts: Facts, given: Given, notes: list[str]) -> list[int]:
    """The items that have a rating; both sources must have one."""
    rated = set(given.item_of.tolist())
    kept = [item for item in range(len(facts.ids)) if item in rated]
    if left := len(facts.ids) - len(kept):
        notes.append(f"{many(left, 'item')} without a rating left out")
    sources = {facts.sources[item] for item in kept}
    lacking = [source for source in dict.fromkeys(facts.sources) if source not in sources]
    if lacking:
        raise InputError(f"{columns.where}: no item of {quoted(lacking)} has a rating; wanted ratings of both sources")
    return kept


def _log_probs(facts: Facts, kept: list[int], joined: Columns | None) -> list[float]:
    """The log-probability of each item, or an error that counts those without one."""
    known = [value for item in kept if (value := facts.log_probs[item]) is not None]
    if missing := len(kept) - len(known):
        first = next(item for item in kept if facts.log_probs[item] is None)
        others = (
            f", nor {'have' if missing > 2 else 'has'} {missing - 1:,} more of {len(kept):,}" if missing > 1 else ""
        )
        hint = "use --log-probs FILE" if joined is None else f"{joined.where} has none for it"
        what = f"item {quoted([facts.ids[first]])} has no log_prob{others}"
        raise InputError(f"{facts.places[first]}: {what}; wanted one for each item ({hint})")
    return known


def _items(
    columns: Columns, facts: Facts, kept: list[int], log_probs: list[float], lengths: list[int]
) -> tuple[RatedItem, ...]:
    contexts: Sequence[str | None] = facts.contexts
    if facts.given is not None and facts.shared and "context" not in columns:
        contexts = facts.given
    has_texts = _any(facts.texts)
    return tuple(
        RatedItem(
            facts.ids[item],
            facts.sources[item] != HUMAN,
            log_prob,
            length,
            (facts.texts[item] or "") if has_texts else None,
            contexts[item],
        )
        for item, log_prob, length in zip(kept, log_probs, lengths, strict=True)
    )


def _any(values: Sequence[object | None]) -> bool:
    return any(value is not None for value in values)


def _lengths(facts: Facts, kept: list[int], notes: list[str]) -> list[int]:
    """Tokens of each item: as given, otherwise counted between spaces, as the paper's released program does."""
    if _any(facts.lengths):
        return _given_lengths(facts, kept, notes)
    texts = [facts.texts[item] or "" for item in kept]
    counts = [sum(map(bool, text.split(" "))) for text in texts]
    if empty := counts.count(0):
        notes.append(f"{empty:,} item{'s have' if empty > 1 else ' has'} a blank text, which counts as 1 token")
    return [max(1, count) for count in counts]


def _given_lengths(facts: Facts, kept: list[int], notes: list[str]) -> list[int]:
    known = [length for item in kept if (length := facts.lengths[item]) is not None]
    if len(known) < len(kept):
        first = next(item for item in kept if facts.lengths[item] is None)
        # Counting these by text would mix two ways of cutting texts into tokens.
        what = f"item {quoted([facts.ids[first]])} has no length, but others have"
        raise InputError(f"{facts.places[first]}: {what}; wanted a length for all or for none")
    if empty := known.count(0):
        notes.append(f"{empty:,} item{'s have' if empty > 1 else ' has'} a length of 0, which counts as 1 token")
    return [max(1, length) for length in known]
