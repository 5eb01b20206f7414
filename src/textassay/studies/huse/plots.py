"""The plots of a HUSE study: gauges of scores, the decision map, the plane, and curves over neighbours and parts."""

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

from textassay.corpus.printable import shortened
from textassay.document.plot import Band, Bars, Cells, Dots, Line, Marks, Names, Plot, Point, Rule, Scale, rule
from textassay.document.results import ends
from textassay.document.words import two_decimals
from textassay.inference.result import Interval, Result
from textassay.studies.huse.result import KINDS, TITLES, DecisionMap, HuseResult
from textassay.studies.huse.words import (
    FIRM,
    TENTATIVE,
    by_chance,
    chosen_k,
    log_prob_of,
    log_prob_words,
    model_name,
    whole_texts,
    with_interval,
)

# Table 1 of Hashimoto et al. 2019: HUSE-D and HUSE-Q; t is the temperature of sampling.
LANDMARKS = (
    ("Summarization t=1.0", 0.95, 0.58),
    ("Summarization t=0.7", 0.34, 0.92),
    ("Story t=1.0", 0.91, 0.15),
    ("Story retrieval", 0.53, 0.47),
    ("Dialogue t=1.0", 1.00, 0.56),
    ("Dialogue t=0.7", 0.57, 0.92),
    ("Language model", 1.02, 0.88),
)
_EQUAL_SCORES = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)
# Resamples that are drawn in the plane, and different places of items on the map along each axis.
_MOST_RESAMPLES, _GRAIN = 500, 300
# A share of neighbours from one source below which the vote is clear.
_CLEAR = 0.25


def score_plot(found: HuseResult, index: int) -> Plot:
    """A score with its interval on a line from 0 to 1; the band is what chance alone gives."""
    result = found.results[index]
    name = TITLES.get(result.metric, result.metric)
    mean, low, high = by_chance(result)
    band = [Band("x", low, high, mean, "chance")] if low <= high else []
    shown = with_interval(result.estimate, result.interval)
    point = Point(result.estimate, 0, ends(result), candidate=index, label=two_decimals(result.estimate), detail=shown)
    chance = f"; by chance {two_decimals(mean)}, {two_decimals(low)} to {two_decimals(high)}" if band else ""
    return Plot(
        name,
        Scale(limits=(0.0, 1.1), ticks=((0.0, "0: distinguished"), (0.5, "0.5"), (1.0, "1"))),
        Scale(names=("",)),
        (*band, Marks((point,))),
        summary=f"{name} {shown}{chance}",
        size="strip",
    )


