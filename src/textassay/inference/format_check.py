"""The format check: differences in form between two samples, reported before any metric."""

import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from scipy.special import stdtr

from textassay.corpus.arrays import I64
from textassay.corpus.markup import (
    CLEAN,
    HABIT,
    HABITS,
    JUNK,
    LOWERCASE,
    MARKUP,
    NOT_COMPOSED,
    Trait,
    bytes_in,
    shows,
    without_code,
)
from textassay.corpus.printable import many, shortened
from textassay.corpus.sample import Sample
from textassay.corpus.tokenizers import BUILT_IN, IDEOGRAPH, SPACE, Tokenizer, text_bytes

# A difference is beyond chance below this p-value; strict, because more than thirty questions are asked at once.
LEVEL = 1e-4


@dataclass(frozen=True)
class Finding:
    """A difference in format between a candidate and the reference, found before any metric is read.

    It is `harmless` when the tokenizer evens it out, so that no metric on tokens sees it. `by_option` is true if an
    option of the comparison is the fix, and `is_markup` for what comparing without markup evens out. The means are
    those of lengths in words, where these differ.
    """

    kind: str
    message: str
    candidate_share: float
    reference_share: float
    fix: str
    harmless: bool = False
    by_option: bool = False
    is_markup: bool = False
    candidate_mean: float | None = None
    reference_mean: float | None = None


@dataclass(frozen=True)
class Share:
    """`hits` of `n` texts; written as a percentage that never rounds to 0 or 100.

    >>> str(Share(2, 3)), str(Share(1, 5000)), str(Share(4999, 5000)), str(Share(3, 400))
    ('67 %', 'under 0.1 %', 'over 99.9 %', '0.8 %')
    """

    hits: int
    n: int

    @property
    def value(self) -> float:
        """The share as a number; 0 of no texts."""
        return self.hits / self.n if self.n else 0.0

    def __str__(self) -> str:
        percent = 100 * self.value
        if 0 < percent < 0.1:
            return "under 0.1 %"
        if 99.9 < percent < 100:
            return "over 99.9 %"
        digits = 0 if 9.95 <= percent <= 99 else 1
        return f"{percent:.{digits}f}".removesuffix(".0") + " %"


def differ(candidate: Share, reference: Share, *, gap: float) -> bool:
    """Are two shares at least `gap` apart, and is that beyond chance by Fisher's exact test?

    >>> differ(Share(30, 100), Share(5, 100), gap=0.1), differ(Share(3, 10), Share(0, 10), gap=0.1)
    (True, False)
    """
    if abs(candidate.value - reference.value) < gap:
        return False
    from scipy.stats import fisher_exact

    table = [[candidate.hits, candidate.n - candidate.hits], [reference.hits, reference.n - reference.hits]]
    return bool(fisher_exact(table).pvalue < LEVEL)


# A spike at the maximum of less than a twentieth of the texts, or means closer than 4 : 5, change no conclusion. No
# limit of a generator is a few words: answers of one word are not cut off, and texts without spaces are one word.
SPIKE, FEWEST_CUT = 0.05, {"word": 5, "token": 5, "character": 20}
RATIO = 1.25

_PIECE = rf"[^{SPACE}]+"
_WORD = rf"[{IDEOGRAPH}]|[\pL\pM\pN]+"
# The same for ASCII, byte by byte: what belongs to a piece and to a word.
_IN_PIECE = np.array([not chr(byte).isspace() for byte in range(128)])
_IN_WORD = np.array([chr(byte).isalnum() for byte in range(128)])


@dataclass(frozen=True)
class Spike:
    """The greatest length of a sample's texts, such as `32 words`, and the share of the texts that have it."""

    length: str
    share: Share


def spikes(candidate: pa.Array, reference: pa.Array, tokenizer: Tokenizer) -> Iterator[tuple[Spike, Spike]]:
    """The spikes of both samples in each unit in which a generator may count: words, tokens and characters."""
    for (unit, mine), (_, theirs) in zip(_units(candidate, tokenizer), _units(reference, tokenizer), strict=True):
        yield _spike(mine, unit), _spike(theirs, unit)


def _units(texts: pa.Array, tokenizer: Tokenizer) -> Iterator[tuple[str, I64]]:
    yield "word", _counts(texts, _PIECE, _IN_PIECE)
    yield "token", np.diff(tokenizer(texts).offsets)
    yield "character", np.asarray(pc.utf8_length(pc.utf8_trim_whitespace(texts)), dtype=np.int64)


