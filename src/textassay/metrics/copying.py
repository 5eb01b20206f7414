"""Copying: how much of the candidate stands verbatim in its training text."""

from collections.abc import Mapping

import numpy as np

from textassay.metrics.declare import Value, metric
from textassay.views.sequences import Sequences
from textassay.views.sketches import text_keys


def shares(candidate: Sequences, train: Sequences, /, *, span: int = 8) -> Mapping[str, float]:
    """The share of long n-grams beside the share of texts; not a number where no text has `span` words."""
    grams, known = candidate.ngrams(span)[0], train.ngrams(span)[0]
    share = float(np.isin(grams, known).mean()) if len(grams) else float("nan")
    return {"texts": float(copying(candidate, train, span=span)), "ngrams": share}


@metric(
    "copying",
    family="ngram",
    aspect="quality",
    better="closer",
    bounds=(0.0, 1.0),
    interval="wilson:modified",
    test=None,
    why_no_test="the training file is given and has no second sample to exchange with; compare the real row",
    paper="mccoy2023",
    minimum=1,
    in_default=True,
    parts=shares,
)
def copying(candidate: Sequences, train: Sequences, /, *, span: int = 8) -> Value:
    """Share of candidate texts that stand verbatim in the training file: plagiarism looks like quality.

    Texts are compared word by word under the run's tokenizer; `ngrams` among the parts is the share of the candidate's
    n-grams of `span` words that stand anywhere in the training file. It misleads for short texts, which real people
    repeat as well: compare with held-out real text. Eight words are most of a caption but little of a page.
    """
    del span  # it only matters to the parts; it is an option here so that it stands in the signature
    return float(np.isin(text_keys(candidate), text_keys(train)).mean())
