"""Table 1 and Figures 3, 4 and 5 of the HUSE paper, from its 4,000 ratings of news summaries and its printed scores."""

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby, pairwise
from pathlib import Path

import numpy as np

from textassay.corpus.arrays import Bool
from textassay.corpus.printable import quoted, shortened
from textassay.corpus.ratings.files import read_ratings
from textassay.corpus.ratings.rated_items import RatedItems, balanced
from textassay.engines.local import LocalEngine
from textassay.errors import InputError, Setting
from textassay.inference.rated_scores import RatedPlan, measure
from textassay.inference.result import Result, signature
from textassay.metrics.ratings.rating_view import Ratings
from textassay.metrics.registry import Request, parse_requests
from textassay.reproduce.claims import Check, Claim, Measured
from textassay.reproduce.result import Area, CurveAt, Line, NamedPoint, Numbers, Panel, Reproduction, Row, Run
from textassay.studies.huse.item_votes import decision_map, judged_items
from textassay.studies.huse.result import TITLES, DecisionMap, StabilityPoint
from textassay.studies.huse.stability import n_parts, stability

# Summarization at temperature 1.0, the one setting of Table 1 whose ratings are available.
PUBLISHED = {"huse": 0.53, "huse_q": 0.58, "huse_d": 0.95}
# Table 1: HUSE, HUSE-Q and HUSE-D by task and generator.
TABLE_1 = {
    "summarization": {"t = 1.0": (0.53, 0.58, 0.95), "t = 0.7": (0.26, 0.92, 0.34)},
    "story generation": {"t = 1.0": (0.06, 0.15, 0.91), "retrieval": (0.00, 0.47, 0.53)},
    "dialogue": {"t = 1.0": (0.56, 0.56, 1.00), "t = 0.7": (0.49, 0.92, 0.57)},
    "language model": {"t = 1.0": (0.86, 0.88, 1.02)},
}
_LEVEL, _RESAMPLES = 0.95, 999
N_PARTS = n_parts(200)
# The paper: 50 items are often enough, 20 ratings per item are not too many for summaries.
_FEW_ITEMS, _MANY_RATINGS = 50, 20
_CLOSE = 0.1
_ROUNDING = 0.005
_SAME_DATA = "two printed digits; the same ratings, so that the numbers are exact"


def reproduce_table_1(files: Sequence[Path], run: Run) -> Reproduction:
    """The three scores from single ratings and from the file of items, beside the published ones."""
    requests = parse_requests(list(PUBLISHED), on="ratings")
    exact = parse_requests([f"{metric}:variant=exact" for metric in PUBLISHED], on="ratings")
    rated = [_open(file, run) for file in files]
    plan = RatedPlan(_LEVEL, run.by_scale(99, _RESAMPLES, _RESAMPLES), run.seed, LocalEngine(), run.progress)
    results = [measure(each, requests, plan).results for each in rated]
    kept = [request.value(Ratings.of(rated[0])) for request in exact]
    columns = ("published", "from ratings", "from", "to", "from the items file", "ties kept")
    rows = [
        Row(TITLES[first.metric], (PUBLISHED[first.metric], first.estimate, *_ends(first), second.estimate, tied))
        for first, second, tied in zip(*results, kept, strict=True)
    ]
    return Reproduction(
        name=run.name,
        title="HUSE, HUSE-Q and HUSE-D of news summaries",
        paper="hashimoto2019",
        design="Table 1, summarization, t = 1.0: 100 headlines by people and 100 by the model, 20 ratings each, "
        "the vote of 16 neighbours and the rule for ties of the authors' program; 95 % intervals over contexts and "
        "ratings. The last column counts ties that rounding breaks there as the ties they are.",
        differs=(
            "the other six columns of Table 1 are left out: their ratings are not published in this form",
            "intervals, tests and the column without rounding are not in the paper",
        ),
        claims=(
            Claim(
                "HUSE, HUSE-Q and HUSE-D of summarization at t = 1.0 are 0.53, 0.58 and 0.95",
                tuple(
                    Check(f"{TITLES[metric]} from {source}", Measured.exact(result.estimate), value)
                    for metric, value in PUBLISHED.items()
                    for source, result in zip(("ratings", "the items file"), _of(metric, results), strict=True)
                ),
                "within",
                _ROUNDING,
                _SAME_DATA,
            ),
        ),
        notes=rated[0].notes,
        options=run.options,
        signature=results[0][0].signature,
        tables=(Numbers("Table 1, summarization, t = 1.0", columns, tuple(rows)),),
    )


