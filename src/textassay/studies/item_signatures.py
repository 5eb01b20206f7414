"""Signatures of a conditional study: one line that fixes a number over items or of one item."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field

from textassay.corpus.items import ItemSet
from textassay.inference.request import Request
from textassay.studies.item_work import ItemPlan
from textassay.version import __version__


@dataclass(frozen=True, eq=False)
class Signer:
    """Writes signatures: metric, options, distance or encoder, tokens, items and system by digest, test, version."""

    items: ItemSet
    plan: ItemPlan
    tokenizer: str
    encoder: str | None
    distances: Mapping[str, str]
    _systems: dict[str | None, str] = field(default_factory=dict, repr=False)

    def over_items(self, request: Request, system: str | None, *further: str) -> str:
        """Of a system's number over all items, or of the human row's where the system is None."""
        fields = [request.metric.name, *(f"{option}:{value}" for option, value in request.options.items())]
        distance = request.options.get("distance")
        if distance is None:
            fields.append(f"enc:{self.encoder}")
        else:
            fields += [f"dist:{self.distances[distance]}", f"tok:{self.tokenizer}"]
        fields += [f"items:{len(self.items)}/{self.items.digest}", f"system:{self._digest(system)}", *further]
        return "|".join([*fields, *self._resampling(request), f"v:{__version__}"])

    def _resampling(self, request: Request) -> list[str]:
        if not self.plan.n_resamples:
            return ["resamples:0"]
        asymptotic = self.plan.asymptotic and request.metric.name == "trm"
        return [
            "interval:bootstrap-items",
            f"level:{self.plan.level}",
            f"test:{'asymptotic-or-' * asymptotic}exact-up-to-{self.plan.most(request)}",
            f"resamples:{self.plan.n_resamples}",
            f"seed:{self.plan.seed}",
        ]

    def _digest(self, system: str | None) -> str:
        """The system's texts by digest, never by name: a name may hold anything."""
        if system is None:
            return "human"
        if system not in self._systems:
            texts = [item.candidates.get(system, ()) for item in self.items.items]
            self._systems[system] = hashlib.blake2b(json.dumps(texts).encode(), digest_size=8).hexdigest()
        return self._systems[system]
