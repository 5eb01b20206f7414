"""Tokenizers: texts to tokens, chosen by name, each with a signature."""

import difflib
import hashlib
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import chain
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from textassay.corpus.files.reading import read_whole
from textassay.corpus.sample import as_text_array
from textassay.errors import InputError, MissingExtra, Setting


@dataclass(frozen=True, slots=True, eq=False)
class Tokens:
    """Text `i` owns `ids[offsets[i]:offsets[i + 1]]`; `vocabulary[id]` is the word."""

    ids: NDArray[np.int32]
    vocabulary: pa.Array
    offsets: NDArray[np.int64]

    @property
    def lengths(self) -> NDArray[np.int64]:
        """Tokens a text."""
        return np.diff(self.offsets)

    def words(self, start: int, stop: int) -> list[str]:
        """The words at these flat positions."""
        words: list[str] = self.vocabulary.take(pa.array(self.ids[start:stop])).to_pylist()
        return words


def tokens_from_lists(lists: pa.Array) -> Tokens:
    """Tokens from an Arrow array of lists of words; empty words (from leading spaces) do not count."""
    offsets = np.asarray(lists.offsets, dtype=np.int64) - lists.offsets[0].as_py()
    return tokens_from_words(lists.flatten(), offsets)


def tokens_from_words(words: pa.Array, offsets: NDArray[np.int64]) -> Tokens:
    """Tokens from flat words and where each text begins; the vocabulary is in order of first appearance, without ''."""
    encoded = words.dictionary_encode()
    vocabulary = encoded.dictionary
    ids = np.asarray(encoded.indices).astype(np.int32, copy=False)
    empty = pc.index(vocabulary, pa.scalar("", vocabulary.type)).as_py()
    if empty >= 0:
        kept = ids != empty
        offsets = np.concatenate(([0], np.cumsum(kept)))[offsets]
        ids = ids[kept]
        ids -= ids > empty
        vocabulary = pa.concat_arrays([vocabulary[:empty], vocabulary[empty + 1 :]])
    return Tokens(ids, vocabulary, offsets)


def concat_tokens(parts: Sequence[Tokens]) -> Tokens:
    """The tokens of several runs of texts as one, the same as if the texts had been tokenised together.

    >>> first, second = (tokens_from_lists(pa.array([words])) for words in (["a", "cat"], ["a", "dog"]))
    >>> both = concat_tokens([first, second])
    >>> both.words(0, 4), both.offsets.tolist(), both.vocabulary.to_pylist()
    (['a', 'cat', 'a', 'dog'], [0, 2, 4], ['a', 'cat', 'dog'])
    """
    if not parts:
        return Tokens(np.empty(0, np.int32), pa.array([], pa.large_string()), np.zeros(1, np.int64))
    if len(parts) == 1:
        return parts[0]
    encoded = pa.concat_arrays([part.vocabulary for part in parts]).dictionary_encode()
    shared = np.asarray(encoded.indices).astype(np.int32, copy=False)
    first_word = np.cumsum([0, *(len(part.vocabulary) for part in parts)])
    first_token = np.cumsum([0, *(len(part.ids) for part in parts)])
    ids = np.empty(first_token[-1], np.int32)
    for part, word, token in zip(parts, first_word[:-1], first_token[:-1], strict=True):
        # "clip" writes straight into the result, where "raise" would copy; no id is out of bounds.
        np.take(shared[word:], part.ids, out=ids[token : token + len(part.ids)], mode="clip")
    offsets = [part.offsets[:-1] + token for part, token in zip(parts, first_token[:-1], strict=True)]
    return Tokens(ids, encoded.dictionary, np.concatenate([*offsets, first_token[-1:]]))


# Encodings carry far more than the numbers taken from them, so few of them are held at a time.
BATCH_TEXTS = 8192


