"""Windows: long texts are cut into parts within the model's token limit, and the vectors of the parts are averaged.

A window is a sequence of whole sentences within the token limit. A longer sentence is cut. If a text has more windows
than allowed, windows spread evenly over the text are read. The vector of the text is the mean of the windows' vectors,
weighted by their tokens, and scaled to length 1 if the model's vectors have length 1. A text within the token limit is
one window, and its vector is exactly the model's vector.
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
    """Counts tokens without the model. `room` is the number of text tokens that the model can read at once.

    `count` returns the number of tokens of each text without special tokens, and how many of them are unknown.
    `knows_unknown` is false if the tokenizer has no token for unknown words.
    """

    count: Callable[[list[str]], tuple[I64, I64]]
    room: int
    knows_unknown: bool


def tokenizer_file_counter(file: str, *, most_tokens: int) -> TokenCounter:
    """Count with a `tokenizer.json` file, without importing transformers or torch."""
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
    """Count with a tokenizer of the transformers library; the model puts `prompt` before each text."""

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


# One window, the beginning of the text as the model cuts it: the behaviour of releases without windows.
FIRST, BEGINNING = "first", 1
DEFAULT_WINDOWS = 16
_MOST_WINDOWS = 10_000

# Texts cut and encoded together: enough for full batches, few enough for their tokens to need little memory.
_TEXTS, _CHARACTERS = 8192, 2**20
# Shorter sentences are joined with the next one: a text of full stops only would be a million sentences.
_LEAST_CHARACTERS = 32
# The target size of the parts of a long sentence, relative to a window: tokens are not spread evenly over a sentence.
_FILL = 0.8

_STOP, _CLOSE = r"[.!?…؟۔।॥։።]", r"[\"'”’»)\]]"
_WIDE_STOP, _WIDE_CLOSE = r"[。！？｡．…]", r"[”’」』）》〉]"
# Only fixed-width lookbehinds, so that the search takes linear time for every text.
_BEGIN = re.compile(
    rf"(?<=[\n\r\u2028\u2029])|(?<={_STOP}\s)|(?<={_STOP}{_CLOSE}\s)|(?<={_STOP}{_CLOSE}{_CLOSE}\s)"
    rf"|(?<={_WIDE_STOP})(?!{_WIDE_STOP}|{_WIDE_CLOSE})|(?<={_WIDE_STOP}{_WIDE_CLOSE})"
)

T = TypeVar("T")


class Window(NamedTuple):
    """A part of a text: its begin and end, its number of tokens, and how many of them are unknown."""

    begin: int
    end: int
    tokens: int
    unknown: int


@dataclass(frozen=True, eq=False)
class Parts:
    """The parts that are read of several texts, in order, with the text that each belongs to and its tokens."""

    texts: list[str]
    owners: NDArray[np.int64]
    weights: NDArray[np.float64]


def parse_windows(text: str) -> int:
    """The number of windows from an option: `first`, or a number from 2.

    >>> parse_windows("first"), parse_windows("8")
    (1, 8)
    """
    if text == FIRST:
        return BEGINNING
    if not (text.isascii() and text.isdecimal() and len(text) <= 5 and 2 <= int(text) <= _MOST_WINDOWS):
        raise InputError(f"windows is {shortened(text, 40)!r}; wanted first, or a number from 2 to {_MOST_WINDOWS:,}")
    return int(text)


def check_windows(windows: int) -> int:
    """The number of windows, or an error if it is not valid."""
    if isinstance(windows, bool) or not isinstance(windows, int) or not BEGINNING <= windows <= _MOST_WINDOWS:
        raise InputError(f"windows is {windows!r}; wanted a number from {BEGINNING} to {_MOST_WINDOWS:,}")
    return windows


def parts_of(texts: Sequence[str], counter: TokenCounter | None, most: int) -> Parts:
    """The parts of each text, at most `most` per text; without a counter, or with one window, whole texts."""
    every = np.arange(len(texts))
    places = [] if counter is None or counter.room < 1 or most == BEGINNING else may_be_long(texts, counter.room)
    if counter is None or not places:
        return Parts(list(texts), every, np.ones(len(texts)))
    read: list[list[tuple[str, float]]] = [[(text, 1.0)] for text in texts]
    for index, windows in zip(places, cut_texts([texts[index] for index in places], counter), strict=True):
        if len(windows) > 1:
            text = texts[index]
            read[index] = [(text[w.begin : w.end].strip(), float(w.tokens)) for w in spread(windows, most)]
    owners = np.repeat(every, [len(parts) for parts in read])
    flat = [part for parts in read for part in parts]
    return Parts([text for text, _ in flat], owners, np.array([weight for _, weight in flat]))


def averaged(values: F32, parts: Parts, n_texts: int, *, of_length_1: bool) -> F32:
    """One vector per text: the vector of its only part, or the weighted mean of its parts."""
    if len(parts.texts) == n_texts:
        return values
    counts = np.bincount(parts.owners, minlength=n_texts)
    firsts = np.cumsum(counts) - counts
    means = np.zeros((n_texts, values.shape[1]))
    # Part after part, element by element: the sums of a text do not depend on the other texts.
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
    """Indices of texts that may have more than `room` tokens: every token has at least one byte."""
    return [
        index
        for index, text in enumerate(texts)
        if 4 * len(text) > room and (len(text) > room or len(text.encode("utf-8", "surrogatepass")) > room)
    ]


def chunks(texts: Sequence[str]) -> Iterator[slice]:
    """Slices of the texts of bounded size; a larger text has its own slice."""
    begin = characters = 0
    for end, text in enumerate(texts):
        characters += len(text)
        if end > begin and (end - begin == _TEXTS or characters > _CHARACTERS):
            yield slice(begin, end)
            begin, characters = end, len(text)
    if len(texts):
        yield slice(begin, len(texts))


def cut_texts(texts: Sequence[str], counter: TokenCounter) -> list[list[Window]]:
    """All windows of each text that have tokens; one window if the whole text fits."""
    pieces = [
        (index, begin, end)
        for index, text in enumerate(texts)
        for begin, end in sentences(text, least=min(_LEAST_CHARACTERS, counter.room // 4))
    ]
    found: list[list[Window]] = [[] for _ in texts]
    for index, window in _counted(texts, pieces, counter):
        found[index].append(window)
    packed = [_packed(sorted(windows), counter.room) for windows in found]
    _join_what_fits(texts, found, packed, counter)
    return packed


def sentences(text: str, *, least: int = 1) -> Iterator[tuple[int, int]]:
    """Begin and end of sentences: they end at line breaks, stops before a space, and stops of Chinese and Japanese.

    Together they are the whole text. A sentence of fewer than `least` characters is joined with the next.

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
    """At most `most` of the windows: the first, the last, and others at even intervals.

    >>> spread(list("abcdefg"), 3)
    ['a', 'd', 'g']
    """
    if len(windows) <= most:
        return list(windows)
    return [windows[index] for index in np.rint(np.linspace(0, len(windows) - 1, most)).astype(int).tolist()]


