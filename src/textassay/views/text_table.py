"""Text table: every different text of a run with a number, its tokens, and which texts are an item's references."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from textassay.corpus.tokenizers import Tokenizer, get_tokenizer
from textassay.corpus.tokens import Tokens

Numbers = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class TextTable:
    """The different texts of a run, numbered; `documents` holds the numbers of each item's references.

    >>> table = TextTable.of([["a cat", "the cat"], ["a cat"]], others=["A cat."])
    >>> table.texts, [numbers.tolist() for numbers in table.documents]
    (('a cat', 'the cat', 'A cat.'), [[0, 1], [0]])
    >>> table.words(1)
    ['the', 'cat']
    """

    texts: tuple[str, ...]
    tokens: Tokens = field(repr=False)
    documents: tuple[Numbers, ...] = field(repr=False)
    tokenizer: Tokenizer

    @classmethod
    def of(
        cls, references: Sequence[Sequence[str]], *, others: Iterable[str] = (), tokenizer: Tokenizer | None = None
    ) -> "TextTable":
        """Number the texts: first those of each item's references, then all others."""
        tokenizer = tokenizer or get_tokenizer()
        numbers: dict[str, int] = {}
        documents = tuple(
            np.array([numbers.setdefault(text, len(numbers)) for text in texts], dtype=np.int64) for texts in references
        )
        for text in others:
            numbers.setdefault(text, len(numbers))
        texts = tuple(numbers)
        return cls(texts, tokenizer(texts), documents, tokenizer)

    def __len__(self) -> int:
        return len(self.texts)

    @cached_property
    def number_of(self) -> dict[str, int]:
        """The number of each text."""
        return {text: number for number, text in enumerate(self.texts)}

    @cached_property
    def vocabulary(self) -> list[str]:
        """The words that token ids stand for."""
        words: list[str] = self.tokens.vocabulary.to_pylist()
        return words

    def ids(self, number: int) -> NDArray[np.int32]:
        """The token ids of a text."""
        return self.tokens.ids[self.tokens.offsets[number] : self.tokens.offsets[number + 1]]

    def words(self, number: int) -> list[str]:
        """The words of a text."""
        return [self.vocabulary[word] for word in self.ids(number).tolist()]

    @cached_property
    def alike(self) -> Numbers:
        """For each text the number of the first one with the same tokens: to a distance on tokens they are one."""
        first: dict[bytes, int] = {}
        return np.array([first.setdefault(self.ids(i).tobytes(), i) for i in range(len(self))], dtype=np.int64)
