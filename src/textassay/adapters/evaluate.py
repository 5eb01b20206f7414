"""A metric module of Hugging Face `evaluate`: any metrics of textassay on predictions and references.

`evaluate.load(textassay.adapters.evaluate.__file__, "cnd,self_bleu")` and `Textassay("cnd,self_bleu")` are the same.
This module imports `evaluate` and is imported by nothing in textassay.
"""

import math
from collections.abc import Sequence
from typing import Any

import datasets
import evaluate

_DESCRIPTION = "Is generated text distributed like the real thing? Metrics on samples of texts, with uncertainty."
_INPUTS = """
predictions: generated texts.
references: as many real texts. They are samples of one source each: which reference is beside a prediction has no
    meaning, unless the samples are paired.
n_resamples: exchanges of the permutation tests; 0 gives estimates without intervals and without a verdict.
seed: the seed of all random numbers.
Returns, by the label of each metric, its estimate, `_low` and `_high` of its interval, and `_p`; with tests the
`decision`, the overall `p_value` and the `separable` share with its lower bound.
"""


class Textassay(evaluate.Metric):  # type: ignore[misc]
    """Metrics of textassay. The name of the configuration are the metrics, such as `cnd,self_bleu:n=4`."""

    def _info(self) -> Any:
        return evaluate.MetricInfo(
            description=_DESCRIPTION,
            citation="",
            inputs_description=_INPUTS,
            features=datasets.Features({name: datasets.Value("string") for name in ("predictions", "references")}),
        )

    def _compute(
        self, *, predictions: Sequence[str], references: Sequence[str], n_resamples: int = 999, seed: int = 0
    ) -> dict[str, Any]:
        from textassay.studies.compare.study import compare

        # Without a name, `evaluate` calls the configuration "default".
        metrics = "" if self.config_name in (None, "default") else self.config_name
        options: dict[str, Any] = {"metrics": metrics, "n_resamples": n_resamples, "seed": seed}
        return values(compare(list(references), {"predictions": list(predictions)}, **options))


def values(found: Any) -> dict[str, Any]:
    """The numbers of a comparison of one candidate by name; a metric without a number is None."""
    (column,) = found.candidates
    plain: dict[str, Any] = {}
    for label, result, p in zip(found.labels, column.results, column.adjusted, strict=True):
        plain[label] = result.estimate if result.undefined is None else None
        if result.interval is not None:
            plain |= {f"{label}_low": result.interval.low, f"{label}_high": result.interval.high}
        if not math.isnan(p):
            plain[f"{label}_p"] = p
    if column.overall is not None:
        plain |= {"decision": column.verdict.decision, "p_value": column.overall.p_value}
        share = column.overall.separable
        if share is not None and share.estimate is not None:
            plain |= {"separable": share.estimate, "separable_low": share.low}
    return plain
