"""Readers of ratings: a table or a file becomes the rated items of a human and a model source."""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np

from textassay.corpus.arrays import F64, I64
from textassay.corpus.files.reading import check_stdin_once
from textassay.corpus.printable import many, quoted, shortened
from textassay.corpus.ratings.annotations import flat_tables
from textassay.corpus.ratings.columns import (
    HUMAN,
    Columns,
    Facts,
    columns_of,
    context_of,
    facts_of,
    length_of,
    log_probs_of,
    models_of,
    name_of_cell,
    number_of,
    required,
    rows_of_model,
    shown,
    sources_in,
    text_of,
    two_sources,
    values_of,
)
from textassay.corpus.ratings.rated_items import NOBODY, RatedItem, RatedItems, check_reading, checked
from textassay.corpus.tables import AnySource, Expected, listed_notes, open_source, read_tables
from textassay.errors import InputError, Setting

_LOG_PROBS = Setting("log_probs", "FILE")


@dataclass(frozen=True)
class Given:
    """Ratings, one entry each; no raters where only means are known, and numbers for names where nobody is named."""

    raters: tuple[str, ...]
    item_of: I64
    rater_of: I64
    ratings: F64
    labels: dict[float, str]
    raters_known: bool


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
        notes.append(f"raters are not named, so single raters cannot be assessed{_lonely(item_of)}")
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
                f"at {columns.places[first]} already; wanted one rating per rater and item"
            )


def _lonely(item_of: list[int]) -> str:
    """If only few items have several rows, these may be a mistake in a table of means; the error states this too."""
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
                f"{columns.places[first]} calls it {quoted([known])}; wanted one label per rating"
            )
    return {rating: labels[rating][0].strip() for rating in sorted(labels)}


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


def rated_items(
    columns: Columns,
    *,
    name: str,
    log_probs: Columns | None = None,
    model: str | None = None,
    scale: tuple[float, float] | None = None,
    needs_log_probs: bool = True,
    notes: Sequence[str] = (),
) -> RatedItems:
    """The items of a table of ratings; `log_probs` is a second table to take log-probabilities from."""
    check_reading(model, scale)
    all_notes = list(notes)
    columns, model = rows_of_model(columns, model)
    columns, sources, called = two_sources(columns, model, all_notes)
    # Ratings alone are enough where nobody reads probabilities, if the table has none.
    ratings_alone = not needs_log_probs and log_probs is None and not ("log_prob" in columns or "nll" in columns)
    _check_columns(columns, log_probs, ratings_alone=ratings_alone)
    facts = facts_of(columns, sources)
    _note_columns(columns, facts, all_notes)
    if log_probs is not None:
        facts = with_log_probs(facts, log_probs, all_notes)
        _note_nll(log_probs, all_notes)
    if not ratings_alone and not _any(facts.texts) and not _any(facts.lengths):
        # None of the rows that have them in the second table is about one of these items.
        columns.need("text", "length")
    ratings = ratings_in(columns, scale)
    given = (mean_ratings if has_means(columns, facts) else single_ratings)(columns, facts, ratings, all_notes)
    kept = _kept(columns, facts, given, all_notes)
    known = [math.nan] * len(kept) if ratings_alone else _log_probs(facts, kept, log_probs)
    items = _items(columns, facts, kept, known, _lengths(facts, kept, all_notes))
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
        tuple(all_notes),
        given.raters_known,
        columns.where,
    )


def _check_columns(columns: Columns, joined: Columns | None, *, ratings_alone: bool) -> None:
    if "rating" not in columns and "rating_label" in columns:
        raise InputError(
            f"{columns.head}: ratings are given only as words, in {quoted([columns.names['rating_label']])}; "
            "wanted numbers in a column 'rating'"
        )
    columns.need("rating")
    if "rater" in columns:
        columns.need("item", "text")
    if ratings_alone:
        return
    if joined is None or not ("text" in joined or "length" in joined):
        columns.need("text", "length")
    if joined is None:
        columns.need("log_prob", "nll", hint=(" (or use ", _LOG_PROBS, ")"))


def _note_columns(columns: Columns, facts: Facts, notes: list[str]) -> None:
    _note_nll(columns, notes)
    if facts.shared and "context" not in columns:
        notes.append("human and model texts share item ids, so an item id is used as the context of both")


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
        hint = ("use ", _LOG_PROBS) if joined is None else (f"{joined.where} has none for it",)
        what = f"item {quoted([facts.ids[first]])} has no log_prob{others}"
        raise InputError(f"{facts.places[first]}: {what}; wanted one for each item (", *hint, ")")
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
    if not _any(facts.texts):
        return [1] * len(kept)
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