def load_hf_tokenizer(path: str) -> tuple[str, Callable[[pa.Array], Tokens]]:
    """Digest (blake2b, 8 hex digits) and splitter of a tokenizer.json file."""
    try:
        from tokenizers import Tokenizer
    except ImportError:
        raise MissingExtra("tokenizers", "tokenizers") from None
    content = read_whole(path)
    try:
        tokenizer = Tokenizer.from_buffer(content)
    except Exception as error:  # the package raises bare exceptions
        raise InputError(f"tokenizer {path!r}: not a Hugging Face tokenizer.json file: {_one_line(error)}") from None
    _make_faithful(tokenizer)
    return hashlib.blake2b(content, digest_size=4).hexdigest(), partial(_split, tokenizer, path)


def _make_faithful(tokenizer: Any) -> None:
    """Switch off what a training set-up may have left in the file: padding, truncation and random merges."""
    tokenizer.no_padding()
    tokenizer.no_truncation()
    if getattr(tokenizer.model, "dropout", None):
        tokenizer.model.dropout = None


def _split(tokenizer: Any, path: str, texts: pa.Array) -> Tokens:
    starts = range(0, len(texts), BATCH_TEXTS)
    parts = [_encode(tokenizer, path, texts[start : start + BATCH_TEXTS]) for start in starts]
    offsets = np.cumsum(np.concatenate([np.zeros(1, np.int64), *(lengths for _, lengths in parts)]))
    numbers = np.concatenate([np.empty(0, np.int64), *(numbers for numbers, _ in parts)])
    encoded = pa.array(numbers).dictionary_encode()
    words = [tokenizer.id_to_token(number) for number in encoded.dictionary.to_pylist()]
    return Tokens(np.asarray(encoded.indices), pa.array(words, pa.large_string()), offsets)


def _encode(tokenizer: Any, path: str, texts: pa.Array) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Token numbers of the texts, flat, and how many each text has."""
    try:
        encodings = tokenizer.encode_batch(texts.to_pylist(), add_special_tokens=False)
    except Exception as error:  # for example a word level model without an unknown token
        raise InputError(f"tokenizer {path!r}: cannot encode the texts: {_one_line(error)}") from None
    lists = [encoding.ids for encoding in encodings]
    return np.fromiter(chain.from_iterable(lists), np.int64), np.fromiter(map(len, lists), np.int64, len(lists))


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split())[:200]


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
    """Tokens between white space, as `str.split()` gives them."""
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


Rule = tuple[str, str]
BLANK, NOTHING = pa.scalar(" ", pa.large_string()), pa.scalar("", pa.large_string())

# The final full stop. U+001C to U+001F end no sentence: NLTK 3.10 does not take them for space here (earlier ones did).
FINAL_STOP: Rule = (r"""([^.])(\.)([\])}>"']*)[\p{Z}\x09-\x0d\x{85}]*\z""", r"\1 \2\3 ")

# In NLTK's order, which matters: each rule sees the spaces that the earlier ones put in.
BEFORE_PADDING: tuple[Rule, ...] = (
    (r'\A"', "``"),
    (r"``", r" \0 "),
    (r"""([ (\[{<])("|'')""", r"\1 `` "),
    (r"([:,])([^\p{Nd}])", r" \1 \2"),
    (r"([:,])(\n?)\z", r" \1 \2"),
    (r"\.\.\.", r" \0 "),
    (r"[;@#$%&]", r" \0 "),
    FINAL_STOP,
    (r"[?!]", r" \0 "),
    (r"([^'])' ", r"\1 ' "),
    (r"[\]\[(){}<>]", r" \0 "),
    (r"--", r" \0 "),
)
AFTER_PADDING: tuple[Rule, ...] = (
    (r"''", r" \0 "),
    (r'"', r" '' "),
    (r"([^' ])('[sSmMdD]|') ", r"\1 \2 "),
    (r"([^' ])('ll|'LL|'re|'RE|'ve|'VE|n't|N'T) ", r"\1 \2 "),
)

