"""Values of metrics on draws: a candidate against a reference, and sets of undamaged draws.

A metric that describes one sample has the difference between candidate and reference as its value, as in the tests of
`compare`. Two samples drawn from the pool are a random division of a random set of its texts. Metrics on vectors know
several divisions of a set at once (`exchange`) for little more than the time of one, and their values depend on the
division much more than on the set. Values of other metrics, such as `cr`, depend mostly on the set, so these metrics
are measured on draws of their own.
"""

import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np

from textassay.corpus.arrays import I64
from textassay.corpus.sample import stream
from textassay.inference.overall.bank import BANK, bank_statistics
from textassay.inference.overall.test import combine
from textassay.inference.p_values import at_least
from textassay.inference.permutation import independent
from textassay.metrics.registry import Request
from textassay.metrics.views import Material, Pool, Resamples, Settings
from textassay.studies.stress.stock import Draw, Stock

# Labellings of the overall test. Its p-value is a multiple of 1 / (this + 1).
EXCHANGES = 199
# Repeats of a measurement of time, of which the fastest counts.
_REPEATS = 3


@dataclass(frozen=True, eq=False)
class Measurer:
    """What values are measured with: metrics, stock, settings of views, and the training texts for `copying`."""

    requests: tuple[Request, ...]
    stock: Stock
    settings: Settings
    train: Material | None = None

    def roles(self, candidate: Material, reference: Material) -> dict[str, Material]:
        """The materials by the names that metrics use."""
        train = {} if self.train is None else {"train": self.train}
        return {"candidate": candidate, "reference": reference, **train}

    def materials(self, drawn: Draw, places: I64) -> tuple[Material, Material]:
        """The candidate with the texts at these places, and the reference of a draw."""
        candidate, reference = (
            Material(self.stock.sample(chosen, name), self.settings)
            for chosen, name in ((places, "candidate"), (drawn.reference, "reference"))
        )
        return candidate, reference

    def values(
        self, candidate: Material, reference: Material, requests: Sequence[Request] | None = None
    ) -> dict[str, float]:
        """The value of each metric by its label."""
        chosen = self.requests if requests is None else requests
        estimates = self._estimates(chosen, candidate, reference)
        describing = [request for request in chosen if not request.metric.compares]
        own = self._estimates(describing, reference, reference)
        return {label: value - own.get(label, 0.0) for label, value in estimates.items()}

    def _estimates(self, requests: Sequence[Request], candidate: Material, reference: Material) -> dict[str, float]:
        """Plain values: `measure` would also compute the parts of a metric, which take longer for some."""
        roles = self.roles(candidate, reference)
        with np.errstate(divide="ignore", invalid="ignore"):
            return {request.label: _estimate(request, roles) for request in requests}

    def undamaged(self, draws: Sequence[Draw]) -> dict[str, Any]:
        """Values of each metric, as many as there are draws, and the p-value of the overall test on the first draw.

        Metrics on vectors are measured on divisions of the texts of the first draw, all others on each draw.
        """
        first = self.materials(draws[0], draws[0].candidate)
        divided = [request for request in self.requests if _is_divided(request)]
        others = [request for request in self.requests if request not in divided]
        pairs = chain([first], (self.materials(drawn, drawn.candidate) for drawn in draws[1:]))
        parts = [self.values(*pair, others) for pair in pairs]
        found = {request.label: [part[request.label] for part in parts] for request in others}
        found |= self._divisions(first, divided, len(draws), *draws[0].key)
        return {"values": found, "p": self.overall_p(*first, *draws[0].key)}

    def _divisions(
        self, pair: tuple[Material, Material], requests: Sequence[Request], rows: int, *key: str | int
    ) -> dict[str, list[float]]:
        """Values of metrics on vectors for this many divisions of the texts of two samples; the first is as drawn."""
        seed = int(stream(self.stock.seed, "stress", "divisions", *key).integers(2**31))
        candidate, reference = pair
        design = independent((len(candidate.sample), len(reference.sample)), seed)
        masks = design.labellings(rows - 1, seed)
        resamples = Resamples(design.units, (masks, ~masks))
        quick = [request for request in requests if has_exact_exchange(request)]
        found = {request.label: _exchanged(request, candidate, reference, resamples) for request in quick}
        rest = [request for request in requests if request not in quick]
        return found | _resampled(rest, Pool(pair), resamples)

    def overall_p(self, candidate: Material, reference: Material, *key: str | int) -> float:
        """The p-value of the overall test with a fixed number of exchanges; `key` chooses them."""
        seed = int(stream(self.stock.seed, "stress", "overall", *key).integers(2**31))
        design = independent((len(candidate.sample), len(reference.sample)), seed)
        masks = design.labellings(EXCHANGES, seed)
        members = [m for m in BANK if self.settings.encoder is not None or not m.reads_vectors]
        statistics = bank_statistics(Pool((candidate, reference)), design, masks, members=members)
        return float(at_least(combine(statistics, members=members))[0] / len(masks))

    def seconds(self, drawn: Draw) -> dict[str, float]:
        """The processor time of each metric and of the overall test, alone on two samples.

        Reading the texts is included, encoding them is not. Wall-clock time would depend on what else is running.
        """
        found = {request.label: min(self._timed(drawn, request) for _ in range(_REPEATS)) for request in self.requests}
        began = time.process_time()
        self.overall_p(*self.materials(drawn, drawn.candidate))
        return found | {OVERALL: time.process_time() - began}

    def _timed(self, drawn: Draw, request: Request) -> float:
        began = time.process_time()
        self.values(*self.materials(drawn, drawn.candidate), [request])
        return time.process_time() - began


