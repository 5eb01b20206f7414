"""Markup and habits of form in texts: what each one is, which texts have it, and their view for tests."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from textassay.corpus.arrays import Bool
from textassay.corpus.hashed_ngrams import Tokenised
from textassay.corpus.tokenizers import Tokenizer, text_bytes

LOWERCASE = "lowercase"
NOT_COMPOSED = "not composed"
# A shift smaller than this changes no conclusion: a tenth of the texts where a habit of writing differs, a fiftieth for
# an element of markup, a hundredth where the trait is junk that clean text has none of.
HABIT, ELEMENT, JUNK = 0.1, 0.02, 0.01


@dataclass(frozen=True)
class Trait:
    """A question to a text. `says` completes "12 % of texts ..."; `fix` may name the `{side}` that has more of it.

    `pattern` is an RE2 expression, or `NOT_COMPOSED`. With `among`, only texts that match it are counted. A `cited`
    trait shows its most common match. `unseen_by` names tokenizers (or `LOWERCASE`) that hide it. No text has the trait
    without one of the characters in `needs`, where any character that is not ASCII counts as any other of them.
    `by_option` is true if an option of the comparison is the fix, and not a change of the texts. `is_markdown` is true
    for what removing Markdown removes; within a block of code only an `is_code` trait is Markdown.
    """

    kind: str
    says: str
    pattern: str
    fix: str
    gap: float = JUNK
    among: str = ""
    cited: bool = False
    unseen_by: tuple[str, ...] = ()
    needs: str = ""
    by_option: bool = False
    is_markdown: bool = False
    is_code: bool = False

    def may_show(self, present: NDArray[np.bool_]) -> bool:
        """Whether texts that hold these bytes can have the trait at all."""
        codes = [ord(character) for character in self.needs]
        beyond = any(code > 127 for code in codes) and present[128:].any()
        return not codes or bool(beyond or present[[code for code in codes if code < 128]].any())

    def unseen(self, tokenizer: Tokenizer) -> str:
        """The option under which tokens do not show this trait, or '' where they do."""
        if LOWERCASE in self.unseen_by and tokenizer.lowercase:
            return "the option lowercase"
        return f"the tokenizer {tokenizer.name}" if tokenizer.name in self.unseen_by else ""


def bytes_in(texts: pa.Array) -> NDArray[np.bool_]:
    """Which of the 256 bytes the texts hold."""
    present = np.zeros(256, dtype=bool)
    present[text_bytes(texts)[0]] = True
    return present


def shows(texts: pa.Array, trait: Trait, *, present: NDArray[np.bool_] | None = None) -> Bool:
    """Which texts have the trait, among those that count for it; `present` are the bytes that they hold, if known."""
    if trait.among:
        texts = texts.filter(pc.match_substring_regex(texts, trait.among))
    if present is not None and not trait.may_show(present):
        return np.zeros(len(texts), dtype=bool)
    if trait.pattern == NOT_COMPOSED:
        return np.asarray(pc.not_equal(texts, pc.utf8_normalize(texts, "NFC")), dtype=bool)
    return np.asarray(pc.match_substring_regex(texts, trait.pattern), dtype=bool)


_BLOCK_OF_CODE = r"(?ms)^[ \t]*(?:```|~~~).*?(?:^[ \t]*(?:```|~~~)[ \t]*$|\z)"


def without_code(texts: pa.Array) -> pa.Array:
    """The texts without their blocks of code, where a comment looks like a heading."""
    return pc.replace_substring_regex(texts, _BLOCK_OF_CODE, "")


_TEMPLATE = (
    r"(?i)<\|[^|<>\s]+\|>|\[/?(?:inst|sep|cls|pad|unk|mask|bos|eos)\]|<</?sys>>|</?(?:unk|pad|s|bos|eos|sos|sep|cls|mask)>"
    r"|<(?:start|end)_of_[a-z]+>|<0x[0-9a-f]{2}>"
)
_HTML_NAMES = (
    "a|abbr|b|blockquote|body|br|button|center|code|div|em|font|form|h[1-6]|head|hr|html|i|iframe|img|input|li|link|meta|ol|p|pre"
    "|script|section|small|span|strong|style|sub|sup|svg|table|tbody|td|th|thead|title|tr|u|ul"
)
_STRIP, CLEAN = (
    '--strip markdown (in Python strip="markdown") compares the words without it',
    "remove them from the {side} before comparing",
)
_WRITING = "a habit of writing: no option hides it"


def _element(kind: str, says: str, pattern: str, needs: str, *, is_code: bool = False) -> Trait:
    return Trait(
        kind, says, pattern, _STRIP, gap=ELEMENT, needs=needs, by_option=True, is_markdown=True, is_code=is_code
    )


def _habit(kind: str, says: str, pattern: str, needs: str = "") -> Trait:
    return Trait(kind, says, pattern, _WRITING, gap=HABIT, needs=needs)


# What language models add to their words. Each is a finding of its own: many texts with bold against none is a clear
# difference even where both samples have lists.
MARKUP: tuple[Trait, ...] = (
    _element("bold", "have bold words", r"\*\*[^\s*](?:[^*\n]*[^\s*])?\*\*|__[^\s_](?:[^_\n]*[^\s_])?__", "*_"),
    _element(
        "italics",
        "have words in italics",
        r"""(?m)(?:^|[\s("'])(?:\*[^*\s](?:[^*\n]*[^*\s])?\*|_[^_\s](?:[^_\n]*[^_\s])?_)(?:[\s.,;:!?)"']|$)""",
        "*_",
    ),
    _element("headings", "have headings", r"(?m)^ {0,3}#{1,6}[ \t]+\S", "#"),
    _element("bullet_lists", "have bullet lists", r"(?m)^[ \t]*[-*+•][ \t]+\S", "-*+•"),
    _element("numbered_lists", "have numbered lists", r"(?m)^[ \t]*\d{1,3}[.)][ \t]+\S", "0123456789"),
    _element("tables", "have tables", r"(?m)^[ \t]*\|?[ \t]*:?-{2,}:?[ \t]*\|[-|: \t]*$", "|"),
    _element("code_blocks", "have code blocks", r"(?m)^[ \t]*(?:```|~~~)", "`~", is_code=True),
    _element(
        "code_languages",
        "name the language of a code block",
        r"(?m)^[ \t]*(?:```|~~~)[ \t]*[A-Za-z]",
        "`~",
        is_code=True,
    ),
    _element("inline_code", "have inline code", r"(?:^|[^`])`[^`\n]+`(?:[^`]|$)", "`"),
    _element("links", "have links", r"\[[^\]\n]*\]\([^()\s]+\)", "["),
    _element("block_quotes", "have block quotes", r"(?m)^ {0,3}>[ \t]?\S", ">"),
    # Those of links in Markdown follow a parenthesis.
    Trait("addresses", "have bare web addresses", r"(?:^|[^(\w])https?://\S", CLEAN, gap=ELEMENT, needs=":"),
    Trait(
        "latex",
        "have LaTeX",
        r"\\\(|\\\[|\$\$|\\(?:frac|sqrt|sum|int|cdot|times|begin|text|left|right)\b|\$[^$\s](?:[^$\n]*[^$\s])?\$(?:[^\d]|$)",
        CLEAN,
        gap=ELEMENT,
        needs="\\$",
    ),
    Trait(
        "emoji",
        "have emoji",
        r"[\x{1F300}-\x{1FAFF}\x{2600}-\x{27BF}\x{2B50}\x{1F1E6}-\x{1F1FF}]",
        CLEAN,
        gap=ELEMENT,
        cited=True,
        needs="é",
    ),
    Trait(
        "html",
        "have HTML tags",
        rf"(?i)</?(?:{_HTML_NAMES})(?:\s[^<>]*)?/?>",
        CLEAN,
        cited=True,
        needs="<",
    ),
    Trait(
        "reasoning_tags",
        "have reasoning tags",
        r"(?i)</?(?:think|thinking|reasoning|scratchpad|answer)\s*>",
        "compare answers without their reasoning",
        cited=True,
        needs="<",
    ),
    Trait("template_tokens", "have tokens of a chat template", _TEMPLATE, CLEAN, cited=True, needs="<["),
)

# How texts begin and end. Refusals and stock openings are wording, but a sentence about wording should name them.
HABITS: tuple[Trait, ...] = (
    Trait(
        "refusals",
        "begin with a refusal",
        r"(?i)^\W*(?:(?:i['’]?m|i am) (?:really |very |so )?sorry|sorry, "
        r"|i (?:can(?:no|['’]?)t|am unable|am not able|won['’]t)\b"
        r"|as an (?:ai|artificial)|i apologi[sz]e|unfortunately, i)",
        "look at these texts: a refusal is no answer",
        gap=ELEMENT,
        needs="SsIiAaUu",
    ),
    Trait(
        "stock_openings",
        "begin with a stock opening",
        r"(?i)^\W*(?:sure|certainly|of course|absolutely|great question|here(?:['’]s| is| are))\b",
        "remove the opening from the {side} to compare the rest",
        gap=0.05,
        cited=True,
    ),
    Trait(
        "final_punctuation",
        "end in sentence-final punctuation",
        r"""[.!?…。！？｡।؟][\s"'”’»)\]}*_]*$""",
        "if texts are cut off, raise the maximum length; if not, add or strip the final punctuation of one side",
        gap=HABIT,
        unseen_by=("plain",),
    ),
    _habit("final_question", "end in a question", r"""\?[\s"'”’)\]*_]*$""", "?"),
)

# Marks of punctuation, for tests only: differences in them are differences in wording, not in format.
MARKS: tuple[Trait, ...] = (
    _habit("line_breaks", "have line breaks", r"\n", "\n"),
    _habit("paragraphs", "have paragraphs", r"\n[ \t]*\n", "\n"),
    _habit("digits", "have digits", r"\d", "0123456789"),
    _habit("capitals", "have words in capitals", r"\b[A-Z]{2,}\b"),
    _habit("exclamations", "have exclamation marks", "!", "!"),
    _habit("brackets", "have brackets", r"\(", "("),
    _habit("quotes", "have double quotes", r"[\"“”„«»]", '"“'),
    _habit("semicolons", "have semicolons", ";", ";"),
    _habit("colons", "have colons", ":", ":"),
    _habit("dashes", "have dashes", r"[—–]|\s--?\s", "-—"),
)


@dataclass(frozen=True, eq=False)
class Markup:
    """Which texts have which traits of form: one row per text, one column per trait. Merges by concatenation."""

    reads: ClassVar[tuple[str, ...]] = ("texts",)
    shared: ClassVar[bool] = True
    traits: ClassVar[Sequence[Trait]] = (*MARKUP, *HABITS, *MARKS)

    shown: Bool

    @classmethod
    def of(cls, material: Tokenised, /) -> Self:
        """Look for every trait in the texts of a sample."""
        texts = material.sample.texts
        present = bytes_in(texts)
        return cls(np.stack([shows(texts, trait, present=present) for trait in cls.traits], axis=1))

    def merge(self, other: Self, /) -> Self:
        """These texts, then the other ones."""
        return type(self)(np.concatenate((self.shown, other.shown)))