def _open(file: Path, run: Run) -> RatedItems:
    """The rated items of a file, of which all must be taken."""
    rated = balanced(read_ratings(str(file)), seed=run.seed)
    if run.n_items != len(rated.items):
        wanted = f"; wanted {len(rated.items)}: the published numbers are of all items"
        raise InputError(Setting("n_items", run.n_items), wanted)
    return rated


def _signature(run: Run, rated: RatedItems, **settings: int) -> str:
    data = {"items": f"{len(rated.items)}/{rated.digest}"}
    return signature(run.name, {}, data=data, resampling={"k": 16, **settings, "seed": run.seed})


def _ends(result: Result) -> tuple[float | None, float | None]:
    return (result.interval.low, result.interval.high) if result.interval else (None, None)


def _of(metric: str, results: Sequence[Sequence[Result]]) -> list[Result]:
    return [result for each in results for result in each if result.metric == metric]


def reproduce_figure_5(files: Sequence[Path], run: Run) -> Reproduction:
    """HUSE and HUSE-Q on random parts of the items, and with a random part of the ratings."""
    requests = parse_requests(["huse", "huse_q"], on="ratings")
    rated = _open(files[0], run)
    plan = RatedPlan(_LEVEL, _RESAMPLES, run.seed, LocalEngine(), run.progress)
    points = stability(Ratings.of(rated), requests, plan, most_k=16)
    return Reproduction(
        name=run.name,
        title="HUSE on fewer items and with fewer ratings per item",
        paper="hashimoto2019",
        design="Figure 5, summarization: random parts of the 200 items with all 20 ratings, and all items with a "
        f"random part of their ratings; mean over {N_PARTS} parts, and the range that holds 95 % of them.",
        differs=(
            "Figure 5 has other tasks too, whose ratings are not published in this form",
            "the paper draws HUSE alone; at least 32 items are taken, twice the 16 neighbours",
        ),
        claims=_claims(points),
        notes=(*rated.notes, "bands close towards the full set, since its parts then have most items in common"),
        options=run.options,
        signature=_signature(run, rated, parts=N_PARTS),
        panels=(
            _panel("Fewer items", "items", points, requests),
            _panel("Fewer ratings per item", "ratings", points, requests),
        ),
    )


def _panel(title: str, along: str, points: Sequence[StabilityPoint], requests: Sequence[Request]) -> Panel:
    lines = [
        Line(
            TITLES[request.metric.name],
            tuple(
                CurveAt(point.n, point.mean, point.low, point.high)
                for point in points
                if point.along == along and point.metric == request.label
            ),
        )
        for request in requests
    ]
    return Panel(title, along, "score", tuple(lines), limits=(0.0, 1.0))


def _claims(points: Sequence[StabilityPoint]) -> tuple[Claim, ...]:
    items, ratings = (
        [point for point in points if point.along == along and point.metric == "huse"] for along in ("items", "ratings")
    )
    whole = items[-1].mean
    few = min(items, key=lambda point: abs(point.n - _FEW_ITEMS))
    return (
        Claim(
            f"{_FEW_ITEMS} items are often sufficient to give an accurate estimate of HUSE",
            (
                Check(
                    f"HUSE on {few.n} items less HUSE on all",
                    Measured.between(few.mean - whole, few.low - whole, few.high - whole),
                ),
            ),
            "within",
            _CLOSE,
            f"{_CLOSE} is close; the interval holds 95 % of the parts with this many items",
        ),
        Claim(
            f"summaries need more than {_MANY_RATINGS} ratings per item: HUSE falls with every increase up to there",
            tuple(
                Check(f"HUSE with {fewer.n} less with {more.n}", _mean_of_parts(fewer).less(_mean_of_parts(more)))
                for fewer, more in pairwise(ratings)
            ),
            "above",
            0.01,
            "a fall of 0.01 shows in two digits; intervals of the mean over parts",
        ),
    )


