"""The format check: differences in form between two samples, which are said before any metric is read."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from textassay.corpus.sample import Sample
from textassay.corpus.splitters import text_bytes
from textassay.corpus.tokenizers import Tokenizer
from textassay.studies.comparison import Finding
from textassay.studies.format_lengths import SPIKE, means_differ, spikes, word_counts
from textassay.studies.format_traits import JUNK, TRAITS, Trait, bytes_in, most_common_match, shows
from textassay.studies.shares import Share, differ

# The check reads at most this many texts of a sample and about this many bytes, evenly spaced.
MOST_TEXTS, MOST_BYTES = 20_000, 1 << 24

_BLANK_NOTE = re.compile(r"([\d,]+) blank text")


@dataclass(frozen=True)
class _Found:
    """A finding, and whether the tokens show it."""

    finding: Finding
    seen: bool


def check_format(candidate: Sample, reference: Sample, *, tokenizer: Tokenizer) -> tuple[Finding, ...]:
    """What differs in form: first what the tokens show, the widest gap first, then what they hide.

    A finding needs a gap that matters (0.1 of the texts for habits of writing, 0.02 for Markdown and split
    contractions, 0.01 for junk, 0.05 for a cut-off, means further apart than 4 : 5 for length) and that is beyond
    chance (Fisher's exact test, or Welch's t-test for means, with p < 1e-4). Up to 20,000 texts of each sample are
    read, evenly spaced. For mean lengths, the shares are those of the texts longer than the reference's median.

    It misleads about blank texts if a sample was cut to a smaller size before: the notes count those of the whole.

    >>> from textassay.corpus.tokenizers import get_tokenizer
    >>> real = Sample.of(["A cat sat.", "Two dogs ran."] * 20, name="real")
    >>> made = Sample.of(["A cat sat .", "Two dogs ran ."] * 20, name="made")
    >>> for finding in check_format(made, real, tokenizer=get_tokenizer("whitespace")):
    ...     print(f"{finding.message}: {finding.fix}")
    100 % of candidate texts have a space before punctuation (reference 0 %): --tokenizer words treats both alike
    """
    found = list(_blanks(candidate, reference))
    if len(candidate) and len(reference):
        texts = _evenly_spaced(candidate.texts), _evenly_spaced(reference.texts)
        found += [*_traits(*texts, tokenizer), *_cut_offs(*texts, tokenizer), *_mean_lengths(*texts)]
    return tuple(each.finding for each in sorted(found, key=_place))


def _place(found: _Found) -> tuple[bool, float]:
    gap = abs(found.finding.candidate_share - found.finding.reference_share)
    # What the tokens hide stays in the order of the traits, where stray white space is the least.
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
    for trait in TRAITS:
        # Texts without any capital have none at the beginning either: that is not worth saying twice.
        if lower_cased and trait.kind == "initial_capital":
            continue
        shares = []
        for texts, present in sides:
            marks = shows(texts, trait, present=present)
            shares.append(Share(int(marks.sum()), len(marks)))
        if differ(*shares, gap=trait.gap):
            lower_cased |= trait.kind == "upper_case"
            side = candidate if shares[0].value > shares[1].value else reference
            cited = most_common_match(side, trait) if trait.cited else ""
            yield _trait_found(trait, *shares, cited=cited, tokenizer=tokenizer)


def _trait_found(trait: Trait, mine: Share, theirs: Share, *, cited: str, tokenizer: Tokenizer) -> _Found:
    such = f" such as {cited}" if cited else ""
    message = f"{mine} of candidate texts {trait.says}{such} (reference {theirs})"
    unseen = trait.unseen(tokenizer)
    fix = trait.fix.format(side=_fuller(mine, theirs))
    if unseen:
        fix = f"no effect with {unseen} (embeddings still see it)"
    finding = Finding(trait.kind, message, mine.value, theirs.value, fix, harmless=bool(unseen))
    return _Found(finding, seen=not unseen)


def _fuller(mine: Share, theirs: Share) -> str:
    return "candidate" if mine.value > theirs.value else "reference"


def _blanks(candidate: Sample, reference: Sample) -> Iterator[_Found]:
    mine, theirs = _blank_share(candidate), _blank_share(reference)
    if differ(mine, theirs, gap=JUNK):
        message = f"{mine} of candidate texts are blank and left out (reference {theirs})"
        fix = f"find out why the {_fuller(mine, theirs)} has nothing there; no metric sees blank texts"
        yield _Found(Finding("blank", message, mine.value, theirs.value, fix), seen=True)


def _blank_share(sample: Sample) -> Share:
    blank = sum(int(match[1].replace(",", "")) for note in sample.notes if (match := _BLANK_NOTE.match(note)))
    return Share(blank, blank + len(sample))


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


def _mean_lengths(candidate: pa.Array, reference: pa.Array) -> Iterator[_Found]:
    mine, theirs = word_counts(candidate), word_counts(reference)
    if means_differ(mine, theirs):
        longer, usual = (float((lengths > np.median(theirs)).mean()) for lengths in (mine, theirs))
        message = f"candidate texts have {mine.mean():.1f} words on average (reference {theirs.mean():.1f})"
        fix = "compare texts of similar length: change the generator's length, or cut both sides"
        yield _Found(Finding("mean_length", message, longer, usual, fix), seen=True)