# Python's (?i) takes dotted and dotless capital and small i for one letter, RE2's does not.
ANY_I = "[iI\u0130\u0131]"
INNER = (
    ("can", "not"),
    ("d", "'ye"),
    (f"g{ANY_I}m|lem", "me"),
    ("gon", "na"),
    ("got", "ta"),
    ("more", "'n"),
)
BEFORE_SPACE = (("wan", "na"),)
AFTER_BLANK = (("'t", f"{ANY_I}s"), ("'t", "was"))

# A text with none of these is touched by no rule but the final stop, and most sentences have none.
ANY_CONTRACTION = "(?i)" + "|".join(f"(?:{head})(?:{tail})" for head, tail in (*INNER, *BEFORE_SPACE, *AFTER_BLANK))
ANY_RULE = rf"""["'`:,;@#$%&?!\[\](){{}}<>]|--|\.\.\.|{ANY_CONTRACTION}"""


def split_treebank(texts: pa.Array) -> Tokens:
    """Treebank tokens of each text, as sentences: only the last full stop is parted from its word."""
    mask = pc.match_substring_regex(texts, ANY_RULE)
    marked = pc.replace_with_mask(_apply(texts, [FINAL_STOP]), mask, _apply_all(texts.filter(mask)))
    return split_whitespace(marked)


def _apply_all(texts: pa.Array) -> pa.Array:
    """Every rule in turn, with a blank at both ends from the ending quotes on."""
    padded = pc.binary_join_element_wise(BLANK, _apply(texts, BEFORE_PADDING), BLANK, NOTHING)
    marked = _apply(padded, AFTER_PADDING)
    mask = pc.match_substring_regex(marked, ANY_CONTRACTION)
    contracted = marked.filter(mask)
    return pc.replace_with_mask(marked, mask, _apply(contracted, _contraction_rules(ascii_only=is_plain(contracted))))


def _contraction_rules(*, ascii_only: bool) -> list[Rule]:
    """Rules that take contractions apart; those for ASCII compile in a fraction of the time.

    RE2 has no look-around, so a match takes in the character on either side. Where that is one and the same for two
    neighbours, the second is found on a second round, or, where a round would find too much, by doubling the blanks.
    """
    edge = r"\W" if ascii_only else r"[^\pL\pN_]"
    inner = [(head, tail, edge) for head, tail in INNER] + [(head, tail, f"[{SPACE}]") for head, tail in BEFORE_SPACE]
    return [
        *((f"(?i)({edge})({head})({tail})({after})", r"\1 \2 \3 \4") for head, tail, after in inner for _ in range(2)),
        (" ", "  "),
        *((f"(?i) ({head})({tail})({edge})", r" \1 \2 \3") for head, tail in AFTER_BLANK),
    ]


def _apply(texts: pa.Array, rules: Sequence[Rule]) -> pa.Array:
    for pattern, replacement in rules:
        texts = pc.replace_substring_regex(texts, pattern, replacement)
    return texts


BUILT_IN: dict[str, Callable[[pa.Array], Tokens]] = {
    "words": split_words,
    "plain": split_plain,
    "whitespace": split_whitespace,
    "treebank": split_treebank,
    "char": split_characters,
}
LOWER_ALREADY = ("plain",)

# Splitting needs some ten times the memory of the text, so it goes slice by slice; a text counts its bytes and a bit.
SLICE_BYTES = 1 << 24
TEXT_BYTES = 64


