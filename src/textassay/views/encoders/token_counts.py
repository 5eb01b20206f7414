"""Token counts: how many tokens of a text a model's tokenizer finds, and how many of them it does not know."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Counts = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class TokenCounter:
    """Counts tokens without the model. `room` is the number of tokens of a text that the model reads at once.

    `count` returns the tokens of each text, special tokens left out, and how many of them are unknown. Where the
    tokenizer has no token for unknown words, `knows_unknown` is false.
    """

    count: Callable[[list[str]], tuple[Counts, Counts]]
    room: int
    knows_unknown: bool


def tokenizer_file_counter(file: str, *, most_tokens: int) -> TokenCounter:
    """Count with a `tokenizer.json` file: neither transformers nor torch is imported."""
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(file)
    tokenizer.no_padding()
    tokenizer.no_truncation()
    unknown = tokenizer.token_to_id(getattr(tokenizer.model, "unk_token", None) or "")
    # Older releases have no variant without offsets.
    encode_batch = getattr(tokenizer, "encode_batch_fast", tokenizer.encode_batch)

    def ids(texts: list[str]) -> list[list[int]]:
        return [found.ids for found in encode_batch(texts, add_special_tokens=False)]

    return _counter(ids, unknown, most_tokens - tokenizer.num_special_tokens_to_add(False))


def library_counter(tokenizer: Any, *, most_tokens: int, prompt: str = "") -> TokenCounter:
    """Count with a tokenizer of the transformers library; `prompt` is what the model puts before every text."""

    def ids(texts: list[str]) -> list[list[int]]:
        found: list[list[int]] = tokenizer(
            texts, add_special_tokens=False, truncation=False, padding=False, verbose=False
        )["input_ids"]
        return found

    taken = tokenizer.num_special_tokens_to_add(pair=False) + (len(ids([prompt])[0]) if prompt else 0)
    return _counter(ids, tokenizer.unk_token_id, most_tokens - taken)


def _counter(ids: Callable[[list[str]], list[list[int]]], unknown: int | None, room: int) -> TokenCounter:
    def count(texts: list[str]) -> tuple[Counts, Counts]:
        found = ids(texts) if texts else []
        tokens = np.fromiter(map(len, found), np.int64, len(found))
        if unknown is None:
            return tokens, np.zeros_like(tokens)
        return tokens, np.fromiter((row.count(unknown) for row in found), np.int64, len(found))

    return TokenCounter(count, room, unknown is not None)
