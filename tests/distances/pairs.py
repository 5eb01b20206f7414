"""Helpers for tests of distances: tables of texts, whole matrices, and the captions of the real sample."""

import json
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from tests.conftest import ToyEncoder
from textassay.corpus.arrays import F64
from textassay.corpus.item_set import TextTable
from textassay.corpus.tokenizers import get_tokenizer
from textassay.distances.base import Distance, Surroundings, get_distance


def table_of(references: Sequence[Sequence[str]], others: Sequence[str] = (), tokenizer: str = "words") -> TextTable:
    return TextTable.of(references, others=others, tokenizer=get_tokenizer(tokenizer, lowercase=False))


def made(name: str, table: TextTable, frequencies: str | None = None) -> Distance:
    return get_distance(name, Surroundings(table, ToyEncoder(), frequencies))


def scores_of(name: str, texts: Sequence[str], tokenizer: str = "words") -> F64:
    """Scores among texts, with one document per text."""
    assert len(set(texts)) == len(texts), "texts of a matrix differ"
    return made(name, table_of([[text] for text in texts], tokenizer=tokenizer)).scores(np.arange(len(texts)))


@cache
def captions(data: Path) -> list[dict[str, Any]]:
    """The items of the COCO sample: references and one candidate each."""
    items: list[dict[str, Any]] = json.loads((data / "captions" / "coco_val_sample.json").read_text(encoding="utf-8"))
    return items


def caption_table(data: Path, tokenizer: str = "words") -> TextTable:
    items = captions(data)
    return table_of([i["references"] for i in items], [t for i in items for t in i["candidates"]], tokenizer)


def pool(table: TextTable, item: dict[str, Any]) -> tuple[list[str], Any]:
    """The different texts of an item, the candidate first, with their numbers."""
    texts = list(dict.fromkeys([*item["candidates"], *item["references"]]))
    return texts, np.array([table.number_of[text] for text in texts])
