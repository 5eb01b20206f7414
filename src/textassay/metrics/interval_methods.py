"""Interval methods: the names that declarations, results and signatures have, and what inference must know of each."""

from dataclasses import dataclass


@dataclass(frozen=True)
class IntervalMethod:
    """One way to compute an interval.

    `jackknifed`: groups of texts are left out; what is computed once from all texts and held fixed is in `fixed`.
    `spans_wilson`: the interval also spans Wilson's for a share. `needs_different_texts`: the samples need enough
    different texts. `is_wider`: the jackknife's interval is widened. `on_logits`: it is computed on the logit scale.
    """

    name: str
    jackknifed: bool = False
    fixed: str = ""
    spans_wilson: bool = False
    needs_different_texts: bool = False
    is_wider: bool = False
    on_logits: bool = False


PLAIN_JACKKNIFE = "jackknife"
MODIFIED_WILSON = "wilson:modified"
BINOMIAL = "binomial:held-out"
NEWCOMBE = "cross-fitted:newcombe"

INTERVAL_METHODS = {
    method.name: method
    for method in (
        IntervalMethod(PLAIN_JACKKNIFE, jackknifed=True),
        IntervalMethod("jackknife:different-texts", jackknifed=True, needs_different_texts=True),
        IntervalMethod("jackknife:wide-balls", jackknifed=True, needs_different_texts=True, is_wider=True),
        IntervalMethod("jackknife:bandwidth", jackknifed=True, fixed="bandwidth"),
        IntervalMethod("jackknife:fixed-classifier", jackknifed=True, fixed="classifier"),
        IntervalMethod("jackknife:fixed-vocabulary", jackknifed=True, fixed="vocabulary"),
        IntervalMethod("jackknife:fixed-model", jackknifed=True, fixed="model"),
        IntervalMethod(
            "jackknife:fixed-clusters:logit",
            jackknifed=True,
            fixed="clusters",
            needs_different_texts=True,
            on_logits=True,
        ),
        IntervalMethod("jackknife+wilson", jackknifed=True, spans_wilson=True),
        IntervalMethod(
            "jackknife+wilson:different-texts", jackknifed=True, spans_wilson=True, needs_different_texts=True
        ),
        IntervalMethod(
            "jackknife+wilson:wide-balls",
            jackknifed=True,
            spans_wilson=True,
            needs_different_texts=True,
            is_wider=True,
        ),
        IntervalMethod(MODIFIED_WILSON),
        IntervalMethod(BINOMIAL),
        IntervalMethod(NEWCOMBE),
        IntervalMethod("bootstrap:items"),
        IntervalMethod("bootstrap:ratings"),
    )
}
