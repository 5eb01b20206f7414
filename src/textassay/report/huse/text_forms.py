"""A HUSE study as Markdown, CSV, a data frame and in a notebook."""

import math
from collections.abc import Iterator
from typing import Any

from textassay.corpus.printable import many, shortened
from textassay.report.huse import words
from textassay.report.huse.items import VOTES, Example, examples
from textassay.report.huse.words import (
    OUTLOOK_HEAD,
    OUTLOOK_LEGEND,
    agreement_lines,
    outlook_rows,
    rater_lines,
    worth_lines,
)
from textassay.report.page import WORDS, environment
from textassay.report.table import csv_text, fenced, markdown_escape, table
from textassay.studies.huse.result import KINDS, TITLES, HuseItem, HuseResult, titled

_MOST_RATERS, _LONGEST = 30, 400


def render_markdown(found: HuseResult, *, top: int = 5) -> str:
    """One Markdown document, with `top` items of each kind."""
    lines = [f"# {_cut(found.rated.name)}: {_cut(words.heading(found))}", ""]
    lines += [f"- Note: {_cut(note)}" for note in words.all_notes(found)]
    lines += [f"- **{_cut(found.verdict.sentence)}**", ""]
    lines += [*_scores(found), "", *(f"{markdown_escape(line)}  " for line in words.legend(found)), ""]
    sections = {
        "No number or no test": [
            f"- {_cut(line)}" for line in (*words.missing_lines(found), *words.no_test_lines(found))
        ],
        "Failures": _failures(found),
        "Neighbours": _neighbours(found),
        "Raters": _raters(found),
        "Stability": _stability(found),
        "More data": _outlook(found),
        "Items": [line for kind, items in examples(found, top).items() for line in _kind(kind, items)],
    }
    for title, content in sections.items():
        lines += [f"## {title}", "", *content, ""] if content else []
    lines += fenced(result.signature for result in found.results)
    return "\n".join(lines) + "\n"


def _cut(text: str) -> str:
    return markdown_escape(shortened(text, _LONGEST))


def _scores(found: HuseResult) -> list[str]:
    lines = [
        [
            _cut(titled(label)),
            markdown_escape(words.meaning(result)),
            words.score(result.estimate),
            words.interval_text(result.interval),
            markdown_escape(p_value),
            words.chance_text(result),
        ]
        for label, result, p_value in zip(found.labels, found.results, words.p_texts(found), strict=True)
    ]
    return table(["metric", "in words", "score", "interval", "p", "chance"], lines, right=2)


def _failures(found: HuseResult) -> list[str]:
    """Items of each kind by source, and how many there would be of both if nothing told them apart."""
    sources = words.sources(found)
    chance = [[f"{count:,.0f}"] for count in found.chance_kinds] or [[] for _ in KINDS]
    lines = [
        [kind, words.KINDS_EXPLAINED[kind]]
        + [f"{words.count_of(found, kind, is_model=side):,}" for _, side in sources]
        + by_chance
        for kind, by_chance in zip(KINDS, chance, strict=True)
    ]
    head = ["kind", "which means", *(_cut(name) for name, _ in sources)]
    return table([*head, *(["both by chance"] if found.chance_kinds else [])], lines, right=2)


def _neighbours(found: HuseResult) -> list[str]:
    lines = [[f"{at.k}", *(words.score(getattr(at, metric)) for metric in TITLES)] for at in words.telling_ks(found)]
    return table(["k", *TITLES.values()], lines) if lines else []


def _raters(found: HuseResult) -> list[str]:
    lines = [f"scale: {words.scale_text(found)}", *agreement_lines(found)]
    return [f"- {_cut(line)}" for line in (*lines, *rater_lines(found, _MOST_RATERS))]


def _stability(found: HuseResult) -> list[str]:
    """Scores on random parts of the ratings: a row a size, a column a score."""
    known: dict[tuple[str, int], dict[str, str]] = {}
    for point in found.stability:
        shown = f"{words.score(point.mean)} {words.bounds(point.low, point.high)}".strip()
        known.setdefault((point.along, point.n), {})[point.metric] = shown
    labels = list(dict.fromkeys(point.metric for point in found.stability))
    lines = [
        [many(n, "item") if along == "items" else f"{many(n, 'rating')} per item"]
        + [cells.get(label, "") for label in labels]
        for (along, n), cells in known.items()
    ]
    return table(["mean and range on", *(_cut(titled(label)) for label in labels)], lines, right=1) if lines else []


