"""Penn Treebank word splitting for a whole array at a time, token for token what NLTK's TreebankWordTokenizer gives."""

from collections.abc import Sequence

import pyarrow as pa
import pyarrow.compute as pc

from textassay.corpus.splitters import SPACE, is_plain, split_whitespace
from textassay.corpus.tokens import Tokens

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
