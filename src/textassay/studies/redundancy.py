"""Redundancy: from many grams that differ, the few that each say something of their own."""

import numpy as np

from textassay.studies.grams import Gram, holders
from textassay.studies.log_odds import LEAST_Z, association_z, log_odds_z
from textassay.views.material import Material
from textassay.views.ngrams import Ngrams

# A gram that shares words with a listed one needs this share of its evidence for itself.
OWN_EVIDENCE = 0.5
# A whole that is this clear, relative to its part, is listed in place of the part.
NEARLY = 0.9
# Overlapping grams that stand in the same texts (by Jaccard similarity) are pieces of one phrase.
SAME_TEXTS = 0.5


def telling(grams: list[Gram], more: Material, less: Material, *, top: int) -> list[Gram]:
    """At most `top` grams, the clearest first, leaving out those that a listed one already says.

    `grams` come with their words and the clearest first; `more` is the sample that has more of them.
    """
    listed: list[Gram] = []
    said: list[Gram] = []
    for gram in grams:
        if len(listed) == top:
            break
        if not _is_said(gram, said, more, less):
            # `red panda` rather than `panda`, if it is always red.
            wider = (other for other in grams if other.z >= NEARLY * gram.z and gram.times_in(other))
            news = (other for other in wider if other is gram or not _is_said(other, said, more, less))
            listed.append(max(news, key=lambda other: (other.n, other.z)))
            # Where `red panda` says all there is to say of `panda`, `panda cub` is no news either.
            said += [part for part in grams if part.times_in(listed[-1]) and _says(listed[-1], part, more, less)]
    return sorted(listed, key=lambda gram: -gram.z)


def _is_said(gram: Gram, said: list[Gram], more: Material, less: Material) -> bool:
    return any(_says(one, gram, more, less) or _continues(one, gram, more) for one in said)


def _says(said: Gram, gram: Gram, more: Material, less: Material) -> bool:
    """Is the shift of a gram mostly that of one that was said and contains it or is part of it?"""
    if times := gram.times_in(said):
        own = _outside(gram, said, times, more, less)
    elif said.times_in(gram):
        # Has the whole shifted more than its said part has?
        own = association_z((gram.more, gram.less), (said.more, said.less))
    else:
        return False
    return own < max(LEAST_Z, OWN_EVIDENCE * gram.z)


def _outside(gram: Gram, said: Gram, times: int, more: Material, less: Material) -> float:
    """The z-score of what is left of a part outside the said whole."""
    rest = max(gram.more - times * said.more, 0), max(gram.less - times * said.less, 0)
    totals = int(more.view(Ngrams).table(gram.n).total), int(less.view(Ngrams).table(gram.n).total)
    return float(log_odds_z(np.array(rest[:1]), np.array(rest[1:]), totals=totals)[0])


def _continues(said: Gram, gram: Gram, material: Material) -> bool:
    """Are two overlapping grams pieces of one longer phrase, found in the same texts?"""
    if not gram.overlaps(said):
        return False
    few, many = sorted((holders(each, material)[0] for each in (gram, said)), key=len)
    if len(few) < SAME_TEXTS * len(many):
        return False
    shared = len(np.intersect1d(few, many, assume_unique=True))
    return shared >= SAME_TEXTS * (len(few) + len(many) - shared)