def map_plot(found: HuseResult) -> Plot | None:
    """Every item by log-probability and mean rating, over the vote of its neighbours; None if no item has a place."""
    whole = whole_texts(found)
    points = [(log_prob_of(j, whole=whole), j.rating, j.item.is_model) for j in found.items]
    placed = [(x, y, is_model) for x, y, is_model in points if math.isfinite(x) and math.isfinite(y)]
    if not placed:
        return None
    across = sorted(x for x, _, _ in placed)
    labels = found.rated.labels
    model = sum(is_model for _, _, is_model in placed)
    right = sum(judged.told for judged in found.items)
    return Plot(
        "Decision map: rating against log-probability",
        # A text with an extremely low probability would otherwise push all others to the edge.
        Scale(f"{log_prob_words(found)}: more likely under the model →", centre=across[len(across) // 2]),
        Scale("mean rating", better="higher", ticks=_named_ratings(labels) or None),
        (*_votes(found.decision_map), *_sources(found, placed), *_vote_names(found.decision_map)),
        summary=(
            f"{len(placed) - model:,} human items, {model:,} from {shortened(found.rated.model, 40)};"
            f" neighbours name the right source for {right:,} of {len(found.items):,}"
        ),
        size="large",
    )


def _named_ratings(labels: Mapping[float, str]) -> tuple[tuple[float, str], ...]:
    return tuple((value, f"{value:g} {shortened(name, 14)}") for value, name in sorted(labels.items()))


def _votes(found: DecisionMap) -> Iterator[Cells]:
    """The vote of the neighbours, from -1 (all human) to 1 (all from the model), in the sources' colours."""
    if len(found.ratings) < 2 or len(found.log_probs) < 2:
        return
    shades = tuple(
        tuple(None if math.isnan(row[column]) else 2 * row[column] - 1 for row in found.share_model)
        for column in range(len(found.ratings))
    )
    yield Cells(shades, x_edges=_edges(found.log_probs), y_edges=_edges(found.ratings))


def _vote_names(found: DecisionMap) -> Iterator[Names]:
    """What the shades mean, in the middle of the places with clear votes."""
    cells = zip(found.log_probs, found.share_model, strict=True)
    votes = [(share, x, y) for x, row in cells for y, share in zip(found.ratings, row, strict=True)]
    by_source = {
        "human": [vote for vote in votes if vote[0] <= _CLEAR],
        "model": [vote for vote in votes if vote[0] >= 1 - _CLEAR],
    }
    named = []
    for name, clear in by_source.items():
        if clear:
            _, x, y = sorted(clear, key=lambda vote: vote[1:])[len(clear) // 2]
            named.append((x, y, f"mostly {name}"))
    if named:
        yield Names(tuple(named))


def _edges(places: Sequence[float]) -> tuple[float, ...]:
    """Where cells begin and end: half-way between their middles."""
    middles = [(a + b) / 2 for a, b in pairwise(places)]
    return (2 * places[0] - middles[0], *middles, 2 * places[-1] - middles[-1])


def _sources(found: HuseResult, placed: Sequence[tuple[float, float, bool]]) -> Iterator[Dots]:
    """The items of both sources; of many at nearly the same place one is drawn."""
    steps = [((max(values) - min(values)) or 1.0) / _GRAIN for values in list(zip(*placed, strict=True))[:2]]
    for is_model, tone in ((False, "human"), (True, "model")):
        cells = {(round(x / steps[0]), round(y / steps[1])): (x, y) for x, y, model in placed if model == is_model}
        name = model_name(found) if is_model else "human"
        yield Dots(tuple(cells.values()), tone=tone, name=name)


def plane_plot(found: HuseResult) -> Plot | None:
    """HUSE-D across, HUSE-Q up, resamples, and the models of the paper; None if one of both has no number."""
    first = {result.metric: result for result in reversed(found.results)}
    quality, diversity = first.get("huse_q"), first.get("huse_d")
    if quality is None or diversity is None or not math.isfinite(quality.estimate + diversity.estimate):
        return None
    name, cloud = model_name(found), _cloud(found)
    values = f"HUSE-D {_shown(diversity)}, HUSE-Q {_shown(quality)}"
    point = Point(
        diversity.estimate, quality.estimate, ends(diversity), ends(quality), label=name, detail=values, tone="model"
    )
    papers = tuple(Point(x, y, label=label, tone="quiet", detail=f"{label}: {x}, {y}") for label, x, y in LANDMARKS)
    others = ", ".join(f"{label} {x:.2f} and {y:.2f}" for label, x, y in LANDMARKS)
    return Plot(
        "HUSE-D and HUSE-Q",
        Scale("HUSE-D: diversity", better="higher", limits=(0.0, 1.1)),
        Scale("HUSE-Q: quality", better="higher", limits=(0.0, 1.1)),
        (
            *_equal_scores([diversity, quality], cloud),
            *([Dots(cloud, tone="quiet", name="resamples")] if cloud else []),
            Marks(papers, "models of the paper"),
            Marks((point,), name),
        ),
        summary=f"{name}: {values}. The paper's models: {others}.",
        size="large",
    )


def _shown(result: Result) -> str:
    return with_interval(result.estimate, result.interval)


def _cloud(found: HuseResult) -> tuple[tuple[float, float], ...]:
    cloud = [(x, y) for x, y in found.cloud if math.isfinite(x) and math.isfinite(y)]
    return tuple(cloud[:: math.ceil(len(cloud) / _MOST_RESAMPLES)]) if cloud else ()


def _equal_scores(results: Sequence[Result], cloud: Sequence[tuple[float, float]]) -> Iterator[Rule]:
    """Lines of equal HUSE, which is HUSE-D + HUSE-Q - 1."""
    known = [value for result in results for value in (result.estimate, *(ends(result) or ()))]
    highest = max([1.1, *known, *(value for pair in cloud for value in pair)])
    for huse in _EQUAL_SCORES:
        left, right = max(0.0, 1 + huse - highest), min(highest, 1 + huse)
        if left < right:
            yield Rule((left, 1 + huse - left), (right, 1 + huse - right), f"HUSE {huse:g}")


def neighbours_plot(found: HuseResult) -> Plot | None:
    """The scores by the number of neighbours, the chosen one marked; None without any."""
    lines = [_score_line(found, metric, [(p.k, getattr(p, metric)) for p in found.by_k]) for metric in TITLES]
    chosen = chosen_k(found)
    marked = [] if chosen is None else [rule("x", chosen, f"k = {chosen}")]
    ks = [point.k for point in found.by_k]
    ticks = tuple((float(2**power), f"{2**power}") for power in range(12) if ks and min(ks) <= 2**power <= max(ks))
    return _curves("Scores by the number of neighbours", Scale("neighbours k", log=True, ticks=ticks), lines, marked)


_ALONG = {"items": "items of both sources together", "ratings": "ratings per item"}


def stability_plot(found: HuseResult, along: str) -> Plot | None:
    """The scores on random parts of the ratings, with the range of most parts; None without any."""
    labels = {result.metric: label for label, result in reversed(list(zip(found.labels, found.results, strict=True)))}
    lines = []
    for metric in TITLES:
        points = [p for p in found.stability if p.along == along and p.metric == labels.get(metric)]
        ordered = sorted(points, key=lambda point: point.n)
        ranges = {point.n: (point.low, point.high) for point in ordered}
        lines.append(_score_line(found, metric, [(point.n, point.mean) for point in ordered], ranges))
    return _curves(f"Scores by the number of {_ALONG[along]}", Scale(_ALONG[along]), lines, [])


def _score_line(
    found: HuseResult,
    metric: str,
    values: Sequence[tuple[int, float]],
    ranges: Mapping[int, tuple[float, float]] | None = None,
) -> Line | None:
    """The line of a score; None without a number."""
    points = tuple((float(n), value) for n, value in values if math.isfinite(value))
    if not points:
        return None
    limits = tuple(ranges.get(int(n)) for n, _ in points) if ranges else ()
    first, last = points[0], points[-1]
    detail = f"{TITLES[metric]} {two_decimals(first[1])} at {first[0]:g} and {two_decimals(last[1])} at {last[0]:g}"
    # With dozens of steps, marks would cover the line.
    return Line(points, limits, _index_of(found, metric), TITLES[metric], detail, marked=len(points) <= 16)


def _index_of(found: HuseResult, metric: str) -> int:
    """The index of the first result of a metric, which gives its line the mark of its row."""
    metrics = [result.metric for result in found.results]
    return metrics.index(metric) if metric in metrics else len(metrics) + list(TITLES).index(metric)


def _curves(title: str, axis: Scale, lines: Sequence[Line | None], marked: Sequence[Rule]) -> Plot | None:
    known = [line for line in lines if line is not None]
    if not known:
        return None
    summary = "; ".join(line.detail for line in known)
    return Plot(title, axis, Scale("score", limits=(0.0, 1.0)), (*marked, *known), summary=summary)


def alpha_plot(alpha: float, interval: Interval | None) -> Plot:
    """Krippendorff's alpha with its interval between no agreement and full agreement, and the limits of its reading."""
    shown = with_interval(alpha, interval)
    span = (interval.low, interval.high) if interval else None
    return Plot(
        "Krippendorff's alpha",
        Scale(limits=(0.0, 1.0), ticks=((0.0, "0: chance"), (1.0, "1: full"))),
        Scale(names=("",)),
        (
            rule("x", TENTATIVE, f"{TENTATIVE:g}"),
            rule("x", FIRM, f"{FIRM:g}"),
            Marks((Point(alpha, 0, span, candidate=0, label=two_decimals(alpha), detail=shown),)),
        ),
        summary=f"{shown}, limits {TENTATIVE}, {FIRM}",
        size="strip",
    )


def kinds_plot(found: HuseResult) -> Plot:
    """How many items of each source are of each kind."""
    sources = ("human", shortened(found.rated.model, 40))
    values = tuple(
        tuple(float(sum(j.kind == kind and j.item.is_model == model for j in found.items)) for kind in KINDS)
        for model in (False, True)
    )
    counts = [
        f"{source}: {', '.join(f'{count:.0f} {kind}' for count, kind in zip(own, KINDS, strict=True))}"
        for source, own in zip(sources, values, strict=True)
    ]
    return Plot(
        "Items by kind",
        Scale("items", limits=(0.0, max(map(sum, values), default=1.0))),
        Scale(names=sources),
        (Bars(values, KINDS, KINDS),),
        summary="; ".join(counts),
    )
