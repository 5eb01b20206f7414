"""Metrics for tasks of lm-evaluation-harness: texts are collected per document, and measured together at the end.

In a file beside the YAML of a task, such as `texts.py`:

    from textassay.adapters.lm_eval import aggregation, collector
    collect_cnd, cnd = collector("cnd"), aggregation("cnd")

and in the task, whose output type is `generate_until`:

    metric_list:
      - metric: !function texts.collect_cnd
        aggregation: !function texts.cnd
        higher_is_better: false

A task has one reference per document: with several, the harness keeps 0 or 1 for each document, and its texts are lost.
The name that `collector` is given is that of the metric in the results. For intervals, tests and a verdict, log the
samples: `textassay compare` reads them without an adapter.
"""

import math
from collections.abc import Callable, Sequence
from typing import Any

Texts = tuple[str, str]


def collector(name: str) -> Callable[..., Texts]:
    """A metric of one document under this name: it keeps the reference and the prediction for the aggregation.

    >>> collector("cnd")(references=["a real text"], predictions=["a generated one"])
    ('a real text', 'a generated one')
    """

    def collect(references: Sequence[Any], predictions: Sequence[Any], **options: Any) -> Texts:
        del options
        if len(references) != 1 or len(predictions) != 1:
            raise ValueError(
                f"{name}: {len(references)} references and {len(predictions)} predictions of one document;"
                " wanted one of each"
            )
        return str(references[0]), str(predictions[0])

    collect.__name__ = collect.__qualname__ = name
    return collect


def aggregation(metric: str) -> Callable[[Sequence[Texts]], float]:
    """The value of a metric on all predictions of a task, beside all references; NaN where it is not defined.

    >>> repetition = aggregation("repetition")
    >>> repetition([("a", "the same"), ("b", "the same"), ("c", "another one")])
    0.6666666666666666
    """

    def measured(items: Sequence[Texts]) -> float:
        from textassay.studies.compare.study import compare

        if not all(isinstance(item, tuple) for item in items):
            raise ValueError(f"{metric}: the task has several references per document; wanted one")
        real, generated = [list(side) for side in zip(*items, strict=True)]
        (column,) = compare(real, {"predictions": generated}, metrics=metric, n_resamples=0).candidates
        if len(column.results) != 1:
            raise ValueError(f"{metric!r} names {len(column.results)} metrics; wanted one")
        return column.results[0].estimate if column.results[0].undefined is None else math.nan

    measured.__name__ = measured.__qualname__ = metric
    return measured
