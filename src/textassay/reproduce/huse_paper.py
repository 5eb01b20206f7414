"""Table 1 and Figure 5 of the HUSE paper, from its 4,000 ratings of news summaries."""

from collections.abc import Sequence
from pathlib import Path

from textassay.corpus.ratings.rated_items import RatedItems
from textassay.corpus.ratings.readers import read_ratings
from textassay.engines.local import LocalEngine
from textassay.errors import InputError, Setting
from textassay.inference.result import Result, signature
from textassay.metrics.ratings.rating_view import Ratings
from textassay.metrics.registry import Request, parse_requests
from textassay.reproduce.result import Claim, CurveAt, Line, Numbers, Panel, Reproduction, Row, Run
from textassay.studies.huse.result import TITLES, StabilityPoint
from textassay.studies.huse.scores import RatedPlan, balanced, measure
from textassay.studies.huse.stability import stability

# Summarization at temperature 1.0, the one setting of Table 1 whose ratings are at hand.
PUBLISHED = {"huse": 0.53, "huse_q": 0.58, "huse_d": 0.95}
_LEVEL, _RESAMPLES = 0.95, 999
# The paper: 50 items are often enough, 20 ratings per item are not too many for summaries.
_FEW_ITEMS, _MANY_RATINGS = 50, 20
_CLOSE = 0.1


def reproduce_table_1(files: Sequence[Path], run: Run) -> Reproduction:
    """The three scores from single ratings and from the file of items, beside the published ones."""
    requests = parse_requests(list(PUBLISHED), on="ratings")
    exact = parse_requests([f"{metric}:variant=exact" for metric in PUBLISHED], on="ratings")
    rated = [balanced(read_ratings(str(file)), seed=run.seed) for file in files]
    _check_items(rated[0], run.n_items)
    plan = RatedPlan(_LEVEL, run.by_scale(99, _RESAMPLES, _RESAMPLES), run.seed, LocalEngine(), run.progress)
    results = [measure(each, requests, plan).results for each in rated]
    kept = [request(Ratings.of(rated[0])) for request in exact]
    columns = ("published", "from ratings", "from", "to", "from the items file", "ties kept")
    rows = [
        Row(TITLES[first.metric], (PUBLISHED[first.metric], first.estimate, *_ends(first), second.estimate, tied))
        for first, second, tied in zip(*results, kept, strict=True)
    ]
    agrees = all(_agrees(metric, results) for metric in PUBLISHED)
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
        claims=tuple(
            Claim(f"{TITLES[metric]} {value:.2f}", _found(metric, results), _agrees(metric, results))
            for metric, value in PUBLISHED.items()
        ),
        conclusion=f"The three scores of summarization at t = 1.0 {'agree' if agrees else 'do not all agree'} with the "
        "paper to two digits; the other six columns cannot be checked.",
        notes=rated[0].notes,
        options=run.options,
        signature=results[0][0].signature,
        tables=(Numbers("Table 1, summarization, t = 1.0", columns, tuple(rows)),),
    )


def _check_items(rated: RatedItems, n_items: int) -> None:
    if n_items != len(rated.items):
        wanted = f"; wanted {len(rated.items)}: the published numbers are of all items"
        raise InputError(Setting("n_items", n_items), wanted)


def _ends(result: Result) -> tuple[float | None, float | None]:
    return (result.interval.low, result.interval.high) if result.interval else (None, None)


def _of(metric: str, results: Sequence[Sequence[Result]]) -> list[Result]:
    return [result for each in results for result in each if result.metric == metric]


def _found(metric: str, results: Sequence[Sequence[Result]]) -> str:
    ratings, items = _of(metric, results)
    low, high = _ends(ratings)
    interval = "" if low is None or high is None else f" ({low:.2f} to {high:.2f})"
    return f"{ratings.estimate:.2f}{interval} from ratings, {items.estimate:.2f} from the items file"


def _agrees(metric: str, results: Sequence[Sequence[Result]]) -> bool:
    return all(f"{result.estimate:.2f}" == f"{PUBLISHED[metric]:.2f}" for result in _of(metric, results))


def reproduce_figure_5(files: Sequence[Path], run: Run) -> Reproduction:
    """HUSE and HUSE-Q on random parts of the items, and with a random part of the ratings."""
    requests = parse_requests(["huse", "huse_q"], on="ratings")
    rated = balanced(read_ratings(str(files[0])), seed=run.seed)
    _check_items(rated, run.n_items)
    plan = RatedPlan(_LEVEL, _RESAMPLES, run.seed, LocalEngine(), run.progress)
    points = stability(Ratings.of(rated), requests, plan, most_k=16)
    claims = _claims(points)
    return Reproduction(
        name=run.name,
        title="HUSE on fewer items and with fewer ratings per item",
        paper="hashimoto2019",
        design="Figure 5, summarization: random parts of the 200 items with all 20 ratings, and all items with a "
        "random part of their ratings; mean over 100 parts, and the range that holds 95 % of them.",
        differs=(
            "Figure 5 has other tasks too, whose ratings are not published in this form",
            "the paper draws HUSE alone; at least 32 items are taken, twice the 16 neighbours",
        ),
        claims=claims,
        conclusion=_stability_sentence(claims),
        notes=(*rated.notes, "bands close towards the full set, since its parts then have most items in common"),
        options=run.options,
        signature=signature(
            run.name,
            {},
            data={"items": f"{len(rated.items)}/{rated.digest}"},
            resampling={"k": 16, "parts": 100, "seed": run.seed},
        ),
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


def _stability_sentence(claims: Sequence[Claim]) -> str:
    items, ratings = (claim.agrees for claim in claims)
    first = "close to" if items else "far from"
    second = (
        "As in the paper, more than 20 ratings per item are needed" if ratings else "20 ratings per item are enough"
    )
    return f"The mean of HUSE on about 50 items is {first} that on all, but single parts vary widely. {second}."


def _claims(points: Sequence[StabilityPoint]) -> tuple[Claim, ...]:
    items = [point for point in points if point.along == "items" and point.metric == "huse"]
    ratings = [point for point in points if point.along == "ratings" and point.metric == "huse"]
    whole = items[-1].mean
    few = min(items, key=lambda point: abs(point.n - _FEW_ITEMS))
    half = min(ratings, key=lambda point: abs(point.n - _MANY_RATINGS / 2))
    return (
        Claim(
            f"about {_FEW_ITEMS} items are often enough",
            f"mean {few.mean:.2f} on {few.n} items, {whole:.2f} on all; 95 % of parts from {few.low:.2f} to "
            f"{few.high:.2f}",
            abs(few.mean - whole) <= _CLOSE,
        ),
        Claim(
            f"summaries need more than {_MANY_RATINGS} ratings per item",
            f"mean {ratings[0].mean:.2f} with {ratings[0].n}, {half.mean:.2f} with {half.n}, {ratings[-1].mean:.2f} "
            f"with {ratings[-1].n} ratings: still falling",
            half.mean - ratings[-1].mean > _CLOSE / 4,
        ),
    )
