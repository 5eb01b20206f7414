"""Format traits: yes-or-no questions to a text's form, each put to a whole array of texts at once."""

from collections import Counter
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from textassay.corpus.printable import shortened
from textassay.corpus.splitters import text_bytes
from textassay.corpus.tokenizers import BUILT_IN, Tokenizer

# A shift smaller than this changes no conclusion: a tenth of the texts where a habit of writing differs, a hundredth
# where the trait is junk that clean text has none of.
HABIT, JUNK = 0.1, 0.01

LOWERCASE = "lowercase"
NOT_COMPOSED = "not composed"
_CITED_FROM = 500


@dataclass(frozen=True)
class Trait:
    """A question to a text. `says` completes "12 % of texts ..."; `fix` may name the `{side}` that has more of it.

    `pattern` is an RE2 expression, or `NOT_COMPOSED`. With `among`, only texts that match it are counted. A `cited`
    trait shows its most common match. `unseen_by` names tokenizers (or `LOWERCASE`) that hide it. No text has the trait
    without one of the characters in `needs`, where any that is not ASCII stands for all of these.
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

    def may_show(self, present: NDArray[np.bool_]) -> bool:
        """Whether texts that hold these bytes can have the trait at all."""
        codes = [ord(character) for character in self.needs]
        beyond = any(code > 127 for code in codes) and present[128:].any()
        return not codes or bool(beyond or present[[code for code in codes if code < 128]].any())

    def unseen(self, tokenizer: Tokenizer) -> str:
        """The option under which tokens do not show this trait, or '' where they do."""
        if LOWERCASE in self.unseen_by and tokenizer.lowercase:
            return "--lowercase"
        return f"--tokenizer {tokenizer.name}" if tokenizer.name in self.unseen_by else ""


_TAG_NAMES = "think|thinking|answer|unk|pad|s|bos|eos|sos|sep|cls|mask|start|end|(?:start|end)_of_[a-z]+|0x[0-9A-F]{2}"
_HTML_NAMES = (
    "a|abbr|b|blockquote|body|br|button|center|code|div|em|font|form|h[1-6]|head|hr|html|i|iframe|img|input|li|link|meta|ol|p|pre"
    "|script|section|small|span|strong|style|sub|sup|svg|table|tbody|td|th|thead|title|tr|u|ul"
)
_TAGS = (
    rf"(?i)</?(?:{_TAG_NAMES})\s*>|<\|[^|<>\s]+\|>|\[/?(?:sep|cls|pad|unk|mask|bos|eos|inst)\]"
    rf"|</?(?:{_HTML_NAMES})(?:\s[^<>]*)?/?>"
)
_ENTITIES = (
    r"(?i)& ?(?:#\d{1,7}|#x[0-9a-f]{1,6}|amp|lt|gt|quot|apos|nbsp|hellip|[mn]dash|[lr][sd]quo|[sb]dquo|[lr]aquo"
    r"|bull|middot|copy|reg|trade|deg|euro|pound|cent|sect|times"
    r"|[a-z](?:acute|grave|circ|uml|tilde|cedil|ring|slash)|szlig) ?;"
)
# What the second and later bytes of a UTF-8 character look like when they are read as Latin-1 or Windows-1252.
_LATER_BYTE = r"[\x{80}-\x{bf}€‚ƒ„…†‡ˆ‰Š‹ŒŽ‘’“”•–—˜™š›œžŸ]"
_MOJIBAKE = rf"[ÂÃÐÑ]{_LATER_BYTE}|â[€\x{{80}}]{_LATER_BYTE}|ð[Ÿ\x{{9f}}]{_LATER_BYTE}|ï¿½|ï»¿|\x{{fffd}}"
_MARKDOWN = (
    r"(?m)^ {0,3}#{1,6} |^ {0,3}[-*+] |^ {0,3}\d{1,2}[.)] |\*\*[^\s*](?:[^*\n]*[^\s*])?\*\*|```"
    r"|\[[^\]\n]+\]\([^()\s]+\)"
)

_CAPITALS = "ABCDEFGHIJKLMNOPQRSTUVWXYZÀ"
_CONTROL = "".join(map(chr, (*range(0x09), 0x0B, 0x0C, *range(0x0E, 0x20), 0x7F, 0xAD)))

_CLEAN = "remove them from the {side} before comparing"

TRAITS: tuple[Trait, ...] = (
    Trait(
        "tokenised_punctuation",
        "have a space before punctuation",
        r"""(?i)\S[ \t]+[.,!?;:](?:[\s"'”’]|$)|[a-z] ['’] ?(?:s|t|re|ve|ll|d|m)\b""",
        "--tokenizer words treats both alike",
        gap=HABIT,
        unseen_by=("words", "plain"),
        needs=".,!?;:'’",
    ),
    Trait(
        "split_contractions",
        "have split contractions or Treebank marks",
        r"(?i)[a-z] n['’]t\b|(?:^|[^`])``(?:[^`]|$)|-[lr][rsc]b-",
        "--tokenizer treebank treats contractions alike; or join them in the {side} before comparing",
        gap=0.02,
        cited=True,
        unseen_by=("treebank",),
        needs="'’`-",
    ),
    Trait(
        "final_punctuation",
        "end in sentence-final punctuation",
        r"""[.!?…。！？｡।؟][\s"'”’»)\]}*_]*$""",
        "add or strip the final punctuation of one side before comparing",
        gap=HABIT,
        unseen_by=("plain",),
    ),
    Trait(
        "upper_case",
        "have an upper-case letter",
        r"[\p{Lu}\p{Lt}]",
        "--lowercase treats both alike",
        gap=HABIT,
        unseen_by=(LOWERCASE, "plain"),
        needs=_CAPITALS,
    ),
    Trait(
        "initial_capital",
        "begin with an upper-case letter",
        r"^\P{L}*[\p{Lu}\p{Lt}]",
        "--lowercase treats both alike",
        gap=HABIT,
        unseen_by=(LOWERCASE, "plain"),
        needs=_CAPITALS,
    ),
    Trait(
        "all_capitals",
        "are in capitals throughout",
        r"^\P{Ll}*\p{Lu}\P{Ll}*\p{Lu}\P{Ll}*$",
        "--lowercase treats both alike",
        gap=HABIT,
        unseen_by=(LOWERCASE, "plain"),
        needs=_CAPITALS,
    ),
    Trait(
        "markdown",
        "use Markdown",
        _MARKDOWN,
        "strip the Markdown of the {side} before comparing",
        gap=0.02,
        cited=True,
        needs="#-*+`[0123456789",
    ),
    Trait("tags", "have leftover tags", _TAGS, _CLEAN, cited=True, needs="<["),
    Trait(
        "subword_marks",
        "have leftover subword marks",
        r"\S@@(?: |$)|[▁ĠĊ]|(?:^| )##[a-z]",
        "decode the {side} with its generator's tokenizer before comparing",
        cited=True,
        needs="@#▁",
    ),
    Trait("entities", "have HTML entities", _ENTITIES, "unescape the {side} before comparing", cited=True, needs="&"),
    Trait(
        "mojibake",
        "have wrongly decoded characters",
        _MOJIBAKE,
        "decode the {side} as UTF-8 (or repair it) before comparing",
        cited=True,
        needs="Â",
    ),
    Trait(
        "curly_quotes",
        "with quotes or apostrophes have curly ones",
        r"[“”‘’]",
        "write the quotes of both sides alike, straight or curly, before comparing",
        gap=HABIT,
        among=r"""["'“”‘’]""",
        needs="“",
    ),
    Trait(
        "white_space",
        "have white space at an end or double spaces",
        r"^[\s\p{Z}]|[\s\p{Z}]$|[ \t]{2}",
        "strip and collapse the white space of both sides before comparing",
        gap=HABIT,
        unseen_by=tuple(BUILT_IN),
    ),
    Trait(
        "control_characters",
        "have control or invisible characters",
        r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x{84}\x{86}-\x{9f}\x{ad}\x{200b}\x{2060}\x{feff}]",
        _CLEAN,
        cited=True,
        needs=_CONTROL,
    ),
    Trait(
        "escapes",
        "have literal escapes",
        r"\\n|\\u[0-9a-fA-F]{4}|\\x[0-9a-fA-F]{2}",
        "unescape the {side} before comparing",
        cited=True,
        needs="\\",
    ),
    Trait(
        "not_nfc",
        "have characters that are not composed (Unicode NFC)",
        NOT_COMPOSED,
        "normalise both sides to NFC before comparing",
        needs="é",
    ),
)


