"""Remembered vectors: every text of a run encoded at most once, and not at all where the store knows it."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from textassay.corpus.counting import many
from textassay.corpus.errors import InputError
from textassay.corpus.printable import shortened
from textassay.views.encoders.base import F32, Encoder, sees
from textassay.views.encoders.reading import MOST_UNKNOWN, Reading
from textassay.views.encoders.segments import Keys, Rows, keys_of
from textassay.views.encoders.store import Store

# What is encoded between two flushes: little enough that an interrupted run loses seconds, whether texts are short or
# long, and much enough for full batches.
_TEXTS, _CHARACTERS = 1024, 2**18


# From this share of different texts without a vector of their own, the encoder cannot read them.
MOST_SAME = 0.1


def _ignore(_: int) -> None:
    pass


def _one_each(texts: list[str]) -> NDArray[np.int64]:
    return np.ones(len(texts), np.int64)


@dataclass(frozen=True, eq=False)
class Remembered:
    """An encoder that looks up what it has seen; of the same name and dimension as the one behind it."""

    encoder: Encoder
    store: Store | None = field(repr=False)
    keys: Keys = field(repr=False)
    values: F32 = field(repr=False)
    encoded: int
    notes: tuple[str, ...]
    same_vector: int = 0
    """Different texts that have the vector of another text."""
    zero_vectors: int = 0
    """Different texts whose vector is all zeros: the encoder finds nothing in them."""
    reading: Reading = field(default_factory=Reading, repr=False)

    @property
    def name(self) -> str:
        """The name of the encoder behind it."""
        return self.encoder.name

    @property
    def dimension(self) -> int:
        """The dimension of the encoder behind it."""
        return self.encoder.dimension

    @property
    def reused(self) -> int:
        """Distinct texts whose vectors the store knew."""
        return len(self.keys) - self.encoded

    @property
    def sees(self) -> str:
        """What the vectors are about: `meaning`, or `word patterns` where an encoder only counts words."""
        return sees(self.encoder)

    @property
    def reads_whole_texts(self) -> bool:
        """False where parts of some texts are not read, as far as the encoder's tokenizer is known."""
        return self.reading.cut_texts == 0

    @property
    def unknown_share(self) -> float | None:
        """The largest share of unknown tokens in any sample; None where the encoder has no such tokens."""
        return self.reading.unknown_share

    @property
    def reads_these_texts(self) -> bool:
        """False where the encoder does not know the words of a sample, or cannot tell many of the texts apart."""
        return (self.unknown_share or 0.0) <= MOST_UNKNOWN and self.same_vector <= MOST_SAME * len(self.values)

    @property
    def why_no_verdict(self) -> str | None:
        """Why the vectors allow no verdict about the texts; None where they do."""
        if not self.reads_these_texts:
            return "the encoder does not know the words of these texts"
        if self.reading.beginnings_only:
            return "only the beginnings of long texts are read"
        return None

    def encode(self, texts: Sequence[str], /) -> F32:
        """Look the texts up; one that was not remembered is encoded and, where there is a store, put there."""
        keys = keys_of(texts)
        at = np.searchsorted(self.keys, keys)
        known = at < len(self.keys)
        known[known] = self.keys[at[known]] == keys[known]
        if known.all():
            return self.values[at]
        values = np.empty((len(keys), self.dimension), np.float32)
        values[known] = self.values[at[known]]
        others = [texts[place] for place in np.flatnonzero(~known).tolist()]
        values[~known] = remember(self.encoder, others, store=self.store).encode(others)
        return values


