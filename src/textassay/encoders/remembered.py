"""Remembered vectors: each text is encoded at most once per run, and not at all if its vector is in the cache.

Tokens are counted once per text, and the counts are stored in the cache with the vectors. A run whose vectors are all
cached counts no tokens and reports the same as the first run.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from textassay.corpus.arrays import F32, I64
from textassay.corpus.printable import many, shortened
from textassay.corpus.sample import Sample
from textassay.encoders.base import Encoder, get_encoder, sees
from textassay.encoders.cache_contents import TOKENS_NAME
from textassay.encoders.cache_folder import Keys, keys_of
from textassay.encoders.vector_store import Store, open_store, sub_store
from textassay.encoders.windows import BEGINNING, TokenCounter, chunks, cut_texts, may_be_long
from textassay.errors import InputError

# Counts stored for each text: tokens, unknown tokens, and the windows needed for the whole text.
_COLUMNS = TOKENS, UNKNOWN, WINDOWS = 0, 1, 2
# The share of unknown tokens of a sample is measured on this many texts, which is enough for a share of 5 %.
_SAMPLED = 2000
# From this share on, too many words of a sample are unknown for the vectors to represent its meaning.
MOST_UNKNOWN = 0.05

# Names of samples (they may repeat) and their texts.
Samples = Sequence[tuple[str, Sequence[str]]]


@dataclass(frozen=True)
class Reading:
    """What an encoder reads of the different texts of a run; `unknown` has the share of unknown tokens per sample.

    `cut_texts` have parts that are not read; about `read_share` of their tokens is read, in `most_windows` windows of
    `window` tokens. An encoder without a token limit reads every text completely.
    """

    n_texts: int = 0
    cut_texts: int = 0
    read_share: float = 1.0
    window: int | None = None
    most_windows: int = BEGINNING
    unknown: Mapping[str, float] = field(default_factory=dict)

    @property
    def beginnings_only(self) -> bool:
        """True if only the beginning of some texts is read."""
        return self.cut_texts > 0 and self.most_windows == BEGINNING

    @property
    def unknown_share(self) -> float | None:
        """The largest share of unknown tokens in any sample; None where the encoder has no such tokens."""
        return max(self.unknown.values(), default=None)


@dataclass(frozen=True, eq=False)
class Read:
    """Counts of texts by key, without texts that certainly fit into one window and are not sampled."""

    keys: Keys
    counts: F32
    counter: TokenCounter | None
    most: int

    def windows(self, texts: Sequence[str]) -> NDArray[np.int64]:
        """How many windows of each text are read."""
        return np.minimum(np.maximum(self._of(texts)[:, WINDOWS], 1), self.most).astype(np.int64)

    def reading(self, samples: Samples) -> Reading:
        """What is read of the texts of samples, and the share of unknown tokens in each sample."""
        n_texts = len(set().union(*(texts for _, texts in samples)))
        if self.counter is None:
            return Reading(n_texts)
        cut = self.counts[self.counts[:, WINDOWS] > self.most].astype(np.float64)
        # All windows have about the same number of tokens.
        read = (cut[:, TOKENS] * self.most / np.maximum(cut[:, WINDOWS], 1)).sum()
        share = float(read / cut[:, TOKENS].sum()) if len(cut) else 1.0
        unknown: dict[str, float] = {}
        for name, texts in samples if self.counter.knows_unknown else ():
            unknown[name] = max(unknown.get(name, 0.0), self._unknown(texts))
        return Reading(n_texts, len(cut), share, self.counter.room, self.most, unknown)

    def _unknown(self, texts: Sequence[str]) -> float:
        counts = self._of(sampled(texts)).astype(np.float64).sum(axis=0)
        return float(counts[UNKNOWN] / counts[TOKENS]) if counts[TOKENS] else 0.0

    def _of(self, texts: Sequence[str]) -> F32:
        found = np.zeros((len(texts), len(_COLUMNS)), np.float32)
        keys = keys_of(texts)
        at = np.searchsorted(self.keys, keys)
        known = at < len(self.keys)
        known[known] = self.keys[at[known]] == keys[known]
        found[known] = self.counts[at[known]]
        return found


def sampled(texts: Sequence[str]) -> list[str]:
    """The different texts of a sample, or those with the smallest keys if there are very many."""
    different = list(dict.fromkeys(texts))
    if len(different) <= _SAMPLED:
        return different
    return [different[index] for index in np.argsort(keys_of(different))[:_SAMPLED].tolist()]


def read(encoder: Encoder, samples: Samples, *, store: Store | None) -> Read:
    """Count the tokens of all texts that may be long, and the unknown tokens of some texts of each sample."""
    counter, most = counter_of(encoder), getattr(encoder, "windows", BEGINNING)
    if counter is None:
        return Read(keys_of([]), np.zeros((0, len(_COLUMNS)), np.float32), None, BEGINNING)
    wanted = dict.fromkeys(text for _, texts in samples for text in sampled(texts))
    for _, texts in samples:
        wanted |= dict.fromkeys(texts[index] for index in may_be_long(texts, counter.room))
    counted = list(wanted)
    keys = keys_of(counted)
    order = np.argsort(keys)
    counts = _counts(
        [counted[index] for index in order], keys[order], counter, sub_store(store, TOKENS_NAME, len(_COLUMNS))
    )
    return Read(keys[order], counts, counter, most)


def counter_of(encoder: Encoder) -> TokenCounter | None:
    """The token counter of an encoder; None if it has no token limit, or if a window cannot hold any text."""
    get: Callable[[], TokenCounter | None] | None = getattr(encoder, "counter", None)
    counter = None if get is None else get()
    return counter if counter is not None and counter.room > 0 else None


def _counts(texts: list[str], keys: Keys, counter: TokenCounter, store: Store | None) -> F32:
    counts = np.zeros((len(texts), len(_COLUMNS)), np.float32)
    known = np.zeros(len(texts), bool) if store is None else store.fill(keys, counts)
    missing = np.flatnonzero(~known)
    for chunk in chunks([texts[index] for index in missing]):
        rows = missing[chunk]
        some = [texts[index] for index in rows]
        for row, windows in zip(rows, cut_texts(some, counter), strict=True):
            counts[row] = sum(w.tokens for w in windows), sum(w.unknown for w in windows), len(windows)
    if store is not None:
        store.put(keys[missing], counts[missing])
    return counts


# What is encoded between two writes and two steps of the progress bar: seconds of work, with short and with long texts,
# and full batches.
_TEXTS, _CHARACTERS = 1024, 2**16


# If at least this share of the different texts has the vector of another text, the encoder cannot read the texts.
MOST_SAME = 0.1


def _ignore(_: int) -> None:
    pass


def _one_each(texts: list[str]) -> NDArray[np.int64]:
    return np.ones(len(texts), np.int64)


@dataclass(frozen=True, eq=False)
class Remembered:
    """An encoder that looks up known vectors; it has the name and dimension of the encoder it wraps."""

    encoder: Encoder
    store: Store | None = field(repr=False)
    keys: Keys = field(repr=False)
    values: F32 = field(repr=False)
    encoded: int
    notes: tuple[str, ...]
    same_vector: int = 0
    """Different texts that have the vector of another text."""
    zero_vectors: int = 0
    """Different texts whose vector is all zeros, because they contain nothing that the encoder knows."""
    reading: Reading = field(default_factory=Reading, repr=False)

    @property
    def name(self) -> str:
        """The name of the wrapped encoder."""
        return self.encoder.name

    @property
    def dimension(self) -> int:
        """The dimension of the wrapped encoder."""
        return self.encoder.dimension

    @property
    def sees(self) -> str:
        """What the vectors describe: `meaning`, or `word patterns` for an encoder that only counts words."""
        return sees(self.encoder)

    @property
    def reads_whole_texts(self) -> bool:
        """False if parts of some texts are not read, as far as the encoder's tokenizer is known."""
        return self.reading.cut_texts == 0

    @property
    def unknown_share(self) -> float | None:
        """The largest share of unknown tokens in any sample; None where the encoder has no such tokens."""
        return self.reading.unknown_share

    @property
    def reads_these_texts(self) -> bool:
        """False if the encoder does not know the words of a sample, or gives many different texts the same vector."""
        return (self.unknown_share or 0.0) <= MOST_UNKNOWN and self.same_vector <= MOST_SAME * len(self.values)

    @property
    def why_no_verdict(self) -> str | None:
        """The reason why the vectors allow no verdict about the texts; None if they do."""
        if not self.reads_these_texts:
            return "the encoder does not know the words of these texts"
        if self.reading.beginnings_only:
            return "only the beginnings of long texts are read"
        return None

    def encode(self, texts: Sequence[str], /) -> F32:
        """Look the texts up; encode those that are not known and, if there is a store, add them to it."""
        keys = keys_of(texts)
        at = np.searchsorted(self.keys, keys)
        known = at < len(self.keys)
        known[known] = self.keys[at[known]] == keys[known]
        if known.all():
            return self.values[at]
        values = np.empty((len(keys), self.dimension), np.float32)
        values[known] = self.values[at[known]]
        others = [texts[index] for index in np.flatnonzero(~known).tolist()]
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
    """The vectors of the texts: read from the store if it has them, otherwise encoded and stored chunk by chunk.

    `windows` counts the parts of each text that are read, which determine its cost. `start` is called with the number
    of missing parts, `step` with the number of parts of each finished chunk. Stored vectors outlive the process: a run
    after an interrupted one encodes only the chunks that are missing.
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
    # Adding 0 turns -0 into 0, so that equal vectors have equal bytes.
    rows = np.ascontiguousarray(values + np.float32(0)).view(f"V{values.itemsize * values.shape[1]}")
    return len(rows) - len(np.unique(rows))


def _chunks(texts: list[str], rows: I64) -> Iterator[tuple[list[str], I64]]:
    """Texts and their rows, sorted by length and text, so that the order of the input does not matter."""
    order = sorted(range(len(texts)), key=lambda index: (len(texts[index]), texts[index]))
    begin = characters = 0
    for end, index in enumerate(order):
        characters += len(texts[index])
        if end > begin and (end - begin == _TEXTS or characters > _CHARACTERS):
            yield [texts[other] for other in order[begin:end]], rows[order[begin:end]]
            begin, characters = end, len(texts[index])
    if order:
        yield [texts[other] for other in order[begin:]], rows[order[begin:]]


def _settle(encoder: Encoder, texts: list[str], rows: I64, *, keys: Keys, values: F32, store: Store | None) -> int:
    """Encode and store the texts of a chunk that no other process has stored in the meantime; return their number."""
    made = np.empty((len(texts), values.shape[1]), np.float32)
    found = np.zeros(len(texts), bool) if store is None else store.fill(keys[rows], made)
    missing = np.flatnonzero(~found)
    if len(missing):
        made[missing] = _checked(encoder, [texts[index] for index in missing])
        if store is not None:
            store.put(keys[rows[missing]], made[missing])
    values[rows] = made
    return len(missing)


def _checked(encoder: Encoder, texts: list[str]) -> F32:
    """The vectors of texts, or an error if the encoder returns no finite numbers of the right shape."""
    where = f"encoder {shortened(encoder.name, 120)}"
    wanted = (len(texts), encoder.dimension)
    returned = encoder.encode(texts)
    try:
        with np.errstate(over="ignore"):  # numbers too large for 32 bits become infinite, which is an error below
            values = np.asarray(returned, np.float32)
    except (TypeError, ValueError) as error:
        raise InputError(f"{where}: did not return an array of numbers ({shortened(str(error), 120)})") from error
    if values.shape != wanted:
        given = many(len(texts), "text")
        raise InputError(f"{where}: returned an array of shape {values.shape} for {given}; wanted {wanted}")
    bad = np.flatnonzero(~np.isfinite(values).all(axis=1))
    if len(bad):
        text = shortened(texts[bad[0]], 60)
        raise InputError(f"{where}: {len(bad)} of {len(texts)} vectors are not finite, the first for '{text}'")
    return values


def show_all(
    encoder: str | Encoder,
    *,
    reference: Sample,
    candidates: Mapping[str, Sample],
    used: Iterable[Sample],
    start: Callable[[int], None] = _ignore,
    step: Callable[[int], None] = _ignore,
) -> Remembered:
    """An encoder that has seen the texts of the samples in use; whatever the cache on disk knows is not encoded again.

    `reference` and `candidates` are whole: an encoder may be fitted on them, or have vectors for all of their texts.
    A user's own encoder object is not cached on disk: its name need not change when its vectors do. `start` and
    `step` are called as by `remember`.
    """
    chosen = get_encoder(encoder, reference=reference, candidates=candidates) if isinstance(encoder, str) else encoder
    samples = [(sample.name, sample.texts.to_pylist()) for sample in used]
    store = open_store(chosen) if isinstance(encoder, str) and _worth_keeping(chosen) else None
    tokens = read(chosen, samples, store=store)
    seen = remember(
        chosen,
        (text for _, texts in samples for text in texts),
        store=store,
        start=start,
        step=step,
        windows=tokens.windows,
    )
    reading = tokens.reading(samples)
    return replace(seen, reading=reading, notes=(*seen.notes, *_limits_of(seen, reading)))


def _limits_of(seen: Remembered, reading: Reading) -> Iterator[str]:
    """What the encoder could not see: words that it does not know, and parts of long texts."""
    distinct, shared = len(seen.values), seen.same_vector
    if shared > MOST_SAME * distinct:
        yield (
            f"the encoder gives {shared:,} of {distinct:,} different texts the vector of another one: it does not know "
            "their words (MiniLM is made for English), and metrics on vectors mean little here"
        )
    if seen.zero_vectors:
        of = f"{seen.zero_vectors:,} of {distinct:,} different texts"
        yield f"vectors of zeros: {of}; the encoder finds nothing in them"
    yield from _unknown(reading)
    yield from _unread(reading)


def _unknown(reading: Reading) -> Iterator[str]:
    """Samples whose words the encoder does not know."""
    high = {name: share for name, share in reading.unknown.items() if share > MOST_UNKNOWN}
    if high:
        shares = ", ".join(f"{share:.0%} in {shortened(name, 60)!r}" for name, share in high.items())
        yield (
            f"tokens that the encoder does not know: {shares} (more than {MOST_UNKNOWN:.0%}): metrics on vectors do "
            "not see these words, and there is no verdict about meaning; choose an encoder for this language"
        )


def _unread(reading: Reading) -> Iterator[str]:
    """Texts of which a part is not read."""
    if not reading.cut_texts:
        return
    of = f"{reading.cut_texts:,} of {reading.n_texts:,} different texts"
    if reading.beginnings_only:
        yield (
            f"longer than the {reading.window} tokens that the encoder reads with windows=first: {of}; only the "
            "beginning of such a text counts, and there is no verdict about meaning"
        )
    else:
        yield (
            f"longer than {reading.most_windows} windows of {reading.window} tokens: {of}; of such a text that many "
            f"windows are read, spread evenly over it, about {reading.read_share:.0%} of the tokens "
            "(windows=N reads more)"
        )


def _worth_keeping(encoder: Encoder) -> bool:
    """Vectors that come from a file or from a quick fit need no cache."""
    return not encoder.name.startswith(("lsa", "bow", "vectors"))
