"""The tables of a digest by name: in memory, or in a file from which only the parts that are read are loaded."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from textassay.corpus.arrays import I64
from textassay.digests.block_table import BlockTable

# N-grams of about this many tokens are a part of the tables.
TOKENS_PER_PART = 1 << 20
_MOST_PARTS = 1 << 16


class Tables(Protocol):
    """Statistics by name. The n-grams of a large corpus come in parts: ranges of their hashes."""

    def __getitem__(self, name: str) -> BlockTable: ...

    def __iter__(self) -> Iterator[str]: ...

    def __contains__(self, name: object, /) -> bool: ...

    def part(self, name: str, number: int, of: int) -> BlockTable:
        """The entries of a statistic with keys in one of `of` equal ranges."""
        ...


@dataclass(frozen=True, eq=False)
class KeptTables(Mapping[str, BlockTable]):
    """Tables in memory. If they are in a file too, only the name of the file is sent to other processes."""

    made: Mapping[str, BlockTable]
    stored: Tables | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        return (_itself, (self.stored,)) if self.stored is not None else (KeptTables, (dict(self.made),))

    def __getitem__(self, name: str) -> BlockTable:
        return self.made[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.made)

    def __len__(self) -> int:
        return len(self.made)

    def part(self, name: str, number: int, of: int) -> BlockTable:
        """The entries of a statistic with keys in one of `of` equal ranges."""
        return self.made[name].part(number, of)


def _itself(tables: Tables) -> Tables:
    return tables


@dataclass(frozen=True, eq=False)
class GroupedTables(Mapping[str, BlockTable]):
    """Tables with blocks joined: block b is a part of block `group_of_block[b]`, or left out below 0."""

    whole: Tables
    group_of_block: I64
    names: tuple[str, ...]
    # Sums of the whole corpus, which no joining of blocks changes.
    unchanged: frozenset[str] = field(default_factory=frozenset)

    def __getitem__(self, name: str) -> BlockTable:
        return self.part(name, 0, 1)

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __len__(self) -> int:
        return len(self.names)

    def __contains__(self, name: object) -> bool:
        return name in self.names

    def part(self, name: str, number: int, of: int) -> BlockTable:
        """The entries of a statistic with keys in one of `of` equal ranges."""
        if name not in self.names:
            raise KeyError(name)
        found = self.whole.part(name, number, of)
        return found if name in self.unchanged else found.grouped(self.group_of_block)


def is_in_parts(name: str) -> bool:
    """Whether a statistic has one key per n-gram, so that it grows with the corpus."""
    return name.startswith(("grams/", "edges/"))


def count_parts(tables: Tables, *, is_sketch: bool) -> int:
    """The number of parts that n-grams are divided into: it depends on the number of tokens only.

    >>> from textassay.digests.block_table import BlockTable
    >>> sizes = BlockTable.of_rows(np.array([[5_000_000, 4_000_000]]))
    >>> count_parts(KeptTables({"grams sizes": sizes}), is_sketch=False)
    8
    """
    if is_sketch:
        return 1
    sizes = tables["grams sizes"]
    tokens = int(sizes.values[sizes.keys == np.uint64(0)].sum())
    parts = 1
    while parts * TOKENS_PER_PART < tokens and parts < _MOST_PARTS:
        parts *= 2
    return parts
