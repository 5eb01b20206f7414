"""Readings: how much of the texts an encoder with a limit of tokens reads, and how many tokens it does not know.

Tokens are counted once per text and kept in the cache beside the vectors, so that a run whose vectors are all cached
counts nothing, and reports the same as the first one.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from textassay.views.encoders.base import Encoder
from textassay.views.encoders.cache_contents import TOKENS_NAME
from textassay.views.encoders.segments import Keys, keys_of
from textassay.views.encoders.store import Store, beside
from textassay.views.encoders.token_counts import TokenCounter
from textassay.views.encoders.windows import BEGINNING, chunks, cut_texts, may_be_long

# What is kept of a text: tokens, unknown tokens, and windows that all of it would take.
_COLUMNS = TOKENS, UNKNOWN, WINDOWS = 0, 1, 2
# Of each sample the share of unknown tokens is taken over this many texts: enough for a share of 5 %.
_SAMPLED = 2000
# From this share on, an encoder does not know the words of a sample well enough to judge its meaning.
MOST_UNKNOWN = 0.05

Counts = NDArray[np.float32]
# Names of samples, which may repeat, and their texts.
Samples = Sequence[tuple[str, Sequence[str]]]


@dataclass(frozen=True)
class Reading:
    """What an encoder reads of the different texts of a run; `unknown` has the share of unknown tokens per sample.

    `cut_texts` have parts that are not read; about `read_share` of their tokens is read, in `most_windows` windows of
    `window` tokens. An encoder without a limit of tokens reads all of every text.
    """

    n_texts: int = 0
    cut_texts: int = 0
    read_share: float = 1.0
    window: int | None = None
    most_windows: int = BEGINNING
    unknown: Mapping[str, float] = field(default_factory=dict)

    @property
    def beginnings_only(self) -> bool:
        """True where nothing but the beginning of some texts is read."""
        return self.cut_texts > 0 and self.most_windows == BEGINNING

    @property
    def unknown_share(self) -> float | None:
        """The largest share of unknown tokens in any sample; None where the encoder has no such tokens."""
        return max(self.unknown.values(), default=None)


@dataclass(frozen=True, eq=False)
class Read:
    """Counts of texts, by key; texts that surely fit into one window and are not sampled are left out."""

    keys: Keys
    counts: Counts
    counter: TokenCounter | None
    most: int

    def windows(self, texts: Sequence[str]) -> NDArray[np.int64]:
        """How many windows of each text are read."""
        return np.minimum(np.maximum(self._of(texts)[:, WINDOWS], 1), self.most).astype(np.int64)

    def reading(self, samples: Samples) -> Reading:
        """What is read of the texts of samples, and what is unknown in each of them."""
        n_texts = len(set().union(*(texts for _, texts in samples)))
        if self.counter is None:
            return Reading(n_texts)
        cut = self.counts[self.counts[:, WINDOWS] > self.most].astype(np.float64)
        # Windows have about the same number of tokens each.
        read = (cut[:, TOKENS] * self.most / np.maximum(cut[:, WINDOWS], 1)).sum()
        share = float(read / cut[:, TOKENS].sum()) if len(cut) else 1.0
        unknown: dict[str, float] = {}
        for name, texts in samples if self.counter.knows_unknown else ():
            unknown[name] = max(unknown.get(name, 0.0), self._unknown(texts))
        return Reading(n_texts, len(cut), share, self.counter.room, self.most, unknown)

    def _unknown(self, texts: Sequence[str]) -> float:
        counts = self._of(sampled(texts)).astype(np.float64).sum(axis=0)
        return float(counts[UNKNOWN] / counts[TOKENS]) if counts[TOKENS] else 0.0

    def _of(self, texts: Sequence[str]) -> Counts:
        found = np.zeros((len(texts), len(_COLUMNS)), np.float32)
        keys = keys_of(texts)
        at = np.searchsorted(self.keys, keys)
        known = at < len(self.keys)
        known[known] = self.keys[at[known]] == keys[known]
        found[known] = self.counts[at[known]]
        return found


def sampled(texts: Sequence[str]) -> list[str]:
    """The different texts of a sample, or those with the smallest keys where there are very many."""
    different = list(dict.fromkeys(texts))
    if len(different) <= _SAMPLED:
        return different
    return [different[place] for place in np.argsort(keys_of(different))[:_SAMPLED].tolist()]


def read(encoder: Encoder, samples: Samples, *, store: Store | None) -> Read:
    """Count the tokens of all texts that may be long, and of some of every sample, for its unknown tokens."""
    counter, most = counter_of(encoder), getattr(encoder, "windows", BEGINNING)
    if counter is None:
        return Read(keys_of([]), np.zeros((0, len(_COLUMNS)), np.float32), None, BEGINNING)
    wanted = dict.fromkeys(text for _, texts in samples for text in sampled(texts))
    for _, texts in samples:
        wanted |= dict.fromkeys(texts[place] for place in may_be_long(texts, counter.room))
    counted = list(wanted)
    keys = keys_of(counted)
    order = np.argsort(keys)
    counts = _counts(
        [counted[place] for place in order], keys[order], counter, beside(store, TOKENS_NAME, len(_COLUMNS))
    )
    return Read(keys[order], counts, counter, most)


def counter_of(encoder: Encoder) -> TokenCounter | None:
    """What counts the tokens of an encoder; None where it has no limit, or where a window has no room for a text."""
    get: Callable[[], TokenCounter | None] | None = getattr(encoder, "counter", None)
    counter = None if get is None else get()
    return counter if counter is not None and counter.room > 0 else None


def _counts(texts: list[str], keys: Keys, counter: TokenCounter, store: Store | None) -> Counts:
    counts = np.zeros((len(texts), len(_COLUMNS)), np.float32)
    known = np.zeros(len(texts), bool) if store is None else store.fill(keys, counts)
    missing = np.flatnonzero(~known)
    for chunk in chunks([texts[place] for place in missing]):
        rows = missing[chunk]
        some = [texts[place] for place in rows]
        for row, windows in zip(rows, cut_texts(some, counter), strict=True):
            counts[row] = sum(w.tokens for w in windows), sum(w.unknown for w in windows), len(windows)
    if store is not None:
        store.put(keys[missing], counts[missing])
    return counts