def _outlook(found: HuseResult) -> list[str]:
    rows = outlook_rows(found)
    if not rows:
        return []
    advice = [f"- {_cut(f'{name}: {worth}')}" for name, worth in worth_lines(found)]
    head = ("metric", *OUTLOOK_HEAD[1:])
    shown = table(head, ([_cut(name), *numbers] for name, *numbers in rows), right=1)
    return [*shown, "", markdown_escape(OUTLOOK_LEGEND), *([""] if advice else []), *advice]


def _kind(kind: str, items: list[Example]) -> Iterator[str]:
    """The items of a kind; their strings are shortened already."""
    yield f"### {words.PLURALS[kind].capitalize()}"
    yield ""
    rows = (
        [
            markdown_escape(item.source),
            markdown_escape(item.id),
            markdown_escape(item.text),
            markdown_escape(item.context or ""),
            words.score(item.judged.rating),
            words.score(item.judged.log_prob),
            *item.votes,
        ]
        for item in items
    )
    head = ["source", "item", "text", "context", "rating", "log p a token", *VOTES]
    yield from table(head, rows, right=4)
    yield ""


CSV_FIELDS = (
    "item", "source", "kind", "rating", "n_ratings", "log_prob", "length", "log_prob_per_token", "votes",
    "votes_by_rating", "votes_by_log_prob", "share_model", "told", "told_by_rating", "context", "text",
)  # fmt: skip


def csv_rows(found: HuseResult) -> list[dict[str, Any]]:
    """One plain row an item, in the order of the study."""
    return [_row(found, judged) for judged in found.items]


def _row(found: HuseResult, judged: HuseItem) -> dict[str, Any]:
    item = judged.item
    return {
        "item": item.id,
        "source": found.rated.model if item.is_model else "human",
        "kind": judged.kind,
        "rating": _known(judged.rating),
        "n_ratings": judged.n_ratings,
        "log_prob": item.log_prob,
        "length": item.length,
        "log_prob_per_token": _known(judged.log_prob),
        "votes": _known(judged.votes),
        "votes_by_rating": _known(judged.votes_by_rating),
        "votes_by_log_prob": _known(judged.votes_by_log_prob),
        "share_model": _known(judged.share_model),
        "told": judged.told,
        "told_by_rating": judged.told_by_rating,
        "context": item.context,
        "text": item.text,
    }


def _known(value: float) -> float | None:
    return None if math.isnan(value) else value


def render_csv(found: HuseResult) -> str:
    """CSV text with a header."""
    return csv_text(CSV_FIELDS, csv_rows(found))


# A sign a verdict beside the word, and never colour alone: notebooks are light or dark without telling.
_SIGNS = {"same": "=", "differs": "≠", "collapsed": "✕", "untested": "?"}
_MOST_NOTES = 10


def render_notebook(found: HuseResult) -> str:
    """An HTML fragment for a notebook's output cell."""
    level = found.verdict.level if found.verdict.level in WORDS else "untested"
    rows = [
        (
            titled(label),
            words.score(result.estimate),
            words.interval_text(result.interval),
            p_value,
            words.chance_text(result),
            words.meaning(result),
        )
        for label, result, p_value in zip(found.labels, found.results, words.p_texts(found), strict=True)
    ]
    facts = [(name, words.counts(found, is_model=is_model)) for name, is_model in words.sources(found)]
    facts += [words.k_range(found), *(("raters", line) for line in agreement_lines(found))]
    return (
        environment()
        .get_template("huse_notebook.html.j2")
        .render(
            name=found.rated.name,
            heading=words.heading(found),
            word=WORDS[level],
            sign=_SIGNS[level],
            sentence=found.verdict.sentence,
            rows=rows,
            facts=[(name, line) for name, line in facts if line],
            legend=words.legend(found),
            notes=[*words.missing_lines(found), *words.all_notes(found)][:_MOST_NOTES],
        )
    )
