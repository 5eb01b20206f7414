"""A stress study as Markdown, CSV and in a notebook."""

from collections.abc import Callable, Iterable

from textassay.report import markdown
from textassay.report.csv_writer import csv_text
from textassay.report.page import fragment
from textassay.report.stress import content
from textassay.studies.stress.result import FRAME_COLUMNS, Stress


def render_markdown(found: Stress) -> str:
    """One Markdown document."""
    last = found.sizes[-1]
    legend = [f"{markdown.escaped(line)}  " for line in content.legend(found)]
    sections: dict[str, list[str]] = {"": []}
    for size in reversed(found.sizes):
        table = matrix(found, size, lambda entry: entry.found)
        sections[f"Matrix at {size:,} texts"] = [*table, "", *(legend if size == last else [])]
    sections["Use for"] = named(content.advice(found, last))
    sections["Failures"] = named(content.failures(found, last))
    strengths = ", ".join(f"{strength:g}" for strength in found.strengths)
    for size in reversed(found.sizes):
        title = f"Power at {size:,} texts and strengths {strengths}"
        sections[title] = matrix(found, size, lambda entry: entry.powers)
    for size in reversed(found.sizes):
        sections[f"Kendall's tau at {size:,} texts"] = matrix(found, size, lambda entry: entry.tau)
    sections["Damages"] = named(content.damage_lines(found))
    sections["Notes"] = markdown.bullets(found.notes)
    alarms = [f"False alarms at {size:,} texts: {content.alarm_range(found, size)}." for size in found.sizes]
    top = [markdown.cut(line) for line in (content.outcome_sentence(found, last), *alarms)]
    signatures = (metric.signature for metric in found.metrics)
    return markdown.document(f"Stress: {markdown.cut(content.heading(found))}", top, sections, signatures)


def matrix(found: Stress, size: int, text: Callable[[content.Entry], str]) -> list[str]:
    """The lines of a table with one row per metric and one column per damage."""
    head = ["metric", *(markdown.cut(damage.title) for damage in found.damages), "false alarms", "seconds"]
    lines = [
        [markdown.cut(row.metric.name), *map(text, row.entries), row.alarms, row.seconds]
        for row in content.rows(found, size)
    ]
    return markdown.table(head, lines, right=1)


def named(pairs: Iterable[tuple[str, str]]) -> list[str]:
    """A list of sentences, each behind its name."""
    return [f"- **{markdown.cut(name)}**: {markdown.cut(line)}" for name, line in pairs]


def render_csv(found: Stress) -> str:
    """CSV with one row per metric, size, damage and strength."""
    return csv_text(FRAME_COLUMNS, found.rows())


def render_notebook(found: Stress) -> str:
    """An HTML fragment for a notebook's output cell."""
    last = found.sizes[-1]
    return fragment(
        "stress/notebook.html.j2",
        heading=f"{content.heading(found)}, {last:,} texts per sample",
        columns=[*(damage.title for damage in found.damages), "false alarms", "seconds"],
        rows=content.rows(found, last),
        facts=list(content.advice(found, last)),
        legend=content.legend(found),
        notes=found.notes,
    )
