"""HUSE studies made by hand for the tests of reports: any number of items, honest votes, and hostile texts."""

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.neighbors import NearestNeighbors

from tests.report.item_builders import HOSTILE
from textassay.corpus.ratings.rated_items import NOBODY, RatedItem, RatedItems
from textassay.inference.result import Interval, Result
from textassay.studies.huse.item_votes import kind_of
from textassay.studies.huse.result import (
    Agreement,
    AtK,
    DecisionMap,
    HuseItem,
    HuseResult,
    Outlook,
    RaterFacts,
    StabilityPoint,
)
from textassay.studies.verdict import Verdict

METRICS = ("huse", "huse_q", "huse_d")
LABELS = {1.0: "Invalid", 2.0: "Rare", 3.0: "Specific", 4.0: "Average", 5.0: "Typical", 6.0: "Very Typical"}
RATINGS_AN_ITEM = 20
_K = 16
_WORDS = """
police minister election market rates shares team coach injury storm island talks treaty court ruling judge leader party
vote budget oil prices bank growth trade deal visit summit rebels troops border town fire rescue flight airport strike
"""

F64 = NDArray[np.float64]


def judged(
    n: int = 40, seed: int = 0, hostile: bool = False, raters: bool = True, *, level: float = 0.95
) -> HuseResult:
    """A study of so many items, half of them human; `raters=False` knows mean ratings only.

    Ratings and log-probabilities are drawn at random, the scores and votes on the page really follow from them; the
    stability and what is said of raters are made up. With `hostile`, every place that holds a text from outside holds
    a hostile one.
    """
    found = _judged(n, seed, raters, level)
    return _made_hostile(found) if hostile else found


@cache
def _judged(n: int, seed: int, raters: bool, level: float) -> HuseResult:
    rng = np.random.default_rng(seed)
    is_model = np.arange(n) % 2 == 1
    quality = np.where(is_model, rng.normal(3.7, 0.9, n), rng.normal(4.5, 0.6, n))
    log_prob = np.where(is_model, rng.normal(-2.3, 0.7, n), rng.normal(-3.3, 1.1, n))
    single = np.clip(np.rint(quality[:, None] + rng.normal(0, 1.1, (n, RATINGS_AN_ITEM))), 1, 6)
    rating = single.mean(1)
    features = np.column_stack([rating, log_prob])
    features /= features.std(0)
    ks = [k for k in (1, 2, 4, 8, 16, 32, 64) if k < n / 2]
    both, alone, other = (_shares(part, is_model, ks) for part in (features, features[:, :1], features[:, 1:]))
    by_k = tuple(_at_k(k, is_model, both[k], alone[k]) for k in ks)
    k = max(each for each in ks if each <= _K)
    at = next(each for each in by_k if each.k == k)
    rated = _rated(rng, is_model, log_prob, single if raters else None, rating)
    results = tuple(_result(metric, getattr(at, metric), n, k, level, rated.digest) for metric in METRICS)
    return HuseResult(
        rated=rated,
        labels=METRICS,
        results=results,
        items=tuple(
            _item(item, float(rating[i]), [float(share[k][i]) for share in (both, alone, other)], RATINGS_AN_ITEM)
            for i, item in enumerate(rated.items)
        ),
        by_k=by_k,
        stability=tuple(_stability(at, n, raters)),
        outlook=tuple(_outlook(metric, raters) for metric in METRICS),
        agreement=_agreement(results, level) if raters else None,
        decision_map=_map(features, is_model, k, rating, log_prob),
        cloud=tuple(
            (at.huse_d + 0.07 * float(a), at.huse_q + 0.06 * float(b)) for a, b in rng.normal(0, 1, (200, 2))
        ),
        verdict=Verdict("differs", ("told from people (HUSE 0.55, p 0.001)", "by quality more than by diversity")),
        level=level,
        notes=("3 human items had no partner and were left out, so that both sources are of one size",),
        settings={"resamples": 999, "seed": 0, "version": "0.1.0"},
    )  # fmt: skip