_EXPECTED = Expected(record=" with one field per column")


def models_in(source: AnySource, *, encoding: str = "utf-8", rating: str | None = None) -> list[str]:
    """The models in the column `model` of a table of ratings; none without such a column."""
    opened = open_source(source, _EXPECTED, name=None, kind="ratings", encoding=encoding, notes=Counter())
    tables, column = flat_tables(read_tables(opened, wanted="one row per rating"), rating, Counter())
    return models_of(columns_of(tables, opened.where, rating=column))


def read_ratings(
    source: RatedItems | AnySource,
    *,
    log_probs: AnySource | None = None,
    model: str | None = None,
    scale: tuple[float, float] | None = None,
    encoding: str = "utf-8",
    needs_log_probs: bool = True,
    rating: str | None = None,
) -> RatedItems:
    """Read ratings of texts by people and by a model, with the log-probability of each text under the model.

    The columns may be in any order, of any case, with or without underscores:

    - `rating`: a number; with one row per item, the mean rating. A blank one is left out and counted.
    - `source`: `human` (or `reference`, `real`, `gold`, 0, false), otherwise the model; `model` chooses among several.
    - `log_prob`: the natural logarithm of the probability of the whole text, or `-inf`; or `nll`, its negative.
    - `text`, or `length` in tokens, or both. Without lengths, tokens are counted between spaces.
    - `model`: where one table has several models, that of each row; `model=NAME` chooses one. A row without it belongs
      to all.
    - `rater`, `item`, `context`, `rating_label`: if known. With a rater, or with several rows per item and source, a
      row is one rating; otherwise it is one item.

    The exports of Label Studio (JSON) and Argilla have one row per answer: the fields of a task or record, and its
    metadata, are the columns beside the rating and the rater.

    The names in the released files of the paper (`HumanJudgement`, `ModelProbability`, `Label`, `LengthOfUtterance`)
    mean the same.

    Parameters
    ----------
    source
        A path (`.csv`, `.tsv`, `.jsonl`, `.json`, `.parquet`; all but Parquet also `.gz` or `.zst`), a pattern, `-` for
        standard input, a list of dicts, a data frame, an Arrow table, a Hugging Face dataset, or `RatedItems`, which
        are only checked.
    log_probs
        A second source with `log_prob` and `item` (and if needed `source`), or with `text` (and if needed `source` and
        `context`). A `length` in it is used, and a `text` must equal the one of the ratings.
    model
        Which source of the file is the model; needed where there are several besides `human`.
    scale
        The lowest and the highest possible rating; by default the lowest and the highest in the file.
    encoding
        The encoding of text files.
    needs_log_probs
        If False, a table may lack log-probabilities, which is enough for HUSE-Q.
    rating
        The column of the ratings; in the exports of Label Studio and Argilla, the question that they answer.

    Returns
    -------
    RatedItems
        The rated texts, with notes on what was left out.

    Examples
    --------
    >>> rows = [{"source": source, "text": "a cat", "log_prob": -4, "rating": 3} for source in ("human", "gpt")]
    >>> rated = read_ratings(rows)
    >>> rated.model, rated.items[0].length, rated.single
    ('gpt', 2, False)
    """
    check_reading(model, scale)
    if isinstance(source, RatedItems):
        given = {"log_probs": log_probs, "model": model, "scale": scale, "rating": rating}
        if names := [name for name, option in given.items() if option is not None]:
            raise InputError(f"ratings: RatedItems are complete; wanted no {' and no '.join(names)} with them")
        return checked(source)
    check_stdin_once([source, log_probs])
    notes: Counter[str] = Counter()
    opened = open_source(source, _EXPECTED, name=None, kind="ratings", encoding=encoding, notes=notes)
    tables, column = flat_tables(read_tables(opened, wanted="one row per rating"), rating, notes)
    second: Columns | None = None
    if log_probs is not None:
        other = open_source(log_probs, _EXPECTED, name=None, kind="log_probs", encoding=encoding, notes=notes)
        second = columns_of(read_tables(other, wanted="one row per item"), other.where)
    listed = listed_notes(notes)
    rated = rated_items(
        columns_of(tables, opened.where, rating=column),
        name=opened.name,
        log_probs=second,
        model=model,
        scale=scale,
        needs_log_probs=needs_log_probs,
        notes=listed,
    )
    return checked(rated)