def _spike(lengths: I64, unit: str) -> Spike:
    most = int(lengths.max())
    hits = int((lengths == most).sum()) if most >= FEWEST_CUT[unit] else 0
    return Spike(many(most, unit), Share(hits, len(lengths)))


def word_counts(texts: pa.Array) -> I64:
    """Words a text without its punctuation, so that text split at its punctuation is not taken for longer."""
    return _counts(texts, _WORD, _IN_WORD)


def _counts(texts: pa.Array, pattern: str, belongs: NDArray[np.bool_]) -> I64:
    """How often each text matches the pattern; in ASCII, its runs of bytes that belong together, which is faster."""
    data, bounds = text_bytes(texts)
    if not len(data) or data.max() >= len(belongs):
        return np.asarray(pc.count_substring_regex(texts, pattern), dtype=np.int64)
    inside = belongs[data]
    begins = inside.copy()
    begins[1:] &= ~inside[:-1]
    # A run that crosses the end of a text starts again in the next one.
    edges = bounds[:-1][bounds[:-1] < len(data)]
    begins[edges] = inside[edges]
    return np.diff(np.searchsorted(np.flatnonzero(begins), bounds))


def means_differ(candidate: I64, reference: I64) -> bool:
    """Are the mean lengths far apart, both in ratio and by Welch's t-test?"""
    low, high = sorted((float(candidate.mean()), float(reference.mean())))
    if min(len(candidate), len(reference)) < 2 or high <= RATIO * low:
        return False
    # Counts are taken to vary by a word at least, so that a handful of texts of one length proves nothing.
    errors = [max(float(lengths.var(ddof=1)), 1.0) / len(lengths) for lengths in (candidate, reference)]
    freedom = sum(errors) ** 2 / (errors[0] ** 2 / (len(candidate) - 1) + errors[1] ** 2 / (len(reference) - 1))
    return bool(2 * stdtr(freedom, (low - high) / math.sqrt(sum(errors))) < LEVEL)


_CITED_FROM = 500

_ENTITIES = (
    r"(?i)& ?(?:#\d{1,7}|#x[0-9a-f]{1,6}|amp|lt|gt|quot|apos|nbsp|hellip|[mn]dash|[lr][sd]quo|[sb]dquo|[lr]aquo"
    r"|bull|middot|copy|reg|trade|deg|euro|pound|cent|sect|times"
    r"|[a-z](?:acute|grave|circ|uml|tilde|cedil|ring|slash)|szlig) ?;"
)
# What the second and later bytes of a UTF-8 character look like when they are read as Latin-1 or Windows-1252.
_LATER_BYTE = r"[\x{80}-\x{bf}€‚ƒ„…†‡ˆ‰Š‹ŒŽ‘’“”•–—˜™š›œžŸ]"
_MOJIBAKE = rf"[ÂÃÐÑ]{_LATER_BYTE}|â[€\x{{80}}]{_LATER_BYTE}|ð[Ÿ\x{{9f}}]{_LATER_BYTE}|ï¿½|ï»¿|\x{{fffd}}"
_CAPITALS = "ABCDEFGHIJKLMNOPQRSTUVWXYZÀ"
_CONTROL = "".join(map(chr, (*range(0x09), 0x0B, 0x0C, *range(0x0E, 0x20), 0x7F, 0xAD)))

TRAITS: tuple[Trait, ...] = (
    Trait(
        "tokenised_punctuation",
        "have a space before punctuation",
        r"""(?i)\S[ \t]+[.,!?;:](?:[\s"'”’]|$)|[a-z] ['’] ?(?:s|t|re|ve|ll|d|m)\b""",
        "the tokenizer words treats both alike",
        by_option=True,
        gap=HABIT,
        unseen_by=("words", "plain"),
        needs=".,!?;:'’",
    ),
    Trait(
        "split_contractions",
        "have split contractions or Treebank marks",
        r"(?i)[a-z] n['’]t\b|(?:^|[^`])``(?:[^`]|$)|-[lr][rsc]b-",
        "the tokenizer treebank treats contractions alike; or join them in the {side} before comparing",
        by_option=True,
        gap=0.02,
        cited=True,
        unseen_by=("treebank",),
        needs="'’`-",
    ),
    Trait(
        "upper_case",
        "have an upper-case letter",
        r"[\p{Lu}\p{Lt}]",
        "the option lowercase treats both alike",
        by_option=True,
        gap=HABIT,
        unseen_by=(LOWERCASE, "plain"),
        needs=_CAPITALS,
    ),
    Trait(
        "initial_capital",
        "begin with an upper-case letter",
        r"^\P{L}*[\p{Lu}\p{Lt}]",
        "the option lowercase treats both alike",
        by_option=True,
        gap=HABIT,
        unseen_by=(LOWERCASE, "plain"),
        needs=_CAPITALS,
    ),
    Trait(
        "all_capitals",
        "are in capitals throughout",
        r"^\P{Ll}*\p{Lu}\P{Ll}*\p{Lu}\P{Ll}*$",
        "the option lowercase treats both alike",
        by_option=True,
        gap=HABIT,
        unseen_by=(LOWERCASE, "plain"),
        needs=_CAPITALS,
    ),
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
        CLEAN,
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
    *MARKUP,
    *HABITS,
)