def _mean_of_parts(point: StabilityPoint) -> Measured:
    """The mean over the parts, whose range is that of 95 % of them."""
    return Measured.give_or_take(point.mean, (point.high - point.low) / (2 * 1.96) / math.sqrt(N_PARTS))


def reproduce_figure_3(files: Sequence[Path], run: Run) -> Reproduction:
    """Models in the plane of HUSE-D and HUSE-Q: those of Table 1, and summarization as measured here."""
    rated = _open(files[0], run)
    view = Ratings.of(rated)
    ours = {request.metric.name: request.value(view) for request in parse_requests(list(PUBLISHED), on="ratings")}
    wrong = [
        f"{task}, {name}: 1 + {whole:.2f} - {quality:.2f} = {1 + whole - quality:.2f}, printed {diversity:.2f}"
        for task, models in TABLE_1.items()
        for name, (whole, quality, diversity) in models.items()
        if abs(1 + whole - quality - diversity) > 2 * _ROUNDING + _ROUNDING / 2
    ]
    claims = (
        Claim(
            "summarization at t = 1.0 is at HUSE-D 0.95 and HUSE-Q 0.58",
            tuple(
                Check(TITLES[metric], Measured.exact(ours[metric]), PUBLISHED[metric])
                for metric in ("huse_d", "huse_q")
            ),
            "within",
            _ROUNDING,
            _SAME_DATA,
        ),
    )
    return Reproduction(
        name=run.name,
        title="Figure 3: models in the plane of HUSE-D and HUSE-Q",
        paper="hashimoto2019",
        design="Seven models by the printed scores of Table 1, and summarization at t = 1.0 as measured from its "
        "ratings. Dashed lines have equal HUSE (0, 0.25, 0.5 and 0.75). A shaded area has the models of a "
        "task that are worse at the same proportion of HUSE-D and HUSE-Q. Only the last model is measured and "
        "compared.",
        differs=(
            "Figure 3 has further temperatures, which the paper does not print as numbers; without their ratings they "
            "are left out.",
        ),
        claims=claims,
        notes=(
            "HUSE-D is 1 + HUSE - HUSE-Q. In the printed scores this is not so to two digits: "
            + ("; ".join(wrong) or "nowhere"),
        ),
        options=run.options,
        signature=_signature(run, rated),
        panels=(_plane_of_models(ours),),
    )


def _plane_of_models(ours: Mapping[str, float]) -> Panel:
    """HUSE-D across and HUSE-Q up, one curve per task."""
    lines, areas = [], []
    for task, models in TABLE_1.items():
        places = sorted(
            ((diversity, quality) for _, quality, diversity in models.values()), key=lambda at: at[1] / at[0]
        )
        lines.append(Line(task, tuple(CurveAt(x, y) for x, y in places)))
        if len(places) > 1:
            areas.append(Area(task, ((0.0, 0.0), *places)))
    dashed = tuple(((max(h, 0.0), min(1.0, 1 + h)), (1.0, h)) for h in (0.0, 0.25, 0.5, 0.75))
    named = (NamedPoint("t = 1.0, ours", ours["huse_d"], ours["huse_q"]),)
    return Panel(
        "Higher is better on both axes",
        "HUSE-D (diversity)",
        "HUSE-Q (quality)",
        tuple(lines),
        points=named,
        areas=tuple(areas),
        dashed=dashed,
        limits=(0.0, 1.0),
        tabled=False,
    )


