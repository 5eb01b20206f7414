"""Metrics: one folder per family, each with its views and its metrics.

Every metric is a function of this module that takes texts (or vectors, items or ratings, where the metric reads these)
and returns a `Result`: `textassay.metrics.bleu(candidates, references, n=4)`.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


def __getattr__(name: str) -> "Callable[..., Any]":
    """The function of a metric, made when it is first asked for."""
    if name.startswith("_") or name not in __dir__():
        raise AttributeError(f"module 'textassay.metrics' has no attribute {name!r}")
    from importlib import import_module

    function = import_module("textassay.studies.single").metric_function(name)
    globals()[name] = function
    return function


def __dir__() -> list[str]:
    from textassay.metrics.registry import all_metrics

    return list(all_metrics())