# Findings on capitals.
CASE = ("upper_case", "initial_capital", "all_capitals")


def most_common_match(texts: pa.Array, trait: Trait) -> str:
    """What the trait's pattern most often finds first in a text, safe to print and short."""
    matching = texts.filter(pa.array(shows(texts, trait)))[:_CITED_FROM]
    found = pc.struct_field(pc.extract_regex(matching, f"(?P<match>{trait.pattern})"), "match")
    counts = Counter(match.strip() or match for match in found.to_pylist())
    match = min(counts, key=lambda match: (-counts[match], match))
    return shortened(match if match.isprintable() else ascii(match)[1:-1], 24)


# The check reads at most this many texts of a sample and about this many bytes, evenly spaced.
MOST_TEXTS, MOST_BYTES = 20_000, 1 << 24


@dataclass(frozen=True)
class _Found:
    """A finding, and whether the tokens show it."""

    finding: Finding
    seen: bool


def check_format(candidate: Sample, reference: Sample, *, tokenizer: Tokenizer) -> tuple[Finding, ...]:
    """What differs in form: first what the tokens show, the widest gap first, then what they hide.

    A finding needs a gap that matters (0.1 of the texts for habits of writing, 0.02 for Markdown, emoji, LaTeX, web
    addresses, refusals and split contractions, 0.01 for junk and texts without a word, 0.05 for stock openings and a
    cut-off, means further apart than 4 : 5 for length) and that is beyond chance (Fisher's exact test, or Welch's
    t-test for means, with p < 1e-4). Up to 20,000 texts of each sample are read, evenly spaced. For mean lengths, the
    shares are those of the texts longer than the reference's median.

    Blank texts are counted in these samples. If a sample was cut to a smaller size before, the notes count those of the
    whole sample.

    >>> from textassay.corpus.tokenizers import get_tokenizer
    >>> real = Sample.of(["A cat sat.", "Two dogs ran."] * 20, name="real")
    >>> made = Sample.of(["A cat sat .", "Two dogs ran ."] * 20, name="made")
    >>> for finding in check_format(made, real, tokenizer=get_tokenizer("whitespace")):
    ...     print(f"{finding.message}: {finding.fix}")
    100 % of candidate texts have a space before punctuation (reference 0 %): the tokenizer words treats both alike
    """
    found = list(_blanks(candidate, reference))
    if len(candidate.texts) and len(reference.texts):
        texts = _evenly_spaced(candidate.texts), _evenly_spaced(reference.texts)
        found += [*_traits(*texts, tokenizer), *_lengths(*texts, tokenizer)]
    return tuple(each.finding for each in sorted(found, key=_place))


def _place(found: _Found) -> tuple[bool, float]:
    gap = abs(found.finding.candidate_share - found.finding.reference_share)
    # What the tokenizer hides stays in the order of the traits, which ends with white space.
    return not found.seen, -gap if found.seen else 0.0