def reproduce_figure_4(files: Sequence[Path], run: Run) -> Reproduction:
    """Human and model summaries by rating and log-probability, and where the neighbours vote for the model."""
    rated = _open(files[0], run)
    view = Ratings.of(rated)
    means, log_probs, is_model = view.means, view.log_probs("token"), view.is_model
    votes = decision_map(view, k=16, per="token")
    return Reproduction(
        name=run.name,
        title="Figure 4: human and model summaries by rating and log-probability, t = 1.0",
        paper="hashimoto2019",
        design="The 200 summaries at t = 1.0 by log-probability per token and mean rating; in the shaded area most of "
        "the 16 nearest neighbours are from the model.",
        differs=("Figure 4 has panels for t = 0.9 and t = 0.7 too, whose ratings are not available here.",),
        claims=_plane_claims(rated, view),
        options=run.options,
        signature=_signature(run, rated),
        panels=(
            Panel(
                "summarization, t = 1.0",
                "log-probability per token",
                "mean rating",
                tuple(
                    Line(
                        name,
                        tuple(CurveAt(float(x), float(y)) for x, y in zip(log_probs[side], means[side], strict=True)),
                        joined=False,
                    )
                    for name, side in (("human", ~is_model), ("model", is_model))
                ),
                areas=tuple(_model_areas(votes)),
                tabled=False,
            ),
        ),
    )


# Folds of contexts, each left out once.
_FOLDS = 20


def _plane_claims(rated: RatedItems, view: Ratings) -> tuple[Claim, ...]:
    contexts = np.unique(view.context, return_inverse=True)[1]
    folds = [view.take(np.flatnonzero(contexts % _FOLDS != fold)) for fold in range(_FOLDS)]
    means, log_probs = view.means, view.log_probs("token")
    upper = (means > np.median(means)) & (log_probs > np.median(log_probs))
    judged = judged_items(rated, view, k=16, tied="released", per="token")
    right = np.array([item.told for item in judged], dtype=np.float64)
    inside, outside = (Measured.over(right[where]) for where in (upper, ~upper))
    return (
        Claim(
            "the boundary is mostly horizontal: ratings separate the sources, probabilities do not",
            (
                Check(
                    "share of the plane where the vote is that of the best horizontal line less that of the best "
                    "vertical one",
                    Measured.jackknife(_tilt(view), [_tilt(fold) for fold in folds]),
                ),
            ),
            "above",
            0.1,
            f"a tenth of the plane; interval by the jackknife over {_FOLDS} folds of contexts",
        ),
        Claim(
            "items with high ratings and high probabilities are almost indistinguishable",
            (Check(f"share of {int(upper.sum())} such items that is classified correctly", inside, 0.5),),
            "within",
            0.15,
            "half are classified correctly by chance; interval over items",
        ),
        Claim(
            "other items are classified correctly more often",
            (Check("share of the others less that of these items", outside.less(inside)),),
            "above",
            0.0,
            "interval over items",
        ),
    )


def _tilt(view: Ratings) -> float:
    level, upright = _straight_lines(np.array(decision_map(view, k=16, per="token").share_model) > 0.5)
    return level - upright


def _straight_lines(is_model: Bool) -> tuple[float, float]:
    """The largest share of the plane where the vote is that of one side of a horizontal, and of a vertical, line.

    Rows of the plane are log-probabilities and columns are ratings.
    """
    level, upright = (
        max(
            max(share, 1 - share)
            for index in range(votes.shape[1] + 1)
            for share in (float((votes == (np.arange(votes.shape[1]) < index)).mean()),)
        )
        for votes in (is_model, is_model.T)
    )
    return level, upright


