"""The report of a HUSE study: its page, terminal view, Markdown and CSV."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from typing import Any

from rich.cells import cell_len
from rich.console import RenderableType
from rich.padding import Padding
from rich.text import Text

from textassay.corpus.printable import many, printable, shortened
from textassay.metrics.registry import citation
from textassay.report.former import markdown
from textassay.report.former.charts.decision_map import STEPS, draw_map, kind_bar, shown_kinds, source_key
from textassay.report.former.charts.score_charts import METRICS, draw_plane, k_curves, score_cards, stability_curves
from textassay.report.former.charts.strips import alpha_gauge
from textassay.report.former.charts.svg import keys
from textassay.report.former.huse_items import (
    VOTES,
    Example,
    clearest,
    entry_view,
    examples,
    groups,
    huse_block,
    source_counts,
)
from textassay.report.former.huse_scores import (
    ALPHA_TICKS,
    FIRM,
    KINDS_EXPLAINED,
    OUTLOOK_HEAD,
    OUTLOOK_LEGEND,
    OUTLOOK_SHORT,
    PLURALS,
    TENTATIVE,
    active_raters,
    agreement_lines,
    bounds,
    chance_counts,
    chance_text,
    chosen_k,
    count_of,
    heading,
    in_words,
    interval_text,
    k_range,
    kind_counts,
    kinds_explained,
    kinds_in_short,
    legend_lines,
    log_prob_words,
    main_ks,
    missing_lines,
    model_name,
    no_test_lines,
    outcome_sentence,
    outlook_rows,
    p_texts,
    papers,
    rater_lines,
    rater_section,
    scale_text,
    score,
    short_legend,
    sources,
    tie_rule,
    whole_texts,
    with_interval,
    worth_lines,
)
from textassay.report.former.table import (
    COMMON_SETTINGS,
    every_note,
    guide,
    level_of,
    level_text,
    setting_rows,
    setting_text,
    span,
)
from textassay.report.former.templates.page import Page, fragment, render_with_items
from textassay.report.former.terminal import (
    MOST_NAME,
    cut,
    dim,
    fitted_names,
    joined,
    named_lines,
    notes,
    plain_table,
    verdict_lines,
)
from textassay.report.former.terminal import heading as title_line
from textassay.studies.huse.result import KINDS, TITLES, HuseResult, titled

# Up to this number every item has its own mark on the map.
_EACH_ITS_MARK = 1_000


@dataclass(frozen=True)
class Limits:
    """How much of each list is shown; the page states what is left out. `cell` is the grid of the map in pixels."""

    cell: float
    static: int
    characters: int
    cloud: int
    raters: int
    notes: int = 30
    reasons: int = 8
    flagged: int = 50
    signatures: int = 60


# The first that leaves room for the items is used.
_LADDER = (
    Limits(cell=2.5, static=8, characters=600, cloud=500, raters=500),
    Limits(cell=4.0, static=4, characters=300, cloud=200, raters=100),
    Limits(cell=6.0, static=0, characters=0, cloud=0, raters=0, flagged=5, signatures=6),
)


_SECTIONS = (
    ("scores", "Scores"),
    ("plane", "Quality and diversity"),
    ("map", "Decision map"),
    ("items", "Items"),
    ("neighbours", "Neighbours"),
    ("stability", "Stability"),
    ("raters", "Raters"),
    ("reading", "How to read this"),
    ("signatures", "Signatures"),
)


def render_html(found: HuseResult) -> str:
    """The report of a HUSE study as one self-contained HTML page.

    It stays under 1.5 MB: the clearest examples come with their texts, as many as fit, and the page states how many do
    not. Scores, notes and charts are always complete.
    """
    smaller = (_content(found, limits) for limits in _LADDER[1:])
    # The first content is gathered before the page is loaded; smaller ones only if it is too large.
    contents = chain([_content(found, _LADDER[0])], smaller)
    page = Page.of(
        "huse.html.j2",
        styles=("page.css", "items.css", "huse.css"),
        scripts=("page.js", "tools.js", "huse/store.js", "huse/list.js", "huse/map.js", "huse/static.js"),
        filters={"score": score, "titled": titled},
    )
    return render_with_items(page, contents, lambda content, room: huse_block(found, content["map"], room=room))


def _content(found: HuseResult, limits: Limits) -> dict[str, Any]:
    """Everything on the page: what it states, its citations, and its charts."""
    stated = _statements(found, limits)
    counted, cited = source_counts(found), papers(found)
    # The first result of each score.
    shown = {result.metric: with_interval(result.estimate, result.interval) for result in reversed(found.results)}
    agreement = found.agreement
    alpha = with_interval(agreement.alpha, agreement.interval) if agreement else ""
    return stated | {
        "citations": [citation(paper) for paper in cited],
        "scores": score_cards(found),
        "plane": draw_plane(found, shown, most=limits.cloud),
        "map": draw_map(found, cell=limits.cell if len(found.items) > _EACH_ITS_MARK else 0.0),
        "kinds": shown_kinds(found),
        "source_keys": [source_key(is_model) for is_model in (False, True)],
        "marks": keys(len(METRICS)),
        "bars": [(is_model, sum(counts), kind_bar(counts)) for is_model, counts in counted],
        "by_k": k_curves(found, chosen_k(found)),
        "stability": stability_curves(found),
        "alpha_gauge": alpha_gauge(
            agreement.alpha, agreement.interval, ALPHA_TICKS, summary=f"{alpha}, limits {TENTATIVE}, {FIRM}"
        )
        if agreement and math.isfinite(agreement.alpha)
        else None,
    }


def _statements(found: HuseResult, limits: Limits) -> dict[str, Any]:
    return {
        "j": found,
        "limits": limits,
        "sections": _SECTIONS,
        "titles": TITLES,
        "line_titles": [TITLES[metric] for metric in METRICS],
        "steps": range(STEPS),
        "model": model_name(found),
        "whole": whole_texts(found),
        "log_prob_words": log_prob_words(found),
        "k": chosen_k(found),
        "ties": tie_rule(found),
        "k_range": k_range(found),
        "groups": groups(found),
        "static": _static(found, limits),
        "raters": rater_section(found, most=limits.raters),
        "signatures": [(label, result.signature) for label, result in zip(found.labels, found.results, strict=True)],
        "summary": outcome_sentence(found),
        "level": level_of(found.verdict),
        "notes": every_note(found.rated.notes, found.notes),
        "guide": guide(found.results, target="the human value"),
        "settings": huse_settings(found),
        "interval": setting_text(found, "interval") or "bootstrap over items",
    }


def huse_settings(found: HuseResult) -> list[tuple[str, str]]:
    """Terms and values of what was measured."""
    rated = found.rated
    model = sum(item.is_model for item in rated.items)
    k = chosen_k(found)
    variants = dict.fromkeys(str(r.options["variant"]) for r in found.results if "variant" in r.options)
    terms = [
        ("Items", f"{len(rated.items) - model:,} human, {model:,} from the model"),
        ("Ratings", _ratings(found)),
        ("Ratings per item", span(judged.n_ratings for judged in found.items) if rated.single else ""),
        ("Scale" if rated.single else "Mean ratings", shortened(scale_text(found), 80)),
        ("Neighbours", f"k = {k}" if k else ""),
        ("Ties", ", ".join(shortened(name, 30) for name in variants)),
        ("Interval level", level_text(found.level)),
        *setting_rows(found, COMMON_SETTINGS),
    ]
    return [(term, value) for term, value in terms if value]


def _ratings(found: HuseResult) -> str:
    """How many ratings were measured, and by how many raters if that is known."""
    rated = found.rated
    if not rated.single:
        return "one mean per item"
    by = f" by {many(len(active_raters(found)), 'rater')}" if rated.names_raters else ""
    return f"{len(rated.ratings):,}{by}"


def _static(found: HuseResult, limits: Limits) -> list[tuple[str, list[Any]]]:
    """For readers without scripts and on paper: the clearest examples of each kind."""
    chosen = [(kind, clearest(found, kind, limits.static)) for kind in KINDS]
    return [(kind, [entry_view(found, p, characters=limits.characters) for p in places]) for kind, places in chosen]


_FEW_RATERS = 12
_GAP, _LEAST_LABEL = 2, 8
_HEADS = ("metric", "score", "interval", "p", "chance")


def render_terminal(found: HuseResult, *, width: int, why: bool = False, top: int = 0) -> RenderableType:
    """Scores, verdict, items, raters and outlook; with `why` also definitions, raters, and `top` items of each kind."""
    size = heading(found)
    explained = legend_lines(found) if why else short_legend(found)
    missing = [*missing_lines(found), *(no_test_lines(found) if why else [])]
    kinds = [kinds_explained(found)] if why else kinds_in_short(found)
    outlook, facts, scores = list(_outlook_table(found, why=why)), _facts(found), list(_score_table(found, width))
    return joined(
        [
            [title_line(found.rated.name, f": {size}"), *notes(every_note(found.rated.notes, found.notes))],
            [*scores, *map(dim, explained)],
            [*verdict_lines([("", found.verdict, ())]), *map(dim, missing)],
            _laid_out(*facts, kinds, width),
            outlook,
            list(_rater_texts(found)) if why else [],
            *(_example_texts(found, top) if why else []),
        ]
    )


def _score_table(found: HuseResult, width: int) -> Iterator[RenderableType]:
    """Scores with their intervals; their meaning in words is in the same row if it fits, else below."""
    rows = _score_rows(found)
    shown = [place for place in range(len(_HEADS)) if place < 2 or any(row[place] for row in rows)]
    label, *widths = (max(map(cell_len, [_HEADS[place], *(row[place] for row in rows)])) for place in shown)
    numbers = sum(wide + _GAP for wide in widths)
    label = min(label, max(width - numbers, _LEAST_LABEL))
    meanings = [in_words(result) for result in found.results]
    beside = label + numbers + _GAP + max(map(len, meanings), default=0) <= width
    table = plain_table(gap=_GAP)
    table.add_column("metric", width=label, overflow="fold")
    for place, wide in zip(shown[1:], widths, strict=True):
        style = {"score": "bold", "chance": "cyan"}.get(_HEADS[place], "")
        table.add_column(_HEADS[place], justify="right", width=wide, style=style)
    if beside:
        table.add_column("in words", style="dim")
    for row, meaning in zip(rows, meanings, strict=True):
        table.add_row(*(Text(row[place]) for place in shown), *([Text(meaning)] if beside else []))
    yield table
    if not beside:
        yield from (dim(f"{row[0]}: {meaning}") for row, meaning in zip(rows, meanings, strict=True))


def _score_rows(found: HuseResult) -> list[list[str]]:
    return [
        [
            shortened(titled(label), 60),
            score(result.estimate),
            interval_text(result.interval),
            p_value,
            chance_text(result),
        ]
        for label, result, p_value in zip(found.labels, found.results, p_texts(found), strict=True)
    ]


Lines = list[tuple[str, str]]


def _facts(found: HuseResult) -> tuple[Lines, Lines]:
    """The kinds of items per source; the scores with other numbers of neighbours, and how well raters agree."""
    failures = [(name, kind_counts(found, is_model=is_model)) for name, is_model in sources(found)]
    failures += [("chance", chance_counts(found))] if found.chance_kinds else []
    others = [("" if place else "raters", line) for place, line in enumerate(agreement_lines(found))]
    return failures, [line for line in (k_range(found), *others) if line[1]]


def _laid_out(failures: Lines, others: Lines, kinds: list[str], width: int) -> list[RenderableType]:
    """Two blocks of lines behind their names, all names in one column."""
    names = fitted_names([printable(name) for name, _ in failures[:2]], min(MOST_NAME, max(width // 5, 8)))
    failures = [*zip(names, (line for _, line in failures), strict=False), *failures[2:]]
    wide = max(cell_len(name) for name, _ in (*failures, *others)) + 1
    first, second = (
        named_lines([(Text(name, style="bold"), Text(cut(line))) for name, line in lines], width=wide)
        for lines in (failures, others)
    )
    shown: list[RenderableType] = [first, *map(dim, kinds)]
    return [*shown, Text(""), second] if others else shown


def _outlook_table(found: HuseResult, *, why: bool) -> Iterator[RenderableType]:
    """The effect of more data on every score; advice for the first score, or with `why` for all."""
    rows = outlook_rows(found)
    if not rows:
        return
    table = plain_table(gap=_GAP)
    for place, name in enumerate(OUTLOOK_HEAD):
        table.add_column(name, justify="right" if place else "left")
    for row in rows:
        table.add_row(*map(Text, row))
    yield table
    yield dim(OUTLOOK_LEGEND if why else OUTLOOK_SHORT)
    advice = worth_lines(found)
    yield from (Text(cut(f"{name}: {worth}")) for name, worth in (advice if why else advice[:1]))


def _rater_texts(found: HuseResult) -> Iterator[RenderableType]:
    lines = rater_lines(found, _FEW_RATERS)
    if lines:
        yield Text("raters who look random", style="bold")
    yield from (_indented(Text(cut(line))) for line in lines)


def _example_texts(found: HuseResult, top: int) -> Iterator[list[RenderableType]]:
    for kind, items in examples(found, top).items():
        head = Text.assemble((PLURALS[kind], "bold"), (f" ({KINDS_EXPLAINED[kind]})", "dim"))
        yield [head, *(part for item in items for part in _example_text(item))]


def _example_text(example: Example) -> Iterator[RenderableType]:
    yield Text.assemble(f"{example.source} {example.id}: ", (example.figures, "dim"))
    yield _indented(Text(example.text))
    if example.context:
        yield _indented(Text(f"context: {example.context}", style="dim"))


def _indented(text: Text) -> Padding:
    return Padding(text, (0, 0, 0, 2), expand=False)


_MOST_RATERS, _MOST_NOTES = 30, 10


def render_markdown(found: HuseResult, *, top: int = 5) -> str:
    """One Markdown document, with `top` items of each kind."""
    sections = {
        "": [*_score_lines(found), "", *(f"{markdown.escaped(line)}  " for line in legend_lines(found))],
        "No number or no test": markdown.bullets((*missing_lines(found), *no_test_lines(found))),
        "Kinds of items": _kind_lines(found),
        "Neighbours": _neighbour_lines(found),
        "Raters": _rater_bullets(found),
        "Stability": _stability_lines(found),
        "More data": _outlook_lines(found),
        "Items": [line for kind, items in examples(found, top).items() for line in _example_lines(kind, items)],
    }
    return markdown.document(
        f"{markdown.cut(found.rated.name)}: {markdown.cut(heading(found))}",
        [
            *(f"Note: {markdown.cut(note)}" for note in every_note(found.rated.notes, found.notes)),
            f"**{markdown.cut(found.verdict.sentence)}**",
        ],
        sections,
        (result.signature for result in found.results),
    )


_HEAD = ("Metric", "Score", "Interval", "p", "Chance", "In words")


def _cells(found: HuseResult) -> list[tuple[str, ...]]:
    """The table of scores as text, in the order of `_HEAD`."""
    return [
        (
            titled(label),
            score(result.estimate),
            interval_text(result.interval),
            p_value,
            chance_text(result),
            in_words(result),
        )
        for label, result, p_value in zip(found.labels, found.results, p_texts(found), strict=True)
    ]


def _score_lines(found: HuseResult) -> list[str]:
    lines = ([markdown.cut(cell) for cell in (name, words, *numbers)] for name, *numbers, words in _cells(found))
    return markdown.table(["metric", "in words", "score", "interval", "p", "chance"], lines, right=2)


def _kind_lines(found: HuseResult) -> list[str]:
    """Items of each kind by source, and how many to expect if the sources were indistinguishable."""
    both = sources(found)
    chance = [[f"{count:,.0f}"] for count in found.chance_kinds] or [[] for _ in KINDS]
    lines = [
        [kind, KINDS_EXPLAINED[kind]] + [f"{count_of(found, kind, is_model=side):,}" for _, side in both] + by_chance
        for kind, by_chance in zip(KINDS, chance, strict=True)
    ]
    head = ["kind", "which means", *(markdown.cut(name) for name, _ in both)]
    return markdown.table([*head, *(["both by chance"] if found.chance_kinds else [])], lines, right=2)


def _neighbour_lines(found: HuseResult) -> list[str]:
    lines = [[f"{at.k}", *(score(getattr(at, metric)) for metric in TITLES)] for at in main_ks(found)]
    return markdown.table(["k", *TITLES.values()], lines) if lines else []


def _rater_bullets(found: HuseResult) -> list[str]:
    lines = [f"scale: {scale_text(found)}", *agreement_lines(found)]
    return [f"- {markdown.cut(line)}" for line in (*lines, *rater_lines(found, _MOST_RATERS))]


def _stability_lines(found: HuseResult) -> list[str]:
    """Scores on random parts of the ratings: one row per size, one column per score."""
    by_size: dict[tuple[str, int], dict[str, str]] = {}
    for point in found.stability:
        shown = f"{score(point.mean)} {bounds(point.low, point.high)}".strip()
        by_size.setdefault((point.along, point.n), {})[point.metric] = shown
    labels = list(dict.fromkeys(point.metric for point in found.stability))
    lines = [
        [many(n, "item") if along == "items" else f"{many(n, 'rating')} per item"]
        + [cells.get(label, "") for label in labels]
        for (along, n), cells in by_size.items()
    ]
    return (
        markdown.table(["mean and range on", *(markdown.cut(titled(label)) for label in labels)], lines, right=1)
        if lines
        else []
    )


def _outlook_lines(found: HuseResult) -> list[str]:
    rows = outlook_rows(found)
    if not rows:
        return []
    advice = [f"- {markdown.cut(f'{name}: {worth}')}" for name, worth in worth_lines(found)]
    head = ("metric", *OUTLOOK_HEAD[1:])
    shown = markdown.table(head, ([markdown.cut(name), *numbers] for name, *numbers in rows), right=1)
    return [*shown, "", markdown.escaped(OUTLOOK_LEGEND), *([""] if advice else []), *advice]


def _example_lines(kind: str, items: list[Example]) -> Iterator[str]:
    """The items of a kind; their strings are shortened already."""
    yield f"### {PLURALS[kind].capitalize()}"
    yield ""
    rows = (
        [
            markdown.escaped(item.source),
            markdown.escaped(item.id),
            markdown.escaped(item.text),
            markdown.escaped(item.context or ""),
            score(item.judged.rating),
            score(item.judged.log_prob),
            *item.votes,
        ]
        for item in items
    )
    head = ["source", "item", "text", "context", "rating", "log p per token", *VOTES]
    yield from markdown.table(head, rows, right=4)
    yield ""


def render_notebook(found: HuseResult) -> str:
    """An HTML fragment for a notebook's output cell."""
    facts = [(name, kind_counts(found, is_model=is_model)) for name, is_model in sources(found)]
    facts += [k_range(found), *(("raters", line) for line in agreement_lines(found))]
    return fragment(
        "huse/notebook.html.j2",
        name=found.rated.name,
        heading=heading(found),
        study=found,
        columns=_HEAD[1:],
        rows=_cells(found),
        facts=[(name, line) for name, line in facts if line],
        legend=legend_lines(found),
        notes=[*missing_lines(found), *every_note(found.rated.notes, found.notes)][:_MOST_NOTES],
    )
