"""MLflow: log what a study found, and use metrics of textassay in `mlflow.models.evaluate`.

`log(found)` logs every number of an outcome to the active run, its decision as tags, and its JSON and report as files.
`metric("cnd")` is a metric for `extra_metrics`. MLflow is imported when one of them is called.
"""

import math
import re
from collections.abc import Sequence
from typing import Any

# The fewest texts of a sample.
_FEWEST = 2
# Neither more nor less is better where the value of real text is best.
_GREATER_IS_BETTER = {"higher": True, "lower": False, "closer": None}
# The most characters of a part of a name.
_LONGEST = 110
# What a name of a metric may not have in MLflow.
_NO_NAME = re.compile(r"[^0-9A-Za-z_\-. :/]")


def log(found: Any, *, prefix: str = "textassay", step: int | None = None) -> None:
    """Log an outcome to the active run of MLflow.

    Parameters
    ----------
    found : Outcome
        What a study returned, such as `compare`. The decision and the separable share of a candidate are logged if
        there are any.
    prefix : str
        What the names of metrics, tags and files begin with.
    step : int, optional
        The step of the numbers, such as that of a checkpoint.
    """
    import mlflow

    mlflow.log_metrics(_numbers(found, prefix), step=step)
    mlflow.set_tags(_decisions(found, prefix))
    mlflow.log_text(found.to_json(), f"{_safe(prefix)}/{found.kind}.json")
    mlflow.log_text(found.to_html(), f"{_safe(prefix)}/{found.kind}.html")


def metric(spec: str, *, n_resamples: int = 0) -> Any:
    """A metric of textassay for `mlflow.models.evaluate(..., extra_metrics=[metric("cnd")])`.

    Parameters
    ----------
    spec : str
        One metric, such as "cnd" or "self_bleu:n=4".
    n_resamples : int
        With 19 or more the value has an interval.

    Returns
    -------
    mlflow.metrics.EvaluationMetric
        Its aggregate results are the value and, with resamples, the ends of its interval. If the targets' own value is
        the best one, as for `distinct`, `greater_is_better` is None.
    """
    from mlflow.metrics import MetricValue, make_metric

    from textassay.metrics.registry import parse_requests

    (request,) = parse_requests([spec])

    def measured(predictions: Any, targets: Any) -> Any:
        from textassay.studies.compare.study import compare

        # MLflow calls a metric with the first row alone to find mistakes; a row is no sample.
        if len(predictions) < _FEWEST:
            return MetricValue(aggregate_results={"value": math.nan})
        found = compare(list(targets), {"predictions": list(predictions)}, metrics=spec, n_resamples=n_resamples)
        result = found.candidates[0].results[0]
        values = {"value": result.estimate}
        if result.interval is not None:
            values |= {"low": result.interval.low, "high": result.interval.high}
        return MetricValue(aggregate_results=values)

    # A name that formulas of derived metrics can have.
    name = re.sub(r"\W", "_", request.label)
    details = "the value of the targets is the best one" if request.metric.better == "closer" else None
    is_greater = _GREATER_IS_BETTER[request.metric.better]
    return make_metric(eval_fn=measured, greater_is_better=is_greater, name=name, version="v1", metric_details=details)


def _numbers(found: Any, prefix: str) -> dict[str, float]:
    """Every number of an outcome by its name in MLflow; what is not defined is left out."""
    numbers: dict[str, float] = {}
    names, labels = _parts([column.name for column in found.columns]), _parts(found.labels)
    for column, own in zip(found.columns, names, strict=True):
        for label, result in zip(labels, column.results, strict=True):
            name = f"{_safe(prefix)}/{own}/{label}"
            interval = result.interval
            ends = {} if interval is None else {f"{name}/low": interval.low, f"{name}/high": interval.high}
            numbers |= {name: result.estimate, **ends}
        overall = getattr(column, "overall", None)
        share = getattr(overall, "separable", None)
        if share is not None and share.estimate is not None:
            name = f"{_safe(prefix)}/{own}/separable"
            numbers |= {name: share.estimate, f"{name}/low": share.low}
    return {name: value for name, value in numbers.items() if math.isfinite(value)}


def _decisions(found: Any, prefix: str) -> dict[str, str]:
    """The decision of each candidate's verdict, and that of the gate."""
    names = _parts([column.name for column in found.columns])
    verdicts = {name: getattr(column, "verdict", None) for name, column in zip(names, found.columns, strict=True)}
    tags = {f"{_safe(prefix)}/{name}/decision": verdict.decision for name, verdict in verdicts.items() if verdict}
    gate = getattr(found, "gate", None)
    return tags | ({f"{_safe(prefix)}/gate": gate.decision} if gate else {})


def _parts(names: Sequence[str]) -> list[str]:
    """Parts of names that MLflow takes, all different: a candidate may be called anything."""
    found: dict[str, None] = {}
    for name in names:
        part = safe = _safe(name)
        number = 1
        while part in found:
            number += 1
            part = f"{safe}_{number}"
        found[part] = None
    return list(found)


def _safe(name: str) -> str:
    return _NO_NAME.sub("_", name)[:_LONGEST].strip("/. ") or "_"
