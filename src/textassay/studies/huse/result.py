"""The outcome of a HUSE study, and its JSON form."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any, ClassVar, Self

import numpy as np

from textassay.corpus.ratings.rated_items import RatedItem, RatedItems
from textassay.inference.rated_scores import Corrected
from textassay.inference.result import Interval, Result, one_nan
from textassay.studies.codec import built, from_fields, plain, read_results, to_fields
from textassay.studies.finding import Verdict
from textassay.studies.outcome import (
    Outcome,
    ResultColumn,
    Settings,
    data_frame,
    known,
    plain_settings,
    read_settings,
)
from textassay.version import __version__

# Kinds of items (section 5.3 of the paper). The source of a quality failure is clear from its rating alone, that of a
# diversity failure only with the model's probability; that of any other item is not clear.
KINDS = ("quality failure", "diversity failure", "indistinguishable")


# The names of the scores in the paper.
TITLES = {"huse": "HUSE", "huse_q": "HUSE-Q", "huse_d": "HUSE-D"}


def titled(label: str) -> str:
    """A metric's label with the name of the score in the paper.

    >>> titled("huse_d k=8"), titled("huse")
    ('HUSE-D k=8', 'HUSE')
    """
    name, blank, options = label.partition(" ")
    return f"{TITLES.get(name, name)}{blank}{options}"


@dataclass(frozen=True)
class HuseItem:
    """One item, its mean rating and log-probability per token, and how its neighbours vote.

    `votes` is the share of its neighbours that come from the item's own source, with both features; `votes_by_rating`
    and `votes_by_log_prob` are the same with one feature alone. `told` is true if the vote names its source correctly.
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

    def __post_init__(self) -> None:
        for name in ("log_prob", "votes_by_log_prob"):
            object.__setattr__(self, name, one_nan(getattr(self, name)))


