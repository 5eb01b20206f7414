"""Splitters: white space, words and characters of an Arrow text array, without a Python loop over texts."""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from textassay.corpus.tokens import Tokens, tokens_from_lists, tokens_from_words

# The insides of RE2 character classes. RE2's own \s and \w know ASCII only.
SPACE = r"\p{Z}\x09-\x0d\x1c-\x1f\x{85}"
SPACE_BUT_BLANK = r"\x09-\x0d\x1c-\x1f\x{85}\x{a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000}"

# Chinese and Japanese are written without spaces: ideographs, kana and their repetition and length signs.
# Ranges rather than \p{Han}, so that the rule does not move with the Unicode version of the installed Arrow.
IDEOGRAPH = (
    r"\x{3005}-\x{3007}\x{3021}-\x{3029}\x{3031}-\x{3035}\x{3038}-\x{303c}\x{3041}-\x{3096}\x{309d}-\x{309f}"
    r"\x{30a1}-\x{30fa}\x{30fc}-\x{30ff}\x{31f0}-\x{31ff}\x{3400}-\x{4dbf}\x{4e00}-\x{9fff}\x{f900}-\x{faff}"
    r"\x{ff66}-\x{ff9f}\x{1aff0}-\x{1b16f}\x{20000}-\x{3fffd}"
)

# A mark stays with what it follows, so that a variation selector or an accent after a symbol does not begin a word.
ALONE = rf"(?:[^\pL\pM\pN_{SPACE}]|[{IDEOGRAPH}])\pM*"
ALONE_ASCII = r"[^0-9A-Za-z_\x09-\x0d ]"
SYMBOL = rf"[^\pL\pM\pN_{SPACE}{IDEOGRAPH}]\pM*"
GUARD = pa.array(["."], pa.large_string())
UNTIDY_SPACE = rf"[{SPACE}]{{2,}}|[{SPACE_BUT_BLANK}]"


def text_bytes(texts: pa.Array) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """The UTF-8 bytes of a large_string array and where each text begins in them, without a copy where it can."""
    _, bounds, data = texts.buffers()
    if bounds is None or len(texts) == 0:
        return np.empty(0, np.uint8), np.zeros(len(texts) + 1, np.int64)
    offsets = np.frombuffer(bounds, np.int64)[texts.offset : texts.offset + len(texts) + 1]
    flat = np.frombuffer(data, np.uint8) if data else np.empty(0, np.uint8)
    return flat[offsets[0] : offsets[-1]], offsets - offsets[0]


def is_plain(texts: pa.Array) -> bool:
    """All ASCII and free of the separators U+001C to U+001F, which Arrow's ASCII splitter does not take for space."""
    data, _ = text_bytes(texts)
    return len(data) == 0 or bool(data.max() < 128 and not (data - 28 < 4).any())


def lower(texts: pa.Array) -> pa.Array:
    """Lower-cased texts, one code point at a time."""
    return pc.ascii_lower(texts) if is_plain(texts) else pc.utf8_lower(texts)


def split_whitespace(texts: pa.Array) -> Tokens:
    """What stands between white space, as `str.split()` has it."""
    if is_plain(texts):
        return tokens_from_lists(pc.ascii_split_whitespace(texts))
    # Arrow looks one character beyond white space at the end of a text and fails to split there when it is not UTF-8,
    # as it may be after the last text; so let there be one more text.
    guarded = pa.concat_arrays([texts, GUARD])
    return tokens_from_lists(pc.utf8_split_whitespace(guarded)[:-1])


def split_words(texts: pa.Array) -> Tokens:
    """Runs of letters, marks, digits and underscore; any other character, and any ideograph or kana, by itself."""
    alone = ALONE_ASCII if is_plain(texts) else ALONE
    return split_whitespace(pc.replace_substring_regex(texts, alone, r" \0 "))


def split_plain(texts: pa.Array) -> Tokens:
    """The words in lower case, without the tokens that begin with a punctuation mark or another symbol."""
    lowered = lower(texts)
    if is_plain(lowered):
        return split_whitespace(pc.replace_substring_regex(lowered, ALONE_ASCII, " "))
    return split_words(pc.replace_substring_regex(lowered, SYMBOL, " "))


def split_characters(texts: pa.Array) -> Tokens:
    """Every code point; a run of white space is one blank, and none at the ends."""
    tidy = pc.replace_substring_regex(pc.utf8_trim_whitespace(texts), UNTIDY_SPACE, " ")
    data, bounds = text_bytes(tidy)
    begins = np.flatnonzero((data & 0xC0) != 0x80)
    buffers = [None, pa.py_buffer(np.append(begins, len(data))), pa.py_buffer(data)]
    characters = pa.Array.from_buffers(pa.large_string(), len(begins), buffers)
    return tokens_from_words(characters, np.searchsorted(begins, bounds))
