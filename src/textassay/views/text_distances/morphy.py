"""Morphy, WordNet's way from an inflected word to its base forms: exceptions first, else endings are taken off."""

from collections.abc import Mapping, Sequence

# Ending and what takes its place, by part of speech.
DETACHMENTS: dict[str, tuple[tuple[str, str], ...]] = {
    "noun": (
        *(("s", ""), ("ses", "s"), ("ves", "f"), ("xes", "x"), ("zes", "z")),
        *(("ches", "ch"), ("shes", "sh"), ("men", "man"), ("ies", "y")),
    ),
    "verb": (
        *(("s", ""), ("ies", "y"), ("es", "e"), ("es", "")),
        *(("ed", "e"), ("ed", ""), ("ing", "e"), ("ing", "")),
    ),
    "adj": (("er", ""), ("est", ""), ("er", "e"), ("est", "e")),
    "adv": (),
}


def possible_forms(word: str, part: str, exceptions: Mapping[str, Sequence[str]]) -> list[str]:
    """The word itself and what it may be an inflected form of; which of them are words is for the index to say.

    >>> possible_forms("axes", "noun", {"axes": ["ax", "axis"]})
    ['axes', 'ax', 'axis']
    >>> possible_forms("tries", "verb", {})
    ['tries', 'trie', 'try', 'tri']
    """
    bases = exceptions.get(word)
    if bases is None:
        bases = [word[: -len(old)] + new for old, new in DETACHMENTS[part] if word.endswith(old)]
    return list(dict.fromkeys([word, *bases]))