def _shares(features: F64, is_model: NDArray[np.bool_], ks: Sequence[int]) -> dict[int, F64]:
    """For each k the share of the model among the nearest neighbours of every item."""
    _, order = NearestNeighbors(n_neighbors=max(ks)).fit(features).kneighbors()
    votes = is_model[order]
    return {k: votes[:, :k].mean(1) for k in ks}


def _at_k(k: int, is_model: NDArray[np.bool_], both: F64, alone: F64) -> AtK:
    huse, huse_q = (2 - 2 * float(np.mean((share > 0.5) == is_model)) for share in (both, alone))
    return AtK(k, huse, huse_q, 1 + huse - huse_q)


def _text(rng: np.random.Generator, words: int) -> str:
    known = _WORDS.split()
    return " ".join(known[at] for at in rng.integers(0, len(known), words))


def _rated(
    rng: np.random.Generator, is_model: NDArray[np.bool_], log_prob: F64, single: F64 | None, rating: F64
) -> RatedItems:
    n = len(is_model)
    contexts = [_text(rng, 18) for _ in range((n + 1) // 2)]
    items = []
    for i in range(n):
        name, length = ("model" if is_model[i] else "human"), 6 + i % 7
        text = _text(rng, length)
        whole = float(log_prob[i]) * length
        items.append(RatedItem(f"{name}-{i // 2:03d}", bool(is_model[i]), whole, length, text, contexts[i // 2]))
    each = 1 if single is None else RATINGS_AN_ITEM
    given = rating if single is None else single.ravel()
    item_of = np.repeat(np.arange(n), each)
    rater_of = np.full(n * each, NOBODY) if single is None else np.arange(n * each) % RATINGS_AN_ITEM
    names = () if single is None else tuple(f"r{at:03d}" for at in range(RATINGS_AN_ITEM))
    return RatedItems("headlines", tuple(items), names, item_of, rater_of, given, (1.0, 6.0), LABELS, "pointer net")


def _item(item: RatedItem, rating: float, shares: Sequence[float], n_ratings: int) -> HuseItem:
    """An item with the share of the model by both features, by rating and by log-probability."""
    votes, by_rating, by_log_prob = (share if item.is_model else 1 - share for share in shares)
    told, told_by_rating = ((share > 0.5) == item.is_model for share in shares[:2])
    return HuseItem(
        item=item,
        rating=rating,
        n_ratings=n_ratings,
        log_prob=item.log_prob / item.length,
        votes=votes,
        votes_by_rating=by_rating,
        votes_by_log_prob=by_log_prob,
        share_model=shares[0],
        told=told,
        told_by_rating=told_by_rating,
        kind=kind_of(votes, by_rating, by_log_prob),
    )


def _result(metric: str, estimate: float, n: int, k: int, level: float, digest: str, **extra: Any) -> Result:
    aspect = {"huse": "both", "huse_q": "quality", "huse_d": "diversity"}[metric]
    tested = {"p_value": None if metric == "huse_d" else 0.001}
    values: dict[str, Any] = {
        "metric": metric,
        "options": {"k": k, "variant": "released", "per": "token"},
        "estimate": estimate,
        "better": "higher",
        "aspect": aspect,
        "interval": Interval(estimate - 0.11, estimate + 0.13, level, "bootstrap:ratings"),
        "parts": {"chance": 0.98, "chance_low": 0.84, "chance_high": 1.12, "accuracy": 1 - estimate / 2},
        "undefined": None,
        "signature": f"{metric}|k:{k}|variant:released|per:token|items:{n}/{digest}|resamples:999|seed:0|v:0.1.0",
        "seconds": 0.1,
        "n": n,
    }
    return Result(**(values | tested | extra))


def undefined(result: Result, reason: str) -> Result:
    """The same metric without a number."""
    return replace(result, estimate=math.nan, interval=None, p_value=None, parts={}, undefined=reason)


def _stability(at: AtK, n: int, raters: bool) -> list[StabilityPoint]:
    points = []
    sizes = {"items": sorted({max(n * part // 8, 4) for part in (1, 2, 4, 6, 8)})}
    if raters:
        sizes["ratings"] = [1, 2, 5, 10, 20]
    for metric in METRICS:
        end = getattr(at, metric)
        for along, steps in sizes.items():
            for step in steps:
                left = 1 - step / steps[-1]
                low, high = end + 0.1 * left - 0.05, end + 0.3 * left + 0.05
                points.append(StabilityPoint(metric, along, step, end + 0.2 * left, low, high))
    return points


def _outlook(metric: str, raters: bool) -> Outlook:
    worth = "twice the items would narrow the interval from ±0.12 to ±0.085; more ratings hardly would"
    return Outlook(metric, 0.12, 0.085, 0.115 if raters else math.nan, worth)


def _agreement(results: Sequence[Result], level: float) -> Agreement:
    facts = [RaterFacts(f"r{at:03d}", 40 - at, 4.1 - 0.02 * at, 0.6 - 0.02 * at, 0.001, "") for at in range(18)]
    facts.append(RaterFacts("r018", 40, 3.5, -0.02, 0.55, "agrees with nobody: correlation -0.02, p 0.55"))
    facts.append(RaterFacts("r019", 40, 6.0, math.nan, math.nan, "gave 6 every time"))
    without = [replace(result, estimate=result.estimate - 0.02, n=result.n) for result in results]
    return Agreement(0.34, 0.36, Interval(0.27, 0.41, level, "bootstrap:items"), tuple(facts), tuple(without))


def _map(features: F64, is_model: NDArray[np.bool_], k: int, rating: F64, log_prob: F64) -> DecisionMap:
    ratings, log_probs = np.linspace(rating.min(), rating.max(), 40), np.linspace(log_prob.min(), log_prob.max(), 40)
    scale = rating.std(), log_prob.std()
    across, down = np.meshgrid(ratings / scale[0], log_probs / scale[1])
    places = np.column_stack([across.ravel(), down.ravel()])
    _, order = NearestNeighbors(n_neighbors=k).fit(features).kneighbors(places)
    share = is_model[order].mean(1).reshape(across.shape)
    return DecisionMap(
        tuple(map(float, ratings)), tuple(map(float, log_probs)), tuple(tuple(map(float, row)) for row in share)
    )


def _made_hostile(found: HuseResult) -> HuseResult:
    """The same numbers with a hostile text wherever a text can stand."""
    texts = [*HOSTILE, "x" * 10_000, "🙂" * 300, ""]

    def text(at: int) -> str:
        return texts[at % len(texts)]

    items = tuple(
        replace(
            each,
            item=replace(each.item, id=f"{at} {text(at)}", text=text(at), context=text(at // 2 + 3)),
        )
        for at, each in enumerate(found.items)
    )
    labels = {value: text(at) for at, value in enumerate(LABELS)}
    names = tuple(f"{at} {text(at)}" for at in range(len(found.rated.raters)))
    rated = replace(
        found.rated, name=text(1), items=tuple(each.item for each in items), raters=names, labels=labels, model=text(0),
        notes=tuple(HOSTILE),
    )  # fmt: skip
    agreement = found.agreement
    if agreement is not None:
        facts = [replace(fact, name=names[at], reason=text(at)) for at, fact in enumerate(agreement.raters)]
        agreement = replace(agreement, raters=tuple(facts))
    return replace(
        found, rated=rated, items=items, agreement=agreement, verdict=Verdict("differs", tuple(HOSTILE)),
        stability=tuple(replace(p, metric=text(METRICS.index(p.metric))) for p in found.stability),
        results=(*found.results[:2], undefined(found.results[2], text(0))), notes=tuple(HOSTILE),
        outlook=tuple(replace(each, worth=text(at)) for at, each in enumerate(found.outlook)),
        labels=tuple(HOSTILE[:3]),
    )  # fmt: skip
