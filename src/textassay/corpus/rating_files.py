"""Files of ratings: a row a rating or a row an item, with log-probabilities in the same file or in a second one."""

import os
from collections import Counter

from textassay.corpus.decoding import check_encoding
from textassay.corpus.item_join import AnyPath, check_stdin_once
from textassay.corpus.printable import shortened
from textassay.corpus.rated import RatedItems
from textassay.corpus.rating_columns import Columns, columns_of
from textassay.corpus.rating_items import rated_items
from textassay.corpus.rating_tables import read_tables
from textassay.corpus.sources import name_of


def read_ratings(
    source: AnyPath,
    *,
    log_probs: AnyPath | None = None,
    model: str | None = None,
    scale: tuple[float, float] | None = None,
    encoding: str = "utf-8",
) -> RatedItems:
    """Read ratings of texts by people and by a model, with each text's log-probability under the model.

    The file is `.csv`, `.tsv`, `.jsonl` or `.json` (a list of objects, or JSON Lines), plain, `.gz` or `.zst`,
    `.parquet`, or `-` for standard input. Its columns, in any order, of any case, with or without underscores:

    - `rating`: a number; in a row an item the mean rating. A blank one is left out and counted.
    - `source`: `human` (or `reference`, `real`, `gold`, 0, false), otherwise the model; `model` chooses among several.
    - `log_prob`: the natural logarithm of the whole text's probability, perhaps `-inf`; or `nll`, its negative.
    - `text`, or `length` in tokens, or both. Without lengths, tokens are counted between spaces.
    - `rater`, `item`, `context`, `rating_label`: as far as known. With a rater, or with several rows an item and
      source, a row is a rating; otherwise it is an item.

    The names in the paper's released files (`HumanJudgement`, `ModelProbability`, `Label`, `LengthOfUtterance`) mean
    the same. `log_probs` is a second file with `log_prob` and `item` (perhaps `source`), or `text` (perhaps `source`
    and `context`). A `length` in it counts, and a `text` must be that of the ratings. `scale` is the lowest and the
    highest rating there can be; by default those there are.
    """
    path = os.fsdecode(source)
    second = None if log_probs is None else os.fsdecode(log_probs)
    check_stdin_once([path, *([] if second is None else [second])])
    encoding = check_encoding(encoding)
    counts: Counter[str] = Counter()
    columns = columns_from(path, encoding=encoding, notes=counts)
    joined = None if second is None else columns_from(second, encoding=encoding, notes=counts)
    notes = [note if count == 1 else f"{note} ({count} files)" for note, count in counts.items()]
    return rated_items(columns, name=name_of(path), log_probs=joined, model=model, scale=scale, notes=notes)


def columns_from(path: str, *, encoding: str, notes: Counter[str]) -> Columns:
    """The columns of a file, or of the files of a pattern."""
    tables = read_tables(path, encoding=encoding, notes=notes)
    return columns_of(tables, tables[0].where if len(tables) == 1 else shortened(name_of(path)))