def _counted(
    texts: Sequence[str], pieces: list[tuple[int, int, int]], counter: TokenCounter
) -> Iterator[tuple[int, Window]]:
    """The pieces with their token counts; a piece with too many is cut until every part fits."""
    while pieces:
        tokens, unknown = counter.count([texts[index][begin:end] for index, begin, end in pieces])
        longer = []
        for (index, begin, end), n_tokens, n_unknown in zip(pieces, tokens.tolist(), unknown.tolist(), strict=True):
            if n_tokens > counter.room and end - begin > 1:
                longer += [(index, *part) for part in _cut(texts[index], begin, end, n_tokens / counter.room)]
            elif n_tokens:
                yield index, Window(begin, end, n_tokens, n_unknown)
        pieces = longer


def _cut(text: str, begin: int, end: int, times: float) -> Iterator[tuple[int, int]]:
    """Parts of about equal length of a sentence with `times` the tokens of a window, cut at spaces if possible."""
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
    """Adjacent pieces joined to windows of at most `room` tokens."""
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
    """One window for each text that fits as a whole: some tokenizers add a token at the start of each sentence."""
    doubtful = [
        index
        for index, windows in enumerate(packed)
        if len(windows) > 1 and sum(w.tokens for w in windows) <= counter.room + len(pieces[index])
    ]
    tokens, unknown = counter.count([texts[index] for index in doubtful])
    for index, n_tokens, n_unknown in zip(doubtful, tokens.tolist(), unknown.tolist(), strict=True):
        if n_tokens <= counter.room:
            packed[index] = [Window(0, len(texts[index]), n_tokens, n_unknown)]