def _model_areas(found: DecisionMap) -> Iterator[Area]:
    """Where most neighbours are from the model: one rectangle per run of cells of a column."""
    up = [(a + b) / 2 for a, b in pairwise((found.ratings[0], *found.ratings, found.ratings[-1]))]
    across = [(a + b) / 2 for a, b in pairwise((found.log_probs[0], *found.log_probs, found.log_probs[-1]))]
    for row, shares in enumerate(found.share_model):
        left, right = across[row], across[row + 1]
        start = 0
        for is_model, cells in groupby(share > 0.5 for share in shares):
            end = start + len(list(cells))
            if is_model:
                low, high = up[start], up[end]
                yield Area(
                    "most neighbours are from the model", ((left, low), (right, low), (right, high), (left, high))
                )
            start = end


# Table 2: what an example shows, whose text it is, an item of the ratings file, and its printed mean rating and
# log-probability per token, where there are any.
TABLE_2 = (
    ("quality failure", "model", "model-051", 2.6, -2.3),
    ("quality failure", "reference", "human-051", 4.3, None),
    ("diversity failure", "model", "model-027", 4.3, None),
    ("diversity failure", "reference", "human-027", 4.3, None),
    ("indistinguishable", "model", "model-058", 5.3, None),
    ("indistinguishable", "reference", "human-058", 4.9, -0.3),
)


def reproduce_table_2(files: Sequence[Path], run: Run) -> Reproduction:
    """The printed examples of failures: their ratings, log-probabilities and the votes of their neighbours."""
    rated = _open(files[0], run)
    judged = {each.item.id: each for each in judged_items(rated, Ratings.of(rated), k=16, tied="released", per="token")}
    if missing := [item for _, _, item, _, _ in TABLE_2 if item not in judged]:
        raise InputError(f"{files[0]}: no item {quoted(missing)}; wanted the items of the published file")
    return Reproduction(
        name=run.name,
        title="Table 2: examples of quality failures, diversity failures and indistinguishable texts",
        paper="hashimoto2019",
        design="The six printed texts in the file of 4,000 ratings: mean rating of 20 people, log-probability per "
        "token, and the share of the 16 nearest neighbours that come from the same source, by the rating alone and by "
        "both features.",
        differs=(
            "Four of the six log-probabilities are not printed or not legible in the table, so that two are compared.",
            "The example of a diversity failure is from t = 0.7 in the text of the paper; the ratings here are of "
            "t = 1.0.",
        ),
        claims=(
            Claim(
                "the mean ratings of the six texts are 2.6, 4.3, 4.3, 4.3, 5.3 and 4.9",
                tuple(
                    Check(f"{kind}, {whose}", Measured.exact(judged[item].rating), printed)
                    for kind, whose, item, printed, _ in TABLE_2
                ),
                "within",
                _ONE_DIGIT,
                _SAME_RATINGS,
            ),
            Claim(
                "the log-probabilities per token are -2.3 and -0.3 where they are printed",
                tuple(
                    Check(f"{kind}, {whose}", Measured.exact(judged[item].log_prob), printed)
                    for kind, whose, item, _, printed in TABLE_2
                    if printed is not None
                ),
                "within",
                _ONE_DIGIT,
                _SAME_RATINGS,
            ),
        ),
        options=run.options,
        signature=_signature(run, rated),
        tables=(
            Numbers(
                "Ratings, log-probabilities and votes",
                (
                    "rating, published",
                    "rating, ours",
                    "log p, published",
                    "log p, ours",
                    "votes for its source by rating",
                    "by both",
                ),
                tuple(
                    Row(
                        f"{kind}, {whose}: {shortened(judged[item].item.text or '', 60)}",
                        (
                            rating,
                            judged[item].rating,
                            log_prob,
                            judged[item].log_prob,
                            judged[item].votes_by_rating,
                            judged[item].votes,
                        ),
                    )
                    for kind, whose, item, rating, log_prob in TABLE_2
                ),
            ),
        ),
    )


# 4.25 is printed as 4.3.
_ONE_DIGIT = 0.0501
_SAME_RATINGS = "one printed digit; the same ratings, so that the numbers are exact"