@dataclass(frozen=True)
class Tokenizer:
    """A way to cut texts into tokens; call it with texts. Two with the same signature give the same tokens.

    >>> tokenizer = get_tokenizer("words", lowercase=True)
    >>> tokens = tokenizer(["Don't cross the street.", "   ", "日本語"])
    >>> tokens.words(0, 10)
    ['don', "'", 't', 'cross', 'the', 'street', '.', '日', '本', '語']
    >>> tokens.lengths.tolist(), tokenizer.signature
    ([7, 0, 3], 'words+lower')
    """

    name: str
    lowercase: bool
    split: Callable[[pa.Array], Tokens] = field(repr=False, compare=False)
    signature: str = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "signature", f"{self.name}+lower" if self.lowercase else self.name)

    def __call__(self, texts: pa.Array | Iterable[str]) -> Tokens:
        """Tokens of the texts, in order; a text of white space only has none but keeps its place."""
        array = as_text_array(texts, "texts")
        if array.null_count:
            array = pc.fill_null(array, "")
        return concat_tokens([self.split(lower(part) if self.lowercase else part) for part in _slices(array)])


def get_tokenizer(name: str = "words", *, lowercase: bool = False) -> Tokenizer:
    """The tokenizer of this name.

    - `words`: a run of letters, marks, digits and underscores is a token; any other character but white space is one by
      itself (with the marks that follow it), and so is each Chinese or Japanese character. Case is kept. Text that was
      split at its punctuation beforehand gives the same tokens: `don't` is `don ' t` and `street.` is `street .`. Thai,
      Lao, Khmer and others without spaces between words stay whole runs.
    - `plain`: as `words`, but in lower case and without punctuation and other symbols; Chinese and Japanese characters
      stay. Always lower case, so `lowercase` adds nothing to it or to its signature.
    - `whitespace`: tokens between white space, as `str.split()` gives them; for text that is already tokenised.
    - `treebank`: as NLTK's `TreebankWordTokenizer`: `do n't`, `'s`, quotes as two backticks or two apostrophes. Each
      text counts as one sentence: a full stop within it stays on its word.
    - `char`: every code point; white space between words is one token, a blank, however long it is, and white space at
      the ends is none.
    - a path to a `tokenizer.json` of Hugging Face tokenizers: its token strings, without special tokens, padding or
      truncation; what it does not know is its unknown token.

    `lowercase` lower-cases before splitting, each code point by itself: unlike with `str.lower`, a Greek sigma at the
    end of a word becomes `σ`, not `ς`, and the Turkish `İ` becomes a plain `i`. What is a letter is for the installed
    Arrow to say; one that is newer than Arrow's Unicode tables counts as a symbol.

    >>> get_tokenizer("treebank")(["They don't."]).words(0, 4)
    ['They', 'do', "n't", '.']
    >>> get_tokenizer("plain")(["They don't, 日本!"]).words(0, 5)
    ['they', 'don', 't', '日', '本']
    """
    if isinstance(name, str) and name in BUILT_IN:
        return Tokenizer(name, lowercase and name not in LOWER_ALREADY, BUILT_IN[name])
    if not isinstance(name, str):
        raise InputError(Setting("tokenizer", name), f"; wanted one of {', '.join(BUILT_IN)}, or a path as a string")
    if os.path.isfile(name):
        digest, split = load_hf_tokenizer(name)
        return Tokenizer(f"hf:{digest}", lowercase, split)
    raise InputError(_unknown(name))


def _unknown(name: str) -> str:
    if name.endswith(".json") or os.path.sep in name:
        return f"tokenizer {name!r}: no such file; wanted a tokenizer.json file or one of {', '.join(BUILT_IN)}"
    near = difflib.get_close_matches(name.lower(), BUILT_IN, n=1)
    hint = f"; did you mean {near[0]!r}?" if near else ";"
    return f"no tokenizer {name!r}{hint} names are {', '.join(BUILT_IN)}, or a path to a tokenizer.json file"


def _slices(texts: pa.Array) -> Iterator[pa.Array]:
    """The texts in runs of bounded size; a text larger than that is a run of its own."""
    _, begins = text_bytes(texts)
    bucket = (begins[:-1] + TEXT_BYTES * np.arange(len(texts))) // SLICE_BYTES
    cuts = np.flatnonzero(np.diff(bucket)) + 1
    for start, stop in zip([0, *cuts], [*cuts, len(texts)], strict=True):
        yield texts[start:stop]