# The label of the overall test among those of metrics.
OVERALL = "overall"


def has_exact_exchange(request: Request) -> bool:
    """Whether the metric's fast function over labellings returns its values, and no expansion of them."""
    return request.metric.exchange is not None and request.metric.test == "permutation"


def _is_divided(request: Request) -> bool:
    """Whether undamaged values are those of several divisions of one set: metrics on vectors that have a fast way."""
    resampled = all(hasattr(kind, "resample") for kind in request.metric.views)
    return request.metric.reads_vectors and (has_exact_exchange(request) or resampled)


def _estimate(request: Request, roles: Mapping[str, Material]) -> float:
    materials = [roles[role] for role in request.metric.roles]
    if any(len(material.sample) < request.minimum for material in materials):
        return math.nan
    return float(request.value(*(one.view(kind) for one, kind in zip(materials, request.metric.views, strict=True))))


def _exchanged(request: Request, candidate: Material, reference: Material, resamples: Resamples) -> list[float]:
    assert request.metric.exchange is not None
    kind = request.metric.views[0]
    views: tuple[Any, Any] = (candidate.view(kind), reference.view(kind))
    with np.errstate(divide="ignore", invalid="ignore"):
        values = request.metric.exchange(*views, resamples=resamples, **request.options)
    return np.asarray(values, dtype=np.float64).tolist()


def _resampled(requests: Sequence[Request], pool: Pool, resamples: Resamples) -> dict[str, list[float]]:
    """Values by the views of each division, which are made from those of the whole without reading texts again."""
    found: dict[str, list[float]] = {request.label: [] for request in requests}
    for kind in dict.fromkeys(request.metric.views[0] for request in requests):
        mine = [request for request in requests if request.metric.views[0] is kind]
        for candidate, reference in pool.resample(kind, resamples):
            for request in mine:
                with np.errstate(divide="ignore", invalid="ignore"):
                    compares = request.metric.compares
                    of = request.value
                    value = of(candidate, reference) if compares else of(candidate) - of(reference)
                found[request.label] += np.atleast_1d(np.asarray(value, dtype=np.float64)).tolist()
    return found
