"""The tables of a HUSE study: scores, kinds of items, numbers of neighbours, parts of the ratings, and raters."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from textassay.corpus.printable import many, share, shortened
from textassay.document.blocks import Cell, Head, Row, Table
from textassay.document.words import level_text, number, p_text, two_decimals
from textassay.inference.result import Result
from textassay.studies.huse.item_list import KINDS_EXPLAINED
from textassay.studies.huse.result import KINDS, TITLES, HuseResult, RaterFacts, titled
from textassay.studies.huse.words import bounds, by_chance, in_words, interval_text, p_texts

# The order of scores, of which results with other options come last.
_MOST_RATERS = 500


def in_order(found: HuseResult) -> list[int]:
    """Indexes of the results: HUSE, HUSE-Q, HUSE-D, then results with other options."""
    first = {result.metric: index for index, result in reversed(list(enumerate(found.results)))}
    order = [first[metric] for metric in TITLES if metric in first]
    return [*order, *(index for index in range(len(found.results)) if index not in order)]


def score_cell(result: Result) -> Cell:
    """A score with the bounds of its interval."""
    if result.undefined is not None or not math.isfinite(result.estimate):
        return Cell(number(math.nan), detail=shortened(result.undefined or "", 160))
    return Cell(two_decimals(result.estimate), result.estimate, spread=interval_text(result.interval))


def chance_cell(result: Result) -> Cell:
    """What indistinguishable texts score at this size; empty if not known."""
    mean, low, high = by_chance(result)
    return Cell(two_decimals(mean), mean, spread=bounds(low, high)) if math.isfinite(mean) else Cell("")


def score_table(found: HuseResult) -> Table:
    """A row per score."""
    p_values = p_texts(found)
    rows = tuple(
        Row(
            (
                Cell(titled(found.labels[index]), candidate=index),
                score_cell(result := found.results[index]),
                Cell(p_values[index], result.p_value),
                chance_cell(result),
                Cell(in_words(result)),
            ),
        )
        for index in in_order(found)
    )
    heads = (Head("score"), Head("value", True), Head("p", True), Head("chance", True), Head("in words"))
    return Table(heads, rows, footnotes=tuple(_legend(found)))


_MEANINGS = {
    "huse": "HUSE is 1 if people and model are indistinguishable and 0 if they can always be distinguished",
    "huse_q": "HUSE-Q is the same by ratings alone",
    "huse_d": "HUSE-D (1 + HUSE - HUSE-Q) is 1 if the probability does not help to distinguish more texts",
}


def _legend(found: HuseResult) -> Iterator[str]:
    """How to read the table."""
    metrics = {result.metric for result in found.results}
    yield "; ".join(meaning for metric, meaning in _MEANINGS.items() if metric in metrics)
    if any(result.interval for result in found.results):
        method = found.settings.get("interval", "bootstrap")
        yield f"[ ]: {level_text(found.level)} interval, {method}"
    if any(result.p_value is not None for result in found.results):
        yield "p: the probability of a score this low if people and model were indistinguishable"
    if any(math.isfinite(by_chance(result)[0]) for result in found.results):
        level = level_text(found.level)
        yield f"chance: what indistinguishable texts score at this size, mean and {level} range"


def count_of(found: HuseResult, kind: str, *, is_model: bool) -> int:
    """Items of this kind and source."""
    return sum(judged.kind == kind and judged.item.is_model == is_model for judged in found.items)


def kinds_table(found: HuseResult) -> Table:
    """Items of each kind by source, and how many to expect if the sources were indistinguishable."""
    total = len(found.items) or 1
    rows = []
    for index, kind in enumerate(KINDS):
        human, model = (count_of(found, kind, is_model=side) for side in (False, True))
        by_exchange = (
            [Cell(f"{found.chance_kinds[index]:,.0f}", found.chance_kinds[index])] if found.chance_kinds else []
        )
        both = Cell(f"{human + model:,}", human + model, small=(share((human + model) / total),))
        counts = (Cell(f"{human:,}", human), Cell(f"{model:,}", model), both, *by_exchange)
        rows.append(Row((Cell(kind), Cell(KINDS_EXPLAINED[kind]), *counts)))
    heads = ["human", shortened(found.rated.model, 40), "both", *(["both by chance"] if found.chance_kinds else [])]
    return Table(
        (Head("kind"), Head("which means"), *(Head(head, numeric=True) for head in heads)),
        tuple(rows),
        footnotes=(
            "a failure among human texts shows what the model does not achieve",
            *(["by chance: the number to expect if the sources were indistinguishable"] if found.chance_kinds else []),
        ),
    )


# Neighbours, and parts of the ratings.


def neighbours_table(found: HuseResult) -> Table:
    """The scores at powers of two and at the requested numbers of neighbours."""
    asked = {result.options.get("k") for result in found.results}
    chosen = [at for at in found.by_k if at.k & (at.k - 1) == 0 or at.k in asked]
    rows = tuple(
        Row((Cell(f"{at.k}", at.k), *(Cell(two_decimals(getattr(at, m)), getattr(at, m)) for m in TITLES)))
        for at in chosen
    )
    return Table((Head("k", True), *(Head(title, True) for title in TITLES.values())), rows)


def k_range(found: HuseResult) -> str:
    """The range of each score over all numbers of neighbours; empty if there is only one."""
    ks = [point.k for point in found.by_k]
    if len(set(ks)) < 2:
        return ""
    ranges = [
        f"{name} {_range(values)}"
        for metric, name in TITLES.items()
        if (values := [v for point in found.by_k if math.isfinite(v := getattr(point, metric))])
    ]
    return f"k {min(ks)} to {max(ks)}: {', '.join(ranges)}"


def _range(values: Sequence[float]) -> str:
    low, high = two_decimals(min(values)), two_decimals(max(values))
    return low if low == high else f"{low} to {high}"


def stability_table(found: HuseResult) -> Table:
    """Scores on random parts of the ratings: a row per size, a column per score."""
    by_size: dict[tuple[str, int], dict[str, Cell]] = {}
    for point in found.stability:
        cell = Cell(two_decimals(point.mean), point.mean, spread=bounds(point.low, point.high))
        by_size.setdefault((point.along, point.n), {})[point.metric] = cell
    labels = list(dict.fromkeys(point.metric for point in found.stability))
    rows = tuple(
        Row(
            (
                Cell(many(n, "item") if along == "items" else f"{many(n, 'rating')} per item"),
                *(cells.get(label, Cell("")) for label in labels),
            )
        )
        for (along, n), cells in by_size.items()
    )
    return Table((Head("mean and range on"), *(Head(shortened(titled(label), 60), True) for label in labels)), rows)


def outlook_table(found: HuseResult) -> Table:
    """Half of each interval: now, with twice the items, with twice the ratings per item."""
    rows = tuple(
        Row(
            (
                Cell(shortened(titled(each.metric), 60)),
                _half(each.half_width),
                _half(each.half_width_more_items),
                _half(each.half_width_more_ratings if found.rated.single else math.nan),
            )
        )
        for each in found.outlook
    )
    heads = ("now", "items ×2", "ratings ×2")
    return Table(
        (Head("more data"), *(Head(head, numeric=True) for head in heads)),
        rows,
        footnotes=(
            "± half the width of the interval; noise in ratings raises scores, so with many more ratings they fall"
            " somewhat",
        ),
    )


def _half(width: float) -> Cell:
    return Cell(f"±{two_decimals(width)}", width) if math.isfinite(width) else Cell(number(math.nan))


# Raters.


@dataclass(frozen=True)
class _Beside:
    """A score with all raters and without flagged ones."""

    title: str
    before: Result
    without: Result


def without_table(found: HuseResult) -> Table:
    """The scores with and without raters who look random; no rows where they are not known."""
    without = found.agreement.without if found.agreement else ()
    pairs = zip(found.labels, found.results, without, strict=False)
    rows = tuple(_without_row(_Beside(titled(label), before, after)) for label, before, after in pairs)
    heads = ("all raters", "without flagged", "change")
    return Table((Head("score"), *(Head(head, numeric=True) for head in heads)), rows)


def _without_row(each: _Beside) -> Row:
    change = each.without.estimate - each.before.estimate
    reason = each.without.undefined
    return Row(
        (
            Cell(shortened(each.title, 40)),
            score_cell(each.before),
            score_cell(each.without),
            Cell(_signed(change), change),
        ),
        notes=(f"no number: {shortened(reason, 200)}",) if reason else (),
    )


def _signed(change: float) -> str:
    """A change with its sign; 0.00 has no sign.

    >>> _signed(-0.101), _signed(0.001), _signed(math.nan)
    ('-0.10', '0.00', '–')
    """
    if not math.isfinite(change):
        return number(math.nan)
    return f"{change:+.2f}" if abs(change) >= 0.005 else "0.00"


def rater_table(raters: Sequence[RaterFacts]) -> Table:
    """Raters, those who look random first, then those who agree least with the others."""
    ordered = sorted(raters, key=lambda r: (not r.flagged, r.agreement if math.isfinite(r.agreement) else -2.0))
    rows = tuple(
        Row(
            (
                Cell(shortened(rater.name, 40)),
                Cell(f"{rater.n:,}", rater.n),
                Cell(two_decimals(rater.mean), rater.mean),
                Cell(two_decimals(rater.agreement), rater.agreement),
                Cell(p_text(rater.p_value), rater.p_value),
                Cell(shortened(rater.reason, 160) if rater.flagged else ""),
            )
        )
        for rater in ordered[:_MOST_RATERS]
    )
    heads = (Head("rater"), *(Head(head, numeric=True) for head in ("ratings", "mean", "agreement", "p")))
    total = len(ordered) if len(ordered) > _MOST_RATERS else None
    return Table((*heads, Head("looks random because")), rows, total=total)