def _evenly_spaced(texts: pa.Array) -> pa.Array:
    data, _ = text_bytes(texts)
    most = min(MOST_TEXTS, max(MOST_BYTES * len(texts) // max(len(data), 1), 1))
    if len(texts) <= most:
        return texts
    return texts.take(pa.array(np.arange(most) * len(texts) // most))


def _traits(candidate: pa.Array, reference: pa.Array, tokenizer: Tokenizer) -> Iterator[_Found]:
    lower_cased = False
    sides = [(texts, bytes_in(texts)) for texts in (candidate, reference)]
    has_code = any(present[ord("`")] or present[ord("~")] for _, present in sides)
    prose = [without_code(texts) for texts, _ in sides] if has_code else [texts for texts, _ in sides]
    for trait in TRAITS:
        # Texts without any capital have none at the beginning either: that is reported once.
        if lower_cased and trait.kind == "initial_capital":
            continue
        shares = []
        for (texts, present), without in zip(sides, prose, strict=True):
            is_prose = trait.is_markdown and not trait.is_code
            marks = shows(without if is_prose else texts, trait, present=present)
            shares.append(Share(int(marks.sum()), len(marks)))
        if differ(*shares, gap=trait.gap):
            lower_cased |= trait.kind == "upper_case"
            side = candidate if shares[0].value > shares[1].value else reference
            cited = most_common_match(side, trait) if trait.cited else ""
            yield _trait_found(trait, *shares, cited=cited, tokenizer=tokenizer)


def _trait_found(trait: Trait, candidate: Share, reference: Share, *, cited: str, tokenizer: Tokenizer) -> _Found:
    such = f" such as {cited}" if cited else ""
    message = f"{candidate} of candidate texts {trait.says}{such} (reference {reference})"
    unseen = trait.unseen(tokenizer)
    fix = trait.fix.format(side=_fuller(candidate, reference))
    if unseen:
        fix = f"no effect with {unseen} (metrics on sentence vectors can still be affected)"
    finding = Finding(
        trait.kind,
        message,
        candidate.value,
        reference.value,
        fix,
        harmless=bool(unseen),
        by_option=trait.by_option,
        is_markup=trait.is_markdown,
    )
    return _Found(finding, seen=not unseen)


def _fuller(candidate: Share, reference: Share) -> str:
    return "candidate" if candidate.value > reference.value else "reference"


def _blanks(candidate: Sample, reference: Sample) -> Iterator[_Found]:
    candidate_share, reference_share = _blank_share(candidate), _blank_share(reference)
    if differ(candidate_share, reference_share, gap=JUNK):
        message = f"{candidate_share} of candidate texts are blank and left out (reference {reference_share})"
        side = _fuller(candidate_share, reference_share)
        fix = f"find out why the {side} has nothing there; no metric sees blank texts"
        yield _Found(Finding("blank", message, candidate_share.value, reference_share.value, fix), seen=True)


def _blank_share(sample: Sample) -> Share:
    return Share(sample.n_blank, sample.n_blank + len(sample.texts))


def _lengths(candidate: pa.Array, reference: pa.Array, tokenizer: Tokenizer) -> Iterator[_Found]:
    """Texts without a word, a cut-off, and mean lengths, which mean nothing where a sample has no word at all."""
    candidate_counts, reference_counts = word_counts(candidate), word_counts(reference)
    sides = (candidate_counts, reference_counts)
    yield from _without_words(*(Share(int((counts == 0).sum()), len(counts)) for counts in sides))
    if candidate_counts.any() and reference_counts.any():
        yield from _cut_offs(candidate, reference, tokenizer)
        yield from _mean_lengths(candidate_counts, reference_counts)


def _without_words(candidate: Share, reference: Share) -> Iterator[_Found]:
    if differ(candidate, reference, gap=JUNK):
        message = f"{candidate} of candidate texts have no word, only marks (reference {reference})"
        fix = f"find out why the {_fuller(candidate, reference)} has no words there"
        yield _Found(Finding("no_words", message, candidate.value, reference.value, fix), seen=True)


def _cut_offs(candidate: pa.Array, reference: pa.Array, tokenizer: Tokenizer) -> Iterator[_Found]:
    """The unit with the clearest spike, if any is one."""
    pairs = spikes(candidate, reference, tokenizer)
    mine, theirs = max(pairs, key=lambda pair: abs(pair[0].share.value - pair[1].share.value))
    if not differ(mine.share, theirs.share, gap=SPIKE):
        return
    if _fuller(mine.share, theirs.share) == "candidate":
        what = f"{mine.share} of candidate texts have exactly {mine.length}, the most that any has"
        message = f"{what} (reference {theirs.share})"
        fix = f"raise the generator's maximum length, or cut both sides to {mine.length}"
    else:
        what = f"{theirs.share} of reference texts have exactly {theirs.length}, the most that any has"
        message = f"{what} (candidate {mine.share})"
        fix = f"take a reference that is not cut off, or cut both sides to {theirs.length}"
    yield _Found(Finding("cut_off", message, mine.share.value, theirs.share.value, fix), seen=True)


def _mean_lengths(candidate: I64, reference: I64) -> Iterator[_Found]:
    if means_differ(candidate, reference):
        longer, usual = (float((lengths > np.median(reference)).mean()) for lengths in (candidate, reference))
        message = f"candidate texts have {candidate.mean():.1f} words on average (reference {reference.mean():.1f})"
        fix = "change the generator's length, or cut both sides, to compare texts of similar length"
        found = Finding("mean_length", message, longer, usual, fix)
        means = float(candidate.mean()), float(reference.mean())
        yield _Found(replace(found, candidate_mean=means[0], reference_mean=means[1]), seen=True)
