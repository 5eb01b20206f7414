"""A text with a phrase lit up: three pieces, so that each can be escaped by itself."""

import re
from dataclasses import dataclass

from textassay.corpus.printable import printable

_DOTS = "…"
# What subword tokenizers write before a word or its continuation; the text itself does not have it.
_SUBWORD_MARK = re.compile("^(?:[Ġ▁]+|##)")


@dataclass(frozen=True)
class Lit:
    """What stands before the phrase, the phrase as the text has it (empty when it was not found), and what follows."""

    before: str
    phrase: str
    after: str


def lit(text: str, phrase: str, *, width: int = 160) -> Lit:
    r"""At most `width` characters of the text around the first place where the phrase stands, made printable.

    Tokens of the phrase may be joined or apart in the text, and upper or lower case.

    >>> lit("Two men \x1b don't know.", "don ' t")
    Lit(before='Two men \\x1b ', phrase="don't", after=' know.')
    """
    start, end = _find(text, phrase)
    end = min(end, start + width)
    # The phrase stands in the middle of a long text, and what one side does not need the other may have.
    left = max(0, min(start - (width - (end - start)) // 2, len(text) - width))
    right = min(len(text), left + width)
    return Lit(
        (_DOTS if left else "") + printable(text[left:start]),
        printable(text[start:end]),
        printable(text[end:right]) + (_DOTS if right < len(text) else ""),
    )


def _find(text: str, phrase: str) -> tuple[int, int]:
    tokens = phrase.split()
    plain = [bare for token in tokens if (bare := _SUBWORD_MARK.sub("", token))]
    for words in (tokens, plain):
        joined = r"\s*".join(map(re.escape, words))
        # As whole words first: the phrase "a" should not light up inside "cat".
        for pattern in (rf"(?<!\w){joined}(?!\w)", joined) if joined else ():
            found = re.search(pattern, text, re.IGNORECASE)
            if found:
                return found.span()
    return 0, 0