@dataclass(frozen=True)
class AtK:
    """The scores with this many neighbours."""

    k: int
    huse: float
    huse_q: float
    huse_d: float

    def __post_init__(self) -> None:
        for name in ("huse", "huse_q", "huse_d"):
            object.__setattr__(self, name, one_nan(getattr(self, name)))


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
    """The effect of more data on a score: half the width of its interval now and with more.

    `half_width_more_items` is with twice the items, `half_width_more_ratings` with twice the ratings per item; `worth`
    describes the choice in words.
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
    if it does not exist; `p_value` is that of no agreement at all (one-sided), `reason` is empty if nothing is wrong.
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
class RaterAgreement:
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
    """The vote of the nearest neighbours over the plane of both features: the share of neighbours from the model.

    `ratings` and `log_probs` are the coordinates of columns and rows, ascending; `share_model[row][column]`.
    """

    ratings: tuple[float, ...]
    log_probs: tuple[float, ...]
    share_model: tuple[tuple[float, ...], ...]

    def check_fields(self) -> None:
        """Raise an error unless there is a share for each cell of the plane."""
        if {len(self.log_probs)} != {len(self.share_model)} or any(
            len(shares) != len(self.ratings) for shares in self.share_model
        ):
            raise ValueError("the decision map does not have one share per cell")
        if any(not 0 <= share <= 1 for shares in self.share_model for share in shares if not math.isnan(share)):
            raise ValueError("a share of the decision map is not between 0 and 1")


@dataclass(frozen=True)
class ModelColumn(ResultColumn):
    """The scores of the model."""

    name: str
    results: tuple[Result, ...]
    verdict: Verdict


CSV_FIELDS = (
    "item", "source", "kind", "rating", "n_ratings", "log_prob", "length", "log_prob_per_token", "votes",
    "votes_by_rating", "votes_by_log_prob", "share_model", "told", "told_by_rating", "context", "text",
)  # fmt: skip


@dataclass(frozen=True, repr=False)
class HuseResult(Outcome):
    """HUSE and what explains it. `labels` names the metrics, one per result.

    Results have among their `parts`: `accuracy`, and where there is a test `chance` (the mean score when sources are
    exchanged at random), `chance_low` and `chance_high` (the range that holds `level` of those), `told_below` (what a
    score must be below to be significant). `rated` is what was measured, after balancing. `cloud` has (HUSE-D, HUSE-Q)
    of resamples, for the plane. `chance_kinds` is how many items of each kind exchanged sources give on average, in the
    order of `KINDS`; empty without resamples.
    """

    kind: ClassVar[str] = "huse"
    csv_fields: ClassVar[tuple[str, ...]] = CSV_FIELDS
    __hash__ = Outcome.__hash__

    rated: RatedItems
    labels: tuple[str, ...]
    results: tuple[Result, ...]
    items: tuple[HuseItem, ...]
    by_k: tuple[AtK, ...]
    stability: tuple[StabilityPoint, ...]
    outlook: tuple[Outlook, ...]
    agreement: RaterAgreement | None
    decision_map: DecisionMap
    cloud: tuple[tuple[float, float], ...]
    verdict: Verdict
    level: float
    notes: tuple[str, ...]
    chance_kinds: tuple[float, ...] = ()
    settings: Settings = field(default_factory=dict)

    def result(self, metric: str) -> Result | None:
        """The first result of this metric."""
        return next((result for result in self.results if result.metric == metric), None)

    def check_fields(self) -> None:
        """Raise an error unless chance has a number per kind of items, or none."""
        super().check_fields()
        if len(self.chance_kinds) not in (0, len(KINDS)):
            raise ValueError(f"{len(self.chance_kinds)} numbers of items for {len(KINDS)} kinds")

    @property
    def columns(self) -> tuple[ModelColumn, ...]:
        """The one model that was rated."""
        return (ModelColumn(self.rated.model, self.results, self.verdict),)

    def adjusted_p_values(self, column: ResultColumn) -> tuple[float, ...]:
        """The p-values after correction for all tests of the study, in order; NaN without a test."""
        return Corrected.of(column.results, self.level).p_values

    def __getitem__(self, name: str) -> Any:
        """The model by name, or one of its scores: `found["huse"].estimate`."""
        return super().__getitem__(name) if name == self.rated.model else self.columns[0][name]

    def items_frame(self) -> Any:
        """A pandas data frame with one row per item."""
        return data_frame(self.csv_rows(), self.csv_fields)

    def csv_rows(self) -> Iterator[dict[str, Any]]:
        """One row per item, in the order of the study."""
        return (_csv_row(self, judged) for judged in self.items)

    def raters_frame(self) -> Any:
        """A pandas data frame with one row per rater; empty where raters are not known."""
        raters = self.agreement.raters if self.agreement else ()
        return data_frame(map(asdict, raters), [each.name for each in fields(RaterFacts)])

    def to_json(self, *, indent: int | None = None, timings: bool = True) -> str:
        """JSON text without NaN or Infinity; on one line by default, because there are many items."""
        return super().to_json(indent=indent, timings=timings)

    def to_dict(self) -> dict[str, Any]:
        """The documented JSON form; everything beyond the documented keys is under `details`."""
        return as_dict(self)

    @classmethod
    def _from_dict(cls, plain: Mapping[str, Any]) -> Self:
        return cls(**_fields(plain))


def _csv_row(found: HuseResult, judged: HuseItem) -> dict[str, Any]:
    item = judged.item
    return {
        "item": item.id,
        "source": found.rated.model if item.is_model else "human",
        "kind": judged.kind,
        "rating": known(judged.rating),
        "n_ratings": judged.n_ratings,
        "log_prob": item.log_prob,
        "length": item.length,
        "log_prob_per_token": known(judged.log_prob),
        "votes": known(judged.votes),
        "votes_by_rating": known(judged.votes_by_rating),
        "votes_by_log_prob": known(judged.votes_by_log_prob),
        "share_model": known(judged.share_model),
        "told": judged.told,
        "told_by_rating": judged.told_by_rating,
        "context": item.context,
        "text": item.text,
    }


def as_dict(found: HuseResult) -> dict[str, Any]:
    """Plain values: the documented keys, and under `details` what goes beyond them."""
    return {
        "textassay": __version__,
        "results": [result.to_dict() for result in found.results],
        "details": {
            "labels": list(found.labels),
            "n": [result.n for result in found.results],
            "level": found.level,
            "settings": plain_settings(found.settings),
            "verdict": found.verdict.to_dict(),
            "notes": list(found.notes),
            "items": _items(found),
            "by_k": plain(found.by_k),
            "stability": plain(found.stability),
            "outlook": plain(found.outlook),
            "agreement": _agreement(found.agreement) if found.agreement else None,
            "decision_map": plain(found.decision_map),
            "cloud": plain(found.cloud),
            "chance_kinds": list(found.chance_kinds),
            "rated": _rated(found.rated),
        },
    }


def _fields(plain: Mapping[str, Any]) -> dict[str, Any]:
    details = plain["details"]
    rated = _read_rated(details["rated"])
    agreement = details["agreement"]
    return {
        "rated": rated,
        "labels": tuple(details["labels"]),
        "results": read_results(plain["results"], details["n"]),
        "items": tuple(_read_item(item, rated.items) for item in details["items"]),
        "by_k": built(tuple[AtK, ...], details["by_k"]),
        "stability": built(tuple[StabilityPoint, ...], details["stability"]),
        "outlook": built(tuple[Outlook, ...], details["outlook"]),
        "agreement": _read_agreement(agreement) if agreement else None,
        "decision_map": built(DecisionMap, details["decision_map"]),
        "cloud": built(tuple[tuple[float, float], ...], details["cloud"]),
        "chance_kinds": tuple(details["chance_kinds"]),
        "verdict": Verdict.from_dict(details["verdict"]),
        "level": details["level"],
        "settings": read_settings(details),
        "notes": tuple(details["notes"]),
    }


def _items(found: HuseResult) -> list[dict[str, Any]]:
    """Each judged item with its place among the rated items, which have the texts, and its id."""
    places = {item: index for index, item in enumerate(found.rated.items)}
    return [
        {"place": places[judged.item], "id": judged.item.id}
        | plain({name: value for name, value in vars(judged).items() if name != "item"})
        for judged in found.items
    ]


def _read_item(plain: Mapping[str, Any], items: tuple[RatedItem, ...]) -> HuseItem:
    return from_fields(HuseItem, {**plain, "item": items[plain["place"]]})


def _agreement(agreement: RaterAgreement) -> dict[str, Any]:
    return to_fields(agreement) | {"without": [[result.to_dict(), result.n] for result in agreement.without]}


def _read_agreement(plain: Mapping[str, Any]) -> RaterAgreement:
    without = [{**result, "n": n} for result, n in plain["without"]]
    return from_fields(RaterAgreement, {**plain, "without": without})


def _rated(rated: RatedItems) -> dict[str, Any]:
    """The texts, ratings and raters behind it all. JSON has no numbers as keys, so labels are pairs."""
    return {
        "name": rated.name,
        "model": rated.model,
        "digest": rated.digest,
        "scale": list(rated.scale),
        "labels": [[rating, label] for rating, label in rated.labels.items()],
        "notes": list(rated.notes),
        "items": [_rated_item(item) for item in rated.items],
        "raters": list(rated.raters),
        "raters_known": rated.raters_known,
        "item_of": rated.item_of.tolist(),
        "rater_of": rated.rater_of.tolist(),
        "ratings": rated.ratings.tolist(),
    }


def _read_rated(plain: Mapping[str, Any]) -> RatedItems:
    low, high = plain["scale"]
    item_of, rater_of, ratings = (np.array(plain[name]) for name in ("item_of", "rater_of", "ratings"))
    if not item_of.shape == rater_of.shape == ratings.shape == (len(plain["ratings"]),) or item_of.dtype.kind != "i":
        raise ValueError("item_of, rater_of and ratings are not lists of numbers of one length")
    if not np.isfinite(ratings).all() or not ((item_of >= 0) & (item_of < len(plain["items"]))).all():
        raise ValueError("a rating is not a number, or not of an item")
    return RatedItems(
        name=plain["name"],
        items=tuple(map(_read_rated_item, plain["items"])),
        raters=tuple(plain["raters"]),
        item_of=np.array(plain["item_of"], dtype=np.int64),
        rater_of=np.array(plain["rater_of"], dtype=np.int64),
        ratings=np.array(plain["ratings"], dtype=np.float64),
        scale=(low, high),
        labels=dict(plain["labels"]),
        model=plain["model"],
        notes=tuple(plain["notes"]),
        raters_known=bool(plain["raters_known"]),
    )


def _rated_item(item: RatedItem) -> dict[str, Any]:
    """JSON has null for minus infinity, and no log-probability where it is not known."""
    is_known = not math.isnan(item.log_prob)
    return {name: value for name, value in to_fields(item).items() if name != "log_prob" or is_known}


def _read_rated_item(plain: Mapping[str, Any]) -> RatedItem:
    log_prob = plain.get("log_prob", math.nan)
    return RatedItem(**{**plain, "log_prob": -math.inf if log_prob is None else log_prob})
