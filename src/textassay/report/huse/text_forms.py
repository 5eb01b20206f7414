"""A HUSE study as Markdown, CSV, a data frame and in a notebook."""

from collections.abc import Iterator
from typing import Any

from textassay.corpus.printable import many
from textassay.report import markdown
from textassay.report.csv_writer import csv_text, known
from textassay.report.huse import content
from textassay.report.huse.content import (
    OUTLOOK_HEAD,
    OUTLOOK_LEGEND,
    agreement_lines,
    outlook_rows,
    rater_lines,
    worth_lines,
)
from textassay.report.huse.items import VOTES, Example, examples
from textassay.report.page import fragment
from textassay.report.table import every_note
from textassay.studies.huse.result import KINDS, TITLES, HuseItem, HuseResult, titled

_MOST_RATERS, _MOST_NOTES = 30, 10


def render_markdown(found: HuseResult, *, top: int = 5) -> str:
    """One Markdown document, with `top` items of each kind."""
    sections = {
        "": [*_scores(found), "", *(f"{markdown.escaped(line)}  " for line in content.legend(found))],
        "No number or no test": markdown.bullets((*content.missing_lines(found), *content.no_test_lines(found))),
        "Kinds of items": _kinds(found),
        "Neighbours": _neighbours(found),
        "Raters": _raters(found),
        "Stability": _stability(found),
        "More data": _outlook(found),
        "Items": [line for kind, items in examples(found, top).items() for line in _examples(kind, items)],
    }
    return markdown.document(
        f"{markdown.cut(found.rated.name)}: {markdown.cut(content.heading(found))}",
        [
            *(f"Note: {markdown.cut(note)}" for note in every_note(found.rated.notes, found.notes)),
            f"**{markdown.cut(found.verdict.sentence)}**",
        ],
        sections,
        (result.signature for result in found.results),
    )


_HEAD = ("Metric", "Score", "Interval", "p", "Chance", "In words")


def _rows(found: HuseResult) -> list[tuple[str, ...]]:
    """The table of scores as text, in the order of `_HEAD`."""
    return [
        (
            titled(label),
            content.score(result.estimate),
            content.interval_text(result.interval),
            p_value,
            content.chance_text(result),
            content.meaning(result),
        )
        for label, result, p_value in zip(found.labels, found.results, content.p_texts(found), strict=True)
    ]


def _scores(found: HuseResult) -> list[str]:
    lines = ([markdown.cut(cell) for cell in (name, words, *numbers)] for name, *numbers, words in _rows(found))
    return markdown.table(["metric", "in words", "score", "interval", "p", "chance"], lines, right=2)


def _kinds(found: HuseResult) -> list[str]:
    """Items of each kind by source, and how many to expect if the sources were indistinguishable."""
    sources = content.sources(found)
    chance = [[f"{count:,.0f}"] for count in found.chance_kinds] or [[] for _ in KINDS]
    lines = [
        [kind, content.KINDS_EXPLAINED[kind]]
        + [f"{content.count_of(found, kind, is_model=side):,}" for _, side in sources]
        + by_chance
        for kind, by_chance in zip(KINDS, chance, strict=True)
    ]
    head = ["kind", "which means", *(markdown.cut(name) for name, _ in sources)]
    return markdown.table([*head, *(["both by chance"] if found.chance_kinds else [])], lines, right=2)


def _neighbours(found: HuseResult) -> list[str]:
    lines = [[f"{at.k}", *(content.score(getattr(at, metric)) for metric in TITLES)] for at in content.main_ks(found)]
    return markdown.table(["k", *TITLES.values()], lines) if lines else []


def _raters(found: HuseResult) -> list[str]:
    lines = [f"scale: {content.scale_text(found)}", *agreement_lines(found)]
    return [f"- {markdown.cut(line)}" for line in (*lines, *rater_lines(found, _MOST_RATERS))]


def _stability(found: HuseResult) -> list[str]:
    """Scores on random parts of the ratings: one row per size, one column per score."""
    by_size: dict[tuple[str, int], dict[str, str]] = {}
    for point in found.stability:
        shown = f"{content.score(point.mean)} {content.bounds(point.low, point.high)}".strip()
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


def _outlook(found: HuseResult) -> list[str]:
    rows = outlook_rows(found)
    if not rows:
        return []
    advice = [f"- {markdown.cut(f'{name}: {worth}')}" for name, worth in worth_lines(found)]
    head = ("metric", *OUTLOOK_HEAD[1:])
    shown = markdown.table(head, ([markdown.cut(name), *numbers] for name, *numbers in rows), right=1)
    return [*shown, "", markdown.escaped(OUTLOOK_LEGEND), *([""] if advice else []), *advice]


def _examples(kind: str, items: list[Example]) -> Iterator[str]:
    """The items of a kind; their strings are shortened already."""
    yield f"### {content.PLURALS[kind].capitalize()}"
    yield ""
    rows = (
        [
            markdown.escaped(item.source),
            markdown.escaped(item.id),
            markdown.escaped(item.text),
            markdown.escaped(item.context or ""),
            content.score(item.judged.rating),
            content.score(item.judged.log_prob),
            *item.votes,
        ]
        for item in items
    )
    head = ["source", "item", "text", "context", "rating", "log p per token", *VOTES]
    yield from markdown.table(head, rows, right=4)
    yield ""


CSV_FIELDS = (
    "item", "source", "kind", "rating", "n_ratings", "log_prob", "length", "log_prob_per_token", "votes",
    "votes_by_rating", "votes_by_log_prob", "share_model", "told", "told_by_rating", "context", "text",
)  # fmt: skip


def csv_rows(found: HuseResult) -> list[dict[str, Any]]:
    """One row per item, in the order of the study."""
    return [_row(found, judged) for judged in found.items]


def _row(found: HuseResult, judged: HuseItem) -> dict[str, Any]:
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


def render_csv(found: HuseResult) -> str:
    """CSV text with a header."""
    return csv_text(CSV_FIELDS, csv_rows(found))


def render_notebook(found: HuseResult) -> str:
    """An HTML fragment for a notebook's output cell."""
    facts = [(name, content.counts(found, is_model=is_model)) for name, is_model in content.sources(found)]
    facts += [content.k_range(found), *(("raters", line) for line in agreement_lines(found))]
    return fragment(
        "huse/notebook.html.j2",
        name=found.rated.name,
        heading=content.heading(found),
        study=found,
        columns=_HEAD[1:],
        rows=_rows(found),
        facts=[(name, line) for name, line in facts if line],
        legend=content.legend(found),
        notes=[*content.missing_lines(found), *every_note(found.rated.notes, found.notes)][:_MOST_NOTES],
    )
