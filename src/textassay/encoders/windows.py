"""Windows: long texts are cut into parts that a model reads whole, and the vectors of the parts are averaged.

A window is a run of whole sentences with at most as many tokens as the model reads. A longer sentence is cut. Of a text
with more windows than are wanted, windows spread evenly over the text are read. The vector of the text is the mean of
the windows' vectors, weighted by their tokens, and of length 1 where the model's own vectors are. A text that the model
reads whole is one window, and its vector is the model's own, to the byte.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from textassay.corpus.arrays import F32, I64
from textassay.corpus.printable import shortened
from textassay.errors import InputError


@dataclass(frozen=True, eq=False)
class TokenCounter:
    """Counts tokens without the model. `room` is the number of tokens of a text that the model reads at once.

    `count` returns the tokens of each text, special tokens left out, and how many of them are unknown. Where the
    tokenizer has no token for unknown words, `knows_unknown` is false.
    """

    count: Callable[[list[str]], tuple[I64, I64]]
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
    def count(texts: list[str]) -> tuple[I64, I64]:
        found = ids(texts) if texts else []
        tokens = np.fromiter(map(len, found), np.int64, len(found))
        if unknown is None:
            return tokens, np.zeros_like(tokens)
        return tokens, np.fromiter((row.count(unknown) for row in found), np.int64, len(found))

    return TokenCounter(count, room, unknown is not None)


# One window, the beginning of the text as the model itself cuts it: what releases before windows did.
FIRST, BEGINNING = "first", 1
DEFAULT_WINDOWS = 16
_MOST_WINDOWS = 10_000

# Texts cut and encoded together: enough for full batches, and few enough that their tokens take little memory.
_TEXTS, _CHARACTERS = 8192, 2**20
# Sentences shorter than this stay with the next one: a text of stops alone would be a million sentences.
_LEAST_CHARACTERS = 32
# A sentence that is too long is cut into parts that have room to spare, since tokens are not spread evenly over it.
_FILL = 0.8

_STOP, _CLOSE = r"[.!?…؟۔।॥։።]", r"[\"'”’»)\]]"
_WIDE_STOP, _WIDE_CLOSE = r"[。！？｡．…]", r"[”’」』）》〉]"
# Only fixed-width looks behind, so that the search is linear in the text whatever the text is.
_BEGIN = re.compile(
    rf"(?<=[\n\r\u2028\u2029])|(?<={_STOP}\s)|(?<={_STOP}{_CLOSE}\s)|(?<={_STOP}{_CLOSE}{_CLOSE}\s)"
    rf"|(?<={_WIDE_STOP})(?!{_WIDE_STOP}|{_WIDE_CLOSE})|(?<={_WIDE_STOP}{_WIDE_CLOSE})"
)

T = TypeVar("T")


class Window(NamedTuple):
    """A part of a text: where it begins and ends, its tokens, and how many of these are unknown."""

    begin: int
    end: int
    tokens: int
    unknown: int


@dataclass(frozen=True, eq=False)
class Parts:
    """What of several texts is read: the parts one after the other, the text of each part, and its tokens."""

    texts: list[str]
    owners: NDArray[np.int64]
    weights: NDArray[np.float64]


def parse_windows(text: str) -> int:
    """The number of windows that a user wrote: `first`, or a number from 2 on.

    >>> parse_windows("first"), parse_windows("8")
    (1, 8)
    """
    if text == FIRST:
        return BEGINNING
    if not (text.isascii() and text.isdecimal() and len(text) <= 5 and 2 <= int(text) <= _MOST_WINDOWS):
        raise InputError(f"windows is {shortened(text, 40)!r}; wanted first, or a number from 2 to {_MOST_WINDOWS:,}")
    return int(text)


def check_windows(windows: int) -> int:
    """The number itself, or an error where it is none."""
    if isinstance(windows, bool) or not isinstance(windows, int) or not BEGINNING <= windows <= _MOST_WINDOWS:
        raise InputError(f"windows is {windows!r}; wanted a number from {BEGINNING} to {_MOST_WINDOWS:,}")
    return windows


def parts_of(texts: Sequence[str], counter: TokenCounter | None, most: int) -> Parts:
    """What is read of each text, in at most so many windows; without a counter, or with one window, whole texts."""
    every = np.arange(len(texts))
    places = [] if counter is None or counter.room < 1 or most == BEGINNING else may_be_long(texts, counter.room)
    if counter is None or not places:
        return Parts(list(texts), every, np.ones(len(texts)))
    read: list[list[tuple[str, float]]] = [[(text, 1.0)] for text in texts]
    for place, windows in zip(places, cut_texts([texts[place] for place in places], counter), strict=True):
        if len(windows) > 1:
            text = texts[place]
            read[place] = [(text[w.begin : w.end].strip(), float(w.tokens)) for w in spread(windows, most)]
    owners = np.repeat(every, [len(parts) for parts in read])
    flat = [part for parts in read for part in parts]
    return Parts([text for text, _ in flat], owners, np.array([weight for _, weight in flat]))


def averaged(values: F32, parts: Parts, n_texts: int, *, of_length_1: bool) -> F32:
    """One vector per text: that of its only part as it is, else the weighted mean of its parts."""
    if len(parts.texts) == n_texts:
        return values
    counts = np.bincount(parts.owners, minlength=n_texts)
    firsts = np.cumsum(counts) - counts
    means = np.zeros((n_texts, values.shape[1]))
    # Part after part, element by element: the sums of a text are the same whatever other texts are averaged with it.
    for number in range(counts.max()):
        texts = np.flatnonzero(counts > number)
        rows = firsts[texts] + number
        means[texts] += parts.weights[rows, None] * values[rows]
    if of_length_1:
        lengths = np.sqrt((means * means).sum(axis=1))
    else:
        lengths = np.bincount(parts.owners, parts.weights, minlength=n_texts)
    found = (means / np.where(lengths > 0, lengths, 1.0)[:, None]).astype(np.float32)
    alone = counts == 1
    found[alone] = values[firsts[alone]]
    return found


def may_be_long(texts: Sequence[str], room: int) -> list[int]:
    """Places of the texts that may have more tokens than there is room for: no token has less than one byte."""
    return [
        place
        for place, text in enumerate(texts)
        if 4 * len(text) > room and (len(text) > room or len(text.encode("utf-8", "surrogatepass")) > room)
    ]


def chunks(texts: Sequence[str]) -> Iterator[slice]:
    """The texts in runs of bounded size; a text larger than that is a run of its own."""
    begin = characters = 0
    for end, text in enumerate(texts):
        characters += len(text)
        if end > begin and (end - begin == _TEXTS or characters > _CHARACTERS):
            yield slice(begin, end)
            begin, characters = end, len(text)
    if len(texts):
        yield slice(begin, len(texts))


def cut_texts(texts: Sequence[str], counter: TokenCounter) -> list[list[Window]]:
    """All windows of each text, those without any token left out; one window where the whole text fits."""
    pieces = [
        (place, begin, end)
        for place, text in enumerate(texts)
        for begin, end in sentences(text, least=min(_LEAST_CHARACTERS, counter.room // 4))
    ]
    found: list[list[Window]] = [[] for _ in texts]
    for place, window in _counted(texts, pieces, counter):
        found[place].append(window)
    packed = [_packed(sorted(windows), counter.room) for windows in found]
    _join_what_fits(texts, found, packed, counter)
    return packed


def sentences(text: str, *, least: int = 1) -> Iterator[tuple[int, int]]:
    """Where sentences begin and end: at line breaks, after stops before a blank, and after Chinese and like stops.

    Together they are the whole text. One of fewer than `least` characters stays with the next.

    >>> text = 'It rains. "Go!" he said.\\n1.5 % of it 你好。再见'
    >>> [text[begin:end] for begin, end in sentences(text)]
    ['It rains. ', '"Go!" ', 'he said.\\n', '1.5 % of it 你好。', '再见']
    """
    begin = 0
    for found in _BEGIN.finditer(text):
        end = found.start()
        if end - begin >= max(least, 1):
            yield begin, end
            begin = end
    if begin < len(text):
        yield begin, len(text)


def spread(windows: Sequence[T], most: int) -> list[T]:
    """At most so many of the windows, the first, the last and others evenly between them.

    >>> spread(list("abcdefg"), 3)
    ['a', 'd', 'g']
    """
    if len(windows) <= most:
        return list(windows)
    return [windows[place] for place in np.rint(np.linspace(0, len(windows) - 1, most)).astype(int).tolist()]


def _counted(
    texts: Sequence[str], pieces: list[tuple[int, int, int]], counter: TokenCounter
) -> Iterator[tuple[int, Window]]:
    """The pieces with their tokens; one with too many is cut until every part has few enough."""
    while pieces:
        tokens, unknown = counter.count([texts[place][begin:end] for place, begin, end in pieces])
        longer = []
        for (place, begin, end), n_tokens, n_unknown in zip(pieces, tokens.tolist(), unknown.tolist(), strict=True):
            if n_tokens > counter.room and end - begin > 1:
                longer += [(place, *part) for part in _cut(texts[place], begin, end, n_tokens / counter.room)]
            elif n_tokens:
                yield place, Window(begin, end, n_tokens, n_unknown)
        pieces = longer


def _cut(text: str, begin: int, end: int, times: float) -> Iterator[tuple[int, int]]:
    """A sentence that has so many times the tokens of a window, in parts of about equal length, at blanks if any."""
    number = min(int(np.ceil(times / _FILL)), end - begin)
    size = (end - begin) / number
    at = begin
    for part in range(1, number):
        until = begin + int(size * part)
        blank = text.rfind(" ", max(at, until - int(size / 4)), until)
        until = blank + 1 if blank >= 0 else until
        if until > at:
            yield at, until
            at = until
    yield at, end


def _packed(pieces: list[Window], room: int) -> list[Window]:
    """Neighbours joined to windows as long as there is room."""
    windows: list[Window] = []
    for piece in pieces:
        last = windows[-1] if windows else None
        if last is not None and last.tokens + piece.tokens <= room:
            windows[-1] = Window(last.begin, piece.end, last.tokens + piece.tokens, last.unknown + piece.unknown)
        else:
            windows.append(piece)
    return windows


def _join_what_fits(
    texts: Sequence[str], pieces: list[list[Window]], packed: list[list[Window]], counter: TokenCounter
) -> None:
    """One window for every text that fits as a whole: some tokenizers begin each sentence with a token of its own."""
    doubtful = [
        place
        for place, windows in enumerate(packed)
        if len(windows) > 1 and sum(w.tokens for w in windows) <= counter.room + len(pieces[place])
    ]
    tokens, unknown = counter.count([texts[place] for place in doubtful])
    for place, n_tokens, n_unknown in zip(doubtful, tokens.tolist(), unknown.tolist(), strict=True):
        if n_tokens <= counter.room:
            packed[place] = [Window(0, len(texts[place]), n_tokens, n_unknown)]
