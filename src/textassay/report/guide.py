"""How to read each metric that was used: what its docstring says first, and when it misleads."""

import inspect
import re
from collections.abc import Iterable
from dataclasses import dataclass

from markupsafe import Markup, escape

from textassay.inference.result import Result
from textassay.metrics.declare import Metric, all_metrics

_MISLEADS = re.compile(r"\bIt misleads\b.*?\.(?=\s|$)", re.DOTALL)
BETTER = {"higher": "higher is better", "lower": "lower is better", "closer": "closer to real is better"}


@dataclass(frozen=True)
class Entry:
    """A metric in a sentence or two."""

    name: str
    summary: Markup
    misleads: Markup
    better: str
    without: tuple[str, ...]


def entries(results: Iterable[Result]) -> list[Entry]:
    """One entry a metric, in the order of the results; a metric that is not known here is left out."""
    known = all_metrics()
    names = dict.fromkeys(result.metric for result in results)
    return [_entry(known[name]) for name in names if name in known]


def _entry(metric: Metric) -> Entry:
    found = _MISLEADS.search(inspect.getdoc(metric.function) or "")
    reasons = (("No interval", metric.why_no_interval), ("No test", metric.why_no_test))
    return Entry(
        metric.name,
        _with_code(metric.summary),
        _with_code(" ".join(found.group().split()) if found else ""),
        BETTER[metric.better],
        tuple(f"{what}: {reason}." for what, reason in reasons if reason),
    )


def _with_code(text: str) -> Markup:
    """What stands between backticks becomes code."""
    pieces = re.split(r"`+", text)
    return Markup("").join(
        Markup("<code>{}</code>").format(piece) if place % 2 else escape(piece) for place, piece in enumerate(pieces)
    )
