"""A HUSE study as Markdown: scores, verdict, failures, neighbours, raters, items. What is not ours is escaped."""

from collections.abc import Iterator

from textassay.corpus.counting import many
from textassay.corpus.printable import shortened
from textassay.report import huse_trust as trust
from textassay.report import huse_words as words
from textassay.report.huse_examples import VOTES, Example, examples
from textassay.report.markdown_text import escape, fenced, table
from textassay.studies.judged import KINDS, TITLES, Judged, titled

_MOST_RATERS, _LONGEST = 30, 400


def render_huse_markdown(found: Judged, *, top: int = 5) -> str:
    """One Markdown document, with `top` items of each kind."""
    lines = [f"# {_cut(found.rated.name)}: {_cut(words.heading(found))}", ""]
    lines += [f"- Note: {_cut(note)}" for note in words.all_notes(found)]
    lines += [f"- **{_cut(found.verdict.sentence)}**", ""]
    lines += [*_scores(found), "", *(f"{escape(line)}  " for line in words.legend(found)), ""]
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
    return escape(shortened(text, _LONGEST))


def _scores(found: Judged) -> list[str]:
    lines = [
        [
            _cut(titled(label)),
            escape(words.meaning(result)),
            words.score(result.estimate),
            words.interval_text(result.interval),
            escape(p_value),
            words.chance_text(result),
        ]
        for label, result, p_value in zip(found.labels, found.results, words.p_texts(found), strict=True)
    ]
    return table(["metric", "in words", "score", "interval", "p", "chance"], lines, right=2)


def _failures(found: Judged) -> list[str]:
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


def _neighbours(found: Judged) -> list[str]:
    lines = [[f"{at.k}", *(words.score(getattr(at, metric)) for metric in TITLES)] for at in words.telling_ks(found)]
    return table(["k", *TITLES.values()], lines) if lines else []


def _raters(found: Judged) -> list[str]:
    lines = [f"scale: {words.scale_text(found)}", *trust.agreement_lines(found)]
    return [f"- {_cut(line)}" for line in (*lines, *trust.rater_lines(found, _MOST_RATERS))]


def _stability(found: Judged) -> list[str]:
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


def _outlook(found: Judged) -> list[str]:
    rows = trust.outlook_rows(found)
    if not rows:
        return []
    advice = [f"- {_cut(f'{name}: {worth}')}" for name, worth in trust.worth_lines(found)]
    head = ("metric", *trust.OUTLOOK_HEAD[1:])
    shown = table(head, ([_cut(name), *numbers] for name, *numbers in rows), right=1)
    return [*shown, "", escape(trust.OUTLOOK_LEGEND), *([""] if advice else []), *advice]


def _kind(kind: str, items: list[Example]) -> Iterator[str]:
    """The items of a kind; their strings are shortened already."""
    yield f"### {words.PLURALS[kind].capitalize()}"
    yield ""
    rows = (
        [
            escape(item.source),
            escape(item.id),
            escape(item.text),
            escape(item.context or ""),
            words.score(item.judged.rating),
            words.score(item.judged.log_prob),
            *item.votes,
        ]
        for item in items
    )
    head = ["source", "item", "text", "context", "rating", "log p a token", *VOTES]
    yield from table(head, rows, right=4)
    yield ""
