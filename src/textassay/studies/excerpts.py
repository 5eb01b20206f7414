"""Excerpts: example texts cut to a window around a phrase."""

import re
from collections.abc import Sequence

from textassay.corpus.tokenizers import Tokenizer

WIDTH = 160
_DOTS = "…"

# What stands before, between and after the tokens of a phrase in the text itself.
_SEAMS = {"char": ("", "", ""), "whitespace": (r"(?<!\S)", r"\s+", r"(?!\S)"), "hf": ("", r"\s*", "")}
# What subword tokenizers put before a word or its continuation.
_SUBWORD_MARK = re.compile("^(?:[Ġ▁]+|##)")


def joined(words: Sequence[str], tokenizer: Tokenizer) -> str:
    """Tokens as a phrase to read."""
    return ("" if tokenizer.name == "char" else " ").join(words)


def excerpt(text: str, words: Sequence[str], tokenizer: Tokenizer) -> str:
    """At most 160 characters of a text around the phrase; the beginning, where its tokens are not found as written."""
    if len(text) <= WIDTH:
        return text
    found = _pattern(words, tokenizer).search(text)
    begin, end = found.span() if found else (0, 0)
    room = WIDTH - 2 * len(_DOTS)
    start = min(max((begin + end - room) // 2, 0), len(text) - room)
    # A phrase wider than the window is shown from its beginning.
    start = min(start, begin)
    stop = start + room
    return f"{_DOTS if start else ''}{text[start:stop]}{_DOTS if stop < len(text) else ''}"


def _pattern(words: Sequence[str], tokenizer: Tokenizer) -> re.Pattern[str]:
    kind = tokenizer.name.partition(":")[0]
    if kind == "hf":
        words = [_SUBWORD_MARK.sub("", word).strip() for word in words]
    if kind in _SEAMS:
        before, between, after = _SEAMS[kind]
    else:
        before, between, after = _edge(words[0][0], r"(?<!\w)"), r"\s*", _edge(words[-1][-1], r"(?!\w)")
    # Two repetitions side by side would make the search slow on long runs of white space: no empty words.
    body = between.join(r"\s+" if word.isspace() else re.escape(word) for word in words if word)
    return re.compile(before + body + after, re.IGNORECASE if tokenizer.lowercase else 0)


def _edge(character: str, guard: str) -> str:
    return guard if character.isalnum() else ""
