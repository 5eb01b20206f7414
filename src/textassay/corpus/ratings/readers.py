"""Readers of ratings: rated texts from any source, with log-probabilities from the same or a second source."""

from collections import Counter

from textassay.corpus.files import check_stdin_once
from textassay.corpus.ratings.assembly import rated_items
from textassay.corpus.ratings.columns import Columns, columns_of
from textassay.corpus.ratings.rated_items import RatedItems, check_reading
from textassay.corpus.tables import AnySource, Expected, listed_notes, open_source, read_tables
from textassay.errors import InputError


def read_ratings(
    source: RatedItems | AnySource,
    *,
    log_probs: AnySource | None = None,
    model: str | None = None,
    scale: tuple[float, float] | None = None,
    encoding: str = "utf-8",
) -> RatedItems:
    """Read ratings of texts by people and by a model, with the log-probability of each text under the model.

    The columns may be in any order, of any case, with or without underscores:

    - `rating`: a number; with one row per item, the mean rating. A blank one is left out and counted.
    - `source`: `human` (or `reference`, `real`, `gold`, 0, false), otherwise the model; `model` chooses among several.
    - `log_prob`: the natural logarithm of the probability of the whole text, or `-inf`; or `nll`, its negative.
    - `text`, or `length` in tokens, or both. Without lengths, tokens are counted between spaces.
    - `rater`, `item`, `context`, `rating_label`: if known. With a rater, or with several rows per item and source, a
      row is one rating; otherwise it is one item.

    The names in the released files of the paper (`HumanJudgement`, `ModelProbability`, `Label`, `LengthOfUtterance`)
    mean the same.

    Parameters
    ----------
    source
        A path (`.csv`, `.tsv`, `.jsonl`, `.json`, `.parquet`; all but Parquet also `.gz` or `.zst`), a pattern, `-` for
        standard input, a list of dicts, a data frame, an Arrow table, a Hugging Face dataset, or `RatedItems`, which
        are returned as they are.
    log_probs
        A second source with `log_prob` and `item` (and if needed `source`), or with `text` (and if needed `source` and
        `context`). A `length` in it is used, and a `text` must equal the one of the ratings.
    model
        Which source of the file is the model; needed where there are several besides `human`.
    scale
        The lowest and the highest possible rating; by default the lowest and the highest in the file.
    encoding
        The encoding of text files.

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
        given = {"log_probs": log_probs, "model": model, "scale": scale}
        if names := [name for name, option in given.items() if option is not None]:
            raise InputError(f"ratings: RatedItems are complete; wanted no {' and no '.join(names)} with them")
        return source
    check_stdin_once([source, log_probs])
    notes: Counter[str] = Counter()
    columns, name = _read_columns(source, "ratings", encoding=encoding, notes=notes)
    second = None if log_probs is None else _read_columns(log_probs, "log_probs", encoding=encoding, notes=notes)[0]
    return rated_items(columns, name=name, log_probs=second, model=model, scale=scale, notes=listed_notes(notes))


def _read_columns(source: AnySource, kind: str, *, encoding: str, notes: Counter[str]) -> tuple[Columns, str]:
    """The columns of a source, and its name."""
    expected = Expected(record=" with one field per column")
    opened = open_source(source, expected, name=None, kind=kind, encoding=encoding, notes=notes)
    tables = read_tables(opened, wanted=f"one row per {'rating' if kind == 'ratings' else 'item'}")
    return columns_of(tables, opened.where), opened.name