def bytes_in(texts: pa.Array) -> NDArray[np.bool_]:
    """Which of the 256 bytes the texts hold."""
    present = np.zeros(256, dtype=bool)
    present[text_bytes(texts)[0]] = True
    return present


def shows(texts: pa.Array, trait: Trait, *, present: NDArray[np.bool_] | None = None) -> NDArray[np.bool_]:
    """Which texts have the trait, among those that count for it; `present` are the bytes that they hold, if known."""
    if trait.among:
        texts = texts.filter(pc.match_substring_regex(texts, trait.among))
    if present is not None and not trait.may_show(present):
        return np.zeros(len(texts), dtype=bool)
    if trait.pattern == NOT_COMPOSED:
        return np.asarray(pc.not_equal(texts, pc.utf8_normalize(texts, "NFC")), dtype=bool)
    return np.asarray(pc.match_substring_regex(texts, trait.pattern), dtype=bool)


def most_common_match(texts: pa.Array, trait: Trait) -> str:
    """What the trait's pattern most often finds first in a text, safe to print and short."""
    matching = texts.filter(pa.array(shows(texts, trait)))[:_CITED_FROM]
    found = pc.struct_field(pc.extract_regex(matching, f"(?P<match>{trait.pattern})"), "match")
    counts = Counter(match.strip() or match for match in found.to_pylist())
    match = min(counts, key=lambda match: (-counts[match], match))
    return shortened(match if match.isprintable() else ascii(match)[1:-1], 24)
