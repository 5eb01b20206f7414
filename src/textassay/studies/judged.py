"""The outcome of a HUSE study: the scores, each item's label, raters, stability; frozen, and how to write it down."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from textassay.corpus.rated import RatedItem, RatedItems
from textassay.inference.result import Interval, Result
from textassay.studies.comparison import Verdict

# What can be wrong with an item. A quality failure is told by its rating alone, a diversity failure only with the
# model's probability beside it; everything else could be from either source.
KINDS = ("quality failure", "diversity failure", "indistinguishable")


# What readers of the paper call the scores.
TITLES = {"huse": "HUSE", "huse_q": "HUSE-Q", "huse_d": "HUSE-D"}


def titled(label: str) -> str:
    """A metric's label with the name that readers know.

    >>> titled("huse_d k=8"), titled("huse")
    ('HUSE-D k=8', 'HUSE')
    """
    name, blank, options = label.partition(" ")
    return f"{TITLES.get(name, name)}{blank}{options}"


@dataclass(frozen=True)
class JudgedItem:
    """One item, its mean rating and log-probability a token, and how its neighbours vote.

    `votes` is the share of its neighbours that come from the item's own source, with both features; `votes_by_rating`
    and `votes_by_log_prob` are the same with one feature alone. `told` says whether the vote names its source rightly.
    `share_model` is the share of neighbours from the model.
    """

    item: RatedItem
    rating: float
    n_ratings: int
    log_prob: float
    votes: float
    votes_by_rating: float
    votes_by_log_prob: float
    share_model: float
    told: bool
    told_by_rating: bool
    kind: str


@dataclass(frozen=True)
class AtK:
    """The scores with this many neighbours."""

    k: int
    huse: float
    huse_q: float
    huse_d: float


@dataclass(frozen=True)
class StabilityPoint:
    """A score on random parts of the ratings: mean over parts, and the range that holds `level` of them.

    `along` is `items` (that many of both sources together, all ratings) or `ratings` (all items, that many each).
    """

    metric: str
    along: str
    n: int
    mean: float
    low: float
    high: float


@dataclass(frozen=True)
class Outlook:
    """What more data would bring to a score: half of its interval now and with more.

    `half_width_more_items` is at twice the items, `half_width_more_ratings` at twice the ratings an item; `worth` puts
    into words which to pay for.
    """

    metric: str
    half_width: float
    half_width_more_items: float
    half_width_more_ratings: float
    worth: str


@dataclass(frozen=True)
class RaterFacts:
    """One rater: how many ratings, how they agree with everybody else's, and why they look random, if they do.

    `agreement` is the correlation of the rater's ratings with the mean rating of the same items by all others, NaN
    where it does not exist; `p_value` is that of no agreement at all (one-sided), `reason` is empty for a rater in good
    order.
    """

    name: str
    n: int
    mean: float
    agreement: float
    p_value: float
    reason: str

    @property
    def flagged(self) -> bool:
        """True when the ratings look as if given at random."""
        return bool(self.reason)


@dataclass(frozen=True)
class Agreement:
    """How far raters agree: Krippendorff's alpha with its interval, every rater, and the scores without flagged ones.

    `without` has the results of the same metrics after leaving out flagged raters; it is empty where none is flagged,
    or where too little is left.
    """

    alpha: float
    alpha_ordinal: float
    interval: Interval | None
    raters: tuple[RaterFacts, ...]
    without: tuple[Result, ...]


@dataclass(frozen=True)
class DecisionMap:
    """The vote of the nearest neighbours over the plane of both features: share of the model, a row a log-probability.

    `ratings` and `log_probs` are the places of columns and rows, both ascending; `share_model[row][column]`.
    """

    ratings: tuple[float, ...]
    log_probs: tuple[float, ...]
    share_model: tuple[tuple[float, ...], ...]


@dataclass(frozen=True)
class Judged:
    """HUSE and all that explains it. `labels` names the metrics, one for each result.

    Results have among their `parts`: `accuracy`, and where there is a test `chance` (the mean score when sources are
    exchanged at random), `chance_low` and `chance_high` (the range that holds `level` of those), `told_below` (what a
    score must be below to be significant). `rated` is what was measured, after balancing. `cloud` has (HUSE-D, HUSE-Q)
    of resamples, for the plane. `chance_kinds` is how many items of each kind exchanged sources give on average, in the
    order of `KINDS`; empty without resamples.
    """

    rated: RatedItems
    labels: tuple[str, ...]
    results: tuple[Result, ...]
    items: tuple[JudgedItem, ...]
    by_k: tuple[AtK, ...]
    stability: tuple[StabilityPoint, ...]
    outlook: tuple[Outlook, ...]
    agreement: Agreement | None
    decision_map: DecisionMap
    cloud: tuple[tuple[float, float], ...]
    verdict: Verdict
    level: float
    notes: tuple[str, ...]
    chance_kinds: tuple[float, ...] = ()

    def result(self, metric: str) -> Result | None:
        """The first result of this metric."""
        return next((result for result in self.results if result.metric == metric), None)

    def to_dict(self) -> dict[str, Any]:
        """The documented JSON form; what goes beyond it stands under `details`."""
        plain: dict[str, Any] = import_module("textassay.studies.judged_json").as_dict(self)
        return plain

    def to_json(self, *, indent: int | None = None) -> str:
        """JSON text; never NaN or Infinity, which are not JSON."""
        return json.dumps(self.to_dict(), indent=indent, ensure_ascii=False, allow_nan=False)

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> "Judged":
        """Read back what `to_dict` gave."""
        read: Judged = import_module("textassay.studies.judged_json").from_dict(plain)
        return read

    @classmethod
    def from_json(cls, text: str) -> "Judged":
        """Read back what `to_json` wrote."""
        read: Judged = import_module("textassay.studies.judged_json").from_text(text)
        return read

    def to_html(self) -> str:
        """The report as one self-contained HTML page."""
        return str(_report("huse_html").render_huse_html(self))

    def to_pandas(self) -> Any:
        """A data frame with one row an item."""
        return _report("huse_notebook").to_pandas(self)

    def _repr_html_(self) -> str:
        return str(_report("huse_notebook").render_huse_notebook(self))

    def __str__(self) -> str:
        return str(_report("huse_table").as_text(self))


def _report(name: str) -> Any:
    """A way out of the house, opened on demand: reports know studies, studies only know where to knock."""
    return import_module(f"textassay.report.{name}")
