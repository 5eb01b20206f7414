"""Measures of a sweep against an oracle, a model whose probabilities are taken as those of real text."""

from dataclasses import dataclass
from typing import Any

from textassay.inference.measure import Measured, measure
from textassay.inference.plan import Plan
from textassay.metrics.learned.model_texts import model_name
from textassay.metrics.registry import Request, find_metric
from textassay.metrics.views import Material
from textassay.models.base import Decoding, Generator

# In the order of reports: quality, diversity, both.
NAMES = ("oracle_nll", "model_entropy", "nll", "bhattacharyya")


@dataclass(frozen=True, eq=False)
class OracleStudy:
    """An oracle, texts that it has generated, and the plan of intervals."""

    oracle: Generator
    texts: Material
    plan: Plan

    def measured(self, candidate: Material, model: Generator, decoding: Decoding) -> Measured:
        """The measures of a model at a decoding setting, from a sample of it, in the order of `NAMES`."""
        requests = [self._request(name, model, decoding) for name in NAMES]
        found = measure(requests, {"candidate": candidate, "reference": self.texts}, plan=self.plan, test=False)
        # The requests of two settings differ in their options, so that replicates are kept by metric.
        by_name = {request.metric.name: each for request, each in found.replicates.items()}
        return Measured(found.results, {find_request(name): each for name, each in by_name.items()}, {})

    def baseline(self) -> Measured:
        """The measures of the oracle itself: its entropy, and a distance of 0."""
        return self.measured(self.texts, self.oracle, Decoding())

    def _request(self, name: str, model: Generator, decoding: Decoding) -> Request:
        given: dict[str, Any] = {
            "model": model_name(model),
            "oracle": model_name(self.oracle),
            "temperature": decoding.temperature,
            "top_k": decoding.top_k or 0,
            "top_p": 1.0 if decoding.top_p is None else decoding.top_p,
        }
        plain = find_request(name)
        return Request(plain.metric, {**plain.options, **{k: v for k, v in given.items() if k in plain.options}})


def find_request(name: str) -> Request:
    """The request of a metric with the defaults of its options."""
    metric = find_metric(name)
    return Request(metric, {option.name: option.default for option in metric.options.values()})
