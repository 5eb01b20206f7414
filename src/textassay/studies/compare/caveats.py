"""Caveats: what may make the answer of a comparison wrong, each once for all candidates, with its remedy."""

import math
from collections.abc import Iterable, Iterator, Sequence

from textassay.corpus.printable import shortened
from textassay.document.words import listed, listed_some, sentence
from textassay.inference.format_check import Finding as FormatFinding
from textassay.studies.compare.result import Column, Comparison
from textassay.studies.finding import Finding
from textassay.studies.sentences import sentence_of

LENGTH = "mean_length"
_REFERENCE = "the reference"
# Kinds of differences in format, and names of candidates, that a caveat lists.
_MOST_KINDS, _MOST_NAMES = 3, 2


def caveats(found: Comparison) -> tuple[str, ...]:
    """Signs of dependence, differences in format, and what encoder and design cannot show, as sentences."""
    lines = (*_dependence(found), *_format(found), *_general(found), *_baseline(found))
    return tuple(map(sentence, dict.fromkeys(lines)))


# What a sign of dependence shows, and the option that helps, in a few words; the verdict has all of it.
_SIGNS = {
    "shared_prompts": "texts of one prompt are in both samples",
    "shared_ids": "texts of one id are in both samples: if they answer one prompt",
    "several_per_prompt": "several texts have one prompt",
    "several_per_id": "several texts have one id",
    "order": "neighbouring texts are alike: if they share a prompt or document",
    "period": "texts at regular distances are alike: if they share a prompt",
    "aligned": "texts at the same place in both samples are alike: if they share a prompt",
    "near_duplicates": "many texts are near-duplicates: if these share a prompt or document",
}


def _dependence(found: Comparison) -> Iterator[str]:
    """One line per kind of sign, and which samples show it."""
    shown: dict[tuple[str, ...], tuple[Finding, list[str]]] = {}
    for name, finding in _signs(found):
        key = finding.names or (finding.text,)
        shown.setdefault(key, (finding, []))[1].append(name)
    for finding, names in shown.values():
        said = _SIGNS.get(finding.names[0] if finding.names else "")
        where = f" ({_samples(found, names)})" if len(found) > 1 or names == [_REFERENCE] else ""
        if said is None:
            yield f"{finding.text}{where}"
        else:
            # A saved file may have the kind alone.
            field = finding.names[1] if len(finding.names) > 1 else "FIELD"
            yield f"{said}{', ' if ':' in said else ': '}use --{finding.condition} {shortened(field, 40)}{where}"


def _signs(found: Comparison) -> Iterator[tuple[str, Finding]]:
    """Signs of dependence that an option helps with, the reference's first; a file of 0.5.0 has words alone."""
    for finding in found.cautions:
        if finding.kind == "dependence" and finding.condition:
            yield _REFERENCE, finding
    for column in found.candidates:
        for finding in column.verdict.findings if column.verdict else ():
            if finding.kind == "caution" or (finding.kind == "dependence" and finding.condition):
                yield column.name, finding


def _format(found: Comparison) -> Iterator[str]:
    """Markdown, then length, then all else in one line."""
    each = [(column, finding) for column in found.candidates for finding in column.findings if not finding.harmless]
    markup = [pair for pair in each if pair[1].is_markup]
    lengths = [pair for pair in each if pair[1].kind == LENGTH]
    others = [pair for pair in each if pair not in markup and pair not in lengths]
    if markup:
        yield f"Markdown{_where(found, markup)} ({_kinds(markup)}): {markup[0][1].fix}"
    if lengths:
        yield f"length{_where(found, lengths)}: {lengths[0][1].fix}"
    if others:
        fixes = {finding.fix for _, finding in others}
        fix = fixes.pop() if len(fixes) == 1 else "the list of format differences has the remedies"
        yield f"form{_where(found, others)} ({_kinds(others)}): {fix}"


def _where(found: Comparison, each: Sequence[tuple[Column, FormatFinding]]) -> str:
    """In which candidates something differs."""
    names = list(dict.fromkeys(column.name for column, _ in each))
    return " differs" if len(found) == 1 else f" differs in {_names(found, names)}"


def _samples(found: Comparison, names: Sequence[str]) -> str:
    """Which of the samples, the reference first."""
    candidates = [name for name in names if name is not _REFERENCE]
    others = [_names(found, candidates)] if candidates else []
    return listed([*([_REFERENCE] if len(candidates) < len(names) else []), *others])


def _names(found: Comparison, names: Sequence[str]) -> str:
    """Which of the candidates, in a few words."""
    n = len(found)
    if len(names) == n and n > 1:
        return f"{'both' if n == 2 else f'all {n}'} candidates"
    few = listed([shortened(name, 30) for name in names])
    return few if len(names) <= _MOST_NAMES else f"{len(names)} of {n} candidates"


def kind_words(finding: FormatFinding) -> str:
    """What differs in form, in a word or two."""
    return _KINDS.get(finding.kind, shortened(finding.kind.replace("_", " "), 40))


# Kinds that are not words for something of which a text has more or less.
_KINDS = {
    LENGTH: "length",
    "blank": "blank texts",
    "no_words": "texts without a word",
    "cut_off": "texts of the greatest length",
    "not_nfc": "decomposed letters",
    "entities": "HTML entities",
    "html": "HTML tags",
    "latex": "LaTeX",
    "initial_capital": "initial capitals",
    "addresses": "web addresses",
}


def _kinds(each: Iterable[tuple[Column, FormatFinding]]) -> str:
    """The kinds of differences, the widest gap first."""
    ordered = sorted(each, key=lambda pair: -form_gap(pair[1]))
    return listed_some(list(dict.fromkeys(kind_words(finding) for _, finding in ordered)), _MOST_KINDS)


def form_gap(finding: FormatFinding) -> float:
    """How far apart the shares of candidate and reference are."""
    return abs(finding.candidate_share - finding.reference_share)


def _general(found: Comparison) -> Iterator[str]:
    """What the encoder cannot read, and what a quick run leaves out."""
    yield from (sentence_of(finding) for finding in found.cautions if finding.kind != "dependence")


def _baseline(found: Comparison) -> Iterator[str]:
    """Why nothing stands beside real text, where an interval was asked for."""
    reasons = [real.undefined for real in found.real.results if real.undefined and math.isnan(real.estimate)]
    if found.n_resamples and reasons and len(reasons) == len(found.labels):
        yield reasons[0]