def remember(
    encoder: Encoder,
    texts: Iterable[str],
    *,
    store: Store | None,
    start: Callable[[int], None] = _ignore,
    step: Callable[[int], None] = _ignore,
    windows: Callable[[list[str]], NDArray[np.int64]] = _one_each,
) -> Remembered:
    """The vectors of the texts: from the store where it knows them, else encoded and put there chunk by chunk.

    `windows` counts the parts of each text that are read, and so what it costs. `start` is told how many parts are
    missing, `step` how many more are settled. What was put survives the process; a run that was interrupted goes on
    with the chunks that the uninterrupted one would have encoded.
    """
    if store is not None and (store.encoder, store.dimension) != (encoder.name, encoder.dimension):
        raise ValueError(f"the store is for {store.encoder}, not for {encoder.name}")
    distinct = list(dict.fromkeys(texts))
    keys = keys_of(distinct)
    order = np.argsort(keys)
    keys = keys[order]
    values = np.empty((len(keys), encoder.dimension), np.float32)
    found = np.zeros(len(keys), bool) if store is None else store.fill(keys, values)
    missing = np.flatnonzero(~found)
    wanted = [distinct[order[row]] for row in missing]
    costs = np.zeros(len(keys), np.int64)
    costs[missing] = windows(wanted)
    start(int(costs.sum()))
    encoded = 0
    for chunk, rows in _chunks(wanted, missing):
        encoded += _settle(encoder, chunk, rows, keys=keys, values=values, store=store)
        step(int(costs[rows].sum()))
    if store is not None:
        store.tidy()
    values.flags.writeable = False
    notes = store.notes if store is not None else ()
    return Remembered(encoder, store, keys, values, encoded, notes, _same(values), int((~values.any(axis=1)).sum()))


def _same(values: F32) -> int:
    # Adding 0 makes the two zeros one, so that equal vectors have equal bytes.
    rows = np.ascontiguousarray(values + np.float32(0)).view(f"V{values.itemsize * values.shape[1]}")
    return len(rows) - len(np.unique(rows))


def _chunks(texts: list[str], rows: Rows) -> Iterator[tuple[list[str], Rows]]:
    """Texts and their rows by length, then by text, so that the order of the input does not matter."""
    order = sorted(range(len(texts)), key=lambda place: (len(texts[place]), texts[place]))
    begin = characters = 0
    for end, place in enumerate(order):
        characters += len(texts[place])
        if end > begin and (end - begin == _TEXTS or characters > _CHARACTERS):
            yield [texts[other] for other in order[begin:end]], rows[order[begin:end]]
            begin, characters = end, len(texts[place])
    if order:
        yield [texts[other] for other in order[begin:]], rows[order[begin:]]


def _settle(encoder: Encoder, texts: list[str], rows: Rows, *, keys: Keys, values: F32, store: Store | None) -> int:
    """Encode those of a chunk that no other process has encoded meanwhile, and put them; how many they were."""
    made = np.empty((len(texts), values.shape[1]), np.float32)
    found = np.zeros(len(texts), bool) if store is None else store.fill(keys[rows], made)
    missing = np.flatnonzero(~found)
    if len(missing):
        made[missing] = _checked(encoder, [texts[place] for place in missing])
        if store is not None:
            store.put(keys[rows[missing]], made[missing])
    values[rows] = made
    return len(missing)


def _checked(encoder: Encoder, texts: list[str]) -> F32:
    """What an encoder makes of texts, if it is what an encoder should make of them."""
    where = f"encoder {shortened(encoder.name, 120)}"
    wanted = (len(texts), encoder.dimension)
    returned = encoder.encode(texts)
    try:
        with np.errstate(over="ignore"):  # too large for 32 bits: not finite, and refused as such
            values = np.asarray(returned, np.float32)
    except (TypeError, ValueError) as error:
        raise InputError(f"{where}: returned what is no array of numbers ({shortened(str(error), 120)})") from error
    if values.shape != wanted:
        given = many(len(texts), "text")
        raise InputError(f"{where}: returned an array of shape {values.shape} for {given}; wanted {wanted}")
    bad = np.flatnonzero(~np.isfinite(values).all(axis=1))
    if len(bad):
        text = shortened(texts[bad[0]], 60)
        raise InputError(f"{where}: {len(bad)} of {len(texts)} vectors are not finite, the first for '{text}'")
    return values