T = TypeVar("T")
Key = tuple[Any, ...]


def with_log_probs(facts: Facts, columns: Columns, notes: list[str]) -> Facts:
    """The items with the log-probabilities, lengths and texts of these columns beside their own.

    What both know must be the same: a text that differs shows that ids were matched that do not belong together.
    """
    columns.need("log_prob", "nll")
    parts = _parts(facts, columns)
    theirs = list(zip(*[_column(columns, part) for part in parts], strict=True))
    ours = list(zip(*[_fact(facts, part) for part in parts], strict=True))
    _note_strange(theirs, set(ours), columns, notes)
    join = _Join(facts, columns, theirs, ours)
    lengths, texts = facts.lengths, facts.texts
    # Texts are compared first: after a wrong join the numbers differ too, but a text shows the mistake best.
    if "text" in columns and "text" not in parts:
        texts = join.filled(texts, values_of(columns, "text", text_of), "text")
    if "length" in columns:
        lengths = join.filled(lengths, values_of(columns, "length", length_of), "length")
    log_probs = join.filled(facts.log_probs, log_probs_of(columns), "log_prob")
    return replace(facts, texts=texts, lengths=lengths, log_probs=log_probs)


@dataclass(frozen=True, eq=False)
class _Join:
    """The key of each row of the second file, and of each item."""

    facts: Facts
    columns: Columns
    theirs: list[Key]
    ours: list[Key]

    def filled(self, known: Sequence[T | None], values: Sequence[T | None], what: str) -> list[T | None]:
        """What is known of each item, with the values of its rows where nothing is; an error where they differ."""
        found = self._by_key(values, what)
        filled = list(known)
        for item, key in enumerate(self.ours):
            if key not in found:
                continue
            value, row = found[key]
            own = filled[item]
            if own is not None and own != value:
                raise InputError(
                    f"{self.columns.places[row]}: {what} {shown(value)} of item {quoted([self.facts.ids[item]])}; "
                    f"{self.facts.places[item]} has {shown(own)}; wanted one {what} per item"
                )
            filled[item] = value
        return filled

    def _by_key(self, values: Sequence[T | None], what: str) -> dict[Key, tuple[T, int]]:
        """The value of each key and the row that has it; rows may repeat each other, but not differ."""
        found: dict[Key, tuple[T, int]] = {}
        places = self.columns.places
        for row, (key, value) in enumerate(zip(self.theirs, values, strict=True)):
            if value is None:
                continue
            known, first = found.setdefault(key, (value, row))
            if known != value:
                raise InputError(
                    f"{places[row]}: {what} {shown(value)} of {quoted([str(key[0])])}; "
                    f"{places[first]} has {shown(known)}; wanted one"
                )
        return found


def _parts(facts: Facts, columns: Columns) -> list[str]:
    """What to match by: as little as tells items apart, and all that both sides know about a text."""
    source = ["source"] if "source" in columns else []
    by_text = "text" in columns and any(text is not None for text in facts.texts)
    if "item" in columns and facts.given is not None:
        if source or not facts.shared:
            return ["item", *source]
        if by_text:
            return ["item", "text"]
        raise _unmatched(columns, "a column 'source', because human and model texts share item ids")
    if not by_text:
        raise _unmatched(columns, "'item' in both files, or 'text' in both")
    by_context = "context" in columns and any(context is not None for context in facts.contexts)
    return ["text", *source, *(["context"] if by_context else [])]


def _unmatched(columns: Columns, wanted: str) -> InputError:
    seen = f"columns are {quoted(columns.header)}"
    return InputError(f"{columns.head}: no column to match log-probabilities by; {seen}; wanted {wanted}")


def _column(columns: Columns, part: str) -> Sequence[Any]:
    if part == "item":
        return required(values_of(columns, "item", name_of_cell), columns, "item")
    if part == "source":
        return sources_in(columns)
    return values_of(columns, part, text_of if part == "text" else context_of)


def _fact(facts: Facts, part: str) -> Sequence[Any]:
    if part == "item":
        return facts.given or []
    return facts.sources if part == "source" else facts.texts if part == "text" else facts.contexts


def _note_strange(theirs: list[Key], ours: set[Key], columns: Columns, notes: list[str]) -> None:
    strange = sum(key not in ours for key in theirs)
    if strange:
        rows = f"{strange:,} row{'s match' if strange > 1 else ' matches'}"
        notes.append(f"{columns.where}: {rows} no item and {'are' if strange > 1 else 'is'} left out")
